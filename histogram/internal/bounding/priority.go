package bounding

// This file holds the order of the rows of a unit: by keyed hashes of what is counted of them.

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/dprelease/dprelease/internal/noise"
)

// Key is a secret of 256 bits in hexadecimal digits, which fill the first block of every SHA-256 under it. It is text,
// and so is all that is hashed, so that an engine which hashes texts finds the same order.
type Key [2 * 32]byte

// DrawKey returns the next words of a stream as a key.
func DrawKey(stream *noise.Bits) *Key {
	var secret [32]byte
	for i := range 4 {
		binary.LittleEndian.PutUint64(secret[8*i:], stream.Uint64())
	}
	k := &Key{}
	hex.Encode(k[:], secret[:])
	return k
}

// KeyOfTable returns the key of the priorities of a table's rows, given the table's own stream. Like [Choose], it first
// draws the permutation by which ids are numbered, and then the key.
func KeyOfTable(stream *noise.Bits) *Key {
	newPermutation(stream)
	return DrawKey(stream)
}

// Hash is the first 128 bits of a SHA-256, as two words of which the first has the first digits. Hashes are ordered as
// their digits are.
type Hash [2]uint64

func (h Hash) compare(other Hash) int {
	if h[0] != other[0] {
		return cmp.Compare(h[0], other[0])
	}
	return cmp.Compare(h[1], other[1])
}

// appendDigits appends the 32 hexadecimal digits of the hash.
func (h Hash) appendDigits(to []byte) []byte {
	var bytes [16]byte
	binary.BigEndian.PutUint64(bytes[:], h[0])
	binary.BigEndian.PutUint64(bytes[8:], h[1])
	return hex.AppendEncode(to, bytes[:])
}

// Hasher hashes under one key. It must not be used concurrently.
type Hasher struct {
	digest  digest
	keyed   []byte // the state of a digest of the key
	message []byte // scratch
	sum     []byte // scratch
}

// digest is what a SHA-256 can do.
type digest interface {
	hash.Hash
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// Hasher returns a hasher for one more goroutine.
func (k *Key) Hasher() *Hasher {
	h := &Hasher{digest: sha256.New().(digest)}
	h.digest.Write(k[:])
	var err error
	if h.keyed, err = h.digest.MarshalBinary(); err != nil {
		panic(err) // it cannot fail, and must not go unnoticed: hashes without the key are known to everybody
	}
	return h
}

// hash hashes the key and a message.
func (h *Hasher) hash(message []byte) Hash {
	h.message = message[:0]
	if err := h.digest.UnmarshalBinary(h.keyed); err != nil {
		panic(err)
	}
	h.digest.Write(message)
	h.sum = h.digest.Sum(h.sum[:0])
	return Hash{binary.BigEndian.Uint64(h.sum), binary.BigEndian.Uint64(h.sum[8:])}
}

// The first byte of what is hashed after the key says what for; the content of a row, under a key of its own, begins
// with none of these.
const (
	forGroup = 'g' // a group of the rows of a unit
	inGroup  = 'r' // a row among those of its group
	inUnit   = 't' // a row among those of its unit
)

// AppendText appends a text for a number, such as a row of a batch or the code of a group. Different texts must be so
// that none is another with more behind it.
type AppendText[T any] func(to []byte, of T) []byte

// Content returns the content of a row: a hash of the codes of all that is counted of it, in a fixed order, and of the
// id of its unit. Rows of a unit with the same content are interchangeable.
//
// The message is the texts of the codes, a capital letter for the type of the id, and the id as text. No text of a code
// may be the beginning of another or begin with a capital letter: then different rows have different messages.
func (h *Hasher) Content(codes AppendText[int], ids arrow.Array, id AppendText[int], row int) Hash {
	return h.hash(id(append(codes(h.message, row), typeLetters[KindOf(ids)]), row))
}

// priority returns the priority of a row: number says which of the rows of the unit with this content it is, from 1.
func (h *Hasher) priority(purpose byte, content Hash, number uint64) Hash {
	m := append(strconv.AppendUint(append(h.message, purpose), number, 10), ':')
	return h.hash(content.appendDigits(m))
}

// groupPriority returns the priority of a group of the rows of a unit.
func (h *Hasher) groupPriority(text AppendText[uint64], group uint64, idType arrow.Type, id []byte) Hash {
	m := text(append(h.message, forGroup), group)
	return h.hash(append(append(m, typeLetters[idType]), id...))
}

// typeLetters are the letters for the types of ids in what is hashed.
var typeLetters = map[arrow.Type]byte{arrow.STRING: 'T', arrow.LARGE_STRING: 'U', arrow.INT64: 'I', arrow.DATE32: 'D',
	arrow.DECIMAL128: 'N'}

// IDText returns what appends the id of a row as text: digits for numbers, and days since 1970 for dates. Different ids
// of one type have different texts. The type of the ids must be one that [KindOf] knows.
func IDText(ids arrow.Array) AppendText[int] {
	switch a := ids.(type) {
	case *array.Int64:
		return func(to []byte, row int) []byte { return strconv.AppendInt(to, a.Value(row), 10) }
	case *array.Date32:
		return func(to []byte, row int) []byte { return strconv.AppendInt(to, int64(a.Value(row)), 10) }
	case *array.Decimal128:
		return func(to []byte, row int) []byte { return append(to, a.Value(row).BigInt().String()...) }
	}
	value := Texts(ids)
	return func(to []byte, row int) []byte { return append(to, value(row)...) }
}

// appendID appends the id of a unit as [IDText] does, given as bounding holds it: the word of a 64-bit id, or the bytes
// that [Texts] returns.
func appendID(to []byte, idType arrow.Type, word uint64, long []byte) []byte {
	switch {
	case long == nil:
		return strconv.AppendInt(to, int64(word), 10)
	case idType == arrow.DECIMAL128:
		high, low := binary.LittleEndian.Uint64(long), binary.LittleEndian.Uint64(long[8:])
		return append(to, decimal128.New(int64(high), low).BigInt().String()...)
	}
	return append(to, long...)
}
