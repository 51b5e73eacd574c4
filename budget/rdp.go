package budget

import "math"

// Rényi differential privacy (Mironov 2017): a mechanism has a curve that bounds
// the Rényi divergence of every order α > 1,
//
//	D_α(P‖Q) = ln E_P[e^{(α−1)L}]/(α−1),   L = ln dP/dQ,
//
// for all neighbours. Curves of independent or adaptive steps add order by order.
//
// Every divergence is worked out as ln(1+(α−1)·M)/(α−1) from the moment
//
//	M = E_P[((e^{(α−1)L} − 1 − (α−1)L)/(α−1) + (e^{−L} − 1 + L)],
//
// which is (E_P[e^{(α−1)L}] − 1)/(α−1) because E_P[e^{−L}] = 1, and whose terms are
// all positive: nothing cancels however small the divergence or α−1 is.

// RDPEpsilon returns an ε ≥ 0 at which a mechanism of Rényi divergence at most
// value at one order is (ε, δ)-differentially private, rounded up:
//
//	ε = value + ln(1−1/α) + (ln(1/δ) − ln α)/(α−1),
//
// the value itself at α = +Inf, and 0 where δ ≥ √(1−e^{−value}).
//
// Guarantee: for the neighbours of the divergence, both ways round. Theorem:
// Canonne, Kamath & Steinke 2020, proposition 12; the case of 0 is the total
// variation bound of Bretagnolle & Huber 1979. Argument: docs/proofs/rdp.md.
//
// An order of 1 or less, or a value or δ that is no amount, gives +Inf.
func RDPEpsilon(order, value, delta float64) float64 {
	switch {
	case !isAmount(value) || !(order >= 1) || !(delta >= 0):
		return math.Inf(1)
	case delta >= raised(math.Sqrt(-expm1(-value)), 4):
		return 0
	case math.IsInf(order, 1):
		return value
	case delta == 0 || order == 1:
		return math.Inf(1)
	}
	b := order - 1
	terms := [...]float64{value, -log1p(1 / b), -Log(delta) / b, -Log(order) / b}
	var sum, size float64
	for _, term := range terms {
		sum += term
		size += math.Abs(term)
	}
	return math.Max(0, sum+float64(size*roundingSlack))
}

// RDPDelta returns a δ with which a mechanism of Rényi divergence at most value at
// one order is (ε, δ)-differentially private for ε ≥ 0, rounded up: the smaller of
//
//	exp((α−1)(value−ε))·(1−1/α)^α/(α−1)   and   √(1−e^{−value}).
//
// Guarantee, theorem and argument: as for [RDPEpsilon]. What is no amount, or an
// order below 1, gives 1.
func RDPDelta(order, value, epsilon float64) float64 {
	if !isAmount(value) || !(order >= 1) || !(epsilon >= 0) {
		return 1
	}
	if value == 0 || math.IsInf(order, 1) && value <= epsilon {
		return 0
	}
	variation := raised(math.Sqrt(-expm1(-value)), 4)
	if order == 1 || math.IsInf(order, 1) {
		return math.Min(1, variation)
	}
	b := order - 1
	growth, ratio, spread := float64(b*(value-epsilon)), float64(b*log1p(1/b)), Log(order)
	size := float64(b*(value+epsilon)) + ratio + spread
	delta := Exp(growth-ratio-spread+float64(size*roundingSlack)) * (1 + roundingSlack)
	if !(delta < variation) {
		return math.Min(1, variation)
	}
	return math.Max(delta, smallestDelta)
}

// BestRDPEpsilon returns the smallest [RDPEpsilon] over the orders and the values
// at them.
//
// Guarantee: as for RDPEpsilon; each order gives a true bound.
func BestRDPEpsilon(orders, values []float64, delta float64) float64 {
	best := math.Inf(1)
	for i, order := range orders {
		best = math.Min(best, RDPEpsilon(order, values[i], delta))
	}
	return best
}

// BestRDPDelta returns the smallest [RDPDelta] over the orders and the values at
// them.
//
// Guarantee: as for RDPDelta; each order gives a true bound.
func BestRDPDelta(orders, values []float64, epsilon float64) float64 {
	best := 1.0
	for i, order := range orders {
		best = math.Min(best, RDPDelta(order, values[i], epsilon))
	}
	return best
}

// lossAtom is a value of the loss with its probability under P.
type lossAtom struct{ loss, mass float64 }

// renyiDivergence returns D_α of a law of finitely many losses, rounded up. The
// masses may be off by 32 units of 2⁻⁵³ of each. Orders below 1 get the
// divergence of order 1, which is larger; α = +Inf gets the largest loss.
func renyiDivergence(atoms []lossAtom, order float64) float64 {
	if order != order {
		return math.Inf(1)
	}
	b := math.Max(order, 1) - 1
	var most, least float64
	for _, atom := range atoms {
		most, least = math.Max(most, atom.loss), math.Min(least, atom.loss)
	}
	if most == 0 && least == 0 {
		return 0
	}
	if math.IsInf(b, 1) {
		return raised(most, 1)
	}
	var sum float64
	if float64(b*most) > 500 {
		for _, atom := range atoms {
			sum += float64(atom.mass * Exp(float64(b*(atom.loss-most))))
		}
		return math.Min(raised(most, 1), raised(most, 4)+float64((Log(sum)+0x1p-40)/b))
	}
	for _, atom := range atoms {
		sum += float64(atom.mass * (excessOver(atom.loss, b) + excess(-atom.loss)))
	}
	return math.Min(raised(most, 1), raised(logOverOrder(sum, b), float64(64+len(atoms))))
}

// logOverOrder returns ln(1+b·moment)/b, and its limit at b = 0.
func logOverOrder(moment, b float64) float64 {
	if b == 0 {
		return moment
	}
	return log1p(b*moment) / b
}

// excess returns e^x − 1 − x, within 16 units of 2⁻⁵³ of it.
func excess(x float64) float64 {
	if math.Abs(x) > 0.5 {
		return expm1(x) - x
	}
	var sum float64
	for n := 18; n >= 2; n-- { // 0.5^17/19! < 1e-22 of the first term
		sum = float64(x/float64(n)) * (1 + sum)
	}
	return x * sum
}

// excessOver returns (e^{bx} − 1 − bx)/b, and its limit 0 at b = 0.
func excessOver(x, b float64) float64 {
	if b == 0 {
		return 0
	}
	return excess(b*x) / b
}
