package phrase

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/spec/language"
)

// This file holds the codes, with their words.

// Why microdata are made by a method.
const (
	PairsShown     Code = "pairs-shown"
	ParentOfPairs  Code = "parent-of-pairs" // the parent
	OnePair        Code = "one-pair"        //
	ManyColumns    Code = "many-columns"    // how many, and the most
	LargeModel     Code = "large-model"     //
	ManyCandidates Code = "many-candidates" // how many, of what, and the most
	FewCells       Code = "few-cells"       // the candidates, of what, their cells, and the most
	ManyCells      Code = "many-cells"      // candidates of what, and the most cells
)

// Why tables are not measured by a strategy.
const (
	Threshold       Code = "threshold"
	ChosenCells     Code = "chosen-cells"
	UnlistedGroups  Code = "unlisted-groups"
	ImpossibleCells Code = "impossible-cells"
	ManyResiduals   Code = "many-residuals"  // the most
	Overflow        Code = "overflow"        // of which measurement, by which factor
	ManyIntegers    Code = "many-integers"   // how many, and the published cells
	WorseTable      Code = "worse-table"     // which, and how many times the error
	TargetTooFine   Code = "target-too-fine" // of which measurement
	NoChance        Code = "no-chance"       // which noise
)

// Why a law of noise is not possible.
const (
	TargetsMissed   Code = "targets-missed"
	NeedsTooMuch    Code = "needs-too-much"
	NoNoiseThatFits Code = "no-noise-that-fits"
)

// Why the counts of a table are not made to add up with others.
const (
	ForJudging     Code = "for-judging"
	WeightsAddedUp Code = "weights-added-up"
	CountsUnits    Code = "counts-units"
	OwnBound       Code = "own-bound"
	SomeCells      Code = "some-cells"
	GroupsUnlisted Code = "groups-unlisted"
	Cumulative     Code = "cumulative"
	ManyAttributes Code = "many-attributes" // the most
)

// What a diagnostic counts.
const (
	UnitsOverBound    Code = "units-over-bound"    // the most rows of a unit
	RowsOverBound     Code = "rows-over-bound"     // the most rows of a unit
	RowsLeftOut       Code = "rows-left-out"       // the most rows of a unit
	RowsWithoutParent Code = "rows-without-parent" // the most rows of a unit, and the table of parents
	RowsExcluded      Code = "rows-excluded"       // the most rows of a unit, and the table of parents
	ClampedRows       Code = "clamped-rows"        // of which column
)

// What would help a table.
const (
	Drop        Code = "drop"                 // attributes
	Coarser     Code = "coarser"              // the level, and for which attribute
	MoreOfLeaf  Code = "more-of-leaf"         // of which, how many times
	MoreEpsilon Code = "more-epsilon"         // how many times
	MoreRho     Code = "more-rho"             // how many times
	MoreOfBoth  Code = "more-rho-and-epsilon" // how many times the ρ, and the ε
)

var inWords = map[Code]words{
	PairsShown: always(language.Key("no leaf pays for microdata, and the tables of the release show each two of " +
		"their columns together")),
	ParentOfPairs: with(1, language.Key("the rows of %s are made by it, which knows pairs of their columns: what "+
		"follows more would follow noise where rows have combinations that the data have not")),
	OnePair: always(language.Key("either method measures the one pair of columns, and this one does so once, " +
		"with all that is left of the budget")),
	ManyColumns: with(2, language.Key("with %s columns, more than %s, the rounds of method aim take too long")),
	LargeModel:  always(language.Key("the columns have more categories than a model by method aim has room for")),
	ManyCandidates: {3, func(l *language.Language, of []string) string {
		return l.Text("%s are too many to look at in every round, more than %s", candidates(l, of[0], of[1]),
			group(of[2]))
	}},
	FewCells: {4, func(l *language.Language, of []string) string {
		return l.Text("the %s have %s cells to count, of at most %s", candidates(l, of[0], of[1]), group(of[2]),
			group(of[3]))
	}},
	ManyCells: {2, func(l *language.Language, of []string) string {
		return l.Text("the %s have more than %s cells to count", SetsOfColumns(l, of[0]), group(of[1]))
	}},

	Threshold:      always(language.Key("the table is sparse, and residuals have no threshold")),
	ChosenCells:    always(language.Key("cells are chosen by their counts, and residuals are none")),
	UnlistedGroups: always(language.Key("nobody lists the groups that residuals would be of")),
	ImpossibleCells: always(language.Key(
		"some cells are impossible, and what is known of the others is no sum of residuals")),
	ManyResiduals: with(1, language.Key("the marginals have more than %s residuals: ask for fewer marginals, or of "+
		"fewer attributes")),
	Overflow: with(2, language.Key("its integers could overflow: %s multiplies counts by %s")),
	ManyIntegers: {2, func(l *language.Language, of []string) string {
		return l.Text("it would count %s cells for %s that are published", group(of[0]), group(of[1]))
	}},
	WorseTable: withNumbers(2, 1, language.Key("at least one table would have a larger error than by itself with an "+
		"equal share, however the budget were divided; %s, for example, would have about %s times that error")),
	TargetTooFine: with(1, language.Key("a target is finer than the least noise on %s")),
	NoChance: {1, func(l *language.Language, of []string) string {
		return l.Text("with %s noise it has no chance under ε and δ", cmp.Or(NoiseName(l, budget.Kind(of[0])), of[0]))
	}},

	TargetsMissed:   always(language.Key("targets would be missed")),
	NeedsTooMuch:    always(language.Key("what targets need is more than ε and δ allow")),
	NoNoiseThatFits: always(language.Key("no noise of that law fits the tables and the budget")),

	ForJudging:     always(language.Key("it is for judging bounds or rules")),
	WeightsAddedUp: always(language.Key("its counts are sums of weights, which are not whole")),
	SomeCells:      always(language.Key("it does not show all cells")),
	GroupsUnlisted: always(language.Key("its groups are not listed")),
	CountsUnits:    always(language.Key("it counts each unit once, whatever rows it has")),
	OwnBound:       always(language.Key("it counts other rows: its units have a bound of their own")),
	Cumulative:     always(language.Key("it counts up along an attribute")),
	ManyAttributes: with(1, language.Key("it has more than %s attributes")),

	UnitsOverBound: rowsOfUnit(1, language.Key("units with more than %s")),
	RowsOverBound: rowsOfUnit(1, language.Key("rows that are not counted as their unit has more than %s, of each "+
		"unit %[1]s at most")),
	RowsLeftOut:       rowsOfUnit(1, language.Key("rows that a policy leaves out, of each unit %s at most")),
	RowsWithoutParent: rowsOfUnit(2, language.Key("rows whose unit has no row in %[2]s, of each unit %[1]s at most")),
	RowsExcluded: rowsOfUnit(2, language.Key("rows that a policy leaves out or whose unit has no row in %[2]s, "+
		"of each unit %[1]s at most")),
	ClampedRows: with(1, language.Key("rows whose %s lies beyond its range and counts as its end")),

	Drop:        {1, func(l *language.Language, of []string) string { return l.Text("drop %s", l.List(of)) }},
	Coarser:     with(2, language.Key("%s for %s")),
	MoreOfLeaf:  withNumbers(2, 1, language.Key("give %s %s times its share")),
	MoreEpsilon: withNumbers(1, 0, language.Key("spend %s times the ε")),
	MoreRho:     withNumbers(1, 0, language.Key("spend %s times the ρ")),
	MoreOfBoth:  withNumbers(2, 0, language.Key("spend %s times the ρ (about %s times the ε)")),
}

// Pairs says of candidates that they are pairs of columns; others are sets of up to 2, or up to 3, of them.
const Pairs = "pairs"

// CandidateSets says which sets of columns candidates are: [Pairs], or how many columns they have at most.
func CandidateSets(most string) string {
	switch most {
	case Pairs:
		return "pairs of"
	case "2":
		return "sets of one or two"
	}
	return "sets of one to three"
}

// SetsOfColumns names these sets of columns in a language.
func SetsOfColumns(l *language.Language, most string) string {
	return l.Text(CandidateSets(most) + " columns")
}

var _ = []string{language.Key("pairs of columns"), language.Key("sets of one or two columns"),
	language.Key("sets of one to three columns")}

// candidates returns a number of sets of columns.
func candidates(l *language.Language, number, most string) string {
	return group(number) + " " + SetsOfColumns(l, most)
}

// NoiseName names a law of noise, such as "discrete Laplace"; "" for a mechanism that adds none.
func NoiseName(l *language.Language, kind budget.Kind) string { return l.Text(kind.Name()) }

// rowsOfUnit are words whose first number is one of rows.
func rowsOfUnit(takes int, message string) words {
	return words{takes, func(l *language.Language, of []string) string {
		of = slices.Clone(of)
		if n, err := strconv.ParseInt(of[0], 10, 64); err == nil {
			of[0] = l.Plural(n, "row")
		}
		return with(takes, message).say(l, of)
	}}
}
