package ledger

// The SQLite file in which the entries are durable: creating, recognising, reading and appending.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks a ledger in the header of its SQLite file: "dprl".
const applicationID = 0x6470726c

// schemaVersion is the version of the tables below. PostgreSQL's have versions of their own.
const schemaVersion = 3

// schema of the file. The triggers prevent accidental changes; the chain of hashes reveals deliberate ones. The counter
// behind AUTOINCREMENT remembers entries that were removed from the end.
const schema = `
CREATE TABLE ledger (version INTEGER NOT NULL, updates INTEGER NOT NULL) STRICT;
CREATE TABLE entries (
	sequence INTEGER PRIMARY KEY AUTOINCREMENT,
	body TEXT NOT NULL,
	private TEXT NOT NULL,
	hash TEXT NOT NULL,
	signature TEXT NOT NULL
) STRICT;
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
CREATE TRIGGER entries_are_never_removed BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;`

// A writer waits for the lock in short intervals, so that it can notice an interruption between two of them.
const (
	lockWait  = 1000 // milliseconds
	lockTurns = 60
)

// file is one SQLite connection to a ledger file. Goroutines that share it take turns.
type file struct {
	path      string // as the caller wrote it
	absolute  string
	db        *sql.DB
	readOnly  bool
	turns     int
	openFiles map[string]fs.FileInfo // files that the connection has open, by path; nil if read-only
}

// openFile opens the ledger at path, creating it if there is none. If this user may not write the file or its folder,
// it opens the ledger read-only.
//
// Only SQLite opens the file itself: POSIX drops all locks of a process on a file when any descriptor of it is closed,
// and with them the protection against other processes.
func openFile(ctx context.Context, path string) (*file, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	info, err := os.Stat(absolute)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := createFile(ctx, path, absolute); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fmt.Errorf("ledger: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("ledger %s is not a file: name the ledger's file itself", path)
	}
	if err := requireLocalDisk(path, absolute); err != nil {
		return nil, err
	}
	f := &file{path: path, absolute: absolute, turns: lockTurns}
	f.readOnly = !mayWrite(absolute) || !mayWrite(filepath.Dir(absolute))
	if !f.readOnly {
		clearStaged(absolute)
	}
	opened, err := requireOneName(path, absolute)
	if err != nil {
		return nil, err
	}
	if err := f.connect(); err != nil {
		return nil, err
	}
	if err := f.checkVersion(ctx); err != nil {
		return nil, errors.Join(err, f.db.Close())
	}
	if f.readOnly {
		return f, nil
	}
	if err := f.rememberOpenFiles(ctx, opened); err != nil {
		return nil, errors.Join(err, f.db.Close())
	}
	// The process that created the file may not have synced the folder yet.
	if err := syncFolder(filepath.Dir(absolute)); err != nil {
		return nil, errors.Join(fmt.Errorf("ledger %s cannot be made durable: %w", path, err), f.db.Close())
	}
	return f, nil
}

// connect opens the connection.
func (f *file) connect() (err error) {
	query := url.Values{"mode": {"rw"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", lockWait), "synchronous(FULL)"}}
	if f.readOnly {
		query.Set("mode", "ro")
		if _, err := os.Stat(f.absolute + "-wal"); errors.Is(err, fs.ErrNotExist) {
			query.Set("immutable", "1")
		}
	}
	if f.db, err = openSQLite(f.absolute, query); err != nil {
		return f.explain(err)
	}
	return nil
}

// openSQLite opens a single connection with the given options.
func openSQLite(absolute string, query url.Values) (*sql.DB, error) {
	slashed := filepath.ToSlash(absolute)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: slashed, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// createFile makes an empty ledger under a temporary name and links it to its path in one step, so that no process ever
// sees a partial ledger and an existing file is never replaced.
func createFile(ctx context.Context, path, absolute string) error {
	folder := filepath.Dir(absolute)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return fmt.Errorf("ledger %s: there is no folder %s: create it first", path, filepath.Dir(path))
	}
	if err := requireLocalDisk(path, folder); err != nil {
		return err
	}
	if _, err := os.Stat(absolute + "-wal"); err == nil {
		if _, err := os.Stat(absolute); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("ledger %s is gone but the end of it, %s-wal, is there: put the file back next to it",
				path,
				filepath.Base(path))
		}
	}
	staged, err := os.CreateTemp(folder, stagedName(absolute)+"*")
	if err != nil {
		return fmt.Errorf("ledger %s cannot be created: %w", path, err)
	}
	defer func() {
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			os.Remove(staged.Name() + suffix)
		}
	}()
	if err := staged.Close(); err != nil {
		return fmt.Errorf("ledger %s cannot be created: %w", path, err)
	}
	if err := writeSchema(ctx, staged.Name()); err != nil {
		return fmt.Errorf("ledger %s cannot be created: %w", path, err)
	}
	if err := os.Link(staged.Name(), absolute); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("ledger %s cannot be created: %w", path, err)
	}
	return nil
}

// stagedName returns the prefix of the temporary names under which the ledger at a path is created.
func stagedName(absolute string) string { return "." + filepath.Base(absolute) + ".tmp-" }

// writeSchema fills an empty file with an empty ledger and syncs it. os.CreateTemp has made it 0600.
func writeSchema(ctx context.Context, absolute string) (err error) {
	db, err := openSQLite(absolute, url.Values{"mode": {"rw"}, "_pragma": {"synchronous(FULL)"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	text := fmt.Sprintf("BEGIN; PRAGMA application_id = %d; %s INSERT INTO ledger (version, updates) VALUES (%d, 0); "+
		"COMMIT; PRAGMA journal_mode = WAL;",
		applicationID, schema, schemaVersion)
	_, err = db.ExecContext(ctx, text)
	return err
}

// checkVersion returns an error unless the file is a ledger of this version, and switches it to WAL mode.
func (f *file) checkVersion(ctx context.Context) error {
	var id, version int64
	if err := f.db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return f.explain(err)
	}
	if id != applicationID {
		return f.notALedger()
	}
	if err := f.db.QueryRowContext(ctx, "SELECT version FROM ledger").Scan(&version); err != nil {
		return f.explain(err)
	}
	if version != schemaVersion {
		return fmt.Errorf("ledger %s is written in version %d, and this dprelease reads version %d: use the "+
			"dprelease that wrote it", f.path, version, schemaVersion)
	}
	if f.readOnly {
		return nil
	}
	var mode string
	if err := f.db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return f.explain(err)
	}
	if mode != "wal" {
		return fmt.Errorf("ledger %s cannot keep a write-ahead log where it lies: move it to a local disk", f.path)
	}
	return nil
}

func (f *file) notALedger() error { return fmt.Errorf("%s is not a dprelease ledger", f.path) }

// view returns the accounts as of one moment. Errors: wraps ErrTampered.
func (f *file) view(ctx context.Context) (*book, error) {
	return loadWitnessed(func() (b *book, err error) {
		now := f
		if f.readOnly { // a log may have appeared since the file was opened
			now = &file{path: f.path, absolute: f.absolute, readOnly: true, turns: f.turns}
			if err := now.connect(); err != nil {
				return nil, err
			}
			defer now.db.Close()
		}
		err = now.inTransaction(ctx, "BEGIN", func(c *sql.Conn) (err error) {
			b, err = now.loadBook(ctx, c)
			return err
		})
		if err == nil {
			err = now.checkOpenFiles("what was read is not what is there now")
		}
		return b, err
	})
}

// update appends the lines that change returns, in one transaction that is durable on return, tells the witnesses, and
// returns the accounts after it. If it returns an error nothing is in the file, unless the disk or a witness failed in
// the last step.
func (f *file) update(ctx context.Context, change func(*book) ([]line, error)) (*book, error) {
	if f.readOnly {
		return nil, fmt.Errorf("ledger %s may only be read by this user: run as the one who keeps it", f.path)
	}
	var b *book
	var ws witnesses
	err := f.inTransaction(ctx, "BEGIN IMMEDIATE", func(c *sql.Conn) (err error) {
		if err := f.checkOpenFiles("nothing was written"); err != nil {
			return err
		}
		if b, err = f.loadBook(ctx, c); err != nil {
			return err
		}
		if ws, err = applyChange(b, change, func(l line) error { return f.insertLine(ctx, c, l) }); err != nil {
			return err
		}
		// Write something even if no entry is new: this syncs the log, with an entry of a process that was killed
		// before it synced, before a receipt is given for that entry.
		if _, err := c.ExecContext(ctx, "UPDATE ledger SET updates = updates + 1"); err != nil {
			return f.explain(err)
		}
		return f.checkOpenFiles("nothing was written")
	})
	defer ws.closeAll()
	if err == nil {
		err = f.checkOpenFiles("what was just written may be in the file that was there before, so there is no " +
			"receipt for it")
	}
	if err != nil {
		return nil, err
	}
	if err := ws.recordHead(b); err != nil {
		return nil, err
	}
	return b, nil
}

// insertLine appends a line.
func (f *file) insertLine(ctx context.Context, c *sql.Conn, l line) error {
	_, err := c.ExecContext(ctx, "INSERT INTO entries (sequence, body, private, hash, signature) VALUES (?, ?, ?, ?, ?)",
		l.sequence, l.body, l.private, l.hash.String(), l.signature)
	if err != nil {
		return f.explain(err)
	}
	return nil
}

// inTransaction runs work between begin and COMMIT, and rolls back after an error of work or an interruption.
func (f *file) inTransaction(ctx context.Context, begin string, work func(*sql.Conn) error) error {
	c, err := f.db.Conn(ctx)
	if err != nil {
		return f.explain(err)
	}
	defer c.Close()
	last := context.WithoutCancel(ctx) // an interruption must not leave COMMIT half done
	if err = f.beginTransaction(ctx, c, begin); err != nil {
		err = f.explain(err)
	} else if err = work(c); err == nil {
		if _, err = c.ExecContext(last, "COMMIT"); err == nil {
			return nil
		}
		ctx, err = last, f.explain(err)
	}
	// If nothing had begun, or SQLite has rolled back by itself, ROLLBACK does nothing.
	_, _ = c.ExecContext(last, "ROLLBACK")
	if interrupted := ctx.Err(); interrupted != nil {
		return fmt.Errorf("ledger %s: nothing was written: %w", f.path, interrupted)
	}
	return err
}

// beginTransaction waits until it may write.
func (f *file) beginTransaction(ctx context.Context, c *sql.Conn, begin string) error {
	for turn := 1; ; turn++ {
		_, err := c.ExecContext(ctx, begin)
		if code, ok := codeOf(err); !ok || code != sqlite3.SQLITE_BUSY || turn >= f.turns {
			return err
		}
	}
}

// loadBook reads and checks the whole chain. Errors: wraps ErrTampered.
func (f *file) loadBook(ctx context.Context, c *sql.Conn) (*book, error) {
	rows, err := c.QueryContext(ctx, "SELECT sequence, body, private, hash, signature FROM entries ORDER BY sequence")
	if err != nil {
		return nil, f.explain(err)
	}
	defer rows.Close()
	b, err := readBook(f.path, rows, f.explain)
	if err != nil {
		return nil, err
	}
	var written int64
	if err := c.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entries'").
		Scan(&written); err != nil {
		return nil, f.explain(err)
	}
	return b, b.checkCount(written)
}

// checkStorage looks for damage to the file that the chain of entries does not reveal.
func (f *file) checkStorage(ctx context.Context) error {
	var result string
	if err := f.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return f.explain(err)
	}
	if result != "ok" {
		return f.damagedError(result)
	}
	return nil
}

// upgrade adds nothing: a file of another version is not opened.
func (f *file) upgrade(context.Context) ([]string, error) { return nil, nil }

func (f *file) close() error { return f.db.Close() }

func (f *file) damagedError(what string) error {
	return fmt.Errorf("ledger %s is damaged (%s): nothing is spent from it any more: keep the file for the auditor "+
		"and restore the last copy whose head was noted", f.path, what)
}

// codeOf returns the primary SQLite result code of err.
func codeOf(err error) (code int, ok bool) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0, false
	}
	return e.Code() & 0xff, true
}

// explain turns an error of SQLite into a sentence that says what to do.
func (f *file) explain(err error) error {
	code, ok := codeOf(err)
	if !ok {
		return fmt.Errorf("ledger %s: %w", f.path, err)
	}
	switch code {
	case sqlite3.SQLITE_NOTADB:
		return f.notALedger()
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_CONSTRAINT:
		return f.damagedError(err.Error())
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("ledger %s is locked by another process: wait until that has ended, and run again: %w",
			f.path, err)
	case sqlite3.SQLITE_FULL:
		return &DiskFull{Ledger: f.path, Err: err}
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		return fmt.Errorf("ledger %s cannot be opened as needed: check who may read and write it and its folder: %w",
			f.path,
			err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("the disk of ledger %s fails or is full: check it, and run again: %w", f.path, err)
	}
	return fmt.Errorf("ledger %s: %w", f.path, err)
}
