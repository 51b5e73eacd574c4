// Package noise draws the integers that protect a release: discrete Laplace and
// discrete Gaussian samples of exactly the stated law, from streams that are
// never used twice.
//
// It owns the release [Key], the [Streams] derived from it, the keystream
// [Bits], and [AddDiscreteLaplace] and [AddDiscreteGaussian] for noise on counts; [Exceeding],
// which draws for very many cells that count nothing the noise of those above a threshold; the
// selection [ExponentialMechanism]; [Ranking], which chooses the best of very many candidates by the exponential
// mechanism or by permute-and-flip; and [Quantile], which chooses among all integers of a range.
//
// It never computes in floating point: parameters are rationals, every decision
// of a sampler is a comparison of integers, and no tail is cut off. It never
// falls back to another source of randomness, and never prints a key. It does
// not know what a count means or what a draw costs: those belong to histogram
// and budget.
//
// A law of a scale below 2¹⁰ is drawn from a table of its values, a wider one from
// cells of values with an exact rejection; either takes one word a draw, and
// further ones where that one does not decide. Tables are made when a law is first
// used, in some milliseconds, and kept.
//
// How long a sampler takes depends on what it draws. Noise is therefore added to
// whole blocks of [BlockCells] cells in a fixed order, never to one cell on
// request, and the time of a single block is never shown. Somebody who shares
// the processor and watches its caches is outside what this package defends
// against.
package noise

// BlockCells is the number of consecutive cells that draw from one stream. It is
// part of the definition of a release: another size gives other noise.
const BlockCells = 4096
