package residual

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/plan/ranges"
)

// This file holds the columns whose prefix sums or ranges are asked for.

// Method names how the integers of a ranged column are found.
type Method string

const (
	// Optimal is the certified optimum for Gaussian noise, rounded to integers.
	Optimal Method = ""
	// Haar is halving, for Gaussian noise and more than [MostOptimal] categories.
	Haar Method = "haar"
	// HaarLaplace is halving for Laplace noise.
	HaarLaplace Method = "haar-laplace"
)

// MostOptimal is for how many categories the optimum is worked out.
const MostOptimal = 512

// mostRanged bounds the categories of a ranged column.
const mostRanged = 1 << 16

// Ranging is the strategy of a ranged column. With the number of categories it says all of its integers.
type Ranging struct {
	Sums   Sums // what it is the best for: Prefixes or Ranges
	Method Method
	Kappa  float64 // of Optimal, one of [ranges.Kappas]; 0 otherwise
	Bits   int     // of the size of its integers, where that is not [ranges.Bits]; 0 otherwise
}

const (
	// mostBits is of what size products of the integers of several columns may be.
	mostBits = 30
	// fewBits are enough to lose little: a percent or two of the variance.
	fewBits = 6
)

// Beside is the same strategy in integers of a size for tables of so many columns with ranges together, beside others
// of so many cells: small enough that products stay within 2³⁰, if that costs little, and those of the columns with
// ranges alone in any case.
func (r Ranging) Beside(columns int, cells int64) Ranging {
	size := max((mostBits-bits.Len64(uint64(cells-1)))/columns, min(fewBits, mostBits/columns))
	if size < r.bits() {
		r.Bits = size
	}
	return r
}

// RangingOf is the strategy for a column of n categories before its κ is chosen ([Tilted]).
func RangingOf(sums Sums, n int, laplace bool) Ranging {
	r := Ranging{Sums: sums}
	switch {
	case laplace:
		r.Method = HaarLaplace
	case n > MostOptimal:
		r.Method = Haar
	}
	return r
}

// ranged is the residual of a ranged column: n−1 integers of the n categories of the finest level.
type ranged struct {
	Ranging
	integers
	figures ranges.Figures

	once  sync.Once
	moves Moves
}

// integers are what the strategies of package ranges have in common.
type integers interface {
	MeasureAll(counts []int64, stride int) ([]int64, error)
	SolveAll(z []float64, stride int) []float64
	Weights(query []float64) []float64
	Visit(visit func(from int, g []float64))
	Pairs() (facing, apart int64)
}

// NewRanged returns the column with these levels, as [NewColumn] does, whose one residual, beside the total, is that of
// a strategy for prefix sums or ranges of its finest level. What coarser levels say are sums of its categories. It
// fails on a strategy that there is not, and on fewer than 2 categories or more than 2¹⁶.
func NewRanged(r Ranging, parents ...[]int) (*Column, error) {
	c := NewColumn(parents...)
	n := c.Size(c.Levels())
	if n < 2 || n > mostRanged {
		return nil, fmt.Errorf("prefix sums and ranges are for 2 to %d categories, not %d", mostRanged, n)
	}
	var err error
	if c.ranged, err = r.of(n); err != nil {
		return nil, err
	}
	return c, nil
}

// finest maps each category of the finest level to that of a level which it lies in.
func (c *Column) finest(level int) []int {
	of, _ := c.spread(c.Levels(), level)
	return of
}

// with is the same column with another κ.
func (c *Column) with(kappa float64) (*Column, error) {
	r := c.ranged.Ranging
	r.Kappa = kappa
	other := &Column{levels: c.levels}
	var err error
	other.ranged, err = r.of(c.Size(c.Levels()))
	return other, err
}

// Ranging is the strategy of a ranged column, false for one of nested levels.
func (c *Column) Ranging() (Ranging, bool) {
	if c.ranged == nil {
		return Ranging{}, false
	}
	return c.ranged.Ranging, true
}

// of works out the strategy for n categories.
func (r Ranging) of(n int) (*ranged, error) {
	var w *ranges.Workload
	if r.Bits < 0 || r.Bits >= ranges.Bits {
		return nil, fmt.Errorf("integers of a ranged column are not of %d bits", r.Bits)
	}
	switch r.Sums {
	case Prefixes:
		w = ranges.Prefix(n)
	case Ranges:
		w = ranges.AllRanges(n)
	default:
		return nil, fmt.Errorf("a strategy is for prefix sums or ranges")
	}
	switch {
	case r.Method == Optimal && n <= MostOptimal && slices.Contains(ranges.Kappas, r.Kappa):
		return optima.of(r, w)
	case r.Method == Haar && r.Kappa == 0:
		return halved(r, w.Haar)
	case r.Method == HaarLaplace && r.Kappa == 0:
		return halved(r, w.HaarLaplace)
	}
	return nil, fmt.Errorf("there is no strategy %q with κ = %v for %d categories", r.Method, r.Kappa, n)
}

// bits is of what size the integers are.
func (r Ranging) bits() int {
	if r.Bits == 0 {
		return ranges.Bits
	}
	return r.Bits
}

func halved(r Ranging, make func(bits int) (*ranges.Haar, error)) (*ranged, error) {
	h, err := make(r.bits())
	if err != nil {
		return nil, err
	}
	return &ranged{Ranging: r, integers: h, figures: h.Figures}, nil
}

// optima keeps the optima that were worked out: the same ones are asked for again and again, and are always the same.
var optima memory

// memory is strategies by what they are for.
type memory struct {
	mu    sync.Mutex
	known map[optimum]*ranged
	held  int // integers
}

type optimum struct {
	Ranging
	n int
}

// mostHeld bounds the integers of the strategies that are kept.
const mostHeld = 1 << 24

func (m *memory) of(r Ranging, w *ranges.Workload) (*ranged, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := w.Size()
	key := optimum{r, n}
	if known, ok := m.known[key]; ok {
		return known, nil
	}
	o, err := w.Optimum(r.Kappa)
	if err != nil {
		return nil, err
	}
	c, err := o.Column(r.bits())
	if err != nil {
		return nil, err
	}
	if m.held += n * n / 2; m.known == nil || m.held > mostHeld {
		m.known, m.held = map[optimum]*ranged{}, n*n/2
	}
	m.known[key] = &ranged{Ranging: r, integers: c, figures: c.Figures}
	return m.known[key], nil
}

// far is how far rows move the integers.
func (r *ranged) far() Moves {
	r.once.Do(func() {
		r.moves = Moves{Norm: r.figures.Norm, Squares: r.figures.Squares, Reach: r.figures.Reach}
		r.moves.Facing, r.moves.Apart = r.Pairs()
	})
	return r.moves
}

// reaches are the reach of the total and that of the residual, for an axis of so many categories, in which each one of
// the finest level lies as of says.
func (r *ranged) reaches(of []int, size int, sums Sums) []reach {
	total, residual := newReach(size), newReach(size)
	total.add(r.figures.Tilt, 0, of, sums)
	r.Visit(func(from int, g []float64) { residual.add(g, from, of, sums) })
	total.finish(sums)
	residual.finish(sums)
	return []reach{total, residual}
}

// weights are those of a sum of the categories of a level, in which each one of the finest lies as of says: q't for the
// total, q'G for the residual and, on counts of the finest level, q − (q't)·1.
func (r *ranged) weights(of []int, level int, q []float64, plain bool) []float64 {
	query := make([]float64, len(of))
	var part float64
	for j, s := range of {
		query[j] = q[s]
		part += float64(q[s] * r.figures.Tilt[j])
	}
	switch {
	case level == 0:
		return []float64{part}
	case !plain:
		return r.Weights(query)
	}
	for j := range query {
		query[j] -= part
	}
	return query
}
