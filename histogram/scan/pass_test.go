package scan

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// A query of no factors counts all rows that stay.
func TestTotal(t *testing.T) {
	p := planOf(t, "NULL", "drop")
	total := plan.Measurement{ID: "total", Query: plan.Query{Table: "persons", Counted: counted.Rows{}}, Cells: 1,
		Selection: selection.All{}}
	dir := folder(t, "a.csv", many(5001)+strings.Repeat("p,,3\n", 7))
	got, err := countAll(p, []plan.Measurement{total}, 2, func(tally *tally) error {
		return tally.countFiles(context.Background(), source.Data{Dir: dir}, streams(p, 1).Rows(), 1<<30)
	})
	if err != nil || got[0].Counts[0] != 5001 { // tables that are shown leave rows out
		t.Errorf("got %v, %v", got, err)
	}
}

// filesWithBreaches is files of rows of which some break the contract, and what must be said of
// them: row by row, within a row column by column.
func filesWithBreaches(random *rand.Rand) (files []string, want []string) {
	chance := []int{3, 100, 30_000}[random.IntN(3)]
	for f := range 1 + random.IntN(3) {
		var b strings.Builder
		b.WriteString("kind,age,id\n")
		for row := range []int{1, 70, 66_000, 140_000}[random.IntN(4)] {
			kind, age, id := "a", "3", "7"
			say := func(column, kind, value string) {
				want = append(want, fmt.Sprintf("persons\t%s\t%s\t%d.csv\t%d\t%q", column, kind, f, row+1, value))
			}
			if random.IntN(chance) == 0 {
				kind = "x"
				say("kind", domain.OutOfDomain.String(), "x")
			}
			if random.IntN(chance) == 0 {
				age = ""
				say("age", "null", "(null)")
			}
			if random.IntN(2*chance) == 0 {
				id = ""
				say("id", "null id", "")
			}
			fmt.Fprintf(&b, "%s,%s,%s\n", kind, age, id)
		}
		files = append(files, fmt.Sprintf("%d.csv", f), b.String())
	}
	return files, want
}

// Whatever the workers, and wherever pieces end, what is said of breaches is what is
// met first in reading order: of each column and kind as many as are kept.
func TestBreachesAreThoseMetFirst(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	for seed := range uint64(16) {
		random := rand.New(rand.NewPCG(seed, 1))
		files, all := filesWithBreaches(random)
		var want []string
		kept := map[string]int{}
		for _, line := range all {
			fields := strings.Split(line, "\t")
			if what := fields[1] + fields[2]; kept[what] < columnLimit && len(want) < breachLimit {
				kept[what]++
				want = append(want, line)
			}
		}
		dir := folder(t, files...)
		err := errorOf(t, p, Files{Dir: dir, Options: Options{Workers: 1 + random.IntN(8)}})
		var contract *ContractError
		if !errors.As(err, &contract) {
			if err != nil || len(want) > 0 {
				t.Fatalf("seed %d: %v, want %d breaches", seed, err, len(want))
			}
			continue
		}
		var b strings.Builder
		if err := contract.WriteDiagnostics(&b); err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSpace(strings.ReplaceAll(b.String(), fmt.Sprintf("%q", dir+"/")[:len(dir)+2],
			"")),
			"\n")[2:]
		for i := range got {
			got[i] = strings.Replace(got[i], ".csv\"", ".csv", 1)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d breaches, want %d; the first are\n%s\nwant\n%s", seed, len(got), len(want),
				strings.Join(got[:min(3, len(got))], "\n"), strings.Join(want[:min(3, len(want))], "\n"))
		}
	}
}

// An error of a later file is told where no breach comes before it, and a breach where
// it does, whatever the workers and whether or not units are bounded first.
func TestWhatComesFirstIsTold(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	const torn = "kind,age,id\na,3,7\n\"b,4,8\n"
	for _, unit := range []string{"row", "{id: id, max_rows: 1}"} {
		p := planOf(t, "UNIT", unit)
		for name, c := range map[string]struct {
			files  []string
			breach bool
		}{
			"torn":          {[]string{"a.csv", "kind,age,id\na,3,7\n", "b.csv", torn}, false},
			"breach, torn":  {[]string{"a.csv", "kind,age,id\nx,3,7\n", "b.csv", torn}, true},
			"torn, breach":  {[]string{"a.csv", torn, "b.csv", "kind,age,id\nx,3,7\n"}, false},
			"torn, null id": {[]string{"a.csv", torn, "b.csv", "kind,age,id\nx,3,\n"}, false},
		} {
			for range 20 {
				err := errorOf(t, p, Files{Dir: folder(t, c.files...)})
				var contract *ContractError
				var damaged *source.Error
				if errors.As(err, &contract) != c.breach || errors.As(err, &damaged) == c.breach {
					t.Fatalf("%s, %s: %v", unit, name, err)
				}
			}
		}
	}
}

// Files must be what they were when units were bounded.
func TestFilesThatChangeBetweenPassesAreRefused(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	r := p.Release()
	for name, change := range map[string]func(dir string) error{
		"untouched": func(string) error { return nil },
		"rewritten": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "a.csv"), []byte(many(91)),
				0o600)
		},
		"replaced": func(dir string) error {
			if err := os.WriteFile(filepath.Join(dir, "new"), []byte(many(90)), 0o600); err != nil {
				return err
			}
			return os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "a.csv"))
		},
		"times put back": func(dir string) error {
			path := filepath.Join(dir, "a.csv")
			was, err := os.Stat(path)
			if err != nil {
				return err
			}
			if err := os.WriteFile(path, []byte(strings.ReplaceAll(many(90), ",a,", ",b,")), 0o600); err != nil {
				return err
			}
			return os.Chtimes(path, was.ModTime(), was.ModTime())
		},
		"another file": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "b.csv"), []byte(many(90)),
				0o600)
		},
		"one less": func(dir string) error { return os.Remove(filepath.Join(dir, "c.csv")) },
	} {
		if name == "times put back" && runtime.GOOS != "linux" {
			continue // others do not say when a file was touched
		}
		dir := folder(t, "a.csv", many(90), "c.csv", many(30))
		tally, err := newTally(r, r.Tables[0], p.Measurements, nil, 2)
		if err != nil {
			t.Fatal(err)
		}
		first, own, err := tally.boundUnits(t.Context(), source.Data{Dir: dir}, streams(p, 1).Rows(), 1<<30)
		if err == nil {
			err = change(dir)
		}
		if err != nil {
			t.Fatal(err)
		}
		err = tally.countRows(t.Context(), source.Data{Dir: dir}, first, []*bounding.KeptRows{own}, 1<<30)
		var e *source.Error
		if refused := errors.As(err, &e) &&
			strings.Contains(e.Message, "was changed"); refused != (name != "untouched") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is noted of a piece is the file that it is read from, not what its path names by then.
func TestPiecesAreOfTheFileThatIsOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file is not replaced there")
	}
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	tally, err := newTally(p.Release(), p.Release().Tables[0], p.Measurements, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, "a.csv", many(500_000), "b", many(500_000)) // several blocks
	path := filepath.Join(dir, "a.csv")
	opened, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	read := &pass{tally: tally, ids: true}
	if read.rows, err = source.Open(t.Context(), source.Data{Dir: dir}, tally.table,
		[]source.Column{{Name: "id"}}); err != nil {
		t.Fatal(err)
	}
	defer read.rows.Close()
	first := read.nextPiece(t.Context())
	if err := os.Rename(filepath.Join(dir, "b"), path); err != nil || first == nil {
		t.Fatal(first, err)
	}
	if read.nextPiece(t.Context()) == nil {
		t.Fatal("the file is one piece")
	}
	for i, r := range read.read {
		if !os.SameFile(r.info, opened) {
			t.Errorf("piece %d is noted as one of another file", i)
		}
	}
	for read.nextPiece(t.Context()) != nil {
	}
	if runtime.GOOS == "linux" && read.complete { // others do not say when a file was touched
		t.Error("a file that was replaced meanwhile is read to its end")
	}
}

// A file without rows that has some when they are counted was changed.
func TestFilesThatGrowFromNothingAreRefused(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	r := p.Release()
	dir := folder(t, "a.csv", "id,kind,age\n")
	tally, err := newTally(r, r.Tables[0], p.Measurements, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	first, own, err := tally.boundUnits(t.Context(), source.Data{Dir: dir}, streams(p, 1).Rows(), 1<<30)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "a.csv"), []byte(many(90)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var e *source.Error
	if err = tally.countRows(t.Context(), source.Data{Dir: dir}, first, []*bounding.KeptRows{own},
		1<<30); !errors.As(err, &e) ||
		!strings.Contains(e.Message, "was changed") {
		t.Errorf("%v", err)
	}
}

// Ids that cannot be used are an error of the file that holds the first of them, unless
// a breach comes before it.
func TestIDsOfOtherFilesAreNamed(t *testing.T) {
	p := planOf(t, "csv: \"*.csv\"", "arrow: \"*.arrow\"", "UNIT", "{id: id, max_rows: 1}")
	schema := func(id arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: "id", Type: id}, {Name: "kind", Type: arrow.BinaryTypes.String},
			{Name: "age", Type: arrow.PrimitiveTypes.Int64}}, nil)
	}
	write := func(dir, name string, id arrow.DataType, ids, kinds string) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema(id)))
		if err != nil {
			t.Fatal(err)
		}
		columns := []arrow.Array{histogramtest.FromJSON(t, id, ids),
			histogramtest.FromJSON(t, arrow.BinaryTypes.String, kinds),
			histogramtest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[3, 4]`)}
		if err := errors.Join(w.Write(array.NewRecord(schema(id), columns, 2)), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		second     arrow.DataType
		ids, kinds string
		breach     bool
	}{
		"text after integers":           {arrow.BinaryTypes.String, `["7", "8"]`, `["a", "b"]`, false},
		"floats":                        {arrow.PrimitiveTypes.Float64, `[7, 8]`, `["a", "b"]`, false},
		"text after a breach before it": {arrow.BinaryTypes.String, `["7", "8"]`, `["x", "b"]`, true},
	} {
		dir := t.TempDir()
		write(dir, "1.arrow", arrow.PrimitiveTypes.Int64, `["7", "8"]`, c.kinds)
		write(dir, "2.arrow", c.second, c.ids, `["a", "b"]`)
		err := errorOf(t, p, Files{Dir: dir})
		var contract *ContractError
		var e *source.Error
		if errors.As(err, &contract) != c.breach || !c.breach && (!errors.As(err, &e) || e.Kind != source.WrongType ||
			e.Column != "id" || filepath.Base(e.File) != "2.arrow") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An entry of a dictionary that no row refers to breaks no contract, and leaves no row out.
func TestUnusedEntriesOfFiles(t *testing.T) {
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "kind", Type: of}, {Name: "age", Type: arrow.PrimitiveTypes.Int64}},
		nil)
	kinds := array.NewDictionaryArray(of, histogramtest.FromJSON(t, arrow.PrimitiveTypes.Int32, `[3, 1, 1, 3]`),
		histogramtest.FromJSON(t, arrow.BinaryTypes.String, `["x", "c", "y", "a"]`))
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "a.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	record := array.NewRecord(schema,
		[]arrow.Array{kinds, histogramtest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[1, 2, 2, 1]`)}, 4)
	if err := errors.Join(w.Write(record), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, unknown := range []string{"error", "drop"} {
		p := planOf(t, "csv: \"*.csv\"", "arrow: \"*.arrow\"", "UNKNOWN", unknown)
		all := countsOf(t, exactOf(t, p, dir, 1), "all")
		if all[1] != 2 || all[22] != 2 || total(all) != 4 {
			t.Errorf("unknown: %s: %v", unknown, all)
		}
	}
}

// Cancelling ends the count and leaves no file behind, wherever it comes.
func TestCancelledOnTheWay(t *testing.T) {
	for _, unit := range []string{"row", "{id: id, max_rows: 1}"} {
		p := planOf(t, "UNIT", unit)
		dir := folder(t, "a.csv", many(150_000))
		t.Setenv("TMPDIR", t.TempDir())
		ctx, cancel := context.WithCancel(context.Background())
		ctx = progress.Watch(ctx, func(progress.Progress) { cancel() })
		_, err := histogram.Count(ctx, compiled.Of(p), Files{Dir: dir,
			Options: Options{MemoryLimit: memory.Bytes(p) + 1}}, streams(p, 1))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("unit %s: got %v", unit, err)
		}
		if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
			t.Errorf("unit %s: left behind: %v, %v", unit, left, err)
		}
	}
}

// Each reading of a file is a step of its own, which names the table and ends with the whole file, whatever the format:
// what is shown is the share of its bytes, and neither a number of rows nor any other count.
func TestProgress(t *testing.T) {
	const rows = 100_000
	packed := &bytes.Buffer{}
	z := gzip.NewWriter(packed)
	if _, err := z.Write([]byte(many(rows))); err != nil {
		t.Fatal(err)
	}
	z.Close()
	for name, text := range map[string]string{".csv": many(rows), ".csv.gz": packed.String()} {
		for unit, steps := range map[string][]string{
			"row":                   {"counting persons"},
			"{id: id, max_rows: 1}": {"counting persons, reading 1 of 2", "counting persons, reading 2 of 2"},
		} {
			p := planOf(t, "UNIT", unit)
			p.Release().Tables[0].Source.Paths = []string{"*" + name}
			dir := folder(t, "1"+name, text)
			for _, other := range []string{"2", "3"} {
				if err := os.WriteFile(filepath.Join(dir, other+name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var seen []progress.Progress
			ctx := progress.Watch(t.Context(), func(at progress.Progress) { seen = append(seen, at) })
			tally, err := newTally(p.Release(), p.Release().Tables[0], p.Measurements, nil, 2)
			if err != nil {
				t.Fatal(err)
			}
			if err := tally.countFiles(ctx, source.Data{Dir: dir}, streams(p, 1).Rows(), 1<<30); err != nil {
				t.Fatal(err)
			}
			var last progress.Progress
			between := 0
			for _, at := range seen {
				if at.Number > len(steps) || at.Step != steps[at.Number-1] || !at.Known || !at.Confidential {
					t.Fatalf("%s, unit %s: %+v", name, unit, at)
				}
				switch {
				case at.Number != last.Number:
					if at.Share != 0 || last.Number > 0 && last.Share != progress.Whole {
						t.Errorf("%s, unit %s: %+v after %+v", name, unit, at, last)
					}
				case at.Share <= last.Share:
					t.Errorf("%s, unit %s: %+v after %+v", name, unit, at, last)
				case at.Share < progress.Whole:
					between++
				}
				last = at
			}
			if last.Number != len(steps) || last.Share != progress.Whole || between < len(steps) {
				t.Errorf("%s, unit %s: %+v, %d reports on the way", name, unit, last, between)
			}
		}
	}
}

// Made-up rows are counted with progress that is not confidential.
func TestProgressOfMadeUpRows(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	var seen []progress.Progress
	ctx := progress.Watch(t.Context(), func(at progress.Progress) { seen = append(seen, at) })
	if _, err := histogram.Count(ctx, compiled.Of(p), MadeUp{Rows: 100_000}, streams(p, 1)); err != nil {
		t.Fatal(err)
	}
	if len(seen) < 3 || seen[0] != (progress.Progress{Number: 1, Step: "counting made-up rows of persons",
		Known: true}) ||
		seen[len(seen)-1].Share != progress.Whole {
		t.Errorf("%+v", seen)
	}
	var small *memory.Error
	if err := errorOf(t, p, MadeUp{Rows: 10, Options: Options{MemoryLimit: 1}}); !errors.As(err, &small) {
		t.Errorf("in a byte of memory: %v", err)
	}
}

// Codes of one, two and four bytes are counted, left out and judged alike, bounded or not.
func TestCodesOfAllWidths(t *testing.T) {
	const text = `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1}
tables:
  t:
    source: {csv: t.csv}
    unit: UNIT
    columns:
      short: {type: integer, range: [0, 9], unknown: drop}
      middle: {type: integer, range: [0, 299], unknown: drop, levels: {tens: {width: 10}}}
      long: {type: integer, range: [0, 69999], unknown: drop, levels: {part: {width: 10000}}}
impossible:
  - {where: {short: [1, 2], middle.tens: 0–9, long.part: 0–9999}, rows: drop}
marginals:
  a: {by: [short, long.part]}
  b: {by: [middle.tens, short]}
  c: {by: [long]}
`
	random := rand.New(rand.NewPCG(5, 5))
	a, b, c := make([]int64, 70), make([]int64, 300), make([]int64, 70000)
	var rows strings.Builder
	rows.WriteString("id,short,middle,long\n")
	for row := range 100_000 {
		short, middle, long := random.IntN(11), random.IntN(31)*10, random.IntN(8)*9999
		fmt.Fprintf(&rows, "%d,%d,%d,%d\n", row, short, middle, long)
		if short > 9 || middle > 299 || long > 69999 || (short == 1 || short == 2) && middle < 10 && long < 10000 {
			continue
		}
		a[7*short+long/10000]++
		b[10*(middle/10)+short]++
		c[long]++
	}
	dir := folder(t, "t.csv", rows.String())
	for _, unit := range []string{"row", "{id: id, max_rows: 1}"} { // each row has a unit of its own
		r, err := spec.Parse(spec.Source{Name: "r.yaml", Text: strings.ReplaceAll(text, "UNIT", unit)})
		if err != nil {
			t.Fatal(err)
		}
		p, err := planner.New(r)
		if err != nil {
			t.Fatal(err)
		}
		e := exactOf(t, p.Plan(), dir, 1)
		for path, want := range map[string][]int64{"a": a, "b": b, "c": c} {
			if got := countsOf(t, e, path); !slices.Equal(got, want) {
				t.Errorf("unit %s, %s: other counts than row by row: %d rows, want %d", unit, path, total(got),
					total(want))
			}
		}
	}
}
