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
	b, err := newBlueprint(r, tables)
	if err != nil {
		return nil, err
	}
	if p.Cost, err = cost(r, b, tables, drafts); err != nil {
		return nil, err
	}
	if err := p.spend(b, tables, drafts); err != nil {
		return nil, err
	}
	p.Strategies = b.strategies(p.Leaves)
	for _, t := range tables {
		p.Tables = append(p.Tables, newTable(t))
	}
	if err := p.predict(); err != nil {
		return nil, err
	}
	p.assess()
	p.Size = size(tables, b, drafts)
	if p.Guarantee, err = guarantee(r, p); err != nil {
		return nil, err
	}
	p.Warnings = warnings(r, p)
	return p, nil
}

// size is what measuring takes.
func size(tables []table, b *blueprint, drafts []microdata) Size {
	var published, counted int64
	for _, t := range tables {
		published += t.cells
	}
	for _, p := range b.planned {
		counted += p.measurement.Cells
	}
	for _, d := range drafts {
		counted += d.cells
	}
	return Size{Cells: published, Bytes: counted * BytesPerCell}
}

// spend spends the plan's cost: its leaves, the measurements for the tables, and what microdata take: the measurements
// of their columns, behind those, and their rounds.
func (p *Plan) spend(b *blueprint, tables []table, drafts []microdata) error {
	r := p.release
	var err error
	if p.Leaves, err = allocate(r.Budget.Leaves, p.Cost, tables, drafts); err != nil {
		return err
	}
	for _, one := range b.planned {
		m, err := one.spend(p.Leaves[one.leaf].Amount)
		if err != nil {
			return fmt.Errorf("measurement %s: %w", one.measurement.ID, err)
		}
		p.Measurements = append(p.Measurements, m)
	}
	for _, d := range drafts {
		columns, s, err := d.spend(r, p.Leaves[d.leaf].Amount.Rho)
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

// noiseFor is the noise that a cost buys for a marginal of so many cells: discrete
// Laplace for an ε, discrete Gaussian for a ρ.
func noiseFor(r *spec.Release, table string, cells int64, cost budget.Cost) (budget.Mechanism, error) {
	l1, l2, worst := sensitivity(r.Privacy.Neighbours, r.Table(table).Unit.MaxRows, cells)
	var m budget.Mechanism
	var err error
	if cost.Epsilon != nil {
		m, err = budget.LaplaceFor(l1, cost.Epsilon)
	} else {
		m, err = budget.GaussianFor(l1, l2, cost.Rho)
	}
	m.Shifts = worst
	return m, err
}
