package report

// This file holds the strategies: how the tables of a release were measured.

import (
	"strings"

	"github.com/dprelease/dprelease/report/internal/words"
)

// Strategy is how a group of tables was measured: tables of one part of the budget
// that share attributes.
type Strategy struct {
	Leaf         string   `json:"leaf"` // part of the budget that pays, "" where it is not split
	Kind         string   `json:"kind"` // "direct", "largest" or "residuals"
	Noise        string   `json:"noise"`
	Tables       []string `json:"tables"`
	Measurements int      `json:"measurements"`
	Loss         Amount   `json:"loss"` // of all of them, exact, in the account's terms
	PartOfBudget float64  `json:"part_of_budget"`
	// RMSE is the root mean square of the standard errors of all cells of these tables,
	// as planned from what was measured for them alone.
	// Absent of what is measured for figures beside counts, each of which has an error of its own.
	RMSE    float64   `json:"rmse,omitempty"`
	Instead []Instead `json:"instead"`
	Text    string    `json:"text"` // the same in words
}

// Instead is a strategy that was not taken. With another noise than the strategy taken it is what the whole release
// with that noise would have given.
type Instead struct {
	Kind   string  `json:"kind"` // or "equal-shares": each table by itself, all for the same
	Noise  string  `json:"noise"`
	RMSE   float64 `json:"rmse,omitempty"`   // that it would have had; absent where it cannot be taken
	Needs  string  `json:"needs,omitempty"`  // what it would have taken of the budget for the same targets, in their place
	Charge string  `json:"charge,omitempty"` // the ρ that the whole release would have been charged with another noise
	Why    string  `json:"why,omitempty"`    // it cannot be taken
}

// OfPart tells that a strategy is of what figures beside counts rest on.
func (s Strategy) OfPart() bool { return strings.HasPrefix(s.Tables[0], partsFolder) }

// Names are the tables of a strategy, in few words.
func (s Strategy) Names() string {
	names := make([]string, len(s.Tables))
	for i, path := range s.Tables {
		names[i] = PartText(path)
	}
	return words.Few(names)
}
