package histogram

import (
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/noise"
)

// drawsOfLaw is how many draws of a law are looked at.
const drawsOfLaw = 400_000

// misfit returns the probability of a chi-square statistic as large as that of draws against the outcomes of a law. The
// law is truncated to integers above a threshold, and all for nil.
func misfit(draws []int64, law budget.Outcomes, above *int64) float64 {
	seen := map[int64]float64{}
	for _, x := range draws {
		seen[x]++
	}
	least := -int64(law.Size)
	if above != nil {
		least = *above + 1
	}
	weight := func(x int64) float64 { return law.Weight(math.Abs(float64(x))) }
	all := 0.0
	for x := least; x <= int64(law.Size); x++ {
		all += weight(x)
	}
	statistic, freedom, rest, restSeen := 0.0, -1.0, float64(len(draws)), float64(len(draws))
	for x := least; x <= int64(law.Size); x++ {
		want := float64(len(draws)) * weight(x) / all
		if want < 50 {
			continue
		}
		statistic += (seen[x] - want) * (seen[x] - want) / want
		freedom++
		rest -= want
		restSeen -= seen[x]
	}
	if rest >= 50 {
		statistic += (restSeen - rest) * (restSeen - rest) / rest
		freedom++
	} else if restSeen > rest+60 { // Poisson of a mean below 50 exceeds it by 60 with a probability below 1e-12
		return 0
	}
	return distuv.ChiSquared{K: freedom}.Survival(statistic)
}

// leastChance is the probability of draws below which a law is refused. Pearson's statistic has somewhat heavier tails
// than the chi-square law where cells are few: below 1e-11 for each comparison, by a bound of ten on their ratio.
const leastChance = 1e-12

// Every law of noise that a plan can have is drawn as the accountant has it: over all integers, above a threshold, and
// as often above it. The chance of a false alarm is below 1e-9 a run. Draws of 95% of the parameter are noticed with a
// chance of more than 1 - 1e-9: their statistics are beyond the bounds by more than seven of their standard deviations.
func TestEveryLawOfNoiseIsDrawnAsItIsPriced(t *testing.T) {
	streams := noise.NewStreams(noise.Key{1}, "laws")
	for _, kind := range budget.Laws() {
		for _, parameter := range []*big.Rat{big.NewRat(1, 2), big.NewRat(5, 2), big.NewRat(30, 1),
			big.NewRat(901, 4)} {
			law, err := noiseLawOf(budget.Mechanism{Kind: kind})
			if err != nil {
				t.Fatal(err)
			}
			value, _ := parameter.Float64()
			outcomes, narrower := kind.Outcomes(value), kind.Outcomes(0.95*value)
			draws := make([]int64, drawsOfLaw)
			if err := law.addTo(streams.Noise([]byte(kind), []byte(parameter.String()), 0), parameter,
				draws); err != nil {
				t.Fatal(err)
			}
			if p := misfit(draws, outcomes, nil); p < leastChance {
				t.Errorf("%s %s: draws as far from the law have a probability of %g", kind, parameter, p)
			}
			if p := misfit(draws, narrower, nil); p > leastChance {
				t.Errorf("%s %s: draws are taken for those of 95%% of the parameter (%g)", kind, parameter, p)
			}
			above := int64(math.Sqrt(kind.ContinuousVariance(value)))
			exceeding, err := law.exceeding(parameter, above)
			if err != nil {
				t.Fatal(err)
			}
			tail, cells := drawsAbove(t, exceeding, streams, string(kind)+parameter.String())
			if off := deviations(len(tail), cells, outcomes, above); math.Abs(off) > 7.5 {
				t.Errorf("%s %s: more or fewer than expected are above %d, by %g standard deviations", kind, parameter,
					above, off)
			}
			if off := deviations(len(tail), cells, narrower, above); math.Abs(off) < 15 {
				t.Errorf("%s %s: as many are above %d as with 95%% of the parameter (%g)", kind, parameter, above, off)
			}
			if p := misfit(tail, outcomes, &above); p < leastChance {
				t.Errorf("%s %s above %d: draws as far from the law have a probability of %g", kind, parameter, above,
					p)
			}
			if p := misfit(tail, narrower, &above); p > leastChance {
				t.Errorf("%s %s above %d: draws are taken for those of 95%% of the parameter (%g)", kind, parameter,
					above, p)
			}
		}
	}
}

// drawsAbove returns draws above a threshold, and of how many cells.
func drawsAbove(t *testing.T, e *noise.Exceeding, streams *noise.Streams, name string) (draws []int64, cells float64) {
	t.Helper()
	for stretch := 0; len(draws) < drawsOfLaw; stretch++ {
		bits := streams.Empty([]byte(name), nil, stretch)
		if err := e.Draw(bits, func(_ uint64, x int64) { draws = append(draws, x) }); err != nil {
			t.Fatal(err)
		}
		cells += float64(e.CellsPerStream())
	}
	return draws, cells
}

// deviations returns by how many standard deviations more cells are above a threshold than a law has there.
func deviations(found int, cells float64, law budget.Outcomes, above int64) float64 {
	all, beyond := 0.0, 0.0
	for x := -int64(law.Size); x <= int64(law.Size); x++ {
		w := law.Weight(math.Abs(float64(x)))
		if all += w; x > above {
			beyond += w
		}
	}
	q := beyond / all
	return (float64(found) - cells*q) / math.Sqrt(cells*q*(1-q))
}
