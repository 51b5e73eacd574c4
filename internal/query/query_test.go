package query

import (
	"encoding/csv"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
)

// querySpec has a column with levels of uneven groups, and a budget to fill in.
const querySpec = `version: 1
release: NAME
privacy: {protects: trip, neighbours: add-remove}
budget: BUDGET
tables:
  t: {source: {csv: t.csv}, unit: row, columns: {
    mode: {values: [walk, ride, "by car, or van"]},
    age: {type: integer, range: [0, 59], levels: {ten: {width: 10}, twenty: {width: 20}, edges: {edges: [0, 10, 40]}}},
    side: {values: [n, s]}, day: {values: [mon, tue]}}}
marginals:
  ages: {by: [age.ten, mode]}
  wide: {by: [age.twenty, mode, side]}
`

// publishQueried publishes a release of querySpec on a practice account.
func publishQueried(t *testing.T, budget string) string {
	t.Helper()
	return publishedtest.Ages(t, querySpec, budget)
}

// publishedSum returns the sum of the published unbiased figures of the rows whose keys are accepted, and their number.
func publishedSum(t *testing.T, place string, path string, accept func(keys map[string]string) bool) (sum float64,
	cells int) {
	t.Helper()
	e, err := published.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(e.Plan.Tables, func(pt plan.Table) bool { return pt.Path == path })
	for at := range e.Plan.Tables[i].Cells {
		row, columns, err := releasetest.Row(filepath.Join(place, "tables", path+".parquet"), at)
		if err != nil {
			t.Fatal(err)
		}
		keys := map[string]string{}
		for _, by := range e.Plan.Tables[i].By {
			keys[by] = row[columns[by]].String()
		}
		if accept(keys) {
			sum += published.Number(row[columns["count_unbiased"]])
			cells++
		}
	}
	return sum, cells
}

// TestQueriesAndTraces publishes releases with both kinds of noise and asks them everything.
func TestQueriesAndTraces(t *testing.T) {
	for _, budget := range []string{"{rho: 1/2}", "{epsilon: 2}"} {
		t.Run(budget, func(t *testing.T) {
			place := publishQueried(t, budget)
			answersAreSumsOfPublishedCells(t, place, false)
			answersOfCellsAreThePublishedOnes(t, place)
			tracesAddUpToThePublishedNumber(t, place)
			unanswerableQuestionsAreRefused(t, place)
			if budget == "{epsilon: 2}" {
				answersAreWritten(t, place)
				alteredReleasesAreNotRead(t, place)
			}
		})
	}
}

// TestSumsOfOneMeasurementHaveTheExactLaw: if only one measurement contributes to a table, sums of its cells are whole
// numbers.
func TestSumsOfOneMeasurementHaveTheExactLaw(t *testing.T) {
	alone, _, _ := strings.Cut(querySpec, "  wide:")
	for _, budget := range []string{"{rho: 1/2}", "{epsilon: 2}"} {
		place := publishedtest.Ages(t, alone, budget)
		answersAreSumsOfPublishedCells(t, place, true)
		answersOfCellsAreThePublishedOnes(t, place)
	}
}

// answersAreSumsOfPublishedCells asks at levels that no table has.
func answersAreSumsOfPublishedCells(t *testing.T, place string, whole bool) {
	t.Helper()
	a, err := Query(t.Context(), place,
		Question{By: []string{"mode", "age.edges"}, Where: []string{"age.edges=10–39,40+"}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Table != "ages" || len(a.Rows) != 6 {
		t.Fatalf("%d rows from table %s", len(a.Rows), a.Table)
	}
	tens := map[string][]string{"10–39": {"10–19", "20–29", "30–39"}, "40+": {"40–49", "50–59"}}
	for _, r := range a.Rows {
		want, cells := publishedSum(t, place, "ages", func(keys map[string]string) bool {
			return keys["mode"] == r.Keys[0] && slices.Contains(tens[r.Keys[1]], keys["age.ten"])
		})
		if cells != r.Cells || math.Abs(want-r.Unbiased) > 1e-7 {
			t.Errorf("%v: %v of %d cells, the table has %v of %d", r.Keys, r.Unbiased, r.Cells, want, cells)
		}
		if !(r.Low < r.Unbiased && r.Unbiased < r.High) || r.Attained < 0.949 || !(r.StandardError > 0) {
			t.Errorf("%v: %+v", r.Keys, r)
		}
	}
	if exact := a.Rows[0].Law == interval.Exact; exact != whole {
		t.Errorf("law %s", a.Rows[0].Law)
	}
}

// answersOfCellsAreThePublishedOnes asks for every cell of every table.
func answersOfCellsAreThePublishedOnes(t *testing.T, place string) {
	t.Helper()
	e, err := published.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	for _, pt := range e.Plan.Tables {
		a, err := Query(t.Context(), place, Question{By: pt.By})
		if err != nil {
			t.Fatal(err)
		}
		if a.Table != pt.Path || int64(len(a.Rows)) != pt.Cells {
			t.Fatalf("table %s: %d rows from table %s", pt.Path, len(a.Rows), a.Table)
		}
		for i, r := range a.Rows {
			row, columns, err := releasetest.Row(filepath.Join(place, "tables", pt.Path+".parquet"), int64(i))
			if err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]float64{"_unbiased": r.Unbiased, "_noise_se": r.StandardError,
				"_low":  r.Low,
				"_high": r.High} {
				if want := published.Number(row[columns["count"+name]]); math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
					t.Errorf("table %s, row %d: count%s is %v, published %v", pt.Path, i, name, got, want)
				}
			}
		}
	}
}

// tracesAddUpToThePublishedNumber traces every cell of every table.
func tracesAddUpToThePublishedNumber(t *testing.T, place string) {
	t.Helper()
	e, err := published.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	for _, pt := range e.Plan.Tables {
		a, err := Query(t.Context(), place, Question{By: pt.By})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Rows {
			var cell []string
			for i, by := range pt.By {
				cell = append(cell, by+"="+r.Keys[i])
			}
			trace, err := trace.Cell(t.Context(), place, "tables/"+pt.Path+".parquet",
				[]string{strings.Join(cell, ",")})
			if err != nil {
				t.Fatal(err)
			}
			var sum, share, variance float64
			for _, o := range trace.Contributions {
				sum += o.Sum
				share += o.Share
				for _, w := range o.Weights {
					variance += w.Value * w.Value * float64(w.Integers) * o.Mechanism.Variance()
				}
			}
			if math.Abs(sum-trace.Unbiased) > 1e-8*(1+math.Abs(sum)) || trace.Unbiased != r.Unbiased &&
				math.Abs(trace.Unbiased-r.Unbiased) > 1e-8 {
				t.Errorf("%s %v: the measurements bring %v, published %v", pt.Path, cell, sum, trace.Unbiased)
			}
			if math.Abs(share-1) > 1e-12 ||
				math.Abs(math.Sqrt(variance)-trace.StandardError) > 1e-9*trace.StandardError {
				t.Errorf("%s %v: shares add up to %v, weights give an error of %v, published %v", pt.Path, cell, share,
					math.Sqrt(variance), trace.StandardError)
			}
		}
	}
}

// unanswerableQuestionsAreRefused checks that each error says what to ask instead.
func unanswerableQuestionsAreRefused(t *testing.T, place string) {
	t.Helper()
	for want, q := range map[string]Question{
		`there is no column "mod"; did you mean "mode"?`:                 {By: []string{"mod"}},
		`there is no attribute "age.tem"; did you mean "age.ten"?`:       {By: []string{"age.tem"}},
		`there is no attribute "age."`:                                   {By: []string{"age."}},
		`there is no category of mode "rides"; did you mean "ride"?`:     {Where: []string{"mode=walk,rides"}},
		`there is no category of age.ten "10-18"; did you mean "10–19"?`: {Where: []string{"age.ten=10-18"}},
		`there is no category of mode "rides"; did you mean`:             {Where: []string{"mode=walk..rides"}},
		`give each condition by its own: --where mode=walk,ride --where age.ten=10–19`: {
			Where: []string{"mode=walk,ride,age.ten=10–19"}},
		`there is no category of mode "colour=red"`: {
			Where: []string{"mode=walk,colour=red"}},
		`there is no category of age "60"`:                                   {Where: []string{"age=60..70"}},
		`range "9..3" of age runs backwards: 3 comes before 9, so give 3..9`: {Where: []string{"age=9..3"}},
		`expected attribute=code, such as mode=walk`:                         {Where: []string{"mode"}},
		`column age is asked for twice`: {By: []string{"age.ten",
			"age.twenty"}},
		`age: no category meets all conditions`: {Where: []string{"age.ten=10–19",
			"age.twenty=40–59"}},
		"Nearest:\n  ages: categories of age.ten lie across": {By: []string{"age"},
			Where: []string{"mode=walk"}},
		"Nearest:\n  wide: categories of age.twenty lie across":      {By: []string{"age.ten", "side"}},
		`there is no column "colour"; there is mode, age, side, day`: {By: []string{"colour"}},
		"Nearest:\n  ages: has no day\n  wide: has no day":           {By: []string{"day", "mode"}},
	} {
		_, err := Query(t.Context(), place, q)
		var refused *verdict.Unusable
		if !errors.As(err, &refused) || !strings.Contains(err.Error()+"\n", want) {
			t.Errorf("%+v: %v, expected %s", q, err, want)
		}
	}
	for want, cell := range map[string][]string{
		`cell: mode is missing: table ages has a number for each of age.ten × mode`:  {"age.ten=10–19"},
		`there is no key of table ages "mod"; did you mean "mode"?`:                  {"age.ten=10–19,mod=walk"},
		`cell: mode is given twice`:                                                  {"mode=walk", "mode=walk"},
		`expected attribute=code`:                                                    {"walk"},
		`there is no category of mode "by car"; there is walk, ride, by car, or van`: {"age.ten=10–19,mode=by car"},
	} {
		if _, err := trace.Cell(t.Context(), place, "ages", cell); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("cell %v: %v, expected %s", cell, err, want)
		}
	}
	if _, err := trace.Cell(t.Context(), place, "agse", nil); err == nil ||
		!strings.Contains(err.Error(), `there is no table "agse"; did you mean "ages"?`) {
		t.Errorf("table: %v", err)
	}
	if a, err := Query(t.Context(), place, Question{Where: []string{"mode=by car, or van"}}); err != nil ||
		a.Rows[0].Cells == 0 {
		t.Errorf("a code with a comma: %v", err)
	}
	if trace, err := trace.Cell(t.Context(), place, "ages",
		[]string{"mode=by car, or van,age.ten=10–19"}); err != nil ||
		trace.Cell[1].Code != "by car, or van" {
		t.Errorf("a code with a comma: %v", err)
	}
}

// alteredReleasesAreNotRead changes one byte of a measurement.
func alteredReleasesAreNotRead(t *testing.T, place string) {
	t.Helper()
	e, err := published.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(place, "measurements", e.Plan.Measurements[0].ID+".parquet")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Query(t.Context(), place, Question{By: []string{"mode"}})
	if ending.Of(err).Exit != verdict.ExitVerify {
		t.Errorf("query: %v", err)
	}
	_, err = trace.Cell(t.Context(), place, "ages", []string{"age.ten=10–19,mode=walk"})
	if ending.Of(err).Exit != verdict.ExitVerify {
		t.Errorf("trace: %v", err)
	}
}

// answersAreWritten reads back what is printed.
func answersAreWritten(t *testing.T, place string) {
	t.Helper()
	a, err := Query(t.Context(), place, Question{By: []string{"age.twenty"}, Where: []string{"mode=walk"}})
	if err != nil {
		t.Fatal(err)
	}
	var text, table strings.Builder
	if err := errors.Join(a.Write(&text), a.CSV(&table)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		published.PracticeStatus, "r: count of rows of t by age.twenty, where mode = walk",
		"standard error   95% interval",
		"From table ages, 2 cells a figure; noise of 2 measurements, combined by least squares (ages, wide).",
		"1 other table estimated from the same measurements would give the same answer.",
		"by the law of the weighted noise",
		"sampling and response error not included",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil || len(rows) != 4 || rows[0][1] != "count_unbiased" || rows[2][0] != "20–39" ||
		rows[1][5] != "bounded" {
		t.Fatalf("%v %v", rows, err)
	}
	if v, err := strconv.ParseFloat(rows[3][1], 64); err != nil || v != a.Rows[2].Unbiased {
		t.Errorf("%s, expected %v", rows[3][1], a.Rows[2].Unbiased)
	}
}

// TestRangesOfCategories asks for ranges by their ends: the figure is the same as with all of their codes.
func TestRangesOfCategories(t *testing.T) {
	spec := strings.Replace(querySpec, "[mon, tue]", `[mon, a, b, c, a..c, "c,d", e..f, e]`, 1) +
		"  days: {by: [day, age]}\n"
	place := publishedtest.Ages(t, spec, "{epsilon: 2}")
	for where, want := range map[string]struct {
		codes []string
		says  string
	}{
		"age.ten=10–19..30–39":      {[]string{"10–19", "20–29", "30–39"}, "age.ten = 10–19..30–39"},
		"age=7..7":                  {[]string{"7"}, "age = 7..7"},
		"age=18..21,3,40..41":       {[]string{"18", "19", "20", "21", "3", "40", "41"}, "age = 18..21 or 3 or 40..41"},
		"day=a..c":                  {[]string{"a..c"}, "day = a..c"},
		"day=b..a..c":               {[]string{"b", "c", "a..c"}, "day = b..a..c"},
		"day=c..c,d":                {[]string{"c", "a..c", "c,d"}, "day = c..c,d"},
		"day=e..f..e":               {[]string{"e..f", "e"}, "day = e..f..e"},
		"mode=walk..by car, or van": {[]string{"walk", "ride", "by car, or van"}, "mode = walk..by car, or van"},
	} {
		got, err := Query(t.Context(), place, Question{Where: []string{where}})
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if !slices.Equal(got.Where[0].Codes, want.codes) || got.Where[0].String() != want.says {
			t.Errorf("%s: %s, of codes %q", where, got.Where[0], got.Where[0].Codes)
		}
	}
	by, err := Query(t.Context(), place, Question{Where: []string{"age=18..21"}})
	if err != nil {
		t.Fatal(err)
	}
	each, err := Query(t.Context(), place, Question{Where: []string{"age=18,19,20,21"}})
	if err != nil || by.Rows[0].Cells != each.Rows[0].Cells || by.Rows[0].Unbiased != each.Rows[0].Unbiased ||
		by.Rows[0].Low != each.Rows[0].Low {
		t.Errorf("%+v, by its ends %+v (%v)", each, by, err)
	}
}

// A hyphen stands for the dash of a label unless it is a code itself, or could be one of two.
func TestAHyphenStandsForADash(t *testing.T) {
	codes := []string{"0–14", "15–29", "a-b", "a–b", "x–y-z", "x-y–z"}
	for text, want := range map[string]int{"0-14": 0, "15–29": 1, "15-29": 1, "a-b": 2, "a–b": 3, "x-y-z": -1,
		"30-44": -1} {
		if got := indexOf(codes, text); got != want {
			t.Errorf("%q is code %d, want %d", text, got, want)
		}
	}
	if from, to, ok := rangeOf(codes, "0-14..15-29"); !ok || from != 0 || to != 1 {
		t.Errorf("a range of hyphens is %d to %d, %v", from, to, ok)
	}
}
