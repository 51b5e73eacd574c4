package report

// This file holds the advice: how to read the figures, what not to do with them.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// readingOf says how to read the figures of this very release, whose tables are made
// from these sources.
func readingOf(r *Report, p *plan.Plan, from sources) []Note {
	if len(r.Tables) == 0 {
		return append(slices.Concat(r.unitNotes(), sampleNote(p), r.microdataNotes()),
			Note{samplingNote.Heading, "If the data are a sample, or people answered wrongly or not at all, that error comes on top of what noise and the model do."})
	}
	s := r.figure()
	shown := fmt.Sprintf("The column %s shows such a number as 0: here %s of %s.", s, budget.Group(r.shownAsZero()), budget.Group(r.Accuracy.Numbers))
	if r.fittedAll() {
		shown = fmt.Sprintf("No %s is below zero.", s)
	}
	notes := []Note{
		{"Every number brings its own error",
			fmt.Sprintf("Between %[1]s_low and %[1]s_high, which stand beside the published number %[1]s, lies the exact %[3]s with a chance of %[2]s. Where %[1]s_flag says noise_dominates the interval reaches zero: the number could be zero.", s, r.Chance(), r.exactly())},
		r.apartNote(),
		{"Below zero is not a mistake",
			fmt.Sprintf("Noise moves a number down as often as up, so %[1]s_unbiased falls below zero where few or none were counted, which keeps its average right. ", s) + shown + r.raisedText(s)},
	}
	if counts(r.Tables) {
		notes = append(notes, r.sumsNote(s))
	}
	notes = append(notes, r.unitNotes()...)
	notes = append(notes, r.figureNotes()...)
	notes = append(notes, r.weightNotes(s)...)
	notes = append(notes, sampleNote(p)...)
	notes = append(notes, r.cumulativeNotes()...)
	notes = append(notes, r.impossibleNotes(p, s)...)
	notes = append(notes, r.invariantNotes(p, s)...)
	notes = append(notes, r.sparseNotes(p, s)...)
	notes = append(notes, r.topNotes(p)...)
	notes = append(notes, r.discoveredNotes(p)...)
	notes = append(notes, r.agreementNotes(s, from)...)
	notes = append(notes, r.fittedNotes(p)...)
	notes = append(notes, r.microdataNotes()...)
	return append(notes, samplingNote, Note{"What the exact count is", r.exactCount()})
}

// samplingNote says which errors noise is not.
var samplingNote = Note{"Noise is not sampling error",
	"The margins cover the noise that was added for privacy and nothing else. If the data are a sample, or people answered wrongly or not at all, that error comes on top."}

// microdataNotes say what microdata are for.
func (r *Report) microdataNotes() []Note {
	if len(r.Microdata) == 0 {
		return nil
	}
	tables := "No table is published to check it against."
	if len(r.Tables) > 0 {
		tables = "Where a table has the figure, take it from there: " + r.microdataSums() + "."
	}
	return []Note{{"Microdata are a model's rows",
		"They show what such data look like, for trying out a program or an analysis. What is counted in them is the model's figure, not the data's, and no margin is known for it (" + modelOnly + "). " + tables + " The more rows are drawn the less chance is in them, but the model gets no better."}}
}

// microdataSums says whether what is counted in microdata is what tables say.
func (r *Report) microdataSums() string {
	var counted []string
	others := false
	for _, t := range r.Tables {
		if s := t.Statistics[0]; s.Fitted != nil && s.Fitted.Way == plan.Tabulated {
			counted = append(counted, t.Path)
		} else {
			others = true
		}
	}
	if counted == nil {
		return "microdata do not add up to the tables"
	}
	text := fmt.Sprintf("what was measured stands in %s_unbiased, while the published %[1]s of %s is counted in the microdata", r.figure(), fewNames(counted))
	if others {
		text += "; to other tables they do not add up"
	}
	return text
}

// sumsNote says what to add up, and with which error.
func (r *Report) sumsNote(s string) Note {
	raised := fmt.Sprintf("Showing negative numbers as 0 makes sums over %s too high.", s)
	switch {
	case r.fittedAll():
		raised = fmt.Sprintf("Making counts add up has moved %[1]s: a sum over it is no estimate with an error of its own.", s)
	case r.fittedSome():
		raised = fmt.Sprintf("Showing negative numbers as 0 makes sums over %[1]s too high, but for tables whose counts were made to add up, where %[1]s was moved either way.", s)
	}
	n := Note{"Add up the unbiased column",
		raised + fmt.Sprintf(" For sums, averages, differences and models use %[1]s_unbiased, with %[1]s_noise_se as its standard error.", s)}
	alone, others := 0, 0
	for _, t := range r.Tables {
		switch {
		case t.Cumulative != nil:
		case t.Statistics[0].joint():
			others++
		default:
			alone++
		}
	}
	root := fmt.Sprintf("the noise of a sum has standard error √n × %s_noise_se.", s)
	hangs := fmt.Sprintf("the noise of cells is correlated: take a sum from the table that has it as a cell, or from `dprelease query`, which adds cells up with the error that they have together. The %s_noise_se of the cells added up are the most that it can be.", s)
	switch {
	case others == 0:
		n.Text += " Over n cells of one table " + root
	case alone == 0:
		n.Text += " In tables that were put together from several measurements " + hangs
	default:
		n.Text += " Over n cells of a table that was measured by itself " + root + " In tables that were put together from several " + hangs
	}
	return n
}

// Headings of the notes on tables that were put together.
const (
	allAgree    = "Tables agree with each other"
	someAgree   = "Some tables agree with each other"
	othersDoNot = "Others do not"
)

// Agreement is the notes on which tables agree, none where every table was measured
// separately.
func (r *Report) Agreement() []Note {
	var notes []Note
	for _, n := range r.Reading {
		if n.Heading == allAgree || n.Heading == someAgree || n.Heading == othersDoNot {
			notes = append(notes, n)
		}
	}
	return notes
}

// agreementNotes say which tables add up to one another.
func (r *Report) agreementNotes(s string, from sources) []Note {
	const exactly = "what two of them both tell (the total, the counts of an attribute, of a level and of a coarser one that it lies within) is the same in both once cells are added up, but for rounding in floating point"
	published := fmt.Sprintf(" That holds in %[1]s_unbiased, not in %[1]s, whose numbers are rounded and shown as 0 where they are negative: do not add those up.", s)
	if r.fittedSome() {
		published = fmt.Sprintf(" That holds in %s_unbiased, and in %s of those tables alone that are named under “%s”.", s, s, addUp)
	}
	if cumulative(r.Tables) {
		published += " Of a table that counts up take the row of the last category instead of adding up."
	}
	but := r.apartText(from.apart)
	separate := map[int]bool{}
	measured := func(i int) bool { return r.Tables[i].Invariant == "" }
	for i := range r.Tables {
		separate[i] = measured(i)
	}
	var sets []string
	for _, set := range from.agree {
		var names []string
		for _, i := range set {
			if measured(i) {
				names = append(names, r.Tables[i].Path)
			}
		}
		if len(names) < 2 {
			continue
		}
		for _, i := range set {
			delete(separate, i)
		}
		sets = append(sets, fewNames(names))
	}
	var alone []string
	for i, t := range r.Tables {
		if separate[i] {
			alone = append(alone, t.Path)
		}
	}
	switch {
	case len(sets) == 0:
		if alone == nil {
			return nil // all are public figures
		}
		return []Note{{"Tables do not add up to one another",
			"Each table was measured separately, with noise of its own. The same total taken from two tables differs, and a table does not sum exactly to a coarser one. Take a figure from the coarsest table that has it." + r.separateText(s)}}
	case len(sets) == 1 && len(alone) == 0:
		all := "All tables"
		if heldCells(r.Tables) > 0 {
			all += " but those of public figures"
		}
		return []Note{{allAgree, but + all + " were made from the same noisy answers: " + exactly + "." + published}}
	}
	notes := []Note{{someAgree, but + "These tables were made from the same noisy answers: " + strings.Join(sets, "; likewise ") + ". Among them " + exactly + "." + published}}
	if len(sets) > 1 {
		notes[0].Text = strings.Replace(notes[0].Text, "Among them", "Among those of one such set", 1)
	}
	if len(alone) > 0 {
		separately := "Measured separately, with noise of their own, were "
		if len(alone) == 1 {
			separately = "Measured separately, with noise of its own, was "
		}
		notes = append(notes, Note{othersDoNot, separately + fewNames(alone) + ". The same total taken from such a table and from another one differs. Take a figure from the table that has it with the smallest error."})
	}
	return notes
}

// apartText says which tables need not agree although they were made from the same answers: those that show a column of which not
// all measurements fit together.
func (r *Report) apartText(columns []string) string {
	var sentences strings.Builder
	for _, column := range columns {
		var paths []string
		for _, t := range r.Tables {
			if slices.ContainsFunc(t.By, func(by string) bool { return columnOf(by) == column }) {
				paths = append(paths, t.Path)
			}
		}
		fmt.Fprintf(&sentences, "Not all that was measured of %s fits together: two of %s may agree in no more than what they have beside it. ", column, fewNames(paths))
	}
	return sentences.String()
}

// exactCount says what the intervals cover.
func (r *Report) exactCount() string {
	rows := "all rows"
	if r.Guarantee.Unit != "each row" {
		rows = fmt.Sprintf("at most %s of %s", budget.Plural(r.Guarantee.MaxRows, "row"), r.Guarantee.Unit)
		if r.Guarantee.Rows != nil {
			rows = fmt.Sprintf("of %s at most %s", r.Guarantee.Unit, r.Guarantee.counted())
		}
	}
	beside := ""
	if r.Guarantee.WithoutID != "" {
		beside = ", rows without an id left out"
	}
	if len(r.Impossible()) > 0 {
		beside += ", and rows that cannot be refused or left out"
	}
	for _, of := range r.Provenance.Rows {
		beside += fmt.Sprintf(", and of %s the rows alone for which %s is true", of.Table, of.Where)
	}
	if r.Bounds != nil {
		if len(r.Bounds.Weights) > 0 {
			rows += ", each counting by its weight as that is bounded"
		}
		if len(r.Bounds.Tables) > 0 {
			rows += ", in tables with bounds of their own no more than those"
		}
	}
	return "The count that the margins are about is taken after the rules of the spec were applied: " + rows +
		", with unknown and missing values refused, dropped or put into a category as the spec says" + beside + ". What those rules leave out is not part of the margin."
}

// exactly names the exact figure that the interval of a count is about.
func (r *Report) exactly() string {
	if weighted(r.Tables) {
		return "count, or the exact sum of weights where rows count by their weights,"
	}
	return "count"
}

// choicesOf tells what the planner chose, as far as it can be read off a plan.
func choicesOf(p *plan.Plan, r *Report) []string {
	choices := []string{}
	switch {
	case len(r.Tables) == 0:
	case !together(r.Tables):
		choices = append(choices, "Each table is measured directly, with noise of its own on every cell.")
	default:
		choices = append(choices, "Tables that share attributes are planned together. A table that is put together from several answers rests on all that bear on it, each weighted by how certain it is.")
	}
	choices = append(choices, r.figureChoices(p)...)
	if p.Guarantee.Definition == "approximate" {
		choices = append(choices, "An ε with a δ can be spent on discrete Laplace or discrete Gaussian noise: both were weighed for each group of tables, all measurements composed, and what gives the tables less error was taken.")
	}
	switch p.Release().Budget.Minimise {
	case spec.Guarded:
		if slices.ContainsFunc(p.Leaves, func(l plan.Leaf) bool { return l.Tables > 1 && !l.Needed }) {
			choices = append(choices, "In each part of the budget the error of all cells together was made as small as can be without making any table worse than measuring it by itself with an equal share.")
		}
	case spec.LeastLargest:
		choices = append(choices, "In each part of the budget the largest error of any cell was made as small as can be, not that of all cells together.")
	}
	if weights := weightsOf(p); weights != "" {
		choices = append(choices, "The errors of tables were weighed as the spec says, by marginal: "+weights+".")
	}
	if len(p.Leaves) > 1 {
		choices = append(choices, "The budget is split into "+budget.Plural(int64(len(p.Leaves)), "part")+" by the spec, each kept exactly.")
	}
	for _, l := range p.Leaves {
		if l.Needed {
			choices = append(choices, "Part "+l.Path+" of the budget is what the targets of its tables need; the shares of the others are of what that leaves.")
		}
	}
	for _, l := range p.Leaves {
		if l.Tables > 1 {
			choices = append(choices, "The tables of one part of the budget share it among them.")
			break
		}
	}
	for _, s := range p.Synthetic {
		if !s.Adaptive() {
			choices = append(choices, fmt.Sprintf("The microdata of table %s are drawn from a model of %s that is made of the tables of the release. Nothing is measured for them.", s.Table, budget.Plural(int64(len(s.By)), "column")))
			continue
		}
		choices = append(choices, fmt.Sprintf("The microdata of table %s are drawn from a model of %s. Each is measured by itself; then, in at most %s, the method %s chooses which of them to measure together, by what the answers so far leave unexplained, and measures them. What all of that may lose is fixed, and was debited before the first round.",
			s.Table, budget.Plural(int64(len(s.By)), "column"), budget.Plural(int64(s.Rounds), "round"), s.Method))
		if s.Parent != "" {
			choices[len(choices)-1] += fmt.Sprintf(" Each row belongs to a row of %s: the model has the columns of that as well, and the rows are drawn given them. Rows of table %s whose unit has no row in %s are left out of all that is counted of it.", s.Parent, s.Table, s.Parent)
		}
		if len(s.Derived) > 0 {
			choices[len(choices)-1] += " Columns that the others decide were not measured: " + derivedNames(s) + "."
		}
	}
	for _, t := range p.Release().Tables {
		for _, c := range t.Columns {
			if c.DerivedFrom != nil {
				choices = append(choices, fmt.Sprintf("Column %s is %s under another name: it is neither read nor measured.", c.Name, c.DerivedFrom))
			}
		}
	}
	dense := func(t plan.Table) bool { return t.Sparse == nil && t.Discovered == nil && t.Top == nil }
	if slices.ContainsFunc(p.Tables, dense) {
		of := "Every declared cell"
		if slices.ContainsFunc(p.Tables, func(t plan.Table) bool { return !dense(t) }) {
			of += " of the other tables"
		}
		choices = append(choices, of+" is published, empty ones too: the list of cells comes from the spec, not from the data.")
	}
	return choices
}

// derivedNames lists the derived columns of microdata.
func derivedNames(s plan.Synthetic) string {
	names := make([]string, len(s.Derived))
	for i, f := range s.Derived {
		names[i] = f.String()
	}
	return fewNames(names)
}

// weightsOf lists the weights of the marginals, "" where they are all alike.
func weightsOf(p *plan.Plan) string {
	all := p.Release().Marginals
	var weights []string
	alike := true
	for _, m := range all {
		alike = alike && m.Weight.Cmp(all[0].Weight) == 0
		weights = append(weights, m.Name+" "+budget.FormatRat(m.Weight))
	}
	if alike {
		return ""
	}
	return strings.Join(weights, ", ")
}

// figure is the name of the first figure that is no sum along a column, or else of the first.
func (r *Report) figure() string {
	for _, t := range r.Tables {
		if t.Cumulative == nil {
			return t.Statistics[0].Name
		}
	}
	if len(r.Tables) == 0 {
		return "count" // of microdata alone
	}
	return r.Tables[0].Statistics[0].Name
}

func (r *Report) shownAsZero() int64 {
	var n int64
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if t.Aside {
				continue
			}
			n += s.ShownAsZero
		}
	}
	return n
}
