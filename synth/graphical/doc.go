// Package graphical holds models of the rows of a table by the marginals that describe them.
//
// It owns [Model], the law of highest entropy that fits noisy marginals, each of a few attributes. A law p(x) ∝ Π_c
// φ_c(x_c), with a factor for each measured set of attributes c, is kept as a [Tree] of larger sets, the maximal
// cliques of the graph made chordal, whose marginals determine it (Lauritzen & Spiegelhalter 1988). Counts are
// expected numbers of rows, tables row-major: the last attribute's categories change fastest.
//
// It never reads a plan or data, draws nothing at random except from constants, and gives the same bits on every
// machine: it uses only + − × ÷ and √, a product that is added is never fused with its sum, and sums are in declared
// order, however many of its two goroutines run at once.
package graphical
