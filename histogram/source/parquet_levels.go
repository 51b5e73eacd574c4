package source

// This file holds the run-length encoding of Parquet: the levels of one bit that say
// which rows are null, and how many values runs of any width hold.

import "encoding/binary"

// readLevels reads n levels of one bit in runs, which fill up to 7 more where the
// last run is of bits. dst has bitPad more.
func readLevels(dst, body []byte, n int) error {
	at := 0
	for len(body) > 0 {
		head, size := binary.Uvarint(body)
		if size <= 0 || head > 2*uint64(n)+16 {
			return errRuns
		}
		body = body[size:]
		count := int(head >> 1)
		if head&1 == 0 {
			if len(body) == 0 || body[0] > 1 || at+count > n {
				return errRuns
			}
			word := ones * uint64(body[0])
			for end := at + count; at < end; at += 8 {
				binary.LittleEndian.PutUint64(dst[at:], word)
			}
			at -= -count & 7 // the last word went beyond
			body = body[1:]
			continue
		}
		if count > len(body) || at+8*count > n+7 {
			return errRuns
		}
		for _, bits := range body[:count] {
			binary.LittleEndian.PutUint64(dst[at:], bitBytes[bits])
			at += 8
		}
		body = body[count:]
	}
	if at < n {
		return errRuns
	}
	return nil
}

// bitBytes has a byte for each bit of a byte, the lowest first.
var bitBytes = func() (all [256]uint64) {
	for b := range all {
		for i := range 8 {
			all[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return all
}()

// runsOf counts the values in runs of some bit width. It is -1 for what is no such
// encoding.
func runsOf(body []byte, width int) (total int) {
	for len(body) > 0 {
		head, n := binary.Uvarint(body)
		if n <= 0 || head>>1 > 1<<31 {
			return -1
		}
		body = body[n:]
		count, size := int(head>>1), (width+7)/8
		if head&1 == 1 {
			size = count * width
			count *= 8
		}
		if size > len(body) {
			return -1
		}
		body = body[size:]
		if total += count; total > 1<<31 {
			return -1
		}
	}
	return total
}
