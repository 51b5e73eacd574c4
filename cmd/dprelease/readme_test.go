package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// This file follows the README as a newcomer does: in a copy of the project, in one shell, from the first command to
// the last.

// readmeBlock is a block of the README that a newcomer runs or saves.
var readmeBlock = regexp.MustCompile("(?ms)^```(sh|yaml)\n(.*?)^```$")

// TestReadme runs the README in order, and checks that git ignores all that this leaves behind.
func TestReadme(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents speak to a POSIX shell")
	}
	for _, program := range []string{"bash", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no " + program + " to follow the README with")
		}
	}
	t.Parallel()
	root, dir := filepath.Join("..", ".."), t.TempDir()
	for _, folder := range []string{"examples", filepath.Join("docs", "howto", "start")} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), ignored, 0o644); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := runShell(dir, "git init -q && git add -A\n"+readmeScript(string(page))); err != nil {
		t.Fatalf("following the README in order: %v\n%s", err, out)
	}
	left, err := runShell(dir, "git ls-files --others --exclude-standard")
	if err != nil || left != "" {
		t.Errorf("following the README leaves files that git would commit (%v):\n%s", err, left)
	}
}

// readmeScript is the README as a script: its commands, and its YAML files saved in the folder where the reader is by
// then. The program under test stands for the one that `go run` would build.
func readmeScript(page string) string {
	var b strings.Builder
	for _, found := range readmeBlock.FindAllStringSubmatch(page, -1) {
		language, body := found[1], found[2]
		name := fileBlock.FindStringSubmatch(body)
		switch {
		case language == "sh":
			b.WriteString(strings.ReplaceAll(body, "go run ./cmd/dprelease ", "dprelease "))
		case name != nil:
			fmt.Fprintf(&b, "cat > %s <<'END OF FILE'\n%sEND OF FILE\n", name[1], body)
		}
	}
	return b.String()
}
