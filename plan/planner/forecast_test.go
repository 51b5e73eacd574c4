package planner_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// prospectSpec is a release whose leaves bear on each other's tables, with %s for its budget and its marginals.
const prospectSpec = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: %s
tables:
  t:
    source: {csv: t.csv}
    unit: row
    expect: {rows: [90000, 110000]}
    columns:
      sex: {values: [f, m]}
      age: {type: integer, range: [0, 99], levels: {ten: {width: 10}}}
      area: {type: integer, range: [1, 30]}
      pay: {type: decimal, range: [0, 5000], step: 1}
marginals:
%s`

const crossing = `  one: {by: [sex, age.ten], budget: a}
  two: {by: [area, sex], budget: b}
  wide: {by: [age, area], budget: b}
  all: {every: [1, 2], by: [sex, age.ten, area], budget: a}
`

// forecast forecasts the errors of a release with a budget.
func forecast(t *testing.T, budget, marginals string) *compiled.Forecast {
	t.Helper()
	p, err := planner.NewForecast(prospectRelease(t, budget, marginals))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func prospectRelease(t *testing.T, budget, marginals string) *spec.Release {
	t.Helper()
	r, err := spec.Parse(spec.Source{Text: fmt.Sprintf(prospectSpec, budget, marginals)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// total reads a total off, as the page does: on a straight line between logarithms.
func total(p *compiled.Forecast, asked float64) compiled.Total {
	at := len(p.Totals) - 2
	for i := range at {
		if asked <= p.Totals[i+1].Asked {
			at = i
			break
		}
	}
	low, high := p.Totals[at], p.Totals[at+1]
	share := math.Log(asked/low.Asked) / math.Log(high.Asked/low.Asked)
	between := func(a, b float64) float64 { return math.Exp(math.Log(a)*(1-share) + math.Log(b)*share) }
	return compiled.Total{Asked: asked, Total: between(low.Total, high.Total), Least: between(low.Least, high.Least),
		Epsilon: between(low.Epsilon, high.Epsilon)}
}

// deviation is the standard error of a table where the leaves have these x.
func deviation(p *compiled.Forecast, t compiled.TableForecast, x []float64) float64 {
	var variance float64
	for _, own := range t.Own {
		variance += own.Factor / x[own.Of]
	}
	if t.Alone == budget.DiscreteLaplace {
		q := math.Exp(-math.Sqrt(2 / variance))
		return t.Unit * math.Sqrt(2*q) / (1 - q)
	}
	for _, shared := range t.Shared {
		precision := 0.0
		for _, each := range p.Shared[shared.Of] {
			precision += each.Factor * x[each.Of]
		}
		variance += shared.Factor / precision
	}
	return t.Unit * math.Sqrt(variance)
}

// xs are what variances are inverse to when another budget is divided as the release would.
func xs(p *compiled.Forecast, t *testing.T, r *spec.Release, asked float64) []float64 {
	t.Helper()
	needed := map[string]*big.Rat{}
	for i, l := range p.Plan.Leaves {
		if l.Needed {
			needed[l.Path] = new(big.Rat).SetFloat64(p.Amounts[i])
		}
	}
	divide := func(of *spec.Release, total float64) []float64 {
		amounts, err := of.Budget.Divide(new(big.Rat).SetFloat64(total), needed)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, len(amounts))
		for i, a := range amounts {
			out[i], _ = a.Float64()
		}
		return out
	}
	at := total(p, asked)
	if at.Least > 0 {
		roots := func(of *spec.Release) (sum float64) {
			for i, a := range divide(of, at.Total) {
				sum += p.Roots[i] * math.Sqrt(a)
			}
			return sum
		}
		planned, now := roots(p.Plan.Release()), roots(r)
		total := at.Total
		if now > planned {
			total *= planned * planned / (now * now)
		}
		if p.Laplace {
			total = max(total, at.Total*at.Epsilon*at.Epsilon/(now*now))
		}
		at.Total = max(total, at.Least)
	}
	out := divide(r, at.Total)
	for i, a := range out {
		if p.Pure {
			out[i] = a * a
		}
	}
	return out
}

// TestProspectsAreWhatIsPlanned holds the formula against the planner, with other budgets divided otherwise: of every
// table and figure it says at most so much too little, and at most so much too much. Budgets with which the planner
// takes another way to quantiles are left out: these then have another part of their leaf.
func TestProspectsAreWhatIsPlanned(t *testing.T) {
	sums := `  cells: {by: [sex, age.ten], budget: a, stats: [count, {sum: pay}, {mean: pay}]}
  share: {by: [area], budget: b, stats: [count, {ratio: {of: {sex: f}, over: {sex: [f, m]}}, as: women}]}
`
	quantiles := `  cells: {by: [age.ten], budget: a, stats: [count, {mean: pay}, {quantiles: pay, at: [25%, 75%]}]}
  two: {by: [age, sex, area], budget: b}
`
	few := "  one: {by: [sex, age.ten], budget: a}\n  two: {by: [area, sex], budget: b}\n"
	settings := 2
	if os.Getenv("DPRELEASE_LONG") != "" {
		settings = 20
	}
	divided := "{AMOUNT, split: {a: A%, b: B%}}"
	for _, c := range []struct {
		name, key, amount, budget, marginals string
		optimistic, cautious                 float64
	}{
		{"rho", "rho", "0.05", divided, crossing, 0.01, 0.01},
		{"pure", "epsilon", "1", divided, crossing, 0.01, 0.08},
		{"approximate", "epsilon", "1", strings.Replace(divided, "AMOUNT", "AMOUNT, delta: 1e-9", 1), few, 0.01, 0.05},
		{"amounts and targets", "rho", "0.05", "{AMOUNT, split: {a: needed, rest: {share: A%, split: {b: 100%}}, c: B%, d: {rho: 1/200}}}", `
  one: {by: [sex, age.ten], budget: a, target: {margin: 60}}
  two: {by: [area, sex], budget: rest.b}
  more: {by: [area], budget: c}
  other: {by: [age], budget: d}
`, 0.01, 0.01},
		{"sums", "epsilon", "0.4", divided, sums, 0.01, 0.01},
		{"quantiles", "epsilon", "0.4", divided, quantiles, 0.01, 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			budgetOf := func(amount string, a int) string {
				return strings.NewReplacer("AMOUNT", c.key+": "+amount, "A%", fmt.Sprintf("%d%%", a), "B%",
					fmt.Sprintf("%d%%", 100-a)).Replace(c.budget)
			}
			p := forecast(t, budgetOf(c.amount, 40), c.marginals)
			planned, _ := new(big.Rat).SetString(c.amount)
			random := rand.New(rand.NewPCG(7, 11))
			held := 0
			for tries := 0; held < settings && tries < 20*settings; tries++ {
				asked := budget.DecimalNearest(
					planner.FloatOfRat(planned)*math.Exp((2*random.Float64()-0.8)*math.Log(4)), 3)
				value, _ := new(big.Rat).SetString(asked)
				amount, _ := value.Float64()
				setting := budgetOf(asked, 15+random.IntN(70))
				r := prospectRelease(t, setting, c.marginals)
				other, err := planner.New(r)
				if err != nil {
					t.Fatalf("%s: %v", setting, err)
				}
				if slices.ContainsFunc(other.Tables,
					func(table plan.Table) bool { return !sameWays(table, p.Plan.Tables) }) {
					continue
				}
				held++
				x := xs(p, t, r, amount)
				for i, table := range other.Tables {
					s, known := table.Statistics[0], p.Tables[i]
					got := deviation(p, known, x)
					// continuous noise
					if off := got/s.StandardError - 1; off < -c.optimistic ||
						off > c.cautious+1/(10*s.StandardError*s.StandardError) {
						t.Errorf("%s: %s has a standard error of %g, and %g is said (%+.2f%%)", setting, table.Path,
							s.StandardError, got,
							100*off)
					}
					for _, f := range known.Figures {
						if at := figureOf(table, f.Name); at != nil {
							holdFigure(t, *at, f, got, x, c.optimistic)
						}
					}
				}
			}
			if held < settings {
				t.Errorf("%d of %d settings were held against the planner", held, settings)
			}
		})
	}
}

// sameWays tells that the quantiles of a table are read from as many bins as they are in one of others.
func sameWays(t plan.Table, others []plan.Table) bool {
	for _, other := range others {
		for i, f := range other.Figures {
			if other.Path == t.Path && f.Quality.Bins != t.Figures[i].Quality.Bins {
				return false
			}
		}
	}
	return true
}

func figureOf(t plan.Table, name string) *plan.Figure {
	for i := range t.Figures {
		if t.Figures[i].Name == name {
			return &t.Figures[i]
		}
	}
	return nil
}

// holdFigure holds what is said of a figure.
func holdFigure(t *testing.T, f plan.Figure, said compiled.FigureForecast, count float64, x []float64,
	tolerated float64) {
	t.Helper()
	variance := said.Count * count * count
	for _, own := range said.Own {
		variance += own.Factor / x[own.Of]
	}
	margin := said.Margin*math.Sqrt(variance) + said.Fixed
	least, most := -tolerated, tolerated
	if said.Wide { // shifts of ranks are whole
		least, most = -0.05, 0.05
	}
	if off := margin/f.Quality.Margin - 1; off < least || off > most {
		t.Errorf("%s has a margin of %g, and %g is said (%+.2f%%)", f.Name, f.Quality.Margin, margin, 100*off)
	}
}

// TestProspectsBeginAtThePlan: with the planned budget they say what the plan says.
func TestProspectsBeginAtThePlan(t *testing.T) {
	for _, c := range []struct{ budget, marginals string }{
		{"{rho: 1/20, split: {a: 30%, b: 70%}}", crossing},
		{"{epsilon: 1, delta: 1e-9, split: {a: 1/3, b: 2/3}}",
			"  one: {by: [sex, age.ten], budget: a}\n  two: {by: [area, sex], budget: b}\n"},
		{"{epsilon: 1}", strings.NewReplacer(", budget: a", "", ", budget: b", "").Replace(crossing)},
	} {
		p := forecast(t, c.budget, c.marginals)
		x := make([]float64, len(p.Amounts))
		for i := range x {
			x[i] = planner.X(p, i)
		}
		for i, table := range p.Plan.Tables {
			planned := table.Statistics[0].StandardError
			if got := deviation(p, p.Tables[i], x); got < planned*(1-1e-6) ||
				got > planned*(1.01+1/(10*planned*planned)) {
				t.Errorf("%s: %s has a standard error of %g, and %g is said", c.budget, table.Path, planned, got)
			}
		}
	}
}
