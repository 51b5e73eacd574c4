package budget

// This file computes δ at a given ε. Plans and reports need only ε at a given δ; the tests of compositions check both.

// DeltaAt returns a δ for which the composition is (ε, δ)-differentially private at this ε ≥ 0, by the best of the
// methods of EpsilonAt, rounded up.
//
// Guarantee: for the neighbours of the steps. Theorem: as for [Loss.EpsilonAt].
func (l Loss) DeltaAt(epsilon float64) Bound {
	if l.sample != nil {
		q := roundUp(l.sample)
		whole := l.withoutSample().DeltaAt(unamplified(epsilon, q))
		whole.Value = min(1, float64(whole.Value*q*(1+0x1p-50)))
		return whole
	}
	best := Bound{ZCDPDelta(roundUp(l.Rho()), epsilon), MethodZCDP}
	if l.epsilon != nil && roundUp(l.epsilon) <= epsilon {
		best = Bound{0, MethodPure}
	}
	return smallerBound(best, Bound{l.numericalDelta(epsilon), l.methodName()})
}

// numericalDelta is the δ of the loss distribution at ε.
func (l Loss) numericalDelta(epsilon float64) float64 {
	if len(l.steps) == 0 {
		return 0
	}
	if l.isNormal() {
		return min(1, l.withSlack(l.normal.Delta(epsilon-2*l.slack)))
	}
	s := compose(l.steps, l.sketch, tiltAt(l.sketch, epsilon), usual)
	delta := min(1, l.withSlack(s.deltaAt(epsilon-2*l.slack)))
	if l.byRho != nil {
		delta = min(delta, l.byRho.numericalDelta(epsilon))
	}
	return delta
}

// tiltAt returns the θ at which Chernoff's bound on δ(ε), K(θ) + ln κ(θ) − θε, is
// least.
func tiltAt(sketches []sketch, epsilon float64) float64 {
	return minimizeTilt(sketches, func(theta float64) float64 {
		return sumCumulant(sketches, theta) + logHockeyStick(theta) - float64(theta*epsilon)
	})
}
