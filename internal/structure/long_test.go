package structure

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLongRunsWhatThereIs fails if .ci/long names tests that do not exist in the named packages: `go test` passes if a
// pattern matches nothing, so a test that moved would never run again.
func TestLongRunsWhatThereIs(t *testing.T) {
	atRoot(t)
	script, err := os.ReadFile(filepath.Join(".ci", "long"))
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`-(run|bench) '?([^' ]+)'?`)
	folder := regexp.MustCompile(` \./([\w/]+)`)
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w*)\(`)
	asked := 0
	for _, line := range strings.Split(string(script), "\n") {
		folders := folder.FindAllStringSubmatch(line, -1)
		if !strings.Contains(line, "go test ") || len(folders) == 0 {
			continue
		}
		var names []string
		for _, in := range folders {
			files, err := filepath.Glob(filepath.Join(in[1], "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
					names = append(names, found[1])
				}
			}
		}
		for _, flag := range pattern.FindAllStringSubmatch(line, -1) {
			if flag[2] == "^$" {
				continue
			}
			for _, one := range patternParts(flag[2]) {
				asked++
				prefix := map[string]string{"run": "Test", "bench": "Benchmark"}[flag[1]]
				wanted := regexp.MustCompile(one)
				if !matchesAny(wanted, prefix, names) {
					t.Errorf("%s: no %s of these packages is named for %q", strings.TrimSpace(line), prefix, one)
				}
			}
		}
	}
	if asked < 15 {
		t.Errorf(".ci/long asks for %d names of tests", asked)
	}
}

// patternParts returns the parts of a pattern, which may be in parentheses after a common prefix.
func patternParts(pattern string) []string {
	if strings.ContainsAny(pattern, "()") {
		return []string{pattern}
	}
	return strings.Split(pattern, "|")
}

// matchesAny reports whether a pattern matches one of the names with this prefix.
func matchesAny(wanted *regexp.Regexp, prefix string, names []string) bool {
	for _, name := range names {
		if strings.HasPrefix(name, prefix) && wanted.MatchString(name) {
			return true
		}
	}
	return false
}
