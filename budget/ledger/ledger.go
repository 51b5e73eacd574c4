package ledger

// The ledger as its users see it.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dprelease/dprelease/budget/sign"
)

// Ledger holds accounts. Its methods may be called from many goroutines, and many processes may open one place.
type Ledger struct {
	store     store
	office    *sign.Key      // signs the entries of a ledger that was begun with it
	trust     sign.PublicKey // whose ledger it must be; none: anybody's
	today     string         // OpenOptions.Today
	rehearsal bool
	now       func() time.Time
}

// store keeps entries: a SQLite file, a PostgreSQL table, or the memory of a rehearsal.
type store interface {
	// view returns the accounts as of one moment.
	view(context.Context) (*book, error)
	// update stores the lines that change asks for, and returns the accounts with them: durable, and witnessed, on
	// return. With an error nothing is stored, unless the disk failed in the last step.
	update(context.Context, func(*book) ([]line, error)) (*book, error)
	// check looks for damage below the entries.
	check(context.Context) error
	// upgrade adds what guards the entries and was not made by an earlier version, and returns it in words.
	upgrade(context.Context) ([]string, error)
	close() error
}

// OpenOptions say how a ledger is opened.
type OpenOptions struct {
	// Office is the key that signs the entries. A new ledger opened with one is signed from its first entry on, and
	// can be written with this key alone; one begun without stays unsigned, and is not written at all where a key is
	// given: it may lie in the place of the signed one.
	Office *sign.Key
	// Trust is the public key that must sign the ledger. Without it a ledger of anybody, or of nobody, is read.
	Trust sign.PublicKey
	// Today is a day, YYYY-MM-DD, that a person vouches has come. Without it an entry that is dated more than 400 days
	// after the last one is not written: the clock may be wrong, and days never go back.
	Today string
}

// Open opens the ledger at place: the path of a file on a local disk, or the address of a PostgreSQL database,
// "postgres://user@host/database". If there is none it creates one: a file readable and writable by this user alone, in
// an existing folder, or the schema dprelease in the database. A ledger that this user may only read opens for
// Accounts, Show, History, Export and Verify.
//
// It returns an error for a file that is not a ledger. It does not check the entries: every later call does.
func Open(ctx context.Context, place string, o OpenOptions) (*Ledger, error) {
	return openLedger(ctx, place, true, o)
}

// OpenExisting opens the ledger at place, as Open does, but does not create one.
func OpenExisting(ctx context.Context, place string, o OpenOptions) (*Ledger, error) {
	return openLedger(ctx, place, false, o)
}

func openLedger(ctx context.Context, place string, create bool, o OpenOptions) (*Ledger, error) {
	if o.Today != "" && !isDay(o.Today) {
		return nil, fmt.Errorf("ledger: today is given as %q: write it as YYYY-MM-DD", o.Today)
	}
	s, err := openStore(ctx, place, create)
	if err != nil {
		return nil, err
	}
	return &Ledger{store: s, office: o.Office, trust: o.Trust, today: o.Today, now: time.Now}, nil
}

// OpenRehearsal opens a ledger in memory for a run on made-up data: an account opens with the first charge on it, and
// there is no cap. Its receipts carry the status Rehearsal, and no other ledger makes such receipts.
func OpenRehearsal() *Ledger { return &Ledger{store: &memory{}, rehearsal: true, now: time.Now} }

// Close releases the file. What was returned before is durable without it.
func (l *Ledger) Close() error { return l.store.close() }

// view returns the accounts as of one moment. Errors: wraps ErrTampered, also where another than the trusted key, or
// none, signs the ledger.
func (l *Ledger) view(ctx context.Context) (*book, error) {
	b, err := l.store.view(ctx)
	if err != nil {
		return nil, err
	}
	if !l.trust.IsZero() && b.office != l.trust {
		return nil, &Tampered{Ledger: b.ledger, Reason: "is not the ledger to be trusted: it " + b.signedInWords() +
			", and the trusted key has the fingerprint " + l.trust.Fingerprint()}
	}
	return b, nil
}

// update stores the entries that change asks for, given the day they will carry. Errors: *WrongKey where a key is given
// and the ledger is not signed by it, also where nothing is to be written.
func (l *Ledger) update(ctx context.Context, change func(b *book, day string) ([]entry, error)) (*book, error) {
	return l.store.update(ctx, func(b *book) ([]line, error) {
		if l.office != nil && b.sequence > 0 && b.office != l.office.Public() {
			return nil, b.wrongKey(l.office)
		}
		now := l.now()
		day, doubt := b.today(now, l.today)
		entries, err := change(b, day)
		if doubt != nil && (dependsOnDay(err) || slices.ContainsFunc(entries, func(e entry) bool { return e.Kind.dated() })) {
			return nil, doubt
		}
		if err != nil {
			return nil, err
		}
		for i := range entries {
			entries[i].Date, entries[i].time = day, now.UTC().Format(timeLayout)
		}
		return b.write(entries, l.office)
	})
}

// write is update for those who do not look at the accounts afterwards.
func (l *Ledger) write(ctx context.Context, change func(b *book, day string) ([]entry, error)) error {
	_, err := l.update(ctx, change)
	return err
}

// dependsOnDay reports whether a refusal could be another on another day.
func dependsOnDay(err error) bool {
	var refused *Refused
	var unapproved *Unapproved
	return errors.As(err, &refused) || errors.As(err, &unapproved)
}

// Init opens an official account under p. It does nothing if the account is open under the same policy, and returns
// an error that wraps ErrAccountExists if it is open under another or as a practice account. A parent must be open,
// with the same terms, else it is *NoParent.
func (l *Ledger) Init(ctx context.Context, p Policy) error { return l.open(ctx, p, Official) }

// InitPractice opens a practice account under p, as Init does an official one. Every receipt of it says so.
func (l *Ledger) InitPractice(ctx context.Context, p Policy) error { return l.open(ctx, p, Practice) }

func (l *Ledger) open(ctx context.Context, p Policy, status Status) error {
	return l.write(ctx, func(b *book, _ string) ([]entry, error) { return b.entriesToOpen(p, status) })
}

// Grant raises the cap of an account, once it is approved by every role that the account's policy names. It does
// nothing if the same grant was made before.
//
// Errors: *NoAccount, *Unapproved, *WrongKey; wraps ErrTampered. None of them wrote anything.
func (l *Ledger) Grant(ctx context.Context, g Grant) error {
	return l.write(ctx, func(b *book, day string) ([]entry, error) { return b.entriesToGrant(g, day) })
}

// Accounts lists the names of the accounts, sorted. Errors: wraps ErrTampered.
func (l *Ledger) Accounts(ctx context.Context) ([]string, error) {
	b, err := l.view(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(slices.Values(b.names)), nil
}

// Reserve sets c aside in its accounts and all above them, so that Debit cannot be refused. It does nothing if c is
// reserved or debited already, also by a process that was killed since. A reservation counts against the caps until it
// is cancelled, abandoned or debited, and uses the approvals that its accounts ask for.
//
// Guarantee: after any sequence of calls by any number of processes, spent + reserved ≤ cap with grants in ε, or in
// both ρ and δ, exactly, in every account. For neighbours as an account's terms say, all releases ever paid from it or
// from an account below it, each chosen after seeing the earlier ones, together have at most that loss (package
// comment). Argument: docs/proofs/account.md.
//
// Errors: *NoAccount, *TermsMismatch, *Refused, *Unapproved, *NameTaken, *NoRelease (what it corrects), *Closed,
// *WrongKey; wraps ErrTampered. None of them wrote anything.
func (l *Ledger) Reserve(ctx context.Context, c Charge) error {
	if err := l.rehearse(ctx, c); err != nil {
		return err
	}
	return l.write(ctx, func(b *book, day string) ([]entry, error) { return b.entriesToReserve(c, day) })
}

// rehearse opens the accounts of c in a rehearsal, and does nothing elsewhere.
func (l *Ledger) rehearse(ctx context.Context, c Charge) error {
	if !l.rehearsal {
		return nil
	}
	return l.write(ctx, func(b *book, _ string) ([]entry, error) { return b.entriesToRehearse(c) })
}

// Cancel gives a reservation back: c costs nothing, and its release's name is free again. It does nothing if c is
// not reserved, in particular after Debit. The caller must know that no noise was drawn for c.
//
// Errors: *NoAccount, *WrongKey; wraps ErrTampered.
func (l *Ledger) Cancel(ctx context.Context, c Charge) error {
	return l.write(ctx, func(b *book, _ string) ([]entry, error) { return b.entriesToCancel(c) })
}

// Debit spends c, for good, making the reservation in the same transaction if there is none. The same charge gets
// the same receipt, until it is finished, however often and from whichever process it is debited.
//
// Guarantee: when it returns a receipt, the entry is on the disk. An error leaves open whether the entry was made
// only where the disk failed; calling again with the same charge tells, and costs nothing more.
//
// A debit is bound to c.Commitment: under another one (a second key, so a second draw, or other integers) it is
// *Closed, and nothing may be drawn. So it is once the release is finished or abandoned.
//
// Errors: as Reserve.
func (l *Ledger) Debit(ctx context.Context, c Charge) (Receipt, error) {
	if err := l.rehearse(ctx, c); err != nil {
		return Receipt{}, err
	}
	b, err := l.update(ctx, func(b *book, day string) ([]entry, error) { return b.entriesToDebit(c, day) })
	if err != nil {
		return Receipt{}, err
	}
	return b.receipt(c)
}

// Finish notes that the measurements of a debited charge are durable, with the SHA-256 of their seal in hexadecimal.
// From then on Debit is *Closed for everybody. The same seal again does nothing; another is an error that wraps
// *Closed: those measurements were drawn twice and must not be published.
//
// Errors: *NoAccount, *NoRelease (not debited), *Closed, *WrongKey; wraps ErrTampered.
func (l *Ledger) Finish(ctx context.Context, c Charge, seal string) error {
	return l.write(ctx, func(b *book, _ string) ([]entry, error) { return b.entriesToFinish(c, seal) })
}

// Abandon gives up a release that is not finished: a reservation is given back, and its name is free again; a debit
// stays spent, and the release is closed for good. It does nothing where that is done. The caller must know that
// nothing was published.
//
// Errors: *NoAccount, *NoRelease, *WrongKey; wraps ErrTampered.
func (l *Ledger) Abandon(ctx context.Context, account, release, reason string) error {
	return l.write(ctx, func(b *book, _ string) ([]entry, error) {
		return b.entriesToEnd(kindAbandon, account, release, reason)
	})
}

// Withdraw marks a finished release as not to be used any more. What it cost stays spent. It does nothing where that
// is done. Errors: as Abandon.
func (l *Ledger) Withdraw(ctx context.Context, account, release, reason string) error {
	return l.write(ctx, func(b *book, _ string) ([]entry, error) {
		return b.entriesToEnd(kindWithdraw, account, release, reason)
	})
}

// Compared notes that results of a release, or of a trial of it, are compared with the truth. It costs nothing; every
// later record of the account says how many such notes preceded it. When it returns, the note is on the disk: only what
// it returns opens the truth to a comparison. Errors: *NoAccount, *WrongKey; wraps ErrTampered.
func (l *Ledger) Compared(ctx context.Context, account, release, reason string) (Comparison, error) {
	b, err := l.update(ctx, func(b *book, _ string) ([]entry, error) {
		return b.entriesToCompare(account, release, reason)
	})
	if err != nil {
		return Comparison{}, err
	}
	return b.comparison(account, release), nil
}

// Identity tells this ledger from every other: the hash of its first entry, which is salted, in 64 hexadecimal digits.
// A copy of the file has the same one. Errors: wraps ErrTampered.
func (l *Ledger) Identity(ctx context.Context) (string, error) {
	b, err := l.view(ctx)
	if err != nil {
		return "", err
	}
	first, _ := b.hashAt(1)
	return first.String(), nil
}

// Debited returns the day, YYYY-MM-DD, on which c's release was debited under c's plan, and "" if it was not.
// Errors: *NoAccount; wraps ErrTampered.
func (l *Ledger) Debited(ctx context.Context, c Charge) (string, error) {
	b, err := l.view(ctx)
	if err != nil {
		return "", err
	}
	a := b.accounts[c.Account]
	if a == nil {
		return "", &NoAccount{Ledger: b.ledger, Account: c.Account}
	}
	if p := a.posting(c); p != nil {
		return p.debited, nil
	}
	return "", nil
}

// Contains returns nil if the ledger holds the debit that a published record tells of, and *NotHeld if it does not:
// then it is an older copy, or another ledger. Errors: also that of [Record.Check]; wraps ErrTampered.
func (l *Ledger) Contains(ctx context.Context, r Record) error {
	b, err := l.view(ctx)
	if err != nil {
		return err
	}
	return b.contains(r)
}

// Verify reads the whole ledger and returns an error that wraps ErrTampered, a *Tampered with the number of the first
// entry that does not fit, if an entry was changed, removed, moved or is not admissible after those before it; and
// another error if the file is damaged. It cannot notice an older copy of the file or a chain computed anew: for
// that, compare Statement.Head with a copy kept elsewhere.
func (l *Ledger) Verify(ctx context.Context) error {
	if _, err := l.view(ctx); err != nil {
		return err
	}
	return l.store.check(ctx)
}

// Upgrade adds to a PostgreSQL ledger the guards that an earlier version of dprelease did not make, all or none, and
// returns them in words: none where nothing was missing. It changes no entry, does nothing to a file, and needs the
// rights of the owner of the tables. Errors: wraps ErrTampered; another where a guard is missing that every version
// made.
func (l *Ledger) Upgrade(ctx context.Context) (added []string, err error) {
	if _, err := l.view(ctx); err != nil {
		return nil, err
	}
	return l.store.upgrade(ctx)
}

// Show tells what an account is, holds and has left. Errors: *NoAccount; wraps ErrTampered.
func (l *Ledger) Show(ctx context.Context, account string) (Statement, error) {
	b, err := l.view(ctx)
	if err != nil {
		return Statement{}, err
	}
	return b.statement(account)
}
