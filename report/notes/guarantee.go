package notes

// This file writes the guarantee, in numbers and in words.

import (
	"cmp"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/language"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// Guarantee restates the guarantee of a plan and puts it in words, with the effects of the release's bounds (nil for
// none), public figures and sample.
func Guarantee(of *plan.Plan, bounds *report.Bounds) (report.Guarantee, error) {
	p := of.Guarantee
	g := report.Guarantee{
		Definition: p.Definition, Epsilon: p.Epsilon, Delta: p.Delta, Rho: p.Rho,
		Equivalents: append([]plan.Equivalent{}, p.Equivalents...), Method: describe.Method(language.English, of), Protects: p.Protects,
		Neighbours: p.Neighbours, Unit: describe.Unit(language.English, p), MaxRows: p.MaxRows,
		Rows: p.Rows, WithoutID: p.WithoutID, Sample: p.Sample,
	}
	epsilon, delta, err := statedEpsilonDelta(g)
	if err != nil {
		return report.Guarantee{}, err
	}
	o := oddsOf(epsilon, delta)
	g.Meaning = report.Meaning{Epsilon: budget.DecimalUp(epsilon, 4), Delta: budget.DecimalUp(delta, 4), Factor: o.factor,
		Guess: o.guess, Weak: o.weak}
	g.Statement = describe.Guarantee(language.English, of)
	g.Sentences = words.NonEmpty(ProtectedSentence(g), GuessSentence(g), FactorSentence(g), PlainSentence(g),
		WeakSentence(g),
		countedSentence(g), knownSentence(g), limitSentence(g))
	g.Sentences = append(g.Sentences, boundsSentences(bounds, g.Protects)...)
	g.Sentences = append(g.Sentences, words.NonEmpty(publicSentence(of), invariantSentence(of), sampleSentence(of))...)
	return g, nil
}

// statedEpsilonDelta returns the (ε, δ) for which the guarantee is put in words: its own, or the first that a guarantee
// in ρ implies.
func statedEpsilonDelta(g report.Guarantee) (epsilon, delta *big.Rat, err error) {
	switch g.Definition {
	case "pure":
		epsilon, err = budget.ParseRat(g.Epsilon)
		return epsilon, new(big.Rat), err
	case "approximate":
		if epsilon, err = budget.ParseRat(g.Epsilon); err != nil {
			return nil, nil, err
		}
		delta, err = budget.ParseRat(g.Delta)
		return epsilon, delta, err
	case "zcdp":
		return impliedEpsilonDelta(g)
	}
	return nil, nil, fmt.Errorf("the plan's guarantee is of definition %q, expected pure, approximate or zcdp",
		g.Definition)
}

// impliedEpsilonDelta returns the first (ε, δ) that a guarantee in ρ implies.
func impliedEpsilonDelta(g report.Guarantee) (epsilon, delta *big.Rat, err error) {
	if len(g.Equivalents) == 0 {
		return nil, nil, fmt.Errorf("the plan's guarantee in ρ says no ε at any δ")
	}
	e := g.Equivalents[0]
	if epsilon = new(big.Rat).SetFloat64(e.Epsilon); epsilon == nil {
		return nil, nil, fmt.Errorf("the plan's ε at δ = %s is not finite", e.Delta)
	}
	delta, err = budget.ParseRat(e.Delta)
	return epsilon, delta, err
}

func FactorSentence(g report.Guarantee) string {
	change := words.Either(g.Replaced(), "Replacing the data of any one "+g.Protects+" by any other",
		"Whether any one "+g.Protects+" is in the data or not")
	return fmt.Sprintf("%s changes the chance of any result at most %s-fold (e^ε for ε = %s, rounded up)%s.", change,
		g.Meaning.Factor, g.Meaning.Epsilon,
		words.When(g.Meaning.Delta != "0", ", apart from an extra chance of at most "+deltaText(g)))
}

// deltaText writes δ as one in so many, rounded so that δ is not understated, followed by the number itself.
func deltaText(g report.Guarantee) string {
	_, delta := shownEpsilonDelta(g)
	if delta.Sign() <= 0 {
		return g.Meaning.Delta
	}
	once := new(big.Int).Quo(delta.Denom(), delta.Num())
	if !once.IsInt64() || once.Int64() < 2 {
		return "δ = " + g.Meaning.Delta
	}
	return fmt.Sprintf("one in %s (δ = %s)", budget.Group(once.Int64()), g.Meaning.Delta)
}

// shownEpsilonDelta returns the ε and δ for which the guarantee is put in words, as they are shown.
func shownEpsilonDelta(g report.Guarantee) (epsilon, delta *big.Rat) {
	return cmp.Or(words.Exact(g.Meaning.Epsilon), new(big.Rat)), cmp.Or(words.Exact(g.Meaning.Delta), new(big.Rat))
}

func GuessSentence(g report.Guarantee) string {
	bet := words.Either(g.Replaced(), "has one set of values or another", "is in the data")
	right := "at most " + budget.Percent(g.Meaning.Guess) + " of the time"
	if g.Meaning.Guess >= 1 {
		right = "as good as always, as far as this promise goes,"
		if n := oddsOf(shownEpsilonDelta(g)).wrongOnce; n > 0 {
			right = fmt.Sprintf("at most %s times in %s", budget.Group(n-1), budget.Group(n))
		}
	}
	return fmt.Sprintf("Someone who knows everything about everybody else, and thinks it an even bet whether one %s %s, would guess right %s after seeing this whole release; without it, 50%% of the time.",
		g.Protects, bet, right)
}

// knownSentence says that a guarantee about being in the data bounds less tightly what can be learned about somebody
// who is known to be in it.
func knownSentence(g report.Guarantee) string {
	return words.When(!g.Replaced(),
		fmt.Sprintf("The promise is about whether a %s is in the data. If that is known, more can be learned about the values of the %[1]s; the certificate bounds how much.",
			g.Protects))
}

// plainFrom is the factor from which on the guarantee is also stated for a rare result.
const plainFrom = 10

// PlainSentence says how likely the guarantee lets one unit make a rare result, if the factor is large.
func PlainSentence(g report.Guarantee) string {
	times := oddsOf(shownEpsilonDelta(g)).inThousand
	if times < plainFrom {
		return ""
	}
	without, with := "without that "+g.Protects, "with that "+g.Protects
	if g.Replaced() {
		without, with = "with one set of values", "with another"
	}
	comes := words.Either(times >= 1000, "every time", fmt.Sprintf("up to %d times in 1000", times))
	return fmt.Sprintf("Put plainly: what comes out 1 time in 1000 %s may come out %s %s.", without, comes, with)
}

// ProtectedSentence says what is protected.
func ProtectedSentence(g report.Guarantee) string {
	if g.ByRow() {
		return fmt.Sprintf("Each row of the data is protected, as one %[1]s. For a %[1]s with several rows the promise holds row by row, and is weaker for all of them together.",
			g.Protects)
	}
	return fmt.Sprintf("Each %s is protected: %s together.", g.Protects, g.Unit)
}

// countedSentence says which rows of a unit are counted, "" if each row is a unit.
func countedSentence(g report.Guarantee) string {
	return words.When(!g.ByRow(), "Of the rows of one "+g.Protects+words.Either(g.MaxRows > 1,
		" at most "+countedRows(g)+" are counted, chosen at random.",
		" one is counted, chosen at random.")+
		words.When(g.WithoutID != "", " Rows without an id were left out."))
}

// boundsSentences say how the guarantee for figures and weights is achieved: the contribution of one unit is bounded.
func boundsSentences(b *report.Bounds, protects string) []string {
	if b == nil {
		return nil
	}
	var all []string
	for _, w := range b.Weights {
		all = append(all, fmt.Sprintf("A row of %s counts by its weight, %s at most%s%s.", w.Table, words.Rat(w.High),
			words.When(w.Kind == report.DesignWeights,
				", which is taken to be an attribute of its "+protects+" and to depend on no other"),
			words.When(w.Kind == report.CalibratedWeights,
				"; weights were calibrated, so they depend on the rows of others, and the promise is for rows with weights as they are, not for what one weight tells of another "+protects)))
	}
	if len(b.Columns) > 0 {
		var names []string
		for _, c := range b.Columns {
			names = append(names, c.Column)
		}
		all = append(all, fmt.Sprintf(
			"What one %s adds to a figure is bounded: values of %s count within the ranges that the spec declares, whatever they are.",
			protects, words.List(names)))
	}
	return all
}

// countedRows says how many rows of a unit are counted at most.
func countedRows(g report.Guarantee) string {
	if g.Rows == nil {
		return budget.Group(g.MaxRows)
	}
	each := make([]string, len(g.Rows))
	for i, t := range g.Rows {
		each[i] = fmt.Sprintf("%s in %s", budget.Group(t.MaxRows), t.Table)
	}
	return words.List(each)
}

func WeakSentence(g report.Guarantee) string {
	return words.When(g.Meaning.Weak,
		fmt.Sprintf("This promise is weak. With ε above %d it rules out little by itself: how well one %s is protected depends on what an attacker does not know.",
			weakEpsilon, g.Protects))
}

func limitSentence(g report.Guarantee) string {
	s := "The promise covers this release; every other release from the same data adds to it. It does not hide what is true in general."
	return s + words.When(g.Replaced(), " The number of units in the data (each "+g.Protects+") is treated as public."+
		words.When(g.Rows != nil, " That is their number in all tables together; how many have rows in one of them is not public."))
}
