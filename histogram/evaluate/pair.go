package evaluate

// This file holds the association of two columns of microdata, compared with the association in the true rows.

import (
	"math"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/spec"
)

// The measures of association: Kendall's τ-b of two ordered columns, from −1 to 1, and Cramér's V of others, from 0
// to 1.
const (
	KendallTauB = "kendall_tau_b"
	CramersV    = "cramers_v"
)

// Association is the association of two columns in the microdata and in the true rows. It is NaN if a column has rows
// in one category only.
type Association struct {
	answer.Redacted
	Measure      string
	Truth, Drawn float64
}

// associationOf returns the association of two columns, the first of which has `first` categories. inOrder says
// whether both are ordered.
func associationOf(drawn, truth []int64, first int, inOrder bool) *Association {
	if inOrder {
		return &Association{Measure: KendallTauB, Truth: kendallTauB(truth, first), Drawn: kendallTauB(drawn, first)}
	}
	return &Association{Measure: CramersV, Truth: cramersV(truth, first), Drawn: cramersV(drawn, first)}
}

// inOrder reports whether the categories of a column at a level have the order of its values: numbers, dates and
// times, unless the level groups values that are not neighbours. Nulls and unknowns that count as a category come
// last.
func inOrder(c *spec.Column, l *domain.Level) bool {
	switch c.Type {
	case domain.Integer, domain.Decimal, domain.Date, domain.Timestamp:
	default:
		return false
	}
	for code := 1; code < min(c.Domain.Declared(), len(l.CategoryOf)); code++ {
		if l.CategoryOf[code] < l.CategoryOf[code-1] {
			return false
		}
	}
	return true
}

// marginSums returns the sums of a table's rows and columns, and the total.
func marginSums(counts []int64, first int) (rows, columns []float64, all float64) {
	second := len(counts) / first
	rows, columns = make([]float64, first), make([]float64, second)
	for i, n := range counts {
		rows[i/second] += float64(n)
		columns[i%second] += float64(n)
		all += float64(n)
	}
	return rows, columns, all
}

// cramersV returns √(χ²/(n·(min(r, c) − 1))) of a table of n rows, where r and c are how many categories of its two
// columns have rows (Cramér 1946).
func cramersV(counts []int64, first int) float64 {
	rows, columns, _ := marginSums(counts, first)
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

// kendallTauB returns (P − Q)/√((T − A)(T − B)) of the T pairs of rows, of which P are in the same order in both
// columns, Q in opposite orders, A equal in the first and B equal in the second (Kendall 1945).
func kendallTauB(counts []int64, first int) float64 {
	rows, columns, n := marginSums(counts, first)
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
	// For each row, before has the counts of all earlier rows by the category of the second column: categories below
	// its own are in the same order, and categories above it in the opposite order.
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
