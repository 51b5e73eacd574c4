// Package regular opens and reads regular files alone. A pipe that nobody writes to would hang whoever opens it, and a
// device may never end.
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
type TooLarge struct{ MaxBytes int64 }

func (e *TooLarge) Error() string { return "it holds more than " + Size(e.MaxBytes) }

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
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile opens a file as [os.OpenFile] does. Errors: those of the system, [ErrNotRegular].
func OpenFile(path string, flag int, mode os.FileMode) (*os.File, error) {
	// Asked first, since opening a device may already do something to it.
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, notRegular(path)
	case err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, os.ErrNotExist)):
		return nil, err
	}
	return openAtOnce(path, flag, mode)
}

// OpenUnlinked opens a file for reading, and no link to one. Errors: those of the system, [ErrNotRegular].
func OpenUnlinked(path string) (*os.File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, notRegular(path)
	}
	f, err := openAtOnce(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(info, opened) { // a link has taken its place
		err = notRegular(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// openAtOnce opens a path without waiting for whoever would write to a pipe, and asks what was opened and not what lay
// there before: somebody may put a pipe in the place of a file between two looks.
func openAtOnce(path string, flag int, mode os.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|withoutWaiting, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func notRegular(path string) error {
	return &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
}

// Read reads a file of at most `most` bytes. Errors: those of [Open], *[TooLarge].
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}

// ReadAll reads an open file to its end, which is at most `most` bytes away. Errors: those of the system, *[TooLarge].
func ReadAll(f *os.File, most int64) ([]byte, error) {
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, &os.PathError{Op: "read", Path: f.Name(), Err: &TooLarge{most}}
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most { // it has grown
		err = &os.PathError{Op: "read", Path: f.Name(), Err: &TooLarge{most}}
	}
	return b, err
}
