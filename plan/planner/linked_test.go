package planner_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/spec"
)

// What is paid for to know of left-out rows tells of those without a parent row too, in the child alone.
func TestDiagnosticsOfRowsWithoutParents(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(plantest.HouseholdsText, "replace", "error", "error", "mst", "mst"),
		"budget: {rho: 1", "diagnostics: {share: 5%}\nbudget: {rho: 1", 1)
	p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	m, ok := p.Measurement("diagnostics/persons/rows_left_out")
	if !ok || m.Query.Counted != counted.Counted(counted.RowsLeftOut) || m.Mechanism.L1.Int64() != 4 ||
		m.Mechanism.L2Squared.Int64() != 16 {
		t.Errorf("rows of persons that are left out: %+v", m)
	}
	if _, ok := p.Measurement("diagnostics/households/rows_left_out"); ok {
		t.Error("no row of households is left out, and their number is asked for")
	}
}

func TestGivenColumnsAreNeverChosenAlone(t *testing.T) {
	child := plantest.PlanOfHomes(t, "replace", "error", "error", "mst", "mst").Synthetic[1]
	var names []string
	for _, c := range adaptive.Candidates(child) {
		names = append(names, child.By[c[0]].String()+" "+child.By[c[1]].String())
	}
	want := []string{"sex age", "sex households.tenure", "sex households.area", "sex households.persons",
		"age households.tenure", "age households.area", "age households.persons"}
	if !slices.Equal(names, want) {
		t.Errorf("candidates are %q", names)
	}
	f := adaptive.ForestOf(child)
	f.Join([]int{0, 3})
	if f.WouldJoin([]int{0, 2}) || f.WouldJoin([]int{0, 4}) || !f.WouldJoin([]int{0, 1}) || !f.WouldJoin([]int{1, 2}) {
		t.Errorf("a column that hangs on one given column may hang on another: %v", f)
	}
}

func TestExplainLinkedMicrodata(t *testing.T) {
	pageOf := func(child, parent string) string {
		var page strings.Builder
		if err := describe.Explain(compiled.Of(plantest.PlanOfHomes(t, "add-remove", "error", "error", child, parent)),
			&page); err != nil {
			t.Fatal(err)
		}
		return page.String()
	}
	page, silent := pageOf("auto", "aim"),
		"Before you sign: nothing will show how many rows of persons are left out because their unit has no row in "+
			"households."
	for _, line := range []string{
		silent,
		"\n  persons is how many rows of persons belong to a row, 0 to 4.\n",
		"Microdata of households: tenure, area, persons; as many rows as the noisy total says\n",
		"Microdata of persons: sex, age; as many rows as the rows of households say\n",
		"  Each row belongs to one of households and is drawn given its columns, here called households.tenure, " +
			"households.area, households.persons; the last is how many rows of persons it has, at most 4.\n",
		"  Rows of persons whose unit has no row in households that is counted are left out before the rows of a " +
			"unit are bounded, of all that is counted of persons.\n",
		"  Method aim, chosen by what is public: the 18 sets of one to three columns have 286 cells to count",
		"  As rows are drawn given a row of households, all of its columns that columns of persons which hang " +
			"together depend on are in one of these tables.\n",
		"the counts of each of 5 columns",
		"each round chooses one of 18 sets of one to three columns",
	} {
		if !strings.Contains(page, line) {
			t.Errorf("no %q in\n%s", line, page)
		}
	}
	const noise = "rows of persons are drawn by noise"
	if strings.Contains(page, noise) || !strings.Contains(pageOf("aim", "mst"), noise) {
		t.Error("nothing warns of a child by aim whose parent is by mst, or that of another")
	}
	if page := pageOf("auto", "mst"); !strings.Contains(page, "  Method mst, chosen by what is public: the rows of "+
		"households are made by it, which knows pairs of their columns") || strings.Contains(page, noise) {
		t.Errorf("a child whose parent is by mst has\n%s", page)
	}
}

// A public number of persons does not say how many are drawn: the rows of households do.
func TestInvariantsDoNotNumberChildren(t *testing.T) {
	text := fmt.Sprintf(plantest.HouseholdsText, "replace", "error", "error", "mst", "mst") +
		"invariants: {i: {table: persons, by: [sex], values: {f: 30, m: 20}}, j: {table: households, by: [tenure], " +
		"values: {o: 10, r: 20}}}\n"
	p, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if parent, child := p.Synthetic[0], p.Synthetic[1]; parent.Rows != 30 || parent.RowsOf != "j" || child.Rows != 0 ||
		child.RowsOf != "" {
		t.Errorf("%d rows of households, %d of persons", parent.Rows, child.Rows)
	}
	if read, err := compiled.Read(p.Bytes()); err != nil || plantest.Verify(read.Plan()) != nil {
		t.Errorf("read again: %v", err)
	}
}

// A column of a household is in the rows of its persons too, and what leaves a person out is in the size of the
// household: what they tell of it is part of its loss.
func TestLossOfLinkedAttributes(t *testing.T) {
	tables := func(age, tenure, column string) int {
		p := plantest.PlanOfHomes(t, "replace", age, tenure, "mst", "mst")
		n, _, err := describe.MechanismsOfColumn(p, column)
		if err != nil {
			t.Fatal(err)
		}
		if column == "persons" || column == "sex" || column == "tenure" {
			if got := describe.Attributes(p); !slices.Equal(got, []string{"area", "tenure", "persons", "sex", "age"}) {
				t.Errorf("attributes are %q", got)
			}
		}
		return n
	}
	for _, c := range []struct {
		age, tenure, column string
		want                int
	}{
		{"error", "error", "sex", 1},     // persons alone
		{"error", "error", "age", 1},     // so
		{"drop", "error", "age", 2},      // persons, and the sizes of households
		{"error", "error", "tenure", 2},  // households, and persons who are drawn given it
		{"error", "error", "area", 3},    // so, and the table
		{"error", "drop", "tenure", 3},   // whether there is a household at all: everything
		{"error", "error", "persons", 2}, // the size of households, and who is in them
	} {
		if got := tables(c.age, c.tenure, c.column); got != c.want {
			t.Errorf("age %s, tenure %s: %s is in %d tables, want %d", c.age, c.tenure, c.column, got, c.want)
		}
	}
	// The loss of a column of the parent has the child's answers about it in it.
	of := func(column string) float64 {
		p := plantest.PlanOfHomes(t, "replace", "error", "error", "mst", "mst")
		_, steps, err := describe.MechanismsOfColumn(p, column)
		if err != nil {
			t.Fatal(err)
		}
		rho := new(big.Rat)
		for _, m := range steps {
			rho.Add(rho, m.Rho())
		}
		out, _ := rho.Float64()
		return out
	}
	// Of the child 3/8: two thirds for the rounds, and a fifth of the third for the column.
	if tenure, sex := of("tenure"), of("sex"); tenure < 1./8*7/9+3./8*(2./3+1./15)-0.01 || sex > 3./8 {
		t.Errorf("the loss of tenure is %v, and of sex %v", tenure, sex)
	}
}
