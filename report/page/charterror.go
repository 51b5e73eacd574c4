package page

// This file shows how good each table is, in one row of a list: a strip of its relative margins, and what its cells can
// be used for.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/shading"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/report/notes"
	"github.com/dprelease/dprelease/spec/language"
)

// errorRow is a count of a table.
type errorRow struct {
	ID        string // of the table's first row, "" for others
	Table     report.Table
	Statistic report.Statistic
	Chart     string // id of its first chart, "" if it has none
	Zero      string // id of its list of cells that could be zero, "" if it has none
	Strip     *errorStrip
	Fit       []fitPart
}

// errorStrip is the distribution of the relative margins of a table's cells: a line from the first to the ninth decile,
// and a dot at the median.
type errorStrip struct{ From, Width, At, Text string }

// fitPart is the share of a table's cells that are in one class of use.
type fitPart struct {
	Name        string
	Shade       int // 6 for the best, 0 for the last
	From, Width string
	Share       string
}

// errorStops are relative margins at equal distances on the scale: each about twice the one before.
var errorStops = []float64{0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2}

// errorAt returns the position of a relative margin, interpolated between the stops.
func errorAt(ratio float64) float64 {
	last := len(errorStops) - 1
	for i := range last {
		if low, high := errorStops[i], errorStops[i+1]; ratio < high {
			return (float64(i) + (ratio-low)/(high-low)) / float64(last)
		}
	}
	return 1
}

// errorTable is a list of tables with their errors.
type errorTable struct {
	Name        string
	Key         []fitPart // the classes, for the first list, as the first table that has them names them
	Ticks       []tick
	Rows        []errorRow
	Typical     aligned // of typical margins
	Differences bool
}

// firstErrors is the number of rows that are shown if there are more than mostErrors; the others are folded.
const (
	firstErrors = 24
	mostErrors  = 36
)

// FirstErrors returns the tables that are always shown.
func (p page) FirstErrors() errorTable {
	rows := p.errorRows()
	l := p.In()
	t := errorTable{Name: l.Text("Error of each table"), Ticks: errorTicks(l), Rows: rows,
		Typical: p.ErrorColumns().Half, Differences: p.HasCellDifferences()}
	if at := slices.IndexFunc(rows, func(r errorRow) bool { return r.Fit != nil }); at >= 0 {
		t.Key = rows[at].Fit
	}
	if len(rows) > mostErrors {
		t.Rows = rows[:firstErrors]
	}
	return t
}

// MoreErrors returns the others, nil if there are none.
func (p page) MoreErrors() *errorTable {
	rows := p.errorRows()
	if len(rows) <= mostErrors {
		return nil
	}
	l := p.In()
	return &errorTable{Name: l.Text("Error of each of the other tables"), Ticks: errorTicks(l),
		Rows: rows[firstErrors:], Typical: p.ErrorColumns().Half, Differences: p.HasCellDifferences()}
}

// errorTicks returns the relative margins that are written above the strips.
func errorTicks(l *language.Language) []tick {
	var all []tick
	for _, v := range []float64{0.01, 0.1, 1} {
		all = append(all, tick{Text: l.Number(words.Relative(v)), At: percent(errorAt(v)), Anchor: "middle"})
	}
	return all
}

// errorRows returns the counts of all tables except for those that judge bounds and rules, which have their own list.
func (p page) errorRows() []errorRow {
	chart := map[string]string{}
	for _, c := range p.Charts {
		if chart[c.Table] == "" {
			chart[c.Table] = c.ID
		}
	}
	var rows []errorRow
	for i, t := range p.Tables {
		for k, s := range t.Statistics {
			if !t.Aside {
				rows = append(rows, errorRow{ID: words.When(k == 0, tableID(i)), Table: t, Statistic: s,
					Chart: chart[t.Path],
					Zero:  words.When(s.NoiseCells > 0, zeroID(i, k)), Strip: stripOf(p.In(), s.Relative),
					Fit: fitOf(p.In(), s, t.Cells-t.Impossible)})
			}
		}
	}
	return rows
}

// stripOf positions relative margins, nil if there are none.
func stripOf(l *language.Language, r *report.RelativeMargins) *errorStrip {
	if r == nil {
		return nil
	}
	from, to := errorAt(r.Q10), errorAt(r.Q90)
	return &errorStrip{
		From: percent(from), Width: percent(max(to-from, 0.01)), At: percent(errorAt(r.Q50)),
		Text: l.Text("Best tenth of the cells: at most %s; half: at most %s; nine tenths: at most %s.",
			l.Number(words.Relative(r.Q10)), l.Number(words.Relative(r.Q50)), l.Number(words.Relative(r.Q90))),
	}
}

// linkedText is a piece of a text that may link to the row of a table, or to the list of tables.
type linkedText struct{ Text, ID string }

// pageParts maps the names of parts of the page in sentences to their ids.
var pageParts = []linkedText{
	{notes.TableList, "tables"}, {notes.ZeroColumn, "tables"}, {notes.VerdictColumn, "tables"},
	{notes.DifferenceColumn, "tables"}, {notes.ZeroSection, "zero"}, {notes.FigureList, "figures"},
}

// Links splits a text at names of parts of the page, and at tables that it names with a number of their cells, as in
// "pairs/sex (3 of 6)", or as tables not to use.
func (p page) Links(text string) []linkedText {
	var out []linkedText
	l, from := p.In(), 0
	unusable := strings.HasPrefix(text, l.Text(notes.NotToUse))
	for at := range text {
		if at < from || at > 0 && text[at-1] != ' ' {
			continue
		}
		if i := slices.IndexFunc(pageParts, func(part linkedText) bool {
			return strings.HasPrefix(text[at:], l.Text(part.Text))
		}); i >= 0 {
			part := linkedText{l.Text(pageParts[i].Text), pageParts[i].ID}
			out = append(out, linkedText{Text: text[from:at]}, part)
			from = at + len(part.Text)
			continue
		}
		for i, t := range p.Tables {
			rest, named := strings.CutPrefix(text[at:], t.Path)
			if t.Aside || !named || !strings.HasPrefix(rest, " (") && (!unusable || rest == "" ||
				!strings.ContainsRune(" ,:.", rune(rest[0]))) {
				continue
			}
			if at > from {
				out = append(out, linkedText{Text: text[from:at]})
			}
			out = append(out, linkedText{t.Path, tableID(i)})
			from = at + len(t.Path)
			break
		}
	}
	return append(out, linkedText{Text: text[from:]})
}

// fitOf divides the possible cells of a table by what they can be used for: without classes in the spec, by whether the
// margin is at most a tenth and at most half of the figure, with cells that are shown as 0 last.
func fitOf(l *language.Language, s report.Statistic, cells int64) []fitPart {
	if s.Fit != nil {
		names, shares := make([]string, len(s.Fit)), make([]float64, len(s.Fit))
		for i, c := range s.Fit {
			names[i], shares[i] = c.Name, c.Share
		}
		return fitParts(l, names, shares)
	}
	if cells == 0 {
		return nil
	}
	var r report.RelativeMargins
	if s.Relative != nil {
		r = *s.Relative
	}
	above := report.Ratio(r.Cells, cells)
	names := []string{l.Text("margin at most 10%%"), l.Text("at most 50%%"), l.Text("more"), l.Text("shown as 0")}
	return fitParts(l, names,
		[]float64{float64(above * r.Within10), float64(above * (r.Within50 - r.Within10)),
			float64(above * (1 - r.Within50)),
			1 - above})
}

// fitParts places the parts side by side.
func fitParts(l *language.Language, names []string, shares []float64) []fitPart {
	var parts []fitPart
	from := 0.0
	for i, name := range names {
		f := fitPart{Name: name, Share: l.Percent(shares[i]), From: percent(from), Width: percent(shares[i])}
		if i < len(names)-1 {
			f.Shade = shading.Most - shadeSteps(i, len(names))
		}
		parts, from = append(parts, f), from+shares[i]
	}
	return parts
}

// shadeSteps returns by how many shades the class is lighter than the best.
func shadeSteps(i, classes int) int { return i * (shading.Most - 1) / max(classes-1, 1) }

// FitText names the classes with their shares.
func (r errorRow) FitText() string {
	shares := make([]string, len(r.Fit))
	for i, f := range r.Fit {
		shares[i] = f.Name + ": " + f.Share
	}
	return strings.Join(shares, "; ")
}
