package plan

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/plan/ranges"
	"github.com/dprelease/dprelease/plan/residual"
	"pgregory.net/rapid"
)

// Classes are read as they were written, and are refused where they are not written so.
func TestClassesOfAFactor(t *testing.T) {
	plain := Factor{Attribute: "a", Level: "b", Basis: Identity}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "categories")
		of, count := make([]int, n), 0
		for i := range of {
			of[i] = rapid.IntRange(0, count).Draw(t, "class")
			count = max(count, of[i]+1)
		}
		f, _, err := plain.Merged(of)
		if err != nil {
			t.Fatal(err)
		}
		got, classes, err := f.ClassesOf(n)
		if err != nil || !slices.Equal(got, of) || classes != count {
			t.Fatalf("%v is read as %v of %d, %v", of, got, classes, err)
		}
		if identity := count == n; identity != (f == plain) {
			t.Fatalf("%v is %+v", of, f)
		}
		if _, _, err := f.ClassesOf(n + 1); count < n && err == nil {
			t.Fatalf("%v passes for %d categories", of, n+1)
		}
	})
	for _, text := range []string{"", "0", "0 1 2", "0 1 1 ", "0  1 1", "0 1 01", "0 2 2", "1 1 1", "0 1 x", "0 -1 1",
		"0 1 +1", "0 1 99999999999999999999"} {
		if of, _, err := (Factor{Attribute: "a", Basis: mergedBasis, Classes: text}).ClassesOf(3); err == nil {
			t.Errorf("%q is read as %v", text, of)
		}
	}
	for _, f := range []Factor{{Attribute: "a", Basis: Residual}, {Attribute: "a", Basis: Ranges},
		{Attribute: "a", Basis: Identity, Classes: "0 0 0"}} {
		if of, _, err := f.ClassesOf(3); err == nil {
			t.Errorf("%+v is read as %v", f, of)
		}
	}
}

// A factor of ranges says all of its column's strategy, and others are written as before there were any.
func TestFactorsOfRangesSayTheirStrategy(t *testing.T) {
	all := []residual.Ranging{{Sums: residual.Prefixes, Method: residual.Haar},
		{Sums: residual.Ranges, Method: residual.HaarLaplace, Bits: 6}}
	for _, kappa := range ranges.Kappas {
		all = append(all, residual.Ranging{Sums: residual.Prefixes, Kappa: kappa},
			residual.Ranging{Sums: residual.Ranges, Kappa: kappa})
	}
	for _, want := range all {
		b, err := json.Marshal(Factor{Attribute: "age", Level: "half"}.Ranged(want))
		if err != nil {
			t.Fatal(err)
		}
		var f Factor
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Ranging(); err != nil || got != want {
			t.Errorf("%s: %+v, %v, written of %+v", b, got, err, want)
		}
	}
	b, err := json.Marshal(Factor{Attribute: "age", Basis: Identity})
	if want := `{"attribute":"age","basis":"identity"}`; err != nil || string(b) != want {
		t.Errorf("%s, expected %s", b, want)
	}
}
