package release

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/diagnostics"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
)

// makeOld sets the age of a folder and everything in it to so many days.
func makeOld(t *testing.T, folder string, days int) {
	t.Helper()
	at := time.Now().AddDate(0, 0, -days)
	err := filepath.WalkDir(folder,
		func(path string, _ os.DirEntry, err error) error { return errors.Join(err, os.Chtimes(path, at, at)) })
	if err != nil {
		t.Fatal(err)
	}
}

// cleanStates cleans the state directory and returns the states that it reports, as "STATUS WHY".
func cleanStates(t *testing.T, opt Options, days int, dryRun bool) (all []string) {
	t.Helper()
	states, err := state.Clean(t.Context(), opt.StateDir(), opt.Account(), days, dryRun)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		all = append(all, s.Status+" "+s.Why)
	}
	return all
}

// wantCleaned compares what cleaning says, by a part of each.
func wantCleaned(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%q, expected %q", got, want)
	}
	for i, part := range want {
		if !strings.Contains(got[i], part) {
			t.Errorf("%q, expected %q", got[i], part)
		}
	}
}

// The diagnostics of a week that failed go with their life time, and not before; a practice account and strangers stay.
func TestDiagnosticsOfFailedAttemptsAreCleaned(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	if err := os.WriteFile(filepath.Join(o.Dir, "t.csv"), []byte("mode,hour\nfly,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), o.Plan, opt); ending.Of(err).Exit != verdict.ExitData {
		t.Fatal(err)
	}
	folder := filepath.Join(opt.StateDir(), stateNameOf(t, o, opt))
	strangers := []string{filepath.Join(opt.StateDir(), "notes"), filepath.Join(opt.StateDir(), "sources.json")}
	if err := errors.Join(os.Mkdir(strangers[0], 0o700), os.WriteFile(strangers[1], nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	wantCleaned(t, cleanStates(t, opt, state.Days, false), "kept it is not old enough")
	makeOld(t, opt.StateDir(), state.Days+1)
	wantCleaned(t, cleanStates(t, opt, state.Days, true), "removable it has no key")
	if there, _ := durable.Exists(filepath.Join(folder, diagnostics.File)); !there {
		t.Fatal("a dry run removed the diagnostics")
	}
	st, err := state.Open(t.Context(), opt.StateDir(), stateNameOf(t, o, opt))
	if err != nil {
		t.Fatal(err)
	}
	wantCleaned(t, cleanStates(t, opt, state.Days, false), "kept a run has it open")
	st.Close()
	wantCleaned(t, cleanStates(t, opt, state.Days, false), "removed it has no key")
	if there, _ := durable.Exists(folder); there {
		t.Error("the state is still there")
	}
	for _, stranger := range strangers {
		if there, _ := durable.Exists(stranger); !there {
			t.Errorf("%s is no state, and was removed", stranger)
		}
	}
	wantCleaned(t, cleanStates(t, opt, state.Days, false))
}

// What a paid release resumes from stays, however old; once it is given up its key goes.
func TestStatesOfPaidReleasesAreKept(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	drawn := crashAfterDebit(t, o, opt)
	makeOld(t, opt.StateDir(), 1000)
	wantCleaned(t, cleanStates(t, opt, 0, false), "kept it is paid for and not finished (account trips): run it again")

	elsewhere := opt
	elsewhere.Ledger = ""
	wantCleaned(t, cleanStates(t, elsewhere, 0, false),
		"kept it has a key, and no account of these ledgers knows its release")
	elsewhere.Ledger = filepath.Join(o.Dir, "no.db")
	_, err := state.Clean(t.Context(), elsewhere.StateDir(), elsewhere.Account(), 0, false)
	if ending.Of(err).Reason != verdict.LedgerMissing {
		t.Errorf("a ledger that is not there: %v", err)
	}

	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatalf("after cleaning the release does not resume: %v", err)
	}
	if len(drawn) == 0 {
		t.Fatal("nothing was drawn")
	}
	wantCleaned(t, cleanStates(t, opt, 0, false)) // the run cleared it
}

// Keys that nothing resumes from are erased: of attempts that ended before their debit, and of releases that were given
// up.
func TestKeysThatNothingNeedsAreCleaned(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(t *testing.T, o releasetest.Office, opt Options)
		says string
	}{
		"reserved": {func(t *testing.T, o releasetest.Office, opt Options) {
			l, charge, err := opt.openLedger(t.Context(), o.Plan)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := l.Reserve(t.Context(), charge); err != nil {
				t.Fatal(err)
			}
			plantedKey(t, o, opt)
		}, "removed its attempt ended before its debit"},
		"abandoned": {func(t *testing.T, o releasetest.Office, opt Options) {
			crashAfterDebit(t, o, opt)
			if _, err := opt.Account().Abandon(t.Context(), "trips", "trips", "The disk is lost."); err != nil {
				t.Fatal(err)
			}
		}, "removed its release is abandoned"},
	} {
		t.Run(name, func(t *testing.T) {
			o := releasetest.Trips(t)
			opt := optionsOf(o, "out")
			c.end(t, o, opt)
			key := filepath.Join(opt.StateDir(), stateNameOf(t, o, opt), state.KeyFile)
			open, err := os.Open(key) // the file itself, once its name is gone
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			makeOld(t, opt.StateDir(), 31)
			states, err := state.Clean(t.Context(), opt.StateDir(), opt.Account(), state.Days, false)
			if err != nil || len(states) != 1 || !slices.Contains(states[0].Holds, "key") ||
				states[0].Release != "trips" {
				t.Fatalf("%+v, %v", states, err)
			}
			wantCleaned(t, []string{states[0].Status + " " + states[0].Why}, c.says)
			if left, err := io.ReadAll(open); err != nil || strings.Trim(string(left), "\x00") != "" {
				t.Errorf("the key was not overwritten: %v", err)
			}
			if there, _ := durable.Exists(filepath.Dir(key)); there {
				t.Error("the state is still there")
			}
		})
	}
}
