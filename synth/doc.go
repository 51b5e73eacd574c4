// Package synth turns measurements into what is published: tables whose every
// cell carries an unbiased estimate, its standard error and an interval; and
// microdata, rows drawn from a model of the measurements.
//
// [Estimate] and [NewDrawing] read sealed measurements and the public plan only. They
// never see an exact count, cost no budget, and give the same for the same
// measurements on every machine. [Adapt] chooses, while measuring, what the
// model needs to know; it sees the data only through an [Oracle], which answers
// within what the plan allows, and asks the same wherever it is answered the
// same.
package synth
