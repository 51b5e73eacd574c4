package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// This file holds factors: what a query does along one attribute.

// Basis says which matrix a factor of a query applies to its attribute.
type Basis string

const (
	// Identity keeps the categories of the attribute's level separate: the n × n unit matrix, so a query of identity
	// factors is a marginal.
	Identity Basis = "identity"
	// Residual is the deviation of each category of the level from the mean of its group, the categories of a coarser
	// level or all: c·(g·I − 11ᵀ) for a group of g, with integers c that bring groups to nearly one scale
	// ([residual.Column]).
	Residual Basis = "residual"
	// Ranges is n−1 integers of the n categories of the level, from which, with the total,
	// prefix sums and ranges have the least error ([residual.NewRanged]).
	Ranges Basis = "ranges"
	// mergedBasis adds up the categories of the level that are in one class. It occurs only in what rounds of microdata
	// measure (package adaptive).
	mergedBasis Basis = "merged"
)

// Factor is one attribute's part of a [Query].
type Factor struct {
	Attribute string `json:"attribute"`       // column name
	Level     string `json:"level,omitempty"` // empty: the finest level
	Basis     Basis  `json:"basis"`
	// Within is the coarser level whose categories are the groups of a residual; empty if all categories are one group.
	Within string `json:"within,omitempty"`
	// Sums is what a factor of ranges is optimal for: "prefixes", or "ranges". Method is how its integers are found
	// ([residual.Method]), and Kappa, an exact decimal, how much an optimal one leaves to the total. Bits is the size
	// of the integers, if there are too many columns for the usual one.
	Sums   string `json:"sums,omitempty"`
	Method string `json:"method,omitempty"`
	Kappa  string `json:"kappa,omitempty"`
	Bits   int    `json:"bits,omitempty"`
	// Classes is the class of each category of a merged factor, in order: numbers from 0, with blanks between them.
	Classes string `json:"classes,omitempty"`
}

// String returns the attribute as a spec writes it, such as "age.band".
func (f Factor) String() string {
	return spec.Attribute{Column: f.Attribute, Level: f.Level}.String()
}

// Ranged returns a factor of ranges with this strategy.
func (f Factor) Ranged(r residual.Ranging) Factor {
	form := r.Form()
	f.Basis, f.Within, f.Sums, f.Method, f.Kappa, f.Bits = Ranges, "", form.Sums, form.Method, form.Kappa, form.Bits
	return f
}

// Ranging returns the strategy of a factor of ranges. It returns an error for one that [Factor.Ranged] did not write.
func (f Factor) Ranging() (residual.Ranging, error) {
	r, err := residual.Form{Sums: f.Sums, Method: f.Method, Kappa: f.Kappa, Bits: f.Bits}.Ranging()
	if err == nil && f.Ranged(r) != f {
		err = errors.New("there are no such sums, method or κ of a factor")
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", f, err)
	}
	return r, nil
}

// Merged returns the factor that counts the categories of one class together, and how many classes there are: of[i]
// is the class of the i-th category, and the classes are numbered from 0 with none left out. If each category is its
// own class, in order, the factor is unchanged.
func (f Factor) Merged(of []int) (merged Factor, classes int, err error) {
	used, texts, same := make([]bool, len(of)), make([]string, len(of)), true
	for i, class := range of {
		if class < 0 || class >= len(of) {
			return f, 0, fmt.Errorf("%s: there is no class %d of %d categories", f, class, len(of))
		}
		used[class], classes = true, max(classes, class+1)
		texts[i], same = strconv.Itoa(class), same && class == i
	}
	if slices.Contains(used[:classes], false) {
		return f, 0, fmt.Errorf("%s: the classes are not numbered from 0 with none left out", f)
	}
	if !same {
		f.Basis, f.Classes = mergedBasis, strings.Join(texts, " ")
	}
	return f, classes, nil
}

// ClassesOf returns the class of each of the categories under a factor, and how many classes there are: each category
// is its own class if the factor is an identity. It returns an error for other factors, and for classes that
// [Factor.Merged] would not write.
func (f Factor) ClassesOf(categories int) (of []int, classes int, err error) {
	of = make([]int, categories)
	switch {
	case f.Basis == Identity && f.Classes == "":
		for i := range of {
			of[i] = i
		}
		return of, categories, nil
	case f.Basis != mergedBasis:
		return nil, 0, fmt.Errorf("%s: there are no classes of basis %q", f, f.Basis)
	}
	texts := strings.Fields(f.Classes)
	if len(texts) != categories {
		return nil, 0, fmt.Errorf("%s: %d classes for %d categories", f, len(texts), categories)
	}
	for i, text := range texts {
		if of[i], err = strconv.Atoi(text); err != nil {
			return nil, 0, fmt.Errorf("%s: %q is no class", f, text)
		}
	}
	plain := f
	plain.Basis, plain.Classes = Identity, ""
	merged, classes, err := plain.Merged(of)
	if err != nil {
		return nil, 0, err
	}
	if merged != f {
		return nil, 0, fmt.Errorf("%s: classes are not written as the planner does", f)
	}
	return of, classes, nil
}
