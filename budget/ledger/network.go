package ledger

// The disk under a ledger's file: a file system of another host is refused.

import "fmt"

// localDisk returns an error for a file or folder on a network file system. There two hosts do not see each other's
// locks nor, SQLite's write-ahead log being shared memory, each other's entries, and a full synchronisation is a
// promise of whoever serves the disk: two releases could spend the same budget. A file system of which it cannot be
// told is taken for a local one.
func localDisk(ledger, path string) error {
	kind, err := networkFileSystem(path)
	if err != nil {
		return fmt.Errorf("ledger %s: asking which disk it lies on: %w", ledger, err)
	}
	if kind == "" {
		return nil
	}
	return fmt.Errorf("ledger %s lies on a network file system (%s), where locks and synced writes cannot be relied on: "+
		"move it to a local disk of the one machine that measures, or keep the ledger in PostgreSQL (--ledger postgres://user@host/database)", ledger, kind)
}

// networkFileSystem is a variable for tests alone.
var networkFileSystem = networkOf
