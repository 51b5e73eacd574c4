//go:build unix

package engine

import (
	"os"
	"syscall"
)

// newPipe makes a named pipe that only its owner can open.
func newPipe(path string) (*pipe, error) {
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, err
	}
	p := &pipe{done: make(chan error, 1)}
	var err error
	if p.read, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		return nil, err
	}
	if p.held, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil {
		p.read.Close()
		return nil, err
	}
	return p, nil
}
