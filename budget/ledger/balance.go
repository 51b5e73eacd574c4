package ledger

// What the accounts of one release have left, and whether that suffices.

import "context"

// Balance is what an account has left for further releases.
type Balance struct {
	Account string `json:"account"`
	Left    Amount `json:"left"` // of the cap, less what is spent and reserved
	// of the account's allowance, that today lies in; "" where it has none
	Period     string  `json:"period,omitempty"`
	PeriodLeft *Amount `json:"period_left,omitempty"` // of the allowance; the cap may have less
}

// Balances returns what every account that c is charged to has left, in the order in which c counts in them. Errors:
// *NoAccount; wraps ErrTampered.
func (l *Ledger) Balances(ctx context.Context, c Charge) ([]Balance, error) {
	b, err := l.view(ctx)
	if err != nil {
		return nil, err
	}
	hits, err := b.hits(c.sorted())
	if err != nil {
		return nil, err
	}
	day, _ := b.today(l.now(), l.today) // a doubted clock spends nothing, and reading spends nothing anyway
	var all []Balance
	for _, a := range hits {
		limit, err := a.limit()
		if err != nil {
			return nil, err
		}
		left, err := a.total.left(limit)
		if err != nil {
			return nil, err
		}
		balance := Balance{Account: a.policy.Account, Left: AmountOf(left)}
		if period, used := a.period(day); period != "" {
			rest, err := used.left(a.policy.Allowance.Cap)
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

// Affords returns nil if all accounts that c is charged to have as much left today as it costs, or have set it aside or
// paid it already. Nobody needs to have approved c, and nothing is written. Errors: *NoAccount, *TermsMismatch,
// *Refused; wraps ErrTampered.
func (l *Ledger) Affords(ctx context.Context, c Charge) error {
	b, err := l.view(ctx)
	if err != nil {
		return err
	}
	c = c.sorted()
	hits, err := b.hits(c)
	if err != nil {
		return err
	}
	if p := b.accounts[c.Account].posting(c); p != nil && p.state != Cancelled {
		return nil
	}
	for _, a := range hits {
		if err := c.checkUnder(a.policy.Account, a.policy.Terms); err != nil {
			return err
		}
	}
	day, _ := b.today(l.now(), l.today) // a doubted clock spends nothing, and reading spends nothing anyway
	return afford(hits, c, day)
}
