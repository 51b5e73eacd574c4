package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/testkit"
)

// The test binary runs itself as another process with the task in this variable: "TASK|PLACE|PREFIX|FILE". Such a
// process does not outlive the test: it ends, with the code orphaned, when its standard input does, which the test
// holds open, and after so many tries at the latest.
const (
	taskVariable = "DPRELEASE_LEDGER_TEST_TASK"
	orphaned     = 3
	tries        = 1000
)

func TestMain(m *testing.M) {
	task := strings.Split(os.Getenv(taskVariable), "|")
	if len(task) != 4 {
		os.Exit(m.Run())
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(orphaned)
	}()
	ctx := context.Background()
	l, err := Open(ctx, task[1], vouched())
	if err == nil {
		switch task[0] {
		case "spend":
			err = spend(ctx, l, task[2])
		case "loop":
			err = debitOften(ctx, l, task[2], task[3])
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

func process(t testing.TB, binary string, task ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(binary)
	c.Env = append(os.Environ(), taskVariable+"="+strings.Join(task, "|"))
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

// spend debits 1 at a time until the account refuses, and prints each release that was paid, with the hash of its
// entry.
func spend(ctx context.Context, l *Ledger, prefix string) error {
	for paid := range tries {
		c := charge(fmt.Sprintf("%s-%d", prefix, paid), "aa", "1")
		if paid%2 == 0 {
			_ = l.Reserve(ctx, c)
		}
		r, err := l.Debit(ctx, c)
		var refused *Refused
		if errors.As(err, &refused) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println(c.Release, r.Record().Proof.Hash)
	}
	return fmt.Errorf("the account paid %d times and did not refuse", tries)
}

// debits reads the debits in the table, without the ledger's code, and returns the hash of each by release.
func debits(t testing.TB, place string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, row := range rowsOf(t, place) {
		if !strings.HasPrefix(row.body, `{"kind":"debit"`) {
			continue
		}
		var e struct{ Release string }
		must(t, json.Unmarshal([]byte(row.body), &e))
		if found[e.Release] != "" {
			t.Errorf("release %s was debited twice", e.Release)
		}
		found[e.Release] = row.hash
	}
	return found
}

func TestManyProcessesOneCap(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l := freshAt(t, place, "40")
		outputs := make([]strings.Builder, 8)
		commands := make([]*exec.Cmd, len(outputs))
		for i := range commands {
			commands[i] = process(t, self(t), "spend", place, fmt.Sprint("p", i), "")
			commands[i].Stdout = &outputs[i]
			must(t, commands[i].Start())
		}
		for _, c := range commands {
			must(t, c.Wait())
		}
		total, recorded := 0, debits(t, place)
		for i := range commands {
			for line := range strings.Lines(outputs[i].String()) {
				total++
				release, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
				if recorded[release] != hash {
					t.Errorf("process %d was paid for %s (%s), and the table has %q", i, release, hash,
						recorded[release])
				}
			}
		}
		if total != 40 || len(recorded) != 40 {
			t.Errorf("the processes were paid %d times, and the table has %d debits; want 40", total, len(recorded))
		}
		must(t, l.Verify(context.Background()))
		assertBalance(t, l, "40", "0", "0")
	})
}

// debitOften reserves, cancels and debits until it is killed. It writes each receipt to the file and syncs it, as a
// release does with measurements; once the account refuses, it continues to ask.
func debitOften(ctx context.Context, l *Ledger, prefix, path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	fmt.Println("open")
	for i := range tries {
		dropped := charge(fmt.Sprintf("%s-%d-dropped", prefix, i), "aa", "1")
		err := l.Reserve(ctx, dropped)
		if err == nil {
			err = l.Cancel(ctx, dropped)
		}
		if err != nil && !errors.As(err, new(*Refused)) {
			return err
		}
		c := charge(fmt.Sprintf("%s-%d", prefix, i), "aa", "1")
		if i%2 == 0 {
			if err := l.Reserve(ctx, c); err != nil && !errors.As(err, new(*Refused)) {
				return err
			}
		}
		r, err := l.Debit(ctx, c)
		if errors.As(err, new(*Refused)) {
			continue
		}
		if err != nil {
			return err
		}
		text, err := json.Marshal(r.Record())
		if err != nil {
			return err
		}
		if _, err := file.Write(append(text, '\n')); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return fmt.Errorf("nobody killed the process in %d debits", tries)
}

func TestAProcessEndsWithItsTest(t *testing.T) {
	_, path := fresh(t, "1000")
	c := exec.Command(self(t))
	c.Env = append(os.Environ(), taskVariable+"=loop|"+path+"|o|"+filepath.Join(t.TempDir(), "receipts"))
	input, err := c.StdinPipe()
	must(t, err)
	output, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	receipts := bufio.NewScanner(output)
	for said := range 2 { // that it is open, and its first debit
		if !receipts.Scan() {
			t.Fatalf("the process said %d things and ended", said)
		}
	}
	must(t, input.Close())
	for receipts.Scan() {
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != orphaned {
		t.Errorf("the process ended with %v; want code %d", err, orphaned)
	}
}

// killsVariable is how many processes TestKilledProcesses kills at each place.
const killsVariable = "DPRELEASE_KILLS"

// TestKilledProcesses kills processes that debit from one account at random moments, two at a time: the chain must
// hold, every receipt that one of them kept must be found again, in the table and at the witness, and the account must
// never have paid more than its cap, nor more often than one charge a kill beyond what the processes were told.
func TestKilledProcesses(t *testing.T) {
	kills := 20
	if text := os.Getenv(killsVariable); text != "" {
		_, err := fmt.Sscan(text, &kills)
		must(t, err)
	}
	const perLedger = 20
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			for done := 0; done < kills; done += perLedger {
				killed(t, place(t), min(perLedger, kills-done))
			}
		})
	}
}

// killed runs TestKilledProcesses for one ledger. The account has a cap that may or may not be reached.
func killed(t *testing.T, place string, kills int) {
	ctx := context.Background()
	limit := 10 + rand.IntN(50)
	heads := filepath.Join(t.TempDir(), "ledger.heads")
	l := openAt(t, place)
	policy := witnessedBy(heads)
	policy.Cap = epsilon(fmt.Sprint(limit))
	must(t, l.Init(ctx, policy))
	receipts := filepath.Join(t.TempDir(), "receipts")
	for round := 0; 2*round < kills; round++ {
		var all sync.WaitGroup
		for i := range 2 {
			c := process(t, self(t), "loop", place, fmt.Sprintf("k%d-%d", round, i), fmt.Sprint(receipts, i))
			output, err := c.StdoutPipe()
			must(t, err)
			must(t, c.Start())
			all.Go(func() {
				if rand.IntN(4) > 0 { // else while it opens the ledger, perhaps
					_, _ = output.Read(make([]byte, 1))
				}
				time.Sleep(time.Duration(rand.IntN(250_000)) * time.Microsecond)
				if err := c.Process.Kill(); err != nil {
					t.Error(err)
				}
				_ = c.Wait() // it was killed
			})
		}
		all.Wait()
		must(t, l.Verify(ctx))
		kept := keptReceipts(t, receipts+"0", receipts+"1")
		recorded := debits(t, place)
		witness := read(t, heads)
		for _, r := range kept {
			if recorded[r.Release] != r.Proof.Hash {
				t.Fatalf("round %d: the receipt of %s (%s) was lost: the table has %q", round, r.Release, r.Proof.Hash,
					recorded[r.Release])
			}
			if !strings.Contains(witness, " "+r.Proof.Hash+"\n") {
				t.Fatalf("round %d: the witness was not told of %s", round, r.Release)
			}
		}
		if len(recorded) > limit || len(recorded) < len(kept) || len(recorded) > len(kept)+2*(round+1) {
			t.Errorf("round %d: %d debits under a cap of %d, %d receipts were kept; want at most one more a kill",
				round,
				len(recorded), limit, len(kept))
		}
		s := show(t, l)
		if !s.Spent.Equal(epsilon(fmt.Sprint(len(recorded)))) {
			t.Errorf("round %d: spent %v for %d debits of 1", round, s.Spent, len(recorded))
		}
		left := 0
		for _, p := range s.Releases {
			if p.State == Reserved {
				left++
				must(t, l.Cancel(ctx, Charge{Account: "people", Release: p.Release, PlanHash: p.PlanHash, Terms: person,
					Cost: p.Cost.Cost}))
			}
		}
		if left > 2 {
			t.Errorf("round %d: %d reservations were left; want at most 1 a kill", round, left)
		}
	}
	kept := keptReceipts(t, receipts+"0", receipts+"1")
	t.Logf("%d kills, %d receipts kept, %d entries, cap %d", kills, len(kept), l.entries(t), limit)
	for _, r := range kept {
		again := debit(t, l, Charge{Account: r.Account, Release: r.Release, PlanHash: r.PlanHash, Terms: r.Terms,
			Cost: r.Cost}).Record()
		if again.Proof.Hash != r.Proof.Hash || again.Number != r.Number || again.Date != r.Date {
			t.Errorf("the charge of a receipt got another one: %+v, now %+v", r, again)
		}
	}
}

// TestKilledBeforeTheWitness kills a process that has committed an entry and waits to tell the witness, whose lock the
// test holds. The process has kept no receipt; the next process tells the witness first.
func TestKilledBeforeTheWitness(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l, heads := witnessed(t, place)
		before := l.entries(t)
		file, err := os.OpenFile(heads, os.O_RDWR|os.O_APPEND, 0)
		must(t, err)
		defer file.Close()
		unlock, err := lockAppend(file)
		must(t, err)
		was := read(t, heads)
		receipts := filepath.Join(t.TempDir(), "receipts")
		c := process(t, self(t), "loop", place, "k", receipts)
		must(t, c.Start())
		for deadline := time.Now().Add(8 * time.Second); l.entries(t) == before && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		must(t, c.Process.Kill())
		_ = c.Wait() // it was killed
		unlock()
		if n := l.entries(t) - before; n != 1 || read(t, heads) != was || len(keptReceipts(t, receipts)) != 0 {
			t.Fatalf("%d entries were committed, and the witness has\n%s", n, read(t, heads))
		}
		s := show(t, l)
		must(t, l.Reserve(context.Background(), charge("k-0-dropped", "aa", "1"))) // what the process had reserved
		if after := show(t, l); after.Entries != s.Entries {
			t.Errorf("the same reservation again wrote %d entries", after.Entries-s.Entries)
		}
		if want := was + fmt.Sprintf("%d %s\n", s.Entries, s.Head); read(t, heads) != want {
			t.Errorf("the witness has\n%swant\n%s", read(t, heads), want)
		}
	})
}

// TestServerCrashes crashes the PostgreSQL server under processes that debit, in a database that is configured to
// answer COMMIT before the entry is on the disk: every receipt they got must be there after recovery.
func TestServerCrashes(t *testing.T) {
	place := testkit.Postgres(t)
	server(t, place, "ALTER DATABASE "+strings.TrimPrefix(must1(url.Parse(place)).Path, "/")+
		" SET synchronous_commit = off")
	l := freshAt(t, place, "100000")
	receipts := filepath.Join(t.TempDir(), "receipts")
	for round := range 3 {
		before := len(keptReceipts(t, receipts+"0", receipts+"1"))
		commands := make([]*exec.Cmd, 2)
		for i := range commands {
			commands[i] = process(t, self(t), "loop", place, fmt.Sprintf("c%d-%d", round, i), fmt.Sprint(receipts, i))
			commands[i].Stderr = nil // they say what happened to them
			must(t, commands[i].Start())
		}
		for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline) &&
			len(keptReceipts(t, receipts+"0", receipts+"1")) == before; {
			time.Sleep(10 * time.Millisecond) // until they are at it
		}
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		testkit.CrashPostgres(t)
		for _, c := range commands {
			if err := c.Wait(); err == nil {
				t.Error("a process did not notice the crash")
			}
		}
		must(t, l.Verify(context.Background()))
		kept, recorded := keptReceipts(t, receipts+"0", receipts+"1"), debits(t, place)
		for _, r := range kept {
			if recorded[r.Release] != r.Proof.Hash {
				t.Fatalf("round %d: the receipt of %s (%s) was lost: the table has %q", round, r.Release, r.Proof.Hash,
					recorded[r.Release])
			}
		}
		if len(kept) == 0 || len(recorded) > len(kept)+2*(round+1) {
			t.Errorf("round %d: %d debits for %d receipts", round, len(recorded), len(kept))
		}
	}
}

// keptReceipts returns the receipts that processes kept before they were killed.
func keptReceipts(t testing.TB, paths ...string) []Record {
	t.Helper()
	var kept []Record
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var r Record
			if err := json.Unmarshal([]byte(line), &r); err == nil {
				kept = append(kept, r)
			} else if strings.HasSuffix(line, "\n") {
				t.Fatal(err)
			}
		}
	}
	return kept
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

// TestReadOnlyFile reads the ledger as another user, who may read everything and write nothing: a closed ledger, and
// one open in this process with its last entries only in the log.
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
		c := process(t, binary, "read", path, "", "")
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
