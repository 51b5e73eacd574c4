package describe

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/strategy"
	"github.com/dprelease/dprelease/plan/usefulness"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the warnings: what an approver should know before signing.

const (
	// largeBytes is the size from which a plan warns of it.
	largeBytes = int64(4) << 30
	// bytesPerValue is the memory of a value of microdata while it is published.
	bytesPerValue = 16
	// weakEpsilon is the ε from which a promise means little: at ε = 10 somebody who knows everything else guesses
	// right 99.995% of the time.
	weakEpsilon = 10
	// weakDelta is the δ from which the probability that the promise fails is no longer far below one over the number
	// of units of most releases.
	weakDelta = 1e-6
)

// Warnings returns what an approver should know before signing, the spec's own warnings first.
func Warnings(l *language.Language, p *plan.Plan) []string {
	return warningsWith(l, p, stopWarnings(l, p.Release()))
}

// BriefWarnings is Warnings without what is so of every spec with `expect`, which the page of the plan says.
func BriefWarnings(l *language.Language, p *plan.Plan) []string { return warningsWith(l, p, nil) }

// warningsWith returns all warnings, with the given ones in place of those about `expect`.
func warningsWith(l *language.Language, p *plan.Plan, stop []string) (w []string) {
	r := p.Release()
	for _, problem := range r.Warnings {
		w = append(w, problem.WrittenBy(l.Text))
	}
	w = append(w, weaknessWarnings(l, p)...)
	w = append(w, invariantWarnings(l, p)...)
	w = append(w, stop...)
	w = append(w, repeatWarnings(l, r)...)
	w = append(w, uselessWarnings(l, p)...)
	w = append(w, thresholdWarnings(l, p)...)
	w = append(w, textWarnings(l, p)...)
	w = append(w, equalShareWarnings(l, p)...)
	w = append(w, showWarnings(l, p)...)
	w = append(w, hiddenWarnings(l, p)...)
	w = append(w, influenceWarnings(l, p)...)
	w = append(w, linkWarnings(l, p)...)
	w = append(w, uncountedWarnings(l, p)...)
	w = append(w, databaseWarnings(l, r)...)
	w = append(w, sizeWarnings(l, p.Size, candidatesText(l, p))...)
	for _, s := range p.Synthetic {
		if bytes := s.Rows * int64(len(s.Columns())) * bytesPerValue; bytes > largeBytes {
			w = append(w, l.Text("%s of microdata of %s need about %s of memory to publish", l.Plural(s.Rows, "row"),
				s.Table, l.Number(BytesText(bytes))))
		}
		if len(s.By) == 2 && s.Adaptive() {
			w = append(w, l.Text(
				"the microdata of %s have a single pair of columns, and a part of what they cost pays for choosing "+
					"it: a marginal of both is better, because it shows the error of every cell", s.Table))
		}
	}
	first := map[string]plan.Table{}
	for _, t := range p.Tables {
		var by []string
		for _, f := range p.Query(t).Factors {
			by = append(by, f.String())
		}
		key := compiled.TableKey(t.From, by)
		if !isOfAllRows(t) || selecting[t.Selects()].chosen {
			continue // no other table counts the same, or has the same cells
		}
		other, ok := first[key]
		if !ok {
			first[key] = t
			continue
		}
		if p.Release().Collection != nil && len(other.Figures) > 0 && len(t.Figures) > 0 &&
			other.Figures[0].Column != t.Figures[0].Column {
			continue // a question asks for the numbers of one column
		}
		w = append(w, l.Text("%s and %s show the same cells: %s", other.Path, t.Path, duplicateAdvice(l, other, t)))
	}
	return w
}

// duplicateAdvice says what to do about two tables with the same cells.
func duplicateAdvice(l *language.Language, a, b plan.Table) string {
	if len(a.Figures) > 0 && len(b.Figures) > 0 {
		return l.Text("put the statistics of both into one marginal, which counts these cells only once")
	}
	return l.Text("drop one")
}

// sizeWarnings says what a large release requires: the cells that are counted, which differ from the cells of its
// tables if tables share measurements or microdata are made.
func sizeWarnings(l *language.Language, s plan.Size, candidates string) []string {
	if s.Bytes <= largeBytes {
		return nil
	}
	counted := s.Bytes / plan.BytesPerCell
	bytes := l.Number(BytesText(s.Bytes))
	need := l.Text("the tables have %s in all and need %s of memory", l.Plural(counted, "cell"), bytes)
	switch {
	case candidates != "":
		need = l.Text("the counts of the tables and of %s, and what is made of them, need %s of memory", candidates,
			bytes)
	case counted != s.Cells:
		need = l.Text("%s are counted for the tables, which have %s, and need %s of memory", l.Plural(counted, "cell"),
			l.Plural(s.Cells, "cell"), bytes)
	}
	return []string{need + "; " +
		l.Text("a machine with less will refuse to measure them: use coarser levels or fewer attributes")}
}

// databaseWarnings says who sees exact counts where tables are counted in a database.
func databaseWarnings(l *language.Language, r *spec.Release) []string {
	var names []string
	for _, t := range r.Tables {
		if t.Source.Database != nil && t.Source.Database.Stay {
			names = append(names, t.Name)
		}
	}
	if names == nil {
		return nil
	}
	return []string{l.Text("%s: counted in the database, which no row leaves. Its administrator can see the exact "+
		"counts, and by which keys rows are chosen, while the release is made",
		l.List(names))}
}

// stopWarnings says what a run that stops because of `expect` reveals, which no budget pays for.
func stopWarnings(l *language.Language, r *spec.Release) []string {
	var names []string
	for _, t := range r.Tables {
		if t.Expect != nil {
			names = append(names, t.Name)
		}
	}
	if names == nil {
		return nil
	}
	return []string{l.Text("if the files of %s break `expect`, the run stops and nothing is spent. Readers who see "+
		"that the release is missing then know that a rule failed, and the guarantee does not cover this. Set the "+
		"limits wide enough that one %s more or less cannot decide it",
		l.List(names), r.Privacy.Protects)}
}

// weaknessWarnings says where the promise is too weak to protect anybody.
func weaknessWarnings(l *language.Language, p *plan.Plan) []string {
	var w []string
	g := p.Guarantee
	epsilon := 0.0
	if exact, err := budget.ParseRat(g.Epsilon); err == nil {
		epsilon, _ = exact.Float64()
	}
	for _, e := range g.Equivalents[:min(1, len(g.Equivalents))] {
		epsilon = e.Epsilon
	}
	if epsilon > weakEpsilon {
		w = append(w, l.Text(
			"%s promises next to nothing: already at ε = %d somebody who knows everything else guesses right "+
				"99.995%% of the time whether one %s is in the data",
			budgetText(l, g), weakEpsilon, g.Protects))
	}
	if delta, err := budget.ParseRat(g.Delta); err == nil {
		if v, _ := delta.Float64(); v > weakDelta {
			w = append(w, l.Text(
				"with δ = %s the promise may fail altogether with that chance: choose a δ far below one over the "+
					"number of units, such as 1e-9", l.Number(budget.DecimalUp(delta, 4))))
		}
	}
	return w
}

// uselessWarnings names the tables that are mostly noise, and those that are weak, with what would help: one warning
// for each confidential table, budget leaf and band.
func uselessWarnings(l *language.Language, p *plan.Plan) []string {
	leaves := LeavesOfTables(p)
	var w []string
	for _, band := range []usefulness.Band{usefulness.MostlyNoise, usefulness.Weak} {
		alike := map[string][]plan.Table{}
		var order []string
		for _, t := range p.Tables {
			if t.Usefulness == nil || t.Usefulness.Band != band {
				continue
			}
			key := fmt.Sprint(t.From, leaves[t.Path])
			if alike[key] == nil {
				order = append(order, key)
			}
			alike[key] = append(alike[key], t)
		}
		for _, key := range order {
			w = append(w, uselessText(l, alike[key]))
		}
	}
	return w
}

// uselessText says that tables of one band are of little use, and what would help.
func uselessText(l *language.Language, tables []plan.Table) string {
	names, least, most := make([]string, len(tables)), math.Inf(1), 0.0
	for i, t := range tables {
		names[i] = t.Path
		relative := t.Statistics[0].StandardError / t.Usefulness.AverageCell
		least, most = min(least, relative), max(most, relative)
	}
	of := relativeText(l, least, most)
	one := tables[0].Usefulness
	rows := l.Plural(one.Rows, "row")
	switch {
	case len(tables) > 1 && one.Band == usefulness.MostlyNoise:
		return l.Text("%s are mostly noise: half their cells will be off by more than their size, with standard "+
			"errors of %s if %s has %s. %s", fewTables(l, names), of, tables[0].From, rows, manyHelp(l, tables))
	case len(tables) > 1:
		return l.Text("%s are weak: their standard errors are %s if %s has %s. %s", fewTables(l, names), of,
			tables[0].From, rows, manyHelp(l, tables))
	case one.Band == usefulness.MostlyNoise:
		return l.Text("%s is mostly noise: half its cells will be off by more than their size, with a standard error "+
			"of %s if %s has %s. %s", names[0], of, tables[0].From, rows, helpText(l, *one))
	}
	return l.Text("%s is weak: its standard error is %s if %s has %s. %s", names[0], of,
		tables[0].From, rows, helpText(l, *one))
}

// relativeText returns the range of errors relative to an average cell: as percentages or, if one is larger than the
// cell, as multiples.
func relativeText(l *language.Language, least, most float64) string {
	near := func(x float64) string { return l.Number(budget.DecimalNearest(x, 2)) }
	if most < 1 {
		return l.Text("%s%% of an average cell", rangeText(l, []float64{100 * least, 100 * most}, near))
	}
	return l.Text("%s times an average cell", rangeText(l, []float64{least, most}, near))
}

// fewTables names a few tables, and says how many more there are.
func fewTables(l *language.Language, names []string) string {
	const named = 3
	if more := len(names) - named; more > 1 {
		return l.Text("%s and %s more tables", strings.Join(names[:named], ", "), budget.Group(int64(more)))
	}
	return l.List(names)
}

// helpText lists what would help a table, the smallest change first, each with the error that remains.
func helpText(l *language.Language, u usefulness.Usefulness) string {
	if isHopeless(u.Help) {
		return strings.TrimSuffix(adviceText(l, &u), ".")
	}
	var all []string
	for _, h := range u.Help {
		all = append(all, l.Text("%s: %s of an average cell", h.Change.In(l), l.Percent(h.Relative)))
	}
	return l.Text("What would help, the smallest change first, and the standard error that it leaves: %s",
		strings.Join(all, "; "))
}

// manyHelp says what would help several tables: the changes that help most of them, and the budget.
func manyHelp(l *language.Language, tables []plan.Table) string {
	count := map[string]int{}
	var changes []string
	var factors []float64
	for _, t := range tables {
		for _, h := range t.Usefulness.Help {
			if h.Budget {
				factors = append(factors, h.Factor)
				continue
			}
			change := h.Change.In(l)
			if count[change] == 0 {
				changes = append(changes, change)
			}
			count[change]++
		}
	}
	slices.SortStableFunc(changes, func(a, b string) int { return cmp.Compare(count[b], count[a]) })
	if len(changes) == 0 && slices.Max(factors) > mostBudget {
		return l.Text("Nothing but %s times their budget would help: leave them out, or ask for fewer cells",
			l.Number(rangeText(l, factors, FactorText)))
	}
	const listed = 4
	var all []string
	for _, c := range changes[:min(listed, len(changes))] {
		all = append(all, l.Text("%s (helps %s of them)", c, budget.Group(int64(count[c]))))
	}
	if rest := len(changes) - listed; rest > 0 {
		all = append(all, l.Text("%s that plan.json has by table", l.Plural(int64(rest), "more change")))
	}
	all = append(all, l.Text("%s times their budget", l.Number(rangeText(l, factors, FactorText))))
	return l.Text("What would help: %s", strings.Join(all, "; "))
}

const (
	// fewEmptyCells is the mean number of cells without a row that a sparse table publishes with a threshold that the
	// plan proposes.
	fewEmptyCells = 1.0
	// manyEmptyCells is the fraction of the cells without a row that may be published before the plan warns: with more,
	// the threshold leaves hardly anything out.
	manyEmptyCells = 0.1
)

// thresholdWarnings warns of each sparse table whose threshold is too low for its noise: so many cells without a row
// are expected above it that they outnumber the rows, if the number of rows is known, or are more than manyEmptyCells
// of the possible cells. It says with which threshold fewEmptyCells of them would be expected.
func thresholdWarnings(l *language.Language, p *plan.Plan) []string {
	measured := p.Measured()
	var w []string
	for _, t := range p.Tables {
		s := t.Sparse
		if s == nil {
			continue
		}
		possible, rows := float64(compiled.Possible(t)), p.Release().Table(t.From).ExpectedRows()
		if s.FalseCells <= manyEmptyCells*possible && (rows == 0 || s.FalseCells <= float64(rows)) {
			continue
		}
		beside := ""
		if rows > 0 {
			beside = ", " + l.Text("in addition to the cells of the %s that are expected", l.Plural(rows, "row"))
		}
		w = append(w, l.Text(
			"%s is published above %s, which is within its noise: %s cells without a row are expected in it%s (one "+
				"is published with a chance of %s). With above: %d one such cell is expected at most",
			t.Path, budget.Group(s.Above), l.Number(SizeText(s.FalseCells)), beside,
			l.Percent(min(1, s.FalseCells/possible)),
			measured[t.Path].Mechanism.LeastAbove(fewEmptyCells/possible)))
	}
	return w
}

// linkWarnings says what may go wrong with rows that belong to others: they may follow noise, and nobody learns of
// those without a parent row.
func linkWarnings(l *language.Language, p *plan.Plan) []string {
	var w []string
	for _, s := range p.Synthetic {
		if at, ok := p.Parent(s); ok && s.Method == plan.AIM && p.Synthetic[at].Method == plan.MST {
			w = append(w, l.Text(
				"the rows of %s are made by method mst, which knows pairs of their columns, and those of %s by "+
					"method aim given more of them: where rows of %[1]s have combinations that hardly any row of the "+
					"data has, rows of %[2]s are drawn by noise. Method aim for %[1]s, or mst for %[2]s, avoids that",
				s.Parent, s.Table))
		}
		if s.Parent != "" && p.Release().Diagnostics == "" {
			w = append(w, l.Text(
				"nothing will show how many rows of %s are left out because their unit has no row in %s. If ids are "+
					"written differently in the two files, all rows are lost, and the release is paid for. "+
					"diagnostics: {share: 2%%} counts them, with noise; compare the ids before you measure",
				s.Table, s.Parent))
		}
	}
	return w
}

// uncountedWarnings names the tables from which a policy leaves out rows with unknown values without anything
// counting them.
func uncountedWarnings(l *language.Language, p *plan.Plan) []string {
	var w []string
	for _, t := range p.Release().Tables {
		if p.Release().Diagnostics != "" || t.Expect != nil && t.Expect.Rows != nil {
			continue
		}
		var names []string
		for _, c := range t.Columns {
			if c.Unknown.Action == spec.Drop {
				names = append(names, c.Name)
			}
		}
		if t.Where != nil && t.Where.Unknown == spec.Drop {
			names = append(names, "`where`")
		}
		if names == nil {
			continue
		}
		limits := ""
		if !p.Release().Privacy.Total {
			limits = ", " + l.Text("and expect: {rows: [LEAST, MOST]} stops a run in which too few rows are left")
		}
		w = append(w, l.Text(
			"nothing will show how many rows of %s are left out for an unknown value (%s), such as a date that is "+
				"written differently: diagnostics: {share: 1%%} counts them, with noise",
			t.Name, strings.Join(names, ", "))+limits)
	}
	return w
}

// losing is the ratio of a table's error to its error with an equal share from which the plan warns.
const warnedRatio = 1.1

// equalShareWarnings names the tables that the planner makes worse, for the sake of all cells of their leaf together,
// than measuring every table of the leaf by itself with an equal share would. It warns only if the spec could weigh
// marginals differently and does not, and no target is set. Diagnostics have no weights.
func equalShareWarnings(l *language.Language, p *plan.Plan) []string {
	if p.Release().Collection != nil {
		return nil // a respondent answers one question, which has no share
	}
	leaves, noises := LeavesOfTables(p), map[string]budget.Kind{}
	for _, s := range p.Strategies {
		for _, path := range s.Tables {
			noises[path] = s.Noise
		}
	}
	var w []string
	for i, leaf := range p.Leaves {
		if leaf.Tables < 2 || p.Release().Budget.Leaves[i].Needed || hasWeights(p, leaf.Path) ||
			hasFigures(p, leaf.Path) ||
			leaf.Path != "" && leaf.Path == p.Release().Diagnostics {
			continue
		}
		var names []string
		var worse []float64
		every := false
		for _, t := range p.Tables {
			if leaves[t.Path] != leaf.Path || hasSums(p, t) || selecting[t.Selects()].chosen {
				continue
			}
			equal, err := EqualShare(p, t, leaf, noises[t.Path])
			if err != nil {
				continue // an equal share is too little for any noise, so the table is not worse
			}
			if times := t.Statistics[0].StandardError / equal; times > warnedRatio {
				names, worse = append(names, t.Path), append(worse, times)
				every = every || t.Path != t.Marginal // one of several tables of a marginal
			}
		}
		if len(names) == 0 {
			continue
		}
		times := l.Number(rangeText(l, worse, func(t float64) string { return budget.DecimalNearest(t, 3) }))
		tables := l.Plural(int64(leaf.Tables), "table")
		if leaf.Path != "" {
			tables = l.Text("%s of leaf %s", tables, leaf.Path)
		}
		text := l.Text("%s has %s times the error that measuring each of the %s by itself with an equal share would give",
			names[0], times, tables)
		if len(names) > 1 {
			text = l.Text("%s have %s times the error that measuring each of the %s by itself with an equal share would give",
				fewTables(l, names), times, tables)
		}
		w = append(w, text+": "+objectiveText(l, p)+"; "+weightAdvice(l, len(names) > 1, every))
	}
	return w
}

// weightAdvice says what makes one table, or several, better. every reports that one of them is of a marginal of
// several tables.
func weightAdvice(l *language.Language, several, every bool) string {
	switch {
	case several && every:
		return l.Text("a larger weight for their marginals changes that, in a marginal of their own beside the `every`")
	case several:
		return l.Text("a larger weight for their marginals changes that")
	case every:
		return l.Text("a larger weight for its marginal changes that, in a marginal of their own beside the `every`")
	}
	return l.Text("a larger weight for its marginal changes that")
}

// hasFigures reports whether a leaf pays for more than counts.
func hasFigures(p *plan.Plan, leaf string) bool {
	return slices.ContainsFunc(p.Strategies, func(s strategy.Group) bool { return s.Leaf == leaf && isOfPart(s) })
}

// hasSums reports whether a table needs sums along a column, for which its cells are measured less accurately.
func hasSums(p *plan.Plan, t plan.Table) bool {
	cumulative, ranges := p.SummedAlong(t)
	return cumulative != nil || ranges != nil
}

// objectiveText says what the planner minimises.
func objectiveText(l *language.Language, p *plan.Plan) string {
	if p.Release().Budget.Minimise == spec.LeastLargest {
		return l.Text("the planner makes the largest variance of a cell least")
	}
	return l.Text("the planner makes the sum of variances over all cells least, to which tables of few cells add little")
}

// hasWeights reports whether the marginals of a leaf have different weights, so that the spec asks for tables to
// differ.
func hasWeights(p *plan.Plan, leaf string) bool {
	var first *spec.Marginal
	for i := range p.Release().Marginals {
		m := &p.Release().Marginals[i]
		if !slices.Contains(m.PaidBy(), leaf) {
			continue
		}
		if first == nil {
			first = m
		}
		if m.Weight.Cmp(first.Weight) != 0 {
			return true
		}
	}
	return false
}

// EqualShare returns the standard error that a table would have if every table of its leaf were measured by itself,
// with the noise that it has and an equal part of the leaf.
func EqualShare(p *plan.Plan, t plan.Table, leaf plan.Leaf, noise budget.Kind) (float64, error) {
	part, cost := big.NewRat(1, int64(leaf.Tables)), budget.Cost{}
	if leaf.Amount.Epsilon != nil {
		cost.Epsilon = part.Mul(part, leaf.Amount.Epsilon)
	} else {
		cost.Rho = part.Mul(part, leaf.Amount.Rho)
		if noise.Pure() { // ε²/2 = ρ
			cost.Epsilon = budget.RootBelow(new(big.Rat).Add(cost.Rho, cost.Rho), optimise.LaplaceBits)
		}
	}
	m, err := optimise.NoiseFor(p.Release(), t.From, t.Cells, cost)
	return math.Sqrt(m.Variance()), err
}

// repeatWarnings says which subsets of `every` are left out, as a derived column adds nothing to its origin.
func repeatWarnings(l *language.Language, r *spec.Release) []string {
	var all []string
	for _, m := range r.Marginals {
		if m.Every == nil {
			continue
		}
		t := r.Table(m.Table)
		var pairs []string
		for i, a := range m.By {
			for _, b := range m.By[:i] {
				if derived, origin, found := attributes.SameColumnPair(t, []spec.Attribute{b, a}); found {
					pairs = append(pairs, l.Text("both %s and %s", derived, origin))
				}
			}
		}
		left := int64(0)
		for _, k := range m.Every {
			for _, by := range workload.Choose(m.By, k) {
				if _, _, found := attributes.SameColumnPair(t, by); found {
					left++
				}
			}
		}
		if left > 0 {
			all = append(all, l.Text(
				"marginal %s leaves out %s with %s: both come from one column, so the cells would be those of a "+
					"table without the first",
				m.Name, l.Plural(left, "subset"), strings.Join(pairs, ", "+l.Text("or")+" ")))
		}
	}
	return all
}
