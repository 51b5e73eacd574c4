package ledger

// A ledger file is used under a single name, and must remain the file that was opened.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// requireOneName returns the file information of the ledger. It returns an error if the file can be reached by another
// path, symbolic links aside: SQLite keeps its log and its locks next to the name under which it opens a file, so two
// processes that use two names of one file do not see each other's entries.
func requireOneName(ledger, absolute string) (fs.FileInfo, error) {
	info, err := os.Stat(absolute)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	names, err := linksTo(absolute, info)
	if err != nil {
		return nil, fmt.Errorf("ledger %s: asking how many names it has: %w", ledger, err)
	}
	if names > 1 {
		return nil, fmt.Errorf("ledger %s has %d names (hard links), and under each it would be spent anew: see "+
			"which one the others use, and remove this or those", ledger, names)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	mounted, err := isMountPoint(real)
	if err != nil {
		return nil, fmt.Errorf("ledger %s: asking whether it is mounted alone: %w", ledger, err)
	}
	if mounted {
		return nil, fmt.Errorf("ledger %s is a file that is mounted alone, and would be spent anew where it comes "+
			"from: mount the folder, not the file", ledger)
	}
	return info, nil
}

// clearStaged removes the temporary second name that a ledger has while it is created. The name stays behind if its
// creator is killed at that moment, and has no use once the ledger has its final name.
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
			os.Remove(filepath.Join(folder, name.Name())) // if this fails, requireOneName refuses the file
		}
	}
}

// rememberOpenFiles records the files that the connection has open: the ledger as found before the connection was
// opened, the log, and the index of the log. The last two exist as long as a process has them open.
func (f *file) rememberOpenFiles(ctx context.Context, opened fs.FileInfo) error {
	// An interruption at the end of a query would have database/sql drop the connection, and the log with it.
	ctx = context.WithoutCancel(ctx)
	var version int64
	if err := f.db.QueryRowContext(ctx, "SELECT version FROM ledger").Scan(&version); err != nil { // opens the log
		return f.explain(err)
	}
	real, err := filepath.EvalSymlinks(f.absolute)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	openFiles := map[string]fs.FileInfo{f.absolute: opened}
	for _, path := range []string{real + "-wal", real + "-shm"} {
		if openFiles[path], err = os.Stat(path); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	f.openFiles = openFiles
	return f.checkOpenFiles("nothing was written")
}

// checkOpenFiles returns an error, which includes the consequence, unless another process that opens the ledger now
// would open the same files as this connection.
func (f *file) checkOpenFiles(consequence string) error {
	for path, opened := range f.openFiles {
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("ledger %s: %s: %w", f.path, consequence, err)
		}
		if err != nil || !os.SameFile(opened, info) {
			return fmt.Errorf("ledger %s: the file was replaced while a run was open (%s is another one, or gone): "+
				"%s: see that nobody else restores or moves it, check it with `dprelease ledger verify`, and run again",
				f.path, filepath.Base(path), consequence)
		}
	}
	if f.openFiles == nil {
		return nil
	}
	if _, err := requireOneName(f.path, f.absolute); err != nil {
		return fmt.Errorf("%w (%s)", err, consequence)
	}
	return nil
}
