// Package synth turns measurements into what is published.
//
// It owns tables whose every cell carries an unbiased estimate, its standard error and an interval; and microdata,
// rows drawn from a model of the measurements. [Estimate] and [NewDrawing] read sealed measurements and the public plan
// only, cost no budget, and give the same for the same measurements on every machine. [Adapt] chooses, while
// measuring, what the model needs to know; it asks the same wherever it is answered the same.
//
// It never sees an exact count: [Adapt] sees the data only through an [Oracle], which answers within what the plan
// allows.
package synth
