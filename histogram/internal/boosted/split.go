package boosted

// This file holds Split: which rows are held out.

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math/bits"
)

// Split holds out a share Numerator/Denominator of the rows. Whether a row is held out depends on the key, on its cell
// and on its place among the rows of the cell, from 0: one row more in a cell leaves the part of every other row as it
// is, so it adds one row to one of the two parts. The zero value holds nothing out.
//
// The parts of rows are bits of AES-256, which is a pseudorandom permutation: to whoever does not know the key they
// cannot be told from independent draws of the share.
type Split struct {
	Key                    [32]byte
	Numerator, Denominator uint64
}

// splitter draws the parts of rows. It is not for concurrent use.
type splitter struct {
	block     cipher.Block // nil: nothing is held out
	threshold uint64       // a row is held out if its 64 bits are below
	in, out   [aes.BlockSize]byte
}

// splitter returns an error unless the share is at least 0 and below 1.
func (s Split) splitter() (*splitter, error) {
	x := &splitter{}
	if s.Numerator == 0 {
		return x, nil
	}
	if s.Numerator >= s.Denominator {
		return nil, errors.New("the share of rows that is held out is below 1")
	}
	x.threshold, _ = bits.Div64(s.Numerator, 0, s.Denominator)
	var err error
	x.block, err = aes.NewCipher(s.Key[:])
	return x, err
}

// Divide returns how many rows of each cell a model is fitted to, and how many are held out. It returns an error for a
// share of 1 or more.
func (s Split) Divide(cells []uint64, counts []int64) (fitted, heldOut []int64, err error) {
	x, err := s.splitter()
	if err != nil {
		return nil, nil, err
	}
	fitted, heldOut = make([]int64, len(cells)), make([]int64, len(cells))
	for i, cell := range cells {
		heldOut[i] = x.heldOut(cell, counts[i])
		fitted[i] = counts[i] - heldOut[i]
	}
	return fitted, heldOut, nil
}

// heldOut returns how many of the rows of a cell are held out.
func (x *splitter) heldOut(cell uint64, count int64) (held int64) {
	if x.block == nil {
		return 0
	}
	binary.LittleEndian.PutUint64(x.in[:], cell)
	for pair := int64(0); pair < count; pair += 2 {
		binary.LittleEndian.PutUint64(x.in[8:], uint64(pair))
		x.block.Encrypt(x.out[:], x.in[:])
		if binary.LittleEndian.Uint64(x.out[:]) < x.threshold {
			held++
		}
		if pair+1 < count && binary.LittleEndian.Uint64(x.out[8:]) < x.threshold {
			held++
		}
	}
	return held
}
