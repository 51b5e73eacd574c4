package budget

import "math"

// Laplace is the mechanism that adds independent noise of density
// exp(−|x|/Scale)/(2·Scale) to a real answer that moves, between neighbours, by at
// most L1. It is for the figures of other programs and for comparison: what this
// one draws is the discrete law of [LaplaceFor].
//
// With e = L1/Scale the loss L = ln dP/dQ of the worst pair lies in [−e, e] and has
//
//	P(L > x) = 1 − ½·exp(−(e−x)/2),   Q(L > x) = ½·exp(−(e+x)/2),   −e ≤ x < e
//
// in both directions.
//
// Figures of a Laplace with a Scale that is not positive, or an L1 that is
// negative or not finite, are those of no protection.
type Laplace struct {
	Scale, L1 float64
}

// pure returns e, the ε of pure differential privacy (Dwork, McSherry, Nissim &
// Smith 2006).
func (l Laplace) pure() float64 { return l.L1 / l.Scale }

func (l Laplace) valid() bool { return l.Scale > 0 && isAmount(l.L1) }

// Delta returns the least δ for which the mechanism is (ε, δ)-differentially
// private, 1 − exp(−(e−ε)/2) for −e ≤ ε ≤ e, rounded up: it is above it by less
// than 1e-14 of it, and 0 exactly where it is. Negative ε are allowed.
//
// Guarantee: for the neighbours of L1. Theorem: Balle, Barthe & Gaboardi 2018,
// theorem 3. Argument: docs/proofs/gaussian-continuous.md.
func (l Laplace) Delta(epsilon float64) float64 {
	if !l.valid() || epsilon != epsilon {
		return 1
	}
	// gap is e − ε, whose sign is that of L1 − Scale·ε: exact.
	product, low := twoProduct(l.Scale, epsilon)
	gap := ((l.L1 - product) - low) / l.Scale
	switch {
	case gap <= 0:
		return 0
	case epsilon < -l.pure():
		return atMostOne(raised(-expm1(epsilon), 4))
	}
	return atMostOne(raised(-expm1(-gap/2), 8))
}

// Epsilon returns the least ε ≥ 0 with Delta(ε) ≤ δ: +Inf where there is none.
//
// Guarantee and theorem: as for Delta.
func (l Laplace) Epsilon(delta float64) float64 {
	return leastFitting(func(epsilon float64) bool { return l.Delta(epsilon) <= delta })
}

// RDP returns the Rényi divergence of order α ≥ 1, rounded up:
//
//	ln(α/(2α−1)·e^{(α−1)e} + (α−1)/(2α−1)·e^{−αe})/(α−1),
//
// at α = 1 its limit e + e^{−e} − 1, at α = +Inf e itself. Orders below 1 get the
// figure of 1, which is larger.
//
// Guarantee: for the neighbours of L1. Theorem: Mironov 2017, proposition 6. The
// permute-and-flip mechanism of the same ε loses no more (Ding, Kifer, Sayed
// Ghalib Rasool, Steinke & Wang 2021).
func (l Laplace) RDP(order float64) float64 {
	if !l.valid() || order != order {
		return math.Inf(1)
	}
	e, alpha := l.pure(), math.Max(order, 1)
	b := alpha - 1
	switch {
	case math.IsInf(alpha, 1):
		return raised(e, 1)
	case float64(b*e) > 500: // the second summand is below 2⁻⁵³ of the first
		return math.Min(raised(e, 1), raised(e+log1p(-b/(alpha+b))/b, 8)+float64(e*0x1p-50))
	}
	// exp(b·RDP) − 1 = b·moment: the summands less 1, written without what cancels.
	moment := (float64(alpha*excessOver(e, b)) + excess(-float64(alpha*e))) / (alpha + b)
	return raised(logOverOrder(moment, b), 64)
}

// TruePositiveRate returns the largest rate at which a test can tell neighbours
// apart at the given rate of false positives, rounded up.
//
// Guarantee: for the neighbours of L1. Theorem: Dong, Roth & Su 2022, proposition
// A.6.
func (l Laplace) TruePositiveRate(falsePositiveRate float64) float64 {
	if !l.valid() || !(falsePositiveRate < 1) {
		return 1
	}
	fpr := math.Max(0, falsePositiveRate)
	e := l.pure()
	rate := 1 - float64(Exp(-e)*(1-fpr))
	switch {
	case fpr < Exp(-e)/2:
		rate = float64(Exp(e) * fpr)
	case fpr <= 0.5:
		rate = 1 - Exp(-e)/float64(4*fpr)
	}
	return math.Min(1, raised(rate, 16+float64(4*e)))
}

// lossTails returns P(L > x) and Q(L > x), each within 2⁻⁵⁰·(1+e) of it
// relatively, but for the exact place of the steps at −e and e.
func (l Laplace) lossTails(x float64) (p, q float64) {
	e := l.pure()
	switch {
	case x >= e:
		return 0, 0
	case x < -e:
		return 1, 1
	}
	return 1 - float64(Exp((x-e)/2)/2), Exp(-(x+e)/2) / 2
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurate as lossTails.
func (l Laplace) lossHeads(x float64) (p, q float64) {
	e := l.pure()
	switch {
	case x >= e:
		return 1, 1
	case x < -e:
		return 0, 0
	}
	return Exp((x-e)/2) / 2, 1 - float64(Exp(-(x+e)/2)/2)
}

// lossRange returns the least and the greatest loss.
func (l Laplace) lossRange() (low, high float64) {
	e := l.pure()
	return -e, e
}
