package budget

import "math/big"

// Filter limits what may be spent on one population by choices that depend on earlier outputs: later releases, rounds
// of an adaptive method. The parts of one plan are composed as tightly as possible; adaptive choices are only ever
// summed.
type Filter struct{ Cap Cost }

// Admits reports whether a charge of cost asked may follow what was spent: whether the sums stay within the cap,
// exactly, in ε, or in both ρ and δ.
//
// Guarantee: as long as every charge was admitted before it was run, all of them together are within the cap, however
// each was chosen. Neighbours: those that all charges were made for. Theorem: ε sums (Dwork, McSherry, Nissim & Smith
// 2006; as a filter Rogers, Roth, Ullman & Vadhan 2016, theorem 4.1); ρ and δ sum (Feldman & Zrnic 2021, theorem 4.5;
// Whitehouse, Ramdas, Rogers & Wu 2023). Argument: docs/proofs/filter.md.
//
// It returns ErrOtherDefinition if the amounts have different definitions, and an error for an invalid amount. No cap
// admits a δ that sums to 1 or more.
func (f Filter) Admits(spent, asked Cost) (bool, error) {
	for _, pair := range [][2]Cost{{spent, asked}, {spent, f.Cap}, {asked, f.Cap}} {
		if err := pair[0].checkComparable(pair[1]); err != nil {
			return false, err
		}
	}
	delta := new(big.Rat).Add(orZero(spent.Delta), orZero(asked.Delta))
	if delta.Cmp(big.NewRat(1, 1)) >= 0 {
		return false, nil
	}
	total, err := spent.Add(asked)
	if err != nil {
		return false, err
	}
	return total.Fits(f.Cap)
}
