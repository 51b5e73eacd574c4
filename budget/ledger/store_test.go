package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/testkit"
)

// places returns the stores in which a ledger lasts; each is a new, empty one.
var places = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return filepath.Join(t.TempDir(), "ledger.db") },
	"postgres": testkit.Postgres,
}

// atEveryPlace runs a test over a file and over a PostgreSQL database.
func atEveryPlace(t *testing.T, test func(t *testing.T, place string)) {
	for name, place := range places {
		t.Run(name, func(t *testing.T) { test(t, place(t)) })
	}
}

// openAt opens the ledger at a place.
func openAt(t testing.TB, place string) *Ledger {
	t.Helper()
	s, err := openStore(context.Background(), place, true)
	must(t, err)
	l := &Ledger{store: s, today: vouched().Today, now: time.Now}
	t.Cleanup(func() { l.Close() })
	return l
}

// freshAt returns a new ledger at a place with the account "people" under a cap in ε.
func freshAt(t testing.TB, place, limit string) *Ledger {
	t.Helper()
	l := openAt(t, place)
	must(t, l.Init(context.Background(), capped(limit)))
	return l
}

// withEveryStore runs a test over a file, a PostgreSQL database, and the memory of a rehearsal. Another is a second
// handle on the same entries.
func withEveryStore(t *testing.T, test func(t *testing.T, l *Ledger, another func() *Ledger)) {
	atEveryPlace(t, func(t *testing.T, place string) {
		test(t, freshAt(t, place, "1000"), func() *Ledger { return openAt(t, place) })
	})
	t.Run("memory", func(t *testing.T) {
		l := OpenRehearsal()
		test(t, l, func() *Ledger { return &Ledger{store: l.store, rehearsal: l.rehearsal, now: l.now} })
	})
}

// assertHolds compares how much the account "people" has spent and reserved.
func assertHolds(t testing.TB, l *Ledger, spent, reserved string) {
	t.Helper()
	if s := show(t, l); !s.Spent.Equal(epsilon(spent)) || !s.Reserved.Equal(epsilon(reserved)) {
		t.Errorf("spent %v, reserved %v; want %s, %s", s.Spent, s.Reserved, spent, reserved)
	}
}

func TestEveryHandleSeesWhatOneWrote(t *testing.T) {
	withEveryStore(t, func(t *testing.T, l *Ledger, another func() *Ledger) {
		ctx := context.Background()
		must(t, l.Reserve(ctx, charge("a", "aa", "2")))
		second := another()
		assertHolds(t, second, "0", "2")
		first := debit(t, second, charge("a", "aa", "2"))
		assertHolds(t, l, "2", "0")
		if again := debit(t, l, charge("a", "aa", "2")); again.Record().Proof.Hash != first.Record().Proof.Hash {
			t.Errorf("the same charge got two receipts: %v, %v", first, again)
		}
		must(t, l.Reserve(ctx, charge("b", "bb", "3")))
		must(t, second.Cancel(ctx, charge("b", "bb", "3")))
		assertHolds(t, l, "2", "0")
		for _, handle := range []*Ledger{l, second, another()} {
			must(t, handle.Verify(ctx))
		}
		if one, two := show(t, l), show(t, another()); one.Head != two.Head || one.Entries != two.Entries {
			t.Errorf("two handles see heads %d %s and %d %s", one.Entries, one.Head, two.Entries, two.Head)
		}
	})
}

func TestAnUpdateThatFailsWritesNothing(t *testing.T) {
	withEveryStore(t, func(t *testing.T, l *Ledger, another func() *Ledger) {
		ctx := context.Background()
		debit(t, l, charge("a", "aa", "1"))
		before := show(t, l)
		no := errors.New("no")
		_, err := l.store.update(ctx, func(b *book) ([]line, error) {
			entries, err := b.writeEntries([]entry{reserving(charge("b", "bb", "1"), b.day)}, nil)
			if err != nil || len(entries) != 1 {
				t.Errorf("writing in the book: %v", err)
			}
			return entries, no
		})
		if !errors.Is(err, no) {
			t.Errorf("update returns %v; want the error of the change", err)
		}
		if after := show(t, another()); after.Head != before.Head {
			t.Error("the head has moved")
		}
		debit(t, l, charge("b", "bb", "1"))
		must(t, l.Verify(ctx))
	})
}

// reserving returns the entry that reserves c on a day.
func reserving(c Charge, day string) entry {
	cost := normalForm(c.Cost)
	return entry{Kind: kindReserve, Date: day, Account: c.Account, Release: c.Release, PlanHash: c.PlanHash,
		Cost: &cost,
		time: day + "T12:00:00Z"}
}

func TestUpdatesTakeTurns(t *testing.T) {
	withEveryStore(t, func(t *testing.T, l *Ledger, another func() *Ledger) {
		ctx := context.Background()
		debit(t, l, charge("first", "ff", "1"))
		const handles, each = 6, 5
		var all sync.WaitGroup
		for i := range handles {
			handle := l
			if i%2 == 1 {
				handle = another()
			}
			all.Go(func() {
				for j := range each {
					if _, err := handle.Debit(ctx, charge(fmt.Sprintf("r%d-%d", i, j), "aa", "1/4")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		must(t, l.Verify(ctx))
		assertHolds(t, l, fmt.Sprint(4+handles*each, "/4"), "0")
	})
}

// TestInterruptedUpdates cancels debits at random moments: each is made or not, and the handle goes on working.
func TestInterruptedUpdates(t *testing.T) {
	withEveryStore(t, func(t *testing.T, l *Ledger, another func() *Ledger) {
		debit(t, l, charge("first", "ff", "1"))
		made := 1
		for i := range 60 {
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				for range rand.IntN(20000) {
					runtime.Gosched()
				}
				cancel()
			}()
			_, err := l.Debit(ctx, charge(fmt.Sprint("r", i), "aa", "1"))
			switch {
			case err == nil:
				made++
			case !errors.Is(err, context.Canceled):
				t.Fatal(err)
			}
			cancel()
		}
		assertHolds(t, another(), fmt.Sprint(made), "0")
		must(t, l.Verify(context.Background()))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := l.Debit(ctx, charge("late", "aa", "1")); !errors.Is(err, context.Canceled) {
			t.Errorf("after the interruption: %v; want context.Canceled", err)
		}
		assertHolds(t, l, fmt.Sprint(made), "0")
	})
}

func TestOnlyOpenMakesALedger(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		ctx := context.Background()
		_, err := openStore(ctx, place, false)
		assertSays(t, err, "no ledger ", "dprelease ledger init policy.yaml --ledger ")
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not told as a ledger that is not there", err)
		}
		var all sync.WaitGroup
		for range 6 { // at once: one makes it, all open it
			all.Go(func() {
				s, err := openStore(ctx, place, true)
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		s, err := openStore(ctx, place, false)
		must(t, err)
		must(t, s.close())
	})
}

func TestANetworkDiskIsRefused(t *testing.T) {
	ctx := context.Background()
	_, path := fresh(t, "1")
	defer func(was func(string) (string, error)) { networkFileSystem = was }(networkFileSystem)
	networkFileSystem = func(string) (string, error) { return "NFS", nil }
	for name, path := range map[string]string{"a ledger": path, "a new one": filepath.Join(t.TempDir(), "ledger.db")} {
		_, err := openStore(ctx, path, true)
		if err == nil {
			t.Errorf("%s was opened", name)
			continue
		}
		assertSays(t, err, path+" lies on a network file system (NFS)", "move it to a local disk", "postgres://")
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); name == "a new one" && len(left) != 0 {
			t.Errorf("left behind: %q", left)
		}
	}
	networkFileSystem = func(string) (string, error) { return "", errors.New("no such call") }
	_, err := openStore(ctx, path, true)
	assertSays(t, err, "which disk", "no such call")
}

// A process may be killed when its entry is in the log and not yet synced. Any process that learns of the entry must
// have synced it: even an update that adds no entry writes to the log, and thereby syncs what precedes it.
func TestAReceiptAgainSyncsTheLog(t *testing.T) {
	l, path := fresh(t, "10")
	debit(t, l, charge("a", "aa", "1"))
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		must(t, err)
		return info.Size()
	}
	before := size()
	debit(t, l, charge("a", "aa", "1"))
	if after := size(); after <= before {
		t.Errorf("the log has %d bytes, and had %d", after, before)
	}
	before = size()
	show(t, l)
	if after := size(); after != before {
		t.Errorf("reading wrote to the log")
	}
}

// TestPlacesAgree sends the same random requests to a file and to a database: both must give the same answers and reach
// the same state.
func TestPlacesAgree(t *testing.T) {
	ctx := context.Background()
	file, table := freshAt(t, places["sqlite"](t), "12"), freshAt(t, places["postgres"](t), "12")
	for _, l := range []*Ledger{file, table} {
		l.now = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	}
	for range 80 {
		c := charge(fmt.Sprint("r", rand.IntN(12)), []string{"aa", "bb"}[rand.IntN(2)], "1")
		if rand.IntN(10) == 0 {
			c.Cost = epsilon("3/2")
		}
		step := []func(*Ledger) error{
			func(l *Ledger) error { return l.Reserve(ctx, c) },
			func(l *Ledger) error { return l.Cancel(ctx, c) },
			func(l *Ledger) error { _, err := l.Debit(ctx, c); return err },
			func(l *Ledger) error { return l.Finish(ctx, c, hash("5e")) },
			func(l *Ledger) error { return l.Abandon(ctx, "people", c.Release, "given up") },
			func(l *Ledger) error { return l.Withdraw(ctx, "people", c.Release, "wrong") },
		}[rand.IntN(6)]
		if one, other := told(step(file), file), told(step(table), table); one != other {
			t.Fatalf("the file answers %q, the database %q", one, other)
		}
		one, other := show(t, file), show(t, table)
		other.Head = one.Head // salted
		if one.String() != other.String() || one.Entries != other.Entries {
			t.Fatalf("the file stands at\n%s\nthe database at\n%s", one, other)
		}
	}
	must(t, file.Verify(ctx))
	must(t, table.Verify(ctx))
}

// told returns an error without the name of its ledger.
func told(err error, l *Ledger) string {
	switch s := l.store.(type) {
	case *file:
		return strings.ReplaceAll(fmt.Sprint(err), s.path, "LEDGER")
	case *postgres:
		return strings.ReplaceAll(fmt.Sprint(err), s.name, "LEDGER")
	}
	return fmt.Sprint(err)
}

func TestSignedEntriesLast(t *testing.T) {
	ctx := context.Background()
	atEveryPlace(t, func(t *testing.T, place string) {
		path := filepath.Join(t.TempDir(), "office.key")
		_, err := sign.Generate(path)
		must(t, err)
		key, err := sign.ReadKey(path)
		must(t, err)
		l, err := Open(ctx, place, OpenOptions{Office: &key})
		must(t, err)
		must(t, l.Init(ctx, capped("10")))
		debit(t, l, charge("a", "aa", "1"))
		must(t, l.Close())
		keyless := openAt(t, place)
		must(t, keyless.Verify(ctx))
		assertBalance(t, keyless, "1", "0", "9")
		_, err = keyless.Debit(ctx, charge("b", "bb", "1"))
		assertSays(t, err, key.Public().Fingerprint())
		alter(t, place, "UPDATE {entries} SET signature = (SELECT signature FROM {entries} AS other WHERE "+
			"other.sequence = 2) WHERE sequence = 3")
		var tampered *Tampered
		if err := keyless.Verify(ctx); !errors.As(err, &tampered) || tampered.Sequence != 3 {
			t.Errorf("an entry with the signature of another: %v", err)
		}
	})
}

// BenchmarkDebit debits from accounts with several numbers of entries.
func BenchmarkDebit(b *testing.B) {
	for _, entries := range []int{10, 1_000, 10_000} {
		for name, place := range places {
			b.Run(fmt.Sprint(name, "/", entries), func(b *testing.B) {
				ctx := context.Background()
				l := freshAt(b, place(b), "1000000")
				_, err := l.store.update(ctx, func(book *book) ([]line, error) {
					var all []entry
					for i := range entries {
						all = append(all, reserving(charge(fmt.Sprint("old", i), "aa", "1/1000"), book.day))
					}
					return book.writeEntries(all, nil)
				})
				must(b, err)
				n := 0
				for b.Loop() {
					n++
					debit(b, l, charge(fmt.Sprint("new", n), "aa", "1/1000"))
				}
			})
		}
	}
}
