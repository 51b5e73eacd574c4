package budget

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// unitRoundoff is 2⁻⁵³.
const unitRoundoff = 0x1p-53

// product computes a circular convolution of distributions as the product of their Fourier transforms.
type product struct {
	cells        []float64 // the next distribution
	transform    *fourier.FFT
	coefficients []complex128 // of the next distribution
	values       []complex128 // of the product
	largest      []float64    // bounds on the size of the exact and of the computed values
	roundoff     float64      // of one transform, relative to the sum of its input
}

func newProduct(points int) *product {
	p := &product{
		cells:        make([]float64, points),
		transform:    transformOf(points),
		coefficients: make([]complex128, points/2+1),
		values:       make([]complex128, points/2+1),
		largest:      make([]float64, points/2+1),
		roundoff:     16 * unitRoundoff * float64(bits.Len(uint(points))),
	}
	for i := range p.values {
		p.values[i], p.largest[i] = 1, 1
	}
	return p
}

// transforms holds unused transforms, by the logarithm of their number of points: computing their tables of sines takes
// half as long as a transform.
var transforms [64]sync.Pool

// transformOf returns the transform of this number of points, a power of two.
func transformOf(points int) *fourier.FFT {
	if t, ok := transforms[bits.Len(uint(points))].Get().(*fourier.FFT); ok {
		return t
	}
	return fourier.NewFFT(points)
}

// releaseTransform makes the transform available to the next product.
func (p *product) releaseTransform() { transforms[bits.Len(uint(len(p.cells)))].Put(p.transform) }

// multiplyPower convolves the product count times with the distribution in cells, whose sum is 1. The error of a
// coefficient c of its transform is at most e = roundoff, and so the error of its power is at most (|c|+e)ᵏ − |c|ᵏ.
func (p *product) multiplyPower(count int64) {
	p.transform.Coefficients(p.coefficients, p.cells)
	for i, c := range p.coefficients {
		p.values[i] = multiplyComplex(p.values[i], complexPower(c, count))
		p.largest[i] *= realPower(complexSize(c)+p.roundoff, count)
	}
}

// invert returns the convolution, with negative values set to 0, and a bound on the root of the sum of the squares of
// its errors (Parseval: 1/n of that of the transform's).
func (p *product) invert() (mass []float64, noise float64) {
	n := float64(len(p.cells))
	var energy, wrong float64
	for i, c := range p.values {
		error := p.largest[i] - complexSize(c)
		energy += float64(2 * complexSize(c) * complexSize(c))
		wrong += float64(2 * error * error)
	}
	mass = p.transform.Sequence(nil, p.values)
	for i, m := range mass {
		mass[i] = max(0, m/n)
	}
	return mass, (math.Sqrt(wrong) + float64(p.roundoff*math.Sqrt(energy))) / math.Sqrt(n)
}

// complexSize returns |c|.
func complexSize(c complex128) float64 {
	return math.Sqrt(float64(real(c)*real(c)) + float64(imag(c)*imag(c)))
}

// multiplyComplex returns a·b, rounded identically on every machine.
func multiplyComplex(a, b complex128) complex128 {
	return complex(
		float64(real(a)*real(b))-float64(imag(a)*imag(b)),
		float64(real(a)*imag(b))+float64(imag(a)*real(b)))
}

// complexPower returns cᵏ for k ≥ 0.
func complexPower(c complex128, k int64) complex128 {
	if k == 0 {
		return 1
	}
	for ; k&1 == 0; k >>= 1 {
		c = multiplyComplex(c, c)
	}
	result := c
	for k >>= 1; k > 0; k >>= 1 {
		c = multiplyComplex(c, c)
		if k&1 == 1 {
			result = multiplyComplex(result, c)
		}
	}
	return result
}

// realPower returns xᵏ for k ≥ 0, rounded as complexPower rounds.
func realPower(x float64, k int64) float64 {
	if k == 0 {
		return 1
	}
	for ; k&1 == 0; k >>= 1 {
		x *= x
	}
	result := x
	for k >>= 1; k > 0; k >>= 1 {
		x *= x
		if k&1 == 1 {
			result *= x
		}
	}
	return result
}

// modulo returns the remainder of i in [0, n).
func modulo(i int64, n int) int { return int((i%int64(n) + int64(n)) % int64(n)) }

// rotateToFront moves mass[first] to the front.
func rotateToFront(mass []float64, first int) {
	slices.Reverse(mass[:first])
	slices.Reverse(mass[first:])
	slices.Reverse(mass)
}
