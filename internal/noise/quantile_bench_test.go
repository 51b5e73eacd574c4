package noise

import (
	"fmt"
	"math/big"
	"testing"
)

// BenchmarkQuantile draws the median of values far apart, with one value in each place.
func BenchmarkQuantile(b *testing.B) {
	for _, n := range []int{20, 1000, 100_000} {
		places, counts := make([]int64, n), make([]int64, n)
		for i := range places {
			places[i], counts[i] = int64(i)*1000, 1
		}
		for _, epsilon := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 1000)} {
			b.Run(fmt.Sprintf("places=%d/epsilon=%s", n, epsilon.RatString()), func(b *testing.B) {
				stream := newBits(freshKey(b))
				for b.Loop() {
					if _, err := Quantile(stream, places, counts, -1_000_000, 1_000_000_000, 1, 2, 0,
						epsilon); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
