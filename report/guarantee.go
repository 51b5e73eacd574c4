package report

// This file holds the guarantee: what is promised, in numbers and in words.

import "github.com/dprelease/dprelease/plan"

// Guarantee is the promise of a release. Epsilon, Delta and Rho are exact, as
// asked for; fields of other definitions are absent.
type Guarantee struct {
	Definition  string            `json:"definition"` // "pure", "approximate" or "zcdp"
	Epsilon     string            `json:"epsilon,omitempty"`
	Delta       string            `json:"delta,omitempty"`
	Rho         string            `json:"rho,omitempty"`
	Equivalents []plan.Equivalent `json:"equivalents"`
	Method      string            `json:"method"`
	Protects    string            `json:"protects"`
	Neighbours  string            `json:"neighbours"` // "add-remove" or "replace"
	Unit        string            `json:"unit"`
	MaxRows     int64             `json:"max_rows"`                  // in all tables
	Rows        []plan.UnitRows   `json:"rows_in_tables,omitempty"`  // where they are several
	WithoutID   string            `json:"rows_without_id,omitempty"` // what happens to them, "" where the run stops
	// the share of the units that is drawn in secret, an exact fraction; "" for all
	Sample    string   `json:"sample,omitempty"`
	Meaning   Meaning  `json:"meaning"`
	Statement string   `json:"statement"` // the promise in the field's terms
	Sentences []string `json:"sentences"` // the promise in words that anyone understands
}

// Meaning is what the promise comes to for one unit, every figure rounded up.
type Meaning struct {
	Epsilon string  `json:"epsilon"` // the ε and δ it is worked out at
	Delta   string  `json:"delta"`
	Factor  string  `json:"factor"`      // e^ε, or a power of ten above it
	Guess   float64 `json:"guess_right"` // (e^ε + δ)/(1 + e^ε)
	Weak    bool    `json:"weak"`        // ε above 10
}

// Replaced reports whether neighbours differ by one unit replaced, and not by one added or removed.
func (g Guarantee) Replaced() bool { return g.Neighbours == "replace" }

// ByRow tells that each row is protected, not all rows of a unit together.
func (g Guarantee) ByRow() bool { return g.Unit == "each row" }
