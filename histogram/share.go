package histogram

// This file holds the share of one of several holders: its exact answer with its share of the noise, masked.

import (
	"context"
	"math/big"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
)

// Share returns the share of one holder of the answer to a measurement of the plan: the holder's exact integers plus
// its share of the noise that the plan sets, masked. The masks of all holders on the roll cancel in the sum of their
// shares. It returns an error as [Opened.Measure] does, and as [holder.Masks.Mask] does.
//
// Guarantee: the sum of the shares of all holders is as private as the plan says, even to whoever knows the numbers and
// the noise of all but the trusted ones. A share by itself is uniform to whoever lacks the keys of its holder and of
// one other. Argument: docs/proofs/holders.md.
func (o *Opened) Share(ctx context.Context, m plan.Measurement, masks *holder.Masks) (measured.Measured, error) {
	i, err := o.inner.indexOf(m)
	if err != nil {
		return measured.Measured{}, err
	}
	return o.inner.giveOnce(i, func(a exactAnswer) (measured.Measured, error) {
		noisy, err := o.inner.noisyAnswer(ctx, a)
		if err != nil {
			return noisy, err
		}
		values := noisy.Values.Int64Values()
		words := make([]uint64, len(values))
		for i, x := range values {
			words[i] = uint64(x)
		}
		clear(values)
		err = masks.Mask(a.definition, words)
		for i, x := range words {
			values[i] = int64(x)
		}
		return noisy, err
	})
}

// sharesOf returns a function that adds so many independent shares of a law's noise to every count, of which needed
// together are a draw of it.
func (l noiseLaw) sharesOf(needed, shares int) func(b *noise.Bits, parameter *big.Rat, counts []int64) error {
	return func(b *noise.Bits, parameter *big.Rat, counts []int64) error {
		for range shares {
			if err := l.addShareTo(b, parameter, needed, counts); err != nil {
				return err
			}
		}
		return nil
	}
}
