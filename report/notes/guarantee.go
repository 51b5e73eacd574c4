package notes

// This file writes the guarantee, in numbers and in words.

import (
	"cmp"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
)

// Guarantee restates the guarantee of a plan and puts it in words, with the effects of the release's bounds (nil for
// none), public figures and sample.
func Guarantee(l *language.Language, of *plan.Plan, bounds *report.Bounds) (report.Guarantee, error) {
	p := of.Guarantee
	g := report.Guarantee{
		Definition: p.Definition, Local: of.Release().Collection != nil, Epsilon: p.Epsilon, Delta: p.Delta, Rho: p.Rho,
		Equivalents: append([]plan.Equivalent{}, p.Equivalents...), Method: describe.Method(l, of),
		Protects:   p.Protects,
		Neighbours: p.Neighbours, Unit: describe.Unit(l, p), MaxRows: p.MaxRows,
		Rows: p.Rows, WithoutID: p.WithoutID, Sample: p.Sample, Holders: p.Holders,
	}
	epsilon, delta, err := statedEpsilonDelta(g)
	if err != nil {
		return report.Guarantee{}, err
	}
	o := oddsOf(epsilon, delta)
	g.Meaning = report.Meaning{Epsilon: budget.DecimalUp(epsilon, 4), Delta: budget.DecimalUp(delta, 4),
		Factor: o.factor,
		Guess:  o.guess, Weak: o.weak}
	g.Statement = describe.Guarantee(l, of)
	g.Sentences = words.NonEmpty(ProtectedSentence(l, g), GuessSentence(l, g), FactorSentence(l, g),
		PlainSentence(l, g),
		WeakSentence(l, g), countedSentence(l, g), knownSentence(l, g), limitSentence(l, g))
	g.Sentences = append(g.Sentences, boundsSentences(l, bounds, g.Protects)...)
	g.Sentences = append(g.Sentences, words.NonEmpty(publicSentence(l, of), invariantSentence(l, of),
		sampleSentence(l, of), holdersSentence(l, g))...)
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

func FactorSentence(l *language.Language, g report.Guarantee) string {
	if g.Local {
		return localFactor(l, g)
	}
	factor, epsilon, extra := l.Number(g.Meaning.Factor), l.Number(g.Meaning.Epsilon), g.Meaning.Delta != "0"
	switch {
	case g.Replaced() && extra:
		return l.Text("Replacing the data of any one %s by any other changes the chance of any result by a factor of "+
			"at most %s (e^ε for ε = %s, rounded up), apart from an extra chance of at most %s.",
			g.Protects, factor, epsilon, deltaText(l, g))
	case g.Replaced():
		return l.Text("Replacing the data of any one %s by any other changes the chance of any result by a factor of "+
			"at most %s (e^ε for ε = %s, rounded up).",
			g.Protects, factor, epsilon)
	case extra:
		return l.Text("Adding or removing any one %s changes the chance of any result by a factor of at most %s (e^ε "+
			"for ε = %s, rounded up), apart from an extra chance of at most %s.",
			g.Protects, factor, epsilon, deltaText(l, g))
	}
	return l.Text("Adding or removing any one %s changes the chance of any result by a factor of at most %s (e^ε for "+
		"ε = %s, rounded up).",
		g.Protects, factor, epsilon)
}

// deltaText writes δ as one in so many, rounded so that δ is not understated, followed by the number itself.
func deltaText(l *language.Language, g report.Guarantee) string {
	_, delta := shownEpsilonDelta(g)
	if delta.Sign() <= 0 {
		return l.Number(g.Meaning.Delta)
	}
	once := new(big.Int).Quo(delta.Denom(), delta.Num())
	if !once.IsInt64() || once.Int64() < 2 {
		return "δ = " + l.Number(g.Meaning.Delta)
	}
	return l.Text("one in %s (δ = %s)", budget.Group(once.Int64()), l.Number(g.Meaning.Delta))
}

// shownEpsilonDelta returns the ε and δ for which the guarantee is put in words, as they are shown.
func shownEpsilonDelta(g report.Guarantee) (epsilon, delta *big.Rat) {
	return cmp.Or(words.Exact(g.Meaning.Epsilon), new(big.Rat)), cmp.Or(words.Exact(g.Meaning.Delta), new(big.Rat))
}

func GuessSentence(l *language.Language, g report.Guarantee) string {
	right := l.Text("at most %s of the time", l.Percent(g.Meaning.Guess))
	if g.Meaning.Guess >= 1 {
		right = l.Text("as good as always, as far as this promise goes")
		if n := oddsOf(shownEpsilonDelta(g)).wrongOnce; n > 0 {
			right = l.Text("at most %s times in %s", budget.Group(n-1), budget.Group(n))
		}
	}
	if g.Local {
		return localGuess(l, g, right)
	}
	return words.Either(g.Replaced(),
		l.Text("Imagine someone who knows everything about everybody else, and bets at even odds on whether one %s "+
			"has one set of values or another. Without this release they guess right 50%% of the time; after seeing "+
			"all of it, %s.",
			g.Protects, right),
		l.Text("Imagine someone who knows everything about everybody else, and bets at even odds on whether one %s "+
			"is in the data. Without this release they guess right 50%% of the time; after seeing all of it, %s.",
			g.Protects, right))
}

// knownSentence says that a guarantee about being in the data bounds less tightly what can be learned about somebody
// who is known to be in it.
func knownSentence(l *language.Language, g report.Guarantee) string {
	return words.When(!g.Replaced(),
		l.Text("The promise is about whether a %s is in the data. Someone who already knows this can learn more "+
			"about that %[1]s's values; the certificate states the limit.",
			g.Protects))
}

// plainFrom is the factor from which on the guarantee is also stated for a rare result.
const plainFrom = 10

// PlainSentence says how likely the guarantee lets one unit make a rare result, if the factor is large.
func PlainSentence(l *language.Language, g report.Guarantee) string {
	times := oddsOf(shownEpsilonDelta(g)).inThousand
	if times < plainFrom {
		return ""
	}
	comes := words.Either(times >= 1000, l.Text("every time"), l.Text("up to %d times in 1000", times))
	if g.Replaced() {
		return l.Text("Put plainly: what comes out 1 time in 1000 with one set of values may come out %s with another.", comes)
	}
	return l.Text("Put plainly: what comes out 1 time in 1000 without that %s may come out %[2]s with that %[1]s.",
		g.Protects,
		comes)
}

// ProtectedSentence says what is protected.
func ProtectedSentence(l *language.Language, g report.Guarantee) string {
	if g.Local {
		return localProtected(l, g)
	}
	if g.ByRow() {
		return l.Text("Each row of the data is protected, as one %[1]s. For a %[1]s with several rows the promise "+
			"holds row by row, and is weaker for all of them together.",
			g.Protects)
	}
	return l.Text("Each %s is protected: %s together.", g.Protects, g.Unit)
}

// countedSentence says which rows of a unit are counted, "" if each row is a unit.
func countedSentence(l *language.Language, g report.Guarantee) string {
	return words.When(!g.ByRow(), words.Either(g.MaxRows > 1,
		words.Either(g.Rows != nil,
			l.Text("For each %s, at most %s are counted, chosen at random.", g.Protects, countedRows(l, g)),
			l.Text("At most %s of each %s are counted, chosen at random.", countedRows(l, g), g.Protects)),
		l.Text("At most one row of each %s is counted, chosen at random.", g.Protects))+
		words.When(g.WithoutID != "", " "+l.Text("Rows without an id were left out.")))
}

// boundsSentences say how the guarantee for figures and weights is achieved: the contribution of one unit is bounded.
func boundsSentences(l *language.Language, b *report.Bounds, protects string) []string {
	if b == nil {
		return nil
	}
	var all []string
	for _, w := range b.Weights {
		most := l.Number(words.Rat(w.High))
		switch w.Kind {
		case report.DesignWeights:
			all = append(all, l.Text("Each row of the confidential table %s counts with its weight, at most %s. The "+
				"weight is taken to be an attribute of the %s and not to depend on any other %[3]s.",
				w.Table, most, protects))
		case report.CalibratedWeights:
			all = append(all, l.Text("Each row of the confidential table %s counts with its weight, at most %s. The "+
				"weights were calibrated, so they depend on the rows of others. The promise is for the rows with "+
				"their weights as they are; what one weight reveals about another %s is not covered.",
				w.Table, most, protects))
		default:
			all = append(all, l.Text("Each row of the confidential table %s counts with its weight, at most %s.",
				w.Table, most))
		}
	}
	if len(b.Columns) > 0 {
		var names []string
		for _, c := range b.Columns {
			names = append(names, c.Column)
		}
		all = append(all, l.Text("What one %s adds to a figure is bounded: values of %s outside the ranges that the "+
			"spec declares count as the nearer end of their range.",
			protects, l.List(names)))
	}
	return all
}

// countedRows says how many rows of a unit are counted at most, such as "3 rows in persons and 1 row in visits".
func countedRows(l *language.Language, g report.Guarantee) string {
	if g.Rows == nil {
		return l.Plural(g.MaxRows, "row")
	}
	each := make([]string, len(g.Rows))
	for i, t := range g.Rows {
		each[i] = l.Text("%s in %s", l.Plural(t.MaxRows, "row"), t.Table)
	}
	return l.List(each)
}

func WeakSentence(l *language.Language, g report.Guarantee) string {
	return words.When(g.Meaning.Weak,
		l.Text("This promise is weak. With ε above %d it rules out little by itself: how well one %s is protected "+
			"depends on what an attacker does not know.",
			weakEpsilon, g.Protects))
}

func limitSentence(l *language.Language, g report.Guarantee) string {
	if g.Local {
		return localLimit(l, g)
	}
	s := l.Text("The promise covers this release; every other release from the same data adds to it. It does not " +
		"hide what is true of the whole population.")
	return s + words.When(g.Replaced(), " "+l.Text("The number of units in the data (each %s) is treated as public.",
		g.Protects)+
		words.When(g.Rows != nil, " "+l.Text("That is their number in all tables together; how many have rows in one "+
			"of them is not public.")))
}
