package scan

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Rows that cannot be are left out of every table alike, also by a column that no table shows, and after values that
// count as a category have been given it; a row that some column leaves out is left out once.
func TestImpossibleRowsAreLeftOutOfEveryTable(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	rows := strings.Builder{}
	rows.WriteString("kind,age,work\n")
	kinds, ages := make([]int64, 3), make([]int64, 10)
	for range 2000 {
		kind, age, work := []string{"a", "b", "c", "x", ""}[random.IntN(5)], random.IntN(10),
			[]string{"y", "n", ""}[random.IntN(3)]
		fmt.Fprintf(&rows, "%s,%d,%s\n", kind, age, work)
		at := strings.Index("abcx", kind)
		if kind == "" || work == "" || at >= 2 && age < 5 || work == "y" && age < 4 {
			continue
		}
		kinds[min(at, 2)]++
		ages[age]++
	}
	p := ruledPlan(t)
	e := exactOf(t, p, folder(t, "t.csv", rows.String()), 1)
	if got := countsOf(t, e, "kinds"); !slices.Equal(got, kinds) {
		t.Errorf("kinds %v, expected %v", got, kinds)
	}
	if got := countsOf(t, e, "ages"); !slices.Equal(got, ages) {
		t.Errorf("ages %v, expected %v", got, ages)
	}
	margin, both := make([]int64, 10), countsOf(t, e, "both")
	for cell, n := range both {
		margin[cell%10] += n
		if cell/10 == 2 && cell%10 < 5 && n != 0 {
			t.Errorf("cell %d has %d rows", cell, n)
		}
	}
	if !slices.Equal(margin, ages) {
		t.Errorf("the sums of both are %v, ages %v", margin, ages)
	}
	if got := countsOf(t, e, "bands"); !slices.Equal(got, []int64{total(ages[:5]), total(ages[5:])}) {
		t.Errorf("bands %v of ages %v", got, ages)
	}
}

// Rows that cannot be are in no count of units, although the reading that counts these leaves columns of the rules
// aside.
func TestImpossibleRowsAreOfNoUnit(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 1))
	rows := strings.Builder{}
	rows.WriteString("who,kind,age,work\n")
	var y, n = map[int]bool{}, map[int]bool{}
	for i := range 2000 { // two rows each
		who, kind, age, work := i%1000, []string{"a", "b", "c"}[random.IntN(3)], random.IntN(10),
			[]string{"y", "n"}[random.IntN(2)]
		fmt.Fprintf(&rows, "%d,%s,%d,%s\n", who, kind, age, work)
		switch {
		case kind == "c" && age < 5 || work == "y" && age < 4:
		case work == "y":
			y[who] = true
		default:
			n[who] = true
		}
	}
	p := ruledPlan(t, "UNIT", "{id: who, max_rows: 2}", "marginals:\n",
		"marginals:\n  people: {by: [work], stats: [units]}\n")
	e := exactOf(t, p, folder(t, "t.csv", rows.String()), 1)
	if got, want := countsOf(t, e, "people"), []int64{int64(len(y)), int64(len(n))}; !slices.Equal(got, want) {
		t.Errorf("units %v, expected %v", got, want)
	}
}

// A row that cannot be is a breach that names the columns and no value; the values are for the operator's own file. One
// that a column leaves out is none.
func TestImpossibleRowsAreBreaches(t *testing.T) {
	p := ruledPlan(t, "ROWS", "error")
	const head = "kind,age,work\n"
	count := func(rows string) error {
		err := errorOf(t, p, Files{Dir: folder(t, "t.csv", head+rows)})
		return err
	}
	if err := count("c,3,\n,2,n\na,1,y\na,1,n\n"); err != nil {
		t.Errorf("rows that are left out: %v", err)
	}
	err := count("a,1,n\nb,8,y\nx,4,n\nc,0,n\n")
	var contract *ContractError
	if !errors.As(err, &contract) || contract.Table != "persons" || contract.Column != "kind × age.band" ||
		contract.Kind != "impossible" {
		t.Fatalf("%#v", err)
	}
	if want := "persons.kind × age.band: a row has categories that `impossible` rules out; correct the data or the " +
		"entry, or set rows: drop"; err.Error() != want {
		t.Errorf("%q, expected %q", err, want)
	}
	var b bytes.Buffer
	if err := contract.WriteDiagnostics(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"\t3\t\"c × 4\"\n", "\t4\t\"c × 0\"\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
}

// Bounding sees only rows that can be: of a unit whose only other rows are left out, the one that is left always stays.
func TestBoundingComesAfterRowsAreLeftOut(t *testing.T) {
	p := ruledPlan(t, "UNIT", "{id: who, max_rows: 1}")
	const rows = "who,kind,age,work\n1,c,0,n\n1,c,1,n\n1,a,7,n\n1,a,2,y\n1,c,4,n\n"
	for key := range byte(40) { // a bounder that saw all would keep the third row with a chance of 1/5
		if got := countsOf(t, exactOf(t, p, folder(t, "t.csv", rows), key), "kinds"); !slices.Equal(got,
			[]int64{1, 0, 0}) {
			t.Fatalf("kinds %v", got)
		}
	}
}

// Made-up rows can be.
func TestMadeUpRowsCanBe(t *testing.T) {
	p := ruledPlan(t)
	e := countBy(t, p, MadeUp{Rows: 20000}, streams(p, 1))
	both, ages := countsOf(t, e, "both"), countsOf(t, e, "ages")
	for cell, n := range both {
		if cell/10 == 2 && cell%10 < 5 && n != 0 {
			t.Errorf("cell %d has %d rows", cell, n)
		}
	}
	// Of ages 0–3 two kinds of three stay, and of those that do not work; of age 9 all.
	if total(both) != total(ages) || ages[0] == 0 || ages[9] < 2*ages[0] {
		t.Errorf("ages %v", ages)
	}
}
