package release

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// signed is an office whose account wants two signatures below a plan.
type signedOffice struct {
	releasetest.Office
	anna, carl, eve sign.Key // methodologist, officer, nobody
}

func newSignedOffice(t *testing.T, spec string) signedOffice {
	t.Helper()
	o := signedOffice{Office: releasetest.Office{Dir: t.TempDir()}}
	o.Ledger = filepath.Join(o.Dir, "ledger.db")
	for name, key := range map[string]*sign.Key{"anna": &o.anna, "carl": &o.carl, "eve": &o.eve} {
		path := filepath.Join(o.Dir, name)
		if _, err := sign.Generate(path); err != nil {
			t.Fatal(err)
		}
		var err error
		if *key, err = sign.ReadKey(path); err != nil {
			t.Fatal(err)
		}
	}
	o.write(t, "t.csv", "mode,hour\nwalk,7\nride,8\nride,8\nwalk,23\n")
	o.write(t, "release.yaml", spec)
	o.write(t, "policy.yaml", releasetest.TripPolicy+"approvals: {methodologist: [anna.pub], officer: [carl.pub]}\n")
	if _, err := (account.Ledger{Path: o.Ledger}).Init(t.Context(), filepath.Join(o.Dir, "policy.yaml")); err != nil {
		t.Fatal(err)
	}
	return o
}

func (o signedOffice) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(o.Dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// planned writes the plan of the spec with these parameters, and returns its path.
func (o signedOffice) planned(t *testing.T, params map[string]string) (*compiled.Compiled, string) {
	t.Helper()
	p, path, err := planfile.Make(context.Background(),
		planfile.Spec{Path: filepath.Join(o.Dir, "release.yaml"), Params: params}, o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return p, path
}

func (o signedOffice) approve(t *testing.T, path, role string, key sign.Key, standing *ledger.Standing) {
	t.Helper()
	p, err := planfile.Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := (account.Ledger{}).Approve(t.Context(), p, path,
		account.Approval{Role: role, Key: key, Standing: standing}); err != nil {
		t.Fatal(err)
	}
}

func (o signedOffice) signedOptions() Options {
	opt := optionsOf(o.Office, "out")
	opt.Approvals = o.Dir
	return opt
}

// refuses measures, and wants it refused for want of approvals by these roles, with
// nothing reserved, spent or written.
func (o signedOffice) refuses(t *testing.T, p *compiled.Compiled, roles ...string) {
	t.Helper()
	_, err := Measure(t.Context(), p, o.signedOptions())
	var unapproved *ledger.Unapproved
	if !errors.As(err, &unapproved) || !slices.Equal(unapproved.Missing, roles) ||
		ending.Of(err).Exit != verdict.ExitApproval {
		t.Errorf("exit %d, %v; want roles %v missing", ending.Of(err).Exit, err, roles)
	}
	if there, err := durable.Exists(MeasuredFolder(o.signedOptions().Out, p.Name)); there || err != nil {
		t.Errorf("measurements are there (%v)", err)
	}
}

func TestNothingIsMeasuredUnapproved(t *testing.T) {
	o := newSignedOffice(t, releasetest.TripSpec)
	p, path := o.planned(t, nil)
	o.refuses(t, p, "methodologist", "officer")
	o.approve(t, path, "methodologist", o.anna, nil)
	o.refuses(t, p, "officer")
	o.approve(t, path, "officer", o.eve, nil) // not one of the account's keys
	o.refuses(t, p, "officer")
	o.approve(t, path, "officer", o.anna, nil) // of another role
	o.refuses(t, p, "officer")
	if n := o.Debits(t); n != 0 {
		t.Errorf("%d debits", n)
	}
	o.approve(t, path, "officer", o.carl, nil)
	result, err := Run(t.Context(), p, o.signedOptions())
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(result.Folder, published.ApprovalsFile))
	var published []ledger.Approval
	if err == nil {
		err = json.Unmarshal(b, &published)
	}
	if err != nil || len(published) != 2 || published[0].Signer != o.anna.Public() ||
		published[1].Signer != o.carl.Public() {
		t.Errorf("published approvals: %s (%v)", b, err)
	}
	for _, a := range published {
		if err := a.Verify(); err != nil || a.Plan != p.Hash() {
			t.Errorf("published approval of %s: %v", a.Plan, err)
		}
	}
}

// A plan is signed and measured with its words, and without their file it is neither.
func TestAPlanWithoutItsWordsIsNeitherApprovedNorMeasured(t *testing.T) {
	o := newSignedOffice(t, releasetest.TripSpec)
	_, path := o.planned(t, nil)
	if err := os.Remove(planfile.WordsPath(path)); err != nil {
		t.Fatal(err)
	}
	p, err := planfile.Read(t.Context(), path)
	if err != nil || p.Release().Words != nil {
		t.Fatalf("words %+v, %v", p.Release().Words, err)
	}
	_, _, err = o.signedOptions().Account().Approve(t.Context(), p, path,
		account.Approval{Role: "officer", Key: o.carl})
	if !errors.Is(err, plan.ErrNoWords) {
		t.Errorf("approving: %v", err)
	}
	if _, err := Measure(t.Context(), p, o.signedOptions()); !errors.Is(err, plan.ErrNoWords) {
		t.Errorf("measuring: %v", err)
	}
	if n := o.Debits(t); n != 0 {
		t.Errorf("%d debits", n)
	}
}

// A plan that was edited is not the one that was signed, however it was edited; nor
// is a plan of another spec under the same name.
func TestAnotherPlanIsNotApproved(t *testing.T) {
	o := newSignedOffice(t, releasetest.TripSpec)
	_, path := o.planned(t, nil)
	o.approve(t, path, "methodologist", o.anna, nil)
	o.approve(t, path, "officer", o.carl, nil)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{`"parameter": "2"`: `"parameter": "1"`, `"epsilon": "1"`: `"epsilon": "2"`,
		"  \"": " \""} {
		edited := strings.Replace(string(text), from, to, 1)
		if edited == string(text) {
			t.Fatalf("%s is not in the plan", from)
		}
		o.write(t, filepath.Base(path), edited)
		if _, err := planfile.Read(context.Background(), path); ending.Of(err).Exit != verdict.ExitApproval {
			t.Errorf("%q for %q: exit %d, %v", to, from, ending.Of(err).Exit, err)
		}
	}
	o.write(t, "release.yaml", strings.Replace(releasetest.TripSpec, "{epsilon: 1,", "{epsilon: 2,", 1))
	other, _ := o.planned(t, nil)
	o.refuses(t, other, "methodologist", "officer")
}

const quarterSpec = `version: 1
params: {quarter: {pattern: '20\d\dq[1-4]'}}
release: trips-${quarter}
privacy: {protects: trip, neighbours: add-remove, account: trips}
budget: {epsilon: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride]}, hour: {type: integer, range: [0, 23]}}}}
marginals: {modes: {by: [mode]}}
`

func TestStandingApprovalsAreCountedDown(t *testing.T) {
	o := newSignedOffice(t, quarterSpec)
	_, path := o.planned(t, map[string]string{"quarter": "2026q1"})
	o.approve(t, path, "methodologist", o.anna, &ledger.Standing{Until: "9999-12-31", Releases: 2})
	o.approve(t, path, "officer", o.carl, &ledger.Standing{Until: "9999-12-31", Releases: 5})
	for _, quarter := range []string{"2026q1", "2026q2"} {
		p, _ := o.planned(t, map[string]string{"quarter": quarter})
		for range 2 { // the second time it is there already
			if _, err := Measure(t.Context(), p, o.signedOptions()); err != nil {
				t.Fatalf("%s: %v", quarter, err)
			}
		}
	}
	third, _ := o.planned(t, map[string]string{"quarter": "2026q3"})
	o.refuses(t, third, "methodologist")
	o.approve(t, path, "methodologist", o.anna, &ledger.Standing{Until: "2020-12-31", Releases: 7})
	o.refuses(t, third, "methodologist")
	o.approve(t, path, "methodologist", o.anna, &ledger.Standing{Until: "9999-12-31", Releases: 7})
	o.write(t, "release.yaml", strings.Replace(quarterSpec, "{epsilon: 1}", "{epsilon: 2}", 1))
	changed, _ := o.planned(t, map[string]string{"quarter": "2026q3"})
	o.refuses(t, changed, "methodologist", "officer")
	o.write(t, "release.yaml", quarterSpec)
	if _, err := Measure(t.Context(), third, o.signedOptions()); err != nil {
		t.Error(err)
	}
}

func TestAFileThatIsNoApproval(t *testing.T) {
	o := newSignedOffice(t, releasetest.TripSpec)
	p, _ := o.planned(t, nil)
	o.write(t, "trips.officer.approval.json", "{}\n")
	if _, err := Measure(t.Context(), p, o.signedOptions()); ending.Of(err).Exit != verdict.ExitSpec ||
		!strings.Contains(err.Error(), "trips.officer.approval.json") {
		t.Errorf("exit %d, %v", ending.Of(err).Exit, err)
	}
}

// Two people may sign in one role: neither's approval replaces the other's.
func TestApprovalsInOneRoleLieSideBySide(t *testing.T) {
	o := newSignedOffice(t, releasetest.TripSpec)
	p, path := o.planned(t, nil)
	o.approve(t, path, "methodologist", o.anna, nil)
	o.approve(t, path, "methodologist", o.eve, nil)
	o.approve(t, path, "officer", o.carl, nil)
	if _, err := Measure(t.Context(), p, o.signedOptions()); err != nil {
		t.Error(err)
	}
}
