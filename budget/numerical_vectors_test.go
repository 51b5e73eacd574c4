package budget

import (
	"math"
	"math/big"
	"strconv"
	"testing"
)

// fine is the resolution at which the vectors are computed: some of their figures
// are wanted to 1e-9.
var fine = resolution{relative: 1e-9, points: 1 << 25}

// slowKinds want more digits of thousands of heavy-tailed losses than a release
// ever does.
var slowKinds = []string{"psg.epsilon_k", "psg.sigma_k", "hetero.epsilon"}

// numericalKinds maps the kinds of case that compositions of loss distributions
// compute to how: the figure, or a map or list of figures as the case has it.
var numericalKinds = map[string]func(t *testing.T, v vector) any{
	"laplace.delta_k": func(t *testing.T, v vector) any {
		return deltaOf(v.input(t, "epsilon"), continuousLaplace(v.input(t, "e0"), v.input(t, "k")))
	},
	"laplace.delta_k_hetero": func(t *testing.T, v vector) any {
		var steps []step
		for _, part := range v.parts(t) {
			steps = append(steps, continuousLaplace(v.input(t, "l1_sensitivity")/part.input(t, "scale"),
				part.input(t, "k")))
		}
		return deltaOf(v.input(t, "epsilon"), steps...)
	},
	"laplace.scale_k": func(t *testing.T, v vector) any {
		k, s, epsilon, delta := v.input(t, "k"), v.input(t, "l1_sensitivity"), v.input(t, "epsilon"),
			v.input(t, "delta")
		return leastFor(k*s/epsilon, func(scale float64) bool {
			return scale >= k*s/epsilon || delta > 0 &&
				deltaWith(usual, epsilon, continuousLaplace(s/scale, k)) <= delta
		})
	},
	"dlaplace.delta_k": func(t *testing.T, v vector) any {
		return deltaOf(v.input(t, "epsilon"), discreteLaplaceOf(t, v, v))
	},
	"dlaplace.delta_k_hetero": func(t *testing.T, v vector) any {
		var steps []step
		for _, part := range v.parts(t) {
			steps = append(steps, discreteLaplaceOf(t, part, v))
		}
		return deltaOf(v.input(t, "epsilon"), steps...)
	},
	"dlaplace.a_k": func(t *testing.T, v vector) any {
		k, s, epsilon, delta := v.input(t, "k"), v.input(t, "sensitivity"), v.input(t, "epsilon"), v.input(t, "delta")
		return 1 / leastFor(k*s/epsilon, func(scale float64) bool {
			a := laplaceAtoms(exactly(scale), int64(s))
			return scale >= k*s/epsilon || delta > 0 && deltaWith(usual, epsilon, step{a, int64(k)}) <= delta
		})
	},
	"dgauss.delta_k": func(t *testing.T, v vector) any {
		return deltaOf(v.input(t, "epsilon"),
			step{gaussianAtoms(decimal(v.input(t, "sigma2")), int64(v.input(t, "sensitivity"))),
				int64(v.input(t, "k"))})
	},
	"dgauss.sigma": func(t *testing.T, v vector) any {
		epsilon, delta := v.input(t, "epsilon"), v.input(t, "delta")
		return leastFor(1e3, func(sigma float64) bool {
			return deltaOf(epsilon, step{gaussianAtoms(exactly(sigma*sigma), int64(v.input(t, "sensitivity"))),
				1}) <= delta
		})
	},
	"dgauss.cdf_truncated": func(t *testing.T, v vector) any {
		cdf, sum := map[string]float64{}, 0.0
		law := truncated(t, v)
		for i, p := range law.p[:len(law.p)-1] { // all of it has no need of a row
			sum += p
			cdf[strconv.Itoa(i-law.bound)] = sum
		}
		return cdf
	},
	"dgauss.std_truncated": func(t *testing.T, v vector) any {
		law, variance := truncated(t, v), 0.0
		for i, p := range law.p {
			variance += p * float64((i-law.bound)*(i-law.bound))
		}
		return math.Sqrt(variance)
	},
	"psg.delta_k": func(t *testing.T, v vector) any {
		return max(
			deltaOf(v.input(t, "epsilon"), step{continuous(removal(subsampled(t, v))), int64(v.input(t, "k"))}),
			deltaOf(v.input(t, "epsilon"), step{continuous(addition(subsampled(t, v))), int64(v.input(t, "k"))}))
	},
	"psg.epsilon_k": func(t *testing.T, v vector) any {
		k := int64(v.input(t, "k"))
		return map[string]float64{
			"remove": epsilonOf(v.input(t, "delta"), step{continuous(removal(subsampled(t, v))), k}),
			"add":    epsilonOf(v.input(t, "delta"), step{continuous(addition(subsampled(t, v))), k}),
		}
	},
	"psg.sigma_k": func(t *testing.T, v vector) any {
		g := subsampledGaussian{Rate: v.input(t, "sampling_prob"),
			Gaussian: Gaussian{L2: v.inputOr("l2_sensitivity", 1)}}
		return leastFor(1e3, func(sigma float64) bool {
			g.Sigma = sigma
			k := int64(v.input(t, "k"))
			return deltaWith(usual, v.input(t, "epsilon"), step{continuous(removal(g)), k}) <= v.input(t, "delta") &&
				deltaWith(usual, v.input(t, "epsilon"), step{continuous(addition(g)), k}) <= v.input(t, "delta")
		})
	},
	"hetero.epsilon": func(t *testing.T, v vector) any {
		orders := [2][]step{}
		for _, part := range v.parts(t) {
			k := part.input(t, "k")
			for i := range orders {
				switch mechanism := part.text(t, "mechanism"); mechanism {
				case "gaussian": // k-fold Gaussians are one, √k times as far apart
					law := Gaussian{Sigma: part.input(t, "sigma"), L2: part.inputOr("l2_sensitivity", 1) * math.Sqrt(k)}
					orders[i] = append(orders[i], step{continuous(law), 1})
				case "laplace":
					orders[i] = append(orders[i], continuousLaplace(part.input(t, "e0"), k))
				case "psg":
					law := subsampled(t, part)
					if i == 0 {
						orders[i] = append(orders[i], step{continuous(removal(law)), int64(k)})
					} else {
						orders[i] = append(orders[i], step{continuous(addition(law)), int64(k)})
					}
				default:
					t.Fatalf("%s: no such mechanism: %s", v.ID, mechanism)
				}
			}
		}
		return max(epsilonOf(v.input(t, "delta"), orders[0]...), epsilonOf(v.input(t, "delta"), orders[1]...))
	},
	"pld.pmf_connect_dots": func(t *testing.T, v vector) any {
		if mechanism := v.text(t, "mechanism"); mechanism != "laplace" {
			t.Fatalf("%s: no such mechanism: %s", v.ID, mechanism)
		}
		pmf := map[string]float64{}
		continuous(laplace{scale: v.input(t, "scale"), l1: v.input(t, "l1_sensitivity")}).spreadOver(v.input(t, "h"), 0,
			func(j int64, m float64) {
				pmf[strconv.FormatInt(j, 10)] += m
			})
		return pmf
	},
	"pld.pmf_pessimistic": roundedUp,
	"pld.epsilon_for_delta": func(t *testing.T, v vector) any {
		return max(0, epsilonOf(v.input(t, "delta"), step{listed(t, v), 1}))
	},
	"pld.delta_composed": func(t *testing.T, v vector) any {
		var steps []step
		for _, part := range v.parts(t) {
			steps = append(steps, pureStep(part.input(t, "epsilon"), part.input(t, "delta"), 1))
		}
		return deltaOf(v.input(t, "epsilon"), steps...)
	},
}

func atEpsilons(t *testing.T, v vector, delta func(epsilon float64) float64) any {
	if v.has("epsilons") {
		return each(v.floats(t, "epsilons"), delta)
	}
	return delta(v.input(t, "epsilon"))
}

// decimal is the number as it is written, exactly.
func decimal(x float64) *big.Rat {
	r, err := ParseRat(strconv.FormatFloat(x, 'g', -1, 64))
	if err != nil {
		panic(err)
	}
	return r
}

func deltaOf(epsilon float64, steps ...step) float64 { return deltaWith(fine, epsilon, steps...) }

func deltaWith(r resolution, epsilon float64, steps ...step) float64 {
	sketches := sketchesOf(steps)
	s := compose(steps, sketches, tiltAt(sketches, epsilon), r)
	return s.deltaAt(epsilon)
}

func epsilonOf(delta float64, steps ...step) float64 {
	r := fine
	sketches := sketchesOf(steps)
	s := compose(steps, sketches, tiltFor(sketches, -Log(delta)), r)
	return s.epsilonAt(delta)
}

// leastFor bisects for the least x up to enough that does.
func leastFor(enough float64, does func(float64) bool) float64 {
	low, high := 0.0, enough
	for high-low > 1e-7*high {
		if middle := (low + high) / 2; does(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// curve is a continuous law of losses.
type curve interface {
	lossTails(x float64) (p, q float64)
	lossHeads(x float64) (p, q float64)
	lossRange() (low, high float64)
}

// continuous is the pair of a law, cut off where less than 1e-60 is left.
func continuous(l curve) tails { return continuousFrom(1e-60, l) }

// continuousFrom is continuous with another mass that is negligible.
func continuousFrom(negligible float64, l curve) tails {
	low, high := l.lossRange()
	reach := func(mass func(x float64) float64, sign float64) float64 {
		x := 1e-6
		for mass(sign*x) > negligible {
			x *= 1.05
		}
		return sign * x
	}
	if math.IsInf(high, 1) {
		high = reach(func(x float64) float64 { p, _ := l.lossTails(x); return p }, 1)
	}
	if math.IsInf(low, -1) {
		low = reach(func(x float64) float64 { p, _ := l.lossHeads(x); return p }, -1)
	}
	return tails{above: l.lossTails, below: l.lossHeads, low: low, high: high}
}

func continuousLaplace(epsilon, k float64) step {
	pair := continuous(laplace{scale: 1, l1: epsilon})
	pair.ends = decimal(epsilon)
	return step{pair, int64(k)}
}

func discreteLaplaceOf(t *testing.T, part, v vector) step {
	scale := decimal(part.input(t, "a"))
	return step{laplaceAtoms(scale.Inv(scale), int64(v.input(t, "sensitivity"))), int64(part.input(t, "k"))}
}

func subsampled(t *testing.T, v vector) subsampledGaussian {
	return subsampledGaussian{Rate: v.input(t, "sampling_prob"), Gaussian: Gaussian{Sigma: v.input(t, "sigma"),
		L2: v.inputOr("l2_sensitivity", 1)}}
}

// truncatedLaw is the discrete Gaussian on [−bound, bound]. The package never
// truncates a law; its figures test the atoms and what is done with them.
type truncatedLaw struct {
	p     []float64
	bound int
	pair  atoms
}

func truncated(t *testing.T, v vector) truncatedLaw {
	sigma, shift := v.input(t, "sigma"), int64(v.inputOr("sensitivity", 1))
	bound := int(v.input(t, "truncation_bound"))
	whole := gaussianAtoms(decimal(sigma*sigma), shift)
	middle := len(whole.mass) / 2
	law := truncatedLaw{bound: bound}
	var sum float64
	for x := -bound; x <= bound; x++ {
		law.p = append(law.p, whole.mass[middle+x])
		sum += whole.mass[middle+x]
	}
	for i := range law.p {
		law.p[i] /= sum
	}
	// Losses rise as x falls; where x − shift is beyond the bound, Q is 0.
	law.pair = atoms{at: lattice{whole.at.unit, shift*shift - 2*shift*int64(bound), 2 * shift}}
	for x := bound; x >= -bound; x-- {
		if x-int(shift) < -bound {
			law.pair.unbounded += law.p[x+bound]
		} else {
			law.pair.mass = append(law.pair.mass, law.p[x+bound])
		}
	}
	return law
}

// truncatedDelta is δ of the truncated law, which is symmetric, at one ε or at several.
func truncatedDelta(t *testing.T, v vector) any {
	law := step{truncated(t, v).pair, 1}
	return atEpsilons(t, v, func(epsilon float64) float64 {
		return sampledDelta(t, v, epsilon, func(epsilon float64) float64 { return deltaOf(epsilon, law) })
	})
}

// sampledDelta is the δ of a mechanism that sees a Poisson sample, from its profile without one, which is the same for
// both orders of the neighbours. Without an adjacency it is the larger of both orders.
func sampledDelta(t *testing.T, v vector, epsilon float64, profile func(epsilon float64) float64) float64 {
	q := v.inputOr("sampling_prob", 1)
	removal := func() float64 { // H(qP+(1−q)Q ‖ Q)
		inner := Exp(epsilon)/q - (1-q)/q
		if inner <= 0 {
			return -expm1(epsilon)
		}
		return q * profile(Log(inner))
	}
	addition := func() float64 { // H(Q ‖ qP+(1−q)Q)
		rest := 1 - Exp(epsilon)*(1-q)
		if rest <= 0 {
			return 0
		}
		return rest * profile(Log(Exp(epsilon)*q/rest))
	}
	switch {
	case q == 1:
		return profile(epsilon)
	case !v.has("adjacency"):
		return max(removal(), addition())
	case v.text(t, "adjacency") == "REM":
		return removal()
	}
	return addition()
}

// roundedUp rounds losses up to the multiples of h, as some accountants do: what
// is tested are the laws of losses, whose integers leave no doubt where an atom
// on a multiple belongs.
func roundedUp(t *testing.T, v vector) any {
	pmf := map[string]float64{}
	h := decimal(v.input(t, "h"))
	var a atoms
	switch mechanism := v.text(t, "mechanism"); mechanism {
	case "laplace":
		l := laplace{scale: v.input(t, "scale"), l1: v.input(t, "l1_sensitivity")}
		low, high := l.lossRange()
		width := v.input(t, "h")
		for j := math.Ceil(low/width - 1e-9); j <= math.Ceil(high/width-1e-9); j++ {
			above, _ := l.lossTails((j - 1) * width)
			rest, _ := l.lossTails(j * width)
			pmf[strconv.Itoa(int(j))] = above - rest
		}
		return pmf
	case "dlaplace":
		scale := decimal(v.input(t, "a"))
		a = laplaceAtoms(scale.Inv(scale), int64(v.input(t, "sensitivity")))
	case "dgauss":
		a = truncated(t, v).pair
		pmf["infinity"] = a.unbounded
	default:
		t.Fatalf("%s: no such mechanism: %s", v.ID, mechanism)
	}
	for i, m := range a.mass {
		loss := new(big.Rat).Mul(a.at.unit, new(big.Rat).SetInt64(a.at.first+int64(i)*a.at.stride))
		cell := loss.Quo(loss, h)
		up := new(big.Int).Add(cell.Num(), new(big.Int).Sub(cell.Denom(), big.NewInt(1)))
		pmf[up.Div(up, cell.Denom()).String()] += m // rounds down for any sign
	}
	if infinite, stated := pmf["infinity"], v.inputOr("infinity_mass", 0); math.Abs(infinite-stated) > 1e-7 {
		t.Errorf("%s: P(L = ∞) is %v, want %v", v.ID, infinite, stated)
	}
	delete(pmf, "infinity")
	return pmf
}

// listed is a pair whose masses the case lists.
func listed(t *testing.T, v vector) atoms {
	masses, ok := v.Inputs["pmf"].(map[string]any)
	if !ok {
		t.Fatalf("%s lists no masses", v.ID)
	}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for text := range masses {
		j, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, last = min(first, j), max(last, j)
	}
	a := atoms{lattice{decimal(v.input(t, "h")), first, 1}, make([]float64, last-first+1), v.input(t, "infinity_mass")}
	for text, m := range masses {
		j, _ := strconv.ParseInt(text, 10, 64)
		a.mass[j-first] = m.(float64)
	}
	return a
}
