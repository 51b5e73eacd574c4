package ledger

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestMountPointsAsTheyAreWritten(t *testing.T) {
	const mounts = `28 1 252:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
98 28 252:0 /srv/a.db /data/a\040b.db rw,relatime shared:51 - ext4 /dev/vda rw
`
	for path, want := range map[string]bool{"/": true, "/data/a b.db": true, "/data/a": false, "/srv/a.db": false,
		"/data": false} {
		if got := mountedAt(mounts, path); got != want {
			t.Errorf("mounted at %s: %v; want %v", path, got, want)
		}
	}
}

// The effect of `docker run -v ledger.db:/ledger.db`, in a mount namespace of the test.
func TestAMountedFileIsRefused(t *testing.T) {
	l, path := fresh(t, "1")
	must(t, l.Close())
	folder := t.TempDir()
	mounted := filepath.Join(folder, "ledger.db")
	must(t, os.WriteFile(mounted, nil, 0o600))
	script := `mount --make-rprivate / && mount --bind "$1" "$2" || exit 77; exec "$3"`
	c := exec.Command("sh", "-c", script, "sh", path, mounted, self(t))
	c.Env = append(os.Environ(), taskVariable+"=spend|"+mounted+"|r|")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	input, err := c.StdinPipe()
	must(t, err)
	defer input.Close()
	said, err := c.CombinedOutput()
	if c.ProcessState == nil || c.ProcessState.ExitCode() == 77 {
		t.Skipf("this user may not mount: %v %s", err, said)
	}
	if err == nil || !strings.Contains(string(said), "mount the folder, not the file") {
		t.Errorf("a file mounted by itself: %v, %s", err, said)
	}
}
