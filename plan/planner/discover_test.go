package planner_test

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/language"
)

// TestSelectionsEqualTheVectors holds the probabilities of a selection against those that were worked out elsewhere:
// never above them.
func TestSelectionsEqualTheVectors(t *testing.T) {
	text, err := os.ReadFile(testkit.Shared(t, "vectors/accounting.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		ID        string
		Kind      string
		Inputs    json.RawMessage
		Expected  json.RawMessage
		Tolerance json.RawMessage
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, v := range vectors {
		if v.Kind != "partition.keep_probability" {
			continue
		}
		var in struct {
			Epsilon, Delta float64
			L0             int64
		}
		var expected map[string]float64
		var tolerance struct{ Rel float64 }
		for from, into := range map[*json.RawMessage]any{&v.Inputs: &in, &v.Expected: &expected,
			&v.Tolerance: &tolerance} {
			if err := json.Unmarshal(*from, into); err != nil {
				t.Fatal(err)
			}
		}
		if in.L0 != 1 {
			continue
		}
		for _, least := range []int64{0, 1, 7} {
			d := &selection.Groups{
				Columns: []string{"word"}, Groups: 1, Delta: new(big.Rat).SetFloat64(in.Delta).RatString(),
				AtLeast: least,
				Select: budget.Mechanism{Kind: budget.RandomizedResponse,
					Parameter: new(big.Rat).SetFloat64(in.Epsilon)},
			}
			k, err := d.Probabilities()
			if err != nil {
				t.Fatalf("%s: %v", v.ID, err)
			}
			for count, want := range expected {
				n, err := strconv.ParseInt(count, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				tried++
				got := k.Chance(n + max(least-1, 0))
				if math.Abs(got-want) > tolerance.Rel*want+1e-300 {
					t.Errorf("%s: π(%d) = %g beyond %d, want %g", v.ID, n, got, least, want)
				}
			}
			if least > 0 && k.Chance(least-1) != 0 {
				t.Errorf("a group of fewer than %d units appears", least)
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d probabilities were compared", tried)
	}
}

// TestThresholdsLetOneUnitThroughWithDelta sums up the law of the noise of a selection: a group of one unit reaches the
// threshold with at most its δ, and one of one less would with more.
func TestThresholdsLetOneUnitThroughWithDelta(t *testing.T) {
	for _, variance := range []int64{1, 7, 900} {
		for _, delta := range []string{"1/10", "1/100000", "1/1000000000000"} {
			noise, err := budget.GaussianFor(big.NewInt(1), big.NewInt(1), big.NewRat(1, 2*variance))
			if err != nil {
				t.Fatal(err)
			}
			exact, _ := new(big.Rat).SetString(delta)
			most, _ := exact.Float64()
			at := selection.LeastSelected(noise, exact)
			reaches := func(from int64) float64 { // P(1 + X ≥ from), small terms first
				var all, above float64
				for x := int64(2000); x >= -2000; x-- {
					p := math.Exp(-float64(x*x) / 2 / float64(variance))
					if all += p; 1+x >= from {
						above += p
					}
				}
				return above / all
			}
			// 4000 terms leave a relative error of 1e-12 at the most.
			if reaches(at) > most*(1+1e-11) || reaches(at-1) <= most*(1-1e-8) {
				t.Errorf("σ² %d, δ %s: a group of one unit reaches %d with %g, and %d with %g", variance, delta, at,
					reaches(at),
					at-1, reaches(at-1))
			}
		}
	}
}

// TestSelectionsShareTheirDelta adds up what the selections of a plan have: every group in which neighbours can differ
// has its part, twice as many under replace, and all of them are within what is reserved, which with what the noise is
// composed at is the δ of the spec.
func TestSelectionsShareTheirDelta(t *testing.T) {
	for _, neighbours := range []string{"add-remove", "replace"} {
		for _, groups := range []int{1, 3, 20} {
			if (neighbours == "replace") != (groups == 3) && os.Getenv("DPRELEASE_LONG") == "" {
				continue
			}
			p := plantest.PlanOfWords(t, neighbours, groups)
			times := int64(1)
			if neighbours == "replace" {
				times = 2
			}
			sum, found := new(big.Rat), 0
			rho := new(big.Rat)
			for _, m := range p.Measurements {
				rho.Add(rho, m.Mechanism.Rho())
				selected, ok := m.Selection.(selection.Groups)
				if !ok {
					continue
				}
				found++
				want := times * int64(map[string]int{"words": groups, "pages": 2}[m.ID])
				if selected.Groups != want {
					t.Errorf("%s, %d groups: neighbours differ in %d groups of %s, want %d", neighbours, groups,
						selected.Groups,
						m.ID, want)
				}
				delta, _ := new(big.Rat).SetString(selected.Delta)
				sum.Add(sum, delta.Mul(delta, big.NewRat(want, 1)))
				for _, step := range selected.Steps() {
					rho.Add(rho, step.Rho())
					if step.Kind == budget.DiscreteGaussian &&
						(step.L1.Int64() != want || step.L2Squared.Int64() != want) {
						t.Errorf("noise of a selection is for %s groups, want %d", step.L1, want)
					}
				}
				if kind := selected.Select.Kind; kind == budget.RandomizedResponse &&
					int64(len(selected.Steps())) != want {
					t.Errorf("a selection is charged %d times, want %d", len(selected.Steps()), want)
				}
			}
			reserved := big.NewRat(1, 4_000_000)
			if found != 2 || sum.Cmp(reserved) != 0 || p.Cost.Delta.Cmp(reserved) != 0 {
				t.Errorf("%s, %d groups: selections have δ = %s of %s", neighbours, groups, sum.RatString(),
					reserved.RatString())
			}
			if rho.Cmp(p.Cost.Rho) > 0 {
				t.Errorf("%s, %d groups: ρ adds up to more than is charged", neighbours, groups)
			}
			loss, err := budget.Compose(p.Mechanisms()...)
			if err != nil {
				t.Fatal(err)
			}
			if bound, err := loss.EpsilonAt(big.NewRat(3, 4_000_000)); err != nil || bound.Value > 1 ||
				bound.Value < 0.99 {
				t.Errorf("%s, %d groups: all noise composed has ε = %v at what is left of δ (%v)", neighbours, groups,
					bound, err)
			}
			if again, err := compiled.Read(p.Bytes()); err != nil || plantest.Verify(again.Plan()) != nil {
				t.Errorf("the plan does not read back: %v", err)
			}
			stated, err := describe.PrivacyLoss(compiled.Of(p))
			if err != nil {
				t.Fatal(err)
			}
			if e := stated.Whole.Epsilons[0]; e.Delta != "1e-6" || e.Epsilon > 1.0000001 || e.Epsilon < 0.99 ||
				stated.Whole.Pure != "" {
				t.Errorf("the loss of the whole is stated as %+v", stated.Whole)
			}
		}
	}
}

// TestPlansOfGroupsSayTheirChances reads what a plan says of groups: chances that rise, the first of one unit within δ.
func TestPlansOfGroupsSayTheirChances(t *testing.T) {
	p := plantest.PlanOfWords(t, "add-remove", 3)
	for _, table := range p.Tables[:2] {
		d := table.Discovered
		if d == nil || table.Cells != 0 || len(d.Chances) < 5 {
			t.Fatalf("table %s: %+v", table.Path, d)
		}
		for i, c := range d.Chances[1:] {
			if c.Units <= d.Chances[i].Units || c.Chance <= d.Chances[i].Chance {
				t.Errorf("chances do not rise: %v", d.Chances)
			}
		}
		if last := d.Chances[len(d.Chances)-1].Chance; d.Chances[0].Chance > 1e-6 || last < 0.99 {
			t.Errorf("chances go from %g to %g", d.Chances[0].Chance, last)
		}
		groups := map[string]string{"words": "3 groups", "pages": "2 groups"}[table.Path]
		if want := "in which a unit counts in " +
			groups; !strings.Contains(describe.ExpectationOf(language.English, p, table), want) {
			t.Errorf("%q does not say %q", describe.ExpectationOf(language.English, p, table), want)
		}
	}
	if first := p.Tables[1].Discovered.Chances[0].Units; first != 4 ||
		!strings.Contains(describe.ExpectationOf(language.English, p, p.Tables[1]),
			"Groups of fewer than 4 units never do.") {
		t.Errorf("groups of %d units appear: %q", first, describe.ExpectationOf(language.English, p, p.Tables[1]))
	}
	if p.Tables[2].Discovered != nil || !strings.Contains(describe.Method(language.English, p), "2.5e-7 are reserved") {
		t.Errorf("the guarantee says %q", describe.Method(language.English, p))
	}
}
