// Package boosted answers the rounds of an additive model exactly: counts of categories, and sums of residuals by
// group.
//
// It owns the rows of a model as compact columns ([Rows]), their scores, and the split into rows that the model is
// fitted to and rows that are held out ([Split]). It never adds noise: its answers are confidential until somebody
// does. It computes with integers alone.
package boosted
