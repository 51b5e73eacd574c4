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

// volatile is what two runs of the same releases differ in: days, quarters and hashes of entries, which are salted.
var volatile = regexp.MustCompile(`\b\d{4}-(?:\d\d-\d\d|Q\d)\b|\b[0-9a-f]{64}\b`)

// TestReadmeAccount holds the README's account to what it says it is of: the quickstart and three more releases like
// it. With -update it is written anew.
func TestReadmeAccount(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("no shell to make the releases with")
	}
	t.Parallel()
	root, dir := filepath.Join("..", ".."), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", "quickstart"))); err != nil {
		t.Fatal(err)
	}
	made, err := runShell(dir, `mkdir -m 700 secure
export DPRELEASE_LEDGER=secure/ledger.db
dprelease ledger init register.yaml
dprelease ledger init policy.yaml
dprelease run release.yaml --state secure/state
for more in hours regions age; do
	sed "s/^release: labour-2026q1$/&-$more/" release.yaml > $more.yaml
	dprelease run $more.yaml --state secure/state
done`)
	if err != nil {
		t.Fatalf("%v\n%s", err, made)
	}
	want, err := runShell(dir, "dprelease ledger show lfs-2026")
	if err != nil {
		t.Fatalf("%v\n%s", err, want)
	}
	path := filepath.Join(root, "README.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), "```\nPrivacy account lfs-2026: ")
	shown, after, ends := strings.Cut("Privacy account lfs-2026: "+rest, "\n```\n")
	if !begins || !ends {
		t.Fatal("the README shows no account")
	}
	if volatile.ReplaceAllString(shown, "…") == volatile.ReplaceAllString(want, "…") {
		return
	}
	if !*updatePage {
		t.Fatalf("the README shows\n%s\nand the account is\n%s\nrun this test with -update if that is meant", shown, want)
	}
	if err := os.WriteFile(path, []byte(before+"```\n"+want+"\n```\n"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
