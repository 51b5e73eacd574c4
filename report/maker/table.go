package maker

// This file describes a published table, its noise and what that means for its figures, from the published arrays
// alone.

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// setPairMargin sets for a count the smallest difference of two published cells that exceeds noise.
//
// A published count is its estimate with 0 in place of a negative value, which increases no difference, and rounded,
// which increases a difference by less than 1 if estimates are not whole. So if m is the margin of the difference,
// rounded up, published counts that differ by m+1 have estimates that differ by more than m.
func setPairMargin(s *report.Statistic, a compiled.DifferenceBound, cells int64) {
	if cells > 1 && a.Margin < 1<<62 {
		s.CellsDifferFrom, s.CellsDifferBound = describe.WholeMargin(a.Margin)+1, !a.Exact
	}
}

// tablesOf describes every published table, in the plan's order.
func tablesOf(p *plan.Plan, from sources, tables []synth.Table) ([]report.Table, error) {
	if len(tables) != len(p.Tables) || len(tables)+len(p.Synthetic)+len(p.Models) == 0 {
		return nil, fmt.Errorf("%d tables are published, the plan has %d", len(tables), len(p.Tables))
	}
	leaves := map[string]string{}
	for _, s := range p.Strategies {
		for _, path := range s.Tables {
			leaves[path] = s.Leaf
		}
	}
	out := make([]report.Table, len(tables))
	for i, t := range tables {
		var err error
		if out[i], err = tableOf(p, p.Tables[i], t); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Path, err)
		}
		out[i].Leaf = leaves[t.Path]
		for k := range out[i].Statistics {
			s, b := &out[i].Statistics[k], from.byTable[i]
			s.Measurements, s.SumOf, s.Noise = b.measurements, b.sumOf, b.noise
			if k == 0 && from.margins != nil {
				setPairMargin(s, from.margins[i], out[i].Cells-out[i].Impossible)
			}
		}
	}
	return out, nil
}

func tableOf(p *plan.Plan, planned plan.Table, t synth.Table) (report.Table, error) {
	cells, impossible := planned.Cells, planned.Impossible
	// the cells that the table shows, none of which is impossible
	if planned.SomeCells() {
		cells, impossible = int64(len(t.CellIndices)), 0
	}
	if t.Path != planned.Path || int64(t.Cells) != cells || len(t.Statistics) != len(planned.Statistics) {
		return report.Table{}, fmt.Errorf("it is not the plan's table %s", planned.Path)
	}
	out := report.Table{
		Path: t.Path, Marginal: planned.Marginal, By: append([]string{}, planned.By...), Cells: cells,
		Impossible: impossible,
		Title:      describe.TableTitle(p.Release(), planned), Target: planned.Target,
		Expectation: describe.ExpectationOf(languageOf(p), p, planned) + sumsOfWeights(languageOf(p), planned),
		Statistics:  make([]report.Statistic, len(t.Statistics)),
	}
	selectionsByKind[planned.Selects()].addFacts(p, planned, t, &out)
	out.Counts, out.Weighted = planned.Counts.In(languageOf(p)), planned.Weighted
	out.Show, out.Invariant = planned.Show, planned.Invariant
	out.Aside = !slices.ContainsFunc(p.Release().Marginals,
		func(m spec.Marginal) bool { return m.Name == planned.Marginal })
	if titles := p.Release().Words.OfTable(planned.From).TitlesOf(planned.By); !slices.Equal(titles, planned.By) {
		out.ByTitles = titles
	}
	out.Cumulative, out.Ranges = p.SummedAlong(planned)
	if u := planned.Usefulness; u != nil {
		out.Band, out.AverageCell = string(u.Band), u.AverageCell
	}
	for i, s := range t.Statistics {
		asked := planned.Statistics[i]
		m, alone := p.Measurement(asked.Measurement)
		if !isMeasured(p, asked, s) {
			return report.Table{}, fmt.Errorf("statistic %s: the plan does not measure it", s.Name)
		}
		one, err := statisticOf(s, t.Cells, impossible)
		if err != nil {
			return report.Table{}, fmt.Errorf("statistic %s: %w", s.Name, err)
		}
		if err := checkPublicFlags(planned, s); err != nil {
			return report.Table{}, fmt.Errorf("statistic %s: %w", s.Name, err)
		}
		if out.Cumulative != nil {
			one.TotalPublished, one.TotalUnbiased = "", ""
		}
		if asked.Uneven > 0 && s.Error.Len() > 0 {
			one.Largest = slices.Max(s.Error.Float64Values())
		}
		if alone {
			mechanism := mechanismOf(m.Mechanism)
			loss, part, err := spentOn([]plan.Measurement{m}, p.Spent())
			if err != nil {
				return report.Table{}, fmt.Errorf("statistic %s: %w", s.Name, err)
			}
			one.Mechanism, one.Loss, one.PartOfBudget = &mechanism, &loss, part
		}
		one.Fit = fitOfCounts(p, s)
		one.Verdict = verdictOf(p, planned, out, one, s.Unbiased.Float64Values())
		one.Of, one.Unit = describe.Counted(languageOf(p), planned, p.Guarantee.Protects), asked.Unit
		out.Statistics[i] = one
	}
	var err error
	out.Figures, out.Parts, err = figuresOf(p, planned, t)
	return out, err
}

// statisticOf describes the figures of a table, without their cost.
func statisticOf(s synth.Statistic, cells int, impossible int64) (report.Statistic, error) {
	if err := checkStatistic(s, cells); err != nil {
		return report.Statistic{}, err
	}
	published, unbiased := s.Published.Int64Values(), s.Unbiased.Float64Values()
	margin := func(int) float64 { return s.Margin }
	if !s.Whole { // each cell has its own margin
		low, high := s.Low.Float64Values(), s.High.Float64Values()
		margin = func(i int) float64 { return (high[i] - low[i]) / 2 }
		if s.Skewed {
			margin = func(i int) float64 {
				v := float64(published[i])
				return math.Max(high[i]-v, v-low[i])
			}
		}
	}
	out := report.Statistic{
		Name:          s.Name,
		StandardError: s.StandardError, Margin: s.Margin, Confidence: s.Confidence, Attained: s.Attained,
		TotalPublished: sumIntegers(published), TotalUnbiased: sumFloats(unbiased, s.Whole),
		Relative: relativeMargin(margin, published),
	}
	possible := int64(cells)
	for i, v := range unbiased {
		if s.Flags[i] == synth.Impossible {
			possible--
		}
		if v < 0 {
			out.ShownAsZero++
		}
		if s.Flags[i] == synth.NoiseDominates {
			out.NoiseCells++
		}
	}
	if int64(cells)-possible != impossible {
		return report.Statistic{}, fmt.Errorf("the plan has %d impossible cells", impossible)
	}
	out.NoiseShare = report.Ratio(out.NoiseCells, possible)
	return out, nil
}

// checkStatistic returns an error if arrays are not a column of the table, or if errors are impossible for any noise
// distribution.
func checkStatistic(s synth.Statistic, cells int) error {
	if s.Published == nil || s.Published.Len() != cells || len(s.Flags) != cells {
		return fmt.Errorf("its columns do not all have %d cells", cells)
	}
	for _, column := range []*array.Float64{s.Unbiased, s.Low, s.High, s.Error} {
		if column == nil || column.Len() != cells {
			return fmt.Errorf("its columns do not all have %d cells", cells)
		}
		for _, v := range column.Float64Values() {
			if !isFinite(v) {
				return fmt.Errorf("its figures, errors and intervals must be finite")
			}
		}
	}
	for _, v := range []float64{s.StandardError, s.Margin, s.Confidence, s.Attained} {
		if !isFinite(v) || v < 0 {
			return fmt.Errorf("its standard error, margin, confidence and attained level must be finite and not negative")
		}
	}
	return nil
}

// sumIntegers adds up without overflow.
func sumIntegers(values []int64) json.Number {
	var high, low int64 // of 2^32 and of 1
	for _, v := range values {
		high += v >> 32
		low += v & (1<<32 - 1)
	}
	sum := new(big.Int).Lsh(big.NewInt(high), 32)
	return json.Number(sum.Add(sum, big.NewInt(low)).String())
}

// exactBits is a precision that holds the sum of up to 2^60 float64 values without rounding: their bits lie between
// 2^-1074 and 2^1024.
const exactBits = 1024 + 1074 + 60

// sumFloats adds up exactly. A sum of whole numbers is written in full; any other as the nearest float64, in the fewest
// digits that read back the same.
func sumFloats(values []float64, whole bool) json.Number {
	sum, term := new(big.Float).SetPrec(exactBits), new(big.Float)
	small := int64(0) // the sum of whole numbers below 2^52, while it is below 2^62
	for _, v := range values {
		if math.Abs(v) < 1<<52 && v == math.Trunc(v) {
			small += int64(v)
		} else {
			sum.Add(sum, term.SetFloat64(v))
		}
		if small >= 1<<62 || small <= -1<<62 {
			sum.Add(sum, new(big.Float).SetInt64(small))
			small = 0
		}
	}
	sum.Add(sum, new(big.Float).SetInt64(small))
	if whole {
		return json.Number(sum.Text('f', 0))
	}
	nearest, _ := sum.Float64()
	return json.Number(strconv.FormatFloat(nearest, 'f', -1, 64))
}
