package spec

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/shape"
)

// This file holds the statistics of a marginal, which are published of each of its groups: their kinds, and how a spec
// asks for each: the keys, their shapes, what they mean, and how they are read.

// StatKind is what a statistic is. Its text is the word by which a spec asks for it.
type StatKind int

// The kinds of statistics. All but Units and Distinct are of rows, with weights where the table has them: Count adds
// the weights up, and the others are what they are of rows that stand for as many as their weights say.
const (
	Count     StatKind = iota
	Sum                       // of a column
	Units                     // units that have a row in the group
	Distinct                  // values of a column that occur, where a unit gives at most so many
	Mean                      // of a column
	Ratio                     // of two terms
	Variance                  // of a column: the mean square of the distance from the mean
	Deviation                 // the root of the variance
	Quantiles                 // of a column; a median is the one of 1/2
	Share                     // of the rows of the group in those of several groups together
	Variation                 // the coefficient of variation of a column: the deviation over the size of the mean
	StatKinds int      = iota // how many kinds there are
)

// statKind says by which word a spec asks for a kind, and what the kind is.
type statKind struct {
	word       string
	rows       bool // it counts the rows of a group
	units      bool // it counts the units of a group
	isQuotient bool // of a sum and a count
	ofReports  bool // it can be estimated from randomised reports
	ofValues   bool // it counts values that differ, which do not add up over holders of data
}

var statKinds = [StatKinds]statKind{
	Count: {word: "count", rows: true, ofReports: true}, Units: {word: "units", units: true},
	Distinct: {word: "distinct", ofValues: true},
	Sum:      {word: "sum", ofReports: true}, Mean: {word: "mean", isQuotient: true, ofReports: true},
	Variance:  {word: "variance"},
	Deviation: {word: "deviation"}, Ratio: {word: "ratio"}, Quantiles: {word: "quantiles"}, Share: {word: "share"},
	Variation: {word: "cv"},
}

// String returns the word of the kind.
func (k StatKind) String() string { return statKinds[k].word }

// countsRows reports whether a statistic is the number of rows.
func (k StatKind) countsRows() bool { return statKinds[k].rows }

// countsUnits reports whether a statistic is the number of units.
func (k StatKind) countsUnits() bool { return statKinds[k].units }

// CountsUnits reports whether the statistic of a word is the number of units.
func CountsUnits(word string) bool {
	return slices.ContainsFunc(statKinds[:], func(k statKind) bool { return k.units && k.word == word })
}

// countsRowsOrUnits reports whether a statistic is a number of rows or units, and of no values.
func (k StatKind) countsRowsOrUnits() bool { return k.countsRows() || k.countsUnits() }

// MarshalText returns the word of the kind.
func (k StatKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the word of a kind.
func (k *StatKind) UnmarshalText(text []byte) error {
	for kind := range StatKind(StatKinds) {
		if kind.String() == string(text) {
			*k = kind
			return nil
		}
	}
	return fmt.Errorf("there is no statistic %q", text)
}

// Stat is one statistic of a marginal, in the order of the spec.
type Stat struct {
	Kind StatKind
	// Name is the name of its columns: what the spec says (as: …), or one made of what it is: count, units,
	// turnover_sum. A quantile's columns are named by it and the share: pay_q25.
	Name string
	// Column is what it is of; "" for Count, Units, Ratio and Share.
	Column string
	// At are the shares of Quantiles, ascending, each above 0 and below 1.
	At []*big.Rat
	// Median says that it is the one quantile of 1/2, which has the statistic's own name.
	Median bool
	// PerUnit is how many values a unit gives at most, for Distinct.
	PerUnit int64
	// Of and Over are the terms of a Ratio.
	Of, Over Term
	// Within are the attributes that the groups of a total have in common, of which a Share is; none: it is the total
	// of the table.
	Within []Attribute
}

// QuantileName is the name of the columns of one of the statistic's quantiles: that of a median is its own, of another
// the share in per cent follows, as in pay_q25 or pay_q2_5.
func (s Stat) QuantileName(share *big.Rat) string {
	if s.Median {
		return s.Name
	}
	percent := new(big.Rat).Mul(share, big.NewRat(100, 1))
	text := percent.FloatString(12)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	return s.Name + "_q" + strings.ReplaceAll(text, ".", "_")
}

// Term is what a ratio is made of: over the rows that meet all of Where, how many there are (Count), or the Sum or the
// Mean of a column.
type Term struct {
	Kind   StatKind
	Column string
	Where  []Condition
}

// PerUnit bounds what one unit adds to a table, beside the bound of its own table. 0 stands for no bound. Which of a
// unit's groups and rows stay is drawn under the release's key.
type PerUnit struct {
	Groups       int64 `json:"groups,omitempty"`         // cells that its rows are in
	RowsPerGroup int64 `json:"rows_per_group,omitempty"` // rows in one cell
	Total        int64 `json:"total,omitempty"`          // rows in all
}

// String says the bounds in words.
func (p PerUnit) String() string {
	var parts []string
	say := func(n int64, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(p.Groups, "groups")
	say(p.RowsPerGroup, "rows in a group")
	say(p.Total, "rows in all")
	return "at most " + strings.Join(parts, ", ")
}

// names are the names of a statistic's figures.
func (s Stat) names() []string {
	if s.At == nil {
		return []string{s.Name}
	}
	names := make([]string, len(s.At))
	for i, share := range s.At {
		names[i] = s.QuantileName(share)
	}
	return names
}

// mostQuantiles bounds the quantiles of one statistic.
const mostQuantiles = 100

// statNodes are what the spec says of a statistic: its item in the list, the value of the key that asks for it, and the
// marginal, as far as it is read, with what the spec says of that.
type statNodes struct {
	item, of document.Node
	marginal *Marginal
	declared document.Node
}

// statSource is what the statistics of a marginal are read from, and checked against.
type statSource interface {
	// AddProblem reports a problem with a node.
	AddProblem(n document.Node, p document.Problem)
	// checkHasUnits reports a statistic by units, called what, of a table whose rows are units.
	checkHasUnits(n document.Node, what string) bool
	// checkMeasurable reports columns without numbers, and those whose sums of powers are too large.
	checkMeasurable(column document.Node, what string, power int) *domain.Lattice
	// checkCountable reports columns whose distinct values cannot be counted.
	checkCountable(column document.Node)
	// readShares reads the shares of quantiles.
	readShares(n document.Node) []*big.Rat
	// readRatio reads the terms of a ratio.
	readRatio(n document.Node) (of, over Term)
	// readAttributesOf reads a list of attributes of a marginal.
	readAttributesOf(m *Marginal, n, list document.Node, check func(Attribute) document.Problem) []Attribute
}

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
	// read reads what the key has into a statistic, which it names but for `as`.
	read func(s statSource, at statNodes, stat *Stat)
}

// statPage says more of statistics.
const statPage = "docs/spec.md#numbers-not-only-counts"

// statForms are the ways to ask for a statistic.
var statForms = []statForm{
	{key: "count", example: "count", word: true, read: func(statSource, statNodes, *Stat) {}},
	{key: "units", example: "units", word: true, read: readUnits},
	ofColumn("sum", "The sum of a column of numbers.", measurable(Sum, 1)),
	ofColumn("mean", "The mean of a column of numbers.", measurable(Mean, 1)),
	ofColumn("variance", "The variance of a column of numbers: the mean square of the distance of its values from "+
		"their mean.", measurable(Variance, 2)),
	ofColumn("deviation", "The standard deviation of a column of numbers: the square root of the variance.",
		measurable(Deviation, 2)),
	ofColumn("cv", "The coefficient of variation of a column of numbers: the standard deviation divided by the "+
		"absolute value of the mean, so that 0.5 says that values differ from their mean by about half of it. It has "+
		"no interval where the mean may be 0. The confidence is over all cells, those without an interval included: "+
		"where the mean is only a few standard errors away from 0, fewer of the intervals that are shown hold the truth.",
		measurable(Variation, 2)),
	ofColumn("median", "The median of a column: the value that half of the rows have or lie below.", readMedian),
	{key: "quantiles", example: "{quantiles: x, at: [25%, 75%]}", value: shape.Text("a column"),
		others: []shape.Field{{Key: "at", Shape: shape.List("shares in ascending order, such as [25%, 50%, 75%]",
			shape.Number("a share above 0 and below 1, such as 25%"), 1, mostQuantiles),
			Required: "the shares, such as [25%, 50%, 75%]",
			Fix:      "at: [25%, 50%, 75%]"}},
		means: map[string]shape.Meaning{
			"quantiles": {States: "The quantiles of a column, at the shares that `at` lists.", Example: "pay"},
			"at":        {States: "The shares of the quantiles, ascending.", Example: "[10%, 50%, 90%]"},
		}, read: readQuantiles},
	{key: "distinct", example: "{distinct: x, per_unit: N}", value: shape.Text("a column"),
		others: []shape.Field{{Key: "per_unit", Shape: shape.Whole("a whole number from 1 to 1000000", 1, mostOfAUnit),
			Required: "the most values that one unit gives", Fix: "per_unit: 1"}},
		means: map[string]shape.Meaning{
			"distinct": {States: "How many values of a column occur.", Example: "rank"},
			"per_unit": {States: "For `distinct`: how many different values of one unit are counted at most.",
				Example: "2"},
		}, read: readDistinct},
	{key: "share", example: "share, {share: {of: [a]}}", word: true, value: shape.Object(
		"{of: [a]}: attributes of by that the cells of a total have in common; share alone is of the table's total",
		shape.Field{Key: "of", Shape: shape.List("attributes of by, such as [region]",
			shape.Text("an attribute of by"), 1, 0),
			Required: "the attributes that the cells of a total have in common", Fix: "of: [region]"}),
		means: map[string]shape.Meaning{
			"share": {States: "The count of a cell divided by the total of the cells that agree with it in the " +
				"attributes of `of`. The word `share` alone is the share of the table's total. It costs nothing " +
				"beyond the counts, and its interval takes into account the noise that cell and total have in common.",
				Example: "{of: [region]}"},
			"share.of": {States: "Attributes of `by`: the shares of the cells that agree in them add up to 1, unless " +
				"noise takes a count below 0 and its share is shown as 0.",
				Example: "[region]"},
		}, read: readShare},
	{key: "ratio", example: "{ratio: {of: …, over: …}, as: name}", value: ratioShape(), named: true,
		means: ratioMeanings,
		read:  readRatioOf},
}

// ofColumn is a form that asks for a statistic of one column, and for nothing else.
func ofColumn(key, is string, read func(s statSource, at statNodes, stat *Stat)) statForm {
	return statForm{key: key, example: "{" + key + ": x}", value: shape.Text("a column"), read: read,
		means: map[string]shape.Meaning{key: {States: is, Example: "pay"}}}
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
		title := shape.Field{Key: "title", Shape: titleShape(), Words: true}
		fields := slices.Concat([]shape.Field{{Key: form.key, Shape: form.value}, as}, form.others,
			[]shape.Field{title})
		branches = append(branches, shape.OnKey(shape.Object(says, fields...), form.key))
	}
	return shape.Choice(says, append(branches, shape.OnScalar(shape.Enum(says, words...)))...)
}

// statMeanings says what the keys of statistics do, by their paths.
func statMeanings() map[string]shape.Meaning {
	all := map[string]shape.Meaning{"as": {States: "The name of the statistic in its columns. A ratio must have one.",
		Default: "a name made of the column and the statistic, such as pay_mean", Example: "rate"},
		"title": {States: "What charts and tables call the statistic.", Default: "a description such as mean of pay",
			Example: "Average pay"}}
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

// measurable returns the reader of a statistic that needs the sums of a column's values up to a power.
func measurable(kind StatKind, power int) func(s statSource, at statNodes, stat *Stat) {
	return func(s statSource, at statNodes, stat *Stat) {
		stat.Kind, stat.Column, stat.Name = kind, at.of.Text(), at.of.Text()+"_"+kind.String()
		s.checkMeasurable(at.of, "a "+kind.String(), power)
	}
}

func readMedian(s statSource, at statNodes, stat *Stat) {
	stat.Kind, stat.Column, stat.Name = Quantiles, at.of.Text(), at.of.Text()+"_median"
	stat.Median, stat.At = true, []*big.Rat{big.NewRat(1, 2)}
	s.checkMeasurable(at.of, "a median", 0)
}

func readQuantiles(s statSource, at statNodes, stat *Stat) {
	stat.Kind, stat.Column, stat.Name = Quantiles, at.of.Text(), at.of.Text()
	s.checkMeasurable(at.of, "quantiles", 0)
	stat.At = s.readShares(at.item.Get("at"))
}

func readDistinct(s statSource, at statNodes, stat *Stat) {
	stat.Kind, stat.Column, stat.Name = Distinct, at.of.Text(), at.of.Text()+"_distinct"
	stat.PerUnit = at.item.Get("per_unit").WholeNumber()
	s.checkCountable(at.of)
}

func readRatioOf(s statSource, at statNodes, stat *Stat) {
	stat.Kind, stat.Name = Ratio, "_ratio"
	stat.Of, stat.Over = s.readRatio(at.of)
}

func readUnits(s statSource, at statNodes, stat *Stat) {
	stat.Kind = Units
	s.checkHasUnits(at.item, "units")
}

func readShare(s statSource, at statNodes, stat *Stat) {
	stat.Kind, stat.Name = Share, "share"
	stat.Within = s.readAttributesOf(at.marginal, at.declared, at.of.Get("of"),
		func(Attribute) (p document.Problem) { return p })
	if len(stat.Within) == len(at.declared.Get("by").Items()) {
		s.AddProblem(at.item, document.Problem{Message: "the share of a cell in itself is 1",
			Expected: "a total of several cells: fewer attributes in `of`, or more in `by`"})
	}
}
