package main

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// whole reads the module itself, once for all tests.
var whole = sync.OnceValues(func() (*tree, error) { return load(root, "./...") })

var root = filepath.Join("..", "..", "..")

// mostInCycle is how many files of a package may reach each other.
const mostInCycle = 12

// stillLarger are the packages that are still to be cut, and those below them that are cut from them: how many of their
// files may reach each other. The numbers may fall, and not grow.
var stillLarger = map[string]int{
	"histogram": 17,
}

func TestFilesThatReachEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole module")
	}
	read, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range read.sources {
		most := mostInCycle
		for above, more := range stillLarger {
			if s.path == above || strings.HasPrefix(s.path, above+"/") {
				most = more
			}
		}
		if n := len(read.references(s).cycle()); n > most {
			t.Errorf("%d files of %s reach each other, and %d may: go run ./internal/structure/figures -package %[2]s -why",
				n, s.path, most)
		}
	}
}
