package describe

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes discovered groups.

// discoveredExpectation says which groups a table will have, and how accurate its figures will be.
func discoveredExpectation(l *language.Language, _ *plan.Plan, t plan.Table) string {
	return Discovered(l, t.Discovered) + " " + l.Text("Figures are within ±%s of the exact number of units 19 times "+
		"in 20, in the groups that appear: their noise has nothing to do with the selection.",
		budget.Group(WholeMargin(t.Statistics[0].Margin)))
}

// Discovered says which groups appear.
func Discovered(l *language.Language, d *selection.GroupsFacts) string {
	least := ""
	if d.AtLeast > 1 {
		least = " " + l.Text("Groups of fewer than %s never do.", l.Plural(d.AtLeast, "unit"))
	}
	return l.Text("Nobody lists the values of %s: a group appears by a selection that is paid for with a δ of %s, in "+
		"which a unit counts in %s at most.",
		strings.Join(d.Columns, " "+l.Text("and")+" "), l.Number(budget.DecimalUp(plan.Amount(d.Delta), 3)),
		l.Plural(d.Groups, "group")) + " " + ChancesText(l, d) + least + " " +
		l.Text("A group that is not in the table need not be empty.")
}

// ChancesText says with what probability groups of some sizes appear.
func ChancesText(l *language.Language, d *selection.GroupsFacts) string {
	var all []string
	for i, c := range d.Chances {
		chance := budget.Percent(c.Chance)
		switch {
		case c.Chance < 1e-4:
			chance = budget.DecimalNearest(c.Chance, 2)
		case c.Chance > 0.99:
			chance = budget.Percent(math.Floor(c.Chance*1e4) / 1e4)
		}
		if i == 0 {
			all = append(all, l.Text("A group of %s appears with a chance of %s", l.Plural(c.Units, "unit"),
				l.Number(chance)))
		} else {
			all = append(all, l.Text("one of %s of %s", budget.Group(c.Units), l.Number(chance)))
		}
	}
	return strings.Join(all, ", ") + "."
}

func costOfGroups(s selection.Selection, noise budget.Mechanism) string {
	return costOfAll(append(s.Steps(), noise))
}

// deltaOfGroups returns the cost line of the δ that lets groups of one unit appear.
func deltaOfGroups(m plan.Measurement) []CostLine {
	d := m.Selection.(selection.Groups)
	each, times := plan.Amount(d.Delta), big.NewRat(d.Groups, 1)
	return []CostLine{{Of: m.ID + ", groups of one unit that appear", Leaf: m.Leaf, Times: d.Groups,
		Each: budget.Cost{Rho: new(big.Rat), Delta: each},
		Cost: budget.Cost{Rho: new(big.Rat), Delta: times.Mul(times, each)}}}
}

func whichSelected(plan.Table) string { return "where selected" }

// cellsUnknown stands for the number of groups, which nobody knows.
func cellsUnknown(plan.Table) string { return "–" }

// sayGroups adds the facts of a table of groups that are not listed.
func sayGroups(b *factBook, t tableRow) {
	d := t.Discovered
	b.say(OnTable, t.Path, "columns whose values nobody lists", strings.Join(d.Columns, ", "))
	b.say(OnTable, t.Path, "groups of a unit that count", budget.Group(d.Groups))
	b.say(OnTable, t.Path, "δ reserved for the selection", budget.DecimalUp(plan.Amount(d.Delta), 6))
	for _, c := range d.Chances {
		b.add(planFact{topic: OnTable, subject: t.Path, what: "chance that a group appears of " +
			budget.Plural(c.Units, "unit"),
			value: budget.DecimalNearest(c.Chance, 4), exact: fmt.Sprint(c.Chance)})
	}
}

// reselectionSteps returns the mechanisms of the selections of the groups that a unit leaves, and of those that it
// enters.
func reselectionSteps(p *plan.Plan, m plan.Measurement) []budget.Mechanism {
	return m.Selection.(selection.Groups).StepsOf(selectionCharges(p))
}

// isDivided reports whether a column is divided by a level: the level has two categories or more, or nobody lists
// them.
func isDivided(of *domain.Domain, name string) bool {
	level, ok := of.Level(name)
	return ok && (level.Size() > 1 || of.Discover() != nil)
}

// selectionCharges returns how many times a unit whose values of a column change pays for the selections, in the
// plan's neighbours: it leaves some groups and enters as many.
func selectionCharges(p *plan.Plan) int64 {
	if p.Release().Privacy.Neighbours == spec.Replace {
		return 1
	}
	return 2
}

// deltasBeyondReserved returns those of some δ, as texts, at which an ε can be stated although selections use a part
// of δ. Somebody who knows all but one attribute of a unit may observe that part twice.
func deltasBeyondReserved(p *plan.Plan, deltas []string) []string {
	reserved := workload.Reserved(p)
	if reserved == nil {
		return deltas
	}
	least := new(big.Rat).Mul(reserved, big.NewRat(selectionCharges(p), 1))
	return slices.DeleteFunc(slices.Clone(deltas), func(d string) bool { return plan.Amount(d).Cmp(least) <= 0 })
}
