package plan

// This file holds what a plan knows of a sample: what its mechanisms may spend, and what a counted row stands for.

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// onSample is the release with the budget that mechanisms may have which see a sample of its units alone; the release
// itself where they see all.
//
// Guarantee: mechanisms within that budget, run on one secret Poisson sample of the units, are together within the budget of
// the release. Neighbours: add-remove alone, which a spec with a sample has. Theorem: Balle, Barthe & Gaboardi 2018, theorem
// 8. Argument: docs/proofs/sampling.md.
func onSample(r *spec.Release) (*spec.Release, error) {
	share := r.Sampled()
	if share == nil {
		return r, nil
	}
	inner := *r
	var err error
	if inner.Budget.Epsilon, inner.Budget.Delta, err = budget.BeforeSampling(r.Budget.Epsilon, r.Budget.Delta, share); err != nil {
		return nil, r.Problem("budget", spec.Problem{Message: "this budget cannot be spent on a sample: " + err.Error(), Expected: "another budget, or another share of the units"})
	}
	return &inner, nil
}

// onAll makes of a plan for the sample that of the release: an account in ε is charged what all units lose, one in ρ what
// those lose that are drawn.
func (p *Plan) onAll(r *spec.Release) {
	*p = *p.With(r)
	if p.Sample == nil {
		return
	}
	if p.Sample.Spent = p.Cost; p.Cost.Epsilon != nil {
		p.Cost.Epsilon = r.Budget.Epsilon
	}
}

// Sample is the secret draw of the units that are measured.
type Sample struct {
	// Share is the probability with which each unit is drawn, an exact fraction.
	Share string `json:"share"`
	// Spent is what the mechanisms add up to, for the units that are drawn.
	Spent budget.Cost `json:"spent"`
}

// sampleOf is the sample of a release, nil where all units are measured. What its mechanisms add up to comes later.
func sampleOf(r *spec.Release) *Sample {
	if share := r.Sampled(); share != nil {
		return &Sample{Share: share.RatString()}
	}
	return nil
}

// Spent is what the mechanisms add up to, of which each leaf and measurement has its part: the charge or, on a sample, what
// the units lose that are drawn.
func (p *Plan) Spent() budget.Cost {
	if p.Sample != nil {
		return p.Sample.Spent
	}
	return p.Cost
}

// Each is what one of the rows that a table counts stands for, beside its weight: 1, or the inverse of the share that is drawn.
func (s *Sample) Each() *big.Rat {
	if s == nil {
		return big.NewRat(1, 1)
	}
	return new(big.Rat).Inv(amount(s.Share))
}

// Sampled tells that the table counts units that were drawn, each as many.
func (t Table) Sampled() bool { return !t.Weighted && t.Statistics[0].Unit != "" }

// RowsOfUnit is how many rows of one unit a cell of a table counts at most or, with sums, several of its cells together.
func (p *Plan) RowsOfUnit(t Table, sums bool) int64 {
	all, each := rowsOf(p.Release().Table(t.From).Unit, t.PerUnit, t.Cells)
	if sums || slices.ContainsFunc(t.By, func(by string) bool { return p.countsUp(t, by) }) {
		return all
	}
	return each
}

// shareText is an exact share as a percentage, such as "10%".
func shareText(share string) string {
	f, _ := amount(share).Float64()
	return budget.Percent(f)
}

// sentence says what the sample adds to the error of a count whose units have up to so many rows in a cell.
func (s *Sample) sentence(rows int64) string {
	share := amount(s.Share)
	each := new(big.Rat).Quo(new(big.Rat).Sub(big.NewRat(1, 1), share), share)
	each.Mul(each, new(big.Rat).SetInt64(rows))
	return fmt.Sprintf(" The error of the sample comes on top: in a cell of n rows its standard error is at most √(%s·n), and the published interval includes it.", budget.DecimalUp(each, 4))
}
