package budget

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// closedFormKinds maps the kinds of case that a formula or a finite sum gives to
// how: the figure, or a map or list of figures as the case has it.
var closedFormKinds = map[string]func(t *testing.T, v vector) any{
	"zcdp.delta_cks": func(t *testing.T, v vector) any {
		return ZCDPDelta(v.input(t, "rho"), v.input(t, "epsilon"))
	},
	"zcdp.eps_cks": func(t *testing.T, v vector) any {
		return ZCDPEpsilon(v.input(t, "rho"), v.input(t, "delta"))
	},
	"zcdp.rho_cks": func(t *testing.T, v vector) any {
		rho, err := RhoForEpsilonDelta(exactly(v.input(t, "epsilon")), exactly(v.input(t, "delta")))
		if err != nil {
			t.Fatal(err)
		}
		return nearest(rho)
	},
	"zcdp.delta_standard": func(t *testing.T, v vector) any {
		return StandardZCDPDelta(v.input(t, "rho"), v.input(t, "epsilon"))
	},
	"zcdp.eps_standard": func(t *testing.T, v vector) any {
		return StandardZCDPEpsilon(v.input(t, "rho"), v.input(t, "delta"))
	},
	"zcdp.rho_standard": func(t *testing.T, v vector) any {
		return StandardRho(v.input(t, "epsilon"), v.input(t, "delta"))
	},
	"pure.zcdp_rho": func(t *testing.T, v vector) any {
		return roundUp(pureRho(exactly(v.input(t, "epsilon"))))
	},
	"em.zcdp_rho": func(t *testing.T, v vector) any {
		return roundUp(boundedRangeRho(exactly(v.input(t, "epsilon"))))
	},
	"em.epsilon_k": func(t *testing.T, v vector) any {
		return BoundedRange{v.input(t, "epsilon0")}.RepeatedEpsilon(int64(v.input(t, "k")), v.input(t, "delta"))
	},

	"gaussian.delta": func(t *testing.T, v vector) any { return gaussianOf(t, v).Delta(v.input(t, "epsilon")) },
	"gaussian.delta_curve": func(t *testing.T, v vector) any {
		return each(v.floats(t, "epsilons"), gaussianOf(t, v).Delta)
	},
	"gaussian.epsilon": func(t *testing.T, v vector) any { return gaussianOf(t, v).Epsilon(v.input(t, "delta")) },
	"gaussian.sigma":   func(t *testing.T, v vector) any { return sigmaFor(t, v, 1) },
	"gaussian.sigma_k": func(t *testing.T, v vector) any { return sigmaFor(t, v, int64(v.input(t, "k"))) },
	"gaussian.sigma_squared": func(t *testing.T, v vector) any {
		sigma := sigmaFor(t, v, 1)
		return sigma * sigma
	},
	"pld.gaussian_k": func(t *testing.T, v vector) any {
		return RepeatGaussian(gaussianOf(t, v), int64(v.input(t, "k"))).Delta(v.input(t, "epsilon"))
	},
	"pld.gaussian_k_eps": func(t *testing.T, v vector) any {
		return RepeatGaussian(gaussianOf(t, v), int64(v.input(t, "k"))).Epsilon(v.input(t, "delta"))
	},
	"pld.gaussian_hetero": func(t *testing.T, v vector) any {
		var steps []Gaussian
		for _, part := range v.parts(t) {
			part.Inputs["l2_sensitivity"] = part.inputOr("l2_sensitivity", l2Of(v))
			steps = append(steps, RepeatGaussian(gaussianOf(t, part), int64(part.inputOr("k", 1))))
		}
		if all := ComposeGaussians(steps...); v.has("epsilon") {
			return all.Delta(v.input(t, "epsilon"))
		} else {
			return all.Epsilon(v.input(t, "delta"))
		}
	},
	"tradeoff.gaussian_tpr": func(t *testing.T, v vector) any {
		return Gaussian{Sigma: 1, L2: v.input(t, "mu")}.TruePositiveRate(v.input(t, "fpr"))
	},
	"tradeoff.rr_tpr": func(t *testing.T, v vector) any {
		return responseOf(t, v).TruePositiveRate(v.input(t, "fpr"))
	},

	"laplace.delta": func(t *testing.T, v vector) any { return laplaceProfile(t, v)(v.input(t, "epsilon")) },
	"laplace.delta_curve": func(t *testing.T, v vector) any {
		return each(v.floats(t, "epsilons"), laplaceProfile(t, v))
	},
	"dlaplace.delta": func(t *testing.T, v vector) any { return discreteLaplaceProfile(t, v)(v.input(t, "epsilon")) },
	"dlaplace.delta_curve": func(t *testing.T, v vector) any {
		return each(v.floats(t, "epsilons"), discreteLaplaceProfile(t, v))
	},

	"psg.delta":       func(t *testing.T, v vector) any { return sampledProfile(t, v)(v.input(t, "epsilon")) },
	"psg.delta_curve": func(t *testing.T, v vector) any { return each(v.floats(t, "epsilons"), sampledProfile(t, v)) },
	"psg.delta_replace": func(t *testing.T, v vector) any {
		return sampledOf(t, v).DeltaReplace(v.input(t, "epsilon"))
	},
	"psg.sigma": func(t *testing.T, v vector) any {
		return leastFitting(func(sigma float64) bool {
			v.Inputs["sigma"] = sigma
			return sampledProfile(t, v)(v.input(t, "epsilon")) <= v.input(t, "delta")
		})
	},

	"approx.delta_zero_eps": func(t *testing.T, v vector) any { return pureOf(t, v).Delta(v.input(t, "epsilon")) },
	"kov.delta":             func(t *testing.T, v vector) any { return pureOf(t, v).Delta(v.input(t, "epsilon")) },
	"kov.epsilon":           func(t *testing.T, v vector) any { return pureOf(t, v).Epsilon(v.input(t, "delta")) },
	"kov.grid_epsilon": func(t *testing.T, v vector) any {
		return pureOf(t, v)[0].GridEpsilon(v.input(t, "total_delta"))
	},
	"kov.epsilon0": func(t *testing.T, v vector) any {
		return GridStepFor(int64(v.input(t, "k")), v.inputOr("delta0", 0), v.input(t, "total_epsilon"),
			v.input(t, "total_delta")).Epsilon
	},
	"kov.hetero_delta": func(t *testing.T, v vector) any { return pureOf(t, v).Delta(v.input(t, "epsilon")) },
	"rr.delta_k":       func(t *testing.T, v vector) any { return pureOf(t, v).Delta(v.input(t, "epsilon")) },
	"rr.pure_epsilon": func(t *testing.T, v vector) any {
		switch relation := v.text(t, "relation"); relation {
		case "replace_one":
			return responseOf(t, v).Epsilon()
		case "replace_special":
			return responseOf(t, v).SpecialEpsilon()
		default:
			t.Fatalf("%s: relation %q", v.ID, relation)
			return nil
		}
	},

	"rdp.gaussian": func(t *testing.T, v vector) any { return atOrders(t, v, gaussianOf(t, v).RDP) },
	"rdp.laplace": func(t *testing.T, v vector) any {
		return atOrders(t, v, Laplace{Scale: 1, L1: v.input(t, "e0")}.RDP)
	},
	"rdp.dlaplace": func(t *testing.T, v vector) any {
		return atOrders(t, v, func(order float64) float64 {
			return discreteLaplaceRDP(v.input(t, "a"), int64(v.inputOr("sensitivity", 1)), order)
		})
	},
	"rdp.exponential_mechanism": func(t *testing.T, v vector) any {
		return atOrders(t, v, BoundedRange{v.input(t, "epsilon")}.RDP)
	},
	"rdp.psg": func(t *testing.T, v vector) any { return atOrders(t, v, sampledOf(t, v).RDP) },
	"rdp.psg_k": func(t *testing.T, v vector) any {
		return atOrders(t, v, func(order float64) float64 { return v.input(t, "k") * sampledOf(t, v).RDP(order) })
	},
	"rdp.rr_replace": func(t *testing.T, v vector) any { return atOrders(t, v, responseOf(t, v).RDP) },
	"rdp.rr_special": func(t *testing.T, v vector) any { return atOrders(t, v, responseOf(t, v).SpecialRDP) },
	"rdp.to_epsilon": func(t *testing.T, v vector) any {
		orders, values := rdpCurve(t, v)
		return BestRDPEpsilon(orders, values, v.input(t, "delta"))
	},
	"rdp.to_delta": func(t *testing.T, v vector) any {
		orders, values := rdpCurve(t, v)
		return BestRDPDelta(orders, values, v.input(t, "epsilon"))
	},
	"rdp.to_epsilon_one_order": func(t *testing.T, v vector) any {
		return RDPEpsilon(v.input(t, "order"), v.input(t, "rdp"), v.input(t, "delta"))
	},

	"partition.keep_probability": func(t *testing.T, v vector) any {
		selection := PartitionSelection{v.input(t, "epsilon"), v.input(t, "delta"), int64(v.inputOr("l0", 1))}
		kept := map[string]float64{}
		for count := range v.Expected.(map[string]any) {
			n, err := strconv.ParseInt(count, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			kept[count] = selection.KeepProbability(n)
		}
		return kept
	},
	"threshold.laplace": func(t *testing.T, v vector) any {
		return LaplaceThreshold(int64(v.inputOr("l0", 1)), int64(v.inputOr("linf", 1)), v.input(t, "epsilon"),
			v.input(t, "delta"))
	},
	"threshold.gaussian": func(t *testing.T, v vector) any {
		return GaussianThreshold(int64(v.inputOr("l0", 1)), int64(v.inputOr("linf", 1)), v.input(t, "sigma"),
			v.input(t, "threshold_delta"))
	},
}

func each(at []float64, f func(x float64) float64) []float64 {
	var values []float64
	for _, x := range at {
		values = append(values, f(x))
	}
	return values
}

// atOrders gives a figure for one order, or a list of them.
func atOrders(t *testing.T, v vector, f func(order float64) float64) any {
	if v.has("orders") {
		return each(ordersOf(t, v), f)
	}
	return f(v.input(t, "order"))
}

// ordersOf reads a list of orders, or a range such as "2..32".
func ordersOf(t *testing.T, v vector) []float64 {
	text, ok := v.Inputs["orders"].(string)
	if !ok {
		return v.floats(t, "orders")
	}
	from, to, _ := strings.Cut(text, "..")
	first, errFirst := strconv.Atoi(from)
	last, errLast := strconv.Atoi(to)
	if errFirst != nil || errLast != nil {
		t.Fatalf("%s: orders %q", v.ID, text)
	}
	var orders []float64
	for order := first; order <= last; order++ {
		orders = append(orders, float64(order))
	}
	return orders
}

// rdpCurve reads the orders with one value for all of them or one for each.
func rdpCurve(t *testing.T, v vector) (orders, values []float64) {
	orders = ordersOf(t, v)
	if _, list := v.Inputs["rdp"].([]any); list {
		return orders, v.floats(t, "rdp")
	}
	return orders, each(orders, func(float64) float64 { return v.input(t, "rdp") })
}

// l2Of is the Euclidean sensitivity, given as such or as linf·√l0.
func l2Of(v vector) float64 {
	return v.inputOr("l2_sensitivity", v.inputOr("linf", 1)*math.Sqrt(v.inputOr("l0", 1)))
}

func gaussianOf(t *testing.T, v vector) Gaussian {
	return Gaussian{Sigma: v.input(t, "sigma"), L2: l2Of(v)}
}

func sigmaFor(t *testing.T, v vector, count int64) float64 {
	all := RepeatGaussian(Gaussian{Sigma: 1, L2: l2Of(v)}, count)
	return AnalyticGaussianFor(all.L2, v.input(t, "epsilon"), v.input(t, "delta")).Sigma
}

func sampledOf(t *testing.T, v vector) SubsampledGaussian {
	return SubsampledGaussian{Gaussian: gaussianOf(t, v), Rate: v.inputOr("sampling_prob", 1)}
}

func sampledProfile(t *testing.T, v vector) func(epsilon float64) float64 {
	s := sampledOf(t, v)
	return inDirection(t, v, s.DeltaRemove, s.DeltaAdd)
}

func laplaceProfile(t *testing.T, v vector) func(epsilon float64) float64 {
	law, rate := Laplace{Scale: v.input(t, "scale"), L1: v.inputOr("l1_sensitivity", 1)}, v.inputOr("sampling_prob", 1)
	return inDirection(t, v,
		func(epsilon float64) float64 { return poissonRemoval(rate, epsilon, law.Delta) },
		func(epsilon float64) float64 { return poissonAddition(rate, epsilon, law.Delta) })
}

func discreteLaplaceProfile(t *testing.T, v vector) func(epsilon float64) float64 {
	rate := v.inputOr("sampling_prob", 1)
	law := func(epsilon float64) float64 {
		return discreteLaplaceDelta(v.input(t, "a"), int64(v.inputOr("sensitivity", 1)), epsilon)
	}
	return inDirection(t, v,
		func(epsilon float64) float64 { return poissonRemoval(rate, epsilon, law) },
		func(epsilon float64) float64 { return poissonAddition(rate, epsilon, law) })
}

// inDirection picks the profile of the neighbours that a case names: both, where it
// names none.
func inDirection(t *testing.T, v vector, remove, add func(epsilon float64) float64) func(epsilon float64) float64 {
	if !v.has("adjacency") {
		return func(epsilon float64) float64 { return math.Max(remove(epsilon), add(epsilon)) }
	}
	switch adjacency := v.text(t, "adjacency"); adjacency {
	case "REM":
		return remove
	case "ADD":
		return add
	default:
		t.Fatalf("%s: adjacency %q", v.ID, adjacency)
		return nil
	}
}

// pureOf reads k steps of one ε and δ, or one step of each ε listed.
func pureOf(t *testing.T, v vector) PureComposition {
	if !v.has("epsilons0") {
		return PureComposition{{v.input(t, "epsilon0"), v.inputOr("delta0", 0), int64(v.inputOr("k", 1))}}
	}
	var deltas []float64
	if v.has("deltas0") {
		deltas = v.floats(t, "deltas0")
	}
	var steps PureComposition
	for i, e := range v.floats(t, "epsilons0") {
		step := PureStep{Epsilon: e, Delta: v.inputOr("delta0", 0), Count: int64(v.inputOr("k", 1))}
		if deltas != nil {
			step.Delta = deltas[i]
		}
		steps = append(steps, step)
	}
	return steps
}

// responseOf reads the noise parameter, or the probability of the true answer.
func responseOf(t *testing.T, v vector) CategoricalResponse {
	k := v.inputOr("buckets", 2)
	if v.has("truth_probability") {
		return CategoricalResponse{Noise: (1 - v.input(t, "truth_probability")) * k / (k - 1), Categories: int64(k)}
	}
	return CategoricalResponse{Noise: v.input(t, "noise_parameter"), Categories: int64(k)}
}
