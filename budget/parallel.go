package budget

import (
	"errors"
	"math/big"
	"slices"
)

// Parallel is the loss of parts that see disjoint sets of units: no unit is in
// more than Groups of them. What one unit can move is then the loss of the parts
// it is in, not of all. The caller has to enforce Groups by the unit's id or a
// cap; where it is not enforced, every unit may be in every part.
type Parallel struct {
	Parts []Loss
	// Groups is in how many parts one unit can be; 0 stands for all of them.
	Groups int
	// Replace tells that neighbours replace one unit by another, which leaves
	// Groups parts and enters Groups others, or stays in some as another.
	Replace bool
}

// reach is how many parts one pair of neighbours can touch.
func (p Parallel) reach() int {
	g := p.Groups
	if g <= 0 || g > len(p.Parts) {
		g = len(p.Parts)
	}
	if p.Replace {
		g = min(2*g, len(p.Parts))
	}
	return g
}

// Epsilon returns the worst sum of the pure ε of as many parts as one pair of
// neighbours touches, exactly, or nil where a part has none.
//
// Guarantee: pure differential privacy, for the neighbours that the parts were
// computed for; under Replace each part must allow for a unit of its own to be
// replaced, which covers that one only leaves or only enters. Theorem: parallel composition (McSherry 2009, theorem 4),
// and sequential composition over the parts that one unit is in.
func (p Parallel) Epsilon() *big.Rat { return p.worst(Loss.Epsilon) }

// Rho returns the worst sum of ρ, exactly.
//
// Guarantee and neighbours: as for [Parallel.Epsilon], for zCDP.
func (p Parallel) Rho() *big.Rat { return p.worst(Loss.Rho) }

func (p Parallel) worst(of func(Loss) *big.Rat) *big.Rat {
	amounts := make([]*big.Rat, len(p.Parts))
	for i, part := range p.Parts {
		if amounts[i] = of(part); amounts[i] == nil {
			return nil
		}
	}
	slices.SortFunc(amounts, func(a, b *big.Rat) int { return b.Cmp(a) })
	sum := new(big.Rat)
	for _, amount := range amounts[:p.reach()] {
		sum.Add(sum, amount)
	}
	return sum
}

// EpsilonAt returns an ε ≥ 0 for which the parts together are (ε, δ)-
// differentially private, rounded up: where a pair of neighbours touches one
// part, the largest ε of a part, that is where the largest of the parts' profiles
// meets δ; where it touches all, their composition; in between, what the worst
// sum of pure ε or of ρ implies.
//
// Guarantee and neighbours: as for [Parallel.Epsilon]. Theorem: whichever part a
// unit is in, its profile is below the largest; a composition as for [Compose].
// Argument: docs/proofs/filter.md. It returns the errors of [Loss.EpsilonAt].
func (p Parallel) EpsilonAt(delta *big.Rat) (Bound, error) {
	if len(p.Parts) == 0 {
		return Bound{0, MethodPure}, nil
	}
	reach := p.reach()
	if reach == 1 {
		var worst Bound
		for _, part := range p.Parts {
			bound, err := part.EpsilonAt(delta)
			if err != nil {
				return Bound{}, err
			}
			if bound.Value >= worst.Value {
				worst = bound
			}
		}
		return worst, nil
	}
	if slices.ContainsFunc(p.Parts, func(l Loss) bool { return l.sample != nil }) {
		return Bound{}, errors.New("parts of a sample are not composed: sample the whole release once")
	}
	whole := Loss{epsilon: p.Epsilon(), rho: p.Rho()}
	if reach == len(p.Parts) {
		for _, part := range p.Parts {
			whole.steps = append(whole.steps, part.steps...)
			whole.slack += part.slack
		}
		whole.sketch = sketchesOf(whole.steps)
		return whole.EpsilonAt(delta)
	}
	// Whichever parts they are, their pure ε or ρ is at most the worst sum: the
	// dominating pair of that sum dominates them.
	if whole.epsilon != nil {
		whole.steps = []step{{pureAtoms(whole.epsilon), 1}}
	} else {
		whole.steps = []step{{zcdpAtoms(roundUp(whole.rho)), 1}}
	}
	whole.sketch = sketchesOf(whole.steps)
	return whole.EpsilonAt(delta)
}
