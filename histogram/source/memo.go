package source

// This file holds the memo: the codes of recently read texts.

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"
)

const (
	fewSlots  = 1 << 8 // initial number
	manySlots = 1 << 14
	memoText  = 48 // most bytes of a text in a slot
)

// memo returns the codes of texts, and asks the coder only for the texts that it does not hold.
type memo struct {
	coder  Coder
	isNull func(text []byte) bool
	slots  []memoSlot // a power of 2
	misses int        // since the number of slots last grew

	missed  textBuffer[int32] // texts that no slot holds
	hashes  []uint64          // of the missed texts
	places  []int32           // where the codes of the missed texts go
	answers []uint32
}

// memoSlot is a text and its code in one cache line. Texts with equal low bits of their hash share a slot.
type memoSlot struct {
	hash   uint64
	code   uint32
	length uint8 // one more than the length of the text; 0 in an empty slot
	text   [memoText]byte
}

func newMemo(c Coder, isNull func(text []byte) bool) *memo {
	return &memo{coder: c, isNull: isNull, slots: make([]memoSlot, fewSlots)}
}

// startBatch begins the codes of at most `most` texts.
func (m *memo) startBatch(most int) {
	m.missed.startBatch(most)
	m.hashes, m.places = m.hashes[:0], m.places[:0]
}

// codeOf returns the code of a text. If no slot holds the text, resolveMisses will write the code at index place.
func (m *memo) codeOf(text []byte, place int) uint32 {
	hash := hashOf(text)
	slot := &m.slots[hash&uint64(len(m.slots)-1)]
	if slot.hash == hash && int(slot.length) == len(text)+1 && string(slot.text[:len(text)]) == string(text) {
		return slot.code
	}
	m.noteMiss(text, hash, place)
	return 0
}

func (m *memo) noteMiss(text []byte, hash uint64, place int) {
	if m.isNull(text) {
		m.missed.text = append(m.missed.text, text...) // so that the slot can hold the text
		m.missed.appendNulls(1)
	} else {
		m.missed.appendText(text)
	}
	m.hashes, m.places = append(m.hashes, hash), append(m.places, int32(place))
}

// resolveMisses writes the codes of the missed texts to their places.
func (m *memo) resolveMisses(codes []uint32) {
	n := len(m.places)
	if n == 0 {
		return
	}
	if m.misses += n; m.misses > 4*len(m.slots) && len(m.slots) < manySlots {
		m.slots, m.misses = make([]memoSlot, 4*len(m.slots)), 0
	}
	m.answers = slices.Grow(m.answers[:0], n)[:n]
	a := m.missed.array()
	defer a.Release()
	m.coder.Codes(a, m.answers)
	for i, place := range m.places {
		codes[place] = m.answers[i]
		text := m.missed.text[m.missed.offsets[i]:m.missed.offsets[i+1]]
		if len(text) <= memoText {
			slot := &m.slots[m.hashes[i]&uint64(len(m.slots)-1)]
			slot.hash, slot.code, slot.length = m.hashes[i], m.answers[i], uint8(len(text)+1)
			copy(slot.text[:], text)
		}
	}
}

// codesOf writes the code of each entry of an array, some of which may be null, to codes.
func (m *memo) codesOf(a *array.String, codes []uint32, null uint32) {
	m.startBatch(a.Len())
	text, base, some := a.ValueBytes(), a.ValueOffset(0), a.NullN() > 0
	for i := range codes {
		if some && a.IsNull(i) {
			codes[i] = null
			continue
		}
		codes[i] = m.codeOf(text[a.ValueOffset(i)-base:a.ValueOffset(i+1)-base], i)
	}
	m.resolveMisses(codes)
}

// hashOf returns a hash that spreads texts over slots.
func hashOf(text []byte) uint64 {
	const odd = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio
	hash := uint64(len(text)) * odd
	for len(text) > 8 {
		hash = bits.RotateLeft64(hash^binary.LittleEndian.Uint64(text), 29) * odd
		text = text[8:]
	}
	word := uint64(0)
	if cap(text) >= 8 {
		word = binary.LittleEndian.Uint64(text[:8:8]) & (1<<(8*len(text)) - 1)
	} else {
		for i, c := range text {
			word |= uint64(c) << (8 * i)
		}
	}
	hash = (hash ^ word) * odd
	return hash ^ hash>>32
}
