package notes

// This file describes cells that could be zero, and the single rule by which every page says whether a table's cells
// may be used one by one.

import (
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

const (
	namedTables = 3 // tables with the largest shares of these cells, in the box
)

// The names in sentences of the parts of a page to which they refer; sentences have their translations.
var (
	VerdictColumn    = language.Key("column “verdict”")
	ZeroColumn       = language.Key("column “could be zero”")
	DifferenceColumn = language.Key("column “smallest real difference”")
	ZeroSection      = language.Key("“Cells that could be zero”")
	ComparisonPart   = language.Key("“When two cells differ”")
	TableList        = language.Key("“Tables and their errors”")
	FigureList       = language.Key("“Figures other than counts”")
)

// NotToUse begins the sentences of the box that name tables, in the translations too.
var NotToUse = language.Key("Do not use the table")

// namedFirst is the number of tables to add up first that the box names.
const namedFirst = 4

// tableWarning says which tables must not be used cell by cell; "" if all may be.
func tableWarning(r *report.Report) string {
	l := r.In()
	never := report.NotUsableSingly(r)
	text := ""
	switch {
	case len(never) == 0:
		return ""
	case len(never) == 1:
		text = l.Text("Do not use the table %s cell by cell: %s.", never[0], unfitReason(r, never[0]))
	case len(never) <= namedTables:
		text = l.Text("Do not use the tables %s cell by cell: the noise is large compared with an average cell of each.",
			l.List(never))
	default:
		text = l.Text("Do not use %d tables cell by cell: the noise is large compared with an average cell of each. "+
			"The %s says which.",
			len(never), l.Text(VerdictColumn))
	}
	switch first := addUpFirst(r, never); {
	case len(first) == 1:
		text += " " + l.Text("One more is good only after adding up cells: %s.", first[0])
	case len(first) > namedFirst:
		text += " " + l.Text("%d more are good only after adding up cells, as the %s says.", len(first),
			l.Text(VerdictColumn))
	case first != nil:
		text += " " + l.Text("%d more are good only after adding up cells: %s.", len(first), l.List(first))
	}
	return text
}

// unfitReason says why the cells of a table must not be used one by one, and how many of them could be zero.
func unfitReason(r *report.Report, path string) string {
	l := r.In()
	t := r.Tables[slices.IndexFunc(r.Tables, func(t report.Table) bool { return t.Path == path })]
	return l.Text("the noise is large compared with an average cell, and %s of its %s could be zero",
		budget.Group(t.NoiseCells()), l.Plural(t.Possible(), "cell"))
}

// addUpFirst returns the paths of the other tables whose cells must be added up before they are used.
func addUpFirst(r *report.Report, but []string) []string {
	return report.PathsWhere(r.Tables, func(t report.Table) bool {
		return !t.Aside && !slices.Contains(but, t.Path) &&
			slices.ContainsFunc(t.Statistics,
				func(s report.Statistic) bool { return t.Verdict(s) == usefulness.AddUpFirst })
	})
}

// cellWarning says how many single cells must not be used, which tables have the largest shares of them, and where
// they are listed; "" if all cells may be used.
func cellWarning(r *report.Report) string {
	in, cells, of := r.CouldBeZero()
	if cells == 0 {
		return ""
	}
	l := r.In()
	_, figures := r.FiguresCouldBeZero()
	var names []string
	for _, t := range in[:min(len(in), namedTables)] {
		names = append(names, l.Text("%s (%s of %s)", t.Path, budget.Group(t.NoiseCells()), budget.Group(t.Possible())))
	}
	some, all, worst := budget.Group(cells), budget.Group(of), l.List(names)
	text := l.Text("Do not use a cell on its own if its interval reaches zero, as it could be zero: %s of %s cells, in %s.", some, all,
		worst)
	if len(in) > namedTables {
		share := func(t report.Table) float64 { return report.Ratio(t.NoiseCells(), t.Possible()) }
		text = words.Either(share(in[namedTables-1]) > share(in[namedTables]),
			l.Text("Do not use a cell on its own if its interval reaches zero, as it could be zero: %s of %s cells "+
				"in %d tables, the largest shares in %s.",
				some, all, len(in), worst),
			l.Text("Do not use a cell on its own if its interval reaches zero, as it could be zero: %s of %s cells "+
				"in %d tables, such as %s.",
				some, all, len(in), worst))
	}
	return text + " " + words.Either(r.ZerosNamed(), l.Text("The list %s names them.", l.Text(ZeroSection)),
		l.Text("The list %s says how to find them.", l.Text(ZeroSection))) +
		words.When(figures > 0, " "+l.Text("It also has %s other than counts.", l.Plural(figures, "figure")))
}

// smallNumberWarning warns of any number whose interval contains zero, for tables in which no cell has one: sums and
// other figures may.
func smallNumberWarning(r *report.Report) string {
	l := r.In()
	_, cells, _ := r.CouldBeZero()
	_, figures := r.FiguresCouldBeZero()
	some := r.AnyStatistic(func(s report.Statistic) bool { return s.NoiseCells > 0 })
	return words.When(cells == 0 && len(r.Tables) > 0,
		l.Text("Do not base a decision on a figure whose interval reaches zero: the exact figure could be zero, and "+
			"where 0 is shown it could be larger.")+
			words.When(!some, " "+words.Either(figures > 0,
				l.Text("No count in the tables has such an interval here. The list %[2]s shows %[1]s other than "+
					"counts with such an interval.",
					l.Plural(figures, "figure"), l.Text(ZeroSection)),
				l.Text("No count in the tables has such an interval here, but a difference of counts or another "+
					"figure may have one."))))
}
