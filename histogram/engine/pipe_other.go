//go:build !unix

package engine

import "errors"

// newPipe returns an error: this system has no named pipes in folders.
func newPipe(string) (*pipe, error) { return nil, errors.ErrUnsupported }
