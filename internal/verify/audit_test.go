package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
)

// series is an office with several releases in one folder, and what an auditor holds of its ledger.
type series struct {
	releasetest.Office
	out, export string
}

// publishSeries makes releases of these names.
func publishSeries(t *testing.T, names ...string) series {
	t.Helper()
	s := series{Office: releasetest.Trips(t)}
	s.out, s.export = filepath.Join(s.Dir, "out"), filepath.Join(s.Dir, "export.jsonl")
	for _, name := range names {
		s.named(t, name)
		if _, err := release.Run(t.Context(), s.Plan, publishedtest.Options(s.Office, "out")); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// named plans the release under another name.
func (s *series) named(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(s.Dir, name+".yaml")
	if err := os.WriteFile(path, []byte(strings.Replace(releasetest.TripSpec, "release: trips", "release: "+name, 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.Plan, err = planfile.Load(t.Context(), planfile.Spec{Path: path}); err != nil {
		t.Fatal(err)
	}
}

// begun debits a release and leaves it there.
func (s *series) begun(t *testing.T, name string) {
	t.Helper()
	s.named(t, name)
	charge := ledger.Charge{Account: s.Plan.Guarantee.Account, Release: s.Plan.Name, PlanHash: s.Plan.Hash(),
		Terms: published.Terms(s.Plan), Cost: s.Plan.Cost}
	s.AskLedger(t, func(ctx context.Context, l *ledger.Ledger) error {
		if err := l.Reserve(ctx, charge); err != nil {
			return err
		}
		charge.Commitment = strings.Repeat("a", 64)
		_, err := l.Debit(ctx, charge)
		return err
	})
}

// verifiesAll verifies folders, and returns the verdicts by the names of the folders.
func (s series) verifiesAll(t *testing.T, places []string) (*Audit, map[string]Outcome, error) {
	t.Helper()
	s.ExportTo(t, s.export)
	outcomes := map[string]Outcome{}
	a, err := Folders(t.Context(), places, Options{Export: s.export},
		func(v *Verification) { outcomes[filepath.Base(v.Folder)] = v.Outcome })
	return a, outcomes, err
}

// releasesOf are the names of debits.
func releasesOf(debits []ledger.DebitEntry) (names []string) {
	for _, d := range debits {
		names = append(names, d.Release)
	}
	return names
}

// TestEveryDebitHasItsFolder verifies the folders of a series against an export of the ledger: all of them, named one
// by one or by the folder that they lie in, twice, as links and as revisions; and with some of them gone, changed,
// withdrawn, or given up.
func TestEveryDebitHasItsFolder(t *testing.T) {
	s := publishSeries(t, "w1", "w2", "w3")
	place := func(name string) string { return filepath.Join(s.out, name) }
	for what, places := range map[string][]string{
		"the folder that they lie in": {s.out},
		"one by one":                  {place("w1"), place("w2"), place("w3")},
		"some of them twice":          {place("w3"), s.out, place("w1")},
	} {
		a, outcomes, err := s.verifiesAll(t, places)
		if err != nil || len(a.Folders) != 3 || len(outcomes) != 3 || a.Export.Debits != 3 ||
			len(a.Export.WithoutFolder) != 0 {
			t.Errorf("%s: %v, %v, %+v", what, err, outcomes, a)
		}
	}
	for _, lacking := range [][]string{{"w2", "w3"}, {"w2"}} {
		var places []string
		for _, name := range []string{"w1", "w2", "w3"} {
			if !slices.Contains(lacking, name) {
				places = append(places, place(name))
			}
		}
		a, _, err := s.verifiesAll(t, places)
		var alone *DebitsWithoutFolder
		if !errors.As(err, &alone) || !slices.Equal(alone.Releases, lacking) || alone.Total != 3 ||
			!slices.Equal(releasesOf(a.Export.WithoutFolder), lacking) {
			t.Errorf("without %v: %v", lacking, err)
		}
		if v := ending.Of(err); v.Exit != verdict.ExitVerify || v.Reason != verdict.DebitAlone {
			t.Errorf("without %v: %+v", lacking, v)
		}
		if record := releasetest.Record(t, place("w2")); a.Export.WithoutFolder[0].Hash != record.Proof.Hash {
			t.Errorf("%+v is not the entry of w2, %s", a.Export.WithoutFolder[0], record.Proof.Hash)
		}
	}

	s.begun(t, "w4")
	s.begun(t, "w5")
	l, err := ledger.OpenExisting(t.Context(), s.Ledger, ledger.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Abandon(t.Context(), "trips", "w5", "the disk is lost"),
		l.Withdraw(t.Context(), "trips", "w1", "wrong hours"), l.Close()); err != nil {
		t.Fatal(err)
	}
	a, outcomes, err := s.verifiesAll(t, []string{s.out})
	var alone *DebitsWithoutFolder
	if !errors.As(err, &alone) || !slices.Equal(alone.Releases, []string{"w4"}) ||
		!slices.Equal(releasesOf(a.Export.Abandoned), []string{"w5"}) || ending.Of(err).Exit != verdict.ExitVerify {
		t.Errorf("%v, %+v", err, a.Export)
	}
	if outcomes["w1"] != WithdrawnByOffice || outcomes["w2"] != Consistent || len(outcomes) != 3 {
		t.Errorf("%v", outcomes)
	}

	if err := os.Truncate(filepath.Join(place("w2"), "README.txt"), 0); err != nil {
		t.Fatal(err)
	}
	_, outcomes, err = s.verifiesAll(t, []string{s.out})
	var failing *FoldersFailed
	if !errors.As(err, &failing) || !slices.Equal(failing.Failed, []string{place("w2")}) || !errors.As(err, &alone) ||
		ending.Of(err).Reason != verdict.NotVerified {
		t.Errorf("%v", err)
	}
	if outcomes["w2"] != DoesNotVerify || outcomes["w3"] != Consistent || len(outcomes) != 3 {
		t.Errorf("after one that fails: %v", outcomes)
	}
}

// TestManyFoldersAndWhatIsNone verifies folders together with others that hold no release, of which one is withdrawn
// and none missing.
func TestManyFoldersAndWhatIsNone(t *testing.T) {
	s := publishSeries(t, "w1", "w2")
	l, err := ledger.OpenExisting(t.Context(), s.Ledger, ledger.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Withdraw(t.Context(), "trips", "w1", "wrong hours"), l.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.out, "notes and more"), 0o755); err != nil {
		t.Fatal(err)
	}
	a, _, err := s.verifiesAll(t, []string{s.out})
	var withdrawn *Withdrawn
	if !errors.As(err, &withdrawn) || ending.Of(err).Exit != verdict.ExitWithdrawn ||
		!slices.Equal(withdrawn.Folders, []string{filepath.Join(s.out, "w1")}) {
		t.Errorf("%v", err)
	}
	if !slices.Contains(a.Skipped, `"`+s.out+`/notes and more": it has no manifest.json`) {
		t.Errorf("%q", a.Skipped)
	}
	if _, _, err := s.verifiesAll(t, []string{s.out, filepath.Join(s.Dir,
		"nowhere")}); ending.Of(err).Exit != verdict.ExitSpec {
		t.Errorf("%v", err)
	}
	if IsRelease(s.out) || !IsRelease(filepath.Join(s.out, "w1")) || !IsRelease(s.Dir) {
		t.Error("a folder of releases is one of a release, or the other way round")
	}
	// A rehearsal is in no ledger of the office: it fails for no export.
	rehearsal, err := release.Rehearse(t.Context(), s.Plan, 10, publishedtest.Options(s.Office, "out"))
	if err != nil {
		t.Fatal(err)
	}
	_, outcomes, err := s.verifiesAll(t, []string{s.out})
	if ending.Of(err).Exit != verdict.ExitWithdrawn || outcomes[filepath.Base(rehearsal)] != Verifies {
		t.Errorf("%v: %v", err, outcomes)
	}
	// For a single folder, the other debits of the export are named, and nothing is missing.
	v := assertVerifies(t, filepath.Join(s.out, "w2"), Options{Export: s.export})
	assertListed(t, v.Unchecked, "the other releases that the export holds debits of, w1: give their folders too")
	// A folder without its manifest is none of a release: its debit is alone.
	if err := os.Remove(filepath.Join(s.out, "w2", published.ManifestFile)); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.verifiesAll(t, []string{s.out})
	var alone *DebitsWithoutFolder
	if !errors.As(err, &alone) || !slices.Equal(alone.Releases, []string{"w2"}) {
		t.Errorf("%v", err)
	}
}
