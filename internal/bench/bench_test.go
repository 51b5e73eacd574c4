package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestMain lets this program be its own child, as the command is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// documentOf runs the whole way with few rows.
func documentOf(t *testing.T, cases, peers string) document {
	t.Helper()
	var out, said bytes.Buffer
	err := run(t.Context(), []string{"-rows", "20000", "-runs", "1", "-cases", cases, "-peers", peers, "-dir",
		t.TempDir(),
		"-json"}, &out, &said)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var d document
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if !d.Agree || len(d.Cases) != 1+strings.Count(cases, ",") {
		t.Fatalf("%d cases, which agree: %v", len(d.Cases), d.Agree)
	}
	for _, c := range d.Cases {
		if ours := c.Entries[0]; ours.Who != ownName || ours.Runs != 1 || !(ours.Wall > 0) || ours.Counted != c.Tables {
			t.Errorf("%s: we have %+v", c.Case, ours)
		}
	}
	return d
}

// We count what was made, by hash and by tables of several kinds of file.
func TestWeAgree(t *testing.T) {
	d := documentOf(t, "pairs,spilled,csv", "")
	var text bytes.Buffer
	if err := d.write(&text); err != nil || !strings.Contains(text.String(), "All counts agree") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// A model is fitted and published by the command, whose time and memory are measured.
func TestAModelIsRun(t *testing.T) {
	d := documentOf(t, "model", "")
	if e := d.Cases[0].Entries[0]; runtime.GOOS == "linux" && !(e.Peak > 10*megabyte) || !(e.CPU > 0) {
		t.Errorf("measured %+v", e)
	}
	var bars []string
	for _, v := range d.Cases[0].Bars {
		bars = append(bars, v.Verdict)
	}
	if !slices.Equal(bars, []string{notJudged, met}) && runtime.GOOS == "linux" {
		t.Errorf("bars: %q", bars)
	}
}

// Peers that are there count what was made; those that are not are not measured.
func TestPeersAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("starts python3 ten times")
	}
	for _, c := range documentOf(t, "four,bounded", "duckdb,polars").Cases {
		for _, e := range c.Entries[1:] {
			there := exec.Command("python3", "-c", "import "+e.Who).Run() == nil
			if measured := e.Runs > 0; measured != there {
				t.Errorf("%s: %s is there: %v, was measured: %v", c.Case, e.Who, there, measured)
			}
			if !there {
				t.Logf("%s is not there: python3 cannot import it", e.Who)
			}
		}
	}
}

// Counts other than those made are noticed, of one cell and of one row.
func TestWrongCountsAreNoticed(t *testing.T) {
	few := table{rows: 5000}
	file, err := few.pathOf(t.TempDir(), "parquet")
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*reference){
		"four": func(r *reference) {
			hash := hashOf([]uint32{1})
			r.hashes["g,h,i,j"] = hex.EncodeToString(hash[:])
		},
		"bounded": func(r *reference) { r.rows -= 1000 },
	} {
		c, err := caseOf(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.countReference(few)
		if err != nil {
			t.Fatal(err)
		}
		for spoilt := range 2 {
			if spoilt == 1 {
				spoil(r)
			}
			out, err := c.countExact(t.Context(), job{Case: name, File: file, Rows: r.rows, Hashes: r.hashes})
			if err != nil {
				t.Fatal(err)
			}
			if noticed := len(out.Differ) > 0; noticed != (spoilt == 1) {
				t.Errorf("%s: the reference is spoilt: %v, noticed: %v", name, spoilt == 1, out.Differ)
			}
		}
	}
}

func TestTallies(t *testing.T) {
	got := tallyOf([]uint32{3, 0, 7, 50_000_000})
	want := new(big.Int)
	for cell, n := range map[int64]int64{0: 3, 2: 7, 3: 50_000_000} {
		x := big.NewInt(cell)
		x.Mul(x, big.NewInt(weightA)).Add(x, big.NewInt(weightB)).Exp(x, big.NewInt(2), big.NewInt(weightP))
		want.Add(want, x.Mul(x, big.NewInt(n)))
	}
	if got.Cells != 3 || got.Total != 50_000_010 || !want.IsInt64() || got.Sum != want.Int64() {
		t.Errorf("got %+v, want a sum of %s", got, want)
	}
	if tallyOf([]uint32{7, 0, 3, 50_000_000}).Sum == got.Sum {
		t.Error("two counts that have changed places have one sum")
	}
	all := tallies{"a,b": {1, 2, 3}, "a,c": {1, 2, 3}, "a,d": {1, 9, 3}, "x": {}}
	made := tallies{"a,b": {1, 2, 3}, "a,c": {1, 2, 4}, "a,d": {1, 2, 3}, "b,c": {1, 2, 3}}
	for totals, want := range map[bool][]string{false: {"a,c", "a,d", "x"}, true: {"a,d", "x"}} {
		names := all.differing(made, totals)
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("totals alone %v: %q differ, want %q", totals, names, want)
		}
	}
}

// The table follows the law that is written above it. Tests are at 1e-9; the seed is fixed,
// so they pass always or never.
func TestLawOfTheTable(t *testing.T) {
	made := table{rows: 300_000}
	of := make([]int, made.allPersons())
	counts := make([][]float64, len(columns))
	for c := range counts {
		counts[c] = make([]float64, columns[c].Size)
	}
	first := map[uint32][]uint8{} // of persons, the codes of their first row
	same, again := 0, 0           // of the last column in later rows
	last := len(columns) - 1
	err := made.makeRows(func(b *block) error {
		for i, person := range b.person {
			of[person]++
			codes, seen := first[person]
			if !seen {
				for c := range columns {
					codes = append(codes, b.codes[c][i])
				}
				first[person] = codes
				for c, code := range codes { // rows of one person depend on each other; first rows do not
					counts[c][code]++
				}
				continue
			}
			if again++; codes[last] == b.codes[last][i] {
				same++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	persons := float64(len(first))
	for c, column := range columns {
		var harmonic, square float64
		for code := range column.Size {
			harmonic += 1 / float64(code+1)
		}
		for code, n := range counts[c] {
			want := persons / float64(code+1) / harmonic
			square += (n - want) * (n - want) / want
		}
		if limit := (distuv.ChiSquared{K: float64(column.Size - 1)}).Quantile(1 - 1e-9); square > limit {
			t.Errorf("column %s: chi-square %.1f, above %.1f", column.Name, square, limit)
		}
	}
	// Half of the values stay; of the others the same share is equal as of two independent draws.
	var harmonic, collide float64
	for code := range columns[last].Size {
		harmonic += 1 / float64(code+1)
	}
	for code := range columns[last].Size {
		collide += 1 / float64((code+1)*(code+1)) / (harmonic * harmonic)
	}
	stay, want := float64(same)/float64(again), 0.5+0.5*collide
	// Persons are few for the rows of heavy ones, so the deviation is taken for persons with
	// a second row, of which there are more than a third as many as rows.
	if deviation := 6.1 * math.Sqrt(0.25/(persons/3)); math.Abs(stay-want) > deviation {
		t.Errorf("%.4f of the values are as before, want %.4f ± %.4f", stay, want, deviation)
	}
	heavy := 0
	for _, n := range of[:made.heavyPersons()] {
		heavy += n
	}
	if deviation := 6.1 * math.Sqrt(300_000*0.01*0.99); math.Abs(float64(heavy)-3000) > deviation {
		t.Errorf("heavy persons have %d rows, want 3000 ± %.0f", heavy, deviation)
	}
	// λ = 3 rows for each of the others, so those that occur have 3/(1−e⁻³) = 3.157.
	if each := float64(made.rows-heavy) / (persons - float64(made.heavyPersons())); math.Abs(each-3.157) > 0.03 {
		t.Errorf("persons that occur have %.3f rows on average", each)
	}
}

// The same table is made every time, and its ids and texts are what the cases take them for.
func TestTableIsFixed(t *testing.T) {
	var first, second bytes.Buffer
	for _, to := range []*bytes.Buffer{&first, &second} {
		if err := (table{rows: 3000}).writeCSV(to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the second table is another")
	}
	ids := map[int64]bool{}
	for person := range uint32(100_000) {
		ids[personNumber(person)] = true
	}
	if len(ids) != 100_000 {
		t.Errorf("100000 persons have %d ids", len(ids))
	}
	for _, c := range columns {
		values := c.texts()
		if !slices.IsSorted(values) || slices.ContainsFunc(values, func(v string) bool { return len(v) != 15 }) {
			t.Errorf("column %s has the values %q", c.Name, values)
		}
	}
}

// Every case is a spec that the language takes, and its plan measures the tables themselves.
func TestCasesAreSpecs(t *testing.T) {
	for _, c := range allCases {
		text := c.specText("t." + c.format)
		if c.model {
			text = modelText("t."+c.format, judgedFrom)
		}
		r, err := spec.Parse(spec.Source{Name: "bench.yaml", Text: text})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if c.name == "triples" && testing.Short() {
			continue // seconds to plan
		}
		p, err := planner.New(r)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var names []string
		for _, m := range p.Measurements {
			names = append(names, tableOf(m))
		}
		var want []string
		for _, places := range c.tables {
			want = append(want, nameOf(places))
		}
		slices.Sort(names)
		slices.Sort(want)
		if !slices.Equal(names, want) || c.model != (len(p.Models) == 1 && p.Models[0].RoundCount() == 13+150*12) {
			t.Errorf("%s: the plan measures %q, and has %d models", c.name, names, len(p.Models))
		}
	}
	for n, want := range map[int]int{2: 66, 3: 220} {
		if got := len(columnSets(n)); got != want {
			t.Errorf("there are %d sets of %d columns, want %d", got, n, want)
		}
	}
	if cells := allCases[3].totalCells(); cells != 18_207_000 {
		t.Errorf("the wide table has %d cells", cells)
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{
		{"-cases", "quads"}, {"-peers", "excel"}, {"-rows", "0"}, {"-runs", "0"}, {"-threads", "0"}, {"pairs"},
		{"-child", "{"}, {"-child", "{}"},
	} {
		var out bytes.Buffer
		if err := run(t.Context(), args, &out, &out); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	cases, err := casesOf("wide,pairs,wide")
	if err != nil || len(cases) != 2 || cases[0].name != "pairs" || cases[1].name != "wide" {
		t.Errorf("%v, %v", cases, err)
	}
}

func TestBars(t *testing.T) {
	r := result{Rows: 20_000_000, FileBytes: 600 * megabyte, Entries: []entry{
		{Who: ownName, Runs: 5, Wall: 0.5, CPU: 1, Peak: 100 * megabyte},
		{Who: "duckdb", Form: "direct", Runs: 1, Wall: 9, CPU: 16},
		{Who: "duckdb", Form: "encoded", Runs: 5, Wall: 6, CPU: 11},
		{Who: "polars"},
	}}
	r.setRatios()
	if r.Entries[2].Times != 12 || r.Entries[2].TimesCPU != 11 || r.Entries[3].Times != 0 {
		t.Errorf("ratios %+v", r.Entries)
	}
	absent := r
	absent.Entries = r.Entries[:1]
	for _, c := range []struct {
		bar  bar
		of   result
		want string
	}{
		{bar{cpuAtMost, 0.5}, r, met}, {bar{cpuAtMost, 0.49}, r, missed},
		{bar{timesFast, 12}, r, met}, {bar{timesFast, 13}, r, missed}, {bar{timesFast, 1}, absent, notMeasured},
		{bar{peakAtMost, 100 * megabyte}, r, met}, {bar{peakAtMost, 99 * megabyte}, r, missed},
		{bar{perCore, 600 * megabyte}, r, met}, {bar{perCore, 601 * megabyte}, r, missed},
	} {
		if v := c.bar.verdictOn(c.of); v.Verdict != c.want {
			t.Errorf("%+v: %+v, want %s", c.bar, v, c.want)
		}
	}
}

// Whoever counted anything else fails the run, and is named.
func TestDisagreement(t *testing.T) {
	outcomes := []*outcome{{Wall: 1, Done: 66}, {Wall: 3, Done: 60, Differ: []string{"a,b"}},
		{Wall: 2, Done: 66, Differ: []string{"a,b"}}}
	e := entryOf(contender{who: "duckdb"}, outcomes, 66)
	if !slices.Equal(e.Differ, []string{"a,b"}) || e.Counted != 60 || e.Wall != 2 || e.Runs != 3 {
		t.Errorf("%+v", e)
	}
	d := document{Cases: []result{{Tables: 66, Entries: []entry{{Who: ownName, Runs: 1}, e, {Who: "polars"}}}}}
	var text bytes.Buffer
	if err := d.write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"DIFFER in 1: a,b", "COUNTS DISAGREE", notMeasured} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, text.String())
		}
	}
	if median([]float64{4, 1, 3, 2}) != 2.5 {
		t.Error("the median of 1, 2, 3, 4 is not 2.5")
	}
}

func TestProcessor(t *testing.T) {
	const text = "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\n" +
		"model\t\t: 3\n"
	if got := processorName(text); got != "AMD EPYC (family 26, model 2)" {
		t.Errorf("got %q", got)
	}
	if got := processorName("no such thing"); got != "" {
		t.Errorf("got %q", got)
	}
}
