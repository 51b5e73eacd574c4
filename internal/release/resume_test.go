package release

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/diagnostics"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/evaluate"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// options write below a folder of the office.
func optionsOf(o releasetest.Office, out string) Options {
	return Options{Out: filepath.Join(o.Dir, out), Data: o.Dir, Ledger: o.Ledger}
}

// runRelease makes the office's release.
func runRelease(t *testing.T, o releasetest.Office) (Options, string) {
	t.Helper()
	opt := optionsOf(o, "out")
	r, err := Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	return opt, r.Folder
}

// evaluateTo evaluates a release with the options of a step.
func evaluateTo(ctx context.Context, p *compiled.Compiled, place string, opt Options) error {
	_, err := evaluate.Evaluate(ctx, p, place, evaluate.Options{
		Out: opt.Out, Data: opt.Data, State: opt.State, Account: opt.Account(), Log: opt.Log})
	return err
}

// readEvaluation reads evaluate.json.
func readEvaluation(t *testing.T, dir string) evaluate.Evaluation {
	t.Helper()
	return releasetest.ReadJSON[evaluate.Evaluation](t, filepath.Join(dir, evaluate.EvaluationJSON))
}

// stateName is the name of the release's state on the account that opt pays from.
func stateNameOf(t *testing.T, o releasetest.Office, opt Options) string {
	t.Helper()
	l, charge, err := opt.openLedger(t.Context(), o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	identity, err := l.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state.Name(identity, charge)
}

// plantedKey draws the key of a run and leaves it in the state, as a killed run does.
func plantedKey(t *testing.T, o releasetest.Office, opt Options) noise.Key {
	t.Helper()
	st, err := state.Open(t.Context(), opt.StateDir(), stateNameOf(t, o, opt))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	key, err := st.NewKey(true)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// crashAfterDebit does what a run does up to its debit and first draws, then
// leaves everything as a crash would. It returns the noisy answers drawn.
func crashAfterDebit(t *testing.T, o releasetest.Office, opt Options) map[string][]int64 {
	t.Helper()
	ctx := t.Context()
	l, charge, err := opt.openLedger(ctx, o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	key := plantedKey(t, o, opt)
	streams := noise.NewStreams(key, o.Plan.Hash())
	exact, err := histogram.Count(ctx, o.Plan, scan.Files{Dir: opt.Data}, streams)
	if err != nil {
		t.Fatal(err)
	}
	charge.Commitment = exact.Commitment(streams)
	receipt, err := l.Debit(ctx, charge)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := exact.Open(receipt, streams)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string][]int64{}
	for _, m := range o.Plan.Measurements {
		answer, err := opened.Measure(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		drawn[m.ID] = answer.Values.Int64Values()
	}
	return drawn
}

func TestCrashAfterDebitResumesToTheSameNoise(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	drawn := crashAfterDebit(t, o, opt)
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "trips"), compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Measured {
		for i, v := range m.Values.Int64Values() {
			if v != drawn[m.Measurement.ID][i] {
				t.Fatalf("%s: answer %d differs after resuming", m.Measurement.ID, i)
			}
		}
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
	if keys, _ := filepath.Glob(filepath.Join(opt.StateDir(), "*", "key*")); len(keys) > 0 {
		t.Errorf("the key is still there: %v", keys)
	}
}

// A run that resumes must find the integers it was debited for.
func TestCrashAfterDebitRefusesOtherData(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	crashAfterDebit(t, o, opt)
	if err := os.WriteFile(filepath.Join(o.Dir, "t.csv"), []byte("mode,hour\nwalk,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Measure(t.Context(), o.Plan, opt)
	var changed *InputChanged
	if !errors.As(err, &changed) || ending.Of(err).Exit != verdict.ExitEnvironment ||
		!strings.Contains(err.Error(), "budget is spent") {
		t.Fatalf("error %v, exit %d", err, ending.Of(err).Exit)
	}
	if there, _ := durable.Exists(MeasuredFolder(opt.Out, "trips")); there {
		t.Error("measurements were written")
	}
}

// One debit pays for one draw: the same plan from another state directory, so
// with another key, is refused.
func TestOneDebitOneDraw(t *testing.T) {
	o := releasetest.Trips(t)
	if _, err := Run(t.Context(), o.Plan, optionsOf(o, "first")); err != nil {
		t.Fatal(err)
	}
	second := optionsOf(o, "second")
	_, err := Run(t.Context(), o.Plan, second)
	var closed *ledger.Closed
	if !errors.As(err, &closed) || ending.Of(err).Exit != verdict.ExitName {
		t.Fatalf("error %v, exit %d", err, ending.Of(err).Exit)
	}
	// … also where a key is there, drawn before the other's debit.
	third := optionsOf(o, "third")
	plantedKey(t, o, third)
	if _, err := Run(t.Context(), o.Plan, third); ending.Of(err).Exit == verdict.ExitDone {
		t.Fatal("a second draw on one debit")
	}
	for _, out := range []Options{second, third} {
		if left, _ := filepath.Glob(filepath.Join(out.Out, "*trips*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// A run that is stopped before its debit spends and leaves nothing.
func TestCancelledBeforeDebit(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, o.Plan, opt)
	if ending.Of(err).Exit != verdict.ExitInterrupted {
		t.Fatalf("error %v, exit %d", err, ending.Of(err).Exit)
	}
	if n := o.Debits(t); n != 0 {
		t.Errorf("%d debits, expected none", n)
	}
	nothingReserved(t, o)
	if left, _ := filepath.Glob(filepath.Join(opt.Out, ".trips*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// statePath is a file of the plan's state.
func statePathOf(t *testing.T, o releasetest.Office, opt Options, name string) string {
	t.Helper()
	return filepath.Join(opt.StateDir(), stateNameOf(t, o, opt), name)
}

// A key that is found before the debit is never drawn from, whoever left it
// there: a run killed while erasing, or somebody who planted it.
func TestKeysFoundBeforeTheDebitAreNotUsed(t *testing.T) {
	for name, planted := range map[string]noise.Key{"zeros": {}, "chosen": {1, 2, 3}} {
		o := releasetest.Trips(t)
		opt := optionsOf(o, "out")
		plantedKey(t, o, opt)
		if err := os.WriteFile(statePathOf(t, o, opt, state.KeyFile), planted[:], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
			t.Fatal(err)
		}
		streams := noise.NewStreams(planted, o.Plan.Hash())
		exact, err := histogram.Count(t.Context(), o.Plan, scan.Files{Dir: opt.Data}, streams)
		if err != nil {
			t.Fatal(err)
		}
		l, charge, err := opt.openLedger(t.Context(), o.Plan)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		charge.Commitment = exact.Commitment(streams)
		var closed *ledger.Closed
		if _, err := l.Debit(t.Context(), charge); !errors.As(err, &closed) {
			t.Errorf("%s: the release was debited for the planted key: %v", name, err)
		}
	}
}

// A run that was cut off between sealing and erasing leaves its key; whatever is
// run next erases it.
func TestKeysLeftBehindAreErased(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	measure := func() error { _, err := Measure(t.Context(), o.Plan, opt); return err }
	run := func() error { _, err := Run(t.Context(), o.Plan, opt); return err }
	for i, again := range []func() error{measure, run, run} {
		if i == 2 {
			if err := os.RemoveAll(MeasuredFolder(opt.Out, "trips")); err != nil {
				t.Fatal(err)
			}
		}
		plantedKey(t, o, opt)
		if err := again(); err != nil {
			t.Fatal(err)
		}
		if there, _ := durable.Exists(statePathOf(t, o, opt, "")); there {
			t.Errorf("%d: the state is still there", i)
		}
	}
}

// The state belongs to its owner alone.
func TestOpenStateIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows keeps no permission bits")
	}
	o := releasetest.Trips(t)
	for _, mode := range []os.FileMode{0o755, 0o770, 0o701} {
		opt := optionsOf(o, "out")
		opt.State = filepath.Join(o.Dir, "state")
		if err := os.MkdirAll(opt.State, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(opt.State, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), o.Plan, opt); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if n := o.Debits(t); n != 0 {
		t.Errorf("%d debits, expected none", n)
	}
}

// Practice, or another ledger, shares no state with a debited release: its key
// stays until it has resumed.
func TestPracticeLeavesTheKeyOfADebitedRelease(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	opt.State = filepath.Join(o.Dir, "state")
	drawn := crashAfterDebit(t, o, opt)
	practice := opt
	practice.Ledger, practice.Out = "", filepath.Join(o.Dir, "practice")
	if _, err := Run(t.Context(), o.Plan, practice); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "trips"), compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Measured {
		if !slices.Equal(m.Values.Int64Values(), drawn[m.Measurement.ID]) {
			t.Errorf("%s: other noise", m.Measurement.ID)
		}
	}
}

// A folder that only looks sealed, or only looks published, costs nobody the key
// of a debited release.
func TestUnfinishedFoldersKeepTheKey(t *testing.T) {
	for name, fake := range map[string]func(o releasetest.Office, opt Options) error{
		"sealed": func(o releasetest.Office, opt Options) error {
			dir := MeasuredFolder(opt.Out, "trips")
			return errors.Join(os.MkdirAll(dir, 0o755),
				os.WriteFile(filepath.Join(dir, measured.PlanFile), o.Plan.Bytes(),
					0o600),
				os.WriteFile(filepath.Join(dir, measured.ReceiptFile), []byte("{}"), 0o600))
		},
		"published": func(o releasetest.Office, opt Options) error {
			dir := filepath.Join(opt.Out, "trips")
			return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, published.ManifestFile),
				[]byte(`{"format": "dprelease.manifest/1", "release": "trips", "status": "RELEASE", "plan_hash": "`+
					o.Plan.Hash()+
					`", "files": []}`), 0o600))
		},
	} {
		o := releasetest.Trips(t)
		opt := optionsOf(o, "out")
		crashAfterDebit(t, o, opt)
		if err := fake(o, opt); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), o.Plan, opt); ending.Of(err).Exit != verdict.ExitVerify {
			t.Errorf("%s: %v, exit %d", name, err, ending.Of(err).Exit)
		}
		if there, _ := durable.Exists(statePathOf(t, o, opt, state.KeyFile)); !there {
			t.Errorf("%s: the key is gone", name)
		}
	}
}

// A damaged key, or zeros, found after the debit is no key: the release is closed,
// and nothing of it stays.
func TestDamagedKeyAfterTheDebitClosesTheRelease(t *testing.T) {
	for _, bad := range [][]byte{make([]byte, 32), {1, 2, 3}} {
		o := releasetest.Trips(t)
		opt := optionsOf(o, "out")
		crashAfterDebit(t, o, opt)
		if err := os.WriteFile(statePathOf(t, o, opt, state.KeyFile), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), o.Plan, opt)
		var closed *ledger.Closed
		if !errors.As(err, &closed) || ending.Of(err).Exit != verdict.ExitName {
			t.Errorf("%v, exit %d", err, ending.Of(err).Exit)
		}
		if there, _ := durable.Exists(statePathOf(t, o, opt, state.KeyFile)); there {
			t.Error("the key is still there")
		}
	}
}

// Refused data leaves its diagnostics until the release is sealed, under whatever
// plan; scraps of a killed run do not stand in the way.
func TestDiagnosticsGoWithTheRelease(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	if err := os.WriteFile(filepath.Join(o.Dir, "t.csv"), []byte("mode,hour\nKANARIE,7\nwalk,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), o.Plan, opt)
	if ending.Of(err).Exit != verdict.ExitData || diagnostics.Hint(err) == "" {
		t.Fatalf("%v, exit %d", err, ending.Of(err).Exit)
	}
	spec := strings.Replace(releasetest.TripSpec, "values: [walk, ride]", "values: [walk, ride], unknown: drop", 1)
	if err := os.WriteFile(filepath.Join(o.Dir, "release.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	if o.Plan, err = planfile.Load(context.Background(),
		planfile.Spec{Path: filepath.Join(o.Dir, "release.yaml")}); err != nil {
		t.Fatal(err)
	}
	plantedKey(t, o, opt)
	if err := os.WriteFile(statePathOf(t, o, opt, "diagnostics.making-1"), []byte("KANARIE"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(opt.StateDir())
	if err != nil || len(left) != 1 || left[0].Name() != sourcesFile {
		t.Errorf("left in the state directory: %v, %v", left, err)
	}
}

// A key that cannot be read just now is not lost: the run fails, and a later one
// resumes.
func TestUnreadableKeyIsKept(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	crashAfterDebit(t, o, opt)
	key, aside := statePathOf(t, o, opt, state.KeyFile), filepath.Join(o.Dir, "aside")
	if err := errors.Join(os.Rename(key, aside), os.Mkdir(key, 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), o.Plan, opt)
	var spent *Spent
	if !errors.As(err, &spent) || ending.Of(err).Exit != verdict.ExitEnvironment {
		t.Errorf("%v, exit %d", err, ending.Of(err).Exit)
	}
	if err := errors.Join(os.Remove(key), os.Rename(aside, key)); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Error(err)
	}
}
