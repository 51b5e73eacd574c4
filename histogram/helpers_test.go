package histogram

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
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
	shown          = histogramtest.PrintedForms
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
func exactOfCounts(p *compiled.Compiled, counts answer.Answer, s *noise.Streams) *Exact {
	return newExact(p, p.Measurements, answer.New([]answer.Answer{counts}, false, answer.Stamp{}), s)
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

// countsOf is a table as it would be published without noise.
func countsOf(t testing.TB, e *Exact, path string) []int64 {
	t.Helper()
	return histogramtest.Counts(t, e.inner.plan.Plan(), func(id string) []int64 { return answerOf(e, id) }, path)
}

// receiptOf debits a new account for exact counts under a key.
func receiptOf(t testing.TB, e *Exact, key byte, rehearsal bool) ledger.Receipt {
	t.Helper()
	p := e.inner.plan
	return receiptFor(t, ledger.Charge{PlanHash: p.Hash(), Cost: p.Cost,
		Commitment: e.Commitment(streams(p.Plan(), key))},
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
