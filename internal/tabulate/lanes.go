package tabulate

// This file holds the lanes: several small numbers side by side in one word, so that one
// multiplication and one addition work out the cells of several rows. No lane runs over
// into the next where what it ends with fits, since all terms of it are positive.

import "encoding/binary"

const (
	// laneCells is the most cells of a base whose cells are worked out in lanes of 16 bits.
	laneCells = 1 << 16
	// laneByte is the most that lanes of 8 bits hold.
	laneByte = 1<<8 - 1
)

// fourCodes are four codes in lanes of 16 bits, the first lowest.
func fourCodes(x *[4]uint16) uint64 {
	return uint64(x[0]) | uint64(x[1])<<16 | uint64(x[2])<<32 | uint64(x[3])<<48
}

// countFour counts the cells of four lanes.
func countFour[T uint32 | int64](t []T, cells uint64) {
	t[uint16(cells)]++
	t[uint16(cells>>16)]++
	t[uint16(cells>>32)]++
	t[cells>>48]++
}

// tallyLanes2 counts rows whose cells are a·size + b, eight at a time, and returns how
// many it counted. All cells are below laneCells.
func tallyLanes2[T uint32 | int64](t []T, a, b []uint16, size int) int {
	by, whole := uint64(size), len(a)&^7
	a, b = a[:whole], b[:whole]
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]uint16)(a), (*[8]uint16)(b)
		low := fourCodes((*[4]uint16)(x[:4]))*by + fourCodes((*[4]uint16)(y[:4]))
		high := fourCodes((*[4]uint16)(x[4:]))*by + fourCodes((*[4]uint16)(y[4:]))
		countFour(t, low)
		countFour(t, high)
		a, b = a[8:], b[8:]
	}
	return whole
}

// tallyLanes3 is tallyLanes2 for cells (a·sizeB + b)·sizeC + c.
func tallyLanes3[T uint32 | int64](t []T, a, b, c []uint16, sizeB, sizeC int) int {
	byB, byC, whole := uint64(sizeB), uint64(sizeC), len(a)&^7
	a, b, c = a[:whole], b[:whole], c[:whole]
	for len(a) >= 8 && len(b) >= 8 && len(c) >= 8 {
		x, y, z := (*[8]uint16)(a), (*[8]uint16)(b), (*[8]uint16)(c)
		low := (fourCodes((*[4]uint16)(x[:4]))*byB+fourCodes((*[4]uint16)(y[:4])))*byC + fourCodes((*[4]uint16)(z[:4]))
		high := (fourCodes((*[4]uint16)(x[4:]))*byB+fourCodes((*[4]uint16)(y[4:])))*byC + fourCodes((*[4]uint16)(z[4:]))
		countFour(t, low)
		countFour(t, high)
		a, b, c = a[8:], b[8:], c[8:]
	}
	return whole
}

// addLanes adds byA·a + byB·b, which is laneByte at the most, to the codes of out, or
// writes it there where it is first.
func addLanes(out []uint16, a []uint8, byA uint16, b []uint8, byB uint16, first bool) {
	a, b = a[:len(out)], b[:len(out)]
	for len(out) >= 8 && len(a) >= 8 && len(b) >= 8 {
		sums := binary.LittleEndian.Uint64(a)*uint64(byA) + binary.LittleEndian.Uint64(b)*uint64(byB)
		low, high := spread(sums), spread(sums>>32)
		x := (*[8]uint16)(out)
		if !first {
			low += fourCodes((*[4]uint16)(x[:4]))
			high += fourCodes((*[4]uint16)(x[4:]))
		}
		x[0], x[1], x[2], x[3] = uint16(low), uint16(low>>16), uint16(low>>32), uint16(low>>48)
		x[4], x[5], x[6], x[7] = uint16(high), uint16(high>>16), uint16(high>>32), uint16(high>>48)
		out, a, b = out[8:], a[8:], b[8:]
	}
	for i := range out {
		sum := uint16(a[i])*byA + uint16(b[i])*byB
		if !first {
			sum += out[i]
		}
		out[i] = sum
	}
}

// spread takes the lower four lanes of 8 bits apart into lanes of 16 bits.
func spread(bytes uint64) uint64 {
	x := bytes & 0xFFFFFFFF
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	return (x | x<<8) & 0x00FF00FF00FF00FF
}
