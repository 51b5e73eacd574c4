package source

// This file holds the run-length encoding of Parquet: the levels of one bit that say
// which rows are null, and how many values runs of any width hold.

import "encoding/binary"

// mostFill is how many values more than there are the last run may hold, where it is of
// bits: writers fill up to 8, 32, 256 or 504 of them.
const mostFill = 511

// readLevels reads n levels of one bit in runs. dst has bitPad more.
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
		if count > len(body) || at >= n && count > 0 || at+8*count > n+mostFill {
			return errRuns
		}
		for _, bits := range body[:min(count, (n-at+7)/8)] {
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

// runsHold tells that runs of some bit width hold n values: that none begins behind
// them, and that the last holds no more, but for what fills it up where it is of bits.
func runsHold(body []byte, width, n int) bool {
	total := 0
	for len(body) > 0 {
		head, read := binary.Uvarint(body)
		if read <= 0 || head>>1 > 1<<31 {
			return false
		}
		body = body[read:]
		count, size, most := int(head>>1), (width+7)/8, n
		if head&1 == 1 {
			size = count * width
			count *= 8
			most += mostFill
		}
		if size > len(body) || total >= n && count > 0 || total+count > most {
			return false
		}
		body = body[size:]
		total += count
	}
	return total >= n
}
