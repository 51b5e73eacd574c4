package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// This file holds the account that docs/ledger.md shows to the program.

// volatile is what two runs of the same releases differ in: days, quarters and hashes of entries, which are salted.
var volatile = regexp.MustCompile(`\b\d{4}-(?:\d\d-\d\d|Q\d)\b|\b[0-9a-f]{64}\b`)

// TestAccountOnThePage holds the account on the page to what it says it is of: the quickstart and three more releases
// like it. With -update it is written anew.
func TestAccountOnThePage(t *testing.T) {
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
	path := filepath.Join(root, "docs", "ledger.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), "```\nPrivacy account lfs-2026: ")
	shown, after, ends := strings.Cut("Privacy account lfs-2026: "+rest, "\n```\n")
	if !begins || !ends {
		t.Fatal("the page shows no account")
	}
	if volatile.ReplaceAllString(shown, "…") == volatile.ReplaceAllString(want, "…") {
		return
	}
	if !*updatePage {
		t.Fatalf("the page shows\n%s\nand the account is\n%s\nrun this test with -update if that is meant", shown, want)
	}
	if err := os.WriteFile(path, []byte(before+"```\n"+want+"\n```\n"+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
