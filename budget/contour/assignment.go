package contour

import (
	"fmt"
	"math"
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// maxAssignments bounds the ways to give each step one of its shapes.
const maxAssignments = 300

// repeated is a mechanism that runs count times, and the shapes each run can take: none if its noise is Gaussian and
// only norms are known.
type repeated struct {
	step   budget.Mechanism
	count  int64
	shapes []budget.Shift
}

// listCompositions returns compositions that include the worst: every way in which the steps can take their shapes, up
// to the order of equal steps.
func listCompositions(steps []budget.Mechanism) ([]*composition, error) {
	kinds, err := groupEqual(steps)
	if err != nil {
		return nil, err
	}
	all := []map[string]*group{{}}
	for _, kind := range kinds {
		var next []map[string]*group
		for _, counts := range listPartitions(kind.count, max(1, len(kind.shapes)), maxAssignments/len(all)) {
			for _, base := range all {
				groups := cloneGroups(base)
				if err := kind.addToGroups(groups, counts); err != nil {
					return nil, err
				}
				next = append(next, groups)
			}
		}
		if next == nil {
			return nil, fmt.Errorf("%w: there are more than %d ways for the steps to take their shapes", ErrCannotJudge,
				maxAssignments)
		}
		all = next
	}
	compositions := make([]*composition, len(all))
	for i, groups := range all {
		compositions[i] = newComposition(groups)
	}
	return compositions, nil
}

// groupEqual counts equal steps, in the order of their first appearance.
func groupEqual(steps []budget.Mechanism) ([]*repeated, error) {
	var kinds []*repeated
	index := map[string]*repeated{}
	for i, step := range steps {
		if err := step.Validate(); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		name := fmt.Sprint(step.Kind, step.Parameter.RatString(), step.L1, step.L2Squared, step.Shifts)
		if index[name] == nil {
			kind := &repeated{step: step}
			if step.L1 != nil && !isPlainlySmooth(step) {
				var err error
				if kind.shapes, err = worstShapes(step); err != nil && !isSmooth(step) {
					return nil, fmt.Errorf("%w: step %d: %w", ErrCannotJudge, i+1, err)
				}
			}
			index[name] = kind
			kinds = append(kinds, kind)
		}
		index[name].count++
	}
	return kinds, nil
}

// addToGroups adds the coordinates of a mechanism to groups of equal laws, where counts[i] of its runs take shape i.
func (r *repeated) addToGroups(groups map[string]*group, counts []int64) error {
	parameter := r.step.Parameter
	add := func(l law, count int64, name string) {
		if groups[name] == nil {
			groups[name] = &group{law: l}
		}
		groups[name].count += count
	}
	for i, count := range counts {
		if noise, ok := noiseLaws[r.step.Kind]; ok {
			if r.shapes == nil {
				joinNormal(groups, r.step, count)
				continue
			}
			for _, s := range r.shapes[i] {
				l, name := noise.loss(parameter, s)
				add(l, count, name)
			}
			continue
		}
		switch r.step.Kind {
		case budget.RandomizedResponse, budget.PermuteAndFlip, budget.SubsetSelection:
			add(newLaplace(parameter, 1), count, fmt.Sprint("laplace ", parameter, 1))
		case budget.ExponentialMechanism:
			add(newExponential(parameter), count, fmt.Sprint("exponential ", parameter))
		default:
			return fmt.Errorf("%w: no law of the loss of %s is known", ErrCannotJudge, r.step.Kind)
		}
	}
	return nil
}

// smoothing is s²: a discrete Gaussian of parameter σ² is continuous noise of variance σ² − s², rounded at random, up
// to factors within e^(±2⁻⁸²) of 1 in the probabilities of one coordinate (docs/proofs/smoothing.md).
const smoothing = 3

// isSmooth reports whether the step adds Gaussian noise whose loss the norm of the shift nearly determines.
func isSmooth(step budget.Mechanism) bool {
	return step.Kind == budget.DiscreteGaussian && step.Parameter.Cmp(big.NewRat(8*smoothing, 1)) >= 0 &&
		step.L1.BitLen() <= 40
}

// isPlainlySmooth reports whether the step adds Gaussian noise with many shapes of shifts, and considering each would
// gain next to nothing.
func isPlainlySmooth(step budget.Mechanism) bool {
	return isSmooth(step) && step.Shifts == nil && step.L2Squared.Cmp(new(big.Int).Mul(step.L1, step.L1)) < 0 &&
		step.Parameter.Cmp(big.NewRat(1<<10, 1)) >= 0
}

// joinNormal adds the loss of a step whose norm is known, count times, to the single group of all such steps: N(ρ, 2ρ)
// with the sum of ρ = L2²/2(σ²−s²), each rounded up at the 100th binary digit.
func joinNormal(groups map[string]*group, step budget.Mechanism, count int64) {
	const digits = 100
	variance := new(big.Rat).Sub(step.Parameter, big.NewRat(smoothing, 1))
	rho := new(big.Rat).SetFrac(step.L2Squared, big.NewInt(2))
	rho.Quo(rho.Mul(rho, new(big.Rat).SetInt64(count)), variance)
	scaled := new(big.Int).Lsh(rho.Num(), digits)
	scaled.Add(scaled.Div(scaled, rho.Denom()), big.NewInt(1))
	rho.SetFrac(scaled, new(big.Int).Lsh(big.NewInt(1), digits))
	slack := math.Ldexp(toFloat(new(big.Rat).SetInt(step.L1)), -82) * float64(count)
	if g := groups["normal"]; g != nil {
		rho.Add(rho, g.law.(*normal).rho)
		slack += g.slack
	}
	groups["normal"] = &group{law: newNormal(rho), count: 1, slack: slack}
}

// cloneGroups copies groups so that counts can be added to the copies.
func cloneGroups(groups map[string]*group) map[string]*group {
	copied := make(map[string]*group, len(groups))
	for name, g := range groups {
		copied[name] = &group{law: g.law, count: g.count, slack: g.slack}
	}
	return copied
}

// listPartitions returns the ways to divide count equal things among n, or nil if there are more than limit.
func listPartitions(count int64, n, limit int) [][]int64 {
	if limit < 1 {
		return nil
	}
	if n == 1 {
		return [][]int64{{count}}
	}
	var all [][]int64
	for first := count; first >= 0; first-- {
		rest := listPartitions(count-first, n-1, limit-len(all))
		if rest == nil {
			return nil
		}
		for _, r := range rest {
			all = append(all, append([]int64{first}, r...))
		}
	}
	return all
}
