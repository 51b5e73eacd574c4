package budget

import "math"

// The Rényi divergence of the Poisson-subsampled Gaussian, with q the rate and
// μ = L2/Sigma:
//
//	e^{(α−1)·D_α} = E[(1+z)^α],   z = q(e^{μX−μ²/2} − 1),   X ~ N(0, 1).
//
// As E[z] = 0 this exceeds 1 by E[(1+z)^α − 1 − αz], an integrand that is nowhere
// negative; at integer orders by Σ C(α,j)·(1−q)^{α−j}·q^j·(e^{j(j−1)μ²/2} − 1) over
// j ≥ 2, whose terms are none of them negative (Mironov, Talwar & Zhang 2019).

// RDP returns the Rényi divergence of order α ≥ 1, rounded up: it is above it by
// less than 1e-9 of it. Orders below 1 get the divergence of order 1, which is
// larger. Integer orders above 100 000 get the divergence without sampling, and
// fractional ones with α·max(μ, 1)² above that the bound that follows from the two
// integers beside them, (α−1)·D_α being convex in α.
//
// Guarantee: for add-remove neighbours of L2. Theorem: Mironov, Talwar & Zhang
// 2019, theorems 4 and 5 (the removal is the worse direction). Argument:
// docs/proofs/rdp.md.
func (s SubsampledGaussian) RDP(order float64) float64 {
	unsampled := s.Gaussian.RDP(math.Max(order, 1))
	if !s.valid() || math.IsInf(unsampled, 1) {
		return math.Inf(1)
	}
	if s.Rate == 0 {
		return 0
	}
	alpha := math.Max(order, 1)
	wide := float64(alpha * math.Max(s.mu()*s.mu(), 1))
	switch floor := math.Floor(alpha); {
	case unsampled == 0 || s.Rate == 1 || alpha > largestOrder:
		return unsampled // sampling never adds to the loss
	case alpha == floor && alpha > 1:
		return math.Min(unsampled, s.integerRDP(alpha))
	case wide <= largestOrder:
		return math.Min(unsampled, s.fractionalRDP(alpha))
	case floor == 1:
		return math.Min(unsampled, s.integerRDP(2)) // divergences rise with the order
	default:
		below, above := float64((floor-1)*s.integerRDP(floor)), float64(floor*s.integerRDP(floor+1))
		between := float64((floor+1-alpha)*below) + float64((alpha-floor)*above)
		return math.Min(unsampled, raised(between/(alpha-1), 8))
	}
}

// largestOrder bounds the terms that are summed.
const largestOrder = 1e5

// integerRDP is the divergence by the sum. Term j carries the rounding of j
// logarithms, and every term that of its exponent, below 700 where it matters.
func (s SubsampledGaussian) integerRDP(alpha float64) float64 {
	value := divergenceOf(s.logBinomialMoment(alpha)-Log(alpha-1), alpha-1)
	return raised(value, 1<<13+float64(alpha*(Log(alpha)+4)))
}

// fractionalRDP is the divergence by the integral. A term carries the rounding of
// its exponent, which is made of parts up to α²μ².
func (s SubsampledGaussian) fractionalRDP(alpha float64) float64 {
	size := float64(alpha * s.mu())
	return raised(divergenceOf(s.logIntegral(alpha), alpha-1), 1<<14+float64(8*math.Min(size*size, 1e5)))
}

// divergenceOf returns ln(1+b·m)/b for m given as ln m, and its limit m at b = 0.
func divergenceOf(logM, b float64) float64 {
	if b == 0 {
		return Exp(logM)
	}
	if y := logM + Log(b); y > 700 {
		return y / b
	}
	return log1p(b*Exp(logM)) / b
}

// logBinomialMoment is the sum at an integer order.
func (s SubsampledGaussian) logBinomialMoment(alpha float64) float64 {
	mu := s.mu()
	half := float64(mu * mu / 2)
	odds := Log(s.Rate) - log1p(-s.Rate)
	logWeight := float64(alpha * log1p(-s.Rate)) // of C(α,j)(1−q)^{α−j}q^j
	var lost float64                             // what rounding took from logWeight
	sum := newLogSum()
	for j := 1.0; j <= alpha; j++ {
		step := Log((alpha-j+1)/j) + odds - lost
		next := logWeight + step
		lost = (next - logWeight) - step
		logWeight = next
		if j >= 2 {
			sum.add(logWeight + logExpm1(float64(j*(j-1)*half)))
		}
	}
	return sum.log()
}

// integrationReach is how many standard deviations beyond the outermost bump are
// integrated over: exp(−17²/2) is below 1e-62.
const integrationReach = 17.0

// logIntegral is ln of the integral over x of N(0,1) times ((1+z)^α − 1 − αz)/(α−1)
// by the trapezoid rule. The integrand is analytic within π/μ of the real line,
// where 1+z has its zeros, and the rule's error falls as exp(−2π·(π/μ)/step) and as
// exp(−2π²/step²).
func (s SubsampledGaussian) logIntegral(alpha float64) float64 {
	mu := s.mu()
	step := math.Min(0.5, 0.4/mu)
	sum := newLogSum()
	low, high := -integrationReach, float64(alpha*mu)+integrationReach
	for i := math.Floor(low / step); float64(i*step) < high; i++ {
		x := float64(i * step)
		z := float64(s.Rate * expm1(float64(mu*x)-float64(mu*mu/2)))
		sum.add(logPowerExcess(z, float64(mu*x)-float64(mu*mu/2)+Log(s.Rate), alpha) - float64(x*x/2))
	}
	return sum.log() + Log(step*inverseRoot)
}

// logPowerExcess returns ln(((1+z)^α − 1 − αz)/(α−1)) for z > −1, and at α = 1 the
// limit ln((1+z)ln(1+z) − z). Where z overflows, logZ stands for it.
func logPowerExcess(z, logZ, alpha float64) float64 {
	b := alpha - 1
	y, part := log1p(z), z/(1+z)
	if z > 1e300 {
		y, part = logZ, 1
	}
	switch w := float64(b * y); {
	case w > 30: // (1+z)^α is all that counts: less 1 + αz = (1+z)(1 + bz/(1+z))
		return y + w + log1p(-Exp(-w)*(1+float64(b*part))) - Log(b)
	case z > 1e300:
		return logZ + Log(excessOver(y, b)+y-1)
	}
	return Log(powerExcess(z, alpha))
}

// powerExcess returns ((1+z)^α − 1 − αz)/(α−1): with y = ln(1+z) it is
// e^y·((e^{by}−1−by)/b) + (e^y·y − z), both of them nowhere negative.
func powerExcess(z, alpha float64) float64 {
	y := log1p(z)
	return float64((1+z)*excessOver(y, alpha-1)) + logExcess(z, y)
}

// logExcess returns (1+z)·y − z for y = ln(1+z): by the series Σ (−z)^n/(n(n−1))
// near 0.
func logExcess(z, y float64) float64 {
	if math.Abs(z) > 0.1 {
		return float64((1+z)*y) - z
	}
	var sum float64
	for n := 18; n >= 2; n-- {
		sum = 1/float64(n*(n-1)) - float64(z*sum)
	}
	return z * z * sum
}

// logExpm1 returns ln(e^x − 1) for x ≥ 0.
func logExpm1(x float64) float64 {
	if x > 40 {
		return x
	}
	return Log(expm1(x))
}

// logSum adds numbers given by their logarithms.
type logSum struct{ most, sum, lost float64 }

func newLogSum() logSum { return logSum{most: math.Inf(-1)} }

func (s *logSum) add(x float64) {
	if math.IsInf(x, -1) {
		return
	}
	if x > s.most {
		scale := Exp(s.most - x)
		s.sum, s.lost, s.most = s.sum*scale, s.lost*scale, x
	}
	// Compensated, so that the error does not grow with the number of terms.
	term := Exp(x-s.most) - s.lost
	next := s.sum + term
	s.lost = (next - s.sum) - term
	s.sum = next
}

func (s *logSum) log() float64 { return s.most + Log(s.sum) }
