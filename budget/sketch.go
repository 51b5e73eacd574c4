package budget

import "math"

// This file finds, from rough outlines of the pairs, by how much to tilt a sum and between which losses it lies. No
// promise rests on it.

// sketch represents a pair by few points, to find tilt and window: the mass of each bin at a loss within it.
type sketch struct {
	loss, mass []float64
	low, high  float64 // the least and the largest loss
	count      float64
	square     float64 // E[L²]
}

// sketchBins is the number of bins of a sketch. They have equal width near the middle and grow with the distance from
// it.
const sketchBins = 600

func (s step) sketchOf() sketch {
	low, high := s.pair.lossSpan()
	k := sketch{low: low, high: high, count: float64(s.count)}
	switch p := s.pair.(type) {
	case atoms:
		k.loss, k.mass = sketchPoints(p.lossFunction(), p.mass)
	case scattered:
		k.loss, k.mass = sketchPoints(func(i int) float64 { return p.loss[i] }, p.mass)
	case tails:
		k.loss, k.mass = p.sketchPoints()
	}
	for i, loss := range k.loss {
		k.square += float64(k.mass[i] * loss * loss)
	}
	return k
}

// binScale defines the bins of a sketch: bin i extends from binStart(i) to binStart(i+1).
type binScale struct{ middle, unit, first, step float64 }

// newScale covers low to high with bins that are a fiftieth of a standard deviation wide in the middle.
func newScale(middle, deviation, low, high float64) binScale {
	s := binScale{middle: middle, unit: max(deviation, 1e-9*(high-low), 0x1p-1000)}
	s.first = s.binCoordinate(low)
	s.step = max((s.binCoordinate(high)-s.first)/sketchBins, 1e-9)
	return s
}

// binCoordinate returns arsinh of the distance from the middle in units. binStart is its inverse.
func (s binScale) binCoordinate(loss float64) float64 {
	z := (loss - s.middle) / s.unit
	return math.Copysign(Log(math.Abs(z)+math.Sqrt(float64(z*z)+1)), z)
}

func (s binScale) binStart(bin int) float64 {
	y := s.first + float64(float64(bin)*s.step)
	return s.middle + float64(s.unit*(Exp(y)-Exp(-y))/2)
}

// sketchPoints returns the points of a pair whose losses are listed in ascending order, with their masses.
func sketchPoints(at func(i int) float64, all []float64) (loss, mass []float64) {
	var mean, square float64
	for i, m := range all {
		mean += float64(m * at(i))
		square += float64(m * at(i) * at(i))
	}
	scale := newScale(mean, math.Sqrt(max(0, square-float64(mean*mean))), at(0), at(len(all)-1))
	last := -1
	for i, m := range all {
		if m == 0 {
			continue
		}
		if bin := int((scale.binCoordinate(at(i)) - scale.first) / scale.step); bin != last {
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

func (t tails) sketchPoints() (loss, mass []float64) {
	median := t.lossQuantile(0.5)
	scale := newScale(median, (t.lossQuantile(0.16)-t.lossQuantile(0.84))/2, t.low, t.high)
	left := t.massBeyond(math.Nextafter(t.low, math.Inf(-1)), median)
	for bin := 1; bin <= sketchBins; bin++ {
		x := scale.binStart(bin)
		if bin == sketchBins {
			x = t.high
		}
		right := t.massBeyond(x, median)
		if p, q := massBetween(left, right); p > 0 && q > 0 {
			loss, mass = append(loss, Log(p/q)), append(mass, p)
		}
		left = right
	}
	return loss, mass
}

// sumCumulant returns ln E[e^{θL}] of the total loss of all steps.
func sumCumulant(sketches []sketch, theta float64) float64 {
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

// sumVariance returns roughly the variance of the total loss. It is never 0, which rounding would make it if one atom
// has nearly all mass.
func sumVariance(sketches []sketch) float64 {
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

// maxTilt over a standard deviation of the sum is the largest θ. A narrow step in a sum with a wide one needs more than
// the 15 that e^{−100} requires for a normal law.
const maxTilt = 3000

// tiltFor returns the θ at which Chernoff's bound on δ(ε) is least for the ε of a
// δ = e^{−exponent}: the minimiser of (K(θ) + ln κ(θ) + exponent)/θ.
func tiltFor(sketches []sketch, exponent float64) float64 {
	return minimizeTilt(sketches, func(theta float64) float64 {
		return (sumCumulant(sketches, theta) + logHockeyStick(theta) + exponent) / theta
	})
}

// logHockeyStick returns ln κ(θ) for the least κ with (1 − e^{−y})₊ ≤ κe^{θy}: θ^θ/(1+θ)^{1+θ}. It keeps θ from rising
// to the highest loss alone where other losses also contribute to δ.
func logHockeyStick(theta float64) float64 { return -log1p(theta) - float64(theta*log1p(1/theta)) }

// minimizeTilt returns approximately the minimiser on (0, maxTilt/σ] of a function with a single minimum, by
// golden-section search in the logarithm.
func minimizeTilt(sketches []sketch, f func(theta float64) float64) float64 {
	const golden = 0.6180339887498949
	deviation := math.Sqrt(sumVariance(sketches))
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

// window holds losses between which the relevant part of a sum lies, by Chernoff's bounds, and the tilts that gave the
// lower and the upper bound: θ itself if no loss lies beyond.
type window struct {
	low, high, gentle, steepest float64
	// width is the width that a window needs so that nothing relevant wraps around to where it has more weight.
	width float64
}

// outlineWindow returns a window. Below it lies at most e^{−margin} of the tilted sum, and above it parts with a
// probability of at most e^{−rare}; for a part of another sum also at most e^{−margin} of the tilted sum.
func outlineWindow(sketches []sketch, at tilt) window {
	theta := at.theta
	w := window{gentle: theta, steepest: theta}
	for _, s := range sketches {
		w.low += float64(s.count * s.low)
		w.high += float64(s.count * s.high)
	}
	reach := w.high
	here, deviation := sumCumulant(sketches, theta), math.Sqrt(sumVariance(sketches))
	// Beyond 1000/σ the bound would be affected by the spacing of a grid. K is convex, so every bound here has a single
	// minimum or maximum: once past it, the search stops.
	upper, lower := true, true
	lastUp, lastWeightless, lastDown := math.Inf(1), math.Inf(1), math.Inf(-1)
	for shift := 1e-3 / deviation; shift <= 1e3/deviation && (upper || lower); shift *= 1.4 {
		if upper {
			steeper := sumCumulant(sketches, theta+shift)
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
			down := (here - sumCumulant(sketches, theta-shift) - at.margin) / shift
			if down > w.low {
				w.low, w.gentle = down, theta-shift
			}
			lower = down >= lastDown
			lastDown = down
		}
	}
	w.width = max(w.high-w.low, reach-tiltedMean(sketches, theta))
	return w
}

// tiltedMean returns roughly the mean of the tilted sum: K′(θ).
func tiltedMean(sketches []sketch, theta float64) float64 {
	nudge := 1e-4 / math.Sqrt(sumVariance(sketches))
	return (sumCumulant(sketches, theta+nudge) - sumCumulant(sketches, theta-nudge)) / (2 * nudge)
}
