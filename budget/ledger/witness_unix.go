//go:build unix && !aix && !solaris

package ledger

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// lockAppend waits until no other process appends to the file. Appends by processes on one host are atomic, but of two
// hosts that share a volume the second could overwrite the first. A file system without locks is used without one.
func lockAppend(f *os.File) (unlock func(), err error) {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }, nil
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP),
			errors.Is(err, syscall.EINVAL):
			return func() {}, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return nil, fmt.Errorf("locking it: %w", err)
		case time.Now().After(deadline):
			return nil, errors.New("another process holds its lock")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
