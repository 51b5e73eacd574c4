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
	"github.com/parquet-go/parquet-go"
)

// wordSpec has groups that nobody listed beside listed ones, and a table of listed ones alone.
const wordSpec = `version: 1
release: words
privacy: {protects: customer, neighbours: NEIGHBOURS, account: trips}
budget: {epsilon: 4, delta: 1e-9, split: {words: 2/3, rest: 1/3}}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: customer, max_rows: 4}
    columns:
      word: {values: {discover: {max_length: 30}}, unknown: drop, null: drop}
      side: {values: [right, left]}
marginals:
  words: {by: [side, word], stats: [units], per_unit: {groups: GROUPS}, budget: words}
  sides: {by: [side], stats: [units], budget: rest}
`

const wordPolicy = "account: trips\nprotects: customer\nneighbours: NEIGHBOURS\ncap: {rho: 5, delta: 1e-6}\n"

// largeWords are groups of many customers; besides, a thousand customers have a word of their own.
var largeWords = map[string]int{"left|Ärger, groß": 700, "left|zebra": 900, "right|  spaces": 800, "right|zebra": 1000}

func wordOffice(t *testing.T, neighbours, groups string) office {
	t.Helper()
	rows := &strings.Builder{}
	rows.WriteString("customer,word,side\n")
	for group, n := range largeWords {
		side, word, _ := strings.Cut(group, "|")
		for i := range n {
			for range 1 + i%3 { // of several rows each counts once
				fmt.Fprintf(rows, "%s-%d,\"%s\",%s\n", strings.Map(onlyLetters, group), i, word, side)
			}
		}
	}
	for i := range 1000 {
		fmt.Fprintf(rows, "own%d,canary-of-%d,left\n", i, i)
	}
	rows.WriteString("long,canary-" + strings.Repeat("x", 40) + ",left\n")
	replace := strings.NewReplacer("NEIGHBOURS", neighbours, "GROUPS", groups)
	return officeWith(t, replace.Replace(wordSpec), replace.Replace(wordPolicy), rows.String())
}

func onlyLetters(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}

// TestGroupsThatNobodyListed goes all the way, under both relations and by both kinds of selection: large groups appear in
// order with figures of their customers, no word of one customer alone is in any file or log, and everything that reads a
// release reads it or says why not.
func TestGroupsThatNobodyListed(t *testing.T) {
	for _, of := range [][2]string{{"add-remove", "1"}, {"replace", "4"}} {
		t.Run(of[0]+" "+of[1], func(t *testing.T) {
			o := wordOffice(t, of[0], of[1])
			opt, place := o.run(t)
			verified, err := Verify(t.Context(), place, VerifyOptions{})
			if err != nil {
				t.Fatalf("%v\n%+v", err, verified)
			}
			o.checkWords(t, place)
			checkNoCanary(t, o.dir)
			if _, err := Query(t.Context(), place, Question{By: []string{"word"}}); err == nil || !strings.Contains(err.Error(), "a selection has let through") {
				t.Errorf("a question by words: %v", err)
			}
			o.checkWordTraces(t, place)
			opt.Out = filepath.Join(o.dir, "private")
			if err := evaluateTo(t.Context(), o.plan, place, opt); err != nil {
				t.Fatal(err)
			}
			v := readEvaluation(t, opt.Out)
			if len(v.Tables) != 1 || v.Tables[0].Path != "sides" || !slices.ContainsFunc(v.Notes, func(note string) bool { return strings.Contains(note, "groups that nobody listed") }) {
				t.Errorf("the evaluation tells of %+v: %q", v.Tables, v.Notes)
			}
			page, err := os.ReadFile(filepath.Join(place, "report.md"))
			if err != nil || !bytes.Contains(page, []byte("Groups that nobody listed")) || !bytes.Contains(page, []byte("need not be empty")) {
				t.Errorf("the report does not tell of groups: %v", err)
			}
		})
	}
}

// checkWords holds the published groups against the rows.
func (o office) checkWords(t *testing.T, place string) {
	t.Helper()
	deviation := o.plan.Tables[0].Statistics[0].StandardError
	var last []string
	found := 0
	for _, row := range figuresOf(t, place, "words", "side", "word", "units", "units_unbiased", "units_low", "units_high") {
		keys := []string{map[string]string{"right": "0", "left": "1"}[row[0]], row[1]} // in the order of the spec
		if slices.Compare(last, keys) >= 0 {
			t.Errorf("group %q is out of order", row[:2])
		}
		last = keys
		n, known := largeWords[row[0]+"|"+row[1]]
		value, _ := strconv.Atoi(row[3])
		if !known || math.Abs(float64(value-n)) > 12*deviation {
			t.Errorf("row %q has %d customers, and noise of %g", row, n, deviation)
		}
		found++
	}
	if found != len(largeWords) {
		t.Errorf("%d groups of %d appear", found, len(largeWords))
	}
	s, err := measured.Open(filepath.Join(o.dir, "out", "words.measured"))
	if err != nil || len(s.Measured[0].Keys) != found {
		t.Errorf("the sealed folder has the keys %q: %v", s.Measured[0].Keys, err)
	}
}

// checkWordTraces follows every published group to its one noisy integer, and a word that nobody has, and one that one customer
// has, to the same sentence.
func (o office) checkWordTraces(t *testing.T, place string) {
	t.Helper()
	for _, row := range figuresOf(t, place, "words", "side", "word", "units_unbiased") {
		trace, err := TraceCell(t.Context(), place, "words", []string{"side=" + row[0], "word=" + row[1]})
		if err != nil {
			t.Fatal(err)
		}
		if got := strconv.FormatFloat(trace.Sum, 'f', -1, 64); got != row[2] || trace.Choice == nil || trace.Choice.Place != 0 || trace.Choice.Of != int64(len(largeWords)) ||
			len(trace.Bearings) != 1 || trace.Statistic != "units" {
			t.Errorf("group %q is followed to %s: %+v", row, got, trace)
		}
	}
	var says []string
	for _, word := range []string{"nobody's", "canary-of-7"} {
		trace, err := TraceCell(t.Context(), place, "words", []string{"side=left", "word=" + word})
		if err != nil || trace.Missing == nil || trace.Missing.Why != notSelected {
			t.Fatalf("%s: %+v, %v", word, trace, err)
		}
		says = append(says, trace.Missing.Says)
	}
	if says[0] != says[1] {
		t.Errorf("what is said of groups that are not there differs: %q", says)
	}
	if _, err := TraceCell(t.Context(), place, "words", []string{"side=middle", "word=zebra"}); err == nil || !strings.Contains(err.Error(), "no category of side") {
		t.Errorf("a side that there is not: %v", err)
	}
}

// checkNoCanary looks for words of one customer in every file that a run has left but its source. What is compressed was read
// before.
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

// TestGroupsThatNobodyListedResume crashes behind the debit: the next run has the same groups and the same noise. Another word in
// place of one, in as many groups, is another draw, and refused.
func TestGroupsThatNobodyListedResume(t *testing.T) {
	o := wordOffice(t, "add-remove", "2")
	opt := o.options("out")
	drawn := crashAfterDebit(t, o, opt)
	file := filepath.Join(o.dir, "t.csv")
	rows, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	moved := bytes.Replace(rows, []byte("canary-of-7,"), []byte("canary-of-g,"), 1)
	if err := os.WriteFile(file, moved, 0o600); err != nil || bytes.Equal(moved, rows) {
		t.Fatalf("no word was changed (%v)", err)
	}
	var changed *InputChanged
	if _, err := Measure(t.Context(), o.plan, opt); !errors.As(err, &changed) {
		t.Fatalf("a row of another word: %v", err)
	}
	if err := os.WriteFile(file, rows, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "words"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Measured[0]; got.Measurement.ID != "words" || !slices.Equal(got.Values.Int64Values(), drawn["words"]) || len(got.Keys) != len(largeWords) {
		t.Errorf("resumed to other groups or noise: %q %v, %v", got.Keys, got.Values, drawn["words"])
	}
	if n := o.debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// TestGroupsOfARehearsal makes words up, and two releases of groups are not compared cell by cell.
func TestGroupsOfARehearsal(t *testing.T) {
	o := wordOffice(t, "add-remove", "1")
	place, err := Rehearse(t.Context(), o.plan, 100_000, o.options("rehearsal"))
	if err != nil {
		t.Fatal(err)
	}
	rows := figuresOf(t, place, "words", "side", "word")
	for _, row := range rows {
		if !strings.HasPrefix(row[1], "word-") {
			t.Errorf("%q is made up", row)
		}
	}
	if len(rows) != 200 { // of 100 words on two sides, of some 500 rows each
		t.Errorf("%d groups are made up", len(rows))
	}
	_, a := o.run(t)
	_, b := wordOffice(t, "add-remove", "1").run(t)
	d, err := Diff(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	if c := d.Releases.Tables[0]; c.Refused != "" || !c.Some || c.Compared != int64(len(largeWords)) || c.Statistics[0].Name != "units" {
		t.Errorf("the groups compare as %+v", c)
	}
	if n := (editions{t, ""}).flukes(a, b); n > 0 {
		t.Errorf("noise alone changed %d groups", n)
	}
}

// TestTypesOfPublishedKeysDoNotDependOnWhatIsSelected releases tables of whole numbers that nobody listed, with and without groups that are
// selected: the type of their keys is that of the spec, and a table without a group says so.
func TestTypesOfPublishedKeysDoNotDependOnWhatIsSelected(t *testing.T) {
	for length, want := range map[string]parquet.Kind{"18": parquet.Int64, "20": parquet.ByteArray} {
		for _, many := range []int{1, 900} {
			rows := &strings.Builder{}
			rows.WriteString("customer,word,side\n")
			for i := range many {
				fmt.Fprintf(rows, "c%d,70,left\n", i)
			}
			text := strings.NewReplacer("NEIGHBOURS", "add-remove", "GROUPS", "1", "{discover: {max_length: 30}}", "{discover: {max_length: "+length+"}}, type: integer",
				", split: {words: 2/3, rest: 1/3}", "", ", budget: words", "", "  sides: {by: [side], stats: [units], budget: rest}\n", "").Replace(wordSpec)
			o := officeWith(t, text, strings.ReplaceAll(wordPolicy, "NEIGHBOURS", "add-remove"), rows.String())
			_, place := o.run(t)
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
			if says := bytes.Contains(page, []byte("No number is published: no group was selected")); says != (many == 1) || bytes.Contains(page, []byte("Of the 0")) {
				t.Errorf("%d customers: the report says that nothing is published: %v", many, says)
			}
			if _, err := Verify(t.Context(), place, VerifyOptions{}); err != nil {
				t.Errorf("%d customers: %v", many, err)
			}
		}
	}
}
