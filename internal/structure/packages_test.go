package structure

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/dprelease/dprelease/"

// allowedImports lists, for every package, the packages of this module that it may import.
var allowedImports = map[string][]string{
	"spec": {"budget", "spec/language", "internal/canonical", "spec/expression", "spec/document", "spec/files",
		"spec/meaning", "spec/shape",
		"spec/domain"},
	"spec/domain":     {"spec/calendar", "spec/document", "spec/expression", "spec/files", "spec/language"},
	"spec/meaning":    {"spec/shape"},
	"spec/files":      {"internal/regular", "spec/document"},
	"spec/document":   {},
	"spec/shape":      {"internal/canonical", "spec/document"},
	"spec/calendar":   {},
	"spec/expression": {"spec/calendar"},
	"budget":          {},
	"budget/contour":  {"budget"},
	"budget/local":    {"budget"},
	"budget/ledger": {"internal/canonical", "budget", "internal/postgres", "internal/regular", "budget/sign",
		"spec/document", "spec/shape"},
	"internal/postgres":  {},
	"internal/noise":     {},
	"internal/screen":    {"budget"},
	"internal/parallel":  {},
	"internal/regular":   {},
	"internal/canonical": {},
	"budget/sign":        {"internal/keyfile"},
	"internal/keyfile":   {"internal/regular"},
	"internal/seal":      {"internal/keyfile"},
	"internal/tabulate":  {"internal/parallel"},
	"internal/testkit":   {},
	"internal/verdict":   {"internal/regular", "internal/screen"},
	"internal/durable":   {},
	"internal/draft": {"spec/files", "budget", "histogram/source", "internal/regular", "internal/verdict",
		"spec/domain"},
	"internal/show": {"internal/canonical", "budget", "internal/published", "internal/screen", "internal/verdict",
		"plan/statistic"},
	"internal/published": {"histogram/holder", "internal/canonical", "spec", "spec/domain", "spec/document", "budget",
		"budget/ledger",
		"internal/measured", "internal/regular", "internal/screen", "budget/sign", "internal/verdict", "plan",
		"report", "synth", "plan/compiled", "plan/statistic"},
	"plan": {"plan/boosting", "plan/design", "plan/counted", "plan/selection", "internal/canonical", "spec",
		"spec/domain", "budget", "budget/local", "plan/residual",
		"plan/attributes", "plan/hierarchy",
		"plan/limit", "plan/phrase", "plan/strategy", "plan/usefulness"},
	"plan/attributes": {"spec", "spec/domain"},
	"plan/adaptive":   {"plan/counted", "plan/selection", "budget", "plan", "plan/limit", "plan/phrase"},
	"plan/impossible": {"plan", "plan/attributes", "spec"},
	"plan/limit":      {},
	"plan/counted": {"spec/language", "budget", "plan/limit", "plan/residual", "spec", "spec/domain", "budget/local",
		"plan/hierarchy"},
	"plan/selection":  {"spec/language", "budget", "spec", "spec/domain"},
	"plan/statistic":  {"spec/language", "plan/counted", "budget", "plan", "plan/attributes", "spec"},
	"plan/phrase":     {"spec/language", "budget"},
	"plan/strategy":   {"budget", "plan/phrase"},
	"plan/tabulation": {"plan", "plan/attributes", "plan/limit", "spec"},
	"plan/template":   {"budget", "plan", "plan/strategy", "spec"},
	"plan/usefulness": {"plan/phrase"},
	"plan/workload": {"plan/boosting", "plan/counted", "plan/phrase", "plan/selection", "budget", "plan",
		"plan/residual", "spec",
		"spec/domain",
		"spec/document", "plan/attributes",
		"plan/impossible", "plan/limit", "plan/statistic", "plan/strategy"},
	"plan/fitting": {"budget", "plan", "plan/residual", "plan/workload", "spec", "spec/domain", "plan/attributes",
		"plan/impossible", "plan/limit", "plan/tabulation"},
	"plan/compiled": {"plan/boosting", "plan/counted", "plan/selection", "plan/statistic", "budget", "plan",
		"plan/fitting",
		"plan/residual", "plan/workload", "spec", "spec/domain",
		"plan/adaptive", "plan/limit", "plan/strategy", "plan/usefulness"},
	"plan/optimise": {"plan/boosting", "plan/design", "plan/counted", "plan/selection", "budget", "plan",
		"plan/residual", "plan/workload", "spec", "spec/domain",
		"spec/document", "plan/attributes",
		"plan/adaptive", "plan/limit", "plan/phrase", "plan/statistic", "plan/strategy", "plan/tabulation"},
	"plan/describe": {"spec/language", "plan/counted", "plan/selection", "spec/files", "budget", "plan",
		"plan/compiled", "plan/optimise", "plan/boosting", "plan/design",
		"plan/residual",
		"plan/workload", "spec", "spec/domain", "plan/attributes", "plan/adaptive", "plan/statistic", "plan/strategy",
		"plan/hierarchy", "plan/phrase", "plan/tabulation", "plan/template", "plan/usefulness", "budget/local"},
	"plan/planner": {"spec/language", "plan/counted", "plan/selection", "budget", "budget/contour", "internal/parallel",
		"internal/progress", "plan",
		"plan/compiled",
		"plan/describe", "plan/fitting", "plan/optimise", "plan/residual", "plan/workload", "spec", "spec/document",
		"plan/attributes", "plan/adaptive", "plan/impossible", "plan/phrase", "plan/statistic", "plan/strategy",
		"plan/tabulation", "plan/template", "plan/usefulness", "budget/local", "plan/hierarchy"},
	"plan/internal/plantest": {"budget", "plan", "plan/compiled", "plan/describe", "plan/fitting", "plan/planner",
		"plan/residual",
		"plan/workload", "spec", "plan/adaptive"},
	"plan/ranges":    {},
	"plan/tree":      {},
	"plan/design":    {},
	"plan/hierarchy": {"budget/local", "plan/residual"},
	"plan/boosting":  {"budget", "plan/design"},
	"plan/residual":  {"plan/ranges"},
	"internal/measured": {"plan/selection", "internal/canonical", "plan", "internal/regular", "plan/compiled",
		"plan/adaptive", "spec", "budget", "plan/counted"},
	"histogram": {"histogram/internal/boosted", "histogram/internal/moments", "internal/canonical", "plan/boosting",
		"histogram/holder", "plan/counted", "plan/selection", "budget", "budget/ledger", "histogram/internal/answer",
		"internal/measured", "internal/noise",
		"internal/parallel", "plan", "plan/adaptive", "plan/compiled", "plan/impossible", "plan/planner", "spec",
		"spec/domain"},
	"histogram/internal/units": {"histogram/internal/bounding", "histogram/internal/temporary"},
	"histogram/scan": {"histogram/internal/units", "plan/counted", "plan/selection", "histogram",
		"histogram/internal/answer",
		"histogram/internal/bounding",
		"histogram/internal/encoding", "histogram/source", "internal/memory", "internal/noise", "internal/parallel",
		"internal/progress", "internal/tabulate", "plan", "plan/attributes", "plan/impossible", "plan/residual", "spec",
		"spec/domain"},
	"internal/memory":              {"plan/selection", "histogram/source", "plan", "plan/adaptive", "plan/compiled"},
	"histogram/internal/bounding":  {"histogram/internal/temporary", "internal/noise", "internal/parallel"},
	"histogram/internal/moments":   {"internal/parallel", "plan/design"},
	"histogram/internal/temporary": {},
	"histogram/engine": {"histogram", "histogram/internal/answer", "histogram/scan", "histogram/source",
		"internal/noise", "internal/parallel", "internal/postgres", "internal/progress", "internal/regular", "plan",
		"spec",
		"spec/document", "spec/domain", "spec/files"},
	"histogram/respondent": {"budget", "histogram/respondent/client", "histogram/source", "internal/canonical",
		"internal/measured", "internal/memory", "internal/parallel", "plan", "spec", "spec/document", "spec/files",
		"internal/verdict", "plan/counted", "plan/selection", "budget/local"},
	"histogram/respondent/client": {},
	"histogram/holder":            {"histogram/internal/answer", "internal/canonical", "internal/keyfile"},
	"examples/local/page":         {"histogram/respondent/client"},
	"histogram/internal/encoding": {"histogram/source", "spec", "spec/domain", "spec/expression"},
	"histogram/internal/histogramtest": {"plan/selection", "plan/counted", "budget", "internal/measured",
		"internal/noise", "plan",
		"plan/compiled", "histogram/respondent/client",
		"plan/planner", "spec", "spec/domain", "synth"},
	"histogram/internal/answer":  {"internal/tabulate", "internal/parallel"},
	"histogram/internal/boosted": {"histogram/internal/answer", "internal/parallel", "plan/boosting", "plan/design"},
	"histogram/evaluate": {"spec/language", "plan/counted", "plan/selection", "spec", "spec/domain", "budget/ledger",
		"internal/noise",
		"plan", "plan/compiled",
		"plan/describe", "plan/planner", "histogram", "histogram/internal/answer", "histogram/internal/encoding",
		"histogram/scan",
		"internal/memory", "internal/parallel", "internal/progress", "plan/attributes", "plan/impossible",
		"plan/statistic", "histogram/internal/boosted", "histogram/internal/moments", "plan/boosting", "plan/design",
		"synth/model"},
	"internal/progress": {},
	"histogram/source": {"histogram/internal/temporary", "spec/files", "spec", "spec/domain", "spec/document",
		"internal/regular"},
	"synth": {"plan/counted", "plan/selection", "plan/statistic", "spec", "spec/domain", "budget", "plan",
		"plan/residual", "internal/measured", "synth/graphical",
		"plan/compiled", "plan/describe", "plan/fitting", "plan/adaptive", "plan/impossible", "plan/tabulation",
		"internal/parallel", "internal/progress", "budget/local", "plan/hierarchy"},
	"synth/graphical": {"budget", "internal/parallel", "internal/progress"},
	"synth/model":     {"budget", "plan/boosting", "plan/design", "spec/domain"},
	"report": {"spec/language", "plan/selection", "internal/canonical", "internal/screen", "budget", "plan", "synth",
		"plan/compiled", "plan/describe",
		"report/internal/words",
		"plan/usefulness"},
	"report/internal/words":   {"budget", "internal/screen", "plan/describe", "spec/domain"},
	"report/internal/shading": {"spec/language", "report/internal/words"},
	"report/notes": {"spec/language", "plan/selection", "plan/statistic", "spec", "budget", "plan", "plan/describe",
		"report",
		"report/internal/words",
		"plan/usefulness"},
	"report/maker": {"synth/model", "spec/language", "plan/counted", "plan/selection", "plan/statistic", "spec",
		"spec/domain", "budget", "plan", "synth",
		"plan/compiled", "plan/describe", "report",
		"report/internal/shading", "report/internal/words", "report/notes", "plan/attributes", "plan/strategy",
		"plan/tabulation", "plan/usefulness"},
	"report/page": {"spec/language", "plan/statistic", "spec", "budget", "plan", "synth", "internal/screen",
		"plan/compiled",
		"plan/describe", "report", "report/internal/shading", "report/internal/words", "report/notes",
		"plan/usefulness"},
	"internal/derive": {"plan/attributes", "plan/boosting", "plan/design", "synth/model", "spec/language",
		"plan/selection",
		"internal/canonical",
		"budget", "budget/ledger", "internal/measured",
		"internal/memory",
		"internal/parallel", "internal/progress", "internal/published", "internal/screen", "plan", "plan/compiled",
		"plan/describe", "report", "report/maker", "report/page", "spec", "spec/domain", "synth", "plan/statistic"},
	"internal/verify": {"internal/canonical", "plan/selection", "budget", "budget/contour", "budget/ledger",
		"internal/derive",
		"internal/durable", "internal/measured", "internal/memory", "internal/progress", "internal/published",
		"internal/regular", "internal/screen",
		"budget/sign", "internal/verdict", "plan", "plan/compiled", "plan/describe", "plan/planner", "report", "spec",
		"plan/adaptive", "plan/template"},
	"internal/diff": {"spec/language", "plan/selection", "plan/statistic", "budget", "internal/published",
		"internal/screen",
		"internal/verdict", "plan",
		"plan/compiled", "plan/describe", "spec/domain"},
	"spec/language":     {"budget"},
	"internal/interval": {"budget", "internal/screen", "plan", "plan/compiled", "synth"},
	"internal/query": {"plan/selection", "budget", "internal/interval", "internal/measured", "internal/published",
		"internal/screen",
		"internal/verdict", "plan", "plan/attributes", "plan/compiled", "spec", "spec/domain", "synth",
		"plan/statistic"},
	"internal/trace": {"spec/language", "plan/selection", "budget", "internal/interval", "internal/measured",
		"internal/published",
		"internal/screen",
		"internal/verdict", "plan", "plan/compiled", "plan/describe", "spec", "spec/domain", "spec/document", "synth",
		"plan/statistic"},
	"internal/publishedtest": {"internal/release", "internal/releasetest"},
	"internal/releasetest": {"internal/canonical", "budget", "budget/ledger", "histogram/source",
		"internal/published", "budget/sign", "plan/compiled", "plan/planner", "spec"},
	"internal/account": {"plan", "budget/ledger", "internal/durable", "budget/sign", "internal/verdict", "spec/files",
		"internal/published", "internal/regular", "internal/screen", "plan/compiled", "plan/template"},
	"internal/diagnostics": {"histogram/scan", "histogram/source", "internal/durable", "spec/files"},
	"internal/predict": {"histogram/source", "internal/regular", "internal/screen", "internal/verdict", "spec",
		"spec/domain",
		"spec/files",
		"synth/model"},
	"internal/evaluate": {"plan/selection", "internal/canonical", "budget", "budget/ledger", "histogram/evaluate",
		"histogram/engine", "histogram/scan",
		"histogram/source", "internal/account", "internal/diagnostics", "internal/durable", "internal/memory",
		"internal/noise", "internal/progress", "internal/published",
		"internal/verdict", "plan", "plan/compiled", "plan/statistic", "spec", "spec/domain", "plan/boosting",
		"synth/model"},
	"internal/ending": {"budget/ledger", "histogram/scan", "histogram/source", "internal/memory", "internal/verdict",
		"spec/document"},
	"internal/planfile": {"histogram/source", "internal/durable", "internal/progress", "internal/regular",
		"internal/verdict", "plan",
		"plan/compiled", "plan/planner", "report/page", "spec", "spec/document", "spec/files"},
	"internal/state": {"budget", "budget/ledger", "internal/account", "internal/durable", "internal/noise",
		"internal/verdict", "spec/files"},
	"internal/release": {"plan/boosting", "synth/model", "histogram/holder", "internal/canonical", "budget",
		"budget/ledger", "histogram", "histogram/engine", "histogram/scan", "histogram/source", "internal/account",
		"internal/derive", "internal/diagnostics", "internal/durable", "internal/measured", "internal/memory",
		"internal/noise", "internal/progress", "internal/published", "internal/regular", "internal/screen",
		"budget/sign", "internal/verdict", "plan", "plan/compiled", "plan/planner", "spec", "spec/files", "synth",
		"plan/adaptive", "plan/template", "internal/planfile", "internal/state", "internal/keyfile", "internal/seal",
		"histogram/respondent"},
	"cmd/dprelease": {"histogram/holder", "internal/seal", "spec/language", ".", "plan/selection",
		"internal/canonical", "spec", "spec/document", "budget", "budget/ledger",
		"internal/screen",
		"budget/sign", "plan", "internal/progress", "report", "report/page", "internal/published", "internal/diff",
		"internal/diagnostics", "internal/draft", "internal/evaluate", "internal/query", "internal/verify",
		"internal/predict", "internal/show", "internal/trace", "internal/release", "internal/verdict", "plan/describe",
		"plan/planner",
		"plan/compiled", "plan/strategy", "internal/account", "internal/ending", "internal/planfile",
		"internal/state", "docs", "histogram/respondent", "histogram/respondent/client", "internal/durable",
		"internal/measured", "histogram/source", "synth/model"},
	"docs": {},
	".": {"histogram/holder", "internal/ending", "internal/planfile", "internal/progress", "internal/release",
		"budget/sign",
		"internal/verify",
		"plan/compiled", "spec"},
	"internal/structure":         {},
	"internal/structure/figures": {},
	"internal/bench": {"plan/compiled", "spec", "budget", "plan", "budget/ledger", "internal/noise", "histogram",
		"histogram/scan",
		"plan/planner", ".", "internal/predict", "internal/testkit", "synth/model", "plan/tree"},
	"examples/embed":               {"."},
	"examples/quickstart/generate": {},
	"examples/adult/learn":         {},
	"examples/adult/prepare":       {},
	"examples/earnings/generate":   {},
	"examples/households/generate": {},
	"examples/local/generate":      {},
	"examples/federated/generate":  {},
	"examples/clinic/generate":     {},
	"examples/clinic/compare":      {},
	"examples/census/generate":     {"budget", "internal/parallel"},
}

// forbidden lists imports: a path that a package may not import, together with the paths below it, and why. It applies
// also to the packages below pkg; "" is every package. Below histogram are the packages that read rows (scan,
// evaluate, source and internal/bounding, internal/encoding) and exact answers (internal/answer).
var forbidden = []struct{ pkg, path, why string }{
	{"", "github.com/apache/arrow/go/v17/parquet", "parquet-go reads and writes Parquet"},
	{"internal/tabulate", "math/rand", "tables are exact"},
	{"internal/noise", "math/rand", "noise comes from the keyed streams"},
	{"histogram", "math/rand", "bounding comes from the keyed streams"},
	{"plan", "time", "a plan depends on the spec alone"},
	{"plan", "os", "a plan depends on the spec alone"},
	{"synth", "time", "publishing depends on the sealed folder alone"},
	{"synth", "os", "publishing depends on the sealed folder alone"},
	{"report", "time", "publishing depends on the sealed folder alone"},
	{"report", "os", "publishing depends on the sealed folder alone"},
}

// The pure packages depend on their input alone: neither they nor a package of ours
// that they reach may ask the machine or touch confidential data. (Packages that
// they reach open files by name and compute dates, so "os" and "time" are
// forbidden to the pure packages themselves only, above.)
var (
	pure = []string{"plan", "plan/adaptive", "plan/attributes", "plan/boosting", "plan/compiled",
		"plan/counted", "plan/selection",
		"plan/describe", "plan/design", "plan/fitting",
		"plan/impossible", "plan/limit", "plan/optimise", "plan/planner", "plan/statistic", "plan/strategy",
		"plan/tabulation", "plan/template", "plan/usefulness", "plan/workload", "synth", "synth/model",
		"report", "report/notes", "report/maker", "report/page"}
	machine      = []string{"runtime", "net", "math/rand", "crypto/rand", "os/user", "syscall"}
	confidential = []string{"histogram", "histogram/evaluate", "histogram/internal/answer",
		"histogram/engine", "histogram/internal/boosted", "histogram/internal/bounding",
		"histogram/internal/encoding",
		"histogram/internal/temporary", "histogram/scan", "histogram/source", "internal/noise", "internal/release",
		"budget/ledger"}
)

// The trusted core holds exact counts until their noise is added: what it draws is a function of the keyed streams and
// of what it was handed. So it reads and writes no file, and has no clock and no other source of randomness. Whoever
// reads rows and ids may: [forbidden] says what they may not.
var (
	core    = []string{"histogram", "histogram/internal/answer", "histogram/internal/boosted"}
	outside = []string{"crypto/rand", "hash/maphash", "math/rand", "net", "os", "path/filepath", "syscall", "time",
		"histogram/engine", "histogram/internal/bounding", "histogram/internal/encoding",
		"histogram/internal/temporary",
		"histogram/scan", "histogram/source"}
)

// importGraph lists what each package imports, without its tests.
type importGraph map[string][]string

// readImports reads the imports of all packages.
func readImports(t *testing.T) importGraph {
	t.Helper()
	all := importGraph{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		imported := all[pkg]
		for _, i := range f.Imports {
			imported = append(imported, strings.Trim(i.Path.Value, `"`))
		}
		all[pkg] = imported
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// reach returns a package and all packages of this module that it imports, directly or not.
func (all importGraph) reach(pkg string) []string {
	reached := []string{pkg}
	for i := 0; i < len(reached); i++ {
		for _, imported := range all[reached[i]] {
			if other, ours := strings.CutPrefix(imported, module); ours && !slices.Contains(reached, other) {
				reached = append(reached, other)
			}
		}
	}
	return reached
}

// breaks returns the imports that the lists above do not allow, sorted.
func (all importGraph) breaks() []string {
	var out []string
	for pkg, paths := range all {
		allowed, ok := allowedImports[pkg]
		if !ok {
			out = append(out, "there is no package "+pkg)
		}
		for _, imported := range paths {
			if other, ours := strings.CutPrefix(imported, module); ours && !slices.Contains(allowed, other) {
				out = append(out, pkg+" may not import "+other)
			}
			for _, f := range forbidden {
				if (f.pkg == "" || isBelow(pkg, f.pkg)) && isBelow(imported, f.path) {
					out = append(out, pkg+" may not import "+imported+": "+f.why)
				}
			}
		}
	}
	for _, pkg := range core {
		for _, imported := range all[pkg] {
			if slices.ContainsFunc(outside, func(path string) bool {
				return isBelow(strings.TrimPrefix(imported, module), path)
			}) {
				out = append(out, pkg+" may not import "+imported+": it is the trusted core")
			}
		}
	}
	for _, pkg := range pure {
		for _, reached := range all.reach(pkg) {
			if slices.Contains(confidential, reached) {
				out = append(out, pkg+" may not reach "+reached+": it is for what may be published")
			}
			for _, imported := range all[reached] {
				if reached == "internal/regular" && imported == "syscall" {
					continue // the flag with which it opens files, and nothing of the machine
				}
				if slices.ContainsFunc(machine, func(path string) bool { return isBelow(imported, path) }) {
					out = append(out, pkg+" may not reach "+imported+" (by "+reached+"): it depends on its input alone")
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isBelow reports whether an import path is a given one or one under it.
func isBelow(imported, path string) bool {
	return imported == path || strings.HasPrefix(imported, path+"/")
}

func TestPackages(t *testing.T) {
	atRoot(t)
	all := readImports(t)
	for _, b := range all.breaks() {
		t.Error(b)
	}
	for pkg := range allowedImports {
		if _, ok := all[pkg]; !ok {
			t.Errorf("package %s is empty", pkg)
		}
	}
}

// TestBreaksAreNoticed adds one import at a time that the lists forbid.
func TestBreaksAreNoticed(t *testing.T) {
	atRoot(t)
	for _, c := range []struct{ pkg, imported, want string }{
		{"spec", module + "plan", "spec may not import plan"},
		{"attic", "fmt", "there is no package attic"},
		{"histogram/source", "math/rand/v2",
			"histogram/source may not import math/rand/v2: bounding comes from the keyed streams"},
		{"histogram/scan", "math/rand",
			"histogram/scan may not import math/rand: bounding comes from the keyed streams"},
		{"histogram", "os", "histogram may not import os: it is the trusted core"},
		{"histogram", module + "histogram/scan",
			"histogram may not import " + module + "histogram/scan: it is the trusted core"},
		{"histogram/internal/answer", "time", "histogram/internal/answer may not import time: it is the trusted core"},
		{"plan", module + "histogram/scan", "plan may not reach histogram/scan: it is for what may be published"},
		{"plan", "os", "plan may not import os: a plan depends on the spec alone"},
		{"report", "net/http", "report may not reach net/http (by report): it depends on its input alone"},
		{"report", module + "histogram", "report may not import histogram"},
		{"budget", "os/user", "plan may not reach os/user (by budget): it depends on its input alone"},
		{"internal/measured", "crypto/rand",
			"report may not reach crypto/rand (by internal/measured): it depends on its input alone"},
		{"internal/measured", module + "histogram",
			"synth may not reach internal/noise: it is for what may be published"},
	} {
		all := readImports(t)
		all[c.pkg] = append(all[c.pkg], c.imported)
		if got := all.breaks(); !slices.Contains(got, c.want) {
			t.Errorf("%s with %s: got %q, want %q", c.pkg, c.imported, got, c.want)
		}
	}
}

// TestDependencies checks that docs/dependencies.md has a line for each direct requirement of go.mod.
func TestDependencies(t *testing.T) {
	atRoot(t)
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	direct := 0
	for line := range strings.Lines(string(mod)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || !strings.Contains(fields[0], "/") || !strings.HasPrefix(fields[1], "v") {
			continue
		}
		direct++
		if !strings.Contains(string(page), "`"+fields[0]+"`") {
			t.Errorf("docs/dependencies.md has no line for %s", fields[0])
		}
	}
	if direct == 0 {
		t.Error("go.mod has no direct requirement")
	}
}
