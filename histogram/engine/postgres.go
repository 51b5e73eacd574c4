package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec/files"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// This file holds the reading of tables from a PostgreSQL server.

// How the transaction begins in which all tables of a server are read: it sees one snapshot. It changes nothing but
// temporary tables, and not even these if no table is counted on the server.
const beginPostgres = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ "

// setPostgres is run before each table: texts come as UTF-8 and times in UTC, whatever the server's settings are or a
// query before has set. With row_security off a query fails if a policy would hide rows from it.
const setPostgres = `SET LOCAL client_encoding = 'UTF8'; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO';
SET LOCAL standard_conforming_strings = on; SET LOCAL row_security = off;
SET LOCAL idle_in_transaction_session_timeout = 0`

// openPostgres reads tables of one server into spools, or makes them ready to be counted there.
func (o *Opened) openPostgres(ctx context.Context, config *pgx.ConnConfig, requests []request) error {
	first := requests[0]
	stay := slices.ContainsFunc(requests, func(r request) bool { return r.table.Source.Database.Stay })
	mode := "ONLY"
	if stay {
		mode = "WRITE"
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return explainPostgres(first, err)
	}
	if stay {
		o.servers = append(o.servers, c)
	} else {
		defer hangUp(c)
	}
	if _, err := c.Exec(ctx, beginPostgres+mode); err != nil {
		return explainPostgres(first, err)
	}
	for _, r := range requests {
		if err := lockTable(ctx, c, r); err != nil {
			return err
		}
	}
	if err := checkEncoding(ctx, c, first); err != nil {
		return err
	}
	for _, r := range requests {
		ctx := beginFetching(ctx, r)
		if _, err := c.Exec(ctx, setPostgres); err != nil {
			return explainPostgres(r, err)
		}
		if r.table.Source.Database.Stay {
			remote, err := newRemote(ctx, c, r, len(o.remotes))
			if err != nil {
				return err
			}
			o.remotes[r.table.Name] = remote
			continue
		}
		to, err := o.spool(r, files.Arrow)
		if err != nil {
			return err
		}
		if err := readOnly(ctx, c, r, func() error { return copyPostgres(ctx, c, r, to) }); err != nil {
			return err
		}
	}
	// all tables were found: from here on no function, operator or table of anybody's is taken for the server's
	if stay {
		if _, err := c.Exec(ctx, setPostgres+"; SET LOCAL search_path = pg_catalog, pg_temp"); err != nil {
			return explainPostgres(first, err)
		}
	}
	return nil
}

// lockTable keeps a table as it is from before the snapshot to the end of the transaction: nobody renames, truncates or
// rewrites it meanwhile, which a snapshot does not see as it sees other changes. What cannot be locked (a materialized
// view, a foreign table) is read without; so is what does not exist, which is found later.
func lockTable(ctx context.Context, c *pgx.Conn, r request) error {
	if r.table.Source.Database.Query != "" {
		return nil
	}
	end := "RELEASE SAVEPOINT dprelease"
	if _, err := c.Exec(ctx, "SAVEPOINT dprelease; LOCK TABLE "+r.rowsSQL()+" IN ACCESS SHARE MODE"); err != nil {
		var failed *pgconn.PgError
		if !errors.As(err, &failed) || !isUnlockable(failed.Code) {
			return explainPostgres(r, err)
		}
		end = "ROLLBACK TO SAVEPOINT dprelease"
	}
	if _, err := c.Exec(ctx, end); err != nil {
		return explainPostgres(r, err)
	}
	return nil
}

// isUnlockable reports whether an error of the server says that something is no table that this user may lock.
func isUnlockable(code string) bool {
	return slices.Contains([]string{"42809", "42P01", "3F000", "42501", "0A000"}, code) // of PostgreSQL's appendix A
}

// readOnly does work in a part of the transaction in which nothing but temporary tables can be written. A function that
// a query or a view calls could end that, or change how texts are sent: that is found, and nothing is ever committed.
func readOnly(ctx context.Context, c *pgx.Conn, r request, work func() error) error {
	if _, err := c.Exec(ctx, "SAVEPOINT dprelease; SET TRANSACTION READ ONLY"); err != nil {
		return explainPostgres(r, err)
	}
	if err := work(); err != nil {
		return err
	}
	var still string
	if err := c.QueryRow(ctx, "SHOW transaction_read_only").Scan(&still); err != nil {
		return explainPostgres(r, err)
	}
	if still != "on" || c.PgConn().ParameterStatus("client_encoding") != "UTF8" {
		return &source.Error{Kind: source.Malformed, File: r.name(),
			Message: "a function that the table calls changed settings of the connection; read from a table or a " +
				"view that does not"}
	}
	if _, err := c.Exec(ctx, "RELEASE SAVEPOINT dprelease"); err != nil {
		return explainPostgres(r, err)
	}
	return nil
}

// checkEncoding returns an error if privacy is total and the server could fail to send a text as UTF-8.
func checkEncoding(ctx context.Context, c *pgx.Conn, r request) error {
	if !r.table.Source.Total {
		return nil
	}
	var encoding string
	if err := c.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return explainPostgres(r, err)
	}
	if encoding != "UTF8" {
		return &source.Error{Kind: source.Malformed, File: r.name(), Message: "the database is encoded in " + encoding +
			", from which not every text becomes UTF-8, and privacy is total: no value may stop a run; read from a " +
			"database in UTF8"}
	}
	return nil
}

// hangUp ends a connection, and with it the transaction, in which nothing was written that stays.
func hangUp(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx)
}

// describePostgres returns the types of the wanted columns of a table.
func describePostgres(ctx context.Context, c *pgx.Conn, r request) ([]pgconn.FieldDescription, error) {
	described, err := c.Prepare(ctx, "", "SELECT * FROM "+r.rowsSQL())
	if err != nil {
		return nil, explainPostgres(r, err)
	}
	names := make([]string, len(described.Fields))
	for i, f := range described.Fields {
		names[i] = f.Name
	}
	if err := checkColumns(r, names); err != nil {
		return nil, err
	}
	types := make([]pgconn.FieldDescription, len(r.columns))
	for i, name := range r.columns {
		types[i] = described.Fields[slices.Index(names, name)]
	}
	return types, nil
}

// cutText is the query for a text of which no more comes than shows that it is too long to be read.
var cutText = fmt.Sprintf("pg_catalog.left(%%s::pg_catalog.text, %d)", source.MostText+1)

// columnSQL returns what gives the values of a column of a type.
func columnSQL(name string, of uint32) string {
	if of == pgtype.TextOID || of == pgtype.VarcharOID {
		return fmt.Sprintf(cutText, quoteName(name))
	}
	return quoteName(name)
}

// copyPostgres reads one table.
func copyPostgres(ctx context.Context, c *pgx.Conn, r request, to *source.Spool) error {
	types, err := describePostgres(ctx, c, r)
	if err != nil {
		return err
	}
	columns, err := postgresColumns(ctx, c, r, types)
	if err != nil {
		return err
	}
	var selected []string
	for i, name := range r.columns {
		selected = append(selected, columnSQL(name, types[i].DataTypeOID))
	}
	if selected == nil { // no question reads a column: what counts is how many rows there are
		selected, columns = []string{"true"}, []binaryColumn{postgresTypes[pgtype.BoolOID]("dprelease_row")}
	}
	query := "SELECT " + strings.Join(selected, ", ") + " FROM " + r.rowsSQL()
	w := newBinaryRows(columns, to)
	defer w.release()
	if err := copyOut(ctx, c, r, query, w, &w.binaryStream, w.finish); err != nil {
		return err
	}
	return to.Finish()
}

// copyOut has a server send the rows of a query to a writer, which is or has a stream, and finishes it.
func copyOut(ctx context.Context, c *pgx.Conn, r request, query string, w io.Writer, s *binaryStream,
	finish func() error) error {
	tag, err := c.PgConn().CopyTo(ctx, w, "COPY ("+query+") TO STDOUT (FORMAT binary)")
	if err != nil && s.err == nil { // an error of the writer comes back as the server's
		return explainPostgres(r, err)
	}
	if err := finish(); err != nil {
		if fault := (*source.Error)(nil); errors.As(err, &fault) {
			return err
		}
		return &source.Error{Kind: source.Unreadable, File: r.name(), Detail: err.Error(),
			Message: "the server sent rows that cannot be read; run again, and see whether it is PostgreSQL 12 or later"}
	}
	if s.rows != tag.RowsAffected() {
		return &source.Error{Kind: source.Unreadable, File: r.name(),
			Message: "the server says that it sent another number of rows than came; run again"}
	}
	return nil
}

// explainPostgres turns an error of the server or of the connection into a sentence that says what to do. What the
// server says may quote a value, and goes to the diagnostics alone.
func explainPostgres(r request, err error) error {
	e := &source.Error{Kind: source.Unreadable, File: r.name(), Detail: err.Error(),
		Message: "the connection to the server failed; check the address, and whether the server runs"}
	var unreached *pgconn.ConnectError
	if errors.As(err, &unreached) {
		err = unreached.Unwrap() // without the configuration, and the password in it
		e.Detail = err.Error()
	}
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return e
	}
	e.Detail = said.Error()
	if advice, ok := postgresAdvice[said.Code]; ok {
		e.Message = advice
	} else {
		e.Message = fmt.Sprintf("the server refuses (SQLSTATE %s); what it says is in the diagnostics", said.Code)
	}
	switch said.Code {
	case "42P01", "3F000":
		e.Kind, e.Err = source.Missing, fs.ErrNotExist
	case "42601", "42703", "42883", "42P10", "42804", "0A000":
		e.Kind = source.Malformed
	}
	return e
}

// postgresAdvice says by SQLSTATE what to do.
var postgresAdvice = map[string]string{
	"28P01": postgresNotAdmitted,
	"28000": postgresNotAdmitted,
	"3D000": "there is no such database on the server; check the address",
	"3F000": "there is no such schema in the database; check the name of the table",
	"42P01": "there is no such table in the database; check its name, with its schema before it, in small and " +
		"capital letters",
	"42501": "this user may not read all rows; GRANT USAGE on the schema and SELECT on the table, for stay: true " +
		"TEMPORARY on the database, and if row-level security hides rows, let a user with BYPASSRLS read it",
	"42601": "the query cannot be understood; it must be one SELECT, without a semicolon",
	"42703": "the query names a column that does not exist",
	"42883": "the query calls a function that does not exist",
	"53100": "the server's disk is full; make room on it, and run again",
	"53200": "the server has too little memory",
	"53300": "the server has too many connections; run again later",
	"53400": "the server needs more room for temporary files than its temp_file_limit; allow it more (ALTER ROLE … " +
		"SET temp_file_limit)",
	"57014": "the server cancelled the query, as its statement_timeout or a person asked; allow it more time (ALTER " +
		"ROLE … SET statement_timeout)",
	"57P01": postgresEnded,
	"57P02": postgresEnded,
	"57P03": "the server is starting; run again",
	"40001": "the server, a standby, had to remove rows that were being read; run again, or read from the primary",
	"25006": "the query would write to the database, and may only read",
}

const (
	postgresNotAdmitted = "the server does not let this user in; check the user, the password (PGPASSWORD or " +
		"~/.pgpass) and the server's pg_hba.conf"
	postgresEnded = "the server ended the connection; run again"
)
