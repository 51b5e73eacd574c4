package source

// This file holds the run-length encoding of Parquet: the levels of one bit that mark which rows are null, and the
// number of values that runs of any width hold.

import "encoding/binary"

// allPresent reports whether n levels of one bit are all 1, encoded as most writers do it: as a single run.
func allPresent(body []byte, n int) bool {
	head, size := binary.Uvarint(body)
	return size > 0 && head == uint64(n)<<1 && len(body) == size+1 && body[size] == 1
}

// fourWords is how many levels are written at once. Most runs are no longer, so the loop over a run mostly ends after
// one write and its branch is predictable.
const fourWords = 32

func putFour(dst []byte, a, b, c, d uint64) {
	to := (*[fourWords]byte)(dst)
	binary.LittleEndian.PutUint64(to[0:], a)
	binary.LittleEndian.PutUint64(to[8:], b)
	binary.LittleEndian.PutUint64(to[16:], c)
	binary.LittleEndian.PutUint64(to[24:], d)
}

// readLevels reads n levels of one bit from runs. dst has bitPad more bytes, which may be overwritten.
func readLevels(dst, body []byte, n int) error {
	at := 0
	for len(body) > 0 {
		head, size := binary.Uvarint(body)
		if size <= 0 || head>>1 > uint64(n)+mostFill {
			return errRuns
		}
		body = body[size:]
		count := int(head >> 1)
		if head&1 == 0 {
			if len(body) == 0 || body[0] > 1 || at+count > n {
				return errRuns
			}
			word := ones * uint64(body[0])
			for to := at; to < at+count; to += fourWords {
				putFour(dst[to:], word, word, word, word)
			}
			at += count
			body = body[1:]
			continue
		}
		if count > len(body) || at >= n && count > 0 || at+8*count > n+mostFill {
			return errRuns
		}
		groups := min(count, (n-at+7)/8)
		for i := 0; i < groups; {
			if of := body[i:]; len(of) >= 4 {
				putFour(dst[at+8*i:], bitBytes[of[0]], bitBytes[of[1]], bitBytes[of[2]], bitBytes[of[3]])
				i += 4
			} else {
				binary.LittleEndian.PutUint64(dst[at+8*i:], bitBytes[of[0]])
				i++
			}
		}
		at += 8 * groups
		body = body[count:]
	}
	if at < n {
		return errRuns
	}
	return nil
}

// bitBytes has a byte for each bit of a byte, lowest bit first.
var bitBytes = func() (all [256]uint64) {
	for b := range all {
		for i := range 8 {
			all[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return all
}()

// runsHold reports whether runs of a bit width hold exactly n values: that no run begins after n values, and that the
// last run holds no more than n, except for the fill of a bit-packed run.
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
		if head&1 == 0 && (count == 0 || width%8 != 0 && body[size-1]>>(width%8) != 0) {
			// an empty run, whose value decoders take for the next run, or a value wider than the bit width
			return false
		}
		body = body[size:]
		total += count
	}
	return total >= n
}
