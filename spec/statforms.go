package spec

import (
	"maps"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
)

// This file lists how a spec asks for each statistic: the keys, their shapes, what they mean, and how they are read.

// statForm is a way to ask for a statistic.
type statForm struct {
	key     string // of the mapping
	example string // the form as messages show it
	word   bool          // the key by itself is an entry
	value  *shape.Shape  // what the key has, nil where it is a word alone
	others []shape.Field // the keys that go with it, besides `as`
	named  bool          // it has no name of its own
	// means says what its keys do, by their paths below the statistic.
	means map[string]shape.Meaning
	// read reads what the key has into a statistic, which it names but for `as`. item is the whole entry.
	read func(s statReader, item, of document.Node, stat *Stat)
}

// statPage says more of statistics.
const statPage = "docs/spec.md#numbers-not-only-counts"

// statForms are the ways to ask for a statistic.
var statForms = []statForm{
	{key: "count", example: "count", word: true, read: func(statReader, document.Node, document.Node, *Stat) {}},
	{key: "units", example: "units", word: true, read: statReader.units},
	ofColumn("sum", "The sum of a column of numbers.", measurable(Sum, 1)),
	ofColumn("mean", "Its mean.", measurable(Mean, 1)),
	ofColumn("variance", "The mean square of the distance of its values from their mean.", measurable(Variance, 2)),
	ofColumn("deviation", "The root of that.", measurable(Deviation, 2)),
	ofColumn("median", "The value that half of the rows have or lie below.", statReader.median),
	{key: "quantiles", example: "{quantiles: x, at: [25%, 75%]}", value: shape.Text("a column"),
		others: []shape.Field{{Key: "at", Shape: shape.List("shares in ascending order, as [25%, 50%, 75%]",
			shape.Number("a share above 0 and below 1, as 25%"), 1, mostQuantiles), Required: "the shares, as [25%, 50%, 75%]",
			Fix: "at: [25%, 50%, 75%]"}},
		means: map[string]shape.Meaning{
			"quantiles": {Is: "The same for the shares of `at`.", Example: "pay"},
			"at":        {Is: "The shares of the quantiles, ascending.", Example: "[10%, 50%, 90%]"},
		}, read: statReader.quantiles},
	{key: "distinct", example: "{distinct: x, per_unit: N}", value: shape.Text("a column"),
		others: []shape.Field{{Key: "per_unit", Shape: shape.Whole("a whole number from 1 to 1000000", 1, mostOfAUnit),
			Required: "the most values that one unit gives", Fix: "per_unit: 1"}},
		means: map[string]shape.Meaning{
			"distinct": {Is: "How many values of a column occur.", Example: "rank"},
			"per_unit": {Is: "Of `distinct`: how many values one unit gives at most.", Example: "2"},
		}, read: statReader.distinct},
	{key: "ratio", example: "{ratio: {of: …, over: …}, as: name}", value: ratioShape(), named: true, means: ratioMeanings,
		read: statReader.ratio},
}

// ofColumn is a form that asks for a statistic of one column, and for nothing else.
func ofColumn(key, is string, read func(s statReader, item, of document.Node, stat *Stat)) statForm {
	return statForm{key: key, example: "{" + key + ": x}", value: shape.Text("a column"), read: read,
		means: map[string]shape.Meaning{key: {Is: is, Example: "pay"}}}
}

// statShape is a statistic: a word, or a mapping whose first key says which.
func statShape() *shape.Shape {
	var examples, words []string
	for _, form := range statForms {
		if examples = append(examples, form.example); form.word {
			words = append(words, form.key)
		}
	}
	last := len(examples) - 1
	says := "a statistic: " + strings.Join(examples[:last], ", ") + " or " + examples[last]
	var branches []shape.Branch
	for _, form := range statForms {
		if form.value == nil {
			continue
		}
		as := shape.Field{Key: "as", Shape: shape.Pattern("a name for the statistic", `^`+columnSyntax+`$`)}
		if form.named {
			as.Required, as.Fix = "the name of the "+form.key, "as: rate"
		}
		fields := slices.Concat([]shape.Field{{Key: form.key, Shape: form.value}, as}, form.others)
		branches = append(branches, shape.OnKey(shape.Object(says, fields...), form.key))
	}
	return shape.Choice(says, append(branches, shape.OnScalar(shape.Enum(says, words...)))...)
}

// statMeanings says what the keys of statistics do, by their paths.
func statMeanings() map[string]shape.Meaning {
	all := map[string]shape.Meaning{"as": {Is: "The name of the statistic in its columns. A ratio must have one.",
		Without: "a name made of the column and the statistic, as pay_mean", Example: "rate"}}
	for _, form := range statForms {
		maps.Copy(all, form.means)
	}
	paths := map[string]shape.Meaning{}
	for key, m := range all {
		m.Page = statPage
		paths["marginals.*.stats[]."+key] = m
	}
	return paths
}
