package structure

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false,
	"write the hashes of today's functions into the proof pages, after reading them again")

// reading matches a line of a proof page that names a function and the hash against which the page was read.
var reading = regexp.MustCompile("(?m)^- `([^`]+)` `([^`]+)` sha256:([^ \n]*)$")

// TestProofsWereReadAgainstTheseFunctions fails if a function that a page of docs/proofs names, or its contract
// comment, has changed since the page was read against it.
func TestProofsWereReadAgainstTheseFunctions(t *testing.T) {
	atRoot(t)
	pages, err := filepath.Glob(filepath.Join("docs", "proofs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no proof pages: %v", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		tied := 0
		fresh := reading.ReplaceAllStringFunc(string(text), func(line string) string {
			tied++
			r := reading.FindStringSubmatch(line)
			hash, err := hashOfFunction(filepath.FromSlash(r[1]), r[2])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				return line
			}
			if hash != r[3] && !*update {
				t.Errorf("%s: %s in %s has changed: read the page against it, then run this test with -update", page,
					r[2], r[1])
			}
			return fmt.Sprintf("- `%s` `%s` sha256:%s", r[1], r[2], hash)
		})
		if tied == 0 {
			t.Errorf("%s names no function", page)
		}
		if *update {
			if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// hashOfFunction returns the SHA-256 of a function's tokens and of the words of its comments: how its lines are broken
// does not count. A method is named Type.Method.
func hashOfFunction(path, name string) (string, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if filepath.Ext(path) == ".py" {
		return hashOfPython(path, string(source), name)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || qualifiedName(function) != name {
			continue
		}
		from := function.Pos()
		if function.Doc != nil {
			from = function.Doc.Pos()
		}
		sum := sha256.New()
		for _, word := range wordsOf(source[files.Position(from).Offset:files.Position(function.End()).Offset]) {
			fmt.Fprintf(sum, "%q\n", word)
		}
		return hex.EncodeToString(sum.Sum(nil)), nil
	}
	return "", fmt.Errorf("%s has no function %s", path, name)
}

// hashOfPython is hashOfFunction for a program in Python.
func hashOfPython(path, source, name string) (string, error) {
	words, ok := pythonFunctions(source)[name]
	if !ok {
		return "", fmt.Errorf("%s has no function %s", path, name)
	}
	sum := sha256.New()
	for _, word := range words {
		fmt.Fprintf(sum, "%q\n", word)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// pythonHead matches the first line of a class, or of a function of a module or of its class.
var pythonHead = regexp.MustCompile(`^(    )?(class|def) (\w+)`)

// pythonFunctions returns the words of each function of a program in Python. A method is named Type.method.
func pythonFunctions(source string) map[string][]string {
	all := map[string][]string{}
	class, name := "", ""
	for line := range strings.Lines(source) {
		head := pythonHead.FindStringSubmatch(line)
		switch {
		case head != nil && head[2] == "class":
			class, name = head[3]+".", ""
		case head != nil && head[1] == "":
			class, name = "", head[3]
		case head != nil:
			name = class + head[3]
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, " "):
			name = "" // the module's own
		}
		if name != "" {
			all[name] = append(all[name], strings.Fields(line)...)
		}
	}
	return all
}

// wordsOf returns the tokens of source, and each comment as its words. A semicolon is the same whether it is written or
// left to the end of the line, and is left out before a closing brace.
func wordsOf(source []byte) []string {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), source, nil, scanner.ScanComments)
	var words []string
	for {
		_, kind, text := s.Scan()
		switch {
		case kind == token.EOF:
			return words
		case kind == token.COMMENT:
			words = append(words, strings.Fields(strings.TrimPrefix(text, "//"))...)
		case kind == token.SEMICOLON:
			words = append(words, ";")
		case kind == token.RBRACE:
			if n := len(words); n > 0 && words[n-1] == ";" {
				words = words[:n-1]
			}
			words = append(words, "}")
		default:
			words = append(words, kind.String(), text)
		}
	}
}

func qualifiedName(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return function.Name.Name
	}
	return typeName(function.Recv.List[0].Type) + "." + function.Name.Name
}

// typeName returns the name of a type without its package, its parameters and the star of a pointer to it, and "" for a
// type without a name.
func typeName(of ast.Expr) string {
	switch x := of.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.IndexListExpr:
		return typeName(x.X)
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.Ident:
		return x.Name
	}
	return ""
}

func TestAChangedFunctionIsNoticed(t *testing.T) {
	atRoot(t)
	path := filepath.Join(t.TempDir(), "f.go")
	hash := func(comment, body string) string {
		t.Helper()
		source := "package p\n\ntype T int\n\n// F " + comment + ".\nfunc (t *T) F() int {" + body + "}\n"
		if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := hashOfFunction(path, "T.F")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := hash("is one", " return 1 + 0 ")
	for _, other := range [][2]string{{"is two", " return 1 + 0 "}, {"is one", " return 2 + 0 "},
		{"is one", " return 1 - 0 "},
		{"is one", " return 10 "}, {"is one", "; return 1 + 0 "}, {"is one", " return 1 + 0 // now\n"}} {
		if hash(other[0], other[1]) == first {
			t.Errorf("a function with the comment %q and the body %q has the hash of another", other[0], other[1])
		}
	}
	if hash("is\n// one", "\n\treturn 1 +\n\t\t0\n") != first {
		t.Error("a function whose lines are broken elsewhere has another hash")
	}
}

// inCode is a name that a proof page quotes: of a function, a method, a type, a field or a test.
var inCode = regexp.MustCompile("`([A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*)`")

// TestProofsNameWhatIsThere fails where a proof page quotes a name that the module's sources no longer have, or X.y
// where neither a type X nor a package X has a member y.
func TestProofsNameWhatIsThere(t *testing.T) {
	atRoot(t)
	there := newSourceNames()
	for _, tests := range []bool{false, true} {
		eachFile(t, []string{"."}, tests, there.add)
	}
	spark, err := os.ReadFile(filepath.Join("histogram", "engine", "dprelease_spark.py"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range pythonFunctions(string(spark)) {
		there.addMember(name)
	}
	pages, err := filepath.Glob(filepath.Join("docs", "proofs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inCode.FindAllStringSubmatch(string(text), -1) {
			if isFile.MatchString(m[1]) {
				continue
			}
			seen++
			if !there.has(m[1]) {
				t.Errorf("%s: there is no %s", page, m[1])
			}
		}
	}
	if seen < 1000 {
		t.Errorf("%d names were looked for", seen)
	}
}

var (
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
	isFile     = regexp.MustCompile(`\.(go|py|md|yaml|json|csv)$`)
)
