package release

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the page of a difference: what a person reads of two plans or two releases.

// Write prints what changed in words: between the plans, then table by table the
// cells that changed by more than the noise explains, and by which rule.
func (d *Difference) Write(w io.Writer) error {
	b := &strings.Builder{}
	if err := d.Plans.Write(b); err != nil {
		return err
	}
	if c := d.Releases; c != nil {
		c.write(b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (c *Comparison) write(b *strings.Builder) {
	fmt.Fprintf(b, "\nFigures: %s\n  → %s\n", c.Before.words(), c.After.words())
	fmt.Fprintf(b, "%s compared. %s\n", budget.Plural(c.Cells, "cell"), c.Rule)
	unchanged := 0
	for _, t := range c.Tables {
		if t.Refused != "" {
			fmt.Fprintf(b, "\n%s: not compared, since %s\n", t.Path, t.Refused)
			continue
		}
		if t.changed() == 0 {
			unchanged++
		}
		if t.changed() > 0 || t.OnlyBefore > 0 || t.OnlyAfter > 0 {
			t.write(b)
		}
	}
	c.writeNotCompared(b)
	for _, table := range c.Microdata {
		fmt.Fprintf(b, "\nMicrodata of %s: not compared. Their rows are drawn from a model, so they differ also where nothing has changed.\n", table)
	}
	if unchanged > 0 {
		fmt.Fprintf(b, "\nIn %s of %s no cell changed%s.\n", budget.Group(int64(unchanged)), budget.Plural(int64(len(c.Tables)), "table"), c.beyond())
	}
}

// writeNotCompared names the figures beside counts that were drawn anew.
func (c *Comparison) writeNotCompared(b *strings.Builder) {
	var names []string
	for _, t := range c.Tables {
		for _, f := range t.NotCompared {
			names = append(names, t.Path+" "+f)
		}
	}
	if names != nil {
		fmt.Fprintf(b, "\nNot compared, as how far noise drives them apart depends on more than is published: %s. Their intervals tell how good each is.\n", strings.Join(names, ", "))
	}
}

// beyond ends the sentence that a cell changed.
func (c *Comparison) beyond() string {
	if c.SameDraw {
		return ""
	}
	return " by more than the noise explains"
}

// words is an edition in one line.
func (e Edition) words() string {
	text := e.Folder + " (" + e.Status
	if e.Revision > 0 {
		text += fmt.Sprintf(", revision %d", e.Revision)
	}
	return text + ", by " + e.Software + ")"
}

// rule says how changes are told from noise.
func (c *Comparison) rule() string {
	if c.SameDraw {
		return "Same draw: both publish the same measurements of one debit, so differences are not noise."
	}
	return fmt.Sprintf("A change of an unbiased estimate is listed where it is beyond its margin, the largest difference that two independent draws of the noise explain. "+
		"If nothing but the noise had changed, any cell at all would be listed with a chance of at most %s: each cell has its part of that (Bonferroni), by the laws of the noise or a bound on them. "+
		"What is beyond its margin comes from the data, from what changed in the plan or, where units have more rows than are counted, from which of them were.", budget.Percent(c.Chance))
}

// changed is how many figures of the table changed.
func (t TableDifference) changed() int64 {
	n := int64(0)
	for _, s := range t.Statistics {
		n += s.Changed
	}
	for _, f := range t.Figures {
		n += f.Changed
	}
	return n
}

// write prints one table: cells that only one release has, and its statistics.
func (t TableDifference) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s: %s compared", t.Path, budget.Plural(t.Compared, "cell"))
	if t.OnlyBefore > 0 {
		fmt.Fprintf(b, ", %s only before", budget.Group(t.OnlyBefore))
	}
	if t.OnlyAfter > 0 {
		fmt.Fprintf(b, ", %s only after", budget.Group(t.OnlyAfter))
	}
	b.WriteString("\n")
	for _, s := range t.Statistics {
		if s.Changed > 0 {
			s.write(b, t.By)
		}
	}
	for _, f := range t.Figures {
		if f.Changed > 0 {
			fmt.Fprintf(b, "  %s: %s changed\n", f.Name, budget.Plural(f.Changed, "cell"))
		}
	}
}

// write prints the cells of a statistic that changed most.
func (s StatisticDifference) write(b *strings.Builder, by []string) {
	fmt.Fprintf(b, "  %s: %s changed", s.Name, budget.Plural(s.Changed, "cell"))
	if more := s.Changed - int64(len(s.Largest)); more > 0 {
		fmt.Fprintf(b, ", the %d that changed most:", len(s.Largest))
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  "+strings.Join(append(append([]string{}, by...), "before", "after", "difference", "margin"), "\t"))
	for _, c := range s.Largest {
		figures := []string{estimate(c.Before), estimate(c.After), signed(c.Difference), "±" + estimate(c.Margin)}
		fmt.Fprintln(t, "  "+strings.Join(append(append([]string{}, c.Keys...), figures...), "\t"))
	}
	t.Flush()
}

// estimate writes a figure that may be below zero: a whole one in full, another in four
// digits or all before the point.
func estimate(v float64) string {
	if v < 0 {
		return "\u2212" + budget.DecimalNearest(-v, 4)
	}
	return budget.DecimalNearest(v, 4)
}

// signed writes a difference with its sign.
func signed(d float64) string {
	if d > 0 {
		return "+" + estimate(d)
	}
	return estimate(d)
}
