package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/release"
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
		{&release.Noted{Err: context.Canceled}, "is noted in the ledger and counts"},
	} {
		if got := message(release.ExitInterrupted, c.err); !strings.Contains(got, c.says) {
			t.Errorf("%T: %q, expected %q", c.err, got, c.says)
		}
	}
	if got := message(release.ExitSpec, errors.New("a mistake\n")); got != "a mistake" {
		t.Errorf("%q", got)
	}
}
