package budget

import (
	"errors"
	"testing"
)

func TestFilterAdmitsUpToTheCap(t *testing.T) {
	cap := Cost{Rho: mustRat(t, "1"), Delta: mustRat(t, "1e-6")}
	for _, c := range []struct {
		name         string
		spent, asked Cost
		admits       bool
	}{
		{"just the cap", Cost{Rho: mustRat(t, "2/3")}, Cost{Rho: mustRat(t, "1/3"), Delta: mustRat(t, "1e-6")}, true},
		{"a hair of rho above", Cost{Rho: mustRat(t, "2/3")},
			Cost{Rho: mustRat(t, "33333333333333333334/100000000000000000000")}, false},
		{"a hair of delta above", Cost{Rho: mustRat(t, "1/3"), Delta: mustRat(t, "1e-6")},
			Cost{Rho: mustRat(t, "1/3"), Delta: mustRat(t, "1e-300")}, false},
		{"nothing on a full account", Cost{Rho: mustRat(t, "1")}, Cost{}, true},
	} {
		if got, err := (Filter{cap}).Admits(c.spent, c.asked); err != nil || got != c.admits {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	if _, err := (Filter{cap}).Admits(Cost{}, Cost{Epsilon: mustRat(t, "1")}); !errors.Is(err, ErrOtherDefinition) {
		t.Errorf("an epsilon on an account in rho: %v", err)
	}
}

// No cap has a δ of 1, so sums that reach it are refused, which is not an error.
func TestFilterRefusesADeltaOfOne(t *testing.T) {
	cap := Cost{Rho: mustRat(t, "10"), Delta: mustRat(t, "0.9")}
	for spent, asked := range map[string]string{"0.6": "0.6", "0.5": "0.5", "0": "0.95", "0.9": "1e-300"} {
		got, err := Filter{cap}.Admits(Cost{Rho: mustRat(t, "1"), Delta: mustRat(t, spent)},
			Cost{Rho: mustRat(t, "1"), Delta: mustRat(t, asked)})
		if got || err != nil {
			t.Errorf("δ of %s after %s: %v, %v; want a refusal", asked, spent, got, err)
		}
	}
	for _, wrong := range []Cost{{Rho: mustRat(t, "1"), Delta: mustRat(t, "1")},
		{Rho: mustRat(t, "-1"), Delta: mustRat(t, "0.5")}, {Delta: mustRat(t, "0.5")}} {
		if _, err := (Filter{cap}).Admits(Cost{Rho: mustRat(t, "1"), Delta: mustRat(t, "0.6")}, wrong); err == nil {
			t.Errorf("%v is admitted or refused; want an error", wrong)
		}
	}
	if _, err := (Filter{Cost{Epsilon: mustRat(t, "1")}}).Admits(Cost{Rho: mustRat(t, "1"), Delta: mustRat(t, "0.6")},
		Cost{Rho: mustRat(t, "1"), Delta: mustRat(t, "0.6")}); !errors.Is(err, ErrOtherDefinition) {
		t.Errorf("rho against a cap in epsilon: %v", err)
	}
}
