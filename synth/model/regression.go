package model

// This file holds a regression as it is published: its terms, their coefficients with intervals, and what it predicts.

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/plan/design"
)

// RegressionConfidence is the confidence of intervals of coefficients.
const RegressionConfidence = 0.95

// confidenceQuantile is the quantile of the normal law for it.
const confidenceQuantile = 1.959963984540054

// The methods of a [Regression].
const (
	RegressionLinear   = "linear"
	RegressionLogistic = "logistic"
)

// The flags of a [Regression] and of its terms.
const (
	// RegressionFewRows: there are not clearly more rows than terms, so no coefficient has an interval.
	RegressionFewRows = "few rows"
	// RegressionConstantTarget: the target does not vary clearly above the noise. It may be constant: one class.
	RegressionConstantTarget = "constant target"
	// RegressionNoResidual: the noise has taken the residual sum of squares below 0, so that intervals have no part of
	// sampling.
	RegressionNoResidual = "no residual variance"
	// RegressionModelOnly: the coefficients approximate those of the likelihood, and so have no intervals.
	RegressionModelOnly = "model only"
	// RegressionWeightsOnly: the regression was fitted by gradient descent, and has weights alone.
	RegressionWeightsOnly = "weights only"
	// RegressionReference: the category with which the others of its column are compared.
	RegressionReference = "reference"
	// RegressionNotClear: the term does not vary clearly above the noise given the terms before it: it is constant,
	// collinear or rare. It is left out of the fit; a category counts as the reference.
	RegressionNotClear = "not clear"
)

// Regression is a regression as it is published, in JSON. All numbers are finite.
type Regression struct {
	Method   string  `json:"method"` // "linear" or "logistic"
	Target   string  `json:"target"` // column that is explained
	Positive string  `json:"positive,omitempty"`
	Rows     float64 `json:"rows"` // noisy number of rows
	// Confidence is the confidence of all intervals, 0 if the method has none.
	Confidence float64 `json:"confidence,omitempty"`
	// Columns say how the values of a row become terms, in the order of these.
	Columns []Labels `json:"columns,omitempty"`
	// Terms are the intercept, and for each column a number's one term or a term for each category, in order.
	Terms []RegressionTerm `json:"terms"`
	// ResidualVariance is the variance of the target given the terms, if a regression is linear and has intervals.
	ResidualVariance *float64 `json:"residual_variance,omitempty"`
	// RSquared is the part of the target's variation that the fit of a linear regression explains, from 0 to 1.
	RSquared *float64 `json:"r_squared,omitempty"`
	// Performance is how well a regression that was fitted by gradient descent predicts held-out rows.
	Performance *Performance `json:"performance,omitempty"`
	// Flags say what is the matter with the regression as a whole.
	Flags []string `json:"flags,omitempty"`
}

// RegressionTerm is a term of a regression.
//
// The coefficient compares: by how much the target is larger where a number is larger by 1, or in a category rather
// than in the reference of its column, all else being equal; the intercept is the target where all numbers are 0 and
// all categories the reference. A category as target counts as 1 and all others as 0. Of a logistic regression the
// log-odds take the place of the target.
//
// The weight predicts. The prediction of a row is the sum of the intercept's weight, the weights of the row's
// categories and each number times its weight, and of a logistic regression 1/(1+exp(−sum)). Weights are shrunk as
// noise demands, so that they predict better than coefficients and are biased where coefficients are not.
type RegressionTerm struct {
	Column      string   `json:"column,omitempty"`   // none is the intercept
	Category    string   `json:"category,omitempty"` // none is a number
	Coefficient *float64 `json:"coefficient,omitempty"`
	*RegressionInterval
	Weight float64  `json:"weight"`
	Flags  []string `json:"flags,omitempty"`
}

// RegressionInterval is the law of the error of a coefficient.
//
// There are two questions. The rows at hand have least-squares coefficients of their own, and the noise alone hides
// them: NoiseError is its standard error, and no assumption about rows is needed. The rows can also be a sample: the
// target is what the terms say plus independent errors of one variance. StandardError is then the standard error as an
// estimate of what the terms say, by noise and sampling together, and Low and High are the ends of its interval. An
// interval for the rows at hand is the coefficient ± 1.96 noise errors.
type RegressionInterval struct {
	NoiseError    float64 `json:"noise_error"`
	StandardError float64 `json:"standard_error"`
	Low           float64 `json:"low"`
	High          float64 `json:"high"`
	NoiseShare    float64 `json:"noise_share"` // of the noise in the square of the standard error
}

// RegressionOptions are public choices for a regression. The zero value leaves them to the noisy moments.
type RegressionOptions struct {
	// References has the code of the reference of each column that names one.
	References map[string]int
}

// LinearRegression returns the linear regression of noisy moments. A category as target is explained as 1 in its
// positive category and 0 in the others: a linear probability model, of which the errors have no one variance, so that
// the intervals are approximate as far as they are about sampling.
//
// The reference of a column without one in the options is its most frequent category by the noisy moments. It reports
// an error for options that name what is not there, and for nothing that noise can do.
func LinearRegression(m *RegressionMoments, o RegressionOptions) (*Regression, error) {
	g, r, err := newRegressionMaker(m, o)
	if err != nil {
		return nil, err
	}
	r.Method, r.Confidence = RegressionLinear, RegressionConfidence
	g.middle, g.scale = 0.5, 0.5
	if t := m.design.Target(); t.IsNumber() {
		low, high := t.Range()
		g.middle, g.scale = float64(low+high)/2, float64(high-low)/2
	}
	r.Flags = g.flags()
	variance, intervals := g.fit.residualVariance(), !slices.Contains(r.Flags, RegressionFewRows)
	if intervals {
		v, explained := float64(variance*float64(g.scale*g.scale)), g.explained()
		r.ResidualVariance, r.RSquared = &v, &explained
		if variance == 0 {
			r.Flags = append(r.Flags, RegressionNoResidual)
		}
	}
	r.Terms = g.terms(variance, intervals)
	return r, nil
}

// regressionMaker makes a regression from a fit.
type regressionMaker struct {
	moments       *RegressionMoments
	design        *design.Design
	fit           *leastSquares
	reference     []int   // by column that explains: code of its reference, if it is a category
	candidate     []int   // by feature: the candidate that it has
	in            []bool  // by candidate: in the fit
	middle, scale float64 // the target is middle + scale·(what is fitted)
}

// newRegressionMaker fits the target, and returns what both methods have in common.
func newRegressionMaker(m *RegressionMoments, o RegressionOptions) (*regressionMaker, *Regression, error) {
	g := &regressionMaker{moments: m, design: m.design}
	if err := g.setReferences(o); err != nil {
		return nil, nil, err
	}
	g.fit, g.in = m.fitLeastSquares(g.candidates())
	r := &Regression{Target: m.design.Target().Name, Rows: m.matrix.at(0, 0)}
	if !m.design.Target().IsNumber() {
		r.Positive = m.design.Target().Categories[m.design.Positive()]
	}
	return g, r, nil
}

// explained returns R², from 0 to 1.
func (g *regressionMaker) explained() float64 {
	if g.fit.variation <= 0 {
		return 0
	}
	return max(0, min(1, 1-g.fit.squares/g.fit.variation))
}

// setReferences finds the reference of each column.
func (g *regressionMaker) setReferences(o RegressionOptions) error {
	named := 0
	explaining := g.design.Columns()[:len(g.design.Columns())-1]
	g.reference = make([]int, len(explaining))
	for i, c := range explaining {
		code, has := o.References[c.Name]
		switch {
		case has && (c.IsNumber() || code < 0 || code >= c.Size()):
			return fmt.Errorf("column %s has no category %d that could be a reference", c.Name, code)
		case has:
			g.reference[i] = code
			named++
		case !c.IsNumber():
			g.reference[i] = g.mostFrequent(i)
		}
	}
	if named < len(o.References) {
		return errors.New("a reference is named for a column that is not in the model")
	}
	return nil
}

// mostFrequent returns the code of a category's column that most rows have, the first of several.
func (g *regressionMaker) mostFrequent(column int) int {
	first, counts := g.design.First(column+1), g.moments.matrix.row(0)
	if g.moments.isContrast(column + 1) {
		if counts[first] > 0 {
			return 1
		}
		return 0
	}
	most := 0
	for code := range g.design.Columns()[column].Size() {
		if counts[first+code] > counts[first+most] {
			most = code
		}
	}
	return most
}

// candidates returns the terms that can be in the fit: the intercept, numbers and contrasts, and the categories but for
// references. The term of a category is its indicator less 1/K for each of the K categories of its column: its
// coefficient is the difference to the reference, and it is centred.
func (g *regressionMaker) candidates() [][]matrixEntry {
	all, at := [][]matrixEntry{{{i: 0, value: 1}}}, make([]int, g.moments.matrix.n)
	for i := range g.reference {
		width, first := g.design.Encodings()[i+1].Width, g.design.First(i+1)
		for k := range width {
			switch {
			case width == 1:
				at[first] = len(all)
				all = append(all, []matrixEntry{{i: first, value: 1}})
			case k != g.reference[i]:
				term := []matrixEntry{{i: first + k, value: 1}}
				for other := range width {
					term = append(term, matrixEntry{i: first + other, value: -1 / float64(width)})
				}
				at[first+k] = len(all)
				all = append(all, term)
			}
		}
	}
	g.candidate = at
	return all
}

// flags returns what is the matter with the rows and the target.
func (g *regressionMaker) flags() (flags []string) {
	if n := len(g.fit.terms); n == 0 || g.fit.rows() < float64(n)+1 {
		flags = append(flags, RegressionFewRows)
	}
	if !g.moments.isClear(g.moments.matrix.n - 1) {
		flags = append(flags, RegressionConstantTarget)
	}
	return flags
}

// isClear reports whether a feature varies clearly given the intercept.
func (m *RegressionMoments) isClear(feature int) bool {
	_, in := (&leastSquares{moments: m}).choose([][]matrixEntry{{{i: 0, value: 1}}, {{i: feature, value: 1}}})
	return in[0] && in[1]
}

// terms returns the terms with coefficients, weights and, if they have them, intervals.
func (g *regressionMaker) terms(variance float64, intervals bool) []RegressionTerm {
	weights := g.moments.score()
	intercept := RegressionTerm{Weight: float64(g.scale*weights[0]) + g.middle}
	of := []matrixEntry{{i: 0, value: g.scale}}
	var all []RegressionTerm
	for i, c := range g.design.Columns()[:len(g.reference)] {
		first, e := g.design.First(i+1), g.design.Encodings()[i+1]
		if c.IsNumber() {
			low, high := c.Range()
			slope := float64(g.scale*2) / float64(high-low)
			t := RegressionTerm{Column: c.Name, Weight: float64(slope * weights[first])}
			g.estimate(&t, []matrixEntry{{i: first, value: slope}}, 0, variance, intervals)
			all = append(all, t)
			centre := float64(low+high) / 2
			of = append(of, matrixEntry{i: first, value: -float64(slope * centre)})
			intercept.Weight -= float64(t.Weight * centre)
			continue
		}
		unit := func(code int) matrixEntry {
			return matrixEntry{i: first + e.Offset[code], value: float64(g.scale*float64(e.Value[code])) / design.Scale}
		}
		reference := unit(g.reference[i])
		for code, name := range c.Categories {
			own := unit(code)
			t := RegressionTerm{Column: c.Name, Category: name, Weight: float64(own.value * weights[own.i])}
			if code == g.reference[i] {
				zero := 0.0
				t.Coefficient, t.Flags = &zero, []string{RegressionReference}
			} else {
				g.estimate(&t, []matrixEntry{own, {i: reference.i, value: -reference.value}}, 0, variance, intervals)
			}
			all = append(all, t)
		}
		of = append(of, reference)
	}
	g.estimate(&intercept, of, g.middle, variance, intervals)
	return append([]RegressionTerm{intercept}, all...)
}

// estimate sets the coefficient of a term, a constant plus values of features' coefficients, and its interval if terms
// have them. If the candidate of the first feature is not in the fit, it has neither.
func (g *regressionMaker) estimate(t *RegressionTerm, of []matrixEntry, constant, variance float64, intervals bool) {
	if !g.in[g.candidate[of[0].i]] {
		t.Flags = append(t.Flags, RegressionNotClear)
		return
	}
	x := make([]float64, g.moments.matrix.n)
	addTerm(x, of, 1)
	value := constant - dotProduct(x, g.fit.residual)
	t.Coefficient = &value
	if !intervals {
		return
	}
	byNoise := max(0, g.fit.noiseVariance(x))
	total := byNoise + float64(variance*g.fit.spread.form(x, x))
	i := &RegressionInterval{NoiseError: math.Sqrt(byNoise), StandardError: math.Sqrt(total)}
	if total > 0 {
		i.NoiseShare = byNoise / total
	}
	margin := float64(confidenceQuantile * i.StandardError)
	i.Low, i.High = value-margin, value+margin
	t.RegressionInterval = i
}
