package release

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/parquet-go/parquet-go"
)

// rowsOfMicrodata is how many rows the microdata of the walks have in a published folder.
func rowsOfMicrodata(t *testing.T, place string) int64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(place, "microdata", "t.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(strings.NewReader(string(b)), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return f.NumRows()
}

// Another number of rows is drawn from the same measurements for nothing, first or as a revision, and a reader's
// verification draws as many.
func TestPublishAnotherNumberOfRows(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	sealed := MeasuredFolder(opt.Out, "trips")
	opt.Rows = []string{"41"}
	first, err := Publish(t.Context(), sealed, opt)
	if err != nil || rowsOfMicrodata(t, first.Folder) != 41 {
		t.Fatalf("%+v, %v", first, err)
	}
	assertVerifies(t, first.Folder, verify.Options{})
	m, err := published.ReadManifest(first.Folder)
	if err != nil || !maps.Equal(m.Rows, published.RequestedRows{"t": 41}) {
		t.Errorf("the manifest says %v (%v)", m.Rows, err)
	}
	report, err := os.ReadFile(filepath.Join(first.Folder, "report.md"))
	if err != nil || !strings.Contains(string(report),
		"Whoever published them asked for this number of rows, instead of the noisy total of table t.") {
		t.Errorf("the report does not say so (%v)", err)
	}

	// The same again is done already; another number is not this publication, but a revision of it.
	opt.Rows = []string{"t=41"}
	if again, err := Publish(t.Context(), sealed, opt); err != nil || !again.AlreadyDone {
		t.Errorf("again: %+v, %v", again, err)
	}
	opt.Rows = nil
	_, err = Publish(t.Context(), sealed, opt)
	wantsCode(t, "without", err, verdict.ExitName,
		"was published with --rows t=41, and this asks for as many rows of microdata as the plan says")
	opt.Rows, opt.Revision = []string{"17"}, Revision{Number: 2, Reason: "fewer rows for a course"}
	second, err := Publish(t.Context(), sealed, opt)
	if err != nil || rowsOfMicrodata(t, second.Folder) != 17 {
		t.Fatalf("%+v, %v", second, err)
	}
	assertVerifies(t, second.Folder, verify.Options{})
	opt.Rows, opt.Revision.Number = nil, 3
	third, err := Publish(t.Context(), sealed, opt)
	if err != nil || rowsOfMicrodata(t, third.Folder) < 240 { // see TestMicrodataArePublished
		t.Fatalf("%+v, %v", third, err)
	}
	// A publication that asks for nothing has the bytes that it has without the ones before it.
	other := optionsOf(o, "other")
	plain, err := Publish(t.Context(), sealed, other)
	if err != nil {
		t.Fatal(err)
	}
	a, b := releasetest.Contents(t, plain.Folder), releasetest.Contents(t, third.Folder)
	for name, text := range a {
		if name != published.ManifestFile && b[name] != text {
			t.Errorf("%s differs", name)
		}
	}
	if strings.Contains(a[published.ManifestFile], `"rows"`) || o.Debits(t) != 1 {
		t.Errorf("%d debits; manifest %s", o.Debits(t), a[published.ManifestFile])
	}
}

// A manifest that asks for another number, or for rows of another table, is found out.
func TestTamperedNumbersOfRowsAreFound(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	opt.Rows = []string{"41"}
	if _, err := Measure(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	r, err := Publish(t.Context(), MeasuredFolder(opt.Out, "trips"), opt)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(r.Folder, published.ManifestFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rows       published.RequestedRows
		file, says string
	}{
		{published.RequestedRows{"t": 42}, "README.txt", "is not what the plan and the measurements lead to"},
		{nil, "README.txt", "is not what the plan and the measurements lead to"},
		{published.RequestedRows{"t": 0}, published.ManifestFile, "of no table or number"},
		{published.RequestedRows{"t": 1e9 + 1}, published.ManifestFile, "of no table or number"},
		{published.RequestedRows{"t, truly": 41}, published.ManifestFile, "of no table or number"},
		{published.RequestedRows{"t": 41, "u": 5}, published.ManifestFile, "that the plan does not have"},
	} {
		rewriteManifest(t, path, whole, func(m *published.Manifest) { m.Rows = c.rows })
		assertRefused(t, r.Folder, verify.Options{}, c.file, c.says)
	}
}

// rewriteManifest writes a manifest that was changed.
func rewriteManifest(t *testing.T, path string, whole []byte, change func(*published.Manifest)) {
	t.Helper()
	var m published.Manifest
	if err := json.Unmarshal(whole, &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	b, err := canonical.Indented(m)
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Numbers that cannot be are refused with what to write instead, before anything is written.
func TestRowsAsked(t *testing.T) {
	two := &plan.Plan{Name: "trips", Synthetic: []plan.Synthetic{{Table: "a"}, {Table: "b", Rows: 50}}}
	one := &plan.Plan{Name: "trips", Synthetic: []plan.Synthetic{{Table: "a"}}}
	counted := &plan.Plan{Name: "trips", Synthetic: one.Synthetic,
		Consistent: []plan.Consistency{{Table: "a", Way: plan.Tabulated}}}
	for _, c := range []struct {
		plan  *compiled.Compiled
		flags []string
		want  string
	}{
		{compiled.Of(one), nil, ""},
		{compiled.Of(one), []string{"5"}, "--rows a=5"},
		{compiled.Of(one), []string{"1000000000"}, "--rows a=1000000000"},
		{compiled.Of(two), []string{"b=7", "a=5"}, "--rows a=5 --rows b=7"},
		{compiled.Of(two), []string{"b=50"}, ""},
	} {
		got, err := published.ParseRows(c.plan, c.flags)
		if err != nil || len(got) == 0 != (c.want == "") || len(got) > 0 && got.String() != c.want {
			t.Errorf("%q: %s, %v", c.flags, got, err)
		}
		if got.Validate() != nil || got.Fits(c.plan) != nil {
			t.Errorf("%q: %s is not taken back", c.flags, got)
		}
	}
	for _, c := range []struct {
		plan  *compiled.Compiled
		flags []string
		says  string
	}{
		{compiled.Of(one), []string{"0"}, "expected a whole number of rows from 1 to"},
		{compiled.Of(one), []string{"-1"}, "expected a whole number of rows from 1 to"},
		{compiled.Of(one), []string{"1000000001"}, "expected a whole number of rows from 1 to"},
		{compiled.Of(one), []string{"1e3"}, "expected a whole number of rows from 1 to"},
		{compiled.Of(one), []string{"a="}, "expected a whole number of rows from 1 to"},
		{compiled.Of(one), []string{"b=5"}, "write one of a"},
		{compiled.Of(one), []string{"5", "a=5"}, "a second time"},
		{compiled.Of(two), []string{"5"}, "write --rows a=5"},
		{compiled.Of(&plan.Plan{Name: "trips"}), []string{"5"}, "has no microdata"},
		{compiled.Of(counted), []string{"5"}, "other rows would change them"},
		{compiled.Of(counted), []string{"a=5"}, "other rows would change them"},
	} {
		_, err := published.ParseRows(c.plan, c.flags)
		wantsCode(t, strings.Join(c.flags, " "), err, verdict.ExitSpec, c.says)
	}
}
