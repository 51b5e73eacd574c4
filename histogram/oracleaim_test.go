package histogram

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// aimOracle is an oracle of AIM over 7319 rows of one kind and 12 of another.
func aimOracle(t testing.TB, replacements ...string) (*Exact, func(n int) *Oracle) {
	t.Helper()
	p := personsOf(t, append(replacements, "METHOD", aim)...)
	e := exactOf(t, p, folder(t, "a.csv", "id,a,b,c\n"+strings.Repeat("1,x,y,z\n", 7319)+strings.Repeat("2,y,y,x\n",
		12)),
		1)
	return e, oracles(t, e)
}

// Candidates of AIM are all sets of up to three columns, counted in one pass.
func TestCandidatesOfAIMAreCounted(t *testing.T) {
	e, _ := aimOracle(t)
	for i, want := range [][]int64{
		onlyA: {7319, 12}, onlyB: {0, 7331}, onlyC: {12, 0, 7319},
		setAB: {0, 7319, 0, 12}, setAC: {0, 0, 7319, 12, 0, 0}, setBC: {0, 0, 0, 12, 0, 7319},
		setABC: {0, 0, 0, 0, 0, 7319, 0, 0, 0, 12, 0, 0},
	} {
		if got := e.inner.candidates[0][i]; !slices.Equal(got, want) {
			t.Errorf("candidate %d: %v, want %v", i, got, want)
		}
	}
}

// Merged categories are counted class by class: every row in one cell, as a naive count has it.
func TestClassesAreCounted(t *testing.T) {
	e, fresh := aimOracle(t)
	for _, classes := range [][][]int{
		{nil, nil, {1, 1, 0}}, {{0, 0}, {1, 0}, {0, 1, 0}}, {{0, 1}, nil, {0, 0, 0}}, {nil, nil, nil},
	} {
		o := fresh(1)
		if err := o.Merge(classes); err != nil {
			t.Fatal(err)
		}
		sizes := []int{2, 2, 3}
		of := func(column, category int) int {
			if classes[column] == nil {
				return category
			}
			return classes[column][category]
		}
		for i, candidate := range adaptive.Candidates(o.inner.method) {
			cells, total := 1, int64(0)
			for _, c := range candidate {
				n := sizes[c]
				if classes[c] != nil {
					n = slices.Max(classes[c]) + 1
				}
				cells *= n
			}
			want := make([]int64, cells)
			for cell, n := range e.inner.candidates[0][i] {
				place, rest := 0, cell
				codes := make([]int, len(candidate))
				for a := len(candidate) - 1; a >= 0; a-- {
					codes[a], rest = rest%sizes[candidate[a]], rest/sizes[candidate[a]]
				}
				for a, c := range candidate {
					n := sizes[c]
					if classes[c] != nil {
						n = slices.Max(classes[c]) + 1
					}
					place = place*n + of(c, codes[a])
				}
				want[place] += n
				total += n
			}
			if got := o.inner.counts[i]; !slices.Equal(got, want) || total != 7331 {
				t.Errorf("%v, candidate %v: %v, want %v", classes, candidate, got, want)
			}
		}
		if len(e.inner.candidates[0][setABC]) != 12 {
			t.Fatal("the exact counts were changed")
		}
		if len(o.inner.counts[setABC]) < 12 {
			if _, err := chosen(o, 0, []int{setABC}, [][]int64{make([]int64, 12)}); !errors.Is(err, errModels) {
				t.Errorf("%v: a model of categories: %v", classes, err)
			}
		}
		if _, err := chosen(o, 0, []int{setABC}, [][]int64{make([]int64, len(o.inner.counts[setABC]))}); err != nil {
			t.Errorf("%v: a model of classes: %v", classes, err)
		}
		m, err := answerTo(o, 0, setABC)
		if err != nil || m.Values.Len() != len(o.inner.counts[setABC]) {
			t.Errorf("%v: %v, %v", classes, m, err)
		}
	}
}

func TestClassesAreMergedOnceAndWhole(t *testing.T) {
	_, fresh := aimOracle(t)
	for _, bad := range [][][]int{nil, {}, {nil, nil}, {nil, nil, nil, nil}, {{0}, nil, nil}, {{0, 1, 2}, nil, nil},
		{{0, 2}, nil, nil}, {{1, 1}, nil, nil}, {{-1, 0}, nil, nil}, {nil, {}, nil}} {
		if err := fresh(1).Merge(bad); err == nil {
			t.Errorf("%v: merged", bad)
		}
	}
	o, good := fresh(1), [][]int{{0, 0}, nil, {0, 1, 0}}
	if err := errors.Join(o.Merge(good)); err != nil {
		t.Fatal(err)
	}
	good[0][1] = 1 // the caller's, not the oracle's
	if err := o.Merge(good); !errors.Is(err, errMerge) || !slices.Equal(o.inner.classes[0], []int{0, 0}) {
		t.Errorf("merged twice: %v", err)
	}
	late := fresh(1)
	if err := late.ReplayChoice(0, late.inner.method.Select, setAB); err != nil {
		t.Fatal(err)
	}
	if err := late.Merge(good); !errors.Is(err, errMerge) {
		t.Errorf("merged in a round: %v", err)
	}
	p := personsOf(t)
	if err := oracles(t, exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,y,z\n"), 1))(1).Merge(good); err == nil {
		t.Error("categories of MST are merged")
	}
}

// of is a mechanism with another parameter.
func of(m budget.Mechanism, parameter *big.Rat) budget.Mechanism {
	m.Parameter = parameter
	return m
}

// costing is noise, or a choice, whose ρ is exactly this part of the ρ that it has.
func costing(m budget.Mechanism, part *big.Rat) budget.Mechanism {
	return of(m, new(big.Rat).Quo(m.Parameter, part)) // ρ of Gaussian noise goes with 1/σ²
}

// The oracle is the filter: whatever it is asked with, what it has given is within the block, by an exact sum that is
// worked out here anew; what is left to the last unit may be asked for, and not a unit more, however small.
func TestTheOracleIsTheFilterOfItsBlock(t *testing.T) {
	_, fresh := aimOracle(t)
	random := rand.New(rand.NewPCG(20261122, 1))
	for n := range 12 {
		o := fresh(n)
		method := o.inner.method
		block, spent, refused := method.Block.Rho(), new(big.Rat), 0
		choose := method.Select
		for round := 0; round < method.Rounds && refused < 3; round++ {
			sharper := of(choose, new(big.Rat).Mul(choose.Parameter, big.NewRat(1+random.Int64N(9), 2)))
			if rho := new(big.Rat).Add(spent, sharper.Rho()); rho.Cmp(block) > 0 {
				sharper = choose
			}
			if n%2 == 1 { // as an earlier run did
				if err := o.ReplayChoice(round, sharper, setAC); err != nil {
					t.Fatal(err)
				}
			} else if _, err := o.Select(context.Background(), round, sharper, []int{setAC},
				[][]int64{make([]int64, 6)}, nil); err != nil {
				t.Fatal(err)
			}
			spent.Add(spent, sharper.Rho())
			left := new(big.Rat).Sub(block, spent)
			ask := func(rho *big.Rat) error {
				how := costing(method.Noise, new(big.Rat).Quo(rho, method.Noise.Rho()))
				if how.Rho().Cmp(rho) != 0 {
					t.Fatal("the noise does not cost what this test wants")
				}
				if n%2 == 1 {
					return o.ReplayAnswer(round, setAC, how)
				}
				_, err := o.Measure(context.Background(), round, setAC, how)
				return err
			}
			tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200))
			if err := ask(new(big.Rat).Add(left, tiny)); !errors.Is(err, errBeyondBlock) {
				t.Fatalf("2⁻²⁰⁰ more than the block: %v", err)
			}
			part := new(big.Rat).Mul(left, big.NewRat(1+random.Int64N(5), 8))
			if round > 3 {
				part = left // all of it
			}
			if err := ask(part); err != nil {
				t.Fatal(err)
			}
			if spent.Add(spent, part); spent.Cmp(block) > 0 || o.inner.spent.Rho.Cmp(spent) != 0 {
				t.Fatalf("the oracle has spent %v, which is %v, of %v", o.inner.spent, spent, block)
			}
			if spent.Cmp(block) == 0 {
				if err := o.ReplayChoice(round+1, of(choose, big.NewRat(1, 1<<40)), setAC); !errors.Is(err,
					errBeyondBlock) {
					t.Fatalf("with nothing left: %v", err)
				}
				break
			}
		}
		if spent.Cmp(block) != 0 {
			t.Fatalf("only %v of %v was asked for", spent, block)
		}
	}
}

// A step that fails once it is charged stays charged.
func TestWhatIsChargedStaysCharged(t *testing.T) {
	_, fresh := aimOracle(t)
	o := fresh(1)
	method := o.inner.method
	passed(t, o, 0, setAB)
	if err := o.ReplayChoice(1, method.Select, setAB); err != nil {
		t.Fatal(err)
	}
	before := o.inner.spent.Rho
	o.inner.counts[setAB] = []int64{1 << 62, 1 << 62, 1 << 62, 1 << 62} // of which no sampler makes a noisy count
	if _, err := answerTo(o, 1, setAB); err == nil {
		t.Fatal("there are noisy counts beyond 2^62")
	}
	if want := new(big.Rat).Add(before, method.Noise.Rho()); o.inner.spent.Rho.Cmp(want) != 0 {
		t.Errorf("spent %v, want %v", o.inner.spent.Rho, want)
	}
}

// How far a unit moves answers and scores is the plan's to say, not the asker's.
func TestMechanismsOfAnotherKindAreRefused(t *testing.T) {
	_, fresh := aimOracle(t, "UNIT", "{id: id, max_rows: 3}")
	o := fresh(1)
	choose, noise := o.inner.method.Select, o.inner.method.Noise
	for what, how := range map[string]budget.Mechanism{
		"noise": noise, "permute and flip": {Kind: budget.PermuteAndFlip, Parameter: choose.Parameter},
		"no ε": of(choose, nil), "ε = 0": of(choose, new(big.Rat)), "ε < 0": of(choose, big.NewRat(-1, 2)),
		"nothing": {},
	} {
		if _, err := o.Select(context.Background(), 0, how, []int{onlyA}, [][]int64{{0, 0}}, nil); !errors.Is(err,
			errMechanism) {
			t.Errorf("a choice by %s: %v", what, err)
		}
		if err := o.ReplayChoice(0, how, onlyA); !errors.Is(err, errMechanism) {
			t.Errorf("an earlier choice by %s: %v", what, err)
		}
	}
	if err := o.ReplayChoice(0, choose, onlyA); err != nil {
		t.Fatal(err)
	}
	smaller, laplace, shifted := noise, noise, noise
	smaller.L1, smaller.L2Squared, smaller.Shifts = big.NewInt(1), big.NewInt(1), nil
	laplace.Kind = budget.DiscreteLaplace
	shifted.Shifts = []budget.Shift{{1}}
	if len(noise.Shifts) == 0 {
		shifted = smaller
	}
	for what, how := range map[string]budget.Mechanism{
		"a choice": choose, "noise for one row": smaller, "Laplace noise": laplace, "noise for other shifts": shifted,
		"no σ²": of(noise, nil), "σ² = 0": of(noise, new(big.Rat)), "nothing": {},
	} {
		if _, err := o.Measure(context.Background(), 0, onlyA, how); !errors.Is(err, errMechanism) {
			t.Errorf("an answer with %s: %v", what, err)
		}
		if err := o.ReplayAnswer(0, onlyA, how); !errors.Is(err, errMechanism) {
			t.Errorf("an earlier answer with %s: %v", what, err)
		}
	}
	if o.inner.spent.Rho.Cmp(choose.Rho()) != 0 {
		t.Errorf("what was refused is charged: %v", o.inner.spent)
	}
}

// reused tells whether two answers to one candidate have one noise. (Keys are fixed: what is so by chance would be so
// for good.)
func reused(a, b measured.Measured) bool {
	return slices.Equal(a.Values.Int64Values(), b.Values.Int64Values())
}

// A candidate that is chosen again is answered with fresh noise, in one run and where rounds were made by an earlier
// one; only the same round has the same noise, as a run that resumes needs it. That a round's stream would be that of
// another one is noticed: two oracles that are both in their first round show what it would be.
func TestACandidateChosenAgainHasFreshNoise(t *testing.T) {
	_, fresh := aimOracle(t)
	classes := [][]int{nil, nil, {0, 1, 0}}
	answers := func(merge bool, earlier, rounds int) (all []measured.Measured) {
		o := fresh(7)
		if merge {
			if err := o.Merge(classes); err != nil {
				t.Fatal(err)
			}
		}
		for round := range rounds {
			if round < earlier {
				passed(t, o, round, setABC)
				continue
			}
			if err := o.ReplayChoice(round, o.inner.method.Select, setABC); err != nil {
				t.Fatal(err)
			}
			m, err := answerTo(o, round, setABC)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, m)
		}
		return all
	}
	for _, merge := range []bool{false, true} {
		whole, resumed := answers(merge, 0, 4), answers(merge, 2, 4)
		for i, a := range whole {
			for _, b := range whole[:i] {
				if reused(a, b) || string(a.Measurement.Canonical()) == string(b.Measurement.Canonical()) {
					t.Errorf("rounds of one candidate have one noise: %v", a.Values)
				}
			}
		}
		if !reused(resumed[0], whole[2]) || !reused(resumed[1], whole[3]) {
			t.Error("a run that resumes draws other noise for the same rounds")
		}
		if !reused(whole[0], answers(merge, 0, 1)[0]) { // the mistake that this test is for
			t.Error("one stream for two answers would not be noticed")
		}
	}
	// A definition that does not hold its round is not answered twice, even so.
	o := fresh(7)
	passed(t, o, 0, setABC)
	if err := o.ReplayChoice(1, o.inner.method.Select, setABC); err != nil {
		t.Fatal(err)
	}
	a, err := o.inner.answerOf(1, setABC, o.inner.method.Noise)
	if err != nil {
		t.Fatal(err)
	}
	o.inner.noteAnswer(a)
	o.inner.next--
	if _, err := answerTo(o, 1, setABC); !errors.Is(err, errGiven) {
		t.Errorf("one definition twice: %v", err)
	}
}

// The memory of a plan of AIM covers its candidates, its model and the answers of its rounds.
func TestMemoryCoversRoundsOfAIM(t *testing.T) {
	p := personsOf(t, "METHOD", aim)
	without := *p
	without.Synthetic = nil
	s := p.Synthetic[0]
	cells := int64(2 + 2 + 3 + 4 + 6 + 6 + 12)
	want := 24*cells + 7*1024 + 32*s.LargestModel.Cells + 72*int64(s.Rounds)*12
	if got := memory.Bytes(p) - memory.Bytes(&without); got != want {
		t.Errorf("the rounds take %d bytes, want %d", got, want)
	}
	// What the plan says is that, but for the records in flight, whatever is asked for.
	for _, p := range []*plan.Plan{p, personsOf(t)} {
		if inFlight := memory.Bytes(p) - p.Size.Bytes; inFlight != int64(source.MaxRows*runtime.GOMAXPROCS(0)*3*(16+
			4+4)) {
			t.Errorf("%s: %d bytes more than the plan says", p.Synthetic[0].Method, inFlight)
		}
	}
	large := *p
	large.Synthetic = []plan.Synthetic{s}
	large.Synthetic[0].Rounds *= 2
	if memory.Bytes(&large) <= memory.Bytes(p) {
		t.Error("twice the rounds take no more")
	}
}
