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
	drafts, err := expandSynthetic(r)
	if err != nil {
		return nil, err
	}
	p := &Plan{Format: Format, Name: r.Name, Title: r.About.Title, Corrects: r.Corrects, Resume: r.Privacy.Resume, Source: r.Source, release: r}
	if p.Cost, err = cost(r, tables, drafts); err != nil {
		return nil, err
	}
	if err := p.spend(tables, drafts); err != nil {
		return nil, err
	}
	for i, t := range tables {
		p.Tables = append(p.Tables, publish(t, p.Measurements[i]))
		p.Size.Cells += t.cells
	}
	counted := p.Size.Cells
	for _, d := range drafts {
		counted += d.cells
	}
	p.Size.Bytes = counted * BytesPerCell
	if p.Guarantee, err = guarantee(r, p); err != nil {
		return nil, err
	}
	p.Warnings = warnings(r, p)
	return p, nil
}

// spend spends the plan's cost: its leaves, a measurement for every table, and what microdata take: the measurements
// of their columns, behind those of the tables, and their rounds.
func (p *Plan) spend(tables []table, drafts []microdata) error {
	r := p.release
	budgets, err := allocate(r.Budget.Leaves, p.Cost, tables, drafts)
	if err != nil {
		return err
	}
	for _, l := range budgets {
		p.Leaves = append(p.Leaves, l.Leaf)
	}
	for _, t := range tables {
		m, err := measure(r, t, budgets[t.leaf])
		if err != nil {
			return fmt.Errorf("table %s: %w", t.path, err)
		}
		p.Measurements = append(p.Measurements, m)
	}
	for _, d := range drafts {
		columns, s, err := d.spend(r, budgets[d.leaf].Amount.Rho)
		if err != nil {
			return fmt.Errorf("microdata of %s: %w", d.asked.Table, err)
		}
		p.Measurements = append(p.Measurements, columns...)
		p.Synthetic = append(p.Synthetic, s)
	}
	return nil
}

// mechanisms are those of measurements, in their order.
func mechanisms(all []Measurement) []budget.Mechanism {
	steps := make([]budget.Mechanism, len(all))
	for i, m := range all {
		steps[i] = m.Mechanism
	}
	return steps
}

// measure is the direct strategy: the marginal itself, with the noise that its
// part of the budget buys.
func measure(r *spec.Release, t table, l leafBudget) (Measurement, error) {
	l1, l2, worst := sensitivity(r.Privacy.Neighbours, r.Table(t.marginal.Table).Unit.MaxRows, t.cells)
	m := Measurement{ID: t.path, Leaf: l.Path, Query: t.query(), Cells: t.cells}
	var err error
	if l.Amount.Epsilon != nil {
		m.Mechanism, err = budget.LaplaceFor(l1, l.each)
	} else {
		m.Mechanism, err = budget.GaussianFor(l1, l2, l.each)
	}
	m.Mechanism.Shifts = worst
	return m, err
}
