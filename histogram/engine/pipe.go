package engine

import (
	"errors"
	"io"
	"os"

	"github.com/dprelease/dprelease/histogram/source"
)

// This file holds the named pipe through which another program writes rows.

// pipe is a named pipe. This process holds a writing end too, so that a reader waits for the writer, however late it
// comes, and does not wait for one that never came.
type pipe struct {
	read, held *os.File
	done       chan error
}

// readInto reads what is written into a spool, to the end.
func (p *pipe) readInto(to *source.Spool) {
	_, err := io.Copy(to, p.read)
	if err == nil {
		err = to.Finish()
	} else {
		_, _ = io.Copy(io.Discard, p.read) // so that the writer does not wait for ever
	}
	p.done <- err
}

// wait waits until everything is read, once the writer has ended.
func (p *pipe) wait() error { return errors.Join(p.held.Close(), <-p.done) }

// close closes both ends.
func (p *pipe) close() {
	p.held.Close()
	p.read.Close()
}
