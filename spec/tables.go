package spec

// This file holds the reading of tables: source, unit and columns.

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

func (r *reader) readTables(root node) {
	n := root.get("tables")
	if !n.present() {
		return
	}
	pairs := r.entries(n)
	sources := make([]TableSource, len(pairs))
	var confidential []namedSource
	known := len(pairs) == len(n.pairs())
	for i, pair := range pairs {
		var all bool
		sources[i], all = r.readSource(pair.get("source"))
		known = known && all
		confidential = append(confidential, namedSource{pair.key.Value, sources[i].Paths})
	}
	r.open.keepFrom(confidential, known) // before any public file is opened
	for i, pair := range pairs {
		t := &Table{Name: pair.key.Value, Source: sources[i]}
		r.readUnit(t, pair.get("unit"))
		r.readJoins(t, pair.get("join"))
		for _, c := range r.entries(pair.get("columns")) {
			t.Columns = append(t.Columns, r.readColumn(t, c, pair.get("columns")))
		}
		t.Where = r.readPredicate(t, pair.get("where"), pair.get("columns"))
		r.deriveColumns(t, pair.get("columns"))
		r.readStrata(t, pair.get("columns"))
		r.checkKeys(t, pair.get("join"))
		t.Expect = r.readExpect(root, t)
		r.readTableWeight(t, pair.get("weight"))
		t.Sample = r.readSample(pair.get("sample"))
		r.checkSuggested(root, t)
		r.release.Tables = append(r.release.Tables, t)
	}
	r.checkShared(n)
}

// isPublic reports whether a table has no units to protect.
func isPublic(table node) bool {
	unit := table.get("unit")
	return unit.present() && unit.text() == "public"
}

// checkShared reports tables whose rows are units of their own beside other confidential tables: a unit has rows in several of
// them, and it is its id that says which are its own.
func (r *reader) checkShared(tables node) {
	var confidential []*Table
	for _, t := range r.release.Tables {
		if !isPublic(tables.get(t.Name)) {
			confidential = append(confidential, t)
		}
	}
	if len(confidential) < 2 {
		return
	}
	protects := r.release.Privacy.Protects
	var first *Table // of those that have ids
	for _, t := range confidential {
		if first == nil && t.Unit.ID != "" {
			first = t
		}
	}
	for _, t := range confidential {
		unit := tables.get(t.Name).get("unit")
		switch {
		case !r.sound(unit):
		case t.Unit.Row:
			p := Problem{
				Message:  fmt.Sprintf("each row of %s is a unit of its own, and %s confidential tables share their units: nothing says which rows of them are of one %s", t.Name, countWord(len(confidential)), protects),
				Expected: fmt.Sprintf("in each of them the column with the id of the %s; what it loses in all of them is added up", protects),
				Fix:      "unit: {id: person_id, max_rows: 1}",
			}
			if first != nil {
				p.Fix = "unit: {id: " + first.Unit.ID + ", max_rows: 1}"
			}
			r.problem(unit, p)
		case t.Unit.ID != first.Unit.ID:
			r.warn(unit.key, unit.path, Problem{
				Message:  fmt.Sprintf("%s tells units apart by %s, and %s by %s: the promise is for rows that come and go with one %s", first.Name, clip(first.Unit.ID), t.Name, clip(t.Unit.ID), protects),
				Expected: "ids of one kind: a row of a household is not of one person, and where it is counted households are the units of both tables",
			})
		}
	}
}

func countWord(n int) string {
	if n == 2 {
		return "two"
	}
	return fmt.Sprint(n)
}

// readSource reads where a table is read from, and whether that is all of it.
func (r *reader) readSource(n node) (TableSource, bool) {
	if !r.sound(n) {
		return TableSource{}, false
	}
	all := false
	s := TableSource{Delimiter: ',', Nulls: []string{""}, Total: r.release.Privacy.Total}
	for _, format := range []Format{Parquet, CSV, Arrow} {
		paths := n.get(string(format))
		if !paths.present() {
			continue
		}
		s.Format = format
		s.Paths, all = r.fillAll(paths)
	}
	if delimiter := n.get("delimiter"); delimiter.present() {
		s.Delimiter, _ = utf8.DecodeRuneInString(delimiter.text())
	}
	if nulls := n.get("nulls"); nulls.present() {
		s.Nulls = nulls.texts()
	}
	if s.Format != CSV {
		s.Delimiter, s.Nulls = 0, nil
	}
	return s, all
}

// fillAll are the paths of a scalar or a list with parameters filled in, and whether each has a value.
func (r *reader) fillAll(n node) (paths []string, filled bool) {
	all := n.items()
	if all == nil {
		all = []node{n}
	}
	filled = true
	for _, item := range all {
		path, ok := r.fill(item)
		filled = filled && ok
		switch {
		case ok && strings.TrimSpace(path) == "":
			r.problem(item, Problem{Message: "an empty path", Expected: "a path or glob"})
		case ok && address.MatchString(path):
			r.problem(item, Problem{Message: "an address and not a file: " + address.FindString(path) + "…", Expected: fileExpected})
		case ok && slices.Contains(paths, path):
			r.problem(item, Problem{Message: fmt.Sprintf("%q is there twice", clip(path)), Expected: "each path once: rows would count twice"})
		}
		paths = append(paths, path)
	}
	return paths, filled
}

// personal are nouns of which one person may well have several rows.
var personal = regexp.MustCompile(`(?i)\b(person|people|patient|resident|citizen|inhabitant|individual|employee|worker|student|pupil|` +
	`child|children|adult|customer|client|user|member|respondent|passenger|subscriber|taxpayer|voter|household|famil(y|ies)|m[ae]n|wom[ae]n)s?\b`)

func (r *reader) readUnit(t *Table, n node) {
	if !r.sound(n) {
		return
	}
	if id := n.get("id"); id.present() {
		t.Unit = Unit{ID: id.text(), MaxRows: r.whole(n.get("max_rows"))}
		if null := n.get("null"); null.present() && null.text() == "drop" {
			t.Unit.Null = Drop
		}
		return
	}
	if n.text() != "row" {
		return
	}
	t.Unit = Unit{Row: true, MaxRows: 1}
	if protects := r.release.Privacy.Protects; personal.MatchString(protects) {
		r.warn(n.position(), n.path, Problem{
			Message:  fmt.Sprintf("each row counts as a %s of its own: one with several rows is protected only row by row", protects),
			Expected: "a column that tells units apart, unless each has exactly one row",
			Fix:      "unit: {id: person_id, max_rows: 1}",
		})
	}
}

// readExpect reads what a table's files must hold, nil where the spec does not say or something
// is wrong with it.
func (r *reader) readExpect(root node, t *Table) *Expect {
	n := root.get("tables").get(t.Name).get("expect")
	if !r.sound(n) {
		return nil
	}
	e := &Expect{}
	if bounds := n.get("rows"); bounds.present() {
		e.Rows = &RowRange{r.whole(bounds.items()[0]), r.whole(bounds.items()[1])}
		if e.Rows.Least > e.Rows.Most {
			r.problem(bounds, Problem{Message: "the range of rows ends before it starts", Expected: "the least first, then the most, as [40000, 60000]"})
		}
	}
	if every := n.get("every"); every.present() {
		seen := map[Attribute]bool{}
		e.Every = r.readAttributes(root, t, every, func(a Attribute) (Problem, bool) {
			if origin := t.origin(a); origin != a {
				return Problem{Message: fmt.Sprintf("%s is derived and not read", a), Expected: origin.String() + " in its place"}, false
			}
			twice := seen[a]
			seen[a] = true
			return Problem{Message: fmt.Sprintf("%s is there twice", a), Expected: "each attribute once"}, !twice
		})
	}
	return e
}

func (r *reader) readColumn(t *Table, n, columns node) *Column {
	if r.built(n) && n.get("derived_from").present() {
		return r.readDerived(n)
	}
	c := &Column{Name: n.key.Value, From: n.key.Value}
	if from := n.get("from"); r.built(from) {
		r.readFrom(t, c, from, columns)
	}
	if r.built(n) {
		c.Domain = r.readDomain(c, n)
	}
	if c.Domain == nil && c.Lattice == nil {
		return c
	}
	if c.Codebook != "" && c.From != "" && c.From == t.Unit.ID {
		r.warnOfUnits(n.get("codebook"), "the code book "+clip(c.Codebook), t)
	}
	c.Suggest = r.extras[n.get("bounds").path]
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

// readFrom reads where the values of a column come from: a column of the source, one of a public table, or an expression.
func (r *reader) readFrom(t *Table, c *Column, from, columns node) {
	name, ok := sourceColumn(from)
	c.From = name
	if !ok && !r.readLookup(t, c, from) {
		c.Expression = r.readExpression(t, from, columns)
	}
}

// readPolicy reads what happens to a value. For a range or grid {as: CATEGORY} makes a new category
// after the others, and a null may count as a number in the range; elsewhere it names one that is there.
func (r *reader) readPolicy(c *Column, column node, key string) Policy {
	n := column.get(key)
	switch {
	case !n.present():
		return Policy{Action: Refuse}
	case n.get("as").present() && key == "null" && r.readAsNumber(c, n.get("as")):
		return r.asNumber(c, n.get("as"))
	case n.get("as").present() && c.Domain == nil:
		r.problem(n.get("as"), Problem{
			Message:  fmt.Sprintf("%s has more than %d cells and no levels, and so no category for these values", c.Name, maxCells),
			Expected: "error or drop; a null may also count as a number in the range",
		})
		return Policy{Action: As}
	case n.get("as").present() && (column.get("range").present() || column.get("grid").present()):
		return r.readAsNew(c, n.get("as"))
	case n.get("as").present():
		return r.readAs(c, n.get("as"))
	case n.text() == "drop":
		return Policy{Action: Drop}
	}
	return Policy{Action: Refuse}
}

// readAs finds the category, written as it is declared, that a value counts as.
func (r *reader) readAs(c *Column, n node) Policy {
	name, categories := n.text(), c.Domain.finest.Categories
	code, fit := c.Domain.CodeOfText(name)
	if fit != Fits || categories[code].Code != name {
		p := Problem{Message: fmt.Sprintf("%q is no category of %s", clip(name), c.Name), Expected: someOf(categories) + "; a new one is added to the column's categories first"}
		r.problem(n, r.nearestFix(n, p, nearestCategory(&r.suggestions, name, categories)))
	}
	return Policy{Action: As, Category: code}
}

// readAsNew gives a range or grid a category for values that are not in it; unknown and null may
// share one.
func (r *reader) readAsNew(c *Column, n node) Policy {
	d, name := c.Domain, n.text()
	p := Problem{Expected: "a new name: in a range or grid these values get a category of their own", Fix: "{as: unknown}"}
	switch {
	case d.added == name && name != "":
		return Policy{Action: As, Category: d.Declared()}
	case name == "":
		p.Message = "an empty category"
	case d.has(name):
		p.Message = fmt.Sprintf("%s has a category %q already", c.Name, clip(name))
	default:
		code := d.append(name)
		if d.added == "" {
			d.added = name
		}
		return Policy{Action: As, Category: code}
	}
	r.problem(n, p)
	return Policy{Action: As}
}

// checkTotalChoices reports, for a total release, every bound that chooses among groups of a unit's rows, which lie in memory for
// that: how many they are and how long the unit's id is the data alone decide.
func (r *reader) checkTotalChoices(root node) {
	p := Problem{
		Message:  "privacy is total, yet how many rows a unit has decides whether the choice among its groups fits into memory",
		Expected: "no bound of groups: max_rows and `per_unit: {total}` bound a unit without a list of its rows",
	}
	for i := range r.release.Marginals {
		m := &r.release.Marginals[i]
		marginal := root.get("marginals").get(m.Name)
		if n := marginal.get("per_unit"); (m.PerUnit.Groups > 0 || m.PerUnit.RowsPerGroup > 0) && r.sound(n) {
			r.report(n.key, n.path, p)
		}
		for _, stat := range marginal.get("stats").items() {
			if n := stat.get("distinct"); n.present() && r.sound(n) {
				r.report(n.key, n.path, p)
			}
		}
	}
}

// checkTotal reports, for a total release, every policy under which a value could stop a run.
func (r *reader) checkTotal(root node) {
	if !r.release.Privacy.Total {
		return
	}
	for _, n := range root.get("impossible").items() {
		if rows := n.get("rows"); r.sound(n) && (!rows.present() || rows.text() == rowsError) {
			at := n
			if rows.present() {
				at = rows
			}
			r.problem(at, Problem{Message: "privacy is total, yet a row that is impossible stops the run", Expected: "rows: drop, which leaves it out", Fix: "rows: drop"})
		}
	}
	for i := range r.release.Marginals {
		m := &r.release.Marginals[i]
		if n := root.get("marginals").get(m.Name).get("cells"); m.Above > 0 && r.sound(n) {
			r.report(n.key, n.path, Problem{Message: "privacy is total, yet how many cells of a sparse table have rows decides whether they fit into memory", Expected: "no `cells`, so that every cell is counted"})
		}
		if n := root.get("marginals").get(m.Name).get("top"); m.Top > 0 && r.sound(n) {
			r.report(n.key, n.path, Problem{Message: "privacy is total, yet how many cells of a top table have rows decides whether they fit into memory", Expected: "no `top`, so that every cell is published"})
		}
	}
	r.checkTotalChoices(root)
	for _, s := range r.release.Synthetic {
		if n := root.get("synthetic").get(s.Table).get("parent"); s.Parent != "" && r.sound(n) {
			r.report(n.key, n.path, Problem{Message: fmt.Sprintf("privacy is total, yet how many rows of %s count decides whether they fit into memory", clip(s.Parent)), Expected: "no `parent`: microdata whose rows belong to no others"})
		}
	}
	for _, t := range r.release.Tables {
		if unit := root.get("tables").get(t.Name).get("unit"); t.Unit.ID != "" && t.Unit.Null != Drop && r.sound(unit) {
			at := unit
			if null := unit.get("null"); null.present() {
				at = null
			}
			r.report(at.key, at.path, Problem{Message: "privacy is total, yet a row whose " + clip(t.Unit.ID) + " is null stops the run", Expected: "null: drop in the unit, which leaves it out", Fix: "null: drop"})
		}
		if n := root.get("tables").get(t.Name).get("where"); t.Where != nil && t.Where.Unknown != Drop {
			r.report(n.key, n.path, Problem{Message: "privacy is total, yet a value that the condition cannot read stops the run", Expected: "{is: CONDITION, unknown: drop}, which leaves such rows out"})
		}
		if expect := root.get("tables").get(t.Name).get("expect"); expect.present() {
			r.report(expect.key, expect.path, Problem{Message: "privacy is total, yet expect stops the run where a rule fails", Expected: "no expect"})
		}
		columns := root.get("tables").get(t.Name).get("columns")
		for _, c := range t.Columns {
			n := columns.get(c.Name)
			if !r.sound(n) || c.DerivedFrom != nil {
				continue
			}
			r.checkTotalPolicy(n, "unknown")
			r.checkTotalPolicy(n, "null")
			r.checkTotalNumbers(c, n)
		}
		if n := root.get("tables").get(t.Name).get("weight"); t.Weight != nil && t.Weight.Null != Drop {
			r.report(n.key, n.path, Problem{Message: "privacy is total, yet a row without a weight stops the run", Expected: "null: drop, which leaves it out", Fix: "null: drop"})
		}
	}
}

// checkTotalNumbers reports, for a column of which there are statistics, an unknown value that counts as a category: one that
// is no number at all is none there.
func (r *reader) checkTotalNumbers(c *Column, n node) {
	if unknown := n.get("unknown"); r.figured[c.Name] && c.Unknown.Action == As && r.sound(unknown) {
		r.problem(unknown, Problem{
			Message:  fmt.Sprintf("privacy is total, yet a text in %s that is no number has no value for the statistics of %s, and stops the run", c.Name, c.Name),
			Expected: "drop: numbers beyond the range are clamped for statistics all the same", Fix: "unknown: drop",
		})
	}
}

func (r *reader) checkTotalPolicy(column node, key string) {
	at := node{value: column.key, path: column.path}
	if policy := column.get(key); policy.present() {
		if policy.text() != "error" {
			return
		}
		at = policy
	}
	r.problem(at, Problem{
		Message:  fmt.Sprintf("privacy is total, yet a value of %s that is %s stops the run", column.key.Value, key),
		Expected: "drop or {as: CATEGORY}", Fix: key + ": drop",
	})
}

// someOf lists the first of a column's categories.
func someOf(categories []Category) string {
	const shown = 8
	var names []string
	for _, c := range categories[:min(len(categories), shown)] {
		names = append(names, clip(c.Code))
	}
	list := oneOf(names)
	if more := len(categories) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
