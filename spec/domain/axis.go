package domain

// This file holds the axis: one dimension of a grid, divided into equal cells.

import (
	"math"
	"math/big"
	"strconv"
)

// Axis divides an interval of degrees into equal half-open cells, numbered from 0; the last cell is closed. Its edges
// are exact fractions. It is immutable and safe for concurrent use.
type Axis struct {
	bins  *bins     // the cells of exact numbers
	from  []float64 // from[k] is the least float64 that is not below the lower edge of cell k
	last  float64   // the largest float64 that is not above the end
	scale float64   // cells per degree
}

// newAxis divides [low, high] into n cells. It returns an error if the edges are fractions too fine to be compared
// exactly.
func newAxis(low, high *big.Rat, n int) (*Axis, error) {
	edges := make([]*big.Rat, n+1)
	width := new(big.Rat).Quo(new(big.Rat).Sub(high, low), big.NewRat(int64(n), 1))
	for k := range edges {
		edges[k] = new(big.Rat).Add(low, new(big.Rat).Mul(width, big.NewRat(int64(k), 1)))
	}
	edges[n] = high
	den, err := commonDenominator(edges)
	if err != nil {
		return nil, err
	}
	a := &Axis{from: make([]float64, n)}
	cuts := make([]int64, n+1)
	for k, edge := range edges {
		cuts[k] = latticePoint(edge, den)
		if k < n {
			a.from[k] = leastFloatNotBelow(edge)
		}
	}
	a.bins = newBins(cuts, den, false)
	a.last = leastFloatNotBelow(high)
	if shortestDecimal(a.last).Cmp(high) > 0 {
		a.last = math.Nextafter(a.last, math.Inf(-1))
	}
	a.scale, _ = new(big.Rat).Inv(width).Float64()
	return a, nil
}

// leastFloatNotBelow returns the least float64 whose shortest decimal is not below x.
func leastFloatNotBelow(x *big.Rat) float64 {
	v, _ := x.Float64()
	for shortestDecimal(v).Cmp(x) >= 0 {
		v = math.Nextafter(v, math.Inf(-1))
	}
	for shortestDecimal(v).Cmp(x) < 0 {
		v = math.Nextafter(v, math.Inf(1))
	}
	return v
}

// shortestDecimal returns the number that a finite float64 stands for: the shortest decimal that reads back as the same
// float64.
func shortestDecimal(v float64) *big.Rat {
	x, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'e', -1, 64))
	return x
}

// Size returns the number of cells.
func (a *Axis) Size() int { return len(a.from) }

// OfFloat returns the cell of a float64, taken as the shortest decimal that reads back the same: −1 beyond the axis,
// and for NaN. It guesses the cell and then compares with its edges. That is exact: the float64 values at or above edge
// k are those from from[k] on, because shortest decimals ascend with the numbers that they stand for.
func (a *Axis) OfFloat(v float64) int {
	if !(v >= a.from[0] && v <= a.last) {
		return -1
	}
	at := min(int((v-a.from[0])*a.scale), len(a.from)-1)
	for a.from[at] > v {
		at--
	}
	for at+1 < len(a.from) && a.from[at+1] <= v {
		at++
	}
	return at
}

// OfInt returns the cell of an integer, −1 beyond the axis.
func (a *Axis) OfInt(v int64) int { return cellOrNone(a.bins.binOfInt(v)) }

// OfDecimal returns the cell of unscaled·10^-scale, −1 beyond the axis.
func (a *Axis) OfDecimal(unscaled *big.Int, scale int32) int {
	return cellOrNone(a.bins.binOfQuantity(quantityOfDecimal(unscaled, scale)))
}

// OfSmallDecimal is OfDecimal for digits that fit 64 bits.
func (a *Axis) OfSmallDecimal(unscaled int64, scale int32) int {
	return cellOrNone(a.bins.binOfQuantity(quantity{negative: unscaled < 0, magnitude: magnitude(unscaled),
		exponent: -int(scale)}))
}

// OfText returns the cell of a decimal number written as text: −1 beyond the axis, and for a text that is not a number.
func (a *Axis) OfText(s string) int {
	q, ok := parseQuantity(s)
	if !ok {
		return -1
	}
	return cellOrNone(a.bins.binOfQuantity(q))
}

func cellOrNone(cell int, fit Fit) int {
	if fit != Fits {
		return -1
	}
	return cell
}
