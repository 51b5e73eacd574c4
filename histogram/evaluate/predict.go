package evaluate

// This file holds how well models predict the true rows: a released model, and models of the same kind that are fitted
// without noise to microdata or to other true rows.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/synth/model"
)

// Prediction asks how well a column of the true rows is predicted from others.
type Prediction struct {
	// Model says what is predicted, from which columns of which table, and by which method. Its rounds and schedule do
	// not matter.
	Model plan.Model
	// Published is the released model; nil if there is none.
	Published Predictor
	// Microdata are rows of microdata: codes by column of [plan.Model.Columns] and then by row. They are nil if no
	// microdata of the table have all these columns.
	Microdata [][]uint32
}

// Check returns an error for a model that cannot be fitted.
func (q Prediction) Check(p *plan.Plan) error {
	_, err := newFitting(p, q.Model)
	return err
}

// Predictor returns what a model predicts for a row, by the index of the category of each column of [plan.Model.By]:
// the probability of the class, or a number.
type Predictor func(codes []int) (float64, error)

// NewPredictor returns what predicts a plan's model by its published form. It returns an error unless that has the
// columns and categories of the plan.
func NewPredictor(p *plan.Plan, m plan.Model, published *model.Predictor) (Predictor, error) {
	levels, err := plan.Query{Table: m.Table, Factors: m.By}.Levels(p.Release())
	if err != nil {
		return nil, err
	}
	numbers := make([][]int64, len(m.By))
	if !m.Additive() { // a regression may have numbers
		d, err := p.Design(m)
		if err != nil {
			return nil, err
		}
		for i := range m.By {
			numbers[i] = d.Columns()[i].Values
		}
	}
	if len(published.Inputs) != len(m.By) {
		return nil, errOtherColumns
	}
	values := make([][]model.Value, len(m.By))
	for i, in := range published.Inputs {
		isOf := func(name string, c domain.Category) bool { return name == c.Code }
		switch {
		case in.IsNumber() && numbers[i] != nil:
			for _, x := range numbers[i] {
				values[i] = append(values[i], model.Value{Number: float64(x)})
			}
		case slices.EqualFunc(in.Categories, levels[i].Categories, isOf):
			for code := range in.Categories {
				values[i] = append(values[i], model.Value{Category: code})
			}
		default:
			return nil, errOtherColumns
		}
	}
	return func(codes []int) (float64, error) {
		of := make([]model.Value, len(values))
		for i, code := range codes {
			of[i] = values[i][code]
		}
		return published.Mean(of), nil
	}, nil
}

var errOtherColumns = errors.New("it does not have the columns and categories of the plan")

// Predicted is how well models predict the true rows.
type Predicted struct {
	answer.Redacted
	// TooLarge reports that the distinct rows of the truth do not fit into memory; then nothing else is set.
	TooLarge bool
	Rows     int64 // in the truth
	Class    int64 // number of them of the class; 0 if a number is predicted
	// Published is the performance of the released model on all true rows, and Microdata of a model that is fitted
	// without noise to the microdata. SameRows is the performance of a model that is fitted without noise to the true
	// rows, on the same rows. Ceiling is the performance of two models that are fitted without noise to a half of the
	// true rows each, on the other half. What there is no model for, or no row, is nil.
	Published, Microdata, SameRows, Ceiling *Performance
}

// Performance is how well a model predicts rows. A figure that does not exist is NaN.
type Performance struct {
	answer.Redacted
	// AUC is the share of the pairs of a row of the class and another row in which the first has the higher
	// probability; pairs with equal ones count as half. Accuracy is the share of rows that are of the class if and only
	// if its probability is at least 1/2. LogLoss is the mean of −ln of the probability of what the row is. They are
	// NaN if a number is predicted.
	AUC, Accuracy, LogLoss float64
	// RSquared is 1 − Σ(prediction − number)²/Σ(mean − number)², and RMSE the root mean square of prediction − number.
	// They are NaN if a class is predicted.
	RSquared, RMSE float64
}

// leastProbability is the least probability in a log loss. Without it, one row that a model rules out decides the mean.
const leastProbability = 1e-6

// askPrediction asks for the true rows by all columns of a prediction, in a batch of their own, because the number of
// distinct rows is not known beforehand.
func (c *comparison) askPrediction(ctx context.Context, q Prediction, out **Predicted) error {
	f, err := newFitting(c.plan, q.Model)
	if err != nil {
		return err
	}
	of := Rows{Table: q.Model.Table, By: q.Model.Columns(), Codes: q.Microdata}
	m, err := jointOfColumns(fmt.Sprintf("prediction of %s in %s", q.Model.Target, of.Table), of.Table, of.By, f.sizes)
	if err != nil {
		return err
	}
	var drawn cellCounts
	if q.Microdata != nil {
		levels, err := m.Query.Levels(c.plan.Release())
		if err == nil {
			err = of.checkCodes(levels)
		}
		if err != nil {
			return fmt.Errorf("%s: microdata: %w", m.ID, err)
		}
		drawn = countCells(cellsOfRows(q.Microdata, f.sizes))
	}
	c.questions = append(c.questions, question{measurement: m, compare: func(truth answer.Answer) error {
		var err error
		if *out, err = f.compare(ctx, q.Published, drawn, cellCounts{truth.Cells, truth.Counts}); err != nil {
			return fmt.Errorf("%s: %w", m.ID, err)
		}
		return nil
	}, tooLarge: func() { *out = &Predicted{TooLarge: true} }})
	return nil
}

// cellCounts are rows as a joint histogram: ascending cells, the target fastest, and the number of rows of each.
type cellCounts struct {
	cells  []uint64
	counts []int64
}

// countCells counts cells that are sorted.
func countCells(sorted []uint64) (of cellCounts) {
	for i, cell := range sorted {
		if i == 0 || cell != sorted[i-1] {
			of.cells, of.counts = append(of.cells, cell), append(of.counts, 0)
		}
		of.counts[len(of.counts)-1]++
	}
	return of
}

// compare returns how well the released model and models without noise predict the true rows.
func (f *fitting) compare(ctx context.Context, published Predictor, drawn, truth cellCounts) (*Predicted, error) {
	out := &Predicted{Rows: total(truth.counts)}
	if out.Rows == 0 {
		return out, nil
	}
	if f.model.Class >= 0 {
		for i, cell := range truth.cells {
			if int(cell%uint64(f.sizes[len(f.model.By)])) == f.model.Class {
				out.Class += truth.counts[i]
			}
		}
	}
	variation := f.variation(truth)
	add := func(to **Performance, test func() (tally, error)) error {
		sums, err := test()
		if err == nil {
			*to = f.performance(sums, variation)
		}
		return err
	}
	if published != nil {
		if err := add(&out.Published, func() (tally, error) { return f.test(ctx, published, truth) }); err != nil {
			return nil, err
		}
	}
	if len(drawn.cells) > 0 {
		if err := add(&out.Microdata, func() (tally, error) { return f.fitAndTest(ctx, drawn, truth) }); err != nil {
			return nil, err
		}
	}
	if err := add(&out.SameRows, func() (tally, error) { return f.fitAndTest(ctx, truth, truth) }); err != nil {
		return nil, err
	}
	return out, add(&out.Ceiling, func() (tally, error) { return f.crossTest(ctx, truth) })
}

// tally is sums over rows that were predicted.
type tally struct {
	rows, hits, loss float64
	// ordered counts the pairs of a row of the class and another one in which the first has the higher probability;
	// pairs counts all.
	ordered, pairs float64
	squares        float64 // of the differences from numbers
}

// plus returns the sums over both.
func (t tally) plus(o tally) tally {
	return tally{t.rows + o.rows, t.hits + o.hits, t.loss + o.loss, t.ordered + o.ordered, t.pairs + o.pairs,
		t.squares + o.squares}
}

// performance returns the figures of sums, where variation is Σ(mean − number)² over all true rows.
func (f *fitting) performance(t tally, variation float64) *Performance {
	none := math.NaN()
	if f.model.Class >= 0 {
		return &Performance{AUC: t.ordered / t.pairs, Accuracy: t.hits / t.rows, LogLoss: t.loss / t.rows,
			RSquared: none, RMSE: none}
	}
	p := &Performance{AUC: none, Accuracy: none, LogLoss: none, RSquared: none,
		RMSE: math.Sqrt(t.squares / t.rows)}
	if variation > 0 {
		p.RSquared = 1 - t.squares/variation
	}
	return p
}

// variation returns Σ(mean − number)² over rows.
func (f *fitting) variation(rows cellCounts) (squares float64) {
	counts := make([]float64, len(f.outcomes))
	n, sum := 0.0, 0.0
	for i, cell := range rows.cells {
		counts[cell%uint64(len(counts))] += float64(rows.counts[i])
	}
	for k, count := range counts {
		n, sum = n+count, sum+count*f.outcomes[k]
	}
	for k, count := range counts {
		off := f.outcomes[k] - sum/max(n, 1)
		squares += count * off * off
	}
	return squares
}

// predictedRows are rows with one prediction: how many are of the class, and how many are not.
type predictedRows struct{ probability, class, others float64 }

// test predicts rows, and compares the predictions with their targets.
func (f *fitting) test(ctx context.Context, predict Predictor, rows cellCounts) (t tally, err error) {
	codes, outcomes := make([]int, len(f.model.By)), uint64(len(f.outcomes))
	var all []predictedRows // of a class
	for from := 0; from < len(rows.cells); {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		columns := rows.cells[from] / outcomes
		eachCode(columns, f.sizes[:len(codes)], func(column, code int) { codes[column] = code })
		prediction, err := predict(codes)
		if err != nil {
			return t, err
		}
		one := predictedRows{probability: prediction}
		for ; from < len(rows.cells) && rows.cells[from]/outcomes == columns; from++ {
			n, outcome := float64(rows.counts[from]), f.outcomes[rows.cells[from]%outcomes]
			t.rows += n
			t.squares += n * (prediction - outcome) * (prediction - outcome)
			if outcome == 1 {
				one.class += n
			} else {
				one.others += n
			}
		}
		if f.model.Class >= 0 {
			all = append(all, one)
		}
	}
	t.addClass(all)
	return t, nil
}

// addClass adds what is summed up of a class.
func (t *tally) addClass(all []predictedRows) {
	slices.SortFunc(all, func(a, b predictedRows) int {
		switch {
		case a.probability < b.probability:
			return -1
		case a.probability > b.probability:
			return 1
		}
		return 0
	})
	class, others := 0.0, 0.0 // of lower probability
	for from := 0; from < len(all); {
		tied := predictedRows{probability: all[from].probability}
		for ; from < len(all) && all[from].probability == tied.probability; from++ {
			tied.class += all[from].class
			tied.others += all[from].others
		}
		t.ordered += tied.class * (others + tied.others/2)
		class, others = class+tied.class, others+tied.others
		if tied.probability >= .5 {
			t.hits += tied.class
		} else {
			t.hits += tied.others
		}
		p := min(max(tied.probability, leastProbability), 1-leastProbability)
		t.loss -= tied.class*math.Log(p) + tied.others*math.Log1p(-p)
	}
	t.pairs += class * others
}
