package budget

import "math"

// SubsampledGaussian is the [Gaussian] mechanism run on a Poisson sample: every
// unit takes part with probability Rate, independently of the others.
//
// In units of Sigma, with μ = L2/Sigma, its worst pair is the mixture
// (1−Rate)·N(0, 1) + Rate·N(μ, 1) against N(0, 1): the mixture is P when a unit is
// removed, and Q when one is added (Mironov, Talwar & Zhang 2019; Zhu, Dong & Wang
// 2022). The loss of a removal,
//
//	L(x) = ln(1 − Rate + Rate·exp(μx − μ²/2)),
//
// increases in x from ln(1−Rate); that of an addition is −L.
type SubsampledGaussian struct {
	Gaussian
	Rate float64
}

// removal and addition are the two directions of a [SubsampledGaussian].
type (
	removal  SubsampledGaussian
	addition SubsampledGaussian
)

func (s SubsampledGaussian) valid() bool {
	return s.Gaussian.valid() && s.Rate >= 0 && s.Rate <= 1
}

// Delta returns the least δ for which the mechanism is (ε, δ)-differentially
// private for add-remove neighbours, rounded up: the larger of DeltaRemove and
// DeltaAdd. Negative ε are allowed.
//
// Guarantee: for add-remove neighbours of L2. Theorem: Zhu, Dong & Wang 2022,
// theorem 11. Argument: docs/proofs/gaussian-continuous.md.
func (s SubsampledGaussian) Delta(epsilon float64) float64 {
	return math.Max(s.DeltaRemove(epsilon), s.DeltaAdd(epsilon))
}

// DeltaRemove returns the δ of the neighbours from which a unit is removed,
// Rate·δ_G(ln(1 + (e^ε−1)/Rate)) with δ_G that of the Gaussian, rounded up.
//
// Guarantee and theorem: as for Delta.
func (s SubsampledGaussian) DeltaRemove(epsilon float64) float64 {
	if !s.valid() {
		return 1
	}
	return poissonRemoval(s.Rate, epsilon, s.Gaussian.Delta)
}

// DeltaAdd returns the δ of the neighbours to which a unit is added, 0 from
// −ln(1−Rate) on, rounded up.
//
// Guarantee and theorem: as for Delta.
func (s SubsampledGaussian) DeltaAdd(epsilon float64) float64 {
	if !s.valid() {
		return 1
	}
	return poissonAddition(s.Rate, epsilon, s.Gaussian.Delta)
}

// DeltaReplace returns the least δ at ε for neighbours in which a unit is replaced
// by another, if it takes part, with answers that move by at most L2 either way
// from those without it: rounded up. Of the mixtures with N(μ, 1) and with
// N(−μ, 1) the ratio rises, so that the best event is X > x; and with
// x the root of
//
//	(1−Rate) + Rate·exp(μx − μ²/2) = e^ε·((1−Rate) + Rate·exp(−μx − μ²/2))
//
// δ is the sum of two hockey sticks,
//
//	Rate·δ_G(μx − μ²/2) + e^ε·Rate·exp(−μx − μ²/2)·δ_G(μx + μ²/2).
//
// Guarantee: for replace neighbours. Argument: docs/proofs/gaussian-continuous.md.
func (s SubsampledGaussian) DeltaReplace(epsilon float64) float64 {
	switch {
	case !s.valid():
		return 1
	case epsilon < 0: // the pair is symmetric
		return atMostOne(raised(-expm1(epsilon)+float64(Exp(epsilon)*s.DeltaReplace(-epsilon)), 4))
	case s.Rate == 0 || s.L2 == 0:
		return 0
	}
	mu := s.mu()
	half := float64(mu * mu / 2)
	// e^{μx} = e^{ε/2}·(r + √(r²+1)), r = (1−Rate)/Rate·sinh(ε/2)·e^{μ²/2}.
	logR := log1p(-s.Rate) - Log(s.Rate) + half + float64(epsilon/2) + Log(-expm1(-epsilon)) - math.Ln2
	at := float64(epsilon/2) + asinhOfExp(logR)
	slack := float64((at + half + 1) * 0x1p-46)
	delta := float64(s.Rate*s.Gaussian.Delta(at-half-slack)) +
		float64(s.Rate*Exp(epsilon-at-half+slack)*s.Gaussian.Delta(at+half-slack))
	return atMostOne(raised(delta, 16))
}

// asinhOfExp returns asinh(e^y) = ln(e^y + √(e^2y + 1)).
func asinhOfExp(y float64) float64 {
	if y > 40 {
		return y + math.Ln2
	}
	r := Exp(y)
	return log1p(r + r*r/(1+math.Sqrt(1+float64(r*r))))
}

// Epsilon returns the least ε ≥ 0 with Delta(ε) ≤ δ: +Inf where there is none.
//
// Guarantee and theorem: as for Delta.
func (s SubsampledGaussian) Epsilon(delta float64) float64 {
	return leastFitting(func(epsilon float64) bool { return s.Delta(epsilon) <= delta })
}

// TruePositiveRate returns the largest rate at which a test can tell add-remove
// neighbours apart at the given rate of false positives, rounded up. Every ε bounds
// it by e^ε·fpr + δ(ε); the ε taken is the loss at the threshold of the best test.
//
// Guarantee: for add-remove neighbours of L2. Theorem: Neyman & Pearson 1933; Dong,
// Roth & Su 2022, proposition 2.12.
func (s SubsampledGaussian) TruePositiveRate(falsePositiveRate float64) float64 {
	if !s.valid() || !(falsePositiveRate < 1) {
		return 1
	}
	fpr := math.Max(0, falsePositiveRate)
	if s.Rate == 0 || s.L2 == 0 || fpr == 0 {
		return fpr
	}
	low, high := -45.0, 45+s.mu() // the test for an addition is X ≤ low
	for range 60 {
		middle := float64((low + high) / 2)
		if _, below := s.mixture(middle); below > fpr {
			high = middle
		} else {
			low = middle
		}
	}
	removal, addition := s.lossAt(NormalQuantile(fpr)), -s.lossAt(low)
	rate := math.Max(float64(Exp(removal)*fpr)+s.DeltaRemove(removal), float64(Exp(addition)*fpr)+s.DeltaAdd(addition))
	return atMostOne(raised(rate, 4))
}

// lossAt returns L(x).
func (s SubsampledGaussian) lossAt(x float64) float64 {
	mu := s.mu()
	return log1p(s.Rate * expm1(float64(mu*x)-float64(mu*mu/2)))
}

// poissonRemoval returns the hockey stick of (1−q)·Q + q·P against Q at ε, rounded
// up, from the profile of (P, Q), decreasing and itself rounded up: with
// e^x = 1 + (e^ε−1)/q it is q times the profile at x, and 1 − e^ε where there is no
// such x.
//
// Theorem: Balle, Barthe & Gaboardi 2018, theorem 2.
func poissonRemoval(q, epsilon float64, profile func(epsilon float64) float64) float64 {
	switch q {
	case 0:
		return math.Max(0, -expm1(epsilon))
	case 1:
		return profile(epsilon)
	}
	ratio := expm1(epsilon) / q
	if !(ratio > -1) {
		return atMostOne(raised(-expm1(epsilon), 2))
	}
	x := log1p(ratio)
	slack := float64((math.Abs(x) + math.Abs(ratio)/(1+ratio)) * 0x1p-49)
	if math.IsInf(ratio, 1) {
		x = epsilon - Log(q)
		slack = float64(x * 0x1p-49)
	}
	delta := raised(q*profile(x-slack), 2)
	return atMostOne(math.Max(delta, -expm1(epsilon)))
}

// poissonAddition returns the hockey stick of Q against (1−q)·Q + q·P at ε, rounded
// up, from the profile of (Q, P): with c = 1 − e^ε(1−q) it is c times the profile
// at ε + ln(q/c), and 0 where c is not positive.
//
// Theorem: as for poissonRemoval.
func poissonAddition(q, epsilon float64, profile func(epsilon float64) float64) float64 {
	switch q {
	case 0:
		return math.Max(0, -expm1(epsilon))
	case 1:
		return profile(epsilon)
	}
	unsampled := log1p(-q)
	rest := epsilon + unsampled - float64((math.Abs(epsilon)-unsampled)*0x1p-50)
	if rest >= 0 {
		return 0
	}
	c := -expm1(rest)
	x := epsilon + Log(q) - Log(c)
	slack := float64((math.Abs(epsilon) - unsampled - Log(q) - Log(c) + 1) * 0x1p-49)
	return atMostOne(math.Max(raised(c*profile(x-slack), 4), -expm1(epsilon)))
}

// cut returns the x with L(x) = loss, −Inf at and below the least loss.
func (s SubsampledGaussian) cut(loss float64) float64 {
	mu := s.mu()
	ratio := expm1(loss) / s.Rate
	if !(ratio > -1) {
		return math.Inf(-1)
	}
	unsampled := log1p(ratio)
	if math.IsInf(ratio, 1) {
		unsampled = loss - Log(s.Rate)
	}
	return unsampled/mu + float64(mu/2)
}

// mixture returns P(X > x) and P(X ≤ x) under the mixture.
func (s SubsampledGaussian) mixture(x float64) (above, below float64) {
	mu, rest := s.mu(), 1-s.Rate
	return float64(rest*normalTail(x)) + float64(s.Rate*normalTail(x-mu)),
		float64(rest*normalTail(-x)) + float64(s.Rate*normalTail(mu-x))
}

// lossTails returns P(L > x) and Q(L > x). Their relative error is that of the
// normal tails at c = cut(x), 2⁻⁵⁰·(16+c²), plus what the rounding of c takes:
// c·dc with dc = 2⁻⁵⁰·(|ln|+1)/μ/(1 + expm1(x)/Rate).
func (r removal) lossTails(x float64) (p, q float64) {
	s := SubsampledGaussian(r)
	c := s.cut(x)
	p, _ = s.mixture(c)
	return p, normalTail(c)
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurate as lossTails.
func (r removal) lossHeads(x float64) (p, q float64) {
	s := SubsampledGaussian(r)
	c := s.cut(x)
	_, p = s.mixture(c)
	return p, normalTail(-c)
}

// lossRange returns the infimum and the supremum of the loss.
func (r removal) lossRange() (low, high float64) { return log1p(-r.Rate), math.Inf(1) }

// lossTails returns P(L > x) and Q(L > x), as accurate as those of a removal.
func (a addition) lossTails(x float64) (p, q float64) {
	q, p = removal(a).lossHeads(-x)
	return p, q
}

// lossHeads returns P(L ≤ x) and Q(L ≤ x), as accurate as lossTails.
func (a addition) lossHeads(x float64) (p, q float64) {
	q, p = removal(a).lossTails(-x)
	return p, q
}

// lossRange returns the infimum and the supremum of the loss.
func (a addition) lossRange() (low, high float64) { return math.Inf(-1), -log1p(-a.Rate) }
