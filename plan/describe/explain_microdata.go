package describe

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes microdata: for the signed page, and for the difference of two plans.

// explainMicrodata writes what the i-th microdata are, what is measured for them and what that costs.
func explainMicrodata(p *plan.Plan, b *strings.Builder, i int) {
	s, columns := p.Synthetic[i], p.ColumnsOf(i)
	fmt.Fprintf(b, "\nMicrodata of %s: %s; %s\n", s.Table, factorsText(s.OwnColumns()), rowsText(s))
	for _, f := range s.OwnColumns() {
		if link := p.Release().Table(s.Table).Column(f.Attribute).Link; link != nil {
			fmt.Fprintf(b, "  %s is how many rows of %s belong to a row, 0 to %s.\n", f, link.Table,
				budget.Group(p.Release().Table(link.Table).Unit.MaxRows))
		}
	}
	if s.Parent != "" {
		explainLink(p, b, s)
	}
	if len(s.Derived) > 0 {
		fmt.Fprintf(b, "  Beside them %s, which the others decide: not measured.\n", factorsText(s.Derived))
	}
	fmt.Fprintf(b, "  The rows are drawn from a model of noisy answers. None is taken from the data, and no interval "+
		"goes with what is counted in them.\n")
	if s.Why != nil {
		fmt.Fprintf(b, "  Method %s, chosen by what is public: %s.\n%s", s.Method, phrase.InWords(s.Why),
			otherMethod(s))
	}
	if s.Files > 0 {
		fmt.Fprintf(b, "  They are drawn %d times from the one model, each time into a file of its own: what differs "+
			"between files is by the drawing alone.\n", s.Files)
	}
	if !s.Adaptive() {
		explainOfTables(p, b, s)
		return
	}
	widest, ofColumns := WidestNoise(columns), new(big.Rat)
	for _, m := range columns {
		ofColumns.Add(ofColumns, m.Mechanism.Rho())
	}
	fmt.Fprintf(b, "  Asked in any case: the counts of each of %s, with %s; %s.\n",
		budget.Plural(int64(len(s.By)), "column"), noiseText(widest), rhoText(ofColumns))
	if rows := visibleFrom(p, i); rows > 1 {
		fmt.Fprintf(b, "  With fewer than %s in %s the noise hides an average category of every one of them.\n",
			budget.Plural(rows, "row"), s.Table)
	}
	explainRounds(s, b)
	fmt.Fprintf(b, "  All rounds together are capped at %s, whatever they choose; with the columns that is %s. It is "+
		"debited whole before the first round.\n", rhoText(s.Block.Rho()), rhoText(rhoOf(p, i)))
}

// explainLink writes how rows relate to rows of another table.
func explainLink(p *plan.Plan, b *strings.Builder, s plan.Synthetic) {
	fmt.Fprintf(b, "  Each row belongs to one of %s and is drawn given its columns, here called %s; the last is how "+
		"many rows of %s it has, at most %s.\n",
		s.Parent, factorsText(s.GivenColumns()), s.Table, budget.Group(p.Release().Table(s.Table).Unit.MaxRows))
	fmt.Fprintf(b, "  Rows of %s whose unit has no row in %s that is counted are left out before the rows of a unit "+
		"are bounded, of all that is counted of %s.\n", s.Table, s.Parent, s.Table)
}

// otherMethod says what the method that was not chosen would give and require.
func otherMethod(s plan.Synthetic) string {
	switch {
	case s.Method == plan.AIM:
		return "  It follows what no tree of pairs shows of the columns; such a tree, by method: mst, takes less " +
			"time and memory.\n"
	case len(s.By) > 2:
		return "  It knows a tree of pairs. Method aim follows more, and could have been chosen for fewer columns " +
			"under `by`, or coarser levels.\n"
	}
	return ""
}

// explainOfTables writes what microdata that measure nothing are made from.
func explainOfTables(p *plan.Plan, b *strings.Builder, s plan.Synthetic) {
	fmt.Fprintf(b, "  Nothing is measured for them, and they cost nothing: the model is made of %s that %s release "+
		"has anyway (method %s).\n",
		budget.Plural(int64(len(tabulation.Tables(p, s))), "table"), "the", s.Method)
	if left := tabulation.UnmeasuredColumns(p, s); len(left) > 0 {
		fmt.Fprintf(b, "  No table tells of %s: their categories are drawn with equal chances, which says nothing of "+
			"the data.\n", factorsText(left))
	}
	if !tabulation.CoversAllPairs(p, s, nil) {
		fmt.Fprintf(b, "  Not every two columns are in a table together: those that are not depend on each other as "+
			"far as the model has it by others alone.\n")
	}
}

// explainRounds writes what is chosen in rounds, from which candidates, and how.
func explainRounds(s plan.Synthetic, b *strings.Builder) {
	of := int64(len(adaptive.Candidates(s)))
	if s.Method == plan.MST {
		fmt.Fprintf(b, "  Then, in %s (method %s), what the answers suggest: each round chooses one of %s of "+
			"columns, %s,\n",
			RoundsOf(s), s.Method, budget.Plural(of, "pair"), choiceText(s.Select))
		fmt.Fprintf(b, "  and asks the counts of that pair, with %s, %s.\n", noiseText(s.Noise), CostText(s.Noise, 1))
		return
	}
	fmt.Fprintf(b, "  Categories of a column whose noisy counts are below %d standard errors count as one from then on.\n",
		VisibleDeviations)
	fmt.Fprintf(b, "  Then, in %s (method %s), what the answers suggest: each round chooses one of %s %s columns "+
		"that a model of all answers\n",
		RoundsOf(s), s.Method, budget.Group(of), adaptive.DescribeCandidates(s))
	fmt.Fprintf(b, "  gets most wrong, and asks its counts. The first one chooses %s, and measures with %s, %s.\n",
		choiceText(s.Select), noiseText(s.Noise), CostText(s.Noise, 1))
	fmt.Fprintf(b, "  A round costs what the one before did or, where an answer told little beside its noise, four "+
		"times as much, with half the noise; the last takes what is left.\n")
	fmt.Fprintf(b, "  The model has at most %s in all its tables, and %s in one.\n", budget.Plural(s.LargestModel.Cells,
		"cell"),
		budget.Group(s.LargestModel.Largest))
	if s.Parent != "" {
		fmt.Fprintf(b, "  As rows are drawn given a row of %s, all of its columns that columns of %s which hang "+
			"together depend on are in one of these tables.\n", s.Parent, s.Table)
	}
}

// rhoOf returns the ρ of the i-th microdata: of their columns and their block.
func rhoOf(p *plan.Plan, i int) *big.Rat {
	all := p.Synthetic[i].Block.Rho()
	for _, m := range p.ColumnsOf(i) {
		all.Add(all, m.Mechanism.Rho())
	}
	return all
}

// WidestNoise returns the noise of the column that has the most.
func WidestNoise(columns []plan.Measurement) budget.Mechanism {
	widest := columns[0].Mechanism
	for _, m := range columns {
		if m.Mechanism.Parameter.Cmp(widest.Parameter) > 0 {
			widest = m.Mechanism
		}
	}
	return widest
}

// RoundsOf says how many rounds there are.
func RoundsOf(s plan.Synthetic) string {
	rounds := budget.Plural(int64(s.Rounds), "round")
	if s.Method == plan.AIM {
		rounds = "at most " + rounds
	}
	return rounds
}

// rowsText says how many rows microdata have.
func rowsText(s plan.Synthetic) string {
	if s.Parent != "" {
		return "as many rows as the rows of " + s.Parent + " say"
	}
	if s.Rows == 0 {
		return "as many rows as the noisy total says"
	}
	if s.RowsOf != "" {
		return fmt.Sprintf("%s, as invariant %s has", budget.Plural(s.Rows, "row"), s.RowsOf)
	}
	return budget.Plural(s.Rows, "row")
}

// factorsText lists columns as a spec writes them.
func factorsText(factors []plan.Factor) string {
	names := make([]string, len(factors))
	for i, f := range factors {
		names[i] = f.String()
	}
	return strings.Join(names, ", ")
}

// candidatesText says what is counted for the choices of all microdata; "" if nothing is.
func candidatesText(l *language.Language, p *plan.Plan) string {
	var all []string
	for _, s := range p.Synthetic {
		if !s.Adaptive() {
			continue
		}
		if of := l.Text("all %s of the microdata",
			phrase.SetsOfColumns(l, adaptive.CandidateColumns(s))); !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	return strings.Join(all, " "+l.Text("and")+" ")
}
