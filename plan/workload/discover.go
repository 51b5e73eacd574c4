package workload

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds the groups that nobody lists: in how many of them one unit differs, and which part of δ their
// selection takes.

// ChancesOf are the probabilities for which a table states how large a group must be.
var ChancesOf = []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999}

// requestedGroups returns the selection of a marginal by columns whose categories nobody lists.
func requestedGroups(_ *spec.Marginal, unlisted []*spec.Column) (selection.Selection, bool) {
	return selection.Groups{}, len(unlisted) > 0 && unlisted[0].Domain.Discover().Alphabet == ""
}

// mostListed bounds the combinations of listed categories that go with a column of which up to 2^32 values may be
// discovered, so that whether its groups can be numbered does not depend on the values in the data.
const mostListed = int64(1) << 30

// groupCells returns how many cells a table of groups may have. It returns a fault if too many categories are listed.
func groupCells(t *Table, levels []*domain.Level) (int64, error) {
	listed := int64(1)
	for _, level := range levels {
		size := max(int64(level.Size()), 1) // of a column whose categories are not listed: none
		if listed > mostListed/size {
			return 0, &Fault{"by", fmt.Sprintf(
				"table %s has more than 2^30 combinations of listed categories beside those that are discovered",
				t.Path),
				"coarser levels or fewer attributes"}
		}
		listed *= size
	}
	return limit.SparseCells, nil
}

// describeGroups says which groups a table has, as it has no listed cells.
func describeGroups(t *Table, r *spec.Release, out *plan.Table) {
	d := &selection.GroupsFacts{Groups: t.MaxDifferingGroups(r)}
	if r.Privacy.Neighbours == spec.Replace {
		d.Groups /= 2
	}
	for _, c := range t.Discovers {
		d.Columns = append(d.Columns, c.Name)
		d.MaxLength = append(d.MaxLength, c.Domain.Discover().MaxLength)
		d.AtLeast = max(d.AtLeast, c.Domain.Discover().AtLeast)
	}
	out.Cells, out.Discovered = 0, d
}

// MaxDifferingGroups returns in how many groups of a table neighbours differ at most.
func (t *Table) MaxDifferingGroups(r *spec.Release) int64 {
	groups := int64(1)
	if u := t.Unit(r); !u.Table.Unit.Row {
		groups, _ = u.Rows()
	}
	if r.Privacy.Neighbours == spec.Replace {
		groups *= 2
	}
	return groups
}

// ReservedPart is the denominator of the part of δ that is reserved for selections. A unit whose values change, as
// seen by somebody who knows all else, costs twice that part, and something must be left for the noise.
const ReservedPart = 4

// OnSelections returns the release with the δ that is left for noise if a part of it is reserved for selections; the
// release itself if it has none.
//
// Guarantee: what is (ε, δ₀)-private but for selections which, together, let a group appear that only one unit has
// with a probability of at most δ − δ₀, is (ε, δ)-private. Neighbours: both relations. Argument:
// docs/proofs/discover.md.
func OnSelections(r *spec.Release) *spec.Release {
	if Selections(r) == 0 {
		return r
	}
	inner := *r
	inner.Budget.Delta = new(big.Rat).Mul(r.Budget.Delta, big.NewRat(ReservedPart-1, ReservedPart))
	return &inner
}

// Selections returns how many tables of a release have groups that nobody listed.
func Selections(r *spec.Release) (n int64) {
	for _, m := range r.Marginals {
		if t := r.Table(m.Table); t != nil && len(t.Discovers(m.By)) > 0 {
			n++
		}
	}
	return n
}

// Reserved returns the part of the release's δ that selections have, nil if there are none.
func Reserved(p *plan.Plan) *big.Rat {
	if Selections(p.Release()) == 0 || p.Release().Budget.Delta == nil {
		return nil
	}
	return new(big.Rat).Sub(p.Release().Budget.Delta, OnSelections(p.Release()).Budget.Delta)
}

// MostSigmaSquared bounds the Gaussian noise of a sparse table.
const MostSigmaSquared = int64(1) << 32
