package release

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file opens the account that pays: one of the configured ledger, or a practice account.

// practiceReleases is the cap of a practice account, in releases of the first spec's cost.
const practiceReleases = 3

// practiceAccount names the account of a spec that names none. Amounts in ε and in ρ cannot be added, so there is a
// practice account for each.
const practiceAccount = "practice"

// openLedger opens the configured ledger, or else a practice ledger, whose account is created on first use.
func (o Options) openLedger(ctx context.Context, p *compiled.Compiled) (*ledger.Ledger, ledger.Charge, error) {
	charge, err := o.charge(p)
	if err != nil {
		return nil, charge, err
	}
	if o.Ledger != "" {
		if charge.Account == "" {
			return nil, charge, &account.NoAccountNamed{Release: p.Name}
		}
		l, err := o.Account().Open(ctx)
		return l, charge, err
	}
	charge = practiceCharge(charge)
	if err := os.MkdirAll(o.StateDir(), 0o700); err != nil {
		return nil, charge, fmt.Errorf("state directory: %w", err)
	}
	if err := durable.Private(o.StateDir()); err != nil {
		return nil, charge, fmt.Errorf("state directory: %w", err)
	}
	// Nobody administers a practice account, so nobody is asked to confirm the clock.
	l, err := ledger.Open(ctx, account.Practice(o.StateDir()),
		ledger.OpenOptions{Today: time.Now().UTC().Format(time.DateOnly)})
	if err != nil {
		return nil, charge, err
	}
	err = initPractice(ctx, l, charge)
	if err != nil && !errors.Is(err, ledger.ErrAccountExists) {
		l.Close()
		return nil, charge, err
	}
	return l, charge, nil
}

// practiceCharge converts a charge to a practice ledger, which has one account for each definition of privacy loss and
// nothing to correct.
func practiceCharge(c ledger.Charge) ledger.Charge {
	c.Account = cmp.Or(c.Account, practiceAccount) + "." + c.Terms.Definition
	c.FurtherAccounts, c.Corrects = nil, ""
	return c
}

// Payment is what a release costs and what remains in the accounts that pay for it.
type Payment struct {
	Cost ledger.Amount    `json:"cost"`           // of the release, whether or not it has been charged
	Left []ledger.Balance `json:"left,omitempty"` // empty if the ledger cannot be read or does not exist yet
}

// Payment returns the cost of the plan and the remaining budget of its accounts. It writes nothing.
func (o Options) Payment(ctx context.Context, p *compiled.Compiled) (Payment, error) {
	charge, err := o.charge(p)
	if err != nil {
		return Payment{}, err
	}
	payment := Payment{Cost: ledger.AmountOf(charge.Cost)}
	var l *ledger.Ledger
	if o.Ledger != "" {
		l, err = o.Account().Open(ctx)
	} else {
		charge = practiceCharge(charge)
		l, err = account.OpenPractice(ctx, o.StateDir())
	}
	if err != nil {
		return payment, err
	}
	defer l.Close()
	payment.Left, err = l.Balances(ctx, charge)
	return payment, err
}

// CheckAffordable returns nil if the accounts of a configured ledger have enough budget left for the plan or have paid
// for it already. Errors: those of [ledger.Ledger.CheckAffordable].
func (o Options) CheckAffordable(ctx context.Context, p *compiled.Compiled) error {
	charge, err := o.charge(p)
	if err != nil {
		return err
	}
	return o.Account().With(ctx, func(l *ledger.Ledger) error { return l.CheckAffordable(ctx, charge) })
}

// initPractice opens the practice account of a charge, with a cap of a few such charges. A cap in ρ has a hundredth of
// one more: what an ε at a δ costs in ρ depends on what is measured, so a release with another split may cost some
// ten-thousandths more.
func initPractice(ctx context.Context, l *ledger.Ledger, c ledger.Charge) error {
	limit := budget.Cost{}
	for range practiceReleases {
		var err error
		if limit, err = limit.Add(c.Cost); err != nil {
			return err
		}
	}
	if c.Cost.Rho != nil {
		limit.Rho = new(big.Rat).Add(limit.Rho, new(big.Rat).Quo(c.Cost.Rho, big.NewRat(100, 1)))
	}
	return l.InitPractice(ctx, ledger.Policy{Account: c.Account, Terms: c.Terms, Cap: limit})
}
