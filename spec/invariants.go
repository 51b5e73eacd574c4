package spec

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
)

// This file reads invariants: public figures, from a file or from the spec itself, with which published counts agree.

// countColumn is the name of the column with the figures in a file of figures.
const countColumn = "count"

// figures are the cells of an invariant while they are read.
type figures struct {
	by     []Attribute
	levels []*domain.Level
	codes  []map[string]int // the code of each category, by level
	counts []int64
	cells  []string // where the figure of each cell was found, "" for none yet
}

func (r *reader) readInvariants(root document.Node) {
	for _, n := range r.Entries(root.Get("invariants")) {
		if !r.IsSound(n) {
			continue
		}
		t := r.readTable(n, "the table whose rows the figures count")
		if t == nil || !r.checkInvariant(root, t, n) {
			continue
		}
		f := r.readCells(root, t, n.Get("by"))
		if f == nil {
			continue
		}
		i := Invariant{Name: n.Key.Value, Table: t.Name, By: f.by}
		var ok bool
		if n.Get("from").Present() {
			i.File, ok = r.readFigures(n.Get("from"), f)
		} else {
			ok = r.readPlain(n.Get("values"), f)
		}
		if i.Counts = f.counts; !ok || !r.checkTotalOf(t, i, n) {
			continue
		}
		if !slices.ContainsFunc(r.release.Invariants, func(o Invariant) bool {
			return o.Table == i.Table &&
				r.reportContradiction(t, o, i, n)
		}) {
			r.release.Invariants = append(r.release.Invariants, i)
		}
	}
}

// checkInvariant reports an invariant of a table that cannot have one, and an invariant without figures or with two
// sets of them.
func (r *reader) checkInvariant(root document.Node, t *Table, n document.Node) bool {
	from, values := n.Get("from"), n.Get("values")
	switch {
	case isPublic(root.Get("tables").Get(t.Name)):
		r.NotBuilt(n.Heading(), n.Path, "invariants of a public table")
		r.MarkUnbuilt(n)
	case t.isWeighted():
		r.Report(n.Heading(), n.Path, document.Problem{
			Message:  fmt.Sprintf("rows of %s count by their weights, and an invariant is a number of rows", t.Name),
			Expected: "an invariant of a table without `weight`",
		})
	case from.Present() && values.Present():
		r.Report(values.Heading(), values.Path, document.Problem{Message: "from and values do not go together",
			Expected: "the figures in a file or in the spec"})
	case !from.Present() && !values.Present():
		r.Report(n.Heading(), n.Path, document.Problem{
			Message: "there are no figures",
			Expected: "from: a CSV file with a column for each attribute and one called count; or values: the number " +
				"of rows, or each category of the one attribute with its figure",
		})
	default:
		return true
	}
	return false
}

// readCells reads the attributes of an invariant, no two of the same column. It returns nil if a problem was reported.
func (r *reader) readCells(root document.Node, t *Table, n document.Node) *figures {
	first := map[string]Attribute{}
	f := &figures{}
	f.by = r.readAttributes(root, t, n, func(a Attribute) (document.Problem, bool) {
		before, twice := first[t.originOf(a).Column]
		first[t.originOf(a).Column] = a
		return document.Problem{Message: fmt.Sprintf("%s and %s are of one column", before, a),
			Expected: "each column once, at one level"}, !twice
	})
	if f.by == nil || len(f.by) < len(n.Items()) {
		return nil
	}
	cells := 1
	for _, a := range f.by {
		level := levelOf(t, a)
		if level == nil {
			return nil // not built, or already reported
		}
		if cells > domain.MaxCells/max(level.Size(), 1) {
			r.AddProblem(n, document.Problem{Message: domain.ErrTooFine.Error(),
				Expected: "coarser levels or fewer attributes"})
			return nil
		}
		cells *= level.Size()
		codes := make(map[string]int, level.Size())
		for i, c := range level.Categories {
			codes[c.Code] = i
		}
		f.levels, f.codes = append(f.levels, level), append(f.codes, codes)
	}
	f.counts, f.cells = make([]int64, cells), make([]string, cells)
	return f
}

// missingCells names the cells without a figure, "" if there are none.
func (f *figures) missingCells() string {
	first, more := -1, 0
	for cell, at := range f.cells {
		switch {
		case at != "":
		case first < 0:
			first = cell
		default:
			more++
		}
	}
	switch {
	case first < 0:
		return ""
	case more > 0:
		return fmt.Sprintf("%s, nor of %d more", f.cellName(first), more)
	}
	return f.cellName(first)
}

// cellName names a cell by its categories.
func (f *figures) cellName(at int) string {
	var parts []string
	for k := len(f.by) - 1; k >= 0; k-- {
		size := f.levels[k].Size()
		parts = append(parts, fmt.Sprintf("%s = %s", f.by[k], document.Clip(f.levels[k].Categories[at%size].Code)))
		at /= size
	}
	if parts == nil {
		return "all rows"
	}
	slices.Reverse(parts)
	return strings.Join(parts, ", ")
}

// readPlain reads figures that are written in the spec.
func (r *reader) readPlain(n document.Node, f *figures) bool {
	pairs := n.Pairs()
	switch {
	case len(f.by) > 1:
		r.AddProblem(n, document.Problem{Message: fmt.Sprintf("figures by %d attributes", len(f.by)),
			Expected: "from: a CSV file with a column for each attribute and one called count"})
		return false
	case len(f.by) == 0 && pairs != nil:
		r.AddProblem(n, document.Problem{Message: "figures of categories, and `by` names no attribute",
			Expected: "the number of rows, or an attribute in `by`"})
		return false
	case len(f.by) == 0:
		f.counts[0], f.cells[0] = n.WholeNumber(), "here"
		return true
	case pairs == nil:
		r.AddProblem(n, document.Problem{Message: "one figure for all categories of " + f.by[0].String(),
			Expected: "each category with its figure, such as {" + document.Clip(f.levels[0].Categories[0].Code) +
				": " +
				document.Clip(n.Text()) + "}"})
		return false
	}
	ok := true
	for _, pair := range r.Entries(n) {
		code, known := f.codes[0][pair.Key.Value]
		if !known {
			at := pair.KeyNode()
			r.AddProblem(at, domain.NoCategory(r.Findings, at, f.by[0].String(), f.levels[0].Categories))
			ok = false
			continue
		}
		f.counts[code], f.cells[code] = pair.WholeNumber(), "here"
	}
	if missing := f.missingCells(); ok && missing != "" {
		r.Report(n.Heading(), n.Path, document.Problem{Message: "no figure of " + missing,
			Expected: "a figure for each category, 0 where there is no row"})
		ok = false
	}
	return ok
}

// readFigures reads the figures of a file, which becomes part of the release's source, and returns its path.
func (r *reader) readFigures(at document.Node, f *figures) (string, bool) {
	path, ok := r.params.Fill(at)
	if !ok {
		return "", false
	}
	content, ok := r.files.ReadTable(at, "figures", path, files.CSV)
	if !ok {
		return "", false
	}
	headed := countColumn
	for i := len(f.by) - 1; i >= 0; i-- {
		headed = f.by[i].String() + "," + headed
	}
	p := &publicTable{named: at, Table: files.Table{File: path, Description: "table of figures", RowNoun: "cells",
		Headed: headed,
		Comma:  ','}}
	used, problem := p.readFigures(content, f)
	if problem != nil {
		problem.Expected += fmt.Sprintf(" (the figures are named in line %d of %s)", at.Value.Line, r.File)
		r.ReportIn(at.Value, at.Path, *problem)
		return "", false
	}
	r.files.Use(at, &p.Table, used...)
	return path, true
}

// readFigures reads the figures of a file, and returns the names of the columns that it used.
func (p *publicTable) readFigures(content *files.Unpacked, f *figures) (used []string, problem *document.Problem) {
	if problem := p.Table.Read(content); problem != nil {
		return nil, problem
	}
	columns := make([]int, len(f.by)+1)
	for i := range columns {
		names := []string{countColumn}
		if i < len(f.by) {
			if names = []string{f.by[i].String()}; f.by[i].Level != "" {
				names = append(names, f.by[i].Level)
			}
		}
		columns[i] = -1
		for _, name := range names {
			if columns[i] < 0 {
				columns[i] = slices.Index(p.Header, name)
			}
		}
		if columns[i] < 0 || slices.Contains(columns[:i], columns[i]) {
			problem := p.Problem(1, 1, fmt.Sprintf("no column %q", document.Clip(names[0])), "a header as "+p.Headed)
			problem.Nearest = document.Nearest(names[0], p.Header)
			return nil, problem
		}
		used = append(used, p.Header[columns[i]])
	}
	for row, fields := range p.Rows {
		if problem := p.readFigure(row, fields, columns, f); problem != nil {
			return nil, problem
		}
	}
	if missing := f.missingCells(); missing != "" {
		return nil, p.Problem(1, 1, "no figure of "+missing,
			fmt.Sprintf("a line for each of %d cells, with 0 where there is no row", len(f.counts)))
	}
	return used, nil
}

var countDigits = regexp.MustCompile(`^[0-9]+$`)

// readFigure reads the figure of a row.
func (p *publicTable) readFigure(row int, fields []string, columns []int, f *figures) *document.Problem {
	cell := 0
	for i, level := range f.levels {
		code, known := f.codes[i][fields[columns[i]]]
		if !known {
			problem := p.InField(row, columns[i],
				fmt.Sprintf("%q is no category of %s", document.Clip(fields[columns[i]]),
					f.by[i]), domain.FirstFewOf(level.Categories))
			problem.Nearest = domain.Nearest(new(document.Suggestions), fields[columns[i]], level.Categories)
			return problem
		}
		cell = cell*level.Size() + code
	}
	if f.cells[cell] != "" {
		return p.InField(row, columns[0], "a second figure of "+f.cellName(cell),
			"each cell once; the first is "+f.cells[cell])
	}
	text := fields[columns[len(f.by)]]
	count, err := strconv.ParseInt(text, 10, 64)
	switch {
	case strings.HasPrefix(text, "-") && countDigits.MatchString(text[1:]):
		return p.InField(row, columns[len(f.by)], document.Clip(text)+" is negative", "a number of rows")
	case !countDigits.MatchString(text):
		return p.InField(row, columns[len(f.by)], fmt.Sprintf("%q is no whole number", document.Clip(text)),
			"a number of rows, in digits")
	case err != nil || count > MaxCount:
		return p.InField(row, columns[len(f.by)], document.Clip(text)+" is too large", "2^40 at most")
	}
	f.counts[cell], f.cells[cell] = count, p.RowPosition(row)
	return nil
}

// checkTotalOf reports figures whose sum is beyond MaxCount or outside the rows that the table expects.
func (r *reader) checkTotalOf(t *Table, i Invariant, n document.Node) bool {
	var total int64
	for _, c := range i.Counts {
		if total += c; total > MaxCount {
			r.Report(n.Heading(), n.Path, document.Problem{Message: "its figures add up to more than 2^40",
				Expected: "numbers of rows"})
			return false
		}
	}
	e := t.Expect
	switch {
	case e == nil || e.Rows == nil:
		return true
	case total > e.Rows.Most:
		r.Report(n.Heading(), n.Path, document.Problem{
			Message: fmt.Sprintf("its figures add up to %d rows, and by expect.rows %d of %s count at most", total,
				e.Rows.Most,
				t.Name),
			Expected: "figures of no more rows than count, or another range under expect",
		})
	case total < e.Rows.Least && t.Unit.Row && t.measuresAll():
		r.Report(n.Heading(), n.Path, document.Problem{
			Message: fmt.Sprintf("its figures add up to %d rows, and by expect.rows %d of %s count at least", total,
				e.Rows.Least, t.Name),
			Expected: "figures of all rows, or another range under expect",
		})
	default:
		return true
	}
	return false
}

// reportContradiction compares two invariants of a table, and reports at the second if they disagree.
func (r *reader) reportContradiction(t *Table, first, second Invariant, n document.Node) bool {
	one, other, name := commonMargins(t, first, second)
	for cell, count := range one {
		if other[cell] != count {
			r.Report(n.Heading(), n.Path, document.Problem{
				Message: fmt.Sprintf("invariants %s and %s contradict each other: of %s the one has %d rows, the other %d",
					first.Name, second.Name, name(cell), count, other[cell]),
				Expected: "figures of the same rows",
			})
			return true
		}
	}
	for _, pair := range [][2]Invariant{{second, first}, {first, second}} {
		if says := findExcess(t, pair[0], pair[1]); says != "" {
			r.Report(n.Heading(), n.Path, document.Problem{
				Message:  fmt.Sprintf("invariants %s and %s contradict each other: %s", first.Name, second.Name, says),
				Expected: "figures of the same rows",
			})
			return true
		}
	}
	return false
}

// findExcess looks for a cell of one invariant with more rows than the cell of the other that contains it, and
// describes it; it returns "" if there is none. Both invariants are first summed to their common columns, whose levels
// may cross.
func findExcess(t *Table, inner, outer Invariant) string {
	innerOffsets, outerOffsets := make([][]int, len(inner.By)), make([][]int, len(outer.By))
	var small, large []*domain.Level
	var holders [][]int
	var named [2][]Attribute
	innerStride, outerStride := 1, 1
	for i, a := range inner.By {
		for j, b := range outer.By {
			if t.originOf(a).Column != t.originOf(b).Column {
				continue
			}
			fine, coarse := levelOf(t, t.originOf(a)), levelOf(t, t.originOf(b))
			innerOffsets[i], outerOffsets[j] = multiples(fine.Size(), innerStride),
				multiples(coarse.Size(), outerStride)
			holders = append(holders, containingCategories(t.Column(t.originOf(a).Column).Domain.Size(), fine, coarse))
			small, large = append(small, fine), append(large, coarse)
			named[0], named[1] = append(named[0], a), append(named[1], b)
			innerStride, outerStride = innerStride*fine.Size(), outerStride*coarse.Size()
		}
	}
	rows, most := sumByOffsets(t, inner, innerOffsets, innerStride), sumByOffsets(t, outer, outerOffsets, outerStride)
	for cell, count := range rows {
		rest, at, stride := cell, 0, 1
		var within, around []string
		for k, level := range small {
			c := rest % level.Size()
			rest /= level.Size()
			holder := holders[k][c]
			if holder < 0 {
				at = -1
				break
			}
			at, stride = at+holder*stride, stride*large[k].Size()
			within = append(within, fmt.Sprintf("%s = %s", named[0][k], document.Clip(level.Categories[c].Code)))
			around = append(around, fmt.Sprintf("%s = %s", named[1][k],
				document.Clip(large[k].Categories[holder].Code)))
		}
		if at >= 0 && count > most[at] {
			return fmt.Sprintf("%s has %d rows of %s, and %s has %d of %s, which lies within that", outer.Name,
				most[at],
				strings.Join(around, ", "), inner.Name, count, strings.Join(within, ", "))
		}
	}
	return ""
}

// multiples returns the first size multiples of stride.
func multiples(size, stride int) []int {
	out := make([]int, size)
	for i := range out {
		out[i] = i * stride
	}
	return out
}

// containingCategories returns for each category of level of the category of level in that contains it, −1 if there is
// none.
func containingCategories(base int, of, in *domain.Level) []int {
	out := make([]int, of.Size())
	seen := make([]bool, of.Size())
	for b := range base {
		c, holder := of.Category(b), in.Category(b)
		if seen[c] && out[c] != holder {
			holder = -1
		}
		out[c], seen[c] = holder, true
	}
	return out
}

// commonMargins sums two invariants of a table to the finest marginal that both determine: for each common column, to
// groups of categories that are unions of categories of both. name names a cell of that marginal.
func commonMargins(t *Table, first, second Invariant) (one, other []int64, name func(cell int) string) {
	ofFirst, ofSecond := make([][]int, len(first.By)), make([][]int, len(second.By))
	sizes := []int{}
	var names [][]string
	stride := 1
	for i, a := range first.By {
		for j, b := range second.By {
			if t.originOf(a).Column != t.originOf(b).Column {
				continue
			}
			fine, coarse := levelOf(t, t.originOf(a)), levelOf(t, t.originOf(b))
			base := t.Column(t.originOf(a).Column).Domain.Size()
			groups := 0
			ofFirst[i], ofSecond[j], groups = domain.Merged(base, fine, coarse)
			named := make([]string, groups)
			label := func(of []int, a Attribute, l *domain.Level) {
				for c := len(of) - 1; c >= 0; c-- {
					named[of[c]] = fmt.Sprintf("%s = %s", a, document.Clip(l.Categories[c].Code))
				}
			}
			if label(ofFirst[i], a, fine); coarse.Size() < fine.Size() {
				label(ofSecond[j], b, coarse)
			}
			sizes, names = append(sizes, groups), append(names, named)
			for _, of := range [][]int{ofFirst[i], ofSecond[j]} {
				for c := range of {
					of[c] *= stride
				}
			}
			stride *= groups
		}
	}
	name = func(cell int) string {
		if len(sizes) == 0 {
			return "all rows"
		}
		var parts []string
		for k, size := range sizes {
			parts = append(parts, names[k][cell%size])
			cell /= size
		}
		return strings.Join(parts, ", ")
	}
	return sumByOffsets(t, first, ofFirst, stride), sumByOffsets(t, second, ofSecond, stride), name
}

// sumByOffsets sums the figures of an invariant. of[k][c] is what category c of attribute k adds to the index of the
// sum; nil adds nothing.
func sumByOffsets(t *Table, i Invariant, of [][]int, sums int) []int64 {
	at := []int{0}
	for k, a := range i.By {
		size := levelOf(t, a).Size()
		next := make([]int, 0, len(at)*size)
		for _, before := range at {
			for c := range size {
				if of[k] == nil {
					next = append(next, before)
				} else {
					next = append(next, before+of[k][c])
				}
			}
		}
		at = next
	}
	out := make([]int64, sums)
	for cell, sum := range at {
		out[sum] += i.Counts[cell]
	}
	return out
}

// TotalOf returns an invariant of a confidential table; all of them have the same total. ok is false if there is none.
func (r *Release) TotalOf(table string) (Invariant, bool) {
	at := slices.IndexFunc(r.Invariants, func(i Invariant) bool { return i.Table == table })
	if at < 0 {
		return Invariant{}, false
	}
	return r.Invariants[at], true
}
