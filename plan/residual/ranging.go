package residual

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/plan/ranges"
)

// This file holds the columns whose prefix sums or ranges are needed.

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

// MostOptimal is the number of categories up to which the optimum is worked out.
const MostOptimal = 512

// mostRanged bounds the categories of a ranged column.
const mostRanged = 1 << 16

// Ranging is the strategy of a ranged column. Together with the number of categories it determines all of its
// integers.
type Ranging struct {
	Sums   Sums // what it is optimal for: Prefixes or Ranges
	Method Method
	Kappa  float64 // of Optimal, one of [ranges.Kappas]; 0 otherwise
	Bits   int     // size of its integers, if not [ranges.Bits]; 0 otherwise
}

const (
	// mostBits is the largest size of products of the integers of several columns.
	mostBits = 30
	// fewBits loses only little: a percent or two of the variance.
	fewBits = 6
)

// SizedFor returns the same strategy with integers of a size for tables with that many ranged columns, and that many
// cells of the other columns: small enough that products stay within 2³⁰, if that costs little, and that those of the
// ranged columns alone do in any case.
func (r Ranging) SizedFor(columns int, cells int64) Ranging {
	size := max((mostBits-bits.Len64(uint64(cells-1)))/columns, min(fewBits, mostBits/columns))
	if size < r.bits() {
		r.Bits = size
	}
	return r
}

// RangingOf returns the strategy for a column of n categories before its κ is chosen ([Tilted]).
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
	moves Sensitivity
}

// integers is what the strategies of package ranges have in common.
type integers interface {
	MeasureAll(counts []int64, stride int) ([]int64, error)
	SolveAll(z []float64, stride int) []float64
	Weights(query []float64) []float64
	Visit(visit func(from int, g []float64))
	Pairs() (facing, apart int64)
}

// NewRanged returns the column with these levels, as [NewColumn] does, whose one residual, in addition to the total,
// comes from a strategy for prefix sums or ranges of its finest level. Coarser levels are sums of its categories. It
// returns an error for an invalid strategy, and for fewer than 2 categories or more than 2¹⁶.
func NewRanged(r Ranging, parents ...[]int) (*Column, error) {
	c := NewColumn(parents...)
	n := c.Size(c.Levels())
	if n < 2 || n > mostRanged {
		return nil, fmt.Errorf("prefix sums and ranges are for 2 to %d categories, not %d", mostRanged, n)
	}
	var err error
	if c.ranged, err = r.strategyFor(n); err != nil {
		return nil, err
	}
	return c, nil
}

// finestTo maps each category of the finest level to the category of a level that contains it.
func (c *Column) finestTo(level int) []int {
	of, _ := c.spreadLevel(c.Levels(), level)
	return of
}

// withKappa returns the same column with another κ.
func (c *Column) withKappa(kappa float64) (*Column, error) {
	r := c.ranged.Ranging
	r.Kappa = kappa
	other := &Column{levels: c.levels}
	var err error
	other.ranged, err = r.strategyFor(c.Size(c.Levels()))
	return other, err
}

// Ranging returns the strategy of a ranged column; it reports false for a column of nested levels.
func (c *Column) Ranging() (Ranging, bool) {
	if c.ranged == nil {
		return Ranging{}, false
	}
	return c.ranged.Ranging, true
}

// strategyFor works out the strategy for n categories.
func (r Ranging) strategyFor(n int) (*ranged, error) {
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
		return optima.optimum(r, w)
	case r.Method == Haar && r.Kappa == 0:
		return newHaar(r, w.Haar)
	case r.Method == HaarLaplace && r.Kappa == 0:
		return newHaar(r, w.HaarLaplace)
	}
	return nil, fmt.Errorf("there is no strategy %q with κ = %v for %d categories", r.Method, r.Kappa, n)
}

// bits returns the size of the integers.
func (r Ranging) bits() int {
	if r.Bits == 0 {
		return ranges.Bits
	}
	return r.Bits
}

func newHaar(r Ranging, make func(bits int) (*ranges.Haar, error)) (*ranged, error) {
	h, err := make(r.bits())
	if err != nil {
		return nil, err
	}
	return &ranged{Ranging: r, integers: h, figures: h.Figures}, nil
}

// optima caches the optima that were worked out: the same ones are needed again and again, and are always the same.
var optima optimumCache

// optimumCache holds strategies by their parameters.
type optimumCache struct {
	mu    sync.Mutex
	known map[optimumKey]*ranged
	size  int // integers
}

type optimumKey struct {
	Ranging
	n int
}

// mostCached bounds the integers of the strategies that are cached.
const mostCached = 1 << 24

func (m *optimumCache) optimum(r Ranging, w *ranges.Workload) (*ranged, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := w.Size()
	key := optimumKey{r, n}
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
	if m.size += n * n / 2; m.known == nil || m.size > mostCached {
		m.known, m.size = map[optimumKey]*ranged{}, n*n/2
	}
	m.known[key] = &ranged{Ranging: r, integers: c, figures: c.Figures}
	return m.known[key], nil
}

// sensitivity returns how much rows change the integers of the residual.
func (r *ranged) sensitivity() Sensitivity {
	r.once.Do(func() {
		r.moves = Sensitivity{Norm: r.figures.Norm, Squares: r.figures.Squares, LargestFactor: r.figures.LargestEntry}
		r.moves.PairOpposition, r.moves.PairSquares = r.Pairs()
	})
	return r.moves
}

// rangedVarianceFactors returns the variance factors of the total and of the residual, for an axis of that many
// categories. of maps each category of the finest level to its category on the axis.
func (r *ranged) rangedVarianceFactors(of []int, size int, sums Sums) []varianceFactors {
	total, residual := zeroVarianceFactors(size), zeroVarianceFactors(size)
	total.add(r.figures.Tilt, 0, of, sums)
	r.Visit(func(from int, g []float64) { residual.add(g, from, of, sums) })
	total.finish(sums)
	residual.finish(sums)
	return []varianceFactors{total, residual}
}

// weights returns the weights of a sum of the categories of a level: q't for the total, q'G for the residual and, on
// counts of the finest level, q − (q't)·1. of maps each category of the finest level to its category in that level.
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
