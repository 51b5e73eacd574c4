package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/template"
)

// templateOffice is an office with a spec of quarters, the options of its runs, and a function that plans a quarter by
// options and reports whether the plan was made from that of an earlier run.
func templateOffice(t *testing.T) (o releasetest.Office, opt Options, load func(opt Options,
	quarter string) (*compiled.Compiled,
	bool)) {
	const policy = "account: trips\nprotects: trip\nneighbours: add-remove\ncap: {epsilon: 100}\n"
	o = releasetest.WithParams(t, map[string]string{"release.yaml": quarterSpec, "policy.yaml": policy,
		"t.csv": "mode,hour\nwalk,7\nride,8\n"}, map[string]string{"quarter": "2026q1"})
	return o, optionsOf(o, "out"), func(opt Options, quarter string) (*compiled.Compiled, bool) {
		t.Helper()
		var log bytes.Buffer
		opt.Log = slog.New(slog.NewTextHandler(&log, nil))
		p, err := opt.Load(t.Context(), quarterOf(o, quarter))
		if err != nil {
			t.Fatal(err)
		}
		return p, strings.Contains(log.String(), "plan made from the plan of an earlier run")
	}
}

// quarter is the spec of an office for a quarter.
func quarterOf(o releasetest.Office, quarter string) planfile.Spec {
	return planfile.Spec{Path: filepath.Join(o.Dir, "release.yaml"), Params: map[string]string{"quarter": quarter}}
}

// withSum is a plan as it is kept.
func withSum(text []byte) []byte {
	sum := sha256.Sum256(text)
	return append([]byte(hex.EncodeToString(sum[:])+"\n"), text...)
}

// A later run of the same spec with another value of its parameter has the plan of the first, and every byte as if it
// were planned anew; where the file is damaged, or of another build, or the spec is another, it is planned.
func TestALaterRunHasTheTemplate(t *testing.T) {
	o, opt, load := templateOffice(t)
	folder := filepath.Join(opt.StateDir(), templatesFolder)
	first, _ := load(opt, "2026q1")
	if there, err := durable.Exists(folder); there || err != nil {
		t.Fatal("something is kept before anything was measured")
	}
	if _, err := Run(t.Context(), first, opt); err != nil {
		t.Fatal(err)
	}
	kept, err := published.Files(folder)
	if err != nil || len(kept) != 1 {
		t.Fatalf("%v, %v are kept", kept, err)
	}
	path := filepath.Join(folder, kept[0])
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second, used := load(opt, "2026q2")
	planned, err := planfile.Load(t.Context(), quarterOf(o, "2026q2"))
	if err != nil || !used || !bytes.Equal(second.Bytes(), planned.Bytes()) {
		t.Errorf("%v; made from that of an earlier run: %v; not the plan that is made anew", err, used)
	}

	put := func(b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(append(b[:len(b):len(b)], ' '))
	if _, used := load(opt, "2026q3"); used {
		t.Error("a damaged template is used")
	}
	put(b[:100])
	if _, used := load(opt, "2026q3"); used {
		t.Error("half a template is used")
	}
	if _, err := Run(t.Context(), second, opt); err != nil { // which keeps its own in the place of that
		t.Fatal(err)
	}
	if _, used := load(opt, "2026q3"); !used {
		t.Error("a damaged template stays")
	}
	for _, mode := range []os.FileMode{0o755, 0o700} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		if _, used := load(opt, "2026q3"); used != (mode == 0o700) {
			t.Errorf("in a folder of mode %o a template is used: %v", mode, used)
		}
	}
	own := programHash
	programHash = func() string { return "another build" }
	if _, used := load(opt, "2026q3"); used {
		t.Error("the template of another build is used")
	}
	programHash = own
	if err := os.WriteFile(quarterOf(o, "").Path,
		[]byte(strings.Replace(quarterSpec, "{epsilon: 1}", "{epsilon: 2}", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, used := load(opt, "2026q3"); used {
		t.Error("the template of another budget is used")
	}
}

// A plan with hardly any noise, put into the state directory as if a run had kept it, is not used; nor is one that was
// paid for from another ledger, or in practice.
func TestNoPlanIsTakenThatTheLedgerDoesNotHold(t *testing.T) {
	o, opt, load := templateOffice(t)
	planted, err := compiled.Read(o.Plan.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range planted.Measurements {
		planted.Measurements[i].Mechanism.Parameter = big.NewRat(1, 20)
	}
	path := opt.templateFile(o.Plan.Source.Params, template.Key(o.Plan.Release()))
	put := func(p *compiled.Compiled) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, withSum(p.Bytes()), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put(compiled.Of(planted.Plan()))
	for _, quarter := range []string{"2026q1", "2026q2"} {
		got, used := load(opt, quarter)
		if parameter := got.Measurements[0].Mechanism.Parameter; used ||
			parameter.Cmp(o.Plan.Measurements[0].Mechanism.Parameter) != 0 {
			t.Errorf("%s: the noise of a planted plan, %s, is used: %v", quarter, parameter.RatString(), used)
		}
	}
	put(o.Plan)
	if _, used := load(opt, "2026q2"); used {
		t.Error("a plan that was never debited is used")
	}
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	if _, used := load(opt, "2026q2"); !used {
		t.Error("a plan that was debited is not used")
	}
	other := opt
	other.Ledger = filepath.Join(o.Dir, "other.db")
	if _, err := (account.Ledger{Path: other.Ledger}).Init(t.Context(),
		filepath.Join(o.Dir, "policy.yaml")); err != nil {
		t.Fatal(err)
	}
	practice := opt
	practice.Ledger = ""
	for name, opt := range map[string]Options{"another ledger": other, "practice": practice} {
		if _, used := load(opt, "2026q2"); used {
			t.Errorf("%s: a plan is used that was not debited there", name)
		}
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
	left, err := published.Files(dir)
	if err != nil || strings.Join(left, " ") != "a.json b.json note.txt" {
		t.Errorf("%v, %v are left", left, err)
	}
}

// A build is known by its source where that is a commit without changes or a module, all of whose dependencies are as
// published.
func TestBuildsThatAreKnownByTheirSource(t *testing.T) {
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "1f2e"}, {Key: "vcs.modified", Value: "false"}}
	dependency := &debug.Module{Path: "example.org/d", Version: "v1.0.0", Sum: "h1:x"}
	for what, c := range map[string]struct {
		info debug.BuildInfo
		want bool
	}{
		"a module": {debug.BuildInfo{Main: debug.Module{Sum: "h1:y"}, Deps: []*debug.Module{dependency}}, true},
		"a commit": {debug.BuildInfo{Settings: commit}, true},
		"nothing":  {debug.BuildInfo{}, false},
		"changes": {debug.BuildInfo{Settings: []debug.BuildSetting{commit[0],
			{Key: "vcs.modified", Value: "true"}}}, false},
		"a work space": {debug.BuildInfo{Settings: commit,
			Deps: []*debug.Module{{Path: "example.org/d", Version: "(devel)"}}}, false},
		"another dependency": {debug.BuildInfo{Settings: commit,
			Deps: []*debug.Module{{Path: "example.org/d", Sum: "h1:x", Replace: dependency}}}, false},
	} {
		if got := isReproducible(&c.info); got != c.want {
			t.Errorf("%s: known by its source: %v", what, got)
		}
	}
}
