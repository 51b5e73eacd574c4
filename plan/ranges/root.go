package ranges

import "math"

// This file holds the root Z of a workload's gram matrix in the scale of weights u:
// with D = diag(u), the symmetric matrix of Z·D·Z = V. In terms of the symmetric
// square root it is D^-½·(D^½·V·D^½)^½·D^-½.
//
// Where V⁻¹ = T has three diagonals it comes from the integral
//
//	Z = (2/π)·∫ (T + t²·D)⁻¹ dt,   t from 0 to ∞,
//
// whose integrand is the inverse of a matrix of three diagonals, by the trapezoidal
// rule in log t, with t² the powers of two. In one eigenvalue λ the sum is that of
// sech at steps of h = ln(2)/2, whose error is 2·exp(−π²/h) < 1e-12 of it (Trefethen
// & Weideman 2014, theorem 5.1). Beyond 2^±26 times the range of the eigenvalues the
// integrand is t·T⁻¹ or 1/(t·D) to 2⁻²⁶, and terms sum up as a geometric series; that
// part is 2⁻¹³ of the whole, so that its error is below 2⁻³⁹.

const (
	beyond = 26
	// 1/(1 − √½), the geometric series.
	geometric = 1 / (1 - 1/math.Sqrt2)
)

// A resolvent is the inverse of S = T + τ·D, for one τ. No step subtracts: as the row sums of T are known,
// elimination from either end adds positive terms only.
type resolvent struct {
	w       *Workload
	u       []float64
	tau     float64
	forward []float64 // β_j/d_j, for the pivots d of elimination from the front
	inverse []float64 // 1/d_j
	back    []float64 // β_{j−1}/e_j, for the pivots e of elimination from the end
	centre  []float64 // (S⁻¹)_jj
	leaks   []float64 // S⁻¹·v
	leaked  float64   // u'·S⁻¹·v
}

// solve fills the resolvent for a τ.
func (r *resolvent) solve(tau float64) {
	r.tau = tau
	link, leak, n := r.w.link, r.w.leak, r.w.n
	var excess, before, load float64
	for j := range n {
		excess = leak[j] + float64(tau*r.u[j]) + float64(before*excess)
		r.centre[j] = excess
		r.inverse[j] = 1 / (link[j] + excess)
		before = float64(link[j] * r.inverse[j])
		r.forward[j] = before
		load += leak[j]
		r.leaks[j] = float64(load * r.inverse[j])
		load = float64(load * before)
	}
	var behind, current float64
	r.leaked = 0
	for j := n - 1; j >= 0; j-- {
		current = r.leaks[j] + float64(r.forward[j]*current)
		r.leaks[j] = current
		r.leaked += float64(r.u[j] * current)
		r.centre[j] = 1 / (r.centre[j] + behind)
		excess = leak[j] + float64(tau*r.u[j]) + behind
		r.back[j] = 0
		if j > 0 {
			r.back[j] = link[j-1] / (link[j-1] + excess)
			behind = float64(r.back[j] * excess)
		}
	}
}

// integrate calls visit with the resolvent and weight of each term of the trapezoidal rule, for eigenvalues of T
// against D between least and most.
func (w *Workload) integrate(u []float64, least, most float64, visit func(weight float64, r *resolvent)) {
	lines := make([]float64, 5*w.n)
	line := func(i int) []float64 { return lines[i*w.n : (i+1)*w.n] }
	r := &resolvent{w: w, u: u, forward: line(0), inverse: line(1), back: line(2), centre: line(3), leaks: line(4)}
	_, from := math.Frexp(least)
	_, to := math.Frexp(most)
	from, to = from-1-beyond, to+beyond
	for k := from; k <= to; k++ {
		tau := math.Ldexp(1, k)
		weight := float64(math.Ln2 / math.Pi * math.Sqrt(tau))
		if k == from || k == to {
			weight *= geometric
		}
		r.solve(tau)
		visit(weight, r)
	}
}

// A root is Z for V + κ·11', as far as the search needs it.
type root struct {
	diagonal []float64
	tilt     []float64 // the solution m of Z·m = 1
}

// rootOf returns the root's diagonal and the solution of Z·m = 1. The rank-one part enters each resolvent by the
// formula of Sherman & Morrison (1950): with w = S⁻¹v and y = u'w, S⁻¹ becomes S⁻¹ + κ·ww'/(1 + κτy), and m is D
// times the integral of w/(1 + κτy).
func (w *Workload) rootOf(u []float64, kappa float64) root {
	out := root{make([]float64, w.n), make([]float64, w.n)}
	w.integrate(u, 1/(w.trace(u)+kappa), w.spectralBound(u), func(weight float64, r *resolvent) {
		share := weight / (1 + float64(kappa*r.tau*r.leaked))
		for j, leak := range r.leaks {
			each := float64(share * leak)
			out.diagonal[j] += float64(weight*r.centre[j]) + float64(kappa*each*leak)
			out.tilt[j] += each
		}
	})
	for j, x := range u {
		out.tilt[j] *= x
	}
	return out
}

// rootMatrix returns Z for V + κ·11', row by row; only j ≤ k is filled.
func (w *Workload) rootMatrix(u []float64, kappa float64) []float64 {
	n := w.n
	z := make([]float64, n*n)
	w.integrate(u, 1/(w.trace(u)+kappa), w.spectralBound(u), func(weight float64, r *resolvent) {
		share := float64(kappa*weight) / (1 + float64(kappa*r.tau*r.leaked))
		for j := range n {
			row, entry, each := z[j*n:(j+1)*n], float64(weight*r.centre[j]), float64(share*r.leaks[j])
			row[j] += entry + float64(each*r.leaks[j])
			for k := j + 1; k < n; k++ {
				entry = float64(entry * r.back[k])
				row[k] += entry + float64(each*r.leaks[k])
			}
		}
	})
	return z
}
