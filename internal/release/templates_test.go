package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/plan"
)

// A later run of the same spec with another value of its parameter has the plan of the first, and every byte as if it were planned
// anew; where the file is damaged, or of another build, or the spec is another, it is planned.
func TestALaterRunHasTheTemplate(t *testing.T) {
	const policy = "account: trips\nprotects: trip\nneighbours: add-remove\ncap: {epsilon: 100}\n"
	o := officeSet(t, map[string]string{"release.yaml": quarterSpec, "policy.yaml": policy, "t.csv": "mode,hour\nwalk,7\nride,8\n"}, map[string]string{"quarter": "2026q1"})
	opt := o.options("out")
	file := func(quarter string) SpecFile {
		return SpecFile{Path: filepath.Join(o.dir, "release.yaml"), Params: map[string]string{"quarter": quarter}}
	}
	load := func(quarter string) (got, planned *plan.Plan) {
		t.Helper()
		got, err := opt.Load(context.Background(), file(quarter))
		if err != nil {
			t.Fatal(err)
		}
		if planned, err = Load(context.Background(), file(quarter)); err != nil {
			t.Fatal(err)
		}
		return got, planned
	}
	templates := func() []string {
		found, err := filepath.Glob(filepath.Join(opt.stateDir(), "templates", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}

	first, _ := load("2026q1")
	if len(templates()) != 0 {
		t.Fatal("something is kept before anything was measured")
	}
	if _, err := Run(t.Context(), first, opt); err != nil {
		t.Fatal(err)
	}
	kept := templates()
	if len(kept) != 1 {
		t.Fatalf("%d templates are kept", len(kept))
	}
	b, err := os.ReadFile(kept[0])
	if err != nil {
		t.Fatal(err)
	}
	second, planned := load("2026q2")
	if !bytes.Equal(second.Bytes(), planned.Bytes()) {
		t.Error("not the plan that is made anew")
	}

	// What only a kept plan says shows whether it was taken.
	const mark = "taken from the template"
	marked := func(text []byte) []byte {
		p, err := plan.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Warnings = append(p.Warnings, mark)
		return p.Bytes()
	}
	withSum := func(text []byte) []byte {
		sum := sha256.Sum256(text)
		return append([]byte(hex.EncodeToString(sum[:])+"\n"), text...)
	}
	taken := func(quarter string) bool {
		got, _ := load(quarter)
		return strings.Contains(strings.Join(got.Warnings, "\n"), mark)
	}
	put := func(b []byte) {
		if err := os.WriteFile(kept[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := marked(b[65:])
	put(withSum(text))
	if !taken("2026q3") {
		t.Error("a template that is there is not used")
	}
	put(append(withSum(text), ' '))
	if taken("2026q3") {
		t.Error("a damaged template is used")
	}
	put(withSum(text)[:100])
	if taken("2026q3") {
		t.Error("half a template is used")
	}
	put(withSum(text))
	if err := os.Chmod(filepath.Dir(kept[0]), 0o755); err != nil {
		t.Fatal(err)
	}
	if taken("2026q3") {
		t.Error("a template that others can read is used")
	}
	if err := os.Chmod(filepath.Dir(kept[0]), 0o700); err != nil {
		t.Fatal(err)
	}
	own := build
	build = func() string { return "another build" }
	if taken("2026q3") {
		t.Error("the template of another build is used")
	}
	build = own
	if err := os.WriteFile(file("").Path, []byte(strings.Replace(quarterSpec, "{epsilon: 1}", "{epsilon: 2}", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if taken("2026q3") {
		t.Error("the template of another budget is used")
	}
}

// No more templates are kept than mostTemplates, those that were written last.
func TestOldTemplatesGo(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"c.json", "a.json", "b.json", "note.txt"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	removeOldest(dir, 2)
	left, err := files(dir)
	if err != nil || strings.Join(left, " ") != "a.json b.json note.txt" {
		t.Errorf("%v, %v are left", left, err)
	}
}
