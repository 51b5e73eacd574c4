package report

import "testing"

func TestAmountsAreWritten(t *testing.T) {
	for _, c := range []struct {
		amount Amount
		want   string
	}{
		{Amount{Epsilon: "1/3"}, "ε ≤ 0.3333334"}, {Amount{Rho: "6/5", Delta: "1e-9"}, "ρ = 1.2 and δ = 1e-9"},
		{Amount{}, "nothing"},
	} {
		if got := c.amount.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
