package query

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/show"
	"github.com/dprelease/dprelease/internal/verdict"
)

// weeklySpec has weights in halves, a column whose range depends on another, and tables that are reconstructed from
// shared measurements.
const weeklySpec = `version: 1
release: NAME
privacy: {protects: trip, neighbours: add-remove}
budget: {rho: 2, split: {a: 1/2, b: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: row
    weight: {from: w, range: [0, 4], step: 0.5, kind: design}
    columns:
      mode: {values: [walk, ride, fly]}
      side: {values: [n, s]}
      pay: {type: integer, range: {by: mode, walk: [0, 100], ride: [0, 200], fly: [0, 400]}}
      hours: {type: integer, range: [0, 41]}
marginals:
  m: {by: [mode, side], stats: [count, {mean: pay}, {sum: hours}], budget: a}
  side: {by: [side], stats: [count, {sum: hours}, {sum: pay}], budget: b}
  mode: {by: [mode], stats: [count, {sum: pay}], budget: b}
`

// publishWeek publishes a release of weeklySpec on a practice account.
func publishWeek(t *testing.T, dir, name, spec string) string {
	t.Helper()
	rows := "mode,side,pay,hours,w\n"
	for i := range 300 {
		mode := i % 3
		side := []string{"n", "s"}[i%2]
		if mode == 2 {
			side = "n"
		}
		rows += fmt.Sprintf("%s,%s,%d,%d,%g\n", []string{"walk", "ride", "fly"}[mode], side, 50<<mode, i%42,
			0.5*float64(1+i%4))
	}
	for file, content := range map[string]string{"t.csv": rows, name + ".yaml": strings.ReplaceAll(spec, "NAME",
		name)} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: filepath.Join(dir, name+".yaml")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := release.Run(t.Context(), p, release.Options{Out: dir, Data: dir,
		State: filepath.Join(dir, name+".state")}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// TestTotalsRestOnWhatMovesThem: the stated contributions to a sum are the actual ones. Every noisy integer is raised
// by one, and the change of the figure must be the integer's weight.
func TestTotalsRestOnWhatMovesThem(t *testing.T) {
	place := publishWeek(t, t.TempDir(), "w", weeklySpec)
	for _, q := range []Question{
		{By: []string{"mode"}, Statistic: "sum=pay"},
		{By: []string{"side"}, Statistic: "sum=hours"},
		{By: []string{"mode", "side"}, Statistic: "sum=hours"},
		{Where: []string{"mode=ride,fly"}, Statistic: "sum=pay"},
		{By: []string{"side"}},
	} {
		kind, column, err := q.splitStatistic()
		if err != nil {
			t.Fatal(err)
		}
		c, err := newContribution(place, q, kind, column)
		if err != nil {
			t.Fatal(err)
		}
		needed := c.reader.Needed(c.from.table)
		if m, ok := c.reader.ColumnMeasurement(c.from.table, column); ok && column != "" {
			needed = append(slices.Clone(needed), m)
		}
		answers, err := c.edition.Answers(needed)
		if err != nil {
			t.Fatal(err)
		}
		values := func(answers []measured.Measured) []float64 {
			again := &contribution{edition: c.edition, question: c.question, reader: c.reader, from: c.from}
			if err := adding[kind].rows(again, column, answers); err != nil {
				t.Fatal(err)
			}
			var out []float64
			for _, r := range again.rows {
				out = append(out, r.value)
			}
			return out
		}
		before := values(answers)
		got := make([]map[string]map[float64]int64, len(before)) // by row, measurement and weight: number of integers
		for at, m := range answers {
			for i := range m.Values.Len() {
				for row, v := range values(withIntegerRaised(answers, at, i)) {
					weight := math.Round((v-before[row])*1e6) / 1e6
					if weight == 0 {
						continue
					}
					if got[row] == nil {
						got[row] = map[string]map[float64]int64{}
					}
					if got[row][m.Measurement.ID] == nil {
						got[row][m.Measurement.ID] = map[float64]int64{}
					}
					got[row][m.Measurement.ID][weight]++
				}
			}
		}
		for row, r := range c.rows {
			says := map[string]map[float64]int64{}
			for _, b := range r.rests {
				says[b.Measurement.ID] = map[float64]int64{}
				for _, w := range b.Weights {
					says[b.Measurement.ID][math.Round(w.Value*1e6)/1e6] += w.Integers
				}
			}
			if fmt.Sprint(says) != fmt.Sprint(got[row]) {
				t.Errorf("%+v, row %v:\nrests on %v\nmoved by %v", q, r.keys, says, got[row])
			}
		}
	}
}

// withIntegerRaised returns the answers with one integer raised by one.
func withIntegerRaised(answers []measured.Measured, at, i int) []measured.Measured {
	out := slices.Clone(answers)
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	for j, v := range answers[at].Values.Int64Values() {
		if j == i {
			v++
		}
		b.Append(v)
	}
	out[at].Values = b.NewInt64Array()
	return out
}

// TestTotalsOfSeveralReleases: values add up, variances add up, and a mean is the sum over the count.
func TestTotalsOfSeveralReleases(t *testing.T) {
	dir := t.TempDir()
	var places []string
	for _, name := range []string{"w1", "w2", "w3"} {
		places = append(places, publishWeek(t, dir, name, weeklySpec))
	}
	totals := func(statistic string, each bool, places ...string) *Total {
		t.Helper()
		total, err := Totals(t.Context(), places, Question{By: []string{"side"}, Statistic: statistic}, each)
		if err != nil {
			t.Fatal(err)
		}
		return total
	}
	for _, statistic := range []string{"count", "sum=hours", "sum=pay"} {
		together, each := totals(statistic, false, places...), totals(statistic, true, places...)
		if len(together.Rows) != 2 || len(each.Rows) != 6 || each.Rows[2].Release != "w2" {
			t.Fatalf("%s: %d rows together, %d each", statistic, len(together.Rows), len(each.Rows))
		}
		for side, row := range together.Rows {
			var sum, variance float64
			for week := range places {
				one := each.Rows[2*week+side]
				sum += *one.Value
				variance += *one.StandardError * *one.StandardError
			}
			if math.Abs(*row.Value-sum) > 1e-6*(1+math.Abs(sum)) ||
				math.Abs(*row.StandardError-math.Sqrt(variance)) > 1e-9*math.Sqrt(variance) {
				t.Errorf("%s: %g ± %g, and of the releases %g ± %g", statistic, *row.Value, *row.StandardError, sum,
					math.Sqrt(variance))
			}
			if half := (*row.High - *row.Low) / 2; half < 1.9*math.Sqrt(variance) || half > 2.1*math.Sqrt(variance) ||
				row.Attained < 0.95 {
				t.Errorf("%s: a margin of %g, attaining %g, for a standard error of %g", statistic, half, row.Attained,
					math.Sqrt(variance))
			}
		}
	}
	sums, counts, means := totals("sum=hours", false, places...), totals("count", false, places...),
		totals("mean=hours", false, places...)
	for side, row := range means.Rows {
		if want := *sums.Rows[side].Value / *counts.Rows[side].Value; math.Abs(*row.Value-want) > 1e-9*want ||
			*row.Low > want || *row.High < want {
			t.Errorf("a mean of %g (%g … %g), and the sum over the count is %g", *row.Value, *row.Low, *row.High, want)
		}
	}

	// A single release has the figures that it published.
	sheet, err := show.Open(places[0], "side")
	if err != nil {
		t.Fatal(err)
	}
	text, err := sheet.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range totals("sum=hours", false, places[0]).Rows {
		if want := fmt.Sprintf("%g", *row.StandardError); !strings.Contains(string(text), want[:8]) {
			t.Errorf("a standard error of %s, which the published table does not have:\n%s", want, text)
		}
	}
}

// TestTotalsRefuse: what would count rows or noise twice, or does not add up, is refused.
func TestTotalsRefuse(t *testing.T) {
	dir := t.TempDir()
	first := publishWeek(t, dir, "w1", weeklySpec)
	copied := filepath.Join(dir, "copy")
	if err := os.CopyFS(copied, os.DirFS(first)); err != nil {
		t.Fatal(err)
	}
	other := publishWeek(t, dir, "w2", strings.Replace(weeklySpec, "values: [n, s]", "values: [s, n]", 1))
	unweighted := publishWeek(t, dir, "w3",
		strings.Replace(weeklySpec, "    weight: {from: w, range: [0, 4], step: 0.5, kind: design}\n", "", 1))
	sampled := publishWeek(t, dir, "w4",
		strings.NewReplacer("    weight: {from: w, range: [0, 4], step: 0.5, kind: design}\n",
			"    sample: {poisson: 1/2}\n",
			"{rho: 2, split: {a: 1/2, b: 1/2}}", "{epsilon: 2, split: {a: 1/2, b: 1/2}}",
			", {mean: pay}, {sum: hours}", "",
			", {sum: hours}, {sum: pay}", "", ", {sum: pay}", "").Replace(weeklySpec))
	for _, c := range []struct {
		places    []string
		statistic string
		says      string
		where     []string
	}{
		{[]string{first, copied}, "", "counted twice", nil},
		{[]string{first, other}, "", "other categories of side", nil},
		{[]string{first, unweighted}, "", "by weights", nil},
		{[]string{first, sampled}, "", "secret sample", nil},
		{[]string{first}, "units", "do not add up", nil},
		{[]string{first}, "median=pay", "do not add up", nil},
		{[]string{first}, "sum=pya", `did you mean "pay"`, nil},
		{[]string{first}, "mean=side", "have no sums of side (they have sums of pay, hours)", nil},
		{[]string{first}, "mean=pay", "range of pay differs", []string{"mode=ride,fly"}},
	} {
		_, err := Totals(t.Context(), c.places, Question{By: []string{"side"}, Where: c.where, Statistic: c.statistic},
			false)
		if ending.Of(err).Exit != verdict.ExitSpec || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%v %s: %v, expected %q", c.places, c.statistic, err, c.says)
		}
	}

}
