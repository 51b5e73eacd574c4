package budget

import "math"

// This file holds the tails of the standard normal law, accurate relatively as far out as float64 reaches. With Z
// standard normal,
//
//	Q(z) = P(Z > z) = exp(−z²/2)·S(z)
//	S(z) = (1/√2π)·∫₀^∞ exp(−u²/2 − zu) du,   S′(z) = −D(z)
//	D(z) = 1/√2π − z·S(z)
//
// S and D are the scaled tail and the negative of its slope; both are positive
// and decreasing. With x = z/√2 ≥ 0 they are integrals over t of
//
//	S = (x/π)·∫ exp(−t²)/(t²+x²) dt,   D = (√2/π)·∫ t²·exp(−t²)/(t²+x²) dt
//
// from 0 to ∞, which the midpoint rule of step 7/16 gives to 1e-18 of the whole
// once the residue at t = ix is added (Chiarella & Reichel 1968; Hunter & Regan
// 1972). Every sum but the one for D has only positive terms, and that one
// cancels less than half.

const (
	sqrtHalf     = 0.70710678118654752440084436210485
	inverseRoot  = 0.39894228040143267793994605993438 // 1/√2π
	midpointStep = 7. / 16
	// poleReach is π/step: from there on the residue is below 1e-20 of the whole.
	poleReach = math.Pi / midpointStep
	// farOut is a z beyond which S(z) = 1/(z√2π) to every digit.
	farOut = 0x1p30
)

// midpoint is a node t² of the midpoint rule, with exp(−t²).
type midpoint struct{ square, weight float64 }

// midpoints lists the nodes with t < 6½; the first one left out has a weight
// below 2e-20.
var midpoints = func() (nodes [15]midpoint) {
	for n := range nodes {
		t := float64(midpointStep * (float64(n) + 0.5))
		nodes[n] = midpoint{t * t, Exp(-t * t)}
	}
	return nodes
}()

// poleTerm returns 2·exp(x²)/(1+exp(2πx/step)), what the residue adds to
// exp(x²)·erfc(x).
func poleTerm(x float64) float64 {
	if x >= poleReach {
		return 0
	}
	decay := float64(2 * poleReach * x)
	return 2 * Exp(float64(x*x)-decay) / (1 + Exp(-decay))
}

// scaledTail returns S(z) for z ≥ 0, within 2⁻⁴⁹ of it.
func scaledTail(z float64) float64 {
	if z > farOut {
		return inverseRoot / z
	}
	x := z * sqrtHalf
	square := float64(x * x)
	var sum float64
	for _, node := range midpoints {
		sum += node.weight / (node.square + square)
	}
	return (float64(2*midpointStep/math.Pi*x*sum) + poleTerm(x)) / 2
}

// scaledSlope returns D(z) for z ≥ −1, within 2⁻⁴⁷ of it.
func scaledSlope(z float64) float64 {
	if z < 0 {
		return inverseRoot - float64(z*(Exp(z*z/2)-scaledTail(-z)))
	}
	if z > farOut {
		return inverseRoot / z / z
	}
	x := z * sqrtHalf
	square := float64(x * x)
	var sum float64
	for _, node := range midpoints {
		sum += float64(node.weight*node.square) / (node.square + square)
	}
	return float64(math.Sqrt2*midpointStep/math.Pi*sum) - float64(z/2*poleTerm(x))
}

// expHalfSquare returns exp(−z²/2) within 2⁻⁵⁰ of it: z² is split into the exact
// square of the upper 26 bits of z and a small rest.
func expHalfSquare(z float64) float64 {
	z = math.Abs(z)
	if z > 40 {
		return 0 // below 1e-347
	}
	high := math.Float64frombits(math.Float64bits(z) &^ (1<<27 - 1))
	rest := float64((z - high) * (z + high))
	return Exp(-high*high/2) * Exp(-rest/2)
}

// normalTail returns Q(z), within 2⁻⁴⁸ of it where it is above 1e-300.
func normalTail(z float64) float64 {
	if z < 0 {
		return 1 - normalTail(-z)
	}
	if z != z {
		return z
	}
	return expHalfSquare(z) * scaledTail(z)
}

// logNormalTail returns ln Q(z) for every z, within 2⁻⁴⁸ of it for z ≥ 0 and of
// the tail P(Z < z) otherwise.
func logNormalTail(z float64) float64 {
	if z < 0 {
		return log1p(-normalTail(-z))
	}
	return Log(scaledTail(z)) - float64(z*z/2)
}

// NormalQuantile returns the z with Q(z) = p for 0 < p < 1: +Inf at 0, −Inf at 1.
// It is within 2⁻⁴⁵·(1+|z|) of it. Newton's iteration on ln Q, which is concave,
// converges from one side after the first step.
func NormalQuantile(p float64) float64 {
	switch {
	case !(p > 0):
		return math.Inf(1)
	case p >= 1:
		return math.Inf(-1)
	case p > 0.5:
		return -NormalQuantile(1 - p) // exact: 1−p loses nothing above ½
	}
	target := Log(p)
	z := math.Sqrt(math.Max(0, float64(-2*(target+math.Ln2))))
	for range 60 {
		step := float64((logNormalTail(z) - target) * scaledTail(z) / inverseRoot)
		z += step
		if math.Abs(step) <= 0x1p-50*(1+z) {
			break
		}
	}
	return math.Max(0, z)
}
