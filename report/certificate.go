package report

// This file holds the certificate: what an auditor needs to know about a release in addition to its guarantee and
// budget.

import (
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// Certificate says under which assumptions the guarantee holds, how the privacy loss is distributed, with which exact
// noise, who approved the release, and what is known of the account that paid.
type Certificate struct {
	Assumptions []string `json:"assumptions"`
	// public figures that are published unchanged, which may be exact facts about the data
	GivenAway  []string `json:"given_away"`
	Loss       Loss     `json:"loss"`
	Mechanisms []Noise  `json:"mechanisms"`
	// Sensitivities are present if not every row counts as one, or if figures use values.
	Sensitivities []Sensitivity `json:"sensitivities,omitempty"`
	Approvals     []Approval    `json:"approvals"`
	Account       Account       `json:"account"`
	Hazards       []Hazard      `json:"hazards"`
}

// Loss is the privacy loss of the whole release; of each table, from all measurements that affect it, which tables
// share; and of each attribute, against an attacker who knows everything else about a unit ([plan.Plan.StatedLoss]).
// Changing a value amounts to removing one unit and adding another. So if neighbours add or remove a unit, an attribute
// can lose more than the whole release: up to twice its ε if that is pure, and up to four times its ρ.
type Loss struct {
	Methods    []string `json:"methods"` // of computing ε at a δ
	Whole      LossOf   `json:"whole"`
	Tables     []LossOf `json:"tables"`
	Attributes []LossOf `json:"attributes"`
}

// LossOf is the loss of some of the measurements.
type LossOf struct {
	Of      string      `json:"of"`
	Tables  int         `json:"tables"`            // number of tables that share it
	Epsilon string      `json:"epsilon,omitempty"` // pure and exact, if there is one
	Rho     string      `json:"rho"`               // exact
	At      []EpsilonAt `json:"at"`
}

// EpsilonAt is an ε at a δ, rounded up.
type EpsilonAt struct {
	Delta   string  `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

// Noise is a mechanism with the measurements that use it, or the block of an adaptive method. Its numbers are exact.
type Noise struct {
	Mechanism    Mechanism `json:"mechanism"`
	Shifts       [][]int64 `json:"shifts"` // possible changes of the answers by one unit; empty: any within L1 and L2
	Measurements []string  `json:"measurements"`
}

// Approval is a signature under the plan.
type Approval struct {
	Role        string `json:"role"`
	Statement   string `json:"statement"`
	Signer      string `json:"signer"`      // public key, as one word
	Fingerprint string `json:"fingerprint"` // of the key
	Until       string `json:"until,omitempty"`
}

// Account is what is known of the account that paid.
type Account struct {
	Comparisons int64  `json:"comparisons_with_the_truth"` // recorded before this release
	Witnessed   bool   `json:"rollback_is_noticed"`
	Sentence    string `json:"sentence"` // about the comparisons; empty for a rehearsal
}

// Heads returns the headings of the columns with losses in a table of losses.
func (of Loss) Heads(l *language.Language) []string {
	heads := []string{"ρ"}
	if of.Whole.Epsilon != "" {
		heads = append(heads, l.Text("pure ε"))
	}
	for _, at := range of.Whole.At {
		heads = append(heads, l.Text("ε at δ = %s", l.Number(words.RoundedUp(at.Delta))))
	}
	return heads
}

// Forms returns the form of each column of losses. It is the same for attributes, tables and the whole release, so that
// their figures line up.
func (of Loss) Forms() []screen.Form {
	var columns [][]*big.Rat
	for _, one := range slices.Concat(of.Attributes, of.Tables, []LossOf{of.Whole}) {
		for i, loss := range one.exact() {
			if i == len(columns) {
				columns = append(columns, nil)
			}
			columns[i] = append(columns[i], loss)
		}
	}
	forms := make([]screen.Form, len(columns))
	for i, losses := range columns {
		forms[i] = words.FormOfLosses(losses)
	}
	return forms
}

// exact returns the losses of a row, in the order of the columns; nil for an ε that is not bounded.
func (of LossOf) exact() []*big.Rat {
	losses := []*big.Rat{words.Exact(of.Rho)}
	if of.Epsilon != "" {
		losses = append(losses, words.Exact(of.Epsilon))
	}
	for _, at := range of.At {
		losses = append(losses, screen.Shortest(at.Epsilon))
	}
	return losses
}

// Cells returns the values of those columns in their forms, rounded up.
func (of LossOf) Cells(l *language.Language, forms []screen.Form) []string {
	losses := of.exact()
	cells := make([]string, len(losses))
	for i, loss := range losses {
		cells[i] = "∞"
		if loss != nil {
			cells[i] = l.Number(forms[i].UpExact(loss))
		}
	}
	return cells
}

// Uses names the first measurement of a mechanism and the number of others.
func (n Noise) Uses(l *language.Language) string {
	return l.FirstOf(n.Measurements)
}
