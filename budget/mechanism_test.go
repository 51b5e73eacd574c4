package budget

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMechanismsSpendAtMostTheirBudgetAndWasteLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l1 := big.NewInt(rapid.Int64Range(1, 1<<40).Draw(t, "l1"))
		amount := big.NewRat(rapid.Int64Range(1, 1<<40).Draw(t, "numerator"),
			rapid.Int64Range(1, 1<<40).Draw(t, "denominator"))
		if laplace, err := LaplaceFor(l1, amount); err == nil {
			assertTight(t, laplace, amount, func(m Mechanism) *big.Rat { e, _ := m.Epsilon(); return e })
		}
		l2Squared := big.NewInt(rapid.Int64Range(1, 1<<62).Draw(t, "l2²"))
		if gaussian, err := GaussianFor(l1, l2Squared, amount); err == nil {
			assertTight(t, gaussian, amount, Mechanism.Rho)
		}
	})
}

// assertTight checks that m spends at most the amount, and that one step of the
// grid less noise would spend more.
func assertTight(t *rapid.T, m Mechanism, amount *big.Rat, spent func(Mechanism) *big.Rat) {
	t.Helper()
	if !new(big.Rat).Mul(m.Parameter, big.NewRat(4096, 1)).IsInt() {
		t.Fatalf("parameter %v is not on the grid", m.Parameter)
	}
	if spent(m).Cmp(amount) > 0 {
		t.Fatalf("%s spends %v of %v", m.Kind, spent(m), amount)
	}
	less := m
	less.Parameter = new(big.Rat).Sub(m.Parameter, big.NewRat(1, 4096))
	if less.Parameter.Sign() > 0 && spent(less).Cmp(amount) <= 0 {
		t.Fatalf("%s with parameter %v would do", m.Kind, less.Parameter)
	}
}

func TestMechanismsByHand(t *testing.T) {
	laplace, err := LaplaceFor(big.NewInt(2), big.NewRat(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	epsilon, err := laplace.Epsilon()
	if err != nil || FormatRat(laplace.Parameter) != "6" || FormatRat(epsilon) != "1/3" ||
		FormatRat(laplace.Rho()) != "1/18" {
		t.Errorf("t %v, ε %v, ρ %v, %v", laplace.Parameter, epsilon, laplace.Rho(), err)
	}
	gaussian, err := GaussianFor(big.NewInt(2), big.NewInt(2), big.NewRat(1, 10))
	if err != nil {
		t.Fatal(err)
	}
	if FormatRat(gaussian.Parameter) != "10" || FormatRat(gaussian.Rho()) != "1/10" || gaussian.Variance() != 10 {
		t.Errorf("σ² %v, ρ %v, variance %v", gaussian.Parameter, gaussian.Rho(), gaussian.Variance())
	}
	if _, err := gaussian.Epsilon(); err == nil {
		t.Error("Gaussian noise gave a pure epsilon")
	}
}

func TestMechanismsRefuseWhatCannotBe(t *testing.T) {
	one, zero := big.NewInt(1), new(big.Int)
	tiny := scaleByTen(big.NewInt(1), -40)
	for name, make := range map[string]func() (Mechanism, error){
		"no sensitivity":     func() (Mechanism, error) { return LaplaceFor(nil, big.NewRat(1, 1)) },
		"sensitivity zero":   func() (Mechanism, error) { return LaplaceFor(zero, big.NewRat(1, 1)) },
		"no epsilon":         func() (Mechanism, error) { return LaplaceFor(one, nil) },
		"epsilon zero":       func() (Mechanism, error) { return LaplaceFor(one, new(big.Rat)) },
		"epsilon tiny":       func() (Mechanism, error) { return LaplaceFor(one, tiny) },
		"no L1":              func() (Mechanism, error) { return GaussianFor(nil, one, big.NewRat(1, 1)) },
		"no L2":              func() (Mechanism, error) { return GaussianFor(one, nil, big.NewRat(1, 1)) },
		"rho negative":       func() (Mechanism, error) { return GaussianFor(one, one, big.NewRat(-1, 1)) },
		"rho tiny":           func() (Mechanism, error) { return GaussianFor(one, one, tiny) },
		"L2 above L1":        func() (Mechanism, error) { return GaussianFor(one, big.NewInt(2), big.NewRat(1, 1)) },
		"the zero mechanism": func() (Mechanism, error) { return Mechanism{}, Mechanism{}.Validate() },
		"a kind with other spelling": func() (Mechanism, error) {
			m := Mechanism{Kind: "Laplace", Parameter: big.NewRat(1, 1), L1: one, L2Squared: one}
			return m, m.Validate()
		},
	} {
		if m, err := make(); err == nil {
			t.Errorf("%s: %+v, want an error", name, m)
		}
	}
	var none Mechanism
	if margin, attained := none.Margin(0.95); none.Variance() != 0 || margin != 0 || attained != 0 ||
		none.Rho() != nil {
		t.Error("a mechanism that does not validate gave figures")
	}
	if _, err := none.Epsilon(); err == nil {
		t.Error("a mechanism that does not validate gave an epsilon")
	}
}

func TestMechanismJSON(t *testing.T) {
	m, err := GaussianFor(big.NewInt(3), big.NewInt(5), big.NewRat(1, 7))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(m)
	if want := `{"kind":"discrete-gaussian","parameter":"35/2","l1":"3","l2_squared":"5"}`; err != nil ||
		string(data) != want {
		t.Fatalf("%s, %v; want %s", data, err, want)
	}
	var back Mechanism
	if err := json.Unmarshal(data, &back); err != nil || back.Parameter.Cmp(m.Parameter) != 0 ||
		back.L1.Cmp(m.L1) != 0 ||
		back.L2Squared.Cmp(m.L2Squared) != 0 || back.Kind != m.Kind {
		t.Errorf("read back %+v, %v", back, err)
	}
	for _, bad := range []string{
		`{}`, `null`, `[]`, `{"kind":"discrete-gaussian","parameter":"0","l1":"3","l2_squared":"5"}`,
		`{"kind":"discrete-gaussian","parameter":"1","l1":"1/2","l2_squared":"5"}`,
		`{"kind":"discrete-gaussian","parameter":"1","l1":"3","l2_squared":"x"}`,
		`{"kind":"discrete-gaussian","parameter":"x","l1":"3","l2_squared":"5"}`,
		`{"kind":"discrete-gaussian","parameter":1,"l1":"3","l2_squared":"5"}`,
		`{"kind":"discrete-gaussian","parameter":"1","l1":"3","l2_squared":"5","weight":"2"}`,
	} {
		if err := json.Unmarshal([]byte(bad), new(Mechanism)); err == nil {
			t.Errorf("%s was read without an error", bad)
		}
	}
	if _, err := json.Marshal(Mechanism{}); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("the zero mechanism was written: %v", err)
	}
}
