package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
)

// A revision publishes the same measurements beside the publication that it
// replaces, and costs nothing.
func TestRevision(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	opt.Revision = Revision{Number: 2, Reason: "clearer labels"}
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	sealed := MeasuredFolder(opt.Out, "trips")
	if _, err := Publish(t.Context(), sealed, opt); ending.Of(err).Exit != verdict.ExitSpec {
		t.Errorf("a revision of nothing: %v", err)
	}
	first := optionsOf(o, "out")
	before, err := Publish(t.Context(), sealed, first)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is there already
		if _, err := Publish(t.Context(), sealed, opt); err != nil {
			t.Fatal(err)
		}
	}
	m, err := published.ReadManifest(filepath.Join(opt.Out, "trips-r2"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(before.Folder, published.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256(text)
	if m.Revision != 2 || m.Reason != "clearer labels" || m.Replaces == nil || m.Replaces.Folder != "trips" ||
		m.Replaces.ManifestSHA256 != hex.EncodeToString(hash[:]) {
		t.Errorf("manifest %+v, replaces %+v", m, m.Replaces)
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits", n)
	}
	for name, r := range map[string]Revision{
		"no reason": {Number: 3}, "two lines": {Number: 3, Reason: "a\nb"}, "a gap": {Number: 4, Reason: "x"},
		"a reason without a number": {Reason: "x"}, "a negative number": {Number: -1},
		"a long reason":  {Number: 3, Reason: strings.Repeat("x", 501)},
		"a blank reason": {Number: 3, Reason: " "}, "a reason with an escape": {Number: 3, Reason: "x\u009b8m"},
		"a reason that turns": {Number: 3, Reason: "x\u202e"},
	} {
		opt.Revision = r
		if _, err := Publish(t.Context(), sealed, opt); ending.Of(err).Exit != verdict.ExitSpec {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Another draw under the same name is no revision.
func TestARevisionIsOfTheSameDraw(t *testing.T) {
	a, b := releasetest.Trips(t), releasetest.Trips(t)
	if _, err := Run(t.Context(), a.Plan, optionsOf(a, "out")); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), b.Plan, optionsOf(b, "out")); err != nil {
		t.Fatal(err)
	}
	opt := optionsOf(a, "out")
	opt.Revision, opt.Ledger = Revision{Number: 2, Reason: "x"}, ""
	if _, err := Publish(t.Context(), MeasuredFolder(optionsOf(b, "out").Out, "trips"),
		opt); ending.Of(err).Exit != verdict.ExitSpec || !strings.Contains(err.Error(), "other measurements") {
		t.Errorf("exit %d, %v", ending.Of(err).Exit, err)
	}
}

// The manifest is signed where the office has a key, also afterwards; but not for
// what was debited in a ledger that the key does not sign.
func TestManifestsAreSigned(t *testing.T) {
	o := releasetest.Trips(t)
	path := filepath.Join(o.Dir, "office")
	public, err := sign.Generate(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := sign.ReadKey(path)
	if err != nil {
		t.Fatal(err)
	}
	unsigned := optionsOf(o, "unsigned")
	if _, err := Run(t.Context(), o.Plan, unsigned); err != nil {
		t.Fatal(err)
	}
	unsigned.Ledger, unsigned.Office = "", &key
	_, err = Publish(t.Context(), MeasuredFolder(unsigned.Out, "trips"), unsigned)
	if ending.Of(err).Exit != verdict.ExitName || !strings.Contains(err.Error(), "does not sign") {
		t.Errorf("a release of an unsigned ledger: exit %d, %v", ending.Of(err).Exit, err)
	}
	o.Ledger = filepath.Join(o.Dir, "signed.db")
	keeper := account.Ledger{Path: o.Ledger, Office: &key}
	if _, err := keeper.Init(t.Context(), filepath.Join(o.Dir, "policy.yaml")); err != nil {
		t.Fatal(err)
	}
	opt := optionsOf(o, "out")
	opt.Office = &key
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	opt.Office = nil
	result, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.Office = &key
	for range 2 {
		if again, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt); err != nil || !again.AlreadyDone {
			t.Fatalf("%+v, %v", again, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(result.Folder, published.SignatureFile))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(result.Folder, published.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	if signature, err := published.ParseSignature(b, text); err != nil || signature.Signer != public {
		t.Fatalf("%+v, %v", signature, err)
	}
}

// With `resume: never` no key is ever written, and a run cut off after its debit
// loses its release.
func TestNeverResumed(t *testing.T) {
	o := releasetest.Trips(t)
	spec := strings.Replace(releasetest.TripSpec, "account: trips}", "account: trips, resume: never}", 1)
	if err := os.WriteFile(filepath.Join(o.Dir, "release.yaml"), []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.Plan, err = planfile.Load(context.Background(),
		planfile.Spec{Path: filepath.Join(o.Dir, "release.yaml")}); err != nil {
		t.Fatal(err)
	}
	opt := optionsOf(o, "out")
	l, charge, err := opt.openLedger(t.Context(), o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	st, err := state.Open(t.Context(), opt.StateDir(), stateNameOf(t, o, opt))
	if err != nil {
		t.Fatal(err)
	}
	a := &attempt{plan: o.Plan, options: opt, ledger: l, charge: charge}
	if _, err := a.runKey(st, ""); err != nil {
		t.Fatal(err)
	}
	if written, _ := filepath.Glob(filepath.Join(st.Dir, "*")); len(written) > 0 {
		t.Errorf("the state holds %v", written)
	}
	st.Close()
	charge.Commitment = strings.Repeat("1", 64)
	if _, err := l.Debit(t.Context(), charge); err != nil { // and cut off
		t.Fatal(err)
	}
	_, err = Measure(t.Context(), o.Plan, opt)
	var closed *ledger.Closed
	if !errors.As(err, &closed) {
		t.Errorf("measuring again: %v", err)
	}
	next := strings.Replace(spec, "release: trips", "release: trips-2", 1)
	if err := os.WriteFile(filepath.Join(o.Dir, "release.yaml"), []byte(next), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: filepath.Join(o.Dir, "release.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), p, opt); err != nil {
		t.Error(err)
	}
}

// What other software published is not called altered: a revision is what to make.
func TestPublishedByOtherSoftware(t *testing.T) {
	o := releasetest.Trips(t)
	opt := optionsOf(o, "out")
	result, err := Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(result.Folder, published.ManifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	older := strings.Replace(string(text), `"software": "`+published.Software+`"`, `"software": "dprelease 0.0.9"`, 1)
	if err := os.WriteFile(path, []byte(older), 0o644); err != nil {
		t.Fatal(err)
	}
	sealed := MeasuredFolder(opt.Out, "trips")
	if _, err := Publish(t.Context(), sealed, opt); ending.Of(err).Exit != verdict.ExitName ||
		!strings.Contains(err.Error(), "--revision 2") {
		t.Errorf("exit %d, %v", ending.Of(err).Exit, err)
	}
	opt.Revision = Revision{Number: 2, Reason: "newer software"}
	if _, err := Publish(t.Context(), sealed, opt); err != nil {
		t.Error(err)
	}
}
