package plan

import (
	"fmt"
	"math"
	"math/big"
	"sort"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds sparse tables: tables of which those cells are published whose noisy count is above a public threshold.

// Sparse says of a table that every possible cell gets noise, and that those whose noisy count is more than Above are
// published: cells with rows and cells without, by the same rule. Whether a cell has rows decides nothing by itself.
type Sparse struct {
	Above int64 `json:"above"`
	// FalseCells is how many cells without a row are expected among those that are published, at most: P(X > Above) times the
	// cells that are possible, by the law of the noise X.
	FalseCells float64 `json:"false_cells"`
	// Bound is how many rows a cell that is not published has at most: one of more is missed with a chance of at most what
	// the statistic's confidence leaves open.
	Bound int64 `json:"bound"`
	// Missed is with what chance a cell of some numbers of rows is not published.
	Missed []Missed `json:"missed"`
}

// Missed is with what chance a cell of so many rows is not published: P(Rows + X ≤ Above), rounded up.
type Missed struct {
	Rows   int64   `json:"rows"`
	Chance float64 `json:"chance"`
}

// mostFalseCells bounds the cells without a row that a sparse table publishes on the mean.
const mostFalseCells = 1e7

// unknownRows is as how many cells a sparse table counts beside others of its leaf, where the spec says nothing of the
// number of rows.
const unknownRows = int64(1) << 20

// mostSigmaSquared bounds the Gaussian noise of a sparse table.
const mostSigmaSquared = int64(1) << 32

// missedBy are the chances for which a sparse table says how large a cell must be.
var missedBy = []float64{0.05, 0.01, 0.001}

// filledOf is as how many cells a sparse table counts where errors are added up: those that can have rows, of which there
// are no more than rows are expected.
func filledOf(t *spec.Table, possible int64) int64 {
	rows := expectedRows(t)
	if rows == 0 {
		rows = unknownRows
	}
	return min(rows, possible)
}

// Held is how many integers of a measurement are in memory while it is measured, about: all of them or, of a sparse one
// or one of which cells are chosen, those of as many cells as rows are expected and of the false ones, with their places.
func (p *Plan) Held(m Measurement) int64 {
	if m.Discovery != nil {
		return 2 * usualGroups
	}
	if m.Above == 0 && m.Top == nil {
		return m.Cells
	}
	held := filledOf(p.Release().Table(m.Query.Table), m.Cells-m.Impossible)
	for _, t := range p.Tables {
		if t.Sparse != nil && t.Path == m.ID {
			held += int64(math.Ceil(t.Sparse.FalseCells))
		}
	}
	return 2 * held
}

// sparsely says of every sparse table how many false cells it is expected to have, and what it misses. It fails on one
// whose threshold lets too many through, with one that does not.
func (p *Plan) sparsely(tables []*table) error {
	measured := p.measured()
	for i, t := range tables {
		if !t.sparse() {
			continue
		}
		s, noise := p.Tables[i].Sparse, measured[t.path].Mechanism
		err := s.judge(noise, t)
		if err != nil {
			return at(p.Release(), "marginals."+t.marginal.Name, err)
		}
		published := int64(math.Ceil(s.FalseCells))
		p.Size.Cells, p.Size.Bytes = p.Size.Cells+published, p.Size.Bytes+2*BytesPerCell*published
		s.Missed = s.missed(noise)
		s.Bound = s.Above + leastAbove(noise, 1-p.Tables[i].Statistics[0].Confidence)
		p.Tables[i].Expectation = s.expectation(p.Tables[i])
	}
	return nil
}

// judge works out the false cells of a table, and fails where they are too many.
func (s *Sparse) judge(noise budget.Mechanism, t *table) error {
	if noise.Kind == budget.DiscreteGaussian && noise.Parameter.Cmp(new(big.Rat).SetInt64(mostSigmaSquared)) >= 0 {
		return &fault{"cells", fmt.Sprintf("the noise of table %s has a standard error of 65 536 or more, in which no cell of a sparse table can be told from none", t.path), "more of the budget for it"}
	}
	possible := float64(t.cells - t.impossible)
	s.FalseCells = budget.RoundUp(float64(noise.Above(s.Above)*possible), significant)
	if s.FalseCells <= mostFalseCells {
		return nil
	}
	enough, few := leastAbove(noise, mostFalseCells/possible), leastAbove(noise, 1/possible)
	return &fault{"cells.above", fmt.Sprintf("of the %s of table %s about %s without a row would be above %s by their noise alone", budget.Plural(t.cells, "cell"), t.path, sizeText(s.FalseCells), budget.Group(s.Above)),
		fmt.Sprintf("a threshold of %d or more, or more of the budget; with %d one false cell is expected", enough, few)}
}

// missed are the chances with which cells are not published: of the least that is more than the threshold, and of those
// that are large enough for some chances.
func (s *Sparse) missed(noise budget.Mechanism) []Missed {
	chance := func(rows int64) float64 { return noise.Above(rows - s.Above - 1) } // P(X ≤ Above − rows), for rows > Above
	rows := []int64{s.Above + 1}
	for _, most := range missedBy {
		if n := s.Above + 1 + leastAbove(noise, most); n > rows[len(rows)-1] {
			rows = append(rows, n)
		}
	}
	out := make([]Missed, len(rows))
	for i, n := range rows {
		out[i] = Missed{n, budget.RoundUp(chance(n), significant)}
	}
	return out
}

// leastAbove is the least n ≥ 0 with P(X > n) at most a chance.
func leastAbove(noise budget.Mechanism, chance float64) int64 {
	n := 1
	for noise.Above(int64(n)) > chance {
		n *= 2
	}
	return int64(sort.Search(n, func(n int) bool { return noise.Above(int64(n)) <= chance }))
}

// expectation says in words what a sparse table will hold, and what its figures are good for.
func (s *Sparse) expectation(t Table) string {
	return s.Sentence(t.possible()) + " " + s.MissedText() + " " + fmt.Sprintf("Within ±%s of the exact count 19 times in 20, over all cells, published or not; figures little above %s are too large on the mean, as the noise that lifted them is why they are there.",
		budget.Group(WholeMargin(t.Statistics[0].Margin)), budget.Group(s.Above))
}

// Sentence says which cells are published, and how many of them have no row.
func (s *Sparse) Sentence(possible int64) string {
	return fmt.Sprintf("Of %s, each with noise, those above %s are published. Cells without a row among them, on the mean: %s.",
		budget.Plural(possible, "cell"), budget.Group(s.Above), atMost(s.FalseCells))
}

// MissedText says of some sizes with what chance a cell of that size is missed.
func (s *Sparse) MissedText() string {
	var all []string
	for i, m := range s.Missed {
		chance := budget.Percent(m.Chance)
		if m.Chance < 1e-9 {
			chance = "next to nothing"
		}
		if i == 0 {
			all = append(all, fmt.Sprintf("A cell of %s is missed with a chance of %s", budget.Plural(m.Rows, "row"), chance))
		} else {
			all = append(all, fmt.Sprintf("one of %s of %s", budget.Group(m.Rows), chance))
		}
	}
	return strings.Join(all, ", ") + "."
}

// atMost is a mean number of cells in words.
func atMost(cells float64) string {
	switch {
	case cells < 1e-9:
		return "practically none"
	case cells < 0.01:
		return "at most " + budget.DecimalNearest(cells, 1)
	}
	return "at most " + sizeText(cells)
}
