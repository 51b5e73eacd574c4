package structure

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// This file decides whether a function that a proof page names differs only in names and comments from the version that
// the page was read against, so that the page need not be read again.

var since = flag.String("since", "",
	"write the new hashes and names of functions that differ from those of this commit by names and comments alone")

// version is a package as it is in a folder, or was at a commit: the functions of its files, and every name that is
// declared in it outside functions.
type version struct {
	files map[string]*ast.File // by name
	names map[string]bool
}

// versionOf parses the files of a package, without its tests. The function read returns the text of a file.
func versionOf(names []string, read func(name string) ([]byte, error)) (*version, error) {
	v := &version{files: map[string]*ast.File{}, names: map[string]bool{}}
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
		if err != nil {
			return nil, err
		}
		v.files[name] = file
		ast.Inspect(file, func(n ast.Node) bool {
			if name, is := n.(*ast.Ident); is && !isLocal(name, file.Decls...) {
				v.names[name.Name] = true
			}
			return true
		})
	}
	return v, nil
}

// isLocal reports whether a name is declared within one of the functions: a variable, a parameter, a label.
func isLocal(name *ast.Ident, functions ...ast.Decl) bool {
	if name.Obj == nil {
		return false
	}
	at := name.Obj.Pos()
	return slices.ContainsFunc(functions, func(d ast.Decl) bool {
		f, is := d.(*ast.FuncDecl)
		return is && f.Name.Obj != name.Obj && f.Pos() <= at && at < f.End()
	})
}

// functionNamed finds a function of a file, by its name or as Type.Method.
func functionNamed(file *ast.File, name string) *ast.FuncDecl {
	for _, declaration := range file.Decls {
		if function, is := declaration.(*ast.FuncDecl); is && qualifiedName(function) == name {
			return function
		}
	}
	return nil
}

// renaming maps the names of one version of a function to those of another.
type renaming struct {
	from, to            *ast.FuncDecl
	before, after       *version
	local, global, back map[string]string
	why                 string
}

// sameButForNames returns "" if two functions differ only in names and comments, and else what differs. Names within a
// function may be replaced one to one. Any other name may only be replaced by one that the package did not have, and
// must no longer exist in it.
func sameButForNames(old, now *ast.FuncDecl, before, after *version) string {
	r := &renaming{from: old, to: now, before: before, after: after, local: map[string]string{},
		global: map[string]string{}, back: map[string]string{}}
	old.Doc, now.Doc = nil, nil
	r.compare(reflect.ValueOf(old), reflect.ValueOf(now))
	return r.why
}

func (r *renaming) fail(format string, of ...any) {
	if r.why == "" {
		r.why = fmt.Sprintf(format, of...)
	}
}

// compare walks two trees in parallel, ignoring positions, comments and objects.
func (r *renaming) compare(a, b reflect.Value) {
	if r.why != "" {
		return
	}
	if a.Kind() == reflect.Interface && b.Kind() == reflect.Interface {
		a, b = a.Elem(), b.Elem()
	}
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		r.fail("other syntax")
		return
	}
	if !a.IsValid() {
		return
	}
	switch x := a.Interface().(type) {
	case *ast.Ident:
		y, is := b.Interface().(*ast.Ident)
		switch {
		case !is || (x == nil) != (y == nil):
			r.fail("a name more or less")
		case x != nil:
			r.renameIdent(x, y)
		}
		return
	case token.Pos, *ast.CommentGroup:
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() != b.IsNil() {
			r.fail("other syntax")
		} else if !a.IsNil() {
			r.compare(a.Elem(), b.Elem())
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Name != "Obj" { // what a name denotes is compared by the name
				r.compare(a.Field(i), b.Field(i))
			}
		}
	case reflect.Slice:
		if a.Len() != b.Len() {
			r.fail("%d parts in place of %d", b.Len(), a.Len())
			return
		}
		for i := range a.Len() {
			r.compare(a.Index(i), b.Index(i))
		}
	default:
		if a.Interface() != b.Interface() {
			r.fail("%v in place of %v", b, a)
		}
	}
}

func (r *renaming) renameIdent(from, to *ast.Ident) {
	local := isLocal(from, r.from)
	if local != isLocal(to, r.to) {
		r.fail("%s is of the function, and %s is not, or the other way round", from.Name, to.Name)
		return
	}
	names, key := r.global, to.Name
	if local {
		names, key = r.local, "local "+to.Name
	}
	known, met := names[from.Name]
	before, taken := r.back[key]
	switch {
	case met && known != to.Name || taken && before != from.Name:
		r.fail("%s is %s here and another there", from.Name, to.Name)
	case !local && from.Name != to.Name && (r.before.names[to.Name] || r.after.names[from.Name]):
		r.fail("%s is named %s, and one of the two was there before or still is", from.Name, to.Name)
	}
	names[from.Name], r.back[key] = to.Name, from.Name
}

// TestProofsOutliveNames, with -since, updates the lines of proof pages whose functions differ only in names and
// comments. It fails for the other changed functions, whose pages must be read again.
func TestProofsOutliveNames(t *testing.T) {
	atRoot(t)
	if *since == "" {
		t.Skip("give -since COMMIT, at which the pages were right")
	}
	pages, err := filepath.Glob(filepath.Join("docs", "proofs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		fresh := reading.ReplaceAllStringFunc(string(text), func(line string) string {
			r := reading.FindStringSubmatch(line)
			if hash, err := hashOfFunction(filepath.FromSlash(r[1]), r[2]); err == nil && hash == r[3] {
				return line
			}
			name, why := nameNow(t, r[1], r[2])
			if why != "" {
				t.Errorf("%s: read again: %s in %s: %s", page, r[2], r[1], why)
				return line
			}
			hash, err := hashOfFunction(filepath.FromSlash(r[1]), name)
			if err != nil {
				t.Error(err)
				return line
			}
			t.Logf("%s: %s in %s is %s now, and else what it was", page, r[2], r[1], name)
			return fmt.Sprintf("- `%s` `%s` sha256:%s", r[1], name, hash)
		})
		if fresh != string(text) {
			if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// nameNow returns the present name of a function that has changed only in names and comments, or why there is none.
func nameNow(t *testing.T, file, name string) (now, why string) {
	t.Helper()
	folder := path.Dir(file)
	listed, err := exec.Command("git", "ls-tree", "--name-only", *since, folder+"/").Output()
	if err != nil {
		t.Fatal(err)
	}
	before, err := versionOf(strings.Fields(string(listed)), func(name string) ([]byte, error) {
		return exec.Command("git", "show", *since+":"+name).Output()
	})
	if err != nil {
		t.Fatal(err)
	}
	var old *ast.FuncDecl
	if f := before.files[file]; f != nil {
		old = functionNamed(f, name)
	}
	present, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	after, err := versionOf(present, os.ReadFile)
	if err != nil || old == nil || after.files[file] == nil {
		return "", fmt.Sprintf("it was not there at %s (%v)", *since, err)
	}
	if same := functionNamed(after.files[file], name); same != nil {
		return name, sameButForNames(old, same, before, after)
	}
	for _, declaration := range after.files[file].Decls {
		function, is := declaration.(*ast.FuncDecl)
		if is && sameButForNames(old, function, before, after) == "" {
			return qualifiedName(function), ""
		}
	}
	return "", "no function of the file is the same but for names"
}

// TestRenamingsAreToldFromChanges plants renamings and changes.
func TestRenamingsAreToldFromChanges(t *testing.T) {
	atRoot(t)
	parse := func(text string) *version {
		v, err := versionOf([]string{"f.go"}, func(string) ([]byte, error) { return []byte("package p\n" + text), nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	const before = "func floor(x int) int { return x }\nfunc ceil(x int) int { return x + 1 }\nvar bound int\n" +
		"func f(a, b int) int { c := a - b; return floor(c) + bound }\n"
	for _, c := range []struct {
		what, now string
		same      bool
	}{
		{"other names of variables", "func f(from, to int) int { gap := from - to; return floor(gap) + bound }", true},
		{"a comment", "func f(a, b int) int { c := a - b; /* why */ return floor(c) + bound }", true},
		{"a function by a new name", "func f(a, b int) int { c := a - b; return roundDown(c) + bound }", true},
		{"a new function in place of one that is still there",
			"func f(a, b int) int { c := a - b; return roundDown(c) + bound }\nfunc floor(x int) int { return x }",
			false},
		{"a variable of the package by a new name", "func f(a, b int) int { c := a - b; return floor(c) + most }",
			true},
		{"a new name of its own", "func gapOf(a, b int) int { c := a - b; return floor(c) + bound }", true},
		{"another function of the package", "func f(a, b int) int { c := a - b; return ceil(c) + bound }", false},
		{"variables the other way round", "func f(a, b int) int { c := b - a; return floor(c) + bound }", false},
		{"one variable in place of another", "func f(a, b int) int { c := a - b; return floor(b) + bound }", false},
		{"a variable of the function in place of one of the package",
			"func f(a, b int) int { c := a - b; return floor(c) + c }", false},
		{"a name that the package had, for a variable",
			"func f(ceil, b int) int { c := ceil - b; return floor(c) + bound }", true},
		{"a call in place of a variable", "func f(a, b int) int { c := a - b; return floor(floor(c)) + bound }", false},
		{"another operator", "func f(a, b int) int { c := a + b; return floor(c) + bound }", false},
		{"another type", "func f(a, b []int) int { c := a - b; return floor(c) + bound }", false},
		{"another number", "func f(a, b int) int { c := a - b; return floor(c) + bound + 1 }", false},
	} {
		old := parse(before)
		now := parse(c.now)
		function := now.files["f.go"].Decls[0].(*ast.FuncDecl)
		why := sameButForNames(functionNamed(old.files["f.go"], "f"), function, old, now)
		if (why == "") != c.same {
			t.Errorf("%s: %q", c.what, why)
		}
	}
}
