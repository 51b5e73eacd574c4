package noise

import (
	"math/big"
	"sync"
)

// mostTableBits bounds the scale, σ or t, up to which a table holds every value:
// below 2^mostTableBits. That keeps thresholds fewer than 2¹⁶.
const mostTableBits = 10

// A sampler draws from one discrete Laplace or Gaussian law. It is a table of the
// law's values or, for wide laws, a coarse sampler. It does not change once made.
type sampler struct {
	values *table
	coarse *coarse
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
	if s.coarse != nil {
		return s.coarse.fill(b, out)
	}
	s.values.fill(b, out)
	return nil
}

// samplers holds the samplers used last, because making a table takes longer than drawing from it thousands of times.
var samplers = cache{entries: map[lawName]*entry{}}

// mostSamplers bounds the memory of samplers to some 30 MB.
const mostSamplers = 64

// cache keeps the samplers used last. It is for concurrent use: a caller that asks for a sampler that is being made
// waits for it.
type cache struct {
	mu      sync.Mutex
	entries map[lawName]*entry
	clock   uint64 // counts uses
}

// lawName names a law: two are equal if kind and parameter are.
type lawName struct {
	square                 bool
	numerator, denominator string // bytes of big integers
}

type entry struct {
	sampler func() *sampler
	used    uint64
}

// samplerOf returns the sampler of a law.
func (c *cache) samplerOf(square bool, parameter *big.Rat) *sampler {
	return c.entryOf(lawName{square, string(parameter.Num().Bytes()), string(parameter.Denom().Bytes())}, parameter).
		sampler()
}

func (c *cache) entryOf(key lawName, parameter *big.Rat) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	e, ok := c.entries[key]
	if !ok {
		own := new(big.Rat).Set(parameter) // the caller may change theirs
		e = &entry{sampler: sync.OnceValue(func() *sampler { return newSampler(key.square, own) })}
		if len(c.entries) == mostSamplers {
			c.dropOldest()
		}
		c.entries[key] = e
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
	delete(c.entries, oldest)
}
