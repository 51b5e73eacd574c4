package synth

import (
	"math"

	"github.com/dprelease/dprelease/budget"
)

// This file holds margins of weighted sums of several noises, for weights that differ from cell to cell.

// tails gives margins of Σ w_k·X_k for independent noises X_k and any weights. In standard deviations margins hardly
// differ: at 0.95 between 1.96, for normal noise, and 2.12, for Laplace noise. The margins are those of a sum of two
// Laplace draws and, if these have equal scale, a normal one, all spread over very many integers, that has the same
// variance and fourth moment. Among sums with such moments these have about the widest margins: if noise spreads over
// at least ten integers, their margin at 0.95 is between 0.3 % below the law's own and 1.5 % above. If it does not, and
// one noise gives the sum most of its steps, half of such a step is added, less the deviation of the other noise that
// blurs it.
type tails struct {
	noises    []Noise
	variances []float64
	fourths   []float64 // fourth cumulants
	steps     []float64 // largest distance between neighbouring values of the noise
	multiples [tailNodes + 1]float64
}

const (
	// tailNodes is the number of parts into which the excess kurtosis from 0 to that of Laplace noise is divided.
	tailNodes       = 16
	laplaceKurtosis = 3
	// fineParameter is the parameter of noise that spreads over very many integers.
	fineParameter = 0x1p30
)

func newTails(noises []Noise, confidence float64) *tails {
	t := &tails{noises: noises, variances: make([]float64, len(noises)), fourths: make([]float64, len(noises)),
		steps: make([]float64, len(noises))}
	for i, n := range noises {
		for _, one := range n {
			square := one.Weight * one.Weight
			single := Noise{{Weight: 1, Count: 1, Kind: one.Kind, Parameter: one.Parameter}}.Variance()
			t.variances[i] += float64(square * one.Count * single)
			t.fourths[i] += float64(square * square * one.Count * single * one.Kind.ExcessOver(single))
			t.steps[i] = math.Max(t.steps[i], math.Abs(one.Weight))
		}
	}
	for i := range t.multiples {
		t.multiples[i] = fineNoise(float64(laplaceKurtosis*float64(i)) / tailNodes).Margin(confidence)
	}
	return t
}

// fineNoise returns noise with variance 1 and an excess kurtosis of 3·Σp² for shares p of Laplace draws in the
// variance.
func fineNoise(kurtosis float64) Noise {
	first := math.Sqrt(kurtosis / (2 * laplaceKurtosis))
	second := first
	if kurtosis > laplaceKurtosis/2. {
		first = float64((1 + math.Sqrt(float64(2*kurtosis/laplaceKurtosis)-1)) / 2)
		second = 1 - first
	}
	laplace := Noise{{Weight: 1, Count: 1, Kind: budget.DiscreteLaplace, Parameter: fineParameter}}
	normal := Noise{{Weight: 1, Count: 1, Kind: budget.DiscreteGaussian, Parameter: fineParameter * fineParameter}}
	out := append(laplace.scaledBy(math.Sqrt(first/2)/fineParameter),
		laplace.scaledBy(math.Sqrt(second/2)/fineParameter)...)
	return append(out, normal.scaledBy(math.Sqrt(math.Max(0, 1-first-second))/fineParameter)...)
}

// variance returns the variance of the sum with these weights.
func (t *tails) variance(weights []float64) float64 {
	var sum float64
	for i, w := range weights {
		sum += float64(w * w * t.variances[i])
	}
	return sum
}

// margin returns the margin of the sum with these weights.
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
