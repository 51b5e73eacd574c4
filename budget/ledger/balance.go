package ledger

// What the accounts of a release have left, and whether that is enough.

import "context"

// Balance is what an account has left for further releases.
type Balance struct {
	Account string `json:"account"`
	Left    Amount `json:"left"` // of the cap, less what is spent and reserved
	// the period of the allowance that today lies in; "" if there is no allowance
	Period     string  `json:"period,omitempty"`
	PeriodLeft *Amount `json:"period_left,omitempty"` // of the allowance; the cap may have less
}

// Balances returns what every account that c counts in has left, starting with the accounts that c names, each followed
// by the accounts above it. Errors: *NoAccount; wraps ErrTampered.
func (l *Ledger) Balances(ctx context.Context, c Charge) ([]Balance, error) {
	b, err := l.view(ctx)
	if err != nil {
		return nil, err
	}
	hits, err := b.chargedAccounts(c.withSortedAccounts())
	if err != nil {
		return nil, err
	}
	day, _ := b.entryDay(l.now(), l.today) // a doubted clock spends nothing, and reading spends nothing anyway
	var all []Balance
	for _, a := range hits {
		limit, err := a.capWithGrants()
		if err != nil {
			return nil, err
		}
		left, err := a.total.remainingOf(limit)
		if err != nil {
			return nil, err
		}
		balance := Balance{Account: a.policy.Account, Left: AmountOf(left)}
		if period, used := a.periodUsage(day); period != "" {
			rest, err := used.remainingOf(a.policy.Allowance.Cap)
			if err != nil {
				return nil, err
			}
			of := AmountOf(rest)
			balance.Period, balance.PeriodLeft = period, &of
		}
		all = append(all, balance)
	}
	return all, nil
}

// CheckAffordable returns nil if every account that c counts in has at least the cost of c left today, or has already
// reserved or debited c. It needs no approval of c and writes nothing. Errors: *NoAccount, *TermsMismatch, *Refused;
// wraps ErrTampered.
func (l *Ledger) CheckAffordable(ctx context.Context, c Charge) error {
	b, err := l.view(ctx)
	if err != nil {
		return err
	}
	c = c.withSortedAccounts()
	hits, err := b.chargedAccounts(c)
	if err != nil {
		return err
	}
	if p := b.accounts[c.Account].findCharge(c); p != nil && p.state != Cancelled {
		return nil
	}
	for _, a := range hits {
		if err := c.checkUnder(a.policy.Account, a.policy.Terms); err != nil {
			return err
		}
	}
	day, _ := b.entryDay(l.now(), l.today) // a doubted clock spends nothing, and reading spends nothing anyway
	return checkAllAffordable(hits, c, day)
}
