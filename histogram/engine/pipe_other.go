//go:build !unix

package engine

import (
	"errors"
	"os/exec"
)

func endsWithItsChildren(*exec.Cmd) {}

// newPipe returns an error: this system has no named pipes in folders.
func newPipe(string) (*pipe, error) { return nil, errors.ErrUnsupported }
