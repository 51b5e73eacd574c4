package synth

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// This file holds microdata: rows drawn from a model of the measurements.

// Microdata are rows drawn from a model that was fitted to measurements. No row stands for a unit, and nothing of them
// has an interval: how far a model is from the truth beyond noise is not known.
type Microdata struct {
	Table      string
	Keys       []Key      // the columns, those that others decide last
	Rows       int        // how many
	Asked      int64      // as many as the publication asked for; 0: as the plan says or the noisy total does
	Codes      [][]uint32 // by key, then row: places among the categories of the key
	Total      float64    // the unbiased noisy number of rows of the confidential table
	TotalError float64    // the standard error of Total, from the law of the noise
	Pairs      []PairFit  // in the order of the rounds
}

// PairFit is how well the model keeps to the measurement of a pair of columns, in rows. Distance close to what noise
// alone makes, √(2/π)·Sigma·Cells, or below is as it should be: the model takes out the noise that cannot be true.
type PairFit struct {
	First, Second spec.Attribute
	Cells         int
	Sigma         float64 // standard deviation of the noise of a cell
	Distance      float64 // L1: Σ|model − measured| over the cells
}

// mostRows is how many rows are drawn at most, whatever the noisy total.
const mostRows = math.MaxInt32

// Draw fits a model to the measurements of a method of the plan, s.Plan.Synthetic[method], and draws its rows: as many
// as the plan says or, where it does not, as the noisy total does, none if that is below a half, and 2^31−1 at most.
//
// The same sealed measurements give the same rows on every machine. It fails where there is no such method, a
// measurement of it is missing or not whole, or its pairs close a cycle.
func Draw(s *measured.Sealed, method int) (Microdata, error) { return Redraw(s, method, 0) }

// Redraw is Draw of so many rows as are asked for, whatever plan and noisy total say; of 0 it is Draw. What is measured
// and the model are the same, so it costs nothing.
func Redraw(s *measured.Sealed, method int, rows int64) (Microdata, error) {
	if method < 0 || method >= len(s.Plan.Synthetic) || method >= len(s.Rounds) {
		return Microdata{}, fmt.Errorf("there are no microdata number %d", method+1)
	}
	asked, rounds := s.Plan.Synthetic[method], s.Rounds[method]
	columns, err := columnsOf(s, asked)
	if err == nil {
		err = checkRounds(s.Plan, asked, rounds)
	}
	if err != nil {
		return Microdata{}, err
	}
	keys, err := keysOf(s.Plan.Release(), plan.Query{Table: asked.Table, Factors: asked.Columns()})
	if err != nil {
		return Microdata{}, err
	}
	total, variance := totalOf(columns)
	m := fit(max(total, 1), columns, asked.Pairs(), rounds)
	out := Microdata{Table: asked.Table, Keys: keys, Rows: int(rowsOf(asked, rows, total)), Asked: rows, Total: total, TotalError: math.Sqrt(variance)}
	out.Codes = m.draw(out.Rows, newStream(s, "rows of "+asked.Table))
	for i := range asked.Derived {
		from, of, err := s.Plan.Origin(asked, i)
		if err != nil {
			return Microdata{}, err
		}
		derived := make([]uint32, out.Rows)
		for row, code := range out.Codes[from] {
			derived[row] = uint32(of[code])
		}
		out.Codes = append(out.Codes, derived)
	}
	for i, r := range rounds {
		out.Pairs = append(out.Pairs, PairFit{
			First: keys[m.pairs[i].pair[0]].Attribute, Second: keys[m.pairs[i].pair[1]].Attribute,
			Cells: len(m.pairs[i].counts), Sigma: math.Sqrt(r.Measured.Measurement.Mechanism.Variance()),
			Distance: distance(m.pairs[i].counts, countsOf(r.Measured)),
		})
	}
	return out, nil
}

// rowsOf is how many rows microdata have, given those that a publication asks for, 0 for none, and the noisy total.
func rowsOf(asked plan.Synthetic, rows int64, total float64) float64 {
	switch {
	case rows > 0:
		return float64(rows)
	case asked.Rows > 0:
		return float64(asked.Rows)
	}
	return min(max(math.Floor(total+0.5), 0), mostRows)
}

// Bytes is about the memory that [Redraw] takes, and writing what it draws: 16 bytes for
// every value. It fails as Redraw does on measurements of columns.
func Bytes(s *measured.Sealed, method int, rows int64) (int64, error) {
	asked := s.Plan.Synthetic[method]
	columns, err := columnsOf(s, asked)
	if err != nil {
		return 0, err
	}
	total, _ := totalOf(columns)
	return int64(rowsOf(asked, rows, total)) * 16 * int64(len(asked.Columns())), nil
}

// columnsOf finds the measurements of the single columns, in order.
func columnsOf(s *measured.Sealed, asked plan.Synthetic) ([]measured.Measured, error) {
	byID := make(map[string]measured.Measured, len(s.Measured))
	for _, m := range s.Measured {
		byID[m.Measurement.ID] = m
	}
	columns := make([]measured.Measured, len(asked.By))
	for i := range asked.By {
		columns[i] = byID[asked.Column(i)]
	}
	return columns, checkColumns(s.Plan, asked, columns)
}

// checkRounds returns an error unless rounds are such as the method makes.
func checkRounds(p *plan.Plan, asked plan.Synthetic, rounds []measured.Round) error {
	pairs, joined := asked.Pairs(), asked.Forest()
	if len(rounds) > asked.Rounds {
		return fmt.Errorf("the microdata of %s have %d rounds, more than the %d of the plan", asked.Table, len(rounds), asked.Rounds)
	}
	for i, r := range rounds {
		if r.Choice < 0 || r.Choice >= len(pairs) || !joined.Apart(pairs[r.Choice]) {
			return fmt.Errorf("round %d of the microdata of %s: %d was not to be chosen", i+1, asked.Table, r.Choice)
		}
		if err := checkPair(p, asked, pairs[r.Choice], r.Measured); err != nil {
			return fmt.Errorf("round %d of the microdata of %s: %w", i+1, asked.Table, err)
		}
		joined.Join(pairs[r.Choice])
	}
	return nil
}

// distance is Σ|a − b|.
func distance(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d += math.Abs(a[i] - b[i])
	}
	return d
}
