package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// networkMagic names the network and cluster file systems by the number that statfs(2) gives for them.
var networkMagic = map[uint32]string{
	unix.NFS_SUPER_MAGIC:   "NFS",
	unix.SMB_SUPER_MAGIC:   "SMB",
	unix.CIFS_SUPER_MAGIC:  "CIFS",
	unix.SMB2_SUPER_MAGIC:  "SMB",
	unix.NCP_SUPER_MAGIC:   "NCP",
	unix.V9FS_MAGIC:        "9p",
	unix.AFS_SUPER_MAGIC:   "AFS",
	unix.AFS_FS_MAGIC:      "AFS",
	unix.CODA_SUPER_MAGIC:  "Coda",
	unix.CEPH_SUPER_MAGIC:  "Ceph",
	unix.OCFS2_SUPER_MAGIC: "OCFS2",
	0x01161970:             "GFS2",
	0x0bd00bd0:             "Lustre",
	0x47504653:             "GPFS",
	0x19830326:             "BeeGFS",
	0x20030528:             "OrangeFS",
	0xaad7aaea:             "PanFS",
	0x61636673:             "ACFS",
	0xbacbacbc:             "VMware shared folder",
	0x786f4256:             "VirtualBox shared folder",
	0x7c7c6673:             "Parallels shared folder",
}

// networkFUSE lists the prefixes of the names, after "fuse.", under which network file systems in user space are
// mounted. Others, mergerfs or ntfs-3g for instance, keep their files on local disks.
var networkFUSE = []string{"sshfs", "s3", "mount-s3", "goofys", "gcsfuse", "blobfuse", "rclone", "gluster", "ceph",
	"davfs", "curlftpfs",
	"smbnetfs", "fusesmb", "juicefs", "seaweedfs", "weed", "mfs", "moosefs", "lizardfs", "saunafs", "hdfs", "fuse_dfs",
	"alluxio", "cvmfs",
	"nfs", "grpcfuse", "vmhgfs", "xtreemfs", "quobyte", "cubefs", "cfs", "ipfs", "google-drive", "onedriver", "dropbox"}

// networkOf returns the network file system that path lies on, and "" for a local one.
func networkOf(path string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return "", &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	magic := uint32(s.Type)
	if magic != unix.FUSE_SUPER_MAGIC {
		return networkMagic[magic], nil
	}
	var file unix.Stat_t
	if err := unix.Stat(path, &file); err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	device := uint64(file.Dev)
	return networkMount(string(mounts), fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))), nil
}

// networkMount returns the network file system in user space that is mounted as a device, "major:minor", according to
// lines of proc_pid_mountinfo(5): "36 35 98:0 /root /point options - type source options".
func networkMount(mounts, device string) string {
	for mount := range strings.Lines(mounts) {
		point, file, ok := strings.Cut(mount, " - ")
		fields, kinds := strings.Fields(point), strings.Fields(file)
		if !ok || len(fields) < 3 || fields[2] != device || len(kinds) == 0 {
			continue
		}
		name, _ := strings.CutPrefix(kinds[0], "fuse.")
		for _, network := range networkFUSE {
			if strings.HasPrefix(name, network) {
				return kinds[0]
			}
		}
	}
	return ""
}
