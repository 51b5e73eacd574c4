package release

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verify"
)

// worker is a person of the labour force survey, who represents as many persons as the weight says.
type worker struct {
	age, hours, weight int
	sex, district      string
	status             string
}

// workers are made persons. Of each district a tenth are unemployed, in the south a fifth; three in ten are inactive,
// some of them by a status that the spec does not know.
func workers(n int) []worker {
	all := make([]worker, n)
	for i := range all {
		w := worker{age: i * 7 % 111, sex: []string{"female", "male"}[i%2], district: []string{"d1", "d2", "d3"}[i/2%3],
			weight: 200 + i%7*100, status: "employed"}
		switch k := i / 6 % 10; {
		case k < 3:
			w.status = []string{"inactive", "student"}[k%2]
		case k == 3 || k == 4 && w.district == "d3":
			w.status = "unemployed"
		default:
			w.hours = 20 + i/60%40
		}
		all[i] = w
	}
	return all
}

// TestTheLabourForceSurveyRunsFromEndToEnd runs a shared spec on made rows, but for the format of its source and the
// target of `ages`, which is widened from 500 to 10000: weights go up to 2000, so that a row moves a cell by as much,
// and a margin of 500 about each of 111 cells alone needs an ε of about 12, where the whole release has 2.
func TestTheLabourForceSurveyRunsFromEndToEnd(t *testing.T) {
	text, err := os.ReadFile(testkit.Shared(t, "specs/labour.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	spec := strings.NewReplacer(`{parquet: "data/lfs-${quarter}-*.parquet"}`, `{csv: "data/lfs-${quarter}-*.csv"}`,
		"margin: 500", "margin: 10000").Replace(string(text))
	const n = 42_000
	people := workers(n)
	var halves [2]strings.Builder
	for h := range halves {
		halves[h].WriteString("person_id,age,sex,region,status,hours,w\n")
		for i := h * n / 2; i < (h+1)*n/2; i++ {
			w := people[i]
			fmt.Fprintf(&halves[h], "%d,%d,%s,%s,%s,%d,%d\n", i, w.age, w.sex, w.district, w.status, w.hours, w.weight)
		}
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"release.yaml": spec,
		"policy.yaml": "account: lfs-panel\nprotects: person\nneighbours: add-remove\n" +
			"cap: {rho: 5, delta: 1e-6}\n",
		"geo/regions.csv": "district,label,state,state_label\nd1,One,s1,North\nd2,Two,s1,North\n" +
			"d3,Three,s2,South\n",
		"data/lfs-2026q1-1.csv": halves[0].String(), "data/lfs-2026q1-2.csv": halves[1].String(),
		"data/lfs-2025q4-1.csv": "no,survey,of,this,quarter\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: filepath.Join(dir, "release.yaml"),
		Params: map[string]string{"quarter": "2026q1"}})
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Out: filepath.Join(dir, "out"), Data: dir, Ledger: filepath.Join(dir, "ledger.db")}
	if _, err := (account.Ledger{Path: opt.Ledger}).Init(t.Context(), filepath.Join(dir, "policy.yaml")); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Base(r.Folder) != "labour-2026q1" {
		t.Errorf("published at %s", r.Folder)
	}
	assertVerifies(t, r.Folder, verify.Options{})

	// near checks that a figure is within six standard errors of that of the rows; a standard error is a quarter of it
	// at most.
	near := func(path string, at int64, name string, want float64) {
		t.Helper()
		got := readFigure(t, filepath.Join(r.Folder, "tables", path+".parquet"), at, name)
		if got.value == nil || got.low == nil || math.Abs(*got.value-want) > 3*(*got.high-*got.low)/2+1e-9*want ||
			math.Abs(*got.value-want) > want/4 {
			t.Errorf("%s, row %d: %s is %v, want %v", path, at, name, valueOf(got.value), want)
		}
		if testing.Verbose() {
			t.Logf("%s, row %d: %s %v … %v … %v, of the rows %v", path, at, name, valueOf(got.low), valueOf(got.value),
				valueOf(got.high), want)
		}
	}
	sum := func(of func(w worker) float64) (all float64) {
		for _, w := range people {
			all += float64(w.weight) * of(w)
		}
		return all
	}
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	known := func(status string) string {
		if status == "student" {
			return "inactive"
		}
		return status
	}
	inState := func(w worker, state string) bool { return (w.district == "d3") == (state == "s2") }
	at := int64(0)
	for _, state := range []string{"s1", "s2"} {
		for _, status := range []string{"employed", "unemployed", "inactive"} {
			near("status", at, "count",
				sum(func(w worker) float64 { return is(inState(w, state) && known(w.status) == status) }))
			at++
		}
	}
	at = 0
	for _, state := range []string{"s1", "s2"} {
		for _, sex := range []string{"female", "male"} {
			own := func(status string) float64 {
				return sum(func(w worker) float64 {
					return is(inState(w, state) && w.sex == sex &&
						w.status == status)
				})
			}
			near("rates", at, "unemployment_rate", own("unemployed")/(own("unemployed")+own("employed")))
			at++
		}
	}
	for at, district := range []string{"d1", "d2", "d3"} {
		count := sum(func(w worker) float64 { return is(w.district == district) })
		hours := sum(func(w worker) float64 { return is(w.district == district) * float64(w.hours) })
		near("hours", int64(at), "count", count)
		near("hours", int64(at), "hours_sum", hours)
		near("hours", int64(at), "hours_mean", hours/count)
	}
	ages := releasetest.Figures(t, r.Folder, "ages", "age", "count")
	if len(ages) != 111 {
		t.Errorf("%d ages", len(ages))
	}
	if b, err := os.Stat(filepath.Join(r.Folder, "microdata", "persons.parquet")); err != nil || b.Size() == 0 {
		t.Errorf("microdata: %v", err)
	}
}
