package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds discoveries: tables by columns whose categories nobody lists, of which those groups are published that a
// selection lets through.

// Discovery is how a measurement selects the groups that it is of. A group is a value of each column of Columns, beside
// categories of those that are listed; it counts the units in it.
//
// With probability π(n) a group of n units is selected, whatever the others: π is that of [budget.PartitionSelection] with the
// ε of Select and Delta, where Select is a randomized response; where it adds noise X, π(n) = P(n + X ≥ Threshold) for n ≥ 1
// and 0 for n = 0. With AtLeast = m it is π(n−m+1), and 0 below m.
type Discovery struct {
	Columns []string `json:"columns"`
	// Groups is in how many groups the units of two neighbours differ at most: those of one unit, or under replace twice as many.
	Groups int64 `json:"groups"`
	// Select is what the selection costs beside δ: of each of Groups groups a randomized response, or noise on the units of all.
	Select    budget.Mechanism `json:"select"`
	Delta     string           `json:"delta"` // of one group, exact
	Threshold int64            `json:"threshold,omitempty"`
	AtLeast   int64            `json:"at_least,omitempty"`
}

// steps are the mechanisms of the selection, for so many times the groups in which neighbours differ.
func (d *Discovery) steps(times int64) []budget.Mechanism {
	if d.Select.Kind == budget.RandomizedResponse {
		return slices.Repeat([]budget.Mechanism{d.Select}, int(times*d.Groups))
	}
	m := d.Select
	by := big.NewInt(times)
	m.L1, m.L2Squared = by.Mul(by, m.L1), new(big.Int).Mul(big.NewInt(times), m.L2Squared)
	return []budget.Mechanism{m}
}

// Steps are the mechanisms of the selection as it is run.
func (d *Discovery) Steps() []budget.Mechanism { return d.steps(1) }

// Kept is with what probability a group of some numbers of units is selected.
type Kept struct {
	of            *Discovery
	probabilities []float64 // of 0, 1, 2, … units beyond what is asked for at least; the last is that of all more
}

// Kept works out the probabilities of a selection. It fails on one that a planner does not make.
func (d *Discovery) Kept() (*Kept, error) {
	k := &Kept{of: d}
	if err := d.Select.Validate(); err != nil {
		return nil, err
	}
	delta, err := budget.ParseRat(d.Delta)
	if err != nil || delta.Sign() <= 0 || delta.Cmp(big.NewRat(1, 1)) >= 0 || d.Groups < 1 || d.AtLeast < 0 {
		return nil, fmt.Errorf("there is no such selection")
	}
	switch {
	case d.Select.Kind == budget.RandomizedResponse:
		k.probabilities, err = budget.PartitionSelection{Epsilon: floatBelow(d.Select.Parameter), Delta: floatBelow(delta), MaxPartitions: 1}.KeepProbabilities()
		return k, err
	case d.Select.Kind != budget.DiscreteGaussian || d.Threshold != threshold(d.Select, delta):
		return nil, fmt.Errorf("there is no such selection")
	}
	return k, nil
}

// Optimal are the probabilities of 0, 1, 2, … units, of which the last is that of all more, each a float that is meant
// exactly; nil where noise is added and held against the threshold.
func (k *Kept) Optimal() []float64 { return k.probabilities }

// Counted is how many units of a group count for its selection: those beyond what it must have at least.
func (d *Discovery) Counted(units int64) int64 { return max(0, units-max(d.AtLeast-1, 0)) }

// Chance is the probability with which a group of so many units is selected.
func (k *Kept) Chance(units int64) float64 {
	n := k.of.Counted(units)
	switch {
	case n == 0:
		return 0
	case k.probabilities != nil:
		return k.probabilities[min(n, int64(len(k.probabilities)-1))]
	}
	return k.of.Select.Above(k.of.Threshold - n - 1)
}

// Needs is how many units a group has at least that is selected with this chance.
func (k *Kept) Needs(chance float64) int64 {
	n := int64(1)
	for k.Chance(n) < chance {
		n *= 2
	}
	return int64(sort.Search(int(n), func(i int) bool { return k.Chance(int64(i)) >= chance }))
}

// floatBelow is the largest float that is not above x.
func floatBelow(x *big.Rat) float64 {
	f, exact := x.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(x) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// threshold is the least noisy number of units of a group that is selected, for noise with which a group of one unit reaches
// it with a probability of at most delta. [budget.Mechanism.Above] is good to 12 digits.
func threshold(noise budget.Mechanism, delta *big.Rat) int64 {
	return 2 + leastAbove(noise, float64(floatBelow(delta)*(1-1e-9)))
}

// Discovered says of a table which groups it has.
type Discovered struct {
	Columns   []string `json:"columns"`
	Groups    int64    `json:"groups"` // in so many a unit counts at most
	MaxLength []int64  `json:"max_length"`
	AtLeast   int64    `json:"at_least,omitempty"`
	Delta     string   `json:"delta,omitempty"` // reserved for the selection, of the δ of the release
	Optimal   bool     `json:"optimal,omitempty"`
	// Chances are of groups of some sizes.
	Chances []Chance `json:"chances,omitempty"`
}

// asAsked tells that the groups are of what another says that is known before there is a budget.
func (d Discovered) asAsked(asked Discovered) bool {
	return slices.Equal(d.Columns, asked.Columns) && slices.Equal(d.MaxLength, asked.MaxLength) && d.Groups == asked.Groups && d.AtLeast == asked.AtLeast
}

// Chance is with what chance a group of so many units appears.
type Chance struct {
	Units  int64   `json:"units"`
	Chance float64 `json:"chance"`
}

// chancesOf are the chances for which a table says how large a group must be.
var chancesOf = []float64{0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999}

// discoveredOf describes a table of groups that are not listed, nil another.
func discoveredOf(t *table, neighbours spec.Neighbours) *Discovered {
	if t.discovers == nil {
		return nil
	}
	d := &Discovered{Groups: t.differ(neighbours)}
	if neighbours == spec.Replace {
		d.Groups /= 2
	}
	for _, c := range t.discovers {
		d.Columns = append(d.Columns, c.Name)
		d.MaxLength = append(d.MaxLength, c.Domain.Discover().MaxLength)
		d.AtLeast = max(d.AtLeast, c.Domain.Discover().AtLeast)
	}
	return d
}

// differ is in how many groups of a table the units of neighbours differ at most.
func (t *table) differ(neighbours spec.Neighbours) int64 {
	groups := int64(1)
	if !t.unit.Row {
		groups, _ = rowsOf(t.unit, t.perUnit, t.cells)
	}
	if neighbours == spec.Replace {
		groups *= 2
	}
	return groups
}

// usualGroups is as how many cells a table counts beside others of its leaf whose groups nobody knows the number of.
const usualGroups = 1000

// reservedPart is the part of δ that is reserved for selections: 1 in so many. A unit whose values change, as somebody sees
// it who knows all else, costs twice that, and something has to be left then.
const reservedPart = 4

// onSelections is the release with the δ that is left for noise where a part of it is reserved for selections; the release
// itself where there are none.
//
// Guarantee: what is (ε, δ₀)-private but for selections which, together, let a group appear that only one unit has with a
// probability of at most δ − δ₀, is (ε, δ)-private. Neighbours: both relations. Argument: docs/proofs/discover.md.
func onSelections(r *spec.Release) *spec.Release {
	if selections(r) == 0 {
		return r
	}
	inner := *r
	inner.Budget.Delta = new(big.Rat).Mul(r.Budget.Delta, big.NewRat(reservedPart-1, reservedPart))
	return &inner
}

// selections is how many tables of a release have groups that nobody listed.
func selections(r *spec.Release) (n int64) {
	for _, m := range r.Marginals {
		if t := r.Table(m.Table); t != nil && len(t.Discovers(m.By)) > 0 {
			n++
		}
	}
	return n
}

// Reserved is the part of the δ of the release that selections have, nil where there are none.
func (p *Plan) Reserved() *big.Rat {
	if selections(p.Release()) == 0 {
		return nil
	}
	return new(big.Rat).Sub(p.Release().Budget.Delta, onSelections(p.Release()).Budget.Delta)
}

// mostResponses is up to how many groups of neighbours are selected one by one: noise against a threshold is better from about
// three on.
const mostResponses = 64

// discovered adds the design of a table of groups that are not listed: half of its ρ for the selection, half for the noise on
// the numbers of units, drawn afresh. Its error is the variance of that noise and, for the groups that are missing, the square
// of how many units one has that appears half of the time.
func (g *group) discovered(noise budget.Kind) (design, error) {
	t := g.tables[0]
	d := design{kind: Direct, noise: noise, parts: []float64{1}, planned: []planned{
		{group: g, table: t, cells: 0, noise: noise, distance: g.moved(g.release, t), adds: 1},
	}}
	groups := float64(t.differ(g.release.Privacy.Neighbours))
	delta, _ := t.deltaEach(g.release).Float64()
	half := 0.5 // of a ρ of 1
	if noise == budget.DiscreteLaplace {
		half = 0.25 // of an ε of 1, which is a ρ of ½
	}
	var variance, needs float64
	if noise == budget.DiscreteLaplace {
		l1 := floatOf(d.planned[0].l1)
		variance = float64(l1*l1) / half
		needs = -budget.Log(2*delta) * math.Sqrt(groups/(2*half))
	} else {
		variance = floatOf(d.planned[0].l2Squared) / (2 * half)
		needs = budget.NormalQuantile(delta) * math.Sqrt(groups/(2*half))
	}
	both := variance + float64(needs*needs)
	d.spread = float64(variance * usualGroups)
	d.error = float64(t.weight * both)
	if g.minimise != spec.LeastLargest {
		d.error = float64(d.error * usualGroups)
	}
	return d, nil
}

// deltaEach is the δ of one group of the table: what is reserved, in equal parts for all selections, and of each for all
// groups in which neighbours differ. r has the δ that is left for the noise.
func (t *table) deltaEach(r *spec.Release) *big.Rat {
	parts := new(big.Int).Mul(big.NewInt(selections(r)*(reservedPart-1)), big.NewInt(t.differ(r.Privacy.Neighbours)))
	return new(big.Rat).Quo(r.Budget.Delta, new(big.Rat).SetInt(parts))
}

// discover spends a ρ on a table of groups that are not listed.
//
// Guarantee: the selection and the noise cost at most ρ together, beside the δ of the selection: for each of the groups in
// which neighbours differ ε²/2 or, with noise, one unit of L2² (Bun & Steinke 2016). Neighbours: both relations.
// Argument: docs/proofs/discover.md.
func (p planned) discover(m *Measurement, rho *big.Rat) error {
	r, t := p.group.release, p.table
	groups := t.differ(r.Privacy.Neighbours)
	half := new(big.Rat).Quo(rho, big.NewRat(2, 1))
	each := t.deltaEach(r)
	d := &Discovery{Groups: groups, Delta: each.RatString()}
	for _, c := range t.discovers {
		d.Columns = append(d.Columns, c.Name)
		d.AtLeast = max(d.AtLeast, c.Domain.Discover().AtLeast)
	}
	var err error
	if p.noise == budget.DiscreteLaplace {
		d.Select = budget.Mechanism{Kind: budget.RandomizedResponse, Parameter: rootBelow(new(big.Rat).Quo(rho, new(big.Rat).SetInt64(groups)), laplaceBits)}
		m.Mechanism, err = budget.LaplaceFor(p.l1, rootBelow(rho, laplaceBits))
	} else {
		k := big.NewInt(groups)
		if d.Select, err = budget.GaussianFor(k, k, half); err != nil {
			return err
		}
		if d.Select.Parameter.Cmp(new(big.Rat).SetInt64(mostSigmaSquared)) >= 0 {
			return fmt.Errorf("its selection has noise with a standard error of 65 536 or more: give it more of the budget")
		}
		d.Threshold = threshold(d.Select, each)
		m.Mechanism, err = budget.GaussianFor(p.l1, p.l2Squared, half)
	}
	m.Mechanism.Shifts = p.shifts
	if err == nil {
		_, err = d.Kept()
	}
	m.Discovery = d
	return err
}

// say works out what is said of the groups of a table.
func (d *Discovered) say(m Measurement, reserved *big.Rat) error {
	k, err := m.Discovery.Kept()
	if err != nil {
		return err
	}
	d.Optimal = m.Discovery.Select.Kind == budget.RandomizedResponse
	d.Delta = budget.FormatRat(reserved)
	first := max(m.Discovery.AtLeast, 1)
	units := []int64{first}
	for _, chance := range chancesOf {
		if n := k.Needs(chance); n > units[len(units)-1] {
			units = append(units, n)
		}
	}
	for _, n := range units {
		d.Chances = append(d.Chances, Chance{n, budget.RoundUp(k.Chance(n), 4)})
	}
	return nil
}

// discover says of every table of groups that are not listed how likely these appear.
func (p *Plan) discover() error {
	p.Cost.Delta = p.Reserved()
	measured := p.measured()
	for i := range p.Tables {
		t := &p.Tables[i]
		if t.Discovered == nil {
			continue
		}
		share := new(big.Rat).Quo(p.Reserved(), new(big.Rat).SetInt64(selections(p.Release())))
		if err := t.Discovered.say(measured[t.Path], share); err != nil {
			return at(p.Release(), "marginals."+t.Marginal, &fault{"by", fmt.Sprintf("no selection of the groups of table %s can be made: %v", t.Path, err), "more of the budget, or groups: a smaller number"})
		}
		t.Expectation = t.Discovered.expectation(*t)
	}
	return nil
}

// expectation says in words which groups a table will have, and what its figures are good for.
func (d *Discovered) expectation(t Table) string {
	return fmt.Sprintf("%s Figures are within ±%s of the exact number of units 19 times in 20, in the groups that appear: their noise has nothing to do with the selection.",
		d.Sentence(), budget.Group(WholeMargin(t.Statistics[0].Margin)))
}

// Sentence says which groups appear.
func (d *Discovered) Sentence() string {
	least := ""
	if d.AtLeast > 1 {
		least = fmt.Sprintf(" Groups of fewer than %s never do.", budget.Plural(d.AtLeast, "unit"))
	}
	return fmt.Sprintf("Nobody lists the values of %s: a group appears by a selection that is paid for with a δ of %s, in which a unit counts in %s at most. %s%s A group that is not in the table need not be empty.",
		strings.Join(d.Columns, " and "), budget.DecimalUp(amount(d.Delta), 3), budget.Plural(d.Groups, "group"), d.ChancesText(), least)
}

// ChancesText says of some sizes with what chance a group appears.
func (d *Discovered) ChancesText() string {
	var all []string
	for i, c := range d.Chances {
		chance := budget.Percent(c.Chance)
		switch {
		case c.Chance < 1e-4:
			chance = budget.DecimalNearest(c.Chance, 2)
		case c.Chance > 0.99:
			chance = budget.Percent(math.Floor(c.Chance*1e4) / 1e4)
		}
		if i == 0 {
			all = append(all, fmt.Sprintf("A group of %s appears with a chance of %s", budget.Plural(c.Units, "unit"), chance))
		} else {
			all = append(all, fmt.Sprintf("one of %s of %s", budget.Group(c.Units), chance))
		}
	}
	return strings.Join(all, ", ") + "."
}

// floatAbove is the least float that is not below x.
func floatAbove(x *big.Rat) float64 { return -floatBelow(new(big.Rat).Neg(x)) }

// selectedTwice is how often a unit whose values of a column change pays for the selections of the plan's neighbours: it
// leaves some groups and comes into as many.
func (p *Plan) selectedTwice() int64 {
	if p.Release().Privacy.Neighbours == spec.Replace {
		return 1
	}
	return 2
}

// beyondSelections are those of some δ, as texts, at which an ε can be said where selections have a part of it, which somebody
// who knows all but one attribute of a unit may meet twice.
func (p *Plan) beyondSelections(deltas []string) []string {
	reserved := p.Reserved()
	if reserved == nil {
		return deltas
	}
	least := new(big.Rat).Mul(reserved, big.NewRat(p.selectedTwice(), 1))
	return slices.DeleteFunc(slices.Clone(deltas), func(d string) bool { return amount(d).Cmp(least) <= 0 })
}
