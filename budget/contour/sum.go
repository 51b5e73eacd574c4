package contour

import "math"

// negligible is an exponent at which a point of the sum is left out, before what
// the number of points adds to it.
const negligible = 42

// A leader is the group by which most points can be passed over: its moment
// generating function vanishes but near its returns, at the multiples of its
// period. None has group −1.
type leader struct {
	group  int
	period float64 // 2π/h of the group
	width  float64 // how far from a return it vanishes
}

// leads chooses the leader; below e^(−negligible−more) a point is left out.
func (j *judgement) leads(more float64) leader {
	best, least := leader{group: -1}, 0.5
	for i, group := range j.groups {
		g, ok := group.law.(*gaussian)
		if !ok || !g.dual() {
			continue
		}
		half := math.Pi / float(g.spacing())
		vanishes := func(t float64) bool {
			return float64(group.count)*g.envelope(j.c, t) < -negligible-more
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

// A pointSum adds up the integrand at points of the contour, each relative to
// where the contour crosses the axis.
type pointSum struct {
	*judgement
	logs  []float64 // log of each group's factor on the axis
	shift float64   // of the loss, in the exponent
	floor float64   // log of the size at which a point is left out

	size, phase, effort float64 // of the point under way
	total, rounding     compensated
	envelope            float64 // Σ of |M/M(c)| over the points since it was last cleared
}

func (j *judgement) newSum(shift, more float64) *pointSum {
	s := &pointSum{judgement: j, shift: shift, floor: -negligible - more}
	for _, g := range j.groups {
		s.logs = append(s.logs, real(g.law.log(j.c, 0)))
	}
	return s
}

// factor multiplies the point by its i-th group's factor, at a t that may be
// reduced by the group's period. It is false, and the point is over, once that
// can be left out.
func (s *pointSum) factor(i int, t float64) bool {
	if i == 0 {
		s.size, s.phase, s.effort = 0, 0, 0
	}
	log := s.groups[i].law.log(s.c, t)
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

// turn adds to the point's phase.
func (s *pointSum) turn(angle float64) {
	s.phase += angle
	s.effort += math.Abs(angle)
}

// add ends the point: its real part times the kernel and a weight is added.
func (s *pointSum) add(kernel complex128, weight float64) {
	size := math.Exp(s.size)
	s.envelope += size
	sin, cos := math.Sincos(s.phase)
	s.total.add(weight * size * (cos*real(kernel) - sin*imag(kernel)))
	s.rounding.add(weight * size * math.Hypot(real(kernel), imag(kernel)) * (8 + s.effort))
	s.size, s.phase, s.effort = 0, 0, 0
}

// roundoff is half a unit in the last place of 1.
const roundoff = 0x1p-53

// result is the sum times a unit and the value on the axis. To the error come the
// bound of the rule's own, and that of the points left out: of all together at
// most e^floor times passed.
func (s *pointSum) result(aliases, unit, passed float64) Result {
	base, effort := s.c*s.shift, math.Abs(s.c*s.shift)+8
	for i, g := range s.groups {
		base += float64(g.count) * s.logs[i]
		effort += float64(g.count) * (1 + math.Abs(s.logs[i]))
	}
	scale := math.Exp(base)
	delta := scale * unit * s.total.value()
	rounding := roundoff * (scale*unit*s.rounding.value() + effort*math.Abs(delta))
	return Result{
		Delta: min(1, max(0, s.residue()+delta)),
		Error: aliases + rounding + scale*passed*math.Exp(s.floor) + faintest,
	}
}
