package plan

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the published tables: which there are, and what their columns mean.

// Table is one published table: a row per combination of categories of By, in
// domain order, the last attribute's fastest.
type Table struct {
	Path        string      `json:"path"`
	Marginal    string      `json:"marginal"`
	From        string      `json:"from"` // the confidential table whose rows it counts
	By          []string    `json:"by"`
	Cells       int64       `json:"cells"`
	Statistics  []Statistic `json:"statistics"`
	Expectation string      `json:"expectation"` // one sentence: what the table will be good for
}

// Query is the marginal that a table shows, of identity factors.
func (p *Plan) Query(t Table) Query {
	q := Query{Table: t.From, Factors: make([]Factor, len(t.By))}
	for i, by := range t.By {
		column, level, _ := strings.Cut(by, ".")
		q.Factors[i] = Factor{Attribute: column, Level: level, Basis: Identity}
	}
	return q
}

// File is where the table lies within a release.
func (t Table) File() string { return "tables/" + t.Path + ".parquet" }

// Statistic is one published figure per cell and how good it will be.
type Statistic struct {
	Name string `json:"name"`
	// Measurement is the ID of the one measurement that the figure is, as it was drawn;
	// empty where it is put together from several.
	Measurement   string  `json:"measurement,omitempty"`
	StandardError float64 `json:"standard_error"` // root mean square over the cells
	// Uneven is set where cells differ: the largest standard error of one.
	Uneven float64 `json:"largest_standard_error,omitempty"`
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
	// maxCells bounds one table, so that no product of sizes can overflow.
	maxCells = int64(1) << 40
	// maxTables bounds one marginal's subsets.
	maxTables = 100000
)

// table is a published table on its way through the planner.
type table struct {
	path     string
	marginal *spec.Marginal
	by       []spec.Attribute
	leaf     int
	cells    int64
}

// expand lists the tables that the marginals ask for, in spec order; `every`
// gives one table for each subset of its attributes, small subsets first.
func expand(r *spec.Release) ([]table, error) {
	leaf := map[string]int{}
	for i, l := range r.Budget.Leaves {
		leaf[l.Path] = i
	}
	var tables []table
	seen := map[string]string{}
	for i := range r.Marginals {
		m := &r.Marginals[i]
		sets, err := subsets(m)
		if err != nil {
			return nil, fmt.Errorf("marginal %s (line %d): %w", m.Name, m.Line, err)
		}
		for _, by := range sets {
			t := table{path: tablePath(m.Name, m.Every != nil, by), marginal: m, by: by, leaf: leaf[m.Leaf]}
			if other, ok := seen[t.path]; ok {
				return nil, fmt.Errorf("marginal %s (line %d): its table %s would overwrite one of marginal %s: rename a column or a marginal", m.Name, m.Line, t.path, other)
			}
			seen[t.path] = m.Name
			if err := distinctColumns(t); err != nil {
				return nil, fmt.Errorf("marginal %s (line %d): %w", m.Name, m.Line, err)
			}
			if t.cells, err = cells(r, t); err != nil {
				return nil, fmt.Errorf("marginal %s (line %d): %w", m.Name, m.Line, err)
			}
			tables = append(tables, t)
		}
	}
	return tables, nil
}

// subsets lists the attribute sets of a marginal.
func subsets(m *spec.Marginal) ([][]spec.Attribute, error) {
	if m.Every == nil {
		return [][]spec.Attribute{m.By}, nil
	}
	n := new(big.Int)
	for _, k := range m.Every {
		n.Add(n, new(big.Int).Binomial(int64(len(m.By)), int64(k)))
	}
	if n.Cmp(big.NewInt(maxTables)) > 0 {
		return nil, fmt.Errorf("`every` asks for %s tables, more than %d: ask for smaller subsets, or of fewer attributes", n, maxTables)
	}
	var all [][]spec.Attribute
	for _, k := range m.Every {
		all = append(all, choose(m.By, k)...)
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

// weight is how much the variance of each of its cells counts.
func (t table) weight() float64 {
	w, _ := t.marginal.Weight.Float64()
	return w
}

// query is the marginal that a table shows.
func (t table) query() Query {
	q := Query{Table: t.marginal.Table, Factors: make([]Factor, len(t.by))}
	for i, a := range t.by {
		q.Factors[i] = Factor{Attribute: a.Column, Level: a.Level, Basis: Identity}
	}
	return q
}

// cells is the number of cells of a table: the product of its levels' sizes.
func cells(r *spec.Release, t table) (int64, error) {
	levels, err := t.query().Levels(r)
	if err != nil {
		return 0, err
	}
	n := int64(1)
	for _, level := range levels {
		size := int64(level.Size())
		if n > maxCells/max(size, 1) {
			return 0, fmt.Errorf("table %s would have more than 2^40 cells: use coarser levels or fewer attributes", t.path)
		}
		n *= size
	}
	return n, nil
}

// statistic is the one figure that tables hold so far.
const statistic = "count"

// distinctColumns refuses a table two of whose columns would have one name: a
// key, its label, or a figure with its error columns.
func distinctColumns(t table) error {
	owner := map[string]string{}
	for _, suffix := range []string{Published, Unbiased, StandardError, Low, High, Flag} {
		owner[statistic+suffix] = "the figures"
	}
	for _, a := range t.by {
		for _, name := range []string{a.String(), a.String() + LabelSuffix} {
			if other, ok := owner[name]; ok {
				return fmt.Errorf("table %s would have two columns %q, of %s and of %s: give the column another name and say where it comes from (from: %s)",
					t.path, name, other, a, a.Column)
			}
			owner[name] = a.String()
		}
	}
	return nil
}

// newTable describes a table of counts, but for how good they will be.
func newTable(t table) Table {
	out := Table{Path: t.path, From: t.marginal.Table, Marginal: t.marginal.Name, By: make([]string, len(t.by)), Cells: t.cells}
	for i, a := range t.by {
		out.By[i] = a.String()
	}
	out.Statistics = []Statistic{{Name: statistic, Confidence: confidence}}
	return out
}

// expectation says in one sentence what counts with a margin are good for.
func expectation(margin float64) string {
	if margin == 0 {
		return "Counts are almost always published exactly."
	}
	whole := WholeMargin(margin)
	return fmt.Sprintf("Within ±%s of the exact count 19 times in 20: good to 10%% for counts of %s or more; a count of %s or less cannot be told from none.",
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
	return fmt.Sprintf("Within ±%s (the best) to ±%s (the worst) of the exact count 19 times in 20: good to 10%% for counts of %s to %s or more; a count of %s to %s or less cannot be told from none.",
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
