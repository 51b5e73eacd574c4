package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// raw opens the SQLite file behind the ledger's back.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := openSQLite(path, url.Values{"mode": {"rw"}})
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestOpenCreatesPrivateFile(t *testing.T) {
	l, path := fresh(t, "6")
	debit(t, l, charge("a", "aa", "1"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("ledger.db%s has mode %v; want 0600", suffix, info.Mode().Perm())
		}
	}
	must(t, l.Close())
	names, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	if len(names) != 1 {
		t.Errorf("the folder holds %v; want the ledger alone", names)
	}
}

func TestFileIsDurable(t *testing.T) {
	l, _ := fresh(t, "6")
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2",
		"application_id": fmt.Sprint(applicationID)} {
		var got string
		must(t, l.store.(*file).db.QueryRow("PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s is %s; want %s", pragma, got, want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	ctx := context.Background()
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	must(t, os.WriteFile(in("notes.txt"), []byte(strings.Repeat("these are not accounts\n", 100)), 0o600))
	must(t, os.WriteFile(in("empty.db"), nil, 0o600))
	must(t, os.WriteFile(in("foreign.db"), nil, 0o600))
	execute(t, raw(t, in("foreign.db")), "CREATE TABLE entries (sequence, body, hash)")
	l := open(t, in("newer.db"))
	must(t, l.Close())
	execute(t, raw(t, in("newer.db")), "UPDATE ledger SET version = 4")
	l = open(t, in("gutted.db"))
	must(t, l.Close())
	execute(t, raw(t, in("gutted.db")), "DROP TABLE ledger")
	must(t, os.WriteFile(in("gone.db-wal"), []byte("the end of a ledger"), 0o600))
	for name, says := range map[string]string{
		"notes.txt":      "notes.txt is not a dprelease ledger",
		"empty.db":       "empty.db is not a dprelease ledger",
		"foreign.db":     "foreign.db is not a dprelease ledger",
		"newer.db":       "is written in version 4, and this dprelease reads version 3",
		"gutted.db":      "gutted.db is damaged",
		"gone.db":        "put the file back next to it",
		"missing/led.db": "there is no folder " + in("missing") + ": create it first",
		".":              "is not a file",
	} {
		l, err := Open(ctx, in(name), OpenOptions{})
		if err == nil {
			l.Close()
			t.Errorf("%s: opened", name)
			continue
		}
		assertSays(t, err, says)
	}
	if names, err := filepath.Glob(in(".*tmp*")); err != nil || names != nil {
		t.Errorf("left behind: %v %v", names, err)
	}
}

func TestOpenOddPaths(t *testing.T) {
	for _, name := range []string{"a b.db", "a?mode=memory.db", "100%41.db", "ünï#.db", "file:x.db"} {
		path := filepath.Join(t.TempDir(), name)
		l := open(t, path)
		must(t, l.Init(context.Background(), capped("6")))
		must(t, l.Close())
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%q: not written: %v", name, err)
		}
	}
}

func TestLocked(t *testing.T) {
	ctx := context.Background()
	l, path := fresh(t, "6")
	f := l.store.(*file)
	f.turns = 2
	execute(t, f.db, "PRAGMA busy_timeout = 5")
	other := raw(t, path)
	execute(t, other, "BEGIN IMMEDIATE")
	_, err := l.Debit(ctx, charge("a", "aa", "1"))
	assertSays(t, err, path+" is locked by another process", "run again")
	show(t, l)
	f.turns = 1 << 30
	waiting, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- l.Reserve(waiting, charge("a", "aa", "1")) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted while it waited: got %v; want context.Canceled", err)
	}
	execute(t, other, "COMMIT")
	debit(t, l, charge("a", "aa", "1"))
	assertBalance(t, l, "1", "0", "5")
}

func TestDiskFull(t *testing.T) {
	ctx := context.Background()
	l, _ := fresh(t, "1000")
	execute(t, l.store.(*file).db, "PRAGMA max_page_count = 8")
	paid := 0
	var err error
	for ; err == nil && paid < 1000; paid++ {
		_, err = l.Debit(ctx, charge(fmt.Sprint("r", paid), "aa", "1"))
	}
	paid--
	assertSays(t, err, "is full", "nothing was written", "make room")
	assertBalance(t, l, fmt.Sprint(paid), "0", fmt.Sprint(1000-paid))
	execute(t, l.store.(*file).db, "PRAGMA max_page_count = 1000000")
	debit(t, l, charge(fmt.Sprint("r", paid), "aa", "1"))
	must(t, l.Verify(ctx))
}

// TestInterruptedAnywhere cancels debits at random moments: each is made or not, and the handle goes on working.
func TestInterruptedAnywhere(t *testing.T) {
	l, _ := fresh(t, "1000")
	made := 0
	for i := range 200 {
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
	assertBalance(t, l, fmt.Sprint(made), "0", fmt.Sprint(1000-made))
	must(t, l.Verify(context.Background()))
}

// busy returns a ledger of nine entries: init, then reserve and debit of a and b, reserve and cancel of c, reserve d,
// reserve e.
func busy(t testing.TB) (*Ledger, string) {
	l, path := fresh(t, "6")
	debit(t, l, charge("a", "aa", "1"))
	debit(t, l, charge("b", "bb", "1"))
	must(t, l.Reserve(context.Background(), charge("c", "cc", "1")))
	must(t, l.Cancel(context.Background(), charge("c", "cc", "1")))
	must(t, l.Reserve(context.Background(), charge("d", "dd", "1")))
	must(t, l.Reserve(context.Background(), charge("e", "ee", "1")))
	return l, path
}

// forge appends an entry with a valid hash.
func forge(t testing.TB, l *Ledger, db *sql.DB, e entry) {
	t.Helper()
	b, err := l.store.view(context.Background())
	must(t, err)
	if e.Date == "" {
		e.Date = "2026-03-03"
	}
	e.time = "2026-03-03T00:00:00Z"
	body, err := e.publicBody()
	must(t, err)
	private, err := e.privatePart()
	must(t, err)
	_, err = db.Exec("INSERT INTO entries (body, private, hash, signature) VALUES (?, ?, ?, '')", body, private,
		chainHash(b.head, digestOf(private), body).String())
	must(t, err)
}

// ending returns an entry that ends a charge.
func ending(k kind, c Charge) entry {
	return entry{Kind: k, Account: c.Account, Release: c.Release, PlanHash: c.PlanHash}
}

// debiting returns the entry that debits c as the n-th debit of its account.
func debiting(c Charge, n int64) entry {
	e := c.reserveEntry(nil)
	e.Kind, e.Attest = kindDebit, &attestation{Status: Official, Terms: c.Terms, Number: n}
	return e
}

// bound returns e with a commitment.
func bound(e entry) entry {
	e.commitment = hash("11")
	return e
}

func TestTamperedEntriesAreRefused(t *testing.T) {
	ctx := context.Background()
	freely := []string{"DROP TRIGGER entries_are_never_changed", "DROP TRIGGER entries_are_never_removed"}
	alter := func(statements ...string) func(*testing.T, *Ledger, *sql.DB) {
		return func(t *testing.T, _ *Ledger, db *sql.DB) { execute(t, db, append(freely, statements...)...) }
	}
	forged := func(e entry) func(*testing.T, *Ledger, *sql.DB) {
		return func(t *testing.T, l *Ledger, db *sql.DB) { forge(t, l, db, e) }
	}
	for name, c := range map[string]struct {
		tamper   func(*testing.T, *Ledger, *sql.DB)
		sequence int64
	}{
		"cheaper": {alter(
			`UPDATE entries SET body = replace(body, '"epsilon":"1"', '"epsilon":"0.1"') WHERE sequence = 3`), 3},
		"higher cap": {alter(
			`UPDATE entries SET body = replace(body, '"epsilon":"6"', '"epsilon":"9"') WHERE sequence = 1`), 1},
		"other time": {alter(`UPDATE entries SET body = replace(body, '2026-03-02', '2026-03-03') WHERE sequence = 9`),
			9},
		"other hash":       {alter(`UPDATE entries SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE sequence = 4`), 4},
		"removed first":    {alter("DELETE FROM entries WHERE sequence = 1"), 1},
		"removed":          {alter("DELETE FROM entries WHERE sequence = 5"), 5},
		"removed last":     {alter("DELETE FROM entries WHERE sequence = 9"), 9},
		"removed last two": {alter("DELETE FROM entries WHERE sequence > 7"), 8},
		"removed all":      {alter("DELETE FROM entries"), 1},
		"renumbered":       {alter("UPDATE entries SET sequence = 19 WHERE sequence = 9"), 9},
		"removed and closed up": {alter("DELETE FROM entries WHERE sequence = 8",
			"UPDATE entries SET sequence = 8 WHERE sequence = 9", "UPDATE sqlite_sequence SET seq = 8"), 8},
		"reordered": {alter("UPDATE entries SET sequence = -4 WHERE sequence = 4",
			"UPDATE entries SET sequence = 4 WHERE sequence = 5",
			"UPDATE entries SET sequence = 5 WHERE sequence = -4"), 4},
		"repeated": {alter(
			"INSERT INTO entries (body, private, hash, signature) SELECT body, private, hash, signature FROM entries " +
				"WHERE sequence = 9"), 10},
		"not an entry":  {alter("INSERT INTO entries (body, private, hash, signature) VALUES ('x', 'y', 'z', '')"), 10},
		"second policy": {forged(capped("99").openingEntry(Official, new(epsilon("99")))), 10},
		"rehearsal": {forged(Policy{Account: "made-up", Terms: person, Cap: epsilon("1")}.openingEntry(Rehearsal,
			new(epsilon("1")))), 10},
		"debit unreserved": {forged(debiting(charge("f", "ff", "1"), 3)), 10},
		"refund":           {forged(ending(kindCancel, charge("a", "aa", "1"))), 10},
		"cheaper debit":    {forged(debiting(charge("d", "dd", "1/2"), 3)), 10},
		"overspent":        {forged(charge("f", "ff", "3").reserveEntry(nil)), 10},
		"unknown account": {forged(Charge{Account: "x", Release: "f", PlanHash: hash("ff"), Terms: person,
			Cost: epsilon("1")}.reserveEntry(nil)), 10},
		"bound reserve": {forged(bound(charge("f", "ff", "1").reserveEntry(nil))), 10},
		"bound cancel":  {forged(bound(ending(kindCancel, charge("d", "dd", "1")))), 10},
		"unknown kind":  {forged(ending("refund", charge("f", "ff", "1"))), 10},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := busy(t)
			c.tamper(t, l, raw(t, path))
			_, debitErr := l.Debit(ctx, charge("z", "ff", "1"))
			_, againErr := l.Debit(ctx, charge("a", "aa", "1"))
			_, showErr := l.Show(ctx, "people")
			_, listErr := l.Accounts(ctx)
			for what, err := range map[string]error{"Verify": l.Verify(ctx),
				"Reserve": l.Reserve(ctx, charge("z", "ff", "1")),
				"Cancel":  l.Cancel(ctx, charge("d", "dd", "1")), "Init": l.Init(ctx, capped("6")),
				"Debit": debitErr, "Debit again": againErr, "Show": showErr, "Accounts": listErr} {
				var tampered *Tampered
				if !errors.Is(err, ErrTampered) || !errors.As(err, &tampered) {
					t.Errorf("%s: got %v; want ErrTampered", what, err)
					continue
				}
				if tampered.Sequence != c.sequence {
					t.Errorf("%s names entry %d; want %d (%v)", what, tampered.Sequence, c.sequence, err)
				}
				assertSays(t, err, path, fmt.Sprintf("entry %d ", c.sequence), "keep the file for the auditor")
			}
		})
	}
}

// TestChainAsDocumented computes the chain with sqlite3 and SHA-256 alone, as an auditor would.
func TestChainAsDocumented(t *testing.T) {
	l, path := busy(t)
	rows, err := raw(t, path).Query("SELECT sequence, body, private, hash FROM entries ORDER BY sequence")
	must(t, err)
	defer rows.Close()
	previous := sha256.Sum256([]byte("dprelease ledger 2"))
	secrets := map[string]bool{}
	for rows.Next() {
		var sequence int64
		var body, private, hash string
		must(t, rows.Scan(&sequence, &body, &private, &hash))
		sealed := sha256.Sum256([]byte(private))
		previous = sha256.Sum256([]byte(string(previous[:]) + string(sealed[:]) + body))
		if hex.EncodeToString(previous[:]) != hash {
			t.Errorf("entry %d carries %s; want %x", sequence, hash, previous)
		}
		salt, found := strings.CutPrefix(private, `{"time":"2026-03-02T00:59:58Z","salt":"`)
		if !found || len(salt) != 64+len(`"}`) || secrets[salt] {
			t.Errorf("entry %d keeps %s", sequence, private)
		}
		secrets[salt] = true
		if sequence == 2 && body != `{"kind":"reserve","date":"2026-03-02","account":"people","release":"a","plan_hash":"`+
			strings.Repeat("a", 2)+strings.Repeat("0", 62)+`","cost":{"epsilon":"1"}}` {
			t.Errorf("entry 2 says %s", body)
		}
	}
	must(t, rows.Err())
	if s := show(t, l); s.Entries != 9 || s.Head != hex.EncodeToString(previous[:]) {
		t.Errorf("the statement's head is entry %d, %s; want 9, %x", s.Entries, s.Head, previous)
	}
}

func TestEntriesAreAppendOnly(t *testing.T) {
	_, path := busy(t)
	db := raw(t, path)
	for statement, says := range map[string]string{
		"UPDATE entries SET body = 'x'":               "entries are never changed",
		"DELETE FROM entries WHERE sequence = 9":      "entries are never removed",
		"UPDATE entries SET sequence = 10 + sequence": "entries are never changed",
	} {
		_, err := db.Exec(statement)
		assertSays(t, err, says)
	}
}

// TestFlippedBytes flips bytes of the file: any change of the ledger's answers must be an error.
func TestFlippedBytes(t *testing.T) {
	ctx := context.Background()
	l, path := busy(t)
	want := show(t, l).String()
	must(t, l.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	body := bytes.Index(whole, []byte(`{"kind"`))
	if body < 0 {
		t.Fatal("the entries are not in the file")
	}
	noticed := 0
	for i := range 120 {
		at := rand.IntN(len(whole))
		if i%2 == 0 { // aim at the entries, which fill the end of their page
			at = body + rand.IntN(1500)
		}
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << rand.IntN(8)
		path := filepath.Join(t.TempDir(), "ledger.db")
		must(t, os.WriteFile(path, damaged, 0o600))
		l, err := Open(ctx, path, vouched())
		if err != nil {
			noticed++
			continue
		}
		page, showErr := l.Show(ctx, "people")
		verifyErr := l.Verify(ctx)
		if showErr != nil || verifyErr != nil {
			noticed++
		} else if page.String() != want {
			t.Errorf("byte %d of the file changed the page without an error:\n%s", at, page)
		}
		l.Close()
	}
	if noticed < 40 {
		t.Errorf("%d of 120 flips were noticed; 60 of them hit the entries", noticed)
	}
}
