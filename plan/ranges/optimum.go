package ranges

import (
	"fmt"
	"math"
	"slices"
)

// An Optimum is a strategy X for a workload whose sum of variances, tr(V·X⁻¹) at column norms of at most 1, is
// minimal to within the gap of Lower and Upper.
type Optimum struct {
	Workload *Workload
	// Kappa is the weight of the total in addition to the workload: the strategy is for V + κ·11'. A column that is
	// released alone has κ = 0; the larger the part of other columns in the marginals' error, the larger is the best κ.
	Kappa float64
	// Weights are the dual weights u, of sum 1: Lower is (tr (D_u^½·(V+κ11')·D_u^½)^½)², a lower bound on the sum of
	// variances of all strategies of column norms 1, and Upper is the sum that X has.
	Weights      []float64
	Lower, Upper float64
	// Tilt is t, of sum 1: how the total is divided if nothing else is known. The residual R of X has R·t = 0, and X =
	// share·11' + (1−share)·R'R.
	Tilt []float64
	// Total is ‖W·t‖², what variance 1 on the total adds to the sum of variances, and
	// Residual is ‖W·G‖² (Frobenius), what variance 1 on each row of R adds, where
	// [1'; R]⁻¹ = [t G] and the columns of R have norm 1.
	Total, Residual float64

	share, largest float64 // of the total in X; of the diagonal of X before scaling
}

const (
	// certified is the gap to which the sum of variances is minimised. Column norms are equal to within it, so it also
	// bounds the cost of the largest norm.
	certified = 1e-5
	// maxRounds bounds the search.
	maxRounds = 1000
)

// Optimum finds the strategy for V + κ·11'. It returns an error if κ < 0 or if the search does not end within its
// rounds.
//
// For weights u on the simplex and D = diag(u), tr(V·X⁻¹) subject to Σ u_j·X_jj ≤ 1 is least for X =
// D^-½·(D^½VD^½)^½·D^-½/f with f = tr (D^½VD^½)^½, where it is f²: a lower bound, as the norms are bounded one by
// one. X over its largest norm is a strategy. Weights rise where the norm is above 1: u ← u·X_jj². The exponent 1
// would ascend too (it is the fixed point of the optimality condition X_jj = 1); the derivative of log X_jj with
// respect to log u has eigenvalues between −½ and 0, so that 2 still contracts all ways, twice as far on the slow
// ones.
func (w *Workload) Optimum(kappa float64) (*Optimum, error) {
	if !(kappa >= 0) || math.IsInf(kappa, 1) {
		return nil, fmt.Errorf("the weight of the total must be 0 or more, it is %v", kappa)
	}
	u := slices.Repeat([]float64{1 / float64(w.n)}, w.n)
	for range maxRounds {
		r := w.rootOf(u, kappa)
		var f, largest float64
		for j, z := range r.diagonal {
			f += float64(u[j] * z)
			largest = math.Max(largest, z)
		}
		largest /= f
		if largest <= 1+certified {
			return w.newOptimum(kappa, u, r, f, largest), nil
		}
		var sum float64
		for j, z := range r.diagonal {
			x := z / f
			u[j] = float64(u[j] * x * x)
			sum += u[j]
		}
		for j := range u {
			u[j] /= sum
		}
	}
	return nil, fmt.Errorf("the search for the best strategy for %d categories did not end in %d rounds", w.n,
		maxRounds)
}

// newOptimum works out the figures of the last round. With X = Z/(f·largest), X⁻¹·1 is f·largest·m for the m of Z·m =
// 1; the largest part of 11' that X holds is share = 1/(1'X⁻¹1), and X⁻¹ = tt'/share + GG'/(1−share).
func (w *Workload) newOptimum(kappa float64, u []float64, r root, f, largest float64) *Optimum {
	o := &Optimum{Workload: w, Kappa: kappa, Weights: u, Lower: float64(f * f), Tilt: r.tilt, largest: largest}
	o.Upper = float64(o.Lower * largest)
	var sum float64
	for _, m := range r.tilt {
		sum += m
	}
	for j := range o.Tilt {
		o.Tilt[j] /= sum
	}
	o.share = 1 / float64(sum*f*largest)
	o.Total = w.Norm(o.Tilt)
	o.Residual = float64((1 - o.share) * (o.Upper - (o.Total+kappa)/o.share))
	return o
}

// strategyMatrix returns the matrix X of the strategy, scaled so that its column norms are at most 1, row by row. Only
// the entries X_jk with j ≤ k are filled, as X is symmetric.
func (o *Optimum) strategyMatrix() []float64 {
	x, n := o.Workload.rootMatrix(o.Weights, o.Kappa), o.Workload.n
	var f float64
	for j, u := range o.Weights {
		f += float64(u * x[j*n+j])
	}
	f *= o.largest
	for i := range x {
		x[i] /= f
	}
	return x
}

// Kappas are the weights of the total from which a plan chooses. If the cost of marginals is a concave function of
// Total and Residual that rises with both, as the least sum of variances is, no other strategy of Gaussian noise of
// the form "the total and a residual" does better than the best κ ≥ 0, of which the list is a sample.
var Kappas = []float64{0, .5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}
