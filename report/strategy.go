package report

// This file holds the strategies: how the tables of a release were measured.

import (
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/language"
)

// Strategy is how a group of tables was measured: tables of one part of the budget that share attributes.
type Strategy struct {
	Leaf         string   `json:"leaf"` // the part of the budget that pays, "" if the budget is not split
	Kind         string   `json:"kind"` // "direct", "largest" or "residuals"
	Noise        string   `json:"noise"`
	Tables       []string `json:"tables"`
	Measurements int      `json:"measurements"`
	Loss         Amount   `json:"loss"` // of all of them, exact, in the account's terms
	PartOfBudget float64  `json:"part_of_budget"`
	// RMSE is the root mean square of the standard errors of all cells of these tables, as planned from the
	// measurements made for them alone. It is absent for measurements that only figures other than counts use, each of
	// which has its own error.
	RMSE         float64       `json:"rmse,omitempty"`
	Alternatives []Alternative `json:"instead"`
	Text         string        `json:"text"` // the same in words
}

// Alternative is a strategy that was rejected. If its noise differs from that of the chosen strategy, it describes the
// whole release with that noise.
type Alternative struct {
	Kind  string  `json:"kind"` // or "equal-shares": each table separately, all with the same budget
	Noise string  `json:"noise"`
	RMSE  float64 `json:"rmse,omitempty"` // that it would have had; absent if it is not possible
	// the budget that it would have needed for the same targets, if there are targets
	BudgetNeeded string `json:"needs,omitempty"`
	Charge       string `json:"charge,omitempty"` // the ρ that the whole release would have cost with another noise
	Why          string `json:"why,omitempty"`    // it is not possible
}

// OfPart reports whether a strategy measures what only figures other than counts use.
func (s Strategy) OfPart() bool { return strings.HasPrefix(s.Tables[0], partsFolder) }

// Names lists the tables of a strategy briefly.
func (s Strategy) Names(l *language.Language) string {
	names := make([]string, len(s.Tables))
	for i, path := range s.Tables {
		names[i] = PartText(path)
	}
	return l.FirstFew(names)
}

// Outdone reports whether a rejected strategy had a smaller error.
func (s Strategy) Outdone() bool {
	return slices.ContainsFunc(s.Alternatives, func(other Alternative) bool {
		return other.Why == "" && other.BudgetNeeded == "" && other.RMSE < s.RMSE && other.Kind != "equal-shares"
	})
}
