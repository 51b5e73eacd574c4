package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// tablesSpec asks for microdata of the same table that are made of its marginals, twice.
var tablesSpec = tablesInstead(releasetest.WalkSpec)

// tablesInstead asks for rows that are made of three columns together, into two files.
func tablesInstead(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "budget:"):
			line = "budget: {rho: 1}\n"
		case strings.HasPrefix(line, "marginals:"):
			line = "marginals: {all: {by: [mode, hour, way]}}\n"
		case strings.HasPrefix(line, "synthetic:"):
			line = "synthetic: {t: {method: tables, files: 2, by: [mode, hour, way]}}\n"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// Microdata of tables cost nothing in addition to these, have no rounds, and are published in the plan's number of
// files; a reader's verification makes all of them again, and finds one that was put into the place of another.
func TestMicrodataOfTablesArePublished(t *testing.T) {
	o := releasetest.With(t, tablesSpec, releasetest.WalkPolicy, releasetest.WalkRows())
	opt := optionsOf(o, "out")
	if o.Plan.Adapts() || len(o.Plan.Mechanisms()) != len(o.Plan.Measurements) {
		t.Fatalf("the plan has rounds: %+v", o.Plan.Synthetic)
	}
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	r, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt)
	if err != nil {
		t.Fatal(err)
	}
	assertVerifies(t, r.Folder, verify.Options{})
	if _, err := os.Stat(filepath.Join(r.Folder, "rounds")); err == nil {
		t.Error("there are rounds")
	}
	one, two := filepath.Join(r.Folder, "microdata", "t-1.parquet"), filepath.Join(r.Folder, "microdata", "t-2.parquet")
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(two)
	if err != nil || string(a) == string(b) {
		t.Fatalf("both files are the same (%v)", err)
	}
	if again, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt); err != nil || !again.AlreadyDone {
		t.Errorf("again: %+v, %v", again, err)
	}
	report, err := os.ReadFile(filepath.Join(r.Folder, "report.md"))
	for _, says := range []string{"Paid: nothing", "in a single model (a junction tree)",
		"how much chance the drawing of rows adds", "deviation between files", "| a table |"} {
		if err != nil || !strings.Contains(string(report), says) {
			t.Errorf("the report does not say %q (%v)", says, err)
		}
	}
	if err := os.WriteFile(two, a, 0o600); err != nil {
		t.Fatal(err)
	}
	assertRefused(t, r.Folder, verify.Options{}, "microdata/t-2.parquet", "SHA-256")
}

// What was measured by a method that chooses is fitted anew, with the tables, for nothing; the manifest says so, and a
// reader's verification makes the same, and finds a manifest that says otherwise.
func TestPublishByAnotherMethod(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	opt.Methods = []string{"tables"}
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	sealed := MeasuredFolder(opt.Out, "trips")
	r, err := Publish(t.Context(), sealed, opt)
	if err != nil || o.Debits(t) != 1 {
		t.Fatalf("%d debits, %v", o.Debits(t), err)
	}
	assertVerifies(t, r.Folder, verify.Options{})
	report, err := os.ReadFile(filepath.Join(r.Folder, "report.md"))
	if err != nil || !strings.Contains(string(report),
		"asked for this model instead of a model by method mst") {
		t.Errorf("the report does not say so (%v)", err)
	}
	opt.Methods = nil
	_, err = Publish(t.Context(), sealed, opt)
	wantsCode(t, "without", err, verdict.ExitName,
		"was published with --method t=tables, and this asks for the method of the plan")
	path := filepath.Join(r.Folder, published.ManifestFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		methods    published.RequestedMethods
		file, says string
	}{
		{nil, "README.txt", "is not what the plan and the measurements lead to"},
		{published.RequestedMethods{"t": "gum"}, published.ManifestFile, "of no table or method"},
		{published.RequestedMethods{"t": plan.AIM}, published.ManifestFile, "that nothing was measured for"},
		{published.RequestedMethods{"t": plan.MST}, published.ManifestFile, "by a method that it has"},
		{published.RequestedMethods{"u": plan.Tables}, published.ManifestFile, "that the plan does not have"},
	} {
		rewriteManifest(t, path, whole, func(m *published.Manifest) { m.Methods = c.methods })
		assertRefused(t, r.Folder, verify.Options{}, c.file, c.says)
	}
}

// Methods that cannot be are refused with what to write instead, before anything is written.
func TestMethodsAsked(t *testing.T) {
	two := &plan.Plan{Name: "trips", Synthetic: []plan.Synthetic{{Table: "a", Method: plan.AIM},
		{Table: "b", Method: plan.Tables}}}
	for _, c := range []struct {
		flags      []string
		want, says string
	}{
		{flags: nil},
		{flags: []string{"a=tables"}, want: "--method a=tables"},
		{flags: []string{"a=aim", "b=tables"}},
		{flags: []string{"tables"}, says: "write --method a=tables"},
		{flags: []string{"a=mst"},
			says: "method mst needs rounds of its own, and what was measured is by method aim: write tables or aim"},
		{flags: []string{"b=aim"}, says: "write tables"},
		{flags: []string{"a=gum"}, says: `there is no method "gum": write tables or aim`},
		{flags: []string{"a=tables", "a=tables"}, says: "a second time"},
		{flags: []string{"c=tables"}, says: "write one of a, b"},
	} {
		got, err := published.ParseMethods(compiled.Of(two), c.flags)
		if c.says != "" {
			wantsCode(t, strings.Join(c.flags, " "), err, verdict.ExitSpec, c.says)
			continue
		}
		if err != nil || len(got) == 0 != (c.want == "") || len(got) > 0 && got.String() != c.want ||
			got.Validate() != nil ||
			got.Fits(compiled.Of(two)) != nil {
			t.Errorf("%q: %v, %v", c.flags, got, err)
		}
	}
}
