package document

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestPointsAreWrittenAsNumbers checks that long division writes the points of ranges exactly as FormatNumber writes
// their fractions.
func TestPointsAreWrittenAsNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 3))
	dens := []int64{2, 3, 4, 5, 7, 8, 10, 16, 25, 100, 125, 4096, 1 << 30, 1 << 31, 1e9, 1e18, math.MaxInt64}
	points := []int64{0, 1, -1, 5, -5, 10, -10, 1000, math.MaxInt64, math.MinInt64}
	for range 300 {
		points = append(points, random.Int64N(1000)-500, random.Int64())
	}
	for _, den := range dens {
		for _, at := range points {
			if got, want := string(AppendFraction([]byte("x"), at, den)),
				"x"+FormatNumber(big.NewRat(at, den)); got != want {
				t.Fatalf("%d/%d is written %s, want %s", at, den, got, want)
			}
		}
	}
}
