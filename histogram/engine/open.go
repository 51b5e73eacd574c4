package engine

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/postgres"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"

	"github.com/jackc/pgx/v5"
)

// This file holds Open: from a plan to the tables that it reads in databases.

// Rows are the rows of the tables of a plan that are in databases, by table. There are none if all tables are files.
type Rows map[string]*source.Spool

// Close removes the rows.
func (r Rows) Close() error {
	var err error
	for _, s := range r {
		err = errors.Join(err, s.Close())
	}
	return err
}

// request is a table to fetch, with its columns.
type request struct {
	table   *spec.Table
	columns []string
}

// name returns the source of the table as messages name it.
func (r request) name() string { return r.table.Source.Database.String() }

// rowsSQL returns the table expression of the rows, in standard SQL.
func (r request) rowsSQL() string {
	d := r.table.Source.Database
	if d.Query != "" {
		return "(" + d.Query + "\n) AS dprelease_rows" // a comment in the last line of the query ends there
	}
	quoted := make([]string, len(d.Table))
	for i, part := range d.Table {
		quoted[i] = quoteName(part)
	}
	return strings.Join(quoted, ".")
}

// selectSQL returns the query for the columns.
func (r request) selectSQL() string {
	var quoted []string
	for _, name := range r.columns {
		quoted = append(quoted, quoteName(name))
	}
	if quoted == nil { // what counts is how many rows there are
		quoted = []string{"true AS dprelease_row"}
	}
	return "SELECT " + strings.Join(quoted, ", ") + " FROM " + r.rowsSQL()
}

// quoteName returns a name as SQL writes it, whatever characters it has.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteText returns a text as SQL writes it.
func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Opened are the tables of a plan, ready to be counted: those in databases were fetched, or are counted where they are
// in a transaction that goes on. It must be closed.
type Opened struct {
	rows    Rows
	remotes map[string]scan.Remote
	servers []*pgx.Conn
}

// Files returns the counter of the tables. Relative paths of files start from the folder dir.
func (o *Opened) Files(dir string, options scan.Options) scan.Files {
	return scan.Files{Dir: dir, Fetched: o.rows, Remotes: o.remotes, Options: options}
}

// Close removes the rows and ends the transactions.
func (o *Opened) Close() error {
	for _, c := range o.servers {
		hangUp(c)
	}
	return o.rows.Close()
}

// closeAfter closes after an error. It returns that error itself if nothing else fails: every verb prints it without
// its detail.
func (o *Opened) closeAfter(err error) error {
	if closing := o.Close(); closing != nil {
		return errors.Join(err, closing)
	}
	return err
}

// Open reads the rows of the tables of a plan that are in databases, the columns that the plan's questions need, and
// makes those that stay there ready to be counted. Relative paths start from the folder dir.
//
// Errors: *[source.Error]; those of the context.
func Open(ctx context.Context, p *plan.Plan, dir string) (*Opened, error) {
	return open(ctx, p, dir, "")
}

// open is Open, but leaves out tables in Spark if a folder has their counts.
func open(ctx context.Context, p *plan.Plan, dir, counted string) (*Opened, error) {
	o := &Opened{rows: Rows{}, remotes: map[string]scan.Remote{}}
	if !HasDatabases(p.Release()) {
		return o, nil
	}
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		return nil, err
	}
	columns, err := scan.Columns(q)
	if err == nil {
		err = scan.CheckRemotes(q, func(t *spec.Table) bool {
			return t.Source.Database != nil &&
				t.Source.Database.Stay
		})
	}
	if err != nil {
		return nil, err
	}
	servers, files := map[string][]request{}, map[string][]request{} // by what they are, however the spec names them
	configs := map[string]*pgx.ConnConfig{}
	for _, t := range p.Release().Tables {
		d := t.Source.Database
		if _, read := columns[t.Name]; d == nil || !read {
			continue
		}
		r := request{t, columns[t.Name]}
		if d.Engine == spec.Spark {
			if counted == "" {
				return nil, notCounted(t)
			}
			continue
		}
		if d.Engine == spec.DuckDB {
			file, err := duckdbFile(dir, t.Source)
			if err != nil {
				return nil, err
			}
			files[file] = append(files[file], r)
			continue
		}
		config, err := readAddress(d.URL, dir, d.String())
		if err != nil {
			return nil, err
		}
		server := postgres.Name(config)
		servers[server], configs[server] = append(servers[server], r), config
	}
	var all []func() error
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		all = append(all, func() error { return o.openPostgres(ctx, configs[server], servers[server]) })
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		all = append(all, func() error { return o.fetchDuckDB(ctx, file, files[file]) })
	}
	for _, open := range all {
		if err := open(); err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, o.closeAfter(err)
		}
	}
	return o, nil
}

// spool returns an empty spool for the rows of a table.
func (o *Opened) spool(r request, format files.Format) (*source.Spool, error) {
	s, err := source.NewSpool(r.name(), format)
	if err == nil {
		o.rows[r.table.Name] = s
	}
	return s, err
}

// Tables counts the tables of a release, wherever they are: it opens those in databases, and counts all of them as
// [scan.Files] does.
type Tables struct {
	Dir       string // folder from which relative paths of sources start
	FromSpark string // folder of a job that Spark has run ([EmitSpark]), "" if there is none
	Options   scan.Options
}

// Count answers questions. Its errors are those of [Open] and [scan.Files.Count].
func (c Tables) Count(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (answers answer.Answers,
	err error) {
	opened, err := open(ctx, q.Plan, c.Dir, c.FromSpark)
	if err != nil {
		return answer.Answers{}, err
	}
	defer func() {
		if closing := opened.Close(); err == nil {
			err = closing
		}
	}()
	if c.FromSpark != "" {
		if err := opened.openSpark(ctx, q, s, c.FromSpark); err != nil {
			return answer.Answers{}, err
		}
	}
	return opened.Files(c.Dir, c.Options).Count(ctx, q, s)
}

// HasDatabases reports whether a table of a release is in a database.
func HasDatabases(r *spec.Release) bool {
	return slices.ContainsFunc(r.Tables, func(t *spec.Table) bool { return t.Source.Database != nil })
}

// Check looks for what can be known of the tables in databases without opening a connection: that the addresses of
// servers are there and can be understood, and the files of databases, and that a folder has what Spark has counted,
// if there are tables in Spark. Errors are *[source.Error].
func Check(r *spec.Release, dir, counted string) error {
	for _, t := range r.Tables {
		var err error
		switch d := t.Source.Database; {
		case d == nil:
		case d.Engine == spec.Spark:
			if counted == "" {
				err = notCounted(t)
			}
		case d.Engine == spec.DuckDB:
			_, err = duckdbFile(dir, t.Source)
		default:
			_, err = readAddress(d.URL, dir, d.String())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notCounted returns the error of a table in Spark of which there are no counts.
func notCounted(t *spec.Table) error {
	return &source.Error{Kind: source.Missing, File: "table " + t.Name,
		Message: "is counted by your own Spark, and its counts are not here; prepare the plan, let Spark run the job " +
			"that dprelease count PLAN --emit DIR writes, and measure with --counted DIR"}
}

// checkColumns returns an error if a table lacks a wanted column or has two of its name.
func checkColumns(r request, has []string) error {
	for _, name := range r.columns {
		at := slices.Index(has, name)
		switch {
		case at < 0:
			hint := ""
			if near := document.Nearest(name, has); near != "" {
				hint = "; did you mean " + near + "?"
			}
			return &source.Error{Kind: source.Missing, File: r.name(), Column: name,
				Message: "there is no such column" + hint}
		case slices.Contains(has[at+1:], name):
			return &source.Error{Kind: source.Duplicate, File: r.name(), Column: name,
				Message: "there are two columns of this name; rename one, with AS"}
		}
	}
	return nil
}

// unfitType returns the error of a column whose type is not read.
func unfitType(r request, column, has string) error {
	return &source.Error{Kind: source.WrongType, File: r.name(), Column: column,
		Message: "has the type " + has + ", which is not read; cast it in a query: to text, an integer, a decimal, a " +
			"double, a date, a timestamp, a boolean or a UUID"}
}

// beginFetching reports that rows begin to be fetched. How many there are is not known, and not said.
func beginFetching(ctx context.Context, r request) context.Context {
	return progress.BeginConfidential(ctx, 0, "fetching %s", r.table.Name)
}

// absolute returns a path that starts from a folder.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
