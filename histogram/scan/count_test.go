package scan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// reference counts rows of (kind, age) naively over n ages in so many bands of
// 5; policy maps what does not fit.
func reference(rows [][2]string, policy map[string]string, n, m int) (all, bands []int64) {
	all, bands = make([]int64, 3*n), make([]int64, 3*m)
	for _, r := range rows {
		kind, age := r[0], r[1]
		if !slices.Contains([]string{"a", "b", "c"}, kind) {
			kind = policy["kind:"+kind]
		}
		if len(age) != 1 || age == "x" {
			age = policy["age:"+age]
		}
		if kind == "" || age == "" {
			continue
		}
		k, a := strings.Index("abc", kind), int(age[0]-'0')
		if age == "none" {
			a = 10
		}
		all[n*k+a]++
		bands[3*(a/5)+k]++
	}
	return all, bands
}

func TestCountsEqualNaiveCounts(t *testing.T) {
	drop := planOf(t, "UNKNOWN", "drop", "NULL", "drop") // measures residuals
	mixed := planOf(t, "rho: 1/2", "epsilon: 1", "{values: [a, b, c], unknown: UNKNOWN, null: NULL}",
		"{values: [a, b, c], unknown: {as: b}, null: drop}",
		"unknown: UNKNOWN, null: NULL}", "unknown: drop, null: {as: none}}")
	rapid.Check(t, func(rt *rapid.T) {
		kinds, ages := []string{"a", "b", "c", "x", ""}, []string{"0", "3", "5", "9", "10", "-1", "x", ""}
		files := []string{"first.csv", "age,other,kind\n0,o,a\n"} // a row that counts
		rows := [][2]string{{"a", "0"}}
		for f := range rapid.IntRange(1, 3).Draw(rt, "files") {
			text := "age,other,kind\n"
			for range rapid.IntRange(0, 40).Draw(rt, "rows") {
				r := [2]string{rapid.SampledFrom(kinds).Draw(rt, "kind"), rapid.SampledFrom(ages).Draw(rt, "age")}
				rows = append(rows, r)
				text += r[1] + ",o," + r[0] + "\n"
			}
			files = append(files, fmt.Sprintf("%d.csv", f), text)
		}
		dir := folder(t, files...)
		for _, c := range []struct {
			e      allCounts
			policy map[string]string
			n, m   int
		}{
			{exactOf(t, drop, dir, 1), nil, 10, 2},
			{exactOf(t, mixed, dir, 1), map[string]string{"kind:x": "b", "age:": "none"}, 11, 3},
		} {
			all, bands := reference(rows, c.policy, c.n, c.m)
			if got := countsOf(t, c.e, "all"); !slices.Equal(got, all) {
				rt.Errorf("all: got %v, want %v", got, all)
			}
			if got := countsOf(t, c.e, "bands"); !slices.Equal(got, bands) {
				rt.Errorf("bands: got %v, want %v", got, bands)
			}
		}
	})
}

// many is a table of n rows over several records, of n/3 persons.
func many(n int) string {
	var b strings.Builder
	b.WriteString("id,kind,age\n")
	for i := range n {
		fmt.Fprintf(&b, "p%d,%c,%d\n", i*7919%(n/3), "abc"[i%3], i*i%10)
	}
	return b.String()
}

func TestCountsDoNotDependOnWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	dir := folder(t, "a.csv", many(150_000), "b.csv", many(10_000))
	for _, unit := range []string{"row", "{id: id, max_rows: 2}"} {
		p := planOf(t, "UNIT", unit)
		var first string
		for i, workers := range []int{1, 8, 3} {
			e := countBy(t, p, Files{Dir: dir, Options: Options{Workers: workers}}, streams(p, 1))
			if c := e.Commitment(streams(p, 1)); i == 0 {
				first = c
			} else if c != first {
				t.Errorf("unit %s: %d workers count otherwise than 1", unit, workers)
			}
		}
	}
}

func TestMemoryIsRefusedBeforeFilesAreOpened(t *testing.T) {
	p := planOf(t)
	err := errorOf(t, p, Files{Dir: "no such folder", Options: Options{MemoryLimit: 100}})
	var m *memory.Error
	if !errors.As(err, &m) || m.Need != memory.Bytes(p) || m.Have != 100 {
		t.Fatalf("got %v", err)
	}
	err = errorOf(t, p, Files{Dir: "no such folder"})
	var e *source.Error
	if !errors.As(err, &e) || e.Kind != source.Missing {
		t.Errorf("with enough memory: %v", err)
	}
	if err := memory.Check(memory.Bytes(p), memory.Available(0)); err != nil {
		t.Error(err)
	}
}

// Little memory is enough for any number of rows: what bounding puts aside goes to disk.
func TestMemoryOfHeldRows(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	dir := folder(t, "a.csv", many(60_000))
	t.Setenv("TMPDIR", t.TempDir())
	e := countBy(t, p, Files{Dir: dir, Options: Options{MemoryLimit: memory.Bytes(p) + 1000}}, streams(p, 1))
	if e.Commitment(streams(p, 1)) != exactOf(t, p, dir, 1).Commitment(streams(p, 1)) {
		t.Error("with little memory other rows are counted")
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMadeUpRows(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	const rows = 100_000
	e := countBy(t, p, MadeUp{Rows: rows}, streams(p, 1))
	total := int64(0)
	for _, c := range countsOf(t, e, "all") {
		// Binomial(100000, 1/30): beyond 12 standard deviations, below 1e-30 a cell.
		if c < 2652 || c > 4015 {
			t.Errorf("a cell of made-up rows holds %d, expected about 3333", c)
		}
		total += c
	}
	if total != rows {
		t.Errorf("%d made-up rows, want %d", total, rows)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := planOf(t)
	if _, err := histogram.Count(ctx, compiled.Of(p), Files{Dir: folder(t, "a.csv", many(90))},
		streams(p, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := histogram.Count(ctx, compiled.Of(p), MadeUp{Rows: 10},
		streams(p, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestColumnsThatAreShownLeaveRowsOut: a column of one category has no residual and is
// not measured, but its rows that are not of its domain are left out of every table.
func TestColumnsThatAreShownLeaveRowsOut(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "r.yaml", Text: `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride]}, day: {values: [mon, tue]}, one: {values: [x], unknown: drop, null: drop}}}}
marginals: {a: {by: [mode, day, one]}, b: {by: [mode, day]}, c: {by: [day]}}
`})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(p.Measurements, func(m plan.Measurement) bool {
		return slices.ContainsFunc(m.Query.Factors, func(f plan.Factor) bool { return f.Attribute == "one" })
	}) {
		t.Fatal("the column is measured: this test sees nothing")
	}
	dir := folder(t, "t.csv", "mode,day,one\nwalk,mon,x\nwalk,tue,y\nride,mon,x\nride,mon,\nride,tue,x\n")
	e := exactOf(t, p.Plan(), dir, 1)
	if got := countsOf(t, e, "b"); !slices.Equal(got, []int64{1, 0, 1, 1}) {
		t.Errorf("counted %v; the rows of one = x are 1 0 1 1", got)
	}
}

// TestSparseCellsThatDoNotFit has more cells than there is memory for: that is said when all rows are read, by any
// workers, and only where nothing else is wrong with them.
func TestSparseCellsThatDoNotFit(t *testing.T) {
	p := tripsPlan(t, "SIDE", "30000", "ABOVE", "8")
	const cells = 370_000 // of the 367 001 that fit into the least memory
	var rows strings.Builder
	rows.WriteString("from,to\n")
	for i := range cells {
		fmt.Fprintf(&rows, "%d,%d\n", 1+i/30000, 1+i%30000)
	}
	for _, workers := range []int{1, 2} {
		opt := Options{MemoryLimit: memory.Bytes(p) + 1, Workers: workers}
		var short *memory.Error
		err := errorOf(t, p, Files{Dir: folder(t, "a.csv", rows.String()), Options: opt})
		if !errors.As(err, &short) || short.Need != 0 || short.Have != 1 {
			t.Errorf("%d workers: %v", workers, err)
		}
		var breach *ContractError
		err = errorOf(t, p, Files{Dir: folder(t, "a.csv", rows.String()+"0,1\n"), Options: opt})
		if !errors.As(err, &breach) {
			t.Errorf("%d workers, and a row that breaks the contract: %v", workers, err)
		}
	}
}
