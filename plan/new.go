package plan

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

const (
	// confidence of every published interval, unless a spec says otherwise.
	confidence = 0.95
	// maxCells bounds one table, so that no product of sizes can overflow.
	maxCells = int64(1) << 40
	// largeBytes is where a plan warns of its size.
	largeBytes = int64(4) << 30
	// bytesPerCell: an exact count and its noisy integer, int64 each.
	bytesPerCell = 16
)

// equivalentDeltas are where a plan in ρ says its ε.
var equivalentDeltas = []string{"1e-6", "1e-9"}

// New plans a release. It fails on a release that uses a part of the language
// that is not built, whose tables clash or are too large to count, or whose
// budget is too small for exact noise of a finite scale.
func New(r *spec.Release) (*Plan, error) {
	if len(r.Unbuilt) > 0 {
		return nil, fmt.Errorf("%s: %s is not supported by this version", r.Unbuilt[0].Path, r.Unbuilt[0].Feature)
	}
	tables, err := expand(r)
	if err != nil {
		return nil, err
	}
	leaves, err := allocate(r, tables)
	if err != nil {
		return nil, err
	}
	p := &Plan{Format: Format, Name: r.Name, Title: r.About.Title, Source: r.Source, release: r}
	for _, l := range leaves {
		p.Leaves = append(p.Leaves, l.Leaf)
	}
	for _, t := range tables {
		m, err := measure(r, t, leaves[t.leaf])
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.path, err)
		}
		p.Measurements = append(p.Measurements, m)
		p.Tables = append(p.Tables, publish(t, m))
		p.Size.Cells += t.cells
	}
	p.Size.Bytes = p.Size.Cells * bytesPerCell
	if p.Cost, err = charge(r); err != nil {
		return nil, err
	}
	if p.Guarantee, err = guarantee(r, p); err != nil {
		return nil, err
	}
	p.Warnings = warnings(r, p)
	return p, nil
}

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
		for _, by := range subsets(m) {
			t := table{path: tablePath(m.Name, m.Every != nil, by), marginal: m, by: by, leaf: leaf[m.Leaf]}
			if other, ok := seen[t.path]; ok {
				return nil, fmt.Errorf("marginal %s (line %d): its table %s would overwrite one of marginal %s: rename a column or a marginal", m.Name, m.Line, t.path, other)
			}
			seen[t.path] = m.Name
			if err := distinctColumns(t); err != nil {
				return nil, fmt.Errorf("marginal %s (line %d): %w", m.Name, m.Line, err)
			}
			var err error
			if t.cells, err = cells(r, t); err != nil {
				return nil, fmt.Errorf("marginal %s (line %d): %w", m.Name, m.Line, err)
			}
			tables = append(tables, t)
		}
	}
	return tables, nil
}

// subsets lists the attribute sets of a marginal.
func subsets(m *spec.Marginal) [][]spec.Attribute {
	if m.Every == nil {
		return [][]spec.Attribute{m.By}
	}
	var all [][]spec.Attribute
	for _, k := range m.Every {
		all = append(all, choose(m.By, k)...)
	}
	return all
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

// cells is the number of cells of a table: the product of its levels' sizes.
func cells(r *spec.Release, t table) (int64, error) {
	n := int64(1)
	for _, a := range t.by {
		level, ok := r.Table(t.marginal.Table).Column(a.Column).Domain.Level(a.Level)
		if !ok {
			return 0, fmt.Errorf("%s has no such level", a)
		}
		n *= int64(level.Size())
		if n > maxCells {
			return 0, fmt.Errorf("table %s would have more than 2^40 cells: use coarser levels or fewer attributes", t.path)
		}
	}
	return n, nil
}

// statistic is the one figure that tables hold so far.
const statistic = "count"

// distinctColumns refuses a table two of whose columns would have one name: a
// key, its label, or a figure with its error columns.
func distinctColumns(t table) error {
	owner := map[string]string{}
	for _, suffix := range []string{"", "_unbiased", "_noise_se", "_low", "_high", "_flag"} {
		owner[statistic+suffix] = "the figures"
	}
	for _, a := range t.by {
		for _, name := range []string{a.String(), a.String() + "_label"} {
			if other, ok := owner[name]; ok {
				return fmt.Errorf("table %s would have two columns %q, of %s and of %s: give the column another name and say where it comes from (from: %s)",
					t.path, name, other, a, a.Column)
			}
			owner[name] = a.String()
		}
	}
	return nil
}

// leafBudget is a leaf with what each of its tables gets.
type leafBudget struct {
	Leaf
	each *big.Rat // of ε under a pure budget, else of ρ
}

// allocate gives each leaf its exact share, divided equally among its tables.
func allocate(r *spec.Release, tables []table) ([]leafBudget, error) {
	total, err := charge(r)
	if err != nil {
		return nil, err
	}
	leaves := make([]leafBudget, len(r.Budget.Leaves))
	for i, l := range r.Budget.Leaves {
		leaves[i].Leaf = Leaf{Path: l.Path, Share: l.Share.RatString()}
	}
	for _, t := range tables {
		leaves[t.leaf].Tables++
	}
	for i := range leaves {
		l := &leaves[i]
		if l.Tables == 0 {
			return nil, fmt.Errorf("budget leaf %q pays for no table", l.Path)
		}
		share := r.Budget.Leaves[i].Share
		count := new(big.Rat).SetInt64(int64(l.Tables))
		if total.Epsilon != nil {
			l.Amount.Epsilon = new(big.Rat).Mul(total.Epsilon, share)
			l.each = new(big.Rat).Quo(l.Amount.Epsilon, count)
		} else {
			l.Amount.Rho = new(big.Rat).Mul(total.Rho, share)
			l.each = new(big.Rat).Quo(l.Amount.Rho, count)
		}
	}
	return leaves, nil
}

// charge is the amount that the account is debited: the budget as asked, in
// the terms that an account adds up (ε, or ρ). An ε,δ budget is the largest ρ
// that implies it.
func charge(r *spec.Release) (budget.Cost, error) {
	switch b := r.Budget; {
	case b.Delta != nil:
		rho, err := budget.RhoForEpsilonDelta(b.Epsilon, b.Delta)
		if err != nil {
			return budget.Cost{}, fmt.Errorf("budget: %w", err)
		}
		return budget.Cost{Rho: rho}, nil
	case b.Epsilon != nil:
		return budget.Cost{Epsilon: b.Epsilon}, nil
	default:
		return budget.Cost{Rho: b.Rho}, nil
	}
}

// measure is the direct strategy: the marginal itself, with the noise that its
// part of the budget buys.
func measure(r *spec.Release, t table, l leafBudget) (Measurement, error) {
	q := Query{Table: t.marginal.Table, Factors: make([]Factor, len(t.by))}
	for i, a := range t.by {
		q.Factors[i] = Factor{Attribute: a.Column, Level: a.Level, Basis: Identity}
	}
	l1, l2 := Sensitivity(r.Privacy.Neighbours, r.Table(t.marginal.Table).Unit.MaxRows, t.cells)
	m := Measurement{ID: t.path, Leaf: l.Path, Query: q, Cells: t.cells}
	var err error
	if l.Amount.Epsilon != nil {
		m.Mechanism, err = budget.LaplaceFor(l1, l.each)
	} else {
		m.Mechanism, err = budget.GaussianFor(l1, l2, l.each)
	}
	return m, err
}

// Sensitivity is how far one unit can move the counts of a marginal: the L1
// norm and the square of the L2 norm of the largest shift.
//
// Contract: a unit holds at most k counted rows (enforced by bounding before
// counting), each in one cell. Under add-remove the shift is a vector of at
// most k ones spread over cells, of L1 norm k and L2 norm at most k, reached
// when all fall in one cell. Under replace it is the difference of two such
// vectors: L1 at most 2k, squared L2 at most 2k², reached when all leave one
// cell for another; a table of one cell moves by at most k.
func Sensitivity(n spec.Neighbours, maxRows, cells int64) (l1, l2Squared *big.Int) {
	k := big.NewInt(maxRows)
	k2 := new(big.Int).Mul(k, k)
	if n == spec.Replace && cells > 1 {
		return k.Lsh(k, 1), k2.Lsh(k2, 1)
	}
	return k, k2
}

// publish describes a table of directly measured counts.
func publish(t table, m Measurement) Table {
	margin, attained := m.Mechanism.Margin(confidence)
	out := Table{Path: t.path, Marginal: t.marginal.Name, By: make([]string, len(t.by)), Cells: t.cells}
	for i, a := range t.by {
		out.By[i] = a.String()
	}
	out.Statistics = []Statistic{{
		Name: statistic, Measurement: m.ID,
		StandardError: math.Sqrt(m.Mechanism.Variance()),
		Margin:        margin, Confidence: "95%", Attained: attained,
	}}
	out.Expectation = expectation(margin)
	return out
}

// expectation says in one sentence what counts with a margin are good for.
func expectation(margin int64) string {
	if margin == 0 {
		return "Counts are almost always published exactly."
	}
	return fmt.Sprintf("Within ±%s of the exact count 19 times in 20: good to 10%% for counts of %s or more; a count of %s or less cannot be told from none.",
		group(margin), group(10*margin), group(margin))
}

// guarantee states the promise in the spec's own terms.
func guarantee(r *spec.Release, p *Plan) (Guarantee, error) {
	unit := r.Tables[0].Unit
	g := Guarantee{
		Protects: r.Privacy.Protects, Neighbours: string(r.Privacy.Neighbours),
		Unit: "each row", MaxRows: unit.MaxRows, Account: r.Privacy.Account,
	}
	if !unit.Row {
		g.Unit = "all rows with the same " + unit.ID
	}
	switch b := r.Budget; {
	case b.Delta != nil:
		g.Definition, g.Epsilon, g.Delta = "approximate", budget.FormatRat(b.Epsilon), budget.FormatRat(b.Delta)
		g.Rho = budget.FormatRat(p.Cost.Rho)
		g.Method = "the ρ of all measurements added up, converted to ε at δ (Canonne, Kamath and Steinke 2020)"
		return g, nil
	case b.Epsilon != nil:
		g.Definition, g.Epsilon = "pure", budget.FormatRat(b.Epsilon)
		g.Method = "the ε of all measurements added up (Dwork, McSherry, Nissim and Smith 2006)"
		return g, nil
	default:
		g.Definition, g.Rho = "zcdp", budget.FormatRat(b.Rho)
		g.Method = "the ρ of all measurements added up (Bun and Steinke 2016)"
	}
	var steps []budget.Mechanism
	for _, m := range p.Measurements {
		steps = append(steps, m.Mechanism)
	}
	loss, err := budget.Compose(steps...)
	if err != nil {
		return g, fmt.Errorf("composing the plan: %w", err)
	}
	for _, d := range equivalentDeltas {
		delta, err := budget.ParseRat(d)
		if err != nil {
			return g, err
		}
		bound, err := loss.EpsilonAt(delta)
		if err != nil {
			return g, fmt.Errorf("ε at δ = %s: %w", d, err)
		}
		g.Equivalents = append(g.Equivalents, Equivalent{Delta: d, Epsilon: bound.Value, Method: bound.Method})
	}
	return g, nil
}

// warnings collects what an approver should know before signing.
func warnings(r *spec.Release, p *Plan) []string {
	var w []string
	for _, problem := range r.Warnings {
		w = append(w, problem.Message)
	}
	if p.Size.Bytes > largeBytes {
		w = append(w, fmt.Sprintf("the tables have %s cells in all and need %s of memory; a machine with less will refuse to measure them: use coarser levels or fewer attributes",
			group(p.Size.Cells), bytesText(p.Size.Bytes)))
	}
	first := map[string]string{}
	for _, m := range p.Measurements {
		key := fmt.Sprint(m.Query)
		if other, ok := first[key]; ok {
			w = append(w, fmt.Sprintf("%s and %s ask the same question and are each paid for: drop one", other, m.ID))
			continue
		}
		first[key] = m.ID
	}
	return w
}
