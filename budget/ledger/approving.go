package ledger

// Whether a charge, or a grant, has the approvals that its accounts ask for.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
)

// maxReasons is how many approvals of one role that do not serve are given as reasons.
const maxReasons = 5

// verify is a.Verify, which a book asks once for each approval.
func (b *book) verify(a Approval) error {
	text := string(a.Encode())
	err, known := b.verified[text]
	if !known {
		err = a.Verify()
		b.verified[text] = err
	}
	return err
}

// approve chooses, among the approvals below a charge, those that its accounts ask for: for every role of each
// account one by a key of that role, of this plan where there is one, else standing for its template.
//
// Guarantee: every role of every account that the charge counts in has signed this plan, or signed its template for
// the day and for one more release. Argument: docs/proofs/account.md.
//
// Errors: *Unapproved, for the first account that lacks a role.
func (b *book) approve(c Charge, hits []*account, day string) ([]Approval, error) {
	var used []Approval
	for _, a := range hits {
		var missing, reasons []string
		for _, role := range a.policy.roles() {
			chosen, why := b.choose(c, role, a.policy.Approvals[role], day)
			if chosen == nil {
				missing, reasons = append(missing, role), append(reasons, why[:min(len(why), maxReasons)]...)
			} else if !slices.ContainsFunc(used, chosen.equal) {
				used = append(used, *chosen)
			}
		}
		if missing != nil {
			return nil, &Unapproved{Account: a.policy.Account, Release: c.Release, PlanHash: c.PlanHash, Missing: missing,
				Reasons: reasons}
		}
	}
	return used, nil
}

// choose returns the approval of c that fills a role, or nil with why those that are there do not. A folder of past
// releases is full of approvals of other plans: several of them are one reason.
func (b *book) choose(c Charge, role string, keys []sign.PublicKey, day string) (chosen *Approval, why []string) {
	var others []string
	for i, a := range c.Approvals {
		if a.Role != role {
			continue
		}
		switch reason := b.unfit(a, c, keys, day); {
		case reason == "" && a.Standing == nil:
			return &c.Approvals[i], nil
		case reason == "" && chosen == nil:
			chosen = &c.Approvals[i]
		case reason == "":
		case a.Plan == c.PlanHash || a.Plan == c.Template:
			why = append(why, reason)
		default:
			others = append(others, reason)
		}
	}
	if len(others) > 1 {
		others = []string{fmt.Sprintf("%d approvals as %s are of other plans", len(others), role)}
	}
	return chosen, append(others, why...)
}

// unfit says why a does not approve c in its role, or "".
func (b *book) unfit(a Approval, c Charge, keys []sign.PublicKey, day string) string {
	by := fmt.Sprintf("the approval as %s by %s", a.Role, a.Signer.Fingerprint())
	switch err := b.verify(a); {
	case err != nil:
		return fmt.Sprintf("%s is not valid: %v", by, err)
	case !slices.Contains(keys, a.Signer):
		return by + " is by a key that the account does not list for this role"
	case a.Standing == nil && a.Plan != c.PlanHash:
		return fmt.Sprintf("%s is of another plan (%s)", by, short(a.Plan))
	case a.Standing == nil:
		return ""
	case c.Template == "" || a.Plan != c.Template:
		return fmt.Sprintf("%s stands for plans of another template (%s)", by, short(a.Plan))
	case day > a.Standing.Until:
		return fmt.Sprintf("%s stood until %s", by, a.Standing.Until)
	case b.standing[a.identity()] >= a.Standing.Releases:
		return fmt.Sprintf("%s stood for %s, which all hold a reservation or a debit", by,
			budget.Plural(a.Standing.Releases, "release"))
	}
	return ""
}

// count adds to the releases that stand under each standing approval.
func (b *book) count(used []Approval, change int64) {
	for _, a := range used {
		if a.Standing != nil {
			b.standing[a.identity()] += change
		}
	}
}
