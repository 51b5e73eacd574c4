package scan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// firms is a release of a table that is joined to a public one, by id, and to another by two columns.
const firms = `version: 1
release: firms
privacy: {protects: firm, neighbours: NEIGHBOURS}
budget: {rho: 1/2}
tables:
  firms:
    source: {csv: "*.csv"}
    unit: UNIT
    join:
      register: {csv: register.csv, on: id, public: true}
      areas: {csv: areas.csv, on: [kind, zone], public: true}
    columns:
      size:  {from: register.size, values: [small, large], unknown: drop, null: drop}
      kind:  {values: [a, b]}
      area:  {from: areas.area, values: [north, south, nowhere], null: {as: nowhere}}
      staff: {type: integer, range: {by: size, small: [0, 9], large: [5, 50]}}
marginals:
  sizes: {by: [size, kind], stats: [count, {sum: staff}]}
  areas: {by: [area, size]}
  kinds: {by: [kind]}
`

// publicFirms are the public tables: firms 1 to 8 are in the register, and one kind of one zone is nowhere.
var publicFirms = map[string]string{
	"register.csv": "id,size\n1,small\n2,large\n3,small\n4,large\n5,huge\n6,\n7,small\n8,large\n77,large\n",
	"areas.csv":    "kind,zone,area\na,1,north\na,2,south\nb,1,north\n",
}

func firmsPlan(t testing.TB, replacements ...string) *plan.Plan {
	t.Helper()
	text := strings.NewReplacer(append(replacements, "UNIT", "row", "NEIGHBOURS", "add-remove")...).Replace(firms)
	r, err := spec.Parse(spec.Source{Name: "firms.yaml", Text: text, Files: publicFirms})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// firm is a row.
type firm struct {
	id, zone, staff int
	kind            string
}

func (f firm) String() string { return fmt.Sprintf("%d,%d,%s,%d\n", f.id, f.zone, f.kind, f.staff) }

func firmsFile(all []firm) string {
	var b strings.Builder
	b.WriteString("id,zone,kind,staff\n")
	for _, f := range all {
		b.WriteString(f.String())
	}
	return b.String()
}

func TestJoinedColumnsAreCountedAsIfTheyWereRead(t *testing.T) {
	rows := []firm{
		// 20 in small is 9, 3 in large 5, 70 there 50; b, 2 is nowhere
		{1, 1, 20, "a"}, {1, 2, 4, "a"}, {2, 1, 3, "b"}, {2, 2, 70, "b"},
		{5, 1, 1, "a"}, {6, 1, 1, "a"}, {99, 1, 1, "a"}, // of no size: huge, null, not registered
	}
	e := exactOf(t, firmsPlan(t), folder(t, "f.csv", firmsFile(rows)), 1)
	for path, want := range map[string]string{
		"sizes": "[2 0 0 2]",     // small a, small b, large a, large b
		"areas": "[1 1 1 0 0 1]", // north small, north large, south small, south large, nowhere small, nowhere large
		"kinds": "[2 2]",
	} {
		if got := fmt.Sprint(countsOf(t, e, path)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	// Sums are about the middle of each stratum's range, 9/2 and 55/2, in halves and so that both have nearly one
	// reach: small is multiplied by 5, as 9·5 = 45.
	if got, want := fmt.Sprint(answerOf(e, "values/sizes/staff_sums")),
		fmt.Sprint([]int64{5 * (2*(9+4) - 2*9), 0, 0, 2*(5+50) - 2*55}); got != want {
		t.Errorf("sums: %s, want %s", got, want)
	}
}

// beyond is by how much the answers of two inputs lie further apart than the plan allows, in L1 or in the square of L2,
// over all of its measurements; negative or 0 where none does.
func beyond(a, b allCounts) (worst int64) {
	worst = -1 << 60
	for i, m := range a.plan.Measurements {
		l1, l2Squared := new(big.Int), new(big.Int)
		for cell, n := range a.answers[i].Counts {
			d := big.NewInt(n - b.answers[i].Counts[cell])
			l1.Add(l1, new(big.Int).Abs(d))
			l2Squared.Add(l2Squared, d.Mul(d, d))
		}
		worst = max(worst, l1.Sub(l1, m.Mechanism.L1).Int64(), l2Squared.Sub(l2Squared, m.Mechanism.L2Squared).Int64())
	}
	return worst
}

// joinedExcess is by how much neighbours move some measurement of firms further than the plan allows, over inputs and
// with rows as a join leaves them.
func joinedExcess(t *testing.T, unit, neighbours string, most int, join func([]firm) []firm) int64 {
	t.Helper()
	p := firmsPlan(t, "UNIT", unit, "NEIGHBOURS", neighbours)
	worst := int64(-1 << 60)
	for seed := range 12 {
		random := keyedNumbers(seed)
		rows := make([]firm, 0, 40)
		for i := range cap(rows) {
			id := 1 + random(9)
			if most == 0 { // each row is a unit
				id = 1 + i%9
			}
			rows = append(rows, firm{id, 1 + random(2), random(60), []string{"a", "b"}[random(2)]})
		}
		gone := func(i int) bool { return rows[i].id == 1+seed%9 }
		if most == 0 {
			gone = func(i int) bool { return i == seed }
		}
		var left, other []firm
		for i, f := range rows {
			if !gone(i) {
				left = append(left, f)
			} else {
				f = firm{77, 1 + random(2), random(60), []string{"a", "b"}[random(2)]}
			}
			other = append(other, f)
		}
		near := left
		if neighbours == "replace" {
			near = other
		}
		count := func(rows []firm) allCounts {
			return exactOf(t, p, folder(t, "f.csv", firmsFile(join(rows))), byte(seed))
		}
		worst = max(worst, beyond(count(rows), count(near)))
	}
	return worst
}

// TestJoinsMoveQueriesByWhatUnitsMay takes units away and replaces them by others that the register has too. A join
// that makes two rows of one, as a repeated key would, is noticed.
func TestJoinsMoveQueriesByWhatUnitsMay(t *testing.T) {
	asIs := func(rows []firm) []firm { return rows }
	multiplied := func(rows []firm) (all []firm) { // as if the register had the even ids twice
		for _, f := range rows {
			all = append(all, slices.Repeat([]firm{f}, 2-f.id%2)...)
		}
		return all
	}
	for _, neighbours := range []string{"add-remove", "replace"} {
		for unit, most := range map[string]int{"row": 0, "{id: id, max_rows: 1}": 1, "{id: id, max_rows: 3}": 3} {
			if by := joinedExcess(t, unit, neighbours, most, asIs); by > 0 {
				t.Errorf("%s, %s: a unit moves a query by %d more than it may", unit, neighbours, by)
			}
		}
		if joinedExcess(t, "row", neighbours, 0, multiplied) <= 0 {
			t.Errorf("%s: nobody notices that rows are multiplied", neighbours)
		}
	}
}
