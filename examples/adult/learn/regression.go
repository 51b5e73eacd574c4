package main

// This file holds the regression, and how well its scores tell two classes apart.

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// regression are the coefficients of a logistic regression: P(above) = 1/(1 + exp(−x·β)).
type regression []float64

// penalty is λ of the λ/2·|β|² that is added to the loss, which keeps coefficients of categories that hardly anybody
// has finite.
const penalty = 1

// fit is the regression of the largest penalised likelihood.
func fit(p people) (regression, error) {
	if p.rich() == 0 || p.rich() == len(p.incomes) {
		return nil, errors.New("all incomes are alike, so there is nothing to learn")
	}
	result, err := optimize.Minimize(optimize.Problem{Func: p.loss, Grad: p.gradient}, make([]float64, coefficients()),
		&optimize.Settings{GradientThreshold: 1e-5 * float64(len(p.incomes)), MajorIterations: 500}, &optimize.LBFGS{})
	if err != nil {
		return nil, err
	}
	return result.X, nil
}

// score is x·β.
func (r regression) score(row []feature) float64 {
	sum := 0.0
	for _, f := range row {
		sum += r[f.place] * f.value
	}
	return sum
}

// scores are those of all rows.
func (r regression) scores(p people) []float64 {
	out := make([]float64, len(p.features))
	for i, row := range p.features {
		out[i] = r.score(row)
	}
	return out
}

// loss is −log likelihood + λ/2·|β|², without the intercept's.
func (p people) loss(beta []float64) float64 {
	sum := 0.0
	for i, row := range p.features {
		s := regression(beta).score(row)
		if p.incomes[i] {
			s = -s
		}
		sum += math.Max(s, 0) + math.Log1p(math.Exp(-math.Abs(s))) // log(1 + eˢ)
	}
	for _, b := range beta[1:] {
		sum += penalty / 2.0 * b * b
	}
	return sum
}

// gradient is that of the loss.
func (p people) gradient(out, beta []float64) {
	for i, b := range beta {
		out[i] = penalty * b
	}
	out[0] = 0
	for i, row := range p.features {
		off := 1 / (1 + math.Exp(-regression(beta).score(row)))
		if p.incomes[i] {
			off--
		}
		for _, f := range row {
			out[f.place] += off * f.value
		}
	}
}

// accuracy is the part of the rows that are told rightly, where a score above 0 says above.
func accuracy(scores []float64, above []bool) float64 {
	right := 0
	for i, s := range scores {
		if s > 0 == above[i] {
			right++
		}
	}
	return float64(right) / float64(len(scores))
}

// areaUnderCurve is the chance that of two rows, one above and one not, the one above has the larger score; ties count
// half. It is the area under the receiver operating characteristic curve (Hanley & McNeil 1982).
func areaUnderCurve(scores []float64, above []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	below, pairs, rich := 0.0, 0.0, 0.0
	for from := 0; from < len(order); {
		high, low, to := 0.0, 0.0, from
		for ; to < len(order) && scores[order[to]] == scores[order[from]]; to++ {
			if above[order[to]] {
				high++
			} else {
				low++
			}
		}
		pairs += high * (below + low/2)
		below += low
		rich += high
		from = to
	}
	return pairs / (rich * below)
}
