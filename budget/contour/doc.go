// Package contour computes the privacy loss of a composition of mechanisms by a second method, so that the accountant
// of package budget can be checked against a result that shares neither code nor numerics with it.
//
// It owns δ(ε), the hockey-stick divergence of mechanisms that are fixed in advance, as a contour integral over the
// product of the moment generating functions of their privacy losses:
//
//	δ(ε) = 1/(2πi) ∫ Π M_j(z)^k_j · e^(−zε) / (z(z+1)) dz,  M_j(z) = E_P[exp(zL_j)],
//
// along a vertical line through the saddle point, with the trapezoid rule (docs/proofs/contour.md).
//
// It never uses a figure that package budget computes: it takes from there only the types that describe a mechanism.
// Use it in tests and to verify a published guarantee, but never to grant one: its results are rounded to nearest, not
// upwards, and carry an error instead. It refuses mechanisms whose loss it cannot compute.
package contour
