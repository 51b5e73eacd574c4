package report

// This file holds sums along a column: tables that count up, and tables whose neighbouring cells are made to be added up.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// summedAlong are the attributes of a table along which it counts up, and those along which sums of neighbours are asked
// for.
func summedAlong(p *plan.Plan, t plan.Table) (cumulative, ranges []string) {
	along := func(asked []spec.Attribute) []string {
		var names []string
		for _, a := range asked {
			if slices.Contains(t.By, a.String()) {
				names = append(names, a.String())
			}
		}
		return names
	}
	for _, m := range p.Release().Marginals {
		if m.Name == t.Marginal {
			return along(m.Cumulative), along(m.Ranges)
		}
	}
	return nil, nil
}

// cumulative tells that some table counts up; counts, that some table does not.
func cumulative(tables []Table) bool {
	return slices.ContainsFunc(tables, func(t Table) bool { return t.Cumulative != nil })
}

func counts(tables []Table) bool {
	return slices.ContainsFunc(tables, func(t Table) bool { return t.Cumulative == nil })
}

// AddedUp says in a sentence each what the rows of tables are that count up, or are made to be added up.
func (r *Report) AddedUp() []string {
	var all []string
	say := func(along func(Table) []string, sentence func(tables, columns string) string) {
		var columns []string
		tables := map[string][]string{} // by the columns
		for _, t := range r.Tables {
			if names := strings.Join(along(t), " and "); names != "" {
				if tables[names] == nil {
					columns = append(columns, names)
				}
				tables[names] = append(tables[names], t.Path)
			}
		}
		for _, c := range columns {
			all = append(all, sentence(fewNames(tables[c]), c))
		}
	}
	say(func(t Table) []string { return t.Cumulative }, func(tables, columns string) string {
		return fmt.Sprintf("In %s a row counts those that have its category of %s or one before it: it is already added up, so do not add its rows.", tables, columns)
	})
	say(func(t Table) []string { return t.Ranges }, func(tables, columns string) string {
		return fmt.Sprintf("In %s a row counts those of its own category; it is there for sums of neighbours along %s, which `dprelease query` adds up with their error.", tables, columns)
	})
	return all
}

// cumulativeNotes say how to read tables that count up.
func (r *Report) cumulativeNotes() []Note {
	for _, t := range r.Tables {
		if t.Cumulative == nil {
			continue
		}
		s := t.Statistics[0].Name
		return []Note{{"Cumulative counts are already added up",
			fmt.Sprintf("A row's %[1]s is how many have its category or one before it, so the row of the last category has the count of all, and adding rows counts the same units again. By noise alone %[1]s can fall from one row to the next. How many lie between two rows is the difference of their %[1]s_unbiased; the noise of both is correlated, and `dprelease query` gives the difference with its own error. Margins and flags are read as those of counts.", s)}}
	}
	return nil
}
