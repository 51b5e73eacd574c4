package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the reading of tables from the file of a DuckDB database, by the program duckdb.

// duckdbFile returns the file of a database. Errors are *[source.Error].
func duckdbFile(dir string, s spec.TableSource) (string, error) {
	paths, err := source.Files(dir, s)
	if err != nil {
		return "", err
	}
	if len(paths) != 1 {
		return "", &source.Error{Kind: source.Duplicate, File: strings.Join(s.Paths, ", "),
			Message: "matches several files; name the file of one database"}
	}
	file, err := filepath.EvalSymlinks(paths[0])
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err != nil {
		return "", &source.Error{Kind: source.Unreadable, File: paths[0], Message: "cannot be read", Err: err}
	}
	return file, nil
}

// fetchDuckDB reads tables of one file into their spools: first the types of their columns, then all rows, in one
// transaction. Between the two the file must not change.
func (o *Opened) fetchDuckDB(ctx context.Context, file string, requests []request) error {
	d := duckdb{file: file, request: requests[0]}
	before, err := stateOf(file)
	if err != nil {
		return d.fault(source.Unreadable, "cannot be read", err.Error())
	}
	if d.program, err = exec.LookPath("duckdb"); err != nil {
		return d.fault(source.Unreadable, "the program duckdb, which reads the file, is not on the PATH; install it "+
			"(duckdb.org)", "")
	}
	for _, r := range requests {
		d.request = r
		if err := d.checkTypes(ctx); err != nil {
			return err
		}
	}
	for _, r := range requests {
		if _, err := o.spool(r, files.Parquet); err != nil {
			return err
		}
	}
	if err := d.copyAll(beginFetching(ctx, requests[0]), requests, o.rows); err != nil {
		return err
	}
	after, err := stateOf(file)
	if err != nil || !slices.EqualFunc(before, after, source.Unchanged) {
		return source.Changed(file)
	}
	return nil
}

// stateOf returns what the system says of a database and, if there is one, of its log of later changes.
func stateOf(file string) (all []os.FileInfo, err error) {
	for _, path := range []string{file, file + ".wal"} {
		info, err := os.Stat(path)
		if err == nil {
			all = append(all, info)
		} else if path == file {
			return nil, err
		}
	}
	return all, nil
}

// duckdb runs the program on a file.
type duckdb struct {
	program, file string
	request       request // the table that errors are about
}

// command returns the program with statements to run. It reads no settings of its user, gets no secrets from the
// environment and opens the file for reading only. It spills nothing to disk, where it would not be enciphered, and
// before the statements it gives up all access to other files, but for those that it may write, and to the network.
// Statements cannot take any of that back.
func (d duckdb) command(ctx context.Context, writes []string, statements ...string) *exec.Cmd {
	quoted := make([]string, len(writes))
	for i, path := range writes {
		quoted[i] = quoteText(path)
	}
	sql := append([]string{"SET TimeZone = 'UTC'", "SET temp_directory = ''",
		"SET allowed_paths = [" + strings.Join(quoted, ", ") + "]", "SET enable_external_access = false",
		"SET lock_configuration = true"}, statements...)
	c := exec.CommandContext(ctx, d.program, "-readonly", "-bail", "-batch", "-init", os.DevNull, "-json", d.file,
		"-c", strings.Join(sql, ";\n"))
	for _, name := range []string{"PATH", "HOME", "TMPDIR"} {
		c.Env = append(c.Env, name+"="+os.Getenv(name))
	}
	endsWithItsChildren(c)
	return c
}

// fault returns an error about the table. Only the diagnostics show detail.
func (d duckdb) fault(kind source.ErrorKind, message, detail string) error {
	return &source.Error{Kind: kind, File: d.request.name() + " " + d.file, Message: message, Detail: detail}
}

// explain turns a failure of the program into a sentence that says what to do. What the program says may quote a
// value.
func (d duckdb) explain(err error, said string) error {
	message, kind := "the program duckdb failed; what it says is in the diagnostics", source.Unreadable
	for _, advice := range duckdbAdvice {
		if strings.Contains(said, advice.says) {
			message, kind = advice.message, advice.kind
			break
		}
	}
	return d.fault(kind, message, fmt.Sprintf("%v: %s", err, said))
}

// duckdbAdvice says what to do by the beginning of what the program says.
var duckdbAdvice = []struct {
	says, message string
	kind          source.ErrorKind
}{
	{"Permission Error", "the table is made of other files, such as a view of read_parquet, which are not read for a " +
		"release; name these files as the source", source.Malformed},
	{"Out of Memory Error", "the program duckdb has too little memory for the view or the query, and may put nothing " +
		"on disk; make a table of it first", source.Unreadable},
	{"Could not set lock", "another process has the database open for writing; run again when it is done",
		source.Unreadable},
	{"not a valid DuckDB database", "is no DuckDB database, or one of a later version; look at the file, or install " +
		"a newer duckdb", source.Malformed},
	{"Catalog Error", "there is no such table or function in the database; check the name", source.Missing},
	{"Binder Error", "the query names something that does not exist; check it", source.Malformed},
	{"Parser Error", "the query cannot be understood; it must be one SELECT, without a semicolon", source.Malformed},
}

// duckdbTypes matches the types of columns whose values Parquet holds exactly.
var duckdbTypes = regexp.MustCompile(
	`(?s)^(BOOLEAN|U?(TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|` +
		`VARCHAR|JSON|ENUM\(.*\)|UUID|DATE|TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?)$`)

// typeWord matches the first word of a type.
var typeWord = regexp.MustCompile(`^[A-Z_]*`)

// ask runs a statement, and decodes the rows that it gives.
func (d duckdb) ask(ctx context.Context, statement string, rows any) error {
	c := d.command(ctx, nil, statement)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, rows)
	}
	if err != nil {
		return d.explain(err, said.String())
	}
	return nil
}

// checkQuery checks that a query is one SELECT, so that it cannot leave the parentheses that it is put into.
func (d duckdb) checkQuery(ctx context.Context) error {
	query := d.request.table.Source.Database.Query
	if query == "" {
		return nil
	}
	var rows []struct {
		Parsed struct {
			Error      bool              `json:"error"`
			Statements []json.RawMessage `json:"statements"`
		} `json:"parsed"`
	}
	if err := d.ask(ctx, "SELECT json_serialize_sql("+quoteText(query)+") AS parsed", &rows); err != nil {
		return err
	}
	if len(rows) != 1 || rows[0].Parsed.Error || len(rows[0].Parsed.Statements) != 1 {
		return d.fault(source.Malformed, "the query cannot be understood; it must be one SELECT, without a semicolon",
			"")
	}
	return nil
}

// checkTypes checks that the table has the wanted columns, in types that are read exactly.
func (d duckdb) checkTypes(ctx context.Context) error {
	if err := d.checkQuery(ctx); err != nil {
		return err
	}
	var described []struct {
		Name string `json:"column_name"`
		Type string `json:"column_type"`
	}
	if err := d.ask(ctx, "DESCRIBE SELECT * FROM "+d.request.rowsSQL(), &described); err != nil {
		return err
	}
	types, names := map[string]string{}, []string{}
	for _, column := range described {
		types[column.Name], names = column.Type, append(names, column.Name)
	}
	if err := checkColumns(d.request, names); err != nil {
		return err
	}
	for _, name := range d.request.columns {
		if !duckdbTypes.MatchString(types[name]) {
			return unfitType(d.request, name, typeWord.FindString(types[name])) // labels in a type may be values
		}
	}
	return nil
}

// copyAll reads the rows of all tables in one transaction. The program writes each as a Parquet file into a named pipe,
// in a folder that only its owner may enter. (It must not get open files by their numbers: its own have these too.)
func (d duckdb) copyAll(ctx context.Context, requests []request, rows Rows) (err error) {
	folder, err := os.MkdirTemp("", "dprelease-") // mode 0700
	if err != nil {
		return d.fault(source.Unreadable, "there is no room for temporary files", err.Error())
	}
	defer func() {
		if left := os.RemoveAll(folder); err == nil && left != nil {
			err = d.fault(source.Unreadable, "a temporary folder cannot be removed", left.Error())
		}
	}()
	statements := []string{"BEGIN TRANSACTION"}
	var pipes []*pipe
	var paths []string
	defer func() {
		for _, p := range pipes {
			p.close()
		}
	}()
	for i, r := range requests {
		path := filepath.Join(folder, fmt.Sprintf("table%d", i))
		p, err := newPipe(path)
		if err != nil {
			return d.fault(source.Unreadable, "no named pipe can be made in the folder for temporary files (TMPDIR)",
				err.Error())
		}
		pipes, paths = append(pipes, p), append(paths, path)
		statements = append(statements,
			"COPY ("+r.selectSQL()+") TO "+quoteText(path)+" (FORMAT parquet, USE_TMP_FILE false)")
	}
	for i, r := range requests {
		go pipes[i].readInto(rows[r.table.Name])
	}
	c := d.command(ctx, paths, append(statements, "COMMIT")...)
	var said bytes.Buffer
	c.Stderr = &said
	failed := c.Run()
	for i, r := range requests {
		if err := pipes[i].wait(); err != nil && failed == nil {
			d.request = r
			failed = err
		}
	}
	if failed == nil {
		return nil
	}
	if fault := (*source.Error)(nil); errors.As(failed, &fault) {
		return failed
	}
	return d.explain(failed, said.String())
}
