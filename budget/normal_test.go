package budget

import (
	"math"
	"testing"
)

// normalTable holds z, P(Z > z), S(z) and D(z) to 20 digits, calculated independently of this program.
var normalTable = []struct{ z, tail, scaled, slope float64 }{
	{0, 0.5, 0.5, 0.39894228040143267794},
	{0.125, 0.45026177516988710702, 0.453793222040892356, 0.34221812764632113344},
	{0.75, 0.22662735237686819933, 0.30023246233995093637, 0.17376793364646947566},
	{1.5, 0.066807201268858066004, 0.20578066697739469078, 0.090271279935340641764},
	{3.25, 0.00057702504239076704292, 0.11345206212929864066, 0.030223078481212095781},
	{6, 9.865876450376981407e-10, 0.064779314324446849326, 0.010266394454751581984},
	{9.5, 1.0494515075362607493e-21, 0.041543288501733550378, 0.0042810396349639493496},
	{17, 4.1059962020989062896e-65, 0.023386820284968527617, 0.0013663355569677084455},
	{25, 3.0566967063825609164e-138, 0.015932280495565141595, 0.00063526801230413805888},
	{37.5, 4.6053530095819548438e-308, 0.010630911764857256879, 0.0002830892192855449671},
	{100, 0, 0.0039890239813568099764, 0.000039882265751680302754},
	{1e6, 0, 3.9894228040103373566e-7, 3.989422804002358511e-13},
	{1e12, 0, 3.9894228040143267794e-13, 3.9894228040143267794e-25},
}

func TestNormalTailsMatchTheTable(t *testing.T) {
	for _, c := range normalTable {
		assertRelative(t, "S", scaledTail(c.z), c.scaled, 0x1p-49)
		assertRelative(t, "D", scaledSlope(c.z), c.slope, 0x1p-47)
		if c.tail > 1e-300 {
			assertRelative(t, "Q", normalTail(c.z), c.tail, 0x1p-48)
			assertRelative(t, "ln Q", logNormalTail(c.z), math.Log(c.tail), 0x1p-48)
		}
		assertRelative(t, "1−Q", normalTail(-c.z), 1-c.tail, 0x1p-48)
	}
}

func TestNormalTailAgreesWithPackageMath(t *testing.T) {
	for z := -9.0; z < 36; z += 0.0137 {
		// math.Erfc of a rounded argument is off by z²·2⁻⁵³ besides its own error.
		want := math.Erfc(z/math.Sqrt2) / 2
		assertRelative(t, "Q", normalTail(z), want, 1e-15+3e-16*z*z)
	}
}

func TestScaledSlopeBelowZeroIsTheDerivative(t *testing.T) {
	for z := -0.99; z < 0; z += 0.09 {
		const step = 1e-4
		tail := func(z float64) float64 { return math.Exp(z*z/2) * math.Erfc(z/math.Sqrt2) / 2 }
		want := (tail(z-step) - tail(z+step)) / (2 * step) // off by step²·S‴/6 < 1e-8
		assertRelative(t, "D", scaledSlope(z), want, 1e-7)
	}
}

func TestNormalQuantileInvertsTheTail(t *testing.T) {
	for _, p := range []float64{1e-300, 1e-100, 1e-16, 1e-9, 1e-5, 0.02275, 0.3, 0.499999, 0.5, 0.75, 0.999,
		1 - 1e-15} {
		z := NormalQuantile(p)
		// A change of z by 1e-13·(1+|z|) moves Q by at most (1+z)² times that.
		assertRelative(t, "Q of the quantile", math.Erfc(z/math.Sqrt2)/2, p, 1e-13*(1+z*z))
	}
	if !math.IsInf(NormalQuantile(0), 1) || !math.IsInf(NormalQuantile(1), -1) ||
		!math.IsInf(NormalQuantile(math.NaN()), 1) {
		t.Error("no infinite quantile at the ends")
	}
}

func TestNormalTailAtTheEdges(t *testing.T) {
	inf := math.Inf(1)
	if normalTail(inf) != 0 || normalTail(-inf) != 1 || normalTail(50) != 0 || normalTail(-50) != 1 ||
		!math.IsNaN(normalTail(math.NaN())) {
		t.Error("normalTail at the edges")
	}
}
