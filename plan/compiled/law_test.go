package compiled_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"gonum.org/v1/gonum/mat"
)

// pureTogether are specs of pure budgets whose tables share measurements: marginals within others, only the largest,
// several leaves, and with a total.
var pureTogether = []string{
	"{x: {every: [0, 1, 2], by: [sex, kind, age]}}",
	"{x: {by: [sex, kind]}, y: {by: [kind]}, z: {by: []}}",
	"{x: {by: [sex, age]}, y: {by: [kind]}}",
}

// TestPureTablesAreLeastSquaresOfTheirLaw estimates tables of pure budgets with dense matrices, and compares their
// errors with these. Then it draws the noise and compares the share of intervals that cover, separately for cells,
// margins, totals and random sums, with the law: by the tables' margins, and by the law of each sum. The draws of one
// round are not independent, so each round counts by one sum of every class: 20 000 of them lie within 6.4 deviations
// of what the law says with a probability of 1 − 1e-10. The bound may fall short by 4e-4. The test does not check how
// much more the margin of the worst of several laws covers: the share may be higher there.
func TestPureTablesAreLeastSquaresOfTheirLaw(t *testing.T) {
	const rounds, beyond = 20000, 6.4
	random := rand.New(rand.NewPCG(5, 6))
	for _, text := range pureTogether {
		p := plantest.CrossedPlan(t, "add-remove", "{epsilon: 3/2}", 1, text)
		variances := make([]float64, len(p.Measurements))
		for i, m := range p.Measurements {
			variances[i] = m.Mechanism.Variance()
		}
		estimates, err := compiled.Of(p).Estimates()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range estimates {
			for marginal, at := range e.Tables {
				queries := plantest.MatrixOf(p.Query(p.Tables[at]).Factors)
				covariance := plantest.LeastSquares(t, p.Measurements, variances, queries)
				mean := math.Sqrt(mat.Trace(covariance) / float64(len(queries)))
				s := p.Tables[at].Statistics[0]
				if s.Measurement != "" {
					continue
				}
				if s.StandardError < mean*(1-1e-9) || s.StandardError > mean*(1+1e-6) {
					t.Errorf("%s: %s has error %v, said to be %v", text, p.Tables[at].Path, mean, s.StandardError)
				}
				for class, q := range classesOf(random, &e, marginal) {
					sum := e.Sum(marginal, q)
					law := compiled.LawOf(sum.Contributions())
					margin, attained, most := s.Margin, s.Attained, s.Attained+4e-4
					if class != "cell" {
						margin, attained = law.Margin(0.95)
						most = attained + 4e-4
					}
					if class == "cell" && len(e.Axes[marginal]) > 0 || law.Whole() {
						most = max(most, law.Within(margin)+4e-4)
					}
					covered, squares, weightsOf := 0, 0.0, sum.Weights()
					for range rounds {
						var noise float64
						for source, weights := range weightsOf {
							parameter, _ := e.Sources[source].Mechanism.Parameter.Float64()
							for _, w := range weights {
								noise += w * laplaceDraw(random, parameter)
							}
						}
						if math.Abs(noise) <= margin+1e-9 {
							covered++
						}
						squares += noise * noise
					}
					share, deviation := float64(covered)/rounds, math.Sqrt(0.95*0.05/rounds)
					if share < attained-beyond*deviation || share > most+beyond*deviation {
						t.Errorf("%s: %s, %s: covers %v, the law says %v", text, p.Tables[at].Path, class, share,
							attained)
					}
					// Of heavy tails a square has a variance of at most 5 times its squared mean.
					ratio := squares / rounds / (law.Deviation() * law.Deviation())
					if math.Abs(ratio-1) > beyond*math.Sqrt(5./rounds) {
						t.Errorf("%s: %s, %s: the noise has %v times the variance of the law", text, p.Tables[at].Path,
							class, ratio)
					}
				}
			}
		}
	}
}

// classesOf returns the coefficients of a cell, a margin, the total and a random sum of a marginal's cells.
func classesOf(random *rand.Rand, e *compiled.Estimate, marginal int) map[string][][]float64 {
	out := map[string][][]float64{}
	for i, a := range e.Axes[marginal] {
		n := e.Columns[a.Column].Size(a.Level)
		cell, all, some := make([]float64, n), make([]float64, n), make([]float64, n)
		cell[random.IntN(n)] = 1
		for j := range n {
			all[j], some[j] = 1, float64(random.IntN(2))
		}
		some[random.IntN(n)] = 1
		margin := all
		if i == 0 {
			margin = cell
		}
		out["cell"], out["margin"] = append(out["cell"], cell), append(out["margin"], margin)
		out["total"], out["sum"] = append(out["total"], all), append(out["sum"], some)
	}
	return out
}

// laplaceDraw returns the difference of two geometric draws.
func laplaceDraw(random *rand.Rand, scale float64) float64 {
	geometric := func() float64 { return math.Floor(-math.Log(1-random.Float64()) * scale) }
	return geometric() - geometric()
}
