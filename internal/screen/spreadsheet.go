package screen

import (
	"strings"
	"unicode"
)

// This file protects texts from being taken for formulas by spreadsheets.

// formulaStarts are the characters that begin a formula for spreadsheets, including wide and small ones.
const formulaStarts = "=+-@＝＋－＠﹦﹢﹣﹫"

// NoFormula returns a text that no spreadsheet takes for a formula and no terminal for a command, not even in parts if
// a spreadsheet splits cells at semicolons.
func NoFormula(text string) string {
	parts := strings.Split(text, ";")
	for i, part := range parts {
		if startsFormula(part) {
			parts[i] = "'" + part
		}
	}
	return Visible(strings.Join(parts, ";"), "\n\t")
}

// startsFormula reports whether a text begins with a formula, or with white space that would have to be seen:
// spreadsheets strip what they do not show, including the quotes of a cell.
func startsFormula(text string) bool {
	first := strings.TrimLeftFunc(text, func(c rune) bool {
		return unicode.IsSpace(c) || c == '"' ||
			!unicode.IsGraphic(c)
	})
	return text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) || first != "" &&
		strings.ContainsRune(formulaStarts, []rune(first)[0])
}

// NoFormulas applies [NoFormula] to texts.
func NoFormulas(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = NoFormula(text)
	}
	return out
}
