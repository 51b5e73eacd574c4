package noise

import (
	"fmt"
	"iter"
	"math/big"
)

// MostSkellamVariance is the largest variance of Skellam noise: its table holds all values within some 12 standard
// deviations.
const MostSkellamVariance = 1 << 24

// AddSkellam adds to every count, in place, an independent integer X = N₁ − N₂ for independent Poisson variables N₁ and
// N₂ of mean μ/2 each, where μ > 0 is the variance of X:
//
//	P(X = x) = e^(−μ)·I_|x|(μ),   x ∈ ℤ,
//
// with I the modified Bessel function of the first kind.
//
// Guarantee: given uniform bits the law is exactly this one, for every rational μ up to [MostSkellamVariance], with no
// tail cut off. What it protects depends on the whole vector by which exact counts differ between neighbours, not on
// its norms alone: docs/proofs/skellam.md. Theorem: the difference of two Poisson variables (Skellam 1946). Argument:
// docs/proofs/sampler.md, part 6.
//
// It returns an error for a μ that is not positive, is larger than [MostSkellamVariance] or has more than 4096 bits,
// and where a count or a noisy count reaches 2⁶² in absolute value. After an error all counts are zero: neither exact
// nor half-noisy integers remain.
func AddSkellam(b *Bits, variance *big.Rat, counts []int64) error {
	return AddSkellamShare(b, variance, 1, counts)
}

// AddSkellamShare adds to every count, in place, an independent share of Skellam noise of variance μ > 0. With t =
// holders a share is Skellam noise of variance μ/t, as [AddSkellam] draws it.
//
// Guarantee: given uniform bits the law is exactly this one. The sum of t independent shares is Skellam noise of
// variance μ, exactly, and the sum of n shares is Skellam noise of variance nμ/t. Fewer than t shares do not protect as
// t do. Theorem: a sum of independent Poisson variables is a Poisson variable (Raikov 1937 proves the converse).
// Argument: docs/proofs/sampler.md, part 6.
//
// It returns an error where [AddSkellam] does, and for fewer than 1 holders. After an error all counts are zero.
func AddSkellamShare(b *Bits, variance *big.Rat, holders int, counts []int64) error {
	if err := checkSkellam(variance, holders); err != nil {
		clear(counts)
		return err
	}
	mean := new(big.Rat).Quo(variance, big.NewRat(int64(holders), 1))
	return shares.skellamOf(mean.Mul(mean, big.NewRat(1, 2))).addDraws(b, counts)
}

// checkSkellam returns an error for noise that cannot be drawn.
func checkSkellam(variance *big.Rat, holders int) error {
	if err := checkParameter("variance of Skellam noise", variance); err != nil {
		return err
	}
	if variance.Cmp(new(big.Rat).SetInt64(MostSkellamVariance)) > 0 {
		return fmt.Errorf("the variance of Skellam noise must be at most %d: spend more budget on it",
			MostSkellamVariance)
	}
	if holders < 1 {
		return fmt.Errorf("noise is shared by at least 1 holder, not by %d", holders)
	}
	return nil
}

// poisson is the Poisson law on n = 0, 1, 2, … of mean λ, P(N = n) = e^(−λ)·λⁿ/n!.
type poisson struct{ mean *big.Rat }

// lowerCutoff returns the largest n for which P(N ≤ n) is certainly below 2^−(length+2), or 0. By Chernoff's bound P(N
// ≤ n) ≤ exp(−(λ−n)²/2λ) for n ≤ λ.
func (l poisson) lowerCutoff(length uint) uint64 {
	twice := new(big.Int).Add(l.floor(), bigOne)
	twice.Mul(twice, big.NewInt(2*int64(length+2)))
	below := twice.Sqrt(twice) // (below+1)² ≥ 2λ·(length+2)
	if n := new(big.Int).Sub(l.floor(), below); n.Cmp(bigOne) > 0 {
		return n.Uint64() - 1
	}
	return 0
}

// mostWords bounds the words of a table: its guide, and the thresholds from 11.5·√(λ+1) + 3 below λ up to 30 + 9.5·√λ
// above it, where 1 − F is below 2⁻⁶⁴ by Chernoff's bound exp(−x²/(2λ+2x/3)).
func (l poisson) mostWords() int {
	root := new(big.Int).Add(l.floor(), bigOne)
	root.Sqrt(root)
	return 1<<(mostShareGuideBits-1) + 64 + 22*(int(root.Int64())+1)
}

// floor returns ⌊λ⌋.
func (l poisson) floor() *big.Int { return new(big.Int).Quo(l.mean.Num(), l.mean.Denom()) }

// cumulative encloses F(n) = P(N ≤ n) for n = l.lowerCutoff(length) and all further n up to some n with
// F(n) > 1 − 2^−length. An enclosure holds until the next one.
//
// Weights follow by w(n+1) = w(n)·λ/(n+1), from 1 at a start so low that what is below it is of no consequence at this
// precision. They are added up twice: for the normaliser, and for the F(n).
func (l poisson) cumulative(length, precision uint) iter.Seq[enclosure] {
	return func(yield func(enclosure) bool) {
		f := &fixedPoint{precision: precision}
		total := l.belowStart(f)
		for _, weight := range l.weights(f) {
			f.add(total, weight)
		}
		total.hi.Add(&total.hi, big.NewInt(endUnits))
		sum, share, first := l.belowStart(f), new(enclosure), l.lowerCutoff(length)
		for n, weight := range l.weights(f) {
			if f.add(sum, weight); n < first {
				continue
			}
			if f.quo(share, sum, total); !yield(*share) {
				return
			}
		}
	}
}

// start is the n at which weights begin.
func (l poisson) start(f *fixedPoint) uint64 { return l.lowerCutoff(f.precision + startBits) }

const (
	// startBits makes what is below the start a share of less than 2^−(P+startBits) of all.
	startBits = 16
	// endUnits is how many units of 2⁻ᴾ what is beyond the last weight is at most.
	endUnits = 1 << 16
)

// belowStart encloses the sum of the weights below the start s, which is at most w(s)·s/(λ−s), as weights fall from it
// at least as fast as a geometric series of ratio s/λ.
func (l poisson) belowStart(f *fixedPoint) *enclosure {
	e := new(enclosure)
	if s := l.start(f); s > 0 {
		bound := new(big.Rat).SetUint64(s)
		bound.Quo(bound, new(big.Rat).Sub(l.mean, bound))
		e.hi.Set(&f.rational(bound, 0).hi)
	}
	return e
}

// weights visits n and its weight, from the start on, until what is beyond is at most endUnits: beyond an n with n+1 >
// λ it is at most w(n)·λ/(n+1−λ), as ratios of weights fall from λ/(n+1).
func (l poisson) weights(f *fixedPoint) iter.Seq2[uint64, *enclosure] {
	return func(yield func(uint64, *enclosure) bool) {
		n, weight := l.start(f), f.one()
		numerator := l.mean.Num()
		denominator := new(big.Int).SetUint64(n) // of λ/n
		denominator.Mul(denominator, l.mean.Denom())
		gap, bound := new(big.Int), new(big.Int) // of n+1−λ, times the denominator of λ
		for {
			if !yield(n, weight) {
				return
			}
			n++
			denominator.Add(denominator, l.mean.Denom())
			if gap.Sub(denominator, numerator); gap.Sign() > 0 {
				bound.Mul(&weight.hi, numerator)
				if bound.Cmp(gap.Mul(gap, big.NewInt(endUnits))) <= 0 {
					return
				}
			}
			f.mulRatio(weight, numerator, denominator)
		}
	}
}
