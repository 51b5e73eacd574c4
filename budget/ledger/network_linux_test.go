package ledger

import "testing"

func TestNetworkFileSystemsByTheirMount(t *testing.T) {
	const mounts = `22 28 0:20 / /sys rw,nosuid shared:7 - sysfs sysfs rw
98 28 0:45 / /mnt/office rw,relatime shared:51 - fuse.sshfs office:/srv rw,user_id=0
99 28 0:46 / /mnt/disks rw,relatime - fuse.mergerfs a:b rw
100 28 0:47 / /mnt/usb rw,relatime shared:9 master:2 - fuseblk /dev/sdb1 rw
101 28 0:48 /a\040b /mnt/objects rw - fuse.s3fs s3fs rw
102 28 0:49 / /mnt/bricks rw - fuse.glusterfs host:/volume rw
`
	for device, want := range map[string]string{"0:45": "fuse.sshfs", "0:46": "", "0:47": "", "0:48": "fuse.s3fs",
		"0:49": "fuse.glusterfs", "0:20": "", "8:1": ""} {
		if got := networkMount(mounts, device); got != want {
			t.Errorf("device %s is on network file system %q; want %q", device, got, want)
		}
	}
}

func TestNetworkFileSystemsByTheirNumber(t *testing.T) {
	// As statfs(2) and the kernel's magic.h give them.
	for magic, want := range map[uint32]string{0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB",
		0x01021997: "9p",
		0x5346414f: "AFS", 0x00c36400: "Ceph", 0x0bd00bd0: "Lustre", 0x47504653: "GPFS",
		0xef53: "", 0x58465342: "", 0x9123683e: "", 0x01021994: "", 0x794c7630: ""} { // ext4, XFS, Btrfs, tmpfs, overlay
		if got := networkMagic[magic]; got != want {
			t.Errorf("file system %#x is network file system %q; want %q", magic, got, want)
		}
	}
	if _, err := networkOf(t.TempDir() + "/nowhere"); err == nil {
		t.Error("a disk was found under a file that is not there")
	}
}
