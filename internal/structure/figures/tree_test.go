package main

import (
	"path/filepath"
	"sync"
	"testing"
)

// whole reads the module itself, once for all tests.
var whole = sync.OnceValues(func() (*tree, error) { return load(root, "./...") })

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
		if n := len(read.references(s).cycle()); n > mostInCycle {
			t.Errorf("%d files of %s reach each other, and %d may: go run ./internal/structure/figures -package %[2]s -why",
				n, s.path, mostInCycle)
		}
	}
}
