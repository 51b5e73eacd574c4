package spec

// This file holds the join: a public table in which columns of a confidential one are looked up by a key.

import (
	"encoding/csv"
	"fmt"
	"github.com/dprelease/dprelease/spec/document"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Join is a public table to which the rows of a confidential one are joined: each to the one row that has its key, or to none.
// It is not changed after Parse returns it.
type Join struct {
	Name string
	// File is the public table, a key of [Source.Files], which holds the columns of it that are used.
	File string
	// On are the columns of the key, which both tables have.
	On []string
	// Rows is how many rows the public table has.
	Rows int

	at      map[string]int32 // rows by their keys
	columns map[string]*PublicColumn
}

// PublicColumn is a column of a public table. Codes holds for each row a place in Texts, which are distinct, or −1 for null.
type PublicColumn struct {
	Texts []string
	Codes []int32
}

// Join returns the public table of that name, nil if there is none.
func (t *Table) Join(name string) *Join {
	for _, j := range t.Joins {
		if j.Name == name {
			return j
		}
	}
	return nil
}

// Column is a column that is looked up in the public table, nil for any other.
func (j *Join) Column(name string) *PublicColumn { return j.columns[name] }

// AppendPart appends the next part of a key, the canonical text of a value, to the parts before it, so that no two keys are
// written alike.
func (j *Join) AppendPart(key, part []byte) []byte {
	if n := len(part); len(j.On) > 1 {
		key = append(key, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(key, part...)
}

// Find is the row that has a key, written part by part with AppendPart; −1 where none has.
func (j *Join) Find(key []byte) int {
	if row, ok := j.at[string(key)]; ok {
		return int(row)
	}
	return -1
}

const (
	// maxJoined bounds the bytes that a plan holds of a public table.
	maxJoined = 64 << 20
	// maxJoinedText bounds the bytes of the file that they are taken from.
	maxJoinedText = 1 << 30
)

// publicFile is a file of which columns are looked up, or hold the figures of an invariant.
type publicFile struct {
	at     document.Node // where it is named first, in the spec
	tables []*publicTable
	used   map[string]bool // columns
}

// publicTable is a public table as its file is read: fields is nil of a text, join of one that is not joined to.
type publicTable struct {
	codebook
	fields []PublicField
	named  document.Node // in the spec
	join   *Join
	nulls  []string
}

// readJoins reads the public tables that a table is joined to.
func (r *reader) readJoins(t *Table, n document.Node) {
	for _, pair := range r.Entries(n) {
		if j := r.readJoin(pair); j != nil {
			t.Joins = append(t.Joins, j)
			if slices.Equal(j.On, []string{t.Unit.ID}) {
				r.warnOfUnits(pair.Get("on"), "the public table "+j.Name, t)
			}
		} else {
			r.failed[t] = append(r.failed[t], pair.Key.Value)
		}
	}
}

// warnOfUnits warns of a public file whose rows are units: it says of each who they are, and where it is taken from the confidential
// table it says what that holds.
func (r *reader) warnOfUnits(at document.Node, file string, t *Table) {
	r.Warn(at.Position(), at.Path, document.Problem{
		Message:  fmt.Sprintf("%s has a row for each %s, by %s: these rows are published with the plan", file, r.release.Privacy.Protects, document.Clip(t.Unit.ID)),
		Expected: "a public file of places, goods or groups; one of the units themselves only where anybody may have it",
	})
}

// readJoin reads one public table, nil where something is wrong with it.
func (r *reader) readJoin(n document.Node) *Join {
	if !r.Built(n) {
		return nil
	}
	if public := n.Get("public"); !isTrue(public.Text()) {
		r.problem(public, document.Problem{
			Message:  n.Key.Value + " is not public",
			Expected: "true: rows are joined to public tables alone; one that is confidential is a table of its own, with its unit",
			Fix:      "public: true",
		})
		return nil
	}
	on := n.Get("on").Texts()
	for i, item := range n.Get("on").Items() {
		if slices.Contains(on[:i], item.Text()) {
			r.problem(item, document.Problem{Message: fmt.Sprintf("column %q is there twice", document.Clip(item.Text())), Expected: "each column of the key once"})
			return nil
		}
	}
	var at document.Node
	var format Format
	var says string
	for _, f := range publicFormats {
		if file := n.Get(string(f.format)); file.Present() {
			at, format, says = file, f.format, f.says
		}
	}
	path, ok := r.fill(at)
	if !ok {
		return nil
	}
	content, err := r.open.table(path, format)
	if err != nil {
		r.unopened(at, "public table", path, says, err)
		return nil
	}
	p := &publicTable{
		named:    at,
		codebook: codebook{file: path, what: "public table", rowsAre: "rows", headed: "the names of its columns", comma: ','},
		join:     &Join{Name: n.Key.Value, File: path, On: on, columns: map[string]*PublicColumn{}},
		nulls:    []string{""},
	}
	if delimiter := n.Get("delimiter"); delimiter.Present() {
		p.comma, _ = utf8.DecodeRuneInString(delimiter.Text())
	}
	if nulls := n.Get("nulls"); nulls.Present() {
		p.nulls = nulls.Texts()
	}
	if problem := p.read(content); problem != nil {
		problem.Expected += fmt.Sprintf(" (the join is in line %d of %s)", at.Value.Line, r.File)
		r.ReportIn(at.Value, at.Path, *problem)
		return nil
	}
	r.useFile(at, p, on)
	r.joined[p.join] = p
	return p.join
}

// useFile notes that a file is read, and that some of its columns are used.
func (r *reader) useFile(at document.Node, p *publicTable, columns []string) {
	f := r.public[p.file]
	if f == nil {
		f = &publicFile{at: at, used: map[string]bool{}}
		r.public[p.file] = f
	}
	f.tables = append(f.tables, p)
	for _, name := range columns {
		f.used[name] = true
	}
}

// read reads the file of a public table, in which no two rows have one key.
//
// Guarantee: a row of the confidential table is joined to one row at most. Neighbours: both relations.
// Argument: docs/proofs/joins.md.
func (p *publicTable) read(content *Unpacked) *document.Problem {
	var problem *document.Problem
	if content.Fields == nil {
		problem = p.takeText(content.Text)
	} else {
		problem = p.takeRows(content)
	}
	if problem != nil {
		return problem
	}
	keys := make([]int, len(p.join.On))
	for i, name := range p.join.On {
		if keys[i] = slices.Index(p.header, name); keys[i] < 0 {
			problem := p.problem(1, 1, fmt.Sprintf("no column %q", document.Clip(name)), "the columns of the key in the header")
			problem.Nearest = document.Nearest(name, p.header)
			return problem
		}
		if problem := p.checkUse(keys[i], true); problem != nil {
			return problem
		}
	}
	p.join.at = make(map[string]int32, len(p.rows)) // one entry for each row before this
	var key []byte
	for row, fields := range p.rows {
		key = key[:0]
		for i, column := range keys {
			part := fields[column]
			if part == "" || slices.Contains(p.nulls, part) {
				return p.inRow(row, fmt.Sprintf("a row without %s", document.Clip(p.join.On[i])), "a key in each row")
			}
			key = p.join.AppendPart(key, []byte(part))
		}
		if p.join.at[string(key)] = int32(row); len(p.join.at) <= row {
			return p.repeated(keys, row)
		}
	}
	p.join.Rows = len(p.rows)
	return nil
}

// checkTexts reports what reading the extract would give another text: a carriage return, which is dropped before a line feed,
// and a byte order mark in front of a name.
func (p *publicTable) checkTexts() *document.Problem {
	if problem := p.checkNames(); problem != nil {
		return problem
	}
	for row, fields := range p.rows {
		if problem := p.checkReturns(fields, p.at[row]); problem != nil {
			return problem
		}
	}
	return nil
}

// checkNames is checkTexts of the header.
func (p *publicTable) checkNames() *document.Problem {
	for _, name := range p.header {
		if strings.HasPrefix(name, "\ufeff") {
			return p.problem(1, 1, "a column name that begins with a byte order mark", "one byte order mark at the most, at the beginning of the file")
		}
	}
	return p.checkReturns(p.header, 1)
}

// checkReturns reports a carriage return in the fields of a row that begins in a line.
func (p *publicTable) checkReturns(fields []string, line int) *document.Problem {
	for _, field := range fields {
		if before, _, found := strings.Cut(field, "\r"); found {
			return p.problem(line+strings.Count(before, "\n"), 1, "a carriage return within a field", `lines that end in \n or \r\n, and no other carriage return`)
		}
		line += strings.Count(field, "\n")
	}
	return nil
}

// repeated is the problem of a row whose key an earlier one has.
func (p *publicTable) repeated(keys []int, row int) *document.Problem {
	first := slices.IndexFunc(p.rows, func(fields []string) bool {
		return !slices.ContainsFunc(keys, func(i int) bool { return fields[i] != p.rows[row][i] })
	})
	return p.inRow(row, "a repeated key", "each key once, so that a row is joined to one row at most; the first is "+p.place(first))
}

// joinedName is a column of a public table, as a plain text.
var joinedName = regexp.MustCompile(`^(` + plainSyntax + `)\.(` + plainSyntax + `)$`)

// readLookup reads a column that is looked up in a public table. It is false where the text says something else.
func (r *reader) readLookup(t *Table, c *Column, from document.Node) bool {
	parts := joinedName.FindStringSubmatch(from.Text())
	if parts == nil {
		return false
	}
	c.Lookup = &Lookup{Join: parts[1], Column: parts[3]}
	if j, ok := r.lookUp(t, from, parts[1], parts[3]); ok {
		c.Lookup.On = j.On
	}
	return true
}

// lookUp finds a column of a public table that a table is joined to, and reports at a node where there is none.
func (r *reader) lookUp(t *Table, at document.Node, join, column string) (*Join, bool) {
	j := t.Join(join)
	switch {
	case j == nil && slices.Contains(r.failed[t], join):
		r.MarkUnsound(at)
		return nil, false // already reported
	case j == nil:
		var names []string
		for _, j := range t.Joins {
			names = append(names, j.Name)
		}
		p := document.Problem{Message: fmt.Sprintf("table %s is joined to no table %q", t.Name, document.Clip(join)), Expected: document.OneOf(names)}
		if names == nil {
			p.Expected = "a join in the table, or in backticks the column of the source that has this name"
			p.Fix = "join: {" + join + ": {csv: " + join + ".csv, on: KEY, public: true}}"
		}
		if p.Nearest = r.Nearest(join, names); p.Nearest != "" {
			p.Fix = r.Mended(at.Value, strings.Replace(at.Text(), join+".", p.Nearest+".", 1))
		}
		r.problem(at, p)
		return nil, false
	case j.columns[column] != nil:
		return j, true
	}
	p := r.joined[j]
	i := slices.Index(p.header, column)
	if i < 0 {
		problem := document.Problem{Message: fmt.Sprintf("%s has no column %q", document.Clip(p.file), document.Clip(column)), Expected: document.OneOf(p.header)}
		if problem.Nearest = r.Nearest(column, p.header); problem.Nearest != "" {
			problem.Fix = r.Mended(at.Value, strings.Replace(at.Text(), "."+column, "."+problem.Nearest, 1))
		}
		r.problem(at, problem)
		return nil, false
	}
	if problem := p.checkUse(i, false); problem != nil {
		problem.Expected += fmt.Sprintf(" (it is looked up in line %d of %s)", at.Value.Line, r.File)
		r.ReportIn(at.Value, at.Path, *problem)
		return nil, false
	}
	j.columns[column] = p.column(i)
	r.public[p.file].used[column] = true
	return j, true
}

// column is a column of a public table as its texts and where they are.
func (p *publicTable) column(i int) *PublicColumn {
	c := &PublicColumn{Codes: make([]int32, len(p.rows))}
	places := map[string]int32{}
	for _, null := range p.nulls {
		places[null] = -1
	}
	for row, fields := range p.rows {
		place, known := places[fields[i]]
		if !known {
			place = int32(len(c.Texts))
			text := strings.Clone(fields[i])
			places[text] = place
			c.Texts = append(c.Texts, text)
		}
		c.Codes[row] = place
	}
	return c
}

// checkLookup warns of values of a public column that are none of the column's: which rows have them is confidential, that
// some may is not.
func (r *reader) checkLookup(t *Table, c *Column, n document.Node) {
	j := t.Join(c.Lookup.Join)
	if j == nil || j.Column(c.Lookup.Column) == nil {
		return
	}
	var odd []string
	for _, text := range j.Column(c.Lookup.Column).Texts {
		fit := Fits
		if c.Domain != nil {
			_, fit = c.Domain.CodeOfText(text)
		} else {
			_, fit = c.Lattice.PlaceOfText(text, Whole)
		}
		if fit != Fits {
			odd = append(odd, fmt.Sprintf("%q", document.Clip(text)))
		}
	}
	if len(odd) == 0 {
		return
	}
	const shown = 3
	p := document.Problem{Message: fmt.Sprintf("%s.%s has %s, which %s does not have", j.Name, c.Lookup.Column, strings.Join(odd[:min(len(odd), shown)], ", "), c.Name)}
	if more := len(odd) - shown; more > 0 {
		p.Message += fmt.Sprintf(" (and %d more such values)", more)
	}
	switch c.Unknown.Action {
	case Refuse:
		p.Message += ": a row with such a key stops the run"
		p.Expected = "all of its values, or unknown: drop or {as: CATEGORY}"
	case Drop:
		p.Message += ": rows with such a key are left out"
	case As:
		p.Message += ": rows with such a key count as unknown: says"
	}
	r.Warn(n.Key, n.Path, p)
}

// keepPublic puts the public tables among the files of the source: of each the columns that are used, or its whole text where
// it is a code book as well or is read in two ways.
func (r *reader) keepPublic() {
	for path, f := range r.public {
		first := f.tables[0]
		for _, p := range f.tables {
			if j := p.join; j != nil && len(j.columns) == 0 {
				r.Warn(p.named.Position(), p.named.Path, document.Problem{Message: fmt.Sprintf("no column is looked up in %s", j.Name), Expected: "a column from it, as from: " + j.Name + ".COLUMN, or no such join"})
			}
		}
		whole := first.fields == nil && r.books[path] != nil || slices.ContainsFunc(f.tables, func(p *publicTable) bool { return p.comma != first.comma })
		text := strings.Join(first.lines, "\n")
		if !whole {
			text = first.extract(f.used)
		}
		if len(text) > maxJoined {
			r.problem(f.at, document.Problem{
				Message:  fmt.Sprintf("%s holds %d MB in the columns that are used, which are part of the plan", document.Clip(path), len(text)>>20),
				Expected: fmt.Sprintf("at most %d MB: fewer rows, shorter keys, or codes in the place of names", maxJoined>>20),
			})
		}
		r.embed(path, text, false)
	}
}

// extract is the file with some of its columns. Reading it gives the same rows, and the same extract.
func (p *publicTable) extract(used map[string]bool) string {
	var keep []int
	for i, name := range p.header {
		if used[name] {
			keep = append(keep, i)
		}
	}
	b := &strings.Builder{}
	w := csv.NewWriter(b)
	w.Comma = p.comma
	record := make([]string, len(keep))
	for _, fields := range append([][]string{p.header}, p.rows...) {
		for i, column := range keep {
			record[i] = fields[column]
		}
		_ = w.Write(record) // into memory, with a delimiter that reading took
	}
	w.Flush()
	return b.String()
}
