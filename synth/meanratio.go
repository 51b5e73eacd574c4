package synth

import "math"

// This file holds ratios of two means.

// MeanPart is a noisy figure in a ratio of means, with its coefficients in the sum and the count of the mean in the
// numerator and of the mean in the denominator. The noises of the parts are independent.
type MeanPart struct {
	Noise                Noise
	OverSum, OverCount   float64
	UnderSum, UnderCount float64
}

// MeanRange is the range of a mean, from Low to High, and the centre of its sum: the mean is Centre + sum/count.
type MeanRange struct{ Centre, Low, High float64 }

// MeanRatio is the law of θ = μ₁/μ₂ for means μ = c + S/N of noisy sums and counts. The range of μ₂ lies above 0 or
// starts there. It is not safe for concurrent use.
//
// With t = μ − c, S − tN is noise alone, of a known law. So is
//
//	(S₁ − t₁N₁)/N₁ − θ·(S₂ − t₂N₂)/N₂
//
// except for the counts by which it is divided. It equals μ̂₁ − θμ̂₂, which the data give, and
//
//	{θ in the domain : |μ̂₁ − θμ̂₂| ≤ q(θ)}
//
// is the interval, where q(θ) is a margin for the noisy counts and for the means that fit the data best with μ₁ = θμ₂.
// As the noise is symmetric, its effect on these two changes the coverage only in the square of its ratio to the
// counts. q is raised by as much, Σ(deviation/N)², which compensates for it in simulations. If a noisy count is below
// steadyDeviations deviations of its noise, there is no interval. If μ₂ may be 0 and the set has no end, nothing is
// published.
type MeanRatio struct {
	parts       []MeanPart
	over, under MeanRange
	margins     *tails
	counts      [2]float64 // deviations of the noise of both counts
}

// steadyDeviations is the least noisy count, in deviations of its noise, for which terms that are not linear in the
// noise are neglected.
const steadyDeviations = 4

// NewMeanRatio returns the law of a ratio of means at a confidence.
func NewMeanRatio(parts []MeanPart, over, under MeanRange, confidence float64) *MeanRatio {
	noises := make([]Noise, len(parts))
	overs, unders := make([]float64, len(parts)), make([]float64, len(parts))
	for i, p := range parts {
		noises[i], overs[i], unders[i] = p.Noise, p.OverCount, p.UnderCount
	}
	r := &MeanRatio{parts: parts, over: over, under: under, margins: newTails(noises, confidence)}
	r.counts = [2]float64{math.Sqrt(r.margins.variance(overs)), math.Sqrt(r.margins.variance(unders))}
	return r
}

// noisyMean is a mean, given by its sum and count.
type noisyMean struct{ sum, count float64 }

// noiseWeights sets out to the coefficients of the noises of the parts in α(S₁ − t₁N₁)/N₁ − β(S₂ − t₂N₂)/N₂.
func (r *MeanRatio) noiseWeights(out []float64, alpha, over float64, first noisyMean, beta, under float64,
	second noisyMean) {
	for i, p := range r.parts {
		out[i] = float64(alpha*(p.OverSum-float64(over*p.OverCount)))/first.count -
			float64(beta*(p.UnderSum-float64(under*p.UnderCount)))/second.count
	}
}

// Figure returns the ratio of one cell, from its noisy figures in the order of the parts.
func (r *MeanRatio) Figure(y ...float64) Figure {
	var first, second noisyMean
	for i, p := range r.parts {
		first.sum += float64(p.OverSum * y[i])
		first.count += float64(p.OverCount * y[i])
		second.sum += float64(p.UnderSum * y[i])
		second.count += float64(p.UnderCount * y[i])
	}
	if !(first.count > 0 && second.count > 0) {
		return unpublishedFigure(Unbounded)
	}
	over, under := r.over.Centre+first.sum/first.count, r.under.Centre+second.sum/second.count
	estimate := r.over.clamp(over) / r.under.clamp(under)
	if r.under.clamp(under) == 0 {
		return unpublishedFigure(Unbounded)
	}
	if first.count < steadyDeviations*r.counts[0] || second.count < steadyDeviations*r.counts[1] {
		return unpublishedFigure(Unbounded)
	}
	raised := 1 + squareOf(r.counts[0]/first.count) + squareOf(r.counts[1]/second.count)
	weights := make([]float64, len(r.parts))
	deviation := func(alpha, beta float64) float64 {
		r.noiseWeights(weights, alpha, r.over.clamp(over)-r.over.Centre, first,
			beta, r.under.clamp(under)-r.under.Centre, second)
		return math.Sqrt(r.margins.variance(weights))
	}
	p := plane{deviation(1, 0), deviation(0, 1)}
	if p.over == 0 || p.under == 0 {
		p = plane{math.Max(p.over, p.under), math.Max(p.over, p.under)}
	}
	if p.over == 0 { // nothing is noisy
		return boundedFigure(estimate, 0, estimate, estimate)
	}
	within := func(place float64) bool {
		alpha, beta := p.direction(place)
		// The means βm and αm nearest to the noisy ones, each in units of its deviation.
		a, b := beta/p.over, alpha/p.under
		m := (float64(a*over)/p.over + float64(b*under)/p.under) / (float64(a*a) + float64(b*b))
		r.noiseWeights(weights, alpha, r.over.clamp(float64(beta*m))-r.over.Centre, first,
			beta, r.under.clamp(float64(alpha*m))-r.under.Centre, second)
		return math.Abs(float64(alpha*over)-float64(beta*under)) <= float64(raised*r.margins.margin(weights))+roundoff
	}
	at := p.positionOf(over / under)
	if !(under > 0) {
		at = infinity
	}
	return p.figureWithin(r.domain(), estimate, deviation(1, estimate)/r.under.clamp(under), at, within)
}

func squareOf(x float64) float64 { return float64(x * x) }

// domain returns the range of the ratio.
func (r *MeanRatio) domain() Domain {
	out := Domain{Low: r.over.Low / r.under.High, High: r.over.High / r.under.Low}
	if r.over.Low < 0 {
		out.Low = r.over.Low / r.under.Low
	}
	if r.over.High <= 0 {
		out.High = r.over.High / r.under.High
	}
	return out
}

func (r MeanRange) clamp(mean float64) float64 { return math.Max(r.Low, math.Min(r.High, mean)) }
