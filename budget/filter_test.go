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
		{"a hair of rho above", Cost{Rho: mustRat(t, "2/3")}, Cost{Rho: mustRat(t, "33333333333333333334/100000000000000000000")}, false},
		{"a hair of delta above", Cost{Rho: mustRat(t, "1/3"), Delta: mustRat(t, "1e-6")}, Cost{Rho: mustRat(t, "1/3"), Delta: mustRat(t, "1e-300")}, false},
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
