package source

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A chunk whose pages hold more or fewer rows than its row group is refused.
func TestRowGroupContradictsItsPages(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.parquet", wideBytes(t, 100, parquet.PageBufferSize(100)))
	for rows := int64(1); rows < 105; rows++ { // including the numbers at which pages end
		fits := rows == 100
		for _, column := range []string{"a", "b", "c"} {
			r, err := openFiles(t.Context(), dir, parquetSource, []Column{{Name: column, Coder: newRegister(4)}})
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p.part.(*rowGroup).file.footer.RowGroups[0].NumRows = rows
			err = p.Read(t.Context(), &Buffers{}, 10, func(*Batch) error { return nil })
			if fits && err != nil {
				t.Error(err)
			}
			if !fits {
				if e := mustFail(t, err, Malformed); e.Column != column {
					t.Errorf("%v does not name %s", e, column)
				}
			}
			r.Close()
		}
	}
}

// Runs that are longer than their page are refused before memory is allocated.
func TestRunsLongerThanTheirPage(t *testing.T) {
	long := binary.AppendUvarint(nil, 1<<28<<1) // a run of 2^28 equal values
	c := &columnChunk{entries: 1, sink: &codeSink{to: newCodeBuffer(scatter(4))}}
	if err := c.decodeData(format.RLEDictionary, append([]byte{1}, append(long, 0)...), 100); err == nil ||
		cap(c.index) > 1000 {
		t.Errorf("%v, %d set aside", err, cap(c.index))
	}
	if err := c.decodeData(format.RLEDictionary, []byte{1, 100 << 1 & 0xFF, 1, 0}, 100); err != nil {
		t.Error("a run of its length:", err)
	}
	for _, body := range [][]byte{append(bytes.Clone(long), 1), {2, 1}, {99 << 1 & 0x7F, 1}, {200, 1, 2}, {}} {
		if err := readLevels(make([]byte, 100+bitPad), body, 100); err == nil {
			t.Errorf("the levels %x are accepted", body)
		}
	}
}

// A run of equal indexes that are wider than the bit width of the page is refused, whatever the dictionary holds.
func TestEqualIndexesAreNoWiderThanTheirPage(t *testing.T) {
	for width := 1; width <= 12; width++ {
		for _, c := range []struct {
			value int
			fits  bool
		}{{1<<width - 1, true}, {1 << width, width == 8}, {1<<8 - 1, width >= 8}} {
			body := []byte{byte(width), 40 << 1, byte(c.value)}
			if width > 8 {
				body = append(body, byte(c.value>>8))
			}
			chunk := &columnChunk{entries: 1 << 12, sink: &codeSink{to: newCodeBuffer(scatter(2))}}
			body = append(body, make([]byte, 0, bitPad)...)
			if err := chunk.decodeData(format.RLEDictionary, body, 40); (err == nil) != c.fits {
				t.Errorf("%d in %d bits: %v", c.value, width, err)
			}
		}
	}
}

// An empty run of equal indexes is refused: decoders disagree on whether a value follows it.
func TestRunsOfNoEqualIndexesAreRefused(t *testing.T) {
	for width := range 33 {
		for _, value := range []byte{0, 1, 4, 0x80} {
			body := []byte{byte(width), 0}
			body = append(body, bytes.Repeat([]byte{value}, (width+7)/8)...)
			body = append(body, 16<<1)
			body = append(body, make([]byte, (width+7)/8, bitPad)...)
			sink := &codeSink{to: newCodeBuffer(scatter(2))}
			chunk := &columnChunk{entries: 1 << 12, sink: sink}
			if err := chunk.decodeData(format.RLEDictionary, append(body, make([]byte, 0, bitPad)...), 16); err == nil {
				t.Errorf("width %d, value %x: accepted", width, value)
			}
		}
	}
}

// The last bit-packed run may be filled up, to 256 values as some writers do, and nothing may follow it.
func TestLastRunsMayBeFilledUp(t *testing.T) {
	bits := func(groups, width int) []byte {
		return append(binary.AppendUvarint(nil, uint64(groups)<<1|1), make([]byte, groups*width)...)
	}
	decode := func(body []byte) error {
		c := &columnChunk{entries: 1, sink: &codeSink{to: newCodeBuffer(scatter(4))}}
		return c.decodeData(format.RLEDictionary, append([]byte{1}, body...), 300)
	}
	levels := func(body []byte) error { return readLevels(make([]byte, 300+bitPad), body, 300) }
	for _, c := range []struct {
		body []byte
		fits bool
	}{
		{slices.Concat(bits(32, 1), bits(32, 1)), true},
		{slices.Concat(bits(32, 1), bits(6, 1)), true},
		{bits(64, 1), true},
		{slices.Concat(bits(32, 1), bits(5, 1)), false},              // 296
		{slices.Concat(bits(32, 1), bits(32, 1), bits(1, 1)), false}, // one more run after the last
		{bits(128, 1), false},                                        // more fill than any writer adds
		{slices.Concat(bits(32, 1), []byte{45 << 1, 0}), false},      // equal values are never filled up
		{slices.Concat(bits(32, 1), []byte{44 << 1, 0}), true},
	} {
		if err := decode(c.body); (err == nil) != c.fits {
			t.Errorf("indexes %d bytes long: %v", len(c.body), err)
		}
		if err := levels(c.body); (err == nil) != c.fits {
			t.Errorf("levels %d bytes long: %v", len(c.body), err)
		}
	}
}

// The levels of pages of few rows are checked in the same way.
func TestLevelsOfFewRowsMayBeFilledUp(t *testing.T) {
	for n := 1; n <= 64; n++ {
		for _, groups := range []int{(n + 7) / 8, 32, 63} {
			levels := make([]byte, n+bitPad)
			body := append(binary.AppendUvarint(nil, uint64(groups)<<1|1), bytes.Repeat([]byte{0x55}, groups)...)
			if err := readLevels(levels, body, n); err != nil {
				t.Errorf("%d rows filled up to %d: %v", n, 8*groups, err)
			}
			for i, level := range levels[:n] {
				if int(level) != 1-i&1 {
					t.Fatalf("%d rows filled up to %d: level %d is %d", n, 8*groups, i, level)
				}
			}
		}
	}
}

// Texts with equal hashes get different codes.
func TestMemoComparesTexts(t *testing.T) {
	m := newMemo(scatter(4), func([]byte) bool { return false })
	ask := func(s string) uint32 {
		codes := make([]uint32, 1)
		m.startBatch(1)
		codes[0] = m.codeOf([]byte(s), 0)
		m.resolveMisses(codes)
		return codes[0]
	}
	ask("one text")
	hash := hashOf([]byte("another text"))
	slot := &m.slots[hash&uint64(len(m.slots)-1)]
	*slot = memoSlot{hash: hash, code: 77, length: uint8(len("another text") + 1)}
	copy(slot.text[:], "ANOTHER TEXT")
	if got, want := ask("another text"), scatter(4).code("another text"); got != want {
		t.Errorf("the code is %d, want %d", got, want)
	}
	if slot.code == 77 {
		t.Error("the slot was not taken over")
	}
}
