package release

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/sign"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// charge is what a plan asks of its accounts, with the approvals that lie in the
// folder for them.
func (o Options) charge(p *compiled.Compiled) (ledger.Charge, error) {
	c := ledger.Charge{
		Account: p.Guarantee.Account, Also: p.Guarantee.Also, Release: p.Name, PlanHash: p.Hash(), Template: p.Template(),
		Terms: terms(p), Cost: p.Cost, Corrects: p.Corrects,
	}
	if p.Sample == nil { // else they lose what they do for the units that are drawn, and not for all
		c.Mechanisms = repeated(p.Mechanisms())
	}
	if o.Approvals == "" {
		return c, nil
	}
	var err error
	c.Approvals, err = approvals(o.Approvals)
	return c, err
}

// repeated lists the mechanisms of a plan, each with how often it is run, in the
// order of their first runs.
func repeated(all []budget.Mechanism) []ledger.Repeated {
	var list []ledger.Repeated
	places := map[string]int{}
	for _, m := range all {
		text, err := json.Marshal(m)
		if err != nil {
			panic("release: a planned mechanism always encodes: " + err.Error())
		}
		key := string(text)
		place, ok := places[key]
		if !ok {
			place = len(list)
			places[key] = place
			list = append(list, ledger.Repeated{Mechanism: m})
		}
		list[place].Count++
	}
	return list
}

// openExisting opens the configured ledger, which somebody must have made.
func (o Options) openExisting(ctx context.Context) (*ledger.Ledger, error) {
	options := ledger.OpenOptions{Office: o.Office, Today: o.Today}
	if o.Trust != "" {
		var err error
		if options.Trust, err = sign.ReadPublicKey(o.Trust); err != nil {
			return nil, &verdict.Unusable{File: o.Trust, Err: err}
		}
	}
	l, err := ledger.OpenExisting(ctx, o.Ledger, options)
	if errors.Is(err, fs.ErrNotExist) {
		err = &NoLedger{Path: o.Ledger, Err: err}
	}
	return l, err
}
