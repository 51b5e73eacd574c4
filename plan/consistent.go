package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what `publish: {integers: consistent}` covers: of which tables the published counts are whole, none
// negative, and add up across tables; and of which they are not, and why.

// The ways in which counts are made to add up.
const (
	// Fitted counts are the estimates, moved to the nearest that can be and add up, then rounded.
	Fitted = "fitted"
	// Tabulated counts are those of the microdata.
	Tabulated = "microdata"
)

// Consistency is how the published counts of one confidential table are made to add up.
type Consistency struct {
	Table string `json:"table"`
	Way   string `json:"way"`
	// Tables are those whose counts add up: all have one total, and what two of them share is the same in both.
	Tables []string `json:"tables"`
	// Apart are columns of which not all levels that the tables show lie within each other, each with these levels in
	// groups: across groups tables agree in what they show beside that column, and no more. A level may be apart from one
	// that it lies within: series are made coarsest first, and each level is in the first one whose levels it lies within,
	// all of them.
	Apart []string `json:"apart,omitempty"`
	// Left are those whose counts stay as they are.
	Left []Unfitted `json:"left_out,omitempty"`
}

// Unfitted is a table whose published counts are its own, with the reason.
type Unfitted struct {
	Table string `json:"table"`
	Why   string `json:"why"`
}

// WhyLeft says why a table's counts are left as they are, "" where they are made to add up.
func (t Table) WhyLeft(summed bool) string {
	return cmp.Or(t.whyNotData(), t.whyNotWhole(), t.whyOtherRows(), selects[t.Selects()].left, t.whyNotFitted(summed))
}

// whyOtherRows says why a table counts other rows than most tables, "" where it does not.
func (t Table) whyOtherRows() string {
	switch {
	case t.Statistics[0].Name == spec.Units.String():
		return "it counts each unit once, whatever rows it has"
	case t.PerUnit != spec.PerUnit{}:
		return "it counts other rows: its units have a bound of their own"
	}
	return ""
}

// whyNotFitted says why counts of all cells of a table cannot be fitted, "" where they can.
func (t Table) whyNotFitted(summed bool) string {
	switch {
	case summed:
		return "it counts up along an attribute"
	case len(t.By) > limit.SharedAttributes:
		return fmt.Sprintf("it has more than %d attributes", limit.SharedAttributes)
	}
	return ""
}

// TableOf finds a published table.
func (p *Plan) TableOf(path string) (Table, bool) {
	i := slices.IndexFunc(p.Tables, func(t Table) bool { return t.Path == path })
	if i < 0 {
		return Table{}, false
	}
	return p.Tables[i], true
}

// Integers finds how a published table's counts are made to add up; false where they stay as they are.
func (p *Plan) Integers(path string) (Consistency, bool) {
	for _, c := range p.Consistent {
		if slices.Contains(c.Tables, path) {
			return c, true
		}
	}
	return Consistency{}, false
}
