package contour

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
)

func TestShapesOfSensitivities(t *testing.T) {
	for _, c := range []struct {
		l1, l2Squared int64
		want          []budget.Shift
	}{
		{1, 1, []budget.Shift{{1}}},
		{5, 25, []budget.Shift{{5}}},
		{4, 4, []budget.Shift{{1, 1, 1, 1}, {2}}},
		{4, 9, []budget.Shift{{2, 2}, {3}}},
		{3, 5, []budget.Shift{{2, 1}}},
		{6, 6, []budget.Shift{{1, 1, 1, 1, 1, 1}, {2, 1, 1}}},
	} {
		got, err := worstShapes(gaussianStep(big.NewRat(1, 1), c.l1, c.l2Squared))
		slices.SortFunc(got, slices.Compare)
		if err != nil || !slices.EqualFunc(got, c.want, slices.Equal[budget.Shift]) {
			t.Errorf("l1 %d, l2² %d: %v, %v; want %v", c.l1, c.l2Squared, got, err, c.want)
		}
	}
	if got, err := worstShapes(laplaceStep(big.NewRat(1, 1), 9)); err != nil ||
		!slices.EqualFunc(got, []budget.Shift{{9}}, slices.Equal[budget.Shift]) {
		t.Errorf("Laplace: %v, %v; want the single coordinate", got, err)
	}
}

// TestShapesCoverEveryShift follows single moves, from every shape within the sensitivities, to one that no move leads
// on from: exactly these must be listed.
func TestShapesCoverEveryShift(t *testing.T) {
	for l1 := int64(1); l1 <= 9; l1++ {
		for l2Squared := int64(1); l2Squared < l1*l1; l2Squared++ {
			want := map[string]bool{}
			seen := map[string]bool{}
			var walk func(shape budget.Shift)
			walk = func(shape budget.Shift) {
				if seen[name(shape)] {
					return
				}
				seen[name(shape)] = true
				next := moves(shape, l1, l2Squared)
				if len(next) == 0 {
					want[name(shape)] = true
				}
				for _, s := range next {
					walk(s)
				}
			}
			walk(budget.Shift{1})
			got, err := worstShapes(gaussianStep(big.NewRat(1, 1), l1, l2Squared))
			if err != nil || len(got) != len(want) {
				t.Fatalf("l1 %d, l2² %d: %v, %v; want %v", l1, l2Squared, got, err, want)
			}
			for _, shape := range got {
				if !want[name(shape)] {
					t.Errorf("l1 %d, l2² %d: %v is not maximal", l1, l2Squared, shape)
				}
			}
		}
	}
}

func name(shape budget.Shift) string {
	var text strings.Builder
	for _, d := range shape {
		text.WriteString(big.NewInt(d).String() + " ")
	}
	return text.String()
}

// moves returns the shapes within the sensitivities into which one enlargement by 1 or one merger turns a shape.
func moves(shape budget.Shift, l1, l2Squared int64) []budget.Shift {
	candidates := []budget.Shift{append(slices.Clone(shape), 1)}
	for i := range shape {
		enlarged := slices.Clone(shape)
		enlarged[i]++
		candidates = append(candidates, enlarged)
		for k := range i {
			merged := slices.Clone(shape)
			merged[k] += merged[i]
			candidates = append(candidates, slices.Delete(merged, i, i+1))
		}
	}
	return slices.DeleteFunc(candidates, func(s budget.Shift) bool {
		slices.SortFunc(s, func(a, b int64) int { return int(b - a) })
		var total, squares int64
		for _, d := range s {
			total, squares = total+d, squares+d*d
		}
		return total > l1 || squares > l2Squared
	})
}

func TestGivenShapesAreThinnedOut(t *testing.T) {
	step := gaussianStep(big.NewRat(1, 1), 9, 81)
	for _, c := range []struct{ given, want []budget.Shift }{
		{[]budget.Shift{{2, 1}, {2, 1}}, []budget.Shift{{2, 1}}},
		{[]budget.Shift{{2, 1}, {3}}, []budget.Shift{{3}}},
		{[]budget.Shift{{2, 2, 1}, {3, 2}, {4}}, []budget.Shift{{3, 2}, {4}}},
		{[]budget.Shift{{2, 2}, {3, 1}}, []budget.Shift{{2, 2}, {3, 1}}},
		{[]budget.Shift{{1, 1, 1, 1}, {2, 2}}, []budget.Shift{{2, 2}}},
	} {
		step.Shifts = c.given
		if got, err := worstShapes(step); err != nil || !slices.EqualFunc(got, c.want, slices.Equal[budget.Shift]) {
			t.Errorf("%v: %v, %v; want %v", c.given, got, err, c.want)
		}
	}
}

func TestSharings(t *testing.T) {
	want := [][]int64{{2, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 2, 0}, {0, 1, 1}, {0, 0, 2}}
	if got := listPartitions(2, 3, 6); !slices.EqualFunc(got, want, slices.Equal[[]int64]) {
		t.Errorf("2 among 3: %v, want %v", got, want)
	}
	if got := listPartitions(2, 3, 5); got != nil {
		t.Errorf("2 among 3 in at most 5 ways: %v, want none", got)
	}
}
