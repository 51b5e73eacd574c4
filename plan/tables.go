package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the published tables: which there are, and what their columns mean.

// Table is one published table: a row per combination of categories of By, in
// domain order, the last attribute's fastest; of a sparse table without those that
// are not above its threshold.
type Table struct {
	Path       string      `json:"path"`
	Marginal   string      `json:"marginal"`
	From       string      `json:"from"` // the confidential table whose rows it counts
	By         []string    `json:"by"`
	Cells      int64       `json:"cells"`
	Impossible int64       `json:"impossible,omitempty"` // of them, exact zeros by the spec
	Invariant  string      `json:"invariant,omitempty"`  // whose public figures, or sums of them, its cells are; "" of others
	Sparse     *Sparse     `json:"sparse,omitempty"`
	Top        *Top        `json:"top,omitempty"`        // of its cells it has those that were chosen
	Discovered *Discovered `json:"discovered,omitempty"` // its groups are not listed, and Cells is 0
	Statistics []Statistic `json:"statistics"`
	// Figures are what is published of a cell beside its count, in the order of the spec.
	Figures []Figure `json:"figures,omitempty"`
	// Counts says what is counted in place of rows, of a table of what is left out.
	Counts string `json:"counts,omitempty"`
	// Weighted counts are sums of weights, in units of the weight's step as they are measured.
	Weighted bool `json:"weighted,omitempty"`
	// PerUnit bounds the rows of a unit that the table counts.
	PerUnit *spec.PerUnit `json:"per_unit,omitempty"`
	// Show is the least noisy count of a cell whose figures are published; 0: all are.
	Show        int64       `json:"show,omitempty"`
	Target      *Target     `json:"target,omitempty"`
	Expectation string      `json:"expectation"` // in words: what the table will be good for
	Usefulness  *Usefulness `json:"usefulness,omitempty"`
}

// Query is the marginal that a table shows, of identity factors: of the attributes that it is counted by.
func (p *Plan) Query(t Table) Query {
	return marginalOf(t.From, counted(p.Release().Table(t.From), t.attributes()))
}

// Shown is the same marginal of the attributes that the table is published by: a derived column in the place of its
// origin. Both have the same cells in the same order.
func (p *Plan) Shown(t Table) Query { return marginalOf(t.From, t.attributes()) }

// attributes are those that a table is published by.
func (t Table) attributes() []spec.Attribute {
	out := make([]spec.Attribute, len(t.By))
	for i, by := range t.By {
		out[i].Column, out[i].Level, _ = strings.Cut(by, ".")
	}
	return out
}

// marginalOf is the query of identity factors.
func marginalOf(table string, by []spec.Attribute) Query {
	q := Query{Table: table, Factors: make([]Factor, len(by))}
	for i, a := range by {
		q.Factors[i] = Factor{Attribute: a.Column, Level: a.Level, Basis: Identity}
	}
	return q
}

// OfRows tells that the table counts the rows of the confidential table that its own bound keeps, each as 1.
func (t Table) OfRows() bool { return !t.Weighted && t.PerUnit == nil && t.Counts == "" }

// File is where the table lies within a release.
func (t Table) File() string { return "tables/" + t.Path + ".parquet" }

// Statistic is one published figure per cell and how good it will be.
type Statistic struct {
	Name string `json:"name"`
	// Measurement is the ID of the one measurement that the figure is, as it was drawn;
	// empty where it is put together from several.
	Measurement string `json:"measurement,omitempty"`
	// Unit is what one integer of that measurement stands for, an exact fraction; "" for 1.
	Unit          string  `json:"unit,omitempty"`
	StandardError float64 `json:"standard_error"` // root mean square over the cells
	// Uneven is set where cells differ: the largest standard error of one.
	Uneven float64 `json:"largest_standard_error,omitempty"`
	// Median is what half of the cells are off by at most; the others are off by as much or more.
	Median float64 `json:"median_error"`
	// OfRanges is the root mean square standard error of all sums of neighbouring categories, where these are asked for.
	OfRanges float64 `json:"ranges_error,omitempty"`
	// Margin is half the width of a cell's interval, of the widest.
	Margin     float64 `json:"margin"`
	Confidence float64 `json:"confidence"` // asked of the interval
	Attained   float64 `json:"attained"`   // given by the law, at least Confidence
}

// Names of a statistic's columns in a published table, after the statistic's own
// name.
const (
	Published     = ""          // for reading
	Unbiased      = "_unbiased" // for arithmetic
	StandardError = "_noise_se"
	Low           = "_low"
	High          = "_high"
	Flag          = "_flag"
)

// LabelSuffix follows a key's name in the name of its label column.
const LabelSuffix = "_label"

// confidence of every published interval, unless a spec says otherwise.
const confidence = 0.95

const (
	// maxCells bounds one table, so that no product of sizes can overflow and none is planned that no machine could count:
	// it would take a terabyte.
	maxCells = int64(1) << 36
	// maxSparseCells bounds a sparse table, whose cells are not visited one by one.
	maxSparseCells = int64(1) << 62
)

const (
	// mostListed bounds the combinations of listed categories beside a column of which up to 2^32 values may be discovered: so
	// that whether its groups can be numbered does not depend on the values that there are.
	mostListed = int64(1) << 30
	// maxAttributes bounds the attributes of a table.
	maxAttributes = 63
	// maxTables bounds one marginal's subsets.
	maxTables = 100000
)

// table is a published table on its way through the planner.
type table struct {
	place    int // among those of the release
	path     string
	marginal *spec.Marginal
	by       []spec.Attribute // as it is published
	counted  []spec.Attribute // as its rows are counted: of derived columns, their origins
	leaf     int
	weight   float64 // how much the variance of each of its cells counts
	cells    int64
	sums     []residual.Sums // what it shows along each of counted
	// impossible is how many of the cells are exact zeros. Such a table is measured by itself: what is known of its cells
	// is no sum of the residuals of others.
	impossible int64
	filled     int64          // of a sparse table: as how many cells it counts
	discovers  []*spec.Column // of its attributes, those whose categories are not listed
	unit       spec.Unit      // of the confidential table
	// of is the table whose figures a part serves; nil for a published table. value, quantile, distinct and perUnit are those of what
	// is measured.
	of       *table
	value    *Value
	quantile *Quantile
	distinct *Distinct
	perUnit  *spec.PerUnit
	// distributions are what quantiles are read from, by the kind of noise; without one they are drawn. guessed says that the
	// range of the column is, so that they are always drawn.
	distributions map[budget.Kind]*Distribution
	guessed       bool
	// diagnostic and says are of a table of what is left out.
	diagnostic Diagnostic
	says       string
}

// possible is how many cells get noise, and count where errors are added up; of a sparse table as many as may have rows.
func (t *table) possible() int64 {
	switch {
	case t.discovers != nil:
		return usualGroups
	case t.sparse():
		return t.filled
	case t.top() > 0:
		return t.top()
	case t.quantile != nil: // the ends of intervals are no figures
		return t.cells / drawsOfShare
	}
	return t.cells - t.impossible
}

// summed tells that the table counts up along an attribute, or is asked for ranges.
func (t *table) summed() bool {
	return slices.ContainsFunc(t.sums, func(s residual.Sums) bool { return s != residual.Cells })
}

// sumsOf is what a marginal shows along each of some of its attributes.
func sumsOf(m *spec.Marginal, by []spec.Attribute) []residual.Sums {
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

// valued tells that it is not the rows of the confidential table that are counted, each as 1.
func (t *table) valued() bool {
	return t.of != nil || t.value != nil || t.perUnit != nil || t.diagnostic != ""
}

// sparse tells that the cells above a threshold are published, and no others.
func (t *table) sparse() bool { return t.above() > 0 }

// above is the threshold of a sparse table, 0 of another.
func (t *table) above() int64 {
	if t.of != nil {
		return 0
	}
	return t.marginal.Above
}

// masked tells that some cells are impossible.
func (t *table) masked() bool { return t.impossible > 0 }

// apart tells that the table is measured by itself, and nothing else bears on it: it has impossible cells, so that its
// cells are no sum of residuals, or so many attributes that its residuals are too many to list; or it is sparse, so that
// most of its cells are not known; or it is of values, or of fewer rows than others.
func (t *table) apart() bool {
	return t.discovers != nil || t.masked() || t.chosenFrom() || t.valued() || len(t.counted) > mostShared
}

// mostShared is up to how many attributes tables share measurements.
const mostShared = 16

// expand lists the tables that the marginals ask for, in spec order; `every`
// gives one table for each subset of its attributes, small subsets first.
func expand(r *spec.Release) ([]*table, error) {
	leaf := map[string]int{}
	for i, l := range r.Budget.Leaves {
		leaf[l.Path] = i
	}
	var tables []*table
	seen := map[string]string{}
	rules := newRules(r)
	for i := range r.Marginals {
		m := &r.Marginals[i]
		sets, err := subsets(r, m)
		if err != nil {
			return nil, at(r, "marginals."+m.Name, err)
		}
		for _, by := range sets {
			t := &table{place: len(tables), path: tablePath(m.Name, m.Every != nil, by), marginal: m, by: by, counted: counted(r.Table(m.Table), by), sums: sumsOf(m, by), leaf: leaf[m.Leaf], value: weightOf(r.Table(m.Table)), perUnit: boundOf(m)}
			t.weight = t.asked()
			if t.statistic() == string(spec.Units) {
				t.value, t.perUnit = nil, onceEach(t.perUnit)
			}
			t.weigh(r.Table(m.Table))
			t.discovers, t.unit = r.Table(m.Table).Discovers(by), r.Table(m.Table).Unit
			if other, ok := seen[t.path]; ok {
				return nil, at(r, "marginals."+m.Name, &fault{"", fmt.Sprintf("its table %s would overwrite one of marginal %s", t.path, other), "a column or a marginal of another name"})
			}
			seen[t.path] = m.Name
			err := distinctColumns(t)
			if err == nil {
				t.cells, err = cells(r, t)
			}
			if err == nil && t.discovers == nil {
				t.impossible, err = impossible(rules, t)
				t.filled = filledOf(r.Table(m.Table), t.cells-t.impossible)
			}
			if err == nil {
				err = t.checkTop()
			}
			if err == nil && t.masked() && len(figures(r, t)) > 0 {
				err = &fault{"", fmt.Sprintf("table %s has impossible cells, and statistics beside its count", t.path), "`stats: [count]` here, and a marginal without what is impossible for the others"}
			}
			if err == nil && t.apart() && t.summed() {
				err = &fault{"", fmt.Sprintf("table %s has impossible cells or more than %d attributes, and counts up or is asked for ranges", t.path, mostShared), "a table without `cumulative` and `ranges`, or without what is impossible"}
			}
			if err != nil {
				return nil, at(r, "marginals."+m.Name, err)
			}
			tables = append(tables, t)
		}
	}
	tables = append(tables, suggested(r, len(tables), leaf)...)
	rows := diagnosed(r, len(tables), leaf[r.Diagnostics])
	if r.Diagnostics != "" && rows == nil {
		return nil, at(r, "diagnostics", &fault{"", "there is nothing to diagnose: every row counts, and as it is",
			"a table with `unit: {id, max_rows}`, a policy that drops rows, or figures of a column with a range; or no `diagnostics`"})
	}
	return append(tables, rows...), nil
}

// subsets lists the attribute sets of a marginal: without those of `every` that hold a column and what it decides.
func subsets(r *spec.Release, m *spec.Marginal) ([][]spec.Attribute, error) {
	confidential := r.Table(m.Table)
	if m.Every == nil {
		if derived, origin, found := twice(confidential, m.By); found {
			return nil, &fault{"by", fmt.Sprintf("%s and %s say the same of a row, as %s decides both", derived, origin, Counted(confidential, origin).Column), "one of the two"}
		}
		return [][]spec.Attribute{m.By}, nil
	}
	n := new(big.Int)
	for _, k := range m.Every {
		n.Add(n, new(big.Int).Binomial(int64(len(m.By)), int64(k)))
	}
	if n.Cmp(big.NewInt(maxTables)) > 0 {
		return nil, &fault{"every", fmt.Sprintf("it asks for %s tables, more than %d", n, maxTables), "smaller subsets, or of fewer attributes"}
	}
	var all [][]spec.Attribute
	for _, k := range m.Every {
		for _, by := range choose(m.By, k) {
			if _, _, found := twice(confidential, by); !found {
				all = append(all, by)
			}
		}
	}
	if all == nil {
		return nil, &fault{"every", "every subset that it asks for holds a derived column beside its origin", "smaller subsets"}
	}
	return all, nil
}

// choose lists the k-subsets of a list in lexicographic order of positions.
func choose(list []spec.Attribute, k int) [][]spec.Attribute {
	if k == 0 {
		return [][]spec.Attribute{{}}
	}
	var all [][]spec.Attribute
	for i := 0; i+k <= len(list); i++ {
		for _, rest := range choose(list[i+1:], k-1) {
			all = append(all, append([]spec.Attribute{list[i]}, rest...))
		}
	}
	return all
}

// asked is the weight that the spec gives to the variance of the table's cells.
func (t *table) asked() float64 {
	weight, _ := t.marginal.Weight.Float64()
	return weight
}

// query is the marginal that a table shows.
func (t *table) query() Query {
	q := marginalOf(t.marginal.Table, t.counted)
	q.Value, q.Quantile, q.Distinct, q.PerUnit, q.Diagnostic = t.value, t.quantile, t.distinct, t.perUnit, t.diagnostic
	return q
}

// impossible is how many cells of a table are. It refuses a table of nothing else.
func impossible(l *rules, t *table) (int64, error) {
	mask, err := l.mask(t.query())
	if err != nil {
		return 0, err
	}
	n := mask.Count()
	if n == t.cells {
		return 0, &fault{"", fmt.Sprintf("`impossible` rules out every cell of table %s", t.path), "a table with cells that can be, or another entry under `impossible`"}
	}
	return n, nil
}

// cells is the number of cells of a table: the product of its levels' sizes.
func cells(r *spec.Release, t *table) (int64, error) {
	if len(t.by) > maxAttributes {
		return 0, &fault{"by", fmt.Sprintf("table %s would have %d attributes", t.path, len(t.by)), fmt.Sprintf("at most %d", maxAttributes)}
	}
	levels, err := t.query().Levels(r)
	if err != nil {
		return 0, err
	}
	if t.discovers != nil {
		listed := int64(1)
		for _, level := range levels {
			size := max(int64(level.Size()), 1) // of a column whose categories are not listed: none
			if listed > mostListed/size {
				return 0, &fault{"by", fmt.Sprintf("table %s has more than 2^30 combinations of listed categories beside those that are discovered", t.path), "coarser levels or fewer attributes"}
			}
			listed *= size
		}
		return maxSparseCells, nil // as many as may be
	}
	n := int64(1)
	for _, level := range levels {
		size := int64(level.Size())
		if t.chosenFrom() && n > maxSparseCells/max(size, 1) {
			return 0, &fault{"by", fmt.Sprintf("table %s would have more than 2^62 cells", t.path), "coarser levels or fewer attributes"}
		}
		if !t.chosenFrom() && n > maxCells/max(size, 1) {
			return 0, &fault{"by", fmt.Sprintf("table %s would have more than 2^36 cells, which take a terabyte to count", t.path), "coarser levels or fewer attributes, or `cells: {above: N}`: a sparse table, of which the cells above a threshold are published"}
		}
		n *= size
	}
	return n, nil
}

// The names of the figures that tables hold: how many rows a cell has, or where the table counts up along an attribute
// how many it has with those before it.
const (
	countName      = "count"
	cumulativeName = "cumulative_count"
)

// statistic is the name of a table's figure.
func (t *table) statistic() string {
	has := func(k spec.StatKind) bool {
		return slices.ContainsFunc(t.marginal.Stats, func(s spec.Stat) bool { return s.Kind == k })
	}
	switch {
	case slices.Contains(t.sums, residual.Prefixes):
		return cumulativeName
	case has(spec.Units) && !has(spec.Count):
		return string(spec.Units)
	}
	return countName
}

// distinctColumns refuses a table two of whose columns would have one name: a
// key, its label, or a figure with its error columns.
func distinctColumns(t *table) error {
	owner := map[string]string{}
	for _, suffix := range []string{Published, Unbiased, StandardError, Low, High, Flag} {
		owner[t.statistic()+suffix] = "the figures"
	}
	for _, a := range t.by {
		for _, name := range []string{a.String(), a.String() + LabelSuffix} {
			if other, ok := owner[name]; ok {
				return &fault{"by", fmt.Sprintf("table %s would have two columns %q, of %s and of %s", t.path, name, other, a), fmt.Sprintf("a column of another name that says where it comes from (from: %s)", a.Column)}
			}
			owner[name] = a.String()
		}
	}
	return nil
}

// newTable describes a table of counts, but for how good they will be.
func newTable(r *spec.Release, t *table) Table {
	out := Table{Path: t.path, From: t.marginal.Table, Marginal: t.marginal.Name, By: make([]string, len(t.by)), Cells: t.cells, Impossible: t.impossible}
	for i, a := range t.by {
		out.By[i] = a.String()
	}
	if t.discovers != nil {
		out.Cells, out.Discovered = 0, discoveredOf(t, r.Privacy.Neighbours)
	}
	if t.sparse() {
		out.Sparse = &Sparse{Above: t.marginal.Above}
	}
	if t.top() > 0 {
		out.Top = &Top{Of: t.top()}
	}
	out.Statistics = []Statistic{{Name: t.statistic(), Confidence: confidence}}
	out.PerUnit, out.Show = t.perUnit, t.marginal.Show
	out.Weighted, out.Counts = t.value != nil && t.value.Weight, t.says
	out.Figures = figures(r, t)
	return out
}

// expectation says in one sentence what counts with a margin are good for.
func expectation(margin float64) string {
	if margin == 0 {
		return "Counts are almost always published exactly."
	}
	whole := WholeMargin(margin)
	return fmt.Sprintf("Within ±%s of the exact count 19 times in 20: good to 10%% for counts of %s or more; a count of %s or less could be zero.",
		budget.Group(whole), budget.Group(10*whole), budget.Group(whole))
}

// expectations says the same of several tables, with margins from the narrowest to the widest.
func expectations(tables []Table) string {
	var least, most float64
	for i, t := range tables {
		m := t.Statistics[0].Margin
		if i == 0 || m < least {
			least = m
		}
		most = max(most, m)
	}
	low, high := WholeMargin(least), WholeMargin(most)
	if low == high {
		return expectation(most)
	}
	return fmt.Sprintf("Within ±%s (the best) to ±%s (the worst) of the exact count 19 times in 20: good to 10%% for counts of %s to %s or more; a count of %s to %s or less could be zero.",
		budget.Group(low), budget.Group(high), budget.Group(10*low), budget.Group(10*high), budget.Group(low), budget.Group(high))
}

// WholeMargin is a margin as people read it: rounded up to a whole number.
func WholeMargin(margin float64) int64 { return int64(math.Ceil(margin)) }

// tablePath is where the marginal over some attributes is published: the
// marginal's name or, where the spec asks for every subset, a file of its own
// below that name.
func tablePath(marginal string, every bool, by []spec.Attribute) string {
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
