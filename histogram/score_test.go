package histogram

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// clampedBig is x, but no less than low and no more than high.
func clampedBig(x, low, high *big.Int) *big.Int {
	if x.Cmp(low) < 0 {
		return low
	}
	if x.Cmp(high) > 0 {
		return high
	}
	return x
}

func power(n uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), n) }

// bigScore is a score computed from its definition.
func bigScore(counts, model []int64, penalty, weight int64) *big.Int {
	sum := new(big.Int)
	for i, c := range counts {
		term := new(big.Int).Mul(big.NewInt(c), big.NewInt(1024))
		sum.Add(sum, term.Abs(term.Sub(term, big.NewInt(model[i]))))
	}
	sum = new(big.Int).Sub(clampedBig(sum, new(big.Int), power(62)), big.NewInt(penalty))
	return clampedBig(sum.Mul(sum, big.NewInt(weight)), new(big.Int).Neg(power(61)), power(61))
}

func TestScoresAreExact(t *testing.T) {
	edges := []int64{0, 1, 2, 1 << 40, 1<<50 - 1, 1 << 50, 1<<51 - 1, 1 << 51, 1<<52 - 1, 1 << 52, 1<<52 + 1<<40,
		1 << 53,
		1<<53 + 1, 1 << 54, 1 << 62, 1<<63 - 1}
	for _, a := range edges {
		for _, b := range edges {
			for _, m := range []int64{0, 1, 512, 1024, 1 << 49, 1 << 50} {
				for _, penalty := range []int64{0, 1, 1 << 59, 1 << 60} {
					for _, weight := range []int64{1, 2, 3, 1 << 20, 1<<63 - 1} {
						counts, model := []int64{a, b}, []int64{m, 1<<50 - m}
						got, want := scoreOf(modelDistance(counts, model), penalty, weight),
							bigScore(counts, model, penalty, weight)
						if want.Cmp(big.NewInt(got)) != 0 {
							t.Fatalf("%d times the distance of %v from %v less %d is %d, want %d", weight, counts,
								model, penalty, got, want)
						}
					}
				}
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 8).Draw(rt, "cells")
		counts := rapid.SliceOfN(rapid.Int64Range(0, 1<<51), n, n).Draw(rt, "counts")
		model := rapid.SliceOfN(rapid.Int64Range(0, 1<<50), n, n).Draw(rt, "model")
		penalty, weight := rapid.Int64Range(0, 1<<60).Draw(rt, "penalty"), rapid.Int64Range(1, 1<<40).Draw(rt, "weight")
		got, want := scoreOf(modelDistance(counts, model), penalty, weight), bigScore(counts, model, penalty, weight)
		if want.Cmp(big.NewInt(got)) != 0 {
			rt.Errorf("%d times the distance of %v from %v less %d is %d, want %d", weight, counts, model, penalty,
				got, want)
		}
	})
}

// vectors are all vectors of so many cells with entries from 0 and a sum of at
// most most.
func vectors(cells int, most int64) [][]int64 {
	if cells == 0 {
		return [][]int64{nil}
	}
	var all [][]int64
	for first := range most + 1 {
		for _, rest := range vectors(cells-1, most-first) {
			all = append(all, append([]int64{first}, rest...))
		}
	}
	return all
}

// TestScoresMoveByTheirSensitivity goes through all neighbours of all small
// tables: the rows of all others, and those of a unit that is there, is not, or is
// replaced. No score moves further than its sensitivity, and some move as far: so
// one that leaves out the weight, k, or that units are replaced, is too small.
func TestScoresMoveByTheirSensitivity(t *testing.T) {
	models := [][]int64{{0, 0, 0, 0}, {1024, 1024, 1024, 1024}, {700, 0, 2500, 511}, {1 << 50, 0, 1 << 50, 3},
		{1, 1 << 20, 2048, 4096}}
	for _, weight := range []int64{1, 3} {
		for _, k := range []int64{1, 2, 3} {
			units := vectors(4, k)
			for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
				furthest := int64(0)
				for _, others := range vectors(4, 2) {
					for i, model := range models {
						penalty := int64(i) * 777           // far above and below what the distances are
						scores := make([]int64, len(units)) // of the table with each unit; units[0] has no rows
						for i, unit := range units {
							scores[i] = scoreOf(modelDistance(added(others, unit), model), penalty, weight)
						}
						if n == spec.AddRemove {
							for _, s := range scores {
								furthest = max(furthest, s-scores[0], scores[0]-s)
							}
						} else {
							furthest = max(furthest, slices.Max(scores)-slices.Min(scores))
						}
					}
				}
				if got := scoreSensitivity(n, k, weight); got != furthest {
					t.Errorf("%s, %d rows, weight %d: the sensitivity is %d, and a score moves by %d", n, k, weight,
						got, furthest)
				}
			}
		}
	}
}

// added is the sum of two vectors.
func added(a, b []int64) []int64 {
	sum := slices.Clone(a)
	for i := range sum {
		sum[i] += b[i]
	}
	return sum
}

// Sensitivities that scores cannot reach are those that they can.
func TestSensitivityIsThatOfTheRelease(t *testing.T) {
	for neighbours, factor := range map[string]int64{"add-remove": 1, "replace": 2} {
		for method, weights := range map[string][]int64{"method: mst": {1, 1, 1}, aim: {1, 1, 1, 2, 2, 2, 3}} {
			for unit, want := range map[string]int64{"row": 1024, "{id: id, max_rows: 3}": 3 * 1024} {
				if unit == "row" && method == aim {
					continue
				}
				p := personsOf(t, "UNIT", unit, "add-remove", neighbours, "METHOD", method)
				e := exactOf(t, p, folder(t, "a.csv", "id,a,b,c\n1,x,y,z\n"), 1)
				o := oracles(t, e)(1).inner
				for c, weight := range weights {
					if got := o.sensitivity([]int{c}); got != factor*want*weight || o.weights[c] != weight {
						t.Errorf("%s, unit %s, %s: the sensitivity of candidate %d is %d, want %d", neighbours, unit,
							method, c, got,
							factor*want*weight)
					}
				}
				if got := o.sensitivity([]int{0, len(weights) - 1, 1}); got != factor*want*slices.Max(weights) {
					t.Errorf("%s, unit %s, %s: the sensitivity of three candidates is %d", neighbours, unit, method,
						got)
				}
			}
		}
	}
	for _, c := range []struct {
		n                  spec.Neighbours
		rows, weight, want int64
	}{
		{spec.AddRemove, 1 << 52, 1, 1 << 62}, {spec.AddRemove, 1<<52 - 1, 1, 1<<62 - 1024},
		{spec.AddRemove, 1<<52 + 1, 1, 1 << 62}, {spec.AddRemove, 1<<63 - 1, 1, 1 << 62},
		{spec.Replace, 1 << 51, 1, 1 << 62}, {spec.Replace, 1<<51 - 1, 1, 1<<62 - 2048},
		{spec.Replace, 1<<51 + 1, 1, 1 << 62}, {spec.Replace, 1<<63 - 1, 1, 1 << 62},
		{spec.AddRemove, 1 << 50, 3, 3 << 60}, {spec.AddRemove, 1 << 50, 5, 1 << 62},
		{spec.Replace, 1, 1 << 51, 1 << 62},
		{spec.Replace, 3, 1<<63 - 1, 1 << 62},
	} {
		if got := scoreSensitivity(c.n, c.rows, c.weight); got != c.want {
			t.Errorf("%s, %d rows, weight %d: %d, want %d", c.n, c.rows, c.weight, got, c.want)
		}
	}
}

// marginalsOf are the counts of all sets of up to three columns of two categories each, from
// those of all three together.
func marginalsOf(joint []int64) (all [][]int64) {
	for _, columns := range [][]int{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}} {
		counts := make([]int64, 1<<len(columns))
		for cell, n := range joint {
			place := 0
			for _, c := range columns {
				place = 2*place + cell>>(2-c)&1
			}
			counts[place] += n
		}
		all = append(all, counts)
	}
	return all
}

// TestChancesOfChoicesByEnumeration goes through all neighbours of all small tables of three columns, for rounds of AIM
// with weights and penalties, and works out the chance of every candidate from the scores and the sensitivity by which
// the oracle draws (that the draws have this law is internal/noise's to show, by enumeration as well). Between
// neighbours the logarithms of chances change by amounts in an interval of length ε, and the Rényi divergences are
// within those of ε²/8. With a sensitivity that leaves out the weight, the rows of a unit, or that units are replaced,
// they are not.
func TestChancesOfChoicesByEnumeration(t *testing.T) {
	const k = 2
	units := vectors(8, k)
	var totals [][]int64 // of others
	for cell := range 8 {
		others := make([]int64, 8)
		others[cell], others[cell*3%8] = 1, others[cell*3%8]+2
		totals = append(totals, others)
	}
	full := int64(1024 * k)
	for _, n := range []spec.Neighbours{spec.AddRemove, spec.Replace} {
		p := personsOf(t, "UNIT", fmt.Sprintf("{id: id, max_rows: %d}", k), "add-remove", string(n), "METHOD", aim,
			"[x, y, z]", "[x, y]")
		o, err := newOracle(&opened{exact: &exact{plan: compiled.Of(p), candidates: [][][]int64{make([][]int64, 7)}},
			streams: noise.NewStreams(keyOf(1), "plan")}, 0)
		if err != nil {
			t.Fatal(err)
		}
		epsilon, _ := p.Synthetic[0].Select.Parameter.Float64()
		candidates, penalties := []int{setABC, onlyB, setBC, setAC}, []int64{300, 0, 1 << 12, 555}
		chances := func(joint []int64, models [][]int64, divided int64) []float64 {
			o.counts = marginalsOf(joint)
			scores, _, err := o.scoreCandidates(context.Background(), candidates, models, penalties)
			if err != nil {
				t.Fatal(err)
			}
			best, sum, out := slices.Max(scores), 0.0, make([]float64, len(scores))
			for i, s := range scores {
				out[i] = math.Exp(-epsilon * float64(best-s) / float64(2*o.sensitivity(candidates)/divided))
				sum += out[i]
			}
			for i := range out {
				out[i] /= sum
			}
			return out
		}
		for what, divided := range map[string]int64{"as it is": 1, "the weight left out": 3,
			"the rows of a unit left out": k,
			"half of it":                  2} {
			longest, most := 0.0, 0.0 // of the interval, in ε, and of the divergences, in αε²/8
			for _, others := range totals {
				models := make([][]int64, len(candidates))
				for i, c := range candidates {
					for _, count := range marginalsOf(others)[c] {
						models[i] = append(models[i], 1024*count)
					}
					// what is in the first cell of all brings some nearer, and others further away
					models[i][i%2*(len(models[i])-1)] += full
				}
				var all [][]float64
				for _, unit := range units { // the first has no rows
					all = append(all, chances(added(others, unit), models, divided))
				}
				for i, one := range all {
					for j, other := range all[:i] {
						if n == spec.AddRemove && j > 0 {
							break
						}
						low, high := math.Inf(1), math.Inf(-1)
						for c := range one {
							l := math.Log(one[c] / other[c])
							low, high = min(low, l), max(high, l)
						}
						longest = max(longest, (high-low)/epsilon)
						for _, alpha := range []float64{1.5, 2, 8} {
							most = max(most, renyi(alpha, one, other)/(alpha*epsilon*epsilon/8),
								renyi(alpha, other, one)/(alpha*epsilon*epsilon/8))
						}
					}
				}
			}
			t.Logf("%s, %s: an interval of %.4f ε, divergences of %.4f αε²/8", n, what, longest, most)
			if ok := longest <= 1+1e-9 && most <= 1+1e-9; ok != (divided == 1) {
				t.Errorf("%s, %s: an interval of %g ε, divergences of %g αε²/8", n, what, longest, most)
			}
			if divided == 1 && longest < 0.8 { // the weights are 3, 2 and 2: (3+2)/(2·3) at the most
				t.Errorf("%s: the enumeration comes no nearer to ε than %g", n, longest)
			}
		}
	}
}

// renyi is the Rényi divergence of order α of one law from another.
func renyi(alpha float64, p, q []float64) float64 {
	sum := 0.0
	for i := range p {
		sum += math.Pow(p[i], alpha) * math.Pow(q[i], 1-alpha)
	}
	return math.Log(sum) / (alpha - 1)
}

// Nothing between exact counts and a choice is a floating-point number, and scores that floats
// would confuse are told apart.
func TestScoresTellApartWhatFloatsDoNot(t *testing.T) {
	counts, model := []int64{1 << 44, 1}, []int64{0, 0} // a distance of 2⁵⁴ + 1024
	low, high := scoreOf(modelDistance(counts, model), 0, 1), scoreOf(modelDistance(counts, []int64{0, 1}), 0, 1)
	if float64(low) != float64(high) || low-high != 1 {
		t.Errorf("scores of %d and %d: wanted two that a float holds for one", low, high)
	}
	var _ int64 = adaptive.ModelScale // not 2⁻¹⁰ of a float
}
