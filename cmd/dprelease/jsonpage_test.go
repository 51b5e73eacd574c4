package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/show"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/plan"
)

// This file holds docs/json.md to the program: every field of the document of --json with the comment of the Go field,
// and every reason.

var updatePage = flag.Bool("update", false, "write the fields of docs/json.md, the refusals of the scripts and the "+
	"man pages anew")

const (
	jsonPage    = "../../docs/json.md"
	fieldsBegin = "<!-- the fields, made by `go test ./cmd/dprelease -run JSONPage -update` -->\n"
)

// TestJSONPage: the page lists every field of the document, with what its comment in the code says.
func TestJSONPage(t *testing.T) {
	page, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	head, kept, found := strings.Cut(string(page), fieldsBegin)
	if !found {
		t.Fatalf("%s has no line %q", jsonPage, fieldsBegin)
	}
	fields := fieldTables(t)
	if kept == fields {
		return
	}
	if !*updatePage {
		t.Fatalf("the fields of %s are not those of the program: run `go test ./cmd/dprelease -run JSONPage -update`",
			jsonPage)
	}
	if err := os.WriteFile(jsonPage, []byte(head+fieldsBegin+fields), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestJSONReasons: the page has a row for every reason, with the exit codes and the advice that the code gives it, and
// for no other.
func TestJSONReasons(t *testing.T) {
	page, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	inCode := map[string]bool{}
	for _, f := range parseFolder(t, "../../internal/verdict") {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				if name, ok := v.Type.(*ast.Ident); ok && name.Name == "Reason" {
					text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					inCode[text] = true
				}
			}
			return true
		})
	}
	onPage := map[string]bool{}
	_, rest, _ := strings.Cut(string(page), "\n## Reasons\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	for line := range strings.Lines(section) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "`"); ok && strings.HasPrefix(line, "| `") &&
			name != "reason" {
			onPage[name] = true
		}
	}
	if len(inCode) < 20 || !reflect.DeepEqual(inCode, onPage) {
		t.Errorf("reasons in the code: %v\non the page: %v", inCode, onPage)
	}
}

// elsewhere are types whose fields other pages describe.
var elsewhere = map[reflect.Type]string{
	reflect.TypeFor[plan.Plan]():      "the plan, as in plan.json",
	reflect.TypeFor[sign.PublicKey](): "text",
	reflect.TypeFor[budget.Cost]():    "an object: `epsilon`, or `rho` and `delta`, each exactly, as text",
	reflect.TypeFor[show.Sheet](): "an object: what the table is, its columns, and `rows`, each a list of " +
		"values in their order",
	reflect.TypeFor[trace.Trace]():     "the cell, with the measurements that it was put together from",
	reflect.TypeFor[query.AnswerRow](): "an object with the keys and the figure's columns",
}

// fieldTables is a table of the fields of the outcome, and of every type that they hold.
func fieldTables(t *testing.T) string {
	comments := fieldComments(t)
	var out strings.Builder
	queue := []reflect.Type{reflect.TypeFor[outcome]()}
	for i := 0; i < len(queue); i++ {
		fmt.Fprintf(&out, "\n### %s\n\n| field | holds | meaning |\n|---|---|---|\n", typeTitle(queue[i]))
		writeFields(&out, queue[i], comments, func(held reflect.Type) {
			if !slices.Contains(queue, held) {
				queue = append(queue, held)
			}
		})
	}
	return out.String()
}

// writeFields writes the rows of a type, those of embedded ones in their place, and tells of the types that they hold.
func writeFields(out *strings.Builder, of reflect.Type, comments map[string]string, holds func(reflect.Type)) {
	if of == reflect.TypeFor[ledger.Amount]() {
		out.WriteString(
			"| `epsilon`, `rho`, `delta` | text | the amount, exactly: a decimal or a fraction; add these up |\n" +
				"| `epsilon_number`, `rho_number`, `delta_number` | number | the nearest floating-point number, to " +
				"compare and to draw |\n")
		return
	}
	for f := range fieldsOf(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		held := f.Type
		for held.Kind() == reflect.Pointer {
			held = held.Elem()
		}
		if f.Anonymous && name == "" && held.Kind() == reflect.Struct {
			writeFields(out, held, comments, holds)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		words := kindInWords(held, holds)
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", cmp.Or(name, f.Name), words,
			strings.ReplaceAll(comments[of.PkgPath()+"."+of.Name()+"."+f.Name], "|", "\\|"))
	}
}

// fieldsOf are the fields of a struct.
func fieldsOf(of reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range of.NumField() {
			if !yield(of.Field(i)) {
				return
			}
		}
	}
}

// kindInWords says what a value of a type looks like in JSON, and tells of the structs that it holds.
func kindInWords(of reflect.Type, holds func(reflect.Type)) string {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if words := elsewhere[of]; words != "" {
		return words
	}
	switch of.Kind() {
	case reflect.Slice, reflect.Array:
		return "list of " + kindInWords(of.Elem(), holds)
	case reflect.Map:
		return "object of " + kindInWords(of.Elem(), holds)
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Struct:
		if of != reflect.TypeFor[ledger.Amount]() && writesItself(of) {
			panic("how does a " + of.String() + " look in JSON? say it in elsewhere")
		}
		holds(of)
		return "[" + typeTitle(of) + "](#" + strings.ToLower(strings.ReplaceAll(typeTitle(of), " ", "-")) + ")"
	case reflect.Interface:
		return "any"
	}
	return "number"
}

// writesItself reports whether a type chooses its own JSON form.
func writesItself(of reflect.Type) bool {
	for _, method := range []string{"MarshalJSON", "MarshalText"} {
		if _, own := reflect.PointerTo(of).MethodByName(method); own {
			return true
		}
	}
	return false
}

// typeTitle is the heading of a type.
func typeTitle(of reflect.Type) string {
	if of == reflect.TypeFor[outcome]() {
		return "The document"
	}
	return strings.ReplaceAll(of.String(), ".", " ")
}

// fieldComments are the comments of the fields of all our structs, by "package path.Type.Field".
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); strings.HasPrefix(name, ".") && name != ".." || name == "testdata" {
			return filepath.SkipDir
		}
		folder := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, "../..")), "/")
		for _, f := range parseFolder(t, path) {
			importPath := "github.com/dprelease/dprelease/" + folder
			if f.Name.Name == "main" {
				importPath = reflect.TypeFor[outcome]().PkgPath()
				if folder != "cmd/dprelease" {
					continue
				}
			}
			noteComments(all, importPath, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// noteComments notes the comments of the fields of a file's structs: the one behind a field, or else the one above it.
func noteComments(all map[string]string, importPath string, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		of, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := of.Type.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				text := strings.Join(strings.Fields(cmp.Or(field.Comment.Text(), field.Doc.Text())), " ")
				for _, name := range field.Names {
					all[importPath+"."+of.Name.Name+"."+name.Name] = text
				}
			}
		}
		return true
	})
}

// parseFolder parses the Go files of a folder that are not tests.
func parseFolder(t *testing.T, folder string) []*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}
