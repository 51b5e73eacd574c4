package maker

// This file describes microdata: rows that are drawn from a model, what was measured for it, and which of their
// properties must not be trusted.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// meanAbsolute is √(2/π), the mean absolute deviation of a normal distribution of variance 1.
const meanAbsolute = 0.7978845608028654

// microdataOf describes all microdata, in the plan's order.
func microdataOf(p *plan.Plan, all []synth.Microdata) ([]report.Microdata, error) {
	if len(all) != len(p.Synthetic) {
		return nil, fmt.Errorf("microdata of %d tables are published, the plan has %d", len(all), len(p.Synthetic))
	}
	var out []report.Microdata
	for i, s := range p.Synthetic {
		m, err := oneMicrodata(p, s, all[i])
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", s.Table, err)
		}
		out = append(out, m)
	}
	return out, nil
}

func oneMicrodata(p *plan.Plan, s plan.Synthetic, drawn synth.Microdata) (report.Microdata, error) {
	if err := checkDrawn(s, drawn); err != nil {
		return report.Microdata{}, err
	}
	m := report.Microdata{
		Table: s.Table, Leaf: s.Leaf, Method: s.Method, Rows: int64(drawn.Rows), Total: drawn.Total,
		StandardError: drawn.TotalError, Ways: s.Ways, Rounds: s.Rounds, Made: drawn.Rounds,
		Sets: []report.Set{}, FarCells: []report.FarCell{}, Interval: report.ModelOnly,
	}
	l := languageOf(p)
	m.Parent, m.LinkedBy = s.Parent, p.Release().LinkedBy(s.Table)
	m.Given = words.Texts(s.GivenColumns())
	if drawn.Files > 1 {
		m.Files, m.Parallel = drawn.Files, parallelText(l)
	}
	if s.Adaptive() {
		if err := addMeasured(&m, p, s); err != nil {
			return m, err
		}
	} else {
		addUnmeasured(&m, p, s, drawn)
	}
	for _, f := range drawn.Fits {
		m.Sets = append(m.Sets, report.Set{
			Columns: words.Texts(f.Columns), Table: f.Table, Measured: f.Measured, Before: f.First,
			Cells:         int64(f.Cells),
			StandardError: f.Sigma, Distance: f.Distance,
			NoiseDistance: float64(float64(meanAbsolute*f.Sigma) * float64(f.Cells)), RowsDistance: f.Rows,
			Bound: f.Bound,
			Off:   int64(f.Off), Spread: f.Spread,
		})
	}
	for _, c := range drawn.FarthestCells {
		categories := slices.Clone(c.Categories)
		for i, n := range c.Merged {
			if n > 1 {
				categories[i] = l.Text("any of %d categories measured as one", n)
			}
		}
		m.FarCells = append(m.FarCells, report.FarCell{Columns: words.Texts(c.Columns), Categories: categories,
			Estimate: c.Estimate, StandardError: c.Sigma, Model: c.Model, Rows: c.Rows, Deviations: c.Deviations})
	}
	m.Numbered, m.Origin, m.Trust, m.Distrust = numberedText(l, m, s, drawn.RowsRequested),
		originText(l, p.Guarantee), trustText(l, m), distrustText(l, m)
	if drawn.Shape != "" {
		m.Model, m.Trust, m.Distrust = ofTablesText(l, m, s, drawn), trustTablesText(l, m),
			distrustTablesText(l, m, drawn)
	}
	m.Distrust += missingWeightsCaveat(l, p.Release().Table(s.Table))
	return m, nil
}

// checkDrawn returns an error if rows do not come from a method of the plan.
func checkDrawn(s plan.Synthetic, drawn synth.Microdata) error {
	columns := words.Texts(s.Columns())
	keys := make([]string, len(drawn.Keys))
	for i, k := range drawn.Keys {
		keys[i] = k.Attribute.String()
	}
	if method := cmp.Or(drawn.Method, s.Method); s.Refits(method) != nil ||
		(method == plan.Tables) != (drawn.Shape != "") || max(drawn.Files, 1) != s.Drawn() {
		return errors.New("they are by another method than the plan's measurements allow, or in another number of files")
	}
	rows := s.Rows
	if drawn.RowsRequested > 0 {
		rows = drawn.RowsRequested
	}
	switch {
	case drawn.Table != s.Table || !slices.Equal(keys, columns):
		return errors.New("they are not those of the plan")
	case drawn.Rows < 0 || rows > 0 && int64(drawn.Rows) != rows:
		return errors.New("their number is not that of the plan, or that asked for")
	case (drawn.Parents != nil) != (s.Parent != "") || s.Parent != "" && len(drawn.Parents) != drawn.Rows:
		return errors.New("it is not said of each of them which row it belongs to")
	case drawn.Rounds > s.Rounds:
		return fmt.Errorf("they have %d rounds, the plan has %d", drawn.Rounds, s.Rounds)
	}
	figures := []float64{drawn.TotalError}
	for _, f := range drawn.Fits {
		for _, a := range f.Columns {
			if !slices.ContainsFunc(drawn.Keys, func(k synth.Key) bool {
				return k.Attribute == a || f.Table != "" &&
					k.Attribute.Column == a.Column
			}) {
				return fmt.Errorf("they have no column %s", a)
			}
		}
		figures = append(figures, f.Sigma, f.Distance, f.Rows, f.Bound, f.Spread)
	}
	for _, c := range drawn.FarthestCells {
		if len(c.Categories) != len(c.Columns) || len(c.Merged) != len(c.Columns) {
			return errors.New("a cell of theirs does not have a category of each of its columns")
		}
		figures = append(figures, math.Abs(c.Estimate), c.Sigma, c.Model, c.Rows, c.Deviations)
	}
	for _, v := range append(figures, math.Abs(drawn.Total)) {
		if !isFinite(v) || v < 0 {
			return errors.New("their total, errors and distances must be finite, and but for the total not negative")
		}
	}
	return nil
}

// lossOfAll returns the total cost of mechanisms in the terms of a charge, and its share of the charge.
func lossOfAll(steps []budget.Mechanism, charge budget.Cost) (report.Amount, float64, error) {
	sum, part := new(big.Rat), 0.0
	for _, m := range steps {
		one, of, err := lossOf(m, charge)
		if err != nil {
			return report.Amount{}, 0, err
		}
		sum.Add(sum, words.Exact(one.Rho))
		part += of
	}
	return report.Amount{Rho: budget.FormatRat(sum)}, part, nil
}

func numberedText(l *language.Language, m report.Microdata, s plan.Synthetic, asked int64) string {
	switch {
	case m.Parent != "":
		return l.Text("Each row belongs to one row of the microdata of %s: the one with the same number in column "+
			"%s. Column %s of that table says how many rows belong to each of its rows. It was measured with the "+
			"other columns of that table, and there are as many rows as it says.",
			m.Parent, m.LinkedBy, strings.TrimPrefix(m.Given[len(m.Given)-1], m.Parent+"."))
	case asked > 0 && s.Rows > 0:
		return l.Text("Whoever published them asked for this number of rows; the spec fixes %s. It is a public "+
			"number, which says nothing about the data and costs nothing.",
			budget.Group(s.Rows))
	case asked > 0:
		return l.Text("Whoever published them asked for this number of rows, instead of the noisy total of table %s. "+
			"It is a public number, which says nothing about the data and costs nothing.",
			m.Table)
	case s.RowsOf != "":
		return l.Text("There are as many rows as invariant %s says, which is a public figure. The rows need not "+
			"agree with any other figure of an invariant.",
			s.RowsOf)
	case s.Rows > 0:
		return l.Text("The spec fixes how many rows there are. This is a public number, which says nothing about the data.")
	}
	return l.Text("The number of rows is the noisy total of table %s, rounded, or 0 if that is below zero.",
		m.Table)
}

func originText(l *language.Language, g plan.Guarantee) string {
	return l.Text("Every row is drawn at random from a model that was fitted to noisy counts. No row is taken from "+
		"the data, and no row belongs to any %s; one that equals somebody's does so by chance.",
		g.Protects)
}

// maxNamedSets is the largest number of sets of columns that a sentence names.
const maxNamedSets = 12

func trustText(l *language.Language, m report.Microdata) string {
	names := m.Together(l)
	list := strings.Join(names, "; ")
	measured := l.Text("The counts of each column were measured, and counts of these columns together: %s.", list)
	switch {
	case len(names) == 0:
		measured = l.Text("The counts of each column were measured, but not of any pair of columns.")
	case len(names) > maxNamedSets:
		measured = l.Text("The counts of each column were measured, and counts of %d sets of columns together, which "+
			"the table names.",
			len(names))
	case m.Ways == 2 && m.Method != plan.AIM:
		measured = l.Text("The counts of each column were measured, and counts of these pairs of columns: %s.", list)
	}
	parent := words.When(m.Parent != "", " "+l.Text(
		"These rows are drawn given the columns of %s, so this holds only as far as the rows of %[1]s show those "+
			"columns as they were measured here.", m.Parent))
	return measured + " " + words.Either(len(names) == 0,
		l.Text("In the rows the counts of single columns are close to the true ones, apart from the noise of the "+
			"measurements and the chance error of drawing rows."),
		l.Text("In the rows these counts are close to the true ones, apart from the noise of the measurements and "+
			"the chance error of drawing rows.")) + parent
}

func distrustText(l *language.Language, m report.Microdata) string {
	return independenceText(l, m) +
		words.When(m.Parent != "",
			" "+l.Text("Also do not trust what else the rows show about those that belong to the same row of %s, in "+
				"this table or in another one: given the columns of %[1]s, they were drawn independently of each other.",
				m.Parent))
}

// noDependenceText says that no two columns were measured together; it follows the words "do not trust", as do all
// texts on what was not measured.
func noDependenceText(l *language.Language) string {
	return l.Text("What the rows show about how columns depend on each other. This was not measured: the model " +
		"assumes that all columns are independent, and the rows follow this assumption.")
}

// setsOnlyText says that only some sets of columns were measured together.
func setsOnlyText(l *language.Language) string {
	return l.Text("What the rows show about how other columns depend on each other. This was not measured: the model " +
		"assumes that they depend on each other no more than the measured sets imply, and the rows follow this " +
		"assumption.")
}

// independenceText says which columns were not measured together, and what that means.
func independenceText(l *language.Language, m report.Microdata) string {
	switch {
	case len(m.Together(l)) == 0:
		return noDependenceText(l)
	case m.Method == plan.AIM:
		return setsOnlyText(l) + " " + l.Text("Also do not trust how the rows divide categories of a column whose "+
			"noisy counts were below three standard errors: these were measured as one, and the division is a guess.")
	}
	return l.Text("What the rows show about any other two columns together, or about any three. This was not " +
		"measured. The model links columns only through the measured pairs. It assumes that columns without such a " +
		"pair are independent, given the columns that link them, and the rows follow this assumption.")
}
