package release

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
)

// anotherOffice is the same office with a ledger of its own.
func anotherLedger(t *testing.T, o office) office {
	t.Helper()
	o.ledger = filepath.Join(o.dir, "another.db")
	if _, err := InitAccount(t.Context(), o.ledger, filepath.Join(o.dir, "policy.yaml"), ledger.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	return o
}

func wantsCode(t *testing.T, what string, err error, code int, words string) {
	t.Helper()
	if Classify(err).Exit != code || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: exit %d, want %d with %q: %v", what, Classify(err).Exit, code, words, err)
	}
}

// What one ledger paid for is no release of another's, whether it is published
// already, sealed only, or published without its measurements.
func TestAReleaseIsOfTheLedgerThatPaid(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	result, err := Run(t.Context(), o.plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	other := anotherLedger(t, o).options("out")
	const words = "was not paid for from the configured ledger"
	_, err = Run(t.Context(), o.plan, other)
	wantsCode(t, "run, published", err, verdict.ExitName, words)
	_, err = Measure(t.Context(), o.plan, other)
	wantsCode(t, "measure", err, verdict.ExitName, words)
	sealed := MeasuredFolder(opt.Out, "trips")
	_, err = Publish(t.Context(), sealed, other)
	wantsCode(t, "publish", err, verdict.ExitName, words)
	if err := os.Rename(sealed, filepath.Join(o.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), o.plan, other)
	wantsCode(t, "run, published alone", err, verdict.ExitName, words)
	if _, err := Run(t.Context(), o.plan, opt); err != nil {
		t.Errorf("from the ledger that paid: %v", err)
	}
	if err := os.RemoveAll(result.Place); err != nil {
		t.Fatal(err)
	}
	if n := (office{dir: o.dir, ledger: other.Ledger}).debits(t); n != 0 {
		t.Errorf("the other ledger has %d debits", n)
	}
}

// A receipt that was written by hand is no receipt, whatever the seal says.
func TestAForgedReceiptIsRefused(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	if _, err := Measure(t.Context(), o.plan, opt); err != nil {
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
	if _, err := recordIn(s); err == nil {
		t.Error("a record that its entry does not say was taken")
	}
}

// with opens the ledger of an office.
func (o office) with(t *testing.T, do func(ctx context.Context, l *ledger.Ledger) error) {
	t.Helper()
	l, err := ledger.OpenExisting(t.Context(), o.ledger, ledger.OpenOptions{})
	if err == nil {
		err = errors.Join(do(t.Context(), l), l.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A release that was withdrawn is not published again from the account that says so.
func TestWithdrawnIsNotPublishedAgain(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	result, err := Run(t.Context(), o.plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	o.with(t, func(ctx context.Context, l *ledger.Ledger) error {
		return l.Withdraw(ctx, "trips", "trips", "wrong weights")
	})
	_, err = Run(t.Context(), o.plan, opt)
	wantsCode(t, "published", err, verdict.ExitName, "withdrawn")
	if err := os.RemoveAll(result.Place); err != nil {
		t.Fatal(err)
	}
	_, err = Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt)
	wantsCode(t, "publish", err, verdict.ExitName, "wrong weights")
}

// A run that was cut off after its debit, and given up since, ends with its key
// erased and nothing drawn.
func TestAbandonedAfterItsDebit(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	crashAfterDebit(t, o, opt)
	o.with(t, func(ctx context.Context, l *ledger.Ledger) error { return l.Abandon(ctx, "trips", "trips", "lost") })
	_, err := Run(t.Context(), o.plan, opt)
	wantsCode(t, "run", err, verdict.ExitName, "abandoned")
	if strings.Contains(err.Error(), "resumes") {
		t.Errorf("it says that it resumes: %v", err)
	}
	if keys, _ := filepath.Glob(filepath.Join(opt.stateDir(), "*", "key*")); len(keys) > 0 {
		t.Errorf("the key is still there: %v", keys)
	}
}

// What is given up between its debit and its seal goes nowhere.
func TestAbandonedWhileItIsDrawn(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	l, charge, err := opt.openLedger(t.Context(), o.plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a := &attempt{plan: o.plan, options: opt, ledger: l, charge: charge, place: MeasuredFolder(opt.Out, "trips")}
	opt.Log = nil
	a.options.Log = logThat(func(message string) {
		if message == "measurements sealed" {
			o.with(t, func(ctx context.Context, l *ledger.Ledger) error { return l.Abandon(ctx, "trips", "trips", "lost") })
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
	if keys, _ := filepath.Glob(filepath.Join(opt.stateDir(), "*", "key*")); len(keys) > 0 {
		t.Errorf("the key is still there: %v", keys)
	}
}

// logThat is a log that calls a function with every message.
func logThat(hear func(message string)) *slog.Logger {
	return slog.New(listener(hear))
}

type listener func(message string)

func (l listener) Enabled(context.Context, slog.Level) bool { return true }
func (l listener) Handle(_ context.Context, r slog.Record) error {
	l(r.Message)
	return nil
}
func (l listener) WithAttrs([]slog.Attr) slog.Handler { return l }
func (l listener) WithGroup(string) slog.Handler      { return l }
