package residual

import (
	"math"
	"slices"
	"sync"
)

// A Column is an attribute with the levels that are in use, coarsest first. Each level is nested in the one before
// it; level 0 is the total, of one category.
//
// Level k ≥ 1 adds a residual to the levels before it: within every category p of level k−1, of g categories of level
// k, the deviation of each from their mean. As an integer query its rows are
//
//	c_p·(g·x_j − Σ_{i in p} x_i),   c_p = ⌈most g / g⌋,
//
// with integers c_p that bring groups of different g to nearly one scale; with one group they are n·x_j − Σx, the
// matrix n·I − 11ᵀ.
//
// A ranged column ([NewRanged]) has one residual instead: n−1 integers of the n categories of its finest level,
// whatever levels are used.
type Column struct {
	levels []level // from 0 on
	ranged *ranged // nil for nested levels

	mu    sync.Mutex
	known map[Axis][]varianceFactors // by level and sums
}

// level is one level of a column.
type level struct {
	size   int
	parent []int   // of each category, its category in the level before
	group  []int   // g of the group of each category
	scale  []int64 // c_p of the group of each category
	moves  Sensitivity
}

// Sensitivity bounds how much rows change the integers of a level's residual.
type Sensitivity struct {
	Norm           int64 // largest L1 norm of the change by one row
	Squares        int64 // largest squared L2 norm of the change by one row
	PairOpposition int64 // largest −⟨a, b⟩ of the changes by two rows, if positive
	PairSquares    int64 // largest squared L2 distance of the changes by two rows
	LargestFactor  int64 // largest entry, which multiplies a count
}

// NewColumn returns the column with these levels, coarsest first: parents[k][j] is the category, in the level before,
// that contains category j; the categories of the first level are all in category 0.
func NewColumn(parents ...[]int) *Column {
	c := &Column{levels: []level{{size: 1, moves: Sensitivity{Norm: 1, Squares: 1, LargestFactor: 1}}}}
	for _, parent := range parents {
		c.levels = append(c.levels, newLevel(parent, c.levels[len(c.levels)-1].size))
	}
	return c
}

func newLevel(parent []int, parents int) level {
	l := level{size: len(parent), parent: parent, group: make([]int, len(parent)), scale: make([]int64, len(parent))}
	children := make([]int, parents)
	most := 0
	for _, p := range parent {
		children[p]++
		most = max(most, children[p])
	}
	for j, p := range parent {
		g := children[p]
		l.group[j] = g
		c := int64(math.Round(float64(most) / float64(g)))
		l.scale[j] = c
		l.moves.Norm = max(l.moves.Norm, c*2*int64(g-1))
		l.moves.LargestFactor = max(l.moves.LargestFactor, c*int64(max(g-1, 1)))
		if g > 1 {
			l.moves.PairOpposition = max(l.moves.PairOpposition, c*c*int64(g))
			l.moves.PairSquares = max(l.moves.PairSquares, 2*c*c*int64(g)*int64(g))
		}
	}
	l.compareGroups(children)
	return l
}

// compareGroups sets the bounds for rows of different groups. They change no common coordinate, so squares add.
func (l *level) compareGroups(children []int) {
	of := make([]int64, len(children)) // the squares of a row of each group
	for j, p := range l.parent {
		c, g := l.scale[j], int64(l.group[j])
		of[p] = c * c * g * (g - 1)
	}
	slices.Sort(of)
	slices.Reverse(of)
	l.moves.Squares = of[0]
	if len(of) > 1 {
		l.moves.PairSquares = max(l.moves.PairSquares, of[0]+of[1])
	}
}

// Levels returns how many levels the column has, without the total.
func (c *Column) Levels() int { return len(c.levels) - 1 }

// Size returns the number of categories of a level.
func (c *Column) Size(level int) int { return c.levels[level].size }

// Plain reports whether noise on counts of the column's categories has the shape of noise on its residuals: the
// column has one level, and is not ranged.
func (c *Column) Plain() bool { return c.ranged == nil && c.Levels() <= 1 }

// Kinds returns the first category of every kind of a level. Categories of one kind have groups of the same sizes
// above them, so their estimates have noise of one law.
func (c *Column) Kinds(level int) []int {
	kind := make([]int, c.levels[level].size) // of each category, so far
	for k := level; k > 0; k-- {
		of, _ := c.spreadLevel(level, k)
		next := map[[3]int]int{}
		for j, a := range of {
			l := c.levels[k]
			key := [3]int{kind[j], l.group[a], int(l.scale[a])}
			if _, ok := next[key]; !ok {
				next[key] = len(next)
			}
			kind[j] = next[key]
		}
	}
	var out []int
	for j, k := range kind {
		if k == len(out) { // kinds are numbered as they come
			out = append(out, j)
		}
	}
	return out
}

// Integers returns how many integers the residual of a level has: one for each category or, in a ranged column, one
// less.
func (c *Column) Integers(level int) int {
	if c.ranged != nil && level > 0 {
		return c.levels[level].size - 1
	}
	return c.levels[level].size
}

// noiseOn returns the variance that noise of variance 1 on the integers of level k's residual leaves, about its mean
// over the group, on category j: (1−1/g)/(c·g)².
func (l level) noiseOn(j int) float64 {
	if l.parent == nil {
		return 1
	}
	g := float64(l.group[j])
	scale := float64(l.scale[j]) * g
	return (1 - 1/g) / (scale * scale)
}

// Sensitivity returns how much rows can change the integers of a level's residual.
func (c *Column) Sensitivity(level int) Sensitivity {
	if c.ranged != nil && level > 0 {
		return c.ranged.sensitivity()
	}
	return c.levels[level].moves
}

// CountSensitivity returns how much rows change counts: the unit matrix.
func CountSensitivity() Sensitivity {
	return Sensitivity{Norm: 1, Squares: 1, PairSquares: 2, LargestFactor: 1}
}

// squaredNorm returns Sensitivity(level).Squares, without working out the rest.
func (c *Column) squaredNorm(level int) int64 {
	if c.ranged != nil && level > 0 {
		return c.ranged.figures.Squares
	}
	return c.levels[level].moves.Squares
}

// spreadLevel maps each category of level at to the category of level k ≤ at that contains it, and to its part of that:
// each level divides evenly among the categories of a group.
func (c *Column) spreadLevel(at, k int) (of []int, part []float64) {
	of, part = make([]int, c.levels[at].size), make([]float64, c.levels[at].size)
	for j := range of {
		of[j], part[j] = j, 1
	}
	for ; at > k; at-- {
		l := c.levels[at]
		for j, a := range of {
			part[j] /= float64(l.group[a])
			of[j] = l.parent[a]
		}
	}
	return of, part
}

// Weights returns the weights of a sum Σ q_s·x_s over the categories s of an axis on what is measured of its column:
// on the integers of the residual of a level ≤ the axis's, or, plain, on counts of that level. The sum is of cells,
// whatever the axis shows. For level 0 it is one number, the part of the total.
//
// The estimate of a residual is centred; as centring is symmetric, its weights are the centred coefficients.
func (c *Column) Weights(a Axis, level int, q []float64, plain bool) []float64 {
	if c.ranged != nil {
		return c.ranged.weights(c.finestTo(a.Level), level, q, plain)
	}
	of, part := c.spreadLevel(a.Level, level)
	out := make([]float64, c.levels[level].size)
	for s, x := range q {
		out[of[s]] += float64(x * part[s])
	}
	if level > 0 {
		c.levels[level].centreAxis(out, 1, !plain)
	}
	return out
}

// noiseShares returns, for each category of level at, what noise of variance 1 on the integers of level k's residual
// adds to the variance of its estimate.
func (c *Column) noiseShares(at, k int) []float64 {
	of, part := c.spreadLevel(at, k)
	out := make([]float64, len(of))
	for j, a := range of {
		out[j] = float64(c.levels[k].noiseOn(a)*part[j]) * part[j]
	}
	return out
}
