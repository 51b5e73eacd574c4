package plan

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds queries: what is counted, and of which rows.

// Query is an integer linear query on one table, the question that a measurement answers: the Kronecker product of
// its factors, in order, applied to what is counted of the table's rows. Attributes without a factor are summed out.
// Its answers are row-major over the factors: the last factor's categories change fastest.
type Query struct {
	Table   string
	Factors []Factor
	// Counted is what is counted in each cell.
	Counted counted.Counted
	// PerUnit bounds the rows of one unit in the query, in addition to the bound of its table; the zero value adds no
	// bound. Its groups are the cells of the query's factors of categories (identities): factors of ranges or residuals
	// do not divide them.
	PerUnit spec.PerUnit
}

// Residual returns the columns and axes of a query, one of each per factor, for [residual.Exact], and reports which
// factors are identities. If all are, the query is a marginal, and the columns are not made. It returns an error as
// Levels does, for levels that are not nested, and for invalid strategies of ranges.
func (q Query) Residual(r *spec.Release) (columns []*residual.Column, axes residual.Set, plain []bool, err error) {
	levels, err := q.Levels(r)
	if err != nil {
		return nil, nil, nil, err
	}
	plain = make([]bool, len(levels))
	for i, f := range q.Factors {
		plain[i] = f.Basis == Identity
	}
	if !slices.Contains(plain, false) {
		return nil, nil, plain, nil
	}
	columns, axes = make([]*residual.Column, len(levels)), make(residual.Set, len(levels))
	for i, f := range q.Factors {
		var parents [][]int
		if parents, err = q.parents(r, f, levels[i]); err != nil {
			return nil, nil, nil, err
		}
		switch f.Basis {
		case Identity, Residual:
			columns[i] = residual.NewColumn(parents...)
		case Ranges:
			var ranging residual.Ranging
			if ranging, err = f.Ranging(); err != nil {
				return nil, nil, nil, err
			}
			if columns[i], err = residual.NewRanged(ranging, parents...); err != nil {
				return nil, nil, nil, fmt.Errorf("%s: %w", f, err)
			}
		default:
			return nil, nil, nil, fmt.Errorf("%s: there is no basis %q", f, f.Basis)
		}
		axes[i] = residual.Axis{Column: i, Level: len(parents)}
	}
	return columns, axes, plain, nil
}

// parents returns the levels that a factor's column needs: its own, within the coarser one whose categories are its
// groups.
func (q Query) parents(r *spec.Release, f Factor, level *domain.Level) ([][]int, error) {
	if f.Within == "" {
		return [][]int{make([]int, level.Size())}, nil
	}
	of := r.Table(q.Table).Column(f.Attribute).Domain
	groups, ok := of.Level(f.Within)
	if !ok {
		return nil, fmt.Errorf("%s: the column has no level %q", f, f.Within)
	}
	parent, ok := attributes.Nesting(of.Size(), level, groups)
	if !ok {
		return nil, fmt.Errorf("%s does not lie within level %q", f, f.Within)
	}
	return [][]int{make([]int, groups.Size()), parent}, nil
}

// Levels returns the levels of a query's factors, in their order, among the columns of a release. It returns an error
// if a table, column or level does not exist.
func (q Query) Levels(r *spec.Release) ([]*domain.Level, error) {
	table := r.Table(q.Table)
	if table == nil {
		return nil, fmt.Errorf("there is no table %q", q.Table)
	}
	levels := make([]*domain.Level, len(q.Factors))
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

// MarginalOf returns the query of identity factors that counts rows.
func MarginalOf(table string, by []spec.Attribute) Query {
	q := Query{Table: table, Factors: make([]Factor, len(by)), Counted: counted.Rows{}}
	for i, a := range by {
		q.Factors[i] = Factor{Attribute: a.Column, Level: a.Level, Basis: Identity}
	}
	return q
}
