package budget

import "sort"

// Above returns P(X > n), the probability that the noise on one coordinate exceeds an integer n. It is computed under
// the discrete law of X itself, which is symmetric, so that for n ≥ 0
//
//	P(X > n) = P(|X| > n)/2,   P(X > −n) = 1 − P(X > n−1).
//
// For n ≥ 0 its relative error is below 1e-12. If the holders add more [Shares] than needed, X is the
// noise of all of them and P(|X| ≤ n) comes from [NoiseSum.Within]; the result then has an absolute error of 1e-11 or
// is an upper bound.
//
// It is 0 for a mechanism that adds no noise or does not validate.
func (m Mechanism) Above(n int64) float64 {
	if !m.Kind.addsNoise() || m.Validate() != nil {
		return 0
	}
	term := m.NoiseTerm(1, 1)
	tail := m.Kind.law().tailFunction(term.Parameter)
	if term.Count != 1 {
		law := NewNoiseSum([]NoiseTerm{term})
		tail = func(m int64) float64 { return 1 - law.Within(float64(m)) }
	}
	if n < 0 {
		return 1 - float64(tail(-n-1)/2)
	}
	return tail(n) / 2
}

// LeastAbove returns the least n ≥ 0 with P(X > n) ≤ chance, where X is the noise.
func (m Mechanism) LeastAbove(chance float64) int64 {
	n := 1
	for m.Above(int64(n)) > chance {
		n *= 2
	}
	return int64(sort.Search(n, func(n int) bool { return m.Above(int64(n)) <= chance }))
}
