package noise

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Exceeding draws, for very many cells without rows, which of them have noise that exceeds a threshold N, and that
// noise, without visiting the other cells. Cells come in stretches of [Exceeding.CellsPerStream]; each draws from a
// stream of its own.
//
// A stretch is blocks of 2^j cells. The number of cells of a block that exceed is Binomial(2^j, q), with q = P(X >
// N). They are distinct places of the block, every choice equally likely, and each has a noise of its own from the
// law of X given X > N.
//
// Guarantee: given uniform bits, places and noise have exactly the law that they would have if every cell had a draw
// of discrete Laplace or Gaussian noise of its own and those above N were looked up, for every N ≥ 0. Argument:
// docs/proofs/sparse.md.
type Exceeding struct {
	first     int64    // N + 1
	successes binomial // per block
	// proposals draws X − first given X ≥ first: proposals ≥ 0 of a law that has noise on both sides, each kept with
	// probability exp(−x).
	proposals *sampler
	// exponent returns x of a proposal; nil if every proposal is kept.
	exponent func(excess int64) *big.Rat
	small    [smallExcesses]*big.Rat // exponents of the excesses that nearly all proposals have
}

// smallExcesses is how many exponents are computed in advance.
const smallExcesses = 32

// streamBits is how many blocks draw from one stream: 2^streamBits. It is part of the
// definition of a release: another number gives other noise.
const streamBits = 8

// mostSigmaBits bounds σ for which the sum of a Gaussian tail is calculated: below 2^mostSigmaBits.
const mostSigmaBits = 16

// ErrTooWide is the error for Gaussian noise with a σ of 2¹⁶ or more.
var ErrTooWide = errors.New(
	"the noise has a standard deviation of 65536 or more: spend more budget on what is published above a threshold")

// ExceedingLaplace returns the law of discrete Laplace noise of a scale above a threshold.
// It returns an error for a scale that [AddDiscreteLaplace] refuses, and for a threshold below 0 or above 2⁶¹.
func ExceedingLaplace(scale *big.Rat, above int64) (*Exceeding, error) {
	if err := errors.Join(checkParameter("scale of discrete Laplace noise", scale), checkThreshold(above)); err != nil {
		return nil, err
	}
	// X ≥ 0 has P(X = x) ∝ exp(−x/t), and so has X − first given X ≥ first.
	e := &Exceeding{first: above + 1, proposals: samplers.samplerOf(false, scale)}
	e.setSuccesses(func(precision uint) *enclosure { return laplaceTail(scale, e.first, precision) })
	return e, nil
}

// ExceedingGaussian returns the law of discrete Gaussian noise of parameter σ² above a threshold. It returns an error
// for a σ² that [AddDiscreteGaussian] refuses, [ErrTooWide] for a σ of 2¹⁶ or more, and an error for a threshold
// below 0 or above 2⁶¹.
func ExceedingGaussian(sigmaSquared *big.Rat, above int64) (*Exceeding, error) {
	if err := errors.Join(checkParameter("σ² of discrete Gaussian noise", sigmaSquared),
		checkThreshold(above)); err != nil {
		return nil, err
	}
	if sigmaSquared.Cmp(new(big.Rat).SetInt64(1<<(2*mostSigmaBits))) >= 0 {
		return nil, ErrTooWide
	}
	e := &Exceeding{first: above + 1}
	e.proposeGaussian(sigmaSquared)
	for excess := range e.small {
		e.small[excess] = e.exponent(int64(excess))
	}
	e.setSuccesses(func(precision uint) *enclosure { return gaussianTail(sigmaSquared, e.first, precision) })
	return e, nil
}

// proposeGaussian sets the proposals for P(first + g) ∝ exp(−first·g/σ²)·exp(−g²/2σ²), g ≥ 0: proposals are drawn
// from the narrower of the two factors, and the other factor decides.
func (e *Exceeding) proposeGaussian(sigmaSquared *big.Rat) {
	first := new(big.Rat).SetInt64(e.first)
	scale := new(big.Rat).Quo(sigmaSquared, first)
	if first.Cmp(scale) >= 0 { // first² ≥ σ²
		half := new(big.Rat).Inv(new(big.Rat).Add(sigmaSquared, sigmaSquared))
		e.proposals = samplers.samplerOf(false, scale)
		e.exponent = func(excess int64) *big.Rat {
			g := new(big.Rat).SetInt64(excess)
			return g.Mul(g, g).Mul(g, half)
		}
		return
	}
	rate := new(big.Rat).Inv(scale)
	e.proposals = samplers.samplerOf(true, sigmaSquared)
	e.exponent = func(excess int64) *big.Rat {
		g := new(big.Rat).SetInt64(excess)
		return g.Mul(g, rate)
	}
}

// setSuccesses sets the law of how many cells of a block exceed.
func (e *Exceeding) setSuccesses(success func(precision uint) *enclosure) {
	e.successes = *newBinomial(trialBitsOf(success), success)
}

// checkThreshold returns an error for a threshold above which noise cannot be drawn.
func checkThreshold(above int64) error {
	if above < 0 || above > overflowLimit/2 {
		return fmt.Errorf("a threshold lies between 0 and 2^61, not at %d", above)
	}
	return nil
}

// laplaceTail encloses P(X ≥ k) = exp(−k/t)/(1 + exp(−1/t)), for k ≥ 1.
func laplaceTail(scale *big.Rat, k int64, precision uint) *enclosure {
	f := &fixedPoint{precision: precision}
	rate := new(big.Rat).Inv(scale)
	norm, out := f.one(), new(enclosure)
	f.add(norm, expNeg(rate, precision))
	f.quo(out, expNeg(rate.Mul(rate, new(big.Rat).SetInt64(k)), precision), norm)
	return out
}

// gaussianTail encloses P(X ≥ k) = Σ_{x ≥ k} w(x) / (1 + 2·Σ_{x ≥ 1} w(x)) with w(x) = exp(−x²/2σ²), for k ≥ 1.
// Weights are added up until the rest, by a geometric series, is of no consequence at this precision.
func gaussianTail(sigmaSquared *big.Rat, k int64, precision uint) *enclosure {
	const spare = 64
	law := magnitudes{square: true, rate: new(big.Rat).Inv(new(big.Rat).Add(sigmaSquared, sigmaSquared))}
	f := &fixedPoint{precision: precision + spare}
	weight, ratio, fall := f.one(), expNeg(law.rate, f.precision), new(enclosure)
	f.mul(fall, ratio, ratio)
	body, tail := new(enclosure), new(enclosure) // of 1 ≤ x < k, and from k on
	least := new(big.Int).Lsh(bigOne, spare/2)
	for x := int64(1); weight.hi.Cmp(least) > 0; x++ {
		f.mul(weight, weight, ratio)
		f.mul(ratio, ratio, fall)
		if x < k {
			f.add(body, weight)
		} else {
			f.add(tail, weight)
		}
	}
	rest := law.tailWeights(f, weight, ratio) // some of it may lie before k
	f.add(tail, rest)
	all := f.one()
	for range 2 {
		f.add(all, body)
		f.add(all, tail)
	}
	out := new(enclosure)
	f.quo(out, tail, all)
	out.lo.Rsh(&out.lo, spare)
	f.scratch.Set(&out.hi)
	shiftRoundUp(&out.hi, &f.scratch, spare)
	return out
}

// CellsPerStream returns how many consecutive cells draw from one stream: a power of 2, at most 2⁶².
func (e *Exceeding) CellsPerStream() uint64 {
	return 1 << min(e.successes.trialBits+streamBits, mostTrialBits)
}

// Draw visits the cells of a stretch whose noise exceeds the threshold, by ascending place from 0 to
// [Exceeding.CellsPerStream] − 1, with that noise. It returns an error if noise reaches 2⁶².
func (e *Exceeding) Draw(b *Bits, visit func(place uint64, noise int64)) error {
	side := uint64(1) << e.successes.trialBits
	draws := excesses{law: e, bits: b}
	var places []uint64
	for from := uint64(0); from < e.CellsPerStream(); from += side {
		places = e.drawPlaces(b, places[:0])
		for _, place := range places {
			excess, err := draws.nextExcess()
			if err != nil {
				return err
			}
			if excess >= overflowLimit-e.first {
				return errOverflow
			}
			visit(from+place, e.first+excess)
		}
	}
	return nil
}

// drawPlaces appends the places within a block that exceed, ascending. Their number has the binomial law, and a place
// that is already taken is drawn again.
func (e *Exceeding) drawPlaces(b *Bits, places []uint64) []uint64 {
	shift := 64 - e.successes.trialBits
	for count := e.successes.drawCount(b); uint64(len(places)) < count; {
		place := b.Uint64() >> shift
		if at, taken := slices.BinarySearch(places, place); !taken {
			places = slices.Insert(places, at, place)
		}
	}
	return places
}

// excesses draws X − first given X ≥ first, one after another.
type excesses struct {
	law   *Exceeding
	bits  *Bits
	drawn [64]int64
	left  int // of drawn, from the end
}

// nextExcess returns the next excess: a proposal that is not negative and is kept.
func (d *excesses) nextExcess() (int64, error) {
	for {
		if d.left == 0 {
			if err := d.law.proposals.fill(d.bits, d.drawn[:]); err != nil {
				return 0, err
			}
			d.left = len(d.drawn)
		}
		excess := d.drawn[len(d.drawn)-d.left]
		d.left--
		if excess >= 0 && d.law.keepsProposal(d.bits, excess) {
			return excess, nil
		}
	}
}

// keepsProposal decides whether a proposal is kept.
func (e *Exceeding) keepsProposal(b *Bits, excess int64) bool {
	switch {
	case e.exponent == nil:
		return true
	case excess < smallExcesses:
		return bigBernoulliExpOf(b, e.small[excess])
	}
	return bigBernoulliExpOf(b, e.exponent(excess))
}
