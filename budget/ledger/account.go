package ledger

// One account: its policy, what is granted, spent and reserved, and the charges that count in it.

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// account is one account of a book.
type account struct {
	policy      Policy
	status      Status
	opened      string // YYYY-MM-DD
	parent      *account
	children    []string // in the order they were opened
	granted     budget.Cost
	grants      []grant
	granting    map[string]bool // hashes of the grants made
	total       sums
	common      *big.Int         // every amount ever counted here is a multiple of one part in so many
	periods     map[string]*sums // by period of the allowance
	order       []string         // of those periods, the oldest first
	postings    []*posting       // all that count here, in the order of their first reservation
	byName      map[string][]*posting
	debits      int64 // that count here
	comparisons int64 // of results with the truth, here and below
}

// sums are what is spent and reserved, of an account or of one of its periods.
type sums struct{ spent, reserved budget.Cost }

func newAccount(p Policy, status Status, day string, parent *account) *account {
	zero := zeroOf(p.Terms.Definition)
	if parent != nil {
		parent.children = append(parent.children, p.Account)
	}
	return &account{policy: p, status: status, opened: day, parent: parent, granted: zero, granting: map[string]bool{},
		total: sums{zero, zero}, common: big.NewInt(1), periods: map[string]*sums{}, byName: map[string][]*posting{}}
}

// hits are the accounts that a charge counts in: those it names and all above them, each once.
// Errors: *NoAccount.
func (b *book) hits(c Charge) ([]*account, error) {
	var all []*account
	seen := map[*account]bool{}
	for _, name := range c.direct() {
		a := b.accounts[name]
		if a == nil {
			return nil, &NoAccount{Ledger: b.ledger, Account: name}
		}
		for ; a != nil && !seen[a]; a = a.parent {
			seen[a] = true
			all = append(all, a)
		}
	}
	return all, nil
}

// above are the account and all above it.
func (a *account) above() []*account {
	var all []*account
	for ; a != nil; a = a.parent {
		all = append(all, a)
	}
	return all
}

// limit is the cap with what was granted; nothing for a rehearsal.
func (a *account) limit() (budget.Cost, error) {
	if a.status == Rehearsal {
		return budget.Cost{}, nil
	}
	return a.policy.Cap.Add(a.granted)
}

// period is that of a day, and its sums so far; "" where the account has no allowance.
func (a *account) period(day string) (string, sums) {
	if a.policy.Allowance == nil {
		return "", sums{}
	}
	name := a.policy.Allowance.Per.of(day)
	if s := a.periods[name]; s != nil {
		return name, *s
	}
	zero := zeroOf(a.policy.Terms.Definition)
	return name, sums{zero, zero}
}

// quota is what limits an account, its cap with grants or its allowance for a period, and what is used of it.
type quota struct {
	period string // of the allowance; "" of the cap
	used   sums
	limit  budget.Cost
}

// quotas returns the quotas that a reservation must fit on a day, the cap first; a rehearsal has none.
func (a *account) quotas(day string) ([]quota, error) {
	if a.status == Rehearsal {
		return nil, nil
	}
	limit, err := a.limit()
	if err != nil {
		return nil, err
	}
	all := []quota{{used: a.total, limit: limit}}
	if period, used := a.period(day); period != "" {
		all = append(all, quota{period, used, a.policy.Allowance.Cap})
	}
	return all, nil
}

// admits is the filter: whether spent + reserved + asked stays within the limit, exactly, in ε, or in both ρ and δ.
//
// Guarantee: as long as every charge that counts in these sums was admitted before it was run, all of them together are
// within that limit, however each was chosen. Neighbours: those of the account's terms. Theorem: see [budget.Filter].
// Argument: docs/proofs/filter.md.
func (s sums) admits(limit, asked budget.Cost) (bool, error) {
	used, err := s.spent.Add(s.reserved)
	if err != nil {
		return false, err
	}
	return budget.Filter{Cap: limit}.Admits(used, asked)
}

// left is the limit less what is spent and reserved.
func (s sums) left(limit budget.Cost) (budget.Cost, error) {
	rest, err := limit.Sub(s.spent)
	if err != nil {
		return budget.Cost{}, err
	}
	return rest.Sub(s.reserved)
}

// reserve moves cost into the reserved sum.
func (s *sums) reserve(cost budget.Cost) (err error) {
	s.reserved, err = s.reserved.Add(cost)
	return err
}

// settle moves cost out of the reserved sum, and into the spent one if it is debited.
func (s *sums) settle(cost budget.Cost, debited bool) (err error) {
	if s.reserved, err = s.reserved.Sub(cost); err == nil && debited {
		s.spent, err = s.spent.Add(cost)
	}
	return err
}

// addable returns an error for an amount in such fractions that sums with it would take ever longer.
func (a *account) addable(c budget.Cost) error {
	if common(a.common, c).BitLen() > maxCommonBits {
		return fmt.Errorf("account %s: %s has another denominator than all amounts before, and the common one would have more than %d bits: ask for a rounder amount",
			a.policy.Account, inWords(c, false), maxCommonBits)
	}
	return nil
}

// reserve counts cost in the account and in the period of the day.
func (a *account) reserve(cost budget.Cost, day string) error {
	a.common = common(a.common, cost)
	if err := a.total.reserve(cost); err != nil || a.policy.Allowance == nil {
		return err
	}
	name, s := a.period(day)
	if a.periods[name] == nil {
		a.order = append(a.order, name)
	}
	a.periods[name] = &s
	return s.reserve(cost)
}

// settle ends a reservation that was made on the day.
func (a *account) settle(cost budget.Cost, day string, debited bool) error {
	if err := a.total.settle(cost, debited); err != nil || a.policy.Allowance == nil {
		return err
	}
	s := a.periods[a.policy.Allowance.Per.of(day)]
	if s == nil {
		return fmt.Errorf("settles in a period of account %s that nothing was reserved in", a.policy.Account)
	}
	return s.settle(cost, debited)
}

// refused is the error for a charge that a quota does not admit.
func (a *account) refused(c Charge, by quota) error {
	left, err := by.used.left(by.limit)
	if err != nil {
		return err
	}
	r := &Refused{Account: a.policy.Account, Release: c.Release, Period: by.period, Cap: normal(by.limit),
		Spent: normal(by.used.spent), Reserved: normal(by.used.reserved), Asked: normal(c.Cost), Left: normal(left)}
	if c.Account != r.Account {
		r.ChargedTo = c.Account
	}
	return r
}

// inWords says what an account is, for a person who meant another.
func (a *account) inWords() string {
	p := a.policy
	text := fmt.Sprintf("protects %s, neighbours %s, cap %s, %s", p.Terms.Protects, p.Terms.Neighbours,
		inWords(p.Cap, false), a.status.words())
	if p.Parent != "" {
		text += ", below " + p.Parent
	}
	if p.Allowance != nil {
		text += fmt.Sprintf(", %s a %s", inWords(p.Allowance.Cap, false), p.Allowance.Per)
	}
	if len(p.Approvals) > 0 {
		text += ", approved by " + strings.Join(p.roles(), " and ")
	}
	if p.Witness != "" {
		text += ", witness " + p.Witness
	}
	return text
}
