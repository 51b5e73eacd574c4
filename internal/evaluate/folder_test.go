package evaluate

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/diagnostics"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
)

// skipOnWindows skips a test of links: Windows takes a .. away before it follows them.
func skipOnWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the path means another folder on Windows")
	}
}

// listing is every path below a folder.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	all, err := published.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A path leads where the system takes it: each is written through here, and read at
// the place that its resolved form names.
func TestTruePath(t *testing.T) {
	skipOnWindows(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{"a/b/c", "work/inner"} {
		if err := os.MkdirAll(filepath.Join(dir, made), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"work/link": "../a/b", "work/far": dir + "/a/b/c", "work/none": "nowhere",
		"work/twice": "link/c/.."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "work"))
	for _, c := range []struct{ path, want string }{
		{"inner", "work/inner"},
		{"new", "work/new"},
		{"./new/", "work/new"},
		{"new/./more//", "work/new/more"},
		{"inner/../new", "work/new"},
		{"link", "a/b"},
		{"link/../new", "a/new"},
		{"link/../../new", "new"},
		{"link/c/../new", "a/b/new"},
		{"far/../new", "a/b/new"},
		{"twice/../new", "a/new"},
		{dir + "/work/far/../new", "a/b/new"},
		{"../a", "a"},
	} {
		got, err := resolvePath(c.path)
		if err != nil || got != filepath.Join(dir, c.want) {
			t.Errorf("%s leads to %s (%v), want %s", c.path, got, err, c.want)
			continue
		}
		if again, err := resolvePath(got); err != nil || again != got {
			t.Errorf("%s leads to %s (%v)", got, again, err)
		}
		if strings.Contains(c.path, "more") { // its parent is not there
			continue
		}
		mark := strings.TrimRight(c.path, "/") + ".mark" // what the system makes of it
		if name := filepath.Base(c.path); name == "new" {
			if err := os.WriteFile(mark, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if found, err := durable.Exists(got + ".mark"); err != nil || !found {
				t.Errorf("the system takes %s elsewhere than %s (%v)", c.path, got, err)
			}
		}
	}
	// Through a link to the working folder, a .. leads to the folder's own parent.
	if err := os.Symlink(dir+"/a/b/c", filepath.Join(dir, "here")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "here"))
	if got, err := resolvePath("../new"); err != nil || got != filepath.Join(dir, "a/b/new") {
		t.Errorf("../new leads to %s (%v)", got, err)
	}
	t.Chdir(filepath.Join(dir, "work"))
	for path, words := range map[string]string{
		"none":       "a link to nothing",
		"none/x":     "a link to nothing",
		"new/../x":   "is not there",
		"link/n/..":  "is not there",
		"x/../../up": "is not there",
	} {
		if got, err := resolvePath(path); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s leads to %s (%v)", path, got, err)
		}
	}
}

// No way of writing the path of a folder leads into a release: not by a .. behind a
// link, which the names alone would take for another folder.
func TestEvaluateIntoAReleaseBehindALink(t *testing.T) {
	skipOnWindows(t)
	o := releasetest.Trips(t)
	opt, place := publishedtest.Run(t, o)
	link := filepath.Join(o.Dir, "link")
	if err := os.Symlink(filepath.Join(place, "tables"), link); err != nil {
		t.Fatal(err)
	}
	before := listing(t, place)
	for _, out := range []string{link + "/../private", link + "/..", link + "/./../private/x"} {
		opt.Out = out
		wantsCode(t, out, evaluateTo(t.Context(), o.Plan, place, opt), verdict.ExitSpec, "manifest.json is in")
	}
	if after := listing(t, place); !slices.Equal(after, before) || o.Account(t, "trips").Comparisons != 0 {
		t.Errorf("the release holds %q, held %q; noted %d times", after, before, o.Account(t, "trips").Comparisons)
	}

	// A .. that leads out of it again is followed, and what is written is named by that folder.
	opt.Out = link + "/../../../private"
	folder, err := Evaluate(t.Context(), o.Plan, place, optionsFrom(opt))
	want, resolves := filepath.EvalSymlinks(filepath.Join(o.Dir, "private"))
	if err != nil || resolves != nil || folder != want {
		t.Errorf("written to %s (%v), want %s (%v)", folder, err, want, resolves)
	}
	readEvaluation(t, want)
}

// A folder that comes to lie in a release while its data are counted is written to no
// more, whether they are as they should be or not.
func TestEvaluateIntoAFolderThatIsReplaced(t *testing.T) {
	skipOnWindows(t)
	for _, broken := range []bool{false, true} {
		for name, replace := range map[string]func(private, inner string) error{
			"by a link": func(private, inner string) error {
				return errors.Join(os.Rename(private, private+".old"), os.Symlink(inner, private))
			},
			"above it, by a link": func(private, inner string) error {
				above := filepath.Dir(private)
				return errors.Join(os.Rename(above, above+".old"), os.Symlink(filepath.Dir(inner), above))
			},
			"above it, by a release": func(private, _ string) error {
				return os.WriteFile(filepath.Join(filepath.Dir(private), published.ManifestFile), nil, 0o600)
			},
			"by one that others can enter": func(private, _ string) error { return os.Chmod(private, 0o755) },
		} {
			o := releasetest.Trips(t)
			opt, place := publishedtest.Run(t, o)
			inner := filepath.Join(place, "private")
			opt.Out = filepath.Join(o.Dir, "above", "private")
			opt.Log = releasetest.LogThat(func(string) {
				if err := errors.Join(os.Mkdir(inner, 0o700), replace(opt.Out, inner)); err != nil {
					t.Error(err)
				}
				if broken {
					if err := os.WriteFile(filepath.Join(o.Dir, "t.csv"), []byte("mode,hour\nhover,7\n"),
						0o600); err != nil {
						t.Error(err)
					}
				}
			})
			err := evaluateTo(t.Context(), o.Plan, place, opt)
			var noted *Noted
			if ending.Of(err).Exit != verdict.ExitSpec || !errors.As(err, &noted) ||
				o.Account(t, "trips").Comparisons != 1 {
				t.Errorf("%s, broken %v: %v; noted %d times", name, broken, err, o.Account(t, "trips").Comparisons)
			}
			for _, path := range listing(t, o.Dir) {
				if base := filepath.Base(path); strings.Contains(base, "evaluate") ||
					strings.Contains(base, "diagnostics") {
					t.Errorf("%s, broken %v: wrote %s", name, broken, path)
				}
			}
		}
	}
}

// A folder that is a link into a release when it is to be made is refused before the note.
func TestNotedLooksAtTheFolderAgain(t *testing.T) {
	o := releasetest.Trips(t)
	opt, place := publishedtest.Run(t, o)
	link := filepath.Join(o.Dir, "link")
	if err := os.Symlink(place, link); err != nil {
		t.Fatal(err)
	}
	l, err := opt.Account().Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e, err := openEvaluable(place, o.Plan)
	if err != nil || e == nil {
		t.Fatal(err)
	}
	opt.Out = filepath.Join(link, "private")
	if _, err := (evaluator{optionsFrom(opt)}).noteInLedger(t.Context(), l,
		e.Record); ending.Of(err).Exit != verdict.ExitSpec ||
		o.Account(t, "trips").Comparisons != 0 {
		t.Errorf("%v; noted %d times", err, o.Account(t, "trips").Comparisons)
	}
	if found, err := durable.Exists(opt.Out); err != nil || found {
		t.Errorf("the folder stays in the release (%v)", err)
	}
}

// Data that break their contract after the note: the message says that it counts, and
// what was wrong with them goes once an evaluation is there.
func TestEvaluateAfterRefusedData(t *testing.T) {
	o := releasetest.Trips(t)
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	file := filepath.Join(o.Dir, "t.csv")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("mode,hour\nhover,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = evaluateTo(t.Context(), o.Plan, place, opt)
	wantsCode(t, "other values", err, verdict.ExitData, "The comparison is noted in the ledger and counts")
	if b, err := os.ReadFile(filepath.Join(opt.Out, diagnostics.File)); err != nil ||
		!strings.Contains(string(b), "hover") ||
		!strings.Contains(diagnostics.Hint(evaluateTo(t.Context(), o.Plan, place,
			opt)),
			diagnostics.File) {
		t.Fatalf("the details are %s (%v)", b, err)
	}
	// of a run that was cut off
	if err := os.WriteFile(filepath.Join(opt.Out, "diagnostics.making-1"), []byte("hover"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
		t.Fatal(err)
	}
	if left := listing(t, opt.Out); !slices.Equal(left, []string{EvaluationJSON, EvaluationPage}) ||
		readEvaluation(t, opt.Out).Comparison != 3 {
		t.Errorf("the folder holds %q", left)
	}
}

// A note on one account and none on the next is told too: the first one counts.
func TestNotedOnOneAccount(t *testing.T) {
	o := releasetest.Trips(t)
	opt, place := publishedtest.Run(t, o)
	e, err := openEvaluable(place, o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	l, err := opt.Account().Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var noted *Noted
	e.Record.FurtherAccounts, e.Record.Account = []string{"trips"}, "nowhere"
	if note, err := noteComparison(t.Context(), l, e.Record); !errors.As(err, &noted) ||
		note != (ledger.Comparison{}) ||
		o.Account(t, "trips").Comparisons != 1 {
		t.Errorf("%v; noted %d times", err, o.Account(t, "trips").Comparisons)
	}
	e.Record.FurtherAccounts = nil
	if _, err := noteComparison(t.Context(), l, e.Record); err == nil || errors.As(err, &noted) {
		t.Errorf("with no note: %v", err)
	}
}
