// Package residual works out the strategy of residuals: what to measure, and with how much Gaussian noise, so that a
// set of marginals has the least error for its privacy loss.
//
// It owns the algebra of residuals. Every marginal is a sum of residuals, one for each way to take some of its
// attributes: the total, how each category of one attribute lies from the mean, how each pair of categories lies from
// what the two attributes alone say, and so on. Marginals that share attributes share residuals. Each residual that
// occurs is measured once, and the marginals that are put together from them are unbiased, agree with each other, and
// have, for the best noise, the least sum of variances of all strategies of Gaussian noise there are (Xiao, He, Zhang
// & Kifer 2023).
//
// A column whose prefix sums or ranges are asked for has one residual of its own kind, from package ranges, whatever
// levels are used ([NewRanged]). What is measured may also be a residual along some columns and counts along the
// others ([Source]).
//
// Costs are in "pcost": 2ρ of the steps together, for one unit of one row.
//
// It never reads data: it computes with sizes and variances, and puts together what others have measured. Its figures
// are the same on every machine: it uses + − × ÷ √ in a fixed order, no product fused into a sum.
package residual
