package ledger

// Grants: more budget for an account, with the reason and the approvals.

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/canonical"
)

// Grant permanently raises the cap of an account. The same grant is made once: to give the same amount again, give
// another reason.
type Grant struct {
	Account   string
	Amount    budget.Cost // positive, in the account's definition
	Reason    string      // one line, which the statement shows
	Approvals []Approval  // of Hash, not standing; one for every role of the account's policy
}

// Hash returns what the approvals of a grant sign as their plan: a SHA-256 over account, amount and reason, in 64
// hexadecimal digits.
func (g Grant) Hash() string {
	text, err := canonical.Line(struct {
		Grant  string      `json:"grant"`
		Amount budget.Cost `json:"amount"`
		Reason string      `json:"reason"`
	}{g.Account, normalForm(g.Amount), g.Reason})
	if err != nil {
		return "" // an invalid amount, which checkUnder reports
	}
	h := sha256.Sum256([]byte("dprelease grant\x00" + text))
	return hex.EncodeToString(h[:])
}

// checkUnder returns an error for a grant that no account under the terms can receive.
func (g Grant) checkUnder(t Terms) error {
	if !isSpendable(g.Amount) || g.Amount.Definition() != t.Definition {
		return fmt.Errorf("ledger: account %s: a grant is a positive amount in %s, in fractions of at most %d bits a side",
			g.Account, t.Definition, maxBits)
	}
	if !isOneLine(g.Reason) {
		return fmt.Errorf("ledger: account %s: a grant needs a reason, one line of at most %d bytes", g.Account,
			maxTextBytes)
	}
	return nil
}

// grant is a grant that was made.
type grant struct {
	amount       budget.Cost
	date, reason string
}

// checkGrant returns the approvals that the grant uses, or an error if it may not be made. Errors: *Unapproved.
func (b *book) checkGrant(g Grant, a *account, day string) ([]Approval, error) {
	if err := g.checkUnder(a.policy.Terms); err != nil {
		return nil, err
	}
	if err := a.checkDenominator(g.Amount); err != nil {
		return nil, fmt.Errorf("ledger %s: %w", b.ledger, err)
	}
	limit, err := a.capWithGrants()
	if err == nil {
		_, err = limit.Add(g.Amount)
	}
	if err != nil {
		return nil, fmt.Errorf("ledger %s, account %s: the cap cannot be raised so far: %w", b.ledger, g.Account, err)
	}
	asked := Charge{Release: "", PlanHash: g.Hash(), Approvals: g.Approvals}
	used, err := b.chooseApprovals(asked, []*account{a}, day)
	var unapproved *Unapproved
	if errors.As(err, &unapproved) {
		unapproved.Grant = true
	}
	return used, err
}

// entriesToGrant returns what Grant must write: nothing if this grant was made before.
func (b *book) entriesToGrant(g Grant, day string) ([]entry, error) {
	a := b.accounts[g.Account]
	if a == nil {
		return nil, &NoAccount{Ledger: b.ledger, Account: g.Account}
	}
	if a.status == Rehearsal {
		return nil, errors.New("ledger: a rehearsal has no cap to raise")
	}
	if err := g.checkUnder(a.policy.Terms); err != nil {
		return nil, err
	}
	if a.grantHashes[g.Hash()] {
		return nil, nil
	}
	used, err := b.checkGrant(g, a, day)
	if err != nil {
		return nil, err
	}
	amount := normalForm(g.Amount)
	return []entry{{Kind: kindGrant, Account: g.Account, Cost: &amount, Reason: g.Reason, Approvals: used}}, nil
}

// applyGrant raises the cap of an account.
//
// Guarantee: what the account admits from then on is bounded by the cap with all grants, each approved by every role.
// This bound holds from the beginning of the account only if grants do not depend on what was released. Argument:
// docs/proofs/account.md.
func (b *book) applyGrant(e entry, a *account) error {
	g := Grant{Account: e.Account, Amount: *e.Cost, Reason: e.Reason, Approvals: e.Approvals}
	if a.status == Rehearsal || a.grantHashes[g.Hash()] {
		return errors.New("grants what was granted before, or to a rehearsal")
	}
	used, err := b.checkGrant(g, a, e.Date)
	if err != nil {
		return errors.New(reasonOf(err))
	}
	if len(used) != len(g.Approvals) {
		return errors.New("carries approvals that its account does not ask for")
	}
	sum, err := a.granted.Add(g.Amount)
	if err != nil {
		return err
	}
	a.granted, a.grantHashes[g.Hash()], a.commonDenominator = sum, true,
		commonDenominator(a.commonDenominator, g.Amount)
	a.grants = append(a.grants, grant{amount: g.Amount, date: e.Date, reason: g.Reason})
	return nil
}
