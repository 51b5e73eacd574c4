package plan

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the guarantee of a plan, and what each unit is.

// Guarantee is what the release promises, in the terms of the spec.
type Guarantee struct {
	Definition  string       `json:"definition"` // "pure", "zcdp", or "approximate"
	Epsilon     string       `json:"epsilon,omitempty"`
	Delta       string       `json:"delta,omitempty"`
	Rho         string       `json:"rho,omitempty"`
	PlainRho    string       `json:"plain_rho,omitempty"` // what ε and δ would allow by the conversion of ρ alone
	Equivalents []Equivalent `json:"equivalents,omitempty"`
	// DeltaMeasured is the δ of all measurements, if the rest is reserved for groups that nobody listed to appear.
	DeltaMeasured string `json:"delta_of_measurements,omitempty"`
	// Judged reports whether a second accountant found the ε and δ too.
	Judged     bool   `json:"judged_twice,omitempty"`
	Protects   string `json:"protects"`
	Neighbours string `json:"neighbours"`
	// ID is the column whose values identify units; "" if each row is one, or if there are several tables.
	ID              string     `json:"id,omitempty"`
	MaxRows         int64      `json:"max_rows"`                  // in all tables
	Rows            []UnitRows `json:"rows_in_tables,omitempty"`  // if there are several
	WithoutID       string     `json:"rows_without_id,omitempty"` // what happens to them, "" if the run stops
	Account         string     `json:"account,omitempty"`
	FurtherAccounts []string   `json:"also,omitempty"` // accounts of further datasets that are read, charged as well
	// Shuffled is what shuffling adds to the promise of a collection, nil for nothing.
	Shuffled *Shuffled `json:"shuffled,omitempty"`
	// Holders are those who make the release together, nil if one place draws all noise.
	Holders *Holders `json:"holders,omitempty"`
	// Sample is the share of the units that is drawn in secret, an exact fraction; "" for all.
	Sample string `json:"sample,omitempty"`
}

// Holders are the holders of a release by name, each of whom draws a share of the noise. The shares of any Trusted of
// them meet the guarantee, whatever the others know. A unit's rows are with Overlap holders at most.
type Holders struct {
	Names   []string `json:"names"`
	Overlap int64    `json:"overlap"`
	Trusted int      `json:"trusted"`
	// Withdrawn are those who took no part after all. A plan has none before it is measured.
	Withdrawn []string `json:"withdrawn,omitempty"`
}

// TookPart returns those who add a share of the noise.
func (h *Holders) TookPart() []string {
	return slices.DeleteFunc(slices.Clone(h.Names),
		func(name string) bool { return slices.Contains(h.Withdrawn, name) })
}

// Shuffled is the promise for reports that a trusted shuffler mixes, if at least Honest of them are honest: ε at δ,
// rounded up.
type Shuffled struct {
	Honest  int64   `json:"honest"`
	Delta   string  `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

// LeftOut says that rows without an id are counted nowhere.
const LeftOut = "left out"

// Equivalent is the ε that the guarantee implies at a δ, rounded up.
type Equivalent struct {
	Delta   string  `json:"delta"`
	Epsilon float64 `json:"epsilon"`
	Method  string  `json:"method"`
}

// Significant is how many digits of an ε a plan keeps.
const Significant = 7

// Amount returns an exact number of a plan; nil for none.
func Amount(exact string) *big.Rat {
	r, err := budget.ParseRat(exact)
	if err != nil {
		return nil
	}
	return r
}

// UnitRows is one of several tables in which a unit has rows.
type UnitRows struct {
	Table   string `json:"table"`
	ID      string `json:"id"`       // the column that identifies units
	MaxRows int64  `json:"max_rows"` // of one unit, that are counted
}
