package report

// This file holds the tables of scores of pairs of columns of a model.

// ModelPair is the table of scores of a pair of columns: what both together add to the score of each, with the standard
// errors of the noise. It has a row for each category of the first column, and an entry for each of the second.
type ModelPair struct {
	Columns    []string    `json:"columns"`    // two, by name
	Importance float64     `json:"importance"` // mean absolute score
	Scores     [][]float64 `json:"scores"`
	Errors     [][]float64 `json:"standard_errors"`
}

// Name returns the name of a pair.
func (p ModelPair) Name() string { return p.Columns[0] + " × " + p.Columns[1] }

// LargestError returns the largest standard error of a score.
func (p ModelPair) LargestError() float64 {
	most := 0.0
	for _, row := range p.Errors {
		for _, e := range row {
			most = max(most, e)
		}
	}
	return most
}

// PairCell is a score of a pair, with the categories that it is of.
type PairCell struct {
	Categories [2]string
	Score      float64
}

// Name returns the names of the categories.
func (c PairCell) Name() string { return c.Categories[0] + " × " + c.Categories[1] }

// LowestOf returns the lowest score of a pair.
func (m Model) LowestOf(p ModelPair) PairCell { return m.extremeOf(p, -1) }

// HighestOf returns the highest score of a pair.
func (m Model) HighestOf(p ModelPair) PairCell { return m.extremeOf(p, 1) }

func (m Model) extremeOf(p ModelPair, sign float64) PairCell {
	row, column := 0, 0
	for i, scores := range p.Scores {
		for k, s := range scores {
			if sign*s > sign*p.Scores[row][column] {
				row, column = i, k
			}
		}
	}
	return PairCell{[2]string{m.CategoriesOf(p.Columns[0])[row], m.CategoriesOf(p.Columns[1])[column]},
		p.Scores[row][column]}
}

// CategoriesOf returns the categories of a column of an additive model; nil for a column that it does not have.
func (m Model) CategoriesOf(column string) []string {
	for _, c := range m.Columns {
		if c.Name == column {
			return c.Categories
		}
	}
	return nil
}
