package measured

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
)

// merging are classes of the four columns of adaptive, of 3, 4, 2 and 2 categories.
var merging = [][]int{{0, 1, 1}, nil, nil, {0, 1}}

// aimRounds returns complete rounds of AIM that follow the plan's schedule, with less noise after the rounds in
// quieter, and choose the candidates in turn.
func aimRounds(t *testing.T, p *plan.Plan, classes [][]int, quieter ...int) Rounds {
	t.Helper()
	method := p.Synthetic[0]
	schedule, r := adaptive.NewSchedule(method), Rounds{Classes: classes}
	for round, last := 0, false; !last; round++ {
		var turn adaptive.Turn
		turn, last = schedule.Next()
		choice := round % len(adaptive.Candidates(method))
		m, err := adaptive.Answer(p, method, round, choice, classes, turn.Noise)
		if err != nil {
			t.Fatal(err)
		}
		r.Each = append(r.Each, Round{Choice: choice, Turn: turn, Measured: answerTo(m, int64(100*round))})
		if slices.Contains(quieter, round) {
			schedule.Quieter()
		}
	}
	return r
}

func TestSealedRoundsOfAIMReadBack(t *testing.T) {
	p := planWithMethod(t, "method: aim, ways: 3")
	for _, c := range []struct {
		classes [][]int
		quieter []int
	}{{nil, nil}, {merging, []int{0, 3}}, {[][]int{nil, nil, nil, nil}, []int{1}}} {
		made := aimRounds(t, p, c.classes, c.quieter...)
		back, err := Open(sealedFolder(t, sealedWith(p, made), nil), compiled.Read)
		if err != nil {
			t.Fatal(err)
		}
		got := back.Rounds[0]
		if len(got.Each) != len(made.Each) || jsonOf(t, got.Classes) != jsonOf(t, made.Classes) {
			t.Fatalf("%d rounds by %v, sealed %d by %v", len(got.Each), got.Classes, len(made.Each), made.Classes)
		}
		for i, r := range got.Each {
			want := made.Each[i]
			if r.Choice != want.Choice || !r.Turn.Equal(want.Turn) ||
				string(r.Measured.Measurement.Canonical()) != string(want.Measured.Measurement.Canonical()) ||
				!slices.Equal(r.Measured.Values.Int64Values(), want.Measured.Values.Int64Values()) {
				t.Errorf("round %d: %v, sealed %v", i+1, r, want)
			}
		}
	}
}

// A sequence of rounds is sealed and read only if the plan allows it: forged ones are refused that spend more, ask for
// what is not a candidate, have another shape or order, are too long or cut short.
func TestForgedRoundsOfAIMAreRefused(t *testing.T) {
	p := planWithMethod(t, "method: aim, ways: 3")
	method := p.Synthetic[0]
	turned := func(r *Round, i int, turn adaptive.Turn) {
		m, err := adaptive.Answer(p, method, i, r.Choice, merging, turn.Noise)
		if err != nil {
			t.Fatal(err)
		}
		r.Turn, r.Measured = turn, answerTo(m, 0)
	}
	more := func(m budget.Mechanism, by *big.Rat) budget.Mechanism {
		m.Parameter = new(big.Rat).Add(m.Parameter, by)
		return m
	}
	unit := big.NewRat(1, 1<<24)
	for what, c := range map[string]struct {
		forge func(r *Rounds)
		says  string
	}{
		"a sharper choice": {func(r *Rounds) {
			turned(&r.Each[2], 2, adaptive.Turn{Select: more(r.Each[2].Turn.Select, unit), Noise: r.Each[2].Turn.Noise})
		}, "more than the block"},
		"a sharper last": {func(r *Rounds) {
			n := len(r.Each) - 1
			turned(&r.Each[n], n, adaptive.Turn{Select: more(r.Each[n].Turn.Select, unit), Noise: r.Each[n].Turn.Noise})
		}, "more than the block"},
		"less noise": {func(r *Rounds) {
			turned(&r.Each[0], 0, adaptive.Turn{Select: r.Each[0].Turn.Select,
				Noise: more(r.Each[0].Turn.Noise, new(big.Rat).Neg(unit))})
		}, "do not follow"},
		"more noise": {func(r *Rounds) {
			turned(&r.Each[0], 0, adaptive.Turn{Select: r.Each[0].Turn.Select, Noise: more(r.Each[0].Turn.Noise, unit)})
		}, "do not follow"},
		"another choice":      {func(r *Rounds) { r.Each[1].Choice = 3 }, "asks for"},
		"no candidate":        {func(r *Rounds) { r.Each[1].Choice = 14 }, "where there are 14"},
		"below them":          {func(r *Rounds) { r.Each[1].Choice = -1 }, "where there are 14"},
		"two rounds swapped":  {func(r *Rounds) { r.Each[1], r.Each[2] = r.Each[2], r.Each[1] }, "asks for"},
		"the first left out":  {func(r *Rounds) { r.Each = r.Each[1:] }, "asks for"},
		"the last left out":   {func(r *Rounds) { r.Each = r.Each[:len(r.Each)-1] }, "rounds are missing"},
		"none":                {func(r *Rounds) { r.Each = nil }, "rounds are missing"},
		"another cell count":  {func(r *Rounds) { r.Each[0].Measured.Measurement.Cells++ }, "asks for"},
		"other classes":       {func(r *Rounds) { r.Classes = [][]int{{0, 0, 1}, nil, nil, {0, 1}} }, "asks for"},
		"no classes":          {func(r *Rounds) { r.Classes = nil }, "asks for"},
		"classes of a column": {func(r *Rounds) { r.Classes = merging[:3] }, "no classes of 3 columns"},
		"a class left out":    {func(r *Rounds) { r.Classes = [][]int{{0, 2, 2}, nil, nil, {0, 1}} }, "none left out"},
		"a choice by noise":   {func(r *Rounds) { r.Each[0].Turn.Select = r.Each[0].Turn.Noise }, "more than the block"},
		"a mechanism of none": {func(r *Rounds) { r.Each[0].Turn.Select = budget.Mechanism{} }, "none"},
		"noise of its own":    {func(r *Rounds) { r.Each[0].Turn.Noise.Parameter = big.NewRat(1, 2) }, "asks for"},
		"noise for less": {func(r *Rounds) {
			noise := r.Each[0].Turn.Noise
			noise.L1, noise.L2Squared, noise.Shifts = big.NewInt(9), big.NewInt(9), nil
			r.Each[0].Turn.Noise = noise
		}, "for these neighbours"},
	} {
		made := aimRounds(t, p, merging, 1)
		if err := Allowed(p, method, made); err != nil {
			t.Fatalf("%s: as it was made: %v", what, err)
		}
		c.forge(&made)
		if err := Allowed(p, method, made); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
		if err := Seal(func(string, []byte) error { return nil }, sealedWith(p, made)); err == nil {
			t.Errorf("%s: sealed", what)
		}
	}
	// A block that is a unit of ρ smaller than what was spent.
	made := aimRounds(t, p, nil)
	spent := new(big.Rat)
	for _, r := range made.Each {
		spent.Add(spent, r.Turn.Rho())
	}
	short := method
	short.Block.Parameter = new(big.Rat).Sub(spent,
		new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200)))
	if err := Allowed(p, short, made); err == nil || !strings.Contains(err.Error(), "more than the block") {
		t.Errorf("2⁻²⁰⁰ of ρ more than the block: %v", err)
	}
}
