package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/evaluate"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/verdict"
)

// TestInterruptedSaysWhatLasts: running again resumes, but for a release whose key was
// never kept and for an evaluation that the ledger counts already.
func TestInterruptedSaysWhatLasts(t *testing.T) {
	for _, c := range []struct {
		err  error
		says string
	}{
		{context.Canceled, "interrupted; run again and it resumes"},
		{&release.Spent{Err: context.Canceled}, "interrupted; run again and it resumes"},
		{&release.Spent{Err: context.Canceled, Lost: true}, "this release is lost"},
		{&evaluate.Noted{Err: context.Canceled}, "is noted in the ledger and counts"},
	} {
		if got := errorText(verdict.ExitInterrupted, c.err); !strings.Contains(got, c.says) {
			t.Errorf("%T: %q, expected %q", c.err, got, c.says)
		}
	}
	if got := errorText(verdict.ExitSpec, errors.New("a mistake\n")); got != "a mistake" {
		t.Errorf("%q", got)
	}
}

// A command that SIGTERM ends says so as one that Ctrl-C ends does: it was interrupted, and it is safe to run it again.
func TestTerminatedIsInterrupted(t *testing.T) {
	for cause, exit := range map[error]int{errTerminated: 143, context.Canceled: 130} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		var stdout bytes.Buffer
		a := &app{stdout: &stdout, stderr: io.Discard, progress: newProgressLine(io.Discard), json: true,
			started: time.Now()}
		if code := a.printOutcome(ctx, fmt.Errorf("counting: %w", context.Canceled)); code != exit {
			t.Errorf("%v: exit code %d, expected %d", cause, code, exit)
		}
		var said struct {
			Status, Reason, Retry string
			Exit                  int
		}
		if err := json.Unmarshal(stdout.Bytes(), &said); err != nil {
			t.Fatal(err)
		}
		if said.Status != "interrupted" || said.Reason != "interrupted" || said.Retry != "safe" || said.Exit != exit {
			t.Errorf("%v: %+v", cause, said)
		}
	}
}
