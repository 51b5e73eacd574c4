package report

// This file holds the strategies: how the tables of a release were measured, and
// which of them are put together from the same answers.

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// Strategy is how a group of tables was measured: tables of one part of the budget
// that share attributes.
type Strategy struct {
	Leaf   string   `json:"leaf"` // part of the budget that pays, "" where it is not split
	Kind   string   `json:"kind"` // "direct", "largest" or "residuals"
	Tables []string `json:"tables"`
	// RMSE is the root mean square of the standard errors of all cells of these tables,
	// as planned from what was measured for them alone.
	RMSE    float64   `json:"rmse"`
	Instead []Instead `json:"instead"`
	Text    string    `json:"text"` // the same in words
}

// Instead is a strategy that was not taken.
type Instead struct {
	Kind string  `json:"kind"`
	RMSE float64 `json:"rmse,omitempty"` // that it would have had; absent where it cannot be taken
	Why  string  `json:"why,omitempty"`  // it cannot be taken
}

// strategiesOf tells how all tables were measured, in the plan's order.
func strategiesOf(p *plan.Plan) []Strategy {
	all := make([]Strategy, len(p.Strategies))
	for i, s := range p.Strategies {
		all[i] = Strategy{Leaf: s.Leaf, Kind: string(s.Kind), Tables: append([]string{}, s.Tables...), RMSE: s.RMSE, Instead: []Instead{}}
		for _, other := range s.Instead {
			all[i].Instead = append(all[i].Instead, Instead{Kind: string(other.Kind), RMSE: other.RMSE, Why: other.Why})
		}
		all[i].Text = all[i].text()
	}
	return all
}

// text says in words what was measured for the tables, and what would have been
// their error otherwise.
func (s Strategy) text() string {
	b := &strings.Builder{}
	switch plan.StrategyKind(s.Kind) {
	case plan.Direct:
		b.WriteString("Each table is measured by itself, with noise of its own on every cell.")
	case plan.Largest:
		b.WriteString("Only the tables whose attributes are not all in another one are measured, with noise on every cell; the others are sums of their cells.")
	case plan.Residuals:
		b.WriteString("What the tables have in common is measured once: the total, then how the categories of each attribute lie from their mean, then what pairs of attributes add to that, and so on (residuals). Every table is put together from these answers.")
	}
	fmt.Fprintf(b, " Error of a cell: %s", decimal(s.RMSE))
	better := false
	for _, other := range s.Instead {
		if other.Why == "" {
			fmt.Fprintf(b, "; %s it would be %s", otherwise[plan.StrategyKind(other.Kind)], decimal(other.RMSE))
			better = better || other.RMSE < s.RMSE
		}
	}
	b.WriteString(".")
	if better {
		b.WriteString(" The smaller figure was not decisive: the choice goes by the weights that the spec gives to tables and, where levels of one column are used side by side, for tables that agree.")
	}
	for _, other := range s.Instead {
		if other.Why != "" {
			fmt.Fprintf(b, " It cannot be measured %s: %s.", otherwise[plan.StrategyKind(other.Kind)], other.Why)
		}
	}
	return b.String()
}

// otherwise says a strategy within a sentence.
var otherwise = map[plan.StrategyKind]string{
	plan.Direct:    "with each table by itself",
	plan.Largest:   "with only those tables that lie in no other",
	plan.Residuals: "by what the tables have in common (residuals)",
}

// Names are the tables of a strategy, in few words.
func (s Strategy) Names() string { return fewNames(s.Tables) }

// mostNamed is how many tables a sentence names.
const mostNamed = 5

// fewNames lists the first few names, and how many more there are.
func fewNames(names []string) string {
	list := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		list += " and " + budget.Plural(int64(more), "more table")
	}
	return list
}

// HowMeasured are the strategies that have something to say: of several tables, or
// with alternatives that were weighed.
func (r *Report) HowMeasured() []Strategy {
	var all []Strategy
	for _, s := range r.Strategies {
		if len(s.Tables) > 1 || len(s.Instead) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// Spent is the part of the charge that one way of measuring tables has cost in one
// part of the budget.
type Spent struct {
	Leaf         string  `json:"leaf"`
	Kind         string  `json:"kind"` // of the strategy
	Measurements int     `json:"measurements"`
	Loss         Amount  `json:"loss"` // of all of them, exact
	PartOfBudget float64 `json:"part_of_budget"`
}

// spentOn adds up what the measurements for tables cost, by parts of the budget and
// strategies, in the plan's order.
func spentOn(p *plan.Plan) ([]Spent, error) {
	kinds := map[string]plan.StrategyKind{} // of what is measured directly
	for _, s := range p.Strategies {
		for _, path := range s.Tables {
			kinds[path] = s.Kind
		}
	}
	microdata := map[string]bool{}
	for _, s := range p.Synthetic {
		for i := range s.By {
			microdata[s.Column(i)] = true
		}
	}
	all, sums, at := []Spent{}, []*big.Rat{}, map[[2]string]int{}
	for _, m := range p.Measurements {
		if microdata[m.ID] {
			continue
		}
		loss, err := lossIn(m.Mechanism, p.Cost)
		if err != nil {
			return nil, fmt.Errorf("measurement %s: %w", m.ID, err)
		}
		kind, direct := kinds[m.ID]
		if !direct {
			kind = plan.Residuals
		}
		key := [2]string{m.Leaf, string(kind)}
		i, ok := at[key]
		if !ok {
			i, at[key] = len(all), len(all)
			all, sums = append(all, Spent{Leaf: m.Leaf, Kind: string(kind)}), append(sums, new(big.Rat))
		}
		all[i].Measurements++
		sums[i].Add(sums[i], loss)
	}
	for i, sum := range sums {
		all[i].Loss, all[i].PartOfBudget = partOf(sum, p.Cost)
	}
	return all, nil
}

// Label names what was measured that way.
func (s Spent) Label() string {
	text := map[plan.StrategyKind]string{
		plan.Direct: "each table by itself", plan.Largest: "tables that lie in no other", plan.Residuals: "what tables have in common",
	}[plan.StrategyKind(s.Kind)]
	if s.Leaf != "" {
		return s.Leaf + ": " + text
	}
	return text
}

// sources are the measurements that a plan's tables are put together from.
type sources struct {
	behind []int   // how many bear on each table, in the plan's order
	agree  [][]int // tables that are put together from the same ones, by their places
}

// sourcesOf finds the sources of every table.
func sourcesOf(p *plan.Plan) (sources, error) {
	s := sources{behind: make([]int, len(p.Tables))}
	for i := range s.behind {
		s.behind[i] = 1
	}
	estimates, err := p.Estimates()
	if err != nil {
		return s, err
	}
	for _, e := range estimates {
		s.agree = append(s.agree, e.Tables)
		for marginal, at := range e.Tables {
			bear := map[int]bool{}
			for _, residual := range e.Of(marginal) {
				for _, part := range e.Parts[residual] {
					bear[part.Source] = true
				}
			}
			s.behind[at] = len(bear)
		}
	}
	return s, nil
}
