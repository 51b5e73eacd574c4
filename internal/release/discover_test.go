package release

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/parquet-go/parquet-go"
)

// TestGroupsThatNobodyListed goes all the way, under both relations and by both kinds of selection: large groups appear
// in order with figures of their customers, no word of one customer alone is in any file or log, and everything that
// reads a release reads it or says why not.
func TestGroupsThatNobodyListed(t *testing.T) {
	for _, of := range [][2]string{{"add-remove", "1"}, {"replace", "4"}} {
		t.Run(of[0]+" "+of[1], func(t *testing.T) {
			o := releasetest.Words(t, of[0], of[1])
			opt, place := runRelease(t, o)
			verified, err := verify.Folder(t.Context(), place, verify.Options{})
			if err != nil {
				t.Fatalf("%v\n%+v", err, verified)
			}
			checkWords(t, o, place)
			checkNoCanary(t, o.Dir)
			if _, err := query.Query(t.Context(), place, query.Question{By: []string{"word"}}); err == nil ||
				!strings.Contains(err.Error(), "a selection has let through") {
				t.Errorf("a question by words: %v", err)
			}
			checkWordTraces(t, o, place)
			opt.Out = filepath.Join(o.Dir, "private")
			if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
				t.Fatal(err)
			}
			v := readEvaluation(t, opt.Out)
			if len(v.Tables) != 1 || v.Tables[0].Path != "sides" ||
				!slices.ContainsFunc(v.Notes,
					func(note string) bool { return strings.Contains(note, "groups that nobody listed") }) {
				t.Errorf("the evaluation tells of %+v: %q", v.Tables, v.Notes)
			}
			page, err := os.ReadFile(filepath.Join(place, "report.md"))
			if err != nil || !bytes.Contains(page, []byte("Groups that nobody listed")) ||
				!bytes.Contains(page, []byte("need not be empty")) {
				t.Errorf("the report does not tell of groups: %v", err)
			}
		})
	}
}

// checkWords holds the published groups against the rows.
func checkWords(t *testing.T, o releasetest.Office, place string) {
	t.Helper()
	deviation := o.Plan.Tables[0].Statistics[0].StandardError
	var last []string
	found := 0
	for _, row := range releasetest.Figures(t, place, "words", "side", "word", "units", "units_unbiased", "units_low",
		"units_high") {
		keys := []string{map[string]string{"right": "0", "left": "1"}[row[0]], row[1]} // in the order of the spec
		if slices.Compare(last, keys) >= 0 {
			t.Errorf("group %q is out of order", row[:2])
		}
		last = keys
		n, known := releasetest.LargeWords[row[0]+"|"+row[1]]
		value, _ := strconv.Atoi(row[3])
		if !known || math.Abs(float64(value-n)) > 12*deviation {
			t.Errorf("row %q has %d customers, and noise of %g", row, n, deviation)
		}
		found++
	}
	if found != len(releasetest.LargeWords) {
		t.Errorf("%d groups of %d appear", found, len(releasetest.LargeWords))
	}
	s, err := measured.Open(filepath.Join(o.Dir, "out", "words.measured"), compiled.Read)
	if err != nil || len(s.Measured[0].Keys) != found {
		t.Errorf("the sealed folder has the keys %q: %v", s.Measured[0].Keys, err)
	}
}

// checkWordTraces follows every published group to its one noisy integer, and a word that nobody has, and one that one
// customer has, to the same sentence.
func checkWordTraces(t *testing.T, o releasetest.Office, place string) {
	t.Helper()
	for _, row := range releasetest.Figures(t, place, "words", "side", "word", "units_unbiased") {
		traced, err := trace.Cell(t.Context(), place, "words", []string{"side=" + row[0], "word=" + row[1]})
		if err != nil {
			t.Fatal(err)
		}
		if got := strconv.FormatFloat(traced.Sum, 'f', -1, 64); got != row[2] || traced.Choice == nil ||
			traced.Choice.Rank != 0 || traced.Choice.Of != int64(len(releasetest.LargeWords)) ||
			len(traced.Contributions) != 1 || traced.Statistic != "units" {
			t.Errorf("group %q is followed to %s: %+v", row, got, traced)
		}
	}
	var says []string
	for _, word := range []string{"nobody's", "canary-of-7"} {
		traced, err := trace.Cell(t.Context(), place, "words", []string{"side=left", "word=" + word})
		if err != nil || traced.Missing == nil || traced.Missing.Why != trace.NotSelected {
			t.Fatalf("%s: %+v, %v", word, traced, err)
		}
		says = append(says, traced.Missing.Says)
	}
	if says[0] != says[1] {
		t.Errorf("what is said of groups that are not there differs: %q", says)
	}
	if _, err := trace.Cell(t.Context(), place, "words", []string{"side=middle", "word=zebra"}); err == nil ||
		!strings.Contains(err.Error(), "no category of side") {
		t.Errorf("a side that there is not: %v", err)
	}
}

// checkNoCanary looks for words of one customer in every file that a run has left but its source. What is compressed
// was read before.
func checkNoCanary(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "t.csv" {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("canary-")) {
			t.Errorf("%s holds a word of one customer alone", path)
		}
		return err
	})
	if err != nil || files < 10 {
		t.Errorf("%d files: %v", files, err)
	}
}

// TestGroupsThatNobodyListedResume crashes behind the debit: the next run has the same groups and the same noise.
// A word replaced by another one, in as many groups, is another draw and is refused.
func TestGroupsThatNobodyListedResume(t *testing.T) {
	o := releasetest.Words(t, "add-remove", "2")
	opt := optionsOf(o, "out")
	drawn := crashAfterDebit(t, o, opt)
	file := filepath.Join(o.Dir, "t.csv")
	rows, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	moved := bytes.Replace(rows, []byte("canary-of-7,"), []byte("canary-of-g,"), 1)
	if err := os.WriteFile(file, moved, 0o600); err != nil || bytes.Equal(moved, rows) {
		t.Fatalf("no word was changed (%v)", err)
	}
	var changed *InputChanged
	if _, err := Measure(t.Context(), o.Plan, opt); !errors.As(err, &changed) {
		t.Fatalf("a row of another word: %v", err)
	}
	if err := os.WriteFile(file, rows, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "words"), compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Measured[0]; got.Measurement.ID != "words" || !slices.Equal(got.Values.Int64Values(), drawn["words"]) ||
		len(got.Keys) != len(releasetest.LargeWords) {
		t.Errorf("resumed to other groups or noise: %q %v, %v", got.Keys, got.Values, drawn["words"])
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// TestGroupsOfARehearsal makes words up.
func TestGroupsOfARehearsal(t *testing.T) {
	o := releasetest.Words(t, "add-remove", "1")
	place, err := Rehearse(t.Context(), o.Plan, 100_000, optionsOf(o, "rehearsal"))
	if err != nil {
		t.Fatal(err)
	}
	rows := releasetest.Figures(t, place, "words", "side", "word")
	for _, row := range rows {
		if !strings.HasPrefix(row[1], "word-") {
			t.Errorf("%q is made up", row)
		}
	}
	if len(rows) != 200 { // of 100 words on two sides, of some 500 rows each
		t.Errorf("%d groups are made up", len(rows))
	}
}

// TestTypesOfPublishedKeysDoNotDependOnWhatIsSelected releases tables of whole numbers that nobody listed, with and
// without groups that are selected: the type of their keys is that of the spec, and a table without a group says so.
func TestTypesOfPublishedKeysDoNotDependOnWhatIsSelected(t *testing.T) {
	for length, want := range map[string]parquet.Kind{"18": parquet.Int64, "20": parquet.ByteArray} {
		for _, many := range []int{1, 900} {
			rows := &strings.Builder{}
			rows.WriteString("customer,word,side\n")
			for i := range many {
				fmt.Fprintf(rows, "c%d,70,left\n", i)
			}
			text := strings.NewReplacer("NEIGHBOURS", "add-remove", "GROUPS", "1", "{discover: {max_length: 30}}",
				"{discover: {max_length: "+length+"}}, type: integer",
				", split: {words: 2/3, rest: 1/3}", "", ", budget: words", "",
				"  sides: {by: [side], stats: [units], budget: rest}\n", "").Replace(releasetest.WordSpec)
			o := releasetest.With(t, text, strings.ReplaceAll(releasetest.WordPolicy, "NEIGHBOURS", "add-remove"),
				rows.String())
			_, place := runRelease(t, o)
			f, err := os.Open(filepath.Join(place, "tables", "words.parquet"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			table, err := parquet.OpenFile(f, info.Size())
			if err != nil {
				t.Fatal(err)
			}
			if (table.NumRows() > 0) != (many > 1) {
				t.Fatalf("%d groups of %d customers", table.NumRows(), many)
			}
			key, ok := table.Schema().Lookup("word")
			if !ok || key.Node.Type().Kind() != want {
				t.Errorf("%d customers: keys of %s characters are %v, want %v", many, length, key.Node.Type(), want)
			}
			page, err := os.ReadFile(filepath.Join(place, "report.md"))
			if err != nil {
				t.Fatal(err)
			}
			if says := bytes.Contains(page,
				[]byte("No number is published: no group was selected")); says != (many == 1) ||
				bytes.Contains(page, []byte("Of the 0")) {
				t.Errorf("%d customers: the report says that nothing is published: %v", many, says)
			}
			if _, err := verify.Folder(t.Context(), place, verify.Options{}); err != nil {
				t.Errorf("%d customers: %v", many, err)
			}
		}
	}
}
