package source

// This file holds the levels of rows, 1 for each that has a value and 0 for each that is null, and the spreading:
// values put at the rows that have one.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// spread writes to out the next of dense for each level that is 1, and null for each
// that is 0: eight rows at a time without a branch, as nobody foresees nulls.
func spread[T uint8 | uint16 | uint32](out, dense []T, levels []byte, null T) {
	if bytewise, ok := any(out).([]uint8); ok {
		spreadBytes(bytewise, any(dense).([]uint8), levels, uint8(null))
		return
	}
	eight := [16]T{8: null}
	for len(levels) >= 8 && len(dense) >= 8 && len(out) >= 8 {
		// Each product moves one level into a bit of the highest byte.
		word := binary.LittleEndian.Uint64(levels)
		from := &spreads[word*0x0102040810204080>>56]
		to := (*[8]T)(out)
		*(*[8]T)(eight[:8]) = *(*[8]T)(dense)
		to[0], to[1], to[2], to[3] = eight[from[0]&15], eight[from[1]&15], eight[from[2]&15], eight[from[3]&15]
		to[4], to[5], to[6], to[7] = eight[from[4]&15], eight[from[5]&15], eight[from[6]&15], eight[from[7]&15]
		dense = dense[bits.OnesCount64(word):]
		levels, out = levels[8:], out[8:]
	}
	spreadOne(out, dense, levels, null)
}

// spreadOne is spread row by row.
func spreadOne[T uint8 | uint16 | uint32](out, dense []T, levels []byte, null T) {
	for i, level := range levels {
		out[i] = null
		if level == 1 {
			out[i], dense = dense[0], dense[1:]
		}
	}
}

// spreadBytes is spread of codes of a byte, of which eight are moved at once: up by four places, two and one, each as
// many of these as nulls come before it. What goes up in the higher steps first never comes upon another.
func spreadBytes(out, dense []uint8, levels []byte, null uint8) {
	nulls, at, from := ones*uint64(null), 0, 0
	for ; at+8 <= len(levels) && from+8 <= len(dense) && at+8 <= len(out); at += 8 {
		word := binary.LittleEndian.Uint64(levels[at:])
		eight := binary.LittleEndian.Uint64(dense[from:])
		to := &moves[word*0x0102040810204080>>56]
		eight ^= (eight ^ eight<<32) & to[0]
		eight ^= (eight ^ eight<<16) & to[1]
		eight ^= (eight ^ eight<<8) & to[2]
		eight ^= (eight ^ nulls) & to[3]
		binary.LittleEndian.PutUint64(out[at:], eight)
		from += bits.OnesCount64(word)
	}
	spreadOne(out[at:], dense[from:], levels[at:], null)
}

// moves says for eight levels, the first of them the lowest bit, which places take what is four below, two and one, and
// which are null: a byte of ones for each.
var moves = func() (all [256][4]uint64) {
	for mask := range all {
		nulls := 0
		for i := range 8 {
			if mask>>i&1 == 0 {
				all[mask][3] |= 0xFF << (8 * i)
				nulls++
				continue
			}
			place := i - nulls
			for step, up := range []int{4, 2, 1} {
				if nulls&up != 0 {
					place += up
					all[mask][step] |= 0xFF << (8 * place)
				}
			}
		}
	}
	return all
}()

// spreads says for eight levels, the first of them the lowest bit, how many before
// each are 1, or 8 where it is 0 itself.
var spreads = func() (all [256][8]uint8) {
	for mask := range all {
		n := uint8(0)
		for i := range 8 {
			all[mask][i] = 8
			if mask>>i&1 == 1 {
				all[mask][i] = n
				n++
			}
		}
	}
	return all
}()

// present is how many rows of an optional column hold a value.
func present(levels []byte) int { return bytes.Count(levels, []byte{1}) }

// runs takes rows in runs that are null or not: those whose level is 1 have the
// values 0, 1, 2 and so on.
func runs(levels []byte, nulls func(n int), values func(from, to int) error) error {
	value := 0
	for at := 0; at < len(levels); {
		begin, valid := at, levels[at] == 1
		for at < len(levels) && (levels[at] == 1) == valid {
			at++
		}
		if !valid {
			nulls(at - begin)
			continue
		}
		if err := values(value, value+at-begin); err != nil {
			return err
		}
		value += at - begin
	}
	return nil
}
