package noise

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Exceeding draws, for very many cells that count nothing, the noise of those whose noise
// exceeds a threshold N, and which cells these are, without visiting the others. Cells
// come in stretches of [Exceeding.Stretch]; each draws from a stream of its own.
//
// A stretch is blocks of 2^j cells. The cells of a block that exceed are Binomial(2^j, q)
// many, with q = P(X > N); they are places of the block of which no two are the same, each
// choice as likely as any other; and each has a noise of its own from the law of X given X > N.
//
// Guarantee: given uniform bits, places and noise have exactly the law that they would have
// if every cell had a draw of discrete Laplace or Gaussian noise of its own and those above N were
// looked up, for every N ≥ 0.
// Argument: docs/proofs/sparse.md.
type Exceeding struct {
	first     int64    // N + 1
	successes binomial // per block
	// tail draws X − first given X ≥ first: proposals ≥ 0 of a law that has noise on both sides, each kept with
	// probability exp(−x).
	proposals *sampler
	// exponent is x of a proposal; nil where every one is kept.
	exponent func(excess int64) *big.Rat
	small    [smallExcesses]*big.Rat // exponents of those that nearly all proposals are
}

// smallExcesses is how many exponents are worked out beforehand.
const smallExcesses = 32

// streamBits is how many blocks draw from one stream: 2^streamBits. It is part of the
// definition of a release: another number gives other noise.
const streamBits = 8

// mostSigmaBits bounds σ for which the sum of a Gaussian tail is calculated: below 2^mostSigmaBits.
const mostSigmaBits = 16

// ErrTooWide is the error for Gaussian noise of a σ of 2¹⁶ or more.
var ErrTooWide = errors.New(
	"the noise has a standard deviation of 65536 or more: spend more budget on what is published above a threshold")

// ExceedingLaplace returns the law of discrete Laplace noise of a scale above a threshold.
// It returns an error for a scale that [AddDiscreteLaplace] refuses, and for a threshold below 0 or above 2⁶¹.
func ExceedingLaplace(scale *big.Rat, above int64) (*Exceeding, error) {
	if err := errors.Join(checkParameter("scale of discrete Laplace noise", scale), checkThreshold(above)); err != nil {
		return nil, err
	}
	// X ≥ 0 has P(X = x) ∝ exp(−x/t), and so has X − first given X ≥ first.
	e := &Exceeding{first: above + 1, proposals: samplers.of(false, scale)}
	e.count(func(precision uint) *enclosure { return laplaceTail(scale, e.first, precision) })
	return e, nil
}

// ExceedingGaussian returns the law of discrete Gaussian noise of parameter σ² above a threshold.
// It returns an error for a σ² that [AddDiscreteGaussian] refuses, [ErrTooWide] for a σ of 2¹⁶ or more, and an error for
// a threshold below 0 or above 2⁶¹.
func ExceedingGaussian(sigmaSquared *big.Rat, above int64) (*Exceeding, error) {
	if err := errors.Join(checkParameter("σ² of discrete Gaussian noise", sigmaSquared), checkThreshold(above)); err != nil {
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
	e.count(func(precision uint) *enclosure { return gaussianTail(sigmaSquared, e.first, precision) })
	return e, nil
}

// proposeGaussian sets the proposals for P(first + g) ∝ exp(−first·g/σ²)·exp(−g²/2σ²), g ≥ 0: one of the factors, the
// narrower one, is proposed from and the other decides.
func (e *Exceeding) proposeGaussian(sigmaSquared *big.Rat) {
	first := new(big.Rat).SetInt64(e.first)
	scale := new(big.Rat).Quo(sigmaSquared, first)
	if first.Cmp(scale) >= 0 { // first² ≥ σ²
		half := new(big.Rat).Inv(new(big.Rat).Add(sigmaSquared, sigmaSquared))
		e.proposals = samplers.of(false, scale)
		e.exponent = func(excess int64) *big.Rat {
			g := new(big.Rat).SetInt64(excess)
			return g.Mul(g, g).Mul(g, half)
		}
		return
	}
	rate := new(big.Rat).Inv(scale)
	e.proposals = samplers.of(true, sigmaSquared)
	e.exponent = func(excess int64) *big.Rat {
		g := new(big.Rat).SetInt64(excess)
		return g.Mul(g, rate)
	}
}

// count sets the law of how many cells of a block exceed.
func (e *Exceeding) count(success func(precision uint) *enclosure) {
	e.successes = *newBinomial(trialBitsOf(success), success)
}

// checkThreshold returns an error unless a threshold is one that noise can be drawn above.
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

// gaussianTail encloses P(X ≥ k) = Σ_{x ≥ k} w(x) / (1 + 2·Σ_{x ≥ 1} w(x)) with w(x) = exp(−x²/2σ²), for k ≥ 1. Weights
// are added up until what is left, by a geometric series, is of no consequence at this precision.
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
	rest := law.tail(f, weight, ratio) // some of it may lie before k
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

// Stretch is how many consecutive cells draw from one stream: a power of 2, 2⁶² at most.
func (e *Exceeding) Stretch() uint64 {
	return 1 << min(e.successes.trialBits+streamBits, mostTrialBits)
}

// Draw visits the cells of a stretch whose noise exceeds the threshold, by ascending place from 0 to
// [Exceeding.Stretch] − 1, with that noise. It returns an error where noise reaches 2⁶².
func (e *Exceeding) Draw(b *Bits, visit func(place uint64, noise int64)) error {
	side := uint64(1) << e.successes.trialBits
	draws := excesses{law: e, bits: b}
	var places []uint64
	for from := uint64(0); from < e.Stretch(); from += side {
		places = e.places(b, places[:0])
		for _, place := range places {
			excess, err := draws.next()
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

// places appends the places within a block that exceed, ascending: as many as the binomial law says, each drawn again
// where it is there already.
func (e *Exceeding) places(b *Bits, places []uint64) []uint64 {
	shift := 64 - e.successes.trialBits
	for count := e.successes.draw(b); uint64(len(places)) < count; {
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

// next returns the next of them: a proposal that is not negative and is kept.
func (d *excesses) next() (int64, error) {
	for {
		if d.left == 0 {
			if err := d.law.proposals.fill(d.bits, d.drawn[:]); err != nil {
				return 0, err
			}
			d.left = len(d.drawn)
		}
		excess := d.drawn[len(d.drawn)-d.left]
		d.left--
		if excess >= 0 && d.law.keeps(d.bits, excess) {
			return excess, nil
		}
	}
}

// keeps decides whether a proposal is kept.
func (e *Exceeding) keeps(b *Bits, excess int64) bool {
	switch {
	case e.exponent == nil:
		return true
	case excess < smallExcesses:
		return bigBernoulliExpOf(b, e.small[excess])
	}
	return bigBernoulliExpOf(b, e.exponent(excess))
}
