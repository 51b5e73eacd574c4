// Package noise draws exact integer noise from keyed streams.
package noise

import (
	"errors"
	"math/big"
)

const BlockCells = 4096

type Key [32]byte

func NewKey() (Key, error) { return Key{}, nil }
func (k *Key) Erase()      { clear(k[:]) }

type Streams struct{}

func NewStreams(key Key, planHash string) *Streams                     { return &Streams{} }
func (s *Streams) Noise(definition, exactHash []byte, block int) *Bits { return &Bits{} }
func (s *Streams) Bounding(table string) *Bits                         { return &Bits{} }
func (s *Streams) MadeUp(table string) *Bits                           { return &Bits{} }
func (s *Streams) Commitment(exactHash []byte) [32]byte                { return [32]byte{} }
func (s *Streams) Erase()                                              {}

type Bits struct{}

func (b *Bits) Uint64() uint64                               { return 0 }
func (b *Bits) Below(n uint64) uint64                        { return 0 }
func (b *Bits) Bernoulli(numerator, denominator uint64) bool { return false }

var errNotBuilt = errors.New("not built")

func AddDiscreteLaplace(b *Bits, scale *big.Rat, counts []int64) error         { return errNotBuilt }
func AddDiscreteGaussian(b *Bits, sigmaSquared *big.Rat, counts []int64) error { return errNotBuilt }
