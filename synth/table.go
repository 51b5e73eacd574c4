package synth

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// Table is a published table: a row per combination of its keys' categories, in
// domain order, the last key's categories changing fastest.
type Table struct {
	Path       string
	Marginal   string
	Keys       []Key
	Statistics []Statistic
	Cells      int
}

// Key is an attribute of a table with its categories. Type is that of its column.
type Key struct {
	Attribute spec.Attribute
	Type      spec.Type
	Level     *spec.Level
}

// Statistic is one figure per cell. Arrays have one entry per cell.
type Statistic struct {
	Name          string
	Published     *array.Int64 // for reading: the estimate, with negative counts shown as zero
	Unbiased      *array.Int64 // for arithmetic: its mean over the noise is the exact value
	Low, High     *array.Int64 // interval around Unbiased; covers the exact value with probability Attained
	StandardError float64      // of Unbiased, from the law of the noise
	Margin        int64        // (High − Low) / 2
	Confidence    float64      // asked of the interval
	Attained      float64      // given by the law, at least Confidence
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
)

// Category is the category of a key in a row of the table.
func (t Table) Category(row, key int) spec.Category {
	stride := 1
	for _, later := range t.Keys[key+1:] {
		stride *= later.Level.Size()
	}
	level := t.Keys[key].Level
	return level.Categories[row/stride%level.Size()]
}

// Estimate derives every table of the plan from the sealed measurements. Each
// table is measured directly, so its unbiased estimate is the noisy count and
// its interval inverts the law of the noise that was drawn. It fails on a table
// whose measurement is missing.
func Estimate(s *measured.Sealed) ([]Table, error) {
	byID := make(map[string]measured.Measured, len(s.Measured))
	for _, m := range s.Measured {
		byID[m.Measurement.ID] = m
	}
	tables := make([]Table, 0, len(s.Plan.Tables))
	for _, t := range s.Plan.Tables {
		out := Table{Path: t.Path, Marginal: t.Marginal, Cells: int(t.Cells)}
		for _, st := range t.Statistics {
			m, ok := byID[st.Measurement]
			if !ok {
				return nil, fmt.Errorf("table %s: measurement %s is missing", t.Path, st.Measurement)
			}
			keys, err := keysOf(s.Plan.Release(), m.Measurement.Query)
			if err != nil {
				return nil, fmt.Errorf("table %s: %w", t.Path, err)
			}
			out.Keys = keys
			out.Statistics = append(out.Statistics, count(st, m))
		}
		tables = append(tables, out)
	}
	return tables, nil
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
			Type:      r.Table(q.Table).Column(f.Attribute).Type,
			Level:     levels[i],
		}
	}
	return keys, nil
}

// count is the statistic of a directly measured count.
func count(st plan.Statistic, m measured.Measured) Statistic {
	law := m.Measurement.Mechanism
	margin, attained := law.Margin(st.Confidence)
	noisy := m.Values.Int64Values()
	out := Statistic{
		Name: st.Name, StandardError: math.Sqrt(law.Variance()),
		Margin: margin, Confidence: st.Confidence, Attained: attained,
		Unbiased:  m.Values,
		Published: mapped(noisy, func(v int64) int64 { return max(v, 0) }),
		Low:       mapped(noisy, func(v int64) int64 { return v - margin }),
		High:      mapped(noisy, func(v int64) int64 { return v + margin }),
		Flags:     make([]Flag, len(noisy)),
	}
	for i, v := range noisy {
		if v <= margin && margin > 0 {
			out.Flags[i] = NoiseDominates
		}
	}
	return out
}

// mapped applies f to every value.
func mapped(values []int64, f func(int64) int64) *array.Int64 {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(len(values))
	for _, v := range values {
		b.UnsafeAppend(f(v))
	}
	return b.NewInt64Array()
}
