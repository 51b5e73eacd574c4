package synth

import (
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
)

// TestStreamIsBound: any change of a sealed folder or of the purpose gives another stream, and no two changes give the
// same one. Two streams begin with the same word by chance with a probability of 2⁻⁶⁴.
func TestStreamIsBound(t *testing.T) {
	s := plannedSetting(t, []int{2, 2, 2}, 0, big.NewRat(1, 1), big.NewRat(1, 1), big.NewRat(1, 1))
	build := func() *measured.Sealed {
		return s.sealedAnswers(t, [][]int64{{1, 2}, {3, 4}, {5, 6}},
			map[[2]int][]int64{{0, 1}: {1, 2, 3, 4}, {0, 2}: {5, 6, 7, 8}}, [2]int{0, 1}, [2]int{0, 2})
	}
	first := newStream(build(), "rows").nextWord()
	if newStream(build(), "rows").nextWord() != first {
		t.Fatal("equal measurements give different streams")
	}
	seen := map[uint64]string{first: "no change", newStream(build(), "columns").nextWord(): "another purpose"}
	if len(seen) != 2 {
		t.Error("another purpose gives the same stream")
	}
	for name, change := range map[string]func(*measured.Sealed){
		"another plan": func(m *measured.Sealed) {
			other := *m.Plan.Plan()
			other.Corrects = "another"
			m.Plan = compiled.Of(&other)
		},
		"another definition": func(m *measured.Sealed) { m.Measured[0].Measurement.ID = "another" },
		"another answer": func(m *measured.Sealed) {
			m.Measured[2] = withAnswers(m.Measured[2].Measurement, []int64{5, 7})
		},
		"an answer moved": func(m *measured.Sealed) {
			m.Measured[0] = withAnswers(m.Measured[0].Measurement, []int64{1, 2, 3})
			m.Measured[1] = withAnswers(m.Measured[1].Measurement, []int64{4})
		},
		"another choice": func(m *measured.Sealed) { m.Rounds[0].All[0].Choice = 2 },
		"another pair":   func(m *measured.Sealed) { m.Rounds[0].All[0].Measured = m.Rounds[0].All[1].Measured },
		"another answer of a pair": func(m *measured.Sealed) {
			m.Rounds[0].All[1].Measured = withAnswers(m.Rounds[0].All[1].Measured.Measurement, []int64{5, 6, 7, 9})
		},
		"a round less":  func(m *measured.Sealed) { m.Rounds[0].All = m.Rounds[0].All[:1] },
		"a method more": func(m *measured.Sealed) { m.Rounds = append(m.Rounds, measured.Rounds{}) },
		"a round of the second": func(m *measured.Sealed) {
			m.Rounds = []measured.Rounds{{All: m.Rounds[0].All[:1]}, {All: m.Rounds[0].All[1:]}}
		},
	} {
		m := build()
		change(m)
		word := newStream(m, "rows").nextWord()
		if other, ok := seen[word]; ok {
			t.Errorf("%s and %s give the same stream", name, other)
		}
		seen[word] = name
	}
}
