package synth

import (
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// Sampling is the error that a Poisson sample adds to its counts, which were divided by the sampling rate. nil adds
// none.
type Sampling struct {
	each float64 // number of rows that a counted row stands for
	// varianceRatio bounds the variance of a scaled count of n rows over n: rows·(1−q)/q, for at most that many rows
	// of a unit in one cell.
	varianceRatio float64
	z             float64 // quantile of a two-sided normal interval at the confidence
}

// measuresAll reports whether all units are measured.
func measuresAll(p *plan.Plan) bool { return !p.Sample.Partial() }

// NewSampling returns the sampling error of the cells of a table or, with sums, of sums of several cells; nil if all
// units are measured, or if an invariant decides the table.
func NewSampling(p *plan.Plan, t plan.Table, sums bool) *Sampling {
	if measuresAll(p) || isInvariant(t) {
		return nil
	}
	each, _ := p.Sample.RowWeight().Float64()
	return &Sampling{
		each: each, varianceRatio: float64(float64(compiled.RowsOfUnit(p, t, sums)) * (each - 1)),
		z: budget.NormalQuantile((1 + t.Statistics[0].Confidence) / 2),
	}
}

// continuity is the standard deviation of the noise, in rows of the sample, below which an interval is widened because
// the counts of the sample are whole.
const continuity = 3

// Interval returns the interval of a figure whose noise has this margin and standard error: of all counts N for which
// the figure is likely, those with (figure − N)² ≤ margin² + z²·varianceRatio·N (the score interval of Wilson 1927,
// with the quantile of the noise added to that of the sample). It is exact for neither law, and covers slightly more
// than the confidence if the sample's share of the error is normal.
func (s *Sampling) Interval(figure, margin, deviation float64) (low, high float64) {
	if s == nil {
		return figure - margin, figure + margin
	}
	half := float64(float64(float64(s.z*s.z)*s.varianceRatio) / 2)
	root := math.Sqrt(max(float64(margin*margin)+float64(2*half*figure)+float64(half*half), float64(margin*margin)))
	if deviation < float64(continuity*s.each) {
		root += float64(s.each / 2)
	}
	return figure + half - root, figure + half + root
}

// Error returns the standard error of a figure whose noise has this deviation, for a sample from as many rows as the
// figure says.
func (s *Sampling) Error(figure, deviation float64) float64 {
	if s == nil {
		return deviation
	}
	return math.Sqrt(float64(deviation*deviation) + float64(s.varianceRatio*max(figure, 0)))
}

// widenStatistic gives a statistic the errors and intervals of noise and sample together. Exact zeros keep theirs.
func (s *Sampling) widenStatistic(st *Statistic) {
	if s == nil {
		return
	}
	n := st.Unbiased.Len()
	errors, low, high := make([]float64, n), make([]float64, n), make([]float64, n)
	var squares, margin float64
	for i, v := range st.Unbiased.Float64Values() {
		if errors[i], low[i], high[i] = st.Error.Value(i), st.Low.Value(i),
			st.High.Value(i); st.Flags[i] == Impossible {
			continue
		}
		low[i], high[i] = s.Interval(v, (high[i]-low[i])/2, errors[i])
		errors[i] = s.Error(v, errors[i])
		squares += float64(errors[i] * errors[i])
		margin = max(margin, (high[i]-low[i])/2)
		if st.Flags[i] = Plain; low[i] <= 0 {
			st.Flags[i] = NoiseDominates
		}
	}
	st.Error, st.Low, st.High, st.Whole = float64Column(errors), float64Column(low), float64Column(high), false
	st.StandardError, st.Margin, st.Attained = math.Sqrt(squares/float64(max(n, 1))), margin, st.Confidence
}
