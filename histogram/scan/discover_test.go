package scan

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
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/plan/workload"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

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
				law := lawOf(t, p.Measurements[0].Selection.(selection.Groups))
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
						t.Errorf("without the bound one unit counts in %d groups, and the audit does not catch it",
							alone)
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
	a := exactOf(t, p, folder(t, "s.csv", rows), 7).answers[0]
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
		out, _, err := discover(context.Background(), table, p.Measurements, source.Data{Dir: dir}, 2, 1<<28)
		return out, err
	}
	asked := histogram.Questions{Plan: p, Measurements: p.Measurements}
	counts, err := countFound(asked, 2, found, func(tally *tally) error {
		if !bounded {
			for _, q := range tally.queries {
				q.allowance = 0
			}
		}
		return tally.countFiles(context.Background(), source.Data{Dir: dir}, s.Rows(), 1<<28)
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
	if _, _, err := discover(context.Background(), table, p.Measurements, source.Data{Dir: dir},
		2, 2<<20); !errors.As(err, &short) ||
		short.Need != 0 {
		t.Errorf("20000 values fit into 1 MB: %v", err)
	}
	found, held, err := discover(context.Background(), table, p.Measurements, source.Data{Dir: dir}, 2, 16<<20)
	if err != nil || found.Column("word").Domain.Size() != 20000 || held < 20000*keyBytes {
		t.Errorf("20000 values do not fit into 8 MB: %v", err)
	}
}

// TestOtherKeysAreOtherNoise draws of the same counts under other keys: nothing of the noise is the same.
func TestOtherKeysAreOtherNoise(t *testing.T) {
	p := planOfWords(t, "EPSILON", "6")
	rows := searched([]int{40}, 60)
	a := exactOf(t, p, folder(t, "s.csv", rows), 3).answers[0]
	b := exactOf(t, p, folder(t, "s.csv", strings.ReplaceAll(rows, "040-", "041-")), 3).answers[0]
	if !slices.Equal(a.Counts, b.Counts) || slices.Equal(a.Hash(), b.Hash()) {
		t.Error("groups of other keys have the hash from which noise is drawn")
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
		b := array.NewDecimal128Builder(arrowmemory.DefaultAllocator,
			&arrow.Decimal128Type{Precision: 20, Scale: scale})
		b.AppendValues([]decimal128.Num{decimal128.FromU64(math.MaxUint64), decimal128.FromI64(7),
			decimal128.FromI64(-3),
			decimal128.FromI64(7)}, nil)
		b.AppendNull()
		values := b.NewArray()
		k, err := newKeys(table, table.Column("word"), new(atomic.Int64))
		if err != nil {
			t.Fatal(err)
		}
		k.Codes(values, make([]uint32, values.Len()))
		if got := k.takeSortedTexts(); !slices.Equal(got, want) || k.wrongType.Load() != (want == nil) {
			t.Errorf("of scale %d: met %q, refused %v, want %q", scale, got, k.wrongType.Load(), want)
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

// TestValuesOfOthersDoNotDecide adds a unit whose values no other unit has, in the middle of all values: of every other
// unit the same rows and the same groups stay.
func TestValuesOfOthersDoNotDecide(t *testing.T) {
	for _, groups := range []string{"1", "2"} {
		p := planOfText(t, wordsOf("GROUPS", groups))
		for key := range byte(20) {
			var others strings.Builder
			for unit := range 40 {
				for row := range 6 {
					fmt.Fprintf(&others, "u%d,w%02d\n", unit, (unit*7+row*row*3+unit%5*row)%30)
				}
			}
			count := func(more string) map[string]int64 {
				a := exactOf(t, p, folder(t, "s.csv", "customer,word\n"+others.String()+more), key).answers[0]
				out := map[string]int64{}
				for i, cell := range a.Cells {
					out[strings.Join(a.Groups.Keys(cell), "|")] = a.Counts[i]
				}
				return out
			}
			without, with := count(""), count("x,a0\n")
			delete(with, "a0")
			if !maps.Equal(without, with) {
				t.Fatalf("%s groups, key %d: another unit's value changes what stays of others: %v, %v", groups, key,
					without, with)
			}
		}
	}
}
