package workload

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/impossible"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the requested tables: which there are, by what, and how many cells each has.

const (
	// mostListed bounds the combinations of listed categories beside a column of which up to 2^32 values may be
	// discovered: so that whether its groups can be numbered does not depend on the values that there are.
	mostListed = int64(1) << 30
	// maxAttributes bounds the attributes of a table.
	maxAttributes = 63
	// maxTables bounds one marginal's subsets.
	maxTables = 100000
)

// Table is a published table on its way through the planner.
type Table struct {
	Place    int // among those of the release
	Path     string
	Marginal *spec.Marginal
	By       []spec.Attribute // as it is published
	Counted  []spec.Attribute // as its rows are counted: of derived columns, their origins
	Leaf     int
	Weight   float64 // how much the variance of each of its cells counts
	Cells    int64
	Sums     []residual.Sums // what it shows along each of counted
	// impossibleCells is how many of the cells are exact zeros. Such a table is measured by itself: what is known of its
	// cells is no sum of the residuals of others.
	Impossible int64
	Filled     int64          // of a sparse table: as how many cells it counts
	Discovers  []*spec.Column // of its attributes, those whose categories are not listed
	// Of is the table whose figures a part serves; nil for a published table.
	Of *Table
	// What is what is counted, PerUnit how many rows of a unit at most, and Selection which answers are given out, as far
	// as that is known before there is a budget.
	What      counted.Counted
	PerUnit   spec.PerUnit
	Selection selection.Selection
	// Bins are what quantiles are read from, by the kind of noise; without any they are drawn. guessed says that the range
	// of the column is a guess, so that they are always drawn.
	Bins    map[budget.Kind]counted.Bins
	guessed bool
	says    string // of a table of what is left out: what it counts
}

// Possible is how many cells get noise, and count where errors are added up; of a sparse table as many as may have
// rows.
func (t *Table) Possible() int64 {
	switch {
	case t.Discovers != nil:
		return UsualGroups
	case t.Sparse():
		return t.Filled
	case t.Top() > 0:
		return t.Top()
	case t.What.Kind() == counted.KindQuantiles: // the ends of intervals are no figures
		return t.Cells / counted.DrawsPerShare
	}
	return t.Cells - t.Impossible
}

// Summed tells that the table counts up along an attribute, or is asked for ranges.
func (t *Table) Summed() bool {
	return slices.ContainsFunc(t.Sums, func(s residual.Sums) bool { return s != residual.Cells })
}

// SumsOf is what a marginal shows along each of some of its attributes.
func SumsOf(m *spec.Marginal, by []spec.Attribute) []residual.Sums {
	sums := make([]residual.Sums, len(by))
	for i, a := range by {
		switch {
		case slices.Contains(m.Cumulative, a):
			sums[i] = residual.Prefixes
		case slices.Contains(m.Ranges, a):
			sums[i] = residual.Ranges
		}
	}
	return sums
}

// Valued tells that it is not the rows of the confidential table that are counted, each as 1.
func (t *Table) Valued() bool {
	return t.Of != nil || t.What.Kind() != counted.KindRows || t.PerUnit != (spec.PerUnit{})
}

// Sparse tells that the cells above a threshold are published, and no others.
func (t *Table) Sparse() bool { return t.Selection.Kind() == selection.KindAbove }

// masked tells that some cells are impossible.
func (t *Table) masked() bool { return t.Impossible > 0 }

// Apart tells that the table is measured by itself, and nothing else bears on it: it has impossible cells, so that its
// cells are no sum of residuals, or so many attributes that its residuals are too many to list; or it is sparse, so
// that most of its cells are not known; or it is of values, or of fewer rows than others.
func (t *Table) Apart() bool {
	return t.Discovers != nil || t.masked() || t.ChosenFrom() || t.Valued() || len(t.Counted) > limit.SharedAttributes
}

// Expand lists the tables that the marginals ask for, in spec order; `every`
// gives one table for each subset of its attributes, small subsets first.
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
		sets, err := subsets(r, m)
		if err != nil {
			return nil, At(r, "marginals."+m.Name, err)
		}
		for _, by := range sets {
			t := &Table{Place: len(tables), Path: TablePath(m.Name, m.Every != nil, by), Marginal: m, By: by,
				Counted: attributes.CountedBy(r.Table(m.Table), by), Sums: SumsOf(m, by), Leaf: leaf[m.Leaf],
				What: statistic.RowsOf(r.Table(m.Table)), PerUnit: m.PerUnit, Selection: selectionOf(m)}
			t.Weight = t.Asked()
			if t.statistic() == spec.Units.String() {
				t.What, t.PerUnit = counted.Rows{}, onceEach(t.PerUnit)
			}
			t.weigh(r.Table(m.Table))
			t.Discovers = r.Table(m.Table).Discovers(by)
			if other, ok := seen[t.Path]; ok {
				return nil, At(r, "marginals."+m.Name,
					&Fault{"", fmt.Sprintf("its table %s would overwrite one of marginal %s", t.Path, other),
						"a column or a marginal of another name"})
			}
			seen[t.Path] = m.Name
			err := distinctColumns(t)
			if err == nil {
				t.Cells, err = Cells(r, t)
			}
			if err == nil && t.Discovers == nil {
				t.Impossible, err = impossibleCells(rules, t)
				t.Filled = FilledOf(r.Table(m.Table), t.Cells-t.Impossible)
			}
			if err == nil {
				err = t.checkTop()
			}
			if t.Discovers != nil {
				t.Selection = selection.Groups{}
			}
			if err == nil && t.masked() && len(figures(r, t)) > 0 {
				err = &Fault{"", fmt.Sprintf("table %s has impossible cells, and statistics beside its count", t.Path),
					"`stats: [count]` here, and a marginal without what is impossible for the others"}
			}
			if err == nil && t.Apart() && t.Summed() {
				err = &Fault{"", fmt.Sprintf(
					"table %s has impossible cells or more than %d attributes, and counts up or is asked for ranges", t.Path,
					limit.SharedAttributes), "a table without `cumulative` and `ranges`, or without what is impossible"}
			}
			if err != nil {
				return nil, At(r, "marginals."+m.Name, err)
			}
			tables = append(tables, t)
		}
	}
	tables = append(tables, suggested(r, len(tables), leaf)...)
	rows := diagnosed(r, len(tables), leaf[r.Diagnostics])
	if r.Diagnostics != "" && rows == nil {
		return nil, At(r, "diagnostics", &Fault{"", "there is nothing to diagnose: every row counts, and as it is",
			"a table with `unit: {id, max_rows}`, a policy that drops rows, or figures of a column with a range; or no `diagnostics`"})
	}
	return append(tables, rows...), nil
}

// TablesOf returns those tables that are of a confidential table.
func TablesOf(tables []*Table, confidential string) []*Table {
	var own []*Table
	for _, t := range tables {
		if t.Marginal.Table == confidential {
			own = append(own, t)
		}
	}
	return own
}

// subsets lists the attribute sets of a marginal: without those of `every` that hold a column and what it decides.
func subsets(r *spec.Release, m *spec.Marginal) ([][]spec.Attribute, error) {
	confidential := r.Table(m.Table)
	if m.Every == nil {
		if derived, origin, found := attributes.Twice(confidential, m.By); found {
			return nil, &Fault{"by", fmt.Sprintf("%s and %s say the same of a row, as %s decides both", derived, origin,
				attributes.Counted(confidential, origin).Column), "one of the two"}
		}
		return [][]spec.Attribute{m.By}, nil
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
			if _, _, found := attributes.Twice(confidential, by); !found {
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

// Choose lists the k-subsets of a list in lexicographic order of positions.
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

// Asked is the weight that the spec gives to the variance of the table's cells.
func (t *Table) Asked() float64 {
	weight, _ := t.Marginal.Weight.Float64()
	return weight
}

// Query is the marginal that a table shows.
func (t *Table) Query() plan.Query {
	q := plan.MarginalOf(t.Marginal.Table, t.Counted)
	q.Counted, q.PerUnit = t.What, t.PerUnit
	return q
}

// impossibleCells is how many cells of a table are. It refuses a table of nothing else.
func impossibleCells(l *impossible.Rules, t *Table) (int64, error) {
	mask, err := l.Mask(t.Query())
	if err != nil {
		return 0, err
	}
	n := mask.Count()
	if n == t.Cells {
		return 0, &Fault{"", fmt.Sprintf("`impossible` rules out every cell of table %s", t.Path),
			"a table with cells that can be, or another entry under `impossible`"}
	}
	return n, nil
}

// Cells is the number of cells of a table: the product of its levels' sizes.
func Cells(r *spec.Release, t *Table) (int64, error) {
	if len(t.By) > maxAttributes {
		return 0, &Fault{"by", fmt.Sprintf("table %s would have %d attributes", t.Path, len(t.By)),
			fmt.Sprintf("at most %d", maxAttributes)}
	}
	levels, err := t.Query().Levels(r)
	if err != nil {
		return 0, err
	}
	if t.Discovers != nil {
		listed := int64(1)
		for _, level := range levels {
			size := max(int64(level.Size()), 1) // of a column whose categories are not listed: none
			if listed > mostListed/size {
				return 0, &Fault{"by", fmt.Sprintf(
					"table %s has more than 2^30 combinations of listed categories beside those that are discovered", t.Path),
					"coarser levels or fewer attributes"}
			}
			listed *= size
		}
		return limit.SparseCells, nil // as many as may be
	}
	n := int64(1)
	for _, level := range levels {
		size := int64(level.Size())
		if t.ChosenFrom() && n > limit.SparseCells/max(size, 1) {
			return 0, &Fault{"by", fmt.Sprintf("table %s would have more than 2^62 cells", t.Path),
				"coarser levels or fewer attributes"}
		}
		if !t.ChosenFrom() && n > limit.Cells/max(size, 1) {
			return 0, &Fault{"by", fmt.Sprintf("table %s would have more than 2^36 cells, which take a terabyte to count",
				t.Path), "coarser levels or fewer attributes, or `cells: {above: N}`: a sparse table, of which the cells above a threshold are published"}
		}
		n *= size
	}
	return n, nil
}

// The names of the figures that tables hold: how many rows a cell has, or where the table counts up along an attribute
// how many it has with those before it.
const (
	CountName      = "count"
	CumulativeName = "cumulative_count"
)

// statistic is the name of a table's figure.
func (t *Table) statistic() string {
	has := func(k spec.StatKind) bool {
		return slices.ContainsFunc(t.Marginal.Stats, func(s spec.Stat) bool { return s.Kind == k })
	}
	switch {
	case slices.Contains(t.Sums, residual.Prefixes):
		return CumulativeName
	case has(spec.Units) && !has(spec.Count):
		return spec.Units.String()
	}
	return CountName
}

// distinctColumns refuses a table two of whose columns would have one name: a
// key, its label, or a figure with its error columns.
func distinctColumns(t *Table) error {
	owner := map[string]string{}
	for _, suffix := range []string{statistic.Published, statistic.Unbiased, statistic.StandardError, statistic.Low,
		statistic.High, statistic.Flag} {
		owner[t.statistic()+suffix] = "the figures"
	}
	for _, a := range t.By {
		for _, name := range []string{a.String(), a.String() + statistic.LabelSuffix} {
			if other, ok := owner[name]; ok {
				return &Fault{"by", fmt.Sprintf("table %s would have two columns %q, of %s and of %s", t.Path, name, other, a),
					fmt.Sprintf("a column of another name that says where it comes from (from: %s)", a.Column)}
			}
			owner[name] = a.String()
		}
	}
	return nil
}

// NewTable describes a table of counts, but for how good they will be.
func NewTable(r *spec.Release, t *Table) plan.Table {
	out := plan.Table{Path: t.Path, From: t.Marginal.Table, Marginal: t.Marginal.Name, By: make([]string, len(t.By)),
		Cells: t.Cells, Impossible: t.Impossible}
	for i, a := range t.By {
		out.By[i] = a.String()
	}
	if t.Discovers != nil {
		out.Cells, out.Discovered = 0, discoveredOf(t, r)
	}
	if t.Sparse() {
		out.Sparse = &selection.AboveFacts{Above: t.Marginal.Above}
	}
	if t.Top() > 0 {
		out.Top = &selection.TopFacts{Of: t.Top()}
	}
	out.Statistics = []plan.Statistic{{Name: t.statistic(), Confidence: counted.Confidence}}
	out.PerUnit, out.Show = t.PerUnit, t.Marginal.Show
	out.Weighted, out.Counts = t.What.Kind() == counted.KindValues && t.What.Weighted(), t.says
	out.Figures = figures(r, t)
	return out
}

// TablePath is where the marginal over some attributes is published: the
// marginal's name or, where the spec asks for every subset, a file of its own
// below that name.
func TablePath(marginal string, every bool, by []spec.Attribute) string {
	if !every {
		return marginal
	}
	if len(by) == 0 {
		return marginal + "/total"
	}
	names := make([]string, len(by))
	for i, a := range by {
		names[i] = a.String()
	}
	return marginal + "/" + strings.Join(names, "_x_")
}

// UsualGroups is as how many cells a table counts beside others of its leaf whose groups nobody knows the number of.
const UsualGroups = 1000

// unknownRows is as how many cells a sparse table counts beside others of its leaf, where the spec says nothing of the
// number of rows.
const unknownRows = int64(1) << 20

// FilledOf is as how many cells a sparse table counts where errors are added up: those that can have rows, of which
// there are no more than rows are expected.
func FilledOf(t *spec.Table, possible int64) int64 {
	rows := t.ExpectedRows()
	if rows == 0 {
		rows = unknownRows
	}
	return min(rows, possible)
}
