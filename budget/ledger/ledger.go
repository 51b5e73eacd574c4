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

// Ledger holds accounts. Its methods may be called from many goroutines, and many processes may open the same ledger.
type Ledger struct {
	store     store
	office    *sign.Key      // signs the entries of a ledger that was begun with it
	trust     sign.PublicKey // the key that must sign the ledger; zero: any key or none
	today     string         // OpenOptions.Today
	rehearsal bool
	now       func() time.Time
}

// store keeps entries: a SQLite file, a PostgreSQL table, or the memory of a rehearsal.
type store interface {
	// view returns the accounts as of one moment.
	view(context.Context) (*book, error)
	// update stores the lines that change returns, and returns the accounts after them. On return they are durable and
	// witnessed. If it returns an error nothing is stored, unless the disk failed in the last step.
	update(context.Context, func(*book) ([]line, error)) (*book, error)
	// checkStorage looks for damage below the entries.
	checkStorage(context.Context) error
	// upgrade adds the guards that an earlier version did not create, and describes each in words.
	upgrade(context.Context) ([]string, error)
	close() error
}

// OpenOptions say how a ledger is opened.
type OpenOptions struct {
	// Office is the key that signs the entries. A new ledger opened with a key is signed from its first entry on, and
	// can be written with this key alone. A ledger that was begun without a key stays unsigned, and cannot be written
	// if a key is given: somebody may have put it in the place of a signed one.
	Office *sign.Key
	// Trust is the public key that must sign the ledger. Without it, a ledger signed by any key, or by none, is read.
	Trust sign.PublicKey
	// Today is a day, YYYY-MM-DD, that a person confirms has come. Without it no entry is written that is dated more
	// than 400 days after the last one: the clock may be wrong, and days never go back.
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

// Close releases the file. Whatever earlier calls returned is already durable.
func (l *Ledger) Close() error { return l.store.close() }

// view returns the accounts as of one moment. The error wraps ErrTampered, also if the ledger is not signed by the
// trusted key.
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

// update stores the entries that change returns for the day that they will carry. The error is *WrongKey if a key is
// given that does not sign the ledger, even if there is nothing to write.
func (l *Ledger) update(ctx context.Context, change func(b *book, day string) ([]entry, error)) (*book, error) {
	return l.store.update(ctx, func(b *book) ([]line, error) {
		if l.office != nil && b.sequence > 0 && b.office != l.office.Public() {
			return nil, b.wrongKey(l.office)
		}
		now := l.now()
		day, doubt := b.entryDay(now, l.today)
		entries, err := change(b, day)
		isDateSensitive := func(e entry) bool { return e.Kind.isDateSensitive() }
		if doubt != nil && (dependsOnDay(err) || slices.ContainsFunc(entries, isDateSensitive)) {
			return nil, doubt
		}
		if err != nil {
			return nil, err
		}
		for i := range entries {
			entries[i].Date, entries[i].time = day, now.UTC().Format(timeLayout)
		}
		return b.writeEntries(entries, l.office)
	})
}

// writeEntries is update for callers that do not need the accounts afterwards.
func (l *Ledger) writeEntries(ctx context.Context, change func(b *book, day string) ([]entry, error)) error {
	_, err := l.update(ctx, change)
	return err
}

// dependsOnDay reports whether a charge that is refused with err could be admitted on another day.
func dependsOnDay(err error) bool {
	var refused *Refused
	var unapproved *Unapproved
	return errors.As(err, &refused) || errors.As(err, &unapproved)
}

// Init opens an official account under p. It does nothing if the account is open under the same policy, and returns an
// error that wraps ErrAccountExists if it is open under another policy or as a practice account. A parent must be open
// with the same terms; if it is not, the error is *NoParent.
func (l *Ledger) Init(ctx context.Context, p Policy) error { return l.openAccount(ctx, p, Official) }

// InitPractice opens a practice account under p, as Init opens an official one. Every receipt from it is marked as
// practice.
func (l *Ledger) InitPractice(ctx context.Context, p Policy) error {
	return l.openAccount(ctx, p, Practice)
}

func (l *Ledger) openAccount(ctx context.Context, p Policy, status Status) error {
	return l.writeEntries(ctx, func(b *book, _ string) ([]entry, error) { return b.entriesToOpen(p, status) })
}

// Grant raises the cap of an account, once every role that the account's policy names has approved it. It does nothing
// if the same grant was made before.
//
// Errors: *NoAccount, *Unapproved, *WrongKey; wraps ErrTampered. None of them wrote anything.
func (l *Ledger) Grant(ctx context.Context, g Grant) error {
	return l.writeEntries(ctx, func(b *book, day string) ([]entry, error) { return b.entriesToGrant(g, day) })
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
// already reserved or debited, even by a process that was killed since. A reservation counts against the caps until it
// is cancelled, abandoned or debited, and uses the approvals that its accounts require.
//
// Guarantee: after any sequence of calls by any number of processes, spent + reserved ≤ cap with grants in ε, or in
// both ρ and δ, exactly, in every account. For the neighbours in an account's terms, all releases ever paid from it or
// from an account below it, each chosen after seeing the earlier ones, together have at most that loss (package
// comment). Argument: docs/proofs/account.md.
//
// Errors: *NoAccount, *TermsMismatch, *Refused, *Unapproved, *NameTaken, *NoRelease (what it corrects), *Closed,
// *WrongKey; wraps ErrTampered. None of them wrote anything.
func (l *Ledger) Reserve(ctx context.Context, c Charge) error {
	if err := l.openRehearsalAccounts(ctx, c); err != nil {
		return err
	}
	return l.writeEntries(ctx, func(b *book, day string) ([]entry, error) { return b.entriesToReserve(c, day) })
}

// openRehearsalAccounts opens the accounts of c in a rehearsal, and does nothing in another ledger.
func (l *Ledger) openRehearsalAccounts(ctx context.Context, c Charge) error {
	if !l.rehearsal {
		return nil
	}
	return l.writeEntries(ctx, func(b *book, _ string) ([]entry, error) { return b.entriesToRehearse(c) })
}

// Cancel gives a reservation back: c costs nothing, and the name of its release is free again. It does nothing if c is
// not reserved, in particular after Debit. The caller must know that no noise was drawn for c.
//
// Errors: *NoAccount, *WrongKey; wraps ErrTampered.
func (l *Ledger) Cancel(ctx context.Context, c Charge) error {
	return l.writeEntries(ctx, func(b *book, _ string) ([]entry, error) { return b.entriesToCancel(c) })
}

// Debit spends c permanently. If c is not reserved, it makes the reservation in the same transaction. Until the release
// is finished, the same charge gets the same receipt, however often and from whichever process it is debited.
//
// Guarantee: when it returns a receipt, the entry is on the disk. An error leaves open whether the entry was written
// only if the disk failed; calling again with the same charge finds out, and costs nothing more.
//
// A debit is bound to c.Commitment. Under another commitment (a second key, hence a second draw, or other integers) the
// error is *Closed, and nothing may be drawn. The error is also *Closed once the release is finished or abandoned.
//
// Errors: as Reserve.
func (l *Ledger) Debit(ctx context.Context, c Charge) (Receipt, error) {
	if err := l.openRehearsalAccounts(ctx, c); err != nil {
		return Receipt{}, err
	}
	b, err := l.update(ctx, func(b *book, day string) ([]entry, error) { return b.entriesToDebit(c, day) })
	if err != nil {
		return Receipt{}, err
	}
	return b.receiptFor(c)
}

// Finish records that the measurements of a debited charge are durable, with the SHA-256 of their seal in hexadecimal.
// From then on Debit returns *Closed to every caller. The same seal again does nothing. Another seal is an error that
// wraps *Closed: the measurements were drawn twice, and these must not be published.
//
// Errors: *NoAccount, *NoRelease (not debited), *Closed, *WrongKey; wraps ErrTampered.
func (l *Ledger) Finish(ctx context.Context, c Charge, seal string) error {
	return l.writeEntries(ctx, func(b *book, _ string) ([]entry, error) { return b.entriesToFinish(c, seal) })
}

// Abandon gives up a release that is not finished. A reservation is given back, and its name is free again; a debit
// stays spent, and the release is closed for good. It does nothing if the release was abandoned before. The caller must
// know that nothing was published.
//
// Errors: *NoAccount, *NoRelease, *WrongKey; wraps ErrTampered.
func (l *Ledger) Abandon(ctx context.Context, account, release, reason string) error {
	return l.writeEntries(ctx, func(b *book, _ string) ([]entry, error) {
		return b.entriesToEnd(kindAbandon, account, release, reason)
	})
}

// Withdraw marks a finished release as no longer to be used. Its cost stays spent. It does nothing if the release was
// withdrawn before. Errors: as Abandon.
func (l *Ledger) Withdraw(ctx context.Context, account, release, reason string) error {
	return l.writeEntries(ctx, func(b *book, _ string) ([]entry, error) {
		return b.entriesToEnd(kindWithdraw, account, release, reason)
	})
}

// Compared records that results of a release, or of a trial of it, are compared with the truth. It costs nothing; every
// later record of the account states how many such notes preceded it. When it returns, the note is on the disk. Only
// the value it returns permits a comparison with the truth. Errors: *NoAccount, *WrongKey; wraps ErrTampered.
func (l *Ledger) Compared(ctx context.Context, account, release, reason string) (Comparison, error) {
	b, err := l.update(ctx, func(b *book, _ string) ([]entry, error) {
		return b.entriesToCompare(account, release, reason)
	})
	if err != nil {
		return Comparison{}, err
	}
	return b.lastComparison(account, release), nil
}

// Identity returns what distinguishes this ledger from every other: the hash of its first entry, which is salted, in 64
// hexadecimal digits. A copy of the file has the same identity. Errors: wraps ErrTampered.
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
	if p := a.findCharge(c); p != nil {
		return p.debited, nil
	}
	return "", nil
}

// Contains returns nil if the ledger holds the debit of a published record, and *NotHeld if it does not: it is then an
// older copy, or another ledger. Errors: also those of [Record.Check]; wraps ErrTampered.
func (l *Ledger) Contains(ctx context.Context, r Record) error {
	b, err := l.view(ctx)
	if err != nil {
		return err
	}
	return b.checkContains(r)
}

// Verify reads and checks the whole ledger. If an entry was changed, removed or moved, or is not admissible after the
// entries before it, the error wraps ErrTampered and is a *Tampered with the number of the first such entry. A damaged
// file is another error. Verify cannot notice an older copy of the file or a recomputed chain: for that, compare
// Statement.Head with a copy kept elsewhere.
func (l *Ledger) Verify(ctx context.Context) error {
	if _, err := l.view(ctx); err != nil {
		return err
	}
	return l.store.checkStorage(ctx)
}

// Upgrade adds to a PostgreSQL ledger the guards that an earlier version of dprelease did not create, all or none, and
// describes each in words; it returns none if nothing was missing. It changes no entry, does nothing to a file, and
// needs the rights of the owner of the tables. Errors: wraps ErrTampered; another error if a guard is missing that
// every version creates.
func (l *Ledger) Upgrade(ctx context.Context) (added []string, err error) {
	if _, err := l.view(ctx); err != nil {
		return nil, err
	}
	return l.store.upgrade(ctx)
}

// Show returns the statement of an account. Errors: *NoAccount; wraps ErrTampered.
func (l *Ledger) Show(ctx context.Context, account string) (Statement, error) {
	b, err := l.view(ctx)
	if err != nil {
		return Statement{}, err
	}
	return b.statement(account)
}
