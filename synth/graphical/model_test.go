package graphical

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomModel is a model of a small random domain with factors over random cliques, whose range of logarithms is given,
// and the law p(x) ∝ Π φ(x) of all its cells by enumeration, times the total.
func randomModel(r *rand.Rand, spread float64, never bool) (m *Model, d Domain, all []float64) {
	for range 3 + r.IntN(4) {
		d = append(d, 1+r.IntN(4))
	}
	m = New(d, 1000)
	every := make(Clique, len(d))
	for a := range every {
		every[a] = a
	}
	logs := make([]float64, int(d.Cells(every)))
	for range 2 + r.IntN(5) {
		c := subset(r, len(d), 1+r.IntN(3))
		t := m.term(m.inside(c))
		for i := range t.theta {
			t.theta[i] += spread * (2*r.Float64() - 1)
		}
		if never && r.IntN(2) == 0 {
			cells := make([]bool, len(t.theta))
			for i := range cells[1:] {
				cells[i+1] = r.IntN(4) == 0
			}
			m.Never(c, cells)
		}
	}
	for i := range logs {
		for _, t := range m.terms {
			codes := d.codes(i)
			ranked := make([]int, len(codes))
			for place, code := range codes {
				ranked[m.ranks[place]] = code
			}
			at := m.domain.place(t.of, ranked)
			logs[i] += t.theta[at]
			if t.never != nil && t.never[at] {
				logs[i] = math.Inf(-1)
			}
		}
	}
	most, s := slices.Max(logs), 0.0
	for i, l := range logs {
		logs[i] = math.Exp(l - most)
		s += logs[i]
	}
	for i := range logs {
		logs[i] *= 1000 / s
	}
	return m, d, logs
}

func subset(r *rand.Rand, n, k int) Clique {
	c := Clique(r.Perm(n)[:min(k, n)])
	slices.Sort(c)
	return c
}

// codes are the categories of a cell of the whole domain.
func (d Domain) codes(cell int) []int {
	codes := make([]int, len(d))
	for a := len(d) - 1; a >= 0; a-- {
		codes[a], cell = cell%d[a], cell/d[a]
	}
	return codes
}

// place is the cell of a clique's table that has these codes.
func (d Domain) place(c Clique, codes []int) int {
	at := 0
	for _, a := range c {
		at = at*d[a] + codes[a]
	}
	return at
}

// marginalOf sums a table of the whole domain.
func marginalOf(d Domain, all []float64, c Clique) []float64 {
	out := make([]float64, int(d.Cells(c)))
	for i, x := range all {
		out[d.place(c, d.codes(i))] += x
	}
	return out
}

func far(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// TestMarginalsAreThoseOfEnumeration compares marginals of up to four attributes of random models, together and one by
// one, with the sums of all cells.
func TestMarginalsAreThoseOfEnumeration(t *testing.T) {
	for _, c := range []struct {
		spread float64
		never  bool
	}{{1, false}, {10, false}, {1, true}, {2000, false}, {900, true}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(c.spread)))
			for run := range 150 {
				m, d, all := randomModel(r, c.spread, c.never)
				var cliques []Clique
				for range 20 {
					cliques = append(cliques, subset(r, len(d), 1+r.IntN(4)))
				}
				got := make([][]float64, len(cliques))
				m.Marginals(cliques, func(i int, counts []float64) { got[i] = counts })
				for i, clique := range cliques {
					want := marginalOf(d, all, clique)
					if e := far(got[i], want); !(e < 1e-9*1000) {
						t.Fatalf("run %d: of %v, %v is off by %g\n%v\n%v", run, d, clique, e, got[i], want)
					}
					if !slices.Equal(got[i], m.Marginal(clique)) {
						t.Fatalf("run %d: %v alone is not what it is among others", run, clique)
					}
				}
			}
		})
	}
}
