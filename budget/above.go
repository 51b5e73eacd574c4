package budget

// Above returns P(X > n), the probability that the noise on one coordinate is more than an
// integer n: under the discrete law of X itself, which is symmetric, so that for n ≥ 0
//
//	P(X > n) = P(|X| > n)/2,   P(X > −n) = 1 − P(X > n−1).
//
// For n ≥ 0 its relative error is below 1e-12. It is 0 for a mechanism that adds no noise or does not validate.
func (m Mechanism) Above(n int64) float64 {
	if !m.Kind.addsNoise() || m.Validate() != nil {
		return 0
	}
	tail := gaussianTail
	if m.Kind == DiscreteLaplace {
		tail = laplaceTail
	}
	if n < 0 {
		return 1 - float64(tail(nearest(m.Parameter))(-n-1)/2)
	}
	return tail(nearest(m.Parameter))(n) / 2
}
