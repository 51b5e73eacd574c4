// Package tree estimates counts on a hierarchy of areas, such as blocks, tracts and counties, from noisy counts of
// every level, by generalised least squares.
//
// It owns the algebra of such a hierarchy. The counts of an area are cells: a kind, crossed with the categories of
// other attributes (Cells). Each area answers the queries of its class: tables of its cells by groups of kinds and by
// some of the attributes (Query), with noise of one variance. The counts of an area are the sums of those of its
// children. The estimates are the best linear unbiased ones from all answers of all areas, or use each area's own
// answers, adjusted to its parent alone (Method).
//
// Every query either keeps an attribute whole or sums over it, so permuting the attribute's categories changes nothing.
// Least squares therefore splits into one problem per set of attributes (the deviations from the means along exactly
// these), and each problem has one matrix over the kinds of an area: a few numbers in place of a matrix over all cells.
// Attributes with levels or with impossible cells make up the kinds.
//
// The package computes with sizes, variances and the answers that others have measured: it never reads confidential
// data. Its figures are the same on every machine: it uses + − × ÷ √ in a fixed order, and fuses no product into a sum.
//
// Sources: Hay, Rastogi, Miklau & Suciu 2010, Boosting the accuracy of differentially private histograms through
// consistency, for a tree of single counts; Cumings-Menon 2024, Full-information estimation for hierarchical data, for
// cells; the decomposition is derived in docs/proofs/tree.md.
package tree
