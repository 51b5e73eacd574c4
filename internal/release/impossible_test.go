package release

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/parquet-go/parquet-go"
)

// isNightly reports whether a row of nights or hours, as published, is about walking at night.
func isNightly(mode, when string) bool {
	return mode == "walk" && slices.Contains([]string{"3–5", "3", "4", "5"}, when)
}

// Cells that the spec rules out are published as exact zeros that say so, and no other cell is: with both policies for
// the rows, of which these data have none where they stop a run.
func TestImpossibleCellsArePublishedAsZeros(t *testing.T) {
	clean := strings.NewReplacer("2,walk,4,mo\n", "", "6,walk,5,tu\n", "").Replace(releasetest.NightRows)
	for name, o := range map[string]releasetest.Office{
		"drop": releasetest.With(t, releasetest.NightSpec, releasetest.WalkPolicy, releasetest.NightRows),
		"error": releasetest.With(t, strings.Replace(releasetest.NightSpec, ", rows: drop", "", 1),
			releasetest.WalkPolicy,
			clean),
	} {
		t.Run(name, func(t *testing.T) {
			opt, place := runRelease(t, o)
			for path, keys := range map[string][]string{"nights": {"mode", "part"}, "hours": {"mode", "hour"}} {
				zeros := 0
				for _, row := range releasetest.Figures(t, place, path,
					append(keys, "count", "count_unbiased", "count_noise_se",
						"count_low",
						"count_high", "count_flag")...) {
					exact := slices.Equal(row[2:], []string{"0", "0", "0", "0", "0", "impossible"})
					if exact != isNightly(row[0], row[1]) {
						t.Errorf("%s: %v", path, row)
					}
					if exact {
						zeros++
					}
				}
				if want := map[string]int{"nights": 1, "hours": 6}[path]; zeros != want {
					t.Errorf("%s has %d impossible cells, expected %d", path, zeros, want)
				}
			}
			verified, err := verify.Folder(t.Context(), place, verify.Options{})
			if err != nil {
				t.Fatalf("%v\n%+v", err, verified)
			}
			opt.Out = filepath.Join(o.Dir, "private")
			if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
				t.Fatal(err)
			}
			for _, table := range readEvaluation(t, opt.Out).Tables {
				if table.Coverage < 0 || table.Coverage > 1 || table.RMSE > 8*table.Predicted {
					t.Errorf("%s: coverage %v, error %v", table.Path, table.Coverage, table.RMSE)
				}
			}
			for file, says := range map[string][]string{
				"report.md": {"no row of t has mode = walk with hour.half = 3–5", "1 of 6 cells of nights",
					"6 of 36 cells of hours", "not read from data"},
				"README.txt": {"impossible: an exact zero", "Cells that cannot be"},
			} {
				b, err := os.ReadFile(filepath.Join(place, file))
				if err != nil {
					t.Fatal(err)
				}
				text := strings.Join(strings.Fields(string(b)), " ")
				for _, s := range says {
					if !strings.Contains(text, s) {
						t.Errorf("%s does not say %q", file, s)
					}
				}
			}
		})
	}
}

// An impossible row stops the run before anything is spent, and no message contains its values.
func TestImpossibleRowsStopTheRun(t *testing.T) {
	o := releasetest.With(t, strings.Replace(releasetest.NightSpec, ", rows: drop", "", 1), releasetest.WalkPolicy,
		releasetest.NightRows)
	_, err := Run(t.Context(), o.Plan, optionsOf(o, "out"))
	wantsCode(t, "a walk at night", err, 4, "t.mode × hour.half: a row has categories that `impossible` rules out")
	if strings.Contains(err.Error(), "walk") || strings.Contains(err.Error(), "3–5") {
		t.Errorf("the message tells values: %v", err)
	}
	if n := o.Debits(t); n != 0 {
		t.Errorf("%d debits", n)
	}
}

// A derived column is published under its own name with the figures of its origin, and questions on either are
// answered.
func TestDerivedColumnsStandForTheirOrigins(t *testing.T) {
	o := releasetest.With(t, releasetest.NightSpec, releasetest.WalkPolicy, releasetest.NightRows)
	_, place := runRelease(t, o)
	if got := releasetest.Figures(t, place, "parts", "part", "day"); !slices.EqualFunc(got,
		[][]string{{"0–2", "mo"}, {"0–2", "tu"}, {"3–5", "mo"}, {"3–5", "tu"}}, slices.Equal) {
		t.Errorf("keys %v", got)
	}
	answers := map[string]*query.Answer{}
	for _, name := range []string{"part", "hour.half"} {
		a, err := query.Query(t.Context(), place, query.Question{By: []string{name}, Where: []string{"day=mo"}})
		if err != nil {
			t.Fatal(name, err)
		}
		answers[name] = a
	}
	x, y := answers["part"], answers["hour.half"]
	if x.Table != y.Table || len(x.Rows) != 2 || len(y.Rows) != 2 || x.By[0] != "part" || x.Rows[0].Keys[0] != "0–2" {
		t.Fatalf("%+v\n%+v", x, y)
	}
	for i := range x.Rows {
		if x.Rows[i].Unbiased != y.Rows[i].Unbiased || x.Rows[i].StandardError != y.Rows[i].StandardError {
			t.Errorf("row %d: %+v, by its origin %+v", i, x.Rows[i], y.Rows[i])
		}
	}
	a, err := query.Query(t.Context(), place,
		query.Question{By: []string{"mode"}, Where: []string{"part=3–5", "day=tu"}})
	if err != nil || a.Table != "hours" || a.Where[0].Attribute != "part" {
		t.Errorf("%+v, %v: a finer table of the origin answers", a, err)
	}
}

// Microdata have derived columns behind what decides them, without a budget.
func TestMicrodataWithDerivedColumns(t *testing.T) {
	spec := strings.Replace(releasetest.WalkSpec, "hour: {type: integer, range: [0, 3]}",
		"hour: {type: integer, range: [0, 3], levels: {half: {width: 2}}}, part: {derived_from: hour.half}", 1)
	o := releasetest.With(t, spec, releasetest.WalkPolicy, releasetest.WalkRows())
	with, without := o.Plan.Synthetic[0], releasetest.Walks(t).Plan.Synthetic[0]
	if len(with.By) != 4 || len(with.Derived) != 1 || with.Rounds != without.Rounds ||
		with.Noise.Parameter.Cmp(without.Noise.Parameter) != 0 {
		t.Errorf("%+v, without the column %+v", with, without)
	}
	_, place := runRelease(t, o)
	b, err := os.ReadFile(filepath.Join(place, "microdata", "t.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range f.Schema().Columns() {
		names = append(names, c[0])
	}
	if want := []string{"mode", "hour", "day", "way", "part"}; !slices.Equal(names, want) {
		t.Fatalf("columns %v, expected %v", names, want)
	}
	rows := 0
	if err := published.EachRow(f, func(r parquet.Row) error {
		rows++
		if want := []string{"0–1", "2–3"}[r[1].Int64()/2]; r[4].String() != want {
			t.Errorf("row %d: hour %v in part %v", rows, r[1], r[4])
		}
		return nil
	}); err != nil || rows == 0 {
		t.Fatal(rows, err)
	}
	if verified, err := verify.Folder(t.Context(), place, verify.Options{}); err != nil {
		t.Fatalf("%v\n%+v", err, verified)
	}
}

// Sums over a table with impossible cells have the noise of its possible cells alone.
func TestSumsOverImpossibleCells(t *testing.T) {
	o := releasetest.With(t, releasetest.NightSpec, releasetest.WalkPolicy, releasetest.NightRows)
	_, place := runRelease(t, o)
	var law plan.Measurement
	for _, m := range o.Plan.Measurements {
		if m.ID == "nights" {
			law = m
		}
	}
	if law.Impossible != 1 {
		t.Fatalf("%+v", law)
	}
	variance := law.Mechanism.Variance()
	held := 0
	for where, cells := range map[string]float64{"mode=walk": 1, "mode=ride": 2, "mode=walk,sail": 3, "part=3–5": 2} {
		a, err := query.Query(t.Context(), place, query.Question{Where: []string{where, "part=0–2,3–5",
			"mode=walk,ride,sail"}})
		if err != nil {
			t.Fatal(err)
		}
		if a.Table != "nights" {
			continue // of another table, which knows it better
		}
		held++
		if got := a.Rows[0].StandardError * a.Rows[0].StandardError; !closeTo(got, cells*variance, 1e-9*variance) {
			t.Errorf("%s: variance %v, expected %v × %v", where, got, cells, variance)
		}
	}
	if held < 2 {
		t.Errorf("%d sums were held against the law", held)
	}
	trace, err := trace.Cell(t.Context(), place, "nights", []string{"mode=walk", "part=3–5"})
	if err != nil || trace.StandardError != 0 || trace.Low != 0 || trace.High != 0 || len(trace.Contributions) != 0 {
		b, _ := json.Marshal(trace)
		t.Errorf("an impossible cell: %s, %v", b, err)
	}
}
