package ledger

// What all releases of an account would have cost as one plan: a figure for information, never a balance.

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/canonical"
)

// JointPlan is the privacy loss of one plan, fixed in advance, of all mechanisms debited to an account. It shows how
// much more separate releases cost, each chosen after seeing the others. It is never used to admit a charge: the costs
// of releases chosen after seeing outputs are only ever summed.
type JointPlan struct {
	Releases int64          `json:"releases"`          // debited
	Unknown  int64          `json:"unknown,omitempty"` // releases with unknown mechanisms, which rule out a figure
	At       []JointEpsilon `json:"at,omitempty"`
	// Summed reports whether ε was converted from the sum of ρ, because there are too many different mechanisms to
	// compose. This bound is looser than the figures in the reports of the releases, each of which composes its own
	// mechanisms.
	Summed bool `json:"summed,omitempty"`
}

// JointEpsilon is an ε at a δ, rounded up.
type JointEpsilon struct {
	Delta   string `json:"delta"`
	Epsilon string `json:"epsilon"`
	Method  string `json:"method"`
}

// Composition must not delay the page by minutes: about 40 different mechanisms are composed in a second. With more
// than maxDistinct different mechanisms, or more than maxRuns runs, the sum of their ρ is converted instead. This is
// also an upper bound, but less tight.
const (
	maxDistinct = 32
	maxRuns     = 10_000
	jointDigits = 7 // significant digits of ε
)

// jointPlan composes the mechanisms debited to a; it returns nil if there are none.
func (a *account) jointPlan() *JointPlan {
	j := &JointPlan{}
	var all []Repeated
	selections := new(big.Rat) // δ of partition selections
	indexes := map[string]int{}
	for _, p := range a.charges {
		if !p.state.isSpent() {
			continue
		}
		j.Releases++
		if delta := p.charge.Cost.Delta; delta != nil {
			selections.Add(selections, delta)
		}
		if len(p.charge.Mechanisms) == 0 {
			j.Unknown++
		}
		for _, m := range p.charge.Mechanisms {
			text, err := canonical.Line(m.Mechanism)
			index, known := indexes[text]
			if known {
				all[index].Count += m.Count
			} else if err == nil {
				indexes[text] = len(all)
				all = append(all, m)
			}
		}
	}
	if j.Releases == 0 {
		return nil
	}
	if j.Unknown == 0 {
		j.composeLoss(all, selections)
	}
	return j
}

// composeLoss fills in ε at each δ that exceeds the δ of the selections. The mechanisms are evaluated at the
// difference.
func (j *JointPlan) composeLoss(all []Repeated, selections *big.Rat) {
	steps := []budget.Mechanism{summedRho(all)}
	j.Summed = true
	runs := int64(0)
	for _, m := range all {
		runs = min(maxRuns+1, runs+min(m.Count, maxRuns+1))
	}
	if len(all) <= maxDistinct && runs <= maxRuns {
		steps, j.Summed = nil, false
		for _, m := range all {
			for range m.Count {
				steps = append(steps, m.Mechanism)
			}
		}
	}
	loss, err := budget.Compose(steps...)
	if err != nil {
		return // outside the range of the computation, which String reports
	}
	for _, delta := range []string{"1e-6", "1e-9"} {
		d, err := budget.ParseRat(delta)
		if err != nil || d.Cmp(selections) <= 0 {
			continue
		}
		bound, err := loss.EpsilonAt(d.Sub(d, selections))
		if err != nil || math.IsInf(bound.Value, 0) || math.IsNaN(bound.Value) {
			continue
		}
		j.At = append(j.At, JointEpsilon{Delta: delta, Epsilon: budget.DecimalUp(new(big.Rat).SetFloat64(bound.Value),
			jointDigits), Method: bound.Method})
	}
}

// summedRho returns one mechanism whose ρ is the sum of the ρ of all.
func summedRho(all []Repeated) budget.Mechanism {
	rho := new(big.Rat)
	for _, m := range all {
		rho.Add(rho, new(big.Rat).Mul(m.Mechanism.Rho(), new(big.Rat).SetInt64(m.Count)))
	}
	return budget.Mechanism{Kind: budget.AdaptiveBlock, Parameter: rho}
}

// String is one sentence.
func (j JointPlan) String() string {
	switch {
	case j.Unknown > 0:
		return fmt.Sprintf("What one joint plan would have cost is not known: of %s debited, %d came without a list "+
			"of mechanisms, as a secret sample does: what they cost is said of all units, and their mechanisms lose "+
			"it for those that are drawn.",
			budget.Plural(j.Releases, "release"), j.Unknown)
	case len(j.At) == 0:
		return "What one joint plan would have cost cannot be computed."
	}
	var at []string
	for _, e := range j.At {
		at = append(at, fmt.Sprintf("ε = %s at δ = %s", e.Epsilon, e.Delta))
	}
	bound := ""
	if j.Summed {
		bound = " These ε are computed from the sum of all ρ, because there are too many different mechanisms to " +
			"compose one by one. They are a looser bound than the ε in each release's own report."
	}
	return fmt.Sprintf("Planned together, these releases would have cost at most %s.%s This is for information: the "+
		"account adds up the cost of each release.",
		strings.Join(at, ", and "), bound)
}
