package source

// This file holds the conversions of single values that several formats share.

import (
	"encoding/binary"
	"encoding/hex"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// maxDigits is the largest precision of a Decimal128.
const maxDigits = 38

// uint64Type holds unsigned 64-bit integers, which do not all fit into an Int64.
var uint64Type = &arrow.Decimal128Type{Precision: 20, Scale: 0}

// microType is the only timestamp type: microseconds without a time zone.
var microType = &arrow.TimestampType{Unit: arrow.Microsecond}

// scaleUp returns v·factor, clamped to the range of int64. A time beyond ±292 000 years is outside every domain, so
// its exact value does not matter.
func scaleUp(v, factor int64) int64 {
	switch {
	case v > math.MaxInt64/factor:
		return math.MaxInt64
	case v < math.MinInt64/factor:
		return math.MinInt64
	}
	return v * factor
}

// floorDiv returns ⌊v / by⌋ for by > 0, so that the last nanosecond before 1970 falls into microsecond −1 and not 0.
func floorDiv(v, by int64) int64 {
	q := v / by
	if v%by < 0 {
		q--
	}
	return q
}

// bigEndianDecimal reads a number in two's complement. It reports false if there are no bytes or the number does not
// fit into 128 bits.
func bigEndianDecimal(b []byte) (decimal128.Num, bool) {
	if len(b) == 0 {
		return decimal128.Num{}, false
	}
	sign := byte(int8(b[0]) >> 7) // 0 or 0xFF
	for ; len(b) > 16; b = b[1:] {
		if b[0] != sign || (b[1]^sign)&0x80 != 0 {
			return decimal128.Num{}, false
		}
	}
	var wide [16]byte
	for i := range 16 - len(b) {
		wide[i] = sign
	}
	copy(wide[16-len(b):], b)
	return decimal128.New(int64(binary.BigEndian.Uint64(wide[:8])), binary.BigEndian.Uint64(wide[8:])), true
}

// appendUUID writes the canonical text of a UUID's 16 bytes.
func appendUUID(dst, id []byte) []byte {
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:16]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst
}

// wrapBuffers returns an array without nulls over buffers that the caller owns.
func wrapBuffers(of arrow.DataType, n int, buffers ...[]byte) arrow.Array {
	all := make([]*memory.Buffer, 1, 3)
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.MakeFromData(array.NewData(of, n, all, nil, 0, 0))
}
