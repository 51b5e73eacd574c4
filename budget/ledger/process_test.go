package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test binary runs itself as another process with the task in this variable: "TASK|PATH|PREFIX". Such a process
// does not outlive the test: it ends, with the code orphaned, when its standard input does, which the test holds open,
// and after so many tries at the latest.
const (
	taskVariable = "DPRELEASE_LEDGER_TEST_TASK"
	orphaned     = 3
	tries        = 1000
)

func TestMain(m *testing.M) {
	task := strings.Split(os.Getenv(taskVariable), "|")
	if len(task) != 3 {
		os.Exit(m.Run())
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(orphaned)
	}()
	ctx := context.Background()
	l, err := Open(ctx, task[1], OpenOptions{})
	if err == nil {
		switch task[0] {
		case "spend":
			err = spend(ctx, l, task[2])
		case "loop":
			err = debitOften(ctx, l, task[2])
		case "read":
			err = readOnly(ctx, l)
		}
		err = errors.Join(err, l.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func process(t testing.TB, binary, task, path, prefix string) *exec.Cmd {
	t.Helper()
	c := exec.Command(binary)
	c.Env = append(os.Environ(), taskVariable+"="+strings.Join([]string{task, path, prefix}, "|"))
	c.Stderr = os.Stderr
	_, err := c.StdinPipe() // closed when the command was waited for, or this process ends
	must(t, err)
	return c
}

func self(t testing.TB) string {
	t.Helper()
	binary, err := os.Executable()
	must(t, err)
	return binary
}

// spend debits 1 at a time until the account refuses, and prints how often it was paid.
func spend(ctx context.Context, l *Ledger, prefix string) error {
	for paid := range tries {
		c := charge(fmt.Sprintf("%s-%d", prefix, paid), "aa", "1")
		if paid%2 == 0 {
			_ = l.Reserve(ctx, c)
		}
		_, err := l.Debit(ctx, c)
		var refused *Refused
		if errors.As(err, &refused) {
			fmt.Println(paid)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("the account paid %d times and did not refuse", tries)
}

func TestManyProcessesOneCap(t *testing.T) {
	l, path := fresh(t, "40")
	outputs := make([]strings.Builder, 4)
	commands := make([]*exec.Cmd, len(outputs))
	for i := range commands {
		commands[i] = process(t, self(t), "spend", path, fmt.Sprint("p", i))
		commands[i].Stdout = &outputs[i]
		must(t, commands[i].Start())
	}
	total := 0
	for i, c := range commands {
		must(t, c.Wait())
		var paid int
		if _, err := fmt.Sscan(outputs[i].String(), &paid); err != nil {
			t.Fatalf("process %d printed %q: %v", i, outputs[i].String(), err)
		}
		total += paid
	}
	if total != 40 {
		t.Errorf("the processes were paid %d times; want 40", total)
	}
	must(t, l.Verify(context.Background()))
	assertBalance(t, l, "40", "0", "0")
}

// debitOften reserves, cancels and debits until it is killed, and prints each receipt as it gets it.
func debitOften(ctx context.Context, l *Ledger, prefix string) error {
	for i := range tries {
		if err := l.Reserve(ctx, charge(fmt.Sprintf("%s-%d-dropped", prefix, i), "aa", "1/100")); err != nil {
			return err
		}
		if err := l.Cancel(ctx, charge(fmt.Sprintf("%s-%d-dropped", prefix, i), "aa", "1/100")); err != nil {
			return err
		}
		r, err := l.Debit(ctx, charge(fmt.Sprintf("%s-%d", prefix, i), "aa", "1/100"))
		if err != nil {
			return err
		}
		text, err := json.Marshal(r.Record())
		if err != nil {
			return err
		}
		fmt.Println(string(text))
	}
	return fmt.Errorf("nobody killed the process in %d debits", tries)
}

func TestAProcessEndsWithItsTest(t *testing.T) {
	_, path := fresh(t, "1000")
	c := exec.Command(self(t))
	c.Env = append(os.Environ(), taskVariable+"=loop|"+path+"|o")
	input, err := c.StdinPipe()
	must(t, err)
	output, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	receipts := bufio.NewScanner(output)
	if !receipts.Scan() {
		t.Fatal("the process debited nothing")
	}
	must(t, input.Close())
	for receipts.Scan() {
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != orphaned {
		t.Errorf("the process ended with %v; want code %d", err, orphaned)
	}
}

// TestKilledProcesses kills a process that debits, 20 times at random moments: every receipt that it was given must
// be found again, unchanged, in a chain that holds, and at most one charge a kill may be left that it was not told of.
func TestKilledProcesses(t *testing.T) {
	ctx := context.Background()
	l, path := fresh(t, "1000")
	l.now = time.Now // as the processes have it
	told, debited := 0, 0
	for round := range 20 {
		c := process(t, self(t), "loop", path, fmt.Sprint("k", round))
		output, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		receipts := bufio.NewScanner(output)
		var records []Record
		for stop := 1 + rand.IntN(3); receipts.Scan(); {
			var r Record
			must(t, json.Unmarshal(receipts.Bytes(), &r))
			records = append(records, r)
			if len(records) == stop {
				time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
				must(t, c.Process.Kill())
			}
		}
		_ = c.Wait() // it was killed
		must(t, l.Verify(ctx))
		for _, r := range records {
			again := debit(t, l, Charge{Account: r.Account, Release: r.Release, PlanHash: r.PlanHash, Terms: r.Terms, Cost: r.Cost}).Record()
			if again.Proof.Hash != r.Proof.Hash || again.Number != r.Number || again.Date != r.Date {
				t.Fatalf("round %d: a receipt was lost: %+v, now %+v", round, r, again)
			}
		}
		told += len(records)
		left := 0
		for _, p := range show(t, l).Releases {
			switch {
			case p.State == Debited && strings.HasPrefix(p.Release, fmt.Sprint("k", round, "-")):
				debited++
			case p.State == Reserved:
				left++
				must(t, l.Cancel(ctx, Charge{Account: "people", Release: p.Release, PlanHash: p.PlanHash, Terms: person, Cost: p.Cost}))
			}
		}
		if left > 1 {
			t.Errorf("round %d: %d reservations were left; want at most 1", round, left)
		}
	}
	if debited < told || debited > told+20 {
		t.Errorf("%d charges were debited and %d receipts read; want at most one more a kill", debited, told)
	}
	if s := show(t, l); s.Spent.Epsilon.Cmp(rat(fmt.Sprint(debited, "/100"))) != 0 {
		t.Errorf("spent %v for %d debits of 1/100", s.Spent, debited)
	}
}

// readOnly prints what an auditor may see, and checks that nothing can be written.
func readOnly(ctx context.Context, l *Ledger) error {
	if err := l.Verify(ctx); err != nil {
		return err
	}
	s, err := l.Show(ctx, "people")
	if err != nil {
		return err
	}
	fmt.Print(s)
	_, err = l.Debit(ctx, charge("z", "ff", "1"))
	if err == nil || !strings.Contains(err.Error(), "may only be read by this user") {
		return fmt.Errorf("Debit on a file that may only be read: %v", err)
	}
	return nil
}

// TestReadOnlyFile has another user, who may read everything and write nothing, read the ledger: closed, and open
// in this process with its last entries in the log only.
func TestReadOnlyFile(t *testing.T) {
	binary, identity := anotherUser(t)
	for _, open := range []bool{false, true} {
		l, path := busy(t)
		want := show(t, l).String()
		folder := filepath.Dir(path)
		if !open {
			must(t, l.Close())
		}
		names, err := os.ReadDir(folder)
		must(t, err)
		for _, n := range names {
			must(t, os.Chmod(filepath.Join(folder, n.Name()), 0o444))
		}
		must(t, os.Chmod(folder, 0o555))
		must(t, os.Chmod(filepath.Dir(folder), 0o755))
		c := process(t, binary, "read", path, "")
		c.SysProcAttr = identity
		got, err := c.Output()
		must(t, os.Chmod(folder, 0o755))
		must(t, err)
		if string(got) != want {
			t.Errorf("open elsewhere: %v: got\n%s\nwant\n%s", open, got, want)
		}
		after, err := os.ReadDir(folder)
		must(t, err)
		if len(after) != len(names) {
			t.Errorf("reading left files behind: %v", after)
		}
	}
}
