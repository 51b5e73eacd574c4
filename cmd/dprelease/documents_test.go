package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// This file runs the commands that the documents show, as docs/README.md says: blocks `sh` and `console`, page by page.

var (
	block     = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")
	fileBlock = regexp.MustCompile(`^# ([\w-]+\.(?:yaml|csv))(?: .*)?\n`)
)

// TestDocuments runs the pages that have commands, all with the one binary of the script tests.
func TestDocuments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents speak to a POSIX shell")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to run the documents with")
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	howtos, err := filepath.Glob(filepath.Join(root, "docs", "howto", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names = append(append(names, howtos...), filepath.Join(root, "SECURITY.md"))
	ran := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\n```sh\n") && !strings.Contains(string(text), "\n```console\n") {
			continue
		}
		ran++
		page, _ := filepath.Rel(root, name)
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for from, to := range map[string]string{filepath.Join("docs", "howto", "start"): "",
				"examples": "examples"} {
				if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(root, from))); err != nil {
					t.Fatal(err)
				}
			}
			runPage(t, dir, string(text))
		})
	}
	if ran < 6 {
		t.Errorf("%d pages with commands", ran)
	}
}

// runPage runs a page's blocks in order. What a block exports holds in those behind it.
func runPage(t *testing.T, dir, text string) {
	t.Helper()
	for _, b := range block.FindAllStringSubmatch(text, -1) {
		language, body := b[1], b[2]
		if name := fileBlock.FindStringSubmatch(body); name != nil && (language == "yaml" || language == "csv") {
			// Without its name, so that lines have the numbers that they have in the file that people copy.
			if err := os.WriteFile(filepath.Join(dir, name[1]), []byte(strings.TrimPrefix(body, name[0])),
				0o644); err != nil {
				t.Fatal(err)
			}
		}
		switch language {
		case "sh":
			if out, err := runShell(dir, body); err != nil {
				t.Fatalf("%v\n%s\n%s", err, body, out)
			}
		case "console":
			commands := strings.Split("\n"+body, "\n$ ")
			if commands[0] != "" {
				t.Fatalf("a block `console` begins with a command:\n%s", body)
			}
			for _, c := range commands[1:] {
				command, want, _ := strings.Cut(strings.TrimSuffix(c, "\n"), "\n")
				out, err := runShell(dir, command)
				if err != nil {
					t.Fatalf("%v\n%s\n%s", err, command, out)
				}
				if !matchesOutput(want, out) {
					t.Fatalf("%s prints something else than the page says (-page +printed):\n%s", command,
						cmp.Diff(strings.Split(want, "\n"), strings.Split(out, "\n")))
				}
			}
		}
	}
}

// runShell runs commands in a folder, stopping at the first that fails, and returns all that they print.
func runShell(dir, commands string) (string, error) {
	const exported = ".exported" // what blocks before exported
	script := fmt.Sprintf("set -euo pipefail\n[ ! -f %[1]s ] || . ./%[1]s\n%[2]s\n"+
		"{ export -p | grep DPRELEASE_ > %[1]s; } || true\n", exported, commands)
	command := exec.Command("bash", "-c", script)
	command.Dir = dir
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DPRELEASE_") {
			command.Env = append(command.Env, v)
		}
	}
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	return strings.TrimSuffix(out.String(), "\n"), err
}

// matchesOutput reports whether a text is what a page shows: … stands for anything within a line, and on its own for
// any lines.
func matchesOutput(want, got string) bool {
	var b strings.Builder
	for _, line := range strings.Split(want, "\n") {
		if line == "…" {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		var parts []string
		for _, part := range strings.Split(line, "…") {
			parts = append(parts, regexp.QuoteMeta(part))
		}
		b.WriteString(strings.Join(parts, ".*") + `\n`)
	}
	return regexp.MustCompile(`^(?:` + b.String() + `)$`).MatchString(got + "\n")
}

func TestWhatPagesSay(t *testing.T) {
	for _, c := range []struct {
		want, got string
		is        bool
	}{
		{"a\nb", "a\nb", true},
		{"a", "a\nb", false},
		{"a\n…", "a\nb\nc", true},
		{"a\n…", "a", true},
		{"…\nc", "a\nb\nc", true},
		{"…\nb", "a\nb\nc", false},
		{"a … c", "a b c", true},
		{"a … c", "a b\nc", false},
		{"ρ = 0.02 (x).", "ρ = 0.02 (x)!", false},
		{"", "", true},
		{"", "warning", false},
	} {
		if matchesOutput(c.want, c.got) != c.is {
			t.Errorf("said(%q, %q) is %v", c.want, c.got, !c.is)
		}
	}
}

// TestFilesOfTheTutorial holds the files that pages begin with to the ones that the tutorial shows.
func TestFilesOfTheTutorial(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	start := filepath.Join(docs, "howto", "start")
	page, err := os.ReadFile(filepath.Join(docs, "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, b := range block.FindAllStringSubmatch(string(page), -1) {
		if name := fileBlock.FindStringSubmatch(b[2]); name != nil {
			shown[name[1]] = strings.TrimPrefix(b[2], name[0])
		}
	}
	err = fs.WalkDir(os.DirFS(start), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(start, path))
		if diff := cmp.Diff(shown[path], string(text)); diff != "" {
			t.Errorf("%s (-shown +there):\n%s", path, diff)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
