package ledger

// What may be reserved, and the entries that each request results in.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// admit returns the accounts that a reservation of c on this day counts in and the approvals that it uses, or an error
// that explains why c may not be reserved. Both the writer and the reader of entries use it.
//
// Guarantee: with the charge, spent + reserved stays within the cap with grants of every account that it counts in, and
// within the allowance for the day, exactly; and every role of these accounts has approved it. Neighbours: as in the
// accounts' terms. Theorem: see [budget.Filter]. Argument: docs/proofs/account.md.
//
// Errors: *NoAccount, *TermsMismatch, *NameTaken, *Unapproved, *Refused, *NoRelease (what it corrects).
func (b *book) admit(c Charge, day string) ([]*account, []Approval, error) {
	if err := c.check(); err != nil {
		return nil, nil, err
	}
	hits, err := b.chargedAccounts(c)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range hits {
		if err := c.checkUnder(a.policy.Account, a.policy.Terms); err != nil {
			return nil, nil, err
		}
		if a.status != hits[0].status {
			return nil, nil, fmt.Errorf(
				"ledger %s: release %s is charged to account %s (%s) and to account %s (%s): charge it to accounts "+
					"of one kind",
				b.ledger, c.Release, c.Account, hits[0].status.inWords(), a.policy.Account, a.status.inWords())
		}
	}
	if err := b.checkNameFree(c); err != nil {
		return nil, nil, err
	}
	used, err := b.chooseApprovals(c, hits, day)
	if err != nil {
		return nil, nil, err
	}
	return hits, used, checkAllAffordable(hits, c, day)
}

// checkAllAffordable returns the *Refused of the first of the accounts that has less left than c costs.
func checkAllAffordable(hits []*account, c Charge, day string) error {
	for _, a := range hits {
		if err := a.checkAffordable(c, day); err != nil {
			return err
		}
	}
	return nil
}

// checkNameFree returns an error unless the name of c is free in all accounts that it names, and the release that it
// corrects exists.
func (b *book) checkNameFree(c Charge) error {
	if p := b.accounts[c.Account].findCharge(c); p != nil {
		if p.state != Cancelled {
			return fmt.Errorf("ledger %s: release %s is %s already", b.ledger, c.Release, p.state)
		}
		if !slices.Equal(p.charge.FurtherAccounts, c.FurtherAccounts) {
			return fmt.Errorf("ledger %s: release %s was charged to other accounts under this plan: one plan has one "+
				"set of accounts", b.ledger, c.Release)
		}
	}
	for _, name := range c.namedAccounts() {
		if h := b.accounts[name].otherHolder(c); h != nil {
			return &NameTaken{Account: name, Release: c.Release, PlanHash: c.PlanHash, TakenBy: h.charge.PlanHash,
				State: h.state}
		}
	}
	if c.Corrects == "" {
		return nil
	}
	p := b.accounts[c.Account].activeCharge(c.Corrects)
	if p == nil || p.state != Finished && p.state != Withdrawn {
		return &NoRelease{Account: c.Account, Release: c.Corrects, State: stateOf(p), Needs: "finished",
			For: "to be corrected by release " + c.Release}
	}
	return nil
}

// checkAffordable returns a *Refused if the account, or its allowance for the day, has less left than c costs.
func (a *account) checkAffordable(c Charge, day string) error {
	if err := a.checkDenominator(c.Cost); err != nil {
		return fmt.Errorf("ledger: release %s: %w", c.Release, err)
	}
	quotas, err := a.quotas(day)
	if err != nil {
		return err
	}
	for _, q := range quotas {
		fits, err := q.used.canAdmit(q.limit, c.Cost)
		if err != nil {
			return err
		}
		if !fits {
			return a.refusalOf(c, q)
		}
	}
	return nil
}

// reasonOf returns, in the words of an entry, why a stored reservation is not one that the ledger would write.
func reasonOf(err error) string {
	var (
		refused    *Refused
		unapproved *Unapproved
		taken      *NameTaken
		mismatch   *TermsMismatch
		none       *NoAccount
	)
	switch {
	case errors.As(err, &refused) && refused.Period != "":
		return fmt.Sprintf("overspends the allowance of account %s for %s", refused.Account, refused.Period)
	case errors.As(err, &refused):
		return "overspends account " + refused.Account
	case errors.As(err, &unapproved):
		return fmt.Sprintf("is not approved as account %s asks (%s)", unapproved.Account,
			strings.Join(unapproved.Missing, ", "))
	case errors.As(err, &taken):
		return "reserves a release name that another plan holds"
	case errors.As(err, &mismatch):
		return "is a charge in other terms than account " + mismatch.Account
	case errors.As(err, &none):
		return fmt.Sprintf("names account %s, which is not open", none.Account)
	}
	return "reserves what cannot be reserved (" + err.Error() + ")"
}

// entriesToReserve returns what Reserve must write for c: nothing if c is already reserved or debited. Errors: as
// admit; *Closed if c is debited and closed.
func (b *book) entriesToReserve(c Charge, day string) ([]entry, error) {
	c = c.withSortedAccounts()
	if err := c.check(); err != nil {
		return nil, err
	}
	a := b.accounts[c.Account]
	if a == nil {
		return nil, &NoAccount{Ledger: b.ledger, Account: c.Account}
	}
	if p := a.findCharge(c); p != nil && p.state != Cancelled {
		if err := c.checkUnder(c.Account, a.policy.Terms); err != nil {
			return nil, err
		}
		if !p.matchesCharge(c) {
			return nil, p.differenceFrom(b.ledger, c)
		}
		if p.state != Reserved && p.state != Debited {
			return nil, p.closedError()
		}
		return nil, nil
	}
	_, used, err := b.admit(c, day)
	if err != nil {
		return nil, err
	}
	return []entry{c.reserveEntry(used)}, nil
}

// differenceFrom returns the error that c differs from an earlier charge for the same plan.
func (p *recordedCharge) differenceFrom(ledger string, c Charge) error {
	if !p.charge.Cost.Equal(c.Cost) {
		return fmt.Errorf("ledger: release %s is %s under this plan at %s, so it cannot cost %s: one plan has one cost",
			c.Release, p.state, inWords(p.charge.Cost, false), inWords(c.Cost, false))
	}
	return fmt.Errorf("ledger %s: release %s is %s under this plan with other accounts, another template or another "+
		"release to correct: one plan has one of each",
		ledger, c.Release, p.state)
}

// entriesToCancel returns what Cancel must write for c: nothing unless c is reserved. Errors: *NoAccount.
func (b *book) entriesToCancel(c Charge) ([]entry, error) {
	if err := c.withSortedAccounts().check(); err != nil {
		return nil, err
	}
	a := b.accounts[c.Account]
	if a == nil {
		return nil, &NoAccount{Ledger: b.ledger, Account: c.Account}
	}
	p := a.findCharge(c)
	if p == nil || p.state != Reserved {
		return nil, nil
	}
	return []entry{p.closingEntry(kindCancel)}, nil
}

// entriesToDebit returns what Debit must write for c: nothing if c is already debited for the same key and integers.
// Errors: as entriesToReserve; *Closed.
func (b *book) entriesToDebit(c Charge, day string) ([]entry, error) {
	c = c.withSortedAccounts()
	entries, err := b.entriesToReserve(c, day)
	if err != nil {
		return nil, err
	}
	used := []Approval(nil)
	if len(entries) > 0 {
		used = entries[len(entries)-1].Approvals
	}
	a := b.accounts[c.Account]
	if p := a.findCharge(c); p != nil && p.state != Cancelled {
		if p.state == Debited && p.commitment == c.Commitment {
			return nil, nil
		}
		if p.state != Reserved {
			return nil, p.closedError()
		}
		used = p.charge.Approvals
	}
	hits, err := b.chargedAccounts(c)
	if err != nil {
		return nil, err
	}
	attested := b.attestDebit(a, hits)
	e := c.reserveEntry(used)
	e.Kind, e.Mechanisms, e.Attest, e.commitment = kindDebit, nil, &attested, c.Commitment
	return append(entries, e), nil
}

// closingEntry returns an entry of kind k that moves p to its next state.
func (p *recordedCharge) closingEntry(k kind) entry {
	return entry{Kind: k, Account: p.charge.Account, Release: p.charge.Release, PlanHash: p.charge.PlanHash}
}

// entriesToRehearse returns the entries that open, in a rehearsal, the accounts that c names: without a cap, under c's
// terms.
func (b *book) entriesToRehearse(c Charge) ([]entry, error) {
	c = c.withSortedAccounts()
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := c.Terms.check(); err != nil {
		return nil, fmt.Errorf("ledger: release %s: %w", c.Release, err)
	}
	if err := c.checkUnder(c.Account, c.Terms); err != nil {
		return nil, err
	}
	var entries []entry
	for _, name := range c.namedAccounts() {
		if b.accounts[name] == nil {
			entries = append(entries, Policy{Account: name, Terms: c.Terms}.openingEntry(Rehearsal, nil))
		}
	}
	return entries, nil
}

// entriesToOpen returns what Init must write for p: nothing if the account exists under the same policy and status.
// Errors: wraps ErrAccountExists; *NoParent.
func (b *book) entriesToOpen(p Policy, status Status) ([]entry, error) {
	if b.rehearsal {
		return nil, errors.New("ledger: a rehearsal spends nothing and has no accounts to open")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if a := b.accounts[p.Account]; a != nil {
		if a.status == status && a.policy.equal(p) {
			return nil, nil
		}
		return nil, fmt.Errorf("ledger %s, account %s: %w since %s with another policy (%s): a policy is never "+
			"changed, so use that one or choose a new account name",
			b.ledger, p.Account, ErrAccountExists, a.opened, a.inWords())
	}
	if p.Parent != "" {
		if err := b.checkParent(p, status); err != nil {
			return nil, err
		}
	}
	limit := normalForm(p.Cap)
	return []entry{p.openingEntry(status, &limit)}, nil
}

// checkParent returns a *NoParent unless p's parent is open, with the same terms and status.
func (b *book) checkParent(p Policy, status Status) error {
	parent := b.accounts[p.Parent]
	switch {
	case parent == nil:
		return &NoParent{Ledger: b.ledger, Account: p.Account, Parent: p.Parent}
	case parent.policy.Terms != p.Terms || parent.status != status:
		return &NoParent{Ledger: b.ledger, Account: p.Account, Parent: p.Parent, ParentState: parent.inWords()}
	}
	return nil
}
