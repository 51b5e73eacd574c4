package main

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dprelease/dprelease/budget"
)

// This file holds the random streams of areas. Every sum of products is written so that no processor fuses it, and
// exponentials and logarithms come from package budget, so that the nation is the same on every processor.

// stream is the random numbers of one area. It depends only on the seed, what the numbers are for and the area's code.
type stream struct {
	*rand.Rand
	spare    float64 // the second of a pair of normal draws
	hasSpare bool
}

func newStream(seed uint64, purpose, code string) *stream {
	key := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%s", seed, purpose, code))
	return &stream{Rand: rand.New(rand.NewChaCha8(key))}
}

// normal draws from the standard normal distribution by Marsaglia's polar method. The method of package rand calls
// functions of package math whose last bits depend on the processor.
func (s *stream) normal() float64 {
	if s.hasSpare {
		s.hasSpare = false
		return s.spare
	}
	for {
		u, v := .5-float64(s.Float64()), .5-float64(s.Float64())
		square := float64(u*u) + float64(v*v)
		if square == 0 || square >= .25 {
			continue
		}
		factor := math.Sqrt(-2 * budget.Log(4*square) / square)
		s.spare, s.hasSpare = v*factor, true
		return u * factor
	}
}

// lognormal draws from a lognormal distribution with mean 1 and the given standard deviation of the logarithm.
func (s *stream) lognormal(deviation float64) float64 {
	return budget.Exp(float64(deviation*s.normal()) - float64(deviation*deviation/2))
}

// lognormals draws weights.
func (s *stream) lognormals(n int, deviation float64) []float64 {
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = s.lognormal(deviation)
	}
	return weights
}

// chance reports true with a probability.
func (s *stream) chance(probability float64) bool { return s.Float64() < probability }

// run draws a run of at least one of n items, and returns its half-open bounds.
func (s *stream) run(n int) (from, to int) {
	from = s.IntN(n)
	return from, from + 1 + s.IntN(n-from)
}

// split divides a total among parts. Each part gets its least amount, and a share of the rest that is proportional to
// its weight. Cumulative sums are rounded, so that the parts add up to the total.
func split(total int, least []int, weights []float64) []int {
	var sum float64
	for i, w := range weights {
		total -= least[i]
		sum += w
	}
	parts := make([]int, len(weights))
	var reached float64
	given := 0
	for i, w := range weights {
		reached += w
		upTo := total
		if i < len(weights)-1 {
			upTo = int(float64(float64(total)*(reached/sum)) + .5)
		}
		parts[i] = least[i] + upTo - given
		given = upTo
	}
	return parts
}

// scaled returns numbers multiplied by a factor.
func scaled(factor int, numbers []int) []int {
	out := make([]int, len(numbers))
	for i, n := range numbers {
		out[i] = factor * n
	}
	return out
}

// weighted returns the products of numbers and factors, as weights.
func weighted(numbers []int, factors []float64) []float64 {
	out := make([]float64, len(numbers))
	for i, n := range numbers {
		out[i] = float64(float64(n) * factors[i])
	}
	return out
}

// repeated returns n copies of x.
func repeated[T any](x T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = x
	}
	return out
}
