package release

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
)

// Wherever a publication is interrupted, that is what it fails with, and it leaves nothing behind; so it is with a
// verification, which makes everything again. What is said on the way follows from the plan.
func TestInterruptedPublication(t *testing.T) {
	o := releasetest.With(t, tablesSpec, releasetest.WalkPolicy, releasetest.WalkRows())
	opt, scratch := optionsOf(o, "out"), t.TempDir()
	t.Setenv("TMPDIR", scratch)
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	var steps []string
	var place string
	publish := func(ctx context.Context) error {
		r, err := Publish(ctx, MeasuredFolder(opt.Out, "trips"), opt)
		place = r.Folder
		return err
	}
	asks := asksOf(t, func(ctx context.Context) error {
		return publish(progress.Watch(ctx, func(p progress.Progress) { steps = append(steps, p.Step) }))
	})
	want := []string{"estimating 1 table", "fitting a model of the microdata of t",
		"drawing file 1 of 2 of the microdata of t", "writing file 1 of 2 of the microdata of t",
		"drawing file 2 of 2 of the microdata of t", "writing file 2 of 2 of the microdata of t",
		"writing 1 table", "writing 1 of 1 table", "writing the report"}
	if got := slices.Compact(steps); !slices.Equal(got, want) {
		t.Errorf("it reports %q", got)
	}
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	checkInterrupted(t, asks, publish, opt.Out, scratch)
	asksOf(t, publish)
	verify := func(ctx context.Context) error {
		_, err := verify.Folder(ctx, place, verify.Options{})
		return err
	}
	checkInterrupted(t, asksOf(t, verify), verify, opt.Out, scratch)
}

// asksOf is how often work that nobody interrupts asks its context: of the fit of a model, tens of times.
func asksOf(t *testing.T, work func(context.Context) error) int64 {
	t.Helper()
	ctx := testkit.NeverEnding(t.Context())
	if err := work(ctx); err != nil {
		t.Fatal(err)
	}
	asks := ctx.Asked()
	if asks < 40 {
		t.Errorf("the context is asked %d times", asks)
	}
	return asks
}

// checkInterrupted interrupts work at some of its asks, the first and the last among them: it must fail with that, and
// leave what is in folders as it was.
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
		if err := work(testkit.EndingAfter(t.Context(), n)); !errors.Is(err, context.Canceled) ||
			ending.Of(err).Exit != verdict.ExitInterrupted {
			t.Errorf("interrupted at ask %d of %d: %v", n+1, asks, err)
		}
		if after := listed(); !slices.Equal(after, before) {
			t.Errorf("interrupted at ask %d of %d it leaves %q where there was %q", n+1, asks, after, before)
		}
	}
}

// Wherever a step is interrupted, or the ledger does not answer in time, it is done or says just that, and nothing
// else: above all not that the ledger did not pay. No reservation is left.
func TestInterruptedAnywhere(t *testing.T) {
	onceMore := func(ctx context.Context, o releasetest.Office) error {
		_, err := Run(ctx, o.Plan, optionsOf(o, "out"))
		return err
	}
	evaluations := 0 // each has a folder of its own: one that ended too late to be interrupted is done
	for _, step := range []struct {
		name  string
		do    func(ctx context.Context, o releasetest.Office) error
		there bool // it is done to a release that is there
	}{
		{"run", onceMore, false},
		{"run again", onceMore, true},
		{"publish again", func(ctx context.Context, o releasetest.Office) error {
			opt := optionsOf(o, "out")
			_, err := Publish(ctx, MeasuredFolder(opt.Out, "trips"), opt)
			return err
		}, true},
		{"verify-ledger", func(ctx context.Context, o releasetest.Office) error {
			opt := optionsOf(o, "out")
			_, err := opt.Account().Verify(ctx, []string{opt.Out})
			return err
		}, true},
		{"evaluate", func(ctx context.Context, o releasetest.Office) error {
			evaluations++
			return evaluateTo(ctx, o.Plan, filepath.Join(o.Dir, "out", "trips"),
				optionsOf(o, fmt.Sprint("private", evaluations)))
		}, true},
	} {
		for why, code := range map[error]int{context.Canceled: verdict.ExitInterrupted,
			context.DeadlineExceeded: verdict.ExitEnvironment} {
			t.Run(fmt.Sprintf("%s, %v", step.name, why), func(t *testing.T) {
				var o releasetest.Office
				if step.there {
					o = releasetest.Trips(t)
					runRelease(t, o)
				}
				// Every run takes other looks, and the long run all of a release that is there.
				apart, stopped := int64(1), 0
				switch {
				case !step.there:
					apart = 6 // an office each
				case os.Getenv("DPRELEASE_LONG") == "":
					apart = 3
				}
				for n := 1 + rand.Int64N(apart); ; n += apart {
					if !step.there {
						o = releasetest.Trips(t)
					}
					ctx := testkit.ClosingAt(t.Context(), n, why)
					err := step.do(ctx, o)
					switch ended := ctx.Ended(); {
					case err != nil && (!errors.Is(err, why) || ending.Of(err).Exit != code):
						t.Fatalf("ended at look %d: exit %d: %v", n, ending.Of(err).Exit, err)
					case err != nil:
						stopped++
					case !ended:
						if stopped == 0 {
							t.Error("it was never interrupted")
						}
						return
					}
					nothingReserved(t, o)
				}
			})
		}
	}
}

// nothingReserved fails where a reservation is left on the account.
func nothingReserved(t *testing.T, o releasetest.Office) {
	t.Helper()
	all, err := account.Ledger{Path: o.Ledger}.Statements(t.Context(), []string{"trips"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all[0].Releases {
		if r.State == ledger.Reserved {
			t.Errorf("a reservation is left:\n%s", all[0])
		}
	}
}
