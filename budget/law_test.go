package budget

import (
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

// lawTable is one law of vectors/noise_tables.json: figures calculated independently of this program with 500 bits.
type lawTable struct {
	Law       string            `json:"law"`
	Sigma     float64           `json:"sigma"`
	Scale     float64           `json:"scale"`
	P0        string            `json:"p0"`
	Variance  string            `json:"variance"`
	FoldedCDF map[string]string `json:"folded_cdf_floor_2p64_hex"`
}

func (l lawTable) mechanism() Mechanism {
	one := big.NewInt(1)
	if l.Law == "discrete_gaussian" {
		sigma := new(big.Rat).SetFloat64(l.Sigma)
		return Mechanism{DiscreteGaussian, sigma.Mul(sigma, sigma), one, one, nil, Shares{}}
	}
	return Mechanism{DiscreteLaplace, new(big.Rat).SetFloat64(l.Scale), one, one, nil, Shares{}}
}

func readLawTables(t *testing.T) []lawTable {
	t.Helper()
	data, err := os.ReadFile(testkit.Shared(t, "vectors/noise_tables.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tables []lawTable `json:"tables"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Tables) == 0 {
		t.Fatal("no tables in noise_tables.json")
	}
	return file.Tables
}

func assertRelative(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g (relative %.2g, allowed %.2g)", what, got, want, math.Abs(got/want-1),
			tolerance)
	}
}

func TestLawsMatchTheExactTables(t *testing.T) {
	for _, table := range readLawTables(t) {
		m := table.mechanism()
		name := string(m.Kind) + " " + FormatRat(m.Parameter)
		variance, _ := strconv.ParseFloat(table.Variance, 64)
		assertRelative(t, name+" variance", m.Variance(), variance, 1e-13)
		p0, _ := strconv.ParseFloat(table.P0, 64)
		_, attained := m.Margin(0)
		assertRelative(t, name+" P(0)", attained, p0, 1e-13)
		assertTailsMatch(t, name, m, table.FoldedCDF)
		if hasEveryEntry(table.FoldedCDF) {
			assertMarginsMatch(t, name, m, table.FoldedCDF)
		}
	}
}

// assertTailsMatch compares P(|X| > m) with 1 − the table, absolutely where the
// table's 64 bits end and relatively before that.
func assertTailsMatch(t *testing.T, name string, m Mechanism, folded map[string]string) {
	t.Helper()
	tail := m.Kind.law().tailFunction(nearest(m.Parameter))
	for key, hex := range folded {
		at, _ := strconv.ParseInt(key, 10, 64)
		cdf, _ := strconv.ParseUint(hex, 16, 64)
		want := float64(-cdf) / 0x1p64 // 1 − cdf/2^64
		if got := tail(at); math.Abs(got-want) > 1e-12*want+0x1p-63 {
			t.Errorf("%s: P(|X|>%d) = %.17g, table %.17g", name, at, got, want)
		}
	}
}

func hasEveryEntry(folded map[string]string) bool {
	for m := range len(folded) {
		if _, ok := folded[strconv.Itoa(m)]; !ok {
			return false
		}
	}
	return true
}

// assertMarginsMatch finds each margin in the table itself.
func assertMarginsMatch(t *testing.T, name string, m Mechanism, folded map[string]string) {
	t.Helper()
	for _, confidence := range []float64{0.01, 0.5, 0.6827, 0.9, 0.95, 0.99, 0.999, 0.999999, 1 - 1e-9} {
		want := int64(0)
		var attained float64
		for ; ; want++ {
			cdf, err := strconv.ParseUint(folded[strconv.FormatInt(want, 10)], 16, 64)
			if err != nil {
				t.Fatalf("%s: the table has no entry %d", name, want)
			}
			if attained = float64(cdf) / 0x1p64; attained >= confidence {
				break
			}
		}
		got, level := m.Margin(confidence)
		if got != want || math.Abs(level-attained) > 1e-13 {
			t.Errorf("%s: Margin(%v) = %d, %.16g; table %d, %.16g", name, confidence, got, level, want, attained)
		}
	}
}

func TestGaussianFormsAgreeWhereTheyMeet(t *testing.T) {
	for _, sigmaSquared := range []float64{poissonFrom, 3, 10} {
		direct := 1 + 2*gaussianUpperSum(sigmaSquared, 1)
		assertRelative(t, "normaliser", gaussianNormaliser(sigmaSquared), direct, 4e-16)
	}
	assertRelative(t, "variance below the seam", discreteGaussian{}.variance(math.Nextafter(poissonFrom, 0)),
		poissonFrom, 1e-15)
	for _, sigmaSquared := range []float64{eulerFrom, eulerFrom + 1.25, 1e8} {
		sigma := math.Sqrt(sigmaSquared)
		for _, z := range []float64{0, 0.1, 1, 1.96, 1.999, 2, 2.001, 3, 6, 12, 30} {
			from := math.Floor(z*sigma) + 1
			assertRelative(t, "tail", gaussianUpperSumByEuler(sigmaSquared, from),
				gaussianUpperSum(sigmaSquared, from), 1e-12)
		}
	}
}

func TestMarginsOfHugeNoiseAreTheContinuousOnes(t *testing.T) {
	one := big.NewInt(1)
	wide := Mechanism{DiscreteGaussian, new(big.Rat).SetInt(new(big.Int).Lsh(one, 100)), one, one, nil, Shares{}}
	margin, attained := wide.Margin(0.95)
	assertRelative(t, "Gaussian margin", float64(margin), 1.9599639845400542*0x1p50, 1e-12)
	assertRelative(t, "attained", attained, 0.95, 1e-12)
	slow := Mechanism{DiscreteLaplace, new(big.Rat).SetInt(new(big.Int).Lsh(one, 50)), one, one, nil, Shares{}}
	margin, attained = slow.Margin(0.95)
	assertRelative(t, "Laplace margin", float64(margin), math.Log(20)*0x1p50, 1e-12)
	assertRelative(t, "attained", attained, 0.95, 1e-12)
}

func TestMarginAtTheEdges(t *testing.T) {
	m, err := LaplaceFor(big.NewInt(1), big.NewRat(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, confidence := range []float64{1, 2, math.Inf(1), math.NaN()} {
		if margin, attained := m.Margin(confidence); margin != math.MaxInt64 || attained != 1 {
			t.Errorf("Margin(%v) = %d, %v", confidence, margin, attained)
		}
	}
	if margin, attained := m.Margin(-1); margin != 0 || attained <= 0 {
		t.Errorf("Margin(-1) = %d, %v", margin, attained)
	}
	tiny := Mechanism{DiscreteGaussian, big.NewRat(1, 1<<60), big.NewInt(1), big.NewInt(1), nil, Shares{}}
	if margin, attained := tiny.Margin(0.999); margin != 0 || attained != 1 || tiny.Variance() != 0 {
		t.Errorf("σ² = 2⁻⁶⁰: margin %d at %v, variance %v", margin, attained, tiny.Variance())
	}
}
