package release

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/stat/distuv"
)

// This file holds what others see of holders: whoever has shares, and whoever has the keys of some holders as well.

// sharedWords returns the masked answers of a holder.
func (f federation) sharedWords(t *testing.T, i int) []uint64 {
	t.Helper()
	var words []uint64
	for _, x := range f.openShare(t, i).Measured[0].Values.Int64Values() {
		words = append(words, uint64(x))
	}
	return words
}

// masksOf returns the masks that a holder has for the answers of the plan's measurement by a roll.
func (f federation) masksOf(t *testing.T, roll holder.Roll, i int) []uint64 {
	t.Helper()
	m := f.plan.Measurements[0]
	masks, err := holder.NewMasks(roll, f.holders[i].Key, f.holders[i].Name)
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint64, m.Cells)
	if err := masks.Mask(m.Canonical(), words); err != nil {
		t.Fatal(err)
	}
	return words
}

func addWords(sum, more []uint64) []uint64 {
	out := slices.Clone(sum)
	for i := range out {
		out[i] += more[i]
	}
	return out
}

func lessWords(from, what []uint64) []uint64 {
	out := slices.Clone(from)
	for i := range out {
		out[i] -= what[i]
	}
	return out
}

// evenness returns the least probability of χ² over the values of each of the eight bytes of words, if they are
// uniform.
func evenness(words []uint64) float64 {
	least := 1.0
	for at := range 8 {
		var counts [256]float64
		for _, w := range words {
			counts[byte(w>>(8*at))]++
		}
		sum, expected := 0.0, float64(len(words))/256
		for _, n := range counts {
			sum += (n - expected) * (n - expected) / expected
		}
		least = min(least, distuv.ChiSquared{K: 255}.Survival(sum))
	}
	return least
}

// TestSharesLookUniform takes the files of a release of four holders. The masked answers of every holder, and the
// sums of those of any one, two or three of them, have uniform bytes; the sum of all four has not. A mask is
// forgotten by holders who mask by a roll without one of them: each by itself looks uniform, and the sum of the three
// does not.
//
// There are 14 sets with 8 checks each, with an alarm below 1e-12: together they fail by chance with probability
// below 1.2e-10. In sums without masks the highest byte takes two values, so that no fault is missed.
func TestSharesLookUniform(t *testing.T) {
	testkit.SkipPassed(t)
	const alarm = 1e-12
	f := newFederation(t, trustText{4, 2, "disjoint"}, lawSpec)
	for i := range f.holders {
		f.give(t, i, "who,x\n1,3\n1,3\n2,70000\n")
	}
	f.release(t)
	var shares [][]uint64
	for i := range f.holders {
		shares = append(shares, f.sharedWords(t, i))
	}
	for set := 1; set < 1<<len(shares); set++ {
		sum := make([]uint64, lawCells)
		for i, share := range shares {
			if set>>i&1 == 1 {
				sum = addWords(sum, share)
			}
		}
		if p, all := evenness(sum), set == 1<<len(shares)-1; (p < alarm) != all {
			t.Errorf("the shares of the set %04b: χ² has probability %g", set, p)
		}
	}

	roll := f.nonced(t)
	keys := map[string]holder.PublicKey{}
	for _, name := range roll.Holders[:3] {
		keys[name] = roll.Keys[name]
	}
	less, err := holder.NewRoll(roll.PlanHash, keys)
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]uint64, lawCells)
	for i := range 3 {
		forgotten := addWords(lessWords(shares[i], f.masksOf(t, roll, i)), f.masksOf(t, less, i))
		if p := evenness(forgotten); p < alarm {
			t.Errorf("a share without one of its masks: χ² has probability %g", p)
		}
		sum = addWords(sum, forgotten)
	}
	if p := evenness(sum); p >= alarm {
		t.Errorf("a mask that all forget is not noticed: χ² has probability %g", p)
	}
}

// TestMasksOfAnotherKeyDoNotCancel: a holder that masked with another key than the plan has is found out by the sum.
func TestMasksOfAnotherKeyDoNotCancel(t *testing.T) {
	f := newHeld(t)
	roll, err := RollOf(f.plan)
	if err != nil {
		t.Fatal(err)
	}
	sum := make([]uint64, f.plan.Measurements[0].Cells)
	for i := range f.holders {
		sum = addWords(sum, f.masksOf(t, roll, i))
	}
	if slices.ContainsFunc(sum, func(w uint64) bool { return w != 0 }) {
		t.Error("the masks of all holders do not cancel")
	}
	stranger, err := holder.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	foreign := holder.Roll{PlanHash: roll.PlanHash, Holders: roll.Holders, Keys: map[string]holder.PublicKey{}}
	for name, key := range roll.Keys {
		foreign.Keys[name] = key
	}
	f.holders[2].Key, foreign.Keys["h02"] = stranger, stranger.Public()
	odd := make([]int64, len(sum))
	for i := range f.holders {
		by := roll
		if i == 2 {
			by = foreign
		}
		for cell, w := range f.masksOf(t, by, i) {
			odd[cell] += int64(w)
		}
	}
	if err := holder.Check(odd); err == nil { // by chance with probability 2^-10
		t.Error("masks that do not cancel are not noticed")
	}
}

// colluders audits what a coordinator sees with the keys of all holders but the trusted ones: it takes their masks off
// the shares of the trusted ones, and is left with the sum of these holders' exact answers and their noise. Some of the
// colluders may withdraw once all others have measured, so that these mask their answers anew.
type colluders struct {
	audited
	trust     trustText
	withdrawn int
}

// plan plans a release of holders with a budget.
func (c colluders) plan(t *testing.T, trust trustText, money string) federation {
	t.Helper()
	return newFederation(t, trust, fmt.Sprintf(`version: 1
release: audit
privacy: {protects: person, neighbours: add-remove, account: persons}
budget: {%s}
tables: {t: {source: {csv: t.csv}, unit: {id: id, max_rows: %d}, columns: {block: {type: integer, range: [0, %d]}}}}
marginals: {m0: {by: [block]}}
`, money, c.maxRows, c.blocks()-1))
}

// view returns what the colluders know of the counts of the first few holders, whose first one has the worst unit in
// the planted blocks.
func (c colluders) view(t *testing.T, f federation, honest int, planted []bool) [][]int64 {
	t.Helper()
	rows := strings.Builder{}
	rows.WriteString("id,block\n")
	for range c.rows() {
		for block, there := range planted {
			if there {
				fmt.Fprintf(&rows, "%d,%d\n", block, block)
			}
		}
	}
	f.give(t, 0, rows.String())
	other := rand.New(rand.NewPCG(1, 2))
	exact := make([]uint64, c.blocks())
	for i := range f.holders[1:] { // with rows that the colluders know
		rows := strings.Builder{}
		rows.WriteString("id,block\n")
		for id := range 1000 {
			block := other.IntN(c.blocks())
			if i+1 < honest { // else with a colluder
				exact[block]++
			}
			fmt.Fprintf(&rows, "%d,%d\n", id, block)
		}
		f.give(t, i+1, rows.String())
	}
	f.sign(t)
	first := f.except(c.withdrawn)
	first.measure(t)
	sum := f.unmasked(t, first, honest)
	if c.withdrawn > 0 {
		left := f.withdraw(t, c.withdrawn).measureAgain(t)
		if !slices.Equal(left.unmasked(t, left, honest), sum) {
			t.Error("the shares that were masked anew show another answer than the first ones")
		}
	}
	counts := make([]int64, c.blocks())
	for i, w := range lessWords(sum, exact) {
		counts[i] = int64(w)
	}
	return [][]int64{counts}
}

// unmasked returns the sum of the noisy answers of the first few holders, of whose shares the masks that all others on
// the roll know are taken off: the masks of all cancel.
func (f federation) unmasked(t *testing.T, shares federation, honest int) []uint64 {
	t.Helper()
	roll, sum := shares.nonced(t), make([]uint64, f.plan.Measurements[0].Cells)
	for i := range f.holders {
		if i < honest {
			sum = addWords(sum, shares.sharedWords(t, i))
		} else {
			sum = addWords(sum, f.masksOf(t, roll, i))
		}
	}
	return sum
}

// seen counts the audits' events in the colluders' view.
func (c colluders) seen(t *testing.T, f federation, honest int, audits []audit, seed uint64) []frequencies {
	t.Helper()
	planted := randomHalf(2*c.trials, seed)
	noisy, seen := c.view(t, f, honest, planted), make([]frequencies, len(audits))
	for i, au := range audits {
		seen[i].add(au.event, noisy, planted)
	}
	return seen
}

// TestAuditColluders bounds from below the loss to whoever has every share and the keys, the data and the noise of
// all holders but the trusted ones, as TestAuditPublished does for the public: it must stay below the claim and reach
// 0.9 of it. It notices noise of half the scale, and that one holder fewer than trusted does not protect as the plan
// says.
func TestAuditColluders(t *testing.T) {
	testkit.SkipPassed(t)
	for _, trust := range []trustText{{2, 1, "disjoint"}, {4, 2, "disjoint"}, {3, 3, "disjoint"}} {
		t.Run(fmt.Sprintf("%d of %d", trust.trusted, trust.holders), func(t *testing.T) {
			c := colluders{trust: trust, audited: audited{neighbours: spec.AddRemove, budget: "epsilon: 1", maxRows: 2,
				marginals: 1, trials: 100000}}
			c.testView(t)
		})
	}
}

// testView audits the view as it should be, and with mistakes.
func (c colluders) testView(t *testing.T) {
	t.Helper()
	f := c.plan(t, c.trust, c.budget)
	m := f.plan.Measurements[0].Mechanism
	audits := newAudits(t, c.audited, compiled.Of(f.plan.Plan()))
	for i, seen := range c.seen(t, f, c.trust.trusted, audits, 1) {
		audits[i].passes(t, m, seen, c.trials)
	}
	half := c.plan(t, c.trust, noisePrice(m, 2, 1))
	for i, seen := range c.seen(t, half, c.trust.trusted, audits, 2) {
		audits[i].catches(t, "half the scale", half.plan.Measurements[0].Mechanism, c.maxRows, seen)
	}
	if c.trust.trusted > 1 {
		c.findFewer(t, m, audits)
	}
}

// findFewer wants the audits to find that the noise of one holder fewer than trusted protects less.
func (c colluders) findFewer(t *testing.T, m budget.Mechanism, audits []audit) {
	t.Helper()
	fewer := c.trust.trusted - 1
	law := dividedNoise{m.Kind, m.Parameter}.law(fewer, c.trust.trusted)
	for i := range audits {
		au := &audits[i]
		present, absent := au.scored(law.Shifted(au.rows)), au.scored(law)
		if au.reversed {
			present, absent = absent.Negated(), present.Negated()
		}
		au.least = bestThreshold(au.figure, present, absent, c.trials)
		p1, p0 := present.AtLeast(au.least), absent.AtLeast(au.least)
		if _, missed := au.chances(au.claim, p1, p0, c.trials); missed > mostWrong {
			t.Errorf("the noise of %d is missed with probability %g", fewer, missed)
		}
	}
	for i, seen := range c.seen(t, c.plan(t, c.trust, c.budget), fewer, audits, 3) {
		bound := audits[i].bound(seen.likely, seen.unlikely)
		t.Logf("the noise of %d holders: claim %.4f, lower bound %.4f", fewer, audits[i].claim, bound)
		if !(bound > audits[i].claim) {
			t.Errorf("that the noise of %d holders is too little is not noticed", fewer)
		}
	}
}
