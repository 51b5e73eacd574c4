package contour

import (
	"cmp"
	"math"
	"slices"
)

// A line is the contour itself, with points τ apart.
type line struct {
	*judgement
	d, tau   float64 // τ = 2π/d
	points   *pointSum
	lead     leader
	periods  []float64 // of each group's factor in t, infinite where there is none
	order    []int     // the groups, those that dampen most first
	faint    float64   // |M/M(c)|² below which a far point is left out
	patience float64   // evaluations of laws still to spend, about
}

const (
	// estimated is the relative error at which the line stops.
	estimated = 1e-9
	// patience bounds the evaluations of laws on a line, about.
	patience = 1 << 21
)

// sum is δ(ε), cut off where what lies beyond is small or time is up.
func (l *line) sum() Result {
	aliases := l.aliases(l.d)
	from, peak, left := 0.0, 0.0, 1/math.Abs(l.c)
	for end := math.Ceil(16 * (l.c + 1) / l.tau); ; end *= 2 {
		l.points.envelope = 0
		end = l.walk(from, end)
		if from == 0 {
			peak = l.points.envelope * l.tau
			// Points left out from here on are below faint, not below the floor.
			left += math.Exp(math.Log(l.faint)/2-l.points.floor) / (math.Pi * end * l.tau)
		}
		r := l.points.result(aliases, 1/l.d, left)
		cut := math.Exp(l.base) * l.beyond(end*l.tau, l.points.envelope/(end-from+1), peak)
		done := cut <= max(r.Error, estimated*r.Delta) || l.patience < 0
		r.Error += cut
		if done {
			return r
		}
		from = end + 1
	}
}

// newLine lays out a line whose aliases are d apart.
func (j *judgement) newLine(d float64) *line {
	more := math.Log1p(max(j.c, 0))
	l := &line{
		judgement: j, d: d, tau: 2 * math.Pi / d, patience: patience,
		points: j.newSum(j.excess, more), lead: j.leads(more),
	}
	// Far points count by (c/t)² at most: δ is about 1/(c(c+1)·deviation).
	l.faint = math.Exp(-2 * (negligible/2 + 4))
	damping := make([]float64, len(j.groups))
	for i, g := range j.groups {
		l.order = append(l.order, i)
		period := math.Inf(1)
		if h := g.law.spacing(); h != nil {
			period = 2 * math.Pi / float(h)
		}
		l.periods = append(l.periods, period)
		for turn := 0.5; turn < 16; turn++ { // a sample of its period
			t := min(period, 1e3*(j.c+1)) * (turn/16 - 0.5)
			damping[i] += float64(g.count) * math.Log(max(g.law.damping(j.c, t, l.points.logs[i]), faintest))
		}
	}
	slices.SortStableFunc(l.order, func(a, b int) int { return cmp.Compare(damping[a], damping[b]) })
	return l
}

// walk adds the points of index from to end, and says how far it came before
// patience ran out.
func (l *line) walk(from, end float64) float64 {
	if l.lead.group < 0 {
		for i := from; i <= end; i++ {
			if l.visit(i, from > 0); l.patience < 0 {
				return i
			}
		}
		return end
	}
	next := from
	for m := math.Floor(from * l.tau / l.lead.period); m*l.lead.period-l.lead.width <= end*l.tau; m++ {
		next = max(next, math.Ceil((m*l.lead.period-l.lead.width)/l.tau))
		for ; next <= end && next*l.tau <= m*l.lead.period+l.lead.width; next++ {
			if l.visit(next, from > 0); l.patience < 0 {
				return next
			}
		}
		l.patience--
	}
	return end
}

// visit adds point i, and with it its mirror image −i. A far one is first tried
// for its size.
func (l *line) visit(i float64, far bool) {
	t := i * l.tau
	if far && len(l.groups) > 1 && l.isFaint(t) {
		return
	}
	for g := range l.groups {
		l.patience--
		if !l.points.factor(g, l.reduce(g, t)) {
			return
		}
	}
	l.points.turn(t * l.excess)
	weight := 2.0
	if i == 0 {
		weight = 1
	}
	z := complex(l.c, t)
	l.points.add(1/(z*(z+1)), weight)
}

func (l *line) isFaint(t float64) bool {
	size := 1.0
	for _, g := range l.order {
		l.patience -= 0.125
		damping := l.groups[g].law.damping(l.c, l.reduce(g, t), l.points.logs[g])
		if count := l.groups[g].count; count > 1 {
			damping = math.Pow(damping, float64(count))
		}
		if size *= damping; size < l.faint {
			return true
		}
	}
	return false
}

// reduce takes t to the period of a group's factor about 0.
func (l *line) reduce(g int, t float64) float64 {
	if period := l.periods[g]; math.Abs(t) > period/2 {
		return t - period*math.Round(t/period)
	}
	return t
}

// beyond is what the contour can hold above t, relative to the value on the axis.
// With m losses of bounded range, each at most A/t, and normal ones of Σρ together,
// which are below e^(−t²Σρ) from t on, it is below
//
//	1/π ∫ A^m·t^(−2−m) dt · e^(−t²Σρ) = A^m·e^(−t²Σρ) / (π(1+m)·t^(1+m)),
//
// taken in all. Without any of them, it is estimated: the size that the factors had on
// average in the last stretch, with 1/t² beyond; and, in case no return of all
// factors at once was seen yet, peaks as high as that at the axis at all
// multiples of t: Σ 1/(mt)² = π²/6t². (A peak is half the one at the axis.)
func (l *line) beyond(t, mean, peak float64) float64 {
	if l.density == 0 {
		return min(1, mean)/(math.Pi*t) + peak*math.Pi/(3*t*t)
	}
	var m, log float64
	for _, g := range l.groups {
		switch x := g.law.(type) {
		case *exponential:
			m += float64(g.count)
			log += float64(g.count) * (x.decay(l.c) - real(x.log(l.c, 0)))
		case *normal:
			log -= float64(g.count) * t * t * x.r
		}
	}
	return math.Exp(log - math.Log(math.Pi*(1+m)) - (1+m)*math.Log(t))
}
