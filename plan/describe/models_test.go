package describe_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
)

// modelText is a spec of a table by sex and a model of another column by two more.
const modelText = `version: 1
release: r
privacy: {protects: person, neighbours: NEIGHBOURS}
budget: {rho: 1, split: {tables: 1/4, model: 3/4}}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 9]}, ill: {values: [no, yes]}}}}
marginals: {m: {by: [sex], budget: tables}}
models: {risk: {predict: {ill: "yes"}, by: [age], test: 10%, budget: model}}
`

// TestLossOfModels: rounds of a model are in the loss of their leaf, of the model, and of every column that it reads.
func TestLossOfModels(t *testing.T) {
	for neighbours, times := range map[string]int64{"add-remove": 4, "replace": 1} {
		p, err := plantest.PlanOfText(t, strings.Replace(modelText, "NEIGHBOURS", neighbours, 1))
		if err != nil {
			t.Fatal(err)
		}
		rounds := new(big.Rat)
		for _, m := range p.Models[0].Mechanisms() {
			rounds.Add(rounds, m.Rho())
		}
		l, err := describe.LossAt(compiled.Of(p), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		losses := map[string]describe.LossLine{}
		for _, lines := range [][]describe.LossLine{l.Leaves, l.Tables, l.Attributes} {
			for _, one := range lines {
				losses[one.Of] = one
			}
		}
		changed := new(big.Rat).Mul(rounds, big.NewRat(times, 1))
		for name, want := range map[string]*big.Rat{"model": rounds, "models/risk": rounds, "age": changed,
			"ill": changed} {
			if got := losses[name]; got.Rho == "" || plan.Amount(got.Rho).Cmp(want) != 0 || got.Tables != 1 {
				t.Errorf("%s: %s loses ρ %q in %d tables, want %s in one", neighbours, name, got.Rho, got.Tables,
					want.RatString())
			}
		}
		if l.Whole.Tables != 2 || losses["tables"].Tables != 1 {
			t.Errorf("%s: the whole has %d tables", neighbours, l.Whole.Tables)
		}
	}
}

// TestCostsOfModels: the lines of a plan hold all rounds, so that next to nothing is left over by rounding.
func TestCostsOfModels(t *testing.T) {
	p, err := plantest.PlanOfText(t, strings.Replace(modelText, "NEIGHBOURS", "replace", 1))
	if err != nil {
		t.Fatal(err)
	}
	c, err := describe.CostsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	times := int64(0)
	for _, line := range c.Lines {
		if line.Leaf == "model" {
			times += line.Times
		}
	}
	left := c.Lines[len(c.Lines)-1].Cost.Rho
	if times != int64(p.Models[0].RoundCount()) || left.Cmp(big.NewRat(1, 1000)) > 0 {
		t.Errorf("%d runs of the model's %d are listed, and ρ %s is left", times, p.Models[0].RoundCount(),
			left.FloatString(4))
	}
}
