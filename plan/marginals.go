package plan

import (
	"slices"

	"github.com/dprelease/dprelease/plan/attributes"
	"github.com/dprelease/dprelease/spec"
)

// This file holds the marginals that published tables show.

// Query returns the marginal that a table shows, of identity factors: of the attributes that it is counted by.
func (p *Plan) Query(t Table) Query {
	return MarginalOf(t.From, attributes.CountedBy(p.Release().Table(t.From), t.Attributes()))
}

// PublishedQuery returns the same marginal of the attributes that the table is published by: a derived column in place
// of its origin. Both have the same cells in the same order.
func (p *Plan) PublishedQuery(t Table) Query { return MarginalOf(t.From, t.Attributes()) }

// SummedAlong returns the attributes of a table along which it accumulates, and those along which it needs sums of
// neighbours, as the spec lists them.
func (p *Plan) SummedAlong(t Table) (cumulative, ranges []string) {
	along := func(asked []spec.Attribute) []string {
		var names []string
		for _, a := range asked {
			if slices.Contains(t.By, a.String()) {
				names = append(names, a.String())
			}
		}
		return names
	}
	for _, m := range p.release.Marginals {
		if m.Name == t.Marginal {
			return along(m.Cumulative), along(m.Ranges)
		}
	}
	return nil, nil
}
