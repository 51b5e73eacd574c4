package adaptive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
)

// This file holds the schedule of rounds whose cost depends on the answers: what each of them may spend.

// Schedule divides the ρ of a block among rounds that each make a choice and measure what was chosen. A round costs
// what the one before did, or four times as much once an answer has shown so little that the next ones need less
// noise; the last one takes what is left. All amounts are exact rationals, and what a round may do depends only on
// the plan and on which rounds were followed by [Schedule.Quieter].
//
// Contract: the rounds cost no more than the block together, and are no more than the plan's limit; there is one at
// least. Every one has an ε and a ρ of its noise that are no less than the first one's. Argument:
// docs/proofs/adaptive.md.
type Schedule struct {
	first  RoundMechanisms
	now    RoundMechanisms // what the next round may do
	whole  *big.Rat
	left   *big.Rat
	rounds int // that are left
}

// RoundMechanisms is what one round may do.
type RoundMechanisms struct {
	Select budget.Mechanism `json:"select"`
	Noise  budget.Mechanism `json:"noise"`
}

// Rho returns what a turn costs.
func (t RoundMechanisms) Rho() *big.Rat { return new(big.Rat).Add(t.Select.Rho(), t.Noise.Rho()) }

// Equal reports whether two turns are equal.
func (t RoundMechanisms) Equal(other RoundMechanisms) bool {
	return sameMechanism(t.Select, other.Select) && sameMechanism(t.Noise, other.Noise)
}

// sameMechanism reports whether two mechanisms have one kind, parameter and sensitivity.
func sameMechanism(a, b budget.Mechanism) bool {
	x, err := json.Marshal(a)
	if err != nil {
		return false
	}
	y, err := json.Marshal(b)
	return err == nil && bytes.Equal(x, y)
}

// Selection is the part of a round that goes to its choice: a tenth. OfColumns is the part of the whole that goes to
// the single columns before: a fifth.
var (
	Selection = big.NewRat(1, 10)
	OfColumns = big.NewRat(1, 5)
)

// RoundsPerColumn is the largest number of rounds for each column: the first round may cost as much as the block
// divided by all of these.
const RoundsPerColumn = 8

// LeastVariance is the parameter σ² below which no noise falls: then seven draws in ten thousand are not zero, and a
// cell is known as accurately as is useful.
var LeastVariance = big.NewRat(1, 16)

// NewSchedule returns the schedule of a method's rounds, before the first.
func NewSchedule(s plan.Synthetic) *Schedule {
	first := RoundMechanisms{s.Select, s.Noise}
	whole := new(big.Rat).Sub(big.NewRat(1, 1), OfColumns)
	whole.Quo(s.Block.Parameter, whole)
	return &Schedule{first, first, whole, new(big.Rat).Set(s.Block.Parameter), s.Rounds}
}

// Next returns what the next round may do, and spends it. last reports whether there is none after it: then Next must
// not be called again.
func (s *Schedule) Next() (t RoundMechanisms, last bool) {
	cost := s.now.Rho()
	if s.rounds--; s.rounds > 0 && s.left.Cmp(new(big.Rat).Add(cost, cost)) >= 0 {
		s.left.Sub(s.left, cost)
		return s.now, false
	}
	t = s.lastTurn()
	s.left.Sub(s.left, t.Rho())
	return t, true
}

// lastTurn returns a round that takes all that is left, except for rounding: what the first round costs is divided as
// there, and a tenth of the remainder goes to the choice. There is always at least the cost of the first round left.
func (s *Schedule) lastTurn() RoundMechanisms {
	t, own := s.first, s.first.Select.Rho()
	own.Add(own, new(big.Rat).Mul(Selection, new(big.Rat).Sub(s.left, s.first.Rho())))
	t.Select.Parameter = budget.RootBelow(own.Mul(own, big.NewRat(8, 1)), ChoiceBits)
	t.Noise.Parameter = LeastNoiseParameter(s.first.Noise, new(big.Rat).Sub(s.left, t.Select.Rho()))
	return t
}

// LeastNoiseParameter returns the least parameter, a multiple of 2⁻²⁰, with which noise costs no more than ρ, and no
// less than LeastVariance.
func LeastNoiseParameter(noise budget.Mechanism, rho *big.Rat) *big.Rat {
	p := new(big.Rat).Quo(new(big.Rat).Mul(noise.Parameter, noise.Rho()), rho)
	n := new(big.Int).Lsh(p.Num(), 20)
	n.Add(n, new(big.Int).Sub(p.Denom(), big.NewInt(1)))
	p.SetFrac(n.Quo(n, p.Denom()), new(big.Int).Lsh(big.NewInt(1), 20))
	if p.Cmp(LeastVariance) < 0 {
		p.Set(LeastVariance)
	}
	return p
}

// Quieter halves the deviation of the noise of the following rounds, and makes their choices twice as sharp, unless
// there would be next to no noise.
func (s *Schedule) Quieter() {
	noise := new(big.Rat).Quo(s.now.Noise.Parameter, big.NewRat(4, 1))
	if noise.Cmp(LeastVariance) < 0 {
		return
	}
	s.now.Noise.Parameter = noise
	s.now.Select.Parameter = new(big.Rat).Mul(s.now.Select.Parameter, big.NewRat(2, 1))
}

func (s *Schedule) clone() *Schedule {
	out := *s
	out.left = new(big.Rat).Set(s.left)
	return &out
}

// Used returns the part that is spent of all that the microdata get, their columns included.
func (s *Schedule) Used() float64 {
	used, _ := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Quo(s.left, s.whole)).Float64()
	return used
}

// CheckRounds returns an error unless a schedule can give these turns, from the first to the last, whatever the answers
// were: all of them, no more, and each as it follows from those before, quieter or not.
func CheckRounds(s plan.Synthetic, turns []RoundMechanisms) error {
	schedule := NewSchedule(s)
	for i, made := range turns {
		quieter := schedule.clone()
		quieter.Quieter()
		t, last := schedule.Next()
		if i > 0 && !t.Equal(made) {
			schedule = quieter
			t, last = schedule.Next()
		}
		switch {
		case !t.Equal(made):
			return fmt.Errorf("round %d is made by mechanisms that do not follow from the rounds before", i+1)
		case last && i < len(turns)-1:
			return fmt.Errorf("there are %d rounds, where nothing is left after %d", len(turns), i+1)
		case last:
			return nil
		}
	}
	return errors.New("rounds are missing: there is something left to spend")
}

// ChoiceBits is the number of fractional bits of the ε of a choice. There are more than of a scale of noise: an ε is
// small where a scale is large, and the search for a budget's ρ needs an ε that follows it closely.
const ChoiceBits = 24
