package budget

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// This file holds the privacy loss of Skellam noise from its shifts.

const (
	// negligibleLoss is the mass beyond the listed atoms that counts as an infinite loss, and negligibleExponent more
	// than −ln of half of it.
	negligibleLoss     = 1e-62
	negligibleExponent = 143.5
	// skellamSpacing is the distance between the losses of several shifts in standard deviations of a coordinate. It
	// adds at most 2^−14 to the variance of the loss.
	skellamSpacing = 0x1p-6
	// lossSlack is more than the relative error of a loss.
	lossSlack = 0x1p-49
)

// coordinatePair returns the pair of one coordinate that changes by d: (X, X+d), with L = ln P(x)/P(x−d) at x, which
// falls in x as the law is log-concave.
func (skellam) coordinatePair(variance *big.Rat, d int64) pair {
	reach := skellamReach(nearest(variance), negligibleExponent)
	weights := skellamWeights(variance, reach+int(d))
	whole := newBessel()
	for k := reach; k > 0; k-- {
		whole.Add(whole, weights[k])
	}
	whole.Add(whole, whole)
	whole.Add(whole, weights[0])
	s := scattered{unbounded: negligibleLoss}
	for x := reach; x >= -reach; x-- { // in the order of rising losses
		here, there := weights[max(x, -x)], weights[max(x-int(d), int(d)-x)]
		mass, _ := newBessel().Quo(here, whole).Float64()
		loss := logOf(newBessel().Quo(here, there))
		s.loss = append(s.loss, loss+math.Abs(float64(loss*lossSlack)))
		s.mass = append(s.mass, mass)
	}
	// The sum without the tails makes every mass larger by as little as they hold.
	return s
}

// atomCount returns false: the losses of different shifts share no lattice.
func (skellam) atomCount(float64, int64) (n float64, listed bool) { return 0, false }

// boundingPair returns the envelope of the pairs of all shifts, each moved to the multiples of one loss.
func (l skellam) boundingPair(m Mechanism, shifts []Shift) pair {
	return rememberedPairs.getOrCompute(m.identityText(), func() atoms {
		coordinates := map[int64]scattered{}
		least := math.Inf(1)
		for _, shift := range shifts {
			var variance float64
			for _, d := range shift {
				if _, ok := coordinates[d]; !ok {
					coordinates[d] = l.coordinatePair(m.Parameter, d).(scattered)
				}
				variance += coordinates[d].variance()
			}
			least = min(least, variance/float64(len(shift)))
		}
		unit := new(big.Rat).SetFloat64(skellamSpacing * math.Sqrt(least))
		var each []atoms
		for _, shift := range shifts {
			all := coordinates[shift[0]].onLattice(unit)
			for _, d := range shift[1:] {
				all = all.convolve(coordinates[d].onLattice(unit)).trimmed(negligibleLoss)
			}
			each = append(each, all)
		}
		return envelope(each)
	})
}

// knownByNorms returns false: the norms do not determine the loss.
func (skellam) knownByNorms(Mechanism) bool { return false }

func (skellam) isSmoothable() bool { return false }

var errSkellamShifts = errors.New("the loss of Skellam noise depends on the whole shift, and the worst one is not " +
	"known: use discrete Gaussian noise, or restrict the shifts")

// checkShifts returns an error unless the worst shifts of the mechanism are few, and the variance and the shifts are of
// sizes for which a loss is computed in short time.
func (skellam) checkShifts(m Mechanism) error {
	if m.Parameter.Cmp(big.NewRat(1, 1<<gridBits)) < 0 { // several losses would take long to convolve
		return fmt.Errorf("param is below 2^-%d, next to no Skellam noise", gridBits)
	}
	if m.Shifts == nil && m.L2Squared.Cmp(new(big.Int).Mul(m.L1, m.L1)) < 0 && m.L1.Cmp(big.NewInt(maxSkellamSum)) > 0 {
		return fmt.Errorf("%w; shifts are listed up to an l1 of %d", errSkellamShifts, maxSkellamSum)
	}
	if len(m.Shifts) > maxShifts {
		return fmt.Errorf("%w; at most %d may be listed", errSkellamShifts, maxShifts)
	}
	for _, shift := range m.Shifts {
		if len(m.Shifts) > 1 && len(shift) > maxSkellamSum {
			return fmt.Errorf("%w; each of several shifts may change %d answers", errSkellamShifts, maxSkellamSum)
		}
	}
	shifts, ok := m.worstShifts()
	if !ok {
		return errSkellamShifts
	}
	for _, shift := range shifts {
		if shift[0] > maxSkellamShift {
			return fmt.Errorf("a shift of Skellam noise must be at most %d in each answer", maxSkellamShift)
		}
	}
	return nil
}
