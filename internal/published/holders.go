package published

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file checks what several holders have made together.

// ErrNoHolders is the error for a plan whose data are in one place.
var ErrNoHolders = errors.New("it has no holders: it is measured in one place")

// RollOf returns the roll of a plan: who takes part in its sum, and with which keys. Errors: [ErrNoHolders]; keys that
// cannot be used.
func RollOf(p *compiled.Compiled) (holder.Roll, error) {
	if p.Release().Holders == nil {
		return holder.Roll{}, ErrNoHolders
	}
	keys := map[string]holder.PublicKey{}
	for _, h := range p.Release().Holders.All {
		key, err := holder.ParsePublic(h.Key)
		if err != nil {
			return holder.Roll{}, fmt.Errorf("the key of %s cannot be used: %w", h.Name, err)
		}
		keys[h.Name] = key
	}
	return holder.NewRoll(p.Hash(), keys)
}

// checkHolders returns an error unless a release of several holders says of each that it has signed its share, and that
// its account was debited for this plan.
func checkHolders(s *measured.Sealed, status ledger.Status) error {
	if s.Plan.Release().Holders == nil || s.Share != nil || status == ledger.Rehearsal {
		if s.Holders != nil {
			return errors.New("it names holders, and was not made by several")
		}
		return nil
	}
	roll, err := RollOf(s.Plan)
	if err != nil {
		return err
	}
	if len(s.Holders) != len(roll.Holders) {
		return fmt.Errorf("it names %d holders, and its plan %d", len(s.Holders), len(roll.Holders))
	}
	withdrawn := map[string][]byte{}
	for i, h := range s.Holders {
		if h.Holder != roll.Holders[i] {
			return fmt.Errorf("holder %d is %s by the plan", i+1, roll.Holders[i])
		}
		if h.Withdrawn {
			withdrawn[h.Holder] = h.Signature
		}
	}
	left, err := RollWithout(s.Plan, withdrawn)
	if err != nil {
		return err
	}
	nonces := map[string][]byte{}
	for _, h := range s.Holders {
		if !h.Withdrawn {
			nonces[h.Holder] = h.Nonce
		}
	}
	if left, err = left.WithNonces(nonces); err != nil {
		return err
	}
	for _, h := range s.Holders {
		if h.Withdrawn {
			continue
		}
		if err := left.VerifyShare(h.Holder, h.Seal, h.Drawn, h.Signature); err != nil {
			return err
		}
		var r ledger.Record
		if err := json.Unmarshal(h.Receipt, &r); err != nil {
			return fmt.Errorf("the receipt of %s cannot be read", h.Holder)
		}
		if err := r.Check(); err != nil {
			return fmt.Errorf("the receipt of %s: %w", h.Holder, err)
		}
		if r.PlanHash != s.Plan.Hash() || r.Release != s.Plan.Name || r.Terms != Terms(s.Plan) || r.Status != status ||
			!r.Cost.Equal(s.Plan.Cost) || r.Corrects != s.Plan.Corrects || status == ledger.Official &&
			(r.Account != s.Plan.Guarantee.Account ||
				!slices.Equal(r.FurtherAccounts, s.Plan.Guarantee.FurtherAccounts)) {
			return fmt.Errorf("the receipt of %s is of another plan, cost, account or status", h.Holder)
		}
	}
	return nil
}

// RollWithout returns the roll of a plan without the holders that have withdrawn, each with its signature. It returns
// an error if fewer are left than the guarantee needs.
func RollWithout(p *compiled.Compiled, withdrawn map[string][]byte) (holder.Roll, error) {
	roll, err := RollOf(p)
	if err != nil || len(withdrawn) == 0 {
		return roll, err
	}
	if left := len(roll.Holders) - len(withdrawn); left < p.Release().Holders.Trusted {
		return roll, fmt.Errorf("only %d holders are left, and the guarantee needs the noise of %d", left,
			p.Release().Holders.Trusted)
	}
	return roll.Without(withdrawn)
}
