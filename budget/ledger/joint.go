package ledger

// What all releases of an account would have cost as one plan: a figure to learn from, never a balance.

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/dprelease/dprelease/budget"
)

// JointPlan is what one plan, fixed in advance, of all mechanisms debited to an account would have lost. It shows what
// separate releases, each chosen after seeing the others, cost more. It admits nothing: what was chosen after seeing
// outputs is only ever summed.
type JointPlan struct {
	Releases int64          `json:"releases"`          // debited
	Unknown  int64          `json:"unknown,omitempty"` // of which the mechanisms are not known, so that there is no figure
	At       []JointEpsilon `json:"at,omitempty"`
}

// JointEpsilon is an ε at a δ, rounded up.
type JointEpsilon struct {
	Delta   string `json:"delta"`
	Epsilon string `json:"epsilon"`
	Method  string `json:"method"`
}

// maxJoint bounds how many mechanisms are composed for a page; jointDigits is how far an ε is told.
const (
	maxJoint    = 100_000
	jointDigits = 7
)

// joint composes what was debited to a; nil if nothing was.
func (a *account) joint() *JointPlan {
	j := &JointPlan{}
	var steps []budget.Mechanism
	for _, p := range a.postings {
		if !p.state.spent() {
			continue
		}
		j.Releases++
		known := len(p.charge.Mechanisms) > 0
		for _, m := range p.charge.Mechanisms {
			if known = known && m.Count <= maxJoint-int64(len(steps)); !known {
				break
			}
			for range m.Count {
				steps = append(steps, m.Mechanism)
			}
		}
		if !known {
			j.Unknown++
		}
	}
	if j.Releases == 0 {
		return nil
	}
	if j.Unknown == 0 {
		j.compose(steps)
	}
	return j
}

func (j *JointPlan) compose(steps []budget.Mechanism) {
	loss, err := budget.Compose(steps...)
	if err != nil {
		return // the steps were checked when they were reserved
	}
	for _, delta := range []string{"1e-6", "1e-9"} {
		d, err := budget.ParseRat(delta)
		if err != nil {
			continue
		}
		bound, err := loss.EpsilonAt(d)
		if err != nil || math.IsInf(bound.Value, 0) || math.IsNaN(bound.Value) {
			continue
		}
		j.At = append(j.At, JointEpsilon{Delta: delta, Epsilon: budget.DecimalUp(new(big.Rat).SetFloat64(bound.Value), jointDigits), Method: bound.Method})
	}
}

// String is one sentence.
func (j JointPlan) String() string {
	switch {
	case j.Unknown > 0:
		return fmt.Sprintf("What one joint plan would have cost is not known: of %s debited, %d came without a list of mechanisms.",
			budget.Plural(j.Releases, "release"), j.Unknown)
	case len(j.At) == 0:
		return "What one joint plan would have cost cannot be computed."
	}
	var at []string
	for _, e := range j.At {
		at = append(at, fmt.Sprintf("ε ≤ %s at δ = %s", e.Epsilon, e.Delta))
	}
	return fmt.Sprintf("One joint plan of the %s debited would have cost %s. That is never a balance: what was chosen after seeing results is summed.",
		budget.Plural(j.Releases, "release"), strings.Join(at, ", and "))
}
