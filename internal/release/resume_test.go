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
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

// tripSpec has two tables, each with a budget of its own and so each a measurement.
const tripSpec = `version: 1
release: trips
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {epsilon: 1, split: {few: 1/2, many: 1/2}}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride]}, hour: {type: integer, range: [0, 23]}}}}
marginals: {modes: {by: [mode], budget: few}, hours: {by: [hour, mode], budget: many}}
`

const tripPolicy = "account: trips\nprotects: trip\nneighbours: add-remove\ncap: {epsilon: 5}\n"

// office is a folder with a spec, data and a ledger with an account.
type office struct {
	dir    string
	plan   *compiled.Compiled
	ledger string
}

func newOffice(t *testing.T) office {
	t.Helper()
	return officeWith(t, tripSpec, tripPolicy, "mode,hour\nwalk,7\nride,8\nride,8\nwalk,23\n")
}

// officeWith is an office with its spec, its account's policy and its rows.
func officeWith(t *testing.T, spec, policy, rows string) office {
	t.Helper()
	return officeOf(t, map[string]string{"release.yaml": spec, "policy.yaml": policy, "t.csv": rows})
}

// officeOf is an office with files, of which release.yaml is its spec and policy.yaml its account's policy.
func officeOf(t *testing.T, files map[string]string) office {
	t.Helper()
	return officeSet(t, files, nil)
}

// officeSet is officeOf for a spec with parameters.
func officeSet(t *testing.T, files, params map[string]string) office {
	t.Helper()
	o := office{dir: t.TempDir()}
	o.ledger = filepath.Join(o.dir, "ledger.db")
	for name, text := range files {
		path := filepath.Join(o.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if o.plan, err = Load(context.Background(), SpecFile{Path: filepath.Join(o.dir, "release.yaml"), Params: params}); err != nil {
		t.Fatal(err)
	}
	if _, err := InitAccount(t.Context(), o.ledger, filepath.Join(o.dir, "policy.yaml"), ledger.OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	return o
}

// options write below a folder of the office.
func (o office) options(out string) Options {
	return Options{Out: filepath.Join(o.dir, out), Data: o.dir, Ledger: o.ledger}
}

// debits is how often the account was debited.
func (o office) debits(t *testing.T) int {
	t.Helper()
	all, err := Options{Ledger: o.ledger}.Statements(t.Context(), []string{"trips"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range all[0].Releases {
		if r.State != ledger.Reserved && r.State != ledger.Cancelled {
			n++
		}
	}
	return n
}

// stateName is the name of the release's state on the account that opt pays from.
func (o office) stateName(t *testing.T, opt Options) string {
	t.Helper()
	l, charge, err := opt.openLedger(t.Context(), o.plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	identity, err := l.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stateName(identity, charge)
}

// plantedKey draws the key of a run and leaves it in the state, as a killed run does.
func plantedKey(t *testing.T, o office, opt Options) noise.Key {
	t.Helper()
	st, err := openState(t.Context(), opt.stateDir(), o.stateName(t, opt))
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	key, err := st.newKey(true)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// crashAfterDebit does what a run does up to its debit and first draws, then
// leaves everything as a crash would. It returns the noisy answers drawn.
func crashAfterDebit(t *testing.T, o office, opt Options) map[string][]int64 {
	t.Helper()
	ctx := t.Context()
	l, charge, err := opt.openLedger(ctx, o.plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	key := plantedKey(t, o, opt)
	streams := noise.NewStreams(key, o.plan.Hash())
	exact, err := histogram.Count(ctx, o.plan.Plan, histogram.Files{Dir: opt.Data}, streams)
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
	for _, m := range o.plan.Measurements {
		answer, err := opened.Measure(ctx, m)
		if err != nil {
			t.Fatal(err)
		}
		drawn[m.ID] = answer.Values.Int64Values()
	}
	return drawn
}

func TestCrashAfterDebitResumesToTheSameNoise(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	drawn := crashAfterDebit(t, o, opt)
	if _, err := Measure(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "trips"))
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
	if n := o.debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
	if keys, _ := filepath.Glob(filepath.Join(opt.stateDir(), "*", "key*")); len(keys) > 0 {
		t.Errorf("the key is still there: %v", keys)
	}
}

// A run that resumes must find the integers it was debited for.
func TestCrashAfterDebitRefusesOtherData(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	crashAfterDebit(t, o, opt)
	if err := os.WriteFile(filepath.Join(o.dir, "t.csv"), []byte("mode,hour\nwalk,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Measure(t.Context(), o.plan, opt)
	var changed *InputChanged
	if !errors.As(err, &changed) || Classify(err).Exit != verdict.ExitEnvironment || !strings.Contains(err.Error(), "budget is spent") {
		t.Fatalf("error %v, exit %d", err, Classify(err).Exit)
	}
	if there, _ := durable.Exists(MeasuredFolder(opt.Out, "trips")); there {
		t.Error("measurements were written")
	}
}

// One debit pays for one draw: the same plan from another state directory, so
// with another key, is refused.
func TestOneDebitOneDraw(t *testing.T) {
	o := newOffice(t)
	if _, err := Run(t.Context(), o.plan, o.options("first")); err != nil {
		t.Fatal(err)
	}
	second := o.options("second")
	_, err := Run(t.Context(), o.plan, second)
	var closed *ledger.Closed
	if !errors.As(err, &closed) || Classify(err).Exit != verdict.ExitName {
		t.Fatalf("error %v, exit %d", err, Classify(err).Exit)
	}
	// … also where a key is there, drawn before the other's debit.
	third := o.options("third")
	plantedKey(t, o, third)
	if _, err := Run(t.Context(), o.plan, third); Classify(err).Exit == verdict.ExitDone {
		t.Fatal("a second draw on one debit")
	}
	for _, out := range []Options{second, third} {
		if left, _ := filepath.Glob(filepath.Join(out.Out, "*trips*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if n := o.debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// A run that is stopped before its debit spends and leaves nothing.
func TestCancelledBeforeDebit(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, o.plan, opt)
	if Classify(err).Exit != verdict.ExitInterrupted {
		t.Fatalf("error %v, exit %d", err, Classify(err).Exit)
	}
	if n := o.debits(t); n != 0 {
		t.Errorf("%d debits, expected none", n)
	}
	o.nothingReserved(t)
	if left, _ := filepath.Glob(filepath.Join(opt.Out, ".trips*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// statePath is a file of the plan's state.
func (o office) statePath(t *testing.T, opt Options, name string) string {
	t.Helper()
	return filepath.Join(opt.stateDir(), o.stateName(t, opt), name)
}

// A key that is found before the debit is never drawn from, whoever left it
// there: a run killed while erasing, or somebody who planted it.
func TestKeysFoundBeforeTheDebitAreNotUsed(t *testing.T) {
	for name, planted := range map[string]noise.Key{"zeros": {}, "chosen": {1, 2, 3}} {
		o := newOffice(t)
		opt := o.options("out")
		plantedKey(t, o, opt)
		if err := os.WriteFile(o.statePath(t, opt, keyFile), planted[:], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Measure(t.Context(), o.plan, opt); err != nil {
			t.Fatal(err)
		}
		streams := noise.NewStreams(planted, o.plan.Hash())
		exact, err := histogram.Count(t.Context(), o.plan.Plan, histogram.Files{Dir: opt.Data}, streams)
		if err != nil {
			t.Fatal(err)
		}
		l, charge, err := opt.openLedger(t.Context(), o.plan)
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
	o := newOffice(t)
	opt := o.options("out")
	if _, err := Run(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	measure := func() error { _, err := Measure(t.Context(), o.plan, opt); return err }
	run := func() error { _, err := Run(t.Context(), o.plan, opt); return err }
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
		if there, _ := durable.Exists(o.statePath(t, opt, "")); there {
			t.Errorf("%d: the state is still there", i)
		}
	}
}

// The state belongs to its owner alone.
func TestOpenStateIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows keeps no permission bits")
	}
	o := newOffice(t)
	for _, mode := range []os.FileMode{0o755, 0o770, 0o701} {
		opt := o.options("out")
		opt.State = filepath.Join(o.dir, "state")
		if err := os.MkdirAll(opt.State, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(opt.State, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), o.plan, opt); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if n := o.debits(t); n != 0 {
		t.Errorf("%d debits, expected none", n)
	}
}

// Practice, or another ledger, shares no state with a debited release: its key
// stays until it has resumed.
func TestPracticeLeavesTheKeyOfADebitedRelease(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	opt.State = filepath.Join(o.dir, "state")
	drawn := crashAfterDebit(t, o, opt)
	practice := opt
	practice.Ledger, practice.Out = "", filepath.Join(o.dir, "practice")
	if _, err := Run(t.Context(), o.plan, practice); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "trips"))
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
	for name, fake := range map[string]func(o office, opt Options) error{
		"sealed": func(o office, opt Options) error {
			dir := MeasuredFolder(opt.Out, "trips")
			return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, measured.PlanFile), o.plan.Bytes(), 0o600),
				os.WriteFile(filepath.Join(dir, measured.ReceiptFile), []byte("{}"), 0o600))
		},
		"published": func(o office, opt Options) error {
			dir := filepath.Join(opt.Out, "trips")
			return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, published.ManifestFile),
				[]byte(`{"format": "dprelease.manifest/1", "release": "trips", "status": "RELEASE", "plan_hash": "`+o.plan.Hash()+`", "files": []}`), 0o600))
		},
	} {
		o := newOffice(t)
		opt := o.options("out")
		crashAfterDebit(t, o, opt)
		if err := fake(o, opt); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), o.plan, opt); Classify(err).Exit != verdict.ExitVerify {
			t.Errorf("%s: %v, exit %d", name, err, Classify(err).Exit)
		}
		if there, _ := durable.Exists(o.statePath(t, opt, keyFile)); !there {
			t.Errorf("%s: the key is gone", name)
		}
	}
}

// A damaged key, or zeros, found after the debit is no key: the release is closed,
// and nothing of it stays.
func TestDamagedKeyAfterTheDebitClosesTheRelease(t *testing.T) {
	for _, bad := range [][]byte{make([]byte, 32), {1, 2, 3}} {
		o := newOffice(t)
		opt := o.options("out")
		crashAfterDebit(t, o, opt)
		if err := os.WriteFile(o.statePath(t, opt, keyFile), bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), o.plan, opt)
		var closed *ledger.Closed
		if !errors.As(err, &closed) || Classify(err).Exit != verdict.ExitName {
			t.Errorf("%v, exit %d", err, Classify(err).Exit)
		}
		if there, _ := durable.Exists(o.statePath(t, opt, keyFile)); there {
			t.Error("the key is still there")
		}
	}
}

// Refused data leaves its diagnostics until the release is sealed, under whatever
// plan; scraps of a killed run do not stand in the way.
func TestDiagnosticsGoWithTheRelease(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	if err := os.WriteFile(filepath.Join(o.dir, "t.csv"), []byte("mode,hour\nKANARIE,7\nwalk,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), o.plan, opt)
	if Classify(err).Exit != verdict.ExitData || Hint(err) == "" {
		t.Fatalf("%v, exit %d", err, Classify(err).Exit)
	}
	spec := strings.Replace(tripSpec, "values: [walk, ride]", "values: [walk, ride], unknown: drop", 1)
	if err := os.WriteFile(filepath.Join(o.dir, "release.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	if o.plan, err = Load(context.Background(), SpecFile{Path: filepath.Join(o.dir, "release.yaml")}); err != nil {
		t.Fatal(err)
	}
	plantedKey(t, o, opt)
	if err := os.WriteFile(o.statePath(t, opt, "diagnostics.making-1"), []byte("KANARIE"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(opt.stateDir())
	if err != nil || len(left) != 1 || left[0].Name() != sourcesFile {
		t.Errorf("left in the state directory: %v, %v", left, err)
	}
}

// A key that cannot be read just now is not lost: the run fails, and a later one
// resumes.
func TestUnreadableKeyIsKept(t *testing.T) {
	o := newOffice(t)
	opt := o.options("out")
	crashAfterDebit(t, o, opt)
	key, aside := o.statePath(t, opt, keyFile), filepath.Join(o.dir, "aside")
	if err := errors.Join(os.Rename(key, aside), os.Mkdir(key, 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), o.plan, opt)
	var spent *Spent
	if !errors.As(err, &spent) || Classify(err).Exit != verdict.ExitEnvironment {
		t.Errorf("%v, exit %d", err, Classify(err).Exit)
	}
	if err := errors.Join(os.Remove(key), os.Rename(aside, key)); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o.plan, opt); err != nil {
		t.Error(err)
	}
}
