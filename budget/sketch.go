package budget

import "math"

// This file finds, from rough outlines of the pairs, by how much a sum is to be
// tilted and between which losses it lies. Nothing that is promised rests on it.

// sketch is a pair in few points, to find tilt and window by: the mass of each
// bin at a loss within it.
type sketch struct {
	loss, mass []float64
	low, high  float64 // the least and the largest loss
	count      float64
	square     float64 // E[L²]
}

// sketchBins is how many bins a sketch has; they are of one width near the
// middle and then grow with the distance from it.
const sketchBins = 600

func (s step) sketch() sketch {
	low, high := s.pair.span()
	k := sketch{low: low, high: high, count: float64(s.count)}
	switch p := s.pair.(type) {
	case atoms:
		k.loss, k.mass = p.sketch()
	case tails:
		k.loss, k.mass = p.sketch()
	}
	for i, loss := range k.loss {
		k.square += float64(k.mass[i] * loss * loss)
	}
	return k
}

// scale is where the bins of a sketch lie: bin i from at(i) to at(i+1).
type scale struct{ middle, unit, first, step float64 }

// newScale covers low to high with bins that are a fiftieth of a deviation wide
// in the middle.
func newScale(middle, deviation, low, high float64) scale {
	s := scale{middle: middle, unit: max(deviation, 1e-9*(high-low), 0x1p-1000)}
	s.first = s.place(low)
	s.step = max((s.place(high)-s.first)/sketchBins, 1e-9)
	return s
}

// place is arsinh of the distance from the middle in units, and at its inverse.
func (s scale) place(loss float64) float64 {
	z := (loss - s.middle) / s.unit
	return math.Copysign(Log(math.Abs(z)+math.Sqrt(float64(z*z)+1)), z)
}

func (s scale) at(bin int) float64 {
	y := s.first + float64(float64(bin)*s.step)
	return s.middle + float64(s.unit*(Exp(y)-Exp(-y))/2)
}

func (a atoms) sketch() (loss, mass []float64) {
	var mean, square float64
	at := a.losses()
	for i, m := range a.mass {
		mean += float64(m * at(i))
		square += float64(m * at(i) * at(i))
	}
	low, high := a.span()
	scale := newScale(mean, math.Sqrt(max(0, square-float64(mean*mean))), low, high)
	last := -1
	for i, m := range a.mass {
		if m == 0 {
			continue
		}
		if bin := int((scale.place(at(i)) - scale.first) / scale.step); bin != last {
			loss, mass, last = append(loss, 0), append(mass, 0), bin
		}
		loss[len(loss)-1] += float64(m * at(i))
		mass[len(mass)-1] += m
	}
	for i := range loss {
		loss[i] /= mass[i]
	}
	return loss, mass
}

func (t tails) sketch() (loss, mass []float64) {
	median := t.quantile(0.5)
	scale := newScale(median, (t.quantile(0.16)-t.quantile(0.84))/2, t.low, t.high)
	left := t.edge(math.Nextafter(t.low, math.Inf(-1)), median)
	for bin := 1; bin <= sketchBins; bin++ {
		x := scale.at(bin)
		if bin == sketchBins {
			x = t.high
		}
		right := t.edge(x, median)
		if p, q := between(left, right); p > 0 && q > 0 {
			loss, mass = append(loss, Log(p/q)), append(mass, p)
		}
		left = right
	}
	return loss, mass
}

// cumulant returns ln E[e^{θL}] of all the sketches' steps together.
func cumulant(sketches []sketch, theta float64) float64 {
	var total float64
	for _, s := range sketches {
		total += float64(s.count * logMoment(theta, s.mass, func(i int) float64 { return s.loss[i] }))
	}
	return total
}

// logMoment returns ln Σ mass_i·e^{θ·loss(i)}.
func logMoment(theta float64, mass []float64, loss func(i int) float64) float64 {
	top := math.Inf(-1)
	for i, m := range mass {
		if m > 0 {
			top = max(top, float64(theta*loss(i)))
		}
	}
	var sum float64
	for i, m := range mass {
		if m > 0 {
			sum += float64(m * Exp(float64(theta*loss(i))-top))
		}
	}
	return top + Log(sum)
}

// variance is of the total loss, roughly, and never 0: where one atom has nearly
// all mass, rounding would leave none.
func variance(sketches []sketch) float64 {
	var total float64
	for _, s := range sketches {
		var mean float64
		for i, m := range s.mass {
			mean += float64(m * s.loss[i])
		}
		total += float64(s.count * max(float64(0x1p-50*s.square), s.square-float64(mean*mean)))
	}
	return max(total, 0x1p-200)
}

// maxTilt over a standard deviation of the sum is the largest θ: a narrow step
// beside a wide one needs more than the 15 that e^{−100} takes of a normal law.
const maxTilt = 3000

// tiltFor returns the θ at which Chernoff's bound on δ(ε) is least for the ε of a
// δ = e^{−exponent}: the minimiser of (K(θ) + ln κ(θ) + exponent)/θ.
func tiltFor(sketches []sketch, exponent float64) float64 {
	return minimise(sketches, func(theta float64) float64 {
		return (cumulant(sketches, theta) + hockey(theta) + exponent) / theta
	})
}

// hockey is ln κ(θ) for the least κ with (1 − e^{−y})₊ ≤ κe^{θy}: θ^θ/(1+θ)^{1+θ}.
// It keeps θ from rising to the highest loss alone, where δ needs others too.
func hockey(theta float64) float64 { return -log1p(theta) - float64(theta*log1p(1/theta)) }

// minimise returns about where on (0, maxTilt/σ] a function of one valley is
// least, by golden sections of the logarithm.
func minimise(sketches []sketch, f func(theta float64) float64) float64 {
	const golden = 0.6180339887498949
	deviation := math.Sqrt(variance(sketches))
	low, high := Log(1e-4/deviation), Log(maxTilt/deviation)
	a, b := high-float64(golden*(high-low)), low+float64(golden*(high-low))
	fa, fb := f(Exp(a)), f(Exp(b))
	for high-low > 1e-2 {
		if fa <= fb {
			high, b, fb = b, a, fa
			a = high - float64(golden*(high-low))
			fa = f(Exp(a))
		} else {
			low, a, fa = a, b, fb
			b = low + float64(golden*(high-low))
			fb = f(Exp(b))
		}
	}
	return Exp((low + high) / 2)
}

// window is losses between which a sum lies, as far as it matters, by Chernoff's
// bounds, and the tilts that gave the lower and the upper one: θ itself where no
// loss lies beyond.
type window struct {
	low, high, gentle, steepest float64
	// width is what a window needs so that nothing that matters wraps around to
	// where it matters more.
	width float64
}

// outline returns a window that leaves out e^{−margin} of the tilted sum below
// it, and above it parts that have a probability of e^{−rare} at most; for a part
// of another sum also no more than e^{−margin} of the tilted sum.
func outline(sketches []sketch, at tilt) window {
	theta := at.theta
	w := window{gentle: theta, steepest: theta}
	for _, s := range sketches {
		w.low += float64(s.count * s.low)
		w.high += float64(s.count * s.high)
	}
	reach := w.high
	here, deviation := cumulant(sketches, theta), math.Sqrt(variance(sketches))
	// Beyond 1000/σ the bound would feel the spacing of a grid. K is convex, so that every bound here has one valley or
	// one peak: what has passed it is not asked again.
	upper, lower := true, true
	lastUp, lastWeightless, lastDown := math.Inf(1), math.Inf(1), math.Inf(-1)
	for shift := 1e-3 / deviation; shift <= 1e3/deviation && (upper || lower); shift *= 1.4 {
		if upper {
			steeper := cumulant(sketches, theta+shift)
			up, weightless := (steeper+at.rare)/(theta+shift), (steeper-here+at.margin)/shift
			reach = min(reach, weightless)
			if at.part {
				up = max(up, weightless)
			}
			if up < w.high {
				w.high, w.steepest = up, theta+shift
			}
			upper = up <= lastUp || weightless <= lastWeightless
			lastUp, lastWeightless = up, weightless
		}
		if lower {
			down := (here - cumulant(sketches, theta-shift) - at.margin) / shift
			if down > w.low {
				w.low, w.gentle = down, theta-shift
			}
			lower = down >= lastDown
			lastDown = down
		}
	}
	w.width = max(w.high-w.low, reach-mean(sketches, theta))
	return w
}

// mean is of the tilted sum, roughly: K′(θ).
func mean(sketches []sketch, theta float64) float64 {
	nudge := 1e-4 / math.Sqrt(variance(sketches))
	return (cumulant(sketches, theta+nudge) - cumulant(sketches, theta-nudge)) / (2 * nudge)
}
