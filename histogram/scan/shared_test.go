package scan

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// care is a release of two confidential tables that share their units.
const care = `version: 1
release: care
privacy: {protects: person, neighbours: NEIGHBOURS}
budget: BUDGET
tables:
  persons:
    source: {csv: p.csv}
    unit: {id: id, max_rows: 1}
    columns:
      sex: {values: [f, m]}
      place: {values: [a, b, c], unknown: drop}
  visits:
    source: {csv: v.csv}
    unit: {id: id, max_rows: 3}
    columns:
      ward: {values: [x, y]}
      days: {type: integer, range: [0, 20]}
marginals:
  all: {table: persons, by: []}
  places: {table: persons, by: [sex, place]}
  stays: {table: visits, by: [ward], stats: [count, units, {sum: days}]}
  total: {table: visits, by: []}
`

func carePlan(t testing.TB, neighbours, money string) *plan.Plan {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "care.yaml", Text: strings.NewReplacer("NEIGHBOURS", neighbours, "BUDGET",
		money).Replace(care)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// cared is what the two tables hold of one person.
type cared struct {
	id      int
	persons []string // rows behind the id
	visits  []string
}

func drawCared(random func(int) int, id int) cared {
	c := cared{id: id}
	for range random(3) {
		c.persons = append(c.persons, fmt.Sprintf("%s,%s", []string{"f", "m"}[random(2)],
			[]string{"a", "b", "c", "z"}[random(4)]))
	}
	for range random(6) {
		c.visits = append(c.visits, fmt.Sprintf("%s,%d", []string{"x", "y"}[random(2)], []int{0, 20, 50, 7}[random(4)]))
	}
	return c
}

// countCared counts two tables.
func countCared(t testing.TB, p *plan.Plan, key byte, all []cared) allCounts {
	t.Helper()
	persons, visits := "id,sex,place\n", "id,ward,days\n"
	for _, c := range all {
		for _, row := range c.persons {
			persons += fmt.Sprintf("%d,%s\n", c.id, row)
		}
		for _, row := range c.visits {
			visits += fmt.Sprintf("%d,%s\n", c.id, row)
		}
	}
	return exactOf(t, p, folder(t, "p.csv", persons, "v.csv", visits), key)
}

// lost is the worst loss in ε of what two inputs tell apart: Σ over measurements of ‖difference‖₁ by the scale of its
// noise.
func lost(a, b allCounts) *big.Rat {
	all := new(big.Rat)
	for i, m := range a.plan.Measurements {
		l1 := new(big.Int)
		for cell, n := range a.answers[i].Counts {
			d := big.NewInt(n - b.answers[i].Counts[cell])
			l1.Add(l1, d.Abs(d))
		}
		// the scale of discrete Laplace noise
		all.Add(all, new(big.Rat).Quo(new(big.Rat).SetInt(l1), m.Mechanism.Parameter))
	}
	return all
}

// TestUnitsMoveTwoTablesByWhatTheyMay takes units out of both tables and puts others in their place, among them units
// that are in one table alone. No measurement moves further than its mechanism says, and all together lose no more than
// the release's ε, which some unit nearly reaches: with either table's share forgotten, the claim would be wrong.
func TestUnitsMoveTwoTablesByWhatTheyMay(t *testing.T) {
	testkit.SkipPassed(t)
	for _, neighbours := range []string{"add-remove", "replace"} {
		p := carePlan(t, neighbours, "{epsilon: 1}")
		most := new(big.Rat)
		for seed := range 20 {
			random := keyedNumbers(seed)
			var all []cared
			for id := range 12 {
				all = append(all, drawCared(random, id))
			}
			others := []cared{ // that take the place of the first, or come beside
				drawCared(random, 77),
				{id: 77, persons: []string{"f,a"}},
				{id: 77, visits: []string{"x,20", "x,20", "x,50", "x,20"}},
				{id: 77, persons: []string{"m,c"}, visits: []string{"y,20", "y,20", "y,20"}},
				{id: 77, persons: []string{"f,a"}, visits: []string{"x,0", "x,0", "x,0"}},
			}
			for i, other := range others {
				near := all[1:]
				if neighbours == "replace" {
					near = append([]cared{others[(i+1)%len(others)]}, near...)
				}
				a, b := countCared(t, p, byte(seed), append([]cared{other}, all[1:]...)),
					countCared(t, p, byte(seed), near)
				if by := beyond(a, b); by > 0 {
					t.Errorf("%s: a unit moves a query by %d more than it may", neighbours, by)
				}
				if loss := lost(a, b); loss.Cmp(most) > 0 {
					most = loss
				}
			}
		}
		if most.Cmp(big.NewRat(1, 1)) > 0 {
			t.Errorf("%s: units lose ε = %s of 1", neighbours, most.FloatString(4))
		}
		for _, table := range []string{"persons", "visits"} {
			rest := new(big.Rat)
			for _, m := range p.Measurements {
				if m.Query.Table != table {
					rest.Add(rest, new(big.Rat).Quo(new(big.Rat).SetInt(m.Mechanism.L1), m.Mechanism.Parameter))
				}
			}
			if most.Cmp(rest) <= 0 {
				t.Errorf("%s: with %s forgotten, nobody would notice: units lose ε = %s, and the rest has %s",
					neighbours, table,
					most.FloatString(4), rest.FloatString(4))
			}
		}
	}
}

// TestUnitsKeepTheirOwnRowsInEachTable: which rows of a unit stay in a table does not depend on the other table, and
// the lots of the two are not the same.
func TestUnitsKeepTheirOwnRowsInEachTable(t *testing.T) {
	text := strings.NewReplacer("NEIGHBOURS", "add-remove", "BUDGET", "{epsilon: 1}", "max_rows: 3", "max_rows: 1",
		"      sex: {values: [f, m]}\n      place: {values: [a, b, c], unknown: drop}",
		"      ward: {values: [x, y]}\n      days: {type: integer, range: [0, 20]}",
		"places: {table: persons, by: [sex, place]}", "places: {table: persons, by: [ward]}").Replace(care)
	r, err := spec.Parse(spec.Source{Name: "care.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	same, differ := "id,ward,days\n", 0
	for id := range 64 { // the same two rows in both
		same += fmt.Sprintf("%d,x,1\n%[1]d,y,1\n", id)
	}
	a := exactOf(t, p.Plan(), folder(t, "p.csv", same, "v.csv", same), 1)
	b := exactOf(t, p.Plan(), folder(t, "p.csv", same, "v.csv", "id,ward,days\n"), 1)
	first, again, second := fmt.Sprint(countsOf(t, a, "places")), fmt.Sprint(countsOf(t, b, "places")),
		fmt.Sprint(countsOf(t, a, "stays"))
	if first != again {
		t.Errorf("%s of persons beside visits, %s alone", first, again)
	}
	// of 64 units each keeps x or y in either table: equal counts five times have a chance of 1e-5
	for key := byte(1); key < 6; key++ {
		e := exactOf(t, p.Plan(), folder(t, "p.csv", same, "v.csv", same), key)
		if fmt.Sprint(countsOf(t, e, "places")) != fmt.Sprint(countsOf(t, e, "stays")) {
			differ++
		}
	}
	if differ == 0 {
		t.Errorf("both tables keep the same rows: %s and %s", first, second)
	}
}
