package compiled_test

import (
	"math"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/workload"
)

// The widest difference of two cells, for tables of each kind, has the deviation that the dense covariance gives. As
// the noise is wide here, its margin equals the normal law's within the error allowed for laws. If there are too many
// pairs, the margin is at least that, and at most what two cells with perfectly opposite noise need.
func TestCellsAreDrivenApartAsTheirCovarianceSays(t *testing.T) {
	const z, z2 = 1.959964, 2.241403 // of 5% and of 2.5% on two sides
	// u/2 where (1 + u/2)e^(−u) = 5%: the difference of two Laplace draws of scale 1 has the deviation 2, and is
	// beyond u with that chance
	const laplace = 2.05667
	exact, bounded := 0, 0
	for _, c := range []struct{ budget, marginals string }{
		{"{rho: 1/800, minimise: sum}", "{x: {every: [0, 1, 2], by: [sex, kind]}}"},
		{"{rho: 1/800, minimise: sum}", "{x: {every: [1, 2], by: [sex, age.odd]}, y: {by: [age]}}"},
		{"{rho: 1/800, minimise: sum}", "{x: {by: [age], cumulative: [age]}, y: {by: [kind]}}"},
		{"{rho: 1/800, minimise: sum}", "{x: {by: [age, kind, sex], cumulative: [kind, age]}, y: {by: [kind]}}"},
		{"{epsilon: 1/100}", "{x: {by: [sex, age]}, y: {by: [kind]}, z: {by: [sex]}}"},
	} {
		r := plantest.CrossedRelease(t, "add-remove", c.budget, 1, c.marginals)
		p, err := planner.New(r)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := workload.Expand(r)
		if err != nil {
			t.Fatal(err)
		}
		estimates, err := p.Estimates()
		if err != nil {
			t.Fatal(err)
		}
		variances := make([]float64, len(p.Measurements))
		for i, m := range p.Measurements {
			variances[i] = m.Mechanism.Variance()
		}
		for i, apart := range compiled.DifferenceBounds(p.Plan(), estimates) {
			queries := plantest.ShownRows(p.Plan(), p.Tables[i], tables[i])
			covariance := plantest.LeastSquares(t, p.Measurements, variances, queries)
			var widest, largest float64
			for j := range queries {
				largest = max(largest, math.Sqrt(covariance.At(j, j)))
				for k := range j {
					widest = max(widest, math.Sqrt(covariance.At(j, j)+covariance.At(k, k)-2*covariance.At(j, k)))
				}
			}
			ratio := apart.Margin / widest
			switch {
			case len(queries) == 1:
				if apart.Margin != 0 {
					t.Errorf("%s %s: one cell is ±%v apart from itself", c.marginals, p.Tables[i].Path, apart.Margin)
				}
			case p.Tables[i].Statistics[0].Measurement != "" && c.budget == "{epsilon: 1/100}":
				exact++
				if math.Abs(ratio-laplace) > 0.004 {
					t.Errorf("%s %s: %v deviations", c.marginals, p.Tables[i].Path, ratio)
				}
			case apart.Exact:
				exact++
				if c.budget != "{epsilon: 1/100}" && (ratio < z-0.002 || ratio > z+0.006) || ratio < 1.9 ||
					ratio > laplace {
					t.Errorf("%s %s: %v deviations of the widest difference, want %v", c.marginals, p.Tables[i].Path,
						ratio, z)
				}
			default:
				bounded++
				if ratio < z || math.Abs(apart.Margin/largest-2*z2) > 0.01 {
					t.Errorf("%s %s: %v deviations of the widest difference, %v of the widest cell", c.marginals,
						p.Tables[i].Path,
						ratio, apart.Margin/largest)
				}
			}
		}
	}
	if exact < 8 || bounded < 1 {
		t.Errorf("%d tables were exact and %d bounded: both ways are to be seen", exact, bounded)
	}
}

// The margin of the difference of two draws of one noise agrees with their probabilities, added up value by value:
// the difference exceeds the margin with a probability of at most 5%, and exceeds one less with more.
func TestTwoDrawsAreApartAsTheirProbabilitiesSay(t *testing.T) {
	for _, c := range []struct {
		kind     budget.Kind
		law      func(x float64) float64 // up to its norm
		numerics string
	}{
		{budget.DiscreteLaplace, func(x float64) float64 { return math.Exp(-math.Abs(x) / 2.5) }, "5/2"},
		{budget.DiscreteGaussian, func(x float64) float64 { return math.Exp(-x * x / 14) }, "7"},
	} {
		parameter, err := budget.ParseRat(c.numerics)
		if err != nil {
			t.Fatal(err)
		}
		apart := compiled.ApartAlone(budget.Mechanism{Kind: c.kind, Parameter: parameter}, 0.95)
		beyond := func(m float64) float64 {
			const reach = 120.0
			var out, norm float64
			for x := -reach; x <= reach; x++ {
				for y := -reach; y <= reach; y++ {
					both := c.law(x) * c.law(y)
					if norm += both; math.Abs(x-y) > m {
						out += both
					}
				}
			}
			return out / norm
		}
		if !apart.Exact || beyond(apart.Margin) > 0.05 || beyond(apart.Margin-1) <= 0.05 {
			t.Errorf("%s: ±%v leaves %v, one less %v", c.kind, apart.Margin, beyond(apart.Margin),
				beyond(apart.Margin-1))
		}
	}
}
