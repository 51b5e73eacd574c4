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
	Protects   string // the protected unit, a noun: "person"
	Neighbours string // "add-remove" or "replace"
	Definition string // "epsilon" (pure differential privacy) or "rho" (zero-concentrated, with δ)
}

// The values that Terms.Neighbours and Terms.Definition take.
const (
	AddRemove = "add-remove"
	Replace   = "replace"

	Epsilon = "epsilon"
	Rho     = "rho"
)

// String reads "person, add-remove, epsilon".
func (t Terms) String() string {
	return t.Protects + ", " + t.Neighbours + ", " + t.Definition
}

// Charge is what one release asks of one account. Account, Release and PlanHash together identify it.
type Charge struct {
	Account  string
	Release  string      // name of the release, unique within the account
	PlanHash string      // SHA-256 of the plan, 64 lower-case hexadecimal digits
	Terms    Terms       // must equal the account's
	Cost     budget.Cost // positive, in the account's definition: Epsilon, or Rho and perhaps Delta
}

var (
	namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	hashPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// check returns an error for a charge that no account could hold.
func (c Charge) check() error {
	if !namePattern.MatchString(c.Account) {
		return fmt.Errorf("ledger: %q is not an account name: use at most 100 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit", c.Account)
	}
	if !namePattern.MatchString(c.Release) {
		return fmt.Errorf("ledger: %q is not a release name: use at most 100 of a-z, 0-9, '.', '_' and '-', starting with a letter or digit", c.Release)
	}
	if !hashPattern.MatchString(c.PlanHash) {
		return fmt.Errorf("ledger: release %s: the plan hash must be 64 lower-case hexadecimal digits", c.Release)
	}
	return nil
}
