package source

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"
)

// drawRuns draws values below a bound, and runs of the given bit width that hold them: some of equal values and some
// bit-packed, all of them short, the last possibly filled up.
func drawRuns(t *rapid.T, width int, below uint32) (values []uint32, runs []byte) {
	value := rapid.Uint32Range(0, below-1)
	kinds := rapid.SliceOfN(rapid.Bool(), 1, 12).Draw(t, "runs")
	for i, packed := range kinds {
		if !packed {
			n, v := rapid.IntRange(1, 70).Draw(t, "equal"), value.Draw(t, "value")
			runs = binary.AppendUvarint(runs, uint64(n)<<1)
			for b := range (width + 7) / 8 {
				runs = append(runs, byte(v>>(8*b)))
			}
			values = append(values, slices.Repeat([]uint32{v}, n)...)
			continue
		}
		groups := rapid.IntRange(1, 9).Draw(t, "groups")
		in := rapid.SliceOfN(value, 8*groups, 8*groups).Draw(t, "values")
		runs = binary.AppendUvarint(runs, uint64(groups)<<1|1)
		bits := make([]byte, groups*width)
		for j, v := range in {
			for b := range width {
				bits[(j*width+b)/8] |= byte(v>>b&1) << ((j*width + b) % 8)
			}
		}
		runs = append(runs, bits...)
		if i == len(kinds)-1 {
			in = in[:len(in)-rapid.IntRange(0, 7).Draw(t, "fill")]
		}
		values = append(values, in...)
	}
	return values, runs
}

// Pages of indexes of any width become the codes of their entries, with and without nulls. An index outside the
// dictionary never becomes a code.
func TestIndexesAreTheirEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 10).Draw(t, "width")
		entries := rapid.IntRange(1, 1<<width).Draw(t, "entries")
		coder := scatter(rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "bytes of a code"))
		below := uint32(entries)
		if rapid.Bool().Draw(t, "outside") {
			below = 1 << width
		}
		index, runs := drawRuns(t, width, below)
		sink := &codeSink{to: newCodeBuffer(coder)}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		for i := range entries {
			b.Append(fmt.Sprint("entry ", i))
		}
		dictionary := b.NewArray()
		defer dictionary.Release()
		sink.to.setDictionary(dictionary)

		c := &columnChunk{sink: sink, entries: entries}
		body := append(make([]byte, 0, len(runs)+1+bitPad), byte(width))
		if err := c.decodeData(format.RLEDictionary, append(body, runs...), len(index)); err != nil {
			t.Fatal(err)
		}
		levels, want := []byte(nil), []uint32(nil)
		some := rapid.Bool().Draw(t, "nulls")
		b.AppendNull()
		null := b.NewArray()
		defer null.Release()
		ofNull := []uint32{0}
		coder.Codes(null, ofNull)
		outside := false
		for _, at := range index {
			for some && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
				levels, want = append(levels, 0), append(want, ofNull[0])
			}
			levels, want = append(levels, 1), append(want, coder.code(fmt.Sprint("entry ", at)))
			outside = outside || int(at) >= entries
		}
		sink.to.startBatch(len(levels))
		err := func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("%v", r)
				}
			}()
			if some {
				half := len(levels) / 2
				first := countPresent(levels[:half])
				if err := sink.appendLevels(levels[:half], 0, first); err != nil {
					return err
				}
				return sink.appendLevels(levels[half:], first, len(index))
			}
			half := len(index) / 2
			if err := sink.appendRange(0, half); err != nil {
				return err
			}
			return sink.appendRange(half, len(index))
		}()
		if (err != nil) != outside {
			t.Fatalf("%v; an index lies outside: %v", err, outside)
		}
		if outside {
			return
		}
		got := codesOf(sink.to.array())
		if !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if most := sink.to.largest(); most < slices.Max(want) {
			t.Fatalf("the largest is said to be %d of %v", most, want)
		}
	})
}

func codesOf(a arrow.Array) (codes []uint32) {
	for i := range a.Len() {
		codes = append(codes, codeAt(a, i))
	}
	return codes
}

// Levels in runs of any kind are read as drawn.
func TestLevelsAreReadFromRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, runs := drawRuns(t, 1, 2)
		levels := make([]byte, len(want)+bitPad)
		if err := readLevels(levels, runs, len(want)); err != nil {
			t.Fatal(err)
		}
		for i, level := range want {
			if uint32(levels[i]) != level {
				t.Fatalf("level %d is %d of %v", i, levels[i], want)
			}
		}
		if all := !slices.Contains(want, 0); allPresent(runs, len(want)) && !all {
			t.Fatalf("%v are said to be all present", want)
		}
	})
}

// The code that marks an index outside the dictionary is no entry's code, whichever codes the entries have.
func TestNoEntryIsTakenForNone(t *testing.T) {
	for entries := range 257 {
		var all []uint8
		for i := range entries {
			all = append(all, uint8(i))
		}
		x := narrowIndexes[uint8]{index: slices.Clone(all)}
		x.setDictionary(all)
		out := make([]uint8, entries)
		if x.lookUp(out, 0); !slices.Equal(out, all) {
			t.Errorf("%d entries: %v", entries, out)
		}
	}
}

// decodeRunsByBit reads n values of a bit width from runs, bit by bit. It reports false if the runs end early.
func decodeRunsByBit(runs []byte, width, n int) (values []uint32, ok bool) {
	for len(values) < n {
		head, read := binary.Uvarint(runs)
		if read <= 0 || head>>1 > 1<<20 {
			return nil, false
		}
		runs = runs[read:]
		count, size := int(head>>1), (width+7)/8
		if head&1 == 1 {
			size = count * width
		}
		if size > len(runs) {
			return nil, false
		}
		value := func(first, bits int) (v uint32) {
			for b := range bits {
				v |= uint32(runs[(first+b)/8]>>((first+b)%8)&1) << b
			}
			return v
		}
		for i := range count {
			if head&1 == 0 {
				values = append(values, value(0, 8*size))
				continue
			}
			for j := range 8 {
				values = append(values, value((8*i+j)*width, width))
			}
		}
		runs = runs[size:]
	}
	return values[:n], true
}

// Damaged runs are refused or decoded. Memory left from earlier pages never appears in the result.
func TestDamagedRunsAreRefusedOrReadAsTheyStand(t *testing.T) {
	accepted, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 12).Draw(t, "width")
		sink := &codeSink{to: newCodeBuffer(scatter(2))}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		for i := range 1 << width {
			b.Append(fmt.Sprint(i))
		}
		dictionary := b.NewArray()
		defer dictionary.Release()
		sink.to.setDictionary(dictionary)
		c := &columnChunk{sink: sink, entries: 1 << width}
		for range rapid.IntRange(1, 6).Draw(t, "pages") {
			index, runs := drawRuns(t, width, 1<<width)
			for range rapid.IntRange(0, 2).Draw(t, "damaged") {
				runs[rapid.IntRange(0, len(runs)-1).Draw(t, "byte")] = rapid.SampledFrom([]byte{0, 1, 2, 3, 8, 0x20,
					0x80, 0xFF}).
					Draw(t, "damage")
			}
			body := append(make([]byte, 0, len(runs)+1+bitPad), byte(width))
			err := c.decodeData(format.RLEDictionary, append(body, runs...), len(index))
			if err != nil {
				refused++
				continue
			}
			accepted++
			want, ok := decodeRunsByBit(runs, width, len(index))
			if !ok {
				t.Fatalf("%d indexes of %d bits are read from %x", len(index), width, runs)
			}
			sink.to.startBatch(len(index))
			if err := sink.appendRange(0, len(index)); err != nil {
				t.Fatal(err)
			}
			for i, got := range codesOf(sink.to.array()) {
				if code := scatter(2).code(fmt.Sprint(want[i])); got != code {
					t.Fatalf("index %d of %x is %d, its code %d, not %d", i, runs, want[i], code, got)
				}
			}
		}
	})
	if accepted == 0 || refused == 0 {
		t.Errorf("%d pages were accepted, %d refused: the test tests nothing", accepted, refused)
	}
}
