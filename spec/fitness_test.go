package spec

import (
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFitIsReadInItsOrder(t *testing.T) {
	for _, c := range []struct {
		name, classes string
		want          []FitClass
	}{
		{"named by the office", "{precise: 5%, use with caution: 1/3, unreliable: rest}",
			[]FitClass{{"precise", big.NewRat(1, 20)}, {"use with caution", big.NewRat(1, 3)}, {Name: "unreliable"}}},
		{"the rest without a name", "{usable: 0.2}", []FitClass{{"usable", big.NewRat(1, 5)}, {Name: "not fit"}}},
		{"up to the whole figure", "{\"2\": 1e-9, b: 100%}",
			[]FitClass{{"2", big.NewRat(1, 1e9)}, {"b", big.NewRat(1, 1)},
				{Name: "not fit"}}},
	} {
		src := baseSource()
		src.Text = strings.Replace(base, "privacy:", "fit: "+c.classes+"\nprivacy:", 1)
		release, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, release.Fit, cmp.Comparer(func(a, b *big.Rat) bool {
			return a == nil && b == nil || a != nil && b != nil && a.Cmp(b) == 0
		})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	release, err := Parse(baseSource())
	if err != nil || release.Fit != nil {
		t.Errorf("without a word the spec has the classes %v, %v", release.Fit, err)
	}
}

func TestPeriodIsReadWithItsParameters(t *testing.T) {
	src := baseSource()
	src.Text = strings.Replace(base, "population: adults", "population: adults, period: '${quarter}'", 1)
	release, err := Parse(src)
	if err != nil || release.About.Period != "2026q1" {
		t.Errorf("period %q, %v", release.About.Period, err)
	}
}
