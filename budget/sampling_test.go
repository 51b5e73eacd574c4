package budget

import (
	"math"
	"math/big"
	"testing"
)

// mixed is a pair of outcomes seen through a sample: (qP + (1−q)Q, Q).
func mixed(all []outcome, q float64) (present, absent []outcome) {
	for _, o := range all {
		p := q*o.p + (1-q)*o.q
		present, absent = append(present, outcome{p, o.q}), append(absent, outcome{o.q, p})
	}
	return present, absent
}

// TestSampledLossIsThatOfTheMixture compares δ with the hockey stick of a unit
// that is there with probability q, in both orders of the neighbours.
func TestSampledLossIsThatOfTheMixture(t *testing.T) {
	for _, m := range []Mechanism{noiseStep(DiscreteGaussian, "4", 3, 9), noiseStep(DiscreteLaplace, "3/2", 2, 4)} {
		shift, _ := m.worstShifts()
		for _, q := range []string{"1", "1/3", "1/100"} {
			rate := mustRat(t, q)
			loss, err := mustCompose(t, m).Sampled(rate)
			if err != nil {
				t.Fatal(err)
			}
			present, absent := mixed(outcomesOfShift(m, shift[0]), nearest(rate))
			for _, epsilon := range []float64{0.003, 0.04, 0.3, 0.9} {
				want := stickOf(present, epsilon)
				got := loss.DeltaAt(epsilon).Value
				if got < want-1e-15 || got > want*(1+1e-9)+1e-12 || got < stickOf(absent, epsilon)-1e-15 {
					t.Errorf("%s, q = %s, ε = %v: δ = %v, want %v, and %v for absent against present", m.Kind, q,
						epsilon, got, want,
						stickOf(absent, epsilon))
				}
				if want < 1e-9 {
					continue
				}
				back, err := loss.EpsilonAt(exactly(want))
				if err != nil || math.Abs(back.Value-epsilon) > 1e-6 || stickOf(present, back.Value) > want*(1+1e-9) {
					t.Errorf("%s, q = %s: ε at %v is %+v, %v; want %v", m.Kind, q, want, back, err, epsilon)
				}
			}
		}
	}
}

// TestNoAttackOnASampleBeatsItsRate tries all threshold tests, which are the best tests, for a present unit against an
// absent one.
func TestNoAttackOnASampleBeatsItsRate(t *testing.T) {
	m := noiseStep(DiscreteGaussian, "2", 2, 4)
	loss, err := mustCompose(t, m).Sampled(mustRat(t, "1/4"))
	if err != nil {
		t.Fatal(err)
	}
	present, _ := mixed(outcomesOfShift(m, Shift{2}), 0.25)
	for _, threshold := range []float64{-0.2, -0.05, 0, 0.1, 0.4, 0.8} {
		var falsePositive, truePositive float64
		for _, o := range present {
			if math.Log(o.p/o.q) > threshold {
				truePositive, falsePositive = truePositive+o.p, falsePositive+o.q
			}
		}
		got := loss.TruePositiveRate(falsePositive)
		if got < truePositive-1e-12 || got > truePositive+1e-9 {
			t.Errorf("an attack attains %v at %v; the bound is %v", truePositive, falsePositive, got)
		}
	}
	if got := loss.TruePositiveRate(0); !(got >= 0 && got < 1e-9) {
		t.Errorf("without false positives %v are found", got)
	}
}

func TestASampleIsDrawnOnceAtAProbability(t *testing.T) {
	loss := mustCompose(t, laplaceStep(t, "1"))
	for _, q := range []*big.Rat{nil, new(big.Rat), big.NewRat(-1, 2), big.NewRat(3, 2)} {
		if _, err := loss.Sampled(q); err == nil {
			t.Errorf("q = %v was accepted", q)
		}
	}
	sampled, err := loss.Sampled(big.NewRat(1, 2))
	if err != nil || sampled.Epsilon() != nil {
		t.Errorf("ε of a sample is no rational: %v, %v", sampled.Epsilon(), err)
	}
	if _, err := sampled.Sampled(big.NewRat(1, 2)); err == nil {
		t.Error("a sample of a sample")
	}
	// ln(1 + (e − 1)/2) at δ = 0, by mpmath.
	if bound, err := sampled.EpsilonAt(nil); err != nil || math.Abs(bound.Value-0.62011450695827752) > 1e-14 ||
		bound.Value < 0.62011450695827752 {
		t.Errorf("%+v, %v", bound, err)
	}
}

// TestAmplificationDoesNotOverflow takes an ε whose exponential is infinite: it
// loses ln(1/q).
func TestAmplificationDoesNotOverflow(t *testing.T) {
	if got, want := amplified(2000, 0.01), 2000+math.Log(0.01); !(got >= want*(1-1e-15) && got < want*(1+1e-14)) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The two directions of amplification are inverse to each other, each rounded to the safe side, also if e^ε is not
// finite.
func TestAmplificationIsUndone(t *testing.T) {
	for _, q := range []float64{1e-6, 0.3, 1} {
		for _, epsilon := range []float64{1e-9, 0.5, 29.9, 30.1, 700, 5000} {
			before := unamplified(epsilon, q)
			if want := epsilon - math.Log(q) + math.Log1p(-(1-q)*math.Exp(-epsilon)); epsilon > 1e-3 &&
				!(math.Abs(before-want) <= 1e-12*want) {
				t.Errorf("q = %v: %v comes from %v, want %v", q, epsilon, before, want)
			}
			if back := amplified(before, q); !(math.Abs(back-epsilon) <= 1e-13*max(1, epsilon)) {
				t.Errorf("q = %v: %v comes from %v, which becomes %v", q, epsilon, before, back)
			}
		}
	}
}

// TestBeforeSamplingIsWithinTheWhole compares the loss that a sample may have with the ε of the release by the theorem
// itself, with e^ε by its series in 200 bits: it stays within ε, and below it by less than the grid allows.
func TestBeforeSamplingIsWithinTheWhole(t *testing.T) {
	exp := func(x *big.Rat) *big.Float {
		sum, term := new(big.Float).SetPrec(200).SetInt64(1), new(big.Float).SetPrec(200).SetInt64(1)
		f := new(big.Float).SetPrec(200).SetRat(x)
		for n := int64(1); n < 400; n++ {
			term.Mul(term, f)
			term.Quo(term, new(big.Float).SetPrec(200).SetInt64(n))
			sum.Add(sum, term)
		}
		return sum
	}
	for _, epsilon := range []string{"1/1000", "1/3", "1", "5", "31", "40"} {
		for _, share := range []string{"1", "999/1000", "1/3", "1/10", "1/100000"} {
			e, q := mustRat(t, epsilon), mustRat(t, share)
			inner, delta, err := BeforeSampling(e, mustRat(t, "1e-9"), q)
			if err != nil {
				t.Fatal(err)
			}
			if want := new(big.Rat).Mul(delta, q); want.Cmp(mustRat(t, "1e-9")) != 0 {
				t.Errorf("ε = %s, q = %s: δ = %v", epsilon, share, delta)
			}
			// 1 + q(e^inner − 1) ≤ e^ε, and not so for a larger one.
			one, rate := big.NewFloat(1).SetPrec(200), new(big.Float).SetPrec(200).SetRat(q)
			whole := func(inner *big.Rat) *big.Float {
				x := exp(inner)
				x.Sub(x, one)
				x.Mul(x, rate)
				return x.Add(x, one)
			}
			more := new(big.Rat).Add(inner, big.NewRat(3, 1<<30))
			if limit := exp(e); whole(inner).Cmp(limit) > 0 || whole(more).Cmp(limit) <= 0 {
				t.Errorf("ε = %s, q = %s: %v for those who are drawn is not the largest within it", epsilon, share,
					inner)
			}
		}
	}
	for _, wrong := range [][3]string{{"1", "1/2", "1/3"}, {"0", "1e-9", "1/3"}, {"1", "1e-9", "0"}, {"1", "1e-9", "2"},
		{"1/10000000000", "1e-9", "1/2"}} {
		if _, _, err := BeforeSampling(mustRat(t, wrong[0]), mustRat(t, wrong[1]), mustRat(t, wrong[2])); err == nil {
			t.Errorf("ε, δ, q = %v: no error", wrong)
		}
	}
}
