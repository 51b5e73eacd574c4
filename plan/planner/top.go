package planner

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file describes chosen cells once the choices have mechanisms.

// sayTop states how large the shortfall of a top table may be. It returns an error if its choices get next to
// nothing.
func (d *draftPlan) sayTop(at int, m plan.Measurement) error {
	c, t := m.Selection.(selection.Top), &d.plan.Tables[at]
	miss := (1 - counted.Confidence) / float64(c.Of)
	margin, exceeded := c.Select.Shortfall(t.Cells, c.ScoreSensitivity(), miss)
	if margin == math.MaxInt64 {
		return &workload.Fault{Key: "top",
			Message: fmt.Sprintf("a choice among the cells of table %s gets too little to tell them apart at all",
				t.Path),
			Expected: "fewer cells to choose, or more of the budget"}
	}
	each, _ := d.plan.IntegerWeight(*t).Float64()
	for _, one := range d.division.Measurements {
		if one.Choosing != nil && one.Table.Path == t.Path {
			t.Top.Choosing = one.Choosing.RatString()
		}
	}
	t.Top.Shortfall = float64(each * float64(margin))
	t.Top.Attained = max(counted.Confidence, math.Floor(float64((1-float64(float64(c.Of)*exceeded))*1e9))/1e9)
	return nil
}
