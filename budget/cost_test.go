package budget

import (
	"encoding/json"
	"errors"
	"math/big"
	"testing"
)

func epsilonCost(t *testing.T, epsilon string) Cost {
	t.Helper()
	return Cost{Epsilon: mustRat(t, epsilon)}
}

func rhoCost(t *testing.T, rho, delta string) Cost {
	t.Helper()
	c := Cost{Rho: mustRat(t, rho)}
	if delta != "" {
		c.Delta = mustRat(t, delta)
	}
	return c
}

func TestCostsAddAndSubtractExactly(t *testing.T) {
	sum := Cost{}
	for range 10 {
		var err error
		if sum, err = sum.Add(epsilonCost(t, "0.1")); err != nil {
			t.Fatal(err)
		}
	}
	if !sum.Equal(epsilonCost(t, "1")) {
		t.Errorf("ten times 0.1 is %v", sum)
	}
	total, err := rhoCost(t, "1/3", "1e-9").Add(rhoCost(t, "1/6", ""))
	if err != nil || !total.Equal(rhoCost(t, "1/2", "1e-9")) {
		t.Errorf("sum %v, %v", total, err)
	}
	rest, err := total.Sub(rhoCost(t, "1/2", "1e-9"))
	if err != nil || !rest.IsZero() || rest.Definition() != "rho" {
		t.Errorf("rest %v, %v", rest, err)
	}
	if _, err := total.Sub(rhoCost(t, "1/4", "1e-8")); err == nil {
		t.Error("took more delta than there was")
	}
}

func TestCostsNeverMixDefinitions(t *testing.T) {
	epsilon, rho := epsilonCost(t, "1"), rhoCost(t, "1", "")
	if _, err := epsilon.Add(rho); !errors.Is(err, ErrOtherDefinition) {
		t.Errorf("Add: %v", err)
	}
	if _, err := rho.Sub(epsilon); !errors.Is(err, ErrOtherDefinition) {
		t.Errorf("Sub: %v", err)
	}
	if _, err := rho.Fits(epsilon); !errors.Is(err, ErrOtherDefinition) {
		t.Errorf("Fits: %v", err)
	}
	if epsilon.Equal(rho) {
		t.Error("an epsilon equals a rho")
	}
}

func TestFitsComparesEveryPartExactly(t *testing.T) {
	limit := rhoCost(t, "1/3", "1e-9")
	for _, c := range []struct {
		cost Cost
		fits bool
	}{
		{Cost{}, true},
		{limit, true},
		{rhoCost(t, "1/3", ""), true},
		{rhoCost(t, "0.3333333333333333333333333333333333", "1e-9"), true},
		{rhoCost(t, "0.3333333333333333333333333333333334", "1e-9"), false},
		{rhoCost(t, "1/4", "1.000000000000000000000001e-9"), false},
	} {
		if fits, err := c.cost.Fits(limit); err != nil || fits != c.fits {
			t.Errorf("%v fits %v: %v, %v", c.cost, limit, fits, err)
		}
	}
	if fits, err := epsilonCost(t, "1e-30").Fits(Cost{}); err != nil || fits {
		t.Errorf("something fits in nothing: %v, %v", fits, err)
	}
}

func TestCostsThatAreNoAmount(t *testing.T) {
	one := big.NewRat(1, 1)
	for _, c := range []Cost{
		{Epsilon: one, Rho: one}, {Epsilon: one, Delta: big.NewRat(1, 2)}, {Delta: big.NewRat(1, 2)},
		{Epsilon: big.NewRat(-1, 2)}, {Rho: big.NewRat(-1, 2)}, {Rho: one, Delta: big.NewRat(-1, 2)},
		{Rho: one, Delta: one},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v is valid", c)
		}
		if _, err := c.Add(Cost{}); err == nil {
			t.Errorf("%+v was added to", c)
		}
		if _, err := (Cost{}).Fits(c); err == nil {
			t.Errorf("%+v was a limit", c)
		}
		if _, err := json.Marshal(c); err == nil {
			t.Errorf("%+v was written", c)
		}
	}
	half := Cost{Rho: one, Delta: big.NewRat(1, 2)}
	if sum, err := half.Add(half); err == nil {
		t.Errorf("deltas add up to %v without an error", sum)
	}
}

func TestCostInWordsAndJSON(t *testing.T) {
	for _, c := range []struct {
		cost        Cost
		words, json string
	}{
		{Cost{}, "nothing", `{}`},
		{epsilonCost(t, "1/2"), "ε = 0.5", `{"epsilon":"1/2"}`},
		{rhoCost(t, "0.02", ""), "ρ = 0.02", `{"rho":"1/50"}`},
		{rhoCost(t, "1/3", "1e-9"), "ρ ≤ 0.3333334 and δ = 1e-9", `{"rho":"1/3","delta":"1/1000000000"}`},
	} {
		data, err := json.Marshal(c.cost)
		if err != nil || string(data) != c.json || c.cost.String() != c.words {
			t.Errorf("%q, %s, %v; want %q, %s", c.cost, data, err, c.words, c.json)
		}
		var back Cost
		if err := json.Unmarshal(data, &back); err != nil || !back.Equal(c.cost) {
			t.Errorf("%s reads back as %v, %v", data, back, err)
		}
	}
	for _, bad := range []string{`{"epsilon":"-1"}`, `{"epsilon":"1","rho":"1"}`, `{"rho":1}`, `{"rh":"1"}`,
		`{"delta":"1e-9"}`, `{"rho":"x"}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), new(Cost)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
