package ledger

// What the SQLite and PostgreSQL stores have in common.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	address "github.com/dprelease/dprelease/internal/postgres"
	"github.com/dprelease/dprelease/internal/regular"
)

// checkCount returns a *Tampered unless b ends with the last entry that the store counted.
func (b *book) checkCount(written int64) error {
	switch {
	case written > b.sequence:
		return &Tampered{Ledger: b.ledger, Sequence: b.sequence + 1, Reason: "is missing"}
	case written < b.sequence:
		return &Tampered{Ledger: b.ledger, Sequence: written + 1, Reason: "was not counted when it was written"}
	}
	return nil
}

// loadWitnessed returns the book that load returns, checked against its witnesses; the book names a witness that cannot
// be read. If a witness has a head that the book lacks, the entry may have been written since the book was loaded.
// Heads are appended after COMMIT, so a ledger loaded after the witness was read must hold all its heads.
func loadWitnessed(load func() (*book, error)) (*book, error) {
	b, err := load()
	if err != nil {
		return nil, err
	}
	seen := map[string][]head{}
	var unread []string
	least := b.sequence // heads of later entries may come later
	for _, path := range b.witnessPaths() {
		_, _ = b.locateWitness(path) // if it cannot be found, the read below fails too
		text, err := regular.Read(path, maxWitnessBytes)
		if err != nil {
			unread = append(unread, fmt.Sprintf("the witness %s cannot be read (%v)", path, errors.Unwrap(err)))
			continue
		}
		if seen[path], err = readHeads(path, text); err != nil {
			unread = append(unread, err.Error())
		} else if newest := newestSequence(seen[path]); newest < least {
			unread = append(unread, fmt.Sprintf("the witness %s knows nothing of entries %d to %d", path, newest+1,
				least))
		}
	}
	for path, heads := range seen {
		if b.checkHeads(path, heads) == nil {
			continue
		}
		near := b.witnessesOnDisk
		if b, err = load(); err != nil {
			return nil, err
		}
		b.witnessesOnDisk = near
		if err := b.checkHeads(path, heads); err != nil {
			return nil, err
		}
	}
	b.unwitnessed = strings.Join(unread, "; ")
	return b, nil
}

// applyChange is the part of an update between reading b and COMMIT: it applies change and stores the new lines with
// insert. It opens the witnesses first, so that one that cannot be read or appended to refuses the update. Witnesses
// that the new entries name are created.
func applyChange(b *book, change func(*book) ([]line, error), insert func(line) error) (ws witnesses, err error) {
	defer func() {
		if err != nil {
			ws.closeAll()
			ws = nil
		}
	}()
	if err := ws.openMissing(b, false); err != nil {
		return ws, err
	}
	lines, err := change(b)
	if err != nil {
		return ws, err
	}
	if err := ws.openMissing(b, true); err != nil {
		return ws, err
	}
	for _, l := range lines {
		if err := insert(l); err != nil {
			return ws, err
		}
	}
	return ws, nil
}

// missingLedger is the error that there is no ledger file.
type missingLedger struct{ place string }

func (e *missingLedger) Error() string {
	return fmt.Sprintf("no ledger at %s: if it lies on a disk that is not mounted, mount that; for a new one open an "+
		"account in it with `dprelease ledger init policy.yaml --ledger %[1]s`", e.place)
}

func (e *missingLedger) Unwrap() error { return fs.ErrNotExist }

// openStore opens the ledger at place, the path of a file or the address of a PostgreSQL database. If there is none it
// creates one; without create it returns an error.
func openStore(ctx context.Context, place string, create bool) (store, error) {
	if address.IsAddress(place) {
		p, err := openPostgres(ctx, place, create)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	if !create {
		if _, err := os.Stat(place); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, &missingLedger{place}
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
