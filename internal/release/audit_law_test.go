package release

import (
	"math"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the laws that an audit expects: of the statistic by which two
// neighbouring inputs are told apart, worked out from the definition of the noise.

// law is a law on consecutive integers: p[i] is the probability of from+i.
type law struct {
	from int
	p    []float64
}

// noiseLaw is the law of the noise on one cell: P(x) ∝ e^−|x|/t, or ∝ e^−x²/2σ²,
// cut where what is left out is below 1e-15.
func noiseLaw(m budget.Mechanism) law {
	parameter, _ := m.Parameter.Float64()
	weight := func(x float64) float64 { return math.Exp(-math.Abs(x) / parameter) }
	reach := int(40*parameter) + 2
	if m.Kind == budget.DiscreteGaussian {
		weight = func(x float64) float64 { return math.Exp(-x * x / (2 * parameter)) }
		reach = int(9*math.Sqrt(parameter)) + 2
	}
	l, sum := law{-reach, make([]float64, 2*reach+1)}, 0.0
	for i := range l.p {
		l.p[i] = weight(float64(i - reach))
		sum += l.p[i]
	}
	for i := range l.p {
		l.p[i] /= sum
	}
	return l
}

// shifted is the law of the value plus a number.
func (l law) shifted(by int) law { return law{l.from + by, l.p} }

// clamped is the law of the value clamped to [low, high].
func (l law) clamped(low, high int) law {
	out := law{low, make([]float64, high-low+1)}
	for i, p := range l.p {
		out.p[min(max(l.from+i, low), high)-low] += p
	}
	return out
}

// negated is the law of the value's negative.
func (l law) negated() law {
	out := law{-(l.from + len(l.p) - 1), make([]float64, len(l.p))}
	for i, p := range l.p {
		out.p[len(l.p)-1-i] = p
	}
	return out
}

// plus is the law of a sum of independent values.
func (l law) plus(other law) law {
	out := law{l.from + other.from, make([]float64, len(l.p)+len(other.p)-1)}
	for i, p := range l.p {
		for j, q := range other.p {
			out.p[i+j] += p * q
		}
	}
	return out
}

// at is the probability of a value.
func (l law) at(x int) float64 {
	if x < l.from || x >= l.from+len(l.p) {
		return 0
	}
	return l.p[x-l.from]
}

// atLeast is the probability of a value or more.
func (l law) atLeast(x int) float64 {
	sum := 0.0
	for i := len(l.p) - 1; i >= 0 && l.from+i >= x; i-- {
		sum += l.p[i]
	}
	return sum
}

// statistic tells neighbouring inputs apart by the cells that the worst unit
// touches: one cell in each marginal, or, where one unit replaces another, two.
// It grows with the likelihood ratio where all cells have noise of one law: the
// sum of scores, x clamped to [0, k] for discrete Laplace noise, where
// (|x| − |x−k|)/t is 2·clamp(x)/t less a constant, and x itself for discrete
// Gaussian noise, where (x² − (x−k)²)/2σ² is k·x/σ² less a constant; the scores
// of the cell that is left under replace count negative.
type statistic struct {
	kind       budget.Kind
	neighbours spec.Neighbours
	rows       int // k
	marginals  int
}

// of is the statistic of a trial: of a block, or of a pair of blocks, given the
// noisy counts of each block's own cell in each marginal.
func (s statistic) of(noisy [][]int64, trial int) int {
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

func (s statistic) score(x int64) int {
	if s.kind == budget.DiscreteLaplace {
		x = min(max(x, 0), int64(s.rows))
	}
	return int(x)
}

// laws are the laws of the statistic on the two neighbouring inputs where the
// noise is that of m and the worst unit has as many counted rows.
func (s statistic) laws(m budget.Mechanism, rows int) (present, absent law) {
	noise := noiseLaw(m)
	with, without := s.scored(noise.shifted(rows)), s.scored(noise)
	if s.neighbours == spec.Replace {
		with, without = with.plus(without.negated()), without.plus(with.negated())
	}
	present, absent = law{0, []float64{1}}, law{0, []float64{1}}
	for range s.marginals {
		present, absent = present.plus(with), absent.plus(without)
	}
	return present, absent
}

func (s statistic) scored(l law) law {
	if s.kind == budget.DiscreteLaplace {
		return l.clamped(0, s.rows)
	}
	return l
}

// likeliest is the event {statistic ≥ least} that an audit of so many trials a
// side looks for, by the laws alone. For δ at ε₀ that is where the likelihood
// ratio is above e^ε₀; for ε it is the event whose expected frequencies give the
// largest lower bound.
func likeliest(f figure, present, absent law, trials int) (least int) {
	best := math.Inf(-1)
	for x := present.from; x < present.from+len(present.p); x++ {
		if !f.pure {
			if present.at(x) > math.Exp(f.epsilon0)*absent.at(x) {
				return x
			}
			continue
		}
		expected := func(p float64) frequency { return frequency{int(math.Round(p * float64(trials))), trials} }
		if b := f.bound(expected(present.atLeast(x)), expected(absent.atLeast(x))); b > best {
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
			present, absent := statistic{kind, neighbours, 2, 3}.laws(m, 2)
			ratio := math.Inf(-1)
			for x := absent.from; x < absent.from+len(absent.p); x++ {
				if absent.at(x) < 1e-12 || present.at(x) < 1e-12 {
					continue // rounding of what was cut
				}
				next := math.Log(present.at(x) / absent.at(x))
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
