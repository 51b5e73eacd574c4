package model

// This file holds Federate, which fits a logistic regression over several holders by federated averaging.

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/dprelease/dprelease/plan/boosting"
)

// Holders adds up what all holders give. Every holder gives integers of the same meaning.
type Holders interface {
	// Sum returns the sum of the integers of all holders. state is all that they start from, nil before the first
	// average: with it and a holder's own answers, own is known. A round has one sum.
	Sum(ctx context.Context, round int, state []float64, own []int64) ([]int64, error)
}

// Federate fits a logistic regression by federated averaging (McMahan, Moore, Ramage, Hampson & Agüera y Arcas 2017),
// from the point of view of one holder. The oracle answers of the holder's own rows. In each round every holder takes
// steps of gradient descent by itself, all from the same weights, and the mean of their weights follows, in proportion
// to their noisy numbers of rows; the momentum is averaged likewise (Yu, Jin & Yang 2019). The regression has the mean
// weights over the second half of the rounds, which [AverageUpdates] works out from the sums alone.
//
// It returns errors as [Descend] does.
func Federate(ctx context.Context, shape *boosting.Shape, oracle Oracle, all Holders) (*Descended, error) {
	own, err := startDescent(ctx, shape, oracle)
	if err != nil {
		return nil, err
	}
	f := newFederated(shape)
	counts, err := all.Sum(ctx, 0, nil, own.counts)
	if err == nil {
		err = f.begin(counts)
	}
	if err != nil {
		return nil, err
	}
	for round := range shape.Descent.Rounds {
		own.weights, own.velocity = slices.Clone(f.weights), slices.Clone(f.velocity)
		for range shape.Descent.Steps {
			if err := own.step(ctx, oracle); err != nil {
				return nil, err
			}
		}
		sum, err := all.Sum(ctx, round+1, slices.Concat(f.weights, f.velocity), f.update(own))
		if err == nil {
			err = f.add(round, sum)
		}
		if err != nil {
			return nil, err
		}
	}
	return f.fitted(), nil
}

// AverageUpdates returns the regression that [Federate] ends with, by the sums over all holders, in order.
func AverageUpdates(shape *boosting.Shape, sums [][]int64) (*Descended, error) {
	if err := shape.Check(); err != nil {
		return nil, err
	}
	if shape.Design == nil || len(sums) != shape.Descent.Rounds+1 {
		return nil, errors.New("federated averaging has one sum of counts, and one for each round")
	}
	f := newFederated(shape)
	if err := f.begin(sums[0]); err != nil {
		return nil, err
	}
	for round, sum := range sums[1:] {
		if err := f.add(round, sum); err != nil {
			return nil, err
		}
	}
	return f.fitted(), nil
}

// federated is what all holders know: the weights and the momentum that each round starts from.
type federated struct {
	*descent
	mean *meanWeights
}

func newFederated(shape *boosting.Shape) *federated {
	d := newDescent(shape)
	return &federated{descent: d, mean: newMeanWeights(d)}
}

// Updates have weights in units of 1/updateUnit, times a number of rows that is at most mostUpdateRows: together with
// twice [mostDescended] they stay far below 2⁶².
const updateUnit, mostUpdateRows = 1 << 12, 1 << 40

// updateLength returns how many integers a holder gives after its steps: its noisy number of rows, and that times how
// far each weight has moved and times each momentum.
func updateLength(shape *boosting.Shape) int { return 1 + 2*(shape.Design.Features()-1) }

// update returns what a holder gives after its steps.
func (f *federated) update(own *descent) []int64 {
	rows := min(own.rows, mostUpdateRows)
	all := []int64{int64(rows)}
	for j, w := range own.weights {
		all = append(all, int64(math.Round(float64(float64(rows*(w-f.weights[j]))*updateUnit))))
	}
	for _, v := range own.velocity {
		v = bounded(v)
		all = append(all, int64(math.Round(float64(float64(rows*v)*updateUnit))))
	}
	return all
}

// add takes the mean of all holders' updates of a round.
func (f *federated) add(round int, sum []int64) error {
	if len(sum) != updateLength(f.shape) {
		return errors.New("a sum of updates has another length")
	}
	rows := float64(max(sum[0], 1))
	moved, momentum := sum[1:1+len(f.weights)], sum[1+len(f.weights):]
	for j := range f.weights {
		f.weights[j] = bounded(f.weights[j] + float64(moved[j])/updateUnit/rows)
		f.velocity[j] = bounded(float64(momentum[j]) / updateUnit / rows)
	}
	f.mean.add(round, f.shape.Descent.Rounds, f.weights)
	return nil
}

// fitted returns the regression after the last round.
func (f *federated) fitted() *Descended { return f.descent.fitted(f.mean.weights) }
