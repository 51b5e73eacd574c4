package release

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/parquet-go/parquet-go"
)

// This file holds releases of microdata of households and of the persons in them.

const homesSpec = `version: 1
release: trips
privacy: {protects: household, neighbours: add-remove, account: trips}
budget: {rho: 40, split: {tables: 1/10, homes: 4/10, people: 5/10}}
tables:
  persons: {source: {csv: p.csv}, unit: {id: hh, max_rows: 3}, columns: {age: {type: integer, range: [0, 3]}, sex: {values: [f, m]}}}
  households: {source: {csv: h.csv}, unit: {id: hh, max_rows: 1}, columns: {area: {values: [x, y]}, tenure: {codebook: tenures.csv}, half: {derived_from: area}}}
marginals: {sexes: {table: persons, by: [sex], budget: tables}}
synthetic: {persons: {budget: people, parent: households, size: members, method: CHILD}, households: {budget: homes, method: PARENT}}
`

const homesPolicy = "account: trips\nprotects: household\nneighbours: add-remove\ncap: {rho: 400}\n"

// homesFiles are 600 households, of which tenants are two women of an age of 0 or 1 and owners a man of 2 or 3, and one
// person of no household.
func homesFiles(parent, child string) map[string]string {
	h, p := "hh,area,tenure\n", "hh,age,sex\nh999,0,m\n"
	for i := range 600 {
		h += fmt.Sprintf("h%d,%s,%s\n", i, []string{"x", "y"}[i%2], []string{"r", "o"}[i/2%2])
		for j := range []int{2, 1}[i/2%2] {
			p += fmt.Sprintf("h%d,%d,%s\n", i, 2*(i/2%2)+(i+j)/4%2, []string{"f", "m"}[i/2%2])
		}
	}
	return map[string]string{
		"release.yaml": strings.NewReplacer("PARENT", parent, "CHILD", child).Replace(homesSpec), "policy.yaml": homesPolicy, "h.csv": h, "p.csv": p, "tenures.csv": "code,label\nr,Rented\no,Owned\n",
	}
}

// rowsOf reads a published file of microdata: its columns and its rows.
func rowsOf(t *testing.T, place, table string) (names []string, rows []parquet.Row) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(place, "microdata", table+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Schema().Columns() {
		names = append(names, c[0])
	}
	err = published.EachRow(f, func(r parquet.Row) error {
		rows = append(rows, r.Clone())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names, rows
}

// checkHomes holds that households are numbered from 1 on and have as many persons as they say, and returns how many of
// these go with the tenure of their household as in the data.
func checkHomes(t *testing.T, place string) (households, persons, right int) {
	t.Helper()
	names, homes := rowsOf(t, place, "households")
	if want := []string{"hh", "area", "tenure", "tenure_label", "members", "half"}; !slices.Equal(names, want) {
		t.Fatalf("columns of households are %v, expected %v", names, want)
	}
	names, people := rowsOf(t, place, "persons")
	if want := []string{"hh", "age", "sex"}; !slices.Equal(names, want) {
		t.Fatalf("columns of persons are %v, expected %v", names, want)
	}
	living := make([]int64, len(homes))
	for _, r := range people {
		hh := r[0].Int64()
		if hh < 1 || int(hh) > len(homes) {
			t.Fatalf("a person of household %d", hh)
		}
		living[hh-1]++
		tenant, woman := homes[hh-1][2].String() == "r", r[2].String() == "f"
		if young := r[1].Int64() < 2; tenant == woman && woman == young {
			right++
		}
	}
	for i, r := range homes {
		if r[0].Int64() != int64(i+1) || r[4].Int64() != living[i] {
			t.Fatalf("household %d of %d has the number %d and %d members, of whom there are %d", i+1, len(homes), r[0].Int64(), r[4].Int64(), living[i])
		}
	}
	return len(homes), len(people), right
}

// A whole release of two linked tables, from its spec to what verifies, by either method of parent and child: persons are in
// households that have as many as they say, and go with them as they do in the data.
func TestLinkedMicrodataFromEndToEnd(t *testing.T) {
	for _, method := range [][2]string{{"mst", "aim"}, {"aim", "aim"}} { // the tests below have mst of the child
		o := officeOf(t, homesFiles(method[0], method[1]))
		result, err := Run(t.Context(), o.plan, o.options("out"))
		if err != nil {
			t.Fatal(err)
		}
		verifies(t, result.Place, VerifyOptions{})
		// 600 households and 900 persons. Noise has a σ below 3 a cell here, of at most 8 in a pair: 100 are beyond what it does.
		households, persons, right := checkHomes(t, result.Place)
		if households < 500 || households > 700 || persons < 750 || persons > 1050 || right < persons*9/10 {
			t.Errorf("%s: %d households with %d persons, of whom %d are as they are", method, households, persons, right)
		}
		for _, name := range []string{"report.md", "README.txt", "report.html"} {
			text, err := os.ReadFile(filepath.Join(result.Place, name))
			if flat := strings.Join(strings.Fields(string(text)), " "); err != nil || !strings.Contains(flat, "Each row belongs to one row of the microdata of households, that with the same number in column hh. Column members there says how many it has: so many rows there are") {
				t.Errorf("%s does not say how many rows there are (%v)", name, err)
			} else if name == "README.txt" && !strings.Contains(flat, `FROM 'microdata/persons.parquet' JOIN 'microdata/households.parquet' USING ("hh");`) {
				t.Errorf("%s does not say how the files join", name)
			} else if name != "README.txt" && !strings.Contains(flat, "Rows of persons are left out whose household has no row in households that is counted") {
				t.Errorf("%s does not say that rows without a parent row bias the tables", name)
			}
		}
	}
}

// Publishing gives the same bytes however many processors work at it.
func TestLinkedMicrodataDoNotDependOnProcessors(t *testing.T) {
	sameOnProcessors(t, officeOf(t, homesFiles("mst", "aim, ways: 2")), 1, 8)
}

// A run that is killed in the rounds of a child, or after them, resumes to the same bytes.
func TestRoundsOfChildrenResume(t *testing.T) {
	o := officeOf(t, homesFiles("mst", "aim, ways: 2"))
	opt := o.options("out")
	crashAfterRounds(t, o, opt)
	text, err := os.ReadFile(o.statePath(t, opt, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	crashed := o.copied(t)
	if _, err := Run(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	sealed, published := contents(t, MeasuredFolder(opt.Out, "trips")), contents(t, filepath.Join(opt.Out, "trips"))
	if sealed["rounds/persons.json"] == "" || bytes.Count(text, []byte("\n")) < 20 {
		t.Fatalf("persons have no rounds, or the journal few lines: %q", text)
	}
	for i, cut := range []int{len(text) / 2, len(text)} {
		again := crashed.copied(t)
		if err := os.Truncate(again.statePath(t, again.options("out"), journalFile), int64(cut)); err != nil {
			t.Fatal(err)
		}
		finishedAlike(t, again, sealed, []map[string]string{nil, published}[i])
	}
}

func TestLinkedMicrodataAreRehearsed(t *testing.T) {
	o := officeOf(t, homesFiles("aim", "mst"))
	place, err := Rehearse(t.Context(), o.plan, 300, o.options("out"))
	if err != nil {
		t.Fatal(err)
	}
	if v := verifies(t, place, VerifyOptions{}); v.Marked != published.RehearsalStatus {
		t.Errorf("marked %q", v.Marked)
	}
	checkHomes(t, place)
}

// Another number of households has other persons; of persons none can be asked for.
func TestRowsOfChildrenFollowThoseOfTheirParents(t *testing.T) {
	o := officeOf(t, homesFiles("mst", "mst"))
	opt := o.options("out")
	if _, err := Measure(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	sealed := MeasuredFolder(opt.Out, "trips")
	opt.Rows = []string{"persons=40"}
	_, err := Publish(t.Context(), sealed, opt)
	wantsCode(t, "persons", err, verdict.ExitSpec, "there are as many rows of persons as the rows of households say: leave that out, and ask for rows of households by --rows households=N")
	opt.Rows = []string{"households=40"}
	result, err := Publish(t.Context(), sealed, opt)
	if err != nil {
		t.Fatal(err)
	}
	if households, persons, _ := checkHomes(t, result.Place); households != 40 || persons < 40 || persons > 80 {
		t.Errorf("%d households with %d persons", households, persons)
	}
	verifies(t, result.Place, VerifyOptions{})
	if m, err := published.ReadManifest(result.Place); err != nil || !maps.Equal(m.Rows, published.RowsAsked{"households": 40}) {
		t.Errorf("the manifest says %v (%v)", m.Rows, err)
	}
}

// Persons are evaluated with the columns of their households, as the data join them.
func TestEvaluateLinkedMicrodata(t *testing.T) {
	o := officeOf(t, homesFiles("mst", "mst"))
	result, err := Run(t.Context(), o.plan, o.options("out"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := published.Open(result.Place)
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := readMicrodata(e, e.Plan.Synthetic[1])
	if err != nil {
		t.Fatal(err)
	}
	if len(rows.By) != 5 || rows.By[4].String() != "households.members" || len(rows.Codes[4]) != len(rows.Codes[0]) {
		t.Fatalf("%v by %v", len(rows.Codes), rows.By)
	}
	to := filepath.Join(o.dir, "inside")
	opt := o.options("out")
	opt.Out = to
	if _, err := Evaluate(t.Context(), o.plan, result.Place, opt); err != nil {
		t.Fatal(err)
	}
	var page struct {
		Microdata []struct {
			Table    string `json:"table"`
			TrueRows int64  `json:"true_rows"`
			Pairwise []struct {
				Columns []string `json:"columns"`
				Truth   *float64 `json:"truth"`
				Drawn   *float64 `json:"microdata"`
			} `json:"pairwise"`
		} `json:"microdata"`
	}
	b, err := os.ReadFile(filepath.Join(to, EvaluationJSON))
	if err == nil {
		err = json.Unmarshal(b, &page)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Microdata) != 2 || page.Microdata[1].Table != "persons" || page.Microdata[1].TrueRows != 900 || page.Microdata[0].TrueRows != 600 {
		t.Fatalf("%+v", page.Microdata)
	}
	for _, p := range page.Microdata[1].Pairwise {
		if strings.Join(p.Columns, " ") == "sex households.tenure" {
			if p.Truth == nil || p.Drawn == nil || *p.Truth < 0.999 || *p.Drawn < 0.8 {
				t.Errorf("sex and tenure go together by %v, and in the truth by %v", *p.Drawn, *p.Truth)
			}
			return
		}
	}
	t.Errorf("sex and tenure are not compared: %+v", page.Microdata[1].Pairwise)
}
