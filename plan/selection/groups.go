package selection

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"

	"github.com/dprelease/dprelease/budget"
)

// Groups gives out the groups that a private selection lets through, if nobody lists the categories. A group is a
// value of each column of Columns, together with categories of listed columns; it counts the units in it.
//
// With probability π(n) a group of n units is selected, whatever the others: π is that of [budget.PartitionSelection]
// with the ε of Select and Delta, where Select is a randomized response; where it adds noise X, π(n) = P(n + X ≥
// Threshold) for n ≥ 1 and 0 for n = 0. With AtLeast = m it is π(n−m+1), and 0 below m.
type Groups struct {
	Columns []string `json:"columns"`
	// Groups is in how many groups the units of two neighbours differ at most: those of one unit, or under replace
	// twice as many.
	Groups int64 `json:"groups"`
	// Select is what the selection costs in addition to δ: a randomized response for each of Groups groups, or noise on
	// the units of all.
	Select    budget.Mechanism `json:"select"`
	Delta     string           `json:"delta"` // of one group, exact
	Threshold int64            `json:"threshold,omitempty"`
	AtLeast   int64            `json:"at_least,omitempty"`
}

// MostResponses is the largest number of groups of neighbours that are selected one by one, each by a randomized
// response: noise and a threshold are better from about three on.
const MostResponses = 64

// Kind returns [KindGroups].
func (Groups) Kind() Kind { return KindGroups }

// Check returns an error unless a planner makes such a selection.
func (d Groups) Check() error {
	_, err := d.Probabilities()
	return err
}

// StepsOf returns the mechanisms of the selection, for a multiple of the groups in which neighbours differ.
func (d Groups) StepsOf(times int64) []budget.Mechanism {
	if d.Select.Kind == budget.RandomizedResponse {
		return slices.Repeat([]budget.Mechanism{d.Select}, int(times*d.Groups))
	}
	m := d.Select
	by := big.NewInt(times)
	m.L1, m.L2Squared = by.Mul(by, m.L1), new(big.Int).Mul(big.NewInt(times), m.L2Squared)
	return []budget.Mechanism{m}
}

// Steps returns the mechanisms of the selection as it is run.
func (d Groups) Steps() []budget.Mechanism { return d.StepsOf(1) }

// Probabilities are the probabilities with which groups of some numbers of units are selected.
type Probabilities struct {
	of            Groups
	probabilities []float64 // of 0, 1, 2, … units beyond what is asked for at least; the last is that of all more
}

// Probabilities works out the probabilities of a selection. It returns an error for one that a planner does not make.
func (d Groups) Probabilities() (*Probabilities, error) {
	k := &Probabilities{of: d}
	if err := d.Select.Validate(); err != nil {
		return nil, err
	}
	delta, err := budget.ParseRat(d.Delta)
	if err != nil || delta.Sign() <= 0 || delta.Cmp(big.NewRat(1, 1)) >= 0 || d.Groups < 1 || d.AtLeast < 0 {
		return nil, fmt.Errorf("there is no such selection")
	}
	switch {
	case d.Select.Kind == budget.RandomizedResponse && d.Groups <= MostResponses:
		k.probabilities, err = budget.PartitionSelection{Epsilon: floatBelow(d.Select.Parameter),
			Delta:         floatBelow(delta),
			MaxPartitions: 1}.KeepProbabilities()
		return k, err
	case d.Select.Kind != budget.DiscreteGaussian || d.Threshold != LeastSelected(d.Select, delta):
		return nil, fmt.Errorf("there is no such selection")
	}
	return k, nil
}

// Optimal returns the probabilities of 0, 1, 2, … units, of which the last is that of all more, each a float that is
// meant exactly; nil if noise is added and compared with the threshold.
func (k *Probabilities) Optimal() []float64 { return k.probabilities }

// Counted returns how many units of a group count for its selection: those beyond its required minimum.
func (d Groups) Counted(units int64) int64 { return max(0, units-max(d.AtLeast-1, 0)) }

// Chance returns the probability with which a group of that many units is selected.
func (k *Probabilities) Chance(units int64) float64 {
	n := k.of.Counted(units)
	switch {
	case n == 0:
		return 0
	case k.probabilities != nil:
		return k.probabilities[min(n, int64(len(k.probabilities)-1))]
	}
	return k.of.Select.Above(k.of.Threshold - n - 1)
}

// UnitsNeeded returns the least number of units of a group that is selected with this probability.
func (k *Probabilities) UnitsNeeded(chance float64) int64 {
	n := int64(1)
	for k.Chance(n) < chance {
		n *= 2
	}
	return int64(sort.Search(int(n), func(i int) bool { return k.Chance(int64(i)) >= chance }))
}

// floatBelow returns the largest float that is not above x.
func floatBelow(x *big.Rat) float64 {
	f, exact := x.Float64()
	if !exact && new(big.Rat).SetFloat64(f).Cmp(x) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// LeastSelected returns the least noisy number of units of a selected group, for noise with which a group of one unit
// reaches it with a probability of at most delta. [budget.Mechanism.Above] is good to 12 digits.
func LeastSelected(noise budget.Mechanism, delta *big.Rat) int64 {
	return 2 + noise.LeastAbove(float64(floatBelow(delta)*(1-1e-9)))
}

// GroupsFacts describes the groups of a table.
type GroupsFacts struct {
	Columns   []string `json:"columns"`
	Groups    int64    `json:"groups"` // largest number of groups in which a unit counts
	MaxLength []int64  `json:"max_length"`
	AtLeast   int64    `json:"at_least,omitempty"`
	Delta     string   `json:"delta,omitempty"` // reserved for the selection, of the δ of the release
	Optimal   bool     `json:"optimal,omitempty"`
	// Chances are the probabilities of groups of some sizes.
	Chances []Chance `json:"chances,omitempty"`
}

// MatchesRequest reports whether the groups agree with others in what is known before there is a budget.
func (d GroupsFacts) MatchesRequest(asked GroupsFacts) bool {
	return slices.Equal(d.Columns, asked.Columns) && slices.Equal(d.MaxLength, asked.MaxLength) &&
		d.Groups == asked.Groups && d.AtLeast == asked.AtLeast
}

// Chance is the probability with which a group of that many units appears.
type Chance struct {
	Units  int64   `json:"units"`
	Chance float64 `json:"chance"`
}
