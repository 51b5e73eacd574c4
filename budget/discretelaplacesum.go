package budget

import "math"

// This file holds discrete Laplace noise as a summand.

// laplaceSummand has φ(t) = 1/(1 + 4a·sin²(t/2)/(1−a)²), a = e^{−1/scale}. Its −ln φ converges for scale·t < 1, with
// coefficients below 1/k of scale^2k; and E e^{λX} = φ(iλ).
type laplaceSummand struct {
	scale      float64
	poleWeight float64 // 4a/(1−a)²
}

func (discreteLaplace) summand(scale float64) summand {
	gap := expm1(-1 / scale)
	return laplaceSummand{scale, 4 * Exp(-1/scale) / float64(gap*gap)}
}

func (d laplaceSummand) seriesScale(weight float64) float64 { return float64(weight * d.scale) }

func (d laplaceSummand) pole() float64 { return d.poleWeight }

// cumulantSeries: with u = pole·sin²(wθ/2), a power series in θ², the coefficients of ln(1+u) follow from
// (1+u)·(ln(1+u))′ = u′.
func (d laplaceSummand) cumulantSeries(square float64) series {
	var out, u series
	next := d.poleWeight / 2 // 4·sin²(x/2) = 2 − 2·cos x = 2(x²/2! − x⁴/4! + …)
	for k := range u {
		next *= square / float64((2*k+1)*(2*k+2))
		u[k] = next
		next = -next
	}
	for k := range out {
		sum := u[k]
		for j := range k {
			sum -= float64(float64(float64(j+1)*out[j])*u[k-1-j]) / float64(k+1)
		}
		out[k] = sum
	}
	return out
}

func (d laplaceSummand) negLogCharacteristic(turns float64) float64 {
	sine := sinPi(turns)
	return log1p(d.poleWeight * sine * sine)
}

// maxTilt: E e^{λX} is finite for λ < 1/scale.
func (laplaceSummand) maxTilt(reach float64) float64 { return (1 - 1./32) / reach }

func (d laplaceSummand) logMoment(lambda float64) float64 {
	up := expm1(lambda) // 4·sinh²(x/2) = (e^x − 1)²·e^{−x}
	return -log1p(-float64(d.poleWeight / 4 * up * up * Exp(-lambda)))
}

// openTurns: sin πf ≥ 2f for f up to ½.
func (d laplaceSummand) openTurns(level float64) float64 {
	return math.Sqrt(expm1(level)/d.poleWeight) / 2
}
