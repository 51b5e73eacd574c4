// Package hierarchy estimates sums along the ordered categories of a column from reports that respondents' devices have
// randomised: a hierarchical histogram.
//
// It owns how coarsely devices answer, and how the answers are put together. Each device draws one level of the
// hierarchy, whatever its answer is: the categories themselves, or bands of 2, 4, 8 … neighbouring ones. It reports the
// band of its answer. A sum of many categories is then mostly made up of few wide bands, where it would otherwise add
// up the errors of all of its categories. The levels are put together by least squares, and each is asked of as many
// devices as make the mean squared error of the sums that a table is for least.
//
// The package computes with sizes only: it never sees data. Its figures are the same on every machine: it uses
// + − × ÷ √ in a fixed order, and fuses no product into a sum.
//
// Source: Hay, Rastogi, Miklau & Suciu 2010, Boosting the accuracy of differentially private histograms through
// consistency; Cormode, Kulkarni & Srivastava 2019, Answering range queries under local differential privacy, whose
// levels are asked of equally many.
package hierarchy
