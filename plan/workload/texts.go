package workload

import (
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/limit"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds tables of texts that nobody lists, which are found from reports.

// Texts returns how the texts of a table are found; it reports false if none are.
func (t *Table) Texts() (selection.Texts, bool) {
	texts, ok := t.Selection.(selection.Texts)
	return texts, ok
}

// requestedTexts returns the selection of a marginal by a column of texts that nobody lists, which respondents are
// asked for.
func requestedTexts(_ *spec.Marginal, unlisted []*spec.Column) (selection.Selection, bool) {
	if len(unlisted) == 0 || unlisted[0].Domain.Discover().Alphabet == "" {
		return nil, false
	}
	return selection.Texts{Column: unlisted[0].Name, Alphabet: unlisted[0].Domain.Discover().Alphabet}, true
}

// textCells returns the bound of a sparse table: which texts are found is not known.
func textCells(*Table, []*domain.Level) (int64, error) { return limit.SparseCells, nil }

// describeTexts says which texts a table has, as it has no listed cells.
func describeTexts(t *Table, _ *spec.Release, out *plan.Table) {
	c := t.Discovers[0]
	out.Cells, out.Texts = 0, &selection.TextsFacts{Column: c.Name, Alphabet: c.Domain.Discover().Alphabet,
		MaxLength: c.Domain.Discover().MaxLength}
}
