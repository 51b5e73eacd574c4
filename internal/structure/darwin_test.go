package structure

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// listedPackage is what the go command says of a package for a system.
type listedPackage struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string // from paths as written to packages that the standard library has vendored
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

// packagesFor returns all packages of the module and what they import, imports first, with the files for a system.
func packagesFor(t *testing.T, system string) []listedPackage {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,GoFiles,ImportMap,Module", "./...")
	list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	output, err := list.Output()
	if err != nil {
		t.Fatalf("listing packages for %s: %v", system, err)
	}
	var listed []listedPackage
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return listed
		} else if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, p)
	}
}

// importerOf finds the imports of one package among those that were checked before it.
type importerOf struct {
	checked map[string]*types.Package
	renamed map[string]string
}

func (i importerOf) Import(path string) (*types.Package, error) {
	if to, ok := i.renamed[path]; ok {
		path = to
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, errors.New("not listed before what imports it: " + path)
}

// TestTypesForDarwin checks the types of every package for darwin, without compiling for it. Of other modules and the
// standard library it checks declarations alone: no change of this module can break a body of theirs.
func TestTypesForDarwin(t *testing.T) {
	atRoot(t)
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	forDarwin := 0
	for _, listed := range packagesFor(t, "darwin") {
		if listed.ImportPath == "unsafe" {
			continue
		}
		own := listed.Module != nil && listed.Module.Main
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range listed.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(listed.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
			if own && (strings.HasSuffix(name, "_unix.go") || strings.HasSuffix(name, "_darwin.go")) {
				forDarwin++
			}
		}
		config := types.Config{
			Importer:         importerOf{checked, listed.ImportMap},
			Sizes:            types.SizesFor("gc", runtime.GOARCH),
			IgnoreFuncBodies: !own,
			Error:            func(err error) { t.Error(err) },
		}
		if listed.Module != nil && listed.Module.GoVersion != "" {
			config.GoVersion = "go" + listed.Module.GoVersion
		}
		checked[listed.ImportPath], _ = config.Check(listed.ImportPath, fset, files, nil) // Error reports each error
	}
	if forDarwin < 5 {
		t.Errorf("%d files of this module for darwin were checked", forDarwin)
	}
}
