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
// allow for the noise and for the sampling of the held-out rows from a large population. An estimate is missing (nil)
// where too few rows were held out for the noise.
type Performance struct {
	// AUC is the chance that a row of class 1 has a higher score than a row of class 0. Rows in the same bin of scores
	// count as half.
	AUC *Interval `json:"auc,omitempty"`
	// Accuracy is the share of rows whose class is the likelier one by the model.
	Accuracy *Interval `json:"accuracy,omitempty"`
	// Calibration compares the chance that the model gives with the share of rows that are of class 1.
	Calibration []Calibration `json:"calibration,omitempty"`
}

// Calibration is the share of class 1 among the held-out rows whose chance by the model is within [From, To).
type Calibration struct {
	From  float64   `json:"from"`
	To    float64   `json:"to"`
	Share *Interval `json:"share,omitempty"` // nil: too few rows for the noise
}

// Judge estimates the performance of a model of link [boosting.Logit] from noisy numbers of held-out rows, by bin of
// score and outcome: 2·[boosting.ScoreBins] numbers, the outcome fastest, each with independent noise of a variance, in
// squares of rows.
//
// It returns an error for another number of them, and for numbers and variances that are not finite.
func Judge(noisy []float64, variance float64) (*Performance, error) {
	if len(noisy) != 2*boosting.ScoreBins {
		return nil, fmt.Errorf("performance is estimated from %d numbers", 2*boosting.ScoreBins)
	}
	h := &heldOut{variance: variance, counts: make([][2]float64, boosting.ScoreBins)}
	for i, n := range append(slices.Clone(noisy), variance) {
		if !(math.Abs(n) <= mostNoisy) || variance < 0 {
			return nil, errors.New("performance is estimated from numbers below 2^62, and a variance from 0")
		}
		if i < len(noisy) {
			h.counts[i/2][i%2] = n
		}
	}
	return &Performance{AUC: h.auc(), Accuracy: h.accuracy(), Calibration: h.calibration()}, nil
}

// mostNoisy bounds noisy numbers, so that no product overflows.
const mostNoisy = 1 << 62

// heldOut is the noisy histogram of held-out rows.
type heldOut struct {
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
// interval is that of the log-odds of the estimate.
func (h *heldOut) auc() *Interval {
	zeros, ones := h.total(0), h.total(1)
	bins := float64(len(h.counts))
	// Below some six standard deviations of the noise, or ten rows, the error of a total is not small beside it.
	if least := max(6*math.Sqrt(float64(bins*h.variance)), 10); zeros < least || ones < least {
		return nil
	}
	below, ordered := 0.0, 0.0 // below: rows of class 0 so far
	for _, of := range h.counts {
		ordered += float64(of[1] * (below + float64(of[0]/2)))
		below += of[0]
	}
	estimate := ordered / zeros / ones
	variance := float64(h.variance*bins) / (zeros * zeros) * float64(h.variance*bins) / (ones * ones) / 2
	var passed [2]float64
	for _, of := range h.counts {
		f0, f1 := (passed[0]+float64(of[0]/2))/zeros, (passed[1]+float64(of[1]/2))/ones
		variance += float64((max(of[1], 0)+h.variance)*square((toShare(f0)-estimate)/ones)) +
			float64((max(of[0], 0)+h.variance)*square((1-toShare(f1)-estimate)/zeros))
		passed[0], passed[1] = passed[0]+of[0], passed[1]+of[1]
	}
	estimate = toShare(estimate)
	at := min(max(estimate, 1/(ones+2)), 1-1/(ones+2))
	odds, width := budget.Log(at/(1-at)), quantile95*math.Sqrt(variance)/float64(at*(1-at))
	chance := func(x float64) float64 { return 1 / (1 + budget.Exp(-x)) }
	return &Interval{Estimate: estimate, Low: min(chance(odds-width), estimate), High: max(chance(odds+width), estimate)}
}

// accuracy returns the share of rows on the side of score 0 of their class, or nil.
func (h *heldOut) accuracy() *Interval {
	hits, misses := 0.0, 0.0
	half := len(h.counts) / 2
	for b, of := range h.counts {
		if b < half {
			hits, misses = hits+of[0], misses+of[1]
		} else {
			hits, misses = hits+of[1], misses+of[0]
		}
	}
	noise := float64(float64(len(h.counts)) * h.variance)
	if share, known := shareInterval(hits, misses, noise, noise); known {
		return &share
	}
	return nil
}

// calibration returns the share of class 1 by chance: below −4, between whole numbers, and from 4, in scores.
func (h *heldOut) calibration() (all []Calibration) {
	const perUnit, last = boosting.ScoreBins / 16, 4 // bins of scores in 1, and the last edge
	for from := -last - 1; from <= last; from++ {
		c := Calibration{From: meanOf(boosting.Logit, float64(from)), To: meanOf(boosting.Logit, float64(from+1))}
		low, high := (from+8)*perUnit, (from+9)*perUnit
		if from < -last {
			c.From, low = 0, 0
		}
		if from == last {
			c.To, high = 1, len(h.counts)
		}
		hits, misses := 0.0, 0.0
		for _, of := range h.counts[low:high] {
			hits, misses = hits+of[1], misses+of[0]
		}
		noise := float64(float64(high-low) * h.variance)
		if share, known := shareInterval(hits, misses, noise, noise); known {
			c.Share = &share
		}
		all = append(all, c)
	}
	return all
}
