package histogramtest

// This file holds a release of groups that are not listed, and the law by which they appear.

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// words is a release of groups that are not listed, whose capitals a test fills in.
const words = `version: 1
release: words
privacy: {protects: customer, neighbours: NEIGHBOURS}
budget: {epsilon: EPSILON, delta: 1e-5}
tables:
  searches:
    source: {csv: "*.csv"}
    unit: {id: customer, max_rows: 20}
    columns:
      word: {values: {discover: {max_length: 12LEAST}}, unknown: drop, null: drop}
      side: {values: [left, right]}
marginals:
  words: {by: [BY], stats: [units], per_unit: {groups: GROUPS}}
`

// Words returns the plan of the words, with replacements of the capitals.
func Words(t testing.TB, replacements ...string) *plan.Plan {
	t.Helper()
	return PlanOf(t, WordsText(replacements...))
}

// WordsText returns the text of the release, with replacements of the capitals.
func WordsText(replacements ...string) string {
	return strings.NewReplacer(append(replacements, "NEIGHBOURS", "add-remove", "EPSILON", "2", "LEAST", "", "BY",
		"word",
		"GROUPS", "1")...).Replace(words)
}

// optimalProbability returns the probability of a group of n units by the closed form of Desfontaines, Voss, Gipson &
// Mandayam 2022, which is not how the code computes it.
func optimalProbability(epsilon, delta float64, n int) float64 {
	first := 1 + math.Floor(math.Log((1+math.Exp(-epsilon)*(2*delta-1))/(delta*(1+math.Exp(-epsilon))))/epsilon)
	if float64(n) <= first {
		return delta * math.Expm1(float64(n)*epsilon) / math.Expm1(epsilon)
	}
	top := delta * math.Expm1(first*epsilon) / math.Expm1(epsilon)
	more := float64(n) - first
	return min(1, 1-math.Exp(-more*epsilon)*(1-top)+delta*(1-math.Exp(-more*epsilon))/math.Expm1(epsilon))
}

// probabilityToReach returns P(n + X ≥ t) for discrete Gaussian X, by summation.
func probabilityToReach(variance float64, n, t int) float64 {
	if n == 0 {
		return 0
	}
	var all, above float64
	for x := -4000; x <= 4000; x++ {
		p := math.Exp(-float64(x*x) / 2 / variance)
		if all += p; n+x >= t {
			above += p
		}
	}
	return above / all
}

// LawOf returns the probability with which a group of n units is selected by the plan, by formulas of the test's own.
func LawOf(t testing.TB, d selection.Groups) func(n int) float64 {
	t.Helper()
	delta, ok := new(big.Rat).SetString(d.Delta)
	if !ok {
		t.Fatal(d.Delta)
	}
	f, _ := delta.Float64()
	parameter, _ := d.Select.Parameter.Float64()
	if d.Select.Kind == budget.RandomizedResponse {
		return func(n int) float64 { return optimalProbability(parameter, f, n) }
	}
	return func(n int) float64 { return probabilityToReach(parameter, n, int(d.Threshold)) }
}

// Searched returns rows of `each` groups of each size. Every unit of a group has two rows of it.
func Searched(sizes []int, each int) string {
	var b strings.Builder
	b.WriteString("customer,word,side\n")
	unit := 0
	for _, n := range sizes {
		for g := range each {
			for range n {
				unit++
				for range 2 {
					fmt.Fprintf(&b, "u%d,%03d-%d,left\n", unit, n, g)
				}
			}
		}
	}
	return b.String()
}
