package release

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// fittedNights is a release whose counts add up, with impossible cells, levels, and a table that is left as it is.
const fittedNights = releasetest.NightSpec +
	"  large: {by: [mode, day], cells: {above: 1}}\npublish: {integers: consistent}\n"

// sumsOf are the sums of a table's published counts by some of its keys.
func sumsOf(t *testing.T, place, path string, keys ...string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	for _, row := range releasetest.Figures(t, place, path, append(slices.Clone(keys), "count")...) {
		n, err := strconv.ParseInt(row[len(keys)], 10, 64)
		if err != nil || n < 0 {
			t.Errorf("%s: count %q", path, row[len(keys)])
		}
		out[strings.Join(row[:len(keys)], "|")] += n
	}
	return out
}

func assertEqualSums(t *testing.T, what string, a, b map[string]int64) {
	t.Helper()
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%s: %v and %v", what, a, b)
	}
}

// TestCountsAddUpAcrossPublishedTables runs a release from its spec to the files: margins that two tables share are the
// same in both, at several levels of a column, cells that cannot be are 0, and what stands beside the counts is as
// without them. It verifies, evaluates, traces a cell, and refuses a folder in which two counts were exchanged so that
// the margins still agree.
func TestCountsAddUpAcrossPublishedTables(t *testing.T) {
	o := releasetest.With(t, fittedNights, releasetest.WalkPolicy, releasetest.NightRows)
	opt, place := runRelease(t, o)
	assertEqualSums(t, "modes", sumsOf(t, place, "modes", "mode"), sumsOf(t, place, "hours", "mode"))
	assertEqualSums(t, "modes by part", sumsOf(t, place, "modes", "mode"), sumsOf(t, place, "nights", "mode"))
	assertEqualSums(t, "days", sumsOf(t, place, "days", "day"), sumsOf(t, place, "hours", "day"))
	assertEqualSums(t, "days of parts", sumsOf(t, place, "days", "day"), sumsOf(t, place, "parts", "day"))
	assertEqualSums(t, "parts", sumsOf(t, place, "parts", "part"), sumsOf(t, place, "nights", "part"))
	late := map[string]int64{}
	for key, n := range sumsOf(t, place, "hours", "mode", "hour", "day") {
		k := strings.Split(key, "|")
		part := "0–2"
		if k[1] >= "3" {
			part = "3–5"
		}
		if late[part+"|"+k[2]] += n; isNightly(k[0], k[1]) && n != 0 {
			t.Errorf("%d in %s, which cannot be", n, key)
		}
	}
	assertEqualSums(t, "parts by day", sumsOf(t, place, "parts", "part", "day"), late)
	assertVerifies(t, place, verify.Options{})
	again, err := Publish(t.Context(), place+".measured", opt)
	if err != nil || !again.AlreadyDone {
		t.Fatalf("published again: %+v, %v", again, err)
	}
	out := opt
	out.Out = filepath.Join(o.Dir, "private")
	if err := evaluateTo(t.Context(), o.Plan, place, out); err != nil {
		t.Fatal(err)
	}
	trace, err := trace.Cell(t.Context(), place, "parts", []string{"part=3–5", "day=mo"})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := trace.Write(&text); err != nil ||
		!strings.Contains(text.String(), "fitted to add up with the other tables") {
		t.Errorf("%v: %s", err, text.String())
	}
	for _, file := range []string{"report.md", "report.html"} {
		b, err := os.ReadFile(filepath.Join(place, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, says := range []string{"Counts that add up", "rounded and fitted to add up", "standard errors",
			"does not show all cells"} {
			if !strings.Contains(string(b), says) {
				t.Errorf("%s does not say %q", file, says)
			}
		}
	}
	exchangedCountsAreFound(t, place)
}

// exchangedCountsAreFound adds 1 to two cells of a table and takes it from two others, with the same margins as before,
// behind a manifest that lists the file as it is then.
func exchangedCountsAreFound(t *testing.T, place string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "trips")
	if err := os.CopyFS(dir, os.DirFS(place)); err != nil {
		t.Fatal(err)
	}
	sealed, record, err := openSealed(place+".measured", false)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := synth.Estimate(sealed)
	if err == nil {
		err = synth.Consistent(t.Context(), sealed, tables, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(sealed.Plan.Tables, func(p plan.Table) bool { return p.Path == "parts" })
	planned := sealed.Plan.Tables[at]
	metadata, genuine := derive.Metadata(sealed.Plan, record.Status), tables[at].Statistics[0].Published.Int64Values()
	for _, moved := range [][]int64{{0, 0, 0, 0}, {1, -1, -1, 1}} {
		counts := slices.Clone(genuine)
		for i := range counts {
			counts[i] += moved[i]
		}
		tables[at].Statistics[0].Published = releasetest.Integers(counts)
		b, err := derive.Table(t.Context(), sealed.Plan, tables[at], planned, metadata)
		if err != nil {
			t.Fatal(err)
		}
		// relist takes the signature away
		for name, content := range map[string][]byte{planned.File(): b, published.SignatureFile: nil} {
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		releasetest.Relist(t, dir, planned.File(), b)
		if moved[0] == 0 {
			assertVerifies(t, dir, verify.Options{})
		} else {
			assertRefused(t, dir, verify.Options{}, planned.File(), "")
		}
	}
}

// TestCrossingTablesAreCountedFromMicrodata: tables that cross each other in a circle have the counts of the rows that
// are published beside them.
func TestCrossingTablesAreCountedFromMicrodata(t *testing.T) {
	spec := strings.Replace(releasetest.WalkSpec, "marginals: {modes: {by: [mode], budget: tables}}",
		"marginals: {modes: {by: [mode, hour, day, way], every: [3], budget: tables}}", 1) +
		"publish: {integers: consistent}\n"
	o := releasetest.With(t, spec, releasetest.WalkPolicy, releasetest.WalkRows())
	_, place := runRelease(t, o)
	rows := map[string]int64{}
	b, err := os.ReadFile(filepath.Join(place, "microdata", "t.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := published.EachRow(f, func(r parquet.Row) error {
		rows[r[0].String()+"|"+r[1].String()+"|"+r[3].String()]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	counts := sumsOf(t, place, "modes/mode_x_hour_x_way", "mode", "hour", "way")
	for key, n := range counts {
		if n != rows[key] {
			t.Errorf("%s: %d, and %d rows", key, n, rows[key])
		}
	}
	if len(counts) != 16 {
		t.Errorf("%d cells", len(counts))
	}
	table, err := os.ReadFile(filepath.Join(place, "tables", "modes", "mode_x_hour_x_way.parquet"))
	if err != nil || !bytes.Contains(table, []byte("counted from the microdata")) ||
		bytes.Contains(table, []byte("rounded and fitted")) {
		t.Errorf("%v: the table does not say that it is counted from the microdata", err)
	}
	assertVerifies(t, place, verify.Options{})
}
