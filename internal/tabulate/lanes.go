package tabulate

// This file holds the lanes: several small numbers in one word, so that one multiplication and one addition compute
// the cells of several rows. All terms are positive, so no lane overflows into the next if its final value fits.

import "encoding/binary"

const (
	// laneCells is the most cells of a base whose cells are computed in lanes of 16 bits.
	laneCells = 1 << 16
	// laneByte is the largest value of a lane of 8 bits.
	laneByte = 1<<8 - 1
)

// fourCodes returns four codes in lanes of 16 bits, the first lowest.
func fourCodes(x *[4]uint16) uint64 {
	return uint64(x[0]) | uint64(x[1])<<16 | uint64(x[2])<<32 | uint64(x[3])<<48
}

// countFour counts the cells of four lanes.
func countFour(t []uint32, cells uint64) {
	low, high := uint32(cells), uint32(cells>>32)
	t[uint16(low)]++
	t[low>>16]++
	t[uint16(high)]++
	t[high>>16]++
}

// tallyLanes2 counts rows whose cells are a·size + b, and returns how many it counted: all except the last few. No
// cell may be laneCells or more.
func tallyLanes2(t []uint32, a, b []uint16, size int) int {
	by, whole := uint64(size), len(a)&^15
	for i := 0; i < whole; i += 16 {
		x, y := (*[16]uint16)(a[i:]), (*[16]uint16)(b[i:])
		countFour(t, fourCodes((*[4]uint16)(x[0:]))*by+fourCodes((*[4]uint16)(y[0:])))
		countFour(t, fourCodes((*[4]uint16)(x[4:]))*by+fourCodes((*[4]uint16)(y[4:])))
		countFour(t, fourCodes((*[4]uint16)(x[8:]))*by+fourCodes((*[4]uint16)(y[8:])))
		countFour(t, fourCodes((*[4]uint16)(x[12:]))*by+fourCodes((*[4]uint16)(y[12:])))
	}
	return whole
}

// tallyLanes3 is tallyLanes2 for cells (a·sizeB + b)·sizeC + c.
func tallyLanes3(t []uint32, a, b, c []uint16, sizeB, sizeC int) int {
	byB, byC, whole := uint64(sizeB), uint64(sizeC), len(a)&^15
	for i := 0; i < whole; i += 16 {
		x, y, z := (*[16]uint16)(a[i:]), (*[16]uint16)(b[i:]), (*[16]uint16)(c[i:])
		countFour(t, (fourCodes((*[4]uint16)(x[0:]))*byB+fourCodes((*[4]uint16)(y[0:])))*byC+
			fourCodes((*[4]uint16)(z[0:])))
		countFour(t, (fourCodes((*[4]uint16)(x[4:]))*byB+fourCodes((*[4]uint16)(y[4:])))*byC+
			fourCodes((*[4]uint16)(z[4:])))
		countFour(t, (fourCodes((*[4]uint16)(x[8:]))*byB+fourCodes((*[4]uint16)(y[8:])))*byC+
			fourCodes((*[4]uint16)(z[8:])))
		countFour(t, (fourCodes((*[4]uint16)(x[12:]))*byB+fourCodes((*[4]uint16)(y[12:])))*byC+
			fourCodes((*[4]uint16)(z[12:])))
	}
	return whole
}

// addLanes adds byA·a + byB·b, which must be at most laneByte, to the codes of out. If first is set, it overwrites
// out.
func addLanes(out []uint16, a []uint8, byA uint16, b []uint8, byB uint16, first bool) {
	a, b = a[:len(out)], b[:len(out)]
	for len(out) >= 8 && len(a) >= 8 && len(b) >= 8 {
		sums := binary.LittleEndian.Uint64(a)*uint64(byA) + binary.LittleEndian.Uint64(b)*uint64(byB)
		low, high := spreadLanes(sums), spreadLanes(sums>>32)
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

// spreadLanes expands the lower four lanes of 8 bits into lanes of 16 bits.
func spreadLanes(bytes uint64) uint64 {
	x := bytes & 0xFFFFFFFF
	x = (x | x<<16) & 0x0000FFFF0000FFFF
	return (x | x<<8) & 0x00FF00FF00FF00FF
}
