package histogram

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/selection"
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
	testkit.SkipPassed(t)
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
			d := p.Measurements[0].Selection.(selection.Groups)
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
							t.Errorf("of groups of %d units %d of %d appeared, expected %d to %d", n, hits[n],
								each*runs, low, high)
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
				t.Errorf("of %d groups that appeared against the odds the intervals of %d hold, expected %d to %d",
					few, held, low,
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
	for i, opt := range []struct {
		workers int
		memory  int64
	}{{}, {workers: 1}, {2, 64 << 20}} {
		e, err := Count(context.Background(), compiled.Of(p), FilesIn(dir, opt.workers, opt.memory), streams(p, 3))
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

// TestNoGroupAtAll releases a table in which no value is a key.
func TestNoGroupAtAll(t *testing.T) {
	p := planOfWords(t, "GROUPS", "9")
	m := released(t, p, folder(t, "s.csv", "customer,word,side\n"), 1)
	if len(m.Keys) > 0 || m.Values.Len() != 0 {
		t.Errorf("%d groups appear of none", m.Values.Len())
	}
}

// TestSelectionNeedsWhatIsPlanned keeps probabilities apart from what was not planned.
func TestSelectionNeedsWhatIsPlanned(t *testing.T) {
	p := planOfWords(t, "GROUPS", "9")
	d := p.Measurements[0].Selection.(selection.Groups)
	d.Threshold--
	if _, err := d.Probabilities(); err == nil {
		t.Error("a threshold of one less is taken")
	}
	if noise.Bernoulli(streams(p, 1).Rows().MadeUp("x"), 0) || !noise.Bernoulli(streams(p, 1).Rows().MadeUp("x"), 1) {
		t.Error("certain decisions are not")
	}
}
