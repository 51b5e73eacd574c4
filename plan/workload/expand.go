package workload

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file expands a spec: which tables it asks for, and what each has.

// maxTables bounds one marginal's subsets.
const maxTables = 100000

// Expand returns the tables that the marginals ask for, in spec order; `every` gives one table for each subset of its
// attributes, small subsets first, and `each` all of these for each level.
func Expand(r *spec.Release) ([]*Table, error) {
	leaf := map[string]int{}
	for i, l := range r.Budget.Leaves {
		leaf[l.Path] = i
	}
	var tables []*Table
	seen := map[string]string{}
	rules := impossible.New(r)
	for i := range r.Marginals {
		m := &r.Marginals[i]
		all, err := marginalTables(r, m)
		if err != nil {
			return nil, LocateFault(r, "marginals."+m.Name, err)
		}
		for _, one := range all {
			t := newMarginalTable(r, m, one)
			t.Index, t.Leaf = len(tables), leaf[one.leaf]
			err := t.resolveCells(r, rules)
			if other, ok := seen[t.Path]; ok {
				err = &Fault{"", fmt.Sprintf("its table %s would overwrite one of marginal %s", t.Path, other),
					"a column or a marginal of another name"}
			}
			if err != nil {
				return nil, LocateFault(r, "marginals."+m.Name, err)
			}
			seen[t.Path] = m.Name
			tables = append(tables, t)
		}
	}
	tables = append(tables, suggestionTables(r, len(tables), leaf)...)
	rows := diagnosticTables(r, len(tables), leaf[r.Diagnostics])
	if r.Diagnostics != "" && rows == nil {
		return nil, LocateFault(r, "diagnostics",
			&Fault{"", "there is nothing to diagnose: every row counts, and as it is",
				"a table with `unit: {id, max_rows}`, a policy that drops rows, or figures of a column with a range; " +
					"or no `diagnostics`"})
	}
	return append(tables, rows...), nil
}

// marginalTable is one of the tables of a marginal.
type marginalTable struct {
	path, leaf string
	by         []spec.Attribute
}

// marginalTables returns the tables of a marginal: for `each` those of the first level first.
func marginalTables(r *spec.Release, m *spec.Marginal) ([]marginalTable, error) {
	sets, err := subsets(r, m)
	if err != nil {
		return nil, err
	}
	var all []marginalTable
	if m.Each == nil {
		for _, by := range sets {
			all = append(all, marginalTable{TablePath(m.Name, m.Every != nil, by), m.Leaf, by})
		}
		return all, nil
	}
	for _, level := range m.Each {
		path := m.Name + "/" + level.Name()
		for _, set := range sets {
			by := append([]spec.Attribute{level.Attribute}, set...)
			if fault := sameColumnFault(r, m, "each", by); fault != nil {
				return nil, fault
			}
			all = append(all, marginalTable{TablePath(path, m.Every != nil, set), level.Leaf, by})
		}
	}
	return all, nil
}

// sameColumnFault returns the fault, at a key of a marginal, of two attributes of which one decides the other; nil for
// none.
func sameColumnFault(r *spec.Release, m *spec.Marginal, key string, by []spec.Attribute) error {
	confidential := r.Table(m.Table)
	derived, origin, found := attributes.SameColumnPair(confidential, by)
	if !found {
		return nil
	}
	return &Fault{key, fmt.Sprintf("%s and %s say the same of a row, as %s decides both", derived, origin,
		attributes.Counted(confidential, origin).Column), "one of the two"}
}

// newMarginalTable returns one of a marginal's tables, without its index, its leaf and its cells.
func newMarginalTable(r *spec.Release, m *spec.Marginal, of marginalTable) *Table {
	confidential, by := r.Table(m.Table), of.by
	t := &Table{Path: of.path, Marginal: m, By: by,
		CountedBy: attributes.CountedBy(confidential, by), Sums: SumsOf(m, by), Discovers: confidential.Discovers(by),
		Counted: statistic.CountedOf(confidential, m), PerUnit: m.PerUnit}
	t.Selection = selectionOf(m, t.Discovers)
	t.Weight = t.VarianceWeight()
	if spec.CountsUnits(t.statistic()) {
		t.Counted, t.PerUnit = counted.Rows{}, onceEach(t.PerUnit)
	}
	t.scaleWeight(confidential)
	return t
}

// resolveCells works out the cells of a requested table. It returns a fault if the table cannot be counted or
// published.
func (t *Table) resolveCells(r *spec.Release, rules *impossible.Rules) error {
	if err := distinctColumns(t); err != nil {
		return err
	}
	var err error
	if t.Cells, err = Cells(r, t); err != nil {
		return err
	}
	kind := &selecting[t.Selection.Kind()]
	if kind.listed {
		if t.Impossible, err = impossibleCells(rules, t); err != nil {
			return err
		}
		t.Filled = FilledOf(r.Table(t.Marginal.Table), t.Cells-t.Impossible)
	}
	if err := kind.check(t); err != nil {
		return err
	}
	if err := t.checkMasked(r); err != nil {
		return err
	}
	if t.IsStandalone() && t.HasSums() && !t.Counted.Kind().Traits().Summable {
		return &Fault{"", fmt.Sprintf(
			"table %s has impossible cells or more than %d attributes, and counts up or is asked for ranges", t.Path,
			limit.SharedAttributes), "a table without `cumulative` and `ranges`, or without what is impossible"}
	}
	return nil
}

// TablesOf returns the tables that are of a confidential table.
func TablesOf(tables []*Table, confidential string) []*Table {
	var own []*Table
	for _, t := range tables {
		if t.Marginal.Table == confidential {
			own = append(own, t)
		}
	}
	return own
}

// subsets returns the attribute sets of a marginal, without subsets of `every` that hold a column and another that it
// decides.
func subsets(r *spec.Release, m *spec.Marginal) ([][]spec.Attribute, error) {
	confidential := r.Table(m.Table)
	if m.Every == nil {
		return [][]spec.Attribute{m.By}, sameColumnFault(r, m, "by", m.By)
	}
	n := new(big.Int)
	for _, k := range m.Every {
		n.Add(n, new(big.Int).Binomial(int64(len(m.By)), int64(k)))
	}
	if n.Cmp(big.NewInt(maxTables)) > 0 {
		return nil, &Fault{"every", fmt.Sprintf("it asks for %s tables, more than %d", n, maxTables),
			"smaller subsets, or of fewer attributes"}
	}
	var all [][]spec.Attribute
	for _, k := range m.Every {
		for _, by := range Choose(m.By, k) {
			if _, _, found := attributes.SameColumnPair(confidential, by); !found {
				all = append(all, by)
			}
		}
	}
	if all == nil {
		return nil, &Fault{"every", "every subset that it asks for holds a derived column beside its origin",
			"smaller subsets"}
	}
	return all, nil
}

// Choose returns the k-subsets of a list in lexicographic order of positions.
func Choose(list []spec.Attribute, k int) [][]spec.Attribute {
	if k == 0 {
		return [][]spec.Attribute{{}}
	}
	var all [][]spec.Attribute
	for i := 0; i+k <= len(list); i++ {
		for _, rest := range Choose(list[i+1:], k-1) {
			all = append(all, append([]spec.Attribute{list[i]}, rest...))
		}
	}
	return all
}

// NewTable describes a table of counts, without its accuracy.
func NewTable(r *spec.Release, t *Table) plan.Table {
	out := plan.Table{Path: t.Path, From: t.Marginal.Table, Marginal: t.Marginal.Name, By: make([]string, len(t.By)),
		Cells: t.Cells, Impossible: t.Impossible}
	for i, a := range t.By {
		out.By[i] = a.String()
	}
	out.Statistics = []plan.Statistic{{Name: t.statistic(), Confidence: counted.Confidence}}
	out.PerUnit, out.Show = t.PerUnit, t.Marginal.Show
	out.Weighted, out.Counts = t.Counted.Weighted(), t.words
	out.Figures = figuresOf(r, t)
	selecting[t.Selection.Kind()].describe(t, r, &out)
	return out
}
