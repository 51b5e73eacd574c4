package ledger

// What a release requests from an account, and the checks that precede any arithmetic.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// Charge is what one release requests from its accounts. Account, Release and PlanHash together identify it.
type Charge struct {
	Account         string
	FurtherAccounts []string    // accounts of the other data sets that are read; in any order
	Release         string      // name of the release, unique within each of these accounts
	PlanHash        string      // SHA-256 of the plan, 64 lower-case hexadecimal digits
	Terms           Terms       // must equal those of every account
	Cost            budget.Cost // positive, in the accounts' definition: Epsilon, or Rho and perhaps Delta

	Words      string     // hash of the plan's words, as PlanHash; approvals are of the plan with these words
	Template   string     // hash of the plan with its parameters blank, as PlanHash; needed by standing approvals alone
	Corrects   string     // an earlier, finished release of Account that this one corrects, or ""
	Mechanisms []Repeated // what the plan runs, for the figure of one joint plan; never used in admission
	Approvals  []Approval // signatures on the plan; Reserve uses the ones that its accounts require

	// Commitment binds a debit to one noise key and one set of exact integers: a keyed hash of the integers, 64
	// lower-case hexadecimal digits. Only Debit and Finish read it; empty where nothing confidential was counted.
	Commitment string
}

// check returns an error for a charge whose names or hashes are malformed.
func (c Charge) check() error {
	switch {
	case !namePattern.MatchString(c.Account):
		return fmt.Errorf("ledger: %q is not an account name: use %s", c.Account, nameRule)
	case !namePattern.MatchString(c.Release):
		return fmt.Errorf("ledger: %q is not a release name: use %s", c.Release, nameRule)
	case !hashPattern.MatchString(c.PlanHash):
		return fmt.Errorf("ledger: release %s: the plan hash is not 64 lower-case hexadecimal digits", c.Release)
	case c.Commitment != "" && !hashPattern.MatchString(c.Commitment):
		return fmt.Errorf("ledger: release %s: the commitment is not 64 lower-case hexadecimal digits", c.Release)
	case c.Template != "" && !hashPattern.MatchString(c.Template):
		return fmt.Errorf("ledger: release %s: the template is not 64 lower-case hexadecimal digits", c.Release)
	case c.Words != "" && !hashPattern.MatchString(c.Words):
		return fmt.Errorf("ledger: release %s: the hash of its words is not 64 lower-case hexadecimal digits",
			c.Release)
	case c.Corrects != "" && !namePattern.MatchString(c.Corrects):
		return fmt.Errorf("ledger: release %s: it corrects %q, which is not a release name: use %s", c.Release,
			c.Corrects,
			nameRule)
	}
	for i, also := range c.FurtherAccounts {
		if !namePattern.MatchString(also) || also == c.Account || i > 0 && also <= c.FurtherAccounts[i-1] {
			return fmt.Errorf("ledger: release %s: %q is not the name of a further account: use %s, each account once",
				c.Release, also, nameRule)
		}
	}
	for _, m := range c.Mechanisms {
		if m.Count < 1 || m.Mechanism.Validate() != nil {
			return fmt.Errorf("ledger: release %s: a mechanism of its plan is incomplete", c.Release)
		}
	}
	return nil
}

// withSortedAccounts returns c with Also in order, as entries have it.
func (c Charge) withSortedAccounts() Charge {
	c.FurtherAccounts = slices.Sorted(slices.Values(c.FurtherAccounts))
	return c
}

// checkUnder returns an error unless c can be counted under the terms of the account: *TermsMismatch if the terms or
// the definition of the cost differ, and another error if the cost is not a valid amount.
func (c Charge) checkUnder(account string, t Terms) error {
	if !isSpendable(c.Cost) {
		return fmt.Errorf("ledger: release %s: a cost is a positive ε, or a positive ρ and perhaps a δ below 1, in "+
			"fractions of at most %d bits a side", c.Release, maxBits)
	}
	asked := c.Terms
	if asked.Definition == t.Definition {
		asked.Definition = c.Cost.Definition()
	}
	if asked != t {
		return &TermsMismatch{Account: account, Release: c.Release, Charge: asked, Policy: t}
	}
	return nil
}

// namedAccounts returns the accounts that c names.
func (c Charge) namedAccounts() []string { return append([]string{c.Account}, c.FurtherAccounts...) }

// reserveEntry returns the entry that reserves c with the approvals that it uses.
func (c Charge) reserveEntry(used []Approval) entry {
	cost := normalForm(c.Cost)
	return entry{Kind: kindReserve, Account: c.Account, Also: c.FurtherAccounts, Release: c.Release,
		PlanHash: c.PlanHash,
		Cost:     &cost,
		Template: c.Template, Corrects: c.Corrects, Mechanisms: c.Mechanisms, Approvals: used}
}

// chargeUnder returns the charge of a reserve entry, under the terms of its account. The entry records the words in the
// approvals that were used, which must agree.
func (e entry) chargeUnder(t Terms) Charge {
	words := ""
	if len(e.Approvals) > 0 {
		words = e.Approvals[0].Words
	}
	return Charge{Account: e.Account, FurtherAccounts: e.Also, Release: e.Release, PlanHash: e.PlanHash, Terms: t,
		Cost:  *e.Cost,
		Words: words, Template: e.Template, Corrects: e.Corrects, Mechanisms: e.Mechanisms, Approvals: e.Approvals}
}
