package budget

import (
	"errors"
	"fmt"
	"math"
)

// PartitionSelection decides whether to publish each partition, such as a group whose existence only some ids reveal,
// from the number of ids in it. It uses the largest possible probabilities. An id is in at most MaxPartitions
// partitions, each of which gets ε/MaxPartitions and 1−(1−δ)^(1/MaxPartitions).
//
// With ε and δ of one partition, and π₀ = 0,
//
//	πₙ = min(e^ε·πₙ₋₁ + δ, 1 − e^{−ε}(1 − πₙ₋₁ − δ), 1).
type PartitionSelection struct {
	Epsilon, Delta float64
	MaxPartitions  int64
}

// maxCounts bounds the least number of ids from which on every partition is kept.
const maxCounts = 1 << 22

// Validate returns an error unless ε and δ are positive, δ is at most 1, and the
// probabilities reach 1 within about four million ids.
func (s PartitionSelection) Validate() error {
	if !(s.Epsilon > 0) || !(s.Delta > 0) || s.Delta > 1 || s.MaxPartitions < 1 {
		return errors.New("partition selection: epsilon, delta and the number of partitions of an id must be " +
			"positive, and delta at most 1")
	}
	epsilon, delta := s.perPartition()
	// π rises to ½ and from there to 1 in at most ln(1/δ)/ε counts each, and by δ at
	// each count.
	if !(delta > 0) || math.Min(2*(-Log(delta)+1)/epsilon, 1/delta) > maxCounts {
		return fmt.Errorf("partition selection: epsilon and delta of one partition are so small that even %d ids "+
			"might not suffice: raise them, or let an id count in fewer partitions", maxCounts)
	}
	return nil
}

// perPartition returns the ε and δ of each partition, rounded down: ε/MaxPartitions and 1−(1−δ)^(1/MaxPartitions).
//
// Guarantee: as many mechanisms, each private at what is returned, are (ε, δ)-
// differentially private together. Theorem: Kairouz, Oh & Viswanath 2015, theorem
// 3.3 at i = 0.
func (s PartitionSelection) perPartition() (epsilon, delta float64) {
	if s.MaxPartitions == 1 {
		return s.Epsilon, s.Delta
	}
	count := float64(s.MaxPartitions)
	if s.Delta == 1 {
		return loweredBy(s.Epsilon/count, 1), 1
	}
	return loweredBy(s.Epsilon/count, 1), loweredBy(-expm1(log1p(-s.Delta)/count), 8)
}

// KeepProbabilities returns π₀, π₁, … up to the value that all larger counts share, which is 1 or, for δ below 2⁻⁵³,
// may be 1 − 2⁻⁵³. Each is rounded down: it is never above the optimum, and below it by less than 1e-9 of it. A float64
// is a fraction of a power of 2, so a decision by exact random bits has exactly this probability.
//
// Guarantee: keeping every partition independently with these probabilities is
// (ε, δ)-differentially private for neighbours in which one id is added or removed,
// with the rounded probabilities themselves. Theorem: Desfontaines, Voss, Gipson &
// Mandayam 2022, theorem 1. Argument: docs/proofs/partition.md.
//
// It returns an error for a selection that does not validate.
func (s PartitionSelection) KeepProbabilities() ([]float64, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rise := s.nextProbability()
	kept := []float64{0}
	for {
		last := kept[len(kept)-1]
		next := rise(last)
		if next == last {
			return kept, nil
		}
		kept = append(kept, next)
	}
}

// nextProbability returns the function πₙ₋₁ ↦ πₙ, with every operation rounded down, or rounded up if its result is
// subtracted.
func (s PartitionSelection) nextProbability() func(kept float64) float64 {
	epsilon, delta := s.perPartition()
	grow := math.Min(math.MaxFloat64, nextDown(nextDown(Exp(epsilon))))
	shrink := nextUp(nextUp(Exp(-epsilon)))
	return func(kept float64) float64 {
		rest := nextUp(nextUp(1-kept) - delta)
		if rest <= 0 {
			return 1
		}
		likely := nextDown(nextDown(grow*kept) + delta)
		unlikely := nextDown(1 - nextUp(shrink*rest))
		return math.Max(kept, math.Min(likely, unlikely))
	}
}

// nextUp and nextDown return the next float64: beyond the exact result of an operation, given its rounding to nearest.
func nextUp(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }

func nextDown(x float64) float64 { return math.Nextafter(x, math.Inf(-1)) }
