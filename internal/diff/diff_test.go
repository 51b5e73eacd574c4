package diff

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
)

// editions is a folder in which small releases are made and compared.
type editions struct {
	t   *testing.T
	dir string
}

const editionSpec = `version: 1
release: NAME
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables: {t: {source: {csv: NAME.csv}, unit: row, columns: {mode: {values: [walk, ride]}, day: {type: integer, range: [0, 99]}}}}
marginals: {modes: {by: [mode]}, days: {by: [day, mode]}}
`

// publish makes a release on a practice account: rows are how often each mode is
// there on day 7, edits are changes of the spec as old, new, old, new …
func (e editions) publish(name string, rows map[string]int, edits ...string) string {
	e.t.Helper()
	var data strings.Builder
	data.WriteString("mode,day\n")
	for mode, n := range rows {
		data.WriteString(strings.Repeat(mode+",7\n", n))
	}
	text := strings.NewReplacer(append(edits, "NAME", name)...).Replace(editionSpec)
	for file, content := range map[string]string{name + ".csv": data.String(), name + ".yaml": text} {
		if err := os.WriteFile(filepath.Join(e.dir, file), []byte(content), 0o600); err != nil {
			e.t.Fatal(err)
		}
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: filepath.Join(e.dir, name+".yaml")})
	if err != nil {
		e.t.Fatal(err)
	}
	out := filepath.Join(e.dir, name+".out")
	if _, err := release.Run(e.t.Context(), p, release.Options{Out: out, Data: e.dir}); err != nil {
		e.t.Fatal(err)
	}
	return filepath.Join(out, name)
}

// diff compares two releases and returns the page too.
func (e editions) diff(a, b string) (*Difference, string) {
	e.t.Helper()
	d, err := Of(e.t.Context(), a, b, planfile.Read)
	if err != nil {
		e.t.Fatal(err)
	}
	var page strings.Builder
	if err := d.Write(&page, screen.Look{Columns: 10_000}); err != nil {
		e.t.Fatal(err)
	}
	return d, page.String()
}

// flukes is how many cells would count as changed if noise alone were to make any do
// so with a chance of at most 1e-10, each of n with one of 1e-10/n. That holds however
// the noise of cells hangs together.
func (e editions) flukes(a, b string) int64 {
	e.t.Helper()
	before, err := published.Open(a)
	if err != nil {
		e.t.Fatal(err)
	}
	after, err := published.Open(b)
	if err != nil {
		e.t.Fatal(err)
	}
	cells := int64(0)
	for _, t := range before.Plan.Tables {
		cells += t.Cells
	}
	changed := int64(0)
	for i := range before.Plan.Tables {
		pair, found, err := pairOf(before, after, i)
		if err != nil || !found {
			e.t.Fatal(found, err)
		}
		table, err := pair.compareCells(false, 1e-10/float64(cells))
		if err != nil {
			e.t.Fatal(err)
		}
		changed += table.changedFigures()
	}
	return changed
}

// What changed in the data far beyond the noise is listed with its cell and its
// figures; what only the noise changed is not, but as often as the page says. The
// first budget measures one table and adds it up, the others put both together.
func TestDiffListsWhatTheNoiseDoesNotExplain(t *testing.T) {
	for _, budget := range []string{"{epsilon: 1}", "{rho: 1/2}", "{epsilon: 1, delta: 1e-9}"} {
		e := editions{t, t.TempDir()}
		a := e.publish("a", map[string]int{"walk": 500, "ride": 300}, "{epsilon: 1}", budget)
		b := e.publish("b", map[string]int{"walk": 500, "ride": 300}, "{epsilon: 1}", budget)
		c := e.publish("c", map[string]int{"walk": 500, "ride": 900}, "{epsilon: 1}", budget)
		d, page := e.diff(a, b)
		if d.Releases.Cells != 202 || d.Releases.SameMeasurements {
			t.Errorf("%s: %+v", budget, d.Releases)
		}
		changed := d.Releases.Tables[0].changedFigures() + d.Releases.Tables[1].changedFigures()
		if none := strings.Contains(page,
			"In 2 of 2 tables no cell changed by more than the noise explains."); none != (changed == 0) {
			t.Errorf("%s: the page says\n%s", budget, page)
		}
		if n := e.flukes(a, b); n > 0 {
			t.Errorf("%s: noise alone changed %d cells", budget, n)
		}
		d, page = e.diff(a, c)
		for i, keys := range []string{"[ride]", "[7 ride]"} {
			s := d.Releases.Tables[i].Statistics[0]
			if s.Changed < 1 || len(s.Largest) != min(int(s.Changed), largestKept) ||
				fmt.Sprint(s.Largest[0].Keys) != keys {
				t.Fatalf("%s: table %d changed in %+v", budget, i, s)
			}
			cell := s.Largest[0]
			if cell.Difference != cell.After-cell.Before || cell.Difference <= cell.Margin || cell.Margin != s.Margin ||
				cell.Difference < 500 || cell.Difference > 700 {
				t.Errorf("%s: %+v", budget, cell)
			}
			if line := "+" + estimateText(cell.Difference); !strings.Contains(page, line) {
				t.Errorf("%s: no %q in\n%s", budget, line, page)
			}
		}
		if !strings.Contains(page, "chance of at most 5%") || !strings.Contains(page, "(Holm)") {
			t.Errorf("%s: the page does not state its rule:\n%s", budget, page)
		}
		if text, err := json.Marshal(d); err != nil || !strings.Contains(string(text), `"keys":["7","ride"]`) {
			t.Errorf("%s: as data %s, %v", budget, text, err)
		}
	}
}

// A changed cell leaves its part of the chance to the others: the margins are those for the number of remaining cells,
// and narrower than if all shared the chance.
func TestDiffSharesTheChanceStepByStep(t *testing.T) {
	e := editions{t, t.TempDir()}
	before, after := e.publish("a", map[string]int{"walk": 500, "ride": 300}, "{epsilon: 1}", "{rho: 1/2}"),
		e.publish("b", map[string]int{"walk": 1500, "ride": 900}, "{epsilon: 1}", "{rho: 1/2}")
	d, _ := e.diff(before, after)
	a, err := published.Open(before)
	if err != nil {
		t.Fatal(err)
	}
	b, err := published.Open(after)
	if err != nil {
		t.Fatal(err)
	}
	pair, _, err := pairOf(a, b, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := d.Releases.Tables[0].changedFigures() + d.Releases.Tables[1].changedFigures()
	if found < 3 || d.Releases.Tests != 202 {
		t.Fatalf("%d cells are found among %g", found, d.Releases.Tests)
	}
	margin := func(among float64) float64 {
		c, err := pair.compareCells(false, differenceChance/among)
		if err != nil {
			t.Fatal(err)
		}
		return c.Statistics[0].Margin
	}
	if got, want, all := d.Releases.Tables[0].Statistics[0].Margin, margin(202-float64(found)),
		margin(202); got != want ||
		!(got < all) {
		t.Errorf("%d cells found: the margin is %g, expected %g, below %g", found, got, want, all)
	}
}

// TestIntervalsApart compares intervals that meet and that do not, and the largest difference of the figures at which
// they would meet.
func TestIntervalsApart(t *testing.T) {
	cell := func(low, value, high float64) published.FigureCell {
		return published.FigureCell{Numbers: [4]uint64{math.Float64bits(value), math.Float64bits(low),
			math.Float64bits(high)}}
	}
	for _, c := range []struct {
		x, y   published.FigureCell
		apart  bool
		margin float64
	}{
		{cell(1, 2, 4), cell(4, 8, 9), false, 0},
		{cell(1, 2, 4), cell(5, 8, 9), true, 5},
		{cell(5, 8, 9), cell(1, 2, 4), true, 5},
		{cell(1, 2, 9), cell(3, 3, 3), false, 0},
	} {
		if got, is := disjointIntervals(c.x, c.y); is != c.apart || got.Margin != c.margin || is &&
			!(math.Abs(got.Difference) > got.Margin) {
			t.Errorf("%+v and %+v: %v, %+v", c.x, c.y, is, got)
		}
	}
}

// Cells are met by their keys: in another order, or where some are only in one.
func TestDiffMeetsCellsByTheirKeys(t *testing.T) {
	e := editions{t, t.TempDir()}
	a := e.publish("a", map[string]int{"walk": 5000, "ride": 300, "swim": 90}, "{epsilon: 1}", "{epsilon: 8}",
		"walk, ride", "walk, ride, swim")
	b := e.publish("b", map[string]int{"walk": 5000, "ride": 300, "fly": 900}, "{epsilon: 1}", "{epsilon: 8}",
		"walk, ride", "fly, ride, walk")
	d, page := e.diff(a, b)
	for i, want := range []TableDifference{{Path: "modes", Compared: 2, OnlyBefore: 1, OnlyAfter: 1},
		{Path: "days", Compared: 200, OnlyBefore: 100, OnlyAfter: 100}} {
		got := d.Releases.Tables[i]
		if got.Path != want.Path || got.Compared != want.Compared || got.OnlyBefore != want.OnlyBefore ||
			got.OnlyAfter != want.OnlyAfter {
			t.Errorf("got %+v", got)
		}
	}
	if n := e.flukes(a, b); n > 0 {
		t.Errorf("noise alone changed %d cells", n)
	}
	for _, line := range []string{"modes: 2 cells compared, 1 only before, 1 only after",
		"t.mode: categories: 3 categories (new: fly; gone: swim)"} {
		if !strings.Contains(page, line) {
			t.Errorf("no %q in\n%s", line, page)
		}
	}
}

// A page lists at most 20 cells of a statistic, the data have all; the largest come first.
func TestDiffOfManyCells(t *testing.T) {
	e := editions{t, t.TempDir()}
	var all []string
	few, many := map[string]int{}, map[string]int{}
	for i := range 30 {
		mode := fmt.Sprintf("m%02d", i)
		all = append(all, mode)
		few[mode], many[mode] = 10, 1000+100*i
	}
	a := e.publish("a", few, "{epsilon: 1}", "{epsilon: 8}", "walk, ride", strings.Join(all, ", "))
	b := e.publish("b", many, "{epsilon: 1}", "{epsilon: 8}", "walk, ride", strings.Join(all, ", "))
	d, page := e.diff(a, b)
	s := d.Releases.Tables[0].Statistics[0]
	if s.Changed != 30 || len(s.Largest) != 30 || s.Largest[0].Keys[0] != "m29" {
		t.Fatalf("got %+v", s)
	}
	for i := 1; i < len(s.Largest); i++ {
		if s.Largest[i].Difference > s.Largest[i-1].Difference {
			t.Errorf("%+v after %+v", s.Largest[i], s.Largest[i-1])
		}
	}
	if !strings.Contains(page, "count: 30 cells changed by more than the noise explains, the 20 that changed most:") {
		t.Errorf("the page says\n%s", page)
	}
}

// A release and itself, moved or published again, are one draw.
func TestDiffOfOneDraw(t *testing.T) {
	e := editions{t, t.TempDir()}
	a := e.publish("a", map[string]int{"walk": 5})
	d, page := e.diff(a, a)
	if !d.Releases.SameMeasurements || !d.Plans.Same || !strings.Contains(page, "Same draw:") ||
		!strings.Contains(page, "differences are not noise") ||
		!strings.Contains(page, "In 2 of 2 tables no cell changed.") {
		t.Errorf("the page says\n%s", page)
	}
	for _, table := range d.Releases.Tables {
		if s := table.Statistics[0]; s.Margin != 0 || s.Changed != 0 {
			t.Errorf("%s: %+v", table.Path, s)
		}
	}
}

// Diff refuses what it cannot compare, and what is not as it was published.
func TestDiffRefuses(t *testing.T) {
	e := editions{t, t.TempDir()}
	a := e.publish("a", map[string]int{"walk": 5})
	b := e.publish("b", map[string]int{"walk": 5})
	planFile := filepath.Join(e.dir, "a.out", "a.plan.json")
	for name, pair := range map[string][2]string{
		"a plan and a release": {planFile, a}, "nothing there": {a, filepath.Join(e.dir, "x")},
		"no release":   {a, e.dir},
		"measurements": {a, filepath.Join(e.dir, "a.out", "a.measured")},
		"no plan":      {planFile, filepath.Join(e.dir, "a.csv")},
	} {
		_, err := Of(t.Context(), pair[0], pair[1], planfile.Read)
		var wrong *verdict.Unusable
		if !errors.As(err, &wrong) || ending.Of(err).Exit != verdict.ExitSpec {
			t.Errorf("%s: got %v", name, err)
		}
	}
	table := filepath.Join(b, "tables", "modes.parquet")
	bytes, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	bytes[len(bytes)/2] ^= 1
	if err := os.WriteFile(table, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	var altered *published.Altered
	if _, err := Of(t.Context(), a, b, planfile.Read); !errors.As(err, &altered) ||
		altered.File != "tables/modes.parquet" {
		t.Errorf("an altered table: got %v", err)
	}
}

// A table is not compared with one of other keys, or of other rows.
func TestDiffOfOtherKeys(t *testing.T) {
	e := editions{t, t.TempDir()}
	rows := map[string]int{"walk": 5}
	a := e.publish("a", rows)
	d, page := e.diff(a, e.publish("b", rows, "[day, mode]", "[mode, day]"))
	if d.Releases.Cells != 2 || d.Releases.Tables[1].Refused == "" ||
		!strings.Contains(page, "days: not compared, since it has other keys") {
		t.Errorf("the page says\n%s", page)
	}
	d, page = e.diff(a, e.publish("c", rows, "{t: {source", "{trips: {source"))
	if d.Releases.Cells != 0 ||
		!strings.Contains(page, "modes: not compared, since it counts rows of t before and of trips after") {
		t.Errorf("the page says\n%s", page)
	}
	d, page = e.diff(a, e.publish("d", rows, "modes: {", "ways: {"))
	if d.Releases.Cells != 200 || len(d.Releases.Tables) != 1 ||
		!strings.Contains(page, "modes: gone: 2 cells by mode") {
		t.Errorf("the page says\n%s", page)
	}
}

// A published file is refused unless its rows are those of the plan's domains.
func TestEstimatesAreHeldAgainstTheDomains(t *testing.T) {
	e := editions{t, t.TempDir()}
	a, err := published.Open(e.publish("a", map[string]int{"walk": 5}))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spoil func(*published.Table)
		says  string
	}{
		"as it is": {func(*published.Table) {}, ""},
		"codes": {func(t *published.Table) {
			t.Levels = []*domain.Level{{Categories: []domain.Category{{Code: "ride"}, {Code: "walk"}}}}
		}, "row 1 does not belong in its place"},
		"cells":     {func(t *published.Table) { t.Planned.Cells = 3 }, "2 rows, where the plan has 3 cells"},
		"a column":  {func(t *published.Table) { t.Planned.By = []string{"way"} }, `no column "way"`},
		"the table": {func(t *published.Table) { t.Planned.Path = "ways" }, "tables/ways.parquet"},
	} {
		table, found, err := a.Table("modes")
		if err != nil || !found {
			t.Fatal(err)
		}
		c.spoil(&table)
		values, err := table.Estimates([]string{"count"})
		switch {
		case c.says == "" && (err != nil || len(values) != 1 || len(values[0].Unbiased) != 2 ||
			len(values[0].Errors) != 2):
			t.Errorf("%s: %v, %v", name, values, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: got %v", name, err)
		}
	}
}
