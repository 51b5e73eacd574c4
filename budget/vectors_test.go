package budget

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testkit"
)

var vectorsFile = flag.String("vectors", "",
	"absolute path of a file of accounting cases; without it ../shared/vectors/accounting.json beside the project")

// vector is one case of a file of accounting vectors, or a part of one.
type vector struct {
	ID             string
	Kind           string
	Inputs         map[string]any
	Expected       any // a number, a map or list of numbers, or nil for impossible
	ExpectedDigits any `json:"expected_digits"`
	Tolerance      tolerance
	Sound          string
}

type tolerance struct{ Abs, Rel float64 }

func (v vector) has(name string) bool { return v.Inputs[name] != nil }

func (v vector) input(t *testing.T, name string) float64 {
	t.Helper()
	x, ok := v.Inputs[name].(float64)
	if !ok {
		t.Fatalf("%s %s has no number %q", v.ID, v.Kind, name)
	}
	return x
}

func (v vector) inputOr(name string, otherwise float64) float64 {
	if x, ok := v.Inputs[name].(float64); ok {
		return x
	}
	return otherwise
}

func (v vector) text(t *testing.T, name string) string {
	t.Helper()
	x, ok := v.Inputs[name].(string)
	if !ok {
		t.Fatalf("%s %s has no text %q", v.ID, v.Kind, name)
	}
	return x
}

func (v vector) floats(t *testing.T, name string) []float64 {
	t.Helper()
	list, ok := v.Inputs[name].([]any)
	if !ok {
		t.Fatalf("%s %s has no list %q", v.ID, v.Kind, name)
	}
	var numbers []float64
	for _, x := range list {
		number, ok := x.(float64)
		if !ok {
			t.Fatalf("%s %s: %v in %q is no number", v.ID, v.Kind, x, name)
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// parts lists the objects under "parts", each with its own inputs.
func (v vector) parts(t *testing.T) []vector {
	t.Helper()
	list, ok := v.Inputs["parts"].([]any)
	if !ok {
		t.Fatalf("%s %s has no parts", v.ID, v.Kind)
	}
	var parts []vector
	for _, x := range list {
		inputs, ok := x.(map[string]any)
		if !ok {
			t.Fatalf("%s %s: part %v is no object", v.ID, v.Kind, x)
		}
		parts = append(parts, vector{ID: v.ID, Kind: v.Kind, Inputs: inputs})
	}
	return parts
}

func usualVectors(t *testing.T) []vector {
	t.Helper()
	return readVectors(t, testkit.Shared(t, "vectors/accounting.json"))
}

func readVectors(t *testing.T, path string) []vector {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if len(vectors) == 0 {
		t.Fatalf("%s has no cases", path)
	}
	return vectors
}

// TestVectors checks every case of the file that the flag names, or of the default file, against the value calculated
// independently of this program: within its tolerance, and never on its unsound side.
func TestVectors(t *testing.T) {
	if *vectorsFile != "" {
		assertVectors(t, readVectors(t, *vectorsFile))
		return
	}
	assertVectors(t, usualVectors(t))
}

// TestVectorsOfClosedForms checks the cases that testdata/closedform.py writes.
func TestVectorsOfClosedForms(t *testing.T) {
	assertVectors(t, readVectors(t, filepath.Join("testdata", "closedform.json")))
}

// computeOf returns the computation for a kind of case, nil if there is none.
func computeOf(kind string) func(t *testing.T, v vector) any {
	for _, kinds := range []map[string]func(t *testing.T, v vector) any{closedFormKinds, numericalKinds, momentKinds,
		derivedKinds} {
		if compute := kinds[kind]; compute != nil {
			return compute
		}
	}
	return nil
}

// assertVectors checks the figures of all cases, including those that a case bounds. It fails for a case of a kind that
// is neither computed nor bounded.
func assertVectors(t *testing.T, vectors []vector) {
	checked, waiting := map[string]int{}, map[string]int{}
	for _, v := range vectors {
		t.Run(v.ID+"_"+v.Kind, func(t *testing.T) {
			compute, bounds := computeOf(v.Kind), boundedKinds[v.Kind]
			if compute == nil && bounds == nil {
				t.Fatalf("nothing computes or bounds the kind %q", v.Kind)
			}
			if os.Getenv("DPRELEASE_LONG") == "" && slices.Contains(slowKinds, v.Kind) {
				waiting[v.Kind]++
				t.Skip("takes some ten seconds: set DPRELEASE_LONG to run it")
			}
			checked[v.Kind]++
			if own, ok := ownTolerances[v.Kind]; ok {
				v.Tolerance = own
			}
			if momentKinds[v.Kind] != nil {
				v.Sound = "" // the bound on rounding is added where a moment is used
			}
			if compute != nil {
				for _, fault := range faults(t, v, compute(t, v)) {
					t.Error(fault)
				}
			}
			if bounds != nil {
				for _, fault := range bounds(t, v) {
					t.Error(fault)
				}
			}
		})
	}
	t.Logf("%d vectors of %d kinds checked; %d of %d kinds (%s) wait for DPRELEASE_LONG", total(checked), len(checked),
		total(waiting), len(waiting), strings.Join(slices.Sorted(maps.Keys(waiting)), ", "))
}

func total(counts map[string]int) int {
	all := 0
	for _, count := range counts {
		all += count
	}
	return all
}

// faults returns how got, a number or a map or list of numbers, fails the case. If a case expects no figure, +Inf meets
// it: no ε is enough.
func faults(t *testing.T, v vector, got any) []string {
	t.Helper()
	if v.Expected == nil {
		if x, ok := got.(float64); ok && math.IsInf(x, 1) {
			return nil
		}
		return []string{fmt.Sprintf("got %v where nothing is possible", got)}
	}
	want, figures := figuresOf(t, v.Expected), figuresOf(t, got)
	var digits map[string]string
	if v.ExpectedDigits != nil {
		digits = digitsOf(t, v.ExpectedDigits)
	}
	var faults []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		figure, ok := figures[key]
		if !ok {
			faults = append(faults, fmt.Sprintf("%q: no figure", key))
			continue
		}
		delete(figures, key)
		allowed := math.Max(v.Tolerance.Abs, v.Tolerance.Rel*math.Abs(want[key]))
		if !(math.Abs(figure-want[key]) <= allowed) {
			faults = append(faults, fmt.Sprintf("%q: got %.17g, want %.17g ± %.2g", key, figure, want[key], allowed))
		}
		if text := digits[key]; text != "" && isUnsound(t, v.Sound, figure, text) {
			faults = append(faults, fmt.Sprintf("%q: got %.17g, on the unsound side of %s", key, figure, text))
		}
	}
	for key, figure := range figures { // what is not named is nothing
		if !(math.Abs(figure) <= v.Tolerance.Abs) {
			faults = append(faults, fmt.Sprintf("%q: got %.17g, want nothing", key, figure))
		}
	}
	return faults
}

// figuresOf returns each figure by its key or index, or by "" if there is only one.
func figuresOf(t *testing.T, value any) map[string]float64 {
	t.Helper()
	figures := map[string]float64{}
	switch value := value.(type) {
	case float64:
		figures[""] = value
	case []float64:
		for i, x := range value {
			figures[fmt.Sprint(i)] = x
		}
	case map[string]float64:
		maps.Copy(figures, value)
	case []any:
		for i, x := range value {
			figures[fmt.Sprint(i)] = x.(float64)
		}
	case map[string]any:
		for key, x := range value {
			figures[key] = x.(float64)
		}
	default:
		t.Fatalf("%v is neither a number nor a map or list of them", value)
	}
	return figures
}

func digitsOf(t *testing.T, value any) map[string]string {
	t.Helper()
	digits := map[string]string{}
	switch value := value.(type) {
	case string:
		digits[""] = value
	case []any:
		for i, x := range value {
			digits[fmt.Sprint(i)] = x.(string)
		}
	case map[string]any:
		for key, x := range value {
			digits[key] = x.(string)
		}
	default:
		t.Fatalf("expected_digits %v", value)
	}
	return digits
}

// isUnsound reports whether got lies, by more than the rounding of the digits, on the side of the exact figure that a
// sound accountant never reaches.
func isUnsound(t *testing.T, sound string, got float64, digits string) bool {
	t.Helper()
	const precision = 200
	exact, _, err := big.ParseFloat(digits, 10, precision, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	margin := new(big.Float).SetPrec(precision).Mul(exact, big.NewFloat(roundingOf(digits)))
	distance := new(big.Float).SetPrec(precision).SetFloat64(got)
	distance.Sub(distance, exact)
	if strings.HasPrefix(sound, ">") {
		distance.Neg(distance)
	}
	return sound != "" && distance.Cmp(margin.Abs(margin)) > 0
}

// roundingOf bounds how far digits are from the exact figure, relatively: 10⁻²⁴ for
// 25 digits. Figures of 16 or 17 digits come from a calculation in double precision
// that is good to 1e-10; fewer are exact.
func roundingOf(digits string) float64 {
	mantissa, _, _ := strings.Cut(strings.ToLower(digits), "e")
	significant := strings.TrimLeft(strings.ReplaceAll(strings.TrimLeft(mantissa, "-+"), ".", ""), "0")
	switch n := len(significant); {
	case n > 17:
		return math.Pow(10, float64(1-n))
	case n > 15:
		return 1e-10
	}
	return 0
}

func exactly(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

func TestFaultsAreNoticed(t *testing.T) {
	single := func(expected float64, digits any, sound string, abs, rel float64) vector {
		v := vector{Expected: expected, ExpectedDigits: digits, Sound: sound}
		v.Tolerance.Abs, v.Tolerance.Rel = abs, rel
		return v
	}
	list := vector{Expected: []any{1.0, 2.0}}
	table := vector{Expected: map[string]any{"a": 1.0}, ExpectedDigits: map[string]any{"a": "1"}, Sound: "<="}
	for _, c := range []struct {
		v     vector
		got   any
		fault bool
	}{
		{single(1, nil, ">=", 0, 0.1), 1.09, false}, {single(1, nil, ">=", 0, 0.1), 0.91, false},
		{single(1, nil, ">=", 0, 0.1), 1.11, true},
		{single(1, nil, ">=", 0.2, 0.1), 1.19, false}, {single(1, nil, "", 0.2, 0.1), math.NaN(), true},
		{single(1, "1", ">=", 0, 0.1), 0.99999999999, true}, {single(1, "1", ">=", 0, 0.1), 1.0, false},
		{single(1, "1", "<=", 0, 0.1), 1.00000000001, true}, {single(1, "1", "", 0, 0.1), 1.00000000001, false},
		{single(0.1, "0.1000000000000000000000000", ">=", 0, 1e-9), 0.1, false},
		{single(0.3, "0.3000000000000000000000000", ">=", 0, 1e-9), 0.3, true},
		{list, []float64{1, 2}, false}, {list, []float64{1}, true}, {list, []float64{1, 2, 3}, true},
		{table, map[string]float64{"a": 1}, false}, {table, map[string]float64{"a": math.Nextafter(1, 2)}, true},
		{table, map[string]float64{"b": 1}, true},
		{vector{}, math.Inf(1), false}, {vector{}, 3.0, true},
	} {
		if found := faults(t, c.v, c.got); (len(found) > 0) != c.fault {
			t.Errorf("%v against %v: %v", c.got, c.v.Expected, found)
		}
	}
}
