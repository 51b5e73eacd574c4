package budget

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// This file holds the cost of drawing quantiles, several in each of many disjoint cells, and bounds on their errors. A
// choice has
//
//	P(y) ∝ exp(−θ·u(y)/2)
//
// over all integers y of a range. u(y) ≥ 0 is the distance of y's ranks from the requested one, in units of 1/D row,
// where D is the common denominator of all shares. All quantiles of a measurement therefore have the same error in
// rows.

// CommonShares returns the shares as numerators over their least common denominator D. It returns an error for a share
// outside (0, 1), and for a D of 2³² or more.
func CommonShares(at []*big.Rat) (numerators []int64, denominator int64, err error) {
	common := big.NewInt(1)
	for _, share := range at {
		if share == nil || share.Sign() <= 0 || share.Cmp(big.NewRat(1, 1)) >= 0 {
			return nil, 0, errors.New("the shares of quantiles must lie between 0 and 1, without those two")
		}
		divisor := new(big.Int).GCD(nil, nil, common, share.Denom())
		common.Mul(common, divisor.Quo(share.Denom(), divisor))
		if common.BitLen() > 32 {
			return nil, 0, errors.New("the shares of quantiles need a common denominator below 2^32: use shares of " +
				"fewer digits")
		}
	}
	for _, share := range at {
		part := new(big.Int).Quo(common, share.Denom())
		numerators = append(numerators, part.Mul(part, share.Num()).Int64())
	}
	return numerators, common.Int64(), nil
}

// UnitRows bounds the rows of one privacy unit in disjoint cells, on which the sensitivity of quantiles depends. If
// rows have weights, a row counts as many rows as its weight at most.
type UnitRows struct {
	Total, PerCell int64 // largest number of rows of one unit, in all cells and in one
	Cells          int64
	Replace        bool // whether neighbours replace the rows of one unit, or add or remove them
}

// QuantilesFor returns the mechanism that draws, in every cell, a value at each of the shares, and spends at most cost
// in total, an ε or a ρ. A share that is drawn several times, such as for the ends of an interval, is listed as often.
// The parameter θ is ε/Δ₁, or √(8ρ)/Δ₂ rounded down to 40 significant bits; [Mechanism.ChoiceEpsilon] returns the ε of
// each choice.
//
// Guarantee: drawing each choice independently from the exponential mechanism of θ is Δ₁θ-differentially private and
// (Δ₂²θ²/8)-zCDP. Neighbours: those of rows. Theorem: a row that is added or removed changes u by at most M = max(num,
// D−num), one that is replaced by at most D; a choice whose u changes by at most d has bounded range θd (McSherry &
// Talwar 2007, theorem 6; Durfee & Rogers 2019), so ε adds, and ρ = (θd)²/8 (Cesar & Rogers 2021, lemma 3.2). Argument:
// docs/proofs/quantile.md.
//
// It returns an error for a cost that is not positive or has a δ, for rows that are not positive, and in the cases of
// [CommonShares].
func QuantilesFor(cost Cost, at []*big.Rat, rows UnitRows) (Mechanism, error) {
	if err := cost.Validate(); err != nil {
		return Mechanism{}, err
	}
	if orZero(cost.Epsilon).Sign() <= 0 && orZero(cost.Rho).Sign() <= 0 || orZero(cost.Delta).Sign() > 0 {
		return Mechanism{}, errors.New(
			"quantiles: the budget must be a positive epsilon, or a positive rho without a delta")
	}
	if len(at) == 0 || rows.Total <= 0 || rows.PerCell <= 0 || rows.Cells <= 0 {
		return Mechanism{}, errors.New("quantiles: there must be shares, cells and rows of a unit")
	}
	numerators, denominator, err := CommonShares(at)
	if err != nil {
		return Mechanism{}, err
	}
	m := Mechanism{Kind: ExponentialQuantiles}
	moves := rankMoves(numerators, denominator)
	if rows.Replace {
		m.L1, m.L2Squared, m.Shifts = rows.replaceSensitivity(moves, denominator)
	} else {
		m.L1, m.L2Squared, m.Shifts = rows.addRemoveSensitivity(moves)
	}
	if cost.Epsilon != nil {
		m.Parameter = new(big.Rat).Quo(cost.Epsilon, new(big.Rat).SetInt(m.L1))
	} else {
		square := new(big.Rat).Mul(cost.Rho, big.NewRat(8, 1))
		m.Parameter = rootDown(square.Quo(square, new(big.Rat).SetInt(m.L2Squared)))
	}
	return m, m.Validate()
}

// rankMoves returns the sensitivity of the scores of each choice to one row that is added or removed, in descending
// order.
func rankMoves(numerators []int64, denominator int64) []int64 {
	moves := make([]int64, len(numerators))
	for i, n := range numerators {
		moves[i] = max(n, denominator-n)
	}
	slices.Sort(moves)
	slices.Reverse(moves)
	return moves
}

// maxQuantileShifts is the largest number of choices of one unit that are listed one by one.
const maxQuantileShifts = 64

// fewestCells places the rows of a unit in as few cells as possible. It returns the number of these cells, the number
// that have inCell rows, and the rows in the rest, which is one cell or none.
func (r UnitRows) fewestCells() (cells, full, inCell, rest int64) {
	inCell = min(r.PerCell, r.Total)
	full, rest = r.Total/inCell, r.Total%inCell
	if full >= r.Cells {
		full, rest = r.Cells, 0
	}
	cells = full
	if rest > 0 {
		cells++
	}
	return cells, full, inCell, rest
}

// addRemoveSensitivity returns the sensitivities of the scores if rows are added or removed: r rows in a cell change
// the scores of its choices by r times their moves. Any other placement of a unit's rows loses no more in ρ, by
// convexity. It also loses no more for any δ if all rows may be in one cell, or no two of them may, since rows can then
// be brought together.
func (r UnitRows) addRemoveSensitivity(moves []int64) (l1, l2Squared *big.Int, shifts []Shift) {
	cells, full, inCell, rest := r.fewestCells()
	sum, squares := sumAndSquares(moves)
	l1 = timesAll(sum, full, inCell)
	l1.Add(l1, timesAll(sum, rest))
	l2Squared = timesAll(squares, full, inCell, inCell)
	l2Squared.Add(l2Squared, timesAll(squares, rest, rest))
	if cells == 1 || inCell == 1 {
		shifts = oneShift(moves, inCell, cells)
	}
	return l1, l2Squared, shifts
}

// replaceSensitivity returns the sensitivities if a of a unit's rows in a cell are replaced by b others. The scores of
// the cell then change by at most
//
//	D·min(a, b) + M·|a−b| ≤ M·(a+b)
//
// which is convex. In ρ, the worst case has the rows before and after in the same cells, or in no common cell.
func (r UnitRows) replaceSensitivity(moves []int64, denominator int64) (l1, l2Squared *big.Int, shifts []Shift) {
	cells, full, inCell, rest := r.fewestCells()
	inPlace := slices.Repeat([]int64{denominator}, len(moves))
	sum, squares := sumAndSquares(moves)
	together, squaresTogether := sumAndSquares(inPlace)
	if r.Cells == 1 {
		return timesAll(together, inCell), timesAll(squaresTogether, inCell, inCell), oneShift(inPlace, inCell, 1)
	}
	l1 = timesAll(sum, 2, full, inCell)
	l1.Add(l1, timesAll(sum, 2, rest))
	worst := timesAll(squares, 2)
	if squaresTogether.Cmp(worst) > 0 {
		worst = squaresTogether
	}
	l2Squared = timesAll(worst, cells, inCell, inCell)
	if other := timesAll(l1, denominator, inCell); other.Cmp(l2Squared) < 0 {
		l2Squared = other // Σd² ≤ max d·Σd
	}
	if 2*moves[0] == denominator && (cells == 1 || inCell == 1) { // medians: D = 2M
		shifts = oneShift(inPlace, inCell, cells)
	}
	return l1, l2Squared, shifts
}

// sumAndSquares returns the sum of numbers and the sum of their squares.
func sumAndSquares(all []int64) (sum, squares *big.Int) {
	sum, squares = new(big.Int), new(big.Int)
	for _, x := range all {
		d := big.NewInt(x)
		sum.Add(sum, d)
		squares.Add(squares, d.Mul(d, d))
	}
	return sum, squares
}

// timesAll returns the product of x and the factors.
func timesAll(x *big.Int, factors ...int64) *big.Int {
	product := new(big.Int).Set(x)
	for _, f := range factors {
		product.Mul(product, big.NewInt(f))
	}
	return product
}

// oneShift returns the shift of the moves times rows, in that many cells; nil if it is too long or too large.
func oneShift(moves []int64, rows, cells int64) []Shift {
	if cells > maxQuantileShifts/int64(len(moves)) || rows > math.MaxInt64/moves[0] {
		return nil
	}
	var all Shift
	for _, move := range moves {
		all = append(all, slices.Repeat([]int64{rows * move}, int(cells))...)
	}
	return []Shift{all}
}

// rootBits is the precision of √x in bits.
const rootBits = 40

// rootDown returns √x for x > 0, rounded down to about 40 significant bits.
func rootDown(x *big.Rat) *big.Rat {
	shift := 2*rootBits - (x.Num().BitLen() - x.Denom().BitLen())
	shift += shift & 1
	scaled, below := new(big.Int).Set(x.Num()), new(big.Int).Set(x.Denom())
	power := new(big.Rat)
	if shift >= 0 {
		scaled.Lsh(scaled, uint(shift))
		power.SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(shift/2)))
	} else {
		below.Lsh(below, uint(-shift))
		power.SetInt(new(big.Int).Lsh(big.NewInt(1), uint(-shift/2)))
	}
	root := scaled.Sqrt(scaled.Quo(scaled, below))
	return power.Mul(power, new(big.Rat).SetInt(root))
}

// quantilesEpsilon returns ε = l1·θ, exactly.
//
// Guarantee: quantiles of parameter θ are ε-differentially private, for neighbours within l1. Theorem: as for
// QuantilesFor.
func quantilesEpsilon(l1 *big.Int, theta *big.Rat) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(l1), theta)
}

// quantilesRho returns ρ = l2Squared·θ²/8, exactly.
//
// Guarantee: quantiles of parameter θ are ρ-zCDP, for neighbours within l2Squared. Theorem: as for QuantilesFor.
func quantilesRho(l2Squared *big.Int, theta *big.Rat) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt(l2Squared), boundedRangeRho(theta))
}

// listsChoices reports whether m draws quantiles and the choices that one unit can change are known one by one.
func (m Mechanism) listsChoices() bool { return m.Kind == ExponentialQuantiles && len(m.Shifts) == 1 }

// quantileSteps returns the dominating pairs of the choices that one unit can change, run count times.
//
// Guarantee: for neighbours within the one shift of m. Theorem: choices of one pair of neighbours are independent, each
// of bounded range θd; d and d′ together have the bounded range θ(d+d′), so that bringing rows together loses no less.
// Argument: docs/proofs/quantile.md.
func (m Mechanism) quantileSteps(count int64) []step {
	var steps []step
	shift := m.Shifts[0]
	for i, d := range shift {
		if i > 0 && d == shift[i-1] {
			steps[len(steps)-1].count += count
			continue
		}
		steps = append(steps, step{boundedRange(roundUp(quantilesEpsilon(big.NewInt(d), m.Parameter))), count})
	}
	return steps
}

// ChoiceEpsilon returns θ·max(num, D−num), exactly: the ε for one row of the choice at share num/D, where D is the
// common denominator of all shares of the mechanism. It returns nil for another kind of mechanism.
func (m Mechanism) ChoiceEpsilon(numerator, denominator int64) *big.Rat {
	if m.Kind != ExponentialQuantiles || m.Validate() != nil {
		return nil
	}
	return new(big.Rat).Mul(m.Parameter, new(big.Rat).SetInt64(max(numerator, denominator-numerator)))
}

// RankMargin returns a margin m, in units of 1/D row, and a lower bound of P(u ≤ m), where u is the distance of a
// choice's ranks from the requested one. P(u > m) is at most 1 − confidence, whatever the data are. With N candidates
//
//	P(u > m) ≤ B/(1+B),   B = (N−1)·exp(−θ(m+1)/2),
//
// and there are data that attain the bound: one value with all others at a distance of m+1. If values lie closer, u is
// about 2/θ on average. Source: McSherry & Talwar 2007, theorem 8, with the best candidate kept in the sum. Argument:
// docs/proofs/quantile.md.
//
// A confidence of 1 or more has no margin and gives (2^63−1, 1). Another kind of mechanism or no candidates give (0,
// 0).
func (m Mechanism) RankMargin(candidates int64, confidence float64) (margin int64, attained float64) {
	if m.Kind != ExponentialQuantiles || m.Validate() != nil || candidates <= 0 {
		return 0, 0
	}
	distance, beyond := m.leastDistance(candidates, 1-confidence)
	if distance == math.MaxInt64 {
		return distance, 1
	}
	return max(distance-1, 0), 1 - beyond
}

// leastDistance returns the least s ≥ 1 for which P(u ≥ s) is bounded by the probability, and that bound.
func (m Mechanism) leastDistance(candidates int64, probability float64) (distance int64, beyond float64) {
	if !(probability > 0) {
		return math.MaxInt64, 0
	}
	lambda := roundDown(m.Parameter) / 2
	others := float64(candidates - 1)
	bound := func(distance float64) float64 {
		all := float64(others * Exp(-float64(lambda*distance)))
		return raisedBy(all/(1+all), 16)
	}
	return leastWithin(bound, probability, Log(float64(others*(1-probability))/probability)/lambda)
}

// QuantileInterval returns how to draw the two ends of an interval, as two more choices at a quantile's share with its
// ε, so that they enclose the quantile of the rows with at least this confidence, whatever the data are and for any
// definition of a quantile between two values. The lower end is drawn with a shift of −shift, in units of 1/D row, over
// beyond additional candidates before the first; the upper end with +shift, over beyond additional candidates after the
// last. A result beyond the range is then clamped to its end: the data carry no more information there.
//
// The lower end is above the quantile for one of two reasons. Its u is at least shift: the probability is at most
// B/(1+B), as for [Mechanism.RankMargin]. Or there are too few rows for a rank that low, and it is one of N−1
// candidates that are as good as beyond+1 others: the probability is at most (N−1)/(N+beyond). Each is at most
// (1−confidence)/2. The same holds for the upper end. Attained is a lower bound of the probability that both ends are
// right. Rows of which a share lies at the first candidate and the rest at the last attain the bound, apart from
// results beyond the range: no smaller shift would do. Argument: docs/proofs/quantile.md.
//
// It returns an error for a confidence outside (0, 1), for another kind of mechanism, and if the candidates and the
// additional ones together are 2^62 or more.
func (m Mechanism) QuantileInterval(candidates int64, confidence float64) (shift, beyond int64, attained float64,
	err error) {
	if m.Kind != ExponentialQuantiles || m.Validate() != nil || candidates <= 0 || !(confidence > 0 && confidence < 1) {
		return 0, 0, 0, errors.New(
			"the interval of a quantile needs a mechanism that draws it, candidates, and a confidence between 0 and 1")
	}
	end := (1 - confidence) / 2
	shift, wrong := m.leastDistance(candidates, end)
	more := math.Ceil(raisedBy(float64(candidates-1)/end, 4))
	if shift == math.MaxInt64 || !(more+float64(candidates) < 1<<62) {
		return 0, 0, 0, fmt.Errorf(
			"%d values are too many for the interval of a quantile: use a coarser step, or less confidence", candidates)
	}
	beyond = int64(more)
	few := raisedBy(float64(candidates-1)/(float64(candidates)+more), 4)
	return shift, beyond, max(0, loweredBy(1-2*math.Max(wrong, few), 2)), nil
}
