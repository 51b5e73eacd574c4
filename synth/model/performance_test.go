package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dprelease/dprelease/plan/boosting"
)

// judged is a model of which only the intercept matters.
var judged = &Additive{Shape: &boosting.Shape{Link: boosting.Logit}, Scores: boosting.Scores{Intercept: -20_000}}

// population is a law of scores and classes: the chance of each bin and class.
type population [boosting.ScoreBins][2]float64

// newPopulation returns a law whose scores are normal, and whose classes have the chance of the score plus a shift: a
// model is calibrated if that is 0.
func newPopulation(mean, deviation, shift float64) (p population) {
	bins, total := boosting.NewBins(judged.Scores.Intercept), 0.0
	for units := int32(-120_000); units < 120_000; units += 500 {
		score := float64(units) / boosting.ScoreUnit
		w := math.Exp(-(score - mean) * (score - mean) / 2 / deviation / deviation)
		of := &p[bins.Of(units)]
		one := chance(score + shift)
		of[0], of[1], total = of[0]+w*(1-one), of[1]+w*one, total+w
	}
	for b := range p {
		p[b][0], p[b][1] = p[b][0]/total, p[b][1]/total
	}
	return p
}

// rows returns the counts of n rows, with noise.
func (p population) rows(random *rand.Rand, n int, sigma float64) []float64 {
	counts := make([]float64, 2*len(p))
	for range n {
		u := random.Float64()
		i := 0
		for u -= p[0][0]; u >= 0 && i < len(counts)-1; u -= p[i/2][i%2] {
			i++
		}
		counts[i]++
	}
	for i := range counts {
		counts[i] += math.Round(random.NormFloat64() * sigma)
	}
	return counts
}

// exact returns the performance of a law: without noise, and of very many rows.
func (p population) exact() *Performance {
	counts := make([]float64, 2*len(p))
	for i := range counts {
		counts[i] = 1e12 * p[i/2][i%2]
	}
	of, err := Judge(judged.Scores.Intercept, counts, 0)
	if err != nil {
		panic(err)
	}
	return of
}

// TestIntervalsCover: of 20 000 releases, which are always the same, the intervals of 94 to 96 % hold the truth. A
// share whose expected hits or misses are fewer than five, or that is missing from one release in ten, is off in at
// most 6 % of all releases.
func TestIntervalsCover(t *testing.T) {
	const releases = 20_000
	for _, c := range []struct {
		name                   string
		mean, deviation, shift float64
		rows                   int
		sigma                  float64
	}{
		{"sampling alone", -1, 1.5, 0, 400, 0},
		{"sampling and noise", -1, 1.5, 0, 800, 2},
		{"mostly noise", -1, 2.5, .3, 3000, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPopulation(c.mean, c.deviation, c.shift)
			truth, random := p.exact(), rand.New(rand.NewPCG(1, 1))
			var auc, accuracy, baseline coverage
			shares := make([]coverage, len(truth.Calibration))
			var blind coverage // by intervals that know of no noise
			for range releases {
				counts := p.rows(random, c.rows, c.sigma)
				of, blindly := judge(t, counts, c.sigma*c.sigma), judge(t, counts, 0)
				auc.note(of.AUC, truth.AUC)
				accuracy.note(of.Accuracy, truth.Accuracy)
				baseline.note(of.Baseline, truth.Baseline)
				for i, bin := range of.Calibration {
					shares[i].note(bin.Share, truth.Calibration[i].Share)
				}
				blind.note(blindly.AUC, truth.AUC)
			}
			auc.check(t, "AUC")
			accuracy.check(t, "accuracy")
			baseline.check(t, "baseline")
			for i, of := range shares {
				share := truth.Calibration[i].Share.Estimate
				n := float64(c.rows) * p.mass(i)
				if n*min(share, 1-share) >= 5 && of.known >= releases*9/10 {
					of.check(t, fmt.Sprint("calibration ", i))
				} else if off := of.known - of.within; off > releases*6/100 {
					t.Errorf("calibration %d: off in %d releases", i, off)
				}
			}
			if c.sigma > 0 && blind.share() >= .94 {
				t.Errorf("intervals that know of no noise cover %.4f as well", blind.share())
			}
		})
	}
}

// judge returns a performance.
func judge(t *testing.T, counts []float64, variance float64) *Performance {
	t.Helper()
	of, err := Judge(judged.Scores.Intercept, counts, variance)
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// mass returns the share of rows in a bin of calibration.
func (p population) mass(bin int) (sum float64) {
	for _, of := range p[3*bin : 3*bin+3] {
		sum += of[0] + of[1]
	}
	return sum
}

// coverage counts intervals, and those that hold the truth.
type coverage struct{ known, within int }

func (c *coverage) note(of, truth *Interval) {
	if of == nil {
		return
	}
	c.known++
	if of.Low <= truth.Estimate && truth.Estimate <= of.High {
		c.within++
	}
}

func (c coverage) share() float64 { return float64(c.within) / float64(c.known) }

func (c coverage) check(t *testing.T, what string) {
	t.Helper()
	t.Logf("%s: %.4f of %d", what, c.share(), c.known)
	if c.share() < .94 || c.share() > .96 {
		t.Errorf("%s: %.4f of the intervals hold the truth", what, c.share())
	}
}

// TestBaseline: the share of the more frequent class is never below one half, nor is an interval in which either class
// may be it.
func TestBaseline(t *testing.T) {
	for _, c := range []struct {
		zeros, ones, estimate, low, most float64
	}{{900, 100, .9, .87, .93}, {100, 900, .9, .87, .93}, {510, 490, .51, .5, .55}, {490, 510, .51, .5, .55}} {
		counts := make([]float64, 2*boosting.ScoreBins)
		counts[20], counts[41] = c.zeros, c.ones
		of := judge(t, counts, 1).Baseline
		if of == nil || of.Estimate != c.estimate || of.Low < c.low || of.High > c.most || of.Low > of.Estimate {
			t.Errorf("%v and %v rows: %+v", c.zeros, c.ones, of)
		}
	}
}

// TestTooFewRows: what cannot be estimated is missing, and nothing is ever beyond 0 and 1 or no number.
func TestTooFewRows(t *testing.T) {
	counts := func(set map[int]float64) []float64 {
		all := make([]float64, 2*boosting.ScoreBins)
		for i, n := range set {
			all[i] = n
		}
		return all
	}
	for name, c := range map[string]struct {
		counts        []float64
		variance      float64
		auc, accuracy bool // are known
	}{
		"no rows":            {counts(nil), 0, false, false},
		"no rows, but noise": {counts(map[int]float64{3: -40, 20: 30, 41: 12}), 400, false, false},
		"one class":          {counts(map[int]float64{20: 1000, 30: 1000}), 4, false, true},
		"one bin":            {counts(map[int]float64{20: 1000, 21: 1000}), 4, true, true},
		"perfect":            {counts(map[int]float64{20: 1000, 47: 1000}), 4, true, true},
		"perfect, no noise":  {counts(map[int]float64{20: 1000, 47: 1000}), 0, true, true},
		"always wrong":       {counts(map[int]float64{21: 1000, 46: 1000}), 4, true, true},
		"negative":           {counts(map[int]float64{20: -1000, 47: -1000}), 4, false, false},
		"beyond 1":           {counts(map[int]float64{20: 1000, 46: -300, 47: 1000, 1: -100}), 1, true, false},
		"many":               {counts(map[int]float64{20: 1 << 61, 47: 1 << 61, 46: 1 << 60}), 1 << 61, true, true},
		"much noise":         {counts(map[int]float64{20: 1000, 47: 1000}), 1e60, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			of, err := Judge(judged.Scores.Intercept, c.counts, c.variance)
			if name == "much noise" {
				if err == nil {
					t.Error("a variance beyond the bound is accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (of.AUC != nil) != c.auc || (of.Accuracy != nil) != c.accuracy {
				t.Errorf("AUC %v, accuracy %v", of.AUC, of.Accuracy)
			}
			all := []*Interval{of.AUC, of.Accuracy, of.Baseline}
			for _, bin := range of.Calibration {
				all = append(all, bin.Share)
			}
			for _, i := range all {
				if i != nil && !(0 <= i.Low && i.Low <= i.Estimate && i.Estimate <= i.High && i.High <= 1) {
					t.Errorf("interval %+v", *i)
				}
			}
		})
	}
	for _, bad := range [][]float64{nil, make([]float64, 47), counts(map[int]float64{0: math.NaN()}),
		counts(map[int]float64{0: math.Inf(1)})} {
		if _, err := Judge(judged.Scores.Intercept, bad, 1); err == nil {
			t.Errorf("%d numbers are accepted", len(bad))
		}
	}
	for _, variance := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Judge(judged.Scores.Intercept, counts(nil), variance); err == nil {
			t.Errorf("variance %v is accepted", variance)
		}
	}
}
