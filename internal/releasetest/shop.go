package releasetest

import (
	"fmt"
	"strings"
	"testing"
)

// shopSpec has microdata of a table with a top marginal, a sparse one, and one of words that nobody listed.
const shopSpec = `version: 1
release: trips
privacy: {protects: customer, neighbours: NEIGHBOURS, account: trips}
budget: {epsilon: 12, delta: 1e-9, split: {words: 1/6, chosen: 1/6, large: 1/6, pairs: 1/6SPLIT}}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: customer, max_rows: 4}
    columns:
      word: {values: {discover: {max_length: 30}}, unknown: drop, null: drop}
      side: {values: [right, left]}
      hour: {type: integer, range: [0, 3]}
      place: {type: integer, range: [1, 400]}
marginals:
  words: {by: [side, word], stats: [units], per_unit: {groups: 2}, budget: words}
  busy: {by: [place, side], budget: chosen, top: 3}
  large: {by: [place], budget: large, cells: {above: 300}}
  pairs: {by: [side, hour], every: [1, 2], budget: pairs}
synthetic: {t: {METHOD, by: [side, hour]}}
`

// ShopRows returns the rows of 900 customers, of whom 600 bought "tea" on the left in even hours, and 300 "ink" on the
// right in odd ones, both at place 7; and of one more customer with a word that nobody else has.
func ShopRows() string {
	b := &strings.Builder{}
	b.WriteString("customer,word,side,hour,place\n")
	for i := range 900 {
		word, side, hour := "tea", "left", i%2*2
		if i%3 == 2 {
			word, side, hour = "ink", "right", i%2*2+1
		}
		for range 1 + i%2 {
			fmt.Fprintf(b, "c%d,%s,%s,%d,7\n", i, word, side, hour)
		}
	}
	b.WriteString("alone,canary-word,left,1,399\n")
	return b.String()
}

// Shop returns an office with these microdata.
func Shop(t *testing.T, neighbours, method string) Office {
	t.Helper()
	text, policy := ShopText(neighbours, method)
	return With(t, text, policy, ShopRows())
}

// ShopText returns the spec of a shop and the policy of its account.
func ShopText(neighbours, method string) (text, policy string) {
	split, how := ", rows: 1/3", "budget: rows, method: "+method
	if method == "tables" {
		split, how = ", rest: 1/3", "method: tables"
	}
	text = strings.NewReplacer("NEIGHBOURS", neighbours, "SPLIT", split, "METHOD", how).Replace(shopSpec)
	if method == "tables" {
		text = strings.Replace(text, "\nsynthetic:", "\n  hours: {by: [hour], budget: rest}\nsynthetic:", 1)
	}
	return text, strings.Replace(WordPolicy, "NEIGHBOURS", neighbours, 1)
}
