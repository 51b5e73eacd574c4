// Package counted says what a question counts of the rows of a confidential table: the rows themselves, integers that
// they add up to, the different values that they have, rows by bins of a column, values drawn at a rank, rows that
// bounds and policies leave out, or reports that devices randomised before they were collected.
//
// It owns these kinds, one file each: the kind's canonical form, how many answers a cell has, what is refused, and
// its sensitivity under both neighbouring relations with the theorem that gives it. What is counted is a value:
//
//	what := counted.Values{Column: "pay", Power: 1, Times: 1, Minus: 500}
//	s, err := what.Sensitivity(counted.Unit{Table: table, Neighbours: spec.Replace, Cells: 12})
//
// It never reads a row and never chooses a mechanism.
package counted

import "github.com/dprelease/dprelease/spec"

// Kind numbers what a question can count, so that a package lists what it does with each in an array.
type Kind uint8

// The kinds, in the order in which a plan's form lists them.
const (
	KindRows Kind = iota
	KindValues
	KindQuantiles
	KindBins
	KindDistinct
	KindDiagnostic
	KindReports

	// Kinds is how many kinds there are.
	Kinds = int(KindReports) + 1
)

// Traits are what the planner needs to know of a kind: which questions it allows, and what can be computed from their
// answers.
type Traits struct {
	// AnyFactor reports whether factors may be residuals or ranges, and NoFactor whether there may be none; otherwise
	// factors are of categories.
	AnyFactor, NoFactor bool
	// OwnBound reports whether the kind itself bounds what a unit contributes, so that there is no other bound per
	// unit.
	OwnBound bool
	// AsRows reports whether rows count as 1 each: tables can share a measurement, and other values of a column move a
	// unit's rows from cell to cell.
	AsRows bool
	// Drawn reports whether answers are drawn by a mechanism of their own, and get no noise.
	Drawn bool
	// Summable reports whether a table that counts up is added up from the answers of its own cells.
	Summable bool
	// SeveralAnswers reports whether a cell has several answers, and PerFigure is how many of them serve one figure.
	SeveralAnswers bool
	PerFigure      int64
}

// traits lists the traits of each kind.
var traits = [Kinds]Traits{
	KindRows:       {AnyFactor: true, AsRows: true, PerFigure: 1},
	KindValues:     {AnyFactor: true, PerFigure: 1},
	KindQuantiles:  {Drawn: true, SeveralAnswers: true, PerFigure: DrawsPerShare},
	KindBins:       {SeveralAnswers: true, PerFigure: 1},
	KindDistinct:   {OwnBound: true, PerFigure: 1},
	KindDiagnostic: {NoFactor: true, OwnBound: true, PerFigure: 1},
	KindReports:    {Drawn: true, Summable: true, SeveralAnswers: true, PerFigure: 1},
}

// Traits returns the traits of the kind.
func (k Kind) Traits() Traits { return traits[k] }

// Counted is what a question counts in each cell of its factors: one of [Rows], [Values], [Quantiles], [Bins],
// [Distinct], [Diagnostic] and [Reports].
type Counted interface {
	Kind() Kind
	// Reads returns the column whose values are read, in addition to those of the factors; "" for none.
	Reads() string
	// Operands names what is read of a row in addition to the factors: questions with the same names share what is kept
	// in memory.
	Operands() []string
	// Weighted reports whether rows count by their weights.
	Weighted() bool
	// PerCell returns how many answers each cell of the factors has.
	PerCell(t *spec.Table) int64
	// Check returns an error unless rows of the table can be counted so.
	Check(t *spec.Table) error
	// Extent returns the least and the largest integer that one row adds to an answer.
	//
	// Contract: no row adds an integer outside it, as values and weights are clamped before they are multiplied
	// (docs/proofs/sums.md).
	Extent(t *spec.Table) Extent
	// Sensitivity returns the sensitivity of the answers to one unit. It returns an error if the question cannot be
	// counted.
	Sensitivity(u Unit) (*Sensitivity, error)
}

// Confidence is the confidence of every published interval, unless a spec says otherwise, and of the ends that are
// drawn for the interval of a quantile.
const Confidence = 0.95
