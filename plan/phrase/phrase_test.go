package phrase

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Every code has words; they hold each name and number that goes with the code, and nothing of what is none.
func TestEveryCodeHasWords(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && v.Type != nil && v.Type.(*ast.Ident).Name == "Code" {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if _, known := inWords[Code(code)]; err != nil || !known {
				t.Errorf("%s has no words", v.Names[0])
			}
			codes++
		}
		return true
	})
	if codes != len(inWords) {
		t.Errorf("%d codes, and words for %d", codes, len(inWords))
	}
	for code, w := range inWords {
		r := Phrase{Code: code}
		for i := range w.takes {
			r.Of = append(r.Of, "discrete-laplace "[:16-i])
		}
		if code == NoChance {
			r.Of = []string{"discrete-laplace"}
		}
		text := r.String()
		for i, of := range r.Of {
			if code == NoChance || (code == ManyCandidates || code == FewCells) && i == 1 || code == ManyCells &&
				i == 0 {
				continue // a name of a law, and of sets of columns
			}
			if !strings.Contains(text, of) {
				t.Errorf("%s: %q does not hold %q", code, text, of)
			}
		}
		if strings.Contains(text, "%!") || len(text) < 8 {
			t.Errorf("%s: %q", code, text)
		}
	}
}

// A plan that somebody wrote may hold anything.
func TestWhatIsNoPhrase(t *testing.T) {
	for _, c := range []struct {
		of   Phrase
		want string
	}{
		{Phrase{}, ""}, {New(OnePair, "more"), New(OnePair).String()}, {New("best", 1), "best 1"},
		{New(ManyColumns, 3), "many-columns 3"}, {New(Drop, "a", "b"), "drop a and b"},
		{New(ManyIntegers, 1000000, "x"), "it would count 1\u202f000\u202f000 cells for x that are published"},
		{New(NoChance, "none"), "with none noise it has no chance under ε and δ"},
	} {
		if got := c.of.String(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.of, got, c.want)
		}
	}
	if got := InWords([]Phrase{New(OnePair), New(LargeModel)}); strings.Count(got, "; ") != 1 {
		t.Errorf("two phrases: %q", got)
	}
}
