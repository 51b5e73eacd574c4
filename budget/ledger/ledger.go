package ledger

// The ledger as its users see it.

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// Ledger holds accounts. Its methods may be called from many goroutines, and many processes may open one file.
type Ledger struct {
	store store
	now   func() time.Time
}

// store keeps entries: a file, or the memory of a rehearsal.
type store interface {
	view(context.Context) (*book, error)
	update(context.Context, func(*book) ([]entry, error)) (*book, error)
	check(context.Context) error
	close() error
}

// Open opens the ledger at path. If there is no file it creates one, readable and writable by this user alone, in an
// existing folder. A file that this user may only read opens for Accounts, Show and Verify; without a write-ahead log
// beside it, that is a view as of the opening.
//
// It returns an error for a file that is not a ledger. It does not check the entries: every later call does.
func Open(ctx context.Context, path string) (*Ledger, error) {
	f, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Ledger{store: f, now: time.Now}, nil
}

// OpenExisting opens the ledger at path, as Open does, but does not create one.
func OpenExisting(ctx context.Context, path string) (*Ledger, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("no ledger at %s: open an account in it with `dprelease ledger init policy.yaml --ledger %s` (%w)", path, path, err)
	}
	return Open(ctx, path)
}

// OpenRehearsal opens a ledger in memory for a run on made-up data: an account opens with the first charge on it, and
// there is no cap. Its receipts carry the status Rehearsal, and no other ledger makes such receipts.
func OpenRehearsal() *Ledger { return &Ledger{store: &memory{}, now: time.Now} }

// Close releases the file. What was returned before is durable without it.
func (l *Ledger) Close() error { return l.store.close() }

// Init opens an official account under p. It does nothing if the account is open under the same policy, and returns
// an error that wraps ErrAccountExists if it is open under another or as a practice account.
func (l *Ledger) Init(ctx context.Context, p Policy) error { return l.open(ctx, p, Official) }

// InitPractice opens a practice account under p, as Init does an official one. Every receipt of it says so.
func (l *Ledger) InitPractice(ctx context.Context, p Policy) error { return l.open(ctx, p, Practice) }

func (l *Ledger) open(ctx context.Context, p Policy, status Status) error {
	_, err := l.store.update(ctx, func(b *book) ([]entry, error) { return b.entriesToOpen(p, status, l.stamp()) })
	return err
}

// Accounts lists the names of the accounts, sorted. Errors: wraps ErrTampered.
func (l *Ledger) Accounts(ctx context.Context) ([]string, error) {
	b, err := l.store.view(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(slices.Values(b.names)), nil
}

// Reserve sets c aside, so that Debit cannot be refused. It does nothing if c is reserved or debited already, also
// by a process that was killed since. A reservation counts against the cap until it is cancelled or debited.
//
// Guarantee: after any sequence of calls by any number of processes, spent + reserved ≤ cap in ε, or in both ρ and δ,
// exactly. For neighbours as the account's terms say, all releases ever paid from the account, each chosen after
// seeing the earlier ones, together have at most that loss (package comment).
//
// Errors: *NoAccount, *TermsMismatch, *Refused, *NameTaken; wraps ErrTampered. None of them wrote anything.
func (l *Ledger) Reserve(ctx context.Context, c Charge) error {
	_, err := l.store.update(ctx, func(b *book) ([]entry, error) { return b.entriesToReserve(c, l.stamp()) })
	return err
}

// Cancel gives a reservation back: c costs nothing, and its release's name is free again. It does nothing if c is
// not reserved, in particular after Debit. The caller must know that no noise was drawn for c.
//
// Errors: *NoAccount; wraps ErrTampered.
func (l *Ledger) Cancel(ctx context.Context, c Charge) error {
	_, err := l.store.update(ctx, func(b *book) ([]entry, error) { return b.entriesToCancel(c, l.stamp()) })
	return err
}

// Debit spends c, for good, making the reservation in the same transaction if there is none. The same charge gets
// the same receipt however often and from whichever process it is debited.
//
// Guarantee: when it returns a receipt, the entry is on the disk. An error leaves open whether the entry was made
// only where the disk failed; calling again with the same charge tells, and costs nothing more.
//
// A debit is bound to c.Commitment: under another one (a second key, so a second draw, or other integers) it is
// *Closed, and nothing may be drawn.
//
// Errors: as Reserve; *Closed.
func (l *Ledger) Debit(ctx context.Context, c Charge) (Receipt, error) {
	b, err := l.store.update(ctx, func(b *book) ([]entry, error) { return b.entriesToDebit(c, l.stamp()) })
	if err != nil {
		return Receipt{}, err
	}
	return b.receipt(c)
}

// Identity tells this ledger from every other: the hash of its first entry, which is salted, in 64 hexadecimal digits.
// A copy of the file has the same one. Errors: wraps ErrTampered.
func (l *Ledger) Identity(ctx context.Context) (string, error) {
	b, err := l.store.view(ctx)
	if err != nil {
		return "", err
	}
	return b.first.String(), nil
}

// Debited returns the day, YYYY-MM-DD, on which c's release was debited under c's plan, and "" if it was not.
// Errors: *NoAccount; wraps ErrTampered.
func (l *Ledger) Debited(ctx context.Context, c Charge) (string, error) {
	b, err := l.store.view(ctx)
	if err != nil {
		return "", err
	}
	a := b.accounts[c.Account]
	if a == nil {
		return "", &NoAccount{Ledger: b.ledger, Account: c.Account}
	}
	if p := a.posting(c); p != nil && p.state == Debited {
		return p.date, nil
	}
	return "", nil
}

// Verify reads the whole ledger and returns an error that wraps ErrTampered, a *Tampered with the number of the first
// entry that does not fit, if an entry was changed, removed, moved or is not admissible after those before it; and
// another error if the file is damaged. It cannot notice an older copy of the file or a chain computed anew: for
// that, compare Statement.Head with a copy kept elsewhere.
func (l *Ledger) Verify(ctx context.Context) error {
	if _, err := l.store.view(ctx); err != nil {
		return err
	}
	return l.store.check(ctx)
}

// Show tells what an account is, holds and has left. Errors: *NoAccount; wraps ErrTampered.
func (l *Ledger) Show(ctx context.Context, account string) (Statement, error) {
	b, err := l.store.view(ctx)
	if err != nil {
		return Statement{}, err
	}
	return b.statement(account)
}

// stamp is the time that an entry made now carries.
func (l *Ledger) stamp() string { return l.now().UTC().Format(timeLayout) }
