package plan

import (
	"slices"

	"github.com/dprelease/dprelease/spec"
)

// This file holds the verdict: the one rule by which plan, what-if and report say whether the cells of a table are to be used one by one.

// Verdict says whether the cells of a table are to be used one by one.
type Verdict string

// The verdicts, best first.
const (
	UseCells       Verdict = "use"
	AddUpFirst     Verdict = "add up first"
	LargeCellsOnly Verdict = "large cells only" // in place of AddUpFirst where cells cannot be added up
	DoNotUse       Verdict = "do not use cell by cell"
)

const (
	// LittleShare is the part of the cells, at most, that could be zero in a table whose cells are used one by one.
	LittleShare = 0.1
	// littleTail is how many standard errors a normal law lies above its tenth percentile.
	littleTail = 1.2816
)

// VerdictOn judges a table by the size of its average cell, and by the part of its cells that could be zero or are in the last class
// of `fit`: cells are not to be used where the noise is too large beside the average cell, and are to be added up where more than
// [LittleShare] of them are bad.
func (p *Plan) VerdictOn(t Table, cell, bad float64) Verdict {
	s := t.Statistics[0]
	band, unfit := bandOf(s, cell), p.unfitFrom()
	switch {
	case band == Weak || band == MostlyNoise || unfit > 0 && s.StandardError > unfit*cell:
		return DoNotUse
	case bad <= LittleShare:
		return UseCells
	case p.summable(t):
		return AddUpFirst
	}
	return LargeCellsOnly
}

// evenVerdict is the verdict on a table all of whose cells are as large as the average one.
func (p *Plan) evenVerdict(t Table, cell float64) Verdict {
	s, bad := t.Statistics[0], 0.0
	least := s.Margin
	if unfit := p.unfitFrom(); unfit > 0 {
		least = max(least, s.StandardError/unfit)
	}
	if cell < least+littleTail*s.StandardError {
		bad = 1
	}
	return p.VerdictOn(t, cell, bad)
}

// unfitFrom is the relative standard error above which a figure is in the last class of `fit`, 0 where the spec has no classes.
func (p *Plan) unfitFrom() float64 {
	most := 0.0
	for _, c := range p.Release().Fit {
		if c.AtMost != nil {
			bound, _ := c.AtMost.Float64()
			most = max(most, bound)
		}
	}
	return most
}

// summable reports whether the cells of a table can be added up.
func (p *Plan) summable(t Table) bool {
	return t.Statistics[0].Name != string(spec.Units) && !slices.ContainsFunc(t.By, func(name string) bool { return p.countsUp(t, name) })
}

// SpreadText says what no plan knows of a verdict.
const SpreadText = "The verdict is the one that the report gives where rows are spread evenly over the cells. How they are spread no plan knows: of a table that is good or usable the report says “add up first” (“large cells only” where cells cannot be added up) where more than a tenth of the cells could be zero, and where the plan says “do not use cell by cell” so does the report."

// Label is a band with its verdict, "" where the spec says nothing of the number of rows.
func (u *Usefulness) Label() string {
	if u == nil || u.Band == "" {
		return ""
	}
	return string(u.Band) + ": " + string(u.Verdict)
}
