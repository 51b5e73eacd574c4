// Package regular opens and reads regular files alone. A pipe that nobody writes to would hang whoever opens it, and a device may never
// end.
package regular

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrNotRegular says that a path leads to a folder, a device, a pipe or a socket.
var ErrNotRegular = errors.New("it is not a regular file")

// TooLarge is a file of more bytes than are read of its kind.
type TooLarge struct{ Most int64 }

func (e *TooLarge) Error() string { return "it holds more than " + Size(e.Most) }

// Size says a bound in words, as 16 KiB: it is a whole number of some unit.
func Size(n int64) string {
	for _, unit := range []struct {
		shift uint
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n >= 1<<unit.shift && n%(1<<unit.shift) == 0 {
			return fmt.Sprintf("%d %s", n>>unit.shift, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Open opens a file for reading. Errors: those of the system, [ErrNotRegular].
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return os.Open(path)
}

// Read reads a file of at most `most` bytes. Errors: those of [Open], *[TooLarge].
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, &os.PathError{Op: "read", Path: path, Err: &TooLarge{most}}
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most { // it has grown
		err = &os.PathError{Op: "read", Path: path, Err: &TooLarge{most}}
	}
	return b, err
}
