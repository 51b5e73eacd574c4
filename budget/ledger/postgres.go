package ledger

// The PostgreSQL store, in which the entries of a team are durable: creating, recognising, reading and appending.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	address "github.com/dprelease/dprelease/internal/postgres"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresTables creates the same tables as in the file. The only row of ledger counts all entries ever written, so
// that entries removed from the end are noticed; a process that appends locks this row. A PostgreSQL sequence cannot
// count them: it is not part of the transaction, so an update that is rolled back would leave a gap that looks like a
// removed entry.
const postgresTables = `
CREATE TABLE dprelease.ledger (
	one boolean PRIMARY KEY CHECK (one),
	version integer NOT NULL,
	written bigint NOT NULL
);
CREATE TABLE dprelease.entries (
	sequence bigint PRIMARY KEY CHECK (sequence > 0),
	body text NOT NULL,
	private text NOT NULL,
	hash text NOT NULL,
	signature text NOT NULL
);`

// How transactions begin. A reader sees the entries and their count as of one moment. A writer must see everything
// committed before its turn, so each of its statements reads a new snapshot. COMMIT returns once the log is on the
// disk, and on the disks of the standbys that the server waits for. A writer that falls silent loses its turn.
const (
	beginView   = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
	beginUpdate = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = on; SET LOCAL " +
		"idle_in_transaction_session_timeout = '60s'; SET LOCAL lock_timeout = '%dms'"
)

// commitWait is how long an update waits for the answer to COMMIT, even after an interruption.
const commitWait = time.Minute

// postgres is a ledger in a PostgreSQL database, in the schema dprelease. Every call opens its own connection: hours
// lie between two calls of a release, after which a kept connection would be dead.
type postgres struct {
	config   *pgx.ConnConfig
	name     string // the address without the password
	readOnly bool
	wait     time.Duration // for permission to write
}

// openPostgres opens the ledger at an address "postgres://user@host:port/database?options", as libpq understands it.
// Missing parts come from PGPASSWORD, ~/.pgpass and the other sources of libpq. The address must name one server, and
// over a network require an encrypted connection: sslmode=verify-full, which prevents another server from impersonating
// it. If there is no ledger, openPostgres creates one; without create it returns an error that wraps fs.ErrNotExist. A
// user who may not append opens the ledger read-only. Such a user can read the private parts of all entries (times,
// salts, commitments to exact counts), so this access is for the office's own staff; an auditor gets an export
// ([Ledger.Export]):
//
//	GRANT USAGE ON SCHEMA dprelease TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA dprelease TO reader;
//
// A user who may release need not own the tables, and is also granted
//
//	GRANT INSERT ON dprelease.entries TO releaser; GRANT UPDATE (written) ON dprelease.ledger TO releaser;
func openPostgres(ctx context.Context, place string, create bool) (*postgres, error) {
	config, err := address.Parse(place)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	p := &postgres{config: config, name: address.Name(config), wait: lockWait * lockTurns * time.Millisecond}
	if err := p.checkPlace(); err != nil {
		return nil, err
	}
	found, err := p.findLedger(ctx)
	if err == nil && !found {
		if !create {
			return nil, fmt.Errorf("no ledger in %s: open an account in it with `dprelease ledger init policy.yaml "+
				"--ledger %s` (%w)", p.name, p.name, fs.ErrNotExist)
		}
		if err = p.createTables(ctx); err == nil {
			_, err = p.findLedger(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// checkPlace refuses an address for which another server could answer, or for which somebody on the network could read
// or change the traffic. With several hosts, the one that answers instead of the first may hold an older copy, whose
// budget was spent since.
func (p *postgres) checkPlace() error {
	encrypted := p.config.TLSConfig != nil
	for _, other := range p.config.Fallbacks {
		if other.Host != p.config.Host || other.Port != p.config.Port {
			return fmt.Errorf("ledger %s: the address names several servers, and one that answers when another does "+
				"not may hold an older copy: name one, the primary", p.name)
		}
		encrypted = encrypted && other.TLSConfig != nil
	}
	if !encrypted && !address.IsLocal(p.config.Host) {
		return fmt.Errorf("ledger %s: over a network the connection must be encrypted: add ?sslmode=verify-full to "+
			"the address, and &sslrootcert=FILE where the server's certificate is of your own authority", p.name)
	}
	return nil
}

// PlaceName returns the place of a ledger as it may be printed: the path of a file, or the address of a PostgreSQL
// database without password and options.
func PlaceName(place string) string {
	if !address.IsAddress(place) {
		return place
	}
	config, err := address.Parse(place)
	if err != nil {
		return "postgres://…"
	}
	return address.Name(config)
}

// findLedger reports whether the database holds a ledger. It returns an error if the server is a standby, or if the
// ledger has another version.
func (p *postgres) findLedger(ctx context.Context) (found bool, err error) {
	err = p.inTransaction(ctx, beginView, func(c *pgx.Conn) error {
		var standby bool
		// to_regclass would not answer for the same moment as the other queries.
		if err := c.QueryRow(ctx, `SELECT pg_is_in_recovery(), EXISTS (SELECT FROM pg_catalog.pg_class
			WHERE relname = 'ledger' AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'dprelease'))`).Scan(&standby, &found); err != nil {
			return p.explain(err)
		}
		if standby {
			return fmt.Errorf("ledger %s is on a standby, which may lag behind: name the primary server", p.name)
		}
		if !found {
			return nil
		}
		var version int
		if err := c.QueryRow(ctx, "SELECT version FROM dprelease.ledger").Scan(&version); err != nil {
			return p.counterError(err)
		}
		if version != postgresVersion && version != unguardedVersion {
			return fmt.Errorf("ledger %s is written in version %d, and this dprelease reads version %d: use the "+
				"dprelease that wrote it", p.name, version, postgresVersion)
		}
		var writes bool
		if err := c.QueryRow(ctx,
			"SELECT has_table_privilege('dprelease.entries', 'INSERT') AND has_column_privilege('dprelease.ledger', "+
				"'written', 'UPDATE')").Scan(&writes); err != nil {
			return p.explain(err)
		}
		p.readOnly = !writes
		return nil
	})
	return found, err
}

// createTables creates the tables, unless another process has created them by now. Processes that create tables take
// turns, through a lock that ends with the transaction.
func (p *postgres) createTables(ctx context.Context) error {
	return p.inTransaction(ctx, p.toUpdate(), func(c *pgx.Conn) error {
		if _, err := c.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(applicationID)); err != nil {
			return p.explain(err)
		}
		var found, schema bool
		var encoding string
		if err := c.QueryRow(ctx,
			"SELECT to_regclass('dprelease.ledger') IS NOT NULL, to_regnamespace('dprelease') IS NOT NULL, "+
				"current_setting('server_encoding')").
			Scan(&found, &schema, &encoding); err != nil {
			return p.explain(err)
		}
		if found {
			return nil
		}
		if encoding != "UTF8" {
			return fmt.Errorf("ledger %s: the database is encoded in %s: make one with `CREATE DATABASE … ENCODING "+
				"'UTF8' TEMPLATE template0`", p.name, encoding)
		}
		text := postgresTables
		if !schema {
			text = "CREATE SCHEMA dprelease;" + text
		}
		for _, g := range guards {
			text += g.functionSQL() + g.triggerSQL()
		}
		text += fmt.Sprintf("INSERT INTO dprelease.ledger (one, version, written) VALUES (true, %d, 0);",
			postgresVersion)
		if _, err := c.Exec(ctx, text); err != nil {
			return p.explain(err)
		}
		return nil
	})
}

// view returns the accounts as of one moment. Errors: wraps ErrTampered.
func (p *postgres) view(ctx context.Context) (*book, error) {
	return loadWitnessed(func() (b *book, err error) {
		err = p.inTransaction(ctx, beginView, func(c *pgx.Conn) (err error) {
			var written int64
			if err := c.QueryRow(ctx, "SELECT written FROM dprelease.ledger").Scan(&written); err != nil {
				return p.counterError(err)
			}
			b, err = p.loadBook(ctx, c, written)
			return err
		})
		return b, err
	})
}

// update appends the lines that change returns, in one transaction that is durable on return, tells the witnesses, and
// returns the accounts after it. If it returns an error nothing is in the database, unless the error says that this is
// unknown.
func (p *postgres) update(ctx context.Context, change func(*book) ([]line, error)) (*book, error) {
	if p.readOnly {
		return nil, fmt.Errorf("ledger %s may only be read by this user: run as the one who keeps it", p.name)
	}
	var b *book
	var ws witnesses
	err := p.inTransaction(ctx, p.toUpdate(), func(c *pgx.Conn) error {
		written, err := p.takeTurn(ctx, c)
		if err != nil {
			return err
		}
		if b, err = p.loadBook(ctx, c, written); err != nil {
			return err
		}
		if ws, err = applyChange(b, change, func(l line) error { return p.insertLine(ctx, c, l) }); err != nil {
			return err
		}
		// Write even if nothing is new: COMMIT then waits for the log up to here, which may hold an entry whose writer
		// was killed while it waited for a standby.
		return p.requireOneRow(c.Exec(ctx, "UPDATE dprelease.ledger SET written = $1", b.sequence))
	})
	defer ws.closeAll()
	if err != nil {
		return nil, err
	}
	if err := ws.recordHead(b); err != nil {
		return nil, err
	}
	return b, nil
}

// toUpdate returns beginUpdate with the time to wait for permission to write.
func (p *postgres) toUpdate() string { return fmt.Sprintf(beginUpdate, p.wait.Milliseconds()) }

// takeTurn waits until no other process appends, and returns the number of entries ever written. It locks the row of
// the counter until the end of the transaction. LOCK TABLE would need the right to change or remove entries, which a
// user who releases should not need; any user could take an advisory lock, and it would not protect what is written. A
// process that appends without the lock violates the primary key.
//
// The settings that make COMMIT durable are checked every time: the server may have been reconfigured, and behind a
// pooler the session may be another one.
func (p *postgres) takeTurn(ctx context.Context, c *pgx.Conn) (written int64, err error) {
	var fsync, pages, commit string
	var logged bool
	err = c.QueryRow(ctx, `SELECT written, current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
		(SELECT bool_and(relpersistence = 'p') FROM pg_class WHERE oid IN ('dprelease.entries'::regclass, 'dprelease.ledger'::regclass))
		FROM dprelease.ledger FOR UPDATE`).Scan(&written, &fsync, &pages, &commit, &logged)
	switch {
	case err != nil:
		return 0, p.counterError(err)
	case fsync != "on":
		return 0, fmt.Errorf("ledger %s: the server runs with fsync = %s, and would lose debits with the power: set fsync = on", p.name, fsync)
	case pages != "on":
		return 0, fmt.Errorf("ledger %s: the server runs with full_page_writes = %s, and could lose entries with a "+
			"page that the power cuts in two: set full_page_writes = on", p.name, pages)
	case commit != "on":
		return 0, fmt.Errorf("ledger %s: the server runs with synchronous_commit = %s, and would lose debits with "+
			"the power: set synchronous_commit = on", p.name, commit)
	case !logged:
		return 0, fmt.Errorf("ledger %s: its tables are UNLOGGED, and would be empty after a crash: ALTER TABLE … SET LOGGED",
			p.name)
	}
	return written, nil
}

// loadBook reads and checks the whole chain. Errors: wraps ErrTampered.
func (p *postgres) loadBook(ctx context.Context, c *pgx.Conn, written int64) (*book, error) {
	rows, err := c.Query(ctx, "SELECT sequence, body, private, hash, signature FROM dprelease.entries ORDER BY sequence")
	if err != nil {
		return nil, p.explain(err)
	}
	defer rows.Close()
	b, err := readBook(p.name, rows, p.explain)
	if err != nil {
		return nil, err
	}
	return b, b.checkCount(written)
}

// insertLine appends a line.
func (p *postgres) insertLine(ctx context.Context, c *pgx.Conn, l line) error {
	return p.requireOneRow(c.Exec(ctx,
		"INSERT INTO dprelease.entries (sequence, body, private, hash, signature) VALUES ($1, $2, $3, $4, $5)",
		l.sequence, l.body, l.private, l.hash.String(), l.signature))
}

// requireOneRow returns an error unless one row was written: a rule or a policy of the database may silently discard
// it.
func (p *postgres) requireOneRow(tag pgconn.CommandTag, err error) error {
	if err != nil {
		return p.explain(err)
	}
	if tag.RowsAffected() != 1 {
		return fmt.Errorf("ledger %s: the database dropped an entry: see which rules, triggers and row policies were "+
			"put on the schema dprelease", p.name)
	}
	return nil
}

// inTransaction runs work between begin and COMMIT, on a connection of its own. An error of work or an interruption
// ends the connection, and with it the transaction.
func (p *postgres) inTransaction(ctx context.Context, begin string, work func(*pgx.Conn) error) error {
	config, warning := p.config.Copy(), ""
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			warning = n.Message
		}
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		defer p.hangUp(ctx, c)
		_, err = c.Exec(ctx, begin)
	}
	if err != nil {
		err = p.explain(err)
	} else {
		err = work(c)
	}
	if interrupted := ctx.Err(); interrupted != nil {
		return fmt.Errorf("ledger %s: nothing was written: %w", p.name, interrupted)
	}
	if err != nil {
		return err
	}
	warning = ""
	// an interruption must not leave COMMIT half done
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitWait)
	defer cancel()
	tag, err := c.Exec(last, "COMMIT")
	return p.commitResult(tag, err, warning)
}

// hangUp ends a connection.
func (p *postgres) hangUp(ctx context.Context, c *pgx.Conn) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = c.Close(last) // what was committed is
}

// commitResult interprets the answer to COMMIT. The server answers COMMIT once the entry is durable, and ROLLBACK or
// ERROR if the entry was not written. It adds a WARNING if it stopped waiting for a standby. If no answer comes, or one
// that ends the session (FATAL), the result is unknown.
func (p *postgres) commitResult(tag pgconn.CommandTag, err error, warning string) error {
	var said *pgconn.PgError
	switch {
	case errors.As(err, &said) && said.SeverityUnlocalized == "ERROR":
		return p.explain(err)
	case err == nil && tag.String() != "COMMIT":
		return fmt.Errorf("ledger %s: nothing was written: the server answered %s: run again", p.name, tag)
	case err == nil && warning == "":
		return nil
	case err == nil:
		err = errors.New(warning)
	}
	return fmt.Errorf("ledger %s: it cannot be told whether the entry was written, as the connection was lost at "+
		"COMMIT (%w): run again: the same charge again tells, and costs nothing more", p.name, err)
}

func (p *postgres) close() error { return nil }

func (p *postgres) damagedError(what string) error {
	return fmt.Errorf("ledger %s is damaged (%s): nothing is spent from it any more: keep the database for the "+
		"auditor and restore the last copy whose head was noted", p.name, what)
}

// counterError returns the error of reading the counter: *Tampered if its row is gone.
func (p *postgres) counterError(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return &Tampered{Ledger: p.name, Sequence: 1, Reason: "and those after it are not counted any more"}
	}
	return p.explain(err)
}

// explain turns an error of PostgreSQL into a sentence that says what to do.
func (p *postgres) explain(err error) error {
	var unreached *pgconn.ConnectError
	reached := !errors.As(err, &unreached)
	if !reached {
		err = unreached.Unwrap() // without the configuration, and the password in it
	}
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		if !reached {
			// Not wrapped: a missing socket must not look like a missing ledger (fs.ErrNotExist).
			return &Unreachable{Ledger: p.name, Cause: err.Error()}
		}
		return fmt.Errorf("ledger %s: %w", p.name, err)
	}
	switch said.Code {
	case "53100":
		return &DiskFull{Ledger: p.name, Err: said}
	case "42P01", "42P07", "42703", "42883", "XX001", "XX002":
		return p.damagedError(said.Message)
	}
	return fmt.Errorf(cmp.Or(postgresAdvice[said.Code], "ledger %s: %w"), p.name, said)
}

// postgresAdvice holds, by SQLSTATE, messages that take the name of the ledger and the error and say what to do.
var postgresAdvice = map[string]string{
	"28P01": adviceNotAdmitted,
	"28000": adviceNotAdmitted,
	"3D000": "ledger %s: there is no such database: create it first (createdb), encoded in UTF8: %w",
	"42501": "ledger %s cannot be opened as needed: have its owner grant this user USAGE on the schema dprelease " +
		"and SELECT on its tables, and to one who releases INSERT on dprelease.entries and UPDATE (written) on " +
		"dprelease.ledger; who makes it needs CREATE on the database: %w",
	ownersOnly: "ledger %s: accounts are opened, and caps raised, by the owner of its tables: run as the one who " +
		"keeps it: %w",
	"25006": "ledger %s may only be read by this user: run as the one who keeps it: %w",
	"55P03": "ledger %s is locked by another process: wait until that has ended, and run again: %w",
}

const adviceNotAdmitted = "ledger %s does not let this user in: check the user, the password (PGPASSWORD or " +
	"~/.pgpass) and the server's pg_hba.conf: %w"
