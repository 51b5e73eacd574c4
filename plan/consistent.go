package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what `publish: {integers: consistent}` covers: of which tables the published counts are whole, none
// negative, and add up across tables; and of which they are not, and why.

// The ways in which counts are made to add up.
const (
	// Fitted counts are the estimates, moved to the nearest that can be and add up, then rounded.
	Fitted = "fitted"
	// Tabulated counts are those of the microdata.
	Tabulated = "microdata"
)

// Consistency is how the published counts of one confidential table are made to add up.
type Consistency struct {
	Table string `json:"table"`
	Way   string `json:"way"`
	// Tables are those whose counts add up: all have one total, and what two of them share is the same in both.
	Tables []string `json:"tables"`
	// Apart are columns of which not all levels that the tables show lie within each other, each with these levels in groups: across
	// groups tables agree in what they show beside that column, and no more. A level may be apart from one that it lies within: series
	// are made coarsest first, and each level is in the first one whose levels it lies within, all of them.
	Apart []string `json:"apart,omitempty"`
	// Left are those whose counts stay as they are.
	Left []Unfitted `json:"left_out,omitempty"`
}

// Unfitted is a table whose published counts are its own, with the reason.
type Unfitted struct {
	Table string `json:"table"`
	Why   string `json:"why"`
}

// mostFitted bounds the cells of the tables that are made to add up together.
const mostFitted = int64(1) << 26

// whyLeft says why a table's counts are left as they are, "" where they are made to add up.
func (t Table) whyLeft(summed bool) string {
	switch {
	case t.Counts != "" || strings.HasPrefix(t.Path, "bounds/"):
		return "it is for judging bounds or rules"
	case t.Weighted:
		return "its counts are sums of weights, which are not whole"
	case t.Statistics[0].Name == string(spec.Units):
		return "it counts each unit once, whatever rows it has"
	case t.PerUnit != nil:
		return "it counts other rows: its units have a bound of their own"
	case t.Discovered != nil:
		return "its groups are not listed"
	case t.Sparse != nil || t.Top != nil:
		return "it does not show all cells"
	case summed:
		return "it counts up along an attribute"
	case len(t.By) > mostShared:
		return fmt.Sprintf("it has more than %d attributes", mostShared)
	}
	return ""
}

// consistencies are how the counts of each confidential table are made to add up, in the order of the spec; none where it does
// not ask. It fails where they cannot be.
func (p *Plan) consistencies(tables []*table) ([]Consistency, error) {
	if !p.Release().Consistent {
		return nil, nil
	}
	var all []Consistency
	some := false
	for _, confidential := range p.Release().Tables {
		c := Consistency{Table: confidential.Name, Way: Fitted}
		cells := int64(0)
		for i, t := range p.Tables {
			if t.From != confidential.Name {
				continue
			}
			if why := t.whyLeft(slices.Contains(tables[i].sums, residual.Prefixes)); why != "" {
				c.Left = append(c.Left, Unfitted{t.Path, why})
				continue
			}
			if cells += t.Cells; cells > mostFitted {
				return nil, at(p.Release(), "publish.integers", &fault{"", fmt.Sprintf("the tables of %s have more than %s cells, too many to be made to add up together", confidential.Name, budget.Group(mostFitted)), "coarser levels or fewer tables, or no `integers`"})
			}
			c.Tables = append(c.Tables, t.Path)
		}
		if c.Tables == nil {
			if c.Left != nil {
				all = append(all, c)
			}
			continue
		}
		some = true
		f, err := p.schedule(c)
		switch {
		case err == nil:
			if err := p.keepApart(c, f); err != nil {
				return nil, err
			}
			c.Apart = apart(f.Chains)
		case p.tabulates(c):
			if err := cmp.Or(p.tabulatesInvariants(c.Table), p.tabulatesRows(c.Table)); err != nil {
				return nil, err
			}
			c.Way = Tabulated
		default:
			return nil, err
		}
		all = append(all, c)
	}
	if !some {
		return nil, at(p.Release(), "publish.integers", &fault{"", "no table of this release has counts that could be made to add up", "a marginal that counts rows and shows all cells, or no `integers`"})
	}
	return all, nil
}

// apart tells of the columns that are in several chains.
func apart(chains []Chain) []string {
	var columns []string
	groups := map[string][]string{}
	for _, c := range chains {
		if groups[c.Column] == nil {
			columns = append(columns, c.Column)
		}
		groups[c.Column] = append(groups[c.Column], c.text())
	}
	var out []string
	for _, column := range columns {
		if all := groups[column]; len(all) > 1 {
			out = append(out, strings.Join(all, ", apart from "))
		}
	}
	return out
}

// tabulates tells that the microdata of a table have, or decide, every attribute of tables.
func (p *Plan) tabulates(c Consistency) bool {
	for _, path := range c.Tables {
		if _, err := p.Tabulation(c.Table, path); err != nil {
			return false
		}
	}
	return true
}

// Tabulation is how a table is counted from microdata: for each of its attributes the column of the microdata that decides it,
// and the category of each of that column's. It fails where no column does.
func (p *Plan) Tabulation(confidential, path string) ([]TabulatedBy, error) {
	at := slices.IndexFunc(p.Synthetic, func(s Synthetic) bool { return s.Table == confidential })
	if at < 0 {
		return nil, fmt.Errorf("%s has no microdata", confidential)
	}
	if s := p.Synthetic[at]; s.Parent != "" {
		return nil, fmt.Errorf("the microdata of %s have as many rows as those of %s say, and not as its tables do", confidential, s.Parent)
	}
	planned, ok := p.tableOf(path)
	if !ok {
		return nil, fmt.Errorf("there is no table %s", path)
	}
	return p.decidedBy(p.Synthetic[at], planned)
}

// TabulatedBy is a column of microdata, by its place, with the category of an attribute that each of its categories lies in.
type TabulatedBy struct {
	Level      string // of the attribute
	Column     int
	Of         []int
	Categories int
}

// tableOf finds a published table.
func (p *Plan) tableOf(path string) (Table, bool) {
	i := slices.IndexFunc(p.Tables, func(t Table) bool { return t.Path == path })
	if i < 0 {
		return Table{}, false
	}
	return p.Tables[i], true
}

// Integers finds how a published table's counts are made to add up; false where they stay as they are.
func (p *Plan) Integers(path string) (Consistency, bool) {
	for _, c := range p.Consistent {
		if slices.Contains(c.Tables, path) {
			return c, true
		}
	}
	return Consistency{}, false
}
