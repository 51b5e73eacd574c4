package ledger

// How a charge ends, and notes on an account that carry no amount.

import (
	"errors"
	"fmt"
)

// entriesToFinish returns what Finish must write for c: nothing if it is finished with the same seal.
func (b *book) entriesToFinish(c Charge, seal string) ([]entry, error) {
	if err := c.withSortedAccounts().check(); err != nil {
		return nil, err
	}
	if !hashPattern.MatchString(seal) {
		return nil, fmt.Errorf("ledger: release %s: the seal is not 64 lower-case hexadecimal digits", c.Release)
	}
	a := b.accounts[c.Account]
	if a == nil {
		return nil, &NoAccount{Ledger: b.ledger, Account: c.Account}
	}
	p := a.findCharge(c)
	switch {
	case p == nil || !p.state.isSpent():
		return nil, &NoRelease{Account: c.Account, Release: c.Release, State: stateOf(p), Needs: "debited",
			For: "to be finished"}
	case p.state == Finished && p.seal != seal:
		return nil, fmt.Errorf("ledger %s: release %s was finished on %s with other measurements (seal %s, these "+
			"have %s): these must not be published: %w",
			b.ledger, c.Release, p.date, shortHash(p.seal), shortHash(seal), p.closedError())
	case p.state == Finished:
		return nil, nil
	case p.state != Debited, c.Commitment != "" && c.Commitment != p.commitment:
		return nil, p.closedError()
	}
	e := p.closingEntry(kindRelease)
	e.Seal = seal
	return []entry{e}, nil
}

// entriesToEnd returns what Abandon and Withdraw must write: nothing if the release is already in that state.
func (b *book) entriesToEnd(k kind, account, release, reason string) ([]entry, error) {
	a := b.accounts[account]
	if a == nil {
		return nil, &NoAccount{Ledger: b.ledger, Account: account}
	}
	if err := checkReason(reason); err != nil {
		return nil, err
	}
	p := a.activeCharge(release)
	done, needs, purpose := Abandoned, "reserved, or debited and not finished", "to be abandoned"
	if k == kindWithdraw {
		done, needs, purpose = Withdrawn, "finished", "to be withdrawn"
	}
	switch {
	case p != nil && p.state == done, p == nil && k == kindAbandon && a.byName[release] != nil:
		return nil, nil
	case p == nil || closings[k][p.state] == "":
		return nil, &NoRelease{Account: account, Release: release, State: stateOf(p), Needs: needs, For: purpose}
	}
	e := p.closingEntry(k)
	e.Reason = reason
	return []entry{e}, nil
}

// entriesToCompare returns the note that results of a release were compared with the truth. Errors: *NoAccount.
func (b *book) entriesToCompare(account, release, reason string) ([]entry, error) {
	if b.accounts[account] == nil {
		return nil, &NoAccount{Ledger: b.ledger, Account: account}
	}
	if !namePattern.MatchString(release) {
		return nil, fmt.Errorf("ledger: %q is not a release name: use %s", release, nameRule)
	}
	if err := checkReason(reason); err != nil {
		return nil, err
	}
	return []entry{{Kind: kindCompare, Account: account, Release: release, Reason: reason}}, nil
}

func checkReason(reason string) error {
	if !isOneLine(reason) {
		return fmt.Errorf("ledger: give a reason, one line of at most %d bytes: it stays in the account", maxTextBytes)
	}
	return nil
}

// applyCompare counts a comparison on the account and those above it.
func (b *book) applyCompare(e entry, a *account) error {
	if !namePattern.MatchString(e.Release) || !isOneLine(e.Reason) {
		return errors.New("is not a note of a comparison")
	}
	for ; a != nil; a = a.parent {
		a.comparisons++
	}
	return nil
}
