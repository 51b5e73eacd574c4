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
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// book is the folder KEY.book next to a holder's private key, with a file for each plan. It is made with the key and
// goes with it, whatever ledger, state directory and output folder a command names. A key without its book is refused,
// so a copy, a link or another name of the key file does not begin a second one.
//
// Contract: the masks of one nonce hide one vector of answers, as a nonce is bound to the commitment of a draw,
// durably, before anything is masked. Once an answer has left, all of that draw are only masked again with the nonces
// that all others had then. A holder that has drawn for a plan, in whatever ledger, never withdraws from it, nor the
// reverse. Whoever copies the key with its book, or restores an older book, can break that.
type book struct {
	dir string
	key holder.PublicKey
}

// bookOf returns the book of the key in a file.
func bookOf(keyFile string, key holder.Key) book { return book{keyFile + ".book", key.Public()} }

const (
	bookFormat = "dprelease.holderbook/1"
	// bookKey is the file that says of which key a book is: the line of the public key.
	bookKey = "key.pub"
	// writingBook begins the names of files that are being written.
	writingBook = "writing-"
	// bookBytes bounds what is read of an entry: the nonces of 1000 holders take 100 KB.
	bookBytes = 1 << 20
)

// bookEntry is what a book has of a plan.
type bookEntry struct {
	Format  string `json:"format"`
	Release string `json:"release"`
	Plan    string `json:"plan_hash"`
	Nonce   []byte `json:"nonce,omitempty"` // the last that was signed
	// Commitment is the commitment to the draw whose answers are masked with the nonce; "" if nothing was drawn for it.
	Commitment string `json:"commitment,omitempty"`
	// Seal is the seal of the share of that draw, "" before it is sealed.
	Seal string `json:"seal,omitempty"`
	// Nonces are the nonces, by holder, of the roll for which answers of that draw first left; nil before.
	Nonces map[string][]byte `json:"nonces,omitempty"`
	// Sealed are the commitments of the draws of which answers have left for earlier nonces.
	Sealed    []string `json:"sealed,omitempty"`
	Drawn     bool     `json:"drawn"` // for this nonce or an earlier one
	Withdrawn bool     `json:"withdrawn"`
}

// MakeHolderKey makes a holder's key and writes it to path and path.pub, and makes its book, path.book. It replaces
// nothing.
func MakeHolderKey(path string) (holder.PublicKey, error) {
	key, err := holder.NewKey()
	if err != nil {
		return holder.PublicKey{}, err
	}
	b := bookOf(path, key)
	if there, err := durable.Exists(b.dir); err != nil {
		return holder.PublicKey{}, err
	} else if there {
		return holder.PublicKey{}, fmt.Errorf("%s is there already: choose another name", b.dir)
	}
	if err := key.Write(path); err != nil {
		return holder.PublicKey{}, err
	}
	if err := durable.MakeFolder(b.dir, 0o700); err != nil {
		return holder.PublicKey{}, fmt.Errorf("the book of the holder's key: %w", err)
	}
	return b.key, durable.WritePrivate(b.dir, writingBook, bookKey, func(w io.Writer) error {
		_, err := io.WriteString(w, b.key.String()+"\n")
		return err
	})
}

// checkKey returns an error unless there is a book and it belongs to the key.
func (b book) checkKey() error {
	text, err := regular.Read(filepath.Join(b.dir, bookKey), signatureBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return b.unusable("there is no book of this holder's key, which shows what was signed and drawn with it: put " +
			"the book next to the key again or, if it is lost, make another key (dprelease holder key)")
	case err != nil:
		return fmt.Errorf("the book of the holder's key: %w", err)
	case strings.TrimSpace(string(text)) != b.key.String():
		return b.unusable("this is the book of another key: give the key that it was made with")
	}
	return nil
}

func (b book) unusable(why string) error {
	return &verdict.Unusable{File: b.dir, Err: errors.New(b.dir + ": " + why)}
}

// change reads the entry of a plan, changes it, and makes the change durable, while no other process does.
func (b book) change(ctx context.Context, p *compiled.Compiled, change func(e *bookEntry) error) error {
	if err := b.checkKey(); err != nil {
		return err
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
		return durable.SyncDir(b.dir) // whoever wrote it may have been killed before the name was durable
	}
	return durable.WritePrivate(b.dir, writingBook, b.name(p), func(w io.Writer) error {
		_, err := w.Write(after)
		return err
	})
}

func (b book) name(p *compiled.Compiled) string { return p.Hash() + ".json" }

func (b book) read(p *compiled.Compiled) (e bookEntry, err error) {
	if err := b.checkKey(); err != nil {
		return e, err
	}
	path := filepath.Join(b.dir, b.name(p))
	text, err := regular.Read(path, bookBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return bookEntry{Format: bookFormat, Release: p.Name, Plan: p.Hash()}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil || e.Format != bookFormat || e.Plan != p.Hash() ||
		!bytes.Equal(text, canonical.Must(canonical.Indented(e))) {
		return e, errors.Join(fmt.Errorf("the book of the holder's key, %s, cannot be read: restore the newest copy",
			path), err)
	}
	return e, nil
}

// nonce returns the nonce that the holder signs. It is drawn if there is none, or if another one is asked for and
// something was drawn for the last.
func (b book) nonce(ctx context.Context, p *compiled.Compiled, another bool) (nonce []byte, err error) {
	err = b.change(ctx, p, func(e *bookEntry) error {
		if e.Withdrawn {
			return errHasWithdrawn(p)
		}
		if e.Nonce == nil || another && e.Commitment != "" {
			if e.Nonces != nil {
				e.Sealed = append(e.Sealed, e.Commitment)
			}
			e.Nonce, e.Commitment, e.Seal, e.Nonces = make([]byte, holder.NonceBytes), "", "", nil
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
	return refuseHolder(p, "was withdrawn from with this key, and others may have measured it without this holder: "+
		"make another release")
}

// check returns an error if a holder cannot mask with these nonces, by name, of which it has signed its own.
func (b book) check(p *compiled.Compiled, name string, nonces map[string][]byte) (bookEntry, error) {
	e, err := b.read(p)
	switch {
	case err != nil:
		return e, err
	case e.Withdrawn:
		return e, errHasWithdrawn(p)
	case !bytes.Equal(e.Nonce, nonces[name]):
		return e, refuseHolder(p, fmt.Sprintf("has another signature in the folder of the roll than the last one of "+
			"this key (%s): put the newest there, or sign again", b.dir))
	}
	return e, e.checkOthers(p, nonces)
}

// checkOthers returns an error if answers have left with another nonce of some holder than now. That holder draws
// its noise anew; from two sums of the same answers, one with its old noise and one with its new noise, its noise could
// be averaged away.
func (e *bookEntry) checkOthers(p *compiled.Compiled, nonces map[string][]byte) error {
	if e.Nonces == nil {
		return nil
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(nonces)) {
		if !bytes.Equal(nonces[name], e.Nonces[name]) {
			changed = append(changed, name)
		}
	}
	if changed == nil {
		return nil
	}
	return refuseHolder(p, fmt.Sprintf("has another signature of %s than the share of this holder was made with: two "+
		"sums with the same answers of this holder and other noise of others would show more than the plan says. Put "+
		"the old signature back; or every holder signs with dprelease holder sign --anew and measures again, at "+
		"another debit",
		strings.Join(changed, ", ")))
}

// draw binds a nonce to the commitment of a draw. It returns an error if the nonce was bound to another draw, or the
// draw was sealed for another nonce: two vectors under the same masks would show their difference.
func (b book) draw(ctx context.Context, p *compiled.Compiled, nonce []byte, commitment string) error {
	return b.change(ctx, p, func(e *bookEntry) error {
		switch {
		case e.Withdrawn:
			return errHasWithdrawn(p)
		case !bytes.Equal(e.Nonce, nonce):
			return errSignedMeanwhile(p)
		case e.Commitment != "" && e.Commitment != commitment:
			return errDrawnBefore(p)
		case slices.Contains(e.Sealed, commitment):
			return refuseHolder(p, "was measured before in this ledger, for an earlier signature, and that share may "+
				"have left: give it up there (dprelease ledger abandon)")
		}
		e.Commitment, e.Drawn = commitment, true
		return nil
	})
}

// recordSeal records the seal of a holder's share of the draw that the holder's nonce is bound to. The share is masked
// with these nonces. It is called before anything of the share is written.
func (b book) recordSeal(ctx context.Context, p *compiled.Compiled, name string, nonces map[string][]byte,
	seal string) error {
	return b.change(ctx, p, func(e *bookEntry) error {
		if err := e.leave(p, name, nonces); err != nil {
			return err
		}
		e.Seal = seal
		return nil
	})
}

// recordLeaving records that answers of the draw that a holder's nonce is bound to will leave, masked with these
// nonces. It is called before the first of them leaves.
func (b book) recordLeaving(ctx context.Context, p *compiled.Compiled, name string, nonces map[string][]byte) error {
	return b.change(ctx, p, func(e *bookEntry) error { return e.leave(p, name, nonces) })
}

// leave notes with which nonces answers leave. It returns an error if the holder has signed another nonce meanwhile, or
// answers have left with others.
func (e *bookEntry) leave(p *compiled.Compiled, name string, nonces map[string][]byte) error {
	if !bytes.Equal(e.Nonce, nonces[name]) || e.Commitment == "" {
		return errSignedMeanwhile(p)
	}
	if err := e.checkOthers(p, nonces); err != nil {
		return err
	}
	if e.Nonces == nil {
		e.Nonces = nonces
	}
	return nil
}

// errSignedMeanwhile is the error for a run whose signature is no longer the last.
func errSignedMeanwhile(p *compiled.Compiled) error {
	return refuseHolder(p, "was signed again with this key while it was measured: measure again")
}

// errDrawnBefore is the error for a plan whose answers were drawn for these signatures before, and elsewhere.
func errDrawnBefore(p *compiled.Compiled) error {
	return refuseHolder(p, "was measured before with these signatures, with another ledger or state directory: a "+
		"second draw under the same masks would show the difference. Put the share back; or every holder signs with "+
		"dprelease holder sign --anew and measures again, at another debit")
}

// withdraw records that the holder takes no part, unless it has drawn.
func (b book) withdraw(ctx context.Context, p *compiled.Compiled) error {
	return b.change(ctx, p, func(e *bookEntry) error {
		if e.Drawn {
			return refuseHolder(p, "was measured with this key: its share may have left, so it cannot be taken back. "+
				"Give up the release, and make another one")
		}
		e.Withdrawn = true
		return nil
	})
}
