package testkit

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// This file skips tests of planted faults whose sources are as they were when the faults were last noticed.

// plantedFile has, in a package's folder, a line for each of its tests of planted faults: the name of the test and
// the hash of the sources with which it passed.
const plantedFile = "testdata/planted.txt"

var plantedMutex sync.Mutex

// SkipPlanted skips a test that plants faults in code and expects another test to notice them, if it has passed with
// the same sources: those in the folder of its own package, tests among them, and those in other folders of the
// project that it names, without their tests. DPRELEASE_LONG runs it nonetheless; with DPRELEASE_PLANTED=keep a test
// that passes has its line written.
func SkipPlanted(t testing.TB, folders ...string) {
	t.Helper()
	sum := hashSources(t, folders)
	line := t.Name() + " " + sum
	known, err := os.ReadFile(plantedFile)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if slices.Contains(strings.Split(string(known), "\n"), line) && os.Getenv("DPRELEASE_LONG") == "" {
		t.Skipf("its faults were noticed with these sources (%s); set DPRELEASE_LONG to plant them again", plantedFile)
	}
	if os.Getenv("DPRELEASE_PLANTED") == "keep" {
		t.Cleanup(func() {
			if !t.Failed() && !t.Skipped() {
				keepPlanted(t, line)
			}
		})
	}
}

// hashSources returns the hash of the sources that a test of planted faults rests on, and of the versions of what they
// import.
func hashSources(t testing.TB, folders []string) string {
	t.Helper()
	root := Root(t)
	own, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	paths := append(own, filepath.Join(root, "go.mod"))
	for _, folder := range folders {
		sources, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*.go"))
		if err != nil || len(sources) == 0 {
			t.Fatalf("no sources in %s: %v", folder, err)
		}
		paths = append(paths, slices.DeleteFunc(sources, func(path string) bool { return strings.HasSuffix(path, "_test.go") })...)
	}
	h := sha256.New()
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		io.WriteString(h, filepath.Base(path)+" "+hex.EncodeToString(sum[:])+"\n") // a hash takes all that is written
	}
	return hex.EncodeToString(h.Sum(nil))
}

// keepPlanted writes a test's line in place of the one before.
func keepPlanted(t testing.TB, line string) {
	plantedMutex.Lock()
	defer plantedMutex.Unlock()
	known, err := os.ReadFile(plantedFile)
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
	if err := os.MkdirAll(filepath.Dir(plantedFile), 0o755); err != nil {
		t.Error(err)
		return
	}
	if err := os.WriteFile(plantedFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Error(err)
	}
}
