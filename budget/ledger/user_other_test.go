//go:build !unix

package ledger

import (
	"syscall"
	"testing"
)

// anotherUser skips the test: these systems have no file modes.
func anotherUser(t *testing.T) (binary string, identity *syscall.SysProcAttr) {
	t.Helper()
	t.Skip("needs the file modes of unix")
	return "", nil
}
