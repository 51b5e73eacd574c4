package evaluate

// This file holds the association of two columns of microdata beside that of the true rows.

import (
	"math"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/spec"
)

// The measures of association: Kendall's τ-b of two columns in order, from −1 to 1, and Cramér's V of others, from 0 to
// 1.
const (
	KendallTauB = "kendall_tau_b"
	CramersV    = "cramers_v"
)

// Association is how two columns of microdata go together, and how they do in the true rows. A column of one category
// alone goes with nothing: then it is NaN.
type Association struct {
	answer.Redacted
	Measure      string
	Truth, Drawn float64
}

// associationOf is that of two columns, of which the first has so many categories; inOrder says that both are in order.
func associationOf(drawn, truth []int64, first int, inOrder bool) *Association {
	if inOrder {
		return &Association{Measure: KendallTauB, Truth: kendallTauB(truth, first), Drawn: kendallTauB(drawn, first)}
	}
	return &Association{Measure: CramersV, Truth: cramersV(truth, first), Drawn: cramersV(drawn, first)}
}

// inOrder tells that the categories of a column at a level follow each other as its values do: of numbers, dates and
// times, unless the level groups values that are not neighbours. Nulls and unknowns that count as a category come last.
func inOrder(c *spec.Column, l *domain.Level) bool {
	switch c.Type {
	case domain.Integer, domain.Decimal, domain.Date, domain.Timestamp:
	default:
		return false
	}
	for code := 1; code < min(c.Domain.Declared(), len(l.Of)); code++ {
		if l.Of[code] < l.Of[code-1] {
			return false
		}
	}
	return true
}

// margins are the sums of a table's rows and columns, and of all.
func margins(counts []int64, first int) (rows, columns []float64, all float64) {
	second := len(counts) / first
	rows, columns = make([]float64, first), make([]float64, second)
	for i, n := range counts {
		rows[i/second] += float64(n)
		columns[i%second] += float64(n)
		all += float64(n)
	}
	return rows, columns, all
}

// cramersV is √(χ²/(n·(min(r, c) − 1))) of a table of n rows, where r and c are how many categories of its two columns
// have rows (Cramér 1946).
func cramersV(counts []int64, first int) float64 {
	rows, columns, _ := margins(counts, first)
	least := math.Min(filledIn(rows), filledIn(columns)) - 1
	if least < 1 {
		return math.NaN()
	}
	sum := 0.0 // Σ n²/(row·column), which is χ²/n + 1
	for i, count := range counts {
		if count > 0 {
			sum += float64(count) / rows[i/len(columns)] * float64(count) / columns[i%len(columns)]
		}
	}
	return math.Sqrt(math.Max(sum-1, 0) / least)
}

func filledIn(sums []float64) (n float64) {
	for _, s := range sums {
		if s > 0 {
			n++
		}
	}
	return n
}

// kendallTauB is (P − Q)/√((T − A)(T − B)) of the T pairs of rows, of which P are in the same order in both columns, Q
// in opposite orders, A alike in the first and B alike in the second (Kendall 1945).
func kendallTauB(counts []int64, first int) float64 {
	rows, columns, n := margins(counts, first)
	pairs := func(n float64) float64 { return n * (n - 1) / 2 }
	firstApart, secondApart := pairs(n), pairs(n)
	for _, r := range rows {
		firstApart -= pairs(r)
	}
	for _, c := range columns {
		secondApart -= pairs(c)
	}
	if firstApart <= 0 || secondApart <= 0 {
		return math.NaN()
	}
	// Row by row, against what the rows of categories before have in each of the second column's: those below it are in
	// the same order, those above it in the opposite one.
	before := make([]float64, len(columns))
	sum := 0.0
	for i := range first {
		row := counts[i*len(columns) : (i+1)*len(columns)]
		below, all := 0.0, 0.0
		for _, b := range before {
			all += b
		}
		for j, count := range row {
			above := all - below - before[j]
			sum += float64(count) * (below - above)
			below += before[j]
		}
		for j, count := range row {
			before[j] += float64(count)
		}
	}
	return sum / math.Sqrt(firstApart) / math.Sqrt(secondApart)
}
