package release

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/derive"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
)

// publicNights are the invariants of a release of nights, of far more rows than its data have: nobody compares.
const publicNights = "invariants:\n  rides: {by: [mode, part], from: rides.csv}\n" +
	"  days: {by: [day], values: {mo: 700, tu: 300}}\n"

const rideTotals = "count,part,mode\n100,0–2,walk\n0,3–5,walk\n300,0–2,ride\n200,3–5,ride\n400,0–2,sail\n0,3–5,sail\n"

func publicOffice(t *testing.T, rest string) releasetest.Office {
	t.Helper()
	return releasetest.Of(t, map[string]string{"release.yaml": releasetest.NightSpec + publicNights + rest,
		"policy.yaml": releasetest.WalkPolicy,
		"t.csv":       releasetest.NightRows, "rides.csv": rideTotals})
}

// publicExactly holds the columns of a table that an invariant decides.
func publicExactly(t *testing.T, place, path string, keys int, want ...string) {
	t.Helper()
	by := map[string][]string{"modes": {"mode"}, "days": {"day"}, "nights": {"mode", "part"}}[path]
	var got []string
	for _, row := range releasetest.Figures(t, place, path, append(slices.Clone(by), "count", "count_unbiased",
		"count_noise_se",
		"count_low", "count_high", "count_flag")...) {
		n := row[keys]
		if !slices.Equal(row[keys:keys+5], []string{n, n, "0", n, n}) {
			t.Errorf("%s: %v", path, row)
		}
		got = append(got, strings.Join(row[:keys], " ")+": "+n+" "+row[keys+5])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, expected %q", path, got, want)
	}
}

// Public figures of a spec are published as they are, whatever the data hold, and what adds up to them does: from the
// spec to the files, which verify, and in what is said of them.
func TestPublicFiguresAreKeptTo(t *testing.T) {
	for name, rest := range map[string]string{"consistent": "publish: {integers: consistent}\n", "each by itself": ""} {
		t.Run(name, func(t *testing.T) {
			o := publicOffice(t, rest)
			opt, place := runRelease(t, o)
			publicExactly(t, place, "modes", 1, "walk: 100 invariant", "ride: 500 invariant", "sail: 400 invariant")
			publicExactly(t, place, "days", 1, "mo: 700 invariant", "tu: 300 invariant")
			publicExactly(t, place, "nights", 2, "walk 0–2: 100 invariant", "walk 3–5: 0 impossible",
				"ride 0–2: 300 invariant",
				"ride 3–5: 200 invariant", "sail 0–2: 400 invariant", "sail 3–5: 0 invariant")
			for path, keys := range map[string][]string{"parts": {"part", "day"}, "hours": {"day", "hour", "mode"}} {
				for _, row := range releasetest.Figures(t, place, path, append(slices.Clone(keys), "count_flag")...) {
					if row[len(keys)] == "invariant" {
						t.Errorf("%s: %v", path, row)
					}
				}
			}
			if rest != "" {
				assertEqualSums(t, "days", sumsOf(t, place, "parts", "day"), map[string]int64{"mo": 700, "tu": 300})
				assertEqualSums(t, "parts", sumsOf(t, place, "parts", "part"), map[string]int64{"0–2": 800, "3–5": 200})
				assertEqualSums(t, "days of hours", sumsOf(t, place, "hours", "day"),
					map[string]int64{"mo": 700, "tu": 300})
				assertEqualSums(t, "modes of hours", sumsOf(t, place, "hours", "mode"),
					map[string]int64{"walk": 100, "ride": 500, "sail": 400})
			} else if n := sumsOf(t, place, "hours", "day"); n["mo"] > 200 {
				t.Errorf("hours was moved to the figures: %v", n)
			}
			assertVerifies(t, place, verify.Options{})
			again, err := Publish(t.Context(), place+".measured", opt)
			if err != nil || !again.AlreadyDone {
				t.Fatalf("published again: %+v, %v", again, err)
			}
			out := opt
			out.Out = filepath.Join(o.Dir, "private")
			if err := evaluateTo(t.Context(), o.Plan, place, out); err != nil {
				t.Fatal(err)
			}
			if rest != "" {
				saysWhatIsGivenAway(t, o.Plan, place)
			}
			answersWithPublicFigures(t, place)
		})
	}
}

// saysWhatIsGivenAway looks for the figures in everything that states the promise.
func saysWhatIsGivenAway(t *testing.T, p *compiled.Compiled, place string) {
	t.Helper()
	const rides, days = "rides (the rows of t by mode × part, 6 figures, from rides.csv)",
		"days (the rows of t by day, 2 figures, from the spec)"
	var page bytes.Buffer
	if err := describe.Explain(p, &page); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"explain": page.String(), "metadata": derive.Metadata(p, "")[4][1]}
	for _, file := range []string{"report.md", "report.html", "report.json", "README.txt",
		"datapackage.json"} {
		b, err := os.ReadFile(filepath.Join(place, file))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(b)
	}
	for name, text := range texts {
		text = strings.Join(strings.Fields(text), " ")
		for _, says := range []string{rides, days} {
			if !strings.Contains(text, says) {
				t.Errorf("%s does not say %q", name, says)
			}
		}
	}
	for _, says := range []string{"Figures that were public before", "Exact figures, without noise: rides",
		"No exact figure"} {
		if strings.Contains(texts["report.md"], says) == (says == "No exact figure") {
			t.Errorf("report.md: %q", says)
		}
	}
}

// answersWithPublicFigures asks what invariants decide, and follows a figure back.
func answersWithPublicFigures(t *testing.T, place string) {
	t.Helper()
	a, err := query.Query(t.Context(), place, query.Question{By: []string{"part"}, Where: []string{"mode=ride,sail"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) != 2 || a.Rows[0].Unbiased != 700 || a.Rows[1].Unbiased != 200 || a.Rows[0].StandardError != 0 ||
		a.Rows[0].Low != 700 || a.Rows[0].High != 700 || a.Invariant != "rides" || len(a.Measurements) != 0 {
		t.Errorf("%+v", a)
	}
	var text bytes.Buffer
	if err := a.Write(&text); err != nil ||
		!strings.Contains(text.String(), "figures that were public before, of invariant rides") {
		t.Errorf("%v: %s", err, text.String())
	}
	trace, err := trace.Cell(t.Context(), place, "modes", []string{"mode=ride"})
	if err != nil {
		t.Fatal(err)
	}
	text.Reset()
	if err := trace.Write(&text); err != nil || trace.Published != 500 ||
		!strings.Contains(text.String(), "made of no measurement") {
		t.Errorf("%v: %s", err, text.String())
	}
}
