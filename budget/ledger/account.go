package ledger

// One account: its policy, its grants, what is spent and reserved, and the charges that count in it.

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// account is one account of a book.
type account struct {
	policy            Policy
	status            Status
	opened            string // YYYY-MM-DD
	parent            *account
	children          []string // in the order they were opened
	granted           budget.Cost
	grants            []grant
	grantHashes       map[string]bool // hashes of the grants made
	total             usage
	commonDenominator *big.Int          // every amount ever counted here is a multiple of one part in so many
	periods           map[string]*usage // by period of the allowance
	periodOrder       []string          // of those periods, the oldest first
	charges           []*recordedCharge // all that count here, in the order of their first reservation
	byName            map[string][]*recordedCharge
	debits            int64 // that count here
	comparisons       int64 // of results with the truth, here and below
}

// usage is what is spent and reserved, of an account or of one of its periods.
type usage struct{ spent, reserved budget.Cost }

func newAccount(p Policy, status Status, day string, parent *account) *account {
	zero := zeroOf(p.Terms.Definition)
	if parent != nil {
		parent.children = append(parent.children, p.Account)
	}
	return &account{policy: p, status: status, opened: day, parent: parent, granted: zero,
		grantHashes: map[string]bool{},
		total:       usage{zero, zero}, commonDenominator: big.NewInt(1), periods: map[string]*usage{},
		byName: map[string][]*recordedCharge{}}
}

// chargedAccounts returns the accounts that a charge counts in: the accounts it names and all above them, each once.
func (b *book) chargedAccounts(c Charge) ([]*account, error) {
	var all []*account
	seen := map[*account]bool{}
	for _, name := range c.namedAccounts() {
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

// withAncestors returns the account and all above it.
func (a *account) withAncestors() []*account {
	var all []*account
	for ; a != nil; a = a.parent {
		all = append(all, a)
	}
	return all
}

// capWithGrants returns the cap plus the grants; the zero cost for a rehearsal.
func (a *account) capWithGrants() (budget.Cost, error) {
	if a.status == Rehearsal {
		return budget.Cost{}, nil
	}
	return a.policy.Cap.Add(a.granted)
}

// periodUsage returns the name of the period that a day lies in, and its usage so far. The name is "" if the account
// has no allowance.
func (a *account) periodUsage(day string) (string, usage) {
	if a.policy.Allowance == nil {
		return "", usage{}
	}
	name := a.policy.Allowance.Per.periodOf(day)
	if s := a.periods[name]; s != nil {
		return name, *s
	}
	zero := zeroOf(a.policy.Terms.Definition)
	return name, usage{zero, zero}
}

// quota is a limit of an account, its cap with grants or its allowance for a period, and what is used of it.
type quota struct {
	period string // of the allowance; "" of the cap
	used   usage
	limit  budget.Cost
}

// quotas returns the quotas that a reservation on a day must fit, the cap first. A rehearsal has none.
func (a *account) quotas(day string) ([]quota, error) {
	if a.status == Rehearsal {
		return nil, nil
	}
	limit, err := a.capWithGrants()
	if err != nil {
		return nil, err
	}
	all := []quota{{used: a.total, limit: limit}}
	if period, used := a.periodUsage(day); period != "" {
		all = append(all, quota{period, used, a.policy.Allowance.Cap})
	}
	return all, nil
}

// canAdmit is the filter: it reports whether spent + reserved + asked stays within the limit, exactly, in ε, or in both
// ρ and δ.
//
// Guarantee: as long as every charge that counts in these sums was admitted before it was run, all of them together are
// within that limit, however each was chosen. Neighbours: as in the account's terms. Theorem: see [budget.Filter].
// Argument: docs/proofs/filter.md.
func (s usage) canAdmit(limit, asked budget.Cost) (bool, error) {
	used, err := s.spent.Add(s.reserved)
	if err != nil {
		return false, err
	}
	return budget.Filter{Cap: limit}.Admits(used, asked)
}

// remainingOf returns the limit less what is spent and reserved.
func (s usage) remainingOf(limit budget.Cost) (budget.Cost, error) {
	rest, err := limit.Sub(s.spent)
	if err != nil {
		return budget.Cost{}, err
	}
	return rest.Sub(s.reserved)
}

// addReservation adds cost to the reserved sum.
func (s *usage) addReservation(cost budget.Cost) (err error) {
	s.reserved, err = s.reserved.Add(cost)
	return err
}

// endReservation subtracts cost from the reserved sum, and adds it to the spent sum if it is debited.
func (s *usage) endReservation(cost budget.Cost, debited bool) (err error) {
	if s.reserved, err = s.reserved.Sub(cost); err == nil && debited {
		s.spent, err = s.spent.Add(cost)
	}
	return err
}

// checkDenominator returns an error for an amount whose denominator would make sums ever slower to compute.
func (a *account) checkDenominator(c budget.Cost) error {
	if commonDenominator(a.commonDenominator, c).BitLen() > maxCommonBits {
		return fmt.Errorf("account %s: %s has another denominator than all amounts before, and the common one would "+
			"have more than %d bits: ask for a rounder amount",
			a.policy.Account, inWords(c, false), maxCommonBits)
	}
	return nil
}

// addReservation counts cost in the account and in the period of the day.
func (a *account) addReservation(cost budget.Cost, day string) error {
	a.commonDenominator = commonDenominator(a.commonDenominator, cost)
	if err := a.total.addReservation(cost); err != nil || a.policy.Allowance == nil {
		return err
	}
	name, s := a.periodUsage(day)
	if a.periods[name] == nil {
		a.periodOrder = append(a.periodOrder, name)
	}
	a.periods[name] = &s
	return s.addReservation(cost)
}

// endReservation ends a reservation that was made on the day.
func (a *account) endReservation(cost budget.Cost, day string, debited bool) error {
	if err := a.total.endReservation(cost, debited); err != nil || a.policy.Allowance == nil {
		return err
	}
	s := a.periods[a.policy.Allowance.Per.periodOf(day)]
	if s == nil {
		return fmt.Errorf("settles in a period of account %s that nothing was reserved in", a.policy.Account)
	}
	return s.endReservation(cost, debited)
}

// refusalOf returns the error for a charge that a quota does not admit.
func (a *account) refusalOf(c Charge, by quota) error {
	left, err := by.used.remainingOf(by.limit)
	if err != nil {
		return err
	}
	r := &Refused{Account: a.policy.Account, Release: c.Release, Period: by.period, Cap: normalForm(by.limit),
		Spent: normalForm(by.used.spent), Reserved: normalForm(by.used.reserved), Asked: normalForm(c.Cost),
		Left: normalForm(left)}
	if c.Account != r.Account {
		r.ChargedTo = c.Account
	}
	return r
}

// inWords describes an account to a person who may have meant another one.
func (a *account) inWords() string {
	p := a.policy
	text := fmt.Sprintf("protects %s, neighbours %s, cap %s, %s", p.Terms.Protects, p.Terms.Neighbours,
		inWords(p.Cap, false), a.status.inWords())
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
