package planner

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/optimise"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the trace: what each pass of the planner has worked out, for a person to follow.

// Trace plans a release as [New] does, and writes what every pass has worked out, one after another: the tables, the
// groups and the designs of each, the division of the budget, the measurements with their noise, the predicted
// tables, the strategies and the guarantee. Passes that leaves of targets make run again are written
// again. It returns an error as New does, after writing what was worked out before.
func Trace(r *spec.Release, w io.Writer) error {
	b, done := &strings.Builder{}, 0
	_, err := passes(r, func(pass string, d *draftPlan) {
		done++
		fmt.Fprintf(b, "%d. %s\n", done, strings.ToUpper(pass[:1])+pass[1:])
		if write, ok := traced[pass]; ok {
			write(d, b)
		}
		b.WriteString("\n")
	})
	if err != nil {
		fmt.Fprintf(b, "After this the planner gave up: %v\n", err)
	}
	if _, failed := io.WriteString(w, b.String()); failed != nil {
		return failed
	}
	return err
}

// traced lists what writes the result of a pass.
var traced = map[string]func(d *draftPlan, b *strings.Builder){
	"tables": traceTables, "designs": traceDesigns, "division": traceDivision, "measurements": traceMeasurements,
	"predictions": tracePredictions, "strategies": traceStrategies, "guarantee": traceGuarantee,
}

// traceLines writes lines of cells in columns; if there are more than [describe.ManyTables], the first ones, and how
// many more there are.
func traceLines(b *strings.Builder, n int, line func(i int) string) {
	listed := n
	if n > describe.ManyTables {
		listed = describe.ManyTables
	}
	lines := make([]string, listed)
	for i := range lines {
		lines[i] = "   " + line(i)
	}
	inColumns(b, lines)
	if listed < n {
		fmt.Fprintf(b, "   … and %s more\n", budget.Group(int64(n-listed)))
	}
}

// inColumns writes lines with their cells aligned.
func inColumns(b *strings.Builder, lines []string) {
	text := &strings.Builder{}
	t := tabwriter.NewWriter(text, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintln(t, line)
	}
	t.Flush()
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(b, strings.TrimRight(line, " \n"))
	}
}

// traceTables writes what the marginals ask for.
func traceTables(d *draftPlan, b *strings.Builder) {
	traceLines(b, len(d.tables), func(i int) string {
		t := d.tables[i]
		more := impossibleText(t)
		if goal, ok := t.Goal(); ok {
			more += fmt.Sprintf(", each within ±%s with probability %s", budget.DecimalNearest(goal.Margin, 4),
				budget.DecimalNearest(goal.Confidence, 6))
		}
		return fmt.Sprintf("%s\tof %s\t%s%s\tweight %s", t.Path, t.Marginal.Table, budget.Plural(t.Cells, "cell"), more,
			budget.DecimalNearest(t.VarianceWeight(), 4))
	})
	for _, s := range d.drafts {
		counts := budget.Plural(s.Cells, "cell") + " of columns and " + s.Sets() + " columns"
		if s.Leaf == optimise.NoLeaf {
			counts = "of the tables"
		}
		fmt.Fprintf(b, "   microdata of %s: %s\n", s.Requested.Table, s.Method+", "+counts)
	}
}

// traceDesigns writes the groups, with the error of every design for all of an amount.
func traceDesigns(d *draftPlan, b *strings.Builder) {
	r := d.blueprint.Release
	for i, g := range d.blueprint.Groups {
		fmt.Fprintf(b, "   Group %d%s: %s\n", i+1, inLeaf(r.Budget.Leaves[g.Leaf].Path), groupText(g))
		var lines []string
		for j, one := range g.Designs {
			best := ""
			if slices.Contains(g.Best, j) {
				best = "best with this noise"
			}
			lines = append(lines, fmt.Sprintf("     %s\t%s\t%s\t%s\t%s", one.Kind, one.Noise.Name(),
				budget.Plural(int64(len(one.Measurements)), "measurement"), designText(g, one), best))
		}
		inColumns(b, lines)
		for _, other := range g.Reasons {
			fmt.Fprintf(b, "     not %s: %s\n", other.Kind, other.Why)
		}
	}
}

// designText describes the error of a design.
func designText(g *optimise.Group, one optimise.Design) string {
	if g.Needed {
		return "needs ρ " + budget.DecimalNearest(one.Error, 5)
	}
	letter := "ρ"
	if one.Noise.Pure() {
		letter = "ε"
	}
	cells := 0.0
	for _, t := range g.Tables {
		cells += float64(t.Possible())
	}
	what := "weighted sum of variances"
	if g.Minimise == spec.LeastLargest {
		what = "largest weighted variance"
	}
	return fmt.Sprintf("for %s = 1: %s %s, root mean square error %s", letter, what,
		budget.DecimalNearest(one.Error, 5),
		budget.DecimalNearest(math.Sqrt(one.Spread/cells), 5))
}

// leafName names a leaf in a list.
func leafName(path string) string {
	if path == "" {
		return "the whole budget"
	}
	return "leaf " + path
}

// inLeaf names the leaf of something, if there are several.
func inLeaf(path string) string {
	if path == "" {
		return ""
	}
	return " of leaf " + path
}

// groupText names the tables of a group.
func groupText(g *optimise.Group) string {
	names := make([]string, len(g.Tables))
	for i, t := range g.Tables {
		names[i] = t.Path
	}
	return describe.Listed(names)
}

// traceDivision writes the chosen noise, the size of the budget, and the parts of leaves and groups.
func traceDivision(d *draftPlan, b *strings.Builder) {
	for i, g := range d.blueprint.Groups {
		taken := d.division.ChosenDesigns[i]
		part := budget.Percent(d.division.Shares[i]) + " of its leaf"
		if g.Needed {
			part = "what its targets need"
		}
		fmt.Fprintf(b, "   Group %d: %s with %s noise, for %s\n", i+1, taken.Kind, taken.Noise.Name(), part)
	}
	what := "weighted sum of variances"
	if d.blueprint.Release.Budget.Minimise == spec.LeastLargest {
		what = "largest weighted variance"
	}
	figures := func(one *optimise.Division) string {
		return fmt.Sprintf("%s %s, charged %s", what, budget.DecimalNearest(one.Error, 5),
			strings.TrimPrefix(one.Cost.String(), "= "))
	}
	fmt.Fprintf(b, "   The whole: %s\n", figures(d.division))
	if len(d.uniform) > 1 {
		for i, noise := range optimise.Noises(d.blueprint.Release.Budget) {
			if d.uniform[i] == nil {
				fmt.Fprintf(b, "   All groups with %s noise: no chance\n", noise.Name())
				continue
			}
			fmt.Fprintf(b, "   All groups with %s noise: %s\n", noise.Name(), figures(d.uniform[i]))
		}
	}
	traceLines(b, len(d.plan.Leaves), func(i int) string {
		l := d.plan.Leaves[i]
		return fmt.Sprintf("%s\t%s\t%s\tfor %s", leafName(l.Path), describe.Percent(plan.Amount(l.Share)), l.Amount,
			l.PaysFor())
	})
}

// traceMechanism names a mechanism with its parameter: a law of noise, or a mechanism that adds none.
func traceMechanism(m budget.Mechanism) string {
	if m.Kind.Name() != "" {
		return describe.MechanismText(m) + ", " + describe.ScaleText(m)
	}
	v, _ := m.Parameter.Float64()
	return strings.ReplaceAll(string(m.Kind), "-", " ") + ", " + budget.DecimalNearest(v, 4)
}

// traceMeasurements writes the measurements with their noise.
func traceMeasurements(d *draftPlan, b *strings.Builder) {
	traceLines(b, len(d.plan.Measurements), func(i int) string {
		m := d.plan.Measurements[i]
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", m.ID, budget.Plural(m.Cells, "answer"), traceMechanism(m.Mechanism),
			describe.SensitivityText(m.Mechanism), describe.CostText(m.Mechanism, 1))
	})
	for _, s := range d.plan.Synthetic {
		if s.Adaptive() {
			fmt.Fprintf(b, "   %s: %s, %s\n", s.Name(), describe.RoundsOf(s), describe.CostText(s.Block, 1))
		} else {
			fmt.Fprintf(b, "   %s: nothing, of %s\n", s.Name(), budget.Plural(int64(len(tabulation.Tables(d.plan, s))),
				"table"))
		}
	}
	for _, m := range d.plan.Models {
		fmt.Fprintf(b, "   model %s: %s, ρ %s\n", m.Name, budget.Plural(int64(m.RoundCount()), "round"),
			budget.DecimalUp(describe.RhoOfModel(m), 4))
	}
	fmt.Fprintf(b, "   %s of memory\n", describe.BytesText(d.plan.Size.Bytes))
}

// tracePredictions writes the accuracy of the tables.
func tracePredictions(d *draftPlan, b *strings.Builder) {
	traceLines(b, len(d.plan.Tables), func(i int) string {
		t := d.plan.Tables[i]
		s := t.Statistics[0]
		how := "put together"
		if s.Measurement != "" {
			how = "as measured"
		}
		target := ""
		if t.Target != nil {
			target = fmt.Sprintf("target %s, reached ±%s", t.Target, budget.DecimalNearest(t.Target.Reached, 4))
		}
		ranges := ""
		if s.OfRanges > 0 {
			ranges = ", of sums of neighbours " + budget.DecimalNearest(s.OfRanges, 4)
		}
		return fmt.Sprintf("%s\t%s\tstandard error %s%s\tmargin ±%s\thalf of the cells within %s\t%s", t.Path, how,
			budget.DecimalNearest(s.StandardError, 4), ranges, budget.DecimalNearest(s.Margin, 4),
			budget.DecimalNearest(s.Median, 4), target)
	})
}

// traceStrategies describes what was chosen.
func traceStrategies(d *draftPlan, b *strings.Builder) {
	for _, s := range d.plan.Strategies {
		fmt.Fprintf(b, "   %s: %s\n", describe.Names(s), describe.Strategy(s))
	}
}

// traceGuarantee writes what is promised.
func traceGuarantee(d *draftPlan, b *strings.Builder) {
	fmt.Fprintf(b, "   %s\n", describe.Guarantee(language.English, d.plan))
}
