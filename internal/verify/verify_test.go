package verify

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
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
)

func TestASignedReleaseVerifies(t *testing.T) {
	o := publishedtest.SignTrips(t)
	v := assertVerifies(t, o.Folder, Options{Trust: o.Public, Export: o.Export})
	for _, c := range v.Checks {
		if c.State != Passed {
			t.Errorf("%+v", c)
		}
	}
	fingerprint := o.Key.Public().Fingerprint()
	for _, what := range []string{"manifest.json", "entry of the debit", "role methodologist", "every entry of"} {
		assertListed(t, v.Signed, what)
	}
	assertListed(t, v.Signed, fingerprint+", the one in "+o.Public)
	assertListed(t, v.Recomputed, "seal of these very measurements")
	assertListed(t, v.Unchecked, "truly drew")
	assertListed(t, v.Unchecked, "no witness on another disk")
	if v.Marked != "RELEASE" || v.Release != "trips" {
		t.Errorf("%+v", v)
	}
	// With the public key alone, and with nothing.
	v = assertVerifies(t, o.Folder, Options{Trust: o.Public})
	assertListed(t, v.Unchecked, "--ledger-export")
	v = assertVerifies(t, o.Folder, Options{})
	assertListed(t, v.Signed, fingerprint+", which this folder itself names: compare it with the office's")
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
	o := publishedtest.SignTrips(t)
	r := releasetest.Record(t, o.Folder)
	approvals, err := json.Marshal(r.Approvals)
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Replace(r.Proof.Body, `,"approvals":`+string(approvals), "", 1)
	if body == r.Proof.Body {
		t.Fatalf("the entry does not hold %s: %s", approvals, body)
	}
	r.Proof.Body, r.Approvals = body, nil
	releasetest.Rehashed(t, &r)
	dir := forgedWith(t, o, r)
	v := assertVerifies(t, dir, Options{})
	if c := checkNamed(t, v, "approvals"); c.State != NotDone ||
		!strings.Contains(c.Says, "none in the ledger's entry") {
		t.Errorf("%+v", c)
	}
	assertListed(t, v.Unchecked, "that nobody had to approve it")
	assertRefused(t, dir, Options{Export: o.Export}, o.Export, "does not hold the debit of this release")

	v = assertVerifies(t, o.Folder, Options{Export: o.Export})
	if c := checkNamed(t, v, "ledger"); !strings.Contains(c.Says,
		"its accounts ask for the approval of role methodologist") {
		t.Errorf("%+v", c)
	}
	free := releasetest.Signed{Office: releasetest.Trips(t)}
	result, err := release.Run(t.Context(), free.Plan, publishedtest.Options(free.Office, "out"))
	if err != nil {
		t.Fatal(err)
	}
	export := filepath.Join(free.Dir, "export.jsonl")
	free.ExportTo(t, export)
	v = assertVerifies(t, result.Folder, Options{Export: export})
	if c := checkNamed(t, v, "ledger"); !strings.Contains(c.Says, "its accounts ask for no approval") {
		t.Errorf("%+v", c)
	}
	if strings.Contains(strings.Join(v.Unchecked, "\n"), "nobody had to approve") {
		t.Errorf("unchecked, though the export tells: %q", v.Unchecked)
	}
}

// TestApprovalsThatAParentAsksFor reads the policy above the account that is named.
func TestApprovalsThatAParentAsksFor(t *testing.T) {
	o := releasetest.Signed{Office: releasetest.Trips(t)}
	o.Ledger = filepath.Join(o.Dir, "tree.db")
	anna := releasetest.NewKey(t, filepath.Join(o.Dir, "anna"))
	for _, p := range []struct{ file, text string }{
		{"top.yaml", strings.Replace(releasetest.TripPolicy, "account: trips", "account: top", 1) +
			"approvals: {methodologist: [anna.pub]}\n"},
		{"below.yaml", releasetest.TripPolicy + "parent: top\n"},
	} {
		path := filepath.Join(o.Dir, p.file)
		if err := os.WriteFile(path, []byte(p.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (account.Ledger{Path: o.Ledger}).Init(t.Context(), path); err != nil {
			t.Fatal(err)
		}
	}
	p, path, err := planfile.Make(context.Background(), planfile.Spec{Path: filepath.Join(o.Dir, "release.yaml")},
		o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := (account.Ledger{}).Approve(t.Context(), p, path, account.Approval{Role: "methodologist",
		Key: anna}); err != nil {
		t.Fatal(err)
	}
	opt := publishedtest.Options(o.Office, "out")
	opt.Approvals = o.Dir
	result, err := release.Run(t.Context(), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	export := filepath.Join(o.Dir, "export.jsonl")
	o.ExportTo(t, export)
	v := assertVerifies(t, result.Folder, Options{Export: export})
	if c := checkNamed(t, v, "ledger"); !strings.Contains(c.Says,
		"its accounts ask for the approval of role methodologist") {
		t.Errorf("%+v", c)
	}
}

func TestAnotherKeyIsNotTrusted(t *testing.T) {
	o := publishedtest.SignTrips(t)
	releasetest.NewKey(t, filepath.Join(o.Dir, "other"))
	assertRefused(t, o.Folder, Options{Trust: filepath.Join(o.Dir, "other.pub")}, published.SignatureFile,
		"fingerprint")
}

// TestAnUnsignedLedgerIsNotTheOffices signs the manifest of a release that an
// unsigned ledger paid for: one with a fresh cap, that anybody can begin.
func TestAnUnsignedLedgerIsNotTheOffices(t *testing.T) {
	o := releasetest.Signed{Office: releasetest.Trips(t)}
	result, err := release.Run(t.Context(), o.Plan, publishedtest.Options(o.Office, "out"))
	if err != nil {
		t.Fatal(err)
	}
	key := releasetest.NewKey(t, filepath.Join(o.Dir, "key"))
	trust := Options{Trust: filepath.Join(o.Dir, "key.pub")}
	releasetest.SignManifest(t, result.Folder, key)
	assertRefused(t, result.Folder, trust, published.ProofFile, "nobody signs")
	trust.Export = filepath.Join(o.Dir, "export.jsonl")
	o.ExportTo(t, trust.Export)
	assertRefused(t, result.Folder, trust, published.ProofFile, "nobody signs")
	assertListed(t, assertVerifies(t, result.Folder, Options{}).Unchecked, "its entries are not signed")

	// Practice and rehearsals spend nothing of the office's.
	practice := publishedtest.Options(o.Office, "practice")
	practice.Ledger, practice.Office = "", &key
	if result, err = release.Run(t.Context(), o.Plan, practice); err != nil {
		t.Fatal(err)
	}
	assertVerifies(t, result.Folder, Options{Trust: trust.Trust})
}

func TestAnUnsignedReleaseSaysWhatThatMeans(t *testing.T) {
	o := releasetest.Trips(t)
	result, err := release.Run(t.Context(), o.Plan, publishedtest.Options(o, "out"))
	if err != nil {
		t.Fatal(err)
	}
	v := assertVerifies(t, result.Folder, Options{})
	assertListed(t, v.Signed, "Whoever can write in this folder may have made all of it")
	assertListed(t, v.Unchecked, "its entries are not signed")
	releasetest.NewKey(t, filepath.Join(o.Dir, "office"))
	assertRefused(t, result.Folder, Options{Trust: filepath.Join(o.Dir, "office.pub")}, published.SignatureFile,
		"not signed")
}

func TestPracticeRehearsalsAndRevisionsVerify(t *testing.T) {
	o := releasetest.Trips(t)
	practice := publishedtest.Options(o, "practice")
	practice.Ledger = ""
	result, err := release.Run(t.Context(), o.Plan, practice)
	if err != nil {
		t.Fatal(err)
	}
	v := assertVerifies(t, result.Folder, Options{})
	assertListed(t, v.Unchecked, "this is practice")
	if v.Marked != published.PracticeStatus {
		t.Errorf("marked %s", v.Marked)
	}
	place, err := release.Rehearse(t.Context(), o.Plan, 10, publishedtest.Options(o, "out"))
	if err != nil {
		t.Fatal(err)
	}
	v = assertVerifies(t, place, Options{})
	assertListed(t, v.Unchecked, "made-up data")
	if v.Marked != published.RehearsalStatus {
		t.Errorf("marked %s", v.Marked)
	}
	opt := publishedtest.Options(o, "out")
	if _, err := release.Run(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	opt.Revision = release.Revision{Number: 2, Reason: "clearer labels"}
	revised, err := release.Publish(t.Context(), release.MeasuredFolder(opt.Out, "trips"), opt)
	if err != nil {
		t.Fatal(err)
	}
	v = assertVerifies(t, revised.Folder, Options{})
	assertListed(t, v.Unchecked, `why revision 2 was made ("clearer labels")`)
	if v.Revision != 2 {
		t.Errorf("revision %d", v.Revision)
	}
}

func TestTheExportMustHoldTheRelease(t *testing.T) {
	o := publishedtest.SignTrips(t)
	for name, change := range map[string]struct {
		keep int // lines of the export, from its beginning
		says string
	}{
		"an export that ends early": {3, "missing"},
		"no export":                 {0, ""},
	} {
		b, err := os.ReadFile(o.Export)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(o.Dir, "cut.jsonl")
		lines := strings.SplitAfter(string(b), "\n")
		if err := os.WriteFile(path, []byte(strings.Join(lines[:change.keep], "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if change.keep == 0 {
			if _, err := Folder(t.Context(), o.Folder, Options{Export: path}); ending.Of(err).Exit != verdict.ExitSpec {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		assertRefused(t, o.Folder, Options{Export: path}, path, change.says)
	}
	other := publishedtest.SignTrips(t)
	assertRefused(t, o.Folder, Options{Export: other.Export}, other.Export,
		"is of another ledger, which another key or none signs: it does not hold the debit of this release")
	assertRefused(t, o.Folder, Options{Trust: o.Public, Export: other.Export}, other.Export, "fingerprint")
}

func TestAnUnsignedExportMayBeAnybodys(t *testing.T) {
	o := releasetest.Signed{Office: releasetest.Trips(t)}
	result, err := release.Run(t.Context(), o.Plan, publishedtest.Options(o.Office, "out"))
	if err != nil {
		t.Fatal(err)
	}
	export := filepath.Join(o.Dir, "export.jsonl")
	o.ExportTo(t, export)
	assertListed(t, assertVerifies(t, result.Folder, Options{Export: export}).Unchecked,
		"that the export is the office's")
}

// TestAPlanOfAnotherMaking verifies a release whose plan is canonical and not the
// planner's: edited, or of another version.
func TestAPlanOfAnotherMaking(t *testing.T) {
	o := releasetest.Trips(t)
	o.Plan.Measurements[0].Mechanism.Parameter.SetString("1/7")
	o.Plan = compiled.Of(o.Plan.Plan())
	place := filepath.Join(o.Dir, "out", "trips")
	if err := os.MkdirAll(place, 0o755); err != nil {
		t.Fatal(err)
	}
	releasetest.Remanifest(t, place, o.Plan, ledger.Record{}, published.Manifest{},
		map[string][]byte{"plan.json": o.Plan.Bytes()})
	assertRefused(t, place, Options{}, "plan.json", "cannot be recomputed by this version ("+published.Software+")")
	b, err := os.ReadFile(filepath.Join(place, published.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(place, published.ManifestFile),
		bytes.Replace(b, []byte(published.Software), []byte("dprelease 0.0.9"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, place, Options{}, "plan.json", "published by dprelease 0.0.9: verify it with that version")
}

// withdraw marks the release as withdrawn in the ledger, and exports that to path.
func withdraw(t *testing.T, o releasetest.Signed, path string) {
	t.Helper()
	l, err := ledger.OpenExisting(t.Context(), o.Ledger, ledger.OpenOptions{Office: &o.Key})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Withdraw(t.Context(), "trips", "trips", "wrong hours"), l.Close()); err != nil {
		t.Fatal(err)
	}
	o.ExportTo(t, path)
}

// TestAWithdrawnReleaseIsCalledSo wants an exit code of its own and the withdrawal as the last word, also where the
// export came with no key; and what does not verify is no better for being withdrawn.
func TestAWithdrawnReleaseIsCalledSo(t *testing.T) {
	o := publishedtest.SignTrips(t)
	export := filepath.Join(o.Dir, "later.jsonl")
	withdraw(t, o, export)
	for _, options := range []Options{{Trust: o.Public, Export: export}, {Export: export}} {
		v, err := Folder(t.Context(), o.Folder, options)
		if ending.Of(err).Exit != 8 || v.Outcome != WithdrawnByOffice || v.Withdrawn == nil ||
			v.Withdrawn.Reason != "wrong hours" {
			t.Fatalf("exit %d, %v: %+v", ending.Of(err).Exit, err, v)
		}
		first := o.Folder + " verifies. But THE OFFICE HAS WITHDRAWN THIS RELEASE on "
		if options.Trust == "" {
			first = o.Folder + " is consistent in itself. This does not show who measured it, "
		}
		if !strings.HasPrefix(v.Says, first) ||
			!strings.Contains(v.Says, ". But THE OFFICE HAS WITHDRAWN THIS RELEASE on ") ||
			!strings.HasSuffix(v.Says, ": wrong hours") {
			t.Errorf("%q", v.Says)
		}
	}
	if v := assertVerifies(t, o.Folder, Options{Trust: o.Public, Export: o.Export}); v.Withdrawn != nil {
		t.Errorf("%+v, where the export is from before", v.Withdrawn)
	}
	dir := o.CopiedFolder(t)
	if err := os.Truncate(filepath.Join(dir, "README.txt"), 0); err != nil {
		t.Fatal(err)
	}
	v, err := Folder(t.Context(), dir, Options{Trust: o.Public, Export: export})
	if ending.Of(err).Exit != verdict.ExitVerify || v.Outcome != DoesNotVerify ||
		!strings.Contains(v.Says, "README.txt") ||
		!strings.HasSuffix(v.Says, ": wrong hours") {
		t.Errorf("exit %d: %q", ending.Of(err).Exit, v.Says)
	}
}

// TestAnOlderExportAccusesNobody verifies a release with an export from before its debit.
func TestAnOlderExportAccusesNobody(t *testing.T) {
	o := publishedtest.SignTrips(t)
	b, err := os.ReadFile(o.Export)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	var first struct{ Hash string }
	if err := json.Unmarshal([]byte(lines[1]), &first); err != nil {
		t.Fatal(err)
	}
	older := filepath.Join(o.Dir, "older.jsonl")
	text := lines[0] + lines[1] + `{"head":"` + first.Hash + `","entries":1}` + "\n"
	if err := os.WriteFile(older, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Folder(t.Context(), o.Folder, Options{Trust: o.Public, Export: older})
	var u *Unverified
	if !errors.As(err, &u) || !strings.HasPrefix(u.Says, "is an older copy of the ledger") ||
		strings.Contains(u.Says, "altered") ||
		!strings.Contains(u.Says, "ask the office for a newer export") {
		t.Errorf("%v", err)
	}
}

// TestAnExportFromBeforeTheEndAccusesNobody verifies a release with exports that hold its debit and not its end: one
// that was made while it was measured, and one of a release that was given up.
func TestAnExportFromBeforeTheEndAccusesNobody(t *testing.T) {
	o := publishedtest.SignTrips(t)
	b, err := os.ReadFile(o.Export)
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
	early := filepath.Join(o.Dir, "early.jsonl")
	text := strings.Join(lines[:at+1], "") + fmt.Sprintf("{\"head\":%q,\"entries\":%d}\n", debit.Hash, at)
	if err := os.WriteFile(early, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, o.Folder, Options{Trust: o.Public, Export: early}, early,
		"is an older copy of the ledger: it holds the debit of this release and ends")
	assertRefused(t, o.Folder, Options{Trust: o.Public, Export: early}, early, "ask the office for a newer export")
}

// TestAFolderIsNamedAsItIs verifies and reads folders whose names could pass for words of a verdict, or command a
// terminal.
func TestAFolderIsNamedAsItIs(t *testing.T) {
	o := publishedtest.SignTrips(t)
	for name, quoted := range map[string]string{
		"x\x1b[2J\nr verifies.": `"` + o.Dir + `/x\x1b[2J\nr verifies."`,
		"r verifies. It":        `"` + o.Dir + `/r verifies. It"`,
	} {
		dir := filepath.Join(o.Dir, name)
		if err := os.CopyFS(dir, os.DirFS(o.Folder)); err != nil {
			t.Skipf("no such names here: %v", err)
		}
		if v := assertVerifies(t, dir, Options{Trust: o.Public}); v.Says != quoted+" verifies." {
			t.Errorf("%q", v.Says)
		}
		if err := os.Remove(filepath.Join(dir, "README.txt")); err != nil {
			t.Fatal(err)
		}
		_, err := Folder(t.Context(), dir, Options{Trust: o.Public})
		if err == nil || !strings.HasPrefix(err.Error(), quoted+" does not verify: README.txt: is missing") {
			t.Errorf("%v", err)
		}
		if _, err := published.ReadReport(dir); err == nil ||
			!strings.HasPrefix(err.Error(), quoted+": README.txt is missing") {
			t.Errorf("%v", err)
		}
		if _, err := published.ReadReport(filepath.Join(dir, "none")); err == nil ||
			strings.ContainsAny(strings.SplitN(err.Error(), ": ", 2)[0], "\x1b\n") {
			t.Errorf("%q", err)
		}
	}
}

// TestNothingIsCalledVerifiedThatNobodySigned holds another's measurements, with the office's entry of the debit,
// against what the last line says of them: the folder is consistent, and nothing shows who measured it or that it was
// paid for.
func TestNothingIsCalledVerifiedThatNobodySigned(t *testing.T) {
	o := publishedtest.SignTrips(t)
	forged := rewritten(t, o, func(v *verifier, _ *[]report.Module) {
		cells := v.sealed.Measured[0].Values.Int64Values()
		made := array.NewInt64Builder(memory.DefaultAllocator)
		for range cells {
			made.Append(4711)
		}
		v.sealed.Measured[0].Values = made.NewInt64Array()
	})
	assertRefused(t, forged, Options{Trust: o.Public}, published.SignatureFile, "not signed")
	assertRefused(t, forged, Options{Export: o.Export}, o.Export, "other measurements")
	v := assertVerifies(t, forged, Options{})
	if strings.Contains(v.Says, "verifies") || v.Outcome != Consistent ||
		!strings.HasPrefix(v.Says,
			forged+" is consistent in itself. This does not show who measured it. Nobody has signed the folder, ") ||
		!strings.Contains(v.Says, "whether it was paid for") {
		t.Errorf("%q", v.Says)
	}
	for name, c := range map[string]struct {
		place   string
		options Options
		outcome Outcome
		says    string
	}{
		"signed and trusted": {o.Folder, Options{Trust: o.Public}, Verifies, o.Folder + " verifies."},
		"signed by some key": {o.Folder, Options{}, Consistent, "signed by the key with the fingerprint " +
			o.Key.Public().Fingerprint() + ", but nothing here shows whose key that is"},
		"with some export too": {o.Folder, Options{Export: o.Export}, Consistent,
			"nothing here shows whose key that is"},
		"unsigned, an export": {rewritten(t, o, func(*verifier, *[]report.Module) {}), Options{Export: o.Export},
			Consistent, "nothing here shows whose export it is"},
	} {
		if v := assertVerifies(t, c.place, c.options); v.Outcome != c.outcome || !strings.Contains(v.Says, c.says) ||
			(c.outcome == Verifies) != (v.Says == c.says) {
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
		{"{epsilon: 1, delta: 1e-9}",
			func(p *compiled.Compiled) { p.Measurements = append(p.Measurements, p.Measurements[0]) },
			"more than the ρ"},
		{rowsBudget, func(p *compiled.Compiled) { p.Guarantee.Rho = "1999/1000" }, "more than the ρ"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic = append(p.Synthetic, p.Synthetic[0]) },
			"more than the ρ"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Rounds++ }, "more than the block"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Select.Parameter = amountOf("2") },
			"more than the block"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Noise.Parameter = amountOf("1") },
			"more than the block"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Select.Kind = budget.PermuteAndFlip },
			"are chosen by"},
		{rowsBudget, func(p *compiled.Compiled) { p.Synthetic[0].Block.Parameter = nil }, "param must be positive"},
	} {
		text := strings.Replace(releasetest.TripSpec, "{epsilon: 1,", strings.TrimSuffix(c.budget, "}")+",", 1)
		if c.budget == rowsBudget {
			text = releasetest.WalkSpec
		}
		path := filepath.Join(t.TempDir(), "release.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := planfile.Load(context.Background(), planfile.Spec{Path: path})
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
func rewritten(t *testing.T, o releasetest.Signed, change func(*verifier, *[]report.Module)) string {
	t.Helper()
	v := readSealed(t, o)
	built := derive.Modules()
	change(v, &built)
	dir := filepath.Join(t.TempDir(), "trips")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := derive.Release(t.Context(), derive.NewFolder(dir), v.sealed, *v.record, published.Manifest{},
		built); err != nil {
		t.Fatal(err)
	}
	return dir
}

// readSealed is the release as far as it must be read to be made again.
func readSealed(t *testing.T, o releasetest.Signed) *verifier {
	t.Helper()
	v := &verifier{place: o.Folder, out: &Verification{}, damaged: map[string]bool{}}
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
	o := publishedtest.SignTrips(t)
	place := rewritten(t, o, func(_ *verifier, built *[]report.Module) { (*built)[0].Version = "v9.9.9" })
	assertListed(t, assertVerifies(t, place, Options{}).Unchecked, "this program was built from others")
}

func TestOtherSoftwareIsNamed(t *testing.T) {
	o := publishedtest.SignTrips(t)
	place := rewritten(t, o, func(*verifier, *[]report.Module) {})
	version := strings.TrimPrefix(published.Software, "dprelease ")
	for _, name := range []string{published.ManifestFile, published.BillFile} {
		text, err := os.ReadFile(filepath.Join(place, name))
		if err != nil {
			t.Fatal(err)
		}
		older := strings.NewReplacer(published.Software, "dprelease 0.0.9", `"version": "`+version+`"`,
			`"version": "0.0.9"`,
			"dprelease@"+version, "dprelease@0.0.9").Replace(string(text))
		if older == string(text) {
			t.Fatalf("%s does not name the software", name)
		}
		if err := os.WriteFile(filepath.Join(place, name), []byte(older), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Folder(t.Context(), place, Options{})
	if ending.Of(err).Exit != verdict.ExitVerify {
		t.Fatal(err)
	}
	for _, c := range v.Checks {
		if c.Name == "republished" && !strings.Contains(c.Says, "bill of materials") &&
			!strings.Contains(c.Says, "published by dprelease 0.0.9") && c.State != NotDone {
			t.Errorf("%+v", c)
		}
	}
}

func TestFoldersAndKeysThatAreNone(t *testing.T) {
	o := publishedtest.SignTrips(t)
	for name, c := range map[string]struct {
		place   string
		options Options
	}{
		"no folder": {filepath.Join(o.Dir, "nowhere"), Options{}},
		"a file":    {o.Public, Options{}},
		"no key":    {o.Folder, Options{Trust: o.Export}},
		"no export": {o.Folder, Options{Export: filepath.Join(o.Dir, "nowhere")}},
	} {
		if v, err := Folder(t.Context(), c.place, c.options); ending.Of(err).Exit != verdict.ExitSpec {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
	}
	assertRefused(t, o.Dir, Options{}, published.ManifestFile, "missing")
}

// A link to a folder, like one to the newest release, is that folder; the outcome
// names it as it was asked for.
func TestALinkToAFolderVerifies(t *testing.T) {
	o := publishedtest.SignTrips(t)
	latest := filepath.Join(o.Dir, "latest")
	if err := os.Symlink(o.Folder, latest); errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no links here")
	} else if err != nil {
		t.Fatal(err)
	}
	if v := assertVerifies(t, latest, Options{Trust: o.Public, Export: o.Export}); v.Folder != latest {
		t.Errorf("verified %s", v.Folder)
	}
	if err := os.WriteFile(filepath.Join(o.Folder, "more"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, latest, Options{Trust: o.Public}, "more", "not listed")
	if _, err := Folder(t.Context(), latest, Options{}); err == nil || !strings.HasPrefix(err.Error(), latest+" ") {
		t.Errorf("%v, want %s named", err, latest)
	}
}
