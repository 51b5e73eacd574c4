package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/language"
)

// This file reads joins: public tables in which columns are looked up.

// publicTable is the content of a public table. join is nil for a file of figures, to which no table is joined.
type publicTable struct {
	files.Table
	named document.Node // where the spec names it
	join  *Join
	nulls []string
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
			r.failedJoins[t] = append(r.failedJoins[t], pair.Key.Value)
		}
	}
}

// warnOfUnits warns of a public file whose rows are units: it publishes who the units are and, if it was extracted from
// the confidential table, what that table holds.
func (r *reader) warnOfUnits(at document.Node, file string, t *Table) {
	r.Warn(at.Position(), at.Path, document.Problem{
		Expected: "a public file of places, goods or groups; one of the units themselves only where anybody may have it",
	}, language.Key("%s has a row for each %s, by %s: these rows are published with the plan"), file,
		r.release.Privacy.Protects, document.Clip(t.Unit.ID))
}

// readJoin reads one public table. It returns nil if a problem was reported.
func (r *reader) readJoin(n document.Node) *Join {
	if !r.IsBuilt(n) {
		return nil
	}
	if public := n.Get("public"); !public.IsTrue() {
		r.AddProblem(public, document.Problem{
			Message: n.Key.Value + " is not public",
			Expected: "true: rows are joined to public tables alone; one that is confidential is a table of its own, " +
				"with its unit",
			Fix: "public: true",
		})
		return nil
	}
	on := n.Get("on").Texts()
	for i, item := range n.Get("on").Items() {
		if slices.Contains(on[:i], item.Text()) {
			r.AddProblem(item, document.Problem{Message: fmt.Sprintf("column %q appears twice",
				document.Clip(item.Text())),
				Expected: "each column of the key once"})
			return nil
		}
	}
	at, format := fileOf(n)
	path, ok := r.params.Fill(at)
	if !ok {
		return nil
	}
	content, ok := r.files.ReadTable(at, "public table", path, format)
	if !ok {
		return nil
	}
	p := &publicTable{
		named: at,
		Table: files.Table{File: path, Description: "public table", RowNoun: "rows",
			Headed: "the names of its columns"},
		join: &Join{Name: n.Key.Value, File: path, On: on, columns: map[string]*PublicColumn{}},
	}
	p.Comma, p.nulls = readFields(n)
	if problem := p.readKeyed(content); problem != nil {
		problem.Expected += fmt.Sprintf(" (the join is in line %d of %s)", at.Value.Line, r.File)
		r.ReportIn(at.Value, at.Path, *problem)
		return nil
	}
	r.files.Use(at, &p.Table, on...)
	r.publicTables[p.join] = p
	return p.join
}

// readKeyed reads the file of a public table, in which no two rows have the same key.
//
// Guarantee: a row of the confidential table is joined to one row at most. Neighbours: both relations. Argument:
// docs/proofs/joins.md.
func (p *publicTable) readKeyed(content *files.Unpacked) *document.Problem {
	if problem := p.Table.Read(content); problem != nil {
		return problem
	}
	keys := make([]int, len(p.join.On))
	for i, name := range p.join.On {
		if keys[i] = slices.Index(p.Header, name); keys[i] < 0 {
			problem := p.Problem(1, 1, fmt.Sprintf("no column %q", document.Clip(name)),
				"the columns of the key in the header")
			problem.Nearest = document.Nearest(name, p.Header)
			return problem
		}
		if problem := p.CheckUse(keys[i], true); problem != nil {
			return problem
		}
	}
	p.join.rowOfKey = make(map[string]int32, len(p.Rows)) // one entry for each row before this
	var key []byte
	for row, fields := range p.Rows {
		key = key[:0]
		for i, column := range keys {
			part := fields[column]
			if part == "" || slices.Contains(p.nulls, part) {
				return p.InRow(row, fmt.Sprintf("a row without %s", document.Clip(p.join.On[i])), "a key in each row")
			}
			key = p.join.AppendPart(key, []byte(part))
		}
		if p.join.rowOfKey[string(key)] = int32(row); len(p.join.rowOfKey) <= row {
			return p.repeatedKeyProblem(keys, row)
		}
	}
	p.join.Rows = len(p.Rows)
	return nil
}

// repeatedKeyProblem returns the problem of a row whose key an earlier row has.
func (p *publicTable) repeatedKeyProblem(keys []int, row int) *document.Problem {
	first := slices.IndexFunc(p.Rows, func(fields []string) bool {
		return !slices.ContainsFunc(keys, func(i int) bool { return fields[i] != p.Rows[row][i] })
	})
	return p.InRow(row, "a repeated key", "each key once, so that a row is joined to one row at most; the first is "+
		p.RowPosition(first))
}

// readLookup reads a column that is looked up in a public table. It returns false if the text has another form.
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

// lookUp finds a column of a public table that a table is joined to, and reports at a node if there is none.
func (r *reader) lookUp(t *Table, at document.Node, join, column string) (*Join, bool) {
	j := t.Join(join)
	switch {
	case j == nil && slices.Contains(r.failedJoins[t], join):
		r.MarkUnsound(at)
		return nil, false // already reported
	case j == nil:
		names := namesOf(t.Joins, func(j *Join) string { return j.Name })
		p := document.Problem{Message: fmt.Sprintf("table %s is joined to no table %q", t.Name, document.Clip(join)),
			Expected: document.OneOf(names)}
		if names == nil {
			p.Expected = "a join in the table, or in backticks the column of the source that has this name"
			p.Fix = "join: {" + join + ": {csv: " + join + ".csv, on: KEY, public: true}}"
		}
		if p.Nearest = r.Nearest(join, names); p.Nearest != "" {
			p.Fix = r.RepairedLine(at.Value, strings.Replace(at.Text(), join+".", p.Nearest+".", 1))
		}
		r.AddProblem(at, p)
		return nil, false
	case j.columns[column] != nil:
		return j, true
	}
	p := r.publicTables[j]
	i := slices.Index(p.Header, column)
	if i < 0 {
		problem := document.Problem{Message: fmt.Sprintf("%s has no column %q", document.Clip(p.File),
			document.Clip(column)),
			Expected: document.OneOf(p.Header)}
		if problem.Nearest = r.Nearest(column, p.Header); problem.Nearest != "" {
			problem.Fix = r.RepairedLine(at.Value, strings.Replace(at.Text(), "."+column, "."+problem.Nearest, 1))
		}
		r.AddProblem(at, problem)
		return nil, false
	}
	if problem := p.CheckUse(i, false); problem != nil {
		problem.Expected += fmt.Sprintf(" (it is looked up in line %d of %s)", at.Value.Line, r.File)
		r.ReportIn(at.Value, at.Path, *problem)
		return nil, false
	}
	j.columns[column] = p.encodeColumn(i)
	r.files.Use(p.named, &p.Table, column)
	return j, true
}

// encodeColumn returns a column of a public table as its distinct texts and their indices.
func (p *publicTable) encodeColumn(i int) *PublicColumn {
	c := &PublicColumn{Codes: make([]int32, len(p.Rows))}
	indices := map[string]int32{}
	for _, null := range p.nulls {
		indices[null] = -1
	}
	for row, fields := range p.Rows {
		index, known := indices[fields[i]]
		if !known {
			index = int32(len(c.Texts))
			text := strings.Clone(fields[i])
			indices[text] = index
			c.Texts = append(c.Texts, text)
		}
		c.Codes[row] = index
	}
	return c
}

// checkLookup warns of values of a public column that are not in the domain of the column that looks them up. Which
// rows have them is confidential; that some may is not.
func (r *reader) checkLookup(t *Table, c *Column, n document.Node) {
	j := t.Join(c.Lookup.Join)
	if j == nil || j.Column(c.Lookup.Column) == nil {
		return
	}
	var odd []string
	for _, text := range j.Column(c.Lookup.Column).Texts {
		fit := domain.Fits
		if c.Domain != nil {
			_, fit = c.Domain.CodeOfText(text)
		} else {
			_, fit = c.Lattice.IndexOfText(text, domain.NoStratum)
		}
		if fit != domain.Fits {
			odd = append(odd, fmt.Sprintf("%q", document.Clip(text)))
		}
	}
	if len(odd) == 0 {
		return
	}
	var p document.Problem
	message := ""
	switch c.Unknown.Action {
	case Refuse:
		message = language.Key("%s.%s has %s, which %s does not have: a row with such a key stops the run")
		p.Expected = "all of its values, or unknown: drop or {as: CATEGORY}"
	case Drop:
		message = language.Key("%s.%s has %s, which %s does not have: rows with such a key are left out")
	case As:
		message = language.Key("%s.%s has %s, which %s does not have: rows with such a key count as its `unknown` says")
	}
	r.Warn(n.Key, n.Path, p, message, j.Name, c.Lookup.Column, document.FirstOf(odd, 3), c.Name)
}

// checkJoins warns of public tables in which no column is looked up.
func (r *reader) checkJoins() {
	for j, p := range r.publicTables {
		if len(j.columns) == 0 {
			r.Warn(p.named.Position(), p.named.Path, document.Problem{
				Expected: "a column from it, such as from: " + j.Name + ".COLUMN, or no such join",
			}, language.Key("no column is looked up in %s"), j.Name)
		}
	}
}
