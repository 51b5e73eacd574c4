package dprelease_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page on embedding shows the example as it is.
func TestThePageShowsTheExample(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "howto", "embed.md"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join("examples", "embed", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(program), "\n") // its first line is for go doc
	if !strings.Contains(string(page), "```go\n"+code+"```\n") {
		t.Error("docs/howto/embed.md does not show examples/embed/main.go")
	}
}

// The example makes a release in a module of its own, which has nothing but the public packages, finds it when it is
// called again, and says by a stable word what is wrong with a spec.
func TestAReleaseFromAnotherModule(t *testing.T) {
	dir := t.TempDir()
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join("examples", "embed", "main.go"), filepath.Join(dir, "main.go"))
	// A workspace has the packages compiled once for this module and the other.
	for name, text := range map[string]string{
		"go.mod":  goLine(t) + "\nmodule example.org/service\n",
		"go.work": goLine(t) + "\nuse (\n.\n" + top + "\n)\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("docs", "howto", "start"))); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "service")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK="+filepath.Join(dir, "go.work"))
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for range 2 {
		run := exec.Command(binary, "release.yaml", "out")
		run.Dir, run.Env = dir, append(os.Environ(), "DPRELEASE_LEDGER=")
		text, err := run.CombinedOutput()
		if err != nil || !strings.Contains(string(text), "consistent in itself") &&
			!strings.Contains(string(text), "verifies") {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "wrong.yaml"), []byte("version: 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := exec.Command(binary, "wrong.yaml", "out")
	run.Dir = dir
	text, err := run.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "reason: spec_invalid, retry: never") {
		t.Errorf("a spec that is none: %v\n%s", err, text)
	}
}

// goLine returns the line of go.mod that names the version of the language.
func goLine(t *testing.T) string {
	t.Helper()
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^go .*$`).FindString(string(mod))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
