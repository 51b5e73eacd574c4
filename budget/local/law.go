package local

import (
	"math"
	"sort"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the law of what is counted of the reports, and what follows from it for the number of respondents.

// Count is the law of S, the sum of the scores of n reports. A report's score is how many categories it holds of a set
// A, which has m of the k categories of the question. If A is one category, S is the number of reports that hold it. K
// of all N respondents, the holders, have a category of A. Each device drew its question, with the same unknown chance
// and independently, and n of the devices drew this one; N and n are known. Given n, the respondents that answered are
// a uniformly random set, so that
//
//	S = Y₁ + … + Y_H + Z₁ + … + Z_{n−H},  H hypergeometric: the holders among n that are drawn from N with K holders,
//	P(Y = y) ∝ C(m, y) C(k−m, w−y) (p (k−w) y + (1−p) w (m−y)),
//	P(Z = y) ∝ C(m, y) C(k−m, w−y) (p (k−w) (w−y) + (1−p) w (k−m−w+y)),
//
// all scores being independent given H, with p and q as in [Randomiser.Chances]. A holder's mean is p + (m−1) q, and
// that of another m q. If A is one category, Y and Z are Bernoulli variables: S = Bin(H, p) + Bin(n−H, q).
//
// It is defined for 1 ≤ n ≤ N ≤ 10^12 and m < k: all categories together have N respondents. With m above 1 it is the
// law of reports in the form of a set only. A report in the permuted form holds two categories with the same
// probabilities as a set, but not three: the estimate stays unbiased, and the deviation and the interval do not hold.
// Source: docs/proofs/local.md.
type Count struct {
	Randomiser
	Respondents int64 // N
	Reports     int64 // n
	Cells       int64 // m, the categories that are added up; 0 means 1
}

// law is a [Count] in floats: the laws of a holder's score and of another's, the range of both, the difference of their
// means, N and n.
type law struct {
	holder, other             scoreLaw
	least, most               int64
	gap, respondents, reports float64
}

func (c Count) law() law {
	holder, other := c.scores()
	least, most := c.scoreRange()
	p, q := c.Chances()
	gap, _ := p.Sub(p, q).Float64()
	return law{holder, other, least, most, gap, float64(c.Respondents), float64(c.Reports)}
}

// Estimate returns the unbiased estimate of K, the respondents who have a category of A, from the sum of the scores:
// N (S/n − m q) / (p − q). It may lie below 0 and above N. Source: Wang, Blocki, Li & Jha 2017, equation 3, scaled from
// n to N and added up over A.
func (c Count) Estimate(score int64) float64 { return c.law().estimate(float64(score)) }

// Deviation returns the standard deviation of [Count.Estimate], in respondents, if so many of all N have a category of
// A:
//
//	N/(n (p−q)) · √(n f Var Y + n (1−f) Var Z + (p−q)² n f (1−f) (N−n)/(N−1)),  f = K/N,
//
// of which the last term is the variance of H, of a sample without replacement. If A is one category, Var Y = p(1−p)
// and Var Z = q(1−q). Otherwise
//
//	Var Y = (m−1)(k−m)/((k−1)²(k−2)) · (p (w−1)(k−w) + (1−p) w (k−1−w)) + p(1−p) ((k−m)/(k−1))²,
//
// and Var Z is the same with k−m for m.
func (c Count) Deviation(holders float64) float64 { return c.law().deviation(holders) }

// Interval returns the least and the greatest K in 0..N that the sum of the scores does not reject: both P(S ≥ score)
// and P(S ≤ score) must exceed (1 − confidence)/2. If that rejects all of them, it returns the end of the range that is
// nearest, twice.
//
// Guarantee: for every K the interval contains K with a probability of at least the confidence (Clopper & Pearson 1934,
// by the exact law). Tails are computed to better than [tailError], and that is allowed for; a confidence above
// 1 − 2e-9 therefore returns the whole range. Source: docs/proofs/local.md.
func (c Count) Interval(score int64, confidence float64) (low, high int64) {
	l := c.law()
	half := float64((1 - confidence) / 2)
	low = l.leastHolders(score-1, half-tailError)
	high = l.leastHolders(score, 1-half+tailError) - 1
	return min(low, c.Respondents), max(high, 0)
}

// LeastDetected returns the least number of holders for which the scores of all questions reach their thresholds with
// at least the given probability. All questions are put to the same respondents. If no number of holders is enough, it
// returns the number of respondents plus 1.
func LeastDetected(questions []Count, thresholds []int64, probability float64) int64 {
	laws := make([]law, len(questions))
	for i, c := range questions {
		laws[i] = c.law()
	}
	return int64(sort.Search(int(questions[0].Respondents)+1, func(holders int) bool {
		all := 1.0
		for i, l := range laws {
			all *= 1 - l.probabilityAtMost(int64(holders), thresholds[i]-1)
		}
		return all >= probability
	}))
}

// Threshold returns the least score s ≥ 1 such that P(S ≥ s) is at most the given probability if there are no holders.
// If no possible score is that unlikely, it returns the greatest possible score plus 1.
func (c Count) Threshold(probability float64) int64 {
	l := c.law()
	greatest := int(c.Reports * l.most)
	return 1 + int64(sort.Search(greatest, func(score int) bool {
		return 1-l.probabilityAtMost(0, int64(score)) <= probability
	}))
}

// tailError is more than the error of a computed probability.
const tailError = 1e-9

func (l law) estimate(score float64) float64 {
	return float64(l.respondents*(score-float64(l.reports*l.other.mean))) / float64(l.reports*l.gap)
}

func (l law) deviation(holders float64) float64 {
	_, variance := l.moments(holders)
	return float64(l.respondents*math.Sqrt(variance)) / float64(l.reports*l.gap)
}

// moments returns the mean and the variance of S if the given number of respondents have a category of A.
func (l law) moments(holders float64) (mean, variance float64) {
	f := holders / l.respondents
	own := l.holder.varianceShare(f) + l.other.varianceShare(1-f)
	_, drawn := l.drawnMoments(holders)
	mean = float64(l.reports * (l.other.mean + float64(f*l.gap)))
	return mean, float64(l.reports*own) + float64(l.gap*l.gap*drawn)
}

// drawnMoments returns the mean and the variance of H.
func (l law) drawnMoments(holders float64) (mean, variance float64) {
	f := holders / l.respondents
	mean = float64(l.reports * f)
	if l.respondents > 1 {
		variance = float64(mean*(1-f)*(l.respondents-l.reports)) / (l.respondents - 1)
	}
	return mean, variance
}

// leastHolders returns the least K in 0..N with P(S > score) of at least the level, and N + 1 if there is none. The
// probability rises in K. Newton's method on the normal scale, where it is nearly a line with the slope of the standard
// deviation, chooses where to look; the bracket that it narrows makes the result exact.
func (l law) leastHolders(score int64, level float64) int64 {
	low, high := int64(-1), int64(l.respondents)+1 // too few; enough, or none
	if level <= 0 {
		return 0
	}
	if level >= 1 {
		return high
	}
	wanted := normalScore(level)
	at := l.estimate(float64(score) + 0.5)
	at += float64(wanted * l.deviation(math.Min(math.Max(at, 0), l.respondents)))
	for steps := 0; high-low > 1; steps++ {
		k := l.nextProbe(low, high, at, steps)
		above := 1 - l.probabilityAtMost(k, score)
		if above >= level {
			high = k
		} else {
			low = k
		}
		at = float64(k) + float64((wanted-normalScore(above))*l.deviation(float64(k)))
	}
	return high
}

// nextProbe returns the whole number to try next: the point at, rounded up and moved strictly between low and high. If
// many steps have not closed the bracket, every second number is the middle of it.
func (l law) nextProbe(low, high int64, at float64, steps int) int64 {
	if steps > 12 && steps%2 == 0 {
		return low + (high-low)/2
	}
	at = math.Min(math.Max(math.Ceil(at), 0), l.respondents)
	return min(max(int64(at), low+1), high-1)
}

// normalScore returns the z below which a standard normal variable lies with this probability, kept within ±7.
func normalScore(probability float64) float64 {
	return budget.NormalQuantile(1 - math.Min(math.Max(probability, 1e-12), 1-1e-12))
}
