package spec

// This file holds how a spec asks for a ratio of two terms.

import "github.com/dprelease/dprelease/spec/shape"

// ratioShape is the shape of a ratio: two terms, of which the first may be written without `of`.
func ratioShape() *shape.Shape {
	column, where := shape.Text("a column"), termWhere()
	says := "two terms: {of: {status: unemployed}, over: {status: [employed, unemployed]}}, or {sum: turnover, over: " +
		"{sum: staff}}"
	return shape.Object(says,
		shape.Field{Key: "of", Shape: termShape()},
		shape.Field{Key: "sum", Shape: column}, shape.Field{Key: "mean", Shape: column},
		shape.Field{Key: "where", Shape: where},
		shape.Field{Key: "over", Shape: termShape()},
	).WithForms([]string{"of", "over"}, []string{"sum", "over"}, []string{"mean", "over"}, []string{"where", "over"},
		[]string{"sum", "where", "over"}, []string{"mean", "where", "over"}).WithMessage(says)
}

// termShape is the shape of one term of a ratio: a count, sum or mean over the rows that meet conditions.
func termShape() *shape.Shape {
	says := "a term: count, {sum: x}, {mean: x}, each with where: {column: category} if it is not of all rows, or " +
		"{column: category} for a count"
	column := shape.Text("a column")
	conditions := whereShape(says).WithMessage(says)
	return shape.Choice(says,
		shape.OnKey(shape.Object(says, shape.Field{Key: "sum", Shape: column}, shape.Field{Key: "mean", Shape: column},
			shape.Field{Key: "where", Shape: termWhere()}).
			WithForms([]string{"sum"}, []string{"mean"}, []string{"where"}, []string{"sum", "where"},
				[]string{"mean", "where"}),
			"sum", "mean", "where"),
		shape.OnMapping(conditions),
		shape.OnScalar(shape.Enum(says, "count")))
}

func termWhere() *shape.Shape {
	return whereShape("attributes and the categories of the rows that count, such as {sex: female, status: " +
		"[employed, unemployed]}")
}

// ratioMeanings says what the keys of a ratio do, by their paths below the statistic.
var ratioMeanings = map[string]shape.Meaning{
	"ratio": {States: "One term over another, each a count, a sum or a mean over the rows that meet conditions.",
		Example: "{of: {status: unemployed}, over: {status: [employed, unemployed]}}"},
	"ratio.of": {States: "The first term, where it is not written directly as sum, mean or where.",
		Default: "the first term is sum, mean or where", Example: "{status: unemployed}"},
	"ratio.sum": {States: "The first term is the sum of this column.", Default: "the first term is another",
		Example: "turnover"},
	"ratio.mean": {States: "The first term is the mean of this column.", Default: "the first term is another",
		Example: "pay"},
	"ratio.where": {States: "Which rows the first term is over. Without sum or mean, the first term is the count of " +
		"those rows.", Default: "all rows",
		Example: "{sex: female}"},
	"ratio.over": {States: "The second term. It must be one that cannot be negative.", Example: "{sum: staff}"},
	"ratio.of.sum": {States: "The first term is the sum of this column.", Default: "the term is a mean or a count",
		Example: "turnover"},
	"ratio.of.mean": {States: "The first term is the mean of this column.", Default: "the term is a sum or a count",
		Example: "pay"},
	"ratio.of.where": {States: "Which rows the first term is over.", Default: "all rows",
		Example: "{sex: female}"},
	"ratio.over.sum": {States: "The second term is the sum of this column.", Default: "the term is a mean or a count",
		Example: "staff"},
	"ratio.over.mean": {States: "The second term is the mean of this column.", Default: "the term is a sum or a count",
		Example: "pay"},
	"ratio.over.where": {States: "Which rows the second term is over.", Default: "all rows",
		Example: "{sex: male}"},
}
