package ledger

// The policy of an account: what one unit of its budget means and how much there is. It never changes once the account
// is open.

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
)

// Policy opens an account. The account has the definition of privacy loss of its cap.
type Policy struct {
	Account string
	Terms   Terms
	Cap     budget.Cost // positive; {Epsilon}, or {Rho} and perhaps Delta (absent: 0)

	Parent    string                      // the account in which every debit of this one also counts, or ""
	Allowance *Allowance                  // how much of the cap may be used in a period, or nil
	Approvals map[string][]sign.PublicKey // keys by role, one of which must sign; no key has two roles
	Witness   string                      // absolute path of a file that keeps the newest heads elsewhere, or ""
}

// Allowance limits what may be used in one period. Nothing carries over from earlier periods.
type Allowance struct {
	Per Period      `json:"per"`
	Cap budget.Cost `json:"cap"`
}

// Period is the length of the period of an allowance. The day of the reservation, in UTC, decides the period.
type Period string

// The periods.
const (
	Year    Period = "year"
	Quarter Period = "quarter"
	Month   Period = "month"
)

// periodOf returns the name of the period that a day, YYYY-MM-DD, lies in: "2026", "2026-Q1" or "2026-03".
func (p Period) periodOf(day string) string {
	switch p {
	case Year:
		return day[:4]
	case Quarter:
		month := int(day[5]-'0')*10 + int(day[6]-'0')
		return day[:4] + "-Q" + strconv.Itoa((month+2)/3)
	}
	return day[:7]
}

// check returns an error for an invalid policy.
func (p Policy) check() error {
	if !namePattern.MatchString(p.Account) {
		return fmt.Errorf("ledger: %q is not an account name: use %s", p.Account, nameRule)
	}
	if err := p.Terms.check(); err != nil {
		return fmt.Errorf("ledger: account %s: %w", p.Account, err)
	}
	if err := p.checkAmount("cap", p.Cap); err != nil {
		return err
	}
	if p.Parent != "" && (!namePattern.MatchString(p.Parent) || p.Parent == p.Account) {
		return fmt.Errorf("ledger: account %s: %q is not the name of a parent account: use %s", p.Account, p.Parent,
			nameRule)
	}
	if a := p.Allowance; a != nil {
		if a.Per != Year && a.Per != Quarter && a.Per != Month {
			return fmt.Errorf("ledger: account %s: an allowance per %q is not known; expected %s, %s or %s", p.Account,
				a.Per,
				Year, Quarter, Month)
		}
		if err := p.checkAmount("allowance", a.Cap); err != nil {
			return err
		}
	}
	if p.Witness != "" && (!isAbsolute(p.Witness) || !isOneLine(p.Witness)) {
		return fmt.Errorf("ledger: account %s: the witness %q is not an absolute path", p.Account, p.Witness)
	}
	return p.checkRoles()
}

func (p Policy) checkAmount(what string, c budget.Cost) error {
	if !isSpendable(c) || c.Definition() != p.Terms.Definition {
		return fmt.Errorf("ledger: account %s: the %s is not a positive amount in %s, in fractions of at most %d "+
			"bits a side",
			p.Account, what, p.Terms.Definition, maxBits)
	}
	return nil
}

// checkRoles returns an error if a role has no key, or if a key appears twice.
func (p Policy) checkRoles() error {
	holder := map[sign.PublicKey]string{}
	for _, role := range p.roles() {
		if !namePattern.MatchString(role) {
			return fmt.Errorf("ledger: account %s: %q is not a role: use %s", p.Account, role, nameRule)
		}
		if len(p.Approvals[role]) == 0 {
			return fmt.Errorf("ledger: account %s: role %s has no key, so nothing could be approved", p.Account, role)
		}
		for _, key := range p.Approvals[role] {
			if other, twice := holder[key]; twice || key.IsZero() {
				return fmt.Errorf("ledger: account %s: the key %s stands in the roles %s and %s: every key fills one role, once",
					p.Account, key, other, role)
			}
			holder[key] = role
		}
	}
	return nil
}

// roles returns the roles that must approve, sorted.
func (p Policy) roles() []string { return slices.Sorted(maps.Keys(p.Approvals)) }

// windowsPath matches the beginning of an absolute path on Windows.
var windowsPath = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// isAbsolute reports whether path is absolute on any system: an entry means the same everywhere.
func isAbsolute(path string) bool {
	return strings.HasPrefix(path, "/") || windowsPath.MatchString(path)
}

// openingEntry returns the entry that opens an account; a nil limit is no limit.
func (p Policy) openingEntry(status Status, limit *budget.Cost) entry {
	o := &storedPolicy{Status: status, Terms: p.Terms, Cap: limit, Parent: p.Parent, Approvals: p.Approvals,
		Witness: p.Witness}
	if p.Allowance != nil {
		o.Allowance = &Allowance{Per: p.Allowance.Per, Cap: normalForm(p.Allowance.Cap)}
	}
	return entry{Kind: kindInit, Account: p.Account, Policy: o}
}

// policyOf returns the policy in an opening entry of the account.
func (o storedPolicy) policyOf(account string) Policy {
	p := Policy{Account: account, Terms: o.Terms, Parent: o.Parent, Allowance: o.Allowance, Approvals: o.Approvals,
		Witness: o.Witness}
	if o.Cap != nil {
		p.Cap = *o.Cap
	}
	return p
}

// equal reports whether p and q are the same policy; the keys of a role may be in another order.
func (p Policy) equal(q Policy) bool {
	sameAllowance := (p.Allowance == nil) == (q.Allowance == nil) &&
		(p.Allowance == nil || p.Allowance.Per == q.Allowance.Per && p.Allowance.Cap.Equal(q.Allowance.Cap))
	return p.Account == q.Account && p.Terms == q.Terms && p.Cap.Equal(q.Cap) && p.Parent == q.Parent &&
		sameAllowance &&
		p.Witness == q.Witness && maps.EqualFunc(p.Approvals, q.Approvals, sameKeys)
}

func sameKeys(a, b []sign.PublicKey) bool {
	order := func(x, y sign.PublicKey) int { return strings.Compare(x.String(), y.String()) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), order), slices.SortedFunc(slices.Values(b), order))
}
