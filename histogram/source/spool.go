package source

// This file holds the spool: the rows of a table that were fetched from a database, read as a file is.

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"os"

	"github.com/dprelease/dprelease/histogram/internal/temporary"
	"github.com/dprelease/dprelease/spec/files"
)

// Spool holds the rows of a table that were fetched from a database: the bytes of one Arrow or Parquet file,
// enciphered, in a temporary file. First it is written, by one goroutine; then any number may read it.
type Spool struct {
	name   string // of the table, for messages
	format files.Format
	file   *temporary.File
	size   int64
	cipher cipher.Stream // of what is written next
	buffer []byte
	info   os.FileInfo // once it is written
}

// spoolBuffer is how many bytes are enciphered at a time.
const spoolBuffer = 1 << 18

// NewSpool returns an empty spool for the rows of a table with this name, in a format that has types. Errors are
// *[Error].
func NewSpool(name string, format files.Format) (*Spool, error) {
	s := &Spool{name: name, format: format, buffer: make([]byte, 0, spoolBuffer)}
	file, err := temporary.Create("")
	if err != nil {
		return nil, s.diskError(err)
	}
	s.file, s.cipher = file, keyStreamAt(file.Block, 0)
	return s, nil
}

// keyStreamAt returns the key stream of AES in counter mode from an offset on: each byte of the file has its own byte
// of the stream, and is written once.
func keyStreamAt(block cipher.Block, offset int64) cipher.Stream {
	var counter, skipped [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(offset)/aes.BlockSize)
	stream := cipher.NewCTR(block, counter[:])
	used := skipped[:offset%aes.BlockSize]
	stream.XORKeyStream(used, used)
	return stream
}

// Write appends bytes. Errors are *[Error].
func (s *Spool) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		n := min(len(p)-written, cap(s.buffer)-len(s.buffer))
		s.buffer = append(s.buffer, p[written:written+n]...)
		written += n
		if len(s.buffer) == cap(s.buffer) {
			if err := s.flush(); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

// flush writes what is in the buffer.
func (s *Spool) flush() error {
	s.cipher.XORKeyStream(s.buffer, s.buffer)
	n, err := s.file.Write(s.buffer)
	s.size += int64(n)
	s.buffer = s.buffer[:0]
	if err != nil {
		return s.diskError(err)
	}
	return nil
}

// Finish ends the writing. Errors are *[Error].
func (s *Spool) Finish() error {
	if err := s.flush(); err != nil {
		return err
	}
	s.buffer, s.cipher = nil, nil
	var err error
	if s.info, err = s.file.Stat(); err != nil {
		return s.diskError(err)
	}
	return nil
}

// Close removes the rows. No piece of them may be read after it.
func (s *Spool) Close() error {
	if err := s.file.Close(); err != nil {
		return s.diskError(err)
	}
	return nil
}

// diskError returns the error of the temporary file.
func (s *Spool) diskError(err error) error {
	return &Error{Kind: Unreadable, File: s.name, Detail: err.Error(), Err: err,
		Message: "its rows are put on disk, encrypted, while they are counted, and that failed; " +
			"give the folder for temporary files more room, or name another one in TMPDIR"}
}

// spooled is a spool as a file that is open. To close it ends nothing: the spool is there for the next reading.
type spooled struct{ *Spool }

// ReadAt reads and deciphers.
func (s spooled) ReadAt(p []byte, offset int64) (int, error) {
	n, err := s.file.ReadAt(p, offset)
	keyStreamAt(s.file.Block, offset).XORKeyStream(p[:n], p[:n])
	return n, err
}

// Stat returns what the system says of the temporary file.
func (s spooled) Stat() (os.FileInfo, error) { return s.file.Stat() }

// Close does nothing.
func (s spooled) Close() error { return nil }

// Data is where the rows of a release's tables are.
type Data struct {
	Dir     string            // folder from which relative paths of sources start
	Fetched map[string]*Spool // rows that were fetched from databases, by table
}

// errNotFetched is a bug: the rows of a table in a database must be fetched before they are read.
var errNotFetched = errors.New("the rows of a table in a database were not fetched; this is a bug, please report it")
