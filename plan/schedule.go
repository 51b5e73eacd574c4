package plan

import (
	"math/big"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the schedule of rounds whose number depends on the answers: what each of them may spend.

// Schedule divides an amount of ρ among rounds that each make a choice and measure what was chosen. A round costs what
// the one before did, or four times as much once an answer has told so little that the next ones need less noise; the last
// one takes all that is left. Every part is an exact rational.
type Schedule struct {
	whole  *big.Rat // of the method, with what was spent before the rounds
	left   *big.Rat
	choose budget.Mechanism
	noise  budget.Mechanism
}

// selection is the part of a round that goes to its choice.
var selection = big.NewRat(1, 10)

// NewSchedule divides left, which is what whole leaves for rounds, beginning with rounds of this choice and noise.
func NewSchedule(whole, left *big.Rat, choose, noise budget.Mechanism) *Schedule {
	return &Schedule{new(big.Rat).Set(whole), new(big.Rat).Set(left), choose, noise}
}

// Next is what the next round may do, which is spent. last tells that there is none after it.
func (s *Schedule) Next() (choose, noise budget.Mechanism, last bool) {
	cost := new(big.Rat).Add(s.choose.Rho(), s.noise.Rho())
	if s.left.Cmp(new(big.Rat).Add(cost, cost)) >= 0 {
		s.left.Sub(s.left, cost)
		return s.choose, s.noise, false
	}
	part := new(big.Rat).Mul(s.left, selection)
	choose, noise = s.choose, s.noise
	choose.Parameter = rootBelow(new(big.Rat).Mul(part, big.NewRat(8, 1)), choiceBits)
	part.Sub(s.left, part)
	noise.Parameter = quietest(s.noise, part)
	s.left.SetInt64(0)
	return choose, noise, true
}

// quietest is the least parameter, a multiple of 2⁻²⁰, with which noise costs no more than ρ.
func quietest(noise budget.Mechanism, rho *big.Rat) *big.Rat {
	p := new(big.Rat).Quo(new(big.Rat).Mul(noise.Parameter, noise.Rho()), rho)
	n := new(big.Int).Lsh(p.Num(), 20)
	n.Add(n, new(big.Int).Sub(p.Denom(), big.NewInt(1)))
	return new(big.Rat).SetFrac(n.Quo(n, p.Denom()), new(big.Int).Lsh(big.NewInt(1), 20))
}

// Quieter halves the deviation of the noise of the rounds that follow, and makes their choices twice as sharp.
func (s *Schedule) Quieter() {
	s.choose.Parameter = new(big.Rat).Mul(s.choose.Parameter, big.NewRat(2, 1))
	s.noise.Parameter = new(big.Rat).Quo(s.noise.Parameter, big.NewRat(4, 1))
}

// Used is the part of the whole that is spent.
func (s *Schedule) Used() float64 {
	used, _ := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Quo(s.left, s.whole)).Float64()
	return used
}
