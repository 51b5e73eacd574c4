package release

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/describe"
)

// TestTheLedgerAgreesWithAReport: of one release the account's figure of one joint plan is the ε that its report says,
// at every δ that both say: of microdata with more than a dozen different measurements, and where a selection has a
// part of δ.
func TestTheLedgerAgreesWithAReport(t *testing.T) {
	split, marginals, left := "", "", 300
	for i := range 14 { // of as many different shares
		split += fmt.Sprintf("l%d: %d/300, ", i, 8+i)
		marginals += fmt.Sprintf("  m%d: {by: [%s], budget: l%d}\n", i, []string{"mode", "day"}[i%2], i)
		left -= 8 + i
	}
	text := strings.NewReplacer("tables: 1/2, rows: 1/2", fmt.Sprintf("%srows: %d/300", split, left),
		"marginals: {modes: {by: [mode], budget: tables}}\n", "marginals:\n"+marginals).Replace(releasetest.WalkSpec)
	shopped, policy := releasetest.ShopText("add-remove", "mst")
	for name, o := range map[string]releasetest.Office{
		"many measurements": releasetest.With(t, text, releasetest.WalkPolicy, releasetest.WalkRows()),
		"a part of δ":       releasetest.With(t, shopped, policy, releasetest.ShopRows()),
	} {
		t.Run(name, func(t *testing.T) {
			runRelease(t, o)
			all, err := optionsOf(o, "out").Account().Statements(t.Context(), []string{"trips"})
			if err != nil {
				t.Fatal(err)
			}
			loss, err := describe.PrivacyLoss(o.Plan)
			if err != nil {
				t.Fatal(err)
			}
			joint, compared := all[0].Joint, 0
			if joint == nil || joint.Summed {
				t.Fatalf("one joint plan: %+v", joint)
			}
			for _, at := range joint.At {
				have, _ := strconv.ParseFloat(at.Epsilon, 64)
				delta, _ := new(big.Rat).SetString(at.Delta)
				for _, e := range loss.Whole.Epsilons {
					if other, _ := new(big.Rat).SetString(e.Delta); other.Cmp(delta) == 0 {
						compared++
						if have > e.Epsilon || math.Abs(have-e.Epsilon) > 1e-3*e.Epsilon { // the report rounds up to four digits
							t.Errorf("at δ = %s the ledger says ε ≤ %s, and the report %g", at.Delta, at.Epsilon,
								e.Epsilon)
						}
					}
				}
			}
			if compared != 2 {
				t.Errorf("%d figures compared: %+v, %+v", compared, joint, loss.Whole.Epsilons)
			}
		})
	}
}
