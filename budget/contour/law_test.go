package contour

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"testing"
)

// A noise is a law on the integers, as the logarithm of its weights, and a shift.
type noise struct {
	weight func(x float64) float64
	s      int
}

// moment returns E_P[e^(zL)] from its definition, where L is log(P(x)/P(x−s)).
func (n noise) moment(z complex128) complex128 {
	var total complex128
	var all float64
	for x := -2000.0; x <= 2000; x++ {
		all += math.Exp(n.weight(x))
		loss := n.weight(x) - n.weight(x-float64(n.s))
		total += cmplx.Exp(complex(n.weight(x), 0) + z*complex(loss, 0))
	}
	return total / complex(all, 0)
}

// TestMomentsMatchTheirDefinition compares at points throughout the period, on both sides of the σ at which the sum
// over frequencies takes over.
func TestMomentsMatchTheirDefinition(t *testing.T) {
	var laws []law
	var noises []noise
	for _, sigma2 := range []float64{0.08, 0.15, 0.16, 0.5, 2, 30} {
		for _, s := range []int{1, 2, 5} {
			laws = append(laws, newGaussian(new(big.Rat).SetFloat64(sigma2), int64(s)))
			noises = append(noises, noise{func(x float64) float64 { return -x * x / (2 * sigma2) }, s})
		}
	}
	for _, rate := range []float64{3, 1, 0.25, 0.03125} {
		for _, s := range []int{1, 2, 3, 8} {
			laws = append(laws, newLaplace(new(big.Rat).SetFloat64(rate), int64(s)))
			noises = append(noises, noise{func(x float64) float64 { return -math.Abs(x) * rate }, s})
		}
	}
	for i, law := range laws {
		o, h := toFloat(law.anchorLoss()), toFloat(law.latticeSpacing())
		for _, c := range []float64{0, 0.3, 1.7} {
			axis := real(law.logMGF(c, 0))
			for _, turn := range []float64{-1, -0.6, -0.1, 0, 0.03, 0.5, 0.97, 1} {
				z := complex(c, turn*math.Pi/h)
				got := law.logMGF(c, imag(z)) + z*complex(o, 0) - complex(axis+c*o, 0)
				want, size := noises[i].moment(z), real(noises[i].moment(complex(c, 0)))
				if got, want := axis+c*o, math.Log(size); math.Abs(got-want) > 1e-12*max(1, want) {
					t.Errorf("law %d: log M(%g) = %g, want %g", i, c, got, want)
				}
				// Relative to the value on the axis, for a return of either sign.
				want /= complex(size, 0)
				if cmplx.Abs(cmplx.Exp(got)-want) > 1e-11 {
					t.Errorf("law %d at %v: %v, want %v", i, z, cmplx.Exp(got), want)
				}
				if d := law.damping(c, imag(z), axis); d < real(want*cmplx.Conj(want))-1e-11 {
					t.Errorf("law %d at %v: damping² %g is below %g", i, z, d, cmplx.Abs(want))
				}
			}
		}
	}
}

// TestBoundedRangeMoments compares with the integral over the density.
func TestBoundedRangeMoments(t *testing.T) {
	for _, e := range []float64{1e-6, 0.1, 1, 7} {
		law := newExponential(new(big.Rat).SetFloat64(e))
		if got := real(law.logMGF(0, 0)); math.Abs(got) > 1e-13 {
			t.Errorf("range %g: log M(0) = %g, want 0", e, got)
		}
		// E[e^(cL)] by Simpson's rule over the density e^(x/2)/(4·sinh(e/2)).
		const c, n = 1.3, 4000
		var want float64
		for i := range n + 1 {
			x := e * (2*float64(i)/n - 1)
			weight := []float64{2, 4}[i%2]
			if i == 0 || i == n {
				weight = 1
			}
			want += weight * math.Exp((c+0.5)*x) / (4 * math.Sinh(e/2)) * (2 * e / n) / 3
		}
		if got := math.Exp(real(law.logMGF(c, 0)) + c*e); !near(got, want, 1e-11) {
			t.Errorf("range %g: M(%g) = %g, want %g", e, c, got, want)
		}
	}
}

// TestEnvelopeFalls checks what allows the leader to skip points: beyond a point at which the envelope vanishes it
// stays negligible.
func TestEnvelopeFalls(t *testing.T) {
	for _, sigma2 := range []float64{0.2, 1, 9, 400} {
		g := newGaussian(new(big.Rat).SetFloat64(sigma2), 3)
		half, last := math.Pi/toFloat(g.latticeSpacing()), math.Inf(1)
		for i := range 101 {
			e := g.logEnvelope(0.37, half*float64(i)/100)
			if e > last+1e-12 {
				t.Errorf("σ² %g: the envelope rises at %d%%", sigma2, i)
			}
			last = e
		}
	}
}

// TestWeightsAreTheLawOfTheLoss rebuilds E_P[e^(cL)] from the listed losses.
func TestWeightsAreTheLawOfTheLoss(t *testing.T) {
	for _, l := range []law{
		newGaussian(big.NewRat(3, 10), 1), newGaussian(big.NewRat(20, 1), 4),
		newLaplace(big.NewRat(1, 3), 1), newLaplace(big.NewRat(1, 3), 6),
	} {
		t.Run(fmt.Sprintf("%T", l), func(t *testing.T) {
			first, p := l.weights(60)
			for _, c := range []float64{0, 0.5, 2} {
				var got float64
				for i, w := range p {
					got += w * math.Exp(-c*toFloat(l.latticeSpacing())*float64(first+int64(i)))
				}
				if want := math.Exp(real(l.logMGF(c, 0))); !near(got, want, 1e-12) {
					t.Errorf("c = %g: %g, want %g", c, got, want)
				}
			}
		})
	}
}

func TestOneMinusExp(t *testing.T) {
	for _, w := range []complex128{1e-9 + 1e-9i, 1e-3 - 2i, 0.5 + 3i, 40 + 1i, 1e-300} {
		series := w - w*w/2 + w*w*w/6
		want := 1 - cmplx.Exp(-w)
		if cmplx.Abs(w) < 1e-4 {
			want = series
		}
		if got := oneMinusExp(w); cmplx.Abs(got-want) > 1e-14*cmplx.Abs(want) {
			t.Errorf("1 − e^−(%v) = %v, want %v", w, got, want)
		}
	}
}
