package histogram

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// released measures the groups of a folder.
func released(t testing.TB, p *plan.Plan, dir string, key byte) measured.Measured {
	t.Helper()
	e := exactOf(t, p, dir, key)
	return drawn(t, e, p, key)
}

func drawn(t testing.TB, e *Exact, p *plan.Plan, key byte) measured.Measured {
	t.Helper()
	own := &exact{plan: e.inner.plan, answers: slices.Clone(e.inner.answers)} // measuring lets go of the counts
	x := &opened{exact: own, streams: streams(p, key), given: make([]bool, len(own.answers))}
	m, err := (&Opened{inner: x}).Measure(context.Background(), p.Measurements[0])
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestGroupsAppearByTheirLaw simulates releases of groups of many sizes: how many of each appear is held against the
// law by exact binomial tests, and so is how often their intervals hold. A law of one unit more or less is caught, and
// so would be one of rows, of which each unit has two.
func TestGroupsAppearByTheirLaw(t *testing.T) {
	const each, runs, alarm = 150, 12, 1e-11
	near := func(least, most int) (sizes []int) {
		for n := least; n <= most; n++ {
			sizes = append(sizes, n)
		}
		return sizes
	}
	for name, of := range map[string]struct {
		replacements []string
		least, most  int
	}{
		"optimal":           {nil, 1, 25},
		"optimal, replace":  {[]string{"NEIGHBOURS", "replace", "EPSILON", "4"}, 1, 16},
		"threshold":         {[]string{"GROUPS", "9", "EPSILON", "6"}, 10, 26},
		"groups of 5 or so": {[]string{"LEAST", ", at_least: 5"}, 3, 20},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOfWords(t, of.replacements...)
			d := p.Measurements[0].Discovery
			law := lawOf(t, d)
			least := int(max(d.AtLeast, 1)) - 1
			sizes := near(of.least, of.most)
			dir := folder(t, "s.csv", searched(sizes, each))
			e := exactOf(t, p, dir, 1)
			hits := map[int]int{}
			var few, held int
			margin, _ := p.Measurements[0].Mechanism.Margin(0.8)
			for run := range runs {
				m := drawn(t, e, p, byte(run+1))
				for i, keys := range m.Keys {
					var n, g int
					if _, err := fmt.Sscanf(keys[0], "%d-%d", &n, &g); err != nil {
						t.Fatal(err)
					}
					hits[n]++
					if law(n-least) > 0.7 {
						continue
					}
					few++
					if off := m.Values.Value(i) - int64(n); off <= margin && -off <= margin {
						held++
					}
				}
			}
			caught, steep := map[int]int{}, false
			for _, n := range sizes {
				for _, shift := range []int{0, 1, -1} {
					low, high := span(each*runs, law(max(n-least+shift, 0)), alarm)
					if hits[n] < low || hits[n] > high {
						caught[shift]++
						if shift == 0 {
							t.Errorf("of groups of %d units %d of %d appeared, expected %d to %d", n, hits[n], each*runs, low, high)
						}
					}
				}
				steep = steep || law(max(n-least, 0)) > 0.3 && law(max(n-least, 0)) < 0.7
			}
			if !steep || caught[1] == 0 || caught[-1] == 0 {
				t.Errorf("a law of one unit more or less is not caught: the test has lost its force")
			}
			// Groups that appear against the odds have the same noise as any.
			inside := held80(p.Measurements[0].Mechanism, margin)
			if low, high := span(few, inside, 1e-10); few < 500 || held < low || held > high {
				t.Errorf("of %d groups that appeared against the odds the intervals of %d hold, expected %d to %d", few, held, low,
					high)
			}
		})
	}
}

// held80 is P(|X| ≤ margin) by the formula of the law.
func held80(m budget.Mechanism, margin int64) float64 {
	parameter, _ := m.Parameter.Float64()
	var all, inside float64
	for x := int64(-4000); x <= 4000; x++ {
		p := math.Exp(-math.Abs(float64(x)) / parameter)
		if m.Kind == budget.DiscreteGaussian {
			p = math.Exp(-float64(x*x) / 2 / parameter)
		}
		if all += p; x <= margin && -x <= margin {
			inside += p
		}
	}
	return inside / all
}

// TestAUnitAloneHardlyEverAppears holds two tables against each other that differ by one unit, which alone has rows of
// ten groups: the exact probability that any of them appears is within the δ that is reserved, and the counts of all
// other groups differ by one in as many as a unit may count in. Without the bound on the groups of a unit the same
// figures break both.
func TestAUnitAloneHardlyEverAppears(t *testing.T) {
	for _, neighbours := range []string{"add-remove", "replace"} {
		for _, groups := range []int{1, 2, 9} {
			t.Run(fmt.Sprint(neighbours, groups), func(t *testing.T) {
				p := planOfWords(t, "NEIGHBOURS", neighbours, "GROUPS", fmt.Sprint(groups))
				without := searched([]int{3, 8}, 2)
				with := without
				for i := range 10 {
					with += fmt.Sprintf("alone,alone-%d,left\nalone,alone-%[1]d,right\n", i)
				}
				reserved, _ := workload.Reserved(p).Float64()
				if groups > 0 && neighbours == "replace" {
					reserved /= 2 // as one unit comes: another may go
				}
				law := lawOf(t, p.Measurements[0].Discovery)
				any := func(alone int) float64 { return -math.Expm1(float64(alone) * math.Log1p(-law(1))) }
				for _, bounded := range []bool{true, false} {
					alone := 0
					for _, texts := range groupsOf(t, p, with, bounded) {
						if strings.HasPrefix(texts, "alone-") {
							alone++
						}
					}
					chance := any(alone)
					switch {
					case bounded && (alone != groups || chance > reserved || chance < reserved/2):
						t.Errorf("one unit counts in %d groups, of which one appears with a chance of %g; δ is %g for it", alone, chance,
							reserved)
					case !bounded && groups < 9 && chance <= reserved:
						t.Errorf("without the bound one unit counts in %d groups, and the audit does not catch it", alone)
					}
				}
				before, after := unitsOf(t, p, without), unitsOf(t, p, with)
				for key, n := range before {
					if after[key] != n {
						t.Errorf("a unit moves the group %s of others from %d to %d units", key, n, after[key])
					}
				}
			})
		}
	}
}

// unitsOf are the exact units of each group.
func unitsOf(t testing.TB, p *plan.Plan, rows string) map[string]int64 {
	t.Helper()
	a := exactOf(t, p, folder(t, "s.csv", rows), 7).inner.answers[0]
	out := map[string]int64{}
	for i, cell := range a.Cells {
		out[strings.Join(a.Groups.Keys(cell), "|")] = a.Counts[i]
	}
	return out
}

// groupsOf are the groups that are counted, each with its key; without the bound on those of a unit where that is
// asked.
func groupsOf(t testing.TB, p *plan.Plan, rows string, bounded bool) []string {
	t.Helper()
	dir, s := folder(t, "s.csv", rows), streams(p, 7)
	found := func(table *spec.Table) (*spec.Table, error) {
		out, _, err := discover(context.Background(), table, p.Measurements, dir, 2, 1<<28)
		return out, err
	}
	counts, err := countFound(Questions{Plan: p, Measurements: p.Measurements}, 2, found, func(tally *tally) error {
		if !bounded {
			for _, q := range tally.queries {
				q.allowance = 0
			}
		}
		return tally.scan(context.Background(), dir, s.Rows(), 1<<28)
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, cell := range counts[0].Cells {
		out = append(out, counts[0].Groups.Keys(cell)[0])
	}
	return out
}

// TestGroupsDoNotDependOnTheMachine counts the same rows with one worker and several, in little memory, and in another
// order of files: the groups are the same, in the order of their keys, and so is what is drawn.
func TestGroupsDoNotDependOnTheMachine(t *testing.T) {
	p := planOfWords(t, "EPSILON", "6", "BY", "side, word")
	rows := searched([]int{2, 9, 30, 40}, 5)
	for _, odd := range []string{"ä", "Zürich", "a,b", " a", "0", "日本"} {
		for i := range 30 {
			rows += fmt.Sprintf("\"%s%d\",\"%s\",right\n", odd, i, odd)
		}
	}
	rows += "long,1234567890123,left\nnone,,left\ncontrol,a\x01b,left\n"
	dir := folder(t, "s.csv", rows)
	var first measured.Measured
	for i, opt := range []Options{{}, {Workers: 1}, {Workers: 2, MemoryLimit: 64 << 20}} {
		e, err := Count(context.Background(), compiled.Of(p), Files{Dir: dir, Options: opt}, streams(p, 3))
		if err != nil {
			t.Fatal(err)
		}
		m := drawn(t, e, p, 3)
		if i == 0 {
			first = m
			continue
		}
		if !slices.EqualFunc(m.Keys, first.Keys, slices.Equal[[]string]) ||
			!slices.Equal(m.Values.Int64Values(), first.Values.Int64Values()) {
			t.Errorf("with %+v other groups are drawn", opt)
		}
	}
	var texts []string
	sorted := slices.IsSortedFunc(first.Keys, slices.Compare[[]string])
	for _, k := range first.Keys {
		texts = append(texts, k[1])
	}
	if !sorted {
		t.Errorf("groups are out of order: %q", first.Keys)
	}
	for _, want := range []string{"ä", "Zürich", "a,b", " a", "0", "日本"} {
		if !slices.Contains(texts, want) {
			t.Errorf("30 units of %q do not appear", want)
		}
	}
	for _, never := range []string{"1234567890123", "", "a\x01b"} {
		if slices.Contains(texts, never) {
			t.Errorf("%q appears", never)
		}
	}
	if e := exactOf(t, p, dir, 3); fmt.Sprintf("%v %+v %s", e, *e, e) != "confidential confidential confidential" {
		t.Error("groups can be printed")
	}
}

// TestKeysMustFitIntoMemory refuses more values than there is memory for, without a word of any.
func TestKeysMustFitIntoMemory(t *testing.T) {
	p := planOfWords(t)
	var b strings.Builder
	b.WriteString("customer,word,side\n")
	for i := range 20000 {
		fmt.Fprintf(&b, "u%d,w%d,left\n", i, i)
	}
	dir := folder(t, "s.csv", b.String())
	table := p.Release().Tables[0]
	var short *memory.Error
	if _, _, err := discover(context.Background(), table, p.Measurements, dir, 2, 2<<20); !errors.As(err, &short) ||
		short.Need != 0 {
		t.Errorf("20000 values fit into 1 MB: %v", err)
	}
	found, held, err := discover(context.Background(), table, p.Measurements, dir, 2, 16<<20)
	if err != nil || found.Column("word").Domain.Size() != 20000 || held < 20000*keyBytes {
		t.Errorf("20000 values do not fit into 8 MB: %v", err)
	}
}

// TestNoGroupAtAll releases a table in which no value is a key.
func TestNoGroupAtAll(t *testing.T) {
	p := planOfWords(t, "GROUPS", "9")
	m := released(t, p, folder(t, "s.csv", "customer,word,side\n"), 1)
	if len(m.Keys) > 0 || m.Values.Len() != 0 {
		t.Errorf("%d groups appear of none", m.Values.Len())
	}
}

// TestOtherKeysAreOtherNoise draws of the same counts under other keys: nothing of the noise is the same.
func TestOtherKeysAreOtherNoise(t *testing.T) {
	p := planOfWords(t, "EPSILON", "6")
	rows := searched([]int{40}, 60)
	a := exactOf(t, p, folder(t, "s.csv", rows), 3).inner.answers[0]
	b := exactOf(t, p, folder(t, "s.csv", strings.ReplaceAll(rows, "040-", "041-")), 3).inner.answers[0]
	if !slices.Equal(a.Counts, b.Counts) || slices.Equal(a.hash, b.hash) {
		t.Error("groups of other keys have the hash from which noise is drawn")
	}
}

// TestSelectionNeedsWhatIsPlanned keeps probabilities apart from what was not planned.
func TestSelectionNeedsWhatIsPlanned(t *testing.T) {
	p := planOfWords(t, "GROUPS", "9")
	d := *p.Measurements[0].Discovery
	d.Threshold--
	if _, err := d.Kept(); err == nil {
		t.Error("a threshold of one less is taken")
	}
	if noise.Bernoulli(streams(p, 1).Rows().MadeUp("x"), 0) || !noise.Bernoulli(streams(p, 1).Rows().MadeUp("x"), 1) {
		t.Error("certain decisions are not")
	}
}

// TestGroupsOfComputedColumns reads keys that are made of one column, and of two: the same as of a file that holds
// them.
func TestGroupsOfComputedColumns(t *testing.T) {
	rows := searched([]int{2, 30, 40}, 3)
	plain := strings.NewReplacer(",0", ",W-0").Replace(rows)
	want := unitsOf(t, planOfWords(t), plain)
	if len(want) != 9 {
		t.Fatalf("%d groups of 9", len(want))
	}
	for _, of := range []struct{ column, text string }{
		{"from: \"= upper(trim(word))\", ", strings.NewReplacer(",0", ", w-0").Replace(rows)},
		{"from: \"= if(side == 'left', upper(word), trim(word))\", ", strings.NewReplacer(",0", ",w-0").Replace(rows)},
	} {
		got := unitsOf(t, planOfText(t, strings.Replace(wordsOf(), "word: {", "word: {"+of.column, 1)), of.text)
		if !maps.Equal(got, want) {
			t.Errorf("%s: the groups are %v, want %v", of.column, got, want)
		}
	}
}

// TestKeysOfLargeIntegers meets integers as they are read of a file that has them without a sign.
func TestKeysOfLargeIntegers(t *testing.T) {
	p := planOfText(t, strings.Replace(wordsOf(), "word: {values: {discover: {max_length: 12}}",
		"word: {type: integer, values: {discover: {max_length: 20}}", 1))
	r, err := spec.Parse(p.Source)
	if err != nil {
		t.Fatal(err)
	}
	table := r.Tables[0]
	for scale, want := range map[int32][]string{0: {"-3", "7", "18446744073709551615"}, 2: nil} {
		b := array.NewDecimal128Builder(arrowmemory.DefaultAllocator, &arrow.Decimal128Type{Precision: 20, Scale: scale})
		b.AppendValues([]decimal128.Num{decimal128.FromU64(math.MaxUint64), decimal128.FromI64(7), decimal128.FromI64(-3),
			decimal128.FromI64(7)}, nil)
		b.AppendNull()
		values := b.NewArray()
		k, err := newKeys(table, table.Column("word"), new(atomic.Int64))
		if err != nil {
			t.Fatal(err)
		}
		k.Codes(values, make([]uint32, values.Len()))
		if got := k.sorted(); !slices.Equal(got, want) || k.wrong.Load() != (want == nil) {
			t.Errorf("of scale %d: met %q, refused %v, want %q", scale, got, k.wrong.Load(), want)
		}
		if want == nil {
			continue
		}
		e, err := encoding.OfCategories(table, &spec.Column{Name: "word", Declaration: domain.Declaration{
			Type: domain.Integer, Domain: table.Column("word").Domain.Discovered(want)}})
		if err != nil {
			t.Fatal(err)
		}
		codes := make([]uint32, 4)
		e.Codes(array.NewSlice(values, 0, 4), codes)
		if !slices.Equal(codes, []uint32{2, 1, 0, 1}) {
			t.Errorf("they are encoded as %v", codes)
		}
	}
}
