package budget

import (
	"maps"
	"math"
	"testing"
)

// mutant plants a mistake in accounting in the inputs of a case. It returns false if the case offers no opportunity for
// that mistake.
type mutant struct {
	name  string
	plant func(inputs map[string]any) bool
}

// scaled multiplies an input.
func scaled(inputs map[string]any, name string, factor float64) bool {
	x, ok := inputs[name].(float64)
	if ok {
		inputs[name] = x * factor
	}
	return ok
}

// lessOne subtracts 1 from an input that is larger than 1.
func lessOne(inputs map[string]any, name string) bool {
	x, ok := inputs[name].(float64)
	if !ok || x <= 1 {
		return false
	}
	inputs[name] = x - 1
	return true
}

var mutants = []mutant{
	{"the sensitivity times 0.99", func(inputs map[string]any) bool {
		// e0 and a are sensitivity over scale; ε₀ stands for it in pure composition.
		planted := false
		for _, name := range []string{"l2_sensitivity", "l1_sensitivity", "linf", "e0", "epsilon0", "mu"} {
			planted = scaled(inputs, name, 0.99) || planted
		}
		return planted
	}},
	{"one partition too few", func(inputs map[string]any) bool {
		planted := lessOne(inputs, "l0")
		if planted {
			delete(inputs, "l2_sensitivity") // it is worked out from l0 again
		}
		return planted
	}},
	{"one composition too few", func(inputs map[string]any) bool { return lessOne(inputs, "k") }},
	{"a unit of integer sensitivity forgotten",
		func(inputs map[string]any) bool { return lessOne(inputs, "sensitivity") }},
	{"sampling twice", func(inputs map[string]any) bool {
		q, ok := inputs["sampling_prob"].(float64)
		inputs["sampling_prob"] = q * q
		return ok && q < 1
	}},
}

// TestPlantedMistakesBreakCases plants each mistake into every case that has room
// for it, and demands that the kinds concerned notice: a case of the figures that
// depend on it fails.
func TestPlantedMistakesBreakCases(t *testing.T) {
	vectors := usualVectors(t)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			planted, broken := map[string]int{}, map[string]int{}
			for _, v := range vectors {
				compute := closedFormKinds[v.Kind]
				if compute == nil {
					compute = derivedKinds[v.Kind]
				}
				inputs := maps.Clone(v.Inputs)
				if compute == nil || !m.plant(inputs) {
					continue
				}
				v.Inputs = inputs
				planted[v.Kind]++
				if len(faults(t, v, compute(t, v))) > 0 {
					broken[v.Kind]++
				}
			}
			t.Logf("planted %v, broken %v", planted, broken)
			for kind, count := range planted {
				// A single case may be blind, as one whose figure is 0.
				if count > 2 && broken[kind] == 0 {
					t.Errorf("%s: none of %d cases breaks", kind, count)
				}
			}
			if len(broken) == 0 {
				t.Error("no case breaks")
			}
		})
	}
}

// TestDeltaCountedOnceBreaksACase counts the δ₀ of k mechanisms only once.
func TestDeltaCountedOnceBreaksACase(t *testing.T) {
	broken := 0
	for _, v := range usualVectors(t) {
		if v.Kind != "kov.delta" {
			continue
		}
		delta, count := v.inputOr("delta0", 0), v.inputOr("k", 1)
		once := []step{pureStep(v.input(t, "epsilon0"), 0, count), pureStep(0, delta, 1)}
		if delta > 0 && count > 1 && len(faults(t, v, deltaOf(v.input(t, "epsilon"), once...))) > 0 {
			broken++
		}
	}
	if broken == 0 {
		t.Error("no case breaks")
	}
}

// TestNoiseBelowTheCalibratedBreaksACase takes a σ a millionth too small.
func TestNoiseBelowTheCalibratedBreaksACase(t *testing.T) {
	checked := 0
	for _, v := range usualVectors(t) {
		if v.Kind != "gaussian.sigma" || v.ExpectedDigits == nil {
			continue
		}
		checked++
		sigma := sigmaFor(t, v, 1) * (1 - 1e-6)
		if len(faults(t, v, sigma)) == 0 || math.IsNaN(sigma) {
			t.Errorf("%s: σ = %v passes", v.ID, sigma)
		}
	}
	if checked == 0 {
		t.Error("no case of gaussian.sigma with digits")
	}
}
