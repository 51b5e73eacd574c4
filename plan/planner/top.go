package planner

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds what the plan says of chosen cells once the choices have mechanisms.

// tops says of every top table how far it may fall short. It fails on one whose choices get next to nothing.
func tops(p *plan.Plan, tables []*workload.Table, all []optimise.Planned) error {
	measured, shares := p.Measured(), map[string]string{}
	for _, one := range all {
		if one.Choosing != nil {
			shares[one.Table.Path] = one.Choosing.RatString()
		}
	}
	for i, t := range tables {
		if t.Top() == 0 {
			continue
		}
		c := measured[t.Path].Selection.(selection.Top)
		miss := (1 - counted.Confidence) / float64(c.Of)
		margin, exceeded := c.Select.Shortfall(t.Cells, c.Moves(), miss)
		if margin == math.MaxInt64 {
			return workload.At(p.Release(), "marginals."+t.Marginal.Name,
				&workload.Fault{Key: "top",
					Message:  fmt.Sprintf("a choice among the cells of table %s gets too little to tell them apart at all", t.Path),
					Expected: "fewer cells to choose, or more of the budget"})
		}
		each, _ := p.EachOf(p.Tables[i]).Float64()
		top := p.Tables[i].Top
		top.Choosing = shares[t.Path]
		top.Shortfall = float64(each * float64(margin))
		top.Attained = max(counted.Confidence, math.Floor(float64((1-float64(float64(c.Of)*exceeded))*1e9))/1e9)
		p.Tables[i].Expectation = describe.TopExpectation(top, p.Tables[i])
	}
	return nil
}
