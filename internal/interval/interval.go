// Package interval computes how certain a figure is that is made from the noisy integers of a published release: the
// law of its interval, its width and its confidence. Everything that answers a question or follows a figure uses it,
// so that equal sums have equal intervals. It reads no file.
package interval

import (
	"math"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// Law names the origin of an interval.
type Law string

const (
	// Exact is the law of one noisy integer, or of an unweighted sum; it attains exactly what it states.
	Exact Law = "exact"
	// Bounded is the law of a weighted sum of noisy integers; it attains at least what it states, and hardly more.
	Bounded Law = "bounded"
	// Score is the joint law of the noise and of a sample of the units ([synth.Sampling.Interval]); it attains about
	// what it states.
	Score Law = "score"
	// Reports is the law of counts of randomised reports ([synth.ReportSums]); it attains at least what it states, or
	// about that where devices answer in bands.
	Reports Law = "reports"
)

// Figure returns a sum of cells, rounded if it is a sum of whole numbers: the exact count may lie at the very end of
// its interval, and must not be lost to the rounding of combined cells.
func (l Law) Figure(sum float64) float64 {
	if l == Exact {
		return math.Round(sum)
	}
	return sum
}

// Interval is the margin of an interval, the law that it comes from and the probability that it attains.
type Interval struct {
	Law              Law
	Margin, Attained float64
}

// New returns the interval of a sum that rests on some measurements: the shortest one to which the law of the noise
// gives the confidence or, for one published figure, the published interval, which attains at least what all intervals
// of its table do. The unit is the value of one noisy integer.
func New(contributions []compiled.Contribution, confidence float64, figures synth.Statistic, cell int,
	unit float64) *Interval {
	if len(contributions) == 0 { // impossible cells only
		return &Interval{Exact, 0, 1}
	}
	noise := compiled.LawOf(contributions)
	out := &Interval{Law: Bounded}
	if noise.Whole() || noise.Deviation() == 0 {
		out.Law = Exact
	}
	if cell < 0 {
		out.Margin, out.Attained = noise.Margin(confidence)
		out.Margin *= unit
		return out
	}
	out.Margin = (figures.High.Value(cell) - figures.Low.Value(cell)) / 2
	out.Attained = math.Max(noise.Within(out.Law.Figure(out.Margin/unit)), figures.Attained)
	return out
}
