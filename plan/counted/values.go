package counted

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// Values adds up an integer of each row. It is the product of
//
//	its weight in steps                             where Weight
//	(Times·p − Minus)^Power                         where Power is 1 or 2, and Per is ""
//	((Times·p − Off[stratum]) · By[stratum])^Power  where Power is 1 or 2, and Per is the column of strata
//
// with p the place of the column's value, clamped and rounded, among the multiples of the step ([domain.Lattice]).
type Values struct {
	Weight bool   `json:"weight,omitempty"`
	Column string `json:"column,omitempty"`
	Power  int    `json:"power,omitempty"` // 0: no column
	Times  int64  `json:"times,omitempty"`
	Minus  int64  `json:"minus,omitempty"`
	// Per is the column whose finest codes are strata, each of which has a multiplier of its own, so that noise suits
	// its range; "" if there is one for all.
	Per string  `json:"per,omitempty"`
	By  []int64 `json:"by,omitempty"`
	Off []int64 `json:"off,omitempty"`
	// Beyond makes the integer 1 if the column's value, once it is rounded, lies beyond the range of its row and is
	// clamped, and otherwise 0: nothing but Column is set then.
	Beyond bool `json:"beyond,omitempty"`
}

// Kind returns [KindValues].
func (Values) Kind() Kind { return KindValues }

// Reads returns the column; "" if only weights are added up.
func (v Values) Reads() string { return v.Column }

// Operands names what is read of a row.
func (v Values) Operands() []string {
	return []string{v.Column, v.Per, fmt.Sprint(v.Weight, v.Power, v.Beyond)}
}

// Weighted reports whether the integers are multiplied by weights.
func (v Values) Weighted() bool { return v.Weight }

// PerCell returns 1.
func (Values) PerCell(*spec.Table) int64 { return 1 }

// CountsRows reports whether each row adds 1, so that rows are counted.
func (v Values) CountsRows() bool { return !v.Weight && v.Power == 0 && !v.Beyond }

// Check returns an error unless the table has the weight, and the column with its range, of whose values a power is
// added up or those beyond the range are counted.
func (v Values) Check(t *spec.Table) error {
	switch c := t.Column(v.Column); {
	case v.Power < 0 || v.Power > 2:
		return fmt.Errorf("%s: its values have no power %d", v.Column, v.Power)
	case v.Beyond && (v.Weight || v.Power > 0):
		return errors.New("adds up what it counts, which this version cannot do at once")
	case v.Weight && t.Weight == nil:
		return errUnweighted
	case (v.Power > 0 || v.Beyond) && (c == nil || c.Lattice == nil):
		return fmt.Errorf("the column %q has no range", v.Column)
	}
	return nil
}

// Extent returns the least and the largest integer of a row.
func (v Values) Extent(t *spec.Table) Extent {
	if v.Beyond {
		return Extent{new(big.Int), big.NewInt(1)}
	}
	out := one()
	if v.Power > 0 {
		out = v.ofColumn(t.Column(v.Column).Lattice)
	}
	if v.Weight {
		out = out.times(Extent{big.NewInt(t.Weight.Lattice.First), big.NewInt(t.Weight.Lattice.Last)})
	}
	return out
}

// ofColumn returns the extent of the column's factor.
func (v Values) ofColumn(l *domain.Lattice) Extent {
	affine := func(place, minus, by int64) *big.Int {
		x := new(big.Int).Mul(big.NewInt(place), big.NewInt(v.Times))
		x.Sub(x, big.NewInt(minus))
		return x.Mul(x, big.NewInt(by))
	}
	var out Extent
	if v.Per == "" {
		out = Extent{affine(l.First, v.Minus, 1), affine(l.Last, v.Minus, 1)}
	}
	for i, by := range v.By {
		stratum := Extent{affine(l.Strata[i].First, v.Off[i], by), affine(l.Strata[i].Last, v.Off[i], by)}
		if i == 0 {
			out = stratum
		}
		out = out.with(stratum)
	}
	if v.Power == 2 {
		out = out.squared()
	}
	return out
}

// Sensitivity returns the sensitivity of the sums: [Unit.Sums] of rows within the extent.
//
// Guarantee: see [Unit.Sums]. Neighbours: both relations. Argument: docs/proofs/sums.md.
func (v Values) Sensitivity(u Unit) (*Sensitivity, error) { return u.Sums(v.Extent(u.Table)), nil }
