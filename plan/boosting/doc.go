// Package boosting is the public definition of an additive model: which rounds fit it, what each round asks, and what
// one row adds to an answer.
//
// An additive model is a sum of tables, one for each column: the score of a row is the intercept plus the entries of
// its categories (Friedman 2001; Nori, Caruana, Bu, Shen & Kulkarni, ICML 2021, who fit it with differential privacy).
// The first rounds count the categories of each column and of the target. Each later round asks, for one column, the
// sums of residuals by group of the column's categories. A residual is outcome − mean(score), an integer from −[Bound]
// to Bound.
//
// It owns [Shape] (all that is fixed before the data are seen), [Question] (what a round asks), [Residuals] (outcomes
// and means as integers) and [NewSchedule] (how many rounds a budget is worth).
//
// It never reads data and never draws noise. Everything here is a function of public arguments, with the same bits on
// every machine.
package boosting
