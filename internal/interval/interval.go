// Package interval says how sure a figure is that is worked out from the noisy integers of a published release: by
// which law its interval holds, how wide it is and what it attains. Whoever answers a question or follows a figure asks
// it, so that equal sums have equal intervals. It reads no file.
package interval

import (
	"math"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// Law names where an interval comes from.
type Law string

const (
	// Exact is the law of one noisy integer, or of a sum of several, each as it is; it attains what it says.
	Exact Law = "exact"
	// Bounded is the law of a weighted sum of noisy integers; it attains at least what it says, and hardly more.
	Bounded Law = "bounded"
	// Score is the law of noise and of a sample of the units together ([synth.Sampling.Interval]); it attains about what
	// it says.
	Score Law = "score"
)

// Figure is a sum of cells. One of whole numbers is whole: the exact count may lie at the very end of its interval, and
// must not be lost to the rounding of cells that were put together.
func (l Law) Figure(sum float64) float64 {
	if l == Exact {
		return math.Round(sum)
	}
	return sum
}

// Interval is half the width of an interval, with the law that it comes from and the probability that it attains.
type Interval struct {
	Law              Law
	Margin, Attained float64
}

// New returns the interval of a sum that rests on some measurements: the least one that the law of its noise gives
// the confidence or, of one published figure, the published one, which attains at least what all of its table do. unit
// is what one noisy integer stands for.
func New(bearings []compiled.Bearing, confidence float64, figures synth.Statistic, cell int,
	unit float64) *Interval {
	if len(bearings) == 0 { // of impossible cells alone
		return &Interval{Exact, 0, 1}
	}
	noise := compiled.LawOf(bearings)
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
