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
		var turn adaptive.RoundMechanisms
		turn, last = schedule.Next()
		choice := round % len(adaptive.Candidates(method))
		m, err := adaptive.Answer(p, method, round, choice, classes, turn.Noise)
		if err != nil {
			t.Fatal(err)
		}
		r.All = append(r.All, Round{Choice: choice, Mechanisms: turn, Measured: answerTo(m, int64(100*round))})
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
		if len(got.All) != len(made.All) || jsonOf(t, got.Classes) != jsonOf(t, made.Classes) {
			t.Fatalf("%d rounds by %v, sealed %d by %v", len(got.All), got.Classes, len(made.All), made.Classes)
		}
		for i, r := range got.All {
			want := made.All[i]
			if r.Choice != want.Choice || !r.Mechanisms.Equal(want.Mechanisms) ||
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
	turned := func(r *Round, i int, turn adaptive.RoundMechanisms) {
		m, err := adaptive.Answer(p, method, i, r.Choice, merging, turn.Noise)
		if err != nil {
			t.Fatal(err)
		}
		r.Mechanisms, r.Measured = turn, answerTo(m, 0)
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
			turned(&r.All[2], 2, adaptive.RoundMechanisms{Select: more(r.All[2].Mechanisms.Select, unit),
				Noise: r.All[2].Mechanisms.Noise})
		}, "more than the block"},
		"a sharper last": {func(r *Rounds) {
			n := len(r.All) - 1
			turned(&r.All[n], n, adaptive.RoundMechanisms{Select: more(r.All[n].Mechanisms.Select, unit),
				Noise: r.All[n].Mechanisms.Noise})
		}, "more than the block"},
		"less noise": {func(r *Rounds) {
			turned(&r.All[0], 0, adaptive.RoundMechanisms{Select: r.All[0].Mechanisms.Select,
				Noise: more(r.All[0].Mechanisms.Noise, new(big.Rat).Neg(unit))})
		}, "do not follow"},
		"more noise": {func(r *Rounds) {
			turned(&r.All[0], 0, adaptive.RoundMechanisms{Select: r.All[0].Mechanisms.Select,
				Noise: more(r.All[0].Mechanisms.Noise, unit)})
		}, "do not follow"},
		"another choice":      {func(r *Rounds) { r.All[1].Choice = 3 }, "asks for"},
		"no candidate":        {func(r *Rounds) { r.All[1].Choice = 14 }, "where there are 14"},
		"below them":          {func(r *Rounds) { r.All[1].Choice = -1 }, "where there are 14"},
		"two rounds swapped":  {func(r *Rounds) { r.All[1], r.All[2] = r.All[2], r.All[1] }, "asks for"},
		"the first left out":  {func(r *Rounds) { r.All = r.All[1:] }, "asks for"},
		"the last left out":   {func(r *Rounds) { r.All = r.All[:len(r.All)-1] }, "rounds are missing"},
		"none":                {func(r *Rounds) { r.All = nil }, "rounds are missing"},
		"another cell count":  {func(r *Rounds) { r.All[0].Measured.Measurement.Cells++ }, "asks for"},
		"other classes":       {func(r *Rounds) { r.Classes = [][]int{{0, 0, 1}, nil, nil, {0, 1}} }, "asks for"},
		"no classes":          {func(r *Rounds) { r.Classes = nil }, "asks for"},
		"classes of a column": {func(r *Rounds) { r.Classes = merging[:3] }, "no classes of 3 columns"},
		"a class left out":    {func(r *Rounds) { r.Classes = [][]int{{0, 2, 2}, nil, nil, {0, 1}} }, "none left out"},
		"a choice by noise": {func(r *Rounds) { r.All[0].Mechanisms.Select = r.All[0].Mechanisms.Noise },
			"more than the block"},
		"a mechanism of none": {func(r *Rounds) { r.All[0].Mechanisms.Select = budget.Mechanism{} }, "none"},
		"noise of its own":    {func(r *Rounds) { r.All[0].Mechanisms.Noise.Parameter = big.NewRat(1, 2) }, "asks for"},
		"noise for less": {func(r *Rounds) {
			noise := r.All[0].Mechanisms.Noise
			noise.L1, noise.L2Squared, noise.Shifts = big.NewInt(9), big.NewInt(9), nil
			r.All[0].Mechanisms.Noise = noise
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
	for _, r := range made.All {
		spent.Add(spent, r.Mechanisms.Rho())
	}
	short := method
	short.Block.Parameter = new(big.Rat).Sub(spent,
		new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200)))
	if err := Allowed(p, short, made); err == nil || !strings.Contains(err.Error(), "more than the block") {
		t.Errorf("2⁻²⁰⁰ of ρ more than the block: %v", err)
	}
}
