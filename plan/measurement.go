package plan

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds measurements: a query, and the mechanism that answers it.

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
	// Ranges is n−1 integers of the n categories of the level, from which, with the total,
	// prefix sums and ranges have the least error ([residual.NewRanged]).
	Ranges Basis = "ranges"
	// Merged adds the categories of the level that are in one class. It stands only in what rounds of microdata measure
	// ([Plan.Answer]).
	Merged Basis = "merged"
)

// Factor is one attribute's part of a [Query].
type Factor struct {
	Attribute string `json:"attribute"`       // column name
	Level     string `json:"level,omitempty"` // empty: the finest level
	Basis     Basis  `json:"basis"`
	// Within is the coarser level whose categories are the groups of a residual; empty:
	// all categories are one group.
	Within string `json:"within,omitempty"`
	// Sums is what a factor of ranges is the best for: "prefixes", or "ranges". Method
	// is how its integers are found ([residual.Method]), and Kappa, an exact decimal, how
	// much of an optimal one leaves to the total. Bits is of what size the integers are,
	// where there are too many columns for the usual one.
	Sums   string `json:"sums,omitempty"`
	Method string `json:"method,omitempty"`
	Kappa  string `json:"kappa,omitempty"`
	Bits   int    `json:"bits,omitempty"`
	// Classes is the class of each category of a merged factor, in order: numbers from 0, with blanks between them.
	Classes string `json:"classes,omitempty"`
}

// String is the attribute as a spec writes it, such as "age.band".
func (f Factor) String() string {
	return spec.Attribute{Column: f.Attribute, Level: f.Level}.String()
}

// Names of what a factor of ranges is the best for.
const (
	prefixSums = "prefixes"
	allRanges  = "ranges"
)

// Ranged is a factor of ranges with this strategy.
func (f Factor) Ranged(r residual.Ranging) Factor {
	f.Basis, f.Within, f.Sums, f.Method, f.Kappa, f.Bits = Ranges, "", prefixSums, string(r.Method), "", r.Bits
	if r.Sums == residual.Ranges {
		f.Sums = allRanges
	}
	if r.Method == residual.Optimal {
		f.Kappa = strconv.FormatFloat(math.Abs(r.Kappa), 'f', -1, 64)
	}
	return f
}

// Ranging is the strategy of a factor of ranges. It fails where one was not written by ranged.
func (f Factor) Ranging() (residual.Ranging, error) {
	r := residual.Ranging{Sums: residual.Prefixes, Method: residual.Method(f.Method), Bits: f.Bits}
	if f.Sums == allRanges {
		r.Sums = residual.Ranges
	}
	if f.Kappa != "" {
		kappa, err := strconv.ParseFloat(f.Kappa, 64)
		if err != nil {
			return r, fmt.Errorf("%s: κ is not a number: %q", f, f.Kappa)
		}
		r.Kappa = kappa
	}
	if again := f.Ranged(r); again != f {
		return r, fmt.Errorf("%s: there are no such sums, method or κ: %q, %q, %q", f, f.Sums, f.Method, f.Kappa)
	}
	return r, nil
}

// Query is an integer linear query on one table: the Kronecker product of its
// factors, in order, applied to the histogram of the table's rows. Attributes
// without a factor are summed out. Its answers are row-major over the factors:
// the last factor's categories change fastest.
type Query struct {
	Table   string   `json:"table"`
	Factors []Factor `json:"factors"`
	// Value is what a row adds to its cell; nil: 1.
	Value *Value `json:"value,omitempty"`
	// Quantile is set where values are drawn and not integers added up.
	Quantile *Quantile `json:"quantile,omitempty"`
	// Distribution is set where rows are counted by bins of a column as well.
	Distribution *Distribution `json:"distribution,omitempty"`
	// Distinct is set where values are counted and not rows.
	Distinct *Distinct `json:"distinct,omitempty"`
	// Diagnostic is set where it is counted what is left out.
	Diagnostic Diagnostic `json:"diagnostic,omitempty"`
	// PerUnit bounds the rows that one unit has in the query, beside the bound of its table; nil: by that alone. Its groups are
	// the cells of the query's factors of categories (identities): those of ranges or residuals do not part them.
	PerUnit *spec.PerUnit `json:"per_unit,omitempty"`
}

// Measurement is a query with the exact noise that its answers get. Everything
// that is ever learned of a confidential table is a measurement.
type Measurement struct {
	ID    string `json:"id"`             // path of the table it was planned for, or of microdata and what they ask
	Leaf  string `json:"leaf,omitempty"` // budget leaf that pays
	Query Query  `json:"query"`
	Cells int64  `json:"cells"` // answers of the query
	// Impossible is how many of the answers are never measured: those that [Query.Impossible] marks, exact zeros.
	Impossible int64 `json:"impossible,omitempty"`
	// Above is the threshold of a sparse measurement: of all its answers those are kept whose noisy integer is larger. 0:
	// all are kept.
	Above     int64            `json:"above,omitempty"`
	Mechanism budget.Mechanism `json:"mechanism"`
	// Discovery selects the groups that are measured, where they are not listed; Cells is 0 then.
	Discovery *Discovery `json:"discovery,omitempty"`
	// Top is set where of all cells some are chosen: the answers are then the noisy integers of these, and where they are, in
	// the order of their choice.
	Top *Choices `json:"top,omitempty"`
}

// Canonical is the definition from which the noise stream of the measurement is
// derived. It holds the ID, so that a question asked twice in one plan is
// answered with two independent draws.
func (m Measurement) Canonical() []byte {
	b, err := json.Marshal(struct {
		ID         string           `json:"id"`
		Query      Query            `json:"query"`
		Impossible int64            `json:"impossible,omitempty"`
		Above      int64            `json:"above,omitempty"`
		Mechanism  budget.Mechanism `json:"mechanism"`
		Discovery  *Discovery       `json:"discovery,omitempty"`
		Top        *Choices         `json:"top,omitempty"`
	}{m.ID, m.Query, m.Impossible, m.Above, m.Mechanism, m.Discovery, m.Top})
	if err != nil {
		panic("plan: a measurement always encodes: " + err.Error())
	}
	return b
}

// Residual gives the columns and axes of a query, one of each per factor, for
// [residual.Exact], and says which factors are identities; all are those of a
// marginal, whose columns are not made. It fails as Levels does, on levels that do not
// lie within each other, and on strategies of ranges that there are not.
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

// parents are the levels that a factor's column needs: its own, within the coarser one whose categories are its groups.
func (q Query) parents(r *spec.Release, f Factor, level *spec.Level) ([][]int, error) {
	if f.Within == "" {
		return [][]int{make([]int, level.Size())}, nil
	}
	domain := r.Table(q.Table).Column(f.Attribute).Domain
	groups, ok := domain.Level(f.Within)
	if !ok {
		return nil, fmt.Errorf("%s: the column has no level %q", f, f.Within)
	}
	parent, ok := Nesting(domain.Size(), level, groups)
	if !ok {
		return nil, fmt.Errorf("%s does not lie within level %q", f, f.Within)
	}
	return [][]int{make([]int, groups.Size()), parent}, nil
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

// TableMeasurements are the measurements for tables: all but those of microdata.
func (p *Plan) TableMeasurements() []Measurement {
	n := len(p.Measurements)
	for _, s := range p.Synthetic {
		n -= s.Measured()
	}
	return p.Measurements[:n]
}

// Measured are the plan's measurements by their IDs.
func (p *Plan) Measured() map[string]Measurement {
	all := make(map[string]Measurement, len(p.Measurements))
	for _, m := range p.Measurements {
		all[m.ID] = m
	}
	return all
}

// Mechanisms are those of measurements, in their order.
func Mechanisms(all []Measurement) []budget.Mechanism {
	steps := make([]budget.Mechanism, 0, len(all))
	for _, m := range all {
		if steps = append(steps, m.Mechanism); m.Discovery != nil {
			steps = append(steps, m.Discovery.StepsOf(1)...)
		}
		if m.Top != nil {
			steps = append(steps, m.Top.Steps()...)
		}
	}
	return steps
}
