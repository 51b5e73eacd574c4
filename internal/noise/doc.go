// Package noise draws the integers that protect a release: discrete Laplace, discrete Gaussian and Skellam samples of
// exactly the stated law, from streams that are never used twice.
//
// It owns the release [Key], the [Streams] derived from it and the keystream [Bits]. [AddDiscreteLaplace] and
// [AddDiscreteGaussian] add noise to counts, and [AddSkellam] adds the difference of two Poisson variables.
// [AddLaplaceShare] and [AddSkellamShare] add one holder's share of noise, for counts that several holders add up.
// [Exceeding] draws, for very many cells without rows, only the noise above a threshold. [ExponentialMechanism] selects
// one of some candidates. [Ranking] chooses the best of very many candidates by the exponential mechanism or by
// permute-and-flip, and [Quantile] chooses among all integers of a range.
//
// It never computes in floating point: parameters are rationals, every decision of a sampler is a comparison of
// integers, and no tail is cut off. It never falls back to another source of randomness, and never prints a key. It
// does not know what a count means or what a draw costs: that belongs to histogram and budget.
//
// A law of a scale below 2¹⁰ is drawn from a table of its values, a wider one from cells of values with an exact
// rejection. Either takes one word a draw, and further words if that one does not decide. Tables are made when a law
// is first used, in some milliseconds, and kept.
//
// The time that a sampler takes depends on what it draws. Noise is therefore added to whole blocks of [BlockCells]
// cells in a fixed order, never to one cell on request, and the time of a single block is never shown. This package
// does not defend against somebody who shares the processor and watches its caches.
package noise

// BlockCells is the number of consecutive cells that draw from one stream. It is
// part of the definition of a release: another size gives other noise.
const BlockCells = 4096
