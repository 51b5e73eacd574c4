package budget

// Laplace is the mechanism that adds independent noise of density
// exp(−|x|/Scale)/(2·Scale) to the coordinates of a real query whose answers move,
// between neighbours, by at most L1 in sum of absolute changes. It is for figures
// of other programs and for comparison: what this one draws is the discrete law of
// [LaplaceFor].
//
// With e = L1/Scale the loss L = ln dP/dQ of one coordinate moved by L1, the worst
// pair for one coordinate, lies in [−e, e] and has
//
//	P(L > x) = 1 − ½·exp(−(e−x)/2),   Q(L > x) = ½·exp(−(e+x)/2),   −e ≤ x < e
//
// in both directions.
type Laplace struct {
	Scale, L1 float64
}

// pure returns e, the ε of pure differential privacy (Dwork, McSherry, Nissim &
// Smith 2006).
func (l Laplace) pure() float64 { return l.L1 / l.Scale }

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
