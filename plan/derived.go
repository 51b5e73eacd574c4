package plan

import (
	"fmt"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec"
)

// This file holds derived columns: those whose categories another column of the table decides.

// Counted is the attribute by which rows are counted where a table shows an attribute: the attribute itself or, for a
// derived column, the level of the column that decides it. Both have the same categories in the same order. A derived
// column is never read, so that it is not measured beside its origin either.
func Counted(t *spec.Table, a spec.Attribute) spec.Attribute {
	for {
		c := t.Column(a.Column)
		if c == nil || c.DerivedFrom == nil || a.Level != "" {
			return a
		}
		a = *c.DerivedFrom
	}
}

// counted are attributes as they are counted.
func counted(t *spec.Table, by []spec.Attribute) []spec.Attribute {
	out := make([]spec.Attribute, len(by))
	for i, a := range by {
		out[i] = Counted(t, a)
	}
	return out
}

// twice finds two attributes that are counted by one column; of a derived column and its origin the derived one comes
// first.
func twice(t *spec.Table, by []spec.Attribute) (derived, origin spec.Attribute, found bool) {
	for i, a := range by {
		for _, b := range by[:i] {
			if Counted(t, a).Column == Counted(t, b).Column {
				if Counted(t, b) != b {
					a, b = b, a
				}
				return a, b, true
			}
		}
	}
	return spec.Attribute{}, spec.Attribute{}, false
}

// repeats says which subsets of `every` are left out, since a derived column adds nothing to its origin.
func repeats(r *spec.Release) []string {
	var all []string
	for _, m := range r.Marginals {
		if m.Every == nil {
			continue
		}
		t := r.Table(m.Table)
		var pairs []string
		for i, a := range m.By {
			for _, b := range m.By[:i] {
				if derived, origin, found := twice(t, []spec.Attribute{b, a}); found {
					pairs = append(pairs, fmt.Sprintf("%s beside %s", derived, origin))
				}
			}
		}
		left := int64(0)
		for _, k := range m.Every {
			for _, by := range choose(m.By, k) {
				if _, _, found := twice(t, by); found {
					left++
				}
			}
		}
		if left > 0 {
			all = append(all, fmt.Sprintf("marginal %s leaves out %s with %s: both come from one column, and the cells would be those of a table without the first",
				m.Name, budget.Plural(left, "subset"), strings.Join(pairs, ", or ")))
		}
	}
	return all
}

// decides finds, for each category of an attribute, the one of a coarser attribute of the same column that it lies in;
// false where it does not decide it.
func decides(t *spec.Table, fine, coarse spec.Attribute) ([]int, bool) {
	if fine.Column != coarse.Column {
		return nil, false
	}
	domain := t.Column(fine.Column).Domain
	from, ok := domain.Level(fine.Level)
	to, found := domain.Level(coarse.Level)
	if !ok || !found {
		return nil, false
	}
	return nesting(domain.Size(), from, to)
}
