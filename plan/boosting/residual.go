package boosting

// This file holds Residuals: outcomes, means and residuals as integers.

import (
	"math"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/budget"
)

// Bound is the largest absolute value of a residual, and the sensitivity of a sum of residuals to one row. A residual
// is in units of 1/Bound of the range of outcomes.
const Bound = 1 << 12

// ScoreUnit is the number of units of a score in 1: scores are integers, in 1/10 000.
const ScoreUnit = 10_000

// Residuals turns scores and categories of the target into residuals. Outcomes are scaled to the range from 0 to 1: a
// score of link [Identity] is a share of the range of outcomes above the least one, one of link [Log] the logarithm of
// a share of the largest one.
type Residuals struct {
	Low, High int32   // scores are clamped to this range, in units of 1/ScoreUnit
	Outcomes  []int32 // of each category of the target, from 0 to Bound
	means     []int16 // of every 2^shift-th score from Low; shared
	shift     uint8
	half      int32 // of 2^shift
}

// Residuals returns the residuals of a shape that [Shape.Check] accepts.
func (s *Shape) Residuals() *Residuals {
	r := &Residuals{}
	r.Low, r.High, r.shift = s.Link.scores()
	r.half = 1 << r.shift >> 1
	low, span := s.Range()
	for _, outcome := range s.Outcomes {
		r.Outcomes = append(r.Outcomes, int32(math.Round(float64((float64(outcome)-low)/span)*Bound)))
	}
	switch s.Link {
	case Logit:
		r.means = logitMeans()
	case Log:
		r.means = logMeans()
	default:
		r.means = identityMeans()
	}
	return r
}

// scores returns the range of scores of a link, and the shift from a score to the index of its mean.
func (l Link) scores() (low, high int32, shift uint8) {
	switch l {
	case Logit:
		return -8 * ScoreUnit, 8 * ScoreUnit, 4
	case Log:
		return -9 * ScoreUnit, 0, 4
	}
	return 0, ScoreUnit, 0
}

// The means of each link, which are worked out once.
var (
	logitMeans = sync.OnceValue(func() []int16 {
		return Logit.means(func(x float64) float64 { return 1 / (1 + budget.Exp(-x)) })
	})
	logMeans      = sync.OnceValue(func() []int16 { return Log.means(budget.Exp) })
	identityMeans = sync.OnceValue(func() []int16 { return Identity.means(func(x float64) float64 { return x }) })
)

// means returns the means of every 2^shift-th score, from 0 to [Bound], of a function from 0 to 1.
func (l Link) means(mean func(score float64) float64) (all []int16) {
	low, high, shift := l.scores()
	for x := int64(low); x <= int64(high); x += 1 << shift {
		all = append(all, int16(math.Round(float64(mean(float64(x)/ScoreUnit)*Bound))))
	}
	return all
}

// Range returns the outcome that is scaled to 0, and the difference between it and the one that is scaled to 1.
func (s *Shape) Range() (low, span float64) {
	if s.Link == Log {
		return 0, float64(slices.Max(s.Outcomes))
	}
	low = float64(slices.Min(s.Outcomes))
	return low, float64(slices.Max(s.Outcomes)) - low
}

// Mean returns the mean of the outcome for a score, from 0 to [Bound]. It never decreases with the score.
func (r *Residuals) Mean(score int32) int32 {
	return int32(r.means[(min(max(score, r.Low), r.High)-r.Low+r.half)>>r.shift])
}

// Of returns the residual of a row, by the category of its target and its score: from −[Bound] to Bound, whatever they
// are.
func (r *Residuals) Of(target int, score int32) int32 { return r.Outcomes[target] - r.Mean(score) }
