package model

// This file holds intervals for shares of noisy counts.

import "math"

// Interval is an estimate with its 95% interval.
type Interval struct {
	Estimate float64 `json:"estimate"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// quantile95 is the normal quantile of a two-sided 95% interval.
const quantile95 = 1.959963984540054

// shareInterval returns the share of hits among hits and misses, both noisy with known variances. It returns nil if
// these are too few for the noise, or further apart than noise explains.
//
// The interval holds the shares p for which hits·(1−p) − misses·p is within 1.96 standard deviations of 0. Its variance
// is N·p·(1−p) for the sampling of N rows and (1−p)²·v + p²·w for the noise (Wilson 1927, without noise; Fieller 1954,
// without sampling). Unlike an interval around the estimate it holds for few rows and for shares near 0 and 1.
func shareInterval(hits, misses, hitVariance, missVariance float64) *Interval {
	n := hits + misses
	z2 := quantile95 * quantile95
	// The condition is a·p² + b·p + c ≤ 0.
	a := float64(n*n) + float64(z2*(n-hitVariance-missVariance))
	b := -float64(2*float64(hits*n)) - float64(z2*(n-float64(2*hitVariance)))
	c := float64(hits*hits) - float64(z2*hitVariance)
	inner := float64(b*b) - float64(4*float64(a*c))
	if n < leastRows(hitVariance+missVariance) || a <= 0 || inner < 0 {
		return nil
	}
	root := math.Sqrt(inner)
	estimate := toShare(hits / n)
	return &Interval{Estimate: estimate, Low: min(toShare((-b-root)/a/2), estimate),
		High: max(toShare((-b+root)/a/2), estimate)}
}

// leastRows returns the least noisy total, with noise of a variance, of which anything is estimated: six standard
// deviations, so that noise without rows does not reach it, and ten rows.
func leastRows(variance float64) float64 { return max(float64(6*math.Sqrt(variance)), 10) }

// toShare clamps a number to the range from 0 to 1.
func toShare(x float64) float64 { return min(max(x, 0), 1) }
