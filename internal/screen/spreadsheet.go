package screen

import (
	"strings"
	"unicode"
)

// This file holds texts for spreadsheets, which take some for formulas.

// formulaStarts are the characters at which spreadsheets take a text for a formula, wide and small ones too.
const formulaStarts = "=+-@＝＋－＠﹦﹢﹣﹫"

// NoFormula is a text that no spreadsheet takes for a formula and no terminal for a command, nor a part of it where a
// spreadsheet parts cells at semicolons.
func NoFormula(text string) string {
	parts := strings.Split(text, ";")
	for i, part := range parts {
		if startsFormula(part) {
			parts[i] = "'" + part
		}
	}
	return Visible(strings.Join(parts, ";"), "\n\t")
}

// startsFormula tells that a text starts a formula, or with white space that would have to be seen: spreadsheets strip
// what they do not show, quotes of a cell included.
func startsFormula(text string) bool {
	first := strings.TrimLeftFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || c == '"' ||
			!unicode.IsGraphic(c)
	})
	return text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) || first != "" &&
		strings.ContainsRune(formulaStarts, []rune(first)[0])
}

// NoFormulas are texts that no spreadsheet takes for formulas.
func NoFormulas(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = NoFormula(text)
	}
	return out
}
