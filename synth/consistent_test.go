package synth

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// planned makes the plan of a spec.
func plannedOf(t testing.TB, text string) *plan.Plan {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// countedBy counts rows by attributes of the only table, whose codes are given by column.
func countedBy(t testing.TB, p *plan.Plan, q plan.Query, codes map[string][]uint32) []int64 {
	t.Helper()
	levels, err := q.Levels(p.Release())
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, c := range codes {
		rows = len(c)
	}
	places, cells := make([]int, rows), 1
	for i, f := range q.Factors {
		cells *= levels[i].Size()
		for row, code := range codes[f.Attribute] {
			if levels[i].Of != nil {
				code = uint32(levels[i].Of[code])
			}
			places[row] = places[row]*levels[i].Size() + int(code)
		}
	}
	out := make([]int64, cells)
	for _, place := range places {
		out[place]++
	}
	return out
}

// sealedFrom measures the rows as the plan says, but for noise times none, which is 0 or 1.
func sealedFrom(t testing.TB, p *plan.Plan, codes map[string][]uint32, key noise.Key, noisy bool) *measured.Sealed {
	t.Helper()
	out := &measured.Sealed{Plan: p, Rounds: make([][]measured.Round, len(p.Synthetic))}
	streams := noise.NewStreams(key, p.Hash())
	for _, m := range p.Measurements {
		exact := countedBy(t, p, m.Query, codes)
		columns, axes, plain, err := m.Query.Residual(p.Release())
		if err == nil && slices.Contains(plain, false) {
			if exact, err = residual.Exact(columns, axes, plain, exact); err != nil {
				t.Fatal(err)
			}
		}
		if int64(len(exact)) != m.Cells {
			t.Fatalf("%s has %d integers, not %d", m.ID, len(exact), m.Cells)
		}
		answers := slices.Clone(exact)
		if noisy {
			add := noise.AddDiscreteGaussian
			if m.Mechanism.Kind == budget.DiscreteLaplace {
				add = noise.AddDiscreteLaplace
			}
			if err := add(streams.Noise(m.Canonical(), hashed(exact), 0), m.Mechanism.Parameter, answers); err != nil {
				t.Fatal(err)
			}
			if m.Impossible > 0 {
				mask, _ := m.Query.Impossible(p.Release())
				for i, impossible := range mask.Cells() {
					if impossible {
						answers[i] = 0
					}
				}
			}
		}
		out.Measured = append(out.Measured, answered(m, answers))
	}
	return out
}

// TestConsistentAdult projects all 105 tables of two columns of adult15.
func TestConsistentAdult(t *testing.T) {
	columns := adult(t)
	text := "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: {epsilon: 1, delta: 1e-9}\ntables: {t: {source: {csv: t.csv}, unit: row, columns: {"
	var names []string
	codes := map[string][]uint32{}
	for i, n := range adultSizes {
		name := fmt.Sprintf("c%d", i)
		names = append(names, name)
		text += fmt.Sprintf("%s: {type: integer, range: [0, %d]}, ", name, n-1)
		codes[name] = columns[i]
	}
	text += fmt.Sprintf("}}}\nmarginals: {m: {by: [%s], every: [2]}}\npublish: {integers: consistent}\n", join(names))
	p := plannedOf(t, text)
	start := time.Now()
	s := sealedFrom(t, p, codes, noise.Key{1}, true)
	t.Log("measured", time.Since(start))
	start = time.Now()
	tables, err := Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("estimated", time.Since(start))
	start = time.Now()
	f, err := newFitting(s, p.Consistent[0], tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("ordered", time.Since(start))
	start = time.Now()
	f.project()
	t.Log("projected", time.Since(start), f.steps)
	start = time.Now()
	counts, err := f.round(newStream(s, "x"))
	if err != nil {
		t.Fatal(err)
	}
	t.Log("rounded", time.Since(start))
	var raw, real, whole, off float64
	for i, pt := range f.Tables {
		truth := countedBy(t, p, p.Query(p.Tables[pt.At]), codes)
		for cell, at := range f.tables[i].places {
			x := f.real[pt.From][at]
			raw += math.Abs(tables[pt.At].Statistics[0].Unbiased.Value(cell) - float64(truth[cell]))
			real += math.Abs(x - float64(truth[cell]))
			n := float64(counts[pt.At][cell])
			whole += math.Abs(n - float64(truth[cell]))
			if math.Abs(n-x) >= 1 {
				off++
			}
		}
	}
	n := 105 * 48842.
	t.Logf("raw %.4f real %.4f whole %.4f; %v cells off by one or more", raw/n, real/n, whole/n, off)
}

func join(names []string) (out string) {
	for i, n := range names {
		if i > 0 {
			out += ", "
		}
		out += n
	}
	return out
}
