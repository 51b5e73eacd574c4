package synth

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file holds margins of weighted sums of several noises, for weights that are of each cell its own.

// tails are margins of Σ w_k·X_k for independent noises X_k and any weights. In standard deviations they hardly differ:
// between 1.96, of normal noise, and 2.12, of Laplace noise, at 0.95. They are those of a sum of two Laplace draws and,
// where these are alike, a normal one, all spread over very many integers, that has the same variance and fourth
// moment. Of sums with such moments these have about the widest: where noise spreads over ten integers and more, their
// margin at 0.95 is between 0.3 % below the law's own and 1.5 % above. Where it does not, and one noise gives the sum
// most of its steps, half of such a step is added, less the deviation of the other noise that blurs it.
type tails struct {
	noises    []Noise
	variances []float64
	fourths   []float64 // fourth cumulants
	steps     []float64 // how far apart what the noise may be is, at most
	multiples [tailNodes + 1]float64
}

const (
	// tailNodes are how many parts the excess kurtosis from 0 to that of Laplace noise is divided into.
	tailNodes       = 16
	laplaceKurtosis = 3
	// finely is the parameter of noise that spreads over very many integers.
	finely = 0x1p30
)

func newTails(noises []Noise, confidence float64) *tails {
	t := &tails{noises: noises, variances: make([]float64, len(noises)), fourths: make([]float64, len(noises)),
		steps: make([]float64, len(noises))}
	for i, n := range noises {
		for _, one := range n {
			square := one.Weight * one.Weight
			single := Noise{{Weight: 1, Count: 1, Kind: one.Kind, Parameter: one.Parameter}}.Variance()
			t.variances[i] += float64(square * float64(one.Count) * single)
			t.fourths[i] += float64(square * square * float64(one.Count) * single * one.Kind.ExcessOver(single))
			t.steps[i] = math.Max(t.steps[i], math.Abs(one.Weight))
		}
	}
	for i := range t.multiples {
		t.multiples[i] = fineNoise(float64(laplaceKurtosis*float64(i)) / tailNodes).Margin(confidence)
	}
	return t
}

// fineNoise has variance 1 and an excess kurtosis of 3·Σp² for shares p of Laplace draws in the variance.
func fineNoise(kurtosis float64) Noise {
	first := math.Sqrt(kurtosis / (2 * laplaceKurtosis))
	second := first
	if kurtosis > laplaceKurtosis/2. {
		first = float64((1 + math.Sqrt(float64(2*kurtosis/laplaceKurtosis)-1)) / 2)
		second = 1 - first
	}
	laplace := Noise{{Weight: 1, Count: 1, Kind: budget.DiscreteLaplace, Parameter: finely}}
	normal := Noise{{Weight: 1, Count: 1, Kind: budget.DiscreteGaussian, Parameter: finely * finely}}
	out := append(laplace.times(math.Sqrt(first/2)/finely), laplace.times(math.Sqrt(second/2)/finely)...)
	return append(out, normal.times(math.Sqrt(math.Max(0, 1-first-second))/finely)...)
}

// variance is that of the sum with these weights.
func (t *tails) variance(weights []float64) float64 {
	var sum float64
	for i, w := range weights {
		sum += float64(w * w * t.variances[i])
	}
	return sum
}

// margin is one of the sum with these weights.
func (t *tails) margin(weights []float64) float64 {
	variance := t.variance(weights)
	if variance == 0 {
		return 0
	}
	var fourth, coarse float64
	for i, w := range weights {
		square := float64(w * w)
		fourth += float64(square * square * t.fourths[i])
		others := math.Sqrt(math.Max(0, variance-float64(square*t.variances[i])))
		coarse = math.Max(coarse, float64(math.Abs(w*t.steps[i])/2)-others)
	}
	at := math.Min(tailNodes, float64(fourth/float64(variance*variance)*tailNodes)/laplaceKurtosis)
	i := min(int(at), tailNodes-1)
	multiple := t.multiples[i] + float64((at-float64(i))*(t.multiples[i+1]-t.multiples[i]))
	return float64(multiple*math.Sqrt(variance)) + coarse
}
