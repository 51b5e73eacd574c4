// Package residual works out the strategy of residuals: what to measure, and with how much Gaussian noise, so that a
// set of marginals has the least error for its privacy loss.
//
// It owns the algebra of residuals. Every marginal is a sum of residuals, one for each subset of its attributes: the
// total, the deviations of the categories of one attribute from their mean, the deviations of pairs of categories
// from what the two attributes separately predict, and so on. Marginals that share attributes share residuals. Each
// residual that occurs is measured once. The marginals that are computed from them are unbiased, agree with each
// other, and have, for the best noise, the least sum of variances of all strategies with Gaussian noise (Xiao, He,
// Zhang & Kifer 2023).
//
// A column whose prefix sums or ranges are needed has one residual of its own kind, from package ranges, whatever
// levels are used ([NewRanged]). A measurement may also be a residual along some columns and counts along the others
// ([Source]).
//
// Costs are in "pcost": 2ρ of the steps together, for one unit of one row.
//
// It never reads data: it computes with sizes and variances, and combines what others have measured. Its figures are
// the same on every machine: it uses + − × ÷ √ in a fixed order, and fuses no product into a sum.
package residual
