package counted

import (
	"math"
	"math/big"
	"testing"
)

// TestReportsAreNearlyOptimal compares the variance of a count with the least that subset selection can have, over all
// supports of the question's own categories, which is the least that any randomiser can have (Ye and Barg 2018).
func TestReportsAreNearlyOptimal(t *testing.T) {
	for _, categories := range []int64{2, 10, 100, 1000} {
		for _, epsilon := range []float64{0.5, 1, 2, 4} {
			r, err := NewReports(new(big.Rat).SetFloat64(epsilon), categories)
			if err != nil {
				t.Fatal(err)
			}
			least := math.Inf(1)
			k, e := float64(categories), math.Exp(epsilon)
			for w := 1.0; w < k; w++ {
				p := w * e / (w*e + k - w)
				q := (w - p) / (k - 1)
				least = math.Min(least, q*(1-q)/((p-q)*(p-q)))
			}
			if got := r.Randomiser().EmptyVariance(); got > 1.01*least || got < least*(1-1e-9) && r.Form == Set {
				t.Errorf("%d categories at ε = %g: variance %g, the least is %g", categories, epsilon, got, least)
			}
		}
	}
}

// TestReportsOfOtherQuestionsAreRefused changes each number of a question's reports.
func TestReportsOfOtherQuestionsAreRefused(t *testing.T) {
	epsilon := big.NewRat(1, 1)
	for _, categories := range []int64{2, 512, 513} {
		good, err := NewReports(epsilon, categories)
		if err != nil || good.CheckQuestion(categories, epsilon) != nil {
			t.Fatalf("%d categories: %v", categories, err)
		}
		if (good.Form == Permuted) != (categories > 512) || good.HasSums() != (good.Form == Set) {
			t.Errorf("%d categories: %+v", categories, good)
		}
		keep, support, of, form := good, good, good, good
		keep.Keep++
		support.Support += good.Categories
		of.Categories++
		form.Form = map[Form]Form{Set: Permuted, Permuted: Set}[good.Form]
		for _, bad := range []Reports{keep, support, of, form, {}} {
			if bad.CheckQuestion(categories, epsilon) == nil {
				t.Errorf("%d categories: %+v passes", categories, bad)
			}
		}
		if good.CheckQuestion(categories, big.NewRat(9, 10)) == nil {
			t.Errorf("%d categories: reports of ε = 1 pass for less", categories)
		}
	}
}

// TestCountsThatNoReportsHave changes counts that reports have, in one form and in several.
func TestCountsThatNoReportsHave(t *testing.T) {
	flat := Reports{Form: Set, Categories: 4, Support: 2, Keep: 1 << 47}
	banded := flat
	banded.Bands = []Bands{{Width: 2, Categories: 2, Support: 1, Keep: 1 << 47, Chance: 1}}
	for _, c := range []struct {
		what    string
		of      Reports
		counts  []int64
		reports int64
		ok      bool
	}{
		{"as they are", flat, []int64{3, 2, 1, 0}, 3, true},
		{"one more", flat, []int64{3, 2, 1, 1}, 3, false},
		{"more than reports", flat, []int64{4, 2, 0, 0}, 3, false},
		{"fewer than none", flat, []int64{3, 3, 1, -1}, 3, false},
		{"of more reports", flat, []int64{3, 2, 1, 0}, 4, false},
		{"too large to add up", flat, []int64{math.MaxInt64, math.MaxInt64, 4, 4}, 3, false},
		{"in bands", banded, []int64{3, 2, 1, 0, 4, 1}, 8, true},
		{"without bands", banded, []int64{3, 2, 1, 0, 0, 0}, 3, true},
		{"of bands alone", banded, []int64{0, 0, 0, 0, 4, 1}, 5, false},
		{"of other bands", banded, []int64{3, 2, 1, 0, 4, 2}, 8, false},
		{"permuted", Reports{Form: Permuted, Support: 3}, []int64{1, 2, 2}, 2, true},
		{"permuted, more than reports", Reports{Form: Permuted, Support: 3}, []int64{1, 3, 0}, 2, false},
		{"permuted, fewer than none", Reports{Form: Permuted, Support: 3}, []int64{1, -1, 0}, 2, false},
		{"permuted, more than in all", Reports{Form: Permuted, Support: 2}, []int64{2, 2, 1}, 2, false},
	} {
		if err := c.of.CheckCounts(c.counts, c.reports); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
