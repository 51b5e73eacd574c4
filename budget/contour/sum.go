package contour

import "math"

// negligible is an exponent at which a point of the sum is left out, before the number of points is taken into account.
const negligible = 42

// A leader is the group that allows most points to be skipped: its moment generating function vanishes except near the
// multiples of its period. If there is none, group is −1.
type leader struct {
	group  int
	period float64 // 2π/h of the group
	width  float64 // distance from a multiple of the period at which it vanishes
}

// chooseLeader returns the leader; a point below e^(−negligible−more) is left out.
func (j *integrand) chooseLeader(more float64) leader {
	best, least := leader{group: -1}, 0.5
	for i, group := range j.groups {
		g, ok := group.law.(*gaussian)
		if !ok || !g.isDual() {
			continue
		}
		half := math.Pi / toFloat(g.latticeSpacing())
		vanishes := func(t float64) bool {
			return float64(group.count)*g.logEnvelope(j.c, t) < -negligible-more
		}
		if !vanishes(half) {
			continue
		}
		narrow, wide := 0.0, half
		for wide-narrow > wide/64 {
			if middle := (narrow + wide) / 2; vanishes(middle) {
				wide = middle
			} else {
				narrow = middle
			}
		}
		if wide/half < least {
			least, best = wide/half, leader{i, 2 * half, wide}
		}
	}
	return best
}

// A pointSum adds up the integrand at points of the contour, relative to its value where the contour crosses the axis.
type pointSum struct {
	*integrand
	logs  []float64 // log of each group's factor on the axis
	shift float64   // of the loss, in the exponent
	floor float64   // log of the size at which a point is left out

	size, phase, effort float64 // of the current point
	total, rounding     compensated
	envelope            float64 // Σ of |M/M(c)| over the points since it was last cleared
}

func (j *integrand) newSum(shift, more float64) *pointSum {
	s := &pointSum{integrand: j, shift: shift, floor: -negligible - more}
	for _, g := range j.groups {
		s.logs = append(s.logs, real(g.law.logMGF(j.c, 0)))
	}
	return s
}

// applyFactor multiplies the point by its i-th group's factor, at a t that may be reduced by the group's period. It
// returns false, and ends the point, once the point is negligible.
func (s *pointSum) applyFactor(i int, t float64) bool {
	if i == 0 {
		s.size, s.phase, s.effort = 0, 0, 0
	}
	log := s.groups[i].law.logMGF(s.c, t)
	count := float64(s.groups[i].count)
	s.size += count * (real(log) - s.logs[i])
	s.phase += count * imag(log)
	s.effort += count * (1 + math.Abs(real(log)) + math.Abs(imag(log)))
	if s.size >= s.floor {
		return true
	}
	s.size, s.phase, s.effort = 0, 0, 0
	return false
}

// addPhase adds to the phase of the point.
func (s *pointSum) addPhase(angle float64) {
	s.phase += angle
	s.effort += math.Abs(angle)
}

// endPoint ends the point: it adds the real part of the point times the kernel and a weight to the sum.
func (s *pointSum) endPoint(kernel complex128, weight float64) {
	size := math.Exp(s.size)
	s.envelope += size
	sin, cos := math.Sincos(s.phase)
	s.total.add(weight * size * (cos*real(kernel) - sin*imag(kernel)))
	s.rounding.add(weight * size * math.Hypot(real(kernel), imag(kernel)) * (8 + s.effort))
	s.size, s.phase, s.effort = 0, 0, 0
}

// roundoff is half a unit in the last place of 1.
const roundoff = 0x1p-53

// newResult returns the sum times a unit and the value on the axis. Its error includes the bound of the trapezoid rule,
// and a bound on all points left out together: at most e^floor times passed.
func (s *pointSum) newResult(aliases, unit, passed float64) Result {
	base, effort := s.c*s.shift, math.Abs(s.c*s.shift)+8
	for i, g := range s.groups {
		base += float64(g.count) * s.logs[i]
		effort += float64(g.count) * (1 + math.Abs(s.logs[i]))
	}
	scale := math.Exp(base)
	delta := scale * unit * s.total.value()
	rounding := roundoff * (scale*unit*s.rounding.value() + effort*math.Abs(delta))
	return Result{
		Delta: min(1, max(0, s.residueAtZero()+delta)),
		Error: aliases + rounding + scale*passed*math.Exp(s.floor) + smallestDelta,
	}
}
