package spec

import (
	"fmt"
	"regexp"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/language"
)

// This file reads tables: source, unit and columns.

func (r *reader) readTables(root document.Node) {
	n := root.Get("tables")
	if !n.Present() {
		return
	}
	pairs := r.Entries(n)
	sources := make([]TableSource, len(pairs))
	var confidential []files.Confidential
	known := len(pairs) == len(n.Pairs())
	for i, pair := range pairs {
		var all bool
		sources[i], all = r.readSource(pair.Get("source"))
		known = known && all
		confidential = append(confidential, files.Confidential{Table: pair.Key.Value, Paths: sources[i].Paths})
	}
	r.files.RefuseConfidential(confidential, known) // before any public file is opened
	for i, pair := range pairs {
		t := &Table{Name: pair.Key.Value, Source: sources[i]}
		r.readUnit(t, pair.Get("unit"))
		r.readCollected(root, t, pair)
		r.readJoins(t, pair.Get("join"))
		for _, c := range r.Entries(pair.Get("columns")) {
			t.Columns = append(t.Columns, r.readColumn(t, c, pair.Get("columns")))
			r.refuseAlphabet(t, c)
		}
		t.Where = r.readPredicate(t, pair.Get("where"), pair.Get("columns"))
		r.deriveColumns(t, pair.Get("columns"))
		r.readStrata(t, pair.Get("columns"))
		r.checkKeys(t, pair.Get("join"))
		t.Expect = r.readExpect(root, t)
		r.readTableWeight(t, pair.Get("weight"))
		t.Sample = r.readSample(pair.Get("sample"))
		r.checkSuggested(root, t)
		r.release.Tables = append(r.release.Tables, t)
	}
	r.checkShared(n)
}

// checkShared reports tables whose rows are units in a release with other confidential tables: a unit has rows in
// several tables, and only its id shows which.
func (r *reader) checkShared(tables document.Node) {
	var confidential []*Table
	for _, t := range r.release.Tables {
		if !isPublic(tables.Get(t.Name)) {
			confidential = append(confidential, t)
		}
	}
	if len(confidential) < 2 {
		return
	}
	protects := r.release.Privacy.Protects
	first := findFirst(confidential, func(t *Table) bool { return t.Unit.ID != "" }) // the first with ids
	for _, t := range confidential {
		unit := tables.Get(t.Name).Get("unit")
		switch {
		case !r.IsSound(unit):
		case t.Unit.Row:
			p := document.Problem{
				Message: fmt.Sprintf("each row of %s is a unit of its own, and %s confidential tables share their "+
					"units: nothing says which rows of them are of one %s",
					t.Name, countWord(len(confidential)), protects),
				Expected: fmt.Sprintf("in each of them the column with the id of the %s; what it loses in all of "+
					"them is added up",
					protects),
				Fix: "unit: {id: person_id, max_rows: 1}",
			}
			if first != nil {
				p.Fix = "unit: {id: " + first.Unit.ID + ", max_rows: 1}"
			}
			r.AddProblem(unit, p)
		case t.Unit.ID != first.Unit.ID:
			r.Warn(unit.Key, unit.Path, document.Problem{
				Expected: "ids of one kind: a row of a household is not of one person, and where it is counted " +
					"households are the units of both tables",
			}, language.Key("%s identifies units by %s, and %s by %s: the promise is for rows that come and go with one %s"),
				first.Name, document.Clip(first.Unit.ID), t.Name, document.Clip(t.Unit.ID), protects)
		}
	}
}

func countWord(n int) string {
	if n == 2 {
		return "two"
	}
	return fmt.Sprint(n)
}

// personal matches nouns for units that may well have several rows each.
var personal = regexp.MustCompile(
	`(?i)\b(person|people|patient|resident|citizen|inhabitant|individual|employee|worker|student|pupil|` +
		`child|children|adult|customer|client|user|member|respondent|passenger|subscriber|taxpayer|voter|household|famil(y|ies)|m[ae]n|wom[ae]n)s?\b`)

func (r *reader) readUnit(t *Table, n document.Node) {
	if !r.IsSound(n) {
		return
	}
	if id := n.Get("id"); id.Present() {
		t.Unit = Unit{ID: id.Text(), MaxRows: n.Get("max_rows").WholeNumber()}
		if n.Get("null").Is("drop") {
			t.Unit.Null = Drop
		}
		return
	}
	if n.Text() != "row" {
		return
	}
	t.Unit = Unit{Row: true, MaxRows: 1}
	if protects := r.release.Privacy.Protects; personal.MatchString(protects) {
		r.Warn(n.Position(), n.Path, document.Problem{
			Expected: "a column that identifies units, unless each has exactly one row",
			Fix:      "unit: {id: person_id, max_rows: 1}",
		}, language.Key("each row counts as a %s of its own: a %[1]s with several rows is protected only row by row"),
			protects)
	}
}

// readExpect reads the conditions on a table's files. It returns nil if the spec gives none or a problem was reported.
func (r *reader) readExpect(root document.Node, t *Table) *Expect {
	n := root.Get("tables").Get(t.Name).Get("expect")
	if !r.IsSound(n) {
		return nil
	}
	e := &Expect{}
	if bounds := n.Get("rows"); bounds.Present() {
		e.Rows = &RowRange{bounds.Items()[0].WholeNumber(), bounds.Items()[1].WholeNumber()}
		if e.Rows.Least > e.Rows.Most {
			r.AddProblem(bounds, document.Problem{Message: "the range of rows ends before it starts",
				Expected: "the least first, then the most, such as [40000, 60000]"})
		}
	}
	if every := n.Get("every"); every.Present() {
		seen := map[Attribute]bool{}
		e.Every = r.readAttributes(root, t, every, func(a Attribute) (document.Problem, bool) {
			if origin := t.originOf(a); origin != a {
				return document.Problem{Message: fmt.Sprintf("%s is derived and not read", a),
					Expected: origin.String() +
						" in its place"}, false
			}
			twice := seen[a]
			seen[a] = true
			return document.Problem{Message: fmt.Sprintf("%s appears twice", a), Expected: "each attribute once"},
				!twice
		})
	}
	return e
}

func (r *reader) readColumn(t *Table, n, columns document.Node) *Column {
	if r.IsBuilt(n) && n.Get("derived_from").Present() {
		return r.readDerived(n)
	}
	c := &Column{Name: n.Key.Value, From: n.Key.Value}
	if from := n.Get("from"); r.IsBuilt(from) {
		r.readFrom(t, c, from, columns)
	}
	if r.IsBuilt(n) {
		c.Declaration = r.domains.Read(n)
	}
	if c.Grid != nil {
		c.From = ""
	}
	if c.Domain == nil && c.Lattice == nil {
		return c
	}
	if c.Codebook != "" && c.From != "" && c.From == t.Unit.ID {
		r.warnOfUnits(n.Get("codebook"), "the code book "+document.Clip(c.Codebook), t)
	}
	c.Suggest = r.extras[n.Get("bounds").Path]
	c.Unknown = r.readPolicy(c, n, "unknown")
	c.Null = r.readPolicy(c, n, "null")
	switch {
	case c.Lookup != nil:
		r.checkLookup(t, c, n)
	case c.Expression != nil:
		r.checkExpression(c, n)
	}
	return c
}

// readFrom reads where the values of a column come from: a column of the source, a column of a public table, or an
// expression.
func (r *reader) readFrom(t *Table, c *Column, from, columns document.Node) {
	name, ok := sourceColumn(from)
	c.From = name
	if !ok && !r.readLookup(t, c, from) {
		c.Expression = r.readExpression(t, from, columns)
	}
}

// readPolicy reads what happens to a value. In a range or grid {as: CATEGORY} adds a new category after the others, or
// lets a null count as a number in the range; elsewhere it names an existing category.
func (r *reader) readPolicy(c *Column, column document.Node, key string) Policy {
	n := column.Get(key)
	as := n.Get("as")
	switch {
	case n.Is("drop"):
		return Policy{Action: Drop}
	case !as.Present():
		return Policy{Action: Refuse}
	case key == "null" && c.Lattice.CountNull(as.Text()):
		if c.Domain == nil {
			return Policy{Action: As}
		}
		code, _ := c.Domain.CodeOfText(as.Text())
		return Policy{Action: As, Category: code}
	case c.Domain == nil:
		r.AddProblem(as, document.Problem{
			Message: fmt.Sprintf("%s has more than %d cells and no levels, and so no category for these values", c.Name,
				domain.MaxCells),
			Expected: "error or drop; a null may also count as a number in the range",
		})
		return Policy{Action: As}
	case column.Get("range").Present() || column.Get("grid").Present():
		return r.readAsNew(c, as)
	}
	return r.readAs(c, as)
}

// readAs finds the category, written as it is declared, that a value counts as.
func (r *reader) readAs(c *Column, n document.Node) Policy {
	name, categories := n.Text(), c.Domain.Categories()
	code, fit := c.Domain.CodeOfText(name)
	if fit != domain.Fits || categories[code].Code != name {
		p := domain.NoCategory(r.Findings, n, c.Name, categories)
		p.Expected += "; to use a new category, add it to the column's categories first"
		r.AddProblem(n, p)
	}
	return Policy{Action: As, Category: code}
}

// readAsNew adds a category to a range or grid for values outside it; unknown and null may share one.
func (r *reader) readAsNew(c *Column, n document.Node) Policy {
	name := n.Text()
	p := document.Problem{Expected: "a new name: in a range or grid these values get a category of their own",
		Fix: "{as: unknown}"}
	if name == "" {
		p.Message = "an empty category"
	} else if code, ok := c.Domain.Add(name); ok {
		return Policy{Action: As, Category: code}
	} else {
		p.Message = fmt.Sprintf("%s has a category %q already", c.Name, document.Clip(name))
	}
	r.AddProblem(n, p)
	return Policy{Action: As}
}

// checkTotalMarginal reports, for a total release, the parts of a marginal whose memory depends on the data alone: the
// cells of a table that does not publish all cells and, for every bound that selects among the groups of a unit's rows,
// the number of these groups and the length of the unit's id.
func (r *reader) checkTotalMarginal(m *Marginal, root document.Node) {
	n := root.Get("marginals").Get(m.Name)
	chooses := func(is bool, at document.Node) stopCause {
		return stopCause{is && r.IsSound(at), at,
			"how many rows a unit has decides whether the choice among its groups fits into memory",
			"no bound of groups: max_rows and `per_unit: {total}` bound a unit without a list of its rows", ""}
	}
	r.checkStops(
		stopCause{m.isSparse() && r.IsSound(n.Get("cells")), n.Get("cells"),
			"how many cells of a sparse table have rows decides whether they fit into memory",
			"no `cells`, so that every cell is counted", ""},
		stopCause{m.choosesCells() && r.IsSound(n.Get("top")), n.Get("top"),
			"how many cells of a top table have rows decides whether they fit into memory",
			"no `top`, so that every cell is published", ""},
		chooses(m.PerUnit.Groups > 0 || m.PerUnit.RowsPerGroup > 0, n.Get("per_unit")))
	for _, stat := range n.Get("stats").Items() {
		r.checkStops(chooses(true, stat.Get("distinct")))
	}
}

// checkTotal reports, for a total release, every policy under which a value could stop a run.
func (r *reader) checkTotal(root document.Node) {
	if !r.release.Privacy.Total {
		return
	}
	for _, n := range root.Get("impossible").Items() {
		if rows := n.Get("rows"); r.IsSound(n) && (!rows.Present() || rows.Text() == rowsError) {
			r.AddProblem(rows.Or(n), document.Problem{Message: "privacy is total, yet a row that is impossible stops the run",
				Expected: "rows: drop, which leaves it out", Fix: "rows: drop"})
		}
	}
	for i := range r.release.Marginals {
		r.checkTotalMarginal(&r.release.Marginals[i], root)
	}
	for _, s := range r.release.Synthetic {
		n := root.Get("synthetic").Get(s.Table).Get("parent")
		r.checkStops(stopCause{s.Parent != "" && r.IsSound(n), n,
			fmt.Sprintf("how many rows of %s count decides whether they fit into memory", document.Clip(s.Parent)),
			"no `parent`: microdata whose rows belong to no others", ""})
	}
	for _, m := range r.release.Models {
		r.checkStops(stopCause{!m.FromTables, root.Get("models").Get(m.Name),
			fmt.Sprintf("how many combinations of categories have rows decides whether the rows of model %s fit into memory",
				document.Clip(m.Name)), "no models", ""})
	}
	for _, t := range r.release.Tables {
		r.checkTotalTable(t, root.Get("tables").Get(t.Name))
	}
}

// stopCause is a way in which a value, or an amount of data, could stop the run of a total release.
type stopCause struct {
	applies       bool
	at            document.Node
	what          string // what could stop it
	expected, fix string
}

// checkStops reports the causes that could stop the run of a total release.
func (r *reader) checkStops(all ...stopCause) {
	for _, s := range all {
		if s.applies {
			r.WrongKey(s.at, document.Problem{Message: "privacy is total, yet " + s.what, Expected: s.expected,
				Fix: s.fix})
		}
	}
}

// checkTotalTable reports policies of a table under which a value could stop a run.
func (r *reader) checkTotalTable(t *Table, n document.Node) {
	unit := n.Get("unit")
	r.checkStops(
		stopCause{t.Unit.ID != "" && t.Unit.Null != Drop && r.IsSound(unit), unit.Get("null").Or(unit),
			"a row whose " + document.Clip(t.Unit.ID) + " is null stops the run",
			"null: drop in the unit, which leaves it out", "null: drop"},
		stopCause{t.Where != nil && t.Where.Unknown != Drop, n.Get("where"),
			"a value that the condition cannot read stops the run",
			"{is: CONDITION, unknown: drop}, which leaves such rows out", ""},
		stopCause{n.Get("expect").Present(), n.Get("expect"), "expect stops the run where a rule fails", "no expect",
			""},
		stopCause{t.stopsWithoutWeight(), n.Get("weight"), "a row without a weight stops the run",
			"null: drop, which leaves it out", "null: drop"})
	for _, c := range t.Columns {
		column := n.Get("columns").Get(c.Name)
		if !r.IsSound(column) || c.DerivedFrom != nil {
			continue
		}
		r.checkTotalPolicy(column, "unknown")
		r.checkTotalPolicy(column, "null")
		r.checkTotalNumbers(c, column)
	}
}

// checkTotalNumbers reports, for a column with statistics, a policy that counts unknown values as a category: a text
// that is not a number has no value for the statistics.
func (r *reader) checkTotalNumbers(c *Column, n document.Node) {
	if unknown := n.Get("unknown"); r.hasStatistics[c.Name] && c.Unknown.Action == As && r.IsSound(unknown) {
		r.AddProblem(unknown, document.Problem{
			Message: fmt.Sprintf("privacy is total, yet a text in %s that is no number has no value for the "+
				"statistics of %s, and stops the run",
				c.Name, c.Name),
			Expected: "drop: numbers beyond the range are clamped for statistics all the same", Fix: "unknown: drop",
		})
	}
}

func (r *reader) checkTotalPolicy(column document.Node, key string) {
	policy := column.Get(key)
	if policy.TextOr("error") != "error" {
		return
	}
	r.AddProblem(policy.Or(column.KeyNode()), document.Problem{
		Message:  fmt.Sprintf("privacy is total, yet a value of %s that is %s stops the run", column.Key.Value, key),
		Expected: "drop or {as: CATEGORY}", Fix: key + ": drop",
	})
}
