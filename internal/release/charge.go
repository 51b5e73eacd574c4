package release

import (
	"encoding/json"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/template"
)

// charge is what a plan asks of its accounts, with the approvals that lie in the
// folder for them.
func (o Options) charge(p *compiled.Compiled) (ledger.Charge, error) {
	c := ledger.Charge{
		Account: p.Guarantee.Account, Also: p.Guarantee.Also, Release: p.Name, PlanHash: p.Hash(),
		Template: template.Hash(p.Plan()),
		Terms:    published.Terms(p), Cost: p.Cost, Corrects: p.Corrects,
	}
	c.Mechanisms = ofAllUnits(p)
	if o.Approvals == "" {
		return c, nil
	}
	var err error
	c.Approvals, err = account.Approvals(o.Approvals)
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
