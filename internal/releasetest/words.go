package releasetest

import (
	"fmt"
	"strings"
	"testing"
)

// WordSpec has groups that nobody listed beside listed ones, and a table of listed ones alone.
const WordSpec = `version: 1
release: words
privacy: {protects: customer, neighbours: NEIGHBOURS, account: trips}
budget: {epsilon: 4, delta: 1e-9, split: {words: 2/3, rest: 1/3}}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: customer, max_rows: 4}
    columns:
      word: {values: {discover: {max_length: 30}}, unknown: drop, null: drop}
      side: {values: [right, left]}
marginals:
  words: {by: [side, word], stats: [units], per_unit: {groups: GROUPS}, budget: words}
  sides: {by: [side], stats: [units], budget: rest}
`

const WordPolicy = "account: trips\nprotects: customer\nneighbours: NEIGHBOURS\ncap: {rho: 5, delta: 1e-6}\n"

// LargeWords are groups of many customers. In addition a thousand customers have a word of their own.
var LargeWords = map[string]int{"left|Ärger, groß": 700, "left|zebra": 900, "right|  spaces": 800, "right|zebra": 1000}

func Words(t *testing.T, neighbours, groups string) Office {
	t.Helper()
	rows := &strings.Builder{}
	rows.WriteString("customer,word,side\n")
	for group, n := range LargeWords {
		side, word, _ := strings.Cut(group, "|")
		for i := range n {
			for range 1 + i%3 { // of several rows each counts once
				fmt.Fprintf(rows, "%s-%d,\"%s\",%s\n", strings.Map(onlyLetters, group), i, word, side)
			}
		}
	}
	for i := range 1000 {
		fmt.Fprintf(rows, "own%d,canary-of-%d,left\n", i, i)
	}
	rows.WriteString("long,canary-" + strings.Repeat("x", 40) + ",left\n")
	replace := strings.NewReplacer("NEIGHBOURS", neighbours, "GROUPS", groups)
	return With(t, replace.Replace(WordSpec), replace.Replace(WordPolicy), rows.String())
}

func onlyLetters(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r
	}
	return -1
}
