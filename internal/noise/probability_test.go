package noise

import (
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// TestDecisionsHaveExactlyTheirProbability walks through every decision with the probabilities of the vectors of
// partition selection: what is found is the float itself, with nothing left out.
func TestDecisionsHaveExactlyTheirProbability(t *testing.T) {
	text, err := os.ReadFile(testkit.Shared(t, "vectors/accounting.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Kind     string          `json:"kind"`
		Expected json.RawMessage `json:"expected"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, v := range vectors {
		if !strings.HasPrefix(v.Kind, "partition.keep") {
			continue
		}
		var expected map[string]float64
		if err := json.Unmarshal(v.Expected, &expected); err != nil {
			t.Fatal(err)
		}
		for n, p := range expected {
			f := walkAll(2, 0, func(c coins) int {
				if bernoulliFloat(c, p) {
					return 1
				}
				return 0
			})
			tried++
			// sums of 192 bits
			if low, high := f.bounds(1); low.Cmp(big.NewFloat(p)) != 0 || f.left.Cmp(big.NewFloat(1e-57)) > 0 {
				t.Errorf("π(%s) = %g is drawn with %s to %s", n, p, low.String(), high.String())
			}
		}
	}
	if tried < 20 {
		t.Errorf("%d probabilities were tried", tried)
	}
	for _, wrong := range []float64{-1e-9, 1.0000001} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is taken for a probability", wrong)
				}
			}()
			bernoulliFloat(nil, wrong)
		}()
	}
}
