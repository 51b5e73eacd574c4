package bounding

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/testkit"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// tableRow is a row of a test, in reading order: its unit, its group, what else is counted of it, and whether a policy
// leaves it out.
type tableRow struct {
	id    int64
	group uint64
	code  uint32
	out   bool
}

// ranker is a version of Hasher.priority.
type ranker = func(h *Hasher, purpose byte, content Hash, number uint64) Hash

// arrangement is all that must not change which rows stay.
type arrangement struct {
	kind    string // of ids: "number", "date", "text", "dictionary", "uuid", "decimal"
	workers int
	memory  int64
	known   bool   // the number of rows
	piece   int    // rows of a piece
	batch   int    // rows of a batch
	arrival uint64 // seed of the order in which pieces are added
	load    int64  // bytes of a partition that is split; 0: as usual
	weak    bool   // all long ids have one hash
	noID    bool   // a mutant: contents do not depend on the id
	key     byte   // of contents
	wrong   func() ranker
}

var plain = arrangement{kind: "number", workers: 1, memory: 1 << 30, known: true, piece: 1 << 20, batch: 1 << 16}

// capped returns for each row whether it stays: by a screening and, if it leaves rows, a choice among these. Caps on
// groups need the choice alone.
func (a arrangement) capped(t testing.TB, key byte, c Caps, rows []tableRow) []bool {
	t.Helper()
	a.key = key
	stream := func() *noise.Bits { return noise.NewStreams(noise.Key{key}, "plan").Rows().Bounding("t") }
	o := Options{Memory: a.memory, Workers: a.workers, Rows: -1}
	if a.memory < plain.memory {
		o.Dir = t.TempDir()
	}
	if a.known {
		o.Rows = int64(len(rows))
	}
	kept := &KeptRows{left: true}
	if !c.Grouped() {
		kept = a.finish(t, Screen(int64(min(c.Rows, math.MaxInt64)), stream(), o), rows)
	}
	stay := staying(a, kept, rows)
	if kept.SomeLeft() {
		rest := slices.Clone(rows)
		for i := range rest {
			rest[i].out = rest[i].out || stay[i]
		}
		b := ChooseAgain(c, groupNumber, stream(), o)
		if !c.Grouped() && a.wrong == nil {
			b = Choose(int64(min(c.Rows, math.MaxInt64)), stream(), o)
		}
		kept.Merge(a.finish(t, b, rest))
	}
	if o.Dir != "" && len(namesIn(t, o.Dir)) > 0 {
		t.Errorf("finishing leaves %v behind", namesIn(t, o.Dir))
	}
	return staying(a, kept, rows)
}

func groupNumber(to []byte, group uint64) []byte { return fmt.Appendf(to, "%d,", group) }

// finish adds the rows to a bounding and decides.
func (a arrangement) finish(t testing.TB, b *Bounding, rows []tableRow) *KeptRows {
	t.Helper()
	defer b.Close()
	if a.load > 0 {
		b.sortLimit = a.load
	}
	if a.weak {
		b.hash = func(string) uint64 { return 7 }
	}
	if a.wrong != nil {
		b.priority = a.wrong()
	}
	a.addAll(t, b, rows)
	k, err := b.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// staying returns for each row whether it stays.
func staying(a arrangement, k *KeptRows, rows []tableRow) []bool {
	stay := make([]bool, len(rows))
	for i := range rows {
		piece, row := i/a.piece, i%a.piece
		if bits := k.PieceBits(piece); row>>6 < len(bits) {
			stay[i] = bits[row>>6]>>(row&63)&1 == 1
		}
	}
	return stay
}

// bounded is capped for a cap on the rows of a unit.
func (a arrangement) bounded(t testing.TB, key byte, most uint64, rows []tableRow) []bool {
	t.Helper()
	return a.capped(t, key, Caps{Rows: most, Groups: NoCap, PerGroup: NoCap}, rows)
}

// addAll adds the rows by all workers at once.
func (a arrangement) addAll(t testing.TB, b *Bounding, rows []tableRow) {
	t.Helper()
	pieces := make(chan int, len(rows)/a.piece+1)
	for _, p := range rand.New(rand.NewPCG(a.arrival, 1)).Perm(len(rows)/a.piece + 1) {
		pieces <- p
	}
	close(pieces)
	var all sync.WaitGroup
	for range a.workers {
		w := b.Worker()
		all.Go(func() {
			for p := range pieces {
				part := rows[p*a.piece : min((p+1)*a.piece, len(rows))]
				for first := 0; first < len(part); first += a.batch {
					if err := a.add(w, p, first, part[first:min(first+a.batch, len(part))]); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
}

func (a arrangement) add(w *Worker, piece, first int, rows []tableRow) error {
	ids := make([]int64, len(rows))
	of := Rows{Groups: make([]uint64, len(rows))}
	out := make([]uint64, (len(rows)+63)/64)
	for i, r := range rows {
		ids[i], of.Groups[i] = r.id, r.group
		if r.out {
			out[i>>6] |= 1 << (i & 63)
		}
	}
	column := idArray(a.kind, ids)
	of.Contents = a.contentsOf(column, rows)
	return w.Add(piece, int64(first), column, of, out)
}

// contentsOf returns the contents of rows.
func (a arrangement) contentsOf(ids arrow.Array, rows []tableRow) []Hash {
	h, text := DrawKey(noise.NewStreams(noise.Key{a.key}, "plan").Rows().Contents("t")).Hasher(), IDText(ids)
	var contents []Hash
	if a.noID {
		text = func(to []byte, _ int) []byte { return to }
	}
	codes := func(to []byte, row int) []byte { return fmt.Appendf(to, "%d,%d,", rows[row].group, rows[row].code) }
	for i := range rows {
		contents = append(contents, h.Content(codes, ids, text, i))
	}
	return contents
}

// idArray is ids as an array of a kind.
func idArray(kind string, ids []int64) arrow.Array {
	mem := memory.DefaultAllocator
	switch kind {
	case "number":
		b := array.NewInt64Builder(mem)
		b.AppendValues(ids, nil)
		return b.NewArray()
	case "date":
		b := array.NewDate32Builder(mem)
		for _, id := range ids {
			b.Append(arrow.Date32(id))
		}
		return b.NewArray()
	case "decimal":
		b := array.NewDecimal128Builder(mem, &arrow.Decimal128Type{Precision: 38})
		for _, id := range ids {
			b.Append(decimal128.New(id, uint64(id)))
		}
		return b.NewArray()
	case "dictionary":
		b := array.NewDictionaryBuilder(mem, textDictionary).(*array.BinaryDictionaryBuilder)
		for _, id := range ids {
			if err := b.AppendString(strconv.FormatInt(id, 10)); err != nil {
				panic(err)
			}
		}
		return b.NewArray()
	case "uuid":
		b := array.NewLargeStringBuilder(mem)
		for _, id := range ids {
			b.Append(fmt.Sprintf("%032x", uint64(id)))
		}
		return b.NewArray()
	}
	b := array.NewStringBuilder(mem)
	for _, id := range ids {
		b.Append(strings.Repeat("-", int(id&7)*20) + strconv.FormatInt(id, 10)) // of very different lengths
	}
	return b.NewArray()
}

var textDictionary = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}

var idKinds = []string{"number", "date", "text", "dictionary", "uuid", "decimal"}

// drawArrangement is any arrangement: small pieces, little memory and partitions
// that are split in the middle of a unit among them.
func drawArrangement(rt *rapid.T, kind string) arrangement {
	return arrangement{
		kind:    kind,
		workers: rapid.IntRange(1, 4).Draw(rt, "workers"),
		memory:  rapid.SampledFrom([]int64{0, 1 << 16, 1 << 30}).Draw(rt, "memory"),
		known:   rapid.Bool().Draw(rt, "known"),
		piece:   rapid.IntRange(1, 300).Draw(rt, "piece"),
		batch:   rapid.IntRange(1, 100).Draw(rt, "batch"),
		arrival: rapid.Uint64().Draw(rt, "arrival"),
		load:    rapid.SampledFrom([]int64{0, 1, 500}).Draw(rt, "load"),
		weak:    rapid.Bool().Draw(rt, "weak"),
	}
}

func drawRows(rt *rapid.T, most int) (rows []tableRow) {
	units := rapid.Int64Range(1, 60).Draw(rt, "units")
	n := rapid.IntRange(0, most).Draw(rt, "rows")
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
	for range n {
		id := min(random.Int64N(units), random.Int64N(units)) - 3 // some units have many rows
		rows = append(rows, tableRow{id: id, group: random.Uint64N(5), code: random.Uint32N(3),
			out: random.IntN(10) == 0})
	}
	return rows
}

func TestEachUnitKeepsAtMostItsBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := drawArrangement(rt, rapid.SampledFrom(idKinds).Draw(rt, "kind"))
		most := rapid.SampledFrom([]uint64{0, 1, 2, 3, 17, 1 << 40, 1<<63 - 1}).Draw(rt, "most")
		rows := drawRows(rt, 700)
		stay := a.bounded(t, 1, most, rows)
		met, kept := map[int64]uint64{}, map[int64]uint64{}
		for i, r := range rows {
			if stay[i] {
				kept[r.id]++
			}
			if !r.out {
				met[r.id]++
			} else if stay[i] {
				rt.Errorf("row %d was left out and stays", i)
			}
		}
		for id, n := range met {
			if kept[id] != min(n, most) {
				rt.Errorf("unit %d keeps %d of %d rows with a bound of %d", id, kept[id], n, most)
			}
		}
	})
}

// What stays depends on the key and on what the rows of each unit are alone, and not on their order.
func TestNothingButRowsAndKeyDecides(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(idKinds).Draw(rt, "kind")
		first := plain
		first.kind = kind
		most := rapid.Uint64Range(1, 5).Draw(rt, "most")
		rows := drawRows(rt, 2000)
		want := contentsThatStay(first.bounded(t, 3, most, rows), rows)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 1))
		random.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		if got := contentsThatStay(drawArrangement(rt, kind).bounded(t, 3, most, rows), rows); !maps.Equal(got, want) {
			rt.Error("other rows stay in another order and arrangement")
		}
		left := slices.DeleteFunc(slices.Clone(rows), func(r tableRow) bool { return r.out })
		if got := contentsThatStay(first.bounded(t, 3, most, left), left); !maps.Equal(got, want) {
			rt.Error("rows that are left out change which others stay")
		}
	})
}

// contentsThatStay counts the rows that stay by what is counted of them.
func contentsThatStay(stay []bool, rows []tableRow) map[tableRow]int {
	counts := map[tableRow]int{}
	for i, r := range rows {
		if stay[i] {
			counts[r]++
		}
	}
	return counts
}

// Another key chooses other rows, and so does another table's stream.
func TestTheKeyDecides(t *testing.T) {
	var rows []tableRow
	for i := range 3000 {
		rows = append(rows, tableRow{id: int64(i % 100), code: uint32(i / 100)})
	}
	if slices.Equal(plain.bounded(t, 1, 5, rows), plain.bounded(t, 2, 5, rows)) {
		t.Error("two keys keep the same rows")
	}
}

// surprise is the p-value of the chi-square test that outcomes have these
// probabilities, of which none is 0.
func surprise(seen map[string]float64, want map[string]float64) float64 {
	var n, statistic float64
	for outcome, count := range seen {
		if want[outcome] == 0 {
			return 0
		}
		n += count
	}
	for outcome, p := range want {
		d := seen[outcome] - n*p
		statistic += d * d / (n * p)
	}
	return distuv.ChiSquared{K: float64(len(want) - 1)}.Survival(statistic)
}

// alarm is when a chi-square test fails. The keys are fixed, so that there is no
// false alarm; a fresh key would meet one in 1e9 tests.
const alarm = 1e-9

// mutants are wrong versions of Hasher.priority.
var mutants = map[string]func() ranker{
	"equal rows have one priority": func() ranker {
		return func(h *Hasher, purpose byte, content Hash, _ uint64) Hash { return h.priority(purpose, content, 1) }
	},
	"the first of equal rows stay": func() ranker {
		return func(_ *Hasher, _ byte, _ Hash, number uint64) Hash { return Hash{0, number} }
	},
	"one bit": func() ranker {
		return func(h *Hasher, purpose byte, content Hash, number uint64) Hash {
			return Hash{h.priority(purpose, content, number)[0] >> 63, 0}
		}
	},
}

// pairs is the p-value of the test that each of the 10 pairs of a unit's 5 rows is
// equally likely to stay, over many units. codeOf gives the codes of the rows.
func pairs(t testing.TB, a arrangement, codeOf func(row int) uint32) float64 {
	const units = 20_000
	var rows []tableRow
	for i := range 5 * units { // the rows of the units are mixed
		rows = append(rows, tableRow{id: int64(i % units), code: codeOf(i / units)})
	}
	outcomes := make([]string, units)
	for i, stays := range a.bounded(t, 2, 2, rows) {
		if stays {
			outcomes[i%units] += strconv.Itoa(i / units)
		}
	}
	seen, want := map[string]float64{}, map[string]float64{}
	for _, o := range outcomes {
		seen[o]++
	}
	for i := range 5 {
		for j := range i {
			want[fmt.Sprint(j)+fmt.Sprint(i)] = 0.1
		}
	}
	return surprise(seen, want)
}

func TestKeptRowsAreUniform(t *testing.T) {
	codes := map[string]func(int) uint32{
		"different": func(row int) uint32 { return uint32(row) },
		"equal":     func(int) uint32 { return 1 },
		"both":      func(row int) uint32 { return uint32(row / 2) },
	}
	for of, codeOf := range codes {
		for _, kind := range []string{"number", "text", "decimal"} {
			a := plain
			a.kind = kind
			if p := pairs(t, a, codeOf); p < alarm {
				t.Errorf("%s, %s rows: the rows kept are not uniform: p = %g", kind, of, p)
			}
		}
	}
	for mutant, wrong := range mutants {
		a := plain
		a.wrong = wrong
		if p := pairs(t, a, codes["equal"]); p >= alarm {
			t.Errorf("the mutant %q is not noticed: p = %g", mutant, p)
		}
	}
}

// Equal rows are rows of their own: of two equal rows and another, one of the two stays twice as often as the other.
func TestEqualRowsAreRowsOfTheirOwn(t *testing.T) {
	const units = 20_000
	law := func(wrong func() ranker) float64 {
		var rows []tableRow
		for i := range 3 * units {
			rows = append(rows, tableRow{id: int64(i % units), code: uint32(i / units / 2)})
		}
		a := plain
		a.wrong = wrong
		seen := map[string]float64{}
		for i, stays := range a.bounded(t, 9, 1, rows) {
			if stays {
				seen[fmt.Sprint(rows[i].code)]++
			}
		}
		return surprise(seen, map[string]float64{"0": 2. / 3, "1": 1. / 3})
	}
	if p := law(nil); p < alarm {
		t.Errorf("p = %g", p)
	}
	for _, mutant := range []string{"equal rows have one priority", "the first of equal rows stay"} {
		if p := law(mutants[mutant]); p >= alarm {
			t.Errorf("the mutant %q is not noticed: p = %g", mutant, p)
		}
	}
}

// TestHashesAreThoseOfTexts states the texts that are hashed, as engines hash them too, and one hash that was made by
// another program (printf '%s' TEXT | sha256sum).
func TestHashesAreThoseOfTexts(t *testing.T) {
	key := DrawKey(noise.NewStreams(noise.Key{3}, "plan").Rows().Bounding("t"))
	digits := func(text string) string {
		sum := sha256.Sum256([]byte(string(key[:]) + text))
		return hex.EncodeToString(sum[:16])
	}
	h := key.Hasher()
	number, text := idArray("number", []int64{-42}), arrayOf(t, arrow.BinaryTypes.String, `["ü, 1"]`)
	codes := func(to []byte, _ int) []byte { return append(to, "3,17,"...) }
	none := func(to []byte, _ int) []byte { return to }
	content := h.Content(codes, number, IDText(number), 0)
	for text, got := range map[string]Hash{
		"3,17,I-42": content,
		"Tü, 1":     h.Content(none, text, IDText(text), 0),
		"r2:" + string(content.appendDigits(nil)): h.priority(inGroup, content, 2),
		"t1:" + string(content.appendDigits(nil)): h.priority(inUnit, content, 1),
		"g12,D-1": h.groupPriority(groupNumber, 12, arrow.DATE32, []byte("-1")),
	} {
		if string(got.appendDigits(nil)) != digits(text) {
			t.Errorf("%q: %s", text, got.appendDigits(nil))
		}
	}
	known := &Key{}
	copy(known[:], strings.Repeat("0123456789abcdef", 4))
	const want = "2eaca3e811faf41837dbed9c5e7ef6b5"
	if got := string(known.Hasher().Content(codes, number, IDText(number), 0).appendDigits(nil)); got != want {
		t.Errorf("the hash of a known text is %s", got)
	}
}

// TestIDsAreOneText fails if the id that a worker hashes and the id that a sorter hashes differ.
func TestIDsAreOneText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind, id := rapid.SampledFrom(idKinds).Draw(rt, "kind"), rapid.Int64Range(-1<<31, 1<<31-1).Draw(rt, "id")
		ids := idArray(kind, []int64{id})
		var days []int64
		got := []byte(nil)
		if words, exact := Words(ids, &days); exact {
			p := permutation{1, 3, 5}
			got = appendID(nil, KindOf(ids), p.invert(p.apply(uint64(words[0]))), nil)
		} else {
			got = appendID(nil, KindOf(ids), 0, []byte(Texts(ids)(0)))
		}
		if want := IDText(ids)(nil, 0); string(got) != string(want) {
			rt.Errorf("%s: %q and %q", kind, got, want)
		}
	})
}

// Samples of two units are independent: of four rows each, one stays.
func TestSamplesOfUnitsAreIndependent(t *testing.T) {
	const units = 40_000
	independence := func(a arrangement) float64 {
		var rows []tableRow
		for i := range 4 * units {
			rows = append(rows, tableRow{id: int64(i % units), code: uint32(i / units)})
		}
		which := make([]int, units)
		for i, stays := range a.bounded(t, 5, 1, rows) {
			if stays {
				which[i%units] = i / units
			}
		}
		seen, want := map[string]float64{}, map[string]float64{}
		for u := 0; u < units; u += 2 {
			seen[fmt.Sprint(which[u], which[u+1])]++
		}
		for i := range 16 {
			want[fmt.Sprint(i/4, i%4)] = 1. / 16
		}
		return surprise(seen, want)
	}
	if p := independence(plain); p < alarm {
		t.Errorf("the samples of neighbouring ids are not independent: p = %g", p)
	}
	sharing := plain
	sharing.noID = true
	if p := independence(sharing); p >= alarm {
		t.Errorf("the mutant that draws alike for all units is not noticed: p = %g", p)
	}
}

// A large sample is uniform as well: each of 1000 rows stays as often as any
// other.
func TestLargeSamplesAreUniform(t *testing.T) {
	const units, each, most = 300, 1000, 400
	var rows []tableRow
	for i := range units * each {
		rows = append(rows, tableRow{id: int64(i % units)})
	}
	seen, want := map[string]float64{}, map[string]float64{}
	for i, stays := range plain.bounded(t, 4, most, rows) {
		if stays {
			seen[strconv.Itoa(i/units/100)]++
		}
	}
	for i := range each / 100 {
		want[strconv.Itoa(i)] = 0.1
	}
	// Rows of one unit repel each other, so that the statistic is below chi-square.
	if p := surprise(seen, want); p < alarm {
		t.Errorf("hundreds of rows are not kept alike: p = %g", p)
	}
}

// cappedLaw is the p-value of the test of all three caps at once: a unit has groups
// of 3, 2 and 1 rows, of which 2 groups, 1 row of each and 1 row in all stay, so
// that a row of a group of n stays with probability 1/3n.
func cappedLaw(t testing.TB, wrong func() ranker) float64 {
	const units = 20_000
	groups := []uint64{9, 4, 4, 9, 6, 9}
	var rows []tableRow
	for i := range len(groups) * units {
		rows = append(rows, tableRow{id: int64(i % units), group: groups[i/units], code: uint32(i / units / 2)})
	}
	a := plain
	a.wrong = wrong
	seen := map[string]float64{}
	for i, stays := range a.capped(t, 6, Caps{Rows: 1, Groups: 2, PerGroup: 1}, rows) {
		if stays {
			seen[strconv.Itoa(i/units)]++
		}
	}
	return surprise(seen, map[string]float64{"0": 1. / 9, "3": 1. / 9, "5": 1. / 9, "1": 1. / 6, "2": 1. / 6,
		"4": 1. / 3})
}

// onePurpose gives a row the same priority among the rows of its group and among those of its unit.
func onePurpose() ranker {
	return func(h *Hasher, _ byte, content Hash, number uint64) Hash { return h.priority(inUnit, content, number) }
}

func TestCapsAreUniform(t *testing.T) {
	if p := cappedLaw(t, nil); p < alarm {
		t.Errorf("what the caps leave is not uniform: p = %g", p)
	}
	for mutant, wrong := range map[string]func() ranker{"one purpose for all choices": onePurpose,
		"the first of equal rows stay": mutants["the first of equal rows stay"], "one bit": mutants["one bit"]} {
		if p := cappedLaw(t, wrong); p >= alarm {
			t.Errorf("the mutant %q is not noticed: p = %g", mutant, p)
		}
	}
}

// Which groups stay, and which row of each, are independent: of three groups of
// three rows each, two groups stay with one row, in 27 ways.
func TestSamplesOfGroupsAreIndependent(t *testing.T) {
	const units = 40_000
	law := func(wrong func() ranker) float64 {
		var rows []tableRow
		for i := range 9 * units {
			rows = append(rows, tableRow{id: int64(i % units), group: uint64(i / units % 3)})
		}
		a := plain
		a.wrong = wrong
		outcomes := make([]string, units)
		for i, stays := range a.capped(t, 7, Caps{Rows: NoCap, Groups: 2, PerGroup: 1}, rows) {
			if stays {
				outcomes[i%units] += strconv.Itoa(i / units)
			}
		}
		seen, want := map[string]float64{}, map[string]float64{}
		for _, o := range outcomes {
			seen[o]++
		}
		for i := range 9 {
			for j := range i {
				if i%3 != j%3 {
					want[strconv.Itoa(j)+strconv.Itoa(i)] = 1. / 27
				}
			}
		}
		return surprise(seen, want)
	}
	if p := law(nil); p < alarm {
		t.Errorf("the samples of a unit's groups are not independent: p = %g", p)
	}
	sharing := func() ranker { // a priority that ignores the content is the same in all groups of a unit
		return func(h *Hasher, purpose byte, _ Hash, number uint64) Hash { return h.priority(purpose, Hash{}, number) }
	}
	if p := law(sharing); p >= alarm {
		t.Errorf("the mutant that draws alike for all groups is not noticed: p = %g", p)
	}
}

// Caps on groups leave exactly as many groups, rows of each and rows in all as
// there are, or the cap.
func TestCapsHold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string) uint64 { return rapid.SampledFrom([]uint64{1, 2, 3, NoCap}).Draw(rt, label) }
		c := Caps{Rows: rapid.SampledFrom([]uint64{1, 4, 9, NoCap}).Draw(rt, "total"), Groups: draw("groups"),
			PerGroup: draw("per group")}
		a := drawArrangement(rt, rapid.SampledFrom([]string{"number", "text"}).Draw(rt, "kind"))
		a.load = 0
		rows := drawRows(rt, 700)
		stay := a.capped(t, 1, c, rows)
		met, kept := map[int64]map[uint64]uint64{}, map[int64]map[uint64]uint64{}
		for i, r := range rows {
			if !r.out {
				note(met, r)
			}
			if stay[i] {
				note(kept, r)
			}
		}
		for id, groups := range met {
			total, left := uint64(0), uint64(0)
			for group, n := range kept[id] {
				total += n
				if n > min(c.PerGroup, groups[group]) || n < groups[group] && n < c.PerGroup && c.Rows == NoCap {
					rt.Errorf("unit %d keeps %d of %d rows of a group under %+v", id, n, groups[group], c)
				}
			}
			for _, n := range least(maps.Values(groups), c.Groups) {
				left += min(n, c.PerGroup)
			}
			if total > c.Rows || uint64(len(kept[id])) > c.Groups || total < min(left, c.Rows) {
				rt.Errorf("unit %d keeps %d rows of %d groups under %+v", id, total, len(kept[id]), c)
			}
			if c.Rows == NoCap && uint64(len(kept[id])) != min(c.Groups, uint64(len(groups))) {
				rt.Errorf("unit %d keeps %d of %d groups under %+v", id, len(kept[id]), len(groups), c)
			}
		}
		want := contentsThatStay(stay, rows)
		rand.New(rand.NewPCG(a.arrival, 2)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		a2 := drawArrangement(rt, a.kind)
		a2.load = 0
		if got := contentsThatStay(a2.capped(t, 1, c, rows), rows); !maps.Equal(got, want) {
			rt.Error("other rows stay in another order and arrangement")
		}
	})
}

// least are the smallest n numbers.
func least(numbers func(func(uint64) bool), n uint64) []uint64 {
	sorted := slices.Sorted(numbers)
	return sorted[:min(n, uint64(len(sorted)))]
}

func note(counts map[int64]map[uint64]uint64, r tableRow) {
	if counts[r.id] == nil {
		counts[r.id] = map[uint64]uint64{}
	}
	counts[r.id][r.group]++
}

// stable says whether removing unit 0, and replacing it by unit 7, leaves exactly
// the rows of all others as they were.
func stable(t testing.TB, a arrangement, seed uint64) bool {
	random := rand.New(rand.NewPCG(seed, 1))
	most := 1 + random.Uint64N(3)
	var with, without, replaced []tableRow
	for range 60 {
		r := tableRow{id: random.Int64N(6), group: random.Uint64N(3), code: random.Uint32N(3)}
		with = append(with, r)
		switch {
		case r.id != 0:
			without, replaced = append(without, r), append(replaced, r)
		case random.IntN(2) == 0:
			replaced = append(replaced, tableRow{id: 7}, tableRow{id: 7})
		}
	}
	for _, c := range []Caps{{Rows: most, Groups: NoCap, PerGroup: NoCap}, {Rows: NoCap, Groups: 2, PerGroup: most}} {
		others := func(rows []tableRow) (stay []bool) {
			for i, s := range a.capped(t, byte(seed), c, rows) {
				if id := rows[i].id; id != 0 && id != 7 {
					stay = append(stay, s)
				}
			}
			return stay
		}
		want := others(with)
		if !slices.Equal(others(without), want) || !slices.Equal(others(replaced), want) {
			return false
		}
	}
	return true
}

// Stability is exact for every key: no unit changes what others keep.
func TestBoundingIsStable(t *testing.T) {
	unstable := func(a arrangement) bool {
		for seed := range uint64(100) {
			if !stable(t, a, seed) {
				return true
			}
		}
		return false
	}
	for _, kind := range idKinds {
		a := plain
		a.kind = kind
		if unstable(a) {
			t.Errorf("%s: removing or replacing one unit changes rows of others", kind)
		}
	}
	byPosition := plain
	byPosition.wrong = func() ranker {
		stream := noise.NewStreams(noise.Key{9}, "plan").Rows().Bounding("t")
		return func(*Hasher, byte, Hash, uint64) Hash { return Hash{stream.Uint64(), 0} }
	}
	if !unstable(byPosition) {
		t.Error("the mutant that draws by position is not noticed")
	}
}

// Ids that are equal as text or hash but not as values are different units, and
// equal values are one unit wherever they stand.
func TestUnitsAreToldApartExactly(t *testing.T) {
	for kind, c := range map[string]struct {
		of    arrow.DataType
		json  string
		units int
	}{
		"text":       {arrow.BinaryTypes.String, `["1", "01", "1 ", "1", "", "ü", "1\u0000", ""]`, 6},
		"integer":    {arrow.PrimitiveTypes.Int64, `["1", "-1", "1", "9007199254740993", "9007199254740992"]`, 4},
		"wide":       {&arrow.Decimal128Type{Precision: 20}, `["1", "18446744073709551615", "-1", "1"]`, 3},
		"date":       {arrow.FixedWidthTypes.Date32, `["1970-01-01", "1970-01-02", "1970-01-01"]`, 2},
		"dictionary": {textDictionary, `["1", "01", "1"]`, 2},
	} {
		for _, load := range []int64{0, 1} {
			for _, weak := range []bool{false, true} {
				ids := arrayOf(t, c.of, c.json)
				b := choiceOf(t, 1, Options{Memory: 1 << 20})
				if load > 0 {
					b.sortLimit = load
				}
				if weak {
					b.hash = func(string) uint64 { return 0 }
				}
				of := Rows{Contents: plain.contentsOf(ids, make([]tableRow, ids.Len()))}
				if err := b.Worker().Add(0, 0, ids, of, nil); err != nil {
					t.Fatal(kind, err)
				}
				if got := countOf(t, b); got != c.units {
					t.Errorf("%s: %d units, want %d", kind, got, c.units)
				}
			}
		}
	}
}

func boundingOf(t testing.TB, most int64, o Options) *Bounding {
	t.Helper()
	b := Screen(most, noise.NewStreams(noise.Key{1}, "plan").Rows().Bounding("t"), o)
	t.Cleanup(func() { b.Close() })
	return b
}

// choiceOf returns a choice of as many rows of each unit.
func choiceOf(t testing.TB, most uint64, o Options) *Bounding {
	t.Helper()
	b := Choose(int64(most), noise.NewStreams(noise.Key{1}, "plan").Rows().Bounding("t"), o)
	t.Cleanup(func() { b.Close() })
	return b
}

// over is an array whose memory is ids.
func over(ids []int64) arrow.Array {
	buffer := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(ids))
	return array.NewInt64Data(array.NewData(arrow.PrimitiveTypes.Int64, len(ids), []*memory.Buffer{nil, buffer}, nil, 0,
		0))
}

// countOf is how many rows stay.
func countOf(t testing.TB, b *Bounding) (n int) {
	t.Helper()
	k, err := b.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range k.pieces {
		for _, word := range words {
			for ; word != 0; word &= word - 1 {
				n++
			}
		}
	}
	return n
}

// The keyed permutation is one: it has an inverse, worked out here the long way.
func TestPermutationIsABijection(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.Uint64()
		p := permutation{word.Draw(rt, "add"), word.Draw(rt, "first") | 1, word.Draw(rt, "second") | 1}
		inverse := func(odd uint64) uint64 { // odd^(2^63 − 1) modulo 2^64
			power := uint64(1)
			for range 63 {
				power = power * power * odd
			}
			return power
		}
		id := word.Draw(rt, "id")
		x := p.apply(id) * inverse(p.second)
		x ^= x >> 32
		if x*inverse(p.first)-p.add != id || p.invert(p.apply(id)) != id {
			rt.Error("the inverse leads elsewhere")
		}
	})
}

// UUIDs and text are never compared, whatever they look like. Which piece is named
// does not depend on the order in which pieces arrive.
func TestIDsOfOtherTypesAreRefused(t *testing.T) {
	kinds := []string{"uuid", "text", "number", "decimal"}
	for _, first := range kinds {
		for _, second := range kinds {
			if first == second {
				continue
			}
			for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
				b := boundingOf(t, 1, Options{Memory: 1 << 20, Workers: 2})
				for i, piece := range order {
					kind := first
					if piece > 0 {
						kind = second
					}
					w := b.Worker()
					if i > 0 {
						w = b.workers[0]
					}
					if err := w.Add(piece, 0, idArray(kind, []int64{1, 2}), Rows{}, nil); err != nil {
						t.Fatal(err)
					}
				}
				var bad *IDError
				if _, err := b.Finish(context.Background()); !errors.As(err, &bad) || bad.Piece != 1 {
					t.Errorf("%s, %s: %v", first, second, err)
				}
			}
		}
	}
}

// Ids that cannot tell units apart, and rows without one, stop the run.
func TestIDsThatTellNobodyApartAreRefused(t *testing.T) {
	for name, ids := range map[string]arrow.Array{
		"real":    arrayOf(t, arrow.PrimitiveTypes.Float64, `[1]`),
		"decimal": arrayOf(t, &arrow.Decimal128Type{Precision: 5, Scale: 1}, `["1.0"]`),
		"truth":   arrayOf(t, arrow.FixedWidthTypes.Boolean, `[true]`),
		"missing": arrayOf(t, arrow.PrimitiveTypes.Int64, `["1", null]`),
	} {
		var bad *IDError
		if err := boundingOf(t, 1, Options{Memory: 1 << 20}).Worker().Add(5, 0, ids, Rows{}, nil); !errors.As(err,
			&bad) ||
			bad.Piece != 5 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A row that places cannot number is refused, not taken for another.
func TestPlacesHaveAnEnd(t *testing.T) {
	ids := idArray("number", []int64{1, 2})
	w := boundingOf(t, 1, Options{Memory: 1 << 20}).Worker()
	for name, at := range map[string][2]int64{"piece": {mostPiece + 1, 0}, "no piece": {-1, 0}, "row": {0, mostRow},
		"no row": {0, -1}} {
		if err := w.Add(int(at[0]), at[1], ids, Rows{}, nil); !errors.Is(err, errTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Rows beyond the 2³² of a piece are as good as others.
func TestRowsBeyondFourBillion(t *testing.T) {
	testkit.SkipUnderRace(t)
	const far = 1<<32 + 1000
	b := choiceOf(t, 2, Options{Memory: 1 << 20})
	w := b.Worker()
	for _, first := range []int64{far, 0, 100} {
		if err := w.Add(0, first, idArray("number", []int64{5}), Rows{Contents: []Hash{{1, 2}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	k, err := b.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, row := range []int64{0, 100, far} {
		kept += int(k.PieceBits(0)[row>>6] >> (row & 63) & 1)
	}
	if kept != 2 {
		t.Errorf("%d of the unit's three rows stay, want 2", kept)
	}
}

// Rows in lots and rows in tuples stand between each other in one piece, at one worker or at two, and in partitions
// that are split: the same rows stay as where all are in one lot.
func TestLotsAndTuplesAreOneTable(t *testing.T) {
	var rows []tableRow
	random := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		rows = append(rows, tableRow{id: random.Int64N(80), out: random.IntN(9) == 0})
	}
	one := boundingOf(t, 2, Options{Memory: plain.memory, Rows: int64(len(rows))})
	want := staying(plain, plain.finish(t, one, rows), rows)
	for _, load := range []int64{0, 900} {
		for _, workers := range []int{1, 2} {
			b := boundingOf(t, 2, Options{Memory: plain.memory, Rows: int64(len(rows)), Workers: workers})
			if load > 0 {
				b.sortLimit = load
			}
			all := []*Worker{b.Worker(), b.Worker()}
			lots, batches := 0, 0
			for first := 0; first < len(rows); batches++ {
				n := min(1+batches%(2*leastRows), len(rows)-first) // too few rows for a lot in three of eight batches
				w := all[batches/3%workers]
				before := len(w.batcher.batches)
				if err := plain.add(w, 0, first, rows[first:first+n]); err != nil {
					t.Fatal(err)
				}
				lots += len(w.batcher.batches) - before
				first += n
			}
			if lots == 0 || lots == batches {
				t.Fatalf("%d of %d batches are lots: the test tests nothing", lots, batches)
			}
			k, err := b.Finish(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				if got := k.PieceBits(0)[i>>6]>>(i&63)&1 == 1; got != want[i] {
					t.Fatalf("load %d, %d workers: row %d stays: %v, as one lot: %v", load, workers, i, got, want[i])
				}
			}
		}
	}
}

// The places of a lot's rows have an end: a batch of more rows is put aside as tuples.
func TestLotsHaveAnEnd(t *testing.T) {
	b := boundingOf(t, 2, Options{Memory: plain.memory, Rows: 1})
	w := b.Worker()
	ids := make([]int64, batchRows+1)
	for i := range ids {
		ids[i] = int64(i)
	}
	for piece, n := range []int{batchRows, batchRows + 1} {
		if err := w.Add(piece, 0, over(ids[:n]), Rows{}, nil); err != nil {
			t.Fatal(err)
		}
		if len(w.batcher.batches) != 1 {
			t.Errorf("%d rows: %d lots, want 1", n, len(w.batcher.batches))
		}
	}
	if got := countOf(t, b); got != 2*batchRows+1 {
		t.Errorf("%d rows stay, want %d", got, 2*batchRows+1)
	}
}

// A unit whose rows do not fit into memory is bounded all the same, as where they
// do; with caps on groups it is an error.
func TestAUnitLargerThanMemory(t *testing.T) {
	var rows []tableRow
	for i := range 60_000 {
		rows = append(rows, tableRow{id: int64(i % 1000 * (i & 1))}) // half of the rows are of unit 0
	}
	for _, kind := range []string{"number", "text"} {
		for _, contents := range []int{1, 3, 60_000} { // rows of one content are more than a partition may hold
			for i := range rows {
				rows[i].code = uint32(i / 2 % contents)
			}
			large, little := plain, plain
			large.kind, little.kind = kind, kind
			little.memory, little.workers, little.piece, little.batch = 0, 2, 4096, 1000
			for _, most := range []uint64{1, 100, 29_999} {
				want := contentsThatStay(large.bounded(t, 8, most, rows), rows)
				if !maps.Equal(contentsThatStay(little.bounded(t, 8, most, rows), rows), want) {
					t.Errorf("%s, %d contents, %d rows: with little memory other rows stay", kind, contents, most)
				}
			}
		}
	}
	stream := noise.NewStreams(noise.Key{1}, "plan").Rows().Bounding("t")
	b := ChooseAgain(Caps{Rows: 1, Groups: 1, PerGroup: 1}, groupNumber, stream, Options{Dir: t.TempDir()})
	plain.addAll(t, b, rows)
	if _, err := b.Finish(context.Background()); !errors.Is(err, ErrMemory) {
		t.Errorf("groups of a unit that does not fit: %v", err)
	}
}

// Rows that take four times the memory are bounded within it, but for what the
// collector lets pass while it runs.
func TestMemoryOfBounding(t *testing.T) {
	testkit.SkipUnderRace(t)
	const rows, most = 1 << 22, 1 << 24
	held := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	runtime.GC()
	before, peak := held(), int64(0)
	for _, b := range []*Bounding{
		boundingOf(t, 2, Options{Memory: most, Workers: 1, Rows: rows, Dir: t.TempDir()}),
		choiceOf(t, 2, Options{Memory: most, Workers: 1, Rows: rows, Dir: t.TempDir()}),
		ChooseAgain(OfRows(2), nil, noise.NewStreams(noise.Key{1}, "plan").Rows().Bounding("t"),
			Options{Memory: most, Workers: 1, Rows: rows, Dir: t.TempDir()}),
	} {
		w, ids, of := b.Worker(), make([]int64, 1<<14), Rows{Contents: make([]Hash, 1<<14)}
		column, random := over(ids), rand.New(rand.NewPCG(1, 1))
		for first := 0; first < rows; first += len(ids) {
			for i := range ids {
				ids[i], of.Contents[i] = random.Int64N(rows/3), Hash{random.Uint64(), 0}
			}
			if err := w.Add(0, int64(first), column, of, nil); err != nil {
				t.Fatal(err)
			}
			peak = max(peak, held()-before)
		}
		decided, watched := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(watched)
			for {
				peak = max(peak, held()-before)
				select {
				case <-decided:
					return
				case <-time.After(time.Millisecond):
				}
			}
		}()
		countOf(t, b)
		close(decided)
		<-watched
		if peak > most*3/2 {
			t.Errorf("choosing: %v: %d bytes were held, with %d to hold", b.chooses, peak, most)
		}
		runtime.GC()
		before, peak = held(), 0
	}
}

// Where all rows are known and the memory is enough for them they find room, in lots of the rows that a batch has, and
// no more is made use of than that; else as much as is said, whatever a file says of its rows.
func TestAllRowsFindRoomWhereTheyAreKnown(t *testing.T) {
	const batch = 1 << 15
	for _, rows := range []int64{0, 1, 1000, 100_000, 1 << 22, 10_000_000, 1_000_000_000, 1 << 40} {
		for _, workers := range []int{1, 2, 64} {
			enough := Options{Rows: rows, Workers: workers}.bytesOfAllRows(tupleBytes)
			for _, memory := range []int64{enough, enough - 1, 1 << 50} {
				b := boundingOf(t, 2, Options{Memory: memory, Workers: workers, Rows: rows})
				lots := (rows + batch - 1) / batch
				room := b.spill.limit >= rows*tupleBytes+lots*int64(b.parts+1)*4
				switch fits := memory >= enough; {
				case fits && !room && rows >= 1<<22: // what fewer rows take is little beside what workers gather
					t.Errorf("%d rows, %d workers, %d bytes: %d hold less than all rows", rows, workers, memory,
						b.spill.limit)
				case !fits && b.opt.Memory > MostMemory, b.opt.Memory > max(MostMemory, enough), b.opt.Memory > memory:
					t.Errorf("%d rows, %d workers, %d bytes: %d are made use of", rows, workers, memory, b.opt.Memory)
				}
			}
		}
	}
	for shift := range 63 {
		for _, rows := range []int64{-1, 1 << shift, 1<<shift - 1, math.MaxInt64 / 10 >> shift,
			math.MaxInt64/10>>shift + 1,
			math.MaxInt64 >> shift} {
			for _, memory := range []int64{1 << 20, 1 << 30, math.MaxInt64} {
				for _, workers := range []int{1, 2, 64} {
					b := boundingOf(t, 2, Options{Memory: memory, Rows: rows, Workers: workers})
					if b.parts < 1 || b.opt.Memory > memory || b.spill.limit < 0 || b.spill.limit > b.opt.Memory {
						t.Fatalf("%d rows, %d workers, %d bytes: %d partitions, %d held, %d of them put aside", rows,
							workers, memory,
							b.parts, b.opt.Memory, b.spill.limit)
					}
				}
			}
		}
	}
}

// Whatever goes wrong, nothing is left on disk, and what went wrong is said.
func TestNothingIsLeftBehind(t *testing.T) {
	rows := make([]tableRow, 20_000)
	for i := range rows {
		rows[i].id = int64(i / 3)
	}
	dir := t.TempDir()
	b := boundingOf(t, 1, Options{Dir: dir})
	plain.addAll(t, b, rows)
	if b.spill.file == nil {
		t.Fatal("nothing is on disk: the test tests nothing")
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Finish(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	broken := boundingOf(t, 1, Options{Dir: dir})
	plain.addAll(t, broken, rows)
	broken.spill.file.Close()
	if _, err := broken.Finish(context.Background()); err == nil {
		t.Error("a file that cannot be read is no error")
	}
	unfinished := boundingOf(t, 1, Options{Dir: dir})
	plain.addAll(t, unfinished, rows)
	if err := unfinished.Close(); err != nil {
		t.Error(err)
	}
	if left := namesIn(t, dir); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
	w := boundingOf(t, 1, Options{Dir: dir + "/none"}).Worker()
	var err error
	for first := 0; err == nil && first < len(rows); first += 1000 {
		err = plain.add(w, 0, first, rows[first:first+1000])
	}
	if err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// BenchmarkBounding bounds units of 3.16 rows on average to two rows: a screening of all rows, and a choice among those
// that it leaves, with the hashing of their contents. A single worker makes the time that of the processor; making the
// table is not timed. The memory is all that the process has had so far, which is why the largest is last.
func BenchmarkBounding(b *testing.B) {
	for _, c := range []struct {
		name   string
		rows   int
		memory int64
	}{{"10M-in-32MB", 10_000_000, 32 << 20}, {"10M", 10_000_000, MostMemory}, {"50M", 50_000_000, MostMemory}} {
		ids := make([]int64, 1<<16)
		column := over(ids)
		fill := func(b *testing.B, each func(first int)) {
			random := rand.New(rand.NewPCG(1, 1))
			for first := 0; first < c.rows; first += len(ids) {
				b.StopTimer()
				for i := range ids {
					ids[i] = random.Int64N(int64(c.rows) * 6 / 19)
				}
				b.StartTimer()
				each(first)
			}
		}
		o := Options{Memory: c.memory, Workers: 1, Rows: int64(c.rows)}
		screen := func(b *testing.B) *KeptRows {
			bound := boundingOf(b, 2, o)
			w := bound.Worker()
			fill(b, func(first int) {
				if err := w.Add(first>>20, int64(first&(1<<20-1)), column, Rows{}, nil); err != nil {
					b.Fatal(err)
				}
			})
			k, err := bound.Finish(context.Background())
			if err != nil {
				b.Fatal(err)
			}
			return k
		}
		b.Run("screening/"+c.name, func(b *testing.B) {
			for b.Loop() {
				screen(b)
			}
		})
		b.Run("both/"+c.name, func(b *testing.B) {
			of := Rows{Contents: make([]Hash, len(ids))}
			for b.Loop() {
				k := screen(b)
				bound := choiceOf(b, 2, o)
				h, w := DrawKey(noise.NewStreams(noise.Key{1}, "plan").Rows().Bounding("u")).Hasher(), bound.Worker()
				text := IDText(column)
				codes := func(to []byte, row int) []byte {
					return fmt.Appendf(to, "1,2,3,40,5,60,7,8,90,10,11,%d,",
						row)
				}
				fill(b, func(first int) {
					kept := k.PieceBits(first >> 20)[first&(1<<20-1)>>6:][:len(ids)/64]
					for i := range ids {
						if kept[i>>6]>>(i&63)&1 == 0 {
							of.Contents[i] = h.Content(codes, column, text, i)
						}
					}
					if err := w.Add(first>>20, int64(first&(1<<20-1)), column, of, kept); err != nil {
						b.Fatal(err)
					}
				})
				if _, err := bound.Finish(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-so-far")
		})
	}
}

// arrayOf is an array of what its JSON says.
func arrayOf(t *testing.T, of arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Bounding refuses a row that has no id and is not left out, whoever forgot to leave it out.
func TestBoundingRefusesRowsWithoutAnID(t *testing.T) {
	ids := arrayOf(t, arrow.PrimitiveTypes.Int64, `[1, null, 2]`)
	for _, c := range []struct {
		out  []uint64
		fits bool
	}{{nil, false}, {[]uint64{0b101}, false}, {[]uint64{0b010}, true}, {[]uint64{0b111}, true}} {
		var missing *IDError
		if err := boundingOf(t, 1, Options{Memory: 1 << 20}).Worker().Add(0, 0, ids, Rows{},
			c.out); (err == nil) != c.fits ||
			err != nil && !errors.As(err, &missing) {
			t.Errorf("left out %v: %v", c.out, err)
		}
	}
}
