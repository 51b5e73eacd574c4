package describe_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
)

// costPlans returns plans of every kind of budget, with every kind of cost line.
func costPlans(t *testing.T) map[string]*plan.Plan {
	t.Helper()
	plans := map[string]*plan.Plan{
		"discovered groups":          plantest.PlanOfWords(t, "add-remove", 3),
		"discovered groups, replace": plantest.PlanOfWords(t, "replace", 2),
		"many tables":                plantest.Wide(t, 10),
	}
	for _, b := range []string{"{epsilon: 1}", "{epsilon: 1/3}", "{rho: 0.123456}", "{epsilon: 1, delta: 1e-9}",
		"{rho: 1/2, split: {a: 1/3, b: 2/3}}", "{epsilon: 1, split: {a: 1/7, b: 6/7}}"} {
		a, z := "", ""
		if strings.Contains(b, "split") {
			a, z = ", budget: a", ", budget: b"
		}
		plans[b] = plantest.PlanOf(t, "add-remove", b, "{id: who, max_rows: 3}", "{x: {by: [sex]"+a+"}, y: {by: [age]"+
			z+
			"}, z: {by: [sex, age]"+z+"}}")
	}
	plans["top"] = plantest.PlanOf(t, "add-remove", "{epsilon: 1}", "{id: who, max_rows: 3}",
		"{x: {by: [age], top: 3}, y: {by: [sex]}}")
	for _, name := range []string{"adult", "earnings", "households"} {
		plans[name] = plantest.PlanOfFile(t, filepath.Join(testkit.Root(t), "examples", name, "release.yaml"))
	}
	return plans
}

// fractions returns the amounts of a text such as "ρ 1/2, δ 1/1000", by their letters.
func fractions(t *testing.T, text string) map[string]*big.Rat {
	t.Helper()
	out := map[string]*big.Rat{}
	for _, part := range strings.Split(text, ", ") {
		letter, number, ok := strings.Cut(part, " ")
		r, exact := new(big.Rat).SetString(number)
		if !ok || !exact {
			t.Fatalf("%q is no exact amount", text)
		}
		out[letter] = r
	}
	return out
}

// addUp adds amounts to others.
func addUp(to, more map[string]*big.Rat) {
	for letter, r := range more {
		if to[letter] == nil {
			to[letter] = new(big.Rat)
		}
		to[letter].Add(to[letter], r)
	}
}

// sameAmounts reports whether two sets of amounts are equal; a missing amount is zero.
func sameAmounts(a, b map[string]*big.Rat) bool {
	for _, letter := range []string{"ε", "ρ", "δ"} {
		x, y := new(big.Rat), new(big.Rat)
		if a[letter] != nil {
			x = a[letter]
		}
		if b[letter] != nil {
			y = b[letter]
		}
		if x.Cmp(y) != 0 {
			return false
		}
	}
	return true
}

// linesOf returns the amounts of the last column of a text of costs, by line, and their total.
func linesOf(t *testing.T, page string) (lines []map[string]*big.Rat, total map[string]*big.Rat) {
	t.Helper()
	_, table, found := strings.Cut(page, "\nCost by line\n")
	if !found {
		t.Fatalf("there are no costs by line:\n%s", page)
	}
	apart := regexp.MustCompile(` {2,}`)
	for _, row := range strings.Split(table, "\n")[1:] { // below the heads
		cells := apart.Split(strings.TrimSpace(row), -1)
		amounts := fractions(t, cells[len(cells)-1])
		if cells[0] == "total" {
			return lines, amounts
		}
		if len(cells) == 6 { // line, leaf, mechanism, times, each, together
			times, _ := new(big.Rat).SetString(cells[3])
			for letter, each := range fractions(t, cells[4]) {
				over := new(big.Rat).Sub(amounts[letter], new(big.Rat).Mul(times, each))
				if over.Sign() < 0 || over.Cmp(big.NewRat(1, 1e12)) >= 0 {
					t.Errorf("%s: %s times %s is not %s, rounded up", cells[0], cells[3], cells[4], cells[5])
				}
			}
		}
		lines = append(lines, amounts)
	}
	t.Fatalf("the costs have no total:\n%s", page)
	return nil, nil
}

// amountsIn returns the amounts of a cost in JSON.
func amountsIn(t *testing.T, cost map[string]string) map[string]*big.Rat {
	t.Helper()
	out := map[string]*big.Rat{}
	for name, letter := range map[string]string{"epsilon": "ε", "rho": "ρ", "delta": "δ"} {
		if text, there := cost[name]; there {
			r, exact := new(big.Rat).SetString(text)
			if !exact {
				t.Fatalf("%q is no exact amount", text)
			}
			out[letter] = r
		}
	}
	return out
}

// TestCostsAddUp checks that the lines of plans, on the page, in the whole list and in JSON, add up to what the
// accounts are charged, and that every line is the cost of the plan's mechanisms by their parameters.
func TestCostsAddUp(t *testing.T) {
	for name, p := range costPlans(t) {
		t.Run(name, func(t *testing.T) {
			var cost map[string]string
			text, err := json.Marshal(p.Spent())
			if err == nil {
				err = json.Unmarshal(text, &cost)
			}
			if err != nil {
				t.Fatal(err)
			}
			charged := amountsIn(t, cost)

			for what, most := range map[string]int{"page": describe.PageLines, "short": 2, "list": math.MaxInt} {
				var b bytes.Buffer
				if err := describe.WriteCosts(p, &b, most); err != nil {
					t.Fatal(err)
				}
				page := b.String()
				lines, total := linesOf(t, page)
				sum := map[string]*big.Rat{}
				for _, line := range lines {
					addUp(sum, line)
					for letter, r := range line {
						if r.Sign() < 0 {
							t.Errorf("%s: a line costs %s %s", what, letter, r)
						}
					}
				}
				if !sameAmounts(sum, total) || !sameAmounts(total, charged) {
					t.Errorf("%s: the lines add up to %v, the total is %v, the charge %v\n%s", what, sum, total,
						charged, page)
				}
				if len(lines) < 2 {
					t.Errorf("%s: %d lines", what, len(lines))
				}
			}

			c, err := describe.CostsOf(p)
			if err != nil {
				t.Fatal(err)
			}
			var document struct {
				Lines []struct {
					Of         string
					Times      int64
					Each, Cost map[string]string
				}
				Total map[string]string
			}
			if text, err = json.Marshal(c); err == nil {
				err = json.Unmarshal(text, &document)
			}
			if err != nil {
				t.Fatal(err)
			}
			sum := map[string]*big.Rat{}
			for _, line := range document.Lines {
				addUp(sum, amountsIn(t, line.Cost))
			}
			if !sameAmounts(sum, charged) || !sameAmounts(amountsIn(t, document.Total), charged) {
				t.Errorf("the document's lines add up to %v, its total is %v, the charge %v", sum, document.Total,
					charged)
			}
			for i, m := range p.Measurements {
				at := -1
				for k, line := range document.Lines {
					if line.Of == m.ID {
						at = k
					}
				}
				if at < 0 {
					t.Fatalf("measurement %s has no line", m.ID)
				}
				if i > 2 {
					continue
				}
				if want := textbookCost(p, m); want != nil &&
					!sameAmounts(amountsIn(t, document.Lines[at].Each), want) {
					t.Errorf("%s: %v, by its parameters %v", m.ID, document.Lines[at].Each, want)
				}
			}
		})
	}
}

// textbookCost returns the cost of noise by the textbook: L1 ÷ t of discrete Laplace noise, or half the square of
// that as a ρ; L2² ÷ 2σ² of discrete Gaussian noise, whose parameter is σ². It returns nil for anything else.
func textbookCost(p *plan.Plan, m plan.Measurement) map[string]*big.Rat {
	square := func(r *big.Rat) *big.Rat { return new(big.Rat).Mul(r, r) }
	switch fmt.Sprint(m.Mechanism.Kind) {
	case "discrete-laplace":
		epsilon := new(big.Rat).Quo(new(big.Rat).SetInt(m.Mechanism.L1), m.Mechanism.Parameter)
		if p.Spent().Epsilon != nil {
			return map[string]*big.Rat{"ε": epsilon}
		}
		return map[string]*big.Rat{"ρ": new(big.Rat).Quo(square(epsilon), big.NewRat(2, 1))}
	case "discrete-gaussian":
		rho := new(big.Rat).Quo(new(big.Rat).SetInt(m.Mechanism.L2Squared), m.Mechanism.Parameter)
		return map[string]*big.Rat{"ρ": rho.Quo(rho, big.NewRat(2, 1))}
	}
	return nil
}
