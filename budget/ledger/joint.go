package ledger

// What all releases of an account would have cost as one plan: a figure to learn from, never a balance.

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/canonical"
)

// JointPlan is what one plan, fixed in advance, of all mechanisms debited to an account would have lost. It shows what
// separate releases, each chosen after seeing the others, cost more. It admits nothing: what was chosen after seeing
// outputs is only ever summed.
type JointPlan struct {
	Releases int64          `json:"releases"`          // debited
	Unknown  int64          `json:"unknown,omitempty"` // of which the mechanisms are not known, so that there is no figure
	At       []JointEpsilon `json:"at,omitempty"`
	// Summed reports whether ε was converted from the sum of ρ, because there are too many different mechanisms to
	// compose. That bound is looser than the figures in the reports of these releases, each of which composes its own
	// mechanisms.
	Summed bool `json:"summed,omitempty"`
}

// JointEpsilon is an ε at a δ, rounded up.
type JointEpsilon struct {
	Delta   string `json:"delta"`
	Epsilon string `json:"epsilon"`
	Method  string `json:"method"`
}

// A page must not take minutes: with more different mechanisms than maxDistinct, of which a second composes about 40,
// or more runs than maxRuns, the sum of their ρ is converted instead of composing their distributions. That is a bound
// too, and less tight.
const (
	maxDistinct = 32
	maxRuns     = 10_000
	jointDigits = 7 // to which an ε is told
)

// joint composes what was debited to a; nil if nothing was.
func (a *account) joint() *JointPlan {
	j := &JointPlan{}
	var all []Repeated
	selections := new(big.Rat) // what selections have of δ
	places := map[string]int{}
	for _, p := range a.postings {
		if !p.state.spent() {
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
			place, known := places[text]
			if known {
				all[place].Count += m.Count
			} else if err == nil {
				places[text] = len(all)
				all = append(all, m)
			}
		}
	}
	if j.Releases == 0 {
		return nil
	}
	if j.Unknown == 0 {
		j.compose(all, selections)
	}
	return j
}

// compose fills in ε at each δ from which selections leave something: it is of the mechanisms, at what they leave.
func (j *JointPlan) compose(all []Repeated, selections *big.Rat) {
	steps := []budget.Mechanism{summed(all)}
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
		return // more than can be computed with: the page says so
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

// summed is a mechanism that loses as much as all of them, by the sum of their ρ.
func summed(all []Repeated) budget.Mechanism {
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
		return fmt.Sprintf("What one joint plan would have cost is not known: of %s debited, %d came without a list of mechanisms, as those of a secret sample do: what they cost is said of all units, and their mechanisms lose it for those that are drawn.",
			budget.Plural(j.Releases, "release"), j.Unknown)
	case len(j.At) == 0:
		return "What one joint plan would have cost cannot be computed."
	}
	var at []string
	for _, e := range j.At {
		at = append(at, fmt.Sprintf("ε ≤ %s at δ = %s", e.Epsilon, e.Delta))
	}
	bound := ""
	if j.Summed {
		bound = " These are of the sum of ρ, as there are too many different mechanisms to compose: a looser bound than what a report says of its own release."
	}
	return fmt.Sprintf("One joint plan of the %s debited would have cost %s.%s That is never a balance: what was chosen after seeing results is summed.",
		budget.Plural(j.Releases, "release"), strings.Join(at, ", and "), bound)
}
