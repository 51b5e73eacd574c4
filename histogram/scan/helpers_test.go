package scan

import (
	"context"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/synth"
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
	shown          = histogramtest.Shown
)

// counted is what a counter has answered to all that the trusted core asks it for a plan: its measurements, and behind
// them the candidates of its adaptive methods.
type counted struct {
	*histogram.Exact
	plan    *plan.Plan
	asked   []plan.Measurement
	answers []answer.Answer
}

// witness is a counter that keeps what another one is asked and answers.
type witness struct {
	of   histogram.Counter
	seen *counted
}

func (w witness) Count(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (answer.Answers, error) {
	answers, err := w.of.Count(ctx, q, s)
	w.seen.plan, w.seen.asked, w.seen.answers = q.Plan, q.Measurements, answer.All(answers)
	return answers, err
}

// countBy has a counter asked by the core.
func countBy(t testing.TB, p *plan.Plan, by histogram.Counter, s *noise.Streams) (seen counted) {
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
func exactOf(t testing.TB, p *plan.Plan, dir string, key byte) counted {
	t.Helper()
	return countBy(t, p, Files{Dir: dir}, streams(p, key))
}

// countAll answers questions to the tables of a plan, of columns that are listed.
func countAll(p *plan.Plan, all []plan.Measurement, workers int, fill func(*tally) error) ([]answer.Answer, error) {
	return countFound(histogram.Questions{Plan: p, Measurements: all}, workers,
		func(table *spec.Table) (*spec.Table, error) { return table, nil }, fill)
}

// answerOf is the exact answer to a measurement.
func answerOf(e counted, id string) []int64 {
	for i, m := range e.plan.Measurements {
		if m.ID == id {
			return e.answers[i].Counts
		}
	}
	return nil
}

// countsOf is a table as it would be published without noise. What is put together
// of exact answers is whole but for the rounding of a few operations.
func countsOf(t testing.TB, e counted, path string) []int64 {
	t.Helper()
	s := &measured.Sealed{Plan: compiled.Of(e.plan)}
	for _, m := range e.plan.Measurements {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(answerOf(e, m.ID), nil)
		s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: b.NewInt64Array()})
	}
	tables, err := synth.Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if table.Path != path {
			continue
		}
		var counts []int64
		for _, v := range table.Statistics[0].Unbiased.Float64Values() {
			if math.Abs(v-math.Round(v)) > 1e-6 {
				t.Fatalf("%s: exact answers lead to %v", path, v)
			}
			counts = append(counts, int64(math.Round(v)))
		}
		return counts
	}
	t.Fatal("no table", path)
	return nil
}
