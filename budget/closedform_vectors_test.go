package budget

import (
	"math"
	"strconv"
	"testing"
)

// closedFormKinds maps the kinds of case that a formula or a finite sum gives to its computation: the figure, or a map
// or list of figures as in the case.
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
	"pure.zcdp_rho": func(t *testing.T, v vector) any {
		return roundUp(pureRho(exactly(v.input(t, "epsilon"))))
	},
	"em.zcdp_rho": func(t *testing.T, v vector) any {
		return roundUp(boundedRangeRho(exactly(v.input(t, "epsilon"))))
	},

	"gaussian.delta": func(t *testing.T, v vector) any { return gaussianOf(t, v).Delta(v.input(t, "epsilon")) },
	"gaussian.delta_curve": func(t *testing.T, v vector) any {
		return each(v.floats(t, "epsilons"), gaussianOf(t, v).Delta)
	},
	"gaussian.epsilon": func(t *testing.T, v vector) any { return gaussianOf(t, v).Epsilon(v.input(t, "delta")) },
	"gaussian.sigma":   func(t *testing.T, v vector) any { return sigmaFor(t, v, 1) },
	"gaussian.sigma_k": func(t *testing.T, v vector) any { return sigmaFor(t, v, v.input(t, "k")) },
	"gaussian.sigma_squared": func(t *testing.T, v vector) any {
		sigma := sigmaFor(t, v, 1)
		return sigma * sigma
	},
	"pld.gaussian_k": func(t *testing.T, v vector) any {
		return runsOf(gaussianOf(t, v), v.input(t, "k")).Delta(v.input(t, "epsilon"))
	},
	"pld.gaussian_k_eps": func(t *testing.T, v vector) any {
		return runsOf(gaussianOf(t, v), v.input(t, "k")).Epsilon(v.input(t, "delta"))
	},
	"pld.gaussian_hetero": func(t *testing.T, v vector) any {
		var squares float64
		for _, part := range v.parts(t) {
			mu := part.inputOr("l2_sensitivity", l2Of(v)) / part.input(t, "sigma")
			squares += mu * mu * part.inputOr("k", 1)
		}
		if all := (Gaussian{Sigma: 1, L2: math.Sqrt(squares)}); v.has("epsilon") {
			return all.Delta(v.input(t, "epsilon"))
		} else {
			return all.Epsilon(v.input(t, "delta"))
		}
	},
	"tradeoff.gaussian_tpr": func(t *testing.T, v vector) any {
		return Gaussian{Sigma: 1, L2: v.input(t, "mu")}.TruePositiveRate(v.input(t, "fpr"))
	},

	"kov.delta":        pureDelta,
	"kov.hetero_delta": pureDelta,
	"rr.delta_k":       pureDelta,
	"kov.epsilon": func(t *testing.T, v vector) any {
		return max(0, epsilonOf(v.input(t, "delta"), pureOf(t, v)...))
	},
	"dlaplace.delta":               discreteLaplaceDelta,
	"dlaplace.delta_curve":         discreteLaplaceDelta,
	"dgauss.delta_truncated":       truncatedDelta,
	"dgauss.delta_truncated_curve": truncatedDelta,

	"partition.keep_probability": func(t *testing.T, v vector) any {
		selection := PartitionSelection{v.input(t, "epsilon"), v.input(t, "delta"), int64(v.inputOr("l0", 1))}
		all, err := selection.KeepProbabilities()
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]float64{}
		for count := range v.Expected.(map[string]any) {
			n, err := strconv.ParseInt(count, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			kept[count] = all[min(n, int64(len(all))-1)]
		}
		return kept
	},
}

func each(at []float64, f func(x float64) float64) []float64 {
	var values []float64
	for _, x := range at {
		values = append(values, f(x))
	}
	return values
}

// l2Of is the Euclidean sensitivity, given as such or as linf·√l0.
func l2Of(v vector) float64 {
	return v.inputOr("l2_sensitivity", v.inputOr("linf", 1)*math.Sqrt(v.inputOr("l0", 1)))
}

func gaussianOf(t *testing.T, v vector) Gaussian {
	return Gaussian{Sigma: v.input(t, "sigma"), L2: l2Of(v)}
}

// runsOf is the Gaussian that loses as much as count runs of g (Dong, Roth & Su 2022, corollary 3.3).
func runsOf(g Gaussian, count float64) Gaussian { return Gaussian{g.Sigma, g.L2 * math.Sqrt(count)} }

// sigmaFor is the least sigma at which δ is as small as the case wants.
func sigmaFor(t *testing.T, v vector, count float64) float64 {
	return leastFitting(func(sigma float64) bool {
		return runsOf(Gaussian{sigma, l2Of(v)}, count).Delta(v.input(t, "epsilon")) <= v.input(t, "delta")
	})
}

// pureOf reads k steps of one ε and δ, or one step of each ε listed. The worst mechanism of an ε and a δ loses
// everything with probability δ, and else as much as randomized response does (Kairouz, Oh & Viswanath 2015).
func pureOf(t *testing.T, v vector) []step {
	if !v.has("epsilons0") {
		return []step{pureStep(v.input(t, "epsilon0"), v.inputOr("delta0", 0), v.inputOr("k", 1))}
	}
	var steps []step
	for i, epsilon := range v.floats(t, "epsilons0") {
		delta := v.inputOr("delta0", 0)
		if v.has("deltas0") {
			delta = v.floats(t, "deltas0")[i]
		}
		steps = append(steps, pureStep(epsilon, delta, v.inputOr("k", 1)))
	}
	return steps
}

func pureStep(epsilon, delta, count float64) step {
	a := pureAtoms(decimal(epsilon))
	a.unbounded = delta
	for i := range a.mass {
		a.mass[i] *= 1 - delta
	}
	return step{a, int64(count)}
}

func pureDelta(t *testing.T, v vector) any { return deltaOf(v.input(t, "epsilon"), pureOf(t, v)...) }

// discreteLaplaceDelta is δ of discrete Laplace noise, at one ε or at several.
func discreteLaplaceDelta(t *testing.T, v vector) any {
	scale := decimal(v.input(t, "a"))
	law := step{laplaceAtoms(scale.Inv(scale), int64(v.inputOr("sensitivity", 1))), 1}
	return atEpsilons(t, v, func(epsilon float64) float64 {
		return sampledDelta(t, v, epsilon, func(epsilon float64) float64 { return deltaOf(epsilon, law) })
	})
}
