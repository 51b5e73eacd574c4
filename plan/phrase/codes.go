package phrase

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/budget"
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
	PairsShown:    always("no leaf pays for microdata, and the tables of the release show each two of their columns together"),
	ParentOfPairs: with(1, "the rows of %s are made by it, which knows pairs of their columns: what follows more would follow noise where rows have combinations that the data have not"),
	OnePair:       always("either method measures the one pair of columns, and this one does so once, with all that is left of the budget"),
	ManyColumns:   with(2, "with %s columns, more than %s, the rounds of method aim take too long"),
	LargeModel:    always("the columns have more categories than a model by method aim has room for"),
	ManyCandidates: {3, func(of []string) string {
		return group(of[0]) + " " + CandidateSets(of[1]) + " columns are too many to look at in every round, more than " +
			group(of[2])
	}},
	FewCells: {4, func(of []string) string {
		return "the " + group(of[0]) + " " + CandidateSets(of[1]) + " columns have " + group(of[2]) +
			" cells to count, of at most " + group(of[3])
	}},
	ManyCells: {2, func(of []string) string {
		return "the " + CandidateSets(of[0]) + " columns have more than " + group(of[1]) + " cells to count"
	}},

	Threshold:       always("the table is sparse, and residuals have no threshold"),
	ChosenCells:     always("cells are chosen by their counts, and residuals are none"),
	UnlistedGroups:  always("nobody lists the groups that residuals would be of"),
	ImpossibleCells: always("some cells are impossible, and what is known of the others is no sum of residuals"),
	ManyResiduals:   with(1, "the marginals have more than %s residuals: ask for fewer marginals, or of fewer attributes"),
	Overflow:        with(2, "its integers could overflow: %s multiplies counts by %s"),
	ManyIntegers: {2, func(of []string) string {
		return "it would count " + group(of[0]) + " cells for " + group(of[1]) + " that are published"
	}},
	WorseTable:    with(2, "no amounts of them leave every table as good as by itself with an equal share; %s, for one, would have about %s times that error"),
	TargetTooFine: with(1, "a target is finer than the least noise on %s"),
	NoChance: {1, func(of []string) string {
		return "with " + cmp.Or(budget.Kind(of[0]).Name(), of[0]) + " noise it has no chance under ε and δ"
	}},

	TargetsMissed:   always("targets would be missed"),
	NeedsTooMuch:    always("what targets need is more than ε and δ allow"),
	NoNoiseThatFits: always("no noise of that law fits the tables and the budget"),

	ForJudging:     always("it is for judging bounds or rules"),
	WeightsAddedUp: always("its counts are sums of weights, which are not whole"),
	SomeCells:      always("it does not show all cells"),
	GroupsUnlisted: always("its groups are not listed"),
	CountsUnits:    always("it counts each unit once, whatever rows it has"),
	OwnBound:       always("it counts other rows: its units have a bound of their own"),
	Cumulative:     always("it counts up along an attribute"),
	ManyAttributes: with(1, "it has more than %s attributes"),

	UnitsOverBound:    rowsOfUnit(1, "units with more than %s"),
	RowsOverBound:     rowsOfUnit(1, "rows that are not counted as their unit has more than %s, of each unit %[1]s at most"),
	RowsLeftOut:       rowsOfUnit(1, "rows that a policy leaves out, of each unit %s at most"),
	RowsWithoutParent: rowsOfUnit(2, "rows whose unit has no row in %[2]s, of each unit %[1]s at most"),
	RowsExcluded: rowsOfUnit(2,
		"rows that a policy leaves out or whose unit has no row in %[2]s, of each unit %[1]s at most"),
	ClampedRows: with(1, "rows whose %s lies beyond its range and counts as its end"),

	Drop:        {1, func(of []string) string { return "drop " + budget.InWords(of) }},
	Coarser:     with(2, "%s for %s"),
	MoreOfLeaf:  with(2, "give %s %s times its share"),
	MoreEpsilon: with(1, "spend %s times the ε"),
	MoreRho:     with(1, "spend %s times the ρ"),
	MoreOfBoth:  with(2, "spend %s times the ρ (about %s times the ε)"),
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

// rowsOfUnit are words whose first number is one of rows.
func rowsOfUnit(takes int, format string) words {
	return words{takes, func(of []string) string {
		of = slices.Clone(of)
		if n, err := strconv.ParseInt(of[0], 10, 64); err == nil {
			of[0] = budget.Plural(n, "row")
		}
		return with(takes, format).say(of)
	}}
}
