package spec

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSharesSumToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		left, parts := big.NewRat(1, 1), make([]string, n)
		var marginals strings.Builder
		for i := range parts {
			share := new(big.Rat).Mul(left, big.NewRat(rapid.Int64Range(1, 30).Draw(t, "share"), 31))
			if i == n-1 {
				share = left
			}
			left = new(big.Rat).Sub(left, share)
			parts[i] = fmt.Sprintf("l%d: {share: %s, split: {a: {epsilon: 1e-6}, b: 100%%}}", i, share.RatString())
			fmt.Fprintf(&marginals, "  a%[1]d: {by: [], budget: l%[1]d.a}\n  b%[1]d: {by: [], budget: l%[1]d.b}\n", i)
		}
		r, err := Parse(Source{Text: `version: 1
release: x
privacy: {protects: trip, neighbours: replace}
budget: {epsilon: 3/2, split: {` + strings.Join(parts, ", ") + `}}
tables: {t: {source: {arrow: t.arrow}, unit: row, columns: {x: {values: [a]}}}}
marginals:
` + marginals.String()})
		if err != nil && !strings.Contains(err.Error(), "leave nothing") {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		sum := new(big.Rat)
		for _, l := range r.Budget.Leaves {
			sum.Add(sum, l.Share)
		}
		if sum.Cmp(big.NewRat(1, 1)) != 0 {
			t.Fatalf("shares sum to %s", sum)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(base)
	f.Add(governed)
	f.Add(withMicrodata)
	f.Add(targeted)
	f.Add(derived)
	f.Add(numbers)
	f.Add(joined)
	f.Add(kept)
	for _, cases := range errorCases {
		for _, c := range cases {
			text := c.text
			if text == "" {
				text = base
			}
			for _, e := range c.edits {
				text = strings.Replace(text, e.old, e.new, 1)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		src := Source{Name: "release.yaml", Text: text, Params: map[string]string{"quarter": "2026q1"},
			Files: map[string]string{"regions.csv": regions, "register.csv": register, "areas.csv": areas,
				"2026q1-totals.csv": stateTotals, "districts.csv": areaTotals}}
		r, err := Parse(src)
		var problems *document.Errors
		if err != nil && !errors.As(err, &problems) {
			t.Fatalf("an error of another type: %v", err)
		}
		if problems != nil {
			for _, p := range problems.Problems {
				if p.File == "" || p.Line < 1 || p.Column < 1 || p.Message == "" {
					t.Fatalf("a problem without place or words: %+v", p)
				}
			}
			_ = err.Error()
		}
		again, errAgain := Parse(src)
		if fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("two readings differ:\n%v\n%v", err, errAgain)
		}
		if r != nil {
			assertEqual(t, r, again)
			if err == nil {
				assertReadAgain(t, r)
			}
		}
	})
}

// Texts that mean something to YAML elsewhere are the same categories when the canonical text is read.
func TestTextsAreReadAgain(t *testing.T) {
	for _, text := range []string{"-", "ok?", "_?", "?x", "a?b", "2001-12-14 21:59:43", "2001-12-14", "<<", "a - b",
		"a: b", "a #b",
		"a, b", "01", "no", "0x10", "1_000", ".inf", "é–è", "a/b", "~x", "'", "\"", "a'b", "%", "@x", "`x", "!x", "&y",
		"*z", "- ?",
		"\u00a0", "\u2028x", "\x1b", "a\tb", "a\nb", " a", "a ", "=", "|", ">", "null", "true", "a.b", "…",
		strings.Repeat("long ", 60) + "end"} {
		for _, written := range []string{text, strconv.Quote(text)} {
			c, err := releaseOfColumn("{values: [other, "+written+"]}", nil)
			if err != nil {
				continue // not a category in this form
			}
			if code := c.Tables[0].Columns[0].Domain.Categories()[1].Code; code != text && written != text {
				t.Errorf("%s is read as %q", written, code)
			}
			assertReadAgain(t, c)
		}
	}
}

// assertReadAgain reads a release from its source and its words, and compares the two by all their fields except the
// positions of problems: the text of a source is in canonical form, and reading leaves it as it is.
func assertReadAgain(t *testing.T, a *Release) {
	t.Helper()
	parsed, err := Parse(a.Source)
	if err != nil {
		t.Fatalf("the release is refused when it is read again: %v", err)
	}
	w, err := ReadWords(a.Words.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	b, err := parsed.WithWords(w)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Warnings) != len(b.Warnings) || !a.EqualButWords(b) {
		t.Errorf("%d warnings, and when it is read again %d, or the release differs", len(a.Warnings), len(b.Warnings))
	}
	b.written, b.Source.Name, b.Warnings = a.written, a.Source.Name, a.Warnings
	assertEqual(t, a, b)
}

// assertEqual compares two releases by all their fields.
func assertEqual(t *testing.T, a, b *Release) {
	t.Helper()
	if reflect.DeepEqual(a, b) {
		return
	}
	opts := cmp.Options{
		cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.Comparer(func(x, y *big.Rat) bool {
			return x == nil && y == nil || x != nil && y != nil && x.Cmp(y) == 0
		}),
	}
	t.Fatalf("releases differ:\n%s", cmp.Diff(a, b, opts))
}
