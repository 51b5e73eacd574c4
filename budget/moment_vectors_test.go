package budget

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

// This file checks moments of the loss. A Rényi divergence of order α is ln E[e^{(α−1)L}]/(α−1). No release asks for
// one, but every composition is tilted by such a moment, and each δ that it computes is a multiple of it.

// momentKinds maps the kinds of case that fix a Rényi divergence to the moment that a composition is tilted by.
var momentKinds = map[string]func(t *testing.T, v vector) any{
	"rdp.laplace": func(t *testing.T, v vector) any {
		return atOrders(t, v, momentsOf(continuousLaplace(v.input(t, "e0"), 1), fine))
	},
	"rdp.dlaplace": func(t *testing.T, v vector) any {
		scale := decimal(v.input(t, "a"))
		noise := laplaceAtoms(scale.Inv(scale), int64(v.inputOr("sensitivity", 1)))
		return atOrders(t, v, momentsOf(step{noise, 1}, fine))
	},
	"rdp.psg": func(t *testing.T, v vector) any {
		return atOrders(t, v, momentsOf(step{continuousFrom(1e-300, removal(subsampled(t, v))), 1},
			resolution{relative: 1e-8, points: 1 << 22}))
	},
	"rdp.rr_replace": func(t *testing.T, v vector) any {
		r := responseOf(t, v)
		return atOrders(t, v, momentsOf(twoSided(math.Log(r.truth/r.other), r.other, r.truth), fine))
	},
	"rdp.rr_special": func(t *testing.T, v vector) any {
		r := responseOf(t, v)
		likely, unlikely := math.Log(r.truth*r.buckets), math.Log(r.other*r.buckets)
		present := momentsOf(twoLosses(unlikely, likely, 1-r.truth, r.truth), fine)
		absent := momentsOf(twoLosses(-likely, -unlikely, 1/r.buckets, 1-1/r.buckets), fine)
		return atOrders(t, v, func(order float64) float64 { return max(present(order), absent(order)) })
	},
}

// farthestOrder is an order beyond which the moments of a sampled Gaussian rest on losses that are less probable than
// 1e-300: no δ is so small.
const farthestOrder = 50

// momentsOf returns the Rényi divergences of a step, from the masses that a composition spreads over its grid.
func momentsOf(s step, r resolution) func(order float64) float64 {
	return func(order float64) float64 {
		theta := order - 1
		steps := []step{s}
		sketches := sketchesOf(steps)
		width := outlineWindow(sketches, tilt{theta: theta, margin: windowMargin, rare: windowMargin}).width
		spread := newTerm(s, gridFor(steps, sumVariance(sketches), width, r), theta)
		if theta > 0 {
			return spread.logM / theta
		}
		var mean float64 // the limit
		for i, m := range spread.mass {
			mean += m * spread.lossAt(i)
		}
		return mean
	}
}

// twoSided is the step whose loss is ±epsilon with these probabilities, else 0.
func twoSided(epsilon, low, high float64) step {
	return step{atoms{lattice{exactly(epsilon), -1, 1}, []float64{low, 1 - low - high, high}, 0}, 1}
}

// twoLosses is the step that has one of two losses, which are rounded to multiples of 2⁻⁴⁰.
func twoLosses(low, high, pLow, pHigh float64) step {
	const unit = 0x1p-40
	first, last := int64(math.Round(low/unit)), int64(math.Round(high/unit))
	return step{atoms{lattice{big.NewRat(1, 1/unit), first, last - first}, []float64{pLow, pHigh}, 0}, 1}
}

// atOrders gives a figure for one order, or a list of them.
func atOrders(t *testing.T, v vector, f func(order float64) float64) any {
	if v.has("orders") {
		return each(ordersOf(t, v), f)
	}
	return f(v.input(t, "order"))
}

// ordersOf reads an order, a list of orders, or a range such as "2..32".
func ordersOf(t *testing.T, v vector) []float64 {
	if !v.has("orders") {
		return []float64{v.input(t, "order")}
	}
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

// leastOverOrders is the least figure over the orders of a case and the divergences at them.
func leastOverOrders(t *testing.T, v vector, f func(order, divergence float64) float64) float64 {
	orders, least := ordersOf(t, v), math.Inf(1)
	for i, order := range orders {
		divergence, same := v.Inputs["rdp"].(float64)
		if !same {
			divergence = v.floats(t, "rdp")[i]
		}
		least = math.Min(least, f(order, divergence))
	}
	return least
}
