package release

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/testdata"
)

// Wherever a publication is interrupted, that is what it fails with, and it leaves nothing behind; so it is with a verification,
// which makes everything again. What is said on the way follows from the plan.
func TestInterruptedPublication(t *testing.T) {
	o := officeWith(t, tablesSpec, walkPolicy, walkRows())
	opt, scratch := o.options("out"), t.TempDir()
	t.Setenv("TMPDIR", scratch)
	if _, err := Measure(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	opt.Step = func(text string) { said.WriteString(text + "\n") }
	var place string
	publish := func(ctx context.Context) error {
		r, err := Publish(ctx, MeasuredFolder(opt.Out, "trips"), opt)
		place = r.Place
		return err
	}
	asks := asksOf(t, publish)
	if want := "fitting a model of the microdata of t\ndrawing file 1 of 2 of the microdata of t\ndrawing file 2 of 2 of the microdata of t\nwriting 1 table\n"; !strings.Contains(said.String(), want) {
		t.Errorf("it says %q", said.String())
	}
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	checkInterrupted(t, asks, publish, opt.Out, scratch)
	asksOf(t, publish)
	verify := func(ctx context.Context) error {
		_, err := Verify(ctx, place, VerifyOptions{})
		return err
	}
	checkInterrupted(t, asksOf(t, verify), verify, opt.Out, scratch)
}

// asksOf is how often work that nobody interrupts asks its context: of the fit of a model, tens of times.
func asksOf(t *testing.T, work func(context.Context) error) int64 {
	t.Helper()
	ctx := testdata.NeverEnding(t.Context())
	if err := work(ctx); err != nil {
		t.Fatal(err)
	}
	asks := ctx.Asked()
	if asks < 40 {
		t.Errorf("the context is asked %d times", asks)
	}
	return asks
}

// checkInterrupted interrupts work at some of its asks, the first and the last among them: it must fail with that, and leave what is in
// folders as it was.
func checkInterrupted(t *testing.T, asks int64, work func(context.Context) error, folders ...string) {
	t.Helper()
	listed := func() (all []string) {
		for _, dir := range folders {
			found, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				all = append(all, f.Name())
			}
		}
		return all
	}
	before := listed()
	const tries = 6
	for i := range int64(tries) {
		n := (asks - 1) * i / (tries - 1)
		if err := work(testdata.EndingAfter(t.Context(), n)); !errors.Is(err, context.Canceled) || ExitCode(err) != ExitInterrupted {
			t.Errorf("interrupted at ask %d of %d: %v", n+1, asks, err)
		}
		if after := listed(); !slices.Equal(after, before) {
			t.Errorf("interrupted at ask %d of %d it leaves %q where there was %q", n+1, asks, after, before)
		}
	}
}
