package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

const (
	namedCells  = 500 // cells that could be zero are named where a report has no more of them
	namedTables = 3   // that have most of them, in the box
	noiseShare  = 0.5 // from which part of the cells on a table has many that could be zero
)

// nameZeros names the cells that could be zero, of published tables, where they are few enough to be read.
func nameZeros(told []Table, tables []synth.Table) {
	var all int64
	for _, t := range told {
		if !t.Aside {
			all += t.noiseCells()
		}
	}
	if all > namedCells {
		return
	}
	for i, t := range tables {
		for k, s := range t.Statistics {
			for row, flag := range s.Flags {
				if flag == synth.NoiseDominates && !told[i].Aside {
					told[i].Statistics[k].NoiseLabels = append(told[i].Statistics[k].NoiseLabels, cellName(t, row))
				}
			}
		}
	}
}

// cellName is the label of a cell, also where the table has one alone.
func cellName(t synth.Table, row int) string {
	if label := rowLabel(t, row); label != "" {
		return label
	}
	return "total"
}

// badShare is the part of the cells of a count that could be zero or, where the spec has classes of fitness, are in the last one.
func (s Statistic) badShare() float64 {
	if s.Fit == nil {
		return s.NoiseShare
	}
	return max(s.NoiseShare, s.Fit[len(s.Fit)-1].Share)
}

// verdictOf is the verdict on a count: beside the average cell that the plan knows or, where it knows none, that of the noisy counts.
func verdictOf(p *plan.Plan, planned plan.Table, t Table, s Statistic, unbiased []float64) plan.Verdict {
	cell := t.AverageCell
	if possible := t.possible(); cell == 0 && possible > 0 {
		for _, v := range unbiased {
			cell += v / float64(possible)
		}
	}
	if t.possible() == 0 {
		return plan.UseCells
	}
	return compiled.VerdictOn(p, planned, cell, s.badShare())
}

// verdict says whether the cells of a count are to be used one by one. In a report that does not say it, from before reports did, it
// goes by the part of the cells that could be zero.
func (t Table) verdict(s Statistic) plan.Verdict {
	switch {
	case s.Verdict != "":
		return s.Verdict
	case s.badShare() >= noiseShare:
		return plan.DoNotUse
	case s.badShare() <= compiled.LittleShare:
		return plan.UseCells
	}
	return plan.AddUpFirst
}

// VerdictText says what the verdicts mean.
func (r *Report) VerdictText() string {
	unfit := ""
	if columns := r.FitColumns(); columns != nil {
		unfit = fmt.Sprintf(", or that is “%s”", columns[len(columns)-1].Name)
	}
	return fmt.Sprintf("Verdict: “%s” where the standard error is more than half of an average cell%s, as the plan says beforehand where the spec expects a number of rows. Else “%s” where at most a tenth of the cells %s, “%s” (“%s” where cells cannot be added up) where more do. A cell could be zero if its interval reaches zero.",
		plan.DoNotUse, unfit, plan.UseCells, r.badCells(), plan.AddUpFirst, plan.LargeCellsOnly)
}

// notSingly are the paths of the tables of which no cell is to be used by itself.
func notSingly(r *Report) []string {
	var paths []string
	for _, t := range r.Tables {
		if !t.Aside && slices.ContainsFunc(t.Statistics, func(s Statistic) bool { return t.verdict(s) == plan.DoNotUse }) {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

// couldBeZero are the tables with cells that could be zero, the largest part of them first, how many these are, and of how many.
func (r *Report) couldBeZero() (in []Table, cells, of int64) {
	for _, t := range r.Tables {
		if t.Aside {
			continue
		}
		of += t.possible()
		if n := t.noiseCells(); n > 0 {
			in, cells = append(in, t), cells+n
		}
	}
	slices.SortStableFunc(in, func(a, b Table) int {
		return cmp.Compare(part64(b.noiseCells(), b.possible()), part64(a.noiseCells(), a.possible()))
	})
	return in, cells, of
}

// possible is how many counts a table has that are no exact zeros.
func (t Table) possible() int64 { return (t.Cells - t.Impossible) * int64(len(t.Statistics)) }

// noiseCells is how many of its counts could be zero.
func (t Table) noiseCells() int64 {
	var n int64
	for _, s := range t.Statistics {
		n += s.NoiseCells
	}
	return n
}

// zerosOf is how many cells of a count could be zero, of all that are possible.
func zerosOf(t Table, s Statistic) string {
	return fmt.Sprintf("%s of %s", budget.Group(s.NoiseCells), budget.Group(t.Cells-t.Impossible))
}

// What sentences call the places that they lead to.
const (
	verdictColumn    = "column “verdict”"
	zeroColumn       = "column “could be zero”"
	differenceColumn = "column “smallest real difference”"
	zeroSection      = "“Cells that could be zero”"
	tableList        = "list of tables"
)

// notToUse begins what the box says of tables by name.
const notToUse = "Do not use the table"

// namedFirst is how many tables to add up first the box names.
const namedFirst = 4

// tableUse says which tables must not be used cell by cell; "" where all may be.
func tableUse(r *Report) string {
	never := notSingly(r)
	text := ""
	switch {
	case len(never) == 0:
		return ""
	case len(never) == 1:
		text = fmt.Sprintf(notToUse+" %s cell by cell: %s.", never[0], r.badOf(never[0]))
	case len(never) <= namedTables:
		text = fmt.Sprintf(notToUse+"s %s cell by cell: the noise is large beside an average cell of each.", inWords(never))
	default:
		text = fmt.Sprintf("Do not use %d tables cell by cell: the noise is large beside an average cell of each. The %s says which.", len(never), verdictColumn)
	}
	switch first := r.firstAddedUp(never); {
	case len(first) == 1:
		text += fmt.Sprintf(" One more is good only after adding up cells: %s.", first[0])
	case len(first) > namedFirst:
		text += fmt.Sprintf(" %d more are good only after adding up cells, as the %s says.", len(first), verdictColumn)
	case first != nil:
		text += fmt.Sprintf(" %d more are good only after adding up cells: %s.", len(first), inWords(first))
	}
	return text
}

// badOf says why the cells of a table are not to be used one by one, and how many of them could be zero.
func (r *Report) badOf(path string) string {
	t := r.Tables[slices.IndexFunc(r.Tables, func(t Table) bool { return t.Path == path })]
	return fmt.Sprintf("the noise is large beside an average cell, and %s of its %s could be zero", budget.Group(t.noiseCells()), budget.Plural(t.possible(), "cell"))
}

// firstAddedUp are the paths of the other tables of which cells are to be added up before they are used.
func (r *Report) firstAddedUp(but []string) []string {
	var paths []string
	for _, t := range r.Tables {
		if !t.Aside && !slices.Contains(but, t.Path) && slices.ContainsFunc(t.Statistics, func(s Statistic) bool { return t.verdict(s) == plan.AddUpFirst }) {
			paths = append(paths, t.Path)
		}
	}
	return paths
}

// badCells is what is said of cells that a verdict is against.
func (r *Report) badCells() string {
	bad := "could be zero"
	if columns := r.FitColumns(); columns != nil {
		bad += fmt.Sprintf(" or are “%s”", columns[len(columns)-1].Name)
	}
	return bad
}

// cellUse says how many single cells must not be used, the tables in which they are most, and where they stand; "" where all may be.
func cellUse(r *Report) string {
	in, cells, of := r.couldBeZero()
	if cells == 0 {
		return ""
	}
	var names []string
	for _, t := range in[:min(len(in), namedTables)] {
		names = append(names, fmt.Sprintf("%s (%s of %s)", t.Path, budget.Group(t.noiseCells()), budget.Group(t.possible())))
	}
	where := "in "
	if more := len(in) - namedTables; more > 0 {
		where = fmt.Sprintf("in %d tables, worst in ", len(in))
	}
	text := fmt.Sprintf("Do not use by itself a cell that could be zero, as its interval reaches zero: %s of %s, %s%s. ", budget.Group(cells), budget.Group(of), where, inWords(names))
	if r.zerosNamed() {
		return text + "The report’s list " + zeroSection + " names them."
	}
	return text + "The report’s list " + zeroSection + " says how to find them."
}

// zerosNamed tells that the report names the cells that could be zero.
func (r *Report) zerosNamed() bool {
	return some(r.Tables, func(s Statistic) bool { return s.NoiseLabels != nil })
}

// zeroCells are those of a count that could be zero.
type zeroCells struct {
	ID, Path, Row, Of string
	Cells             []string // labels, none where the report does not name them
}

// Zeros are the counts with cells that could be zero, the largest part of them first.
func (r *Report) Zeros() []zeroCells {
	var all []zeroCells
	in, _, _ := r.couldBeZero()
	for _, t := range in {
		at := slices.IndexFunc(r.Tables, func(of Table) bool { return of.Path == t.Path })
		for k, s := range t.Statistics {
			if s.NoiseCells == 0 {
				continue
			}
			z := zeroCells{ID: zeroID(at, k), Path: t.Path, Row: tableID(at), Of: zerosOf(t, s), Cells: s.NoiseLabels}
			if len(t.Statistics) > 1 {
				z.Of = s.Name + ": " + z.Of
			}
			if len(t.By) > 0 && z.Cells != nil {
				z.Of += " by " + inWords(t.By)
			}
			all = append(all, z)
		}
	}
	return all
}

// zeroID is where the cells of a count that could be zero are on the page.
func zeroID(table, count int) string { return fmt.Sprintf("zero-%d-%d", table+1, count+1) }

// ZeroText says how to find the cells that could be zero.
func (r *Report) ZeroText() string {
	_, cells, of := r.couldBeZero()
	if cells == 0 {
		return ""
	}
	text := fmt.Sprintf("%s of %s: the interval reaches zero.", capital(budget.Plural(cells, "cell")), budget.Group(of))
	if !r.zerosNamed() {
		text += " They are too many to be named here."
	}
	return text + fmt.Sprintf(" In the files they have noise_dominates in the column %s_flag, in the tables behind charts the mark ○, in charts a hollow dot or hatching.", r.figure())
}

// smallNumber warns of any number whose interval reaches zero, where no cell has one: sums and other figures may.
func smallNumber(r *Report) string {
	if _, cells, _ := r.couldBeZero(); cells > 0 || len(r.Tables) == 0 {
		return ""
	}
	return "Do not decide anything on a number whose interval reaches zero: it could be zero, as 0 could be more."
}

// listed are labels side by side, each of which may have a comma.
func listed(labels []string) string { return strings.Join(labels, "; ") }
