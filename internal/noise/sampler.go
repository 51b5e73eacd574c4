package noise

import (
	"math/big"
	"sync"
)

// mostTableBits bounds the scale, σ or t, up to which a table holds every value:
// below 2^mostTableBits. That keeps thresholds fewer than 2¹⁶.
const mostTableBits = 10

// A sampler draws from one discrete Laplace or Gaussian law, or from the law of a share. It is a table of the
// law's values or, for wide laws, a coarse sampler. It does not change once made.
type sampler struct {
	values *table
	coarse *coarse
	share  *shareTable
}

// newSampler returns the sampler of the discrete Gaussian law of σ² = parameter
// (square) or the discrete Laplace law of scale t = parameter.
func newSampler(square bool, parameter *big.Rat) *sampler {
	bitsOf := new(big.Int).Quo(parameter.Num(), parameter.Denom()).BitLen() // of ⌊parameter⌋
	scaleBits := bitsOf - 1                                                 // ⌊log₂⌋ of it
	if square {
		scaleBits = (bitsOf - 1) / 2
	}
	if scaleBits >= mostTableBits {
		return &sampler{coarse: newCoarse(square, parameter, uint(scaleBits))}
	}
	rate := new(big.Rat).Inv(parameter)
	if square {
		rate.Mul(rate, big.NewRat(1, 2))
	}
	return &sampler{values: newTable(magnitudes{square: square, folded: true, rate: rate}, prefixBits)}
}

// fill sets out to independent draws. It returns an error where one is 2⁶² or
// more in absolute value.
func (s *sampler) fill(b *Bits, out []int64) error {
	switch {
	case s.coarse != nil:
		return s.coarse.fill(b, out)
	case s.share != nil:
		s.share.fill(b, out)
	default:
		s.values.fill(b, out)
	}
	return nil
}

// samplers holds the samplers used last, because making a table takes longer than drawing from it thousands of times.
// Each has a size of 1.
var samplers = cache{entries: map[lawName]*entry{}, room: mostSamplers}

// shares holds the samplers of shares used last. Their sizes are bounds on the words of their tables.
var shares = cache{entries: map[lawName]*entry{}, room: mostShareWords}

const (
	// mostSamplers bounds the memory of samplers to some 30 MB.
	mostSamplers = 64
	// mostShareWords bounds the memory of the samplers of shares to 64 MiB: 2 of the largest scale, or 255 of small
	// ones.
	mostShareWords = 1 << 23
)

// cache keeps the samplers used last. It is for concurrent use: a caller that asks for a sampler that is being made
// waits for it.
type cache struct {
	mu          sync.Mutex
	entries     map[lawName]*entry
	room, taken int    // of the sizes of all entries
	clock       uint64 // counts uses
}

// lawName names a law: two are equal if kind, holders and parameter are.
type lawName struct {
	square, poisson        bool
	holders                int    // 0 but for a share
	numerator, denominator string // bytes of big integers
}

type entry struct {
	sampler func() *sampler
	size    int
	used    uint64
}

// samplerOf returns the sampler of a discrete Laplace or Gaussian law.
func (c *cache) samplerOf(square bool, parameter *big.Rat) *sampler {
	return c.entryOf(lawName{square: square}, parameter, 1,
		func(parameter *big.Rat) *sampler { return newSampler(square, parameter) }).sampler()
}

// shareOf returns the sampler of a share of discrete Laplace noise of a scale up to [MostShareScale].
func (c *cache) shareOf(scale *big.Rat, holders int) *sampler {
	const guideWords = 1 << (mostShareGuideBits - 1)
	size := guideWords + 45*int(roundUp(scale, 0)) // beyond 44.4 times the scale F is above 1 − 2⁻⁶⁴
	return c.entryOf(lawName{holders: holders}, scale, size,
		func(scale *big.Rat) *sampler {
			law := polya{rate: new(big.Rat).Inv(scale), holders: uint64(holders)}
			return &sampler{share: newShareTable(law, shareBits)}
		}).sampler()
}

// skellamOf returns the sampler of the difference of two Poisson variables of a mean up to half [MostSkellamVariance].
func (c *cache) skellamOf(mean *big.Rat) *sampler {
	return c.entryOf(lawName{poisson: true}, mean, poisson{mean}.mostWords(),
		func(mean *big.Rat) *sampler { return &sampler{share: newShareTable(poisson{mean}, shareBits)} }).sampler()
}

// entryOf returns the entry of a law, whose name lacks the parameter.
func (c *cache) entryOf(key lawName, parameter *big.Rat, size int, newSampler func(*big.Rat) *sampler) *entry {
	key.numerator, key.denominator = string(parameter.Num().Bytes()), string(parameter.Denom().Bytes())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	e, ok := c.entries[key]
	if !ok {
		own := new(big.Rat).Set(parameter) // the caller may change theirs
		e = &entry{sampler: sync.OnceValue(func() *sampler { return newSampler(own) }), size: size}
		for c.taken+size > c.room && c.taken > 0 {
			c.dropOldest()
		}
		c.entries[key] = e
		c.taken += size
	}
	e.used = c.clock
	return e
}

func (c *cache) dropOldest() {
	var oldest lawName
	least := c.clock
	for key, e := range c.entries {
		if e.used < least {
			oldest, least = key, e.used
		}
	}
	c.taken -= c.entries[oldest].size
	delete(c.entries, oldest)
}
