package workload

import (
	"math/big"

	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds suggestions of bounds: quantiles near both ends of a column's values, paid for and drawn like any
// others.

// suggestedShares are the shares of rows below a suggested lower bound, and below an upper one.
var suggestedShares = []*big.Rat{big.NewRat(1, 200), big.NewRat(199, 200)}

// suggestionTables returns the tables of suggested bounds, with indices from a given one on: a table of one row for
// each column, with the values below and above which one row in 200 lies.
func suggestionTables(r *spec.Release, index int, leaf map[string]int) []*Table {
	var all []*Table
	for _, t := range r.Tables {
		for _, c := range t.Columns {
			if c.Suggest == "" {
				continue
			}
			m := &spec.Marginal{
				Name: "bounds", Table: t.Name, Leaf: c.Suggest, Weight: big.NewRat(1, 1),
				Stats: []spec.Stat{{Kind: spec.Quantiles, Name: c.Name, Column: c.Name, At: suggestedShares}},
			}
			one := &Table{Index: index + len(all), Path: "bounds/" + t.Name + "/" + c.Name, Marginal: m,
				Leaf:  leaf[c.Suggest],
				Cells: 1, Counted: statistic.RowsOf(t), Selection: selection.All{}, guessed: true}
			one.Weight = one.VarianceWeight()
			one.scaleWeight(t)
			all = append(all, one)
		}
	}
	return all
}
