package histogram

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/spec"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// row is a row of a test: its unit and its code in one column of 256.
type row struct {
	id   int64
	code uint8
}

// below replaces the draws of a bounder by a wrong version; nil leaves them.
type below func(b *bounder) func(unit []byte, n uint64) uint64

// bind bounds rows in records of the given length and returns the codes kept.
func bind(t testing.TB, key byte, most int64, rows []row, length int, wrong below) []uint8 {
	t.Helper()
	e := &encoder{of: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String},
		labels: array.NewStringBuilder(memory.DefaultAllocator).NewArray()}
	b := newBounder(spec.Unit{ID: "id", MaxRows: most}, noise.NewStreams(noise.Key{key}, "plan").Bounding("t"), []*encoder{e}, 1<<40)
	if wrong != nil {
		b.below = wrong(b)
	}
	for part := range slices.Chunk(rows, length) {
		ids := array.NewInt64Builder(memory.DefaultAllocator)
		codes := make([]uint32, len(part))
		for i, r := range part {
			ids.Append(r.id)
			codes[i] = uint32(r.code)
		}
		r := &record{ids: ids.NewArray(), chunk: chunk{rows: len(part), columns: []*array.Dictionary{e.pack(memory.DefaultAllocator, codes, nil)}}}
		if err := b.add(r); err != nil {
			t.Fatal(err)
		}
	}
	return b.kept[0].(*storeOf[uint8]).codes
}

func TestEachUnitKeepsAtMostItsBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.Int64Range(1, 4).Draw(rt, "most")
		var rows []row
		met := map[int64]int64{}
		for range rapid.IntRange(0, 60).Draw(rt, "rows") {
			id := rapid.Int64Range(-3, 3).Draw(rt, "id")
			rows = append(rows, row{id, uint8(id + 3)}) // the code names the unit
			met[id]++
		}
		kept := map[int64]int64{}
		for _, c := range bind(t, 1, most, rows, rapid.IntRange(1, 20).Draw(rt, "length"), nil) {
			kept[int64(c)-3]++
		}
		for id, n := range met {
			if kept[id] != min(n, most) {
				rt.Errorf("unit %d keeps %d of %d rows with a bound of %d", id, kept[id], n, most)
			}
		}
	})
}

// uniformity returns the p-value of the chi-square test that each of the 10 pairs
// of a unit's 5 rows is equally likely to stay, over many units.
func uniformity(t testing.TB, wrong below) float64 {
	const units, pairs = 20_000, 10
	var rows []row
	for i := range 5 * units { // the rows of the units are mixed
		rows = append(rows, row{int64(i % units), uint8(i / units)})
	}
	// A unit's place codes stand where its first two rows stood.
	kept := bind(t, 2, 2, rows, 1000, wrong)
	seen := map[[2]uint8]float64{}
	for u := range units {
		pair := [2]uint8{kept[u], kept[units+u]}
		slices.Sort(pair[:])
		seen[pair]++
	}
	statistic := float64(pairs-len(seen)) * units / pairs
	for _, n := range seen {
		d := n - units/pairs
		statistic += d * d / (units / pairs)
	}
	return distuv.ChiSquared{K: pairs - 1}.Survival(statistic)
}

// The false alarm of a fresh key would be 1e-10; the key is fixed, so there is none.
func TestKeptRowsAreUniform(t *testing.T) {
	const alarm = 1e-10
	if p := uniformity(t, nil); p < alarm {
		t.Errorf("the rows kept are not uniform: p = %g", p)
	}
	for name, wrong := range map[string]below{
		"keep the first": func(*bounder) func([]byte, uint64) uint64 {
			return func(_ []byte, n uint64) uint64 { return n }
		},
		"keep the last": func(b *bounder) func([]byte, uint64) uint64 {
			return func(_ []byte, n uint64) uint64 { return n % b.most }
		},
		"off by one": func(b *bounder) func([]byte, uint64) uint64 {
			right := b.below
			return func(unit []byte, n uint64) uint64 { return right(unit, n-1) }
		},
	} {
		if p := uniformity(t, wrong); p >= alarm {
			t.Errorf("the mutant %q is not noticed: p = %g", name, p)
		}
	}
}

// distance is the L1 distance of two multisets of codes.
func distance(a, b []uint8) (d int64) {
	var counts [256]int64
	for _, c := range a {
		counts[c]++
	}
	for _, c := range b {
		counts[c]--
	}
	for _, n := range counts {
		d += max(n, -n)
	}
	return d
}

// unstable looks for a table from which removing, or in which replacing, a unit
// moves the counts by more than the bound allows under one and the same key.
func unstable(t testing.TB, wrong below) (found bool) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		most := int64(1 + random.IntN(3))
		var with, without, replaced []row
		for range 40 {
			r := row{int64(random.IntN(6)), uint8(random.IntN(256))}
			with = append(with, r)
			if r.id != 0 {
				without = append(without, r)
				replaced = append(replaced, r)
			} else if random.IntN(2) == 0 {
				replaced = append(replaced, row{7, uint8(random.IntN(256))}, row{7, uint8(random.IntN(256))})
			}
		}
		key := byte(seed)
		a := bind(t, key, most, with, 7, wrong)
		if distance(a, bind(t, key, most, without, 11, wrong)) > most || distance(a, bind(t, key, most, replaced, 40, wrong)) > 2*most {
			return true
		}
	}
	return false
}

// Stability is exact for every key: no unit changes the draws of another.
func TestBoundingIsStable(t *testing.T) {
	if unstable(t, nil) {
		t.Error("removing or replacing one unit changes rows of others")
	}
	byPosition := func(*bounder) func([]byte, uint64) uint64 {
		stream := noise.NewStreams(noise.Key{9}, "plan").Bounding("t")
		return func(_ []byte, n uint64) uint64 { return stream.Below(n) }
	}
	if !unstable(t, byPosition) {
		t.Error("the mutant that draws by position is not noticed")
	}
}

// Ids that are equal as text or hash but not as values are different units, and
// equal values are one unit wherever they stand.
func TestUnitsAreToldApartExactly(t *testing.T) {
	for name, c := range map[string]struct {
		of    arrow.DataType
		json  string
		units int
	}{
		"text":       {arrow.BinaryTypes.String, `["1", "01", "1 ", "1", "", "ü"]`, 5},
		"integer":    {arrow.PrimitiveTypes.Int64, `["1", "-1", "1", "9007199254740993", "9007199254740992"]`, 4},
		"wide":       {&arrow.Decimal128Type{Precision: 20}, `["1", "18446744073709551615", "-1", "1"]`, 3},
		"dictionary": {textDictionary, `["1", "01", "1"]`, 2},
	} {
		ids := fromJSON(t, c.of, c.json)
		b := newBounder(spec.Unit{ID: "id", MaxRows: 1}, noise.NewStreams(noise.Key{1}, "plan").Bounding("t"), nil, 1<<40)
		if err := b.add(&record{chunk: chunk{rows: ids.Len()}, ids: ids}); err != nil {
			t.Fatal(name, err)
		}
		if len(b.units) != c.units || b.rows != c.units {
			t.Errorf("%s: %d units and %d rows, want %d", name, len(b.units), b.rows, c.units)
		}
	}
}

// UUIDs and text are never compared, whatever they look like.
func TestIDsOfOtherTypesAreRefused(t *testing.T) {
	text := `["abababab-abab-abab-abab-abababababab"]`
	for name, types := range map[string][2]arrow.DataType{
		"uuid, text":       {arrow.BinaryTypes.LargeString, arrow.BinaryTypes.String},
		"text, uuid":       {arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString},
		"uuid, dictionary": {arrow.BinaryTypes.LargeString, textDictionary},
	} {
		b := newBounder(spec.Unit{ID: "id", MaxRows: 1}, noise.NewStreams(noise.Key{1}, "plan").Bounding("t"), nil, 1<<40)
		first, second := fromJSON(t, types[0], text), fromJSON(t, types[1], text)
		if err := b.add(&record{chunk: chunk{rows: 1}, ids: first}); err != nil {
			t.Fatal(name, err)
		}
		if err := b.add(&record{chunk: chunk{rows: 1}, ids: second}); err == nil {
			t.Errorf("%s: counted as units of one type", name)
		}
	}
}

var textDictionary = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

// Rows that a column drops are no rows of their unit.
func TestDroppedRowsAreNotBounded(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}", "UNKNOWN", "drop")
	var b strings.Builder
	b.WriteString("id,kind,age\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%d,x,1\n%d,a,2\n%d,b,10\n", i, i, i)
	}
	e := exactOf(t, p, folder(t, "a.csv", b.String()), 1)
	if got := countsOf(t, e, "all")[2]; got != 500 {
		t.Errorf("%d of 500 units keep their only row", got)
	}
}

// A query of no factors counts all rows.
func TestTotal(t *testing.T) {
	q := &query{counts: make([]int64, 1)}
	q.add(5000, nil)
	q.add(1, nil)
	if q.counts[0] != 5001 {
		t.Errorf("got %d", q.counts[0])
	}
}
