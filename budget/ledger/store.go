package ledger

// What a file and a table of PostgreSQL do alike with the entries that they keep.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/dprelease/dprelease/internal/regular"
)

// counted returns *Tampered unless b ends with the entry that the store gave out last.
func (b *book) counted(written int64) error {
	switch {
	case written > b.sequence:
		return &Tampered{Ledger: b.ledger, Sequence: b.sequence + 1, Reason: "is missing"}
	case written < b.sequence:
		return &Tampered{Ledger: b.ledger, Sequence: written + 1, Reason: "was not counted when it was written"}
	}
	return nil
}

// attested is the book that load gives, held against its witnesses; one that cannot be read is named in it. A head that
// it lacks may be that of an entry written since it was loaded: heads are appended after COMMIT, so a ledger loaded
// after they were read must hold them.
func attested(load func() (*book, error)) (*book, error) {
	b, err := load()
	if err != nil {
		return nil, err
	}
	seen := map[string][]head{}
	var unread []string
	least := b.sequence // heads of entries after these may come later
	for _, path := range b.witnesses() {
		_, _ = b.place(path) // one that cannot be found is not read either
		text, err := regular.Read(path, mostWitness)
		if err != nil {
			unread = append(unread, fmt.Sprintf("the witness %s cannot be read (%v)", path, errors.Unwrap(err)))
			continue
		}
		if seen[path], err = readHeads(path, text); err != nil {
			unread = append(unread, err.Error())
		} else if newest := knows(seen[path]); newest < least {
			unread = append(unread, fmt.Sprintf("the witness %s knows nothing of entries %d to %d", path, newest+1, least))
		}
	}
	for path, heads := range seen {
		if b.holds(path, heads) == nil {
			continue
		}
		near := b.near
		if b, err = load(); err != nil {
			return nil, err
		}
		b.near = near
		if err := b.holds(path, heads); err != nil {
			return nil, err
		}
	}
	b.unwitnessed = strings.Join(unread, "; ")
	return b, nil
}

// amend is the middle of an update, between reading b and COMMIT: change it, and keep its new lines with insert. The
// witnesses are asked first, so that one that cannot be read or appended to refuses the update; those that the new
// entries name begin with them.
func amend(b *book, change func(*book) ([]line, error), insert func(line) error) (ws witnesses, err error) {
	defer func() {
		if err != nil {
			ws.dismiss()
			ws = nil
		}
	}()
	if err := ws.summon(b, false); err != nil {
		return ws, err
	}
	lines, err := change(b)
	if err != nil {
		return ws, err
	}
	if err := ws.summon(b, true); err != nil {
		return ws, err
	}
	for _, l := range lines {
		if err := insert(l); err != nil {
			return ws, err
		}
	}
	return ws, nil
}

// absent is the error of a ledger file that is not there.
type absent struct{ place string }

func (e *absent) Error() string {
	return fmt.Sprintf("no ledger at %s: if it lies on a disk that is not mounted, mount that; for a new one open an account in it with "+
		"`dprelease ledger init policy.yaml --ledger %[1]s`", e.place)
}

func (e *absent) Unwrap() error { return fs.ErrNotExist }

// openStore opens the ledger at place, the path of a file or the address of a PostgreSQL database. If there is none it
// makes one, or returns an error unless create.
func openStore(ctx context.Context, place string, create bool) (store, error) {
	if isPostgres(place) {
		p, err := openPostgres(ctx, place, create)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	if !create {
		if _, err := os.Stat(place); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, &absent{place}
			}
			return nil, fmt.Errorf("ledger %s: %w", place, err)
		}
	}
	f, err := openFile(ctx, place)
	if err != nil {
		return nil, err
	}
	return f, nil
}
