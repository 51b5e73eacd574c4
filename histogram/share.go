package histogram

// This file holds the share of one of several holders: its exact answer with its share of the noise, masked.

import (
	"context"
	"math/big"

	"github.com/dprelease/dprelease/budget"
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
		return noisy, mask(masks, a.definition, noisy.Values.Int64Values())
	})
}

// mask masks values in place. After an error they are zero.
func mask(masks *holder.Masks, definition []byte, values []int64) error {
	words := make([]uint64, len(values))
	for i, x := range values {
		words[i] = uint64(x)
	}
	clear(values)
	if err := masks.Mask(definition, words); err != nil {
		return err
	}
	for i, x := range words {
		values[i] = int64(x)
	}
	return nil
}

// drawing returns the function that adds the noise of a mechanism to every count: all of it, or this holder's share if
// there are several.
func (x *opened) drawing(m budget.Mechanism) (func(b *noise.Bits, parameter *big.Rat, counts []int64) error, error) {
	law, err := noiseLawOf(m)
	switch {
	case err != nil || m.Shares.Needed == 0:
		return law.addTo, err
	case x.exact.madeUp: // all holders' noise is drawn here
		return law.sharesOf(m.Shares.Needed, m.Shares.Added), nil
	}
	return law.sharesOf(m.Shares.Needed, 1), nil
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
