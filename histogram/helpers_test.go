package histogram

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

var (
	planOf         = histogramtest.Survey
	planOfWords    = histogramtest.Words
	searched       = histogramtest.Searched
	lawOf          = histogramtest.LawOf
	tripsPlan      = histogramtest.Trips
	ruledPlan      = histogramtest.Ruled
	payrollRelease = histogramtest.Payroll
	folder         = histogramtest.Folder
	streams        = histogramtest.Streams
	hashOfPlan     = histogramtest.HashOf
	shown          = histogramtest.Shown
)

// FilesIn and MadeUpRows return the counters of package scan, which imports this one: tests from outside set them.
var (
	FilesIn    func(dir string, workers int, memory int64) Counter
	MadeUpRows func(rows int64) Counter
)

// exactOf counts a folder.
func exactOf(t testing.TB, p *plan.Plan, dir string, key byte) *Exact {
	t.Helper()
	e, err := Count(context.Background(), compiled.Of(p), FilesIn(dir, 0, 0), streams(p, key))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// exactOfCounts is the exact answer to the one measurement of a plan.
func exactOfCounts(p *plan.Plan, counts answer.Answer, s *noise.Streams) *Exact {
	return newExact(compiled.Of(p), p.Measurements, answer.New([]answer.Answer{counts}, false, answer.Stamp{}), s)
}

// answerOf looks behind what is redacted: the exact answer to a measurement.
func answerOf(e *Exact, id string) []int64 {
	for i, m := range e.inner.plan.Measurements {
		if m.ID == id {
			return e.inner.answers[i].Counts
		}
	}
	return nil
}

// countsOf is a table as it would be published without noise. What is put together
// of exact answers is whole but for the rounding of a few operations.
func countsOf(t testing.TB, e *Exact, path string) []int64 {
	t.Helper()
	s := &measured.Sealed{Plan: compiled.Of(e.inner.plan.Plan())}
	for _, m := range e.inner.plan.Measurements {
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

// receiptOf debits a new account for exact counts under a key.
func receiptOf(t testing.TB, e *Exact, key byte, rehearsal bool) ledger.Receipt {
	t.Helper()
	p := e.inner.plan
	return receiptFor(t, ledger.Charge{PlanHash: p.Hash(), Cost: p.Cost, Commitment: e.Commitment(streams(p.Plan(), key))},
		rehearsal)
}

// receiptFor debits a new account for a charge that lacks names and terms.
func receiptFor(t testing.TB, c ledger.Charge, rehearsal bool) ledger.Receipt {
	t.Helper()
	ctx := context.Background()
	l := ledger.OpenRehearsal()
	if !rehearsal {
		var err error
		if l, err = ledger.Open(ctx, filepath.Join(t.TempDir(), "ledger.sqlite"), ledger.OpenOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	defer l.Close()
	c.Account, c.Release = "survey", "survey"
	c.Terms = ledger.Terms{Protects: "person", Neighbours: "add-remove", Definition: "rho"}
	if !rehearsal {
		if err := l.Init(ctx, ledger.Policy{Account: c.Account, Terms: c.Terms, Cap: c.Cost}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := l.Debit(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
