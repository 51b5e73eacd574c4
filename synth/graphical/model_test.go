package graphical

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomModel returns a model of a small random domain with factors over random cliques, whose logarithms are in
// ±spread, and the law p(x) ∝ Π φ(x) of all its cells by enumeration, times the total. At most given attributes are
// given.
func randomModel(r *rand.Rand, spread float64, never bool, given int) (m *Model, d Domain, all []float64) {
	for range 3 + r.IntN(4) {
		d = append(d, 1+r.IntN(4))
	}
	var known Clique
	if given > 0 {
		known = randomClique(r, len(d), r.IntN(min(given, len(d)-1)+1))
	}
	m = New(d, known, 1000)
	every := make(Clique, len(d))
	for a := range every {
		every[a] = a
	}
	logs := make([]float64, int(d.Cells(every)))
	for range 2 + r.IntN(5) {
		c := randomClique(r, len(d), 1+r.IntN(3))
		t := m.termOf(m.rankClique(c))
		for i := range t.theta {
			t.theta[i] += spread * (2*r.Float64() - 1)
		}
		if never && r.IntN(2) == 0 {
			cells := make([]bool, len(t.theta))
			for i := range cells[1:] {
				cells[i+1] = r.IntN(4) == 0
			}
			m.DeclareImpossible(c, cells)
		}
	}
	for i := range logs {
		for _, t := range m.terms {
			codes := d.codesOf(i)
			ranked := make([]int, len(codes))
			for place, code := range codes {
				ranked[m.ranks[place]] = code
			}
			at := m.domain.cellOf(t.of, ranked)
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

func randomClique(r *rand.Rand, n, k int) Clique {
	c := Clique(r.Perm(n)[:min(k, n)])
	slices.Sort(c)
	return c
}

// codesOf returns the categories of a cell of the whole domain.
func (d Domain) codesOf(cell int) []int {
	codes := make([]int, len(d))
	for a := len(d) - 1; a >= 0; a-- {
		codes[a], cell = cell%d[a], cell/d[a]
	}
	return codes
}

// cellOf returns the cell of a clique's table for the codes of all attributes.
func (d Domain) cellOf(c Clique, codes []int) int {
	at := 0
	for _, a := range c {
		at = at*d[a] + codes[a]
	}
	return at
}

// marginalOf sums a table of the whole domain over the attributes that a clique does not have.
func marginalOf(d Domain, all []float64, c Clique) []float64 {
	out := make([]float64, int(d.Cells(c)))
	for i, x := range all {
		out[d.cellOf(c, d.codesOf(i))] += x
	}
	return out
}

func maxDifference(a, b []float64) float64 {
	most := 0.0
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// TestMarginalsAreThoseOfEnumeration compares marginals of up to four attributes of random models, asked for together
// and one by one, with sums over all cells.
func TestMarginalsAreThoseOfEnumeration(t *testing.T) {
	for _, c := range []struct {
		spread float64
		never  bool
	}{{1, false}, {10, false}, {1, true}, {2000, false}, {900, true}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(c.spread)))
			for run := range 150 {
				m, d, all := randomModel(r, c.spread, c.never, 0)
				var cliques []Clique
				for range 20 {
					cliques = append(cliques, randomClique(r, len(d), 1+r.IntN(4)))
				}
				got := make([][]float64, len(cliques))
				m.Marginals(t.Context(), cliques, func(i int, counts []float64) { got[i] = counts })
				for i, clique := range cliques {
					want := marginalOf(d, all, clique)
					if e := maxDifference(got[i], want); !(e < 1e-9*1000) {
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

// lawGiven returns the law of all cells that results from a law of the given attributes and the steps of a model: each
// attribute is drawn by the model's law given the attributes of its step.
func lawGiven(m *Model, d Domain, steps []Step, given []float64) []float64 {
	out := make([]float64, int(d.Cells(m.allAttributes())))
	for cell := range out {
		out[cell] = given[d.cellOf(m.given, d.codesOf(cell))]
	}
	for _, s := range steps {
		whole := s.Given.union(Clique{s.Attribute})
		joint, sums := m.Marginal(whole), make([]float64, int(d.Cells(s.Given)))
		for cell := range out {
			if d.codesOf(cell)[s.Attribute] == 0 && sums[d.cellOf(s.Given, d.codesOf(cell))] == 0 {
				codes := d.codesOf(cell)
				for codes[s.Attribute] = range d[s.Attribute] {
					sums[d.cellOf(s.Given, codes)] += joint[d.cellOf(whole, codes)]
				}
			}
		}
		for cell := range out {
			codes := d.codesOf(cell)
			out[cell] *= joint[d.cellOf(whole, codes)] / sums[d.cellOf(s.Given, codes)]
		}
	}
	return out
}

// allAttributes returns the clique of all attributes.
func (m *Model) allAttributes() Clique {
	all := make(Clique, len(m.domain))
	for a := range all {
		all[a] = a
	}
	return all
}

// TestStepsAreTheLawGivenWhatIsGiven draws by the steps of random models from another law of the given attributes than
// the model's, and compares with the sums of all cells: p(x) times the ratio of the two laws in the given attributes'
// cell. Each step's table is of one clique. Negative controls: steps of the same model without the elimination order
// that given attributes need, and steps that leave out given attributes, do not make that law.
func TestStepsAreTheLawGivenWhatIsGiven(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	wrong, blind := 0, 0
	for run := range 150 {
		m, d, all := randomModel(r, 2, false, 3)
		other, expected, want := make([]float64, int(d.Cells(m.given))), marginalOf(d, all, m.given),
			make([]float64, len(all))
		for i := range other {
			other[i] = 0.5 + r.Float64()
		}
		scale(other, 1000/sum(other))
		for cell, x := range all {
			at := d.cellOf(m.given, d.codesOf(cell))
			want[cell] = x * other[at] / expected[at]
		}
		steps := m.Steps()
		for _, s := range steps {
			if !m.isHosted(m.rankClique(s.Given.union(Clique{s.Attribute}))) {
				t.Fatalf("run %d: no clique holds %d and %v", run, s.Attribute, s.Given)
			}
		}
		if e := maxDifference(lawGiven(m, d, steps, other), want); len(steps) != len(d)-len(m.given) ||
			!(e < 1e-9*1000) {
			t.Fatalf("run %d: of %v given %v, %d steps make a law that is off by %g", run, d, m.given, len(steps), e)
		}
		mutant := New(d, nil, 1000)
		for _, term := range m.terms {
			copy(mutant.termOf(term.of).theta, term.theta)
		}
		mutant.given = m.given
		if maxDifference(lawGiven(mutant, d, mutant.Steps(), other), want) > 1 {
			wrong++
		}
		for i := range steps {
			steps[i].Given = steps[i].Given.without(m.given)
		}
		if maxDifference(lawGiven(m, d, steps, other), want) > 1 {
			blind++
		}
	}
	if wrong < 10 || blind < 50 {
		t.Errorf("of 150 models another order of elimination makes another law in %d, and one that "+
			"looks at nothing given in %d", wrong, blind)
	}
}
