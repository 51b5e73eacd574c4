package release

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/parquet-go/parquet-go"
)

// This file holds releases of microdata of households and of the persons in them.

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

// checkHomes checks that households are numbered from 1 on and have as many persons as they state, and returns how
// many persons go with the tenure of their household as in the data.
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
			t.Fatalf("household %d of %d has the number %d and %d members, of whom there are %d", i+1, len(homes),
				r[0].Int64(),
				r[4].Int64(), living[i])
		}
	}
	return len(homes), len(people), right
}

// A whole release of two linked tables, from its spec to what verifies, by either method of parent and child: persons
// are in households that have as many as they say, and go with them as they do in the data.
func TestLinkedMicrodataFromEndToEnd(t *testing.T) {
	for _, method := range [][2]string{{"mst", "aim"}, {"aim", "aim"}} { // the tests below have mst of the child
		o := releasetest.Of(t, releasetest.Homes(method[0], method[1]))
		result, err := Run(t.Context(), o.Plan, optionsOf(o, "out"))
		if err != nil {
			t.Fatal(err)
		}
		assertVerifies(t, result.Folder, verify.Options{})
		// 600 households and 900 persons. Noise has a σ below 3 a cell here, of at most 8 in a pair: 100 are beyond
		// what it does.
		households, persons, right := checkHomes(t, result.Folder)
		if households < 500 || households > 700 || persons < 750 || persons > 1050 || right < persons*9/10 {
			t.Errorf("%s: %d households with %d persons, of whom %d are as they are", method, households, persons,
				right)
		}
		for _, name := range []string{"report.md", "README.txt", "report.html"} {
			text, err := os.ReadFile(filepath.Join(result.Folder, name))
			if flat := strings.Join(strings.Fields(string(text)), " "); err != nil ||
				!strings.Contains(flat, "Each row belongs to one row of the microdata of households: the one with "+
					"the same number in column hh. Column members of that table says how many rows belong to each of its rows.") {
				t.Errorf("%s does not say how many rows there are (%v)", name, err)
			} else if name == "README.txt" &&
				!strings.Contains(flat, `FROM 'microdata/persons.parquet' JOIN 'microdata/households.parquet' USING ("hh");`) {
				t.Errorf("%s does not say how the files join", name)
			} else if name != "README.txt" &&
				!strings.Contains(flat, "Rows of persons are left out if their household has no row in households "+
					"that is counted") {
				t.Errorf("%s does not say that rows without a parent row bias the tables", name)
			}
		}
	}
}

// Publishing gives the same bytes however many processors work at it.
func TestLinkedMicrodataDoNotDependOnProcessors(t *testing.T) {
	sameOnProcessors(t, releasetest.Of(t, releasetest.Homes("mst", "aim, ways: 2")), 1, 8)
}

// A run that is killed in the rounds of a child, or after them, resumes to the same bytes.
func TestRoundsOfChildrenResume(t *testing.T) {
	o := releasetest.Of(t, releasetest.Homes("mst", "aim, ways: 2"))
	opt := optionsOf(o, "out")
	crashAfterRounds(t, o, opt)
	text, err := os.ReadFile(statePathOf(t, o, opt, state.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	crashed := o.Copied(t)
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	sealed, published := releasetest.Contents(t, MeasuredFolder(opt.Out, "trips")),
		releasetest.Contents(t, filepath.Join(opt.Out, "trips"))
	if sealed["rounds/persons.json"] == "" || bytes.Count(text, []byte("\n")) < 20 {
		t.Fatalf("persons have no rounds, or the journal few lines: %q", text)
	}
	for i, cut := range []int{len(text) / 2, len(text)} {
		again := crashed.Copied(t)
		if err := os.Truncate(statePathOf(t, again, optionsOf(again, "out"), state.JournalFile),
			int64(cut)); err != nil {
			t.Fatal(err)
		}
		finishedAlike(t, again, sealed, []map[string]string{nil, published}[i])
	}
}

func TestLinkedMicrodataAreRehearsed(t *testing.T) {
	o := releasetest.Of(t, releasetest.Homes("aim", "mst"))
	place, err := Rehearse(t.Context(), o.Plan, 300, optionsOf(o, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if v := assertVerifies(t, place, verify.Options{}); v.Marked != published.RehearsalStatus {
		t.Errorf("marked %q", v.Marked)
	}
	checkHomes(t, place)
}

// Another number of households has other persons; of persons none can be asked for.
func TestRowsOfChildrenFollowThoseOfTheirParents(t *testing.T) {
	o := releasetest.Of(t, releasetest.Homes("mst", "mst"))
	opt := optionsOf(o, "out")
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	sealed := MeasuredFolder(opt.Out, "trips")
	opt.Rows = []string{"persons=40"}
	_, err := Publish(t.Context(), sealed, opt)
	wantsCode(t, "persons", err, verdict.ExitSpec,
		"there are as many rows of persons as the rows of households say: leave that out, and ask for rows of "+
			"households by --rows households=N")
	opt.Rows = []string{"households=40"}
	result, err := Publish(t.Context(), sealed, opt)
	if err != nil {
		t.Fatal(err)
	}
	if households, persons, _ := checkHomes(t, result.Folder); households != 40 || persons < 40 || persons > 80 {
		t.Errorf("%d households with %d persons", households, persons)
	}
	assertVerifies(t, result.Folder, verify.Options{})
	if m, err := published.ReadManifest(result.Folder); err != nil ||
		!maps.Equal(m.Rows, published.RequestedRows{"households": 40}) {
		t.Errorf("the manifest says %v (%v)", m.Rows, err)
	}
}
