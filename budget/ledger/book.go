package ledger

// The accounts as the entries add up to, and what may be written next. Nothing here is stored.

import (
	"errors"
	"fmt"
	"time"

	"github.com/dprelease/dprelease/budget"
)

// State is where a charge stands.
type State string

const (
	Reserved  State = "reserved"  // counts against the cap until cancelled or debited
	Cancelled State = "cancelled" // given back; costs nothing
	Debited   State = "debited"   // spent, for good
)

// book is the sum of a chain of entries.
type book struct {
	ledger    string // path, for messages
	rehearsal bool   // accounts open themselves and have no cap
	sequence  int64  // of the last entry; 0 if there is none
	head      digest // hash of the last entry
	first     digest // hash of the first entry
	accounts  map[string]*account
	names     []string // of accounts, in the order they were opened
}

// account is one account of a book.
type account struct {
	policy   Policy
	status   Status
	opened   string // YYYY-MM-DD
	spent    budget.Cost
	reserved budget.Cost
	postings []*posting            // in the order of their first reservation
	byName   map[string][]*posting // the same, by release
}

// posting is one charge of an account and the entry that last changed it.
type posting struct {
	release, planHash string
	commitment        string // of a debit
	cost              budget.Cost
	state             State
	date              string // YYYY-MM-DD of that entry
	sequence          int64
	hash, previous    digest
}

// line is an entry ready to be stored.
type line struct {
	sequence int64
	body     string
	hash     digest
}

func newBook(ledger string) *book {
	return &book{ledger: ledger, head: genesis(), accounts: map[string]*account{}}
}

// read appends a stored line, or returns *Tampered naming it.
func (b *book) read(sequence int64, body, hash string) error {
	next := b.sequence + 1
	broken := func(reason string) error { return &Tampered{Ledger: b.ledger, Sequence: next, Reason: reason} }
	if sequence != next {
		return broken("is missing")
	}
	if chain(b.head, next, body).String() != hash {
		return broken("does not carry the hash of what it says and of the entry before it")
	}
	e, err := parseEntry(body)
	if err != nil {
		return broken(err.Error())
	}
	if err := b.apply(e, body); err != nil {
		return broken(err.Error())
	}
	return nil
}

// write appends new entries and returns the lines to store.
func (b *book) write(entries []entry) ([]line, error) {
	var lines []line
	for _, e := range entries {
		var err error
		if e.Salt, err = newSalt(); err != nil {
			return nil, fmt.Errorf("ledger %s: %w", b.ledger, err)
		}
		body, err := e.body()
		if err != nil {
			return nil, fmt.Errorf("ledger %s: %w", b.ledger, err)
		}
		if err := b.apply(e, body); err != nil {
			return nil, fmt.Errorf("ledger %s: the entry %w", b.ledger, err)
		}
		lines = append(lines, line{sequence: b.sequence, body: body, hash: b.head})
	}
	return lines, nil
}

// apply adds an entry to the sums. It admits exactly what the ledger writes: an entry that overspends, repeats an
// account, or debits what was not reserved is an error, whoever wrote it.
func (b *book) apply(e entry, body string) error {
	var err error
	if e.Kind == kindInit {
		err = b.applyInit(e)
	} else {
		err = b.applyCharge(e, body)
	}
	if err != nil {
		return err
	}
	b.sequence++
	b.head = chain(b.head, b.sequence, body)
	if b.sequence == 1 {
		b.first = b.head
	}
	return nil
}

func (b *book) applyInit(e entry) error {
	if e.Policy == nil || e.Release != "" || e.PlanHash != "" || e.Cost != nil || e.Commitment != "" {
		return errors.New("is not an opening of an account")
	}
	p := Policy{Account: e.Account, Terms: e.Policy.Terms}
	if e.Policy.Cap != nil {
		p.Cap = *e.Policy.Cap
	}
	switch {
	case b.accounts[e.Account] != nil:
		return fmt.Errorf("opens account %s a second time", e.Account)
	case b.rehearsal: // opened by the first charge, without a cap
	case e.Policy.Status != Official && e.Policy.Status != Practice:
		return errors.New("opens an account of a status that no file holds")
	case p.check() != nil:
		return errors.New("opens an account with an invalid policy")
	}
	b.accounts[e.Account] = &account{policy: p, status: e.Policy.Status, opened: e.Time[:len(time.DateOnly)],
		spent: zeroOf(p.Terms.Definition), reserved: zeroOf(p.Terms.Definition), byName: map[string][]*posting{}}
	b.names = append(b.names, e.Account)
	return nil
}

func (b *book) applyCharge(e entry, body string) error {
	a := b.accounts[e.Account]
	if a == nil {
		return fmt.Errorf("names account %s, which is not open", e.Account)
	}
	if e.Policy != nil || e.Cost == nil {
		return errors.New("is not a charge")
	}
	c := Charge{Account: e.Account, Release: e.Release, PlanHash: e.PlanHash, Terms: a.policy.Terms, Cost: *e.Cost, Commitment: e.Commitment}
	if c.check() != nil || c.checkUnder(a.policy.Terms) != nil {
		return errors.New("is not a charge that its account can hold")
	}
	if e.Kind != kindDebit && e.Commitment != "" {
		return errors.New("is no debit but carries a commitment")
	}
	var err error
	p := a.posting(c)
	switch e.Kind {
	case kindReserve:
		p, err = a.reserve(c, p)
	case kindCancel:
		err = a.settle(c, p, Cancelled)
	case kindDebit:
		err = a.settle(c, p, Debited)
	default:
		err = fmt.Errorf("is of unknown kind %q: it may come from a newer version", e.Kind)
	}
	if err != nil {
		return err
	}
	p.date, p.commitment = e.Time[:len(time.DateOnly)], e.Commitment
	p.sequence, p.previous = b.sequence+1, b.head
	p.hash = chain(b.head, p.sequence, body)
	return nil
}

// reserve moves c into the reserved sum; p is its posting so far, perhaps nil.
func (a *account) reserve(c Charge, p *posting) (*posting, error) {
	if p != nil && p.state != Cancelled {
		return nil, errors.New("reserves what is reserved or debited already")
	}
	if a.holder(c) != nil {
		return nil, errors.New("reserves a release name that another plan holds")
	}
	if fits, err := a.admits(c.Cost); err != nil || !fits {
		return nil, errors.New("overspends its account")
	}
	sum, err := a.reserved.Add(c.Cost)
	if err != nil {
		return nil, err
	}
	if p == nil {
		p = &posting{release: c.Release, planHash: c.PlanHash}
		a.postings = append(a.postings, p)
		a.byName[c.Release] = append(a.byName[c.Release], p)
	}
	p.cost, p.state, a.reserved = c.Cost, Reserved, sum
	return p, nil
}

// settle moves c out of the reserved sum, into the spent one if it is debited.
func (a *account) settle(c Charge, p *posting, to State) error {
	if p == nil || p.state != Reserved || !p.cost.Equal(c.Cost) {
		return errors.New("settles what was not reserved")
	}
	reserved, err := a.reserved.Sub(c.Cost)
	if err != nil {
		return err
	}
	spent := a.spent
	if to == Debited {
		if spent, err = spent.Add(c.Cost); err != nil {
			return err
		}
	}
	p.state, a.reserved, a.spent = to, reserved, spent
	return nil
}

// admits is the filter: whether spent + reserved + asked stays within the cap, exactly, in ε, or in both ρ and δ.
// A rehearsal admits everything.
func (a *account) admits(asked budget.Cost) (bool, error) {
	if a.status == Rehearsal {
		return true, nil
	}
	used, err := a.spent.Add(a.reserved)
	if err != nil {
		return false, err
	}
	return budget.Filter{Cap: a.policy.Cap}.Admits(used, asked)
}

// left is the cap less what is spent and reserved; nothing for a rehearsal.
func (a *account) left() (budget.Cost, error) {
	if a.status == Rehearsal {
		return budget.Cost{}, nil
	}
	rest, err := a.policy.Cap.Sub(a.spent)
	if err != nil {
		return budget.Cost{}, err
	}
	return rest.Sub(a.reserved)
}

// refused is the error for a charge that the filter does not admit.
func (a *account) refused(c Charge) error {
	left, err := a.left()
	if err != nil {
		return err
	}
	return &Refused{Account: c.Account, Release: c.Release, Cap: normal(a.policy.Cap), Spent: normal(a.spent),
		Reserved: normal(a.reserved), Asked: normal(c.Cost), Left: normal(left)}
}

// posting is the posting of c's release and plan, or nil.
func (a *account) posting(c Charge) *posting {
	for _, p := range a.byName[c.Release] {
		if p.planHash == c.PlanHash {
			return p
		}
	}
	return nil
}

// holder is the posting of another plan that holds c's name, or nil.
func (a *account) holder(c Charge) *posting {
	for _, p := range a.byName[c.Release] {
		if p.planHash != c.PlanHash && p.state != Cancelled {
			return p
		}
	}
	return nil
}

// entriesToReserve is what Reserve must write for c: nothing if c is reserved or debited already.
// Errors: *NoAccount, *TermsMismatch, *NameTaken, *Refused.
func (b *book) entriesToReserve(c Charge, now string) ([]entry, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := b.accounts[c.Account]
	if a == nil && !b.rehearsal {
		return nil, &NoAccount{Ledger: b.ledger, Account: c.Account}
	}
	reservation := c.entry(kindReserve, now)
	if a == nil {
		if err := c.Terms.check(); err != nil {
			return nil, fmt.Errorf("ledger: release %s: %w", c.Release, err)
		}
		if err := c.checkUnder(c.Terms); err != nil {
			return nil, err
		}
		return []entry{opening(c.Account, c.Terms, Rehearsal, nil, now), reservation}, nil
	}
	if err := c.checkUnder(a.policy.Terms); err != nil {
		return nil, err
	}
	if p := a.posting(c); p != nil && p.state != Cancelled {
		if !p.cost.Equal(c.Cost) {
			return nil, fmt.Errorf("ledger: release %s is %s under this plan at %s, so it cannot cost %s: one plan has one cost",
				c.Release, p.state, inWords(p.cost, false), inWords(c.Cost, false))
		}
		return nil, nil
	}
	if h := a.holder(c); h != nil {
		return nil, &NameTaken{Account: c.Account, Release: c.Release, PlanHash: c.PlanHash, TakenBy: h.planHash, State: h.state}
	}
	if fits, err := a.admits(c.Cost); err != nil {
		return nil, err
	} else if !fits {
		return nil, a.refused(c)
	}
	return []entry{reservation}, nil
}

// entriesToCancel is what Cancel must write for c: nothing unless c is reserved. Errors: *NoAccount.
func (b *book) entriesToCancel(c Charge, now string) ([]entry, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := b.accounts[c.Account]
	if a == nil {
		return nil, &NoAccount{Ledger: b.ledger, Account: c.Account}
	}
	p := a.posting(c)
	if p == nil || p.state != Reserved {
		return nil, nil
	}
	c.Cost = p.cost
	return []entry{c.entry(kindCancel, now)}, nil
}

// entriesToDebit is what Debit must write for c: nothing if c is debited already, for the same key and integers.
// Errors as entriesToReserve; *Closed.
func (b *book) entriesToDebit(c Charge, now string) ([]entry, error) {
	entries, err := b.entriesToReserve(c, now)
	if err != nil {
		return nil, err
	}
	if a := b.accounts[c.Account]; a != nil {
		if p := a.posting(c); p != nil && p.state == Debited {
			if p.commitment != c.Commitment {
				return nil, &Closed{Account: c.Account, Release: c.Release, Date: p.date}
			}
			return nil, nil
		}
	}
	return append(entries, c.entry(kindDebit, now)), nil
}

// entriesToOpen is what Init must write for p: nothing if the account exists as asked. Errors: wraps ErrAccountExists.
func (b *book) entriesToOpen(p Policy, status Status, now string) ([]entry, error) {
	if b.rehearsal {
		return nil, errors.New("ledger: a rehearsal spends nothing and has no accounts to open")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	a := b.accounts[p.Account]
	if a == nil {
		limit := normal(p.Cap)
		return []entry{opening(p.Account, p.Terms, status, &limit, now)}, nil
	}
	if a.status == status && a.policy.Terms == p.Terms && a.policy.Cap.Equal(p.Cap) {
		return nil, nil
	}
	return nil, fmt.Errorf("ledger %s, account %s: %w since %s with another policy (protects %s, neighbours %s, cap %s, %s): a policy is never changed, so use that one or choose a new account name",
		b.ledger, p.Account, ErrAccountExists, a.opened, a.policy.Terms.Protects, a.policy.Terms.Neighbours,
		inWords(a.policy.Cap, false), a.status.words())
}

// opening is the entry that opens an account; a nil limit is none.
func opening(account string, t Terms, status Status, limit *budget.Cost, now string) entry {
	return entry{Kind: kindInit, Time: now, Account: account, Policy: &opened{Status: status, Terms: t, Cap: limit}}
}
