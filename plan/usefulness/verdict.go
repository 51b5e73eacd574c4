package usefulness

// This file holds the verdict: the one rule by which plan, what-if and report say whether the cells of a table can be
// used one by one.

// Verdict says whether the cells of a table can be used one by one.
type Verdict string

// The verdicts, best first.
const (
	UseCells       Verdict = "use"
	AddUpFirst     Verdict = "add up first"
	LargeCellsOnly Verdict = "large cells only" // in place of AddUpFirst where cells cannot be added up
	DoNotUse       Verdict = "do not use cell by cell"
)
