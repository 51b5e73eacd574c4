package spec

// This file holds what the grammar and its readers share: the syntax of names, values and conditions, and
// bounds.

import (
	"regexp"

	"github.com/dprelease/dprelease/spec/shape"
)

// Syntaxes of names, as regular expressions.
const (
	leafSyntax   = `[a-z0-9][a-z0-9_-]*`
	columnSyntax = `[\p{L}_][\p{L}\p{M}\p{N}_]*`
	levelSyntax  = `[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*`
	dottedSyntax = `[a-z0-9][a-z0-9._-]*`
	plainSyntax  = `[\p{L}_][\p{L}\p{M}\p{N}_]*(-[\p{L}\p{M}\p{N}_]+)*`
	paramSyntax  = `[a-z][a-z0-9_]*`
)

// consistent asks for counts that add up.
const consistent = "consistent"

// noisyRows asks for as many rows as the noisy total.
const noisyRows = "noisy"

// The cells that a target applies to.
const (
	eachCell = "each-cell"
	allCells = "all-cells"
)

// mostOfAUnit bounds the rows, groups and values of one unit.
const mostOfAUnit = 1_000_000

// Kinds of weights.
const (
	designWeight     = "design"
	calibratedWeight = "calibrated"
)

// What happens to an impossible row.
const (
	rowsError = "error"
	rowsDrop  = "drop"
)

// joinedName matches a column of a public table, written as a plain text.
var joinedName = regexp.MustCompile(`^(` + plainSyntax + `)\.(` + plainSyntax + `)$`)

// leastColumns is the least number of columns of microdata: their method measures pairs.
const leastColumns = 2

// MostTop bounds the number of cells of a top table.
const MostTop = 10_000

// Classes of fitness.
const (
	fitRest      = "rest"    // in place of a bound: the class of the rest
	fitRestNamed = "not fit" // the name of that class if the spec gives none
	mostFit      = 6         // classes with a bound
	maxFitName   = 40        // characters of a name
	fitSyntax    = `[\p{L}\p{N}]+([ _-][\p{L}\p{N}]+)*`
)

// whereShape is a mapping from attributes to the categories that are meant.
func whereShape(says string) *shape.Shape {
	these := "a category, or a list of categories"
	categories := shape.List(these, shape.Category("a category, in quotes where YAML would read nothing"), 1, 0).
		WithMessage("at least one category")
	return shape.Dictionary(says, `^.+$`, shape.Choice(these, shape.OnSequence(categories),
		shape.OnScalar(shape.Category(these)))).
		Nonempty("at least one attribute with its categories, such as {age.band: 0–15, status: employed}")
}
