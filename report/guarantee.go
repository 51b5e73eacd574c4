package report

// This file holds the guarantee, in numbers and in words.

import (
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/spec/language"
)

// Guarantee is the guarantee of a release. Epsilon, Delta and Rho are exact, as requested; fields of other definitions
// are absent.
type Guarantee struct {
	Definition string `json:"definition"` // "pure", "approximate" or "zcdp"
	// Local is true if the guarantee holds for each report as it leaves a respondent's device.
	Local       bool              `json:"local,omitempty"`
	Epsilon     string            `json:"epsilon,omitempty"`
	Delta       string            `json:"delta,omitempty"`
	Rho         string            `json:"rho,omitempty"`
	Equivalents []plan.Equivalent `json:"equivalents"`
	Method      string            `json:"method"`
	Protects    string            `json:"protects"`
	Neighbours  string            `json:"neighbours"` // "add-remove" or "replace"
	Unit        string            `json:"unit"`
	MaxRows     int64             `json:"max_rows"`                  // over all tables
	Rows        []plan.UnitRows   `json:"rows_in_tables,omitempty"`  // if there are several tables
	WithoutID   string            `json:"rows_without_id,omitempty"` // what happens to them; "" if the run stops
	// the probability with which a unit is selected, in secret, as an exact fraction; "" for all units
	Sample string `json:"sample,omitempty"`
	// Holders are those who made the release together; nil if all data were in one place.
	Holders   *plan.Holders `json:"holders,omitempty"`
	Meaning   Meaning       `json:"meaning"`
	Statement string        `json:"statement"` // in the field's terms
	Sentences []string      `json:"sentences"` // in words that anyone understands
}

// Meaning is what the guarantee means for one unit. Every figure is rounded up.
type Meaning struct {
	Epsilon string  `json:"epsilon"` // the ε and δ that it is computed for
	Delta   string  `json:"delta"`
	Factor  string  `json:"factor"`      // e^ε, or a power of ten above it
	Guess   float64 `json:"guess_right"` // (e^ε + δ)/(1 + e^ε)
	Weak    bool    `json:"weak"`        // ε above 10
}

// Replaced reports whether neighbours differ by replacing one unit, rather than by adding or removing one.
func (g Guarantee) Replaced() bool { return g.Neighbours == "replace" }

// ByRow reports whether each row is protected, rather than all rows of a unit together.
func (g Guarantee) ByRow() bool {
	return slices.ContainsFunc(language.Tags(), func(tag string) bool {
		return g.Unit == language.Of(tag).Text(describe.EachRow)
	})
}
