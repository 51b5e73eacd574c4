package page

// This file says once what is said of many tables with other numbers: the sentences with letters in the place of the
// numbers that differ, and a table of these.

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/language"
)

// labelled is a text about one or more tables.
type labelled struct{ Label, Text string }

// pattern is a text with letters in the place of some numbers, and a row of numbers for each label. Without rows, all
// that it is said of have the same text.
type pattern struct {
	Label, Text string
	Letters     []string
	Rows        []patternRow
}

// patternRow are the numbers of one label.
type patternRow struct {
	Name   string
	Values []string
}

// numberPattern matches a number in a sentence, with its sign and its unit, in every language.
var numberPattern = regexp.MustCompile(`[±−]?\b[0-9][0-9\x{202f}]*([.,][0-9]+)?(e-[0-9]+)?\b(\x{202f}?%)?`)

// mostLetters is the number of numbers up to which a text becomes a pattern.
const mostLetters = 12

// patternsOf groups texts that differ in nothing but their numbers, in the order of their first.
func patternsOf(l *language.Language, all []labelled) []pattern {
	var order []string
	groups := map[string][]labelled{}
	for _, one := range all {
		frame := numberPattern.ReplaceAllLiteralString(one.Text, "0")
		if groups[frame] == nil {
			order = append(order, frame)
		}
		groups[frame] = append(groups[frame], one)
	}
	var out []pattern
	for _, frame := range order {
		out = append(out, patternOf(l, groups[frame])...)
	}
	return out
}

// patternOf makes a pattern of texts that differ in nothing but their numbers, or one for each text if too many differ.
func patternOf(l *language.Language, texts []labelled) []pattern {
	values := make([][]string, len(texts))
	for i, one := range texts {
		values[i] = numberPattern.FindAllString(one.Text, -1)
	}
	var differ []int
	for k := range values[0] {
		if slices.ContainsFunc(values, func(v []string) bool { return v[k] != values[0][k] }) {
			differ = append(differ, k)
		}
	}
	labels := make([]string, len(texts))
	for i, one := range texts {
		labels[i] = one.Label
	}
	switch {
	case len(differ) == 0:
		return []pattern{{Label: strings.Join(labels, "; "), Text: texts[0].Text}}
	case len(differ) > mostLetters:
		out := make([]pattern, len(texts))
		for i, one := range texts {
			out[i] = pattern{Label: one.Label, Text: one.Text}
		}
		return out
	}
	p := pattern{Label: l.FirstOf(labels)}
	k := -1
	p.Text = numberPattern.ReplaceAllStringFunc(texts[0].Text, func(v string) string {
		k++
		at := slices.Index(differ, k)
		if at < 0 {
			return v
		}
		letter := string(rune('A' + at))
		p.Letters = append(p.Letters, letter)
		return letter
	})
	p.Text += " " + l.Text("The letters stand for these numbers:")
	for i := range texts {
		p.Rows = append(p.Rows, patternRow{Name: labels[i]})
	}
	for _, k := range differ {
		column := make([]string, len(values))
		for i := range values {
			column[i] = values[i][k]
		}
		for i, value := range lineUp(column) {
			p.Rows[i].Values = append(p.Rows[i].Values, value)
		}
	}
	return []pattern{p}
}

// fraction matches the decimals of a number with their mark, and whatever follows.
var fraction = regexp.MustCompile(`([.,][0-9]+)?(\x{202f}?%)?$`)

// lineUp adds spaces as wide as digits and marks to numbers, so that their decimal marks stand below one another if
// they are aligned right.
func lineUp(column []string) []string {
	most := 0
	for _, v := range column {
		most = max(most, len(fraction.FindStringSubmatch(v)[1]))
	}
	lined := make([]string, len(column))
	for i, v := range column {
		parts := fraction.FindStringSubmatchIndex(v)
		whole, decimals, unit := v[:parts[0]], "", ""
		if parts[2] >= 0 {
			decimals = v[parts[2]:parts[3]]
		}
		if parts[4] >= 0 {
			unit = v[parts[4]:]
		}
		missing := most - len(decimals)
		if decimals == "" && most > 0 {
			decimals, missing = punctuationSpace, missing-1
		}
		lined[i] = whole + decimals + strings.Repeat(figureSpace, missing) + unit
	}
	return lined
}

const (
	figureSpace      = "\u2007" // as wide as a digit
	punctuationSpace = "\u2008" // as wide as a decimal mark
)
