package source

// This file holds the levels of rows, 1 for a row with a value and 0 for a null, and the spreading of values to the
// rows that have one.

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// spreadLevels writes the next code of dense to out for each level that is 1, and null for each that is 0. It handles
// eight rows at a time without a branch, because nulls are unpredictable.
func spreadLevels[T uint8 | uint16 | uint32](out, dense []T, levels []byte, null T) {
	if bytewise, ok := any(out).([]uint8); ok {
		spreadBytes(bytewise, any(dense).([]uint8), levels, uint8(null))
		return
	}
	eight := [16]T{8: null}
	for len(levels) >= 8 && len(dense) >= 8 && len(out) >= 8 {
		// Each product moves one level into a bit of the highest byte.
		word := binary.LittleEndian.Uint64(levels)
		from := &spreadIndexes[word*0x0102040810204080>>56]
		to := (*[8]T)(out)
		*(*[8]T)(eight[:8]) = *(*[8]T)(dense)
		to[0], to[1], to[2], to[3] = eight[from[0]&15], eight[from[1]&15], eight[from[2]&15], eight[from[3]&15]
		to[4], to[5], to[6], to[7] = eight[from[4]&15], eight[from[5]&15], eight[from[6]&15], eight[from[7]&15]
		dense = dense[bits.OnesCount64(word):]
		levels, out = levels[8:], out[8:]
	}
	spreadOne(out, dense, levels, null)
}

// spreadOne is spreadLevels row by row.
func spreadOne[T uint8 | uint16 | uint32](out, dense []T, levels []byte, null T) {
	for i, level := range levels {
		out[i] = null
		if level == 1 {
			out[i], dense = dense[0], dense[1:]
		}
	}
}

// spreadBytes is spreadLevels for codes of one byte. It moves eight at once, up by four places, then two, then one,
// so that each code moves up by the number of nulls before it. Because the larger steps come first, no code lands on
// another.
func spreadBytes(out, dense []uint8, levels []byte, null uint8) {
	nulls, at, from := ones*uint64(null), 0, 0
	for ; at+8 <= len(levels) && from+8 <= len(dense) && at+8 <= len(out); at += 8 {
		word := binary.LittleEndian.Uint64(levels[at:])
		eight := binary.LittleEndian.Uint64(dense[from:])
		to := &byteMoves[word*0x0102040810204080>>56]
		eight ^= (eight ^ eight<<32) & to[0]
		eight ^= (eight ^ eight<<16) & to[1]
		eight ^= (eight ^ eight<<8) & to[2]
		eight ^= (eight ^ nulls) & to[3]
		binary.LittleEndian.PutUint64(out[at:], eight)
		from += bits.OnesCount64(word)
	}
	spreadOne(out[at:], dense[from:], levels[at:], null)
}

// byteMoves has for each mask of eight levels, the first of them in the lowest bit, four words of byte masks: the
// places that take the byte four, two and one below, and the places that are null.
var byteMoves = func() (all [256][4]uint64) {
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

// spreadIndexes has for each mask of eight levels, the first of them in the lowest bit, and each level, the number of
// levels before it that are 1; 8 if the level is 0 itself.
var spreadIndexes = func() (all [256][8]uint8) {
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

// countPresent returns how many rows of an optional column have a value.
func countPresent(levels []byte) int { return bytes.Count(levels, []byte{1}) }

// visitRuns goes through rows in runs that are all null or all not null. The rows whose level is 1 have the values 0,
// 1, 2 and so on.
func visitRuns(levels []byte, nulls func(n int), values func(from, to int) error) error {
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
