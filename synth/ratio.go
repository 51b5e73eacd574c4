package synth

import "math"

// This file holds ratios of sums of noisy figures, including means, shares and rates.

// Part is a noisy figure of a ratio, with its coefficients in the numerator and in the denominator. The noises of the
// parts of a ratio are independent.
type Part struct {
	Noise                  Noise
	Numerator, Denominator float64
}

// Domain is the range of a ratio: from Low to High, which may be infinite.
type Domain struct{ Low, High float64 }

// Ratio is the law of θ = A/B for A = Σ Over·y and B = Σ Under·y, sums over noisy figures y, where B without noise is
// positive. Its computations apply to all cells of a table. It is not safe for concurrent use.
//
// Its intervals are Fieller's (1954): A − θB is noise alone, of a law that is known for every θ. With q(θ) a margin of
// it,
//
//	{θ in the domain : |A − θB| ≤ q(θ)}
//
// contains the true θ with the probability of the margin, however small B is. Margins are computed at nodes θ_i.
// Between them q(θ) = q(θ_i) + |θ−θ_i|·Y, and similarly in 1/θ for large θ, where Y is a margin of B of a higher
// confidence: for the noises, |A−θB| ≤ |A−θ_iB| + |θ−θ_i|·|B|, so the probability beyond q(θ) is at most the sum of
// those beyond q(θ_i) and beyond Y. The confidence at the nodes compensates for the latter. Together that adds less
// than 0.003 to a coverage of 0.95.
//
// If q is convex, as it is for normal noise, the directions (B, A) that are left out are a cone and its negative: the
// set is an interval, two that reach both ends of the domain, or empty. The margins of other noise are treated as
// convex.
type Ratio struct {
	plane
	parts             []Part
	variances         []float64 // of the parts
	domain            Domain
	confidence        float64
	overFar, underFar float64 // margins of A and B at the confidence of far
	exactMargin       float64 // margin of A, for a B without noise
	nodes             [2*infinity*nodesPerUnit + 1]float64
}

const (
	// nodesPerUnit is the number of nodes from θ = 0 to the deviation of A over that of B.
	nodesPerUnit = 256
	// farShare is the part of one minus the confidence that is spent on what is beyond Y.
	farShare = 1. / 50
)

// NewRatio returns the law of a ratio at a confidence.
func NewRatio(parts []Part, domain Domain, confidence float64) *Ratio {
	r := &Ratio{parts: parts, domain: domain, confidence: confidence, variances: make([]float64, len(parts))}
	for i, p := range parts {
		r.variances[i] = p.Noise.Variance()
	}
	r.over, r.under = math.Sqrt(r.variance(1, 0)), math.Sqrt(r.variance(0, 1))
	far := 1 - float64((1-confidence)*farShare)
	r.overFar, r.underFar = r.noiseOf(1, 0).Margin(far), r.noiseOf(0, 1).Margin(far)
	if r.over == 0 {
		r.over = r.under
	}
	r.exactMargin = null
	for i := range r.nodes {
		r.nodes[i] = null
	}
	return r
}

// NewMean returns the law of S/N for a sum S and a count N of independent noise, in a range.
func NewMean(sum, count Noise, low, high, confidence float64) *Ratio {
	return NewRatio([]Part{{Noise: sum, Numerator: 1}, {Noise: count, Denominator: 1}}, Domain{Low: low, High: high},
		confidence)
}

// noiseOf returns the noise of αA − βB.
func (r *Ratio) noiseOf(alpha, beta float64) Noise {
	var out Noise
	for _, p := range r.parts {
		out = append(out, p.Noise.scaledBy(float64(alpha*p.Numerator)-float64(beta*p.Denominator))...)
	}
	return out
}

// variance returns the variance of αA − βB.
func (r *Ratio) variance(alpha, beta float64) float64 {
	var sum float64
	for i, p := range r.parts {
		weight := float64(alpha*p.Numerator) - float64(beta*p.Denominator)
		sum += float64(weight * weight * r.variances[i])
	}
	return sum
}

// margin returns the margin of αA − βB at a position.
func (r *Ratio) margin(position float64) float64 {
	i := math.Floor(float64(position*nodesPerUnit) + 0.5)
	alpha, beta := r.direction(position)
	nodeAlpha, nodeBeta := r.direction(float64(i / nodesPerUnit))
	slack := float64(math.Abs(alpha-nodeAlpha)*r.overFar) + float64(math.Abs(beta-nodeBeta)*r.underFar)
	node := &r.nodes[int(i)+infinity*nodesPerUnit]
	if *node != *node {
		*node = r.noiseOf(nodeAlpha, nodeBeta).Margin(r.confidence + float64((1-r.confidence)*farShare))
	}
	return *node + slack
}

// roundoff exceeds the float64 error of αA − βB, in deviations.
const roundoff = 1e-9

// isWithin reports whether the θ of a position is in the set.
func (r *Ratio) isWithin(a, b, position float64) bool {
	alpha, beta := r.direction(position)
	return math.Abs(float64(alpha*a)-float64(beta*b)) <= r.margin(position)+roundoff
}

// Figure returns the ratio of one cell, from its noisy figures in the order of the parts.
func (r *Ratio) Figure(y ...float64) Figure {
	var a, b float64
	for i, p := range r.parts {
		a += float64(p.Numerator * y[i])
		b += float64(p.Denominator * y[i])
	}
	return r.ofSums(a, b)
}

// ofSums returns the ratio of one cell, from its noisy A and B.
//
// The estimate is A/B, in the domain; its error is that of the delta method, √Var(A − θB)/B. If the set is the whole
// domain, or not an interval, the figure is [Unbounded]: for example for a noisy denominator that is not positive and,
// if the domain has no end, for one that may be arbitrarily small.
func (r *Ratio) ofSums(a, b float64) Figure {
	if !(b > 0) {
		return unpublishedFigure(Unbounded)
	}
	estimate := math.Min(r.domain.High, math.Max(r.domain.Low, a/b))
	if r.under == 0 {
		return r.withExactDenominator(estimate, a, b)
	}
	return r.figureWithin(r.domain, estimate, math.Sqrt(r.variance(1, estimate))/b, r.positionOf(a/b),
		func(place float64) bool { return r.isWithin(a, b, place) })
}

// withExactDenominator returns the ratio for a B without noise.
func (r *Ratio) withExactDenominator(estimate, a, b float64) Figure {
	if r.exactMargin != r.exactMargin {
		r.exactMargin = r.noiseOf(1, 0).Margin(r.confidence)
	}
	m := r.exactMargin / b
	low, high := math.Max(r.domain.Low, a/b-m), math.Min(r.domain.High, a/b+m)
	if low > high || low == r.domain.Low && high == r.domain.High && m > 0 {
		return unpublishedFigure(Unbounded)
	}
	return boundedFigure(estimate, r.over/b, low, high)
}
