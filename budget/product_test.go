package budget

import "testing"

// Powers of small integers are exact for every exponent: the expected ones are products, factor by factor.
func TestPowersAreProducts(t *testing.T) {
	for _, c := range []complex128{0, 1, -1, 1i, 2, -3, 1 + 1i, 2 - 1i} {
		want := complex128(1)
		for k := range int64(20) {
			if got := complexPower(c, k); got != want {
				t.Errorf("%v to the power %d is %v, want %v", c, k, got, want)
			}
			want *= c
		}
	}
	for _, x := range []float64{0, 1, -1, 0.5, 2, -3} {
		want := 1.0
		for k := range int64(20) {
			if got := realPower(x, k); got != want {
				t.Errorf("%v to the power %d is %v, want %v", x, k, got, want)
			}
			want *= x
		}
	}
}
