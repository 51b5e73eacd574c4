package budget

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// This file checks functions that releases use against cases of mechanisms, conversions and calibrations that no
// release has in this form: the functions return the figures or bound them.

// fineness is the factor by which answers are scaled up so that discrete noise is as good as continuous.
const fineness = 1 << 20

// derivedKinds maps kinds of case to the computation of the figure from functions that releases use.
var derivedKinds = map[string]func(t *testing.T, v vector) any{
	"psg.delta":       sampledGaussianDelta,
	"psg.delta_curve": sampledGaussianDelta,
	"psg.delta_replace": func(t *testing.T, v vector) any {
		return deltaWith(usual, v.input(t, "epsilon"), step{continuous(replacement(subsampled(t, v))), 1})
	},
	"psg.sigma":           sampledSigma,
	"laplace.delta":       laplaceDelta,
	"laplace.delta_curve": laplaceDelta,
	"approx.delta_zero_eps": func(t *testing.T, v vector) any {
		failing := atoms{lattice{big.NewRat(1, 1), 0, 1}, []float64{1 - v.input(t, "delta0")}, v.input(t, "delta0")}
		return deltaOf(v.input(t, "epsilon"), step{failing, int64(v.input(t, "k"))})
	},
	"kov.grid_epsilon": func(t *testing.T, v vector) any {
		return gridEpsilon(t, v.input(t, "epsilon0"), v.inputOr("delta0", 0), int64(v.input(t, "k")),
			v.input(t, "total_delta"))
	},
	"kov.epsilon0": func(t *testing.T, v vector) any {
		total := v.input(t, "total_epsilon")
		return turningPoint(total, 0, func(epsilon0 float64) bool {
			delta0, count := v.inputOr("delta0", 0), int64(v.input(t, "k"))
			return gridEpsilon(t, epsilon0, delta0, count, v.input(t, "total_delta")) <= total*(1+1e-9)
		})
	},

	"rr.pure_epsilon": func(t *testing.T, v vector) any {
		attacks := responseOf(t, v).attacks(t, v.text(t, "relation"))
		return turningPoint(0, 50, func(epsilon float64) bool {
			return attacks.allowedBy(mustCompose(t, response(epsilon)))
		})
	},
	"tradeoff.rr_tpr": func(t *testing.T, v vector) any {
		r := responseOf(t, v)
		return mustCompose(t, response(math.Log(r.truth/r.other))).TruePositiveRate(v.input(t, "fpr"))
	},

	"rdp.gaussian": func(t *testing.T, v vector) any {
		sigma := decimal(v.input(t, "sigma"))
		m := Mechanism{Kind: DiscreteGaussian, Parameter: sigma.Mul(sigma, sigma), L1: big.NewInt(1),
			L2Squared: big.NewInt(1)}
		return atOrders(t, v, func(order float64) float64 { return order * nearest(m.Rho()) })
	},
	"rdp.exponential_mechanism": func(t *testing.T, v vector) any {
		m := exponentialStep(v.input(t, "epsilon"))
		epsilon, err := m.Epsilon()
		if err != nil {
			t.Fatal(err)
		}
		saved := savedByBoundedRange(nearest(epsilon))
		return atOrders(t, v, func(order float64) float64 {
			return min(nearest(epsilon), order*nearest(m.Rho())-saved)
		})
	},
	"em.epsilon_k": func(t *testing.T, v vector) any {
		m, count := exponentialStep(v.input(t, "epsilon0")), v.input(t, "k")
		saved := count * savedByBoundedRange(v.input(t, "epsilon0"))
		return ZCDPEpsilon(count*nearest(m.Rho()), v.input(t, "delta")) - saved
	},
	"rdp.to_epsilon_one_order": epsilonOfDivergences,
	"rdp.to_epsilon":           epsilonOfDivergences,
	"rdp.to_delta":             deltaOfDivergences,

	"threshold.laplace": func(t *testing.T, v vector) any {
		linf := v.inputOr("linf", 1)
		epsilon, delta := perGroup(t, v, v.input(t, "epsilon"), v.input(t, "delta"))
		m, err := LaplaceFor(scaledUp(linf), exactly(epsilon))
		if err != nil {
			t.Fatal(err)
		}
		return linf + float64(m.LeastAbove(delta)+1)/fineness
	},
	"threshold.gaussian": func(t *testing.T, v vector) any {
		_, delta := perGroup(t, v, 1, v.input(t, "threshold_delta"))
		const finest = 1 << 40
		sigma := decimal(v.input(t, "sigma"))
		sigma.Mul(sigma, big.NewRat(finest, 1))
		m := Mechanism{Kind: DiscreteGaussian, Parameter: sigma.Mul(sigma, sigma), L1: big.NewInt(1),
			L2Squared: big.NewInt(1)}
		return v.inputOr("linf", 1) + float64(m.LeastAbove(delta)+1)/finest
	},
}

// boundedKinds maps kinds of case to a check of figures that the case bounds, which returns what is wrong.
var boundedKinds = map[string]func(t *testing.T, v vector) []string{
	// The conversion in use is the standard one times (1−1/α)^α/(α−1), at the best order α for this product; a Gaussian
	// of the same ρ loses less.
	"zcdp.delta_standard": func(t *testing.T, v vector) []string {
		rho, epsilon := v.input(t, "rho"), v.input(t, "epsilon")
		b := (epsilon - rho) / (2 * rho)
		high := v.Expected.(float64) * math.Exp(-(b+1)*math.Log1p(1/b)) / b
		low := gaussianOfRho(rho).Delta(epsilon)
		if b > 4 {
			low = max(low, 0.9*high) // the best order is nearly the same
		}
		return append(outside("ZCDPDelta", ZCDPDelta(rho, epsilon), low, high),
			outside("δ of an adaptive block", mustCompose(t, blockOf(rho)).DeltaAt(epsilon).Value, low, high)...)
	},
	"zcdp.eps_standard": func(t *testing.T, v vector) []string {
		rho, delta := v.input(t, "rho"), v.input(t, "delta")
		b := math.Sqrt(-math.Log(delta) / rho)
		high := v.Expected.(float64) - math.Log1p(b)/b - math.Log1p(1/b)
		low := max(0.99*high, gaussianOfRho(rho).Epsilon(delta))
		block, err := mustCompose(t, blockOf(rho)).EpsilonAt(exactly(delta))
		if err != nil {
			t.Fatal(err)
		}
		return append(outside("ZCDPEpsilon", ZCDPEpsilon(rho, delta), low, high),
			outside("ε of an adaptive block", block.Value, low, high)...)
	},
	"zcdp.rho_standard": func(t *testing.T, v vector) []string {
		epsilon, delta := v.input(t, "epsilon"), v.input(t, "delta")
		rho, err := RhoForEpsilonDelta(exactly(epsilon), exactly(delta))
		if err != nil {
			t.Fatal(err)
		}
		most := turningPoint(epsilon, 0, func(rho float64) bool {
			return gaussianOfRho(rho).Delta(epsilon) <= delta
		})
		return outside("ρ", nearest(rho), v.Expected.(float64), most)
	},
	// Randomized response of ε/2 has bounded range ε, which gives the lower end. The upper end adds what a plan does
	// not save: it takes divergences to be αε²/8.
	"em.epsilon_k": func(t *testing.T, v vector) []string {
		epsilon0, count, delta := v.input(t, "epsilon0"), v.input(t, "k"), v.input(t, "delta")
		bound, err := mustCompose(t, repeat(exponentialStep(epsilon0), int64(count))...).EpsilonAt(exactly(delta))
		if err != nil {
			t.Fatal(err)
		}
		high := v.Expected.(float64) + count*savedByBoundedRange(epsilon0)
		return outside("ε", bound.Value, optimalEpsilon(epsilon0/2, int(count), delta), high)
	},
	// The share of δ that each of k groups gets is the inverse of the composition.
	"approx.delta_zero_eps": func(t *testing.T, v vector) []string {
		_, each := PartitionSelection{1, v.Expected.(float64), int64(v.input(t, "k"))}.perPartition()
		return outside("δ of a group", each, v.input(t, "delta0")*(1-1e-12), v.input(t, "delta0"))
	},
	"rdp.psg_k": func(t *testing.T, v vector) []string {
		one := momentsOf(step{continuousFrom(1e-300, removal(subsampled(t, v))), 1}, usual)
		orders, wanted := figuresOf(t, v.Inputs["orders"]), figuresOf(t, v.Expected)
		var faults []string
		for place, order := range orders {
			if order <= farthestOrder {
				low, high := wanted[place]*(1-v.Tolerance.Rel), wanted[place]*(1+v.Tolerance.Rel)
				faults = append(faults, outside("divergence", v.input(t, "k")*one(order), low, high)...)
			}
		}
		return faults
	},
	"psg.delta":           boundedBySampling,
	"psg.delta_curve":     boundedBySampling,
	"laplace.delta":       boundedBySampling,
	"laplace.delta_curve": boundedBySampling,
}

// ownTolerances replace the tolerances of cases that would notice little, or that have more digits than the program
// computes of an intermediate figure.
var ownTolerances = map[string]tolerance{
	"tradeoff.rr_tpr":       {Rel: 1e-12},
	"approx.delta_zero_eps": {Abs: 1e-7}, // bounds the rounding of the transform of 10⁵ runs
	"rdp.laplace":           {Abs: 1e-13, Rel: 1e-9},
	"rdp.psg":               {Abs: 1e-13, Rel: 1e-7},
	"rdp.rr_replace":        {Rel: 1e-9},
	"rdp.rr_special":        {Rel: 1e-9},
}

// turningPoint bisects between no, where does is false, and yes, where does is true, for the point where it changes.
func turningPoint(no, yes float64, does func(x float64) bool) float64 {
	for range 60 {
		if middle := (no + yes) / 2; does(middle) {
			yes = middle
		} else {
			no = middle
		}
	}
	return yes
}

// sampledGaussianDelta is δ of a Gaussian mechanism that sees a sample, at one ε or at several.
func sampledGaussianDelta(t *testing.T, v vector) any {
	return atEpsilons(t, v, func(epsilon float64) float64 {
		return sampledDelta(t, v, epsilon, gaussianOf(t, v).Delta)
	})
}

// laplaceDelta is δ of continuous Laplace noise, of a sample or not, at one ε or at several.
func laplaceDelta(t *testing.T, v vector) any {
	law := continuousLaplace(v.inputOr("l1_sensitivity", 1)/v.input(t, "scale"), 1)
	return atEpsilons(t, v, func(epsilon float64) float64 {
		return sampledDelta(t, v, epsilon, func(epsilon float64) float64 { return deltaOf(epsilon, law) })
	})
}

// sampledSigma is the noise that a plan adds to a count of a sample: the budget before sampling, calibrated.
func sampledSigma(t *testing.T, v vector) any {
	epsilon, delta, err := BeforeSampling(decimal(v.input(t, "epsilon")), decimal(v.input(t, "delta")),
		decimal(v.input(t, "sampling_prob")))
	if err != nil {
		t.Fatal(err)
	}
	l2 := scaledUp(l2Of(v))
	_, steps, err := Calibrate(epsilon, delta, nil, func(rho *big.Rat) ([]Mechanism, error) {
		m, err := GaussianFor(l2, new(big.Int).Mul(l2, l2), rho)
		return []Mechanism{m}, err
	})
	if err != nil {
		t.Fatal(err)
	}
	return math.Sqrt(nearest(steps[0].Parameter)) / fineness
}

// scaledUp returns the sensitivity of answers that are scaled up by fineness.
func scaledUp(sensitivity float64) *big.Int {
	return big.NewInt(int64(math.Round(sensitivity * fineness)))
}

// gridEpsilon is the least ε = (count−2i)·ε₀ ≥ 0 at which count steps of ε₀ and δ₀ have a δ of at most total, or
// +Inf: the ε of their composition, rounded up to this grid.
func gridEpsilon(t *testing.T, epsilon0, delta0 float64, count int64, total float64) float64 {
	var epsilon float64
	if delta0 == 0 {
		bound, err := mustCompose(t, repeat(response(epsilon0), count)...).EpsilonAt(decimal(total))
		if err != nil {
			t.Fatal(err)
		}
		epsilon = bound.Value
	} else {
		epsilon = max(0, epsilonOf(total, pureStep(epsilon0, delta0, float64(count))))
	}
	if math.IsInf(epsilon, 1) {
		return epsilon
	}
	const rounding = 1e-9
	place := math.Ceil(epsilon/epsilon0 - rounding)
	return (place + math.Mod(place+float64(count), 2)) * epsilon0
}

func response(epsilon float64) Mechanism {
	return Mechanism{Kind: RandomizedResponse, Parameter: exactly(epsilon)}
}

func exponentialStep(epsilon float64) Mechanism {
	return Mechanism{Kind: ExponentialMechanism, Parameter: exactly(epsilon)}
}

func repeat(m Mechanism, count int64) []Mechanism { return slices.Repeat([]Mechanism{m}, int(count)) }

// categoricalResponse is randomized response with the probabilities of the true answer and of each other one.
type categoricalResponse struct{ truth, other, buckets float64 }

// responseOf reads the probability of a true answer, or that of an answer drawn uniformly from all.
func responseOf(t *testing.T, v vector) categoricalResponse {
	k := v.inputOr("buckets", 2)
	truth := v.inputOr("truth_probability", 0)
	if !v.has("truth_probability") {
		noise := v.input(t, "noise_parameter")
		truth = 1 - noise + noise/k
	}
	return categoricalResponse{truth, (1 - truth) / (k - 1), k}
}

// attack is a test between two neighbours.
type attack struct{ falsePositive, truePositive float64 }

type attacks []attack

// attacks are the best tests between two true values, or between a true value and a uniform answer, in both orders.
func (r categoricalResponse) attacks(t *testing.T, relation string) attacks {
	switch relation {
	case "replace_one":
		return attacks{{r.other, r.truth}, {1 - r.truth, 1 - r.other}}
	case "replace_special":
		even := 1 / r.buckets
		return attacks{{even, r.truth}, {1 - r.truth, 1 - even}}
	}
	t.Fatalf("relation %q", relation)
	return nil
}

// allowedBy reports whether a loss bounds the power of all attacks.
func (all attacks) allowedBy(loss Loss) bool {
	return !slices.ContainsFunc(all, func(a attack) bool {
		return loss.TruePositiveRate(a.falsePositive) < a.truePositive
	})
}

// savedByBoundedRange is the difference between αε²/8 and the divergence of any order α of a mechanism of bounded range
// ε: ε²/8 less its largest Kullback–Leibler divergence, y + e^{−y} − 1 with y = ln((e^ε−1)/ε) (Dong, Durfee & Rogers
// 2020).
func savedByBoundedRange(epsilon float64) float64 {
	y := math.Log(math.Expm1(epsilon) / epsilon)
	return epsilon*epsilon/8 - (y + math.Expm1(-y))
}

// epsilonOfDivergences converts divergences to ε by the conversion of ρ: at every order α for the ρ for which this is
// the best order, where ε less αρ is the same as for any divergence at α.
func epsilonOfDivergences(t *testing.T, v vector) any {
	delta := v.input(t, "delta")
	return leastOverOrders(t, v, func(order, divergence float64) float64 {
		b := order - 1
		rho := (-math.Log(delta) - math.Log(order)) / (b * b)
		return ZCDPEpsilon(rho, delta) - order*rho + divergence
	})
}

// deltaOfDivergences converts divergences to δ in the same way: δ depends on the divergence less ε.
func deltaOfDivergences(t *testing.T, v vector) any {
	return leastOverOrders(t, v, func(order, divergence float64) float64 {
		excess := v.input(t, "epsilon") - divergence
		rho := (math.Log1p(1/(order-1)) + excess) / (order - 1)
		return ZCDPDelta(rho, order*rho+excess)
	})
}

// perGroup returns the ε and δ that each group of a unit gets.
func perGroup(t *testing.T, v vector, epsilon, delta float64) (float64, float64) {
	t.Helper()
	return PartitionSelection{epsilon, delta, int64(v.inputOr("l0", 1))}.perPartition()
}

// outside returns what is wrong with a figure that must lie between low and high, both included.
func outside(name string, got, low, high float64) []string {
	if got >= low && got <= high*(1+1e-12) {
		return nil
	}
	return []string{fmt.Sprintf("%s is %.17g, not between %.17g and %.17g", name, got, low, high)}
}

func gaussianOfRho(rho float64) Gaussian { return Gaussian{Sigma: 1, L2: math.Sqrt(2 * rho)} }

func blockOf(rho float64) Mechanism { return Mechanism{Kind: AdaptiveBlock, Parameter: exactly(rho)} }

// boundedBySampling checks the loss that a release of a sample reports, with discrete noise so fine that it is as good
// as continuous. At the δ of a case, which has eight digits, it is the ε of the case. If the case only adds a unit to a
// sample, the loss is larger, as it also holds for a removal, which loses more.
func boundedBySampling(t *testing.T, v vector) []string {
	q := v.inputOr("sampling_prob", 1)
	loss, err := mustCompose(t, fineNoise(t, v)).Sampled(decimal(q))
	if err != nil {
		t.Fatal(err)
	}
	epsilons := map[string]float64{"": v.inputOr("epsilon", 0)}
	if v.has("epsilons") {
		epsilons = figuresOf(t, v.Inputs["epsilons"])
	}
	var faults []string
	for place, delta := range figuresOf(t, v.Expected) {
		epsilon := epsilons[place]
		if epsilon < 0 || delta == 0 {
			continue
		}
		bound, err := loss.EpsilonAt(exactly(delta))
		if err != nil {
			t.Fatal(err)
		}
		const digits = 1e-6
		high := epsilon + digits
		if q < 1 && v.text(t, "adjacency") == "ADD" {
			high = math.Inf(1)
		}
		faults = append(faults, outside("ε of a sample", bound.Value, epsilon-digits, high)...)
	}
	return faults
}

// fineNoise returns the discrete noise that represents the continuous noise of a case.
func fineNoise(t *testing.T, v vector) Mechanism {
	scaled := func(name string) *big.Rat {
		x := decimal(v.input(t, name))
		return x.Mul(x, big.NewRat(fineness, 1))
	}
	if v.has("sigma") {
		l, sigma := scaledUp(l2Of(v)), scaled("sigma")
		return Mechanism{Kind: DiscreteGaussian, Parameter: sigma.Mul(sigma, sigma), L1: l,
			L2Squared: new(big.Int).Mul(l, l)}
	}
	l := scaledUp(v.inputOr("l1_sensitivity", 1))
	return Mechanism{Kind: DiscreteLaplace, Parameter: scaled("scale"), L1: l, L2Squared: new(big.Int).Mul(l, l)}
}
