//go:build !linux

package ledger

// isMountPoint is always false: on these systems a file is not mounted by itself.
func isMountPoint(string) (bool, error) { return false, nil }
