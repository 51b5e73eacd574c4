package page

// This file holds sums along a column: what the rows of tables are that count up, or whose neighbouring cells are to be
// added up.

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// AddedUp says in a sentence each what the rows of tables are that count up, or are made to be added up.
func (r View) AddedUp() []string {
	var all []string
	say := func(along func(report.Table) []string, sentence func(tables, columns string) string) {
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
			all = append(all, sentence(words.Few(tables[c]), c))
		}
	}
	say(func(t report.Table) []string { return t.Cumulative }, func(tables, columns string) string {
		return fmt.Sprintf("In %s a row counts those that have its category of %s or one before it: it is already added up, so do not add its rows.", tables, columns)
	})
	say(func(t report.Table) []string { return t.Ranges }, func(tables, columns string) string {
		return fmt.Sprintf("In %s a row counts those of its own category; it is there for sums of neighbours along %s, which `dprelease query` adds up with their error.", tables, columns)
	})
	return all
}
