package budget

import "math"

// CategoricalResponse is k-ary randomized response: of Categories categories the
// true one is kept with probability 1−Noise and otherwise replaced by one drawn
// uniformly from all of them, the true one included (Warner 1965; Kairouz, Bonawitz
// & Ramage 2016).
//
// Neighbours differ in the true category of one unit; those of the Special methods
// in whether it is a category or none, for which one is drawn uniformly.
//
// Figures of a response with a Noise outside [0, 1] or fewer than 2 categories are
// those of no protection.
type CategoricalResponse struct {
	Noise      float64
	Categories int64
}

func (r CategoricalResponse) valid() bool {
	return r.Noise >= 0 && r.Noise <= 1 && r.Categories >= 2
}

// other is the probability of each category that is not true.
func (r CategoricalResponse) other() float64 { return r.Noise / float64(r.Categories) }

// truth is the probability of the true category.
func (r CategoricalResponse) truth() float64 { return 1 - r.Noise + r.other() }

// highLoss is the loss at the true category, ln(truth/other), exact to 2⁻⁵⁰.
func (r CategoricalResponse) highLoss() float64 {
	return log1p(float64(float64(r.Categories)*(1-r.Noise)) / r.Noise)
}

// Epsilon returns the ε of pure differential privacy, ln(1 + k(1−p)/p), rounded
// up.
//
// Guarantee: for neighbours with different categories. Theorem: Kairouz, Bonawitz
// & Ramage 2016; the ratio of the two probabilities.
func (r CategoricalResponse) Epsilon() float64 {
	if !r.valid() || r.Noise == 0 {
		return math.Inf(1)
	}
	return raised(r.highLoss(), 8)
}

// SpecialEpsilon returns the ε of pure differential privacy, the larger of
// ln(k·truth) and −ln(k·other) = ln(1/p), rounded up.
//
// Guarantee: for neighbours with a category or none. Theorem: as for Epsilon.
func (r CategoricalResponse) SpecialEpsilon() float64 {
	if !r.valid() || r.Noise == 0 {
		return math.Inf(1)
	}
	return raised(math.Max(r.specialGain(), -Log(r.Noise)), 8)
}

// specialGain is ln(k·truth) = ln(1 + (k−1)(1−p)).
func (r CategoricalResponse) specialGain() float64 {
	return log1p(float64(float64(r.Categories-1) * (1 - r.Noise)))
}

// Delta returns the least δ for which the response is (ε, δ)-differentially
// private, for ε ≥ 0 the excess truth − e^ε·other, rounded up. Negative ε are
// allowed.
//
// Guarantee: for neighbours with different categories. Theorem: the best event is
// the true category, for ε < 0 also the k−2 whose loss is 0.
func (r CategoricalResponse) Delta(epsilon float64) float64 {
	switch {
	case !r.valid() || epsilon != epsilon:
		return 1
	case epsilon < 0: // the pair is symmetric
		return math.Min(1, raised(-expm1(epsilon)+float64(Exp(epsilon)*r.Delta(-epsilon)), 4))
	case r.Noise == 0:
		return 1
	}
	gap := r.highLoss() - epsilon
	gap += float64(r.highLoss() * 0x1p-50) // rounding of the loss
	if gap <= 0 {
		return 0
	}
	return math.Min(1, raised(-r.truth()*expm1(-gap), 16))
}

// RDP returns the Rényi divergence of order α ≥ 1, rounded up; orders below 1 get
// that of 1.
//
// Guarantee: for neighbours with different categories. Theorem: the divergence of
// a law of three losses.
func (r CategoricalResponse) RDP(order float64) float64 {
	if !r.valid() || r.Noise == 0 {
		return math.Inf(1)
	}
	high := r.highLoss()
	return renyiDivergence([]lossAtom{{high, r.truth()}, {-high, r.other()}}, order)
}

// SpecialRDP returns the larger Rényi divergence of order α ≥ 1 of the two
// directions, rounded up; orders below 1 get that of 1.
//
// Guarantee: for neighbours with a category or none. Theorem: as for RDP, with two
// losses.
func (r CategoricalResponse) SpecialRDP(order float64) float64 {
	if !r.valid() || r.Noise == 0 {
		return math.Inf(1)
	}
	k := float64(r.Categories)
	gain, loss := r.specialGain(), Log(r.Noise)
	category := renyiDivergence([]lossAtom{{gain, r.truth()}, {loss, float64((k - 1) * r.other())}}, order)
	none := renyiDivergence([]lossAtom{{-gain, 1 / k}, {-loss, (k - 1) / k}}, order)
	return math.Max(category, none)
}

// TruePositiveRate returns the largest rate at which a test can tell two
// categories apart at the given rate of false positives, rounded up.
//
// Guarantee: for neighbours with different categories. Theorem: Neyman & Pearson
// 1933: the outcomes with the largest likelihood ratio first.
func (r CategoricalResponse) TruePositiveRate(falsePositiveRate float64) float64 {
	if !r.valid() || r.Noise == 0 || !(falsePositiveRate < 1) {
		return 1
	}
	fpr := math.Max(0, falsePositiveRate)
	rate := float64(math.Min(fpr, r.other()) * (r.truth() / r.other())) // the category itself
	fpr = math.Max(0, fpr-r.other())
	same := math.Min(fpr, float64(float64(r.Categories-2)*r.other())) // those of loss 0
	rate += same
	rate += float64((fpr - same) * (r.other() / r.truth()))
	return math.Min(1, raised(rate, 16))
}
