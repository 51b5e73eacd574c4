package contour

import (
	"cmp"
	"math"
	"slices"
)

// A line is the contour itself, with points at distance τ.
type line struct {
	*integrand
	d, tau   float64 // τ = 2π/d
	points   *pointSum
	lead     leader
	periods  []float64 // of each group's factor in t, infinite if it has none
	order    []int     // the groups, strongest damping first
	faint    float64   // |M/M(c)|² below which a far point is left out
	patience float64   // approximate evaluations of laws left
}

const (
	// estimated is the relative error at which the line stops.
	estimated = 1e-9
	// patience bounds the approximate number of evaluations of laws on a line.
	patience = 1 << 21
)

// sumPoints returns δ(ε). It stops where the rest of the contour is small or patience runs out.
func (l *line) sumPoints() Result {
	aliases := l.aliasBound(l.d)
	from, peak, left := 0.0, 0.0, 1/math.Abs(l.c)
	for end := math.Ceil(16 * (l.c + 1) / l.tau); ; end *= 2 {
		l.points.envelope = 0
		end = l.addPoints(from, end)
		if from == 0 {
			peak = l.points.envelope * l.tau
			// Points left out from here on are below faint, not below the floor.
			left += math.Exp(math.Log(l.faint)/2-l.points.floor) / (math.Pi * end * l.tau)
		}
		r := l.points.newResult(aliases, 1/l.d, left)
		cut := math.Exp(l.logMoment) * l.tailBound(end*l.tau, l.points.envelope/(end-from+1), peak)
		done := cut <= max(r.Error, estimated*r.Delta) || l.patience < 0
		r.Error += cut
		if done {
			return r
		}
		from = end + 1
	}
}

// newLine returns a line whose aliases are d apart.
func (j *integrand) newLine(d float64) *line {
	more := math.Log1p(max(j.c, 0))
	l := &line{
		integrand: j, d: d, tau: 2 * math.Pi / d, patience: patience,
		points: j.newSum(j.excess, more), lead: j.chooseLeader(more),
	}
	// The weight of far points is at most (c/t)²: δ is about 1/(c(c+1)·deviation).
	l.faint = math.Exp(-2 * (negligible/2 + 4))
	damping := make([]float64, len(j.groups))
	for i, g := range j.groups {
		l.order = append(l.order, i)
		period := math.Inf(1)
		if h := g.law.latticeSpacing(); h != nil {
			period = 2 * math.Pi / toFloat(h)
		}
		l.periods = append(l.periods, period)
		for turn := 0.5; turn < 16; turn++ { // a sample of its period
			t := min(period, 1e3*(j.c+1)) * (turn/16 - 0.5)
			damping[i] += float64(g.count) * math.Log(max(g.law.damping(j.c, t, l.points.logs[i]), smallestDelta))
		}
	}
	slices.SortStableFunc(l.order, func(a, b int) int { return cmp.Compare(damping[a], damping[b]) })
	return l
}

// addPoints adds the points of index from to end, and returns how far it came before patience ran out.
func (l *line) addPoints(from, end float64) float64 {
	if l.lead.group < 0 {
		for i := from; i <= end; i++ {
			if l.addPoint(i, from > 0); l.patience < 0 {
				return i
			}
		}
		return end
	}
	next := from
	for m := math.Floor(from * l.tau / l.lead.period); m*l.lead.period-l.lead.width <= end*l.tau; m++ {
		next = max(next, math.Ceil((m*l.lead.period-l.lead.width)/l.tau))
		for ; next <= end && next*l.tau <= m*l.lead.period+l.lead.width; next++ {
			if l.addPoint(next, from > 0); l.patience < 0 {
				return next
			}
		}
		l.patience--
	}
	return end
}

// addPoint adds point i, together with its mirror image −i. It first checks whether a far point is negligible.
func (l *line) addPoint(i float64, far bool) {
	t := i * l.tau
	if far && len(l.groups) > 1 && l.isFaint(t) {
		return
	}
	for g := range l.groups {
		l.patience--
		if !l.points.applyFactor(g, l.reduceToPeriod(g, t)) {
			return
		}
	}
	l.points.addPhase(t * l.excess)
	weight := 2.0
	if i == 0 {
		weight = 1
	}
	z := complex(l.c, t)
	l.points.endPoint(1/(z*(z+1)), weight)
}

func (l *line) isFaint(t float64) bool {
	size := 1.0
	for _, g := range l.order {
		l.patience -= 0.125
		damping := l.groups[g].law.damping(l.c, l.reduceToPeriod(g, t), l.points.logs[g])
		if count := l.groups[g].count; count > 1 {
			damping = math.Pow(damping, float64(count))
		}
		if size *= damping; size < l.faint {
			return true
		}
	}
	return false
}

// reduceToPeriod reduces t to the period of a group's factor about 0.
func (l *line) reduceToPeriod(g int, t float64) float64 {
	if period := l.periods[g]; math.Abs(t) > period/2 {
		return t - period*math.Round(t/period)
	}
	return t
}

// tailBound bounds the contour beyond t, relative to the value on the axis. With m losses of bounded range, each at
// most A/t, and normal ones of Σρ together, which are below e^(−t²Σρ) from t on, it is below
//
//	1/π ∫ A^m·t^(−2−m) dt · e^(−t²Σρ) = A^m·e^(−t²Σρ) / (π(1+m)·t^(1+m)),
//
// taken over all. Without any of them, it is estimated from the mean size of the factors in the last stretch, with 1/t²
// beyond. In case no simultaneous return of all factors has occurred yet, it adds peaks as high as the one at the axis
// at all multiples of t: Σ 1/(mt)² = π²/6t². (A peak is half the one at the axis.)
func (l *line) tailBound(t, mean, peak float64) float64 {
	if l.density == 0 {
		return min(1, mean)/(math.Pi*t) + peak*math.Pi/(3*t*t)
	}
	var m, log float64
	for _, g := range l.groups {
		switch x := g.law.(type) {
		case *exponential:
			m += float64(g.count)
			log += float64(g.count) * (x.logDecay(l.c) - real(x.logMGF(l.c, 0)))
		case *normal:
			log -= float64(g.count) * t * t * x.r
		}
	}
	return math.Exp(log - math.Log(math.Pi*(1+m)) - (1+m)*math.Log(t))
}
