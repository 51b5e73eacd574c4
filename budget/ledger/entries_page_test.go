package ledger_test

// This file checks docs/entries.md against the ledger: an auditor who follows the page, without this program, finds
// what the ledger wrote.

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
)

// exportedLine is a line of an export, of whatever kind.
type exportedLine struct {
	Office, Body, Sealed, Hash, Signature, Head string
	Entries                                     int
}

// exportedLines reads the example of the page, or another export.
func exportedLines(t *testing.T, text []byte) []exportedLine {
	t.Helper()
	var lines []exportedLine
	for _, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var one exportedLine
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, one)
	}
	return lines
}

// hexadecimal returns the bytes of a hash.
func hexadecimal(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 32 {
		t.Fatalf("%q is no hash: %v", text, err)
	}
	return b
}

// TestTheEntriesFollowThePage recomputes every hash and signature of the example, and the numbers in the page's table,
// by what the page says alone; the ledger reads the same file and finds the same head.
func TestTheEntriesFollowThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/entries.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../docs/entries.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := exportedLines(t, example)
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimPrefix(lines[0].Office, "ed25519:"))
	if err != nil {
		t.Fatal(err)
	}
	previous := sha256.Sum256([]byte("dprelease ledger 2"))
	rows := fmt.Sprintf("| 0 | – | – | 18 | `%x` |\n", previous)
	for n, line := range lines[1 : len(lines)-1] {
		hashed := append(append(previous[:], hexadecimal(t, line.Sealed)...), line.Body...)
		previous = sha256.Sum256(hashed)
		if hex.EncodeToString(previous[:]) != line.Hash {
			t.Errorf("entry %d: the page's rule gives %x, the export %s", n+1, previous, line.Hash)
		}
		signature, err := base64.RawStdEncoding.DecodeString(line.Signature)
		if err != nil || !ed25519.Verify(key, append([]byte("dprelease ledger entry\x00"), previous[:]...), signature) {
			t.Errorf("entry %d: the signature is not that of the page's 55 bytes (%v)", n+1, err)
		}
		var body struct{ Kind string }
		if err := json.Unmarshal([]byte(line.Body), &body); err != nil {
			t.Fatal(err)
		}
		rows += fmt.Sprintf("| %d | %s | %d | %d | `%s` |\n", n+1, body.Kind, len(line.Body), len(hashed), line.Hash)
	}
	last := lines[len(lines)-1]
	if last.Head != hex.EncodeToString(previous[:]) || last.Entries != len(lines)-2 {
		t.Errorf("the export ends with %+v", last)
	}
	if !strings.Contains(string(page), rows) {
		t.Errorf("the page does not have the rows\n%s", rows)
	}
	read, err := ledger.ReadExport(bytes.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	if read.Head != last.Head || read.Entries != int64(last.Entries) {
		t.Errorf("the ledger reads %s after %d entries", read.Head, read.Entries)
	}
	changed := bytes.Replace(example, []byte(`\"epsilon\":\"1\"`), []byte(`\"epsilon\":\"2\"`), 1)
	if _, err := ledger.ReadExport(bytes.NewReader(changed)); err == nil {
		t.Error("a changed entry is read")
	}
}

// blocks returns the page's code blocks of a language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	page, err := os.ReadFile("../../docs/entries.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, part := range strings.Split(string(page), "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		all = append(all, block+"\n")
	}
	return all
}

// tool returns the path of a program, without which the test is skipped.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s here", name)
	}
	return path
}

// TestThePagesProgramsRun runs the page's Python over the example and over one that was changed, and its shell
// commands.
func TestThePagesProgramsRun(t *testing.T) {
	example, err := filepath.Abs("../../docs/entries.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	lines := exportedLines(t, text)
	head := lines[len(lines)-1].Head
	t.Run("python", func(t *testing.T) {
		python := tool(t, "python3")
		program := filepath.Join(t.TempDir(), "chain.py")
		if err := os.WriteFile(program, []byte(blocks(t, "python")[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(python, program, example).CombinedOutput(); err != nil ||
			string(out) != "4 entries, head "+head+"\n" {
			t.Errorf("%v: %s", err, out)
		}
		changed := filepath.Join(t.TempDir(), "changed.jsonl")
		if err := os.WriteFile(changed, bytes.Replace(text, []byte(`\"epsilon\":\"1\"`), []byte(`\"epsilon\":\"2\"`),
			1),
			0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(python, program, changed).CombinedOutput(); err == nil {
			t.Errorf("a changed entry passes: %s", out)
		}
	})
	t.Run("shell", func(t *testing.T) {
		tool(t, "xxd")
		tool(t, "sha256sum")
		shell := exec.Command(tool(t, "bash"), "-e", "-c", blocks(t, "text")[2])
		if out, err := shell.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), head+" ") {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("openssl", func(t *testing.T) {
		tool(t, "xxd")
		if out, err := exec.Command(tool(t, "openssl"), "version").Output(); err != nil ||
			!strings.HasPrefix(string(out), "OpenSSL 3") {
			t.Skipf("this needs OpenSSL 3, here is %s", out)
		}
		shell := exec.Command(tool(t, "bash"), "-e", "-c", blocks(t, "text")[3])
		shell.Dir = t.TempDir()
		if out, err := shell.CombinedOutput(); err != nil ||
			!strings.Contains(string(out), "Signature Verified Successfully") {
			t.Errorf("%v: %s", err, out)
		}
	})
}
