package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// drawnCoefficients are the coefficients with which [drawPopulation] draws rows, by column and category, where region S
// and sex f are the references.
var drawnCoefficients = map[string]float64{"": 20, "x": .4, "regionN": -30, "regionE": -20, "sexm": 8}

// TestIntervalsCover draws 20 000 populations of each of three sizes, and a release of each. The interval of every
// coefficient covers what the rows are drawn with in 94 to 96 % of them, give or take 3 standard errors, and so does
// the interval by noise alone cover the coefficient of the rows. If the true coverage is within 94.1 to 95.9 % a size
// fails with a probability below 1e-4; the seeds are fixed. Intervals without the noise miss by far.
func TestIntervalsCover(t *testing.T) {
	testkit.SkipPassed(t)
	const releases, tolerance = 20_000, 3 * 0.00154
	references := RegressionOptions{References: map[string]int{"region": 2, "sex": 0}}
	for _, size := range []struct {
		rows  int
		noise float64 // standard deviation of moments
	}{{500, 5}, {1000, 10}, {5000, 6}} {
		total, own, sampling, share := map[string]float64{}, map[string]float64{}, map[string]float64{}, 0.0
		for s := range releases {
			r := rand.New(rand.NewPCG(uint64(s), 3))
			release := drawPopulation(t, r, size.rows).release(t, r)
			exact, err := LinearRegression(release(0), references)
			if err != nil {
				t.Fatal(err)
			}
			got, err := LinearRegression(release(size.noise), references)
			if err != nil {
				t.Fatal(err)
			}
			for i, term := range got.Terms {
				name := term.Column + term.Category
				drawn, is := drawnCoefficients[name]
				if !is {
					continue
				}
				if term.RegressionInterval == nil {
					t.Fatalf("%d rows, release %d: %s has no interval", size.rows, s, name)
				}
				c, alone := *term.Coefficient, term.StandardError*math.Sqrt(1-term.NoiseShare)
				count(total, name, term.Low <= drawn && drawn <= term.High)
				count(own, name, math.Abs(c-*exact.Terms[i].Coefficient) <= confidenceQuantile*term.NoiseError)
				count(sampling, name, math.Abs(c-drawn) <= confidenceQuantile*alone)
				share += term.NoiseShare / float64(releases*len(drawnCoefficients))
			}
		}
		for name := range drawnCoefficients {
			t.Logf("%d rows, noise %g (%.0f %% of variances), %q: %.4f, of the rows' own coefficient %.4f, "+
				"without noise %.4f", size.rows, size.noise, 100*share, name, total[name]/releases,
				own[name]/releases, sampling[name]/releases)
			for _, covered := range []float64{total[name] / releases, own[name] / releases} {
				if covered < .94-tolerance || covered > .96+tolerance {
					t.Errorf("%d rows, noise %g: intervals of %q cover in %.4f of releases", size.rows, size.noise,
						name, covered)
				}
			}
			if sampling[name]/releases > .9 {
				t.Errorf("%d rows, noise %g: intervals of %q without noise cover in %.4f of releases", size.rows,
					size.noise, name, sampling[name]/releases)
			}
		}
	}
}

// count counts a name if an event happened.
func count(of map[string]float64, name string, happened bool) {
	if happened {
		of[name]++
	}
}

// TestBiasOfNoiseIsCorrected averages over releases of the same rows. The coefficient of a number of which the noise is
// a large part is too small without the correction, by many standard errors, and with it at most a third as far off.
func TestBiasOfNoiseIsCorrected(t *testing.T) {
	const releases = 64_000
	r := rand.New(rand.NewPCG(5, 6))
	p := drawPopulation(t, r, 1000)
	release := p.release(t, r)
	g := &regressionMaker{moments: release(0), design: p.design}
	if err := g.setReferences(RegressionOptions{}); err != nil {
		t.Fatal(err)
	}
	candidates := g.candidates()
	exact, _ := g.moments.fitLeastSquares(candidates)
	n := p.design.Features() - 1
	corrected, plain, squares := make([]float64, n), make([]float64, n), make([]float64, n)
	for range releases {
		f, _ := release(15).fitLeastSquares(candidates)
		naive := f.inverse.times(f.moments.matrix.row(n))
		for i := range n {
			corrected[i] += (exact.residual[i] - f.residual[i]) / releases
			e := exact.residual[i] + naive[i]
			plain[i] += e / releases
			squares[i] += e * e / releases
		}
	}
	worst := 0.0
	for i := range n {
		error := math.Sqrt(squares[i] / releases)
		if error == 0 {
			continue
		}
		t.Logf("feature %d: off by %.2f standard errors, without the correction %.2f", i, corrected[i]/error,
			plain[i]/error)
		worst = max(worst, math.Abs(plain[i])/error)
		if math.Abs(corrected[i]) > 4*error+math.Abs(plain[i])/3 {
			t.Errorf("feature %d is off by %.1f standard errors", i, corrected[i]/error)
		}
	}
	if worst < 6 {
		t.Errorf("without the correction it is off by only %.1f standard errors", worst)
	}
}
