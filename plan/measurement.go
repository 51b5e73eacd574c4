package plan

import (
	"encoding/json"
	"fmt"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// Basis says which matrix a factor of a query applies to its attribute.
type Basis string

const (
	// Identity keeps every category of the attribute's level apart: the n × n unit
	// matrix, so a query of identity factors is a marginal.
	Identity Basis = "identity"
	// Residual says how far each category of the level lies from the mean of its
	// group, the categories of a coarser level or all: c·(g·I − 11ᵀ) for a group of
	// g, with integers c that bring groups to nearly one scale ([residual.Column]).
	Residual Basis = "residual"
)

// Factor is one attribute's part of a [Query].
type Factor struct {
	Attribute string `json:"attribute"`       // column name
	Level     string `json:"level,omitempty"` // empty: the finest level
	Basis     Basis  `json:"basis"`
	// Within is the coarser level whose categories are the groups of a residual; empty:
	// all categories are one group.
	Within string `json:"within,omitempty"`
}

// String is the attribute as a spec writes it, such as "age.band".
func (f Factor) String() string {
	return spec.Attribute{Column: f.Attribute, Level: f.Level}.String()
}

// Query is an integer linear query on one table: the Kronecker product of its
// factors, in order, applied to the histogram of the table's rows. Attributes
// without a factor are summed out. Its answers are row-major over the factors:
// the last factor's categories change fastest.
type Query struct {
	Table   string   `json:"table"`
	Factors []Factor `json:"factors"`
}

// Measurement is a query with the exact noise that its answers get. Everything
// that is ever learned of a confidential table is a measurement.
type Measurement struct {
	ID    string `json:"id"`             // path of the table it was planned for, or of microdata and what they ask
	Leaf  string `json:"leaf,omitempty"` // budget leaf that pays
	Query Query  `json:"query"`
	Cells int64  `json:"cells"` // answers of the query
	// Impossible is how many of the answers are never measured: those that [Query.Impossible] marks, exact zeros.
	Impossible int64            `json:"impossible,omitempty"`
	Mechanism  budget.Mechanism `json:"mechanism"`
}

// Canonical is the definition from which the noise stream of the measurement is
// derived. It holds the ID, so that a question asked twice in one plan is
// answered with two independent draws.
func (m Measurement) Canonical() []byte {
	b, err := json.Marshal(struct {
		ID         string           `json:"id"`
		Query      Query            `json:"query"`
		Impossible int64            `json:"impossible,omitempty"`
		Mechanism  budget.Mechanism `json:"mechanism"`
	}{m.ID, m.Query, m.Impossible, m.Mechanism})
	if err != nil {
		panic("plan: a measurement always encodes: " + err.Error())
	}
	return b
}

// Residual gives the columns and axes of a query of residual factors, one of each
// per factor, for [residual.Exact]; false where a factor is none. It fails as
// Levels does, and on levels that do not lie within each other.
func (q Query) Residual(r *spec.Release) ([]*residual.Column, residual.Set, bool, error) {
	levels, err := q.Levels(r)
	if err != nil {
		return nil, nil, false, err
	}
	columns, axes := make([]*residual.Column, len(levels)), make(residual.Set, len(levels))
	for i, f := range q.Factors {
		switch {
		case f.Basis != Residual:
			return nil, nil, false, nil
		case f.Within == "":
			columns[i], axes[i] = residual.Flat(levels[i].Size()), residual.Axis{Column: i, Level: 1}
			continue
		}
		domain := r.Table(q.Table).Column(f.Attribute).Domain
		groups, ok := domain.Level(f.Within)
		if !ok {
			return nil, nil, false, fmt.Errorf("%s: the column has no level %q", f, f.Within)
		}
		parent, ok := nesting(domain.Size(), levels[i], groups)
		if !ok {
			return nil, nil, false, fmt.Errorf("%s does not lie within level %q", f, f.Within)
		}
		columns[i], axes[i] = residual.NewColumn(make([]int, groups.Size()), parent), residual.Axis{Column: i, Level: 2}
	}
	return columns, axes, len(levels) > 0, nil
}

// Levels finds the levels of a query's factors, in their order, among the
// columns of a release. It fails on a table, column or level that is not there.
func (q Query) Levels(r *spec.Release) ([]*spec.Level, error) {
	table := r.Table(q.Table)
	if table == nil {
		return nil, fmt.Errorf("there is no table %q", q.Table)
	}
	levels := make([]*spec.Level, len(q.Factors))
	for i, f := range q.Factors {
		column := table.Column(f.Attribute)
		if column == nil {
			return nil, fmt.Errorf("table %s has no column %q", q.Table, f.Attribute)
		}
		level, ok := column.Domain.Level(f.Level)
		if !ok {
			return nil, fmt.Errorf("%s: the column has no such level", f)
		}
		levels[i] = level
	}
	return levels, nil
}
