package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/jackc/pgx/v5"
)

// programCommand is the test binary as the program itself.
func programCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
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

// newOffice is a folder with a spec, enough rows that a run lasts a while, and an
// account with room for some such releases in a ledger: a file in the folder, or a
// database.
func newOffice(t *testing.T, ledger string, room int) string {
	t.Helper()
	return officeOf(t, "{csv: t.csv}", ledger, room)
}

// officeOf is newOffice with rows from another source.
func officeOf(t *testing.T, source, ledger string, room int) string {
	t.Helper()
	return officeWith(t, ledger, fmt.Sprintf("cap: {epsilon: %d}", 2*room), `budget: {epsilon: 2}
tables: {t: {source: `+source+`, unit: {id: who, max_rows: 2}, columns: {x: {type: integer, range: [0, 99999], levels: {k: {width: 1000}}}}}}
marginals: {fine: {by: [x]}, coarse: {by: [x.k]}}
`)
}

// togetherOffice is an office whose tables are put together from residuals.
func togetherOffice(t *testing.T, ledger string) string {
	t.Helper()
	return officeWith(t, ledger, "cap: {rho: 1}", `budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {x: {type: integer, range: [0, 99999], levels: {k: {width: 100}, m: {width: 5000}}}}}}
marginals: {fine: {by: [x.k]}, coarse: {by: [x.m]}}
`)
}

// rowsOffice is an office whose release has microdata of seven columns, by method aim as the planner chooses, so up
// to 56 rounds.
func rowsOffice(t *testing.T, ledger string) string {
	t.Helper()
	columns, names := "", ""
	for i := range 7 {
		columns += fmt.Sprintf(", x%d: {from: x, type: decimal, range: [0, 99999], levels: {k: {width: %d}}}", i,
			4000+1000*i)
		names += fmt.Sprintf(", x%d.k", i)
	}
	return officeWith(t, ledger, "cap: {rho: 1}", `budget: {rho: 1, split: {tables: 1/2, rows: 1/2}}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {`+columns[2:]+`}}}
marginals: {coarse: {by: [x0.k], budget: tables}}
synthetic: {t: {by: [`+names[2:]+`], budget: rows}}
`)
}

// modelOffice is an office whose release is a model of two columns and a mean, with some hundred rounds.
func modelOffice(t *testing.T, ledger string) string {
	t.Helper()
	return officeWith(t, ledger, "cap: {rho: 1}", `budget: {rho: 1}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 2}
    expect: {rows: [1000, 90000]}
    columns:
      a: {from: integer(x) // 1000, type: integer, range: [0, 99]}
      b: {from: integer(x) % 7, type: integer, range: [0, 6]}
      y: {from: integer(x) // 2000 + integer(x) % 7, type: integer, range: [0, 60]}
models: {m: {predict: y, by: [a, b]}}
`)
}

// holderOffice is an office that has a part of the data of a release of two holders, both of whom have signed its
// plan.
func holderOffice(t *testing.T, ledger string) string {
	t.Helper()
	dir := officeWith(t, ledger, "cap: {epsilon: 2}", `budget: {epsilon: 2}
holders: {keys: {north: north.pub, south: south.pub}, units: disjoint, trusted: 1}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, columns: {x: {type: integer, range: [0, 99999], levels: {k: {width: 1000}}}}}}
marginals: {fine: {by: [x]}, coarse: {by: [x.k]}}
`)
	for _, args := range [][]string{{"holder", "key", "north"}, {"holder", "key", "south"}, {"plan", "release.yaml"},
		{"holder", "sign", holderPlan, "--holder-key", "north"},
		{"holder", "sign", holderPlan, "--holder-key", "south"}} {
		if out, err := programCommand(t, dir, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return dir
}

// holderPlan is the file of the plan in the office of a holder.
const holderPlan = "r.plan.json"

// drawingArgs is the command that draws the noise of an office: of its release, or of its share as a holder.
func drawingArgs(dir, ledger string) []string {
	if _, err := os.Stat(filepath.Join(dir, "north.pub")); err == nil {
		return []string{"measure", holderPlan, "--holder", "north", "--holder-key", "north", "--ledger", ledger}
	}
	return []string{"run", "release.yaml", "--ledger", ledger}
}

// officeWith is an office with the cap of its account and what its spec asks for.
func officeWith(t *testing.T, ledger, limit, asks string) string {
	t.Helper()
	dir := t.TempDir()
	var rows bytes.Buffer
	rows.WriteString("who,x\n")
	for i := range 50000 {
		fmt.Fprintf(&rows, "%d,%d\n", i/3, i*7919%100000)
	}
	for name, text := range map[string]string{
		"policy.yaml": "account: trips\nprotects: trip\nneighbours: add-remove\n" + limit + "\n",
		"t.csv":       rows.String(),
		"release.yaml": "version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: add-remove, account: trips}\n" +
			asks,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := programCommand(t, dir, "ledger", "init", "policy.yaml", "--ledger",
		ledger).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// fileLedger is a ledger's place within an office.
const fileLedger = "ledger.db"

// debitState returns the state of the release on its account, "nothing" if it has none. The account holds one such
// release, so at most one can have been spent.
func debitState(t *testing.T, dir, at string) ledger.State {
	t.Helper()
	if at == fileLedger {
		at = filepath.Join(dir, at)
	}
	all, err := account.Ledger{Path: at}.Statements(t.Context(), []string{"trips"})
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	if used, err := s.Spent.Add(s.Reserved.Cost); err != nil || amount(used).Cmp(amount(s.Cap.Cost)) > 0 {
		t.Errorf("spent %s, reserved %s of %s", s.Spent, s.Reserved, s.Cap)
	}
	if len(s.Releases) == 0 {
		return "nothing"
	}
	return s.Releases[len(s.Releases)-1].State
}

// amount is what a cost is in, ε or ρ.
func amount(c budget.Cost) *big.Rat {
	if c.Epsilon != nil {
		return c.Epsilon
	}
	return cmp.Or(c.Rho, new(big.Rat))
}

// codeOf is a finished process's code, or -1 for a killed one.
func codeOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// TestInterrupted stops a run by Ctrl-C after random delays. It exits 130; where it
// had not debited, nothing is spent, reserved or left; running again finishes the
// release.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no signals to send")
	}
	for range 6 {
		dir := newOffice(t, fileLedger, 1)
		args := []string{"run", "release.yaml", "--ledger", fileLedger}
		c := programCommand(t, dir, args...)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(400 * time.Millisecond))
		if err := c.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		code := codeOf(c.Wait())
		state := debitState(t, dir, fileLedger)
		t.Logf("exit %d, account %s", code, state)
		if code != 0 && code != verdict.ExitInterrupted && code != -1 { // -1: before the program could listen
			t.Fatalf("exit %d\n%s", code, stderr.String())
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".r*")); code == verdict.ExitInterrupted && len(left) > 0 {
			t.Errorf("interrupted, left behind: %v", left)
		}
		if code == verdict.ExitInterrupted && state == ledger.Reserved {
			t.Error("interrupted, a reservation is left")
		}
		assertFinishes(t, dir, args, fileLedger)
	}
}

// TestSecondSignal sends two signals to a child that does not end at the first: the second ends it at once.
func TestSecondSignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no signals to send")
	}
	const child = "DPRELEASE_TEST_ENDLESS"
	if os.Getenv(child) != "" {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer endOnSignal(ctx, cancel)()
		fmt.Println("begun")
		<-ctx.Done()
		fmt.Println("first")
		time.Sleep(time.Minute)
		fmt.Println("last")
		return
	}
	for _, signals := range [][2]os.Signal{{os.Interrupt, os.Interrupt}, {syscall.SIGTERM, os.Interrupt},
		{os.Interrupt, syscall.SIGTERM}} {
		c := exec.Command(os.Args[0], "-test.run=^TestSecondSignal$")
		c.Env = append(os.Environ(), child+"=1")
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for i, said := range []string{"begun", "first"} {
			if !lines.Scan() || lines.Text() != said {
				t.Fatalf("after %d signals: %q", i, lines.Text())
			}
			time.Sleep(50 * time.Millisecond) // signals that come together count as one
			if err := c.Process.Signal(signals[i]); err != nil {
				t.Fatal(err)
			}
		}
		if lines.Scan() {
			t.Errorf("%v: after the second it goes on: %q", signals, lines.Text())
		}
		var ended *exec.ExitError
		if err := c.Wait(); !errors.As(err, &ended) {
			t.Errorf("%v: %v", signals, err)
		}
	}
}

// assertFinishes runs a release again and asserts that it is complete: one debit, the key erased, no staging folder
// left.
func assertFinishes(t *testing.T, dir string, args []string, at string) {
	t.Helper()
	if out, err := programCommand(t, dir, args...).CombinedOutput(); err != nil {
		t.Fatalf("running again: %v\n%s", err, out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".r*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if keys, _ := filepath.Glob(filepath.Join(dir, ".dprelease", "*", "*")); len(keys) > 0 {
		t.Errorf("the key, or a journal, is still there: %v", keys)
	}
	if s := debitState(t, dir, at); s != ledger.Finished {
		t.Errorf("account: %s", s)
	}
}

// killCount returns how many runs are killed: DPRELEASE_KILLS, or 4.
func killCount(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("DPRELEASE_KILLS"), "4"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestKilled kills runs at random moments. Whatever moment it was: what was drawn is
// debited, no more than the cap is, and running again finishes the release; where it
// was debited, two copies of the whole office finish it to the same bytes.
func TestKilled(t *testing.T) {
	tables := func(t *testing.T, at string) string { return newOffice(t, at, 1) }
	half := killCount(t) / 2
	t.Run("file", func(t *testing.T) {
		killRuns(t, half, tables, func() string { return fileLedger }, func(at string) string { return at }, func() {})
	})
	t.Run("tables put together", func(t *testing.T) {
		killRuns(t, half, togetherOffice, func() string { return fileLedger }, func(at string) string { return at },
			func() {})
	})
	t.Run("microdata", func(t *testing.T) {
		killRuns(t, half, rowsOffice, func() string { return fileLedger }, func(at string) string { return at },
			func() {})
	})
	t.Run("model", func(t *testing.T) {
		killRuns(t, half, modelOffice, func() string { return fileLedger }, func(at string) string { return at },
			func() {})
	})
	t.Run("holder", func(t *testing.T) {
		killRuns(t, half, holderOffice, func() string { return fileLedger }, func(at string) string { return at },
			func() {})
	})
	t.Run("postgres", func(t *testing.T) {
		testkit.Postgres(t) // or skip
		killRuns(t, half, tables, func() string { return testkit.Postgres(t) },
			func(at string) string { return testkit.CopyOfPostgres(t, at) }, func() {})
	})
	t.Run("tables of a database", func(t *testing.T) { // which change before the run resumes, and again
		address := testkit.Postgres(t)
		c, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		change := func(statement string) {
			if _, err := c.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		change("CREATE TABLE t AS SELECT i / 3 AS who, i * 7919 % 100000 AS x FROM generate_series(0, 49999) AS i")
		t.Setenv("OFFICE_DATA", address)
		for name, source := range map[string]string{"read": "{postgres: {url: 'env:OFFICE_DATA', table: t}}",
			"counted there": "{postgres: {url: 'env:OFFICE_DATA', table: t, stay: true}}"} {
			t.Run(name, func(t *testing.T) {
				killRuns(t, min(half, 100), func(t *testing.T, at string) string { return officeOf(t, source, at, 1) },
					func() string { return fileLedger }, func(at string) string { return at },
					func() { change("INSERT INTO t SELECT max(who) + 1, 5 FROM t") })
			})
		}
	})
}

func killRuns(t *testing.T, runs int, made func(t *testing.T, at string) string, open func() string,
	copied func(at string) string, changed func()) {
	found, journals := map[ledger.State]int{}, 0
	for i := range runs {
		at := open()
		dir := made(t, at)
		c := programCommand(t, dir, drawingArgs(dir, at)...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		journal := filepath.Join(dir, ".dprelease", "r-*", "journal")
		switch {
		case i%2 == 0 && (strings.HasSuffix(t.Name(), "microdata") || strings.HasSuffix(t.Name(), "model")):
			// aimed at the rounds
			await(journal, 0)
			time.Sleep(rand.N(30 * time.Millisecond))
		case i%2 == 0 && strings.Contains(t.Name(), "database"): // aimed at the time after the answers are stored
			await(filepath.Join(dir, ".dprelease", "r-*", "answers"), 0)
			time.Sleep(rand.N(60 * time.Millisecond))
		case i%2 == 0: // aimed at the time of the debit and the draw
			await(filepath.Join(dir, ".r.*.tmp-*"), 0)
			time.Sleep(rand.N(120 * time.Millisecond))
		default:
			time.Sleep(rand.N(400 * time.Millisecond))
		}
		_ = c.Process.Kill() // it may be done by now
		_ = c.Wait()
		if left, _ := filepath.Glob(journal); len(left) > 0 {
			journals++
		}
		state := debitState(t, dir, at)
		found[state]++
		drawn, err := filepath.Glob(filepath.Join(dir, "*r.*", "measurements", "*"))
		if hidden, _ := filepath.Glob(filepath.Join(dir, ".r.*", "measurements", "*")); err != nil ||
			len(drawn)+len(hidden) > 0 && state != ledger.Debited && state != ledger.Finished {
			t.Errorf("%v, %v is drawn, and the account says %s (%v)", drawn, hidden, state, err)
		}
		if state != ledger.Debited {
			assertFinishes(t, dir, drawingArgs(dir, at), at)
			continue
		}
		otherDir, otherAt := filepath.Join(t.TempDir(), "copy"), copied(at)
		if err := copyOffice(dir, otherDir); err != nil {
			t.Fatal(err)
		}
		changed()
		assertFinishes(t, dir, drawingArgs(dir, at), at)
		changed()
		assertFinishes(t, otherDir, drawingArgs(otherDir, otherAt), otherAt)
		assertSameFiles(t, dir, otherDir)
	}
	t.Logf("killed when the account said: %v; with a journal of rounds: %d", found, journals)
}

// await waits, not for ever, until a run has made what a pattern names, with so many lines.
func await(pattern string, lines int) {
	for range 5000 {
		made, _ := filepath.Glob(pattern)
		for _, path := range made {
			if text, err := os.ReadFile(path); lines == 0 || err == nil && bytes.Count(text, []byte("\n")) >= lines {
				return
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// copyOffice copies an office, with the modes of its state and of a holder's key.
func copyOffice(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	if err := os.Chmod(filepath.Join(to, "north"), 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return filepath.WalkDir(filepath.Join(to, ".dprelease"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		} else if err == nil {
			return os.Chmod(path, 0o600)
		}
		return err
	})
}

// assertSameFiles asserts that the measurements and the releases of two offices, or their shares as holders, are
// equal, byte by byte.
func assertSameFiles(t *testing.T, a, b string) {
	t.Helper()
	compared, least, folders := 0, 10, []string{"r.measured", "r"}
	if drawingArgs(a, "")[0] == "measure" {
		least, folders = 8, []string{"r.north.share"}
	}
	for _, folder := range folders {
		n, err := sameFiles(filepath.Join(a, folder), filepath.Join(b, folder))
		if err != nil {
			t.Error(err)
		}
		compared += n
	}
	if compared < least {
		t.Errorf("only %d files were compared", compared)
	}
}

// sameFiles returns how many files there are in a folder, and an error unless another has each with the same bytes.
func sameFiles(a, b string) (compared int, err error) {
	err = filepath.WalkDir(a, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(a, path)
		if err != nil {
			return err
		}
		x, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		y, err := os.ReadFile(filepath.Join(b, rel))
		if err == nil && !bytes.Equal(x, y) {
			err = errors.New("differs")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", rel, err)
		}
		compared++
		return nil
	})
	return compared, err
}

// TestManyAtOnce runs one release in several processes at once: every one ends
// well or says that it is taken, and one set of measurements and one debit remain.
func TestManyAtOnce(t *testing.T) {
	dir := newOffice(t, fileLedger, 1)
	var group sync.WaitGroup
	codes := make([]int, 4)
	outputs := make([]string, len(codes))
	for i := range codes {
		group.Go(func() {
			out, err := programCommand(t, dir, "run", "release.yaml", "--ledger", fileLedger).CombinedOutput()
			codes[i], outputs[i] = codeOf(err), string(out)
		})
	}
	group.Wait()
	done := 0
	for i, code := range codes {
		switch code {
		case verdict.ExitDone:
			done++
		case verdict.ExitEnvironment, verdict.ExitName:
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
	if out, err := programCommand(t, dir, "run", "release.yaml", "--ledger", fileLedger).CombinedOutput(); err != nil {
		t.Errorf("running again: %v\n%s", err, out)
	}
	if s := debitState(t, dir, fileLedger); s != ledger.Finished {
		t.Errorf("account: %s", s)
	}
}

// TestEightAtOnce runs eight releases at once against an account with room for
// three: three are published, five refused, and the account is spent to its cap.
func TestEightAtOnce(t *testing.T) {
	t.Run("file", func(t *testing.T) { eightAtOnce(t, fileLedger) })
	t.Run("postgres", func(t *testing.T) { eightAtOnce(t, testkit.Postgres(t)) })
}

func eightAtOnce(t *testing.T, at string) {
	const room = 3
	dir := newOffice(t, at, room)
	text, err := os.ReadFile(filepath.Join(dir, "release.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	codes := make([]int, 8)
	outputs := make([]string, len(codes))
	var group sync.WaitGroup
	for i := range codes {
		name := fmt.Sprintf("r%d", i)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"),
			bytes.Replace(text, []byte("release: r\n"), []byte("release: "+name+"\n"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		group.Go(func() {
			out, err := programCommand(t, dir, "run", name+".yaml", "--ledger", at).CombinedOutput()
			codes[i], outputs[i] = codeOf(err), string(out)
		})
	}
	group.Wait()
	found := map[int]int{}
	for i, code := range codes {
		found[code]++
		_, err := os.Stat(filepath.Join(dir, fmt.Sprintf("r%d.measured", i)))
		if drawn := err == nil; drawn != (code == verdict.ExitDone) || code != verdict.ExitDone &&
			code != verdict.ExitBudget {
			t.Errorf("exit %d, drawn %v: %s", code, drawn, outputs[i])
		}
	}
	if found[verdict.ExitDone] != room {
		t.Errorf("exits %v; want %d done", found, room)
	}
	debitState(t, dir, at)
	if at == fileLedger {
		at = filepath.Join(dir, at)
	}
	all, err := account.Ledger{Path: at}.Statements(t.Context(), []string{"trips"})
	if err != nil || !all[0].Spent.Equal(all[0].Cap.Cost) || !all[0].Reserved.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
}
