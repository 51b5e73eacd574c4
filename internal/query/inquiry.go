package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
)

// This file resolves a question: it finds its names in the release, and the tables that hold it.

// resolvedQuestion is a question whose names were found.
type resolvedQuestion struct {
	plan       *compiled.Compiled
	among      []*spec.Table // the confidential tables whose rows may be meant
	by         []spec.Attribute
	wheres     []spec.Attribute
	conditions []Condition
}

// resolveQuestion finds the names of a question. If one is not there, it returns an error that suggests the nearest
// name.
func resolveQuestion(p *compiled.Compiled, q Question) (*resolvedQuestion, error) {
	a := &resolvedQuestion{plan: p}
	var err error
	if a.among, err = tablesAsked(p.Release(), q); err != nil {
		return nil, err
	}
	for _, by := range q.By {
		attribute, _, err := a.findAttribute(by)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(a.by, func(other spec.Attribute) bool { return other.Column == attribute.Column }) {
			return nil, fmt.Errorf("column %s is asked for twice: give each column once in --by", attribute.Column)
		}
		a.by = append(a.by, attribute)
	}
	for _, where := range q.Where {
		name, codes, ok := strings.Cut(where, "=")
		if !ok {
			return nil, fmt.Errorf("condition %q: expected attribute=code, such as %s", where,
				exampleCondition(p.Release()))
		}
		attribute, level, err := a.findAttribute(name)
		if err != nil {
			return nil, err
		}
		c, err := conditionOf(attribute, name, level, codes)
		if several := a.conditionsIn(where); err != nil && len(several) > 1 {
			return nil, fmt.Errorf("condition %q: a comma stands between categories of one attribute; give each "+
				"condition by its own: --where %s", where, strings.Join(several, " --where "))
		}
		if err != nil {
			return nil, err
		}
		a.wheres, a.conditions = append(a.wheres, attribute), append(a.conditions, c)
	}
	return a, nil
}

// tablesAsked returns the confidential tables whose rows a question may count: the one that it names, or the only one
// that has all of its columns. If none has, it returns all, so that the error is about the unknown name.
func tablesAsked(r *spec.Release, q Question) ([]*spec.Table, error) {
	var names, fit []string
	for _, t := range r.Tables {
		names = append(names, t.Name)
		if t.Name == q.Table {
			return []*spec.Table{t}, nil
		}
		lacks := func(attribute string) bool {
			column, _, _ := strings.Cut(attribute, ".")
			return t.Column(column) == nil
		}
		if !slices.ContainsFunc(q.By, lacks) && !slices.ContainsFunc(q.Where, func(where string) bool {
			name, _, _ := strings.Cut(where, "=")
			return lacks(name)
		}) {
			fit = append(fit, t.Name)
		}
	}
	switch {
	case q.Table != "":
		return nil, published.NoSuch("confidential table", q.Table, names)
	case len(fit) > 1:
		return nil, fmt.Errorf("tables %s have these columns: say with --table whose rows are to be counted",
			strings.Join(fit, " and "))
	case len(fit) == 1:
		return []*spec.Table{r.Table(fit[0])}, nil
	}
	return r.Tables, nil
}

// conditionsIn splits a text at the commas that are followed by another attribute and =.
func (a *resolvedQuestion) conditionsIn(text string) []string {
	return published.SplitPairs(text, func(name string) bool {
		_, _, err := a.findAttribute(name)
		return err == nil
	})
}

// errNoCategory is the error for a question whose conditions no row can meet.
var errNoCategory = errors.New("no category meets all conditions on this column")

// findAttribute finds an attribute of the release. For a derived column it returns the attribute by which its rows are
// counted, so that every table that has the origin can answer.
func (a *resolvedQuestion) findAttribute(name string) (spec.Attribute, *domain.Level, error) {
	column, levelName, dotted := strings.Cut(name, ".")
	out := spec.Attribute{Column: column, Level: levelName}
	var columns, levels []string
	for _, t := range a.among {
		for _, c := range t.Columns {
			if c.Domain == nil { // only for statistics
				continue
			}
			columns = append(columns, c.Name)
			if c.Name != column {
				continue
			}
			if level, ok := c.Domain.Level(levelName); ok && (!dotted || levelName != "") {
				return attributes.Counted(t, out), level, nil
			}
			for _, l := range c.Domain.LevelNames() {
				levels = append(levels, column+"."+l)
			}
		}
	}
	if !slices.Contains(columns, column) {
		if err := a.notCounted(name); err != nil {
			return out, nil, err
		}
		return out, nil, published.NoSuch("column", column, columns)
	}
	return out, nil, published.NoSuch("attribute", name, levels)
}

// notCounted returns an error if name is a figure, or a column that has only figures: rows cannot be counted by it. It
// returns nil for other names.
func (a *resolvedQuestion) notCounted(name string) error {
	for _, t := range a.plan.Tables {
		for _, f := range t.Figures {
			if f.Name == name && f.Sums != "" && f.Column != "" {
				return fmt.Errorf("%s is a figure of table %s, and rows are not counted by it: for the mean or the sum "+
					"of its column over cells of your choice, give --statistic mean=%[3]s or --statistic sum=%[3]s; the "+
					"cells of the table are in %[4]s", name, t.Path, f.Column, t.File())
			}
			if f.Name == name {
				return fmt.Errorf("%s is a figure of table %s: questions are about counts, and figures of cells do "+
					"not add up to figures of other cells; read it there (%s)", name, t.Path, t.File())
			}
		}
	}
	for _, t := range a.plan.Release().Tables {
		if c := t.Column(name); c != nil && c.Domain == nil {
			return fmt.Errorf("column %s has no categories to count by: the tables have statistics of it; where one is "+
				"its mean or its sum, ask for that by --statistic mean=%[1]s or sum=%[1]s", name)
		}
	}
	return nil
}

// rangeMark stands between the first and the last code of a range.
const rangeMark = ".."

// conditionOf reads the codes of a condition: one, or several separated by commas, each of which may be a range. A text
// that is a code, commas and dots included, is read as that code.
func conditionOf(attribute spec.Attribute, name string, level *domain.Level, text string) (Condition, error) {
	c := Condition{Attribute: name}
	codes := published.CategoryCodes(level)
	if len(codes) == 0 {
		return c, fmt.Errorf("no category of %s is listed, and none can be asked for: `show FOLDER TABLE` prints "+
			"those that the release has", attribute)
	}
	parts := strings.Split(text, ",")
	if _, _, ranged := rangeOf(codes, text); ranged || indexOf(codes, text) >= 0 {
		parts = []string{text}
	}
	for _, part := range parts {
		from, to, ranged := rangeOf(codes, part)
		at := indexOf(codes, part)
		switch {
		case at >= 0:
			c.Codes, c.given = append(c.Codes, codes[at]), append(c.given, codes[at])
		case ranged && from > to:
			return c, fmt.Errorf("range %q of %s runs backwards: %s comes before %s, so give %s%s%s", part, attribute,
				codes[to],
				codes[from], codes[to], rangeMark, codes[from])
		case ranged:
			c.Codes, c.given = append(c.Codes, codes[from:to+1]...), append(c.given, part)
		default:
			return c, unknownCode(attribute, codes, part)
		}
	}
	return c, nil
}

// indexOf returns the index of a code, −1 if there is none. A hyphen, which keyboards have, stands for the dash of a
// label such as 15–29 if only one code reads so.
func indexOf(codes []string, text string) int {
	if at := slices.Index(codes, text); at >= 0 {
		return at
	}
	found := -1
	for i, code := range codes {
		if strings.ReplaceAll(code, "–", "-") != text {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// rangeOf finds the two categories that a text names as the ends of a range, wherever the mark between them is.
func rangeOf(codes []string, text string) (from, to int, ok bool) {
	for i := range text {
		if !strings.HasPrefix(text[i:], rangeMark) {
			continue
		}
		from, to = indexOf(codes, text[:i]), indexOf(codes, text[i+len(rangeMark):])
		if from >= 0 && to >= 0 {
			return from, to, true
		}
	}
	return 0, 0, false
}

// unknownCode returns the error for a code that does not exist; for a range, it names the missing end.
func unknownCode(attribute spec.Attribute, codes []string, text string) error {
	from, to, ranged := strings.Cut(text, rangeMark)
	switch {
	case ranged && slices.Contains(codes, from):
		text = to
	case ranged:
		text = from
	}
	return published.NoSuch("category of "+attribute.String(), text, codes)
}

// exampleCondition returns a condition that the release can answer.
func exampleCondition(r *spec.Release) string {
	for _, t := range r.Tables {
		for _, c := range t.Columns {
			if c.Domain == nil {
				continue
			}
			if level, ok := c.Domain.Level(""); ok {
				return c.Name + "=" + level.Categories[0].Code
			}
		}
	}
	return "region=north"
}

// matchingTable is a published table whose cells, added up, are the answer.
type matchingTable struct {
	table     int
	groupings []synth.Grouping
	members   [][][]int // by key and row: the categories
	keys      []int     // by attribute of the question: the index of its key
	codes     [][]string
	deviation float64
}

// matchingTables returns the published tables that hold the question. If there is none that counts all rows, it returns
// the first that counts fewer rows of a unit or, failing that, the first sparse one, which gives only single cells. It
// returns an error if there is none at all.
func (a *resolvedQuestion) matchingTables() ([]matchingTable, error) {
	var out, bounded, sparse []matchingTable
	var near []nearMiss
	for i, t := range a.plan.Tables {
		if !slices.ContainsFunc(a.among, func(of *spec.Table) bool { return of.Name == t.From }) {
			continue
		}
		h, lacks, err := a.match(i)
		switch {
		case err != nil:
			return nil, err
		case lacks != nil:
			near = append(near, nearMiss{t.Path, lacks})
		case selecting[t.Selects()].singly:
			sparse = append(sparse, h)
		case t.PerUnit != spec.PerUnit{}:
			bounded = append(bounded, h)
		default:
			out = append(out, h)
		}
	}
	switch {
	case out != nil:
		return out, nil
	case bounded != nil:
		return bounded[:1], nil
	case sparse != nil:
		return sparse[:1], nil
	}
	return nil, noMatch(near)
}

// nearMiss is a table that does not hold a question, with what it lacks.
type nearMiss struct {
	path  string
	lacks []lack
}

// lack is a reason why a table does not hold a question. A missing column is worse than categories that are divided
// differently.
type lack struct {
	says   string
	column bool
}

// penalty orders tables by what they lack.
func (n nearMiss) penalty() int {
	sum := 0
	for _, l := range n.lacks {
		if sum++; l.column {
			sum += 2
		}
	}
	return sum
}

// noMatch returns an error that names the tables that lack least.
func noMatch(near []nearMiss) error {
	slices.SortStableFunc(near, func(x, y nearMiss) int { return x.penalty() - y.penalty() })
	if near == nil {
		return errors.New("the release has no tables, and microdata answer no query: what is counted in them has no interval")
	}
	const most = 3
	text := "no published table holds all of this. Nearest:"
	for i, n := range near {
		if i == most || n.penalty() > near[0].penalty() {
			break
		}
		var says []string
		for _, l := range n.lacks {
			says = append(says, l.says)
		}
		text += fmt.Sprintf("\n  %s: %s", n.path, strings.Join(says, "; "))
	}
	return errors.New(text)
}

// match groups the cells of a table by the rows of the question; lacks says why it cannot.
func (a *resolvedQuestion) match(table int) (h matchingTable, lacks []lack, err error) {
	p := a.plan
	t := p.Tables[table]
	if says := selecting[t.Selects()].notAdded; says != "" {
		return h, []lack{{says: says}}, nil
	}
	q := p.Query(t)
	levels, err := q.Levels(p.Release())
	if err != nil {
		return h, nil, err
	}
	h = matchingTable{table: table, keys: make([]int, len(a.by)), codes: make([][]string, len(a.by))}
	lacks = append(a.missingColumns(q), lacksRows(t)...)
	if t.CountsUnits() {
		lacks = append(lacks, lack{says: fmt.Sprintf("counts each %s once in every cell, and no rows",
			p.Guarantee.Protects)})
	}
	for key, f := range q.Factors {
		column := p.Release().Table(q.Table).Column(f.Attribute)
		classes, codes, ok := a.rowOfCategory(column)
		if !ok {
			return h, nil, fmt.Errorf("%s: %w", column.Name, errNoCategory)
		}
		of, whole := rowOfLevel(column.Domain.Size(), levels[key], classes)
		if !whole {
			lacks = append(lacks, lack{says: fmt.Sprintf("categories of %s lie across those asked for", f)})
		}
		g := synth.Grouping{RowOf: of, Rows: len(codes)}
		h.groupings, h.members = append(h.groupings, g), append(h.members, g.Members())
		for i, by := range a.by {
			if by.Column == f.Attribute {
				h.keys[i], h.codes[i] = key, codes
			}
		}
	}
	return h, lacks, nil
}

// missingColumns returns the columns of the question that a query does not have.
func (a *resolvedQuestion) missingColumns(q plan.Query) []lack {
	var out []lack
	for _, attribute := range append(slices.Clone(a.by), a.wheres...) {
		has := slices.ContainsFunc(q.Factors, func(f plan.Factor) bool { return f.Attribute == attribute.Column })
		l := lack{"has no " + attribute.Column, true}
		if !has && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// rowOfCategory returns, for every base category of a column, the row in which it is counted, −1 for none, with the
// rows' codes: one row without a code if the question is not by the column. It returns false if no category is counted.
func (a *resolvedQuestion) rowOfCategory(column *spec.Column) (of []int, codes []string, ok bool) {
	of = make([]int, column.Domain.Size())
	for i, where := range a.wheres {
		if where.Column != column.Name {
			continue
		}
		level, found := column.Domain.Level(where.Level)
		if !found {
			return nil, nil, false
		}
		meets := make([]bool, level.Size())
		for category, c := range level.Categories {
			meets[category] = slices.Contains(a.conditions[i].Codes, c.Code)
		}
		for base := range of {
			if !meets[level.Category(base)] {
				of[base] = -1
			}
		}
	}
	if !slices.Contains(of, 0) {
		return nil, nil, false
	}
	at := slices.IndexFunc(a.by, func(by spec.Attribute) bool { return by.Column == column.Name })
	if at < 0 {
		return of, []string{""}, true
	}
	level, found := column.Domain.Level(a.by[at].Level)
	if !found {
		return nil, nil, false
	}
	counted := make([]bool, level.Size())
	for base, row := range of {
		if row >= 0 {
			counted[level.Category(base)] = true
		}
	}
	row := make([]int, level.Size())
	for category, c := range level.Categories {
		row[category] = -1
		if counted[category] {
			row[category] = len(codes)
			codes = append(codes, c.Code)
		}
	}
	for base := range of {
		if of[base] >= 0 {
			of[base] = row[level.Category(base)]
		}
	}
	return of, codes, true
}

// rowOfLevel returns, for every category of a level, the row in which it is counted; whole is false if one lies in
// several. A category without base categories is in no row.
func rowOfLevel(base int, level *domain.Level, classes []int) (of []int, whole bool) {
	of, whole = slices.Repeat([]int{-1}, level.Size()), true
	seen := make([]bool, level.Size())
	for b := range base {
		category := level.Category(b)
		whole = whole && (!seen[category] || of[category] == classes[b])
		of[category], seen[category] = classes[b], true
	}
	return of, whole
}

// questionRow is a row of the question, and its index among the rows of the table's groupings.
type questionRow struct {
	keys []string
	at   int
}

// questionRows returns the rows of the question, in its own order of attributes, the last one's categories fastest.
func (h matchingTable) questionRows(a *resolvedQuestion) []questionRow {
	strides := make([]int, len(h.groupings))
	n := 1
	for key := len(h.groupings) - 1; key >= 0; key-- {
		strides[key] = n
		n *= h.groupings[key].Rows
	}
	out := []questionRow{{keys: []string{}}}
	for i := range a.by {
		next := make([]questionRow, 0, len(out)*len(h.codes[i]))
		for _, row := range out {
			for c, code := range h.codes[i] {
				next = append(next, questionRow{append(slices.Clone(row.keys), code), row.at + strides[h.keys[i]]*c})
			}
		}
		out = next
	}
	return out
}

// selectedCategories returns the categories of each key that a row adds up.
func (h matchingTable) selectedCategories(row int) [][]int {
	out := make([][]int, len(h.members))
	for key := len(h.members) - 1; key >= 0; key-- {
		out[key] = h.members[key][row%len(h.members[key])]
		row /= len(h.members[key])
	}
	return out
}

// cellsIn returns the number of cells of the table that a row adds up.
func (h matchingTable) cellsIn(row int) int {
	n := 1
	for _, s := range h.selectedCategories(row) {
		n *= len(s)
	}
	return n
}

// cellIndex returns the index of the one cell that is selected, −1 if there are several.
func (h matchingTable) cellIndex(selected [][]int) int {
	at := 0
	for key, s := range selected {
		if len(s) != 1 {
			return -1
		}
		at = at*len(h.groupings[key].RowOf) + s[0]
	}
	return at
}
