package derive

// This file holds regressions that are made of the tables of a release: the tables of all pairs of their columns.

import (
	"context"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/synth"
	"github.com/dprelease/dprelease/synth/model"
)

// publishFromTables returns the published form of a regression that is made of tables.
func publishFromTables(ctx context.Context, s *measured.Sealed, m plan.Model) (*model.Regression, error) {
	d, err := s.Plan.Plan().Design(m)
	if err != nil {
		return nil, err
	}
	if pairs := len(m.Columns()) * (len(m.Columns()) - 1) / 2; len(m.From) != pairs {
		return nil, fmt.Errorf("it names %d tables, and there are %d pairs of its columns", len(m.From), pairs)
	}
	reader, err := synth.NewReader(s.Plan)
	if err != nil {
		return nil, err
	}
	var tables []model.RegressionTable
	for a := range m.Columns() {
		for b := a + 1; b < len(m.Columns()); b++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			p := pair{Reader: reader, table: slices.IndexFunc(s.Plan.Tables, func(t plan.Table) bool {
				return t.Path == m.From[len(tables)]
			})}
			if p.table < 0 {
				return nil, fmt.Errorf("the release has no table %s", m.From[len(tables)])
			}
			if err := p.find(s.Plan.Plan(), m.Columns()[a], m.Columns()[b]); err != nil {
				return nil, err
			}
			counts, err := p.counts(s.Measured)
			if err != nil {
				return nil, err
			}
			tables = append(tables, model.RegressionTable{First: a, Second: b, Counts: counts, Noise: p.noise})
		}
	}
	moments, err := model.RegressionMomentsOfTables(ctx, d, tables)
	if err != nil {
		return nil, err
	}
	return regressionOf(s.Plan, m, moments)
}

// pair is two columns of a regression in a table, which may have them at finer levels, and other columns too.
type pair struct {
	*synth.Reader
	table  int
	levels []*domain.Level // of the table's keys
	key    [2]int          // that decides each column
	codes  [2][]int        // of each category of that key, the column's
	sizes  [2]int          // of the columns
}

// find finds the columns among the keys of the table.
func (p *pair) find(of *plan.Plan, first, second plan.Factor) (err error) {
	q := of.Query(of.Tables[p.table])
	if p.levels, err = q.Levels(of.Release()); err != nil {
		return err
	}
	columns, err := plan.Query{Table: q.Table, Factors: []plan.Factor{first, second}}.Levels(of.Release())
	if err != nil {
		return err
	}
	var keys []spec.Attribute
	for _, f := range q.Factors {
		keys = append(keys, spec.Attribute{Column: f.Attribute, Level: f.Level})
	}
	for i, f := range []plan.Factor{first, second} {
		p.key[i], p.codes[i], _ = attributes.Deciding(of.Release().Table(q.Table), keys,
			spec.Attribute{Column: f.Attribute, Level: f.Level})
		p.sizes[i] = columns[i].Size()
	}
	return nil
}

// counts returns the unbiased estimates of the rows by both columns, row-major.
func (p *pair) counts(answers []measured.Measured) ([]float64, error) {
	cells, err := p.Cells(p.table, answers)
	if err != nil {
		return nil, err
	}
	groupings := make([]synth.Grouping, len(p.levels))
	for i, l := range p.levels { // everything added up, but for the two columns
		groupings[i] = synth.Grouping{RowOf: make([]int, l.Size()), Rows: 1}
	}
	for i, key := range p.key {
		groupings[key] = synth.Grouping{RowOf: p.codes[i], Rows: p.sizes[i]}
	}
	sums := synth.Sums(cells, groupings)
	if p.key[0] < p.key[1] {
		return sums, nil
	}
	out := make([]float64, 0, len(sums))
	for a := range p.sizes[0] {
		for b := range p.sizes[1] {
			out = append(out, sums[b*p.sizes[0]+a])
		}
	}
	return out, nil
}

// noise visits the noise of the sum Σ x_k·y_l·(count of codes k and l).
func (p *pair) noise(x, y []float64, visit func(source string, variance float64, weights []float64)) {
	q := make([][]float64, len(p.levels))
	for i, l := range p.levels {
		q[i] = slices.Repeat([]float64{1}, l.Size())
	}
	for i, values := range [][]float64{x, y} {
		for c, code := range p.codes[i] {
			q[p.key[i]][c] = values[code]
		}
	}
	p.VisitNoise(p.table, q, visit)
}
