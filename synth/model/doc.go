// Package model fits models to noisy answers, judges them by noisy answers, and holds the form in which they are
// published.
//
// An additive model is a table of scores for each column ([Train]). Its bands show how far the noise may have moved
// each entry. [Additive.Judge] estimates how well a model of a class predicts, from noisy counts of held-out rows, with
// intervals that allow for the noise and for the sampling of these rows. [Published] is what is published, and predicts
// as the model does.
//
// It owns what follows from noisy answers. It never sees an exact count: all that it computes is a function of noisy
// answers and of the public definition in package boosting, with the same bits on every machine.
package model
