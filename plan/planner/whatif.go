package planner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds what other budgets would buy.

// OtherBudget is what one amount of a budget would buy: a plan, or nothing if it is too small for the targets.
type OtherBudget struct {
	Key, Amount string
	Plan        *plan.Plan
	TooLittle   *BudgetTooSmall
}

// WhatIf plans a release with each of several amounts of its budget: key is epsilon, delta or rho. It returns an
// error for the first amount that cannot be planned. Amounts that are too small for the targets are errors only if
// none is enough. It ends with the context.
func WhatIf(ctx context.Context, r *spec.Release, key string, amounts []string) ([]OtherBudget, error) {
	all := make([]OtherBudget, len(amounts))
	var little error
	enough := false
	for i, amount := range amounts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all[i] = OtherBudget{Key: key, Amount: amount}
		var d *draftPlan
		other, err := r.WithBudget(key, amount)
		if err == nil {
			d, err = passes(other, nil)
		}
		switch {
		case err == nil:
			all[i].Plan, enough = d.plan, true
		case errors.As(err, &all[i].TooLittle):
			if little == nil {
				little = err
			}
		default:
			return nil, fmt.Errorf("%s %s: %w", key, amount, err)
		}
		progress.Add(ctx, 1)
	}
	if !enough {
		return nil, little
	}
	return all, nil
}

// WriteWhatIf writes plans of one release side by side: the 95% margin of every table and, for microdata, of the
// counts of their columns, on which their model is based; and what the whole costs in ρ or ε. Neighbouring tables of
// one marginal with the same margins are folded. There must be at least one plan.
func WriteWhatIf(w io.Writer, all []OtherBudget) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "What other budgets would buy: 95%% margin of a cell (± around the exact count, before sampling "+
		"and response error)\n\n")
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	row := func(name string, cell func(p *plan.Plan) string, none func(a OtherBudget) string) {
		fmt.Fprint(t, name)
		for _, a := range all {
			if a.Plan != nil {
				fmt.Fprint(t, "\t"+cell(a.Plan))
			} else {
				fmt.Fprint(t, "\t"+none(a))
			}
		}
		fmt.Fprintln(t)
	}
	constant := func(text string) func(OtherBudget) string { return func(OtherBudget) string { return text } }
	var plans []*plan.Plan
	for _, a := range all {
		if a.Plan != nil {
			plans = append(plans, a.Plan)
		}
	}
	row("", func(p *plan.Plan) string { return describe.Budget(p.Guarantee) }, func(a OtherBudget) string {
		return strings.NewReplacer("epsilon", "ε", "delta", "δ", "rho", "ρ").Replace(a.Key) + " = " + a.Amount
	})
	collected := plans[0].Release().Collection != nil
	isSame := func(a, c int) bool {
		if collected && len(plans[0].Tables[a].Figures)+len(plans[0].Tables[c].Figures) > 0 {
			return false
		}
		for _, p := range plans {
			if p.Tables[a].Statistics[0].Margin != p.Tables[c].Statistics[0].Margin ||
				describe.Label(language.English, p.Tables[a].Usefulness) != describe.Label(language.English,
					p.Tables[c].Usefulness) {
				return false
			}
		}
		return true
	}
	for _, r := range describe.Runs(plans[0].Tables, isSame) {
		name := plans[0].Tables[r.From].Path
		if more := r.To - r.From - 1; more > 0 {
			name += fmt.Sprintf(" and %d more", more)
		}
		figures := plans[0].Tables[r.From].Figures
		if !collected || figures == nil || plans[0].Tables[r.From].Cells > 1 { // else the count is known
			row(name, func(p *plan.Plan) string { return marginText(p.Tables[r.From]) }, constant("–"))
		}
		for i, f := range figures {
			if collected {
				row(name+": "+f.Name, func(p *plan.Plan) string {
					return "±" + budget.DecimalNearest(p.Tables[r.From].Figures[i].Quality.Margin, 4)
				}, constant("–"))
			}
		}
	}
	for i, s := range plans[0].Synthetic {
		if !s.Adaptive() {
			row(s.Name()+" ("+s.Method+")", func(*plan.Plan) string { return "of the tables" }, constant("–"))
			continue
		}
		row(s.Name()+", a column ("+s.Method+")", func(p *plan.Plan) string {
			margin, _ := describe.WidestNoise(p.ColumnsOf(i)).Margin(counted.Confidence)
			return "±" + budget.Group(margin)
		}, constant("–"))
	}
	row("charged to the account", func(p *plan.Plan) string { return strings.TrimPrefix(p.Cost.String(), "= ") },
		constant("too little for its targets"))
	t.Flush()
	fmt.Fprintf(b, "\n%s\n", describe.CountedText(plans[0]))
	if slices.ContainsFunc(plans[0].Tables,
		func(t plan.Table) bool { return describe.Label(language.English, t.Usefulness) != "" }) {
		fmt.Fprintf(b, "%s\n", describe.SpreadText)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// marginText returns the margin of a table, with its verdict if the spec states the number of rows.
func marginText(t plan.Table) string {
	text := "±" + budget.Group(describe.WholeMargin(t.Statistics[0].Margin))
	if label := describe.Label(language.English, t.Usefulness); label != "" {
		text += ", " + label
	}
	return text
}

// WriteSolution writes the smallest budget that meets all targets of a release, and the margin and target of every
// table with it.
func WriteSolution(w io.Writer, s *Solution) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "The smallest budget that meets every target: %s = %s (rounded up), charged to the account: %s.\n"+
		"It is set by %s.\n\n",
		s.Key, s.Amount, strings.TrimPrefix(s.Plan.Cost.String(), "= "), strings.Join(s.Binds, ", "))
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "table\ttarget\tmargin")
	for _, table := range s.Plan.Tables {
		if table.Target != nil {
			fmt.Fprintf(t, "%s\t%s\t±%s\n", table.Path, table.Target, budget.DecimalNearest(table.Target.Reached, 4))
		}
	}
	t.Flush()
	if len(s.WithoutTarget) > 0 {
		fmt.Fprintf(b, "\nTables without a target: no error is too large for them here. Give a target to those that "+
			"matter.\n\n")
		fmt.Fprintf(t, "table\t95%% margin with this budget\twith that of the spec\n")
		without := slices.DeleteFunc(slices.Clone(s.Plan.Tables), func(t plan.Table) bool { return t.Target != nil })
		for _, r := range describe.Runs(without, func(i, j int) bool {
			one, other := s.WithoutTarget[i], s.WithoutTarget[j]
			return one.Margin == other.Margin && one.Now == other.Now
		}) {
			first, now := s.WithoutTarget[r.From], "–"
			if first.Now > 0 {
				now = "±" + budget.Group(describe.WholeMargin(first.Now))
			}
			name := first.Table
			if more := r.To - r.From - 1; more > 0 {
				name += fmt.Sprintf(" and %d more", more)
			}
			fmt.Fprintf(t, "%s\t±%s\t%s\n", name, budget.Group(describe.WholeMargin(first.Margin)), now)
		}
		t.Flush()
	}
	_, err := io.WriteString(w, b.String())
	return err
}
