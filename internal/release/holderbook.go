package release

// This file holds the book of a holder's key: for which nonces it has signed, and what it has masked with them.

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/plan/compiled"
)

// book is the folder KEY.book next to a holder's private key, with a file for each plan. It goes with the key, whatever
// ledger, state directory and output folder a command names.
//
// Contract: the masks of one nonce hide one vector of answers, as a nonce is bound to the commitment of a draw,
// durably, before anything is masked; and a holder that has drawn for a plan, in whatever ledger, never withdraws from
// it, nor the reverse. Whoever copies the key, or restores an older book, can break that.
type book struct{ dir string }

func bookOf(key string) book { return book{key + ".book"} }

const bookFormat = "dprelease.holderbook/1"

// bookEntry is what a book has of a plan.
type bookEntry struct {
	Format  string `json:"format"`
	Release string `json:"release"`
	Plan    string `json:"plan_hash"`
	Nonce   []byte `json:"nonce,omitempty"` // that was signed last
	// Commitment is that of the draw whose answers are masked with the nonce; "" if nothing was drawn for it.
	Commitment string `json:"commitment,omitempty"`
	// Seal is the seal of the share of that draw, "" before it is sealed.
	Seal      string `json:"seal,omitempty"`
	Drawn     bool   `json:"drawn"` // for this nonce or an earlier one
	Withdrawn bool   `json:"withdrawn"`
}

// change reads the entry of a plan, changes it, and makes the change durable, while no other process does.
func (b book) change(ctx context.Context, p *compiled.Compiled, change func(e *bookEntry) error) error {
	if err := durable.MakeFolder(b.dir, 0o700); err != nil {
		return fmt.Errorf("the book of the holder's key: %w", err)
	}
	held, err := durable.LockWaiting(ctx, b.dir)
	if err != nil {
		return fmt.Errorf("the book of the holder's key: %w", err)
	}
	if held != nil {
		defer held.Close()
	}
	e, err := b.read(p)
	if err != nil {
		return err
	}
	before := canonical.Must(canonical.Indented(e))
	if err := change(&e); err != nil {
		return err
	}
	after := canonical.Must(canonical.Indented(e))
	if bytes.Equal(before, after) {
		return nil
	}
	return durable.WritePrivate(b.dir, "writing-", b.name(p), func(w io.Writer) error {
		_, err := w.Write(after)
		return err
	})
}

func (b book) name(p *compiled.Compiled) string { return p.Hash() + ".json" }

func (b book) read(p *compiled.Compiled) (bookEntry, error) {
	e := bookEntry{Format: bookFormat, Release: p.Name, Plan: p.Hash()}
	path := filepath.Join(b.dir, b.name(p))
	text, err := regular.Read(path, signatureBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil || e.Format != bookFormat || e.Plan != p.Hash() {
		return e, errors.Join(fmt.Errorf("the book of the holder's key, %s, cannot be read: restore the newest copy", path), err)
	}
	return e, nil
}

// nonce returns the nonce that the holder signs, which is drawn if there is none, or if another one is asked for.
func (b book) nonce(ctx context.Context, p *compiled.Compiled, another bool) (nonce []byte, err error) {
	err = b.change(ctx, p, func(e *bookEntry) error {
		if e.Withdrawn {
			return errHasWithdrawn(p)
		}
		if e.Nonce == nil || another {
			e.Nonce, e.Commitment, e.Seal = make([]byte, holder.NonceBytes), "", ""
			if _, err := rand.Read(e.Nonce); err != nil {
				return err
			}
		}
		nonce = e.Nonce
		return nil
	})
	return nonce, err
}

// errHasWithdrawn is the error for a plan from which the holder has withdrawn.
func errHasWithdrawn(p *compiled.Compiled) error {
	return refuseHolder(p, "was withdrawn from with this key, and others may have measured it without this holder: make another release")
}

// check returns an error if the holder cannot mask for a nonce that it has signed.
func (b book) check(p *compiled.Compiled, nonce []byte) (bookEntry, error) {
	e, err := b.read(p)
	switch {
	case err != nil:
		return e, err
	case e.Withdrawn:
		return e, errHasWithdrawn(p)
	case !bytes.Equal(e.Nonce, nonce):
		return e, refuseHolder(p, fmt.Sprintf("has another signature in the folder of the roll than the last one of this key (%s): put the newest there, or sign again", b.dir))
	}
	return e, nil
}

// draw binds a nonce to the commitment of a draw. It returns an error if the nonce was bound to another draw: two
// vectors under the same masks would show their difference.
func (b book) draw(ctx context.Context, p *compiled.Compiled, nonce []byte, commitment string) error {
	return b.change(ctx, p, func(e *bookEntry) error {
		switch {
		case e.Withdrawn:
			return errHasWithdrawn(p)
		case !bytes.Equal(e.Nonce, nonce):
			return refuseHolder(p, "was signed again with this key while it was measured: measure again")
		case e.Commitment != "" && e.Commitment != commitment:
			return errDrawnBefore(p)
		}
		e.Commitment, e.Drawn = commitment, true
		return nil
	})
}

// sealed records the seal of the share of the draw that a nonce is bound to.
func (b book) sealed(ctx context.Context, p *compiled.Compiled, nonce []byte, seal string) error {
	return b.change(ctx, p, func(e *bookEntry) error {
		if !bytes.Equal(e.Nonce, nonce) || e.Commitment == "" {
			return refuseHolder(p, "was signed again with this key while it was measured: measure again")
		}
		e.Seal = seal
		return nil
	})
}

// errDrawnBefore is the error for a plan whose answers were drawn for these signatures before, and elsewhere.
func errDrawnBefore(p *compiled.Compiled) error {
	return refuseHolder(p, "was measured before with these signatures, with another ledger or state directory: a second draw under the same masks would show the difference. Put the share back, or sign with dprelease holder sign --anew; then every holder measures again with the new signature")
}

// withdraw records that the holder takes no part, unless it has drawn.
func (b book) withdraw(ctx context.Context, p *compiled.Compiled) error {
	return b.change(ctx, p, func(e *bookEntry) error {
		if e.Drawn {
			return refuseHolder(p, "was measured with this key: its share may have left, so it cannot be taken back. Give up the release, and make another one")
		}
		e.Withdrawn = true
		return nil
	})
}
