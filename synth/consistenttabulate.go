package synth

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/tabulation"
)

// This file holds counts of tables that are taken from the microdata, and add up as all counts of the same rows do.

// tabulateMicrodata counts the tables of a consistency from its microdata. It returns them by their index in the plan.
func tabulateMicrodata(p *plan.Plan, c plan.Consistency, microdata []Microdata) (map[int][]int64, error) {
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
		indexes := make([]int64, rows.Rows)
		size := t.Cells
		for _, a := range by {
			size /= int64(a.Categories)
			for row, code := range rows.Codes[a.Column] {
				indexes[row] += int64(a.CategoryOf[code]) * size
			}
		}
		for _, place := range indexes {
			cells[place]++
		}
		out[i] = cells
	}
	return out, nil
}
