package budget

import "math"

// This file holds discrete Gaussian noise as a summand.

const (
	// quadraticFrom is the σ² from which −ln φ(t) = σ²t²/2 for t ≤ ½, up to an error of 2·exp(−2πσ²(π−t)) < 2e-18.
	// From σ² = thetaFrom on, the theta function is summed, with the terms of k = −1, 0, 1; below it, the
	// probabilities are.
	quadraticFrom = 2.5
	thetaFrom     = 1
)

// gaussianSummand has φ(t) = Σ_x P(x)·cos(tx). By Poisson's summation formula that is the theta function Σ_k
// exp(−σ²(t+2πk)²/2) over its value at 0 (Canonne, Kamath & Steinke 2020, fact 18). E e^{λX} ≤ e^{σ²λ²/2} (the same,
// corollary 17).
type gaussianSummand struct {
	sigmaSquared float64
	small        []float64 // 4·P(x) for x = 1, 2 … where σ² is below thetaFrom
}

func (discreteGaussian) summand(sigmaSquared float64) summand {
	d := gaussianSummand{sigmaSquared: sigmaSquared}
	if sigmaSquared < thetaFrom {
		d.small = smallGaussian(sigmaSquared)
	}
	return d
}

// smallGaussian lists 4·P(x) for x = 1, 2 …
func smallGaussian(sigmaSquared float64) []float64 {
	var out []float64
	for x := 1.0; x <= lastTerm(sigmaSquared, 0); x++ {
		out = append(out, 4*Exp(-x*x/(2*sigmaSquared))/gaussianNormaliser(sigmaSquared))
	}
	return out
}

func (d gaussianSummand) seriesScale(weight float64) float64 {
	if d.sigmaSquared >= quadraticFrom {
		return weight / 2
	}
	return math.Inf(1) // no series
}

func (gaussianSummand) pole() float64 { return 0 }

func (d gaussianSummand) cumulantSeries(square float64) (out series) {
	out[0] = float64(square*d.sigmaSquared) / 2
	return out
}

func (d gaussianSummand) negLogCharacteristic(turns float64) float64 {
	turns = math.Abs(turns - math.Floor(turns+0.5))
	if d.small != nil {
		var sum float64
		for i, p := range d.small {
			sine := sinPi(float64(float64(i+1) * turns))
			sum += float64(p * sine * sine)
		}
		return -log1p(-sum)
	}
	t := float64(2 * math.Pi * turns)
	round := float64(2 * math.Pi * d.sigmaSquared)
	at := Exp(-round*(math.Pi-t)) + Exp(-round*(math.Pi+t))
	return float64(float64(d.sigmaSquared*t)*t/2) - (log1p(at) - log1p(2*Exp(-round*math.Pi)))
}

func (gaussianSummand) maxTilt(float64) float64 { return math.Inf(1) }

func (d gaussianSummand) logMoment(lambda float64) float64 {
	return float64(float64(d.sigmaSquared*lambda) * lambda / 2)
}

// openTurns: the theta function is at most 2.0001·exp(−σ²t²/2).
func (d gaussianSummand) openTurns(level float64) float64 {
	if d.small != nil {
		return math.Inf(1)
	}
	return math.Sqrt(2*(level+0.7)/d.sigmaSquared) / (2 * math.Pi)
}
