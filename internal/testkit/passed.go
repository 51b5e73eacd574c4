package testkit

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// This file skips long tests whose sources are as they were when the tests last passed.

// passedFile has, in a package's folder, a line for each of its tests that are skipped so: the name of the test and the
// hash of the sources with which it passed.
const passedFile = "testdata/passed.txt"

var passedMutex sync.Mutex

// SkipPassed skips a test that has passed with the same sources and the same version of Go on the same kind of
// processor: those of its own package, tests among them, and those of all packages of the project that these import.
// DPRELEASE_LONG and DPRELEASE_PASSED=run run it nonetheless; with DPRELEASE_PASSED=keep a test that passes has its
// line written.
func SkipPassed(t testing.TB) {
	t.Helper()
	line := t.Name() + " " + hashSources(t)
	known, err := os.ReadFile(passedFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if slices.Contains(strings.Split(string(known), "\n"), line) && os.Getenv("DPRELEASE_LONG") == "" &&
		os.Getenv("DPRELEASE_PASSED") != "run" {
		t.Skipf("it has passed with these sources (%s); set DPRELEASE_LONG to run it again", passedFile)
	}
	if os.Getenv("DPRELEASE_PASSED") == "keep" && isWhole() {
		t.Cleanup(func() {
			if !t.Failed() && !t.Skipped() {
				keepPassed(t, line)
			}
		})
	}
}

// isWhole reports whether tests run with all their subtests and nothing left out.
func isWhole() bool {
	for _, name := range []string{"test.run", "test.skip"} {
		if f := flag.Lookup(name); f != nil && (strings.Contains(f.Value.String(), "/") || name == "test.skip" &&
			f.Value.String() != "") {
			return false
		}
	}
	return !testing.Short()
}

// hashSources returns the hash of the sources that a test rests on, and of the versions of what they import.
func hashSources(t testing.TB) string {
	t.Helper()
	root := Root(t)
	own, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	paths := append(sourcesIn(t, own, true), filepath.Join(root, "go.mod"), filepath.Join(root, "go.sum"))
	for _, folder := range importedFolders(t, root, own) {
		paths = append(paths, sourcesIn(t, filepath.Join(root, filepath.FromSlash(folder)), false)...)
	}
	h := sha256.New()
	io.WriteString(h, runtime.Version()+" "+runtime.GOARCH+"\n") // a hash takes all that is written
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		name, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(h, filepath.ToSlash(name)+" "+hex.EncodeToString(sum[:])+"\n")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sourcesIn returns the files in a folder, without those in folders below: what a package embeds is among them.
func sourcesIn(t testing.TB, folder string, tests bool) (paths []string) {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources in %s: %v", folder, err)
	}
	for _, f := range files {
		if f.Type().IsRegular() && (tests || !strings.HasSuffix(f.Name(), "_test.go")) {
			paths = append(paths, filepath.Join(folder, f.Name()))
		}
	}
	return paths
}

// importedFolders returns the folders, in order, of all packages of the project that the package in a folder imports,
// through others and in its tests.
func importedFolders(t testing.TB, root, own string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, module, _ := strings.Cut(string(text), "module ")
	module, _, _ = strings.Cut(module, "\n")
	known := map[string]bool{}
	var visit func(folder string, tests bool)
	visit = func(folder string, tests bool) {
		for _, path := range sourcesIn(t, folder, tests) {
			if filepath.Ext(path) != ".go" {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports {
				imported, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if below, ok := strings.CutPrefix(imported+"/", module+"/"); ok && !known[below] {
					known[below] = true
					visit(filepath.Join(root, filepath.FromSlash(below)), false)
				}
			}
		}
	}
	visit(own, true)
	return slices.Sorted(maps.Keys(known))
}

// keepPassed writes a test's line in place of the one before.
func keepPassed(t testing.TB, line string) {
	passedMutex.Lock()
	defer passedMutex.Unlock()
	known, err := os.ReadFile(passedFile)
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
		return
	}
	name, _, _ := strings.Cut(line, " ")
	lines := slices.DeleteFunc(strings.Split(string(known), "\n"), func(other string) bool {
		return other == "" || strings.HasPrefix(other, name+" ")
	})
	lines = append(lines, line)
	slices.Sort(lines)
	if err := os.MkdirAll(filepath.Dir(passedFile), 0o755); err != nil {
		t.Error(err)
		return
	}
	if err := os.WriteFile(passedFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
}
