package ledger

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	address "github.com/dprelease/dprelease/internal/postgres"
	"github.com/dprelease/dprelease/internal/testkit"
)

// ask returns the one value that a query gives to the superuser.
func ask(t testing.TB, place, query string) string {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, place)
	must(t, err)
	defer c.Close(ctx)
	var answer string
	must(t, c.QueryRow(ctx, query).Scan(&answer))
	return answer
}

// at returns an address with another user, password, host or database; an empty one is unchanged.
func at(t testing.TB, place, user, password, host, database string) string {
	t.Helper()
	u, err := url.Parse(place)
	must(t, err)
	if user != "" {
		u.User = url.UserPassword(user, password)
	}
	if host != "" {
		u.RawQuery = url.Values{"host": {host}}.Encode()
	}
	if database != "" {
		u.Path = "/" + database
	}
	return u.String()
}

func TestPostgresThatWouldLoseDebitsIsRefused(t *testing.T) {
	ctx := context.Background()
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	for _, setting := range []string{"fsync", "full_page_writes"} {
		server(t, place, "ALTER SYSTEM SET "+setting+" = off", "SELECT pg_reload_conf()")
		settled(t, place, setting, "off")
		_, err := l.Debit(ctx, charge("a", "aa", "1"))
		assertSays(t, err, setting+" = off", "set "+setting+" = on")
		assertBalance(t, l, "0", "0", "10")
		server(t, place, "ALTER SYSTEM RESET "+setting, "SELECT pg_reload_conf()")
		settled(t, place, setting, "on")
	}
	server(t, place, "ALTER TABLE dprelease.entries SET UNLOGGED")
	_, err := l.Debit(ctx, charge("a", "aa", "1"))
	assertSays(t, err, "are UNLOGGED, and would be empty after a crash")
	assertBalance(t, l, "0", "0", "10")
	server(t, place, "ALTER TABLE dprelease.entries SET LOGGED")
	debit(t, l, charge("a", "aa", "1"))
}

// settled waits until new sessions have a setting.
func settled(t testing.TB, place, setting, want string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ask(t, place,
		"SHOW "+setting) != want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not become %s", setting, want)
		}
	}
}

// A database may be configured to answer COMMIT before the entry is on the disk; the ledger's own transactions are not
// affected.
func TestPostgresCommitsDurably(t *testing.T) {
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	name := strings.TrimPrefix(must1(url.Parse(place)).Path, "/")
	server(t, place, "ALTER DATABASE "+name+" SET synchronous_commit = off",
		"CREATE TABLE seen (setting text)",
		"CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES "+
			"(current_setting('synchronous_commit')); RETURN NEW; END $$",
		"CREATE TRIGGER see BEFORE INSERT ON dprelease.entries FOR EACH ROW EXECUTE FUNCTION see()")
	if got := ask(t, place, "SHOW synchronous_commit"); got != "off" {
		t.Fatalf("synchronous_commit is %s", got)
	}
	debit(t, l, charge("a", "aa", "1"))
	if got := ask(t, place, "SELECT string_agg(setting, ' ') FROM seen"); got != "on on" {
		t.Errorf("the entries were committed with synchronous_commit = %s; want on, twice", got)
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// An update that adds nothing still commits something, so that it waits for the log of what it read.
func TestPostgresWaitsForWhatOthersCommitted(t *testing.T) {
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	debit(t, l, charge("a", "aa", "1"))
	before := ask(t, place, "SELECT xmin::text FROM dprelease.ledger")
	debit(t, l, charge("a", "aa", "1"))
	if after := ask(t, place, "SELECT xmin::text FROM dprelease.ledger"); after == before {
		t.Error("the second debit of a charge wrote nothing, so its COMMIT waits for nothing")
	}
}

func TestPostgresRoles(t *testing.T) {
	ctx := context.Background()
	place := testkit.Postgres(t)
	name := strings.TrimPrefix(must1(url.Parse(place)).Path, "/")
	role := func(kind string) string { return kind + "_of_" + name }
	l := freshAt(t, place, "10")
	debit(t, l, charge("a", "aa", "1"))
	for _, kind := range []string{"auditor", "releaser", "stranger"} {
		server(t, place, "CREATE ROLE "+role(kind)+" LOGIN")
	}
	// The grants as openPostgres documents them.
	server(t, place, "GRANT USAGE ON SCHEMA dprelease TO "+role("auditor")+", "+role("releaser"),
		"GRANT SELECT ON ALL TABLES IN SCHEMA dprelease TO "+role("auditor")+", "+role("releaser"),
		"GRANT INSERT ON dprelease.entries TO "+role("releaser"), "GRANT UPDATE (written) ON dprelease.ledger TO "+
			role("releaser"))

	auditor := openAt(t, at(t, place, role("auditor"), "", "", ""))
	assertBalance(t, auditor, "1", "0", "9")
	must(t, auditor.Verify(ctx))
	_, err := auditor.Debit(ctx, charge("b", "bb", "1"))
	assertSays(t, err, "may only be read by this user")

	writer := at(t, place, role("releaser"), "", "", "")
	debit(t, openAt(t, writer), charge("b", "bb", "1"))
	assertBalance(t, l, "2", "0", "8")
	for _, statement := range []string{"UPDATE dprelease.entries SET body = ''", "DELETE FROM dprelease.entries",
		"TRUNCATE dprelease.entries",
		"ALTER TABLE dprelease.entries DISABLE TRIGGER kept", "UPDATE dprelease.ledger SET version = 1",
		"DELETE FROM dprelease.ledger", "DROP SCHEMA dprelease CASCADE"} {
		if err := attempt(t, writer, statement); err == nil || !strings.Contains(err.Error(), "42501") {
			t.Errorf("%s by one who may release: %v", statement, err)
		}
	}
	_, err = openStore(ctx, at(t, place, role("stranger"), "", "", ""), true)
	assertSays(t, err, "cannot be opened as needed", "grant this user USAGE")

	// One who releases does not give himself more, by a grant or by an account of his own, with the program or without.
	more := Grant{Account: "people", Amount: epsilon("5"), Reason: "Because I can."}
	releaser := openAt(t, writer)
	assertSays(t, releaser.Grant(ctx, more), "by the owner of its tables", "run as the one who keeps it")
	assertSays(t, releaser.Init(ctx, Policy{Account: "other", Terms: person, Cap: epsilon("10")}),
		"by the owner of its tables")
	for _, body := range []string{`{"kind":"grant","date":"2026-01-01","account":"people"}`,
		`{"kind":"init","date":"2026-01-01","account":"other"}`} {
		for _, before := range []string{"",
			"CREATE SCHEMA AUTHORIZATION CURRENT_USER; CREATE FUNCTION pg_has_role(name, oid, text) RETURNS boolean " +
				"LANGUAGE sql AS 'SELECT true'; "} {
			if before != "" {
				server(t, place, "GRANT CREATE ON DATABASE "+name+" TO "+role("releaser"))
				before += "SET search_path = " + role("releaser") + ", pg_catalog; "
			}
			err := attempt(t, writer, before+"INSERT INTO dprelease.entries VALUES (99, '"+body+"', '', '', '')")
			assertSays(t, err, "by the owner of the tables alone")
		}
	}
	assertBalance(t, l, "2", "0", "8")
	server(t, place, "CREATE ROLE "+role("keeper")+" LOGIN IN ROLE keeper")
	must(t, openAt(t, at(t, place, role("keeper"), "", "", "")).Grant(ctx, more))
	assertBalance(t, l, "2", "0", "13")
}

// An address for which another server could answer, or somebody on the network could read the traffic, is refused
// before any connection.
func TestPostgresAddresses(t *testing.T) {
	place := testkit.Postgres(t)
	freshAt(t, place, "10")
	socket := must1(url.Parse(place)).Query().Get("host")
	for says, addresses := range map[string][]string{
		"names several servers": {
			at(t, place, "", "", t.TempDir()+","+socket, ""),
			"postgres://keeper@127.0.0.1:1,127.0.0.1:2/test?connect_timeout=1",
			"postgres://keeper@192.0.2.1,192.0.2.2/test?sslmode=verify-full&connect_timeout=1",
		},
		"must be encrypted: add ?sslmode=verify-full": {
			"postgres://keeper@192.0.2.1/test?connect_timeout=1",
			"postgres://keeper@192.0.2.1/test?connect_timeout=1&sslmode=disable",
			"postgres://keeper@192.0.2.1/test?connect_timeout=1&sslmode=allow",
			"postgres://keeper@192.0.2.1/test?connect_timeout=1&sslmode=prefer",
		},
		"cannot be reached": {
			"postgres://keeper@192.0.2.1/test?connect_timeout=1&sslmode=require", "postgres://keeper@127.0.0.1:1/test",
			"postgres://keeper@[::1]:1/test",
			"postgres://keeper@localhost:1/test",
		},
	} {
		for _, address := range addresses {
			_, err := openStore(t.Context(), address, true)
			assertSays(t, err, says)
		}
	}
}

// attempt runs a statement and returns its error.
func attempt(t testing.TB, place, statement string) error {
	t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, place)
	must(t, err)
	defer c.Close(ctx)
	_, err = c.Exec(ctx, statement)
	return err
}

func TestPostgresEntriesAreAppendOnly(t *testing.T) {
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	debit(t, l, charge("a", "aa", "1"))
	for statement, says := range map[string]string{
		"UPDATE dprelease.entries SET body = 'x'":                  "entries are never changed",
		"UPDATE dprelease.entries SET sequence = 10 + sequence":    "entries are never changed",
		"DELETE FROM dprelease.entries WHERE sequence = 3":         "never removed",
		"TRUNCATE dprelease.entries":                               "never removed",
		"TRUNCATE dprelease.ledger":                                "never removed",
		"DELETE FROM dprelease.ledger":                             "never removed",
		"UPDATE dprelease.ledger SET written = 2":                  "never taken back",
		"UPDATE dprelease.ledger SET version = 3":                  "never taken back",
		"INSERT INTO dprelease.ledger VALUES (false, 2, 9)":        "ledger_one_check",
		"INSERT INTO dprelease.ledger VALUES (true, 2, 9)":         "ledger_pkey",
		"INSERT INTO dprelease.entries VALUES (3, '', '', '', '')": "entries_pkey",
		"INSERT INTO dprelease.entries VALUES (0, '', '', '', '')": "entries_sequence_check",
	} {
		assertSays(t, attempt(t, place, statement), says)
		assertSays(t, attempt(t, place, "SET session_replication_role = replica; "+statement), says)
	}
	must(t, l.Verify(context.Background()))
	server(t, place, "ALTER TABLE dprelease.entries DISABLE TRIGGER kept")
	assertSays(t, l.Verify(context.Background()), "altered outside dprelease",
		"it lacks the trigger kept of dprelease.entries, which keeps entries")
}

func TestPostgresLocked(t *testing.T) {
	ctx := context.Background()
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	other, err := pgx.Connect(ctx, place)
	must(t, err)
	defer other.Close(ctx)
	_, err = other.Exec(ctx, "BEGIN; SELECT written FROM dprelease.ledger FOR UPDATE")
	must(t, err)

	l.store.(*postgres).wait = 50 * time.Millisecond
	_, err = l.Debit(ctx, charge("a", "aa", "1"))
	assertSays(t, err, "is locked by another process", "run again")
	show(t, l)
	l.store.(*postgres).wait = time.Hour
	waiting, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- l.Reserve(waiting, charge("a", "aa", "1")) }()
	time.Sleep(100 * time.Millisecond)
	cancel()
	err = <-done
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted while it waited: got %v; want context.Canceled", err)
	}
	assertSays(t, err, "nothing was written")
	_, err = other.Exec(ctx, "COMMIT")
	must(t, err)
	debit(t, l, charge("a", "aa", "1"))
	assertBalance(t, l, "1", "0", "9")
}

// If the server ends a connection in the middle of an update, nothing of the update remains.
func TestPostgresEndsASession(t *testing.T) {
	ctx := context.Background()
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	_, err := l.store.update(ctx, func(b *book) ([]line, error) {
		server(t, place, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dprelease'")
		return b.writeEntries([]entry{reserving(charge("a", "aa", "1"), b.day)}, nil)
	})
	if err == nil {
		t.Error("an update was made on a connection that was ended")
	}
	assertBalance(t, l, "0", "0", "10")
	debit(t, l, charge("a", "aa", "1"))
}

func TestPostgresThatDropsEntriesIsNoticed(t *testing.T) {
	for what, statement := range map[string]string{"entry": "entries", "count": "ledger"} {
		place := testkit.Postgres(t)
		l := freshAt(t, place, "10")
		server(t, place, "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
			"CREATE TRIGGER a_swallow BEFORE INSERT OR UPDATE ON dprelease."+statement+
				" FOR EACH ROW EXECUTE FUNCTION swallow()")
		_, err := l.Debit(context.Background(), charge("a", "aa", "1"))
		if assertSays(t, err, "the database dropped an entry"); l.entries(t) != 1 {
			t.Errorf("dropping an %s left %d entries", what, l.entries(t))
		}
	}
}

// A standby may lag behind: an account may have less left than the standby reports.
func TestPostgresStandbyIsRefused(t *testing.T) {
	ctx := context.Background()
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	server(t, place, "COPY (SELECT 1) TO PROGRAM 'cat > standby.signal'")
	testkit.CrashPostgres(t)
	everybodys := at(t, place, "", "", "", "postgres")
	t.Cleanup(func() { // whatever happens: other tests use the cluster
		if ask(t, everybodys, "SELECT pg_is_in_recovery()::text") == "true" {
			ask(t, everybodys, "SELECT pg_promote()::text")
		}
	})
	databases := "SELECT count(*)::text FROM pg_database WHERE datname = '" +
		strings.TrimPrefix(must1(url.Parse(place)).Path, "/") + "'"
	for deadline := time.Now().Add(10 * time.Second); ask(t, everybodys, databases) != "1" &&
		time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond) // it does lag behind
	}
	_, err := openStore(ctx, place, true)
	assertSays(t, err, "is on a standby, which may lag behind: name the primary server")
	_, err = l.Debit(ctx, charge("a", "aa", "1"))
	assertSays(t, err, "read")
	if promoted := ask(t, place, "SELECT pg_promote()::text"); promoted != "true" {
		t.Fatal("the server stays a standby")
	}
	debit(t, openAt(t, place), charge("a", "aa", "1"))
}

// between is a proxy in front of a PostgreSQL server that forwards everything, but at COMMIT asks what to do.
type between struct {
	t         *testing.T
	folder    string // to connect to
	server    string // socket of the real one
	atCommit  func() fate
	commits   int
	listening net.Listener
	all       sync.WaitGroup
}

// fate is what becomes of a COMMIT.
type fate int

const (
	passed     fate = iota
	unheard         // the connection is lost before the server hears of it
	unanswered      // the connection is lost before the client hears the answer
)

func listenBetween(t *testing.T, place string, atCommit func() fate) *between {
	folder, err := filepath.Abs(t.TempDir())
	must(t, err)
	const socket = ".s.PGSQL.5432"
	p := &between{t: t, folder: folder, atCommit: atCommit,
		server: filepath.Join(must1(url.Parse(place)).Query().Get("host"), socket)}
	p.listening, err = net.Listen("unix", filepath.Join(folder, socket))
	must(t, err)
	p.all.Go(func() {
		for {
			client, err := p.listening.Accept()
			if err != nil {
				return
			}
			p.serve(client)
		}
	})
	return p
}

func (p *between) close() int {
	p.listening.Close()
	p.all.Wait()
	return p.commits
}

// serve forwards one connection, message by message, until COMMIT.
func (p *between) serve(client net.Conn) {
	server, err := net.Dial("unix", p.server)
	if err != nil {
		p.t.Error(err)
		return
	}
	answered := make(chan struct{})
	defer func() { client.Close(); server.Close(); <-answered }()
	go func() {
		defer close(answered)
		_, _ = io.Copy(client, server)
		client.Close()
	}()
	for first := true; ; first = false {
		message, err := readMessage(client, first)
		if err != nil {
			return
		}
		if strings.Contains(string(message), "COMMIT\x00") && !strings.Contains(string(message), "BEGIN") {
			p.commits++
			switch p.atCommit() {
			case unheard:
				return
			case unanswered:
				client.Close()
				_, _ = server.Write(message)
				time.Sleep(100 * time.Millisecond) // the server commits
				return
			}
		}
		if _, err := server.Write(message); err != nil {
			return
		}
	}
}

// readMessage reads one message of a client; the first has no letter before its length.
func readMessage(r io.Reader, first bool) ([]byte, error) {
	letter := 1
	if first {
		letter = 0
	}
	message := make([]byte, letter+4)
	if _, err := io.ReadFull(r, message); err != nil {
		return nil, err
	}
	rest := make([]byte, binary.BigEndian.Uint32(message[letter:])-4)
	_, err := io.ReadFull(r, rest)
	return append(message, rest...), err
}

func TestPostgresLosesTheConnectionAtCommit(t *testing.T) {
	for name, what := range map[string]fate{"unheard": unheard, "unanswered": unanswered} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			place := testkit.Postgres(t)
			l, path := witnessed(t, place)
			direct := l.store.(*postgres).config
			before, heads := l.entries(t), read(t, path)
			proxy := listenBetween(t, place, func() fate { return what })
			l.store.(*postgres).config = must1(address.Parse(at(t, place, "", "", proxy.folder, "")))
			_, err := l.Debit(ctx, charge("a", "aa", "1"))
			assertSays(t, err, "it cannot be told whether the entry was written", "the same charge again tells")
			if lost := proxy.close(); lost != 1 {
				t.Errorf("%d connections were lost at COMMIT; want 1", lost)
			}
			if read(t, path) != heads { // of an entry that may not be there
				t.Error("the witness was told of what cannot be told")
			}
			l.store.(*postgres).config = direct
			written := map[fate]int64{unheard: 0, unanswered: 2}[what]
			if n := l.entries(t) - before; n != written {
				t.Errorf("%d entries were written; want %d", n, written)
			}
			receipt := debit(t, l, charge("a", "aa", "1"))
			assertHolds(t, l, "1", "0")
			if n := l.entries(t) - before; n != 2 {
				t.Errorf("after calling again %d entries were written; want 2", n)
			}
			if !strings.HasSuffix(read(t, path), " "+receipt.Record().Proof.Hash+"\n") {
				t.Error("the witness was not told of the receipt")
			}
		})
	}
}

// An interruption during COMMIT is too late: the debit is made, and its receipt returned.
func TestPostgresInterruptedAtCommit(t *testing.T) {
	place := testkit.Postgres(t)
	l := freshAt(t, place, "10")
	ctx, cancel := context.WithCancel(context.Background())
	proxy := listenBetween(t, place, func() fate {
		cancel()
		time.Sleep(50 * time.Millisecond)
		return passed
	})
	l.store.(*postgres).config = must1(address.Parse(at(t, place, "", "", proxy.folder, "")))
	if r, err := l.Debit(ctx, charge("a", "aa", "1")); err != nil || !r.Valid() {
		t.Errorf("interrupted at COMMIT: %v", err)
	}
	if n := proxy.close(); n != 1 {
		t.Errorf("%d commits; want 1", n)
	}
}

func TestWhatTheServerSaysOfCommit(t *testing.T) {
	p := &postgres{name: "postgres://host/db"}
	committed, rolledBack := pgconn.NewCommandTag("COMMIT"), pgconn.NewCommandTag("ROLLBACK")
	if err := p.commitResult(committed, nil, ""); err != nil {
		t.Error(err)
	}
	said := func(severity, code string) error {
		return &pgconn.PgError{Severity: "ПОМИЛКА", SeverityUnlocalized: severity, Code: code,
			Message: "what the server says"}
	}
	assertSays(t, p.commitResult(rolledBack, nil, ""), "nothing was written", "ROLLBACK")
	assertSays(t, p.commitResult(pgconn.CommandTag{}, said("ERROR", "53100"), ""), "is full, and nothing was written")
	for _, err := range []error{
		p.commitResult(committed, nil, "canceling wait for synchronous replication due to user request"),
		p.commitResult(pgconn.CommandTag{}, said("FATAL", "57P01"), ""),
		p.commitResult(pgconn.CommandTag{}, io.ErrUnexpectedEOF, ""),
		p.commitResult(pgconn.CommandTag{}, context.DeadlineExceeded, ""),
	} {
		assertSays(t, err, "it cannot be told whether the entry was written", "run again")
	}
}

// TestPostgresKeepsThePassword plants a password in unusable addresses, and searches the errors for it.
func TestPostgresKeepsThePassword(t *testing.T) {
	ctx := context.Background()
	place := testkit.Postgres(t)
	name := strings.TrimPrefix(must1(url.Parse(place)).Path, "/")
	host := must1(url.Parse(place)).Query().Get("host")
	server(t, place, "CREATE ROLE locked_"+name+" LOGIN PASSWORD 'Sesame-99'")
	for name, address := range map[string]string{
		"no such role":      at(t, place, "nobody", "Sesame-99", "", ""),
		"no such database":  at(t, place, "locked_"+name, "Sesame-99", "", "nowhere"),
		"no such socket":    at(t, place, "locked_"+name, "Sesame-99", t.TempDir(), ""),
		"no server":         "postgres://user:Sesame-99@127.0.0.1:1/db?connect_timeout=1",
		"no host":           "postgres://user:Sesame-99@no-such-host.invalid/db?connect_timeout=1",
		"no TLS":            "postgres://user:Sesame-99@127.0.0.1:1/db?connect_timeout=1&sslmode=require",
		"as an option":      "postgres:///nowhere?host=" + host + "&user=nobody&password=Sesame-99",
		"@ in it":           "postgres://user:Open@Sesame-99@host/db",
		"/ in it":           "postgres://user:12/Sesame-99@host/db",
		"/ in it, no port":  "postgres://user:Open/Sesame-99@host/db",
		": in it":           "postgres://user:Open:Sesame-99@127.0.0.1:1/db?connect_timeout=1",
		"? in it":           "postgres://user:Open?Sesame-99@host/db",
		"# in it":           "postgres://user:Open#Sesame-99@127.0.0.1:1/db?connect_timeout=1",
		"% in it":           "postgres://user:%Sesame-99@host/db",
		"a bad port":        "postgres://user:Sesame-99@host:port/db",
		"a bad option":      "postgres://user:Sesame-99@host/db?sslmode=perhaps",
		"an unknown option": "postgres://user:Sesame-99@host/db?password=Sesame-99&sesame",
	} {
		_, err := openStore(ctx, address, true)
		if err == nil {
			t.Errorf("%s: opened", name)
			continue
		}
		for e := err; e != nil; e = errors.Unwrap(e) {
			for _, text := range []string{e.Error(), fmt.Sprintf("%+v %#v", e, e)} {
				if strings.Contains(text, "Sesame") || strings.Contains(text, "-99") {
					t.Errorf("%s: the password is in %q", name, text)
				}
			}
		}
	}
	for place, want := range map[string]string{
		"postgres://user:Sesame-99@host/db?sslmode=verify-full": "postgres://user@host:5432/db",
		"postgresql://user@host:99/db?password=Sesame-99":       "postgres://user@host:99/db",
		"postgres://user:Sesame-99@host:port/db":                "postgres://…",
		"postgres://user@[::1]/db":                              "postgres://user@[::1]:5432/db",
		"ledger.db":                                             "ledger.db",
	} {
		if got := PlaceName(place); got != want {
			t.Errorf("%s is called %s; want %s", place, got, want)
		}
	}
	l := openAt(t, at(t, place, "", "", "", ""))
	if name := l.store.(*postgres).name; !strings.HasPrefix(name, "postgres://keeper@/test") ||
		!strings.Contains(name, host) {
		t.Errorf("the ledger calls itself %s", name)
	}
}

func TestPostgresNamesWhatIsWrong(t *testing.T) {
	ctx := context.Background()
	place := testkit.Postgres(t)
	for says, address := range map[string]string{
		"there is no such database: create it first": at(t, place, "", "", "", "nowhere"),
		"does not let this user in":                  at(t, place, "nobody", "", "", ""),
		"cannot be reached":                          at(t, place, "", "", t.TempDir(), ""),
		"cannot be understood":                       "postgres://host:port/",
	} {
		_, err := openStore(ctx, address, true)
		assertSays(t, err, says)
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is told as a ledger that is not there", err)
		}
	}
	l := freshAt(t, place, "10")
	must(t, l.Close())
	for _, c := range []struct{ statement, says string }{
		{"ALTER TABLE dprelease.ledger DISABLE TRIGGER ALL; UPDATE dprelease.ledger SET version = 5",
			"is written in version 5, and this dprelease reads version 4"},
		{"DELETE FROM dprelease.ledger", "are not counted any more"},
		{"ALTER TABLE dprelease.ledger DROP COLUMN version", "is damaged"},
		{"DROP TABLE dprelease.ledger", "is damaged"},
	} {
		server(t, place, c.statement)
		_, err := openStore(ctx, place, true)
		assertSays(t, err, c.says)
	}
	latin := testkit.Postgres(t)
	name := "latin_" + strings.TrimPrefix(must1(url.Parse(latin)).Path, "/")
	server(t, latin, "CREATE DATABASE "+name+" ENCODING 'LATIN1' TEMPLATE template0")
	_, err := openStore(ctx, at(t, latin, "", "", "", name), true)
	assertSays(t, err, "is encoded in LATIN1", "ENCODING 'UTF8'")
}
