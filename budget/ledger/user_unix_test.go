//go:build unix

package ledger

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// anotherUser returns a copy of the test binary that everybody may run, and the identity of a user who is not root,
// since permissions do not stop root from writing.
func anotherUser(t *testing.T) (binary string, identity *syscall.SysProcAttr) {
	t.Helper()
	if os.Getuid() != 0 {
		return self(t), nil
	}
	program, err := os.ReadFile(self(t))
	must(t, err)
	folder := t.TempDir()
	must(t, os.Chmod(filepath.Dir(folder), 0o755))
	binary = filepath.Join(folder, "ledger.test")
	must(t, os.WriteFile(binary, program, 0o755))
	const nobody = 65534
	return binary, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}
