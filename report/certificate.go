package report

// This file holds the certificate: what an auditor asks of a release beyond its guarantee and budget.

import (
	"strings"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Certificate says under which assumptions the guarantee holds, where the privacy
// loss goes, with which exact noise, who approved it, and what is known of the
// account that paid.
type Certificate struct {
	Assumptions []string `json:"assumptions"`
	// public figures that are published as they are, which may be exact facts about the data
	GivenAway  []string `json:"given_away"`
	Loss       Loss     `json:"loss"`
	Mechanisms []Noise  `json:"mechanisms"`
	// Sensitivities are there where rows do not all count as one, or figures are of values.
	Sensitivities []Sensitivity `json:"sensitivities,omitempty"`
	Approvals     []Approval    `json:"approvals"`
	Account       Account       `json:"account"`
	Hazards       []Hazard      `json:"hazards"`
}

// Loss is the privacy loss of the whole release, of all measurements that bear on each
// table, which tables share, and of each attribute for somebody who knows all else
// about a unit ([plan.Plan.StatedLoss]).
// Another value is one unit taken away and one added, so that where neighbours add
// or remove a unit an attribute can lose more than the whole does: up to twice its
// ε where that is pure, and up to four times its ρ.
type Loss struct {
	Methods    []string `json:"methods"` // of the ε at a δ
	Whole      LossOf   `json:"whole"`
	Tables     []LossOf `json:"tables"`
	Attributes []LossOf `json:"attributes"`
}

// LossOf is the loss of some of the measurements.
type LossOf struct {
	Of      string `json:"of"`
	Tables  int    `json:"tables"`            // that lose it together
	Epsilon string `json:"epsilon,omitempty"` // pure and exact, where there is one
	Rho     string `json:"rho"`               // exact
	At      []At   `json:"at"`
}

// At is an ε at a δ, rounded up.
type At struct {
	Delta   string  `json:"delta"`
	Epsilon float64 `json:"epsilon"`
}

// Noise is a mechanism with the measurements that use it, or the block of an
// adaptive method. Its numbers are exact.
type Noise struct {
	Mechanism    Mechanism `json:"mechanism"`
	Shifts       [][]int64 `json:"shifts"` // by which one unit can move the answers; empty: any within L1 and L2
	Measurements []string  `json:"measurements"`
}

// Approval is a signature under the plan.
type Approval struct {
	Role        string `json:"role"`
	Statement   string `json:"statement"`
	Signer      string `json:"signer"`      // public key, in one word
	Fingerprint string `json:"fingerprint"` // of the key
	Until       string `json:"until,omitempty"`
}

// Account is what is known of the account that paid.
type Account struct {
	Comparisons int64  `json:"comparisons_with_the_truth"` // recorded before this release
	Witnessed   bool   `json:"rollback_is_noticed"`
	Sentence    string `json:"sentence"` // on the comparisons; empty for a rehearsal
}

// Heads are the columns that a page of losses has beside names and numbers of
// tables.
func (l Loss) Heads() []string {
	heads := []string{"ρ"}
	if l.Whole.Epsilon != "" {
		heads = append(heads, "pure ε")
	}
	for _, at := range l.Whole.At {
		heads = append(heads, "ε at δ = "+words.Up(at.Delta))
	}
	return heads
}

// Cells are the figures below those heads, rounded up.
func (l LossOf) Cells() []string {
	cells := []string{words.Up(l.Rho)}
	if l.Epsilon != "" {
		cells = append(cells, words.Up(l.Epsilon))
	}
	for _, at := range l.At {
		cells = append(cells, strings.TrimPrefix(describe.Bound(plan.Equivalent{Epsilon: at.Epsilon}), "ε = "))
	}
	return cells
}

// Uses names the first measurement of a mechanism and how many more there are.
func (n Noise) Uses() string {
	return words.FirstOf(n.Measurements)
}
