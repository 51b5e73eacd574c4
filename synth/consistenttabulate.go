package synth

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/tabulation"
)

// This file holds counts of tables that are those of the microdata, which add up as all counts of the same rows do.

// tabulate counts the tables of a consistency from its microdata, by their places in the plan.
func tabulate(p *plan.Plan, c plan.Consistency, microdata []Microdata) (map[int][]int64, error) {
	at := slices.IndexFunc(microdata, func(m Microdata) bool { return m.Table == c.Table })
	if at < 0 {
		return nil, fmt.Errorf("the microdata are missing")
	}
	rows := microdata[at]
	out := map[int][]int64{}
	for i, t := range p.Tables {
		if !slices.Contains(c.Tables, t.Path) {
			continue
		}
		by, err := tabulation.Columns(p, c.Table, t.Path)
		if err != nil {
			return nil, err
		}
		cells := make([]int64, t.Cells)
		places := make([]int64, rows.Rows)
		size := t.Cells
		for _, a := range by {
			size /= int64(a.Categories)
			for row, code := range rows.Codes[a.Column] {
				places[row] += int64(a.Of[code]) * size
			}
		}
		for _, place := range places {
			cells[place]++
		}
		out[i] = cells
	}
	return out, nil
}
