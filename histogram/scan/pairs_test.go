package scan

// This file holds the brute-force sensitivity test of every pair of what is counted and which answers are given out:
// all that one unit can have in a small table is counted by the scanner, and how far the answers move is held against
// what is claimed.

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// pairsText is a release of jobs whose areas are looked up in a public table; where LINKED, of microdata of jobs that
// belong to homes, with all else.
const pairsText = `version: 1
release: pairs
privacy: {protects: person, neighbours: NEIGHBOURS}
budget: BUDGET
DIAGNOSTICS
tables:
  jobs:
    source: {csv: jobs.csv}
    unit: UNIT
    join: {places: {csv: places.csv, on: place, public: true}}
    WEIGHT
    columns:
      area: {from: places.area, values: [a, b, c], unknown: drop, null: drop}
      size: {values: [small, large]}
      pay: {type: integer, range: {by: size, small: [0, 3], large: [2, 6]}}
      age: {type: integer, range: [0, 3]}
      word: {values: WORDS, unknown: drop}
LINKED
marginals:
  MARGINALS
`

const (
	pairsPlaces  = "place,area\np0,a\np1,b\np2,c\n"
	pairsWeights = "weight: {from: w, range: [0, 2], step: 1, kind: design}"
	pairsListed  = "[w0, w1, w2]"
	pairsFound   = "{discover: {max_length: 3}}"
	pairsLinked  = `  homes:
    source: {csv: homes.csv}
    unit: {id: id, max_rows: 1}
    columns: {tenure: {values: [o, r], unknown: drop}, built: {values: [old, new]}}
synthetic:
  jobs: {budget: jobs, parent: homes, by: [area, size]}
  homes: {budget: homes, by: [tenure, built]}`
	pairsSplit = ", split: {tables: 1/2, homes: 1/4, jobs: 1/4}}"
)

// pairsTable is a table of which a unit's rows are enumerated.
type pairsTable struct {
	name    string
	maxRows int            // of a unit that count, 0 where each is a unit
	bounds  []spec.PerUnit // of questions
	cells   int            // in which a unit's rows may be
	rows    []string       // what a row may be in each cell: its size, pay, age and weight
	most    int            // rows of a unit
	fewer   bool           // rows than needed for replaced units to move all questions by all that is claimed
	linked  bool           // the rows belong to homes
}

// unit returns the unit as a spec has it.
func (p pairsTable) unit() string {
	if p.maxRows == 0 {
		return "row"
	}
	return fmt.Sprintf("{id: id, max_rows: %d}", p.maxRows)
}

// placement is what a unit has: kinds of rows, and what its home is.
type placement struct {
	rows []int
	home string // its tenure, one that is left out, or "" for none
}

// placements are all multisets of at most so many of all kinds of rows, each with every home.
func (p pairsTable) placements() (all []placement) {
	homes := []string{""}
	if p.linked {
		homes = []string{"", "o", "r", "none"}
	}
	var walk func(first int, rows []int)
	walk = func(first int, rows []int) {
		for _, home := range homes {
			all = append(all, placement{slices.Clone(rows), home})
		}
		if len(rows) < p.most {
			for kind := first; kind < p.kinds(); kind++ {
				walk(kind, append(rows, kind))
			}
		}
	}
	walk(0, nil)
	return all
}

// kinds returns how many kinds of rows there are: those that count, and one that no public row is found for.
func (p pairsTable) kinds() int { return p.cells*len(p.rows) + 1 }

// row returns a row of a unit.
func (p pairsTable) row(id string, kind int) string {
	cell, what := kind/len(p.rows), p.rows[kind%len(p.rows)]
	if cell == p.cells {
		return fmt.Sprintf("%s,nowhere,%s,w0\n", id, what)
	}
	return fmt.Sprintf("%s,p%d,%s,w%d\n", id, cell, what, cell)
}

// files writes the tables with one unit among others, of which one has more rows than count. Every unit of a placement
// has an id of its own, so that which of its rows count is drawn separately.
func (p pairsTable) files(t testing.TB, dir string, number int, one placement) {
	t.Helper()
	jobs, homes := "id,place,size,pay,age,w,word\n", "id,tenure,built\n"
	for other := range 4 {
		id := fmt.Sprint("other", other)
		homes += id + ",o,old\n"
		for range []int{5, 2, 3, 1}[other] {
			jobs += p.row(id, other/2*(len(p.rows)-2))
		}
	}
	id := fmt.Sprint("u", number)
	for i, kind := range one.rows {
		jobs += p.row(id, kind)
		if i == 0 {
			jobs += p.row("last", 0)
		}
	}
	if one.home != "" {
		homes += id + "," + one.home + ",new\n"
	}
	if len(one.rows) == 0 {
		jobs += p.row("last", 0)
	}
	for name, text := range map[string]string{"jobs.csv": jobs, "homes.csv": homes + "last,r,old\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// boundText returns a bound as a spec has it.
func boundText(u spec.PerUnit) string {
	var parts []string
	for _, one := range []struct {
		name string
		most int64
	}{{"groups", u.Groups}, {"rows_per_group", u.RowsPerGroup}, {"total", u.Total}} {
		if one.most > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", one.name, one.most))
		}
	}
	if parts == nil {
		return ""
	}
	return ", per_unit: {" + strings.Join(parts, ", ") + "}"
}

// marginals are those of a plan whose groups are listed.
func (p pairsTable) marginals() (all []string) {
	units := p.maxRows > 0
	for i, u := range p.bounds {
		bound, once := boundText(u), ""
		if units {
			once = ", units"
			all = append(all, fmt.Sprintf("once%d: {by: [area, size], stats: [units], top: 2%s}", i, bound))
		}
		all = append(all, fmt.Sprintf("by%d: {by: [area, size], stats: [count, {sum: pay}%s]%s}", i, once, bound),
			fmt.Sprintf("top%d: {by: [area, size], top: 1%s}", i, bound))
	}
	if p.linked { // the others are asked directly
		return append(all, "kinds: {by: [area], stats: [{distinct: age, per_unit: 1}]}")
	}
	if units {
		all = append(all, "different: {by: [area], stats: [{distinct: age, per_unit: 1}]}",
			"more: {by: [area], stats: [{distinct: age, per_unit: 2}]}",
			"kinds: {by: [], stats: [{distinct: age, per_unit: 2}, {distinct: word, per_unit: 1}]}")
	}
	return append(all, "one: {by: [], stats: [count, {sum: pay}, {variance: age}]}",
		"ages: {by: [area], stats: [{sum: age}]}", "large: {by: [area], cells: {above: 3}}",
		"strata: {by: [size], stats: [count, {sum: pay}, {median: pay}]}",
		"squares: {by: [area], stats: [{variance: age}]}")
}

// groupMarginals are marginals of groups that nobody lists, which go with weights where units are counted.
func groupMarginals() []string {
	return []string{"words1: {by: [word], stats: [units], per_unit: {groups: 1}}",
		"words2: {by: [word, size], stats: [units], per_unit: {groups: 2}}"}
}

// question is a measurement, what one unit contributes to it, and what is claimed of how far that moves its answers.
type question struct {
	plan.Measurement
	unit counted.Unit
	claim
	at int // among the measurements that are counted
}

// claim is how far one unit moves answers at most.
type claim struct {
	l1, l2Squared int64
	shifts        []budget.Shift
	cell          int64 // where cells are chosen: that of one of them, and whether all move one way
	monotone      bool
	groups        int64 // in which counts differ, where groups are selected
	each, all     int64 // of quantiles: rows below any place, and in all, in one cell and in all cells
}

// pair returns the pair of a question.
func (q question) pair() string {
	return histogramtest.PairOf(q.Query.Counted.Kind(), q.Selection.Kind())
}

// plain reports whether the answers are of cells, and none of residuals.
func (q question) plain() bool {
	return !slices.ContainsFunc(q.Query.Factors, func(f plan.Factor) bool { return f.Basis != plan.Identity })
}

// claimOf returns what is claimed for a unit: by what is counted or, of residuals, by the mechanism alone.
func (q question) claimOf(t testing.TB, u counted.Unit) claim {
	t.Helper()
	m := q.Mechanism
	if q.plain() {
		m = claimed(t, q.Query.Counted, u)
	}
	c := claim{l1: m.L1.Int64(), l2Squared: m.L2Squared.Int64(), shifts: m.Shifts}
	c.all, c.each = u.Rows()
	if q.Query.Counted.Weighted() {
		c.all, c.each = c.all*u.Table.Weight.Lattice.Last, c.each*u.Table.Weight.Lattice.Last
	}
	switch q.Selection.(type) {
	case selection.Top:
		c.cell, c.monotone = c.each, u.Neighbours == spec.AddRemove
	case selection.Groups:
		c.groups = c.l1
	}
	if u.Neighbours == spec.Replace {
		c.all *= 2 // in other cells
	}
	return c
}

// holds fails unless the mechanism and the selection of a plan claim what is counted does. Laplace noise says nothing
// of L2.
func (q question) holds(t testing.TB) {
	t.Helper()
	ok := q.Mechanism.L1.Int64() == q.l1 && q.Mechanism.L2Squared.Int64() >= q.l2Squared &&
		fmt.Sprint(q.Mechanism.Shifts) == fmt.Sprint(q.shifts)
	switch s := q.Selection.(type) {
	case selection.Top:
		ok = ok && s.Sensitivity == q.cell && s.Monotone == q.monotone
	case selection.Groups:
		ok = ok && s.Groups == q.groups
	}
	if !ok {
		t.Errorf("%s is planned as %+v and %+v, and claimed %+v", q.ID, q.Mechanism, q.Selection, q.claim)
	}
}

// audit is the questions to a table, and a plan of it by which they are counted.
type audit struct {
	plan      *plan.Plan
	asked     []plan.Measurement // without repetition
	questions []question
	known     map[string]int // places of those that are asked
}

// add adds a measurement of a release to the questions. Questions of several plans that count the same are counted
// once.
func (a *audit) add(t testing.TB, r *spec.Release, m plan.Measurement) {
	t.Helper()
	query := m.Query
	if q, ok := query.Counted.(counted.Quantiles); ok { // what is counted does not depend on what is drawn of it
		query.Counted = counted.Quantiles{Column: q.Column, Weight: q.Weight}
	}
	text, err := query.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprint(string(text), m.Selection.Kind())
	at, ok := a.known[key]
	if !ok {
		at = len(a.asked)
		a.asked, a.known[key] = append(a.asked, m), at
	}
	u := counted.Unit{Table: r.Table(m.Query.Table), Neighbours: r.Privacy.Neighbours, PerUnit: m.Query.PerUnit}
	switch s := m.Selection.(type) {
	case selection.Top:
		u.Cells = s.Of
	case selection.Groups:
		u.Cells = limit.SparseCells
	default:
		u.Cells = m.Cells / m.Query.Counted.PerCell(u.Table)
	}
	q := question{Measurement: m, unit: u, at: at}
	q.claim = q.claimOf(t, u)
	q.holds(t)
	a.questions = append(a.questions, q)
}

// planned plans marginals of the table.
func (p pairsTable) planned(t testing.TB, n spec.Neighbours, money, weight, words string,
	marginals []string) *plan.Plan {
	t.Helper()
	diagnostics, linked := "", ""
	if len(marginals) > 2 {
		diagnostics = "diagnostics: {share: 5%}"
	}
	if p.linked {
		linked = pairsLinked
		if money == "{epsilon: 1}" {
			money = "{rho: 1}"
		}
		money = strings.TrimSuffix(money, "}") + pairsSplit
		for i, m := range marginals {
			marginals[i] = strings.Replace(m, ": {by", ": {table: jobs, budget: tables, by", 1)
		}
		if diagnostics != "" {
			marginals = append(marginals, "tenures: {table: homes, by: [tenure], budget: tables}")
		}
	}
	text := replaced(pairsText, "NEIGHBOURS", string(n), "BUDGET", money, "DIAGNOSTICS", diagnostics, "UNIT", p.unit(),
		"WEIGHT", weight, "WORDS", words, "LINKED", linked, "MARGINALS", strings.Join(marginals, "\n  "))
	r, err := spec.Parse(spec.Source{Name: "pairs.yaml", Text: text,
		Files: map[string]string{"places.csv": pairsPlaces}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return c.Plan()
}

// auditOf plans all questions to a table, under both relations, without weights and with them.
func (p pairsTable) auditOf(t testing.TB) *audit {
	t.Helper()
	a := &audit{known: map[string]int{}}
	take := func(of *plan.Plan) {
		all := of.Measurements
		if p.linked {
			all = questions(t, of)
		}
		for _, m := range all {
			a.add(t, of.Release(), m)
		}
	}
	for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
		weights := []string{"", pairsWeights}
		if p.linked { // microdata take long to plan
			weights = weights[1:]
		}
		for _, weight := range weights {
			one := p.planned(t, n, "{epsilon: 1}", weight, pairsListed, p.marginals())
			take(one)
			a.plan = one
			p.direct(t, a, one.Release(), weight != "")
		}
		if !p.fewer {
			take(p.planned(t, n, "{rho: 1}", "", pairsListed,
				[]string{"sets: {by: [area, size], every: [1, 2]}", "ages: {by: [age], ranges: [age]}"}))
		}
		if p.maxRows > 1 {
			a.plan = p.planned(t, n, "{epsilon: 1, delta: 1e-6}", pairsWeights, pairsFound, groupMarginals())
			take(a.plan)
		}
	}
	return a
}

// direct adds questions that are legal and that no planner asks of so small a table.
func (p pairsTable) direct(t testing.TB, a *audit, r *spec.Release, weight bool) {
	t.Helper()
	area, both := by("area"), by("area", "size")
	add := func(what counted.Counted, factors []plan.Factor, cells int64, u spec.PerUnit, s selection.Selection) {
		m := plan.Measurement{ID: fmt.Sprintf("direct %v of %v, %v", what, factors, u), Selection: s,
			Query: plan.Query{Table: "jobs", Factors: factors, Counted: what, PerUnit: u}}
		m.Cells = cells * what.PerCell(r.Tables[0])
		unit := counted.Unit{Table: r.Tables[0], Neighbours: r.Privacy.Neighbours, PerUnit: u, Cells: cells}
		m.Mechanism = claimed(t, what, unit)
		a.add(t, r, m)
	}
	for _, u := range p.bounds {
		ages := counted.Values{Column: "age", Power: 1, Times: 1, Minus: 1, Weight: weight}
		add(ages, area, 3, u, selection.Above{Threshold: 2})
		add(counted.Rows{}, both, 6, u, selection.Above{Threshold: 2})
		add(counted.Values{Column: "pay", Beyond: true}, both, 6, u, selection.All{})
		add(counted.Quantiles{Column: "age", At: []string{"1/4", "1/2"}, Weight: weight}, area, 3, u, selection.All{})
		add(counted.Quantiles{Column: "age", At: []string{"1/2"}, Weight: weight}, nil, 1, u, selection.All{})
		add(counted.Bins{Column: "age", Width: 1, Weight: weight}, both, 6, u, selection.All{})
		add(counted.Bins{Column: "pay", Width: 3, Weight: weight}, nil, 1, u, selection.All{})
		add(counted.Bins{Column: "age", Width: 1, Total: 2, Method: "haar-laplace", Weight: weight}, area, 3, u,
			selection.All{})
	}
}

// claimed returns a mechanism with the sensitivity of what is counted.
func claimed(t testing.TB, what counted.Counted, u counted.Unit) budget.Mechanism {
	t.Helper()
	if q, ok := what.(counted.Quantiles); ok {
		m, err := q.Mechanism(u, budget.Cost{Epsilon: big.NewRat(1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	s, err := what.Sensitivity(u)
	if err != nil {
		t.Fatal(err)
	}
	return budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: big.NewRat(1, 1), L1: s.L1, L2Squared: s.L2Squared,
		Shifts: s.Shifts}
}

// count counts the questions of tables: all figures of each, 0 where a cell is not listed. change may spoil the tally.
func (a *audit) count(t testing.TB, dir string, change func(*tally)) [][]int64 {
	t.Helper()
	s := streams(a.plan, 5)
	found := func(table *spec.Table) (*spec.Table, error) {
		out, _, err := discover(t.Context(), table, a.plan.Measurements, source.Data{Dir: dir}, 1, 1<<28)
		return out, err
	}
	asked := histogram.Questions{Plan: a.plan, Measurements: a.asked}
	counts, err := countFound(asked, 1, found, func(tally *tally) error {
		if change != nil {
			change(tally)
		}
		return tally.countFiles(t.Context(), source.Data{Dir: dir}, s.Rows(), 1<<28)
	})
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]int64, len(counts))
	for i, c := range counts {
		out[i] = a.dense(a.asked[i], c)
	}
	return out
}

// groupPlaces are the places of groups by word and size.
const groupPlaces = 16

// dense returns the figures of a question by the places of its cells; those of groups by their words, which are the
// same whatever others there are.
func (a *audit) dense(m plan.Measurement, c answer.Answer) []int64 {
	if c.Cells == nil && c.Groups == nil {
		return c.Expanded().Counts
	}
	size := int(m.Cells)
	switch {
	case c.Groups != nil:
		size = groupPlaces
	case m.Query.Counted.Kind() == counted.KindQuantiles:
		table := a.plan.Release().Table(m.Query.Table)
		size = size / int(m.Query.Counted.PerCell(table)) * int(
			table.Column(m.Query.Counted.Reads()).Lattice.PointCount())
	}
	out := make([]int64, size)
	for i, cell := range c.Cells {
		at := int(cell)
		if c.Groups != nil {
			keys := c.Groups.Keys(cell)
			at = 2 * int(keys[0][1]-'0')
			if len(keys) > 1 && keys[1] == "large" {
				at++
			}
		}
		out[at] += c.Counts[i]
	}
	return out
}

// coordinates are what a unit moves: the figures themselves or, of quantiles, of each cell and share the scores of all
// places with one more at either end, as far as their ranks lie from the share in parts of 1/D row; and behind them of
// each cell the rows below each place, and all.
type coordinates struct {
	all   []int64
	group int     // so many next to one another move together, by the most of them
	rows  []int64 // of quantiles
	cell  int     // so many of rows are of one cell
}

func (q question) coordinates(t testing.TB, counts []int64) coordinates {
	what, ok := q.Query.Counted.(counted.Quantiles)
	if !ok {
		return coordinates{all: counts, group: 1}
	}
	places := int(q.unit.Table.Column(what.Column).Lattice.PointCount())
	var at []*big.Rat
	for _, text := range what.At {
		share, _ := new(big.Rat).SetString(text)
		at = append(at, share)
	}
	shares, d, err := budget.CommonShares(at)
	if err != nil {
		t.Fatal(err)
	}
	out := coordinates{group: places + 2, cell: places + 1}
	for ; len(counts) > 0; counts = counts[places:] {
		below := make([]int64, places+3) // of the place before the first, of each, and of the one after the last
		for i, n := range counts[:places] {
			below[i+2] = below[i+1] + n
		}
		n := below[places+1]
		below[places+2] = n
		out.rows = append(out.rows, below[1:places+2]...)
		for _, share := range shares {
			for y := range places + 2 {
				out.all = append(out.all, max(0, d*below[y]-share*n, share*n-d*below[y+1]))
			}
		}
	}
	return out
}

// moves returns how far two answers lie apart in each coordinate that changes, the farthest first, and whether some
// rise and some fall. Of quantiles every share is drawn three times.
func (c coordinates) moves(o coordinates) (far []int64, up, down bool) {
	for i := 0; i < len(c.all); i += c.group {
		most := int64(0)
		for j := i; j < i+c.group; j++ {
			d := c.all[j] - o.all[j]
			up, down = up || d > 0, down || d < 0
			most = max(most, d, -d)
		}
		if most != 0 {
			far = append(far, most)
			for c.group > 1 && len(far)%counted.DrawsPerShare != 0 {
				far = append(far, most)
			}
		}
	}
	slices.SortFunc(far, func(x, y int64) int { return int(y - x) })
	return far, up, down
}

// rowsMoved returns by how much the rows below a place, or all, differ: in the cell where that is most, and in all
// cells.
func (c coordinates) rowsMoved(o coordinates) (each, all int64) {
	for i := 0; i < len(c.rows); i += c.cell {
		most := int64(0)
		for j := i; j < i+c.cell; j++ {
			most = max(most, c.rows[j]-o.rows[j], o.rows[j]-c.rows[j])
		}
		each, all = max(each, most), all+most
	}
	return each, all
}

// covers reports whether moves can be merged, and then enlarged, into one of the shifts.
func covers(shifts []budget.Shift, moves []int64) bool {
	var fits func(room, moves []int64) bool
	fits = func(room, moves []int64) bool {
		if len(moves) == 0 {
			return true
		}
		for i, left := range room {
			if left >= moves[0] && !slices.Contains(room[:i], left) {
				room[i] -= moves[0]
				if fits(room, moves[1:]) {
					return true
				}
				room[i] = left
			}
		}
		return false
	}
	return slices.ContainsFunc(shifts, func(s budget.Shift) bool { return fits(slices.Clone(s), moves) })
}

// use is how much of a claim neighbours use.
type use struct{ l1, l2Squared, excess int64 }

// more takes the larger figures of two.
func (u use) more(o use) use {
	return use{max(u.l1, o.l1), max(u.l2Squared, o.l2Squared), max(u.excess, o.excess)}
}

// uses holds how far two answers lie apart against a claim.
func (q question) uses(c claim, a, b coordinates) (u use) {
	moves, up, down := a.moves(b)
	past := func(moved, claim int64) { u.excess = max(u.excess, moved-claim) }
	switch s := q.Selection.(type) {
	case selection.Top: // whichever cells are chosen
		if len(moves) > 0 {
			past(moves[0], c.cell)
		}
		if c.monotone && up && down {
			past(1, 0)
		}
		moves = moves[:min(int64(len(moves)), s.Of)]
	case selection.Groups:
		past(int64(len(moves)), c.groups)
	}
	for _, d := range moves {
		u.l1, u.l2Squared = u.l1+d, u.l2Squared+d*d
	}
	past(u.l1, c.l1)
	past(u.l2Squared, c.l2Squared)
	if c.shifts != nil && !covers(c.shifts, moves) {
		past(1, 0)
	}
	if a.rows != nil {
		each, all := a.rowsMoved(b)
		past(each, c.each)
		past(all, c.all)
	}
	return u
}

// farthest compares all neighbours among answers, of which the first is without the unit, and returns the most that
// they use of a claim for a question, and how many neighbours there are.
func (q question) farthest(t testing.TB, c claim, answers [][][]int64) (most use, neighbours int) {
	var all []coordinates
	known := map[string]bool{}
	for _, one := range answers {
		var key []byte
		for _, n := range one[q.at] {
			key = binary.AppendVarint(key, n)
		}
		if !known[string(key)] {
			known[string(key)] = true
			all = append(all, q.coordinates(t, one[q.at]))
		}
	}
	n := len(answers)
	if q.unit.Neighbours == spec.AddRemove {
		for _, a := range all[1:] {
			most = most.more(q.uses(c, a, all[0]))
		}
		return most, n - 1
	}
	for i, a := range all {
		for _, b := range all[:i] {
			most = most.more(q.uses(c, a, b))
		}
	}
	return most, n * (n - 1) / 2
}

// answers counts every placement of a unit's rows.
func (p pairsTable) answers(t testing.TB, a *audit, change func(*tally)) (all [][][]int64) {
	t.Helper()
	dir := t.TempDir()
	for i, one := range p.placements() {
		p.files(t, dir, i, one)
		all = append(all, a.count(t, dir, change))
	}
	return all
}

// unreached reports whether the rows that are enumerated cannot move the answers to a question by all that is claimed:
// they are too few for a diagnostic or for so many different values, none of them is beyond the range, or there are not
// as many cells as two units can have rows in. Norms of residuals bound those of their columns together.
func (p pairsTable) unreached(q question) bool {
	u := q.unit
	switch what := q.Query.Counted.(type) {
	case counted.Diagnostic:
		needs := map[counted.Diagnostic]int64{counted.UnitsOver: u.Table.Unit.MaxRows + 1,
			counted.RowsOver: 2 * u.Table.Unit.MaxRows}[what]
		return needs > int64(p.most) || what != counted.RowsLeftOut && (p.maxRows == 0 || u.Table.Name == "homes")
	case counted.Values:
		if what.Beyond && what.Column == "age" {
			return true
		}
	case counted.Distinct:
		if p.fewer || what.PerUnit > u.Table.Unit.MaxRows {
			return true
		}
	}
	if u.Neighbours == spec.AddRemove {
		return !q.plain()
	}
	all, each := u.Rows()
	return p.fewer || !q.plain() || each < all && u.Cells < 2*((all+each-1)/each)
}

// pairsTables are the tables that are enumerated; more and larger ones where long.
func pairsTables(long bool) []pairsTable {
	every := []string{"small,0,0,2", "small,5,1,1", "large,2,2,2", "large,9,3,3"}
	ends := []string{"small,0,0,2", "large,9,3,3"}
	two := []spec.PerUnit{{}, {Groups: 1}, {RowsPerGroup: 1}, {Total: 1}, {Groups: 1, RowsPerGroup: 1, Total: 2}}
	three := []spec.PerUnit{{Groups: 2, RowsPerGroup: 1}, {Groups: 1, Total: 2}, {RowsPerGroup: 2}}
	some := []pairsTable{
		{name: "each row a unit", bounds: two[:1], cells: 3, rows: every, most: 1},
		{name: "one row", maxRows: 1, bounds: two[:1], cells: 2, rows: ends, most: 2, fewer: true},
		{name: "two rows", maxRows: 2, bounds: two[:4], cells: 2, rows: every, most: 3},
		{name: "three rows", maxRows: 3, bounds: three, cells: 3, rows: ends, most: 3, fewer: true},
		{name: "two rows of a home", maxRows: 2, bounds: two[3:4], cells: 1, rows: ends, most: 3, fewer: true,
			linked: true},
	}
	if !long {
		return some
	}
	return append(some,
		pairsTable{name: "two rows of four", maxRows: 2, bounds: two, cells: 2, rows: every, most: 4},
		pairsTable{name: "two rows, more cells", maxRows: 2, bounds: two, cells: 3, rows: every, most: 3},
		pairsTable{name: "three rows of six", maxRows: 3, bounds: three, cells: 2, rows: ends, most: 6, fewer: true},
		pairsTable{name: "three rows, more values", maxRows: 3, bounds: three, cells: 2, rows: every, most: 3,
			fewer: true},
		pairsTable{name: "two rows of a home, more values", maxRows: 2, bounds: slices.Delete(slices.Clone(two), 2, 3),
			cells: 1, rows: every, most: 3, fewer: true, linked: true})
}

// pairsLine is what is printed of a pair under a relation.
type pairsLine struct {
	questions, full, neighbours int
	l1, l2                      float64 // the largest shares of claims
	excess                      int64
}

// TestNoUnitMovesAnyPairFurther lets the scanner count small tables with everything that one unit can have in them,
// and compares how far the answers of all neighbours lie apart with what is claimed: with the sensitivity of what is
// counted, and with the mechanism and the selection that the planner derives from it.
//
// For every legal pair of what is counted and which answers are given out, the test enumerates:
//   - both relations: under add-remove, the table without the unit against the table with each content of the unit;
//     under replace, every two contents;
//   - questions without weights and with them; with no bound per unit, with groups, rows_per_group, total and several
//     at once, and with units counted once; by no, one and two columns, and residuals; values, their squares, values
//     by strata and values beyond their range; quantiles at several shares and at one; bins of one place and of
//     several, and bins by a strategy;
//   - contents: all multisets of up to three rows (up to six with DPRELEASE_LONG), of which at most one, two or three
//     count. A row lies in one of the cells, or its key is missing from the joined public table; its pay, age and
//     weight come from a list with the ends of their ranges and with values beyond them. In linked tables the unit
//     has no home, a home of either kind, or one that is left out.
//
// The test compares L1 and L2²; whether a shift can be merged into one that is charged; for chosen cells, the move of
// a cell and its direction; for groups, how many differ; for quantiles, the scores of all places and the rows below
// each. All tables are counted under one key, which decides only which rows beyond a bound are dropped. No outcome of
// that is missed, as the rows that remain are a content of their own. So the figures are the same in every run, and
// the test has no rate of false alarms.
func TestNoUnitMovesAnyPairFurther(t *testing.T) {
	testkit.SkipPassed(t)
	lines := map[string]*pairsLine{}
	for _, p := range pairsTables(os.Getenv("DPRELEASE_LONG") != "") {
		t.Run(p.name, func(t *testing.T) { p.enumerate(t, lines) })
	}
	printPairs(t, lines)
}

// enumerate counts all that a unit can have in the table, and adds to the lines of pairs what neighbours use of claims.
func (p pairsTable) enumerate(t *testing.T, lines map[string]*pairsLine) {
	a := p.auditOf(t)
	answers := p.answers(t, a, nil)
	t.Logf("%d questions, %d of which are counted by themselves, %d contents of a unit", len(a.questions), len(a.asked),
		len(answers))
	for _, q := range a.questions {
		most, n := q.farthest(t, q.claim, answers)
		key := fmt.Sprintf("%-16s %s", q.pair(), q.unit.Neighbours)
		if lines[key] == nil {
			lines[key] = &pairsLine{}
		}
		lines[key].add(q, most, n)
		if most.excess > 0 {
			t.Errorf("%s: %s moves by %d more than is claimed: %+v of %+v", key, q.ID, most.excess, most, q.claim)
		}
		if full := most.l1 == q.l1 && most.l2Squared == q.l2Squared; !full && !p.unreached(q) {
			t.Errorf("%s: %s moves by no more than %+v, claimed is %+v", key, q.ID, most, q.claim)
		}
	}
	if p.maxRows > 1 && !p.fewer {
		p.claimsTooSmall(t, a, answers)
	}
}

// add adds what neighbours use of a question's claim.
func (l *pairsLine) add(q question, most use, neighbours int) {
	l.questions, l.neighbours, l.excess = l.questions+1, l.neighbours+neighbours, max(l.excess, most.excess)
	l1, l2 := float64(most.l1)/float64(q.l1), math.Sqrt(float64(most.l2Squared)/float64(q.l2Squared))
	l.l1, l.l2 = max(l.l1, l1), max(l.l2, l2)
	if l1 == 1 && l2 == 1 {
		l.full++
	}
}

// printPairs prints a line for each legal pair and relation, of which each must have been asked for and reach its
// claim.
func printPairs(t *testing.T, lines map[string]*pairsLine) {
	t.Helper()
	t.Logf("%-27s %9s %5s %12s %8s %8s %7s", "pair, relation", "questions", "full", "neighbours", "of L1", "of L2",
		"excess")
	for _, pair := range histogramtest.LegalPairs {
		for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
			key := fmt.Sprintf("%-16s %s", pair, n)
			l := lines[key]
			if l == nil || l.l1 != 1 || l.l2 != 1 {
				t.Errorf("%s is never asked for, or never moves by all that is claimed: %+v", key, l)
				continue
			}
			t.Logf("%-27s %9d %5d %12d %8.4f %8.4f %7d", key, l.questions, l.full, l.neighbours, l.l1, l.l2, l.excess)
		}
	}
}

// claimsTooSmall holds the same answers against claims that are too small: each must be exceeded in every pair that
// it is of.
func (p pairsTable) claimsTooSmall(t *testing.T, a *audit, answers [][][]int64) {
	t.Helper()
	for _, f := range []struct {
		name   string
		claims func(q question) (claim, bool)
		not    []string // pairs that it is not of
	}{
		{"units that are replaced are charged as those that come or go", func(q question) (claim, bool) {
			u := q.unit
			u.Neighbours = spec.AddRemove
			return q.claimOf(t, u), q.unit.Neighbours == spec.Replace
		}, []string{"diagnostic × all"}},
		{"the largest weight is taken one too small", func(q question) (claim, bool) {
			u := q.unit
			if !q.Query.Counted.Weighted() {
				return claim{}, false
			}
			table, weight := *u.Table, *u.Table.Weight
			weight.Lattice.Last--
			table.Weight, u.Table = &weight, &table
			return q.claimOf(t, u), true
		}, []string{"rows × all", "rows × above", "rows × top", "rows × groups", "distinct × all", "diagnostic × all"}},
		{"a unit is taken to have one row less", func(q question) (claim, bool) {
			u := q.unit
			table := *u.Table
			table.Unit.MaxRows--
			u.Table = &table
			return q.claimOf(t, u), true
		}, []string{"rows × groups", "distinct × all"}},
		{"a unit is taken to be in one group less", func(q question) (claim, bool) {
			c := q.claim
			c.groups--
			return c, q.Selection.Kind() == selection.KindGroups
		}, without("rows × groups")},
		{"cells that are chosen are taken to move less, or one way", func(q question) (claim, bool) {
			c := q.claim
			if c.cell--; q.unit.Neighbours == spec.Replace {
				c.cell, c.monotone = c.cell+1, true
			}
			return c, q.Selection.Kind() == selection.KindTop
		}, without("rows × top", "values × top")},
	} {
		caught := map[string]bool{}
		for _, q := range a.questions {
			c, of := f.claims(q)
			if pair := q.pair(); of && q.plain() && !caught[pair] {
				most, _ := q.farthest(t, c, answers)
				caught[pair] = most.excess > 0
			}
		}
		for _, pair := range histogramtest.LegalPairs {
			if !caught[pair] && !slices.Contains(f.not, pair) {
				t.Errorf("%s, %s: %s, and nobody notices", p.name, pair, f.name)
			}
		}
	}
}

// without are the legal pairs but for some.
func without(some ...string) []string {
	return slices.DeleteFunc(slices.Clone(histogramtest.LegalPairs),
		func(pair string) bool { return slices.Contains(some, pair) })
}

// miscount is a fault in what is counted.
type miscount struct {
	name    string
	pairs   []string                                         // in which it is noticed
	of      func(q question) bool                            // questions that it is noticed by, nil: any
	tally   func(t *tally)                                   // spoils a tally
	answers func(a *audit, of question, x [][]int64) []int64 // spoils the answer to a question
}

// everyCap spoils the caps of all allowances.
func everyCap(change func(c *bounding.Caps)) func(*tally) {
	return func(t *tally) {
		for i := range t.allowances[1:] {
			change(&t.allowances[i+1].caps)
		}
	}
}

// miscountedRows are faults in which rows of a unit count, and by what.
func miscountedRows() []miscount {
	return []miscount{
		{name: "bounds per unit are not heeded", pairs: without("diagnostic × all"), tally: func(t *tally) {
			for _, q := range t.queries {
				q.allowance = 0
			}
		}},
		{name: "rows of a unit are in more groups than may be",
			pairs: []string{"rows × all", "rows × groups", "distinct × all"},
			tally: everyCap(func(c *bounding.Caps) { c.Groups = bounding.NoCap })},
		{name: "more rows of a unit are in a group than may be",
			pairs: []string{"rows × all", "rows × above", "rows × top", "values × all", "bins × all"},
			tally: everyCap(func(c *bounding.Caps) { c.PerGroup = bounding.NoCap })},
		{name: "more rows of a unit count in all than may",
			pairs: []string{"rows × all", "values × all", "quantiles × all"},
			tally: everyCap(func(c *bounding.Caps) { c.Rows = bounding.NoCap })},
		{name: "the table keeps one row more of a unit",
			pairs: without("rows × groups", "distinct × all", "diagnostic × all"), tally: func(t *tally) {
				table := *t.table
				table.Unit.MaxRows++
				t.table = &table
			}},
		{name: "all rows over the bound count", pairs: []string{"diagnostic × all"}, tally: func(t *tally) {
			for i, a := range t.allowances {
				if a.definition == string(counted.UnitsOver) || a.definition == string(counted.RowsOver) {
					t.allowances[i].caps.Rows = bounding.NoCap
				}
			}
		}},
		{name: "values are not clamped by stratum", pairs: []string{"values × all"},
			tally: func(t *tally) { t.clamps = nil }},
	}
}

// twice returns answers in which everything counts twice.
func twice(_ *audit, q question, x [][]int64) []int64 {
	out := slices.Clone(x[q.at])
	for i := range out {
		out[i] *= 2
	}
	return out
}

// smeared returns answers in which what is counted at one place is counted at the next one, too.
func smeared(_ *audit, q question, x [][]int64) []int64 {
	out := slices.Clone(x[q.at])
	for i := 1; i < len(out); i++ {
		out[i] += x[q.at][i-1]
	}
	return out
}

// ofRows returns the answer to the question that counts all rows by the same factors.
func ofRows(a *audit, q question, x [][]int64) []int64 {
	for _, rows := range a.questions {
		if rows.Query.Counted.Kind() == counted.KindRows && rows.Query.PerUnit == (spec.PerUnit{}) &&
			fmt.Sprint(rows.Query.Factors) == fmt.Sprint(q.Query.Factors) {
			return x[rows.at]
		}
	}
	return x[q.at]
}

// miscountedAnswers are faults in what is made of the rows that count.
func miscountedAnswers() []miscount {
	return []miscount{
		{name: "what lies beyond the range counts twice", pairs: []string{"values × all"}, of: func(q question) bool {
			v, ok := q.Query.Counted.(counted.Values)
			return ok && v.Beyond
		}, answers: twice},
		{name: "a row is in its bin and in the next one", pairs: []string{"bins × all"}, answers: smeared},
		{name: "a row has its place and the next one", pairs: []string{"quantiles × all"}, answers: smeared},
		{name: "different values are counted by rows", pairs: []string{"distinct × all"}, answers: ofRows},
		{name: "a diagnostic counts rows twice", pairs: []string{"diagnostic × all"}, answers: twice},
	}
}

// TestMiscountsAreNoticed plants faults in what is counted of up to four rows of a unit of which two count, and
// requires that the answers then move further than is claimed, in every pair that the fault is of. Contents are
// counted until that is so, those of most rows first.
func TestMiscountsAreNoticed(t *testing.T) {
	testkit.SkipPassed(t)
	p := pairsTable{maxRows: 2, bounds: []spec.PerUnit{{}, {Groups: 1}, {RowsPerGroup: 1}, {Total: 1}}, cells: 2,
		rows: []string{"small,5,0,2", "large,9,3,3"}, most: 4}
	a, dir := p.auditOf(t), t.TempDir()
	contents := p.placements()
	slices.SortStableFunc(contents[1:], func(x, y placement) int { return len(y.rows) - len(x.rows) })
	for _, f := range slices.Concat(miscountedRows(), miscountedAnswers()) {
		var answers [][][]int64
		missed := f.pairs
		for i, one := range contents {
			p.files(t, dir, i, one)
			answers = append(answers, a.count(t, dir, f.tally))
			if n := len(answers); n == len(contents) || n%6 == 0 {
				missed = a.missed(t, f, answers)
			}
			if len(missed) == 0 {
				break
			}
		}
		if len(missed) > 0 {
			t.Errorf("%s: %s, and nobody notices", strings.Join(missed, ", "), f.name)
		}
	}
}

// missed returns the pairs of which no question notices a fault.
func (a *audit) missed(t testing.TB, f miscount, answers [][][]int64) []string {
	t.Helper()
	caught := map[string]bool{}
	for _, q := range a.questions {
		if pair := q.pair(); caught[pair] || f.of != nil && !f.of(q) || !slices.Contains(f.pairs, pair) {
			continue
		}
		counts := answers
		if f.answers != nil {
			counts = make([][][]int64, len(answers))
			for i, x := range answers {
				counts[i] = slices.Clone(x)
				counts[i][q.at] = f.answers(a, q, x)
			}
		}
		most, _ := q.farthest(t, q.claim, counts)
		caught[q.pair()] = most.excess > 0
	}
	return slices.DeleteFunc(slices.Clone(f.pairs), func(pair string) bool { return caught[pair] })
}

// TestOnlyLegalPairsAreCounted asks for every pair, of every shape of its kind, without factors and by each kind of
// them, without bounds and with each: what is legal is what stands in [histogramtest.PairForm] once more, and a scan
// refuses all else.
func TestOnlyLegalPairsAreCounted(t *testing.T) {
	p := pairsTable{maxRows: 2, bounds: []spec.PerUnit{{}}}
	r := p.planned(t, spec.AddRemove, "{rho: 1}", pairsWeights, pairsListed, p.marginals()[:2]).Release()
	of := histogramtest.PairColumns{Table: "jobs", Category: "area", Stratum: "size", Number: "age", Strata: "pay",
		Found: "word"}
	asked := map[string]int{} // by pair
	accepted, refused := 0, 0
	for _, f := range of.Forms(r) {
		asked[f.Pair]++
		if err := f.Check(r.Tables[0]); (err == nil) != f.Legal {
			t.Errorf("%s by %v, %v: %v", f.Pair, f.Query.Factors, f.Query.PerUnit, err)
		}
		if f.Legal {
			accepted++
			continue
		}
		refused++
		if _, err := newTally(r, r.Tables[0], []plan.Measurement{f.Measurement}, nil, 1); err == nil {
			t.Errorf("%s by %v, %v is counted", f.Pair, f.Query.Factors, f.Query.PerUnit)
		}
	}
	if want := (counted.Kinds - 1) * (selection.Kinds - 1); len(asked) != want {
		t.Errorf("%d pairs are asked for, of %d", len(asked), want)
	}
	t.Logf("%d questions are legal, and %d are not", accepted, refused)
}
