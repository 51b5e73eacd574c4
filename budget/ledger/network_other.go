//go:build !linux && !darwin && !windows

package ledger

// networkOf is always "": on this system it cannot be told.
func networkOf(string) (string, error) { return "", nil }
