package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/budget/sign"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/spec"
)

// Other words are a revision of the same measurements: without another debit, but not without the approval of those who
// approved the words before.
func TestOtherWordsAreARevision(t *testing.T) {
	o := publishedtest.SignTrips(t)
	before := *o.Plan.Release().Words
	words := before
	words.About.Title = "Trips by hour"
	write := func(name string, b []byte) string {
		path := filepath.Join(o.Dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	opt := publishedtest.SignedOptions(o)
	sealed := release.MeasuredFolder(opt.Out, "trips")
	opt.Words = write("other.words.json", words.Bytes())
	opt.Revision = release.Revision{Number: 2, Reason: "a title"}
	if _, err := release.Publish(t.Context(), sealed, opt); err == nil ||
		!strings.Contains(err.Error(), "the role methodologist approved other titles and labels") {
		t.Fatalf("words that nobody approved: %v", err)
	}
	anna, err := sign.ReadKey(filepath.Join(o.Dir, "anna"))
	if err != nil {
		t.Fatal(err)
	}
	approve := func(key sign.Key, plan, words string) {
		a := ledger.Approval{Plan: plan, Words: words, Role: "methodologist", Statement: "These words too."}.Signed(key)
		write("words.approval.json", a.Encode())
	}
	for name, sign := range map[string]func(){
		"the old words again": func() { approve(anna, o.Plan.Hash(), before.Hash()) },
		"another plan":        func() { approve(anna, strings.Repeat("0", 64), words.Hash()) },
		"another key":         func() { approve(o.Key, o.Plan.Hash(), words.Hash()) },
	} {
		sign()
		if _, err := release.Publish(t.Context(), sealed, opt); err == nil {
			t.Fatalf("%s: published", name)
		}
	}
	approve(anna, o.Plan.Hash(), words.Hash())
	r, err := release.Publish(t.Context(), sealed, opt)
	if err != nil {
		t.Fatal(err)
	}
	assertVerifies(t, r.Folder, Options{Trust: o.Public, Export: o.Export})
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits", n)
	}
	page, err := os.ReadFile(filepath.Join(r.Folder, "report.md"))
	if err != nil || !strings.Contains(string(page), "Trips by hour") {
		t.Errorf("the report does not have the title: %v", err)
	}
	// A later revision keeps the words, with their approval.
	later := publishedtest.SignedOptions(o)
	later.Revision = release.Revision{Number: 3, Reason: "newer pages"}
	if err := os.Remove(filepath.Join(o.Dir, "words.approval.json")); err != nil {
		t.Fatal(err)
	}
	if r, err = release.Publish(t.Context(), sealed, later); err != nil {
		t.Fatal(err)
	}
	assertVerifies(t, r.Folder, Options{Trust: o.Public, Export: o.Export})
	if page, err = os.ReadFile(filepath.Join(r.Folder, "report.md")); err != nil ||
		!strings.Contains(string(page), "Trips by hour") {
		t.Errorf("the next report does not have the title: %v", err)
	}
	// The plan with other words is not a new release.
	plan, err := o.Plan.WithWords(&words)
	if err != nil {
		t.Fatal(err)
	}
	again := publishedtest.SignedOptions(o)
	if _, err := release.Run(t.Context(), plan, again); err == nil || !strings.Contains(err.Error(), "--words") {
		t.Errorf("a run with other words: %v", err)
	}
	if err := os.RemoveAll(sealed); err != nil {
		t.Fatal(err)
	}
	if _, err := release.Run(t.Context(), plan, again); err == nil || !strings.Contains(err.Error(), "--words") {
		t.Errorf("a run with other words and no sealed folder: %v", err)
	}
}

// Words that are not those of the release, or that nobody approved, do not verify.
func TestTamperWords(t *testing.T) {
	o := publishedtest.SignTrips(t)
	words := *o.Plan.Release().Words
	words.About.Title = "Not approved"
	foreign := words
	foreign.Labels = map[string]map[string]map[string]string{"t": {"mode": {"swim": "Swimming"}}}
	for name, c := range map[string]struct {
		text []byte
		says string
	}{
		"other words":        {words.Bytes(), "role methodologist approved other words"},
		"a foreign category": {foreign.Bytes(), `mode has no category "swim"`},
		"not in its form":    {append(words.Bytes(), '\n'), "edited by hand"},
		"another format":     {[]byte(`{"format":"dprelease.words/9"}`), "dprelease.words/9"},
		"no words":           {nil, "not the words of a release"},
		"an unknown key":     {[]byte(`{"format":"dprelease.words/1","more":1}`), "not the words of a release"},
		"a parameter of none": {(&spec.Words{Format: spec.WordsFormat, About: spec.About{Title: "${x}"}}).Bytes(),
			"${x} has no value"},
	} {
		dir := o.CopiedFolder(t)
		if err := os.WriteFile(filepath.Join(dir, measured.WordsFile), c.text, 0o644); err != nil {
			t.Fatal(err)
		}
		assertRefused(t, dir, Options{}, measured.WordsFile, "") // by the manifest
		releasetest.Relist(t, dir, measured.WordsFile, c.text)
		v, err := Folder(t.Context(), dir, Options{})
		if err == nil {
			t.Errorf("%s: verifies", name)
			continue
		}
		found := false
		for _, check := range v.Checks {
			found = found || check.File == measured.WordsFile && strings.Contains(check.Says, c.says)
		}
		if !found {
			t.Errorf("%s: no check of %s says %q: %+v", name, measured.WordsFile, c.says, v.Checks)
		}
		if _, err := published.Open(dir); (err == nil) != (name == "other words") {
			t.Errorf("%s: opening says %v", name, err)
		}
	}
}
