package respondent

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// ofBands asks one question whose categories are added up, in bands, and another one.
const ofBands = `version: 1
release: survey
about: {title: A survey}
privacy: {protects: respondent, neighbours: replace}
collect: {answers: {protocol: local, epsilon: 1, expect: 20000}}
tables:
  answers:
    source: {parquet: "*.parquet"}
    collected: answers
    columns:
      group: {values: [a, b]}
      age: {type: integer, range: [0, 18]}
      used: {values: ["no", "yes"]}
marginals:
  ages: {by: [group, age], SUMS: [age]}
  used: {by: [used]}
`

// respond has so many devices respond to a collector, writes their reports to a file, and returns them.
func respond(t *testing.T, asked *client.Collector, dir string, devices int) (sent []client.Report) {
	t.Helper()
	for i := range devices {
		answers := map[string]string{"group": []string{"a", "b"}[i%2], "age": fmt.Sprint(i * i % 19), "used": "no"}
		reports, err := asked.Respond(answers, &client.Memo{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, reports...)
	}
	writeReports(t, filepath.Join(dir, "reports.parquet"), sent, false)
	return sent
}

// TestReportsInBandsAreCounted has devices respond, and compares what is counted with what their reports hold, one by
// one: the forms of a question follow each other. Then it compares the table with sums of its cells.
func TestReportsInBandsAreCounted(t *testing.T) {
	for _, sums := range []string{"ranges", "cumulative"} {
		t.Run(sums, func(t *testing.T) {
			c := compiledOf(t, strings.Replace(ofBands, "SUMS", sums, 1))
			asked, dir := collectorOf(t, c.Plan()), t.TempDir()
			if len(asked.Questions) < 4 || asked.Asks != client.One {
				t.Fatalf("%d questions, asked %s", len(asked.Questions), asked.Asks)
			}
			sent := respond(t, asked, dir, 2000)
			counted, err := Count(t.Context(), c.Plan(), dir, 0)
			if err != nil {
				t.Fatal(err)
			}
			want, kept := map[string][]int64{}, map[string]int64{}
			for _, q := range asked.Questions {
				table, _, _ := strings.Cut(q.Name, "/")
				supports := make([]int64, q.Categories)
				for _, r := range sent {
					if r.Question == q.Name {
						kept[table]++
						for v := range supports {
							supports[v] += int64(r.Bytes[v/8] >> (v % 8) & 1)
						}
					}
				}
				want[table] = append(want[table], supports...)
			}
			for i, m := range counted {
				id := m.Measurement.ID
				if !slices.Equal(m.Values.Int64Values(), want[id]) || m.Reports.Kept != kept[id] ||
					int64(m.Values.Len()) != c.Measurements[i].Cells {
					t.Errorf("%s: %v of %d reports, want %v of %d", id, m.Values, m.Reports.Kept, want[id], kept[id])
				}
			}
			checkTableOfBands(t, c, counted, sums == "cumulative")
		})
	}
}

// checkTableOfBands compares the cells of the table of ages with sums of its cells.
func checkTableOfBands(t *testing.T, c *compiled.Compiled, counted []measured.Measured, up bool) {
	t.Helper()
	tables, err := synth.Estimate(&measured.Sealed{Plan: c, Measured: counted})
	if err != nil {
		t.Fatal(err)
	}
	st := tables[0].Statistics[0]
	for cell := range 2 * 19 {
		groups, ages := make([]int, 2), make([]int, 19)
		for i := range groups {
			groups[i] = -1
		}
		groups[cell/19] = 0
		for i := range ages {
			if ages[i] = -1; i == cell%19 || up && i < cell%19 {
				ages[i] = 0
			}
		}
		sum := synth.ReportSums(c.Plan(), counted, 0,
			[]synth.Grouping{{RowOf: groups, Rows: 1}, {RowOf: ages, Rows: 1}}, 0.95)[0]
		if sum.Unbiased != st.Unbiased.Value(cell) || sum.Low != st.Low.Value(cell) ||
			sum.High != st.High.Value(cell) ||
			sum.Error != st.Error.Value(cell) {
			t.Errorf("cell %d: %+v, in the table %g", cell, sum, st.Unbiased.Value(cell))
		}
		// the number itself varies where it is drawn, or follows a pattern
		want := float64(tables[0].Respondents) / (2 * 19) * float64(sum.Cells)
		if off := math.Abs(sum.Unbiased - want); off > 6.4*sum.Error+3*math.Sqrt(want) {
			t.Errorf("cell %d: %g, want %g, with a standard error of %g", cell, sum.Unbiased, want, sum.Error)
		}
	}
}

// TestABandWithoutReports removes all reports to one form of a question: the others are put together. Without any
// report of single categories nothing can be estimated.
func TestABandWithoutReports(t *testing.T) {
	c := compiledOf(t, strings.Replace(ofBands, "SUMS", "ranges", 1))
	asked, dir := collectorOf(t, c.Plan()), t.TempDir()
	sent := respond(t, asked, dir, 2000)
	for _, q := range asked.Questions[:2] {
		left := slices.DeleteFunc(slices.Clone(sent), func(r client.Report) bool { return r.Question == q.Name })
		writeReports(t, filepath.Join(dir, "reports.parquet"), left, false)
		counted, err := Count(t.Context(), c.Plan(), dir, 0)
		if q.Name == "ages" {
			if err == nil || !strings.Contains(err.Error(), "no report to question ages") {
				t.Errorf("without reports to %s: %v", q.Name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		checkTableOfBands(t, c, counted, false)
	}
}

// TestMadeUpReportsInBands makes up many respondents, all of whose answers are equally likely, and estimates: all forms
// are of the same respondents, also those whose last band is narrower.
func TestMadeUpReportsInBands(t *testing.T) {
	c := compiledOf(t, strings.Replace(ofBands, "SUMS", "cumulative", 1))
	const respondents = 300_000
	counted, err := MadeUp(t.Context(), c.Plan(), respondents)
	if err != nil {
		t.Fatal(err)
	}
	checkTableOfBands(t, c, counted, true)
	if n := counted[0].Reports.Kept + counted[1].Reports.Kept; n != respondents {
		t.Errorf("%d respondents, want %d", n, respondents)
	}
}
