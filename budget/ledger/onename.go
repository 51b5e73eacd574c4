package ledger

// The one name under which a ledger's file is used, and that it stays the file that was opened.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// oneName is what the file at a path is. It is an error where the file can have been reached by another path, which no
// symbolic link is: SQLite keeps its log and its locks beside the name under which it opens a file, so two processes
// that name one file in two ways do not see each other's entries.
func oneName(ledger, absolute string) (fs.FileInfo, error) {
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	names, err := linksTo(absolute, info)
	if err != nil {
		return nil, fmt.Errorf("ledger %s: asking how many names it has: %w", ledger, err)
	}
	if names > 1 {
		return nil, fmt.Errorf("ledger %s has %d names (hard links), and under each it would be spent anew: see which one the others use, and remove this or those", ledger, names)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	mounted, err := isMountPoint(real)
	if err != nil {
		return nil, fmt.Errorf("ledger %s: asking whether it is mounted by itself: %w", ledger, err)
	}
	if mounted {
		return nil, fmt.Errorf("ledger %s is a file that is mounted by itself, and would be spent anew where it comes from: mount the folder, not the file", ledger)
	}
	return info, nil
}

// clearStaged removes the other name that a ledger has for a moment while it is created, and keeps if its creator is
// killed then: that name is of no use once this one is there.
func clearStaged(absolute string) {
	info, err := os.Stat(absolute)
	if err != nil {
		return
	}
	folder := filepath.Dir(absolute)
	names, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, name := range names {
		staged, err := name.Info()
		if err == nil && strings.HasPrefix(name.Name(), stagedName(absolute)) && os.SameFile(staged, info) {
			os.Remove(filepath.Join(folder, name.Name())) // else the name is counted, and refused
		}
	}
}

// hold remembers the files that the connection has open: the one that was found before it was opened, and beside it the
// log and the index of the log, which stay as long as somebody has them open.
func (f *file) hold(ctx context.Context, opened fs.FileInfo) error {
	var version int64
	if err := f.db.QueryRowContext(ctx, "SELECT version FROM ledger").Scan(&version); err != nil { // opens the log
		return f.explain(err)
	}
	real, err := filepath.EvalSymlinks(f.absolute)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	held := map[string]fs.FileInfo{f.absolute: opened}
	for _, path := range []string{real + "-wal", real + "-shm"} {
		if held[path], err = os.Stat(path); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	f.held = held
	return f.holds("nothing was written")
}

// holds returns an error, which says also what follows from it, unless the files that the connection has open are those
// that another process would open now.
func (f *file) holds(so string) error {
	for path, held := range f.held {
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("ledger %s: %s: %w", f.path, so, err)
		}
		if err != nil || !os.SameFile(held, info) {
			return fmt.Errorf("ledger %s: the file was replaced while a run was open (%s is another one, or gone): %s: see that nobody else restores or moves it, check it with `dprelease ledger verify`, and run again",
				f.path, filepath.Base(path), so)
		}
	}
	if f.held == nil {
		return nil
	}
	if _, err := oneName(f.path, f.absolute); err != nil {
		return fmt.Errorf("%w (%s)", err, so)
	}
	return nil
}
