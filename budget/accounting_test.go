package budget

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testdata"
)

// vector is one case of vectors/accounting.json.
type vector struct {
	ID             string
	Kind           string
	Inputs         map[string]any
	Expected       any
	ExpectedDigits any `json:"expected_digits"`
	Tolerance      struct{ Abs, Rel float64 }
	Sound          string
}

func (v vector) input(t *testing.T, name string) float64 {
	t.Helper()
	x, ok := v.Inputs[name].(float64)
	if !ok {
		t.Fatalf("%s has no number %q", v.ID, name)
	}
	return x
}

func exactly(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// built maps each kind of case that the package computes to how.
var built = map[string]func(t *testing.T, v vector) float64{
	"zcdp.delta_cks": func(t *testing.T, v vector) float64 {
		return ZCDPDelta(v.input(t, "rho"), v.input(t, "epsilon"))
	},
	"zcdp.eps_cks": func(t *testing.T, v vector) float64 {
		return ZCDPEpsilon(v.input(t, "rho"), v.input(t, "delta"))
	},
	"zcdp.rho_cks": func(t *testing.T, v vector) float64 {
		rho, err := RhoForEpsilonDelta(exactly(v.input(t, "epsilon")), exactly(v.input(t, "delta")))
		if err != nil {
			t.Fatal(err)
		}
		return nearest(rho)
	},
	"pure.zcdp_rho": func(t *testing.T, v vector) float64 {
		return roundUp(pureRho(exactly(v.input(t, "epsilon"))))
	},
}

// notBuiltYet lists the kinds that belong to accountants to come. A kind that is
// in neither list fails the test.
var notBuiltYet = []string{
	"approx.delta_zero_eps",
	"dgauss.cdf_truncated", "dgauss.delta_k", "dgauss.delta_truncated", "dgauss.delta_truncated_curve", "dgauss.sigma", "dgauss.std_truncated",
	"dlaplace.a_k", "dlaplace.delta", "dlaplace.delta_curve", "dlaplace.delta_k", "dlaplace.delta_k_hetero",
	"em.epsilon_k", "em.zcdp_rho",
	"gaussian.delta", "gaussian.delta_curve", "gaussian.epsilon", "gaussian.sigma", "gaussian.sigma_k", "gaussian.sigma_squared",
	"hetero.epsilon",
	"kov.delta", "kov.epsilon", "kov.epsilon0", "kov.grid_epsilon", "kov.hetero_delta",
	"laplace.delta", "laplace.delta_k", "laplace.delta_k_hetero", "laplace.scale_k",
	"partition.keep_probability",
	"pld.delta_composed", "pld.epsilon_for_delta", "pld.gaussian_hetero", "pld.gaussian_k", "pld.gaussian_k_eps", "pld.pmf_connect_dots", "pld.pmf_pessimistic",
	"psg.delta", "psg.delta_curve", "psg.delta_k", "psg.delta_replace", "psg.epsilon_k", "psg.sigma", "psg.sigma_k",
	"rdp.dlaplace", "rdp.exponential_mechanism", "rdp.gaussian", "rdp.laplace", "rdp.psg", "rdp.psg_k", "rdp.rr_replace", "rdp.rr_special",
	"rdp.to_delta", "rdp.to_epsilon", "rdp.to_epsilon_one_order",
	"rr.delta_k", "rr.pure_epsilon",
	"threshold.gaussian", "threshold.laplace",
	"tradeoff.gaussian_tpr", "tradeoff.rr_tpr",
	"zcdp.delta_standard", "zcdp.eps_standard",
}

func TestAccountingMatchesTheVectors(t *testing.T) {
	data, err := os.ReadFile(testdata.Shared(t, "vectors/accounting.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, v := range vectors {
		seen[v.Kind]++
		compute, ok := built[v.Kind]
		if !ok {
			if !slices.Contains(notBuiltYet, v.Kind) {
				t.Errorf("%s: kind %q is neither built nor listed as not built yet", v.ID, v.Kind)
			}
			continue
		}
		assertVector(t, v, compute(t, v))
	}
	for kind := range built {
		if seen[kind] == 0 {
			t.Errorf("no vector of kind %q", kind)
		}
	}
}

func assertVector(t *testing.T, v vector, got float64) {
	t.Helper()
	want := v.Expected.(float64)
	if allowed := math.Max(v.Tolerance.Abs, v.Tolerance.Rel*math.Abs(want)); math.Abs(got-want) > allowed {
		t.Errorf("%s %s: got %.17g, want %.17g ± %.2g", v.ID, v.Kind, got, want, allowed)
	}
	digits, ok := v.ExpectedDigits.(string)
	if !ok {
		return // a rounded figure cannot tell the sound side
	}
	exact, _, err := big.ParseFloat(digits, 10, 120, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	// The digits themselves are rounded, at the 25th place.
	margin := new(big.Float).Mul(exact, new(big.Float).SetPrec(120).SetFloat64(1e-24))
	distance := new(big.Float).SetPrec(120).SetFloat64(got)
	distance.Sub(distance, exact)
	if strings.HasPrefix(v.Sound, ">") && distance.Cmp(margin.Neg(margin)) < 0 ||
		strings.HasPrefix(v.Sound, "<") && distance.Cmp(margin) > 0 {
		t.Errorf("%s %s: got %.17g, on the unsound side of %s", v.ID, v.Kind, got, digits)
	}
}
