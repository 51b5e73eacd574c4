package ledger

// What a release asks of an account: Terms, Charge and the checks that come before any arithmetic.

import (
	"fmt"
	"regexp"

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

// Charge is what one release asks of one account. Account, Release and PlanHash together identify it.
type Charge struct {
	Account  string
	Release  string      // name of the release, unique within the account
	PlanHash string      // SHA-256 of the plan, 64 lower-case hexadecimal digits
	Terms    Terms       // must equal the account's
	Cost     budget.Cost // positive, in the account's definition: Epsilon, or Rho and perhaps Delta

	// Commitment binds a debit to one noise key and one set of exact integers: a keyed hash of the integers, 64
	// lower-case hexadecimal digits. Only Debit reads it; empty where nothing confidential was counted.
	Commitment string
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
	}
	return nil
}

// checkUnder returns an error unless c can be counted under t: *TermsMismatch where the terms or the definition of
// the cost differ, another where the cost is no amount at all.
func (c Charge) checkUnder(t Terms) error {
	if !spendable(c.Cost) {
		return fmt.Errorf("ledger: release %s: a cost is a positive ε, or a positive ρ and perhaps a δ below 1, in fractions of at most %d bits a side", c.Release, maxBits)
	}
	asked := c.Terms
	if asked.Definition == t.Definition {
		asked.Definition = c.Cost.Definition()
	}
	if asked != t {
		return &TermsMismatch{Account: c.Account, Release: c.Release, Charge: asked, Policy: t}
	}
	return nil
}

// entry writes c as an entry of the kind.
func (c Charge) entry(k kind, now string) entry {
	cost := normal(c.Cost)
	e := entry{Kind: k, Time: now, Account: c.Account, Release: c.Release, PlanHash: c.PlanHash, Cost: &cost}
	if k == kindDebit {
		e.Commitment = c.Commitment
	}
	return e
}
