package engine

// This file holds Kept, the counter that never counts twice.

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/noise"
)

// Kept is a counter of data that may be other data when they are counted again, such as a table of a database. The
// answers of By are stored before they are used; from then on they are read, and nothing is counted again.
//
// Contract: what is stored is enciphered under a key that is derived from the release's own, so that it is erased with
// that key, and is not found by a run with another. What is read is used only if it has the stamp of the questions; the
// debit's commitment holds the exact counts themselves.
type Kept struct {
	By  histogram.Counter
	Key [32]byte // of the release, for what is stored
	// Load opens what was stored. It returns an error that wraps [fs.ErrNotExist] if nothing was.
	Load func() (io.ReadCloser, error)
	// Store writes, durably, and completely or not at all, what write writes. If it is nil nothing is stored.
	Store func(write func(io.Writer) error) error
}

// Count answers questions. Its errors are those of By, Load and Store.
func (k Kept) Count(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (answer.Answers, error) {
	stored, err := k.read()
	if !errors.Is(err, fs.ErrNotExist) {
		return stored, err
	}
	counted, err := k.By.Count(ctx, q, s)
	if err != nil || k.Store == nil {
		return counted, err
	}
	err = k.Store(func(w io.Writer) error {
		var nonce [aes.BlockSize]byte
		rand.Read(nonce[:]) // ends the process if the system has no random bytes
		if _, err := w.Write(nonce[:]); err != nil {
			return err
		}
		return answer.Write(&cipher.StreamWriter{S: k.keyStream(nonce), W: w}, counted)
	})
	if err != nil {
		return answer.Answers{}, fmt.Errorf("state directory: storing the exact counts: %w", err)
	}
	return counted, nil
}

// read returns the answers that were stored.
func (k Kept) read() (answer.Answers, error) {
	r, err := k.Load()
	if err != nil {
		return answer.Answers{}, err
	}
	defer r.Close()
	var nonce [aes.BlockSize]byte
	if _, err := io.ReadFull(r, nonce[:]); err != nil {
		return answer.Answers{}, errKept
	}
	stored, err := answer.Read(&cipher.StreamReader{S: k.keyStream(nonce), R: r})
	if err != nil { // which says nothing that a person could act on
		return answer.Answers{}, errKept
	}
	return stored, nil
}

var errKept = errors.New(
	"state directory: the exact counts that were stored for this release cannot be read: put back a copy of the " +
		"folder, or give up the release with `dprelease ledger abandon`")

// keyStream returns the key stream of what is stored.
func (k Kept) keyStream(nonce [aes.BlockSize]byte) cipher.Stream {
	block, err := aes.NewCipher(k.Key[:])
	if err != nil {
		panic("engine: AES refused a key of 32 bytes: " + err.Error())
	}
	return cipher.NewCTR(block, nonce[:])
}
