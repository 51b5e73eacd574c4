package plan

// This file holds the value: the integer that a row adds to its cell where that is not 1.

// Value says which integer each row adds to its cell: the product of
//
//	its weight in steps                             where Weight
//	(Times·p − Minus)^Power                         where Power is 1 or 2, and Per is ""
//	((Times·p − Off[stratum]) · By[stratum])^Power  where Power is 1 or 2, and Per is the column of strata
//
// with p the place of the column's value, clamped and rounded, among the multiples of the step ([domain.Lattice]).
type Value struct {
	Weight bool   `json:"weight,omitempty"`
	Column string `json:"column,omitempty"`
	Power  int    `json:"power,omitempty"` // 0: no column
	Times  int64  `json:"times,omitempty"`
	Minus  int64  `json:"minus,omitempty"`
	// Per is the column whose finest codes are strata, each of which has a multiplier of its own, so that noise suits its
	// range; "" where there is one for all.
	Per string  `json:"per,omitempty"`
	By  []int64 `json:"by,omitempty"`
	Off []int64 `json:"off,omitempty"`
	// Beyond says that it is 1 where the column's value, once it is rounded, lies beyond the range of its row and is
	// clamped, and else 0: nothing but Column is set then.
	Beyond bool `json:"beyond,omitempty"`
}

// Quantile says that a measurement draws for every cell values of a column, at these shares of the rows in ascending
// order: its answers are cell by cell, and in a cell share by share, places among the multiples of the column's step.
// Weight says that rows count by their weights in steps.
type Quantile struct {
	Column string   `json:"column"`
	At     []string `json:"at"` // exact fractions
	Weight bool     `json:"weight,omitempty"`
	// Shift, where it is not 0, says that each share has three answers, of which the two after its own are the ends of its
	// interval: one is drawn for a rank that is Shift parts of 1/D row lower, with Beyond more places before the first,
	// the other for one as much higher, with as many more after the last, where D is the least common denominator of all
	// shares. What lies beyond the range is then brought to its end ([budget.Mechanism.QuantileInterval]).
	Shift  int64 `json:"shift,omitempty"`
	Beyond int64 `json:"beyond,omitempty"`
}

// Draws is how many answers there are for each cell.
func (q Quantile) Draws() int {
	if q.Shift != 0 {
		return 3 * len(q.At)
	}
	return len(q.At)
}

// Distinct says that a query counts, in each of its cells, not rows but the values of a column that they have: its
// finest categories or, where it has none, the multiples of its step. Of the pairs of cell and value that a unit has,
// at most PerUnit count, drawn under the release's key; a pair counts once however many units have it. So one unit adds
// at most PerUnit to all cells together, as PerUnit rows would, and such a query has neither Value nor Quantile nor
// PerUnit.
type Distinct struct {
	Column  string `json:"column"`
	PerUnit int64  `json:"per_unit"`
}
