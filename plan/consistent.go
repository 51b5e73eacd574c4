package plan

import (
	"cmp"
	"slices"

	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/phrase"
	"github.com/dprelease/dprelease/spec"
)

// This file holds what `publish: {integers: consistent}` covers: the tables whose published counts are whole, not
// negative, and add up across tables; and the tables whose counts do not, and why.

// The ways in which counts are made to add up.
const (
	// Fitted counts are the estimates, moved to the nearest possible counts that add up, then rounded.
	Fitted = "fitted"
	// Tabulated counts are counted from the microdata.
	Tabulated = "microdata"
)

// Consistency is how the published counts of one confidential table are made to add up.
type Consistency struct {
	Table string `json:"table"`
	Way   string `json:"way"`
	// Tables are those whose counts add up: all have one total, and what two of them share is the same in both.
	Tables []string `json:"tables"`
	// UnnestedColumns are columns whose levels, as shown by the tables, are not all nested, each with these levels in
	// groups: across groups tables agree in what they show of other columns, and no more. A level may be separate from
	// one in which it is nested: groups are formed coarsest first, and each level joins the first group in all of
	// whose levels it is nested.
	UnnestedColumns []string `json:"apart,omitempty"`
	// LeftOut are the tables whose counts remain as they are.
	LeftOut []Unfitted `json:"left_out,omitempty"`
}

// Unfitted is a table whose published counts are its own, with the reason.
type Unfitted struct {
	Table string        `json:"table"`
	Why   phrase.Phrase `json:"why"`
}

// UnfittedReason returns why a table's counts remain as they are; no reason if they are made to add up.
func (t Table) UnfittedReason(summed bool) phrase.Phrase {
	switch code := cmp.Or(t.whyNotData(), t.whyNotWhole(), t.whyOtherRows(), selects[t.Selects()].left); {
	case code != "":
		return phrase.New(code)
	case summed:
		return phrase.New(phrase.Cumulative)
	case len(t.By) > limit.SharedAttributes:
		return phrase.New(phrase.ManyAttributes, limit.SharedAttributes)
	}
	return phrase.Phrase{}
}

// whyOtherRows says why a table counts other rows than most tables, "" if it does not.
func (t Table) whyOtherRows() phrase.Code {
	switch {
	case t.CountsUnits():
		return phrase.CountsUnits
	case t.PerUnit != spec.PerUnit{}:
		return phrase.OwnBound
	}
	return ""
}

// TableOf returns a published table.
func (p *Plan) TableOf(path string) (Table, bool) {
	i := slices.IndexFunc(p.Tables, func(t Table) bool { return t.Path == path })
	if i < 0 {
		return Table{}, false
	}
	return p.Tables[i], true
}

// Integers returns how a published table's counts are made to add up; it reports false if they remain as they are.
func (p *Plan) Integers(path string) (Consistency, bool) {
	for _, c := range p.Consistent {
		if slices.Contains(c.Tables, path) {
			return c, true
		}
	}
	return Consistency{}, false
}
