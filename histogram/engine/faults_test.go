package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/jackc/pgx/v5"
)

// This file tests what goes wrong between a database and its rows: every fault is found, and no message holds a value.

// canary is a value that no message may hold.
const canary = "canary7731"

// people is a release of one table of a database.
const people = `version: 1
release: people
privacy: {protects: person, neighbours: add-remove, account: people}
budget: {rho: 1}
tables:
  people:
    source: SOURCE
    unit: {id: id, max_rows: 1}
    columns: {kind: {values: [a, b], unknown: UNKNOWN}, pay: {type: integer, range: [0, 9], unknown: drop}}
marginals:
  kinds: {by: [kind]}
  pays: {by: [pay]}
`

// planOf returns the plan of people from a source.
func planOf(t testing.TB, from string) *plan.Plan {
	t.Helper()
	return histogramtest.PlanOf(t, strings.NewReplacer("SOURCE", from, "UNKNOWN", "drop").Replace(people))
}

// database returns a connection to a database in which statements have run, and sets PEOPLE_URL to its address.
func database(t *testing.T, statements ...string) (*pgx.Conn, string) {
	t.Helper()
	address := testkit.Postgres(t)
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	execute(t, c, statements...)
	t.Setenv("PEOPLE_URL", address)
	return c, address
}

func execute(t *testing.T, c *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := c.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// makePeople makes a table of a thousand people.
const makePeople = `CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'a' ELSE 'b' END AS kind, i % 10 AS pay FROM generate_series(1, 1000) AS i`

// slowly is a view of people that takes ten seconds.
const slowly = `CREATE VIEW slowly AS SELECT people.* FROM people WHERE pg_sleep(0.01) IS NOT NULL`

// fetchError fetches, and returns the error, which must be of a table and without the canary.
func fetchError(t *testing.T, ctx context.Context, p *plan.Plan, dir string) *source.Error {
	t.Helper()
	rows, err := engine.Open(ctx, p, dir)
	if err == nil {
		rows.Close()
		t.Fatal("it was fetched")
	}
	var fault *source.Error
	if !errors.As(err, &fault) {
		t.Fatalf("%T: %v", err, err)
	}
	for _, text := range append(histogramtest.PrintedForms(err), err.Error(), histogramtest.PrintedForms(fault)[0]) {
		if strings.Contains(text, canary) {
			t.Errorf("a message holds a value: %s", text)
		}
	}
	return fault
}

// Every fault of a PostgreSQL server or of a spec is a sentence of its own, and names no value.
func TestFaultsOfPostgres(t *testing.T) {
	c, address := database(t, makePeople, slowly,
		`CREATE TABLE odd (id bigint, kind text, pay interval)`, `INSERT INTO odd VALUES (1, '`+canary+`', '1 day')`,
		`CREATE TABLE hidden AS SELECT * FROM people`, `ALTER TABLE hidden ENABLE ROW LEVEL SECURITY`,
		`CREATE POLICY part ON hidden USING (pay > 3)`, `CREATE ROLE clerk LOGIN`, `GRANT SELECT ON hidden TO clerk`,
		`CREATE ROLE hasty LOGIN`, `GRANT SELECT ON people, slowly TO hasty`,
		`ALTER ROLE hasty SET statement_timeout = '100ms'`)
	as := func(role string) string { return strings.Replace(address, "keeper@", role+"@", 1) }
	table := func(name string) string { return "{postgres: {url: 'env:PEOPLE_URL', table: " + name + "}}" }
	query := func(text string) string {
		return "{postgres: {url: 'env:PEOPLE_URL', query: \"" + text + "\"}}"
	}
	for name, c := range map[string]struct {
		address, from, says string
		kind                source.ErrorKind
	}{
		"no such table":   {address, table("peoples"), "no such table", source.Missing},
		"no such schema":  {address, table("register.people"), "no such", source.Missing},
		"capital letters": {address, table("People"), "small and capital letters", source.Missing},
		"no such column": {address, query("SELECT id, kind, pay AS pays FROM people"),
			"did you mean pays?", source.Missing},
		"two columns": {address, query("SELECT *, id FROM people"), "", source.Malformed},
		"a type":      {address, table("odd"), "has the type interval", source.WrongType},
		"a text as a number": {address, query("SELECT id, kind, pay::text FROM people"), "holds texts",
			source.WrongType},
		"a value that fails": {address, query("SELECT 1 AS id, kind, kind::integer AS pay FROM odd"),
			"diagnostics", source.Unreadable},
		"two statements": {address, query("SELECT 1 AS id; DROP TABLE people"), "must be one SELECT",
			source.Malformed},
		"a writing query": {address, query("SELECT nextval('counter') AS id, 'a' AS kind, 1 AS pay"), "",
			source.Unreadable},
		"rows that are hidden": {as("clerk"), table("hidden"), "BYPASSRLS", source.Unreadable},
		"no right":             {as("clerk"), table("people"), "GRANT", source.Unreadable},
		"no such user":         {as("nobody"), table("people"), "let this user in", source.Unreadable},
		"no such database": {strings.Replace(address, "/test", "/tost", 1), table("people"),
			"no such database", source.Unreadable},
		"a time-out": {as("hasty"), table("slowly"), "statement_timeout", source.Unreadable},
		"no server": {"postgres://office@localhost:1/people", table("people"), "connection",
			source.Unreadable},
		"no address": {"", table("people"), "PEOPLE_URL is not set", source.Unreadable},
		"no postgres address": {"mysql://" + canary, table("people"), "no address of a PostgreSQL server",
			source.Unreadable},
		"a broken address": {"postgres://a:" + canary + "@b@c/d", table("people"), "%40",
			source.Unreadable},
		"a network": {"postgres://a:" + canary + "@db.example/d", table("people"),
			"sslmode=verify-full", source.Unreadable},
		"a network behind this machine": {"postgres://a:" + canary + "@localhost:1,db.example:2/d?sslmode=disable",
			table("people"), "sslmode=verify-full", source.Unreadable},
		"an unproved network": {"postgres://a:" + canary + "@db.example/d?sslmode=require", table("people"),
			"verify-full", source.Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PEOPLE_URL", c.address)
			p := planOf(t, c.from)
			if name == "a text as a number" { // which only the reading finds
				_, err := countOf(t, p, ".")
				var fault *source.Error
				if !errors.As(err, &fault) || fault.Kind != c.kind || !strings.Contains(err.Error(), c.says) {
					t.Fatal(err)
				}
				return
			}
			if got := fetchError(t, t.Context(), p, "."); got.Kind != c.kind && name != "two columns" &&
				name != "a writing query" ||
				!strings.Contains(got.Error(), c.says) {
				t.Errorf("%s: %v", got.Kind, got)
			}
		})
	}
	execute(t, c, `SELECT 1`)
}

// countOf counts a plan, and returns its answers' hashes.
func countOf(t testing.TB, p *plan.Plan, dir string) (hashes []string, err error) {
	t.Helper()
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	counted, err := engine.Tables{Dir: dir, Options: scan.Options{MemoryLimit: 1 << 30}}.Count(t.Context(), q,
		noise.NewStreams(noise.Key{1}, "people").Rows())
	for _, a := range answer.All(counted) {
		hashes = append(hashes, fmt.Sprintf("%x", a.Hash()))
	}
	return hashes, err
}

// The address of a server may be in a file, such as a mounted secret.
func TestAddressInFile(t *testing.T) {
	_, address := database(t, makePeople)
	dir := histogramtest.Folder(t, "address", address+"\n")
	if _, err := countOf(t, planOf(t, "{postgres: {url: 'file:address', table: people}}"), dir); err != nil {
		t.Fatal(err)
	}
	got := fetchError(t, t.Context(), planOf(t, "{postgres: {url: 'file:other', table: people}}"), dir)
	if !strings.Contains(got.Error(), "there is no file") {
		t.Error(got)
	}
}

// A table that is truncated and filled again while its lock is waited for is read with its rows: a snapshot from before
// the lock would show none of them.
func TestTablesAreLockedBeforeTheSnapshot(t *testing.T) {
	c, _ := database(t, makePeople)
	for _, stay := range []string{"", ", stay: true"} {
		p := planOf(t, "{postgres: {url: 'env:PEOPLE_URL', table: people"+stay+"}}")
		want, err := countOf(t, p, ".")
		if err != nil {
			t.Fatal(err)
		}
		tx, err := c.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `CREATE TEMPORARY TABLE kept ON COMMIT DROP AS SELECT * FROM people;
			TRUNCATE people; INSERT INTO people SELECT * FROM kept`); err != nil {
			t.Fatal(err)
		}
		type result struct {
			hashes []string
			err    error
		}
		counted := make(chan result, 1)
		go func() {
			hashes, err := countOf(t, p, ".")
			counted <- result{hashes, err}
		}()
		for waiting := 0; waiting == 0; {
			if err := tx.QueryRow(t.Context(),
				`SELECT count(*) FROM pg_locks WHERE relation = 'people'::regclass AND NOT granted`).Scan(&waiting); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := <-counted; got.err != nil || !slices.Equal(got.hashes, want) {
			t.Errorf("%q: other answers (%v)", stay, got.err)
		}
	}
}

// A server that ends the connection, and a network that breaks it after some bytes, are found whenever it happens.
func TestConnectionBreaks(t *testing.T) {
	c, address := database(t, makePeople, slowly)
	t.Run("by the server", func(t *testing.T) {
		go func() {
			time.Sleep(300 * time.Millisecond)
			_, _ = c.Exec(context.Background(),
				`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY%' AND pid <> pg_backend_pid()`)
		}()
		got := fetchError(t, t.Context(), planOf(t, "{postgres: {url: 'env:PEOPLE_URL', table: slowly}}"), ".")
		if !strings.Contains(got.Error(), "ended the connection") {
			t.Error(got)
		}
	})
	t.Run("by the network", func(t *testing.T) {
		whole := int64(0)
		for cut := int64(1 << 40); ; cut = cut * 3 / 4 {
			proxy, passed := cuttingProxy(t, address, cut)
			t.Setenv("PEOPLE_URL", proxy)
			rows, err := engine.Open(t.Context(), planOf(t, "{postgres: {url: 'env:PEOPLE_URL', table: people}}"), ".")
			if cut == 1<<40 {
				if err != nil {
					t.Fatal(err)
				}
				rows.Close()
				whole = passed.Load()
				cut = whole
				continue
			}
			var fault *source.Error
			if !errors.As(err, &fault) || fault.Kind != source.Unreadable {
				t.Fatalf("cut after %d of %d bytes: %v", cut, whole, err)
			}
			if cut < 20 {
				return
			}
		}
	})
	t.Run("by an interruption", func(t *testing.T) {
		t.Setenv("PEOPLE_URL", address)
		ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer stop()
		if _, err := engine.Open(ctx, planOf(t, "{postgres: {url: 'env:PEOPLE_URL', table: slowly}}"),
			"."); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// cuttingProxy returns the address of a server that passes everything on to the server of an address, and ends the
// connection once so many bytes have come from there; and the number of these bytes.
func cuttingProxy(t *testing.T, address string, most int64) (string, *atomic.Int64) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	real, folder := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"), t.TempDir()
	l, err := net.Listen("unix", filepath.Join(folder, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	passed := &atomic.Int64{}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", real)
			if err != nil {
				client.Close()
				return
			}
			go func() { _, _ = io.Copy(server, client); server.Close() }()
			go func() {
				defer client.Close()
				defer server.Close()
				for buffer := make([]byte, 1<<12); passed.Load() < most; {
					n, err := server.Read(buffer[:min(int64(len(buffer)), most-passed.Load())])
					if _, lost := client.Write(buffer[:n]); err != nil || lost != nil {
						return
					}
					passed.Add(int64(n))
				}
			}()
		}
	}()
	u.RawQuery = url.Values{"host": {folder}}.Encode()
	return u.String(), passed
}

// Two tables of one server are read in one snapshot: a row that is added in between is in neither.
func TestTablesOfOneSnapshot(t *testing.T) {
	c, _ := database(t, `CREATE TABLE people AS SELECT i AS id, 'a'::text AS kind, 1 AS pay FROM generate_series(1, 100) AS i`,
		slowly, `CREATE TABLE visits AS SELECT id, kind, pay FROM people`)
	two := strings.NewReplacer("SOURCE", "{postgres: {url: 'env:PEOPLE_URL', table: slowly}}", "UNKNOWN", "drop",
		"marginals:\n", `  visits:
    source: {postgres: {url: "env:PEOPLE_URL", table: visits}}
    unit: {id: id, max_rows: 1}
    columns: {kind: {values: [a, b]}}
marginals:
  visits: {table: visits, by: [kind]}
`, "kinds: {by", "kinds: {table: people, by", "pays: {by", "pays: {table: people, by").Replace(people)
	p := histogramtest.PlanOf(t, two)
	before, err := countOf(t, p, ".")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(400 * time.Millisecond) // while the first table is read, which takes a second
		_, _ = c.Exec(context.Background(), `DELETE FROM visits WHERE id > 3`)
	}()
	during, err := countOf(t, p, ".")
	if err != nil || fmt.Sprint(during) != fmt.Sprint(before) {
		t.Error("the second table is not of the moment of the first", err)
	}
	if after, err := countOf(t, p, "."); err != nil || fmt.Sprint(after) == fmt.Sprint(before) {
		t.Error("the table did not change", err)
	}
}

// Nothing that a server logs holds a value or the key of a release, even if it logs every statement.
func TestServersLogHoldsNothing(t *testing.T) {
	_, address := database(t, makePeople, `INSERT INTO people VALUES (4711, '`+canary+
		`', 3), (4711, 'b', 3), (4711, 'b', 3)`)
	t.Setenv("PEOPLE_URL", address+"&options=-c%20log_statement%3Dall%20-c%20log_min_duration_statement%3D0")
	for from, logged := range map[string]string{
		"{postgres: {url: 'env:PEOPLE_URL', table: people}}":             `COPY (SELECT "id", pg_catalog.left("kind"::pg_catalog.text, 32768), "pay" FROM "people") TO STDOUT`,
		"{postgres: {url: 'env:PEOPLE_URL', table: people, stay: true}}": "rank <= 1",
	} {
		before := len(testkit.PostgresLog(t))
		if _, err := countOf(t, planOf(t, from), "."); err != nil {
			t.Fatal(err)
		}
		log := testkit.PostgresLog(t)[before:]
		if !strings.Contains(log, logged) {
			t.Fatalf("the statements were not logged: %s", log)
		}
		rows := noise.NewStreams(noise.Key{1}, "people").Rows()
		for _, secret := range []string{"4711", canary, string(bounding.DrawKey(rows.Contents("people"))[:]),
			string(bounding.KeyOfTable(rows.Bounding("people"))[:])} {
			if strings.Contains(log, secret) {
				t.Errorf("%s: the log holds %s", from, secret)
			}
		}
	}
}

// limited is a database that leaves out the last group of every answer, as engines with a limit on groups do.
type limited struct{ scan.Remote }

func (l limited) Groups(ctx context.Context, columns []int, visit func(codes []uint32, rows int64) error) error {
	var last func() error
	err := l.Remote.Groups(ctx, columns, func(codes []uint32, rows int64) error {
		if last != nil {
			if err := last(); err != nil {
				return err
			}
		}
		kept := slices.Clone(codes)
		last = func() error { return visit(kept, rows) }
		return nil
	})
	return err
}

// What a table asks for that its database cannot count, and what a database does not answer whole, is found before
// anything is counted.
func TestFaultsOfCountingInTheDatabase(t *testing.T) {
	c, address := database(t, makePeople, slowly, `INSERT INTO people VALUES (1, 'a', 3), (1, 'a', 3), (2, 'b', 1)`,
		`CREATE ROLE temporal LOGIN`, `GRANT SELECT ON people TO temporal`,
		`CREATE SEQUENCE counter`, `CREATE TABLE wide AS SELECT i::numeric AS id, 'a'::text AS kind, 1 AS pay FROM generate_series(1, 9) AS i`)
	execute(t, c, `REVOKE TEMPORARY ON DATABASE `+c.Config().Database+` FROM PUBLIC`)
	stay := "{postgres: {url: 'env:PEOPLE_URL', table: people, stay: true}}"
	p := planOf(t, stay)
	if _, err := countOf(t, p, "."); err != nil {
		t.Fatal(err)
	}
	t.Run("twice", func(t *testing.T) { // as a comparison with the truth does, which asks in batches
		opened, err := engine.Open(t.Context(), p, ".")
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		q, err := histogram.QuestionsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		all, err := countOf(t, p, ".")
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range q.Measurements {
			counted, err := opened.Files(".", scan.Options{MemoryLimit: 1 << 30}).Count(t.Context(),
				histogram.Questions{Plan: p, Measurements: q.Measurements[i : i+1]},
				noise.NewStreams(noise.Key{1}, "people").Rows())
			if err != nil || fmt.Sprintf("%x", answer.All(counted)[0].Hash()) != all[i] {
				t.Errorf("%s has another answer when it is asked alone (%v)", m.ID, err)
			}
		}
	})
	t.Run("a limit on groups", func(t *testing.T) {
		opened, err := engine.Open(t.Context(), p, ".")
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		files := opened.Files(".", scan.Options{MemoryLimit: 1 << 30})
		files.Remotes["people"] = limited{files.Remotes["people"]}
		q, err := histogram.QuestionsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = files.Count(t.Context(), q, noise.NewStreams(noise.Key{1}, "people").Rows())
		if err == nil || !strings.Contains(err.Error(), "look for a limit on groups") {
			t.Error(err)
		}
	})
	for name, of := range map[string]struct{ address, from, says string }{
		"no temporary tables": {strings.Replace(address, "keeper@", "temporal@", 1), stay, "TEMPORARY"},
		"a query that writes": {address, "{postgres: {url: 'env:PEOPLE_URL', stay: true, query: \"SELECT " +
			"nextval('counter') AS id, 'a'::text AS kind, 1 AS pay\"}}", "may only read"},
		"ids of another type": {address, strings.Replace(stay, "people,", "wide,", 1), "units are not told apart"},
		"a time-out": {address + "&options=-c%20statement_timeout%3D100ms",
			strings.Replace(stay, "people,", "slowly,", 1), "statement_timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PEOPLE_URL", of.address)
			if got := fetchError(t, t.Context(), planOf(t, of.from), "."); !strings.Contains(got.Error(), of.says) {
				t.Error(got)
			}
		})
	}
	t.Run("what needs rows", func(t *testing.T) {
		text := strings.NewReplacer("SOURCE", stay, "max_rows: 1}", "max_rows: 3}", "UNKNOWN", "drop",
			"kinds: {by: [kind]}", "kinds: {by: [kind], per_unit: {total: 1}}").Replace(people)
		_, err := countOf(t, histogramtest.PlanOf(t, text), ".")
		var fault *source.Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), "take out stay: true") {
			t.Error(err)
		}
	})
	t.Run("an interruption", func(t *testing.T) {
		opened, err := engine.Open(t.Context(), p, ".")
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		q, err := histogram.QuestionsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := opened.Files(".", scan.Options{MemoryLimit: 1 << 30}).Count(ctx, q,
			noise.NewStreams(noise.Key{1}, "people").Rows()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	execute(t, c, `SELECT 1`)
}

// Tables of one server that are counted there are counted each from its own rows, however equal they look, and whatever
// functions others have made that the user of the database finds first.
func TestTablesThatStayAreTheirOwn(t *testing.T) {
	c, address := database(t, `CREATE TABLE people AS SELECT (i / 2)::text::varchar AS id, 'a'::text AS kind, 1 AS pay FROM generate_series(1, 100) AS i`,
		`CREATE TABLE visits AS SELECT (i / 3)::text::varchar AS id, CASE WHEN i < 30 THEN 'a' ELSE 'b' END::text AS kind, 1 AS pay FROM generate_series(1, 100) AS i`)
	two := func(first, second string) *plan.Plan {
		return histogramtest.PlanOf(t, strings.NewReplacer("SOURCE", first, "UNKNOWN", "drop", "marginals:\n", `  visits:
    source: `+second+`
    unit: {id: id, max_rows: 2}
    columns: {kind: {values: [a, b]}}
marginals:
  visits: {table: visits, by: [kind]}
`, "kinds: {by", "kinds: {table: people, by", "pays: {by", "pays: {table: people, by").Replace(people))
	}
	from := func(table, more string) string {
		return "{postgres: {url: 'env:PEOPLE_URL', table: " + table + more + "}}"
	}
	want, err := countOf(t, two(from("people", ""), from("visits", "")), ".")
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string) {
		t.Helper()
		for _, p := range []*plan.Plan{two(from("people", ", stay: true"), from("visits", ", stay: true")),
			two(from("people", ", stay: true"), from("visits", "")),
			two(from("people", ""), from("visits", ", stay: true"))} {
			if got, err := countOf(t, p, "."); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: the answers are not those of rows that are read (%v)", name, err)
			}
		}
	}
	check("as they are")
	execute(t, c, `CREATE SCHEMA others`,
		`CREATE FUNCTION others.textsend(varchar) RETURNS bytea LANGUAGE sql AS 'SELECT decode(md5(random()::text), ''hex'')'`,
		`CREATE FUNCTION others.left(varchar, integer) RETURNS varchar LANGUAGE sql AS 'SELECT md5(random()::text)::varchar'`,
		`CREATE FUNCTION others.said(text, bigint) RETURNS text LANGUAGE sql AS 'SELECT random()::text'`,
		`CREATE OPERATOR others.|| (LEFTARG = text, RIGHTARG = bigint, FUNCTION = others.said)`)
	t.Setenv("PEOPLE_URL", address+"&options=-c%20search_path%3Dothers,public,pg_catalog")
	check("beside functions of others")
	execute(t, c, `CREATE DOMAIN others.date AS timestamptz`, `CREATE DOMAIN others.bytea AS pg_catalog.bytea NOT NULL`,
		`CREATE TABLE days AS SELECT pg_catalog.date '2024-01-01' + i / 5 AS id, 'a'::text AS kind, i % 7 AS pay FROM generate_series(1, 50) AS i`)
	for _, unit := range []string{"{id: id, max_rows: 1}", "row"} {
		var all [2][]string
		for i, more := range []string{"", ", stay: true"} {
			text := strings.NewReplacer("SOURCE", from("days", more), "UNKNOWN", "drop", "{id: id, max_rows: 1}",
				unit).Replace(people)
			if all[i], err = countOf(t, histogramtest.PlanOf(t, text), "."); err != nil {
				t.Errorf("beside types of others: %v", err)
			}
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("beside types of others, unit %s: the answers are not those of rows that are read", unit)
		}
	}
}

// A function of a view that writes, or that changes how texts are sent, is found.
func TestViewsThatMeddle(t *testing.T) {
	database(t, makePeople, `CREATE SEQUENCE written`,
		`CREATE FUNCTION writes() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN EXECUTE ''RESET transaction_read_only''; RETURN nextval(''written''); END'`,
		`CREATE VIEW writing AS SELECT id, kind, pay FROM people WHERE writes() > 0`,
		`CREATE VIEW recoding AS SELECT id, kind, pay FROM people WHERE set_config('client_encoding', 'LATIN1', false) <> ''`)
	for _, table := range []string{"writing", "recoding"} {
		for _, more := range []string{"", ", stay: true"} {
			got := fetchError(t, t.Context(), planOf(t, "{postgres: {url: 'env:PEOPLE_URL', table: "+table+more+"}}"),
				".")
			if !strings.Contains(got.Error(), "changed settings of the connection") {
				t.Errorf("%s%s: %v", table, more, got)
			}
		}
	}
}

// Nothing of the rows gets into the server's write-ahead log, which its archives and copies have: not by temporary
// tables, and not by statistics of them. The ids are made by a view, so that no table has them.
func TestLogOfWritesHoldsNoRows(t *testing.T) {
	c, _ := database(t, `CREATE VIEW people AS SELECT 'wal' || 'mark' || i AS id, 'a'::text AS kind, i % 7 AS pay FROM generate_series(1, 2000) AS i`)
	if _, err := countOf(t, planOf(t, "{postgres: {url: 'env:PEOPLE_URL', table: people, stay: true}}"),
		"."); err != nil {
		t.Fatal(err)
	}
	logged := func() (found bool) {
		t.Helper()
		execute(t, c, "CHECKPOINT")
		if err := c.QueryRow(t.Context(), `SELECT bool_or(position('\x77616c6d61726b'::bytea IN pg_read_binary_file('pg_wal/' || name)) > 0)
			FROM pg_ls_waldir()`).Scan(&found); err != nil {
			t.Fatal(err)
		}
		return found
	}
	if logged() {
		t.Error("the log of writes holds ids")
	}
	execute(t, c, "CREATE TEMPORARY TABLE analysed AS SELECT * FROM people", "ANALYZE analysed")
	if !logged() {
		t.Error("ids that statistics hold are not found in the log: the test does not look for them")
	}
}

// Every fault of a DuckDB file is a sentence of its own, and names no value.
func TestFaultsOfDuckDB(t *testing.T) {
	if _, err := exec.LookPath("duckdb"); err != nil {
		t.Skip("needs the program duckdb on the PATH (PyPI: duckdb-cli)")
	}
	dir := histogramtest.Folder(t, "text.duckdb", "id,kind\n1,"+canary+"\n")
	c := exec.Command("duckdb", "-bail", "-init", os.DevNull, filepath.Join(dir, "people.duckdb"), "-c",
		`CREATE TABLE people AS SELECT i AS id, 'a' AS kind, i % 10 AS pay FROM range(1000) AS r(i);
		CREATE TABLE odd AS SELECT 1 AS id, '`+canary+`' AS kind, 5::HUGEINT AS pay`)
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for name, c := range map[string]struct {
		from, says string
		kind       source.ErrorKind
	}{
		"no such file": {"{duckdb: {file: peoples.duckdb, table: people}}", "no such file", source.Missing},
		"no database": {"{duckdb: {file: text.duckdb, table: people}}", "is no DuckDB database",
			source.Malformed},
		"two files":     {"{duckdb: {file: '*.duckdb', table: people}}", "several files", source.Duplicate},
		"no such table": {"{duckdb: {file: people.duckdb, table: peoples}}", "no such table", source.Missing},
		"no such column": {"{duckdb: {file: people.duckdb, query: 'SELECT id, kind FROM people'}}",
			"no such column", source.Missing},
		"a type":             {"{duckdb: {file: people.duckdb, table: odd}}", "has the type HUGEINT", source.WrongType},
		"a value that fails": {"{duckdb: {file: people.duckdb, query: 'SELECT id, kind, kind::INTEGER AS pay FROM odd'}}", "diagnostics", source.Unreadable},
		"two statements": {"{duckdb: {file: people.duckdb, query: 'SELECT 1 AS id; DROP TABLE people'}}",
			"one SELECT", source.Malformed},
		"two queries": {"{duckdb: {file: people.duckdb, query: 'SELECT 1 AS id; SELECT 2 AS id'}}", "one SELECT",
			source.Malformed},
		"a query that leaves its parentheses": {"{duckdb: {file: people.duckdb, query: \"SELECT 1 AS id) AS x; COPY odd TO '" + filepath.Join(dir, "plain.csv") +
			"'; SELECT * FROM (SELECT 1 AS id\"}}", "one SELECT", source.Malformed},
		"another file": {"{duckdb: {file: people.duckdb, query: \"SELECT 1 AS id, 'a' AS kind, 1 AS pay FROM read_csv('" + filepath.Join(dir, "text.duckdb") + "')\"}}", "is made of other files", source.Malformed},
		"values in a type": {"{duckdb: {file: people.duckdb, query: \"SELECT 1 AS id, ['a'::ENUM('" + canary +
			"', 'a')] AS kind, 1 AS pay\"}}", "has the type ENUM, which", source.WrongType},
		"a writing query": {"{duckdb: {file: people.duckdb, query: 'DELETE FROM people RETURNING *'}}", "",
			source.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fetchError(t, t.Context(), planOf(t, c.from), dir); got.Kind != c.kind ||
				!strings.Contains(got.Error(), c.says) {
				t.Errorf("%s: %v", got.Kind, got)
			}
		})
	}
	t.Run("no program", func(t *testing.T) {
		t.Setenv("PATH", dir)
		got := fetchError(t, t.Context(), planOf(t, "{duckdb: {file: people.duckdb, table: people}}"), dir)
		if !strings.Contains(got.Error(), "not on the PATH") {
			t.Error(got)
		}
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "plain*")); left != nil {
		t.Error("a query wrote a file")
	}
	if _, err := countOf(t, planOf(t, "{duckdb: {file: people.duckdb, table: people}}"), dir); err != nil {
		t.Error(err)
	}
	t.Run("an interruption", func(t *testing.T) { // of a script that starts the program, as an installer may leave one
		if _, err := exec.LookPath("pgrep"); err != nil {
			t.Skip("needs pgrep, which finds what is left behind (Debian: procps)")
		}
		script := filepath.Join(dir, "duckdb")
		if err := os.WriteFile(script, []byte("#!/bin/sh\nsleep 4711\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer stop()
		if _, err := engine.Open(ctx, planOf(t, "{duckdb: {file: people.duckdb, table: people}}"), dir); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(100 * time.Millisecond)
		if left, err := exec.Command("pgrep", "-f", "sleep 4711").Output(); err == nil {
			t.Errorf("it left a process behind: %s", left)
		}
	})
}
