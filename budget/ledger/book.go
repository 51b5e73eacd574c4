package ledger

// The chain of entries, and the accounts that they add up to. A book is never stored.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dprelease/dprelease/budget/sign"
)

// book holds the accounts as a chain of entries leaves them.
type book struct {
	ledger         string // where it is kept, for messages
	rehearsal      bool   // accounts open themselves and have no cap
	sequence       int64  // of the last entry; 0 if there is none
	head           digest // hash of the last entry
	day            string // of the last entry
	lines          []line
	office         sign.PublicKey // the key that signs every entry; zero if the ledger was begun without one
	accounts       map[string]*account
	names          []string            // of accounts, in the order they were opened
	namedWitnesses map[string]struct{} // of witnesses
	standingUse    map[digest]int64    // reservations and debits under each standing approval
	verifyResults  map[string]error    // what Verify said of an approval, by its text: signatures are slow to check

	witnessesOnDisk map[string]bool // witnesses that lie on the disk of the ledger; set by the store

	// unwitnessed explains why the witness could not be consulted; set by the store, for the statement of a view.
	unwitnessed string
}

// line is an entry as it is stored.
type line struct {
	sequence  int64
	body      string // canonical JSON, may be published
	private   string // canonical JSON, may not be published
	hash      digest
	signature string // base64, of the office's key over the hash; "" where the ledger has none
}

func newBook(ledger string) *book {
	return &book{ledger: ledger, head: genesisHash(), accounts: map[string]*account{},
		namedWitnesses:  map[string]struct{}{},
		witnessesOnDisk: map[string]bool{},
		standingUse:     map[digest]int64{}, verifyResults: map[string]error{}}
}

// storedLines are the rows of a store's table of entries: sequence, body, private part, hash and signature.
type storedLines interface {
	Next() bool
	Scan(into ...any) error
	Err() error
}

// readBook reads and checks the whole chain. Errors: wraps ErrTampered; errors of the store, as explain words them.
func readBook(ledger string, rows storedLines, explain func(error) error) (*book, error) {
	b := newBook(ledger)
	for rows.Next() {
		var l line
		var hash string
		if err := rows.Scan(&l.sequence, &l.body, &l.private, &hash, &l.signature); err != nil {
			return nil, explain(err)
		}
		l.hash, _ = parseDigest(hash) // an invalid hash does not fit the chain
		if err := b.readLine(l); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, explain(err)
	}
	return b, nil
}

// hashAt returns the hash of an entry that was already read.
func (b *book) hashAt(sequence int64) (digest, bool) {
	if sequence < 1 || sequence > b.sequence {
		return digest{}, false
	}
	return b.lines[sequence-1].hash, true
}

// witnessPaths returns the paths of the witnesses that the policies name, sorted.
func (b *book) witnessPaths() []string { return slices.Sorted(maps.Keys(b.namedWitnesses)) }

// readLine appends a stored line. The error is a *Tampered that names the line.
func (b *book) readLine(l line) error {
	if l.sequence != b.sequence+1 {
		return b.tamperedNext(errors.New("is missing"))
	}
	sealed := digestOf(l.private)
	e, err := b.checkLink(l, sealed)
	if err != nil {
		return b.tamperedNext(err)
	}
	s, err := parseSecret(l.private, e.Kind)
	if err != nil {
		return b.tamperedNext(err)
	}
	e.time, e.commitment = s.Time, s.Commitment
	if err := b.applyEntry(e, l, sealed); err != nil {
		return b.tamperedNext(err)
	}
	return nil
}

// readSealed appends a line of an export, which carries only the hash of its private part. Errors: *Tampered.
func (b *book) readSealed(l line, sealed digest) error {
	l.sequence = b.sequence + 1
	e, err := b.checkLink(l, sealed)
	if err == nil {
		err = b.applyEntry(e, l, sealed)
	}
	if err != nil {
		return b.tamperedNext(err)
	}
	return nil
}

// tamperedNext returns the error that the next entry does not fit the chain.
func (b *book) tamperedNext(err error) error {
	return &Tampered{Ledger: b.ledger, Sequence: b.sequence + 1, Reason: err.Error()}
}

// checkLink checks that a line continues the chain, and is signed if the ledger is signed. It returns the public part
// of the entry.
func (b *book) checkLink(l line, sealed digest) (entry, error) {
	if chainHash(b.head, sealed, l.body) != l.hash {
		return entry{}, errors.New("does not carry the hash of what it says and of the entry before it")
	}
	e, err := parseEntry(l.body)
	if err != nil {
		return entry{}, err
	}
	office := b.office
	if b.sequence == 0 {
		office = e.Office
	}
	switch {
	case office.IsZero() && l.signature != "":
		return entry{}, errors.New("is signed in a ledger that has no office key")
	case !office.IsZero() && office.Verify(entryPurpose, l.hash[:], l.signature) != nil:
		return entry{}, fmt.Errorf("is not signed by the office's key (fingerprint %s)", office.Fingerprint())
	}
	return e, nil
}

// signedInWords describes who signs the ledger.
func (b *book) signedInWords() string {
	if b.office.IsZero() {
		return "is not signed"
	}
	return "is signed by another key (fingerprint " + b.office.Fingerprint() + ")"
}

// writeEntries applies new entries and returns the lines to store. It signs every entry of a ledger that was begun with
// an office key. The error is *WrongKey without that key, or with a key if the ledger was begun without one.
func (b *book) writeEntries(entries []entry, office *sign.Key) ([]line, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	if b.sequence == 0 && office != nil {
		b.office, entries[0].Office = office.Public(), office.Public()
	}
	var given sign.PublicKey
	if office != nil {
		given = office.Public()
	}
	if given != b.office {
		return nil, b.wrongKey(office)
	}
	signs := !b.office.IsZero()
	var lines []line
	for _, e := range entries {
		l := line{sequence: b.sequence + 1}
		var err error
		if l.body, err = e.publicBody(); err != nil {
			return nil, fmt.Errorf("ledger %s: %w", b.ledger, err)
		}
		if l.private, err = e.privatePart(); err != nil {
			return nil, fmt.Errorf("ledger %s: %w", b.ledger, err)
		}
		sealed := digestOf(l.private)
		l.hash = chainHash(b.head, sealed, l.body)
		if signs {
			l.signature = office.Sign(entryPurpose, l.hash[:])
		}
		if err := b.applyEntry(e, l, sealed); err != nil {
			return nil, fmt.Errorf("ledger %s: the entry %w", b.ledger, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func (b *book) wrongKey(given *sign.Key) error {
	e := &WrongKey{Ledger: b.ledger, Needed: b.office}
	if given != nil {
		e.Given = given.Public()
	}
	return e
}

// maxPause is the number of days between two entries after which a person is asked whether the clock is right. It
// exceeds what a yearly release needs. An entry dated by a wrong clock stops the account until that day has come, since
// days never go back.
const maxPause = 400

// entryDay returns the day that an entry made now carries: the day of now, or of the last entry if another machine's
// clock passed midnight before this one's. If the clock is in doubt, it returns the day of the last entry and an error,
// which stops whatever spends. The clock is in doubt if it is behind the last entry, or if it is more than maxPause
// days after the last entry and after the day that a person confirmed.
func (b *book) entryDay(now time.Time, vouched string) (string, error) {
	now = now.UTC()
	day, last := now.Format(dayLayout), max(b.day, vouched)
	switch {
	case b.sequence == 0 && day >= vouched:
		return day, nil
	case day >= last && now.AddDate(0, 0, -maxPause).Format(dayLayout) <= last:
		return day, nil
	case day >= last:
		return b.day, newDoubtedClock("ledger %s: its last entry is of %s, and the clock of this machine says %s: "+
			"nothing was written; if that is today, say so with --today %s, and else set the clock: what an entry "+
			"from the future spends could not be followed by anything until then",
			b.ledger, b.day, day, day)
	case vouched <= b.day && now.AddDate(0, 0, 1).Format(dayLayout) >= b.day:
		return b.day, nil
	case vouched > b.day:
		return b.day, newDoubtedClock("ledger %s: the clock of this machine says %s, and you that it is %s: nothing "+
			"was written; set the clock, and run again", b.ledger, day, vouched)
	}
	return b.day, newDoubtedClock("ledger %s: its last entry is of %s, and the clock of this machine says %s: "+
		"nothing was written; set the clock, and run again",
		b.ledger, b.day, day)
}

// applyEntry adds an entry to the accounts. It admits exactly what the ledger writes: an entry that overspends, that
// lacks an approval its accounts require, or that follows from no reservation is an error, no matter who wrote it.
func (b *book) applyEntry(e entry, l line, sealed digest) error {
	var err error
	switch {
	case !e.hasShape():
		err = fmt.Errorf("is not an entry of kind %q as this version knows it: it may come from a newer one", e.Kind)
	case e.Date < b.day:
		err = errors.New("is of an earlier day than the entry before it")
	case b.sequence > 0 && !e.Office.IsZero():
		err = errors.New("names an office key, which the first entry alone may")
	default:
		err = b.applyKind(e, l, sealed)
	}
	if err != nil {
		return err
	}
	b.office = b.officeAfter(e)
	b.sequence, b.head, b.day = b.sequence+1, l.hash, e.Date
	b.lines = append(b.lines, l)
	return nil
}

func (b *book) officeAfter(e entry) sign.PublicKey {
	if b.sequence == 0 {
		return e.Office
	}
	return b.office
}

func (b *book) applyKind(e entry, l line, sealed digest) error {
	if e.Kind == kindInit {
		return b.applyInit(e)
	}
	a := b.accounts[e.Account]
	if a == nil {
		return fmt.Errorf("names account %s, which is not open", e.Account)
	}
	switch e.Kind {
	case kindReserve:
		return b.applyReserve(e, a)
	case kindDebit:
		return b.applyDebit(e, a, l, sealed)
	case kindGrant:
		return b.applyGrant(e, a)
	case kindCompare:
		return b.applyCompare(e, a)
	}
	return b.applyClosing(e, a)
}

func (b *book) applyInit(e entry) error {
	p, status := e.Policy.policyOf(e.Account), e.Policy.Status
	switch {
	case b.accounts[e.Account] != nil:
		return fmt.Errorf("opens account %s a second time", e.Account)
	case b.rehearsal: // opened by the first charge, without a cap
	case status != Official && status != Practice:
		return errors.New("opens an account of a status that no file holds")
	case p.check() != nil:
		return errors.New("opens an account with an invalid policy")
	}
	parent := b.accounts[p.Parent]
	if p.Parent != "" && (parent == nil || parent.policy.Terms != p.Terms || parent.status != status) {
		return fmt.Errorf("opens an account below %s, which is not open with the same terms", p.Parent)
	}
	a := newAccount(p, status, e.Date, parent)
	b.accounts[e.Account] = a
	b.names = append(b.names, e.Account)
	if p.Witness != "" {
		b.namedWitnesses[p.Witness] = struct{}{}
	}
	return nil
}
