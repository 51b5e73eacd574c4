//go:build unix

package engine

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// endsWithItsChildren has the end of a command's context end also what the command has started: the program may be a
// script that starts another one.
func endsWithItsChildren(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
}

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
