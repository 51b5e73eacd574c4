package ledger

// A charge from its reservation to its end, in all accounts that it counts in.

import (
	"errors"
	"fmt"
	"slices"
)

// recordedCharge is a charge as a book records it, from its reservation to its end.
type recordedCharge struct {
	charge   Charge     // with the approvals it uses, without a commitment
	accounts []*account // that it counts in
	reserved string     // day of its reservation, which decides the period of its allowances
	debited  string     // day of its debit, or ""
	state    State
	date     string // day of the entry that led to the state
	reason   string // of abandoning or withdrawing
	seal     string // of a finished one

	commitment  string
	attestation attestation
	proof       Proof // of its debit
}

// findCharge returns the recorded charge of c's release and plan, or nil.
func (a *account) findCharge(c Charge) *recordedCharge {
	for _, p := range a.byName[c.Release] {
		if p.charge.PlanHash == c.PlanHash && p.charge.Account == c.Account {
			return p
		}
	}
	return nil
}

// otherHolder returns another charge that holds c's release name in a, or nil.
func (a *account) otherHolder(c Charge) *recordedCharge {
	for _, p := range a.byName[c.Release] {
		if (p.charge.PlanHash != c.PlanHash || p.charge.Account != c.Account) && p.state != Cancelled {
			return p
		}
	}
	return nil
}

// activeCharge returns the charge that holds a release name in a, or nil.
func (a *account) activeCharge(release string) *recordedCharge {
	for _, p := range a.byName[release] {
		if p.state != Cancelled {
			return p
		}
	}
	return nil
}

// matchesCharge reports whether p was made for the same request as c, approvals aside.
func (p *recordedCharge) matchesCharge(c Charge) bool {
	return p.charge.Cost.Equal(c.Cost) && slices.Equal(p.charge.FurtherAccounts, c.FurtherAccounts) &&
		p.charge.Template == c.Template &&
		p.charge.Corrects == c.Corrects
}

// applyReserve counts a reservation in all its accounts.
func (b *book) applyReserve(e entry, a *account) error {
	c := e.chargeUnder(a.policy.Terms)
	hits, used, err := b.admit(c, e.Date)
	if err != nil {
		return errors.New(reasonOf(err))
	}
	if !slices.EqualFunc(used, e.Approvals, Approval.equal) {
		return errors.New("carries approvals that its accounts do not ask for")
	}
	p := a.findCharge(c)
	if p == nil {
		p = &recordedCharge{accounts: hits}
		for _, hit := range hits {
			hit.charges = append(hit.charges, p)
		}
		for _, name := range c.namedAccounts() {
			b.accounts[name].byName[c.Release] = append(b.accounts[name].byName[c.Release], p)
		}
	}
	for _, hit := range hits {
		if err := hit.addReservation(c.Cost, e.Date); err != nil {
			return err
		}
	}
	b.countStanding(used, 1)
	p.charge, p.state, p.date, p.reserved, p.reason = c, Reserved, e.Date, e.Date, ""
	return nil
}

// endReservation ends p's reservation in all its accounts, with p in a new state.
func (b *book) endReservation(p *recordedCharge, to State, day string) error {
	for _, a := range p.accounts {
		if err := a.endReservation(p.charge.Cost, p.reserved, to == Debited); err != nil {
			return err
		}
	}
	if to == Cancelled {
		b.countStanding(p.charge.Approvals, -1)
	}
	p.state, p.date = to, day
	return nil
}

// applyDebit spends a reservation. The entry must repeat the reservation, and attest the state of the account.
func (b *book) applyDebit(e entry, a *account, l line, sealed digest) error {
	p := a.findCharge(Charge{Account: e.Account, Release: e.Release, PlanHash: e.PlanHash})
	if p == nil || p.state != Reserved {
		return errors.New("debits what was not reserved")
	}
	if !p.matchesCharge(e.chargeUnder(a.policy.Terms)) ||
		!slices.EqualFunc(p.charge.Approvals, e.Approvals, Approval.equal) {
		return errors.New("debits something else than what was reserved")
	}
	expected := b.attestDebit(a, p.accounts)
	// A witness on the ledger's own disk counts for nothing where the debit is made.
	expected.Witnessed = expected.Witnessed && e.Attest.Witnessed
	if *e.Attest != expected {
		return errors.New("says of its account what is not so")
	}
	if err := b.endReservation(p, Debited, e.Date); err != nil {
		return err
	}
	for _, hit := range p.accounts {
		hit.debits++
	}
	p.debited, p.attestation, p.commitment = e.Date, *e.Attest, e.commitment
	p.proof = Proof{Body: l.body, Sealed: sealed.String(), Previous: b.head.String(), Hash: l.hash.String(),
		Signature: l.signature, Office: b.officeAfter(e)}
	return nil
}

// attestDebit returns what the next debit of a, which counts in the accounts hits, attests.
func (b *book) attestDebit(a *account, hits []*account) attestation {
	return attestation{Status: a.status, Terms: a.policy.Terms, Number: a.debits + 1, Comparisons: a.comparisons,
		Witnessed: b.areWitnessed(hits)}
}

// areWitnessed reports whether each of the accounts has a witness away from the ledger's disk, named by itself or by an
// account above it. Only then does every older copy of the ledger that has one of the accounts also name a witness; a
// copy may end before another account named its witness.
func (b *book) areWitnessed(accounts []*account) bool {
	for _, a := range accounts {
		for a != nil && (a.policy.Witness == "" || b.witnessesOnDisk[a.policy.Witness]) {
			a = a.parent
		}
		if a == nil {
			return false
		}
	}
	return true
}

// closings holds, by kind of entry, the states that it leads to from each state of a charge.
var closings = map[kind]map[State]State{
	kindCancel:   {Reserved: Cancelled},
	kindRelease:  {Debited: Finished},
	kindAbandon:  {Reserved: Cancelled, Debited: Abandoned},
	kindWithdraw: {Finished: Withdrawn},
}

// applyClosing moves a charge to its next state. The only amount it changes is a reservation that is given back.
func (b *book) applyClosing(e entry, a *account) error {
	p := a.findCharge(Charge{Account: e.Account, Release: e.Release, PlanHash: e.PlanHash})
	if p == nil {
		return errors.New("ends what was never reserved")
	}
	to := closings[e.Kind][p.state]
	switch {
	case to == "":
		return fmt.Errorf("cannot follow: the release is %s", p.state)
	case e.Kind == kindRelease && !hashPattern.MatchString(e.Seal):
		return errors.New("finishes a release without the hash of its seal")
	case e.Kind != kindCancel && e.Kind != kindRelease && !isOneLine(e.Reason):
		return errors.New("gives no reason")
	}
	if p.state == Reserved {
		if err := b.endReservation(p, to, e.Date); err != nil {
			return err
		}
	}
	p.state, p.date = to, e.Date
	if e.Kind == kindRelease {
		p.seal = e.Seal
	} else {
		p.reason = e.Reason
	}
	return nil
}

// stateOf returns the state of p; "" if p is nil.
func stateOf(p *recordedCharge) State {
	if p == nil {
		return ""
	}
	return p.state
}

// closedError returns the error that p cannot be drawn again.
func (p *recordedCharge) closedError() *Closed {
	return &Closed{Account: p.charge.Account, Release: p.charge.Release, Date: p.debited, State: p.state, Since: p.date,
		Reason: p.reason}
}
