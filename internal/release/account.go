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
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file holds the account that pays: the configured ledger's, or a practice one.

// InitAccount opens the account that a policy file describes. A new ledger is
// signed by the office's key from its first entry on, where there is one.
func InitAccount(ctx context.Context, ledgerPath, policyPath string, o ledger.OpenOptions) (ledger.Policy, error) {
	text, err := regular.Read(policyPath, mostAsked)
	if err != nil {
		return ledger.Policy{}, &verdict.Unusable{File: policyPath, Err: err}
	}
	policy, err := ledger.ParsePolicy(policyPath, text)
	if err != nil {
		return policy, err
	}
	l, err := ledger.Open(ctx, ledgerPath, o)
	if err != nil {
		return policy, err
	}
	defer l.Close()
	return policy, l.Init(ctx, policy)
}

// Statements are the accounts of the ledger, or the named ones.
func (o Options) Statements(ctx context.Context, accounts []string) (all []ledger.Statement, err error) {
	err = o.withLedger(ctx, func(l *ledger.Ledger) error {
		all, err = statements(ctx, l, accounts)
		return err
	})
	return all, err
}

func statements(ctx context.Context, l *ledger.Ledger, accounts []string) ([]ledger.Statement, error) {
	if len(accounts) == 0 {
		var err error
		if accounts, err = l.Accounts(ctx); err != nil {
			return nil, err
		}
	}
	var all []ledger.Statement
	for _, name := range accounts {
		s, err := l.Show(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", name, err)
		}
		all = append(all, s)
	}
	return all, nil
}

// practiceReleases is how many releases of the first spec's size a practice
// account holds.
const practiceReleases = 3

// practiceAccount is the account of a spec that names none. Amounts in ε and in ρ
// cannot be added, so practice has an account for each.
const practiceAccount = "practice"

// openLedger opens the configured ledger or, where there is none, a practice
// ledger whose account is made on first use.
func (o Options) openLedger(ctx context.Context, p *compiled.Compiled) (*ledger.Ledger, ledger.Charge, error) {
	charge, err := o.charge(p)
	if err != nil {
		return nil, charge, err
	}
	if o.Ledger != "" {
		if charge.Account == "" {
			return nil, charge, &NoAccountNamed{Source: p.Source.Name}
		}
		l, err := o.Account().Open(ctx)
		return l, charge, err
	}
	charge = practiceCharge(charge)
	if err := os.MkdirAll(o.stateDir(), 0o700); err != nil {
		return nil, charge, fmt.Errorf("state directory: %w", err)
	}
	if err := durable.Private(o.stateDir()); err != nil {
		return nil, charge, fmt.Errorf("state directory: %w", err)
	}
	// Nobody keeps a practice account, so nobody is asked whether the clock is right.
	l, err := ledger.Open(ctx, account.Practice(o.stateDir()),
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

// practiceCharge is a charge as a practice ledger takes it: there is one account for each definition of privacy loss,
// and nothing to correct.
func practiceCharge(c ledger.Charge) ledger.Charge {
	c.Account = cmp.Or(c.Account, practiceAccount) + "." + c.Terms.Definition
	c.Also, c.Corrects = nil, ""
	return c
}

// Payment is what a release costs, and what the accounts that pay for it have left.
type Payment struct {
	Cost ledger.Amount    `json:"cost"`           // what the release is charged, whether or not it has been
	Left []ledger.Balance `json:"left,omitempty"` // nothing where the ledger cannot be read, or there is none yet
}

// Payment returns what the plan costs and what its accounts have left now. It writes nothing.
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
		l, err = account.OpenPractice(ctx, o.stateDir())
	}
	if err != nil {
		return payment, err
	}
	defer l.Close()
	payment.Left, err = l.Balances(ctx, charge)
	return payment, err
}

// Affords returns nil if the accounts of a configured ledger have as much left as the plan costs, or have paid it
// already. Errors: those of [ledger.Ledger.Affords].
func (o Options) Affords(ctx context.Context, p *compiled.Compiled) error {
	charge, err := o.charge(p)
	if err != nil {
		return err
	}
	return o.withLedger(ctx, func(l *ledger.Ledger) error { return l.Affords(ctx, charge) })
}

// initPractice opens the practice account of a charge, with room for a few like it. In
// ρ that is a hundredth of one more: what an ε at a δ buys depends on what is measured,
// so that a release with another split may cost some ten-thousandths more.
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
