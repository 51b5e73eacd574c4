package scan

import (
	"context"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

var (
	planOf         = histogramtest.Survey
	planOfText     = histogramtest.PlanOf
	planOfWords    = histogramtest.Words
	wordsOf        = histogramtest.WordsText
	searched       = histogramtest.Searched
	lawOf          = histogramtest.LawOf
	tripsPlan      = histogramtest.Trips
	ruledPlan      = histogramtest.Ruled
	payrollRelease = histogramtest.Payroll
	folder         = histogramtest.Folder
	streams        = histogramtest.Streams
	total          = histogramtest.Total
	shown          = histogramtest.PrintedForms
)

// allCounts is what a counter has answered to all that the trusted core asks it for a plan: its measurements, and
// behind them the candidates of its adaptive methods.
type allCounts struct {
	*histogram.Exact
	plan    *plan.Plan
	asked   []plan.Measurement
	answers []answer.Answer
}

// witness is a counter that keeps what another one is asked and answers.
type witness struct {
	of   histogram.Counter
	seen *allCounts
}

func (w witness) Count(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (answer.Answers, error) {
	answers, err := w.of.Count(ctx, q, s)
	w.seen.plan, w.seen.asked, w.seen.answers = q.Plan, q.Measurements, answer.All(answers)
	return answers, err
}

// countBy has a counter asked by the core.
func countBy(t testing.TB, p *plan.Plan, by histogram.Counter, s *noise.Streams) (seen allCounts) {
	t.Helper()
	exact, err := histogram.Count(t.Context(), compiled.Of(p), witness{by, &seen}, s)
	if err != nil {
		t.Fatal(err)
	}
	seen.Exact = exact
	return seen
}

// errorOf is the error of counting a plan's tables by the core.
func errorOf(t testing.TB, p *plan.Plan, by histogram.Counter) error {
	t.Helper()
	_, err := histogram.Count(t.Context(), compiled.Of(p), by, streams(p, 1))
	return err
}

// questions are all that the core asks for a plan.
func questions(t testing.TB, p *plan.Plan) []plan.Measurement {
	t.Helper()
	return countBy(t, p, MadeUp{}, streams(p, 1)).asked
}

// exactOf counts a folder.
func exactOf(t testing.TB, p *plan.Plan, dir string, key byte) allCounts {
	t.Helper()
	return countBy(t, p, Files{Dir: dir}, streams(p, key))
}

// countAll answers questions to the tables of a plan, of columns that are listed.
func countAll(p *plan.Plan, all []plan.Measurement, workers int, fill func(*tally) error) ([]answer.Answer, error) {
	return countFound(histogram.Questions{Plan: p, Measurements: all}, workers,
		func(table *spec.Table) (*spec.Table, error) { return table, nil }, fill)
}

// answerOf is the exact answer to a measurement.
func answerOf(e allCounts, id string) []int64 {
	for i, m := range e.plan.Measurements {
		if m.ID == id {
			return e.answers[i].Counts
		}
	}
	return nil
}

// countsOf is a table as it would be published without noise.
func countsOf(t testing.TB, e allCounts, path string) []int64 {
	t.Helper()
	return histogramtest.Counts(t, e.plan, func(id string) []int64 { return answerOf(e, id) }, path)
}
