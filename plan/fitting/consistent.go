package fitting

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/tabulation"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file decides which tables are made to add up: whose counts are fitted, or counted from microdata, and which
// are left out.

// Consistencies returns how the counts of each confidential table are made to add up, in the order of the spec; nil
// if the spec does not ask for that. It returns an error if they cannot be.
func Consistencies(p *plan.Plan, tables []*workload.Table) ([]plan.Consistency, error) {
	if !p.Release().Consistent {
		return nil, nil
	}
	var all []plan.Consistency
	some := false
	for _, confidential := range p.Release().Tables {
		c := plan.Consistency{Table: confidential.Name, Way: plan.Fitted}
		cells := int64(0)
		for i, t := range p.Tables {
			if t.From != confidential.Name {
				continue
			}
			if why := t.UnfittedReason(slices.Contains(tables[i].Sums, residual.Prefixes)); !why.IsZero() {
				c.LeftOut = append(c.LeftOut, plan.Unfitted{Table: t.Path, Why: why})
				continue
			}
			if cells += t.Cells; cells > limit.FittedCells {
				return nil, workload.LocateFault(p.Release(), "publish.integers",
					&workload.Fault{Key: "",
						Message: fmt.Sprintf("the tables of %s have more than %s cells, too many to be made to add "+
							"up together",
							confidential.Name, budget.Group(limit.FittedCells)),
						Expected: "coarser levels or fewer tables, or no `integers`"})
			}
			c.Tables = append(c.Tables, t.Path)
		}
		if c.Tables == nil {
			if c.LeftOut != nil {
				all = append(all, c)
			}
			continue
		}
		some = true
		f, err := schedule(p, c)
		switch {
		case err == nil:
			if err := checkInvariants(p, c, f); err != nil {
				return nil, err
			}
			c.UnnestedColumns = separateChains(f.Chains)
		case canTabulate(p, c):
			if err := cmp.Or(checkTabulatedInvariants(p, c.Table), checkTabulatedRows(p, c.Table)); err != nil {
				return nil, err
			}
			c.Way = plan.Tabulated
		default:
			return nil, err
		}
		all = append(all, c)
	}
	if !some {
		return nil, workload.LocateFault(p.Release(), "publish.integers",
			&workload.Fault{Key: "", Message: "no table of this release has counts that could be made to add up",
				Expected: "a marginal that counts rows and shows all cells, or no `integers`"})
	}
	return all, nil
}

// separateChains describes the columns that are in several chains.
func separateChains(chains []workload.Chain) []string {
	var columns []string
	groups := map[string][]string{}
	for _, c := range chains {
		if groups[c.Column] == nil {
			columns = append(columns, c.Column)
		}
		groups[c.Column] = append(groups[c.Column], c.String())
	}
	var out []string
	for _, column := range columns {
		if all := groups[column]; len(all) > 1 {
			out = append(out, strings.Join(all, ", apart from "))
		}
	}
	return out
}

// canTabulate reports whether the microdata of a table have, or decide, every attribute of the consistency's tables.
func canTabulate(p *plan.Plan, c plan.Consistency) bool {
	for _, path := range c.Tables {
		if _, err := tabulation.Columns(p, c.Table, path); err != nil {
			return false
		}
	}
	return true
}

// checkTabulatedInvariants returns an error if tables that are counted from microdata cannot agree with the
// invariants of their confidential table. They agree only with the number of rows, and only if no other number is
// asked for.
func checkTabulatedInvariants(p *plan.Plan, table string) error {
	for _, i := range p.Release().Invariants {
		if i.Table != table || len(i.By) == 0 && p.RowsOf(table) == i.Total() {
			continue
		}
		return workload.LocateFault(p.Release(), "invariants."+i.Name,
			&workload.Fault{Key: "",
				Message: fmt.Sprintf("the tables of %s overlap in a cycle and so are counted from its microdata, "+
					"which keep to no public figure but their number of rows", table),
				Expected: "an invariant of the number of rows alone, with `rows: noisy`; tables that do not overlap " +
					"in a cycle; or no `integers` under `publish`"})
	}
	return nil
}

// checkTabulatedRows returns an error if tables would be counted from microdata with a chosen number of rows, to
// which all of them would then add up, whatever was measured. A number that an invariant states is the number in the
// data.
func checkTabulatedRows(p *plan.Plan, table string) error {
	n := p.RowsOf(table)
	if _, known := p.Release().TotalOf(table); n == 0 || known {
		return nil
	}
	return workload.LocateFault(p.Release(), "synthetic."+table,
		&workload.Fault{Key: "rows",
			Message: fmt.Sprintf("the tables of %s overlap in a cycle and so are counted from its microdata, and "+
				"would all add up to the %s that `rows` asks for", table, budget.Plural(n, "row")),
			Expected: "`rows: noisy`, for as many as the noisy total says; tables that do not overlap in a cycle; or " +
				"no `integers` under `publish`"})
}
