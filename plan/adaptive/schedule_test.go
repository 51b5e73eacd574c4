package adaptive_test

import (
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"pgregory.net/rapid"
)

// Whatever the answers were, rounds cost no more than the block in exact rationals, there are one to as many as the
// plan has, and each has a choice and noise that are no worse than the first's and no quieter than the floor.
func TestSchedulesKeepToTheirBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := plantest.Adaptive(t)
		told := rapid.SliceOfN(rapid.Bool(), s.Rounds, s.Rounds).Draw(t, "little")
		turns, used := plantest.Made(s, func(round int) bool { return told[round] })
		if len(turns) < 1 || len(turns) > s.Rounds {
			t.Fatalf("%d rounds of at most %d", len(turns), s.Rounds)
		}
		if all := plantest.Costs(turns); all.Cmp(s.Block.Parameter) > 0 {
			t.Fatalf("%d rounds cost %v of %v", len(turns), all, s.Block.Parameter)
		}
		for i, turn := range turns {
			if turn.Select.Parameter.Cmp(s.Select.Parameter) < 0 || turn.Noise.Parameter.Cmp(s.Noise.Parameter) > 0 {
				t.Fatalf("round %d has ε %v and σ² %v, the first %v and %v", i, turn.Select.Parameter,
					turn.Noise.Parameter,
					s.Select.Parameter, s.Noise.Parameter)
			}
			if turn.Noise.Parameter.Cmp(big.NewRat(1, 16)) < 0 || turn.Noise.L2Squared.Cmp(s.Noise.L2Squared) != 0 {
				t.Fatalf("round %d has noise of %v", i, turn.Noise)
			}
			tiny := new(big.Rat).Mul(plantest.Costs(turns[i:i+1]), big.NewRat(1<<50, 1)).Cmp(s.Block.Parameter) < 0
			if used[i+1] < used[i] || used[i+1] == used[i] && !tiny || used[i] < 0.2 || used[i+1] > 1 {
				t.Fatalf("after round %d the part %v is used, before %v", i, used[i+1], used[i])
			}
		}
	})
}

// The last round takes what is left: all but what roundings of ε and of σ² leave, wherever there is still noise to take
// away.
func TestTheLastRoundTakesWhatIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := plantest.Adaptive(t)
		turns, _ := plantest.Made(s, func(round int) bool { return round%3 == 1 })
		last := turns[len(turns)-1]
		if last.Noise.Parameter.Cmp(big.NewRat(1, 16)) == 0 {
			return // less is not spent
		}
		quieter := last
		quieter.Noise.Parameter = new(big.Rat).Sub(last.Noise.Parameter, big.NewRat(1, 1<<20))
		if quieter.Noise.Parameter.Sign() > 0 && plantest.Costs(append(turns[:len(turns)-1:len(turns)-1], quieter)).
			Cmp(s.Block.Parameter) <= 0 {
			t.Fatalf("a last round of σ² %v is within the block, and %v is taken", quieter.Noise.Parameter,
				last.Noise.Parameter)
		}
	})
}

// A round after a quieter one has half the deviation and twice the ε of those before, and one after no such has theirs.
func TestQuieterRounds(t *testing.T) {
	s := plan.Synthetic{Method: plan.AIM, Ways: 3, Rounds: 40,
		Select: budget.Mechanism{Kind: budget.ExponentialMechanism,
			Parameter: big.NewRat(1, 8)},
		Noise: budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: big.NewRat(64, 1), L1: big.NewInt(1),
			L2Squared: big.NewInt(1)}}
	s.Block = adaptive.Block(40, s.Select, s.Noise)
	// ε²/8 = 1/512 and 1/2σ² = 4/512: a round costs 5/512, then 20/512, and the floor of σ² is 1024 quarters away.
	turns, _ := plantest.Made(s, func(round int) bool { return round == 1 || round == 2 })
	want := []struct{ epsilon, variance *big.Rat }{
		{big.NewRat(1, 8), big.NewRat(64, 1)}, {big.NewRat(1, 8), big.NewRat(64, 1)},
		{big.NewRat(1, 4), big.NewRat(16, 1)},
		{big.NewRat(1, 2), big.NewRat(4, 1)},
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
	if err := adaptive.CheckRounds(s, turns); err != nil {
		t.Error(err)
	}
	early, forged := adaptive.NewSchedule(s), []adaptive.RoundMechanisms(nil)
	early.Quieter() // before any answer
	for last := false; !last; {
		var turn adaptive.RoundMechanisms
		turn, last = early.Next()
		forged = append(forged, turn)
	}
	if err := adaptive.CheckRounds(s, forged); err == nil {
		t.Error("rounds that are quieter from the first on pass")
	}
	floor := adaptive.NewSchedule(s)
	for range 20 {
		floor.Quieter()
	}
	if floor.Now().Noise.Parameter.Cmp(big.NewRat(1, 16)) != 0 ||
		floor.Now().Select.Parameter.Cmp(big.NewRat(32, 8)) != 0 {
		t.Errorf("the quietest rounds have σ² %v and ε %v", floor.Now().Noise.Parameter, floor.Now().Select.Parameter)
	}
}

// Every sequence that a schedule gives is allowed, and none of those that spend more, elsewhere, less or for longer.
func TestOnlySequencesOfTheScheduleAreAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := plantest.Adaptive(t)
		told := rapid.SliceOfN(rapid.Bool(), s.Rounds, s.Rounds).Draw(t, "little")
		turns, _ := plantest.Made(s, func(round int) bool { return told[round] })
		if err := adaptive.CheckRounds(s, turns); err != nil {
			t.Fatalf("what the schedule gave is refused: %v", err)
		}
		at := rapid.IntRange(0, len(turns)-1).Draw(t, "round")
		for name, forge := range map[string]func([]adaptive.RoundMechanisms) []adaptive.RoundMechanisms{
			"none":     func([]adaptive.RoundMechanisms) []adaptive.RoundMechanisms { return nil },
			"one less": func(all []adaptive.RoundMechanisms) []adaptive.RoundMechanisms { return all[:len(all)-1] },
			"one more": func(all []adaptive.RoundMechanisms) []adaptive.RoundMechanisms { return append(all, all[at]) },
			"less noise": func(all []adaptive.RoundMechanisms) []adaptive.RoundMechanisms {
				all[at].Noise.Parameter = plantest.Scaled(all[at].Noise.Parameter, 1, 2)
				return all
			},
			"more noise": func(all []adaptive.RoundMechanisms) []adaptive.RoundMechanisms {
				all[at].Noise.Parameter = plantest.Scaled(all[at].Noise.Parameter, 2, 1)
				return all
			},
			"a sharper choice": func(all []adaptive.RoundMechanisms) []adaptive.RoundMechanisms {
				all[at].Select.Parameter = plantest.Scaled(all[at].Select.Parameter, 3, 2)
				return all
			},
			"other noise": func(all []adaptive.RoundMechanisms) []adaptive.RoundMechanisms {
				all[at].Noise.L1 = big.NewInt(1 << 40)
				return all
			},
			"another choice": func(all []adaptive.RoundMechanisms) []adaptive.RoundMechanisms {
				all[at].Select.Kind = budget.PermuteAndFlip
				return all
			},
			"a mechanism of no ε": func(all []adaptive.RoundMechanisms) []adaptive.RoundMechanisms {
				all[at].Select.Parameter = nil
				return all
			},
		} {
			if err := adaptive.CheckRounds(s, forge(append([]adaptive.RoundMechanisms(nil), turns...))); err == nil {
				t.Errorf("%s passes, at round %d of %d", name, at, len(turns))
			}
		}
	})
}
