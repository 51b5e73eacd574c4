package describe

import (
	"cmp"
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/language"
)

// This file describes what tables will be good for.

// Expected is a table with what it will be good for, in words.
type Expected struct {
	plan.Table
	Expectation string
}

// ExpectedTables returns the tables of a plan with what each will be good for, in English.
func ExpectedTables(p *plan.Plan) []Expected {
	all := make([]Expected, len(p.Tables))
	for i, t := range p.Tables {
		all[i] = Expected{t, ExpectationOf(language.English, p, t)}
	}
	return all
}

// ExpectationOf says what a table of a plan will be good for.
func ExpectationOf(l *language.Language, p *plan.Plan, t plan.Table) string {
	text := cmp.Or(publicText(l, t), selecting[t.Selects()].expectation(l, p, t))
	if t.Usefulness != nil {
		if useful := Usefulness(l, *t.Usefulness, t.Statistics[0], t.From); useful != "" {
			text += " " + useful
		}
	}
	return text
}

// expectationOfAll says how accurate the counts of a table are that publishes all its cells.
func expectationOfAll(l *language.Language, p *plan.Plan, t plan.Table) string {
	return Expectation(l, t.Statistics[0].Margin) + sampleError(l, p, t)
}

// Expectation says in one sentence how accurate counts with a margin are.
func Expectation(l *language.Language, margin float64) string {
	if margin == 0 {
		return l.Text("Counts are almost always published exactly.")
	}
	whole := WholeMargin(margin)
	return l.Text("Within ±%s of the exact count 19 times in 20: good to 10%% for counts of %s or more; a count of "+
		"%s or less could be zero.",
		budget.Group(whole), budget.Group(10*whole), budget.Group(whole))
}

// expectationOfMany says the same of several tables, with margins from the narrowest to the widest.
func expectationOfMany(l *language.Language, tables []Expected) string {
	var least, most float64
	for i, t := range tables {
		m := t.Statistics[0].Margin
		if i == 0 || m < least {
			least = m
		}
		most = max(most, m)
	}
	low, high := WholeMargin(least), WholeMargin(most)
	if low == high {
		return Expectation(l, most)
	}
	return l.Text("Within ±%s (the best) to ±%s (the worst) of the exact count 19 times in 20: good to 10%% for "+
		"counts of %s to %s or more; a count of %s to %s or less could be zero.",
		budget.Group(low), budget.Group(high), budget.Group(10*low), budget.Group(10*high), budget.Group(low),
		budget.Group(high))
}

// WholeMargin returns a margin as people read it: rounded up to a whole number.
func WholeMargin(margin float64) int64 { return int64(math.Ceil(margin)) }
