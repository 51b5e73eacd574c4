package plan

import (
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// New plans a release. It fails on a release that uses a part of the language
// that is not built, whose tables clash or are too large to count, or whose
// budget is too small for exact noise of a finite scale.
func New(r *spec.Release) (*Plan, error) {
	if len(r.Unbuilt) > 0 {
		return nil, fmt.Errorf("%s: %s is not supported by this version", r.Unbuilt[0].Path, r.Unbuilt[0].Feature)
	}
	tables, err := expand(r)
	if err != nil {
		return nil, err
	}
	p := &Plan{Format: Format, Name: r.Name, Title: r.About.Title, Source: r.Source, release: r}
	if p.Cost, err = cost(r.Budget); err != nil {
		return nil, err
	}
	leaves, err := allocate(r.Budget.Leaves, p.Cost, tables)
	if err != nil {
		return nil, err
	}
	for _, l := range leaves {
		p.Leaves = append(p.Leaves, l.Leaf)
	}
	for _, t := range tables {
		m, err := measure(r, t, leaves[t.leaf])
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.path, err)
		}
		p.Measurements = append(p.Measurements, m)
		p.Tables = append(p.Tables, publish(t, m))
		p.Size.Cells += t.cells
	}
	p.Size.Bytes = p.Size.Cells * BytesPerCell
	if p.Guarantee, err = guarantee(r, p); err != nil {
		return nil, err
	}
	p.Warnings = warnings(r, p)
	return p, nil
}

// measure is the direct strategy: the marginal itself, with the noise that its
// part of the budget buys.
func measure(r *spec.Release, t table, l leafBudget) (Measurement, error) {
	l1, l2 := sensitivity(r.Privacy.Neighbours, r.Table(t.marginal.Table).Unit.MaxRows, t.cells)
	m := Measurement{ID: t.path, Leaf: l.Path, Query: t.query(), Cells: t.cells}
	var err error
	if l.Amount.Epsilon != nil {
		m.Mechanism, err = budget.LaplaceFor(l1, l.each)
	} else {
		m.Mechanism, err = budget.GaussianFor(l1, l2, l.each)
	}
	return m, err
}
