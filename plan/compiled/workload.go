package compiled

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds the workload: what the spec of a plan asks for.

// Workload is what the spec of a plan asks for. The planner starts from it, and estimates are made from it.
type Workload struct {
	Tables []*workload.Table          // in the plan's order
	Parts  []*workload.Table          // further parts that their figures are computed from
	Chains map[string]workload.Chains // the columns of each confidential table that has tables
}

// newWorkload works out what the spec of a plan asks for.
func newWorkload(p *plan.Plan) (*Workload, error) {
	w := &Workload{}
	var err error
	if w.Tables, err = workload.Expand(p.Release()); err != nil {
		return nil, err
	}
	if w.Parts, err = workload.PartsOf(p.Release(), w.Tables); err != nil {
		return nil, err
	}
	return w, w.addChains(p)
}

// addChains arranges the columns of the tables in chains, in the way that the plan measures them.
func (w *Workload) addChains(p *plan.Plan) error {
	w.Chains = map[string]workload.Chains{}
	for _, confidential := range p.Release().Tables {
		own := workload.TablesOf(w.Tables, confidential.Name)
		if own == nil {
			continue
		}
		c, err := workload.NewChains(p.Release(), own, p.Sums)
		if err != nil {
			return err
		}
		w.Chains[confidential.Name] = c
	}
	return nil
}
