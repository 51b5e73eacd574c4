package release

import (
	"math"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the laws that an audit expects: of the statistic by which two
// neighbouring inputs are told apart, worked out from the definition of the noise.

// statistic tells neighbouring inputs apart by the cells that the worst unit
// touches: one cell in each marginal, or, where one unit replaces another, two.
// It grows with the likelihood ratio where all cells have noise of one law: the
// sum of scores, x clamped to [0, k] for discrete Laplace noise, where
// (|x| − |x−k|)/t is 2·clamp(x)/t less a constant, and x itself for discrete
// Gaussian noise, where (x² − (x−k)²)/2σ² is k·x/σ² less a constant, and for one
// cell with Skellam noise, whose law is log-concave; the scores of the cell that
// is left under replace count negative.
type scoring struct {
	kind       budget.Kind
	neighbours spec.Neighbours
	rows       int // k
	marginals  int
}

// of is the statistic of a trial: of a block, or of a pair of blocks, given the
// noisy counts of each block's own cell in each marginal.
func (s scoring) of(noisy [][]int64, trial int) int {
	sum := 0
	for _, counts := range noisy {
		if s.neighbours == spec.Replace {
			sum += s.score(counts[2*trial]) - s.score(counts[2*trial+1])
		} else {
			sum += s.score(counts[trial])
		}
	}
	return sum
}

func (s scoring) score(x int64) int {
	if s.kind == budget.DiscreteLaplace {
		x = min(max(x, 0), int64(s.rows))
	}
	return int(x)
}

// laws are the laws of the statistic on the two neighbouring inputs where the
// noise is that of m and the worst unit has as many counted rows.
func (s scoring) laws(m budget.Mechanism, rows int) (present, absent releasetest.Law) {
	noise := onceLaw(m)
	with, without := s.scored(noise.Shifted(rows)), s.scored(noise)
	if s.neighbours == spec.Replace {
		with, without = with.Plus(without.Negated()), without.Plus(with.Negated())
	}
	present, absent = releasetest.Law{P: []float64{1}}, releasetest.Law{P: []float64{1}}
	for range s.marginals {
		present, absent = present.Plus(with), absent.Plus(without)
	}
	return present, absent
}

// onceLaw is the law of the noise on one cell, drawn at once.
func onceLaw(m budget.Mechanism) releasetest.Law {
	if m.Kind == budget.Skellam {
		return dividedNoise{m.Kind, m.Parameter}.law(1, 1)
	}
	return releasetest.NoiseLaw(m)
}

func (s scoring) scored(l releasetest.Law) releasetest.Law {
	if s.kind == budget.DiscreteLaplace {
		return l.Clamped(0, s.rows)
	}
	return l
}

// bestThreshold is the event {statistic ≥ least} that an audit of so many trials a
// side looks for, by the laws alone. For δ at ε₀ that is where the likelihood
// ratio is above e^ε₀; for ε it is the event whose expected frequencies give the
// largest lower bound.
func bestThreshold(f figure, present, absent releasetest.Law, trials int) (least int) {
	best := math.Inf(-1)
	for x := present.From; x < present.From+len(present.P); x++ {
		if !f.pure {
			if present.At(x) > math.Exp(f.epsilon0)*absent.At(x) {
				return x
			}
			continue
		}
		expected := func(p float64) frequency { return frequency{int(math.Round(p * float64(trials))), trials} }
		if b := f.bound(expected(present.AtLeast(x)), expected(absent.AtLeast(x))); b > best {
			best, least = b, x
		}
	}
	return least
}

// TestAuditStatisticOrdersByLikelihood holds the statistic against the likelihood
// ratio of its laws, which must never fall as it grows, and must reach e^ε and no
// more for discrete Laplace noise.
func TestAuditStatisticOrdersByLikelihood(t *testing.T) {
	for _, neighbours := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
		for _, kind := range []budget.Kind{budget.DiscreteLaplace, budget.DiscreteGaussian} {
			m := budget.Mechanism{Kind: kind, Parameter: mustRat(t, "5/2")}
			present, absent := scoring{kind, neighbours, 2, 3}.laws(m, 2)
			ratio := math.Inf(-1)
			for x := absent.From; x < absent.From+len(absent.P); x++ {
				if absent.At(x) < 1e-12 || present.At(x) < 1e-12 {
					continue // rounding of what was cut
				}
				next := math.Log(present.At(x) / absent.At(x))
				if next < ratio-1e-9 {
					t.Errorf("%s, %s: the likelihood ratio falls at %d", neighbours, kind, x)
				}
				ratio = next
			}
			epsilon := 3 * 2 / 2.5
			if neighbours == spec.Replace {
				epsilon *= 2
			}
			if kind == budget.DiscreteLaplace && math.Abs(ratio-epsilon) > 1e-9 {
				t.Errorf("%s, %s: the largest ratio is e^%g, expected e^%g", neighbours, kind, ratio, epsilon)
			}
		}
	}
}
