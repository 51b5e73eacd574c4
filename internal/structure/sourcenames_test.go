package structure

import (
	"go/ast"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sourceNames are the names of a module's sources.
type sourceNames struct {
	occur    map[string]bool // names in the code and words in its strings
	imported map[string]bool // the last elements of imported paths
	members  map[string]bool // X.y: fields and methods of types, exported names of packages
	// bases lists, for each package and each type, the types whose members it has too.
	bases map[string][]string
}

func newSourceNames() *sourceNames {
	return &sourceNames{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string][]string{}}
}

// has reports whether a name is there: every part of it, and each part as a member of the one before. In X.y.z, y may
// also be a field, and z is then a member of a type that is not looked up.
func (n *sourceNames) has(name string) bool {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if !n.occur[part] {
			return false
		}
		if i == 0 {
			continue
		}
		_, known := n.bases[parts[i-1]]
		if (i == 1 || known) && !n.hasMember(parts[i-1], part) {
			return false
		}
	}
	return true
}

// hasMember reports whether a type or a package has a member. Members of what other modules declare are not looked up.
func (n *sourceNames) hasMember(of, name string) bool {
	if _, ours := n.bases[of]; !ours {
		return n.imported[of]
	}
	from := []string{of}
	for i := 0; i < len(from); i++ {
		if n.members[from[i]+"."+name] {
			return true
		}
		for _, base := range n.bases[from[i]] {
			if !slices.Contains(from, base) {
				from = append(from, base)
			}
		}
	}
	return false
}

// addMember adds a function, or a method as Type.method, of a program in another language.
func (n *sourceNames) addMember(name string) {
	parts := strings.Split(name, ".")
	for _, part := range parts {
		n.occur[part] = true
	}
	n.members[name] = true
	if _, known := n.bases[parts[0]]; !known && len(parts) > 1 {
		n.bases[parts[0]] = nil
	}
}

// add adds the names of a file.
func (n *sourceNames) add(file string, tree *ast.File) {
	pkg := filepath.Base(filepath.Dir(file))
	n.inherit(pkg)
	ast.Inspect(tree, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.Ident:
			n.occur[x.Name] = true
		case *ast.BasicLit:
			for _, word := range identifier.FindAllString(x.Value, -1) {
				n.occur[word] = true
			}
		case *ast.ImportSpec:
			n.imported[path.Base(strings.Trim(x.Path.Value, `"`))] = true
		case *ast.TypeSpec:
			n.addType(x)
		}
		return true
	})
	for _, declaration := range tree.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			n.members[qualifiedName(d)] = true
			if d.Recv == nil {
				n.addExported(pkg, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					n.addExported(pkg, s.Name)
				case *ast.ValueSpec:
					n.addExported(pkg, s.Names...)
				}
			}
		}
	}
}

func (n *sourceNames) addExported(pkg string, names ...*ast.Ident) {
	for _, name := range names {
		if name.IsExported() {
			n.members[pkg+"."+name.Name] = true
		}
	}
}

// addType adds the fields of a type or the methods of an interface. A type has the members of the types that it embeds,
// and of the one that it is defined as.
func (n *sourceNames) addType(t *ast.TypeSpec) {
	of := t.Name.Name
	n.inherit(of)
	fields := new(ast.FieldList)
	switch x := t.Type.(type) {
	case *ast.StructType:
		fields = x.Fields
	case *ast.InterfaceType:
		fields = x.Methods
	default:
		n.inherit(of, typeName(x))
	}
	for _, field := range fields.List {
		if len(field.Names) == 0 {
			base := typeName(field.Type)
			n.members[of+"."+base] = true
			n.inherit(of, base)
		}
		for _, name := range field.Names {
			n.members[of+"."+name.Name] = true
		}
	}
}

// inherit notes a type or a package, and the types whose members it has too.
func (n *sourceNames) inherit(of string, bases ...string) {
	n.bases[of] = append(n.bases[of], bases...)
}

func TestGoneNamesAreNoticed(t *testing.T) {
	atRoot(t)
	there := newSourceNames()
	there.add("a/p/f.go", parseText(t, `package p

import "example.org/q"

// gone is named here alone.
type Base struct{ kept, other int }

type T[K any] struct {
	Base
	own K
}

func (t *T[K]) Method() {}

// U embeds a type of its own name.
type U struct{ q.U }

type Reader interface{ Read() }

func Exported() { q.Take("key") }

func local() {}
`))
	for _, name := range []string{"local", "key", "T.own", "T.Method", "T.Base", "T.kept", "T.Base.kept", "Reader.Read",
		"p.Exported", "p.T.own", "q.Take", "U.U"} {
		if !there.has(name) {
			t.Errorf("%s is taken to be gone", name)
		}
	}
	for _, name := range []string{"gone", "T.Take", "Base.own", "p.local", "p.Method", "Reader.Method", "r.Take",
		"key.own", "T.Base.own", "U.Take"} {
		if there.has(name) {
			t.Errorf("%s is taken to be there", name)
		}
	}
}
