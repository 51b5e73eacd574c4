package ledger

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	address "github.com/dprelease/dprelease/internal/postgres"
)

// server runs statements in a PostgreSQL database without the ledger's knowledge, as its superuser.
func server(t testing.TB, place string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, place)
	must(t, err)
	defer c.Close(ctx)
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// snapshot copies a ledger that nobody uses; restore puts the copy back.
func snapshot(t testing.TB, place string) (restore func()) {
	t.Helper()
	if address.IsAddress(place) {
		entries := openAt(t, place).entries(t)
		return func() {
			server(t, place, "ALTER TABLE dprelease.entries DISABLE TRIGGER kept",
				"ALTER TABLE dprelease.ledger DISABLE TRIGGER only_up",
				fmt.Sprint("DELETE FROM dprelease.entries WHERE sequence > ", entries),
				fmt.Sprint("UPDATE dprelease.ledger SET written = ", entries),
				"ALTER TABLE dprelease.entries ENABLE ALWAYS TRIGGER kept",
				"ALTER TABLE dprelease.ledger ENABLE ALWAYS TRIGGER only_up")
		}
	}
	db, err := openSQLite(place, url.Values{"mode": {"rw"}})
	must(t, err)
	execute(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
	must(t, db.Close())
	old, err := os.ReadFile(place)
	must(t, err)
	return func() {
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(place + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		must(t, os.WriteFile(place, old, 0o600))
	}
}

// entries returns the number of entries.
func (l *Ledger) entries(t testing.TB) int64 {
	t.Helper()
	b, err := l.store.view(context.Background())
	must(t, err)
	return b.sequence
}

// witnessed returns a new ledger at a place with the account "people" under a cap of ε = 1000, and the path of its
// witness.
func witnessed(t testing.TB, place string) (l *Ledger, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger.heads")
	l = openAt(t, place)
	must(t, l.Init(context.Background(), witnessedBy(path)))
	return l, path
}

func witnessedBy(path string) Policy {
	p := capped("1000")
	p.Witness = path
	return p
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// assertOlder checks that every call that reads or writes the ledger reports it as older than its witness.
func assertOlder(t *testing.T, l *Ledger) {
	t.Helper()
	ctx := context.Background()
	_, showErr := l.Show(ctx, "people")
	_, debitErr := l.Debit(ctx, charge("z", "ff", "1"))
	for what, err := range map[string]error{"Verify": l.Verify(ctx), "Show": showErr, "Debit": debitErr,
		"Reserve": l.Reserve(ctx, charge("y", "ff", "1"))} {
		var tampered *Tampered
		if !errors.As(err, &tampered) || !strings.Contains(err.Error(), "is older than its witness") {
			t.Errorf("%s on an older copy: %v", what, err)
		}
	}
}

func TestAWitnessHasEveryHead(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l, path := witnessed(t, place)
		want := []string{initialHead().fileLine()}
		expect := func() {
			t.Helper()
			s := show(t, l)
			if line := fmt.Sprintf("%d %s\n", s.Entries, s.Head); !slices.Contains(want, line) {
				want = append(want, line)
			}
			if got := read(t, path); got != strings.Join(want, "") {
				t.Fatalf("the witness has\n%swant\n%s", got, strings.Join(want, ""))
			}
		}
		expect()
		must(t, l.Reserve(context.Background(), charge("a", "aa", "1")))
		expect()
		for _, name := range []string{"a", "b", "b", "c"} { // b again writes nothing
			debit(t, l, charge(name, "aa", "1"))
			expect()
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the witness has mode %v: %v", info.Mode(), err)
		}
	})
}

func TestAnOlderCopyIsNoticedThroughTheWitness(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l, path := witnessed(t, place)
		debit(t, l, charge("a", "aa", "1"))
		must(t, l.Close())
		restore := snapshot(t, place)
		l = openAt(t, place)
		debit(t, l, charge("b", "bb", "1"))
		must(t, l.Close())
		heads := read(t, path)
		restore()
		l = openAt(t, place)
		assertOlder(t, l)
		if got := read(t, path); got != heads {
			t.Errorf("the witness was changed to\n%s", got)
		}
		// Without the newest head nothing is to be seen: this is what the witness is for.
		first, _, _ := strings.Cut(heads, "\n")
		write(t, path, first+"\n")
		assertHolds(t, l, "1", "0")
	})
}

func TestWithoutAWitnessAnOlderCopyPasses(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l := freshAt(t, place, "10")
		must(t, l.Close())
		restore := snapshot(t, place)
		l = openAt(t, place)
		debit(t, l, charge("a", "aa", "1"))
		must(t, l.Close())
		restore()
		assertHolds(t, openAt(t, place), "0", "0") // as show and every certificate say
	})
}

// The heads of two copies that diverged cannot both be in the chain, even if the witness was told of both at once.
func TestCopiesThatWentOnApartAreNoticed(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l, path := witnessed(t, place)
		must(t, l.Close())
		restore := snapshot(t, place)
		before := read(t, path)
		l = openAt(t, place)
		debit(t, l, charge("a", "aa", "1"))
		must(t, l.Close())
		first := strings.TrimPrefix(read(t, path), before)
		restore()
		write(t, path, before)
		l = openAt(t, place)
		debit(t, l, charge("b", "bb", "1"))
		second := strings.TrimPrefix(read(t, path), before)
		write(t, path, before+first+second)
		assertOlder(t, l)
	})
}

func TestALedgerBegunAgainIsNoticed(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l := openAt(t, place)
		must(t, l.Close())
		restore := snapshot(t, place)
		l, path := witnessed(t, place)
		debit(t, l, charge("a", "aa", "1"))
		must(t, l.Close())
		restore()
		l = openAt(t, place)
		err := l.Init(context.Background(), witnessedBy(path))
		assertSays(t, err, "is older than its witness "+path)
		if n := l.entries(t); n != 0 {
			t.Errorf("%d entries were written", n)
		}
	})
}

// A process that is killed between COMMIT and the witness leaves out heads, or writes part of one.
func TestAWitnessIsBroughtUpToDate(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l, path := witnessed(t, place)
		receipt := debit(t, l, charge("a", "aa", "1"))
		whole := read(t, path)
		newest := whole[strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n")+1:]
		for name, left := range map[string]string{
			"the beginning": initialHead().fileLine(), "the first": strings.TrimSuffix(whole, newest),
			"a part":          whole[:len(whole)-30],
			"all but the end": whole[:len(whole)-1],
			"zeroes":          strings.TrimSuffix(whole, newest) + strings.Repeat("\x00", 20),
		} {
			write(t, path, left)
			assertHolds(t, l, "1", "0")
			again := debit(t, l, charge("a", "aa", "1"))
			if again.Record().Proof.Hash != receipt.Record().Proof.Hash {
				t.Errorf("%s was left: another receipt", name)
			}
			got := read(t, path)
			if !strings.HasPrefix(got, left) || !strings.HasSuffix("\n"+got, "\n"+newest) {
				t.Errorf("%s was left: the witness has\n%q\nwant %q at its end", name, got, newest)
			}
			if n := len(parseHeads([]byte(got))); n < 2 || n > 4 {
				t.Errorf("%s was left: %d heads", name, n)
			}
			must(t, l.Verify(context.Background()))
		}
		if n := l.entries(t); n != 3 {
			t.Errorf("%d entries; want 3", n)
		}
	})
}

func TestAWitnessThatIsNotThereRefusesUpdates(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		ctx := context.Background()
		l, path := witnessed(t, place)
		debit(t, l, charge("a", "aa", "1"))
		heads := read(t, path)
		for says, spoil := range map[string]func(){
			"is gone, so nothing may be spent: mount the volume": func() { must(t, os.Remove(path)) },
			"is not a file": func() { must(t, os.Remove(path)); must(t, os.Mkdir(path, 0o700)) },
			"is empty, so nothing may be spent: put back": func() { write(t, path, "") },
			"is not the witness of a ledger": func() {
				write(t, path,
					"account: people\nprotects: person\n")
			},
		} {
			spoil()
			_, err := l.Debit(ctx, charge("b", "bb", "1"))
			assertSays(t, err, says, path)
			if says == "is not the witness of a ledger" && read(t, path) != "account: people\nprotects: person\n" {
				t.Error("a file that is no witness was changed")
			}
			b, err := l.store.view(ctx)
			must(t, err)
			if !strings.Contains(b.unwitnessed, path) {
				t.Errorf("%s: the statement is told %q", says, b.unwitnessed)
			}
			must(t, os.RemoveAll(path))
			write(t, path, heads)
			assertHolds(t, l, "1", "0")
		}
		p := witnessedBy(filepath.Join(path, "below", "heads"))
		p.Account = "other"
		assertSays(t, l.Init(ctx, p), "nothing was written", p.Witness)
		names, err := l.Accounts(ctx)
		must(t, err)
		if len(names) != 1 {
			t.Errorf("accounts %v", names)
		}
	})
}

func TestALedgerIsNotItsOwnWitness(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openAt(t, path)
	assertSays(t, l.Init(context.Background(), witnessedBy(path)), "is the ledger itself", "another volume")
	must(t, l.Init(context.Background(), capped("1")))
}

func TestAnEntryThatItsWitnessWasNotTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heads")
	write(t, path, "")
	file, err := os.Open(path) // for reading: it cannot be written to
	must(t, err)
	b := newBook("ledger.db")
	b.sequence = 7
	ws := witnesses{{path: path, file: file}}
	err = ws.recordHead(b)
	assertSays(t, err, "the entry is written, but its witness "+path, "run again", "costs nothing more")
	ws.closeAll()
}

func TestReadersBesideWriters(t *testing.T) {
	atEveryPlace(t, func(t *testing.T, place string) {
		l, _ := witnessed(t, place)
		reader := openAt(t, place)
		var all sync.WaitGroup
		done := make(chan struct{})
		all.Go(func() {
			defer close(done)
			for i := range 25 {
				if _, err := l.Debit(context.Background(), charge(fmt.Sprint("r", i), "aa", "1")); err != nil {
					t.Error(err)
				}
			}
		})
		for finished := false; !finished; {
			select {
			case <-done:
				finished = true
			default:
			}
			if _, err := reader.Show(context.Background(), "people"); err != nil {
				t.Error(err)
				break
			}
		}
		all.Wait()
	})
}

// An entry may be written, and witnessed, between a reader's load of the ledger and its read of the witness.
func TestAWitnessNewerThanWhatWasRead(t *testing.T) {
	l, path := witnessed(t, filepath.Join(t.TempDir(), "ledger.db"))
	loads := 0
	b, err := loadWitnessed(func() (*book, error) {
		b, err := l.store.view(context.Background())
		if loads++; loads == 1 {
			debit(t, l, charge("a", "aa", "1"))
		}
		return b, err
	})
	must(t, err)
	if loads != 2 || b.sequence != 3 {
		t.Errorf("%d loads, %d entries; want 2 and 3", loads, b.sequence)
	}
	loads = 0
	write(t, path, read(t, path)+"4 "+strings.Repeat("0", 64)+"\n")
	_, err = loadWitnessed(func() (*book, error) { loads++; return b, nil })
	if !errors.Is(err, ErrTampered) || loads != 2 {
		t.Errorf("%d loads: %v", loads, err)
	}
}

// A file that was opened read-only while nobody wrote to it is opened again once somebody does.
func TestAReaderOpenedBeforeTheWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, _ := witnessed(t, path)
	must(t, l.Close())
	reader := &file{path: path, absolute: path, readOnly: true, turns: lockTurns}
	must(t, reader.connect())
	defer reader.close()
	l = openAt(t, path)
	for i := range 3 {
		debit(t, l, charge(fmt.Sprint("r", i), "aa", "1"))
		b, err := reader.view(context.Background())
		must(t, err)
		if b.sequence != l.entries(t) {
			t.Errorf("the reader sees %d entries of %d", b.sequence, l.entries(t))
		}
	}
	_, err := (&Ledger{store: reader, now: time.Now}).Debit(context.Background(), charge("z", "aa", "1"))
	assertSays(t, err, "may only be read by this user")
}

func TestHeadsAsTheyAreWritten(t *testing.T) {
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for text, want := range map[string]string{
		"":                                         "",
		"1 " + a + "\n2 " + b + "\n":               "1 " + a + "\n2 " + b + "\n",
		"2 " + b + "\n1 " + a + "\n":               "2 " + b + "\n1 " + a + "\n",
		"1 " + a + "\n2 " + b:                      "1 " + a + "\n",
		"1 " + a + "\n2 bbb\n3 " + b + "\n":        "1 " + a + "\n3 " + b + "\n",
		"1 " + a + "\n\n\x00\x00\n3 " + b + "\n":   "1 " + a + "\n3 " + b + "\n",
		"01 " + a + "\n":                           "",
		"+1 " + a + "\n":                           "",
		"1  " + a + "\n":                           "",
		"1 " + a + " \n":                           "",
		"1 " + a + "\r\n":                          "",
		"1 " + strings.ToUpper(a) + "\n":           "",
		"1 " + a + "a\n":                           "",
		"99999999999999999999 " + a + "\n":         "",
		"1 " + a + "\n1 " + b + "\n1 " + a + "2\n": "1 " + a + "\n1 " + b + "\n",
	} {
		got := ""
		for _, h := range parseHeads([]byte(text)) {
			got += h.fileLine()
		}
		if got != want {
			t.Errorf("%q holds the heads\n%swant\n%s", text, got, want)
		}
	}
}

func TestAppendersTakeTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heads")
	write(t, path, initialHead().fileLine())
	first, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	must(t, err)
	defer first.Close()
	unlock, err := lockAppend(first)
	must(t, err)
	told := make(chan error)
	go func() {
		w, err := openWitness(path, false)
		if err == nil {
			err = errors.Join(w.appendHead(head{1, genesisHash()}), w.file.Close())
		}
		told <- err
	}()
	select {
	case err := <-told:
		t.Errorf("a head was appended beside another process: %v", err)
		return
	case <-time.After(100 * time.Millisecond):
	}
	if text := read(t, path); text != initialHead().fileLine() {
		t.Errorf("the witness has %q", text)
	}
	unlock()
	must(t, <-told)
	if text := read(t, path); text != initialHead().fileLine()+"1 "+genesisHash().String()+"\n" {
		t.Errorf("the witness has %q", text)
	}
}

// elsewhere treats every witness as one on another disk.
func elsewhere(t testing.TB) {
	was := onOneDisk
	onOneDisk = func([]string, [2]os.FileInfo) bool { return false }
	t.Cleanup(func() { onOneDisk = was })
}

// A debit is witnessed if no older copy could have one of its accounts open without knowing the witness.
func TestWhatIsWitnessed(t *testing.T) {
	elsewhere(t)
	ctx := context.Background()
	l := openAt(t, filepath.Join(t.TempDir(), "ledger.db"))
	path := filepath.Join(t.TempDir(), "heads")
	open := func(name, parent, witness string) {
		must(t, l.Init(ctx, Policy{Account: name, Terms: person, Cap: epsilon("9"), Parent: parent, Witness: witness}))
	}
	open("people", "", "")
	open("watched", "", path)
	open("child", "watched", "")
	open("watchedchild", "people", path)
	for i, c := range []struct {
		account string
		also    []string
		want    bool
	}{{"people", nil, false}, {"watched", nil, true}, {"child", nil, true}, {"watchedchild", nil, false},
		{"child", []string{"people"}, false}, {"child", []string{"watched"}, true}} {
		asked := charge(fmt.Sprint("r", i), "aa", "1")
		asked.Account, asked.FurtherAccounts = c.account, c.also
		if got := debit(t, l, asked).Record(); got.Witnessed != c.want || got.Check() != nil {
			t.Errorf("a debit on %s and %v is witnessed: %v; want %v", c.account, c.also, got.Witnessed, c.want)
		}
		s, err := l.Show(ctx, c.account)
		must(t, err)
		if trusts := strings.Contains(s.String(), "an older copy of the ledger is noticed"); c.also == nil &&
			trusts != c.want {
			t.Errorf("the page of %s says\n%s", c.account, s)
		}
	}
	// Nor may an entry say more than is so.
	b, err := l.store.view(ctx)
	must(t, err)
	more := charge("z", "aa", "1")
	more.Account = "people"
	entries, err := b.entriesToDebit(more, b.day)
	must(t, err)
	entries[1].Attest.Witnessed = true
	for i := range entries {
		entries[i].Date, entries[i].time = b.day, "2026-03-01T00:00:00Z"
	}
	_, err = b.writeEntries(entries, nil)
	assertSays(t, err, "says of its account what is not so")
}

func TestAWitnessThatWasEmptied(t *testing.T) {
	elsewhere(t)
	atEveryPlace(t, func(t *testing.T, place string) {
		ctx := context.Background()
		l, path := witnessed(t, place)
		debit(t, l, charge("a", "aa", "1"))
		whole := read(t, path)
		for left, says := range map[string]string{
			"": "knows nothing of entries 1 to 3", initialHead().fileLine(): "knows nothing of entries 1 to 3",
			whole[:len(whole)-1]: "knows nothing of entries 2 to 3", whole: "",
		} {
			write(t, path, left)
			text := show(t, l).String()
			if says == "" && !strings.Contains(text, "an older copy of the ledger is noticed") || says != "" &&
				(strings.Contains(text, "copy of the ledger is noticed") || !strings.Contains(text, says)) {
				t.Errorf("%q was left: the page says\n%s", left, text)
			}
		}
		write(t, path, "")
		assertSays(t, l.Reserve(ctx, charge("b", "bb", "1")), "is empty, so nothing may be spent",
			"nothing was written")
		s := show(t, l)
		write(t, path, fmt.Sprintf("%d %s", s.Entries, s.Head)) // by hand, so perhaps without the end of the line
		assertSays(t, l.Reserve(ctx, charge("b", "bb", "1")), "is empty, so nothing may be spent")
		write(t, path, fmt.Sprintf("%d %s\n", s.Entries, s.Head))
		debit(t, l, charge("b", "bb", "1"))
		if s := show(t, l); s.Unwitnessed != "" {
			t.Errorf("begun again, the witness does not tell: %s", s.Unwitnessed)
		}
	})
}

func TestAWitnessBesideTheLedger(t *testing.T) {
	ctx := context.Background()
	folder := t.TempDir()
	l := openAt(t, filepath.Join(folder, "ledger.db"))
	assertSays(t, l.Init(ctx, witnessedBy(filepath.Join(folder, "heads"))), "lies in the folder of the ledger",
		"nothing was written", "another volume")
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(folder, link))
	assertSays(t, l.Init(ctx, witnessedBy(filepath.Join(link, "heads"))), "lies in the folder of the ledger")

	must(t, os.Mkdir(filepath.Join(folder, "below"), 0o700)) // on the same disk
	must(t, l.Init(ctx, witnessedBy(filepath.Join(folder, "below", "heads"))))
	if debit(t, l, charge("a", "aa", "1")).Record().Witnessed {
		t.Error("a debit is witnessed by a file on the disk of the ledger")
	}
	if text := show(t, l).String(); !strings.Contains(text, "on the disk of the ledger: an older copy of its file is "+
		"noticed, but not one of the disk") {
		t.Errorf("the page says\n%s", text)
	}
	must(t, l.Verify(ctx))
}
