package describe

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the privacy loss as a page: of the release, its leaves, tables and columns.

// Write prints the loss as a page: what the release, each leaf of its budget, each table and each attribute costs,
// and how much the best attack can achieve.
func (l *Loss) Write(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "Privacy loss of release %s; every figure is rounded up\n\n", l.Release)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	heads := []string{"", "tables", "ρ"}
	if l.Whole.Pure != "" {
		heads = append(heads, "pure ε")
	}
	for _, d := range l.Deltas {
		heads = append(heads, "ε at δ = "+d)
	}
	for _, rate := range falsePositiveRates {
		heads = append(heads, "power at "+budget.Percent(rate))
	}
	fmt.Fprintln(t, strings.Join(heads, "\t"))
	l.writeRow(t, l.Whole.Of, l.Whole)
	if len(l.Leaves) > 0 {
		fmt.Fprintln(t, "each leaf of the budget alone"+strings.Repeat("\t", len(heads)-1))
		for _, one := range l.Leaves {
			l.writeRow(t, "  "+one.Of, one)
		}
	}
	fmt.Fprintln(t, "each table alone"+strings.Repeat("\t", len(heads)-1))
	l.writeTables(t)
	fmt.Fprintln(t, "each attribute, all else known"+strings.Repeat("\t", len(heads)-1))
	for _, one := range l.Attributes {
		l.writeRow(t, "  "+one.Of, one)
	}
	t.Flush()
	fmt.Fprintf(b, "\nTables, and attributes, share measurements: their losses are not parts of the whole.")
	b.WriteString(relationsText(l.sample, l.neighbours, len(l.Leaves) > 0))
	right, wrong := "a unit that is in the data", "one that is not"
	if l.local {
		right, wrong = "an answer by its report", "one that was not given"
	}
	fmt.Fprintf(b, "\nPower at a false-positive rate: how often the best attack finds %s, if it finds\n"+
		"%s at this rate. Without the release, its power equals the rate.\n", right, wrong)
	if c := l.Conversion; c != nil {
		spent, plain := plan.Amount(c.Rho), plan.Amount(c.Plain)
		more, _ := new(big.Rat).Quo(spent, plain).Float64()
		fmt.Fprintf(b, "\nComposed numerically, the budget buys ρ %s; the conversion of ρ alone would allow %s, with "+
			"%s more variance in every cell.\n",
			budget.Amount(spent), strings.TrimPrefix(budget.Amount(plain), "= "), budget.Percent(more-1))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeTables writes the rows of tables. Neighbours with the same loss share one row. If there are more than 40
// tables, all but the first three of one marginal with the same number of attributes share one.
func (l *Loss) writeTables(w io.Writer) {
	many := len(l.Tables) > ManyTables
	for from := 0; from < len(l.Tables); {
		to := from + 1
		for to < len(l.Tables) && (many && l.Tables[to].kind == l.Tables[from].kind || !many &&
			l.Tables[to].sameLoss(l.Tables[from])) {
			to++
		}
		listed := from + 1
		if many && to > from+firstTables+1 {
			listed = from + firstTables
		} else if many {
			listed = to
		}
		for _, one := range l.Tables[from:listed] {
			if more := to - from - 1; !many && more > 0 {
				one.Of += fmt.Sprintf(" and %d more like it", more)
			}
			l.writeRow(w, "  "+one.Of, one)
		}
		if many && listed < to {
			l.writeRow(w, fmt.Sprintf("  … and %s more", budget.Group(int64(to-listed))), l.Tables[listed:to]...)
		}
		from = to
	}
}

// sameLoss reports whether two tables have the same loss.
func (a LossLine) sameLoss(b LossLine) bool {
	return a.Rho == b.Rho && a.Pure == b.Pure && slices.Equal(a.Epsilons, b.Epsilons) &&
		slices.Equal(a.TruePositiveRates, b.TruePositiveRates)
}

// writeRow writes the loss of some parts; of several, the ranges of their losses.
func (l *Loss) writeRow(w io.Writer, name string, all ...LossLine) {
	cells := []string{name, fmt.Sprint(all[0].Tables)}
	if len(all) > 1 {
		cells[1] += " each"
	}
	add := func(compare func(a, b LossLine) int, text func(LossLine) string) {
		low, high := text(slices.MinFunc(all, compare)), text(slices.MaxFunc(all, compare))
		if low != high {
			high = low + " to " + high
		}
		cells = append(cells, high)
	}
	exactly := func(loss func(LossLine) string) {
		add(func(a, b LossLine) int { return plan.Amount(loss(a)).Cmp(plan.Amount(loss(b))) },
			func(one LossLine) string { return budget.SignificantUp(plan.Amount(loss(one)), 4) })
	}
	exactly(func(one LossLine) string { return one.Rho })
	if l.Whole.Pure != "" {
		exactly(func(one LossLine) string { return one.Pure })
	}
	for i := range l.Whole.Epsilons {
		add(func(a, b LossLine) int { return cmp.Compare(a.Epsilons[i].Epsilon, b.Epsilons[i].Epsilon) },
			func(one LossLine) string { return strings.TrimPrefix(Bound(one.Epsilons[i]), "ε = ") })
	}
	for i := range l.Whole.TruePositiveRates {
		rate := func(one LossLine) float64 { return one.TruePositiveRates[i].AtMost }
		add(func(a, b LossLine) int { return cmp.Compare(rate(a), rate(b)) },
			func(one LossLine) string { return budget.DecimalUp(new(big.Rat).SetFloat64(100*rate(one)), 4) + "%" })
	}
	fmt.Fprintln(w, strings.Join(cells, "\t"))
}
