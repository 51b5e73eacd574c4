package language

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/leonelquinteros/gotext"
)

// TestCatalogues checks that every message of the program is in the catalogue of every language, once and with the same
// arguments, and that a catalogue has no other.
func TestCatalogues(t *testing.T) {
	messages := messagesOf(t)
	for _, l := range languages[1:] {
		translated := map[string]string{} // files by message
		names, err := filepath.Glob(l.tag + "/*.po")
		if err != nil || names == nil {
			t.Fatalf("%s: no catalogues: %v", l.tag, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "\nmsgid ") - 1; n+1 != strings.Count(string(text), "\nmsgstr ") {
				t.Errorf("%s: %d messages and another number of translations", name, n)
			}
			po := gotext.NewPo()
			po.Parse(text)
			ids := po.GetDomain().GetTranslations()
			if n := strings.Count(string(text), "\nmsgid ") - 1; n != len(ids)-1 && n != len(ids) {
				t.Errorf("%s: %d messages, of which %d are told apart: one is there twice, or none is empty", name, n,
					len(ids))
			}
			for message, translation := range ids {
				if message == "" {
					continue
				}
				if file, ok := translated[message]; ok {
					t.Errorf("%s: %q is in %s too", name, message, file)
				}
				translated[message] = name
				switch is := translation.Trs[0]; {
				case messages[message] == "":
					t.Errorf("%s: nothing says %q", name, message)
				case is == "":
					t.Errorf("%s: %q is not translated", name, message)
				case !slices.Equal(verbsOf(message), verbsOf(is)):
					t.Errorf("%s: %q has other arguments than %q", name, is, message)
				}
			}
		}
		for message, where := range messages {
			if translated[message] == "" {
				t.Errorf("%s: %s: %q is missing", l.tag, where, message)
			}
		}
	}
}

var verb = regexp.MustCompile(`%(\[(\d+)\])?([a-z%])`)

// verbsOf returns the arguments of a message with how they are written, each once, in order.
func verbsOf(message string) []string {
	var all []string
	next := 1
	for _, v := range verb.FindAllStringSubmatch(message, -1) {
		if v[3] == "%" {
			continue
		}
		if v[2] != "" {
			next, _ = strconv.Atoi(v[2])
		}
		all = append(all, strconv.Itoa(next)+v[3])
		next++
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// messagesOf returns the messages of the pages of a release with where they are: literals that Text, Key and Plural get
// in Go, and that t gets in templates; and the names of laws of noise.
func messagesOf(t *testing.T) map[string]string {
	all := map[string]string{}
	for _, folder := range []string{"..", "../../report", "../../plan"} {
		addMessages(t, folder, func(message, where string) { all[message] = where })
	}
	for _, kind := range budget.AllLaws() {
		all[kind.Name()] = "package budget"
	}
	return all
}

func addMessages(t *testing.T, folder string, add func(message, where string)) {
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch {
		case strings.HasSuffix(path, ".tmpl"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range templateMessage.FindAllStringSubmatch(string(text), -1) {
				message, err := strconv.Unquote(m[1])
				if err != nil {
					return err
				}
				add(message, path)
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool { addMessage(n, path, add); return true })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var templateMessage = regexp.MustCompile(`[{(]\s*t ("(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `)`)

// addMessage adds the messages that a call gets.
func addMessage(n ast.Node, path string, add func(message, where string)) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	name := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	if !isOfLanguage(call) {
		return
	}
	switch name {
	case "Text", "Key":
		if message, ok := literal(call.Args[0]); ok {
			add(message, path)
		}
	case "Plural":
		if thing, ok := literal(call.Args[len(call.Args)-1]); ok {
			add("%s "+thing, path)
			add("%s "+thing+"s", path)
		}
	}
}

// isOfLanguage reports whether a call is not of package budget, whose Plural is English, or of package shape, whose
// Text is the shape of a text.
func isOfLanguage(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := f.X.(*ast.Ident)
	return !ok || x.Name != "budget" && x.Name != "shape"
}

// literal returns the text of a constant expression of literals.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, ok := literal(e.X)
		b, also := literal(e.Y)
		return a + b, ok && also && e.Op == token.ADD
	case *ast.ParenExpr:
		return literal(e.X)
	}
	return "", false
}
