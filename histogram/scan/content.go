package scan

// This file holds the contents of rows: hashes of all that is counted of them, by which the rows of a unit are ordered.

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
)

// contentColumns returns the indexes of the columns whose codes are the content of a row: those that the questions of
// the plan read, whichever of them are asked, except those of linked rows, which are the same for all rows of a unit.
// They are in the order of the spec, of one column the categories before the numbers, and then the weights.
func (t *tally) contentColumns() []int {
	var columns []int
	for i, w := range t.columns[:t.shared] {
		if w.column.Link == nil {
			columns = append(columns, i)
		}
	}
	slices.SortFunc(columns, func(a, b int) int { return slices.Compare(t.placeOf(a), t.placeOf(b)) })
	return columns
}

// placeOf returns the place of a column among those of the content: its place in the spec, and how it is read.
func (t *tally) placeOf(column int) []int {
	w := t.columns[column]
	if t.holdsWeights(w) {
		return []int{len(t.table.Columns), 0}
	}
	place := slices.IndexFunc(t.table.Columns, func(c *spec.Column) bool { return c.Name == w.column.Name })
	switch {
	case w.widened:
		return []int{place, 2}
	case w.numbers:
		return []int{place, 1}
	}
	return []int{place, 0}
}

// appendCode appends the text of a code: its number and a comma or, of a discovered category, the category itself.
func (t *tally) appendCode(to []byte, column int, code uint32) []byte {
	if e := t.encoders[column]; discovers(e) {
		return appendDiscovered(to, e, code)
	}
	return appendNumber(to, code)
}

// appendNumber appends the number of a code and a comma.
func appendNumber(to []byte, code uint32) []byte {
	if n := len(to); int(code) < len(shortTexts) && cap(to)-n >= 8 {
		text := shortTexts[code]
		binary.LittleEndian.PutUint64(to[n:n+8], text.bytes)
		return to[:n+text.length]
	}
	return append(strconv.AppendUint(to, uint64(code), 10), ',')
}

// shortTexts are the texts of the codes that most columns have, of up to 8 bytes each, the first in the lowest bits.
var shortTexts = func() (texts [1000]struct {
	bytes  uint64
	length int
}) {
	for i := range texts {
		var bytes [8]byte
		texts[i].length = copy(bytes[:], strconv.Itoa(i)+",")
		texts[i].bytes = binary.LittleEndian.Uint64(bytes[:])
	}
	return texts
}()

// groupText returns what appends the text of a group: the codes of the attributes that define it.
func (t *tally) groupText(a allowance) bounding.AppendText[uint64] {
	return func(to []byte, group uint64) []byte {
		codes := make([]uint32, len(a.groups))
		for i := len(a.groups) - 1; i >= 0; i-- {
			size := uint64(t.axisOf(t.attributes[a.groups[i]]).Size)
			codes[i], group = uint32(group%size), group/size
		}
		for i, g := range a.groups {
			to = t.appendCode(to, t.attributes[g].column, codes[i])
		}
		return to
	}
}

// contentHasher hashes the contents of the rows of one goroutine.
type contentHasher struct {
	*tally
	hasher     *bounding.Hasher
	discovered []bool // by column of the content, whether its categories are discovered
	hashes     []bounding.Hash
}

// contentHashers returns a hasher for each worker of the tally.
func (t *tally) contentHashers(s *noise.RowStreams) []*contentHasher {
	key := bounding.DrawKey(s.Contents(t.table.Name))
	var discovered []bool
	for _, column := range t.contents {
		discovered = append(discovered, discovers(t.encoders[column]))
	}
	hashers := make([]*contentHasher, t.workers)
	for i := range hashers {
		hashers[i] = &contentHasher{tally: t, hasher: key.Hasher(), discovered: discovered}
	}
	return hashers
}

// hashRows returns the contents of the rows of a chunk, except for those that are left out. The result is valid until
// the next call.
func (h *contentHasher) hashRows(c *chunk, out []uint64) []bounding.Hash {
	h.hashes = slices.Grow(h.hashes[:0], c.rows)[:c.rows]
	if bounding.KindOf(c.ids) == arrow.NULL {
		return h.hashes // bounding refuses such ids
	}
	id := bounding.IDText(c.ids)
	codes := func(to []byte, row int) []byte {
		for i, column := range h.contents {
			if code := codeAt(c.codes[column], row); h.discovered[i] {
				to = appendDiscovered(to, h.encoders[column], code)
			} else {
				to = appendNumber(to, code)
			}
		}
		return to
	}
	for i := range c.rows {
		if (out == nil || out[i/64]>>(i%64)&1 == 0) && !c.ids.IsNull(i) {
			h.hashes[i] = h.hasher.Content(codes, c.ids, id, i)
		}
	}
	return h.hashes
}
