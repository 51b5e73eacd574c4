package plan

import (
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"pgregory.net/rapid"
)

// adaptive are microdata by AIM as some budget, sensitivity and number of columns make them, with rounds of odd parameters.
func adaptive(t *rapid.T) Synthetic {
	k := rapid.Int64Range(1, 1000).Draw(t, "rows of a unit")
	s := Synthetic{Method: AIM, Ways: 3, Rounds: rapid.IntRange(1, 40).Draw(t, "rounds")}
	s.Select = budget.Mechanism{Kind: budget.ExponentialMechanism, Parameter: big.NewRat(rapid.Int64Range(1, 1<<26).Draw(t, "ε"), 1<<24)}
	s.Noise = budget.Mechanism{Kind: budget.DiscreteGaussian, L1: big.NewInt(k), L2Squared: big.NewInt(k * k)}
	s.Noise.Parameter = big.NewRat(rapid.Int64Range(1<<16, 1<<50).Draw(t, "σ²"), 1<<20)
	s.Block = block(s.Rounds, s.Select, s.Noise)
	more := big.NewRat(rapid.Int64Range(0, 1<<30).Draw(t, "more"), rapid.Int64Range(1, 1<<30).Draw(t, "part of"))
	s.Block.Parameter.Add(s.Block.Parameter, more)
	return s
}

// made runs a schedule: after every round but the last the answer may have told little.
func made(s Synthetic, quieter func(round int) bool) (turns []Turn, used []float64) {
	schedule := s.Schedule()
	for {
		used = append(used, schedule.Used())
		t, last := schedule.Next()
		turns = append(turns, t)
		if last {
			return turns, append(used, schedule.Used())
		}
		if quieter(len(turns) - 1) {
			schedule.Quieter()
		}
	}
}

// costs is ρ = ε²/8 + Δ₂²/2σ² of each turn, added up.
func costs(turns []Turn) *big.Rat {
	all := new(big.Rat)
	for _, t := range turns {
		choice := new(big.Rat).Mul(t.Select.Parameter, t.Select.Parameter)
		all.Add(all, choice.Quo(choice, big.NewRat(8, 1)))
		noise := new(big.Rat).SetInt(t.Noise.L2Squared)
		all.Add(all, noise.Quo(noise, new(big.Rat).Add(t.Noise.Parameter, t.Noise.Parameter)))
	}
	return all
}

// Whatever the answers were, rounds cost no more than the block in exact rationals, there are one to as many as the plan
// has, and each has a choice and noise that are no worse than the first's and no quieter than the floor.
func TestSchedulesKeepToTheirBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := adaptive(t)
		told := rapid.SliceOfN(rapid.Bool(), s.Rounds, s.Rounds).Draw(t, "little")
		turns, used := made(s, func(round int) bool { return told[round] })
		if len(turns) < 1 || len(turns) > s.Rounds {
			t.Fatalf("%d rounds of at most %d", len(turns), s.Rounds)
		}
		if all := costs(turns); all.Cmp(s.Block.Parameter) > 0 {
			t.Fatalf("%d rounds cost %v of %v", len(turns), all, s.Block.Parameter)
		}
		for i, turn := range turns {
			if turn.Select.Parameter.Cmp(s.Select.Parameter) < 0 || turn.Noise.Parameter.Cmp(s.Noise.Parameter) > 0 {
				t.Fatalf("round %d has ε %v and σ² %v, the first %v and %v", i, turn.Select.Parameter, turn.Noise.Parameter, s.Select.Parameter, s.Noise.Parameter)
			}
			if turn.Noise.Parameter.Cmp(big.NewRat(1, 16)) < 0 || turn.Noise.L2Squared.Cmp(s.Noise.L2Squared) != 0 {
				t.Fatalf("round %d has noise of %v", i, turn.Noise)
			}
			if used[i+1] <= used[i] || used[i] < 0.2 || used[i+1] > 1 {
				t.Fatalf("after round %d the part %v is used, before %v", i, used[i+1], used[i])
			}
		}
	})
}

// The last round takes what is left: all but what roundings of ε and of σ² leave, wherever there is still noise to take
// away.
func TestTheLastRoundTakesWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := adaptive(t)
		turns, _ := made(s, func(round int) bool { return round%3 == 1 })
		last := turns[len(turns)-1]
		if last.Noise.Parameter.Cmp(big.NewRat(1, 16)) == 0 {
			return // less is not spent
		}
		quieter := last
		quieter.Noise.Parameter = new(big.Rat).Sub(last.Noise.Parameter, big.NewRat(1, 1<<20))
		if quieter.Noise.Parameter.Sign() > 0 && costs(append(turns[:len(turns)-1:len(turns)-1], quieter)).Cmp(s.Block.Parameter) <= 0 {
			t.Fatalf("a last round of σ² %v is within the block, and %v is taken", quieter.Noise.Parameter, last.Noise.Parameter)
		}
	})
}

// A round after a quieter one has half the deviation and twice the ε of those before, and one after no such has theirs.
func TestQuieterRounds(t *testing.T) {
	s := Synthetic{Method: AIM, Ways: 3, Rounds: 40, Select: budget.Mechanism{Kind: budget.ExponentialMechanism, Parameter: big.NewRat(1, 8)},
		Noise: budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: big.NewRat(64, 1), L1: big.NewInt(1), L2Squared: big.NewInt(1)}}
	s.Block = block(40, s.Select, s.Noise)
	// ε²/8 = 1/512 and 1/2σ² = 4/512: a round costs 5/512, then 20/512, and the floor of σ² is 1024 quarters away.
	turns, _ := made(s, func(round int) bool { return round == 1 || round == 2 })
	want := []struct{ epsilon, variance *big.Rat }{
		{big.NewRat(1, 8), big.NewRat(64, 1)}, {big.NewRat(1, 8), big.NewRat(64, 1)}, {big.NewRat(1, 4), big.NewRat(16, 1)}, {big.NewRat(1, 2), big.NewRat(4, 1)},
	}
	// 200 − 5 − 5 − 20 − 80 leaves 90 of 512, less than two rounds of 80.
	if len(turns) != 5 {
		t.Fatalf("%d rounds", len(turns))
	}
	for i, w := range want {
		if turns[i].Select.Parameter.Cmp(w.epsilon) != 0 || turns[i].Noise.Parameter.Cmp(w.variance) != 0 {
			t.Errorf("round %d has ε %v and σ² %v", i, turns[i].Select.Parameter, turns[i].Noise.Parameter)
		}
	}
	if err := s.Allows(turns); err != nil {
		t.Error(err)
	}
	early, forged := s.Schedule(), []Turn(nil)
	early.Quieter() // before any answer
	for last := false; !last; {
		var turn Turn
		turn, last = early.Next()
		forged = append(forged, turn)
	}
	if err := s.Allows(forged); err == nil {
		t.Error("rounds that are quieter from the first on pass")
	}
	floor := s.Schedule()
	for range 20 {
		floor.Quieter()
	}
	if floor.now.Noise.Parameter.Cmp(big.NewRat(1, 16)) != 0 || floor.now.Select.Parameter.Cmp(big.NewRat(32, 8)) != 0 {
		t.Errorf("the quietest rounds have σ² %v and ε %v", floor.now.Noise.Parameter, floor.now.Select.Parameter)
	}
}

// Every sequence that a schedule gives is allowed, and none of those that spend more, elsewhere, less or for longer.
func TestOnlySequencesOfTheScheduleAreAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := adaptive(t)
		told := rapid.SliceOfN(rapid.Bool(), s.Rounds, s.Rounds).Draw(t, "little")
		turns, _ := made(s, func(round int) bool { return told[round] })
		if err := s.Allows(turns); err != nil {
			t.Fatalf("what the schedule gave is refused: %v", err)
		}
		at := rapid.IntRange(0, len(turns)-1).Draw(t, "round")
		for name, forge := range map[string]func([]Turn) []Turn{
			"none":                func([]Turn) []Turn { return nil },
			"one less":            func(all []Turn) []Turn { return all[:len(all)-1] },
			"one more":            func(all []Turn) []Turn { return append(all, all[at]) },
			"less noise":          func(all []Turn) []Turn { all[at].Noise.Parameter = scaled(all[at].Noise.Parameter, 1, 2); return all },
			"more noise":          func(all []Turn) []Turn { all[at].Noise.Parameter = scaled(all[at].Noise.Parameter, 2, 1); return all },
			"a sharper choice":    func(all []Turn) []Turn { all[at].Select.Parameter = scaled(all[at].Select.Parameter, 3, 2); return all },
			"other noise":         func(all []Turn) []Turn { all[at].Noise.L1 = big.NewInt(1 << 40); return all },
			"another choice":      func(all []Turn) []Turn { all[at].Select.Kind = budget.PermuteAndFlip; return all },
			"a mechanism of no ε": func(all []Turn) []Turn { all[at].Select.Parameter = nil; return all },
		} {
			if err := s.Allows(forge(append([]Turn(nil), turns...))); err == nil {
				t.Errorf("%s passes, at round %d of %d", name, at, len(turns))
			}
		}
	})
}

func scaled(x *big.Rat, n, d int64) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(n, d)) }
