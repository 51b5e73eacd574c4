package scan

// This file holds audits of linked tables by neighbouring inputs: many random ones, in which other units stay, whose
// rows stand in any order.

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
)

// auditedText is homesText with more persons, figures that bound a unit's rows otherwise than its table does, and
// diagnostics.
func auditedText(neighbours string) string {
	return strings.NewReplacer("NEIGHBOURS", neighbours, "{id: hh, max_rows: 2, null: drop}",
		"{id: hh, max_rows: 3, null: drop}",
		"sexes: {table: persons, by: [sex],",
		"sexes: {table: persons, by: [sex], stats: [count, units], per_unit: {groups: 1},",
		"budget: {rho: 1, split: {tables: 1/4,", "diagnostics: {share: 5%}\nbudget: {rho: 1, split: {tables: 1/4,").
		Replace(homesText)
}

// randomHome is what a unit may have: no row, several or ones that are left out, in any of the tables.
func randomHome(id string, random func(int) int) home {
	one := home{id: id}
	rows := func(most int, a, b []string) (all []string) {
		for range random(most + 1) {
			all = append(all, a[random(len(a))]+","+b[random(len(b))])
		}
		return all
	}
	one.households = rows(4, []string{"o", "r", "o", "r", "z"}, []string{"x", "y", "z", "w"})
	one.persons = rows(6, []string{"f", "m"}, []string{"y", "o", "y", "o", "z"})
	one.cars = rows(3, []string{"p", "q"}, []string{"s", "l"})
	return one
}

// shuffledHomes writes the tables with the rows of all units in a random order, in which those of one unit stand as
// they do in it.
func shuffledHomes(t *testing.T, random func(int) int, all []home) string {
	t.Helper()
	table := func(head string, of func(home) []string) string {
		var left [][]string
		for _, one := range all {
			var lines []string
			for _, row := range of(one) {
				lines = append(lines, one.id+","+row+"\n")
			}
			if lines != nil {
				left = append(left, lines)
			}
		}
		for len(left) > 0 {
			i := random(len(left))
			head += left[i][0]
			if left[i] = left[i][1:]; len(left[i]) == 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
		return head
	}
	return folder(t, "h.csv", table("hh,tenure,area\n", func(h home) []string { return h.households }),
		"p.csv", table("hh,sex,age\n", func(h home) []string { return h.persons }), "c.csv",
		table("hh,fuel,kind\n", func(h home) []string { return h.cars }))
}

// noShift is what is beyond the charge of nothing.
const noShift = -1 << 60

// auditOfLinks counts questions to linked tables.
type auditOfLinks struct {
	plan *plan.Plan
	// where units come and go, and the same where they are replaced: nil where that is not audited
	asked  [2][]plan.Measurement
	random func(int) int
	spoil  func(*link) // what links become before rows are counted by them, nil: what they are
}

func (a auditOfLinks) count(t *testing.T, all ...home) [][]int64 {
	t.Helper()
	return countIn(t, a.plan, a.asked[0], shuffledHomes(t, a.random, all), nil, a.spoil)
}

// excess counts so many random inputs, each without a unit more and with each of so many, and returns by how much the
// shift of some question is beyond its charge: where a unit comes or goes, and where one takes the place of another.
func (a auditOfLinks) excess(t *testing.T, inputs, units int) (worst [2]int64) {
	t.Helper()
	worst = [2]int64{noShift, noShift}
	for range inputs {
		others := []home{{persons: []string{"f,y", "m,o"}}} // of nobody
		for i := range 8 {
			others = append(others, randomHome(fmt.Sprint("h", i), a.random))
		}
		without := a.count(t, others...)
		var before [][][]int64
		for n := range units {
			with := a.count(t, append(others, randomHome(fmt.Sprint("u", n), a.random))...)
			for i, m := range a.asked[0] {
				worst[0] = max(worst[0], pastCharge(with[i], without[i], m))
				for _, other := range before {
					if a.asked[1] != nil {
						worst[1] = max(worst[1], pastCharge(with[i], other[i], a.asked[1][i]))
					}
				}
			}
			before = append(before, with)
		}
	}
	return worst
}

// TestAuditOfLinkedNeighbours is the sensitivity of random inputs in which others stay: no question to linked tables,
// of sizes, linked columns, figures under bounds of their own or diagnostics, moves by more than its charge, and some
// by all of it. That of units that are replaced waits for DPRELEASE_LONG: TestUnitsMoveLinkedTablesByWhatTheyMay has a
// part of it. And the parent row that a unit's other rows find is the very one that is counted of it. All is by keys:
// it comes out alike in every run.
func TestAuditOfLinkedNeighbours(t *testing.T) {
	a := auditOfLinks{plan: planOfText(t, auditedText("add-remove")), random: keyedNumbers(11)}
	inputs, units, plans, want := 1, 6, []*plan.Plan{a.plan}, [2]int64{0, noShift}
	if os.Getenv("DPRELEASE_LONG") != "" {
		inputs, units, plans, want = 60, 20, append(plans, planOfText(t, auditedText("replace"))), [2]int64{}
	}
	for i, p := range plans {
		a.asked[i] = questions(t, p)
	}
	if worst := a.excess(t, inputs, units); worst != want {
		t.Errorf("beyond the charge by %d where a unit comes or goes and by %d where it is replaced: expected 0, "+
			"which is all of it",
			worst[0], worst[1])
	}
	a.parentRowsFound(t)
	a.spoil = sizesOfAll(4)
	if worst := a.excess(t, 1, 2); worst[0] <= 0 {
		t.Errorf("sizes of all units together would pass: %d", worst[0])
	}
}

// parentRowsFound counts 400 units of which each has three rows in the parent that may stay, and one car: what the cars
// have of their households is then what is counted of these.
func (a auditOfLinks) parentRowsFound(t *testing.T) {
	t.Helper()
	var all []home
	for i := range 400 {
		all = append(all, home{id: fmt.Sprint("u", i), households: []string{"o,x", "r,z", "z,y", "r,x", "o,w"},
			persons: []string{"f,y"}, cars: []string{"p,s"}})
	}
	counts := a.count(t, all...)
	answer := func(id string) []int64 {
		return counts[slices.IndexFunc(a.asked[0], func(m plan.Measurement) bool { return m.ID == "microdata/"+id })]
	}
	// a third have the one
	if tenures := answer("households/tenure"); total(tenures) != 400 || slices.Min(tenures) < 80 {
		t.Fatalf("tenures are %v, of which both are to be there", tenures)
	}
	for _, column := range []string{"tenure", "area.half"} {
		if counted, found := answer("households/"+column), answer("cars/households."+column); !slices.Equal(counted,
			found) {
			t.Errorf("%s of households is counted as %v, and of their cars as %v", column, counted, found)
		}
	}
}
