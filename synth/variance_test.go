package synth

import (
	"math"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// varianceCases are noises of squares, sums and counts, with half the range of a value.
var varianceCases = []struct {
	squares, sum, count string
	half                float64
}{{"L10000", "L100", "L1", 100}, {"L100000", "L1000", "L10", 100}, {"G10000000000", "G1000000", "G100", 100},
	{"G640000", "G1600", "G4", 20}, {"L10000", "L1000", "L10", 100}}

// TestVariancesCover draws intervals of variances: at least 0.94 of them contain the truth always, and at most 0.96 if
// the noise is small relative to the count. If all values are equal, or all at both ends, the variance is at the end of
// its range: only one side can miss, and 0.975 contain it. Roots contain the standard deviation as often.
func TestVariancesCover(t *testing.T) {
	testkit.SkipPassed(t)
	for _, c := range varianceCases {
		squares, sums, counts := newDrawn(t, c.squares), newDrawn(t, c.sum), newDrawn(t, c.count)
		v := NewVariance(noiseNamed(c.count), noiseNamed(c.sum), noiseNamed(c.squares), c.half, 0.95)
		small := int(math.Ceil(8 * v.deviation))
		groups := populations(1, 2, 5, small, 5*small, 4000)
		groups = append(groups, populationOf("at both ends", 100, func(i int) float64 { return float64(1 - i%2*2) }))
		for _, p := range groups {
			n, s, q := p.latticeSums(c.half)
			truth := q/n - s/n*s/n
			var variance, deviation tally
			for range intervalsPerCase {
				f := v.Figure(n+counts.next(), s+sums.next(), q+squares.next())
				if f.Value < 0 || f.Low < 0 || f.High > c.half*c.half || f.HasInterval() && !(f.Error > 0) {
					t.Fatalf("%v: %v is no variance", c, f)
				}
				variance.add(f, truth)
				deviation.add(f.SquareRoot(), math.Sqrt(truth))
			}
			t.Logf("%s/%s/%s %s of %v: %.4f, with an interval %.3f", c.squares, c.sum, c.count, p.name, n,
				variance.share(),
				variance.bounded/variance.all)
			most := 1.0
			if n >= float64(5*small) && truth > 0.01*c.half*c.half && p.name != "at both ends" {
				most = 0.96
			}
			if variance.isUnlikely(0.945, most) || variance.share() != deviation.share() {
				t.Errorf("%v, %s of %v: a coverage of %v, and %v of roots", c, p.name, n, variance.share(),
					deviation.share())
			}
		}
	}
}

// TestVariancesAreUnbiased takes the mean of estimates in groups that are large relative to the noise: it is the truth
// to 6.2 standard errors and a twentieth of the error of one, for terms of the order of the square of the noise over
// the count.
func TestVariancesAreUnbiased(t *testing.T) {
	for _, c := range varianceCases {
		squares, sums, counts := newDrawn(t, c.squares), newDrawn(t, c.sum), newDrawn(t, c.count)
		v := NewVariance(noiseNamed(c.count), noiseNamed(c.sum), noiseNamed(c.squares), c.half, 0.95)
		n, s, q := populationOf("even", 2000, func(i int) float64 { return float64(i)/1200 - 0.7 }).latticeSums(c.half)
		truth := q/n - s/n*s/n
		var mean, square float64
		for range intervalsPerCase {
			f := v.Figure(n+counts.next(), s+sums.next(), q+squares.next())
			z := (f.Value - truth) / f.Error
			mean, square = mean+z/float64(intervalsPerCase), square+z*z/float64(intervalsPerCase)
		}
		if math.Abs(mean) > 6.2/math.Sqrt(float64(intervalsPerCase))+0.05 ||
			math.Abs(square-1) > 6.2*math.Sqrt(5/float64(intervalsPerCase))+0.02 {
			t.Errorf("%v: errors have mean %v and mean square %v of those predicted", c, mean, square)
		}
	}
}

// TestWrongLawsOfVariancesAreCaught plants noise that is a tenth larger than stated, a count whose noise is left out,
// and a sum whose noise is. Coverages are at most 0.933; shares of up to 0.9402 of 100 000 are detected, 9 deviations
// away: each is missed with a probability below 1e-12.
func TestWrongLawsOfVariancesAreCaught(t *testing.T) {
	testkit.SkipPassed(t)
	squares, sums, counts := newDrawn(t, "G100000000"), newDrawn(t, "G1000000"), newDrawn(t, "G2500")
	lawful := []Noise{noiseNamed("G2500"), noiseNamed("G1000000"), noiseNamed("G100000000")}
	n, s, q := populationOf("at the ends", 4000, func(i int) float64 { return float64(i%4/3)*2 - 1 }).latticeSums(100)
	for name, law := range map[string][3]Noise{
		"a tenth larger": {lawful[0].scaledBy(1 / 1.1), lawful[1].scaledBy(1 / 1.1), lawful[2].scaledBy(1 / 1.1)},
		"no count":       {nil, lawful[1], lawful[2]},
		"no sum":         {lawful[0], nil, lawful[2]},
	} {
		v := NewVariance(law[0], law[1], law[2], 100, 0.95)
		var c tally
		for range intervalsPerFault {
			c.add(v.Figure(n+counts.next(), s+sums.next(), q+squares.next()), q/n-s/n*s/n)
		}
		if t.Logf("%s: %.4f", name, c.share()); !c.isUnlikely(0.945, 1) {
			t.Errorf("%s: a coverage of %v is not found", name, c.share())
		}
	}
}

func TestVariancesWithoutAnInterval(t *testing.T) {
	v := NewVariance(noiseNamed("L1"), noiseNamed("L100"), noiseNamed("L10000"), 100, 0.95)
	for _, count := range []float64{-1, 0, 1, 5} {
		if f := v.Figure(count, 10, 1000); f.Flag != Unbounded || f.HasInterval() {
			t.Errorf("a count of %v gives %v", count, f)
		}
	}
}
