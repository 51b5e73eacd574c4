package plan

import (
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

// TestSumMarginIsThatOfTheLaw convolves the probabilities themselves.
func TestSumMarginIsThatOfTheLaw(t *testing.T) {
	for _, c := range []struct {
		scale string
		n     int64
	}{{"1/4", 2}, {"1", 2}, {"3", 5}, {"10", 2}, {"7/2", 40}, {"25", 12}} {
		parameter, _ := new(big.Rat).SetString(c.scale)
		scale, _ := parameter.Float64()
		reach := int(60*scale) + 20
		one := make([]float64, 2*reach+1)
		a := math.Exp(-1 / scale)
		for x := -reach; x <= reach; x++ {
			one[x+reach] = (1 - a) / (1 + a) * math.Exp(-math.Abs(float64(x))/scale)
		}
		sum := one
		for range c.n - 1 {
			next := make([]float64, len(sum)+len(one)-1)
			for i, p := range sum {
				for j, q := range one {
					next[i+j] += p * q
				}
			}
			sum = next
		}
		centre := len(sum) / 2
		within := sum[centre]
		want := int64(0)
		for within < 0.95 {
			want++
			within += 2 * sum[centre+int(want)]
		}
		m := budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: parameter, L1: big.NewInt(1), L2Squared: big.NewInt(1)}
		margin, attained := sumMargin(m, c.n, 0.95)
		if margin != want || math.Abs(attained-within) > 1e-9 {
			t.Errorf("%d draws of scale %s: margin %d attaining %v, by the law %d and %v", c.n, c.scale, margin, attained, want, within)
		}
	}
}

// TestSumMarginOfMuchNoise: for large scales the sum of n draws is the scale times that of n continuous Laplace draws, whose
// 95 % margin is 5.6925713 for n = 4. A scale that is no power of two loses the digits of 1 − a where they are not kept.
func TestSumMarginOfMuchNoise(t *testing.T) {
	for _, scale := range []int64{3_000_001, 3_000_000_001, 3_000_000_000_001, 700_000_000_000_001} {
		m := budget.Mechanism{Kind: budget.DiscreteLaplace, Parameter: big.NewRat(scale, 1), L1: big.NewInt(1), L2Squared: big.NewInt(1)}
		margin, attained := sumMargin(m, 4, 0.95)
		if ratio := float64(margin) / float64(scale); math.Abs(ratio-5.6925713) > 1e-6 || math.Abs(attained-0.95) > 1e-6 {
			t.Errorf("scale %d: margin %v scales, attaining %v", scale, ratio, attained)
		}
		if one, level := sumMargin(m, 1, 0.95); one < scale || level < 0.95 {
			t.Errorf("scale %d: one draw has a margin of %d, attaining %v", scale, one, level)
		}
	}
}
