package scan

// This file holds audits, by neighbouring inputs, of tables with microdata some of whose marginals publish selected
// cells.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
)

// besidesText has microdata of households and of their persons; a top marginal, a sparse one and one of words of the
// persons, and one of words and a top marginal of the households.
const besidesText = `version: 1
release: homes
privacy: {protects: household, neighbours: NEIGHBOURS}
budget: {epsilon: 4, delta: 1e-9, split: {tables: 1/4, homes: 1/4, people: 1/2}}
tables:
  persons:
    source: {csv: p.csv}
    unit: {id: hh, max_rows: 3}
    columns: {name: {values: {discover: {max_length: 7}}, unknown: drop}, sex: {values: [f, m]}, age: {values: [y, o], unknown: drop}}
  households:
    source: {csv: h.csv}
    unit: {id: hh, max_rows: 1}
    columns: {street: {values: {discover: {max_length: 7}}, unknown: drop}, tenure: {values: [o, r], unknown: drop}, area: {values: [x, y, z, w]}}
marginals:
  names: {table: persons, by: [name, sex], stats: [units], per_unit: {groups: 2}, budget: tables}
  common: {table: persons, by: [sex, age], top: 2, budget: tables}
  large: {table: persons, by: [sex, age], cells: {above: 100}, budget: tables}
  streets: {table: households, by: [street], stats: [units], budget: tables}
  areas: {table: households, by: [area, tenure], top: 3, budget: tables}
synthetic:
  persons: {budget: people, parent: households, by: [sex, age], method: aim}
  households: {budget: homes, by: [tenure, area], method: mst}
`

// homeRows are the rows that a household has behind its id, in both tables.
type homeRows struct {
	id                  string
	households, persons []string
}

// randomHomeRows are up to two rows of a household and up to six persons, some of which do not count.
func randomHomeRows(id string, random func(int) int) homeRows {
	one := homeRows{id: id}
	pick := func(all ...string) string { return all[random(len(all))] }
	for range random(3) {
		one.households = append(one.households, pick("oak", "elm", "own"+id, "far-too-long")+","+
			pick("o", "r", "o", "r", "z")+","+pick("x", "y", "z", "w"))
	}
	for range random(7) {
		one.persons = append(one.persons, pick("Ann", "Bob", "n"+id, "far-too-long")+","+pick("f", "m")+","+
			pick("y", "o", "z"))
	}
	return one
}

// countedBesides are the exact answers to all that a plan may ask of households, by the texts of groups or the places
// of cells.
func countedBesides(t *testing.T, p *plan.Plan, all ...homeRows) []map[string]int64 {
	t.Helper()
	h, m := "hh,street,tenure,area\n", "hh,name,sex,age\n"
	for _, one := range all {
		for _, row := range one.households {
			h += one.id + "," + row + "\n"
		}
		for _, row := range one.persons {
			m += one.id + "," + row + "\n"
		}
	}
	e := exactOf(t, p, folder(t, "h.csv", h, "p.csv", m), 3)
	var out []map[string]int64
	for _, a := range e.answers {
		cells := map[string]int64{}
		counts := a.Expanded()
		for i, n := range counts.Counts {
			switch {
			case a.Groups != nil:
				cells[strings.Join(a.Groups.Keys(a.Cells[i]), "|")] = n
			case a.Cells != nil:
				cells[fmt.Sprint(a.Cells[i])] = n
			default:
				cells[fmt.Sprint(i)] = n
			}
		}
		out = append(out, cells)
	}
	return out
}

// beyondCharge is by how much counts of neighbours differ by more than a measurement is charged for: over all cells in
// L1 and L2², in one cell where cells are chosen, and in how many groups where these are selected. 0 is all that is
// charged for.
func beyondCharge(a, b map[string]int64, m plan.Measurement) int64 {
	l1, l2, most, groups := int64(0), int64(0), int64(0), int64(0)
	cells := map[string]bool{}
	for cell := range a {
		cells[cell] = true
	}
	for cell := range b {
		cells[cell] = true
	}
	for cell := range cells {
		if d := max(a[cell]-b[cell], b[cell]-a[cell]); d > 0 {
			l1, l2, most, groups = l1+d, l2+d*d, max(most, d), groups+1
		}
	}
	switch s := m.Selection.(type) {
	case selection.Groups:
		return max(groups-s.Groups, l1-m.Mechanism.L1.Int64(), l2-m.Mechanism.L2Squared.Int64())
	case selection.Top:
		return max(most-s.Sensitivity, l1-m.Mechanism.L1.Int64(), l2-m.Mechanism.L2Squared.Int64())
	}
	return max(l1-m.Mechanism.L1.Int64(), l2-m.Mechanism.L2Squared.Int64())
}

// TestNeighboursMoveMicrodataAndSelectedCellsByWhatTheyMay: of tables with microdata, linked ones too, no measurement,
// candidate, choice of cells or selection of groups moves further between neighbours than is charged for it, under
// either relation, and some of each kind move by all of it.
func TestNeighboursMoveMicrodataAndSelectedCellsByWhatTheyMay(t *testing.T) {
	testkit.SkipPassed(t)
	for _, neighbours := range []string{"add-remove", "replace"} {
		t.Run(neighbours, func(t *testing.T) {
			p := planOfText(t, strings.Replace(besidesText, "NEIGHBOURS", neighbours, 1))
			asked := questions(t, p)
			random := keyedNumbers(29)
			worst := make([]int64, len(asked))
			for i := range worst {
				worst[i] = noShift
			}
			for range 12 {
				// a table all of whose rows are left out is refused
				others := []homeRows{{"steady", []string{"oak,o,x"}, []string{"Ann,f,y"}}}
				for i := range 6 {
					others = append(others, randomHomeRows(fmt.Sprint(i), random))
				}
				before := countedBesides(t, p, others...)
				for n := range 3 {
					after := countedBesides(t, p, slices.Insert(slices.Clone(others), n,
						randomHomeRows("u", random))...)
					for i, m := range asked {
						if neighbours == "replace" && n == 0 { // all others have as many units
							continue
						}
						worst[i] = max(worst[i], beyondCharge(after[i], before[i], m))
					}
					if neighbours == "replace" {
						before = after
					}
				}
			}
			for i, m := range asked {
				if worst[i] > 0 {
					t.Errorf("%s moves by %d more than it is charged for", m.ID, worst[i])
				}
			}
			for _, id := range []string{"names", "common", "large", "streets", "areas", "microdata/persons/sex",
				"microdata/households/area"} {
				i := slices.IndexFunc(asked, func(m plan.Measurement) bool { return m.ID == id })
				if i < 0 || neighbours == "add-remove" && worst[i] != 0 {
					t.Errorf("%s (number %d) never moves by all that it is charged for: the comparison would miss a "+
						"little more", id,
						i)
				}
			}
		})
	}
}

// TestSelectedCellsLeaveMicrodataAsTheyAre: of units within their bounds the candidates of microdata are counted as of
// a release that has no other marginals, but for the rows that a column with such a marginal leaves out.
func TestSelectedCellsLeaveMicrodataAsTheyAre(t *testing.T) {
	with := strings.Replace(besidesText, "NEIGHBOURS", "add-remove", 1)
	from, to := strings.Index(with, "  names:"), strings.Index(with, "synthetic:")
	without := with[:from] + "  sexes: {table: persons, by: [sex], budget: tables}\n" + with[to:]
	var homes []homeRows
	random := keyedNumbers(31)
	for i := range 200 {
		one := randomHomeRows(fmt.Sprint(i), random)
		one.households, one.persons = one.households[:min(1, len(one.households))],
			one.persons[:min(3, len(one.persons))]
		long := func(row string) bool { return strings.HasPrefix(row, "far-too-long") }
		one.households, one.persons = slices.DeleteFunc(one.households, long), slices.DeleteFunc(one.persons, long)
		homes = append(homes, one)
	}
	all, alone := planOfText(t, with), planOfText(t, without)
	have, want := countedBesides(t, all, homes...), countedBesides(t, alone, homes...)
	have, want = have[len(all.Measurements):], want[len(alone.Measurements):]
	if len(have) == 0 || len(have) != len(want) {
		t.Fatalf("%d candidates, and %d without the other marginals", len(have), len(want))
	}
	rows := int64(0)
	for i := range have {
		for cell, n := range want[i] {
			if rows += n; have[i][cell] != n {
				t.Errorf("candidate %d counts %d in cell %s, and %d without the other marginals", i, have[i][cell],
					cell, n)
			}
		}
	}
	if rows < 1000 {
		t.Errorf("candidates count %d rows in all", rows)
	}
}
