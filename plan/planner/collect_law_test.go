package planner_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/internal/plantest"
)

// This file computes what the tests of collections compare plans with.

// certainty is the probability 1 in the units of chances.
const certainty = 1 << 48

// normal95 is how many standard deviations a normal error of 95 % is.
const normal95 = 1.9599639845400542

// collectionText is a spec of a collection with a question for each number of categories. What else is in a marginal is
// given by it.
func collectionText(collect string, sizes []int, with map[int]string) string {
	var columns, marginals strings.Builder
	for _, k := range sizes {
		fmt.Fprintf(&columns, "      c%d: {type: integer, range: [1, %d]}\n", k, k)
		fmt.Fprintf(&marginals, "  q%d: {by: [c%d]%s}\n", k, k, with[k])
	}
	return "version: 1\nrelease: survey\nprivacy: {protects: respondent, neighbours: replace}\n" +
		"collect: {answers: {protocol: local, " + collect + "}}\ntables:\n  answers:\n" +
		"    source: {parquet: \"*.parquet\"}\n    collected: answers\n    columns:\n" + columns.String() +
		"marginals:\n" + marginals.String()
}

func collectionOf(t *testing.T, collect string, sizes []int, with map[int]string) *plan.Plan {
	t.Helper()
	p, err := plantest.PlanOfText(t, collectionText(collect, sizes, with))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// asked is a question by numbers that are computed here: its probabilities, and the share of respondents who are asked.
type asked struct{ k, w, p, q, share float64 }

// askedOf returns the questions of a plan.
func askedOf(p *plan.Plan) (all []asked) {
	for _, m := range p.Measurements {
		r, _ := m.Reports()
		a := asked{k: float64(r.Categories), w: float64(r.Support), p: float64(r.Keep) / certainty, share: 1}
		a.q = (a.p*(a.w-1) + (1-a.p)*a.w) / (a.k - 1)
		if r.Chance > 0 {
			a.share = float64(r.Chance) / certainty
		}
		all = append(all, a)
	}
	return all
}

// variance returns the variance of an estimate of how many of n respondents have a category, if n f of them do. Each is
// asked with probability π, independently, and the estimate adds up 1/π (1[in the report] − q)/(p − q) over their
// reports.
func (a asked) variance(f, n float64) float64 {
	of := func(chance, truth float64) float64 { // of one respondent
		hit, miss := (1-a.q)/(a.share*(a.p-a.q)), -a.q/(a.share*(a.p-a.q))
		mean := a.share * (chance*hit + (1-chance)*miss)
		if math.Abs(mean-truth) > 1e-9 {
			panic("biased")
		}
		return a.share*(chance*hit*hit+(1-chance)*miss*miss) - mean*mean
	}
	return n * (f*of(a.p, 1) + (1-f)*of(a.q, 0))
}

// sampledVariance is that of the estimate which knows how many were asked, and divides by their number: the number adds
// nothing to it, n f² (1−π)/π less.
func (a asked) sampledVariance(f, n float64) float64 {
	return a.variance(f, n) - n*f*f*(1-a.share)/a.share
}

// worstVariance is the largest variance over a fine grid of parts.
func (a asked) worstVariance(n float64) (most float64) {
	for i := range 100_001 {
		most = max(most, a.sampledVariance(float64(i)/100_000, n))
	}
	return most
}

// best is the question of so many categories at ε, with the support of least variance for a category that nobody has.
func best(k int, epsilon float64) (a asked) {
	least, e := math.Inf(1), math.Exp(epsilon)
	for w := 1.0; w < float64(k); w++ {
		p := w * e / (w*e + float64(k) - w)
		b := asked{k: float64(k), w: w, p: p, q: (p*(w-1) + (1-p)*w) / (float64(k) - 1), share: 1}
		if v := b.sampledVariance(0, 1); v < least {
			a, least = b, v
		}
	}
	return a
}

// isRoundedUp reports whether a figure is a number rounded up to a few digits.
func isRoundedUp(got, want float64) bool { return got >= want*(1-1e-9) && got <= want*1.002 }

// checkSupport fails if another number of categories in a report has less variance for a category that nobody has.
func checkSupport(t *testing.T, what string, a asked, e float64) {
	t.Helper()
	variance := func(w float64) float64 {
		p := w * e / (w*e + a.k - w)
		q := (p*(w-1) + (1-p)*w) / (a.k - 1)
		return q * (1 - q) / ((p - q) * (p - q))
	}
	for w := 1.0; w < a.k; w++ {
		if variance(w) < variance(a.w)*(1-1e-9) {
			t.Errorf("%s: reports of %g categories have less variance than those of %g", what, w, a.w)
			return
		}
	}
}

// isNearly reports whether figures are those of numbers of reports that differ by less than one in ten thousand: plans
// round them to whole numbers.
func isNearly(got, want float64) bool { return math.Abs(got/want-1) < 5e-5 }
