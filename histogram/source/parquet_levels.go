package source

// This file holds the run-length encoding of Parquet: the levels of one bit that say
// which rows are null, and how many values runs of any width hold.

import "encoding/binary"

// allPresent reports whether n levels of one bit are all 1, as most writers say it: by one run.
func allPresent(body []byte, n int) bool {
	head, size := binary.Uvarint(body)
	return size > 0 && head == uint64(n)<<1 && len(body) == size+1 && body[size] == 1
}

// fourWords is how many levels are written at once: most runs of them are no longer, which spares guessing their
// lengths.
const fourWords = 32

func putFour(dst []byte, a, b, c, d uint64) {
	to := (*[fourWords]byte)(dst)
	binary.LittleEndian.PutUint64(to[0:], a)
	binary.LittleEndian.PutUint64(to[8:], b)
	binary.LittleEndian.PutUint64(to[16:], c)
	binary.LittleEndian.PutUint64(to[24:], d)
}

// readLevels reads n levels of one bit in runs. dst has bitPad more, which is written over.
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

// bitBytes has a byte for each bit of a byte, the lowest first.
var bitBytes = func() (all [256]uint64) {
	for b := range all {
		for i := range 8 {
			all[b] |= uint64(b>>i&1) << (8 * i)
		}
	}
	return all
}()

// runsHold reports whether runs of some bit width hold n values of it: that none begins behind
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
		if head&1 == 0 && (count == 0 || width%8 != 0 && body[size-1]>>(width%8) != 0) {
			return false // none of an equal value, which decoders take for the next run then, or one that is wider
		}
		body = body[size:]
		total += count
	}
	return total >= n
}
