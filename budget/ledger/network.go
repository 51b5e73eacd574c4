package ledger

// The disk under a ledger's file: network file systems are refused.

import "fmt"

// requireLocalDisk returns an error for a file or folder on a network file system. There, two hosts do not see each
// other's locks, nor each other's entries, since SQLite's write-ahead log uses shared memory; and whether a sync is
// durable depends on the server of the disk. Two releases could spend the same budget. A file system of unknown kind is
// assumed to be local.
func requireLocalDisk(ledger, path string) error {
	kind, err := networkFileSystem(path)
	if err != nil {
		return fmt.Errorf("ledger %s: asking which disk it lies on: %w", ledger, err)
	}
	if kind == "" {
		return nil
	}
	return fmt.Errorf("ledger %s lies on a network file system (%s), where locks and synced writes cannot be relied on: "+
		"move it to a local disk of the one machine that measures, or keep the ledger in PostgreSQL (--ledger "+
		"postgres://user@host/database)", ledger, kind)
}

// networkFileSystem is a variable only so that tests can replace it.
var networkFileSystem = networkOf
