package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/release"
)

// program is the test binary as the program itself.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Args = append([]string{"dprelease"}, args...)
	c.Dir = dir
	return c
}

// office is a folder with a ledger, a spec and enough rows that a run lasts a while.
func office(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var rows bytes.Buffer
	rows.WriteString("who,x\n")
	for i := range 50000 {
		fmt.Fprintf(&rows, "%d,%d\n", i/3, i*7919%100000)
	}
	for name, text := range map[string]string{
		"policy.yaml": "account: trips\nprotects: trip\nneighbours: add-remove\ncap: {epsilon: 2}\n",
		"t.csv":       rows.String(),
		"release.yaml": `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {epsilon: 2}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {x: {type: integer, range: [0, 99999], levels: {k: {width: 1000}}}}}}
marginals: {fine: {by: [x]}, coarse: {by: [x.k]}}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := program(t, dir, "ledger", "init", "policy.yaml", "--ledger", "ledger.db").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// spent is the state of the account: "nothing", "reserved" or "debited".
func spent(t *testing.T, dir string) string {
	t.Helper()
	all, err := release.Statements(t.Context(), filepath.Join(dir, "ledger.db"), []string{"trips"})
	if err != nil {
		t.Fatal(err)
	}
	state := "nothing"
	for _, r := range all[0].Releases {
		switch r.State {
		case "debited":
			return "debited"
		case "reserved":
			state = "reserved"
		}
	}
	return state
}

// codeOf is a finished process's code, or -1 for a killed one.
func codeOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// TestInterrupted stops a run by Ctrl-C or kill -9 after random delays. An
// interrupted run exits 130; one that had not debited leaves nothing spent and
// nothing written; whatever happened, running again finishes the release with
// one debit, the key erased and no staging folder left.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no signals to send")
	}
	lasts := 400 * time.Millisecond
	for i := range 12 {
		how := os.Signal(os.Interrupt)
		if i%2 == 1 {
			how = syscall.SIGKILL
		}
		dir := office(t)
		args := []string{"run", "release.yaml", "--ledger", "ledger.db"}
		c := program(t, dir, args...)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(lasts))
		if err := c.Process.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		code := codeOf(c.Wait())
		state := spent(t, dir)
		t.Logf("%v: exit %d, account %s", how, code, state)
		if how == os.Interrupt {
			if code != 0 && code != release.ExitInterrupted && code != -1 { // -1: before the program could listen
				t.Fatalf("exit %d\n%s", code, stderr.String())
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".r*")); code == release.ExitInterrupted && len(left) > 0 {
				t.Errorf("interrupted, left behind: %v", left)
			}
			if code == release.ExitInterrupted && state == "reserved" {
				t.Error("interrupted, a reservation is left")
			}
		}
		if out, err := program(t, dir, args...).CombinedOutput(); err != nil {
			t.Fatalf("running again: %v\n%s", err, out)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".r*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if keys, _ := filepath.Glob(filepath.Join(dir, ".dprelease", "*", "key*")); len(keys) > 0 {
			t.Errorf("the key is still there: %v", keys)
		}
		if s := spent(t, dir); s != "debited" {
			t.Errorf("account: %s", s)
		}
	}
}

// TestManyAtOnce runs one release in several processes at once: every one ends
// well or says that it is taken, and one set of measurements and one debit remain.
func TestManyAtOnce(t *testing.T) {
	dir := office(t)
	var group sync.WaitGroup
	codes := make([]int, 4)
	outputs := make([]string, len(codes))
	for i := range codes {
		group.Go(func() {
			out, err := program(t, dir, "run", "release.yaml", "--ledger", "ledger.db").CombinedOutput()
			codes[i], outputs[i] = codeOf(err), string(out)
		})
	}
	group.Wait()
	done := 0
	for i, code := range codes {
		switch code {
		case release.ExitDone:
			done++
		case release.ExitEnvironment, release.ExitName:
			t.Logf("exit %d: %s", code, outputs[i])
		default:
			t.Errorf("exit %d: %s", code, outputs[i])
		}
		if strings.Contains(outputs[i], "panic") {
			t.Error(outputs[i])
		}
	}
	if done == 0 {
		t.Error("no process finished the release")
	}
	if out, err := program(t, dir, "run", "release.yaml", "--ledger", "ledger.db").CombinedOutput(); err != nil {
		t.Errorf("running again: %v\n%s", err, out)
	}
	if s := spent(t, dir); s != "debited" {
		t.Errorf("account: %s", s)
	}
}

// TestFullDisk releases onto a volume with too little space: exit 1, nothing
// spent, nothing left; with space, the same command succeeds.
func TestFullDisk(t *testing.T) {
	dir := office(t)
	small := filepath.Join(dir, "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small).CombinedOutput(); err != nil {
		t.Skipf("needs the right to mount a small volume: %s", out)
	}
	defer exec.Command("umount", small).Run()
	args := []string{"run", "release.yaml", "--ledger", "ledger.db", "--state", "state", "--out", "small"}
	out, err := program(t, dir, args...).CombinedOutput()
	if code := codeOf(err); code != release.ExitEnvironment || !strings.Contains(string(out), "space") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if s := spent(t, dir); s != "nothing" {
		t.Errorf("account: %s", s)
	}
	left, err := os.ReadDir(small)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if out, err := exec.Command("mount", "-o", "remount,size=16m", small).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := program(t, dir, args...).CombinedOutput(); err != nil {
		t.Errorf("with space: %v\n%s", err, out)
	}
}
