package release

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/sign"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
)

// auditable is a signed and approved release, with what an auditor holds of it: the
// folder, the office's public key and an export of its ledger.
type auditable struct {
	office
	key     sign.Key
	options Options
	place   string // the folder
	public  string // file of the public key
	export  string // file of the export
}

// publish makes a release of the trips on a signed ledger whose account wants an
// approval.
func publish(t *testing.T) auditable {
	t.Helper()
	return publishWith(t, tripSpec, tripPolicy, "mode,hour\nwalk,7\nride,8\nride,8\nwalk,23\n")
}

// publishMicrodata makes such a release with microdata.
func publishMicrodata(t *testing.T) auditable {
	t.Helper()
	return publishWith(t, walkSpec, walkPolicy, walkRows())
}

// publishTogether makes such a release whose tables are put together from parts.
func publishTogether(t *testing.T) auditable {
	t.Helper()
	spec := strings.NewReplacer("{epsilon: 1, split: {few: 1/2, many: 1/2}}", "{rho: 1/2}", ", budget: few", "", ", budget: many", "").Replace(tripSpec)
	o := publishWith(t, spec, strings.Replace(tripPolicy, "epsilon: 5", "rho: 5", 1), "mode,hour\nwalk,7\nride,8\nride,8\nwalk,23\n")
	for _, table := range o.plan.Tables {
		if table.Statistics[0].Measurement != "" {
			t.Fatalf("table %s is one measurement", table.Path)
		}
	}
	return o
}

func publishWith(t *testing.T, spec, policy, rows string) auditable {
	t.Helper()
	o := auditable{office: office{dir: t.TempDir()}}
	o.ledger = filepath.Join(o.dir, "ledger.db")
	o.public, o.export = filepath.Join(o.dir, "office.pub"), filepath.Join(o.dir, "export.jsonl")
	o.key = newKey(t, filepath.Join(o.dir, "office"))
	anna := newKey(t, filepath.Join(o.dir, "anna"))
	for name, text := range map[string]string{
		"release.yaml": spec,
		"policy.yaml":  policy + "approvals: {methodologist: [anna.pub]}\n",
		"t.csv":        rows,
	} {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, path, err := Plan(context.Background(), SpecFile{Path: filepath.Join(o.dir, "release.yaml")}, o.dir)
	if err != nil {
		t.Fatal(err)
	}
	o.plan = p
	if _, _, _, err := (Options{}).Approve(t.Context(), path, Approval{Role: "methodologist", Key: anna}); err != nil {
		t.Fatal(err)
	}
	o.openAccount(t)
	o.options = o.office.options("out")
	o.options.Office, o.options.Approvals = &o.key, o.dir
	result, err := Run(t.Context(), p, o.options)
	if err != nil {
		t.Fatal(err)
	}
	o.place = result.Place
	o.exportTo(t, o.export)
	return o
}

func newKey(t *testing.T, path string) sign.Key {
	t.Helper()
	if _, err := sign.Generate(path); err != nil {
		t.Fatal(err)
	}
	key, err := sign.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// openAccount begins the ledger, signed by the office.
func (o auditable) openAccount(t *testing.T) {
	t.Helper()
	path := filepath.Join(o.dir, "policy.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := ledger.ParsePolicy(path, text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), o.ledger, ledger.OpenOptions{Office: &o.key})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Init(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
}

// exportTo exports the ledger as it is now.
func (o auditable) exportTo(t *testing.T, path string) {
	t.Helper()
	l, err := ledger.OpenExisting(t.Context(), o.ledger, ledger.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var b bytes.Buffer
	if err := l.Export(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// verifies asserts that a folder verifies, and returns what was found.
func verifies(t *testing.T, place string, o VerifyOptions) *Verification {
	t.Helper()
	v, err := Verify(t.Context(), place, o)
	if err != nil {
		t.Fatalf("%v\n%+v", err, v)
	}
	return v
}

// refused asserts that a folder does not verify, with that file named first.
func refused(t *testing.T, place string, o VerifyOptions, file, says string) {
	t.Helper()
	_, err := Verify(t.Context(), place, o)
	var u *Unverified
	if !errors.As(err, &u) || Classify(err).Exit != verdict.ExitVerify {
		t.Fatalf("%v, want %s refused", err, file)
	}
	if u.File != file || !strings.Contains(u.Says, says) {
		t.Errorf("%v, want %s named, and %q", err, file, says)
	}
}

// told asserts that a list has an item that says something.
func told(t *testing.T, list []string, says string) {
	t.Helper()
	if !strings.Contains(strings.Join(list, "\n"), says) {
		t.Errorf("nothing says %q: %q", says, list)
	}
}

func TestASignedReleaseVerifies(t *testing.T) {
	o := publish(t)
	v := verifies(t, o.place, VerifyOptions{Trust: o.public, Export: o.export})
	for _, c := range v.Checks {
		if c.State != Passed {
			t.Errorf("%+v", c)
		}
	}
	fingerprint := o.key.Public().Fingerprint()
	for _, what := range []string{"manifest.json", "entry of the debit", "role methodologist", "every entry of"} {
		told(t, v.Signed, what)
	}
	told(t, v.Signed, fingerprint+", the one in "+o.public)
	told(t, v.Recomputed, "seal of these very measurements")
	told(t, v.Unchecked, "truly drawn")
	told(t, v.Unchecked, "no witness on another disk")
	if v.Marked != "RELEASE" || v.Release != "trips" {
		t.Errorf("%+v", v)
	}
	// With the public key alone, and with nothing.
	v = verifies(t, o.place, VerifyOptions{Trust: o.public})
	told(t, v.Unchecked, "--ledger-export")
	v = verifies(t, o.place, VerifyOptions{})
	told(t, v.Signed, fingerprint+", which this folder itself names: compare it with the office's")
}

// checkNamed is one check of a verification.
func checkNamed(t *testing.T, v *Verification, name string) Check {
	t.Helper()
	for _, c := range v.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check is named %s: %+v", name, v.Checks)
	return Check{}
}

// TestApprovalsThatAreNotThere forges the entry of a debit without the approval that
// its account asks for. The folder cannot tell; it does not say that none was asked
// for. An export tells, by the policies in it.
func TestApprovalsThatAreNotThere(t *testing.T) {
	o := publish(t)
	r := publishedRecord(t, o.place)
	approvals, err := json.Marshal(r.Approvals)
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Replace(r.Proof.Body, `,"approvals":`+string(approvals), "", 1)
	if body == r.Proof.Body {
		t.Fatalf("the entry does not hold %s: %s", approvals, body)
	}
	r.Proof.Body, r.Approvals = body, nil
	rehashed(t, &r)
	dir := o.forgedWith(t, r)
	v := verifies(t, dir, VerifyOptions{})
	if c := checkNamed(t, v, "approvals"); c.State != NotDone || !strings.Contains(c.Says, "none stand in the ledger's entry") {
		t.Errorf("%+v", c)
	}
	told(t, v.Unchecked, "that nobody had to approve it")
	refused(t, dir, VerifyOptions{Export: o.export}, o.export, "does not hold the debit of this release")

	v = verifies(t, o.place, VerifyOptions{Export: o.export})
	if c := checkNamed(t, v, "ledger"); !strings.Contains(c.Says, "its accounts ask for the approval of role methodologist") {
		t.Errorf("%+v", c)
	}
	free := auditable{office: newOffice(t)}
	result, err := Run(t.Context(), free.plan, free.office.options("out"))
	if err != nil {
		t.Fatal(err)
	}
	export := filepath.Join(free.dir, "export.jsonl")
	free.exportTo(t, export)
	v = verifies(t, result.Place, VerifyOptions{Export: export})
	if c := checkNamed(t, v, "ledger"); !strings.Contains(c.Says, "its accounts ask for no approval") {
		t.Errorf("%+v", c)
	}
	if strings.Contains(strings.Join(v.Unchecked, "\n"), "nobody had to approve") {
		t.Errorf("unchecked, though the export tells: %q", v.Unchecked)
	}
}

// TestApprovalsThatAParentAsksFor reads the policy above the account that is named.
func TestApprovalsThatAParentAsksFor(t *testing.T) {
	o := auditable{office: newOffice(t)}
	o.ledger = filepath.Join(o.dir, "tree.db")
	anna := newKey(t, filepath.Join(o.dir, "anna"))
	for _, p := range []struct{ file, text string }{
		{"top.yaml", strings.Replace(tripPolicy, "account: trips", "account: top", 1) + "approvals: {methodologist: [anna.pub]}\n"},
		{"below.yaml", tripPolicy + "parent: top\n"},
	} {
		path := filepath.Join(o.dir, p.file)
		if err := os.WriteFile(path, []byte(p.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := InitAccount(t.Context(), o.ledger, path, ledger.OpenOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	p, path, err := Plan(context.Background(), SpecFile{Path: filepath.Join(o.dir, "release.yaml")}, o.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := (Options{}).Approve(t.Context(), path, Approval{Role: "methodologist", Key: anna}); err != nil {
		t.Fatal(err)
	}
	opt := o.office.options("out")
	opt.Approvals = o.dir
	result, err := Run(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	export := filepath.Join(o.dir, "export.jsonl")
	o.exportTo(t, export)
	v := verifies(t, result.Place, VerifyOptions{Export: export})
	if c := checkNamed(t, v, "ledger"); !strings.Contains(c.Says, "its accounts ask for the approval of role methodologist") {
		t.Errorf("%+v", c)
	}
}

func TestAnotherKeyIsNotTrusted(t *testing.T) {
	o := publish(t)
	newKey(t, filepath.Join(o.dir, "other"))
	refused(t, o.place, VerifyOptions{Trust: filepath.Join(o.dir, "other.pub")}, published.SignatureFile, "fingerprint")
}

// TestAnUnsignedLedgerIsNotTheOffices signs the manifest of a release that an
// unsigned ledger paid for: one with a fresh cap, that anybody can begin.
func TestAnUnsignedLedgerIsNotTheOffices(t *testing.T) {
	o := auditable{office: newOffice(t)}
	result, err := Run(t.Context(), o.plan, o.office.options("out"))
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t, filepath.Join(o.dir, "key"))
	trust := VerifyOptions{Trust: filepath.Join(o.dir, "key.pub")}
	if err := signManifest(result.Place, key); err != nil {
		t.Fatal(err)
	}
	refused(t, result.Place, trust, published.ProofFile, "nobody signs")
	trust.Export = filepath.Join(o.dir, "export.jsonl")
	o.exportTo(t, trust.Export)
	refused(t, result.Place, trust, published.ProofFile, "nobody signs")
	told(t, verifies(t, result.Place, VerifyOptions{}).Unchecked, "its entries are not signed")

	// Practice and rehearsals spend nothing of the office's.
	practice := o.office.options("practice")
	practice.Ledger, practice.Office = "", &key
	if result, err = Run(t.Context(), o.plan, practice); err != nil {
		t.Fatal(err)
	}
	verifies(t, result.Place, VerifyOptions{Trust: trust.Trust})
}

func TestAnUnsignedReleaseSaysWhatThatMeans(t *testing.T) {
	o := newOffice(t)
	result, err := Run(t.Context(), o.plan, o.options("out"))
	if err != nil {
		t.Fatal(err)
	}
	v := verifies(t, result.Place, VerifyOptions{})
	told(t, v.Signed, "Whoever can write in this folder may have made all of it")
	told(t, v.Unchecked, "its entries are not signed")
	newKey(t, filepath.Join(o.dir, "office"))
	refused(t, result.Place, VerifyOptions{Trust: filepath.Join(o.dir, "office.pub")}, published.SignatureFile, "not signed")
}

func TestPracticeRehearsalsAndRevisionsVerify(t *testing.T) {
	o := newOffice(t)
	practice := o.options("practice")
	practice.Ledger = ""
	result, err := Run(t.Context(), o.plan, practice)
	if err != nil {
		t.Fatal(err)
	}
	v := verifies(t, result.Place, VerifyOptions{})
	told(t, v.Unchecked, "this is practice")
	if v.Marked != published.PracticeStatus {
		t.Errorf("marked %s", v.Marked)
	}
	place, err := Rehearse(t.Context(), o.plan, 10, o.options("out"))
	if err != nil {
		t.Fatal(err)
	}
	v = verifies(t, place, VerifyOptions{})
	told(t, v.Unchecked, "made-up data")
	if v.Marked != published.RehearsalStatus {
		t.Errorf("marked %s", v.Marked)
	}
	opt := o.options("out")
	if _, err := Run(t.Context(), o.plan, opt); err != nil {
		t.Fatal(err)
	}
	opt.Revision = Revision{Number: 2, Reason: "clearer labels"}
	revised, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt)
	if err != nil {
		t.Fatal(err)
	}
	v = verifies(t, revised.Place, VerifyOptions{})
	told(t, v.Unchecked, `why revision 2 was made ("clearer labels")`)
	if v.Revision != 2 {
		t.Errorf("revision %d", v.Revision)
	}
}

func TestTheExportMustHoldTheRelease(t *testing.T) {
	o := publish(t)
	for name, change := range map[string]struct {
		keep int // lines of the export, from its beginning
		says string
	}{
		"an export that ends early": {3, "missing"},
		"no export":                 {0, ""},
	} {
		b, err := os.ReadFile(o.export)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(o.dir, "cut.jsonl")
		lines := strings.SplitAfter(string(b), "\n")
		if err := os.WriteFile(path, []byte(strings.Join(lines[:change.keep], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if change.keep == 0 {
			if _, err := Verify(t.Context(), o.place, VerifyOptions{Export: path}); Classify(err).Exit != verdict.ExitSpec {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		refused(t, o.place, VerifyOptions{Export: path}, path, change.says)
	}
	other := publish(t)
	refused(t, o.place, VerifyOptions{Export: other.export}, other.export, "is of another ledger, which another key or none signs: it does not hold the debit of this release")
	refused(t, o.place, VerifyOptions{Trust: o.public, Export: other.export}, other.export, "fingerprint")
}

func TestAnUnsignedExportMayBeAnybodys(t *testing.T) {
	o := auditable{office: newOffice(t)}
	result, err := Run(t.Context(), o.plan, o.office.options("out"))
	if err != nil {
		t.Fatal(err)
	}
	export := filepath.Join(o.dir, "export.jsonl")
	o.exportTo(t, export)
	told(t, verifies(t, result.Place, VerifyOptions{Export: export}).Unchecked, "that the export is the office's")
}

// TestAPlanOfAnotherMaking verifies a release whose plan is canonical and not the
// planner's: edited, or of another version.
func TestAPlanOfAnotherMaking(t *testing.T) {
	o := newOffice(t)
	o.plan.Measurements[0].Mechanism.Parameter.SetString("1/7")
	place := filepath.Join(o.dir, "out", "trips")
	if err := os.MkdirAll(place, 0o755); err != nil {
		t.Fatal(err)
	}
	remanifest(t, place, o.plan, ledger.Record{}, published.Manifest{}, paper{"plan.json", o.plan.Bytes()})
	refused(t, place, VerifyOptions{}, "plan.json", "cannot be recomputed by this version ("+Software+")")
	b, err := os.ReadFile(filepath.Join(place, published.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(place, published.ManifestFile), bytes.Replace(b, []byte(Software), []byte("dprelease 0.0.9"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, place, VerifyOptions{}, "plan.json", "published by dprelease 0.0.9: verify it with that version")
}

// withdraw marks the release as withdrawn in the ledger, and exports that to path.
func (o auditable) withdraw(t *testing.T, path string) {
	t.Helper()
	l, err := ledger.OpenExisting(t.Context(), o.ledger, ledger.OpenOptions{Office: &o.key})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Withdraw(t.Context(), "trips", "trips", "wrong hours"), l.Close()); err != nil {
		t.Fatal(err)
	}
	o.exportTo(t, path)
}

// TestAWithdrawnReleaseIsCalledSo wants an exit code of its own and the withdrawal as the last word, also where the export came
// with no key; and what does not verify is no better for being withdrawn.
func TestAWithdrawnReleaseIsCalledSo(t *testing.T) {
	o := publish(t)
	export := filepath.Join(o.dir, "later.jsonl")
	o.withdraw(t, export)
	for _, options := range []VerifyOptions{{Trust: o.public, Export: export}, {Export: export}} {
		v, err := Verify(t.Context(), o.place, options)
		if Classify(err).Exit != 8 || v.Outcome != WithdrawnByIt || v.Withdrawn == nil || v.Withdrawn.Reason != "wrong hours" {
			t.Fatalf("exit %d, %v: %+v", Classify(err).Exit, err, v)
		}
		first := o.place + " verifies. But THE OFFICE HAS WITHDRAWN THIS RELEASE on "
		if options.Trust == "" {
			first = o.place + " is consistent in itself. Not established: who measured it, "
		}
		if !strings.HasPrefix(v.Says, first) || !strings.Contains(v.Says, ". But THE OFFICE HAS WITHDRAWN THIS RELEASE on ") || !strings.HasSuffix(v.Says, ": wrong hours") {
			t.Errorf("%q", v.Says)
		}
	}
	if v := verifies(t, o.place, VerifyOptions{Trust: o.public, Export: o.export}); v.Withdrawn != nil {
		t.Errorf("%+v, where the export is from before", v.Withdrawn)
	}
	dir := o.copied(t)
	if err := os.Truncate(filepath.Join(dir, "README.txt"), 0); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(t.Context(), dir, VerifyOptions{Trust: o.public, Export: export})
	if Classify(err).Exit != verdict.ExitVerify || v.Outcome != DoesNotVerify || !strings.Contains(v.Says, "README.txt") || !strings.HasSuffix(v.Says, ": wrong hours") {
		t.Errorf("exit %d: %q", Classify(err).Exit, v.Says)
	}
}

// TestAnOlderExportAccusesNobody verifies a release with an export from before its debit.
func TestAnOlderExportAccusesNobody(t *testing.T) {
	o := publish(t)
	b, err := os.ReadFile(o.export)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	var first struct{ Hash string }
	if err := json.Unmarshal([]byte(lines[1]), &first); err != nil {
		t.Fatal(err)
	}
	older := filepath.Join(o.dir, "older.jsonl")
	text := lines[0] + lines[1] + `{"head":"` + first.Hash + `","entries":1}` + "\n"
	if err := os.WriteFile(older, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Verify(t.Context(), o.place, VerifyOptions{Trust: o.public, Export: older})
	var u *Unverified
	if !errors.As(err, &u) || !strings.HasPrefix(u.Says, "is an older copy of the ledger") || strings.Contains(u.Says, "altered") ||
		!strings.Contains(u.Says, "ask the office for a newer export") {
		t.Errorf("%v", err)
	}
}

// TestAnExportFromBeforeTheEndAccusesNobody verifies a release with exports that hold its debit and not its end: one that was made
// while it was measured, and one of a release that was given up.
func TestAnExportFromBeforeTheEndAccusesNobody(t *testing.T) {
	o := publish(t)
	b, err := os.ReadFile(o.export)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	var debit struct{ Hash string }
	at := 0
	for i, line := range lines {
		if strings.HasPrefix(line, `{"body":"{\"kind\":\"debit\"`) {
			at = i
			if err := json.Unmarshal([]byte(line), &debit); err != nil {
				t.Fatal(err)
			}
		}
	}
	early := filepath.Join(o.dir, "early.jsonl")
	text := strings.Join(lines[:at+1], "") + fmt.Sprintf("{\"head\":%q,\"entries\":%d}\n", debit.Hash, at)
	if err := os.WriteFile(early, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, o.place, VerifyOptions{Trust: o.public, Export: early}, early, "is an older copy of the ledger: it holds the debit of this release and ends")
	refused(t, o.place, VerifyOptions{Trust: o.public, Export: early}, early, "ask the office for a newer export")
}

// TestAFolderIsNamedAsItIs verifies and reads folders whose names could pass for words of a verdict, or command a terminal.
func TestAFolderIsNamedAsItIs(t *testing.T) {
	o := publish(t)
	for name, quoted := range map[string]string{
		"x\x1b[2J\nr verifies.": `"` + o.dir + `/x\x1b[2J\nr verifies."`,
		"r verifies. It":        `"` + o.dir + `/r verifies. It"`,
	} {
		dir := filepath.Join(o.dir, name)
		if err := os.CopyFS(dir, os.DirFS(o.place)); err != nil {
			t.Skipf("no such names here: %v", err)
		}
		if v := verifies(t, dir, VerifyOptions{Trust: o.public}); v.Says != quoted+" verifies." {
			t.Errorf("%q", v.Says)
		}
		if err := os.Remove(filepath.Join(dir, "README.txt")); err != nil {
			t.Fatal(err)
		}
		_, err := Verify(t.Context(), dir, VerifyOptions{Trust: o.public})
		if err == nil || !strings.HasPrefix(err.Error(), quoted+" does not verify: README.txt: is missing") {
			t.Errorf("%v", err)
		}
		if _, err := published.ReadReport(dir); err == nil || !strings.HasPrefix(err.Error(), quoted+": README.txt is missing") {
			t.Errorf("%v", err)
		}
		if _, err := published.ReadReport(filepath.Join(dir, "none")); err == nil || strings.ContainsAny(strings.SplitN(err.Error(), ": ", 2)[0], "\x1b\n") {
			t.Errorf("%q", err)
		}
	}
}

// TestNothingIsCalledVerifiedThatNobodySigned holds another's measurements, with the office's entry of the debit, against what the
// last line says of them: the folder is consistent, and nothing shows who measured it or that it was paid for.
func TestNothingIsCalledVerifiedThatNobodySigned(t *testing.T) {
	o := publish(t)
	forged := o.rewritten(t, func(v *verifier, _ *[]report.Module) {
		cells := v.sealed.Measured[0].Values.Int64Values()
		made := array.NewInt64Builder(memory.DefaultAllocator)
		for range cells {
			made.Append(4711)
		}
		v.sealed.Measured[0].Values = made.NewInt64Array()
	})
	refused(t, forged, VerifyOptions{Trust: o.public}, published.SignatureFile, "not signed")
	refused(t, forged, VerifyOptions{Export: o.export}, o.export, "other measurements")
	v := verifies(t, forged, VerifyOptions{})
	if strings.Contains(v.Says, "verifies") || v.Outcome != Consistent || !strings.HasPrefix(v.Says, forged+" is consistent in itself. Not established: who measured it: nobody has signed the folder") ||
		!strings.Contains(v.Says, "whether it was paid for") {
		t.Errorf("%q", v.Says)
	}
	for name, c := range map[string]struct {
		place   string
		options VerifyOptions
		outcome Outcome
		says    string
	}{
		"signed and trusted":   {o.place, VerifyOptions{Trust: o.public}, Verifies, o.place + " verifies."},
		"signed by some key":   {o.place, VerifyOptions{}, Consistent, "signed by the key with the fingerprint " + o.key.Public().Fingerprint() + ", and nothing here says whose key that is"},
		"with some export too": {o.place, VerifyOptions{Export: o.export}, Consistent, "nothing here says whose key that is"},
		"unsigned, an export":  {o.rewritten(t, func(*verifier, *[]report.Module) {}), VerifyOptions{Export: o.export}, Consistent, "nothing here says whose export that is"},
	} {
		if v := verifies(t, c.place, c.options); v.Outcome != c.outcome || !strings.Contains(v.Says, c.says) || (c.outcome == Verifies) != (v.Says == c.says) {
			t.Errorf("%s: %s, %q", name, v.Outcome, v.Says)
		}
	}
}

// rowsBudget is the budget of walkSpec.
const rowsBudget = "{rho: 2, split: {tables: 1/2, rows: 1/2}}"

// TestLossAboveTheGuaranteeIsFound holds plans against guarantees that promise a
// little more than their mechanisms give.
func TestLossAboveTheGuaranteeIsFound(t *testing.T) {
	for _, c := range []struct {
		budget string
		change func(*compiled.Compiled)
		says   string
	}{
		{"{epsilon: 1}", func(p *compiled.Compiled) { p.Guarantee.Epsilon = "999/1000" }, "more than the ε"},
		{"{epsilon: 1}", func(p *compiled.Compiled) { p.Cost.Epsilon = amountOf("1/2") }, "more than the ε"},
		{"{epsilon: 1}", func(p *compiled.Compiled) { p.Guarantee.Definition = "renyi" }, "definition"},
		{"{rho: 1/8}", func(p *compiled.Compiled) { p.Guarantee.Rho = "1249/10000" }, "more than the ρ"},
		{"{rho: 1/8}", func(p *compiled.Compiled) { p.Guarantee.Equivalents[1].Epsilon *= 0.999 }, "δ ="},
		{"{epsilon: 1, delta: 1e-9}", func(p *compiled.Compiled) { p.Guarantee.Epsilon = "99/100" }, "δ ="},
		// At so large a δ the noise is Gaussian, whose ε depends on δ.
		{"{epsilon: 1, delta: 1/10}", func(p *compiled.Compiled) { p.Guarantee.Delta = "9/100" }, "δ ="},
		{"{epsilon: 1, delta: 1e-9}", func(p *compiled.Compiled) { p.Measurements = append(p.Measurements, p.Measurements[0]) }, "more than the ρ"},
		{rowsBudget, func(p *compiled.Compiled) { p.Guarantee.Rho = "1999/1000" }, "more than the ρ"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic = append(p.Synthetic, p.Synthetic[0]) }, "more than the ρ"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Rounds++ }, "more than the block"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Select.Parameter = amountOf("2") }, "more than the block"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Noise.Parameter = amountOf("1") }, "more than the block"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Select.Kind = budget.PermuteAndFlip }, "are chosen by"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Block.Parameter = nil }, "param must be positive"},
	} {
		text := strings.Replace(tripSpec, "{epsilon: 1,", strings.TrimSuffix(c.budget, "}")+",", 1)
		if c.budget == rowsBudget {
			text = walkSpec
		}
		path := filepath.Join(t.TempDir(), "release.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Load(context.Background(), SpecFile{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if says, err := (&verifier{plan: p}).checkLoss(t.Context()); err != nil {
			t.Errorf("%s: %v", c.budget, err)
		} else if c.budget != "{epsilon: 1}" && !strings.Contains(says, "second") {
			t.Errorf("%s: %s", c.budget, says)
		}
		c.change(p)
		_, err = (&verifier{plan: p}).checkLoss(t.Context())
		var bad *published.Fault
		if !errors.As(err, &bad) || !strings.Contains(bad.Says, c.says) {
			t.Errorf("%s, changed: %v, want %q", c.budget, err, c.says)
		}
	}
}

// rewritten publishes the release anew into a folder of its own, after a change to
// what it is made from: every file is derived as the program derives it.
func (o auditable) rewritten(t *testing.T, change func(*verifier, *[]report.Module)) string {
	t.Helper()
	v := o.read(t)
	built := modules()
	change(v, &built)
	dir := filepath.Join(t.TempDir(), "trips")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Derive(t.Context(), dir, v.sealed, *v.record, published.Manifest{}, built); err != nil {
		t.Fatal(err)
	}
	return dir
}

// read is the release as far as it must be read to be made again.
func (o auditable) read(t *testing.T) *verifier {
	t.Helper()
	v := &verifier{place: o.place, out: &Verification{}, damaged: map[string]bool{}}
	for _, check := range []func() (string, error){
		func() (string, error) { return v.checkManifest(t.Context()) },
		func() (string, error) { return v.checkPlan(t.Context()) },
		func() (string, error) { return v.checkMeasurements(t.Context()) },
		func() (string, error) { return v.checkDebit(t.Context()) },
	} {
		if _, err := check(); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

func TestOtherModulesAreNamed(t *testing.T) {
	o := publish(t)
	place := o.rewritten(t, func(_ *verifier, built *[]report.Module) { (*built)[0].Version = "v9.9.9" })
	told(t, verifies(t, place, VerifyOptions{}).Unchecked, "this program was built from others")
}

func TestOtherSoftwareIsNamed(t *testing.T) {
	o := publish(t)
	place := o.rewritten(t, func(*verifier, *[]report.Module) {})
	version := strings.TrimPrefix(Software, "dprelease ")
	for _, name := range []string{published.ManifestFile, published.BillFile} {
		text, err := os.ReadFile(filepath.Join(place, name))
		if err != nil {
			t.Fatal(err)
		}
		older := strings.NewReplacer(Software, "dprelease 0.0.9", `"version": "`+version+`"`, `"version": "0.0.9"`, "dprelease@"+version, "dprelease@0.0.9").Replace(string(text))
		if older == string(text) {
			t.Fatalf("%s does not name the software", name)
		}
		if err := os.WriteFile(filepath.Join(place, name), []byte(older), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Verify(t.Context(), place, VerifyOptions{})
	if Classify(err).Exit != verdict.ExitVerify {
		t.Fatal(err)
	}
	for _, c := range v.Checks {
		if c.Name == "republished" && !strings.Contains(c.Says, "bill of materials") && !strings.Contains(c.Says, "published by dprelease 0.0.9") && c.State != NotDone {
			t.Errorf("%+v", c)
		}
	}
}

func TestFoldersAndKeysThatAreNone(t *testing.T) {
	o := publish(t)
	for name, c := range map[string]struct {
		place   string
		options VerifyOptions
	}{
		"no folder": {filepath.Join(o.dir, "nowhere"), VerifyOptions{}},
		"a file":    {o.public, VerifyOptions{}},
		"no key":    {o.place, VerifyOptions{Trust: o.export}},
		"no export": {o.place, VerifyOptions{Export: filepath.Join(o.dir, "nowhere")}},
	} {
		if v, err := Verify(t.Context(), c.place, c.options); Classify(err).Exit != verdict.ExitSpec {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
	}
	refused(t, o.dir, VerifyOptions{}, published.ManifestFile, "missing")
}

// A link to a folder, like one to the newest release, is that folder; the outcome
// names it as it was asked for.
func TestALinkToAFolderVerifies(t *testing.T) {
	o := publish(t)
	latest := filepath.Join(o.dir, "latest")
	if err := os.Symlink(o.place, latest); errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no links here")
	} else if err != nil {
		t.Fatal(err)
	}
	if v := verifies(t, latest, VerifyOptions{Trust: o.public, Export: o.export}); v.Folder != latest {
		t.Errorf("verified %s", v.Folder)
	}
	if err := os.WriteFile(filepath.Join(o.place, "more"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	refused(t, latest, VerifyOptions{Trust: o.public}, "more", "not listed")
	if _, err := Verify(t.Context(), latest, VerifyOptions{}); err == nil || !strings.HasPrefix(err.Error(), latest+" ") {
		t.Errorf("%v, want %s named", err, latest)
	}
}
