package structure

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write the hashes of today's functions into the proof pages, after reading them again")

// reading is a line of a proof page: which function it was read against.
var reading = regexp.MustCompile("(?m)^- `([^`]+)` `([^`]+)` sha256:([0-9a-f]*)$")

// TestProofsWereReadAgainstTheseFunctions fails when a function that a page of
// docs/proofs speaks of, or its contract comment, has changed since the page was
// read against it.
func TestProofsWereReadAgainstTheseFunctions(t *testing.T) {
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
				t.Errorf("%s: %s in %s has changed: read the page against it, then run this test with -update", page, r[2], r[1])
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

// hashOfFunction returns the SHA-256 of a function's source with its comment. A
// method is named Type.Method.
func hashOfFunction(path, name string) (string, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
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
		sum := sha256.Sum256(source[files.Position(from).Offset:files.Position(function.End()).Offset])
		return hex.EncodeToString(sum[:]), nil
	}
	return "", fmt.Errorf("%s has no function %s", path, name)
}

func qualifiedName(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return function.Name.Name
	}
	receiver := function.Recv.List[0].Type
	if pointer, ok := receiver.(*ast.StarExpr); ok {
		receiver = pointer.X
	}
	return receiver.(*ast.Ident).Name + "." + function.Name.Name
}

func TestAChangedFunctionIsNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.go")
	write := func(body string) string {
		t.Helper()
		if err := os.WriteFile(path, []byte("package p\n\ntype T int\n\n// F is.\nfunc (t *T) F() int { return "+body+" }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		hash, err := hashOfFunction(path, "T.F")
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	first, changed, again := write("1"), write("2"), write("1")
	if first == changed || first != again {
		t.Error("the hash does not follow the source")
	}
}
