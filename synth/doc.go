// Package synth turns measurements into what is published.
//
// It owns tables, whose every cell has an unbiased estimate, its standard error and an interval; and microdata: rows
// drawn from a model of the measurements. [Estimate] and [NewDrawing] read only sealed measurements and the public
// plan, spend no budget, and give the same result for the same measurements on every machine. [Adapt] chooses, while
// measuring, what the model needs to know; equal answers lead to equal questions.
//
// The interval of a figure is by the law of the noise that it rests on: of a ratio it is Fieller's set, all θ for which
// A − θB can be noise ([Ratio], [MeanRatio]).
//
// It never sees an exact count: [Adapt] sees the data only through an [Oracle], which answers within what the plan
// allows.
package synth
