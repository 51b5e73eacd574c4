package spec

import "testing"

// TestMicrodataOfATableWithSelectedCells reads microdata of a table that has a top marginal, a sparse one and one with
// unlisted groups. Only a column that occurs in no other marginal than the last may not be one of the microdata's
// columns.
func TestMicrodataOfATableWithSelectedCells(t *testing.T) {
	text := discoverText("{epsilon: 1, delta: 1e-9, split: {words: 1/4, large: 1/4, top: 1/4, rows: 1/4}}",
		"{max_length: 40}", ", unknown: drop", "{id: customer, max_rows: 9}",
		"{by: [word, region], stats: [units], per_unit: {groups: 2}}\n  large: {by: [region, pay], cells: {above: 9}}\n"+
			"  top: {by: [pay], top: 3}")
	r, err := Parse(Source{Name: "r.yaml", Text: text + "synthetic: {searches: {by: [region, pay], budget: rows}}\n"})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Synthetic) != 1 || len(r.Synthetic[0].By) != 2 || r.Synthetic[0].Leaf != "rows" || len(r.Marginals) != 3 {
		t.Errorf("read as %+v", r.Synthetic)
	}
}
