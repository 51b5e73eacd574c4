package ledger

// Checks whether a charge or a grant has the approvals that its accounts require.

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/sign"
)

// maxReasons is the number of unusable approvals of one role that an error explains.
const maxReasons = 5

// verifyApproval returns the result of a.Verify, which a book computes once for each approval.
func (b *book) verifyApproval(a Approval) error {
	text := string(a.Encode())
	err, known := b.verifyResults[text]
	if !known {
		err = a.Verify()
		b.verifyResults[text] = err
	}
	return err
}

// chooseApprovals chooses, among the approvals of a charge, the ones that its accounts require. For every role of each
// account it takes one by a key of that role: an approval of this plan if there is one, and a standing approval of its
// template if not.
//
// Guarantee: every role of every account that the charge counts in has signed this plan, or signed its template for
// the day and for one more release. Argument: docs/proofs/account.md.
//
// Errors: *Unapproved, for the first account that lacks a role.
func (b *book) chooseApprovals(c Charge, hits []*account, day string) ([]Approval, error) {
	var used []Approval
	for _, a := range hits {
		var missing, reasons []string
		for _, role := range a.policy.roles() {
			chosen, why := b.approvalForRole(c, role, a.policy.Approvals[role], day)
			if chosen == nil {
				missing, reasons = append(missing, role), append(reasons, why[:min(len(why), maxReasons)]...)
			} else if !slices.ContainsFunc(used, chosen.equal) {
				used = append(used, *chosen)
			}
		}
		if missing != nil {
			return nil, &Unapproved{Account: a.policy.Account, Release: c.Release, PlanHash: c.PlanHash,
				Missing: missing,
				Reasons: reasons}
		}
	}
	return used, nil
}

// approvalForRole returns the approval of c that fills a role, or nil and the reasons why none of those present does. A
// folder of past releases is full of approvals of other plans: several of these are one reason.
func (b *book) approvalForRole(c Charge, role string, keys []sign.PublicKey, day string) (chosen *Approval,
	why []string) {
	var others []string
	for i, a := range c.Approvals {
		if a.Role != role {
			continue
		}
		switch reason := b.whyUnfit(a, c, keys, day); {
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

// whyUnfit explains why a does not approve c in its role, or returns "" if it does.
func (b *book) whyUnfit(a Approval, c Charge, keys []sign.PublicKey, day string) string {
	by := fmt.Sprintf("the approval as %s by %s", a.Role, a.Signer.Fingerprint())
	switch err := b.verifyApproval(a); {
	case err != nil:
		return fmt.Sprintf("%s is not valid: %v", by, err)
	case !slices.Contains(keys, a.Signer):
		return by + " is by a key that the account does not list for this role"
	case a.Words != c.Words && (a.Standing == nil && a.Plan == c.PlanHash ||
		a.Standing != nil && c.Template != "" && a.Plan == c.Template):
		return fmt.Sprintf("%s is of this plan with other words (%s)", by, shortHash(a.Words))
	case a.Standing == nil && a.Plan != c.PlanHash:
		return fmt.Sprintf("%s is of another plan (%s)", by, shortHash(a.Plan))
	case a.Standing == nil:
		return ""
	case c.Template == "" || a.Plan != c.Template:
		return fmt.Sprintf("%s stands for plans of another template (%s)", by, shortHash(a.Plan))
	case day > a.Standing.Until:
		return fmt.Sprintf("%s stood until %s", by, a.Standing.Until)
	case b.standingUse[a.identity()] >= a.Standing.Releases:
		return fmt.Sprintf("%s stood for %s, which all hold a reservation or a debit", by,
			budget.Plural(a.Standing.Releases, "release"))
	}
	return ""
}

// countStanding changes the number of releases under each standing approval.
func (b *book) countStanding(used []Approval, change int64) {
	for _, a := range used {
		if a.Standing != nil {
			b.standingUse[a.identity()] += change
		}
	}
}
