package release

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
)

// This file holds releases of two confidential tables that share their units.

const careSpec = `version: 1
release: care
privacy: {protects: person, neighbours: replace, account: trips}
budget: {rho: BUDGET, split: {persons: 1/2, visits: 1/4, micro: 1/4}}
tables:
  persons:
    source: {csv: t.csv}
    unit: {id: person, max_rows: 1}
    expect: {rows: [1, 1000], every: [region]}
    columns:
      sex: {values: [f, m]}
      region: {values: [n, s]}
  visits:
    source: {csv: visits.csv}
    unit: {id: person, max_rows: 3, null: drop}
    expect: {rows: [1, 5000]}
    columns:
      ward: {values: [a, b, c]}
      region: {values: [n, s]}
      days: {type: integer, range: [0, 30], bounds: {suggest: 1%}}
marginals:
  people: {table: persons, by: [sex, region], budget: persons}
  wards: {table: visits, by: [ward, region], stats: [count, units, {sum: days}, {mean: days}], budget: visits}
synthetic:
  visits: {budget: micro, by: [ward, region]}
diagnostics: {share: 2%}
`

const carePolicy = "account: trips\nprotects: person\nneighbours: replace\ncap: {rho: 1000000000}\n"

// careOffice returns an office with 400 persons. Every third one has no visit, every fifth one has five, of which
// three are counted; twenty visits belong to nobody in persons, and ten have no person.
func careOffice(t *testing.T, budget string) releasetest.Office {
	t.Helper()
	persons, visits := "person,sex,region\n", "day,person,ward,region,days\n"
	for i := range 400 {
		persons += fmt.Sprintf("%d,%s,%s\n", i, []string{"f", "m"}[i%2], []string{"n", "s"}[i/2%2])
		n := 2
		switch {
		case i%3 == 0:
			n = 0
		case i%5 == 0:
			n = 5
		}
		for v := range n {
			visits += fmt.Sprintf("%d,%d,%s,%s,%d\n", v, i, []string{"a", "b", "c"}[i%3], []string{"n", "s"}[i/2%2],
				i%31)
		}
	}
	for i := range 20 {
		visits += fmt.Sprintf("0,%d,a,n,30\n", 1000+i)
	}
	visits += strings.Repeat("0,,c,s,30\n", 10)
	return releasetest.Of(t, map[string]string{
		"release.yaml": strings.Replace(careSpec, "BUDGET", budget, 1), "policy.yaml": carePolicy, "t.csv": persons,
		"visits.csv": visits,
	})
}

// TestTwoTablesShareTheirUnits runs a release of a table of persons and one of their visits: what its figures are, what
// it says of the unit, and that everything that reads it does.
func TestTwoTablesShareTheirUnits(t *testing.T) {
	o := careOffice(t, "4000")
	opt, place := runRelease(t, o)
	assertVerifies(t, place, verify.Options{})
	if got, want := fmt.Sprint(releasetest.Figures(t, place, "people", "sex", "region", "count")),
		"[[f n 100] [f s 100] [m n 100] [m s 100]]"; got != want {
		t.Errorf("persons %s, want %s", got, want)
	}
	// i%3 == 1 is ward b, 2 is c; of the units of each ward and region a fifth have three rows that are counted, the
	// others two.
	for at, row := range releasetest.Figures(t, place, "wards", "ward", "region", "count", "units") {
		rows, units := 0, 0
		if row[0] == "a" && row[1] == "n" {
			rows, units = 20, 20
		}
		for i := range 400 {
			if i%3 == 0 || row[0] != []string{"a", "b", "c"}[i%3] || row[1] != []string{"n", "s"}[i/2%2] {
				continue
			}
			units++
			if rows += 2; i%5 == 0 {
				rows++
			}
		}
		if want := []string{row[0], row[1], fmt.Sprint(rows), fmt.Sprint(units)}; !slices.Equal(row, want) {
			t.Errorf("row %d of visits %v, want %v", at, row, want)
		}
	}
	rows, err := os.ReadFile(filepath.Join(place, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		"for replacing one person by another, meaning all rows with the same person in persons and visits, of which " +
			"at most 1 in persons and 3 in visits are counted",
		"Each person is protected: all rows with the same person in persons and visits together.",
		"For each person, at most 1 row in persons and 3 rows in visits are counted",
		"That is their number in all tables together; how many have rows in one of them is not public.",
		"Each row of these tables belongs to only one person.",
	} {
		if !strings.Contains(string(rows), says) {
			t.Errorf("the report does not say %q", says)
		}
	}
	for table, want := range map[string]float64{"persons": 200, "visits": 0} {
		a, err := query.Query(t.Context(), place, query.Question{Table: table, By: []string{"region"}})
		if err != nil {
			t.Fatal(err)
		}
		if a.From != table || want > 0 && math.Abs(a.Rows[0].Unbiased-want) > 2 {
			t.Errorf("asked of %s: %+v", table, a)
		}
	}
	if a, err := query.Query(t.Context(), place, query.Question{By: []string{"ward"}}); err != nil ||
		a.From != "visits" {
		t.Errorf("asked by ward: %+v, %v", a, err)
	}
	for q, says := range map[string]query.Question{
		"tables persons and visits have these columns: say with --table whose rows are to be counted": {
			By: []string{"region"}},
		`there is no confidential table "visit"; did you mean "visits"?`: {Table: "visit",
			By: []string{"region"}},
		`there is no column "ward"; there is sex, region`: {Table: "persons",
			By: []string{"ward"}},
	} {
		if _, err := query.Query(t.Context(), place, says); err == nil || !strings.Contains(err.Error(), q) {
			t.Errorf("%+v: %v", says, err)
		}
	}
	opt.Out = filepath.Join(o.Dir, "inside")
	if err := os.Mkdir(opt.Out, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
		t.Errorf("compared with the truth: %v", err)
	}
	if _, err := Rehearse(t.Context(), o.Plan, 100, optionsOf(o, "rehearsal")); err != nil {
		t.Errorf("rehearsed: %v", err)
	}
}

// TestTwoTablesResume cuts a run off after its debit, and wants the same noise of both tables; with one of the tables
// changed it is refused.
func TestTwoTablesResume(t *testing.T) {
	o := careOffice(t, "1")
	opt := optionsOf(o, "out")
	drawn := crashAfterDebit(t, o, opt)
	path := filepath.Join(o.Dir, "visits.csv")
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(was), "0,1000,a,n,30\n", "0,1000,b,n,30\n", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o.Plan, opt); err == nil {
		t.Error("another table of visits was taken")
	}
	if err := os.WriteFile(path, was, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits", n)
	}
	v, _ := sealedOf(t, r.Folder)
	for _, m := range v.Measured {
		if want, is := drawn[m.Measurement.ID]; is && m.Values != nil && !slices.Equal(m.Values.Int64Values(), want) {
			t.Errorf("measurement %s was drawn anew", m.Measurement.ID)
		}
	}
}

// TestBreachesInTheSecondTableAreFoundBeforeTheDebit: the first table is read by then, and nothing is spent.
func TestBreachesInTheSecondTableAreFoundBeforeTheDebit(t *testing.T) {
	o := careOffice(t, "1")
	f, err := os.OpenFile(filepath.Join(o.Dir, "visits.csv"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("0,7,z,n,1\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	_, err = Run(t.Context(), o.Plan, optionsOf(o, "out"))
	var breach *scan.ContractError
	if !errors.As(err, &breach) || breach.Table != "visits" || breach.Column != "ward" {
		t.Errorf("got %v", err)
	}
	if n := o.Debits(t); n != 0 {
		t.Errorf("%d debits", n)
	}
}

// TestLossOfTwoTablesIsAddedUp: the charge is that of all measurements of both, and an attribute's that of every table
// that has it.
func TestLossOfTwoTablesIsAddedUp(t *testing.T) {
	p := careOffice(t, "1").Plan
	l, err := describe.StatedLoss(p)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]int{}
	for _, one := range l.Attributes {
		tables[one.Of] = one.Tables
	}
	for name, want := range map[string]int{"region": 3, "sex": 1, "ward": 2} { // people, wards and microdata
		if tables[name] != want {
			t.Errorf("%s is in %d tables, want %d", name, tables[name], want)
		}
	}
	if g := p.Guarantee; g.MaxRows != 4 || len(g.Rows) != 2 ||
		g.Rows[1] != (plan.UnitRows{Table: "visits", ID: "person", MaxRows: 3}) || g.WithoutID != plan.LeftOut {
		b, _ := json.Marshal(g)
		t.Errorf("guarantee %s", b)
	}
}
