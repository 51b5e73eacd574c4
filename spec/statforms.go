package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/shape"
)

// This file lists how a spec asks for each statistic: the keys, their shapes, what they mean, and how they are read.

// statForm is a way to ask for a statistic.
type statForm struct {
	key     string        // of the mapping
	example string        // the form as messages show it
	word    bool          // the key by itself is an entry
	value   *shape.Shape  // what the key has, nil where it is a word alone
	others  []shape.Field // the keys that go with it, besides `as`
	named   bool          // it has no name of its own
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
	{key: "share", example: "share, {share: {of: [a]}}", word: true, value: shape.Object(
		"{of: [a]}: attributes of by that the cells of a total have in common; share alone is of the table's total",
		shape.Field{Key: "of", Shape: shape.List("attributes of by, as [region]", shape.Text("an attribute of by"), 1, 0),
			Required: "the attributes that the cells of a total have in common", Fix: "of: [region]"}),
		means: map[string]shape.Meaning{
			"share": {Is: "The count of a cell divided by the total of the cells that agree with it in the attributes of `of`. The word `share` alone is the share of the table's total.",
				Example: "{of: [region]}"},
			"share.of": {Is: "Attributes of `by`: the shares of the cells that agree in them add up to 1, unless noise takes a count below 0 and its share is shown as 0.",
				Example: "[region]"},
		}, read: statReader.share},
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

func (s statReader) share(item, of document.Node, stat *Stat) {
	stat.Kind, stat.Name = Share, "share"
	names, by := s.root.Get("marginals").Get(s.marginal.Name).Get("by").Texts(), s.marginal.By
	for _, n := range of.Get("of").Items() {
		at := slices.IndexFunc(by, func(a Attribute) bool { return a.String() == n.Text() })
		switch {
		case !slices.Contains(names, n.Text()):
			s.Wrong(n, s.notInBy(s.marginal, n, names))
		case at >= 0 && slices.Contains(stat.Within, by[at]):
			s.Wrong(n, document.Problem{Message: fmt.Sprintf("%s is there twice", n.Text()), Expected: "each attribute once"})
		case at >= 0:
			stat.Within = append(stat.Within, by[at])
		}
	}
	if len(stat.Within) == len(by) && len(by) == len(names) {
		s.Wrong(item, document.Problem{Message: "the share of a cell in itself is 1",
			Expected: "a total of several cells: fewer attributes in `of`, or more in `by`"})
	}
}
