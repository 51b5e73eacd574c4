package plan

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the trace: what each pass of the planner has worked out, for a person who wants to follow it.

// Trace plans a release as [New] does, and writes what every pass has worked out, one after another: the tables, the
// groups and the designs of each, what the budget is divided into, the measurements with their noise, what the tables
// will be like, the strategies, the guarantee and the warnings. Passes that leaves of targets make run again are written
// again. It fails as New does, after what was worked out before that.
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

// traced writes what a pass has worked out.
var traced = map[string]func(d *draftPlan, b *strings.Builder){
	"tables": traceTables, "designs": traceDesigns, "division": traceDivision, "measurements": traceMeasurements,
	"predictions": tracePredictions, "strategies": traceStrategies, "guarantee": traceGuarantee, "warnings": traceWarnings,
}

// traceLines writes lines of cells in columns; of more than manyTables lines the first ones, and how many more there are.
func traceLines(b *strings.Builder, n int, line func(i int) string) {
	listed := n
	if n > manyTables {
		listed = manyTables
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

// inColumns writes lines, their cells below each other.
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
		more := ""
		if t.impossible > 0 {
			more += fmt.Sprintf(", %s of them impossible", budget.Group(t.impossible))
		}
		if goal, ok := t.goal(); ok {
			more += fmt.Sprintf(", each within ±%s with probability %s", budget.DecimalNearest(goal.margin, 4), budget.DecimalNearest(goal.confidence, 6))
		}
		return fmt.Sprintf("%s\tof %s\t%s%s\tweight %s", t.path, t.marginal.Table, budget.Plural(t.cells, "cell"), more, budget.DecimalNearest(t.asked(), 4))
	})
	for _, s := range d.drafts {
		counts := budget.Plural(s.cells, "cell") + " of columns and " + s.sets() + " columns"
		if s.leaf == noLeaf {
			counts = "of the tables"
		}
		fmt.Fprintf(b, "   microdata of %s: %s\n", s.asked.Table, s.method+", "+counts)
	}
}

// traceDesigns writes the groups, with the error of every design for all of an amount.
func traceDesigns(d *draftPlan, b *strings.Builder) {
	r := d.blueprint.release
	for i, g := range d.blueprint.groups {
		fmt.Fprintf(b, "   Group %d%s: %s\n", i+1, inLeaf(r.Budget.Leaves[g.leaf].Path), groupText(g))
		var lines []string
		for j, one := range g.designs {
			best := ""
			if slices.Contains(g.best, j) {
				best = "best with this noise"
			}
			lines = append(lines, fmt.Sprintf("     %s\t%s\t%s\t%s\t%s", one.kind, noiseName(one.noise), budget.Plural(int64(len(one.planned)), "measurement"), g.figureText(one), best))
		}
		inColumns(b, lines)
		for _, other := range g.reasons {
			fmt.Fprintf(b, "     not %s: %s\n", other.Kind, other.Why)
		}
	}
}

// figureText is the error of a design.
func (g *group) figureText(one design) string {
	if g.needed {
		return "needs ρ " + budget.DecimalNearest(one.error, 5)
	}
	letter := "ρ"
	if one.noise == budget.DiscreteLaplace {
		letter = "ε"
	}
	cells := 0.0
	for _, t := range g.tables {
		cells += float64(t.possible())
	}
	what := "weighted sum of variances"
	if g.minimise == spec.LeastLargest {
		what = "largest weighted variance"
	}
	return fmt.Sprintf("for %s = 1: %s %s, root mean square error %s", letter, what, budget.DecimalNearest(one.error, 5), budget.DecimalNearest(math.Sqrt(one.spread/cells), 5))
}

// leafName names a leaf in a list.
func leafName(path string) string {
	if path == "" {
		return "the whole budget"
	}
	return "leaf " + path
}

// inLeaf names the leaf of something, where there are several.
func inLeaf(path string) string {
	if path == "" {
		return ""
	}
	return " of leaf " + path
}

// groupText names the tables of a group.
func groupText(g *group) string {
	names := make([]string, len(g.tables))
	for i, t := range g.tables {
		names[i] = t.path
	}
	return listed(names)
}

// traceDivision writes which noise was taken, what the budget amounts to, and the parts of leaves and groups.
func traceDivision(d *draftPlan, b *strings.Builder) {
	for i, g := range d.blueprint.groups {
		taken := d.division.taken[i]
		part := budget.Percent(d.division.shares[i]) + " of its leaf"
		if g.needed {
			part = "what its targets need"
		}
		fmt.Fprintf(b, "   Group %d: %s with %s noise, for %s\n", i+1, taken.kind, noiseName(taken.noise), part)
	}
	what := "weighted sum of variances"
	if d.blueprint.release.Budget.Minimise == spec.LeastLargest {
		what = "largest weighted variance"
	}
	figures := func(one *division) string {
		return fmt.Sprintf("%s %s, charged %s", what, budget.DecimalNearest(one.error, 5), strings.TrimPrefix(one.cost.String(), "= "))
	}
	fmt.Fprintf(b, "   The whole: %s\n", figures(d.division))
	if len(d.uniform) > 1 {
		for i, noise := range noises(d.blueprint.release.Budget) {
			if d.uniform[i] == nil {
				fmt.Fprintf(b, "   All groups with %s noise: no chance\n", noiseName(noise))
				continue
			}
			fmt.Fprintf(b, "   All groups with %s noise: %s\n", noiseName(noise), figures(d.uniform[i]))
		}
	}
	traceLines(b, len(d.plan.Leaves), func(i int) string {
		l := d.plan.Leaves[i]
		return fmt.Sprintf("%s\t%s\t%s\tfor %s", leafName(l.Path), percent(amount(l.Share)), l.Amount, l.PaysFor())
	})
}

// traceMeasurements writes what will be asked, with which noise.
func traceMeasurements(d *draftPlan, b *strings.Builder) {
	traceLines(b, len(d.plan.Measurements), func(i int) string {
		m := d.plan.Measurements[i]
		return fmt.Sprintf("%s\t%s\t%s, %s\t%s\t%s", m.ID, budget.Plural(m.Cells, "answer"), mechanismText(m.Mechanism), scaleText(m.Mechanism), sensitivityText(m.Mechanism), costText(m.Mechanism, 1))
	})
	for _, s := range d.plan.Synthetic {
		if s.Adaptive() {
			fmt.Fprintf(b, "   %s: %s, %s\n", s.name(), s.roundsOf(), costText(s.Block, 1))
		} else {
			fmt.Fprintf(b, "   %s: nothing, of %s\n", s.name(), budget.Plural(int64(len(d.plan.Evidence(s))), "table"))
		}
	}
	fmt.Fprintf(b, "   %s of memory\n", bytesText(d.plan.Size.Bytes))
}

// tracePredictions writes how good the tables will be.
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
			budget.DecimalNearest(s.StandardError, 4), ranges, budget.DecimalNearest(s.Margin, 4), budget.DecimalNearest(s.Median, 4), target)
	})
}

// traceStrategies writes what was chosen in words.
func traceStrategies(d *draftPlan, b *strings.Builder) {
	for _, s := range d.plan.Strategies {
		fmt.Fprintf(b, "   %s: %s\n", s.names(), s.sentence())
	}
}

// traceGuarantee writes what is promised.
func traceGuarantee(d *draftPlan, b *strings.Builder) {
	fmt.Fprintf(b, "   %s\n", d.plan.Guarantee.Sentence())
}

// traceWarnings writes what to know before signing.
func traceWarnings(d *draftPlan, b *strings.Builder) {
	for _, w := range d.plan.Warnings {
		fmt.Fprintf(b, "   %s.\n", w)
	}
	if len(d.plan.Warnings) == 0 {
		b.WriteString("   none\n")
	}
}
