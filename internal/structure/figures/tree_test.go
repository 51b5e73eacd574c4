package main

import (
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// whole reads the module itself, once for all tests.
var whole = sync.OnceValues(func() (*tree, error) { return loadTree(root, "./...") })

var root = filepath.Join("..", "..", "..")

// mostInCycle is how many files of a package may reach each other.
const mostInCycle = 12

func TestFilesThatReachEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole module")
	}
	read, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range read.sources {
		if n := len(read.references(s).largestCycle()); n > mostInCycle {
			t.Errorf("%d files of %s reach each other, and %d may: go run ./internal/structure/figures -package %[2]s -why",
				n, s.path, mostInCycle)
		}
	}
}

// TestKindsHaveNoHoles fails where an array by kind lacks a kind, or one by pairs a pair that is legal: what is done
// for it would be nothing, or a panic.
func TestKindsHaveNoHoles(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole module")
	}
	read, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	legal := read.legalPairs()
	if len(legal) == 0 {
		t.Error("no pairs are legal: where is the array?")
	}
	for _, s := range read.sources {
		for _, hole := range read.missingEntries(s, legal) {
			t.Error(hole)
		}
	}
}

// TestNoKindIsTestedForOutsideTheRegistries fails where code asks which kind it deals with and is neither in an array
// by kind nor in a file of that kind.
func TestNoKindIsTestedForOutsideTheRegistries(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole module")
	}
	read, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range read.sources {
		for _, found := range read.kindTests(s) {
			t.Errorf("%s: a test of a kind (%s): put what it decides into the package's array by kind, or into the "+
				"kind's own file",
				read.fset.Position(found.at.Pos()), found.kind)
		}
	}
}

// TestEveryKindIsLookedFor fails where a kind of what is counted or given out is not among the kinds whose tests are
// counted: it could be tested for anywhere.
func TestEveryKindIsLookedFor(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole module")
	}
	read, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range read.sources {
		if s.path != "plan/counted" && s.path != "plan/selection" {
			continue
		}
		for _, name := range s.pkg.Scope().Names() {
			constant, isConstant := s.pkg.Scope().Lookup(name).(*types.Const)
			if own, named := strings.CutPrefix(name, "Kind"); isConstant && named && own != "s" {
				found++
				if !slices.ContainsFunc(kinds, func(k kind) bool { return slices.Contains(k.types, own) }) {
					t.Errorf("%s: tests of %s are not looked for: add its types to the list of kinds", s.path,
						constant.Name())
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d kinds were found", found)
	}
}
