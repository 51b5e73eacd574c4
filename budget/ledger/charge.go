package ledger

// What a release asks of an account: Terms, Charge and the checks that come before any arithmetic.

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// Terms say what one unit of an account's budget means. Amounts under different terms cannot be added,
// so a charge is admitted only under exactly its account's terms.
type Terms struct {
	Protects   string `json:"protects"`   // the protected unit, a noun: "person"
	Neighbours string `json:"neighbours"` // "add-remove" or "replace"
	Definition string `json:"definition"` // "epsilon" (pure) or "rho" (zero-concentrated, perhaps with δ)
}

// The values that Terms.Neighbours and Terms.Definition take.
const (
	AddRemove = "add-remove"
	Replace   = "replace"

	Epsilon = "epsilon"
	Rho     = "rho"
)

// Charge is what one release asks of its accounts. Account, Release and PlanHash together identify it.
type Charge struct {
	Account  string
	Also     []string    // accounts of further data sets that are read, besides Account; in any order
	Release  string      // name of the release, unique within each of these accounts
	PlanHash string      // SHA-256 of the plan, 64 lower-case hexadecimal digits
	Terms    Terms       // must equal those of every account
	Cost     budget.Cost // positive, in the accounts' definition: Epsilon, or Rho and perhaps Delta

	Template   string     // hash of the plan with its parameters blank, as PlanHash; needed by standing approvals alone
	Corrects   string     // an earlier, finished release of Account that this one corrects, or ""
	Mechanisms []Repeated // what the plan runs, for the figure of one joint plan; never used in admission
	Approvals  []Approval // what was signed below the plan; Reserve uses those that its accounts ask for

	// Commitment binds a debit to one noise key and one set of exact integers: a keyed hash of the integers, 64
	// lower-case hexadecimal digits. Only Debit and Finish read it; empty where nothing confidential was counted.
	Commitment string
}

// Repeated is a mechanism and how often a plan runs it.
type Repeated struct {
	Count     int64            `json:"count"`
	Mechanism budget.Mechanism `json:"mechanism"`
}

var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	nounPattern = regexp.MustCompile(`^\pL[\pL\pN]*([ '-][\pL\pN]+)*$`)
	hashPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

const nameRule = "at most 100 of a-z, 0-9, '.', '_' and '-', the first a letter or digit"

// check returns an error for terms that no account has.
func (t Terms) check() error {
	switch {
	case !nounPattern.MatchString(t.Protects) || len(t.Protects) > 100:
		return fmt.Errorf("protects is %q; expected a noun such as person, at most 100 bytes of letters and digits", t.Protects)
	case t.Neighbours != AddRemove && t.Neighbours != Replace:
		return fmt.Errorf("neighbours is %q; expected %s or %s", t.Neighbours, AddRemove, Replace)
	case t.Definition != Epsilon && t.Definition != Rho:
		return fmt.Errorf("the definition is %q; expected %s or %s", t.Definition, Epsilon, Rho)
	}
	return nil
}

// check returns an error for a charge whose names no account could hold.
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
	case c.Corrects != "" && !namePattern.MatchString(c.Corrects):
		return fmt.Errorf("ledger: release %s: it corrects %q, which is not a release name: use %s", c.Release, c.Corrects, nameRule)
	}
	for i, also := range c.Also {
		if !namePattern.MatchString(also) || also == c.Account || i > 0 && also <= c.Also[i-1] {
			return fmt.Errorf("ledger: release %s: %q is not the name of a further account: use %s, each account once", c.Release, also, nameRule)
		}
	}
	for _, m := range c.Mechanisms {
		if m.Count < 1 || m.Mechanism.Validate() != nil {
			return fmt.Errorf("ledger: release %s: a mechanism of its plan is incomplete", c.Release)
		}
	}
	return nil
}

// sorted is c with Also in order, as entries have it.
func (c Charge) sorted() Charge {
	c.Also = slices.Sorted(slices.Values(c.Also))
	return c
}

// checkUnder returns an error unless c can be counted under the terms of the account: *TermsMismatch where the terms
// or the definition of the cost differ, another where the cost is no amount at all.
func (c Charge) checkUnder(account string, t Terms) error {
	if !spendable(c.Cost) {
		return fmt.Errorf("ledger: release %s: a cost is a positive ε, or a positive ρ and perhaps a δ below 1, in fractions of at most %d bits a side", c.Release, maxBits)
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

// direct are the accounts that c names.
func (c Charge) direct() []string { return append([]string{c.Account}, c.Also...) }

// reservation is the entry that reserves c with the approvals that it uses.
func (c Charge) reservation(used []Approval) entry {
	cost := normal(c.Cost)
	return entry{Kind: kindReserve, Account: c.Account, Also: c.Also, Release: c.Release, PlanHash: c.PlanHash, Cost: &cost,
		Template: c.Template, Corrects: c.Corrects, Mechanisms: c.Mechanisms, Approvals: used}
}

// charge is what a reserve entry asks, under the terms of its account.
func (e entry) charge(t Terms) Charge {
	return Charge{Account: e.Account, Also: e.Also, Release: e.Release, PlanHash: e.PlanHash, Terms: t, Cost: *e.Cost,
		Template: e.Template, Corrects: e.Corrects, Mechanisms: e.Mechanisms, Approvals: e.Approvals}
}
