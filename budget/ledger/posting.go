package ledger

// One charge, from its reservation to its end, in all accounts that it counts in.

import (
	"errors"
	"fmt"
	"slices"
)

// posting is a charge of a book.
type posting struct {
	charge   Charge     // with the approvals it uses, without a commitment
	accounts []*account // that it counts in
	reserved string     // day of its reservation, which its allowances go by
	debited  string     // day of its debit, or ""
	state    State
	date     string // day of the entry that brought it there
	reason   string // of abandoning or withdrawing
	seal     string // of a finished one

	commitment string
	attest     attest
	proof      Proof // of its debit
}

// posting is the posting of c's release and plan, or nil.
func (a *account) posting(c Charge) *posting {
	for _, p := range a.byName[c.Release] {
		if p.charge.PlanHash == c.PlanHash && p.charge.Account == c.Account {
			return p
		}
	}
	return nil
}

// holder is another posting that holds c's name in a, or nil.
func (a *account) holder(c Charge) *posting {
	for _, p := range a.byName[c.Release] {
		if (p.charge.PlanHash != c.PlanHash || p.charge.Account != c.Account) && p.state != Cancelled {
			return p
		}
	}
	return nil
}

// named is the posting that holds a release name in a, or nil.
func (a *account) named(release string) *posting {
	for _, p := range a.byName[release] {
		if p.state != Cancelled {
			return p
		}
	}
	return nil
}

// same reports whether p was made for what c asks, its approvals aside.
func (p *posting) same(c Charge) bool {
	return p.charge.Cost.Equal(c.Cost) && slices.Equal(p.charge.Also, c.Also) && p.charge.Template == c.Template &&
		p.charge.Corrects == c.Corrects
}

// applyReserve counts a reservation in all its accounts.
func (b *book) applyReserve(e entry, a *account) error {
	c := e.charge(a.policy.Terms)
	hits, used, err := b.admit(c, e.Date)
	if err != nil {
		return errors.New(reasonOf(err))
	}
	if !slices.EqualFunc(used, e.Approvals, Approval.equal) {
		return errors.New("carries approvals that its accounts do not ask for")
	}
	p := a.posting(c)
	if p == nil {
		p = &posting{accounts: hits}
		for _, hit := range hits {
			hit.postings = append(hit.postings, p)
		}
		for _, name := range c.direct() {
			b.accounts[name].byName[c.Release] = append(b.accounts[name].byName[c.Release], p)
		}
	}
	for _, hit := range hits {
		if err := hit.reserve(c.Cost, e.Date); err != nil {
			return err
		}
	}
	b.count(used, 1)
	p.charge, p.state, p.date, p.reserved, p.reason = c, Reserved, e.Date, e.Date, ""
	return nil
}

// settle ends p's reservation in all its accounts.
func (b *book) settle(p *posting, to State, day string) error {
	for _, a := range p.accounts {
		if err := a.settle(p.charge.Cost, p.reserved, to == Debited); err != nil {
			return err
		}
	}
	if to == Cancelled {
		b.count(p.charge.Approvals, -1)
	}
	p.state, p.date = to, day
	return nil
}

// applyDebit spends a reservation: the entry repeats it, and attests what the account knows of it.
func (b *book) applyDebit(e entry, a *account, l line, sealed digest) error {
	p := a.posting(Charge{Account: e.Account, Release: e.Release, PlanHash: e.PlanHash})
	if p == nil || p.state != Reserved {
		return errors.New("debits what was not reserved")
	}
	if !p.same(e.charge(a.policy.Terms)) || !slices.EqualFunc(p.charge.Approvals, e.Approvals, Approval.equal) {
		return errors.New("debits something else than what was reserved")
	}
	says := b.attest(a, p.accounts)
	// one on the ledger's own disk counts for nothing where the debit is made
	says.Witnessed = says.Witnessed && e.Attest.Witnessed
	if *e.Attest != says {
		return errors.New("says of its account what is not so")
	}
	if err := b.settle(p, Debited, e.Date); err != nil {
		return err
	}
	for _, hit := range p.accounts {
		hit.debits++
	}
	p.debited, p.attest, p.commitment = e.Date, *e.Attest, e.commitment
	p.proof = Proof{Body: l.body, Sealed: sealed.String(), Previous: b.head.String(), Hash: l.hash.String(),
		Signature: l.signature, Office: b.officeAfter(e)}
	return nil
}

// attest is what the next debit of a, which counts in the accounts hit, says of it.
func (b *book) attest(a *account, hits []*account) attest {
	return attest{Status: a.status, Terms: a.policy.Terms, Number: a.debits + 1, Comparisons: a.comparisons,
		Witnessed: b.witnessed(hits)}
}

// witnessed reports whether each of the accounts names a witness away from the ledger's disk, itself or through one
// above it. Only then is one named in every older copy that has one of them: the copy may end before another account
// named its.
func (b *book) witnessed(accounts []*account) bool {
	for _, a := range accounts {
		for a != nil && (a.policy.Witness == "" || b.near[a.policy.Witness]) {
			a = a.parent
		}
		if a == nil {
			return false
		}
	}
	return true
}

// closings are the states that an entry leads to from where a posting stands.
var closings = map[kind]map[State]State{
	kindCancel:   {Reserved: Cancelled},
	kindRelease:  {Debited: Finished},
	kindAbandon:  {Reserved: Cancelled, Debited: Abandoned},
	kindWithdraw: {Finished: Withdrawn},
}

// applyClosing moves a posting on, without any amount but a reservation that is given back.
func (b *book) applyClosing(e entry, a *account) error {
	p := a.posting(Charge{Account: e.Account, Release: e.Release, PlanHash: e.PlanHash})
	if p == nil {
		return errors.New("ends what was never reserved")
	}
	to := closings[e.Kind][p.state]
	switch {
	case to == "":
		return fmt.Errorf("cannot follow: the release is %s", p.state)
	case e.Kind == kindRelease && !hashPattern.MatchString(e.Seal):
		return errors.New("finishes a release without the hash of its seal")
	case e.Kind != kindCancel && e.Kind != kindRelease && !isSentence(e.Reason):
		return errors.New("gives no reason")
	}
	if p.state == Reserved {
		if err := b.settle(p, to, e.Date); err != nil {
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

// stateOf is where p stands; "" if it is nil.
func stateOf(p *posting) State {
	if p == nil {
		return ""
	}
	return p.state
}

// closed says that p cannot be drawn again.
func (p *posting) closed() *Closed {
	return &Closed{Account: p.charge.Account, Release: p.charge.Release, Date: p.debited, State: p.state, Since: p.date,
		Reason: p.reason}
}
