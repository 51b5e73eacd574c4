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

// charge returns what a plan costs its accounts, with the approvals found in the approvals folder.
func (o Options) charge(p *compiled.Compiled) (ledger.Charge, error) {
	c := ledger.Charge{
		Account: p.Guarantee.Account, FurtherAccounts: p.Guarantee.FurtherAccounts, Release: p.Name, PlanHash: p.Hash(),
		Words: p.Release().Words.Hash(), Template: template.Hash(p.Plan()),
		Terms: published.Terms(p), Cost: p.Cost, Corrects: p.Corrects,
	}
	c.Mechanisms = unsampledMechanisms(p)
	if o.Approvals == "" {
		return c, nil
	}
	var err error
	c.Approvals, err = account.Approvals(o.Approvals)
	return c, err
}

// countMechanisms lists the distinct mechanisms of a plan with the number of times each is run, in the order of their
// first runs.
func countMechanisms(all []budget.Mechanism) []ledger.Repeated {
	var list []ledger.Repeated
	index := map[string]int{}
	for _, m := range all {
		text, err := json.Marshal(m)
		if err != nil {
			panic("release: a planned mechanism always encodes: " + err.Error())
		}
		key := string(text)
		i, ok := index[key]
		if !ok {
			i = len(list)
			index[key] = i
			list = append(list, ledger.Repeated{Mechanism: m})
		}
		list[i].Count++
	}
	return list
}
