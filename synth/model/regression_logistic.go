package model

// This file holds logistic regression from second moments.

import (
	"errors"
	"math"
	"slices"

	"github.com/dprelease/dprelease/budget"
)

// LogisticRegression returns an approximate logistic regression of noisy moments, whose target is a category. Its
// coefficients have no intervals: they are the model, and the linear regression of the same moments has the effects
// with intervals, at no further cost.
//
// The log-likelihood of labels y = ±1 is −Σ log(1 + exp(−y·x'β)) = Σ (y·x'β/2 − log(2·cosh(x'β/2))). Its second part
// is even. Any quadratic c₀ + c₂·(x'β)² in its place, be it Taylor's (c₂ = 1/8) or Chebyshev's on a public range, makes
// the likelihood depend on the second moments only, and has its largest value at β = (4c₂)⁻¹·w, with the coefficients w
// of least squares. The choice of the polynomial decides on the scale of β alone, so no range is needed: the scale
// follows from the moments. If the terms are normal with one covariance in both classes, the log-odds of the target
// are linear in them (Fisher's discriminant), with the coefficients
//
//	β = w / (2·p·(1−p)·(1−R²)),
//
// p the share of the positive class and R² that of least squares. The intercept makes the mean prediction p, by the
// approximation E logistic(Z) = logistic(mean/√(1 + π·variance/8)) for a normal Z.
//
// Bias: where the terms are not so, as with rare categories and skewed numbers, β is not that of the likelihood
// however many rows there are. The direction is that of least squares, so ranking is as good as the linear
// regression's; probabilities near 0 and 1 are the least exact. On the Adult data the log-odds are about a tenth too
// large: their calibration has the slope .90 and the intercept −.07 (TestRegressionsOfAdult prints it).
//
// Source: Huggins, Adams & Broderick 2017 (polynomial approximate sufficient statistics); Ferrando & Sheldon 2025
// (arXiv 2405.15002); Haggstrom 1983 and Efron 1975 (logistic regression by discriminant analysis).
//
// Where one class is not clear of the noise, all predictions are p.
//
// It reports an error if the target is a number, and what [LinearRegression] does.
func LogisticRegression(m *RegressionMoments, o RegressionOptions) (*Regression, error) {
	if m.design.Target().IsNumber() {
		return nil, errors.New("logistic regression predicts a category, and the target is a number: use a linear one")
	}
	g, r, err := newRegressionMaker(m, o)
	if err != nil {
		return nil, err
	}
	r.Method = RegressionLogistic
	flags := g.flags()
	r.Flags = append(flags, RegressionModelOnly)
	explained := min(g.explained(), 1-leastUnexplained)
	rows := max(m.matrix.at(0, 0), 1)
	mean := m.matrix.at(0, m.matrix.n-1) / rows // of the labels −1 and 1
	rarest := max(1/(rows+2), leastShare)
	share := min(max((1+mean)/2, rarest), 1-rarest)
	mean = 2*share - 1
	spread := float64(share * (1 - share))
	if !slices.Contains(flags, RegressionConstantTarget) {
		g.scale = 1 / (2 * float64(spread*(1-explained)))
	}
	variance := float64(float64(g.scale*g.scale) * float64(4*spread*explained)) // of the log-odds
	g.middle = float64(budget.Log(share/(1-share))*math.Sqrt(1+float64(math.Pi/8*variance))) - float64(g.scale*mean)
	r.Terms = g.terms(0, false)
	return r, nil
}

// leastUnexplained is the least part of the labels' variation that counts as unexplained, and leastShare the least
// share of a class: so that no coefficient is without bound.
const leastUnexplained, leastShare = 0.01, 1e-4
