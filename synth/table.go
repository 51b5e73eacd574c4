package synth

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// Table is a published table: a row per combination of its keys' categories, in
// domain order, the last key's categories changing fastest; of a sparse table a row for
// each cell that is above its threshold.
type Table struct {
	Path       string
	Marginal   string
	Keys       []Key
	Statistics []Statistic
	Numbers    []Number // beside counts, in the plan's order
	Cells      int
	// Places are, of a sparse table, the places in domain order of the cells that have a row, ascending, and of one of
	// chosen cells of these, in the order of their choice; nil where all have.
	Places []uint64
}

// Key is an attribute of a table with its categories. Type is that of its column.
type Key struct {
	Attribute spec.Attribute
	Type      spec.Type
	Level     *spec.Level
}

// Statistic is one figure per cell. Arrays have one entry per cell.
type Statistic struct {
	Name      string
	Published *array.Int64 // for reading: the estimate, rounded, with negative counts shown as zero; or [Consistent]
	// Unbiased is for arithmetic: its mean over the noise is the exact value. Low and
	// High are an interval around it, which covers the exact value with probability
	// Attained.
	Unbiased, Low, High *array.Float64
	Error               *array.Float64 // standard errors of Unbiased, from the law of the noise
	// Whole is true where Unbiased, Low and High are whole numbers: the figure is one
	// measurement, as it was drawn.
	Whole         bool
	Fitted        bool    // Published is by [Consistent]
	Tabulated     bool    // and counts rows of microdata
	StandardError float64 // root mean square of Error
	Margin        float64 // (High − Low) / 2, of the widest
	Confidence    float64 // asked of the interval
	Attained      float64 // given by the law, at least Confidence
	Flags         []Flag
}

// Flag says what a reader should know of one cell.
type Flag string

const (
	// Plain is a cell with nothing to add.
	Plain Flag = ""
	// NoiseDominates marks a cell whose interval reaches zero: it cannot be
	// told from an empty one.
	NoiseDominates Flag = "noise_dominates"
	// Impossible marks a cell that the spec says no row falls into: its zero is
	// exact, and was not measured.
	Impossible Flag = "impossible"
)

// Category is the category of a key in a row of the table.
func (t Table) Category(row, key int) spec.Category {
	return t.Keys[key].Level.Categories[t.CategoriesOf(key)(row)]
}

// CategoriesOf says of a key which category a row has, a place among those of its level.
func (t Table) CategoriesOf(key int) func(row int) int {
	size, stride := uint64(t.Keys[key].Level.Size()), uint64(1)
	for _, later := range t.Keys[key+1:] {
		stride *= uint64(later.Level.Size())
	}
	if t.Places == nil {
		return func(row int) int { return int(uint64(row) / stride % size) }
	}
	return func(row int) int { return int(t.Places[row] / stride % size) }
}

// Number is a figure beside the count, of every cell.
type Number struct {
	plan.Figure
	FigureColumns
}

// Estimate derives every table of the plan from the sealed measurements: a table
// that is one measurement is its noisy counts, with an interval that inverts the law
// of the noise; the others are put together by generalised least squares; what an invariant decides are its figures. It fails
// where a measurement is missing.
func Estimate(s *measured.Sealed) ([]Table, error) {
	byID := make(map[string]measured.Measured, len(s.Measured))
	for _, m := range s.Measured {
		byID[m.Measurement.ID] = m
	}
	tables := make([]Table, len(s.Plan.Tables))
	for i, t := range s.Plan.Tables {
		keys, err := keysOf(s.Plan.Release(), s.Plan.Shown(t))
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Path, err)
		}
		tables[i] = Table{Path: t.Path, Marginal: t.Marginal, Keys: keys, Cells: int(t.Cells)}
		st := t.Statistics[0]
		if st.Measurement == "" {
			continue
		}
		m, ok := byID[st.Measurement]
		if !ok {
			return nil, fmt.Errorf("table %s: measurement %s is missing", t.Path, st.Measurement)
		}
		impossible, err := impossibleOf(s.Plan.Release(), m)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Path, err)
		}
		if t.Discovered != nil {
			if err := discover(s.Plan.Release(), t, &tables[i], m); err != nil {
				return nil, fmt.Errorf("table %s: %w", t.Path, err)
			}
		}
		if t.Sparse != nil {
			tables[i].Cells, tables[i].Places = len(m.Cells), m.Cells
		}
		if t.Top != nil {
			if err := tables[i].choose(m); err != nil {
				return nil, fmt.Errorf("table %s: %w", t.Path, err)
			}
		}
		tables[i].Statistics = []Statistic{alone(st, m, impossible)}
		NewSampling(s.Plan, t, false).widen(&tables[i].Statistics[0])
		if err := number(&tables[i], s.Plan, i, byID, nil, 0); err != nil {
			return nil, err
		}
	}
	estimates, err := s.Plan.Estimates()
	if err != nil {
		return nil, err
	}
	for _, e := range estimates {
		r, err := newReconstruction(e, byID)
		if err != nil {
			return nil, err
		}
		for marginal, at := range e.Tables {
			if tables[at].Statistics == nil {
				tables[at].Statistics = []Statistic{r.statistic(marginal, s.Plan.Tables[at].Statistics[0])}
				NewSampling(s.Plan, s.Plan.Tables[at], false).widen(&tables[at].Statistics[0])
				if err := number(&tables[at], s.Plan, at, byID, &e, marginal); err != nil {
					return nil, err
				}
			}
		}
	}
	return tables, hold(s.Plan, tables)
}

// number adds the figures of a table beside its count.
func number(t *Table, p *plan.Plan, at int, byID map[string]measured.Measured, e *plan.Estimate, marginal int) error {
	planned := p.Tables[at]
	if len(planned.Figures) == 0 {
		return nil
	}
	var err error
	if t.Numbers, err = newNumbers(p.Release(), planned, *t, byID, e, marginal).all(); err != nil {
		return fmt.Errorf("table %s: %w", t.Path, err)
	}
	return nil
}

// unitOf is what one integer of a statistic's measurement stands for.
func unitOf(st plan.Statistic) float64 {
	if st.Unit == "" {
		return 1
	}
	unit, err := budget.ParseRat(st.Unit)
	if err != nil {
		panic("synth: a plan that was made has units that are numbers: " + err.Error())
	}
	f, _ := unit.Float64()
	return f
}

// keysOf finds the categories of a query's factors.
func keysOf(r *spec.Release, q plan.Query) ([]Key, error) {
	levels, err := q.Levels(r)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(levels))
	for i, f := range q.Factors {
		keys[i] = Key{
			Attribute: spec.Attribute{Column: f.Attribute, Level: f.Level},
			Type:      r.Table(q.Table).Column(f.Attribute).KeyType(),
			Level:     levels[i],
		}
	}
	return keys, nil
}

// alone is the statistic of a count that is one measurement. Its impossible cells are exact zeros.
func alone(st plan.Statistic, m measured.Measured, impossible []bool) Statistic {
	law, unit := m.Measurement.Mechanism, unitOf(st)
	whole, attained := law.Margin(st.Confidence)
	margin, deviation := float64(unit*float64(whole)), float64(unit*math.Sqrt(law.Variance()))
	cells := make([]float64, m.Values.Len())
	errors := make([]float64, len(cells))
	for i, v := range m.Values.Int64Values() {
		if impossible == nil || !impossible[i] {
			cells[i], errors[i] = float64(unit*float64(v)), deviation
		}
	}
	out := newStatistic(st.Name, cells, errors, func(i int) float64 {
		if impossible != nil && impossible[i] {
			return 0
		}
		return margin
	})
	for i := range impossible {
		if impossible[i] {
			out.Flags[i] = Impossible
		}
	}
	out.Whole, out.StandardError, out.Margin = unit == math.Floor(unit), deviation, margin
	out.Confidence, out.Attained = st.Confidence, attained
	return out
}

// newStatistic makes the columns of a statistic of its unbiased estimates, their
// standard errors and margins. The estimates and errors are its own from then on.
func newStatistic(name string, cells, errors []float64, margin func(i int) float64) Statistic {
	out := Statistic{Name: name, Flags: make([]Flag, len(cells)), Unbiased: decimals(cells), Error: decimals(errors)}
	published, low, high := make([]int64, len(cells)), make([]float64, len(cells)), make([]float64, len(cells))
	for i, v := range cells {
		m := margin(i)
		published[i] = int64(math.Floor(max(v, 0) + 0.5))
		low[i], high[i] = v-m, v+m
		if v <= m && m > 0 {
			out.Flags[i] = NoiseDominates
		}
	}
	out.Low, out.High = decimals(low), decimals(high)
	data := columnOf(arrow.PrimitiveTypes.Int64, len(published), arrow.Int64Traits.CastToBytes(published))
	defer data.Release()
	out.Published = array.NewInt64Data(data)
	return out
}

// decimals are these very values, not a copy.
func decimals(values []float64) *array.Float64 {
	data := columnOf(arrow.PrimitiveTypes.Float64, len(values), arrow.Float64Traits.CastToBytes(values))
	defer data.Release()
	return array.NewFloat64Data(data)
}

func columnOf(of arrow.DataType, n int, values []byte) *array.Data {
	return array.NewData(of, n, []*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0, 0)
}
