package scan

import (
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const spreadRelease = `version: 1
release: r
privacy: {protects: person, neighbours: NEIGHBOURS}
budget: BUDGET
tables:
  t:
    source: {csv: t.csv}
    unit: {id: id, max_rows: 2}
    WEIGHT
    columns:
      a: {values: [x, y]}
      pay: {type: integer, range: [0, 59]}
marginals:
  m: {by: [a], stats: [count, {quantiles: pay, at: [10%, 30%, 50%, 70%, 90%]}]}
`

// TestDistributionsMoveAsPlanned takes all places that two rows of a unit, and two that replace them, can have in two
// cells, and holds how far they move the answers against the sensitivities of the plan: no further, and, where units
// come and go, as far.
func TestDistributionsMoveAsPlanned(t *testing.T) {
	for _, neighbours := range []string{"add-remove", "replace"} {
		for _, budget := range []string{"{epsilon: 1}", "{rho: 0.1}"} {
			for _, weight := range []string{"", "weight: {from: w, range: [0, 3], step: 1, kind: design}"} {
				p := planned(t, neighbours, budget, weight)
				m, ok := p.Measurement("values/m/pay_quantiles")
				if d, binned := m.Query.Counted.(counted.Bins); !ok || !binned ||
					(d.Total == 0) != (budget == "{epsilon: 1}") {
					t.Fatalf("%s, %s: %+v", neighbours, budget, m.Query)
				}
				most := int64(1)
				if weight != "" {
					most = 3
				}
				l1, l2Squared := farthest(t, p, m, neighbours == "replace", most)
				far, farSquared := m.Mechanism.L1.Int64(), m.Mechanism.L2Squared.Int64()
				t.Logf("%s, %s, %q: %d and %d, planned %d and %d", neighbours, budget, weight, l1, l2Squared, far,
					farSquared)
				if l1 > far || l2Squared > farSquared {
					t.Errorf("%s, %s, %q: a unit moves the answers by %d and %d, planned %d and %d", neighbours,
						budget, weight, l1,
						l2Squared, far, farSquared)
				}
				if neighbours == "add-remove" && (l1 != far || l2Squared != farSquared) {
					t.Errorf("%s, %q: a unit moves the answers by no more than %d and %d, planned %d and %d", budget,
						weight, l1,
						l2Squared, far, farSquared)
				}
			}
		}
	}
}

func planned(t *testing.T, neighbours, budget, weight string) *plan.Plan {
	t.Helper()
	text := replaced(spreadRelease, "NEIGHBOURS", neighbours, "BUDGET", budget, "WEIGHT", weight)
	r, err := spec.Parse(spec.Source{Name: "r.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// farthest is how far one unit of two rows of the largest weight can move the answers: by rows that come, or that come
// in the place of others. Rows that are together move them the most, or in two cells; both are tried.
func farthest(t *testing.T, p *plan.Plan, m plan.Measurement, replace bool, most int64) (l1, l2Squared int64) {
	t.Helper()
	const places = 60
	moves := make([][]int64, 2*places) // of two rows at each place of each cell
	for at := range moves {
		got, err := distributionAnswers(p.Release(), m,
			answer.Answer{Cells: []uint64{uint64(at)}, Counts: []int64{2 * most}})
		if err != nil {
			t.Fatal(err)
		}
		moves[at] = got.Counts
	}
	far := func(a, b []int64) {
		sum, squares := new(big.Int), new(big.Int)
		for i, x := range a {
			d := big.NewInt(x)
			if b != nil {
				d.Sub(d, big.NewInt(b[i]))
			}
			sum.Add(sum, new(big.Int).Abs(d))
			squares.Add(squares, d.Mul(d, d))
		}
		l1, l2Squared = max(l1, sum.Int64()), max(l2Squared, squares.Int64())
	}
	for _, a := range moves {
		far(a, nil)
		for _, b := range moves {
			if replace {
				far(a, b)
			}
		}
	}
	return l1, l2Squared
}

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}
