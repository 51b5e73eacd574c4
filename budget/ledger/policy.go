package ledger

// The policy of an account: what one unit of its budget means and how much there is. Never changed once opened.

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

// Policy opens an account. Its definition of privacy loss is that of its cap.
type Policy struct {
	Account string
	Terms   Terms
	Cap     budget.Cost // positive; {Epsilon}, or {Rho} and perhaps Delta (absent: 0)

	Parent    string                      // the account in which every debit of this one is one too, or ""
	Allowance *Allowance                  // how much of the cap may be used in a period, or nil
	Approvals map[string][]sign.PublicKey // by role, the keys of which one must sign; no key in two roles
	Witness   string                      // absolute path of a file that keeps the newest heads elsewhere, or ""
}

// Allowance limits what may be used in one period, whatever was left of those before.
type Allowance struct {
	Per Period      `json:"per"`
	Cap budget.Cost `json:"cap"`
}

// Period is how long an allowance is for, by the day of the reservation, in UTC.
type Period string

// The periods.
const (
	Year    Period = "year"
	Quarter Period = "quarter"
	Month   Period = "month"
)

// of names the period that a day, YYYY-MM-DD, lies in: "2026", "2026-Q1" or "2026-03".
func (p Period) of(day string) string {
	switch p {
	case Year:
		return day[:4]
	case Quarter:
		month := int(day[5]-'0')*10 + int(day[6]-'0')
		return day[:4] + "-Q" + strconv.Itoa((month+2)/3)
	}
	return day[:7]
}

// check returns an error for a policy that no account can have.
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
		return fmt.Errorf("ledger: account %s: %q is not the name of a parent account: use %s", p.Account, p.Parent, nameRule)
	}
	if a := p.Allowance; a != nil {
		if a.Per != Year && a.Per != Quarter && a.Per != Month {
			return fmt.Errorf("ledger: account %s: an allowance per %q is not known; expected %s, %s or %s", p.Account, a.Per,
				Year, Quarter, Month)
		}
		if err := p.checkAmount("allowance", a.Cap); err != nil {
			return err
		}
	}
	if p.Witness != "" && (!isAbsolute(p.Witness) || !isSentence(p.Witness)) {
		return fmt.Errorf("ledger: account %s: the witness %q is not an absolute path", p.Account, p.Witness)
	}
	return p.checkRoles()
}

func (p Policy) checkAmount(what string, c budget.Cost) error {
	if !spendable(c) || c.Definition() != p.Terms.Definition {
		return fmt.Errorf("ledger: account %s: the %s is not a positive amount in %s, in fractions of at most %d bits a side",
			p.Account, what, p.Terms.Definition, maxBits)
	}
	return nil
}

// checkRoles returns an error for roles that cannot be filled, or that one key could fill two of.
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

// roles are those that must approve, sorted.
func (p Policy) roles() []string { return slices.Sorted(maps.Keys(p.Approvals)) }

// windowsPath begins an absolute path on that system.
var windowsPath = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// isAbsolute reports whether path is absolute, on whichever system: an entry means the same everywhere.
func isAbsolute(path string) bool {
	return strings.HasPrefix(path, "/") || windowsPath.MatchString(path)
}

// opening is the entry that opens an account; a nil limit is none.
func (p Policy) opening(status Status, limit *budget.Cost) entry {
	o := &opened{Status: status, Terms: p.Terms, Cap: limit, Parent: p.Parent, Approvals: p.Approvals, Witness: p.Witness}
	if p.Allowance != nil {
		o.Allowance = &Allowance{Per: p.Allowance.Per, Cap: normal(p.Allowance.Cap)}
	}
	return entry{Kind: kindInit, Account: p.Account, Policy: o}
}

// of is the policy that an opening entry of the account holds.
func (o opened) of(account string) Policy {
	p := Policy{Account: account, Terms: o.Terms, Parent: o.Parent, Allowance: o.Allowance, Approvals: o.Approvals,
		Witness: o.Witness}
	if o.Cap != nil {
		p.Cap = *o.Cap
	}
	return p
}

// equal reports whether the two are the same policy; keys of a role may stand in another order.
func (p Policy) equal(q Policy) bool {
	sameAllowance := (p.Allowance == nil) == (q.Allowance == nil) &&
		(p.Allowance == nil || p.Allowance.Per == q.Allowance.Per && p.Allowance.Cap.Equal(q.Allowance.Cap))
	return p.Account == q.Account && p.Terms == q.Terms && p.Cap.Equal(q.Cap) && p.Parent == q.Parent && sameAllowance &&
		p.Witness == q.Witness && maps.EqualFunc(p.Approvals, q.Approvals, sameKeys)
}

func sameKeys(a, b []sign.PublicKey) bool {
	order := func(x, y sign.PublicKey) int { return strings.Compare(x.String(), y.String()) }
	return slices.Equal(slices.SortedFunc(slices.Values(a), order), slices.SortedFunc(slices.Values(b), order))
}
