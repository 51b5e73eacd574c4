// Package design makes the public design of a regression: how the columns of a row become features, which products of
// features are measured, and how far one privacy unit can move their sums.
//
// It owns the encoding of columns as integers, the layout of the two vectors of moments, and their exact sensitivities.
// It never sees data: a design follows from the categories and values of the columns, which are public.
//
// # Features
//
// A row becomes a vector z of integers, [Scale] for each 1:
//
//   - the intercept is Scale;
//   - a number v with public values from low to high is Unit·(2v − low − high)/(high − low), where Unit is the largest
//     integer up to Scale that makes integers of all values, if they are at most 64 equal steps from the middle. If
//     not, Unit is Scale and values are rounded to the nearest integer, halves away from zero: off by at most
//     1/(2·Scale) of half of the range;
//   - a column of two categories is −Scale or Scale: its contrast;
//   - a column of K ≥ 3 categories is Scale in the place of its category and 0 in the K−1 others;
//   - the target, which is the last column, is a number, or a contrast of its positive category and all others, with
//     [Design.TargetScale] in the place of Scale.
//
// All categories are measured, and a level of reference is left out in the fit only. A row then has the same norm
// whichever categories it is in, so that leaving one out would not lower the sensitivity; the sums of the level left
// out would have to be taken as differences, with the noise of all others; and the reference can be chosen after the
// noise. A contrast of two categories is one feature where two indicators would say the same, and the noise of the
// difference between the two has half the variance.
//
// # Moments
//
// The moments of a row are the products z_i·z_j with i ≤ j, each once. Products that are 0 in every row (two
// categories of a column) are left out, and so are those that equal others: the square of an indicator is its product
// with the intercept, and the square of a contrast is the square of the intercept. The others are two vectors:
//
//   - the diagonal has the square of the intercept, Scale²·(number of rows), and the square of each number;
//   - the off-diagonal has, for each two columns a < b with the intercept as the first, a block of the products of
//     their features, row-major.
//
// An entry off the diagonal stands in the symmetric matrix twice. With noise of variance σ² on the diagonal and σ²/2
// off it, a shift by the symmetric matrix D costs Σ_i D_ii²/σ² + Σ_{i<j} D_ij²/(σ²/2) = ‖D‖²/σ² with the Frobenius
// norm, and one row has ‖z·zᵀ‖ = ‖z‖²: the factor √2 of symmetric noise, whose law is the same in every orthonormal
// basis. Whoever bounds the norm of the upper triangle by ‖z‖² and adds noise of variance σ² to each of its entries
// pays for twice the variance in nearly all of them. Here both sensitivities are exact, so the ratio is free;
// [NoiseRatio] is ½.
//
// Source: Dwork, Talwar, Thakurta & Zhang 2014, Analyze Gauss (the symmetric noise); Vu & Slavković 2009 and Foulds,
// Geumlek, Welling & Chaudhuri 2016 (noisy sufficient statistics).
package design
