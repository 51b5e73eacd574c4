//go:build !unix && !windows

package ledger

import "io/fs"

// linksTo is always 1: on these systems it cannot be told.
func linksTo(string, fs.FileInfo) (uint64, error) { return 1, nil }
