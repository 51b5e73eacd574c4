package model

// This file holds Performance: how well a model of a class predicts rows that it was not fitted to.

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/boosting"
)

// Performance is how well a model of a class predicts, estimated from noisy counts of held-out rows. Its intervals
// allow for the noise and for the sampling of the held-out rows, independently, from a large population. An estimate is
// missing (nil) where too few rows were held out for the noise.
type Performance struct {
	// AUC is the chance that a row of class 1 has a higher score than a row of class 0. Rows in the same bin of scores
	// count as half.
	AUC *Interval `json:"auc,omitempty"`
	// Accuracy is the share of rows whose class is the likelier one by the model.
	Accuracy *Interval `json:"accuracy,omitempty"`
	// Baseline is the share of the more frequent class: the accuracy of always giving it.
	Baseline *Interval `json:"baseline,omitempty"`
	// Calibration compares the chance that the model gives with the share of rows that are of class 1.
	Calibration []Calibration `json:"calibration,omitempty"`
}

// Calibration is the share of class 1 among the held-out rows whose chance by the model is within [From, To).
type Calibration struct {
	From  float64   `json:"from"`
	To    float64   `json:"to"`
	Share *Interval `json:"share,omitempty"` // nil: too few rows for the noise
}

// Judge estimates the performance of a model of link [boosting.Logit], by the intercept of its scores, from noisy
// numbers of held-out rows, by bin of score ([boosting.NewBins] of the intercept) and outcome: 2·[boosting.ScoreBins]
// numbers, the outcome fastest, each with independent noise of a variance, in squares of rows.
//
// It returns an error for another number of them, and for numbers and variances that are not finite.
func Judge(intercept int32, noisy []float64, variance float64) (*Performance, error) {
	if len(noisy) != 2*boosting.ScoreBins {
		return nil, fmt.Errorf("performance is estimated from %d numbers", 2*boosting.ScoreBins)
	}
	h := &heldOut{variance: variance, counts: make([][2]float64, boosting.ScoreBins),
		bins: boosting.NewBins(intercept)}
	for i, n := range append(slices.Clone(noisy), variance) {
		if !(math.Abs(n) <= mostNoisy) || variance < 0 {
			return nil, errors.New("performance is estimated from numbers below 2^62, and a variance from 0")
		}
		if i < len(noisy) {
			h.counts[i/2][i%2] = n
		}
	}
	return &Performance{AUC: h.auc(), Accuracy: h.accuracy(), Baseline: h.baseline(), Calibration: h.calibration()}, nil
}

// mostNoisy bounds noisy numbers, so that no product overflows.
const mostNoisy = 1 << 62

// heldOut is the noisy histogram of held-out rows.
type heldOut struct {
	bins     boosting.Bins
	counts   [][2]float64 // by bin of score and class
	variance float64
}

// total returns the noisy number of rows of a class.
func (h *heldOut) total(class int) (n float64) {
	for _, of := range h.counts {
		n += of[class]
	}
	return n
}

// auc returns the area under the ROC curve, or nil if a class has too few rows for the noise.
//
// The estimate is Σ n₁(b)·F₀(b)/N₁ over bins b, where F₀(b) is the share of class 0 below b, and half of that in b. Its
// variance is, to first order, Σ (n₁(b) + v)·(F₀(b) − AUC)²/N₁² and as much for class 0 (DeLong, DeLong &
// Clarke-Pearson 1988, with the variance v of the noise), and to second order v·v/(N₁·N₀)² for each pair of bins. The
// interval is symmetric in log-odds.
func (h *heldOut) auc() *Interval {
	zeros, ones := h.total(0), h.total(1)
	noise := float64(float64(len(h.counts)) * h.variance) // of a total
	if min(zeros, ones) < leastRows(noise) {
		return nil
	}
	below, ordered := 0.0, 0.0 // below: rows of class 0 so far
	for _, of := range h.counts {
		ordered += float64(of[1] * (below + float64(of[0]/2)))
		below += of[0]
	}
	estimate := ordered / zeros / ones
	var sampled, noised float64
	var passed [2]float64
	for _, of := range h.counts {
		d0 := square(((passed[0]+float64(of[0]/2))/zeros - estimate) / ones)
		d1 := square((1 - (passed[1]+float64(of[1]/2))/ones - estimate) / zeros)
		sampled += float64(of[1]*d0) + float64(of[0]*d1)
		noised += float64(h.variance * (d0 + d1))
		passed[0], passed[1] = passed[0]+of[0], passed[1]+of[1]
	}
	variance := max(sampled, 0) + noised + float64(square(noise/zeros/ones)/2)
	estimate = toShare(estimate)
	least := 1 / (min(zeros, ones) + 2)
	at := min(max(estimate, least), 1-least)
	if at != estimate { // all rows seem to be in order; the variance is at most this (van Dantzig 1951)
		variance = max(variance, float64(at*(1-at))/min(zeros, ones))
	}
	odds, width := budget.Log(at/(1-at)), quantile95*math.Sqrt(variance)/float64(at*(1-at))
	return &Interval{Estimate: estimate, Low: min(chance(odds-width), estimate),
		High: max(chance(odds+width), estimate)}
}

// chance returns the chance of log-odds.
func chance(odds float64) float64 { return 1 / (1 + budget.Exp(-odds)) }

// accuracy returns the share of rows on the side of score 0 of their class, or nil.
func (h *heldOut) accuracy() *Interval {
	hits, misses := 0.0, 0.0
	for b, of := range h.counts {
		if b < h.bins.Half {
			hits, misses = hits+of[0], misses+of[1]
		} else {
			hits, misses = hits+of[1], misses+of[0]
		}
	}
	noise := float64(float64(len(h.counts)) * h.variance)
	return shareInterval(hits, misses, noise, noise)
}

// baseline returns the share of the more frequent class, or nil. It is the larger of two shares, so its
// interval begins at one half if the interval of either share includes one half.
func (h *heldOut) baseline() *Interval {
	zeros, ones := h.total(0), h.total(1)
	noise := float64(float64(len(h.counts)) * h.variance)
	i := shareInterval(max(zeros, ones), min(zeros, ones), noise, noise)
	if i != nil && i.Low < 0.5 {
		i.Low, i.High = 0.5, max(i.High, 1-i.Low)
	}
	return i
}

// calibration returns the share of class 1 by chance. Each of its bins is three bins of scores.
func (h *heldOut) calibration() (all []Calibration) {
	const merged = 3
	for from := 0; from < len(h.counts); from += merged {
		c := Calibration{From: 0, To: 1}
		if from > 0 {
			c.From = h.edge(from - 1)
		}
		if from+merged < len(h.counts) {
			c.To = h.edge(from + merged - 1)
		}
		hits, misses := 0.0, 0.0
		for _, of := range h.counts[from : from+merged] {
			hits, misses = hits+of[1], misses+of[0]
		}
		noise := float64(merged * h.variance)
		c.Share = shareInterval(hits, misses, noise, noise)
		all = append(all, c)
	}
	return all
}

// edge returns the chance of an edge of the bins of scores.
func (h *heldOut) edge(i int) float64 { return chance(float64(h.bins.Edges[i]) / boosting.ScoreUnit) }
