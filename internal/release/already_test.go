package release

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
)

func wantsCode(t *testing.T, what string, err error, code int, words string) {
	t.Helper()
	if ending.Of(err).Exit != code || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: exit %d, want %d with %q: %v", what, ending.Of(err).Exit, code, words, err)
	}
}

// What one ledger paid for is no release of another's, whether it is published
// already, sealed only, or published without its measurements.
func TestAReleaseIsOfTheLedgerThatPaid(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	result, err := Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	other := optionsOf(o.WithAnotherLedger(t), "out")
	const words = "was not paid for from the configured ledger"
	_, err = Run(t.Context(), o.Plan, other)
	wantsCode(t, "run, published", err, verdict.ExitName, words)
	_, err = Measure(t.Context(), o.Plan, other)
	wantsCode(t, "measure", err, verdict.ExitName, words)
	sealed := MeasuredFolder(opt.Out, "trips")
	_, err = Publish(t.Context(), sealed, other)
	wantsCode(t, "publish", err, verdict.ExitName, words)
	if err := os.Rename(sealed, filepath.Join(o.Dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), o.Plan, other)
	wantsCode(t, "run, published alone", err, verdict.ExitName, words)
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Errorf("from the ledger that paid: %v", err)
	}
	if err := os.RemoveAll(result.Folder); err != nil {
		t.Fatal(err)
	}
	if n := (releasetest.Office{Dir: o.Dir, Ledger: other.Ledger}).Debits(t); n != 0 {
		t.Errorf("the other ledger has %d debits", n)
	}
}

// A receipt that was written by hand is no receipt, whatever the seal says.
func TestAForgedReceiptIsRefused(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	s, record, err := openSealed(MeasuredFolder(opt.Out, "trips"), false)
	if err != nil {
		t.Fatal(err)
	}
	record.Date = "2020-01-01"
	if s.Receipt, err = published.EncodeRecord(record); err != nil {
		t.Fatal(err)
	}
	if _, err := published.RecordIn(s); err == nil {
		t.Error("a record that its entry does not say was taken")
	}
}

// A release that was withdrawn is not published again from the account that says so.
func TestWithdrawnIsNotPublishedAgain(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	result, err := Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	o.AskLedger(t, func(ctx context.Context, l *ledger.Ledger) error {
		return l.Withdraw(ctx, "trips", "trips", "wrong weights")
	})
	_, err = Run(t.Context(), o.Plan, opt)
	wantsCode(t, "published", err, verdict.ExitName, "withdrawn")
	if err := os.RemoveAll(result.Folder); err != nil {
		t.Fatal(err)
	}
	_, err = Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt)
	wantsCode(t, "publish", err, verdict.ExitName, "wrong weights")
}

// A run that was cut off after its debit, and given up since, ends with its key
// erased and nothing drawn.
func TestAbandonedAfterItsDebit(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	crashAfterDebit(t, o, opt)
	o.AskLedger(t, func(ctx context.Context, l *ledger.Ledger) error {
		return l.Abandon(ctx, "trips", "trips",
			"lost")
	})
	_, err := Run(t.Context(), o.Plan, opt)
	wantsCode(t, "run", err, verdict.ExitName, "abandoned")
	if strings.Contains(err.Error(), "resumes") {
		t.Errorf("it says that it resumes: %v", err)
	}
	if keys, _ := filepath.Glob(filepath.Join(opt.StateDir(), "*", "key*")); len(keys) > 0 {
		t.Errorf("the key is still there: %v", keys)
	}
}

// What is given up between its debit and its seal goes nowhere.
func TestAbandonedWhileItIsDrawn(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	l, charge, err := opt.openLedger(t.Context(), o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a := &attempt{plan: o.Plan, options: opt, ledger: l, charge: charge, place: MeasuredFolder(opt.Out, "trips")}
	opt.Log = nil
	a.options.Log = releasetest.LogThat(func(message string) {
		if message == "measurements sealed" {
			o.AskLedger(t, func(ctx context.Context, l *ledger.Ledger) error {
				return l.Abandon(ctx, "trips", "trips",
					"lost")
			})
		}
	})
	err = a.measure(t.Context())
	wantsCode(t, "measure", err, verdict.ExitName, "abandoned")
	if strings.Contains(err.Error(), "resumes") {
		t.Errorf("it says that it resumes: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(opt.Out, "*trips*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if keys, _ := filepath.Glob(filepath.Join(opt.StateDir(), "*", "key*")); len(keys) > 0 {
		t.Errorf("the key is still there: %v", keys)
	}
}
