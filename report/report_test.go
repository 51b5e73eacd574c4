package report_test

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/maker"
	"github.com/dprelease/dprelease/report/page"
	"github.com/dprelease/dprelease/synth"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestReadGivesTheReportBack(t *testing.T) {
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			again, err := report.Read(r.JSON())
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(again, r) {
				t.Errorf("got %+v, want %+v", again, r)
			}
			if pageOf(t, again) != pageOf(t, r) || !bytes.Equal(page.Readme(again), page.Readme(r)) ||
				!bytes.Equal(page.Markdown(again), page.Markdown(r)) {
				t.Error("pages rendered from report.json differ from those of the report")
			}
		})
	}
}

func TestReadIsStrict(t *testing.T) {
	valid := string(reportOf(t, input(report.Official, nil)).JSON())
	for name, change := range map[string][2]string{
		"unknown field":  {`"release":`, `"surprise": 1, "release":`},
		"other format":   {`dprelease.report/1`, `dprelease.report/2`},
		"other status":   {`"status": "release"`, `"status": "final"`},
		"other spacing":  {`  "format"`, `    "format"`},
		"duplicate":      {`  "release": "labour-2026q1",`, `  "release": "x", "release": "labour-2026q1",`},
		"not JSON":       {`{`, `[`},
		"more after it":  {"}\n}\n", "}\n}\n{}\n"},
		"null for empty": {`"equivalents": []`, `"equivalents": {}`},
	} {
		wrong := strings.Replace(valid, change[0], change[1], 1)
		if wrong == valid {
			t.Fatalf("%s: nothing to change", name)
		}
		if _, err := report.Read([]byte(wrong)); err == nil {
			t.Errorf("%s: read without an error", name)
		}
	}
}

func TestEqualInputsGiveEqualBytesWhereverTheyAreRun(t *testing.T) {
	type output struct{ json, page, markdown, readme string }
	render := func() output {
		r := reportOf(t, input(report.Practice, func(p *plan.Plan) {
			p.Source.Files = map[string]string{"c": "3", "a": "1", "b": "2", "d": "4"}
			p.Source.Params = map[string]string{"z": "1", "quarter": "2026q1", "y": "2"}
		}))
		return output{json: string(r.JSON()), page: pageOf(t, r), markdown: string(page.Markdown(r)),
			readme: string(page.Readme(r))}
	}
	first := render()
	t.Chdir(t.TempDir())
	t.Setenv("TZ", "Asia/Kathmandu")
	t.Setenv("LANG", "tr_TR.UTF-8")
	t.Setenv("HOME", "/nowhere")
	for range 20 {
		if render() != first {
			t.Fatal("the report changed with something that is not its input")
		}
	}
}

// importsOf adds the imports of a package of this module, recursively for packages of this module.
func importsOf(t *testing.T, root, path string, seen map[string]bool) {
	t.Helper()
	const module = "github.com/dprelease/dprelease"
	files, err := filepath.Glob(filepath.Join(root, strings.TrimPrefix(path, module), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of %s: %v", path, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if seen[imported] {
				continue
			}
			seen[imported] = true
			if strings.HasPrefix(imported, module) {
				importsOf(t, root, imported, seen)
			}
		}
	}
}

func TestReportCannotReachConfidentialData(t *testing.T) {
	seen := map[string]bool{}
	importsOf(t, "..", "github.com/dprelease/dprelease/report", seen)
	for _, room := range []string{"histogram", "histogram/source", "internal/noise", "internal/release",
		"budget/ledger"} {
		if seen["github.com/dprelease/dprelease/"+room] {
			t.Errorf("report reaches %s", room)
		}
	}
}

func TestReportHasNoWayToAskTheMachine(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	banned := map[string]bool{"os": true, "time": true, "runtime": true, "net": true, "net/http": true,
		"math/rand":    true,
		"math/rand/v2": true, "crypto/rand": true, "os/user": true, "syscall": true}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			if path, _ := strconv.Unquote(spec.Path.Value); banned[path] {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}

func TestNoNonsenseNumbers(t *testing.T) {
	nonsense := regexp.MustCompile(`NaN|[+-]Inf|\bInf\b|%!|<no value>|&lt;nil&gt;`)
	for name, r := range reports() {
		t.Run(name, func(t *testing.T) {
			for file, text := range map[string]string{"json": string(r.JSON()), "html": pageOf(t, r),
				"readme": string(page.Readme(r)), "markdown": string(page.Markdown(r))} {
				if at := nonsense.FindStringIndex(text); at != nil {
					t.Errorf("%s: …%s…", file, text[max(0, at[0]-60):min(len(text), at[1]+60)])
				}
			}
		})
	}
}

func TestAllZeroTableHasNoRelativeMargin(t *testing.T) {
	s := reportOf(t, noisyInput([]int64{0, -3, 0, -1, 0, 0})).Tables[0].Statistics[0]
	if s.Relative != nil || s.NoiseShare != 1 || s.NoiseCells != 6 || s.ShownAsZero != 2 || s.TotalPublished != "0" ||
		s.TotalUnbiased != "-4" {
		t.Errorf("got %+v", s)
	}
}

func TestTableWithoutFlags(t *testing.T) {
	s := reportOf(t, noisyInput([]int64{110, 22, 1000, 21, 109, 500})).Tables[0].Statistics[0]
	if s.NoiseCells != 0 || s.NoiseShare != 0 || s.ShownAsZero != 0 {
		t.Errorf("got %+v", s)
	}
	want := report.RelativeMargins{Cells: 6, Q10: 11.0 / 1000, Q50: 11.0 / 110, Q90: 11.0 / 21, Within10: 3.0 / 6,
		Within50: 5.0 / 6}
	if *s.Relative != want {
		t.Errorf("got %+v, want %+v", *s.Relative, want)
	}
}

func TestSumsDoNotOverflow(t *testing.T) {
	s := reportOf(t, noisyInput([]int64{1 << 62, 1 << 62, 1 << 62, -1 << 63, 5, 1})).Tables[0].Statistics[0]
	if s.TotalPublished != "13835058055282163718" || s.TotalUnbiased != "4611686018427387910" {
		t.Errorf("got %s and %s", s.TotalPublished, s.TotalUnbiased)
	}
}

func TestNewRefusesPartsOfDifferentReleases(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*maker.Input)
		says   string
	}{
		"no plan":    {func(in *maker.Input) { in.Plan = nil }, "no plan"},
		"no receipt": {func(in *maker.Input) { in.Receipt = nil }, "cannot be read"},
		"other plan": {func(in *maker.Input) { in.Plan = compiled.Of(planned(oneTable("{epsilon: 2}"))) },
			"another plan"},
		"other release": {rewrite(`"labour-2026q1"`, `"labour-2026q2"`), `release "labour-2026q2"`},
		"other cost":    {rewrite(`"epsilon":"2"`, `"epsilon":"3"`), "the plan charges"},
		"other status":  {rewrite(`"release", "cost"`, `"final", "cost"`), `status "final"`},
		"other date":    {rewrite(`2026-03-01`, `1 March`), "YYYY-MM-DD"},
		"table missing": {func(in *maker.Input) { in.Tables = in.Tables[1:] },
			"3 tables are published, the plan has 4"},
		"tables swapped": {func(in *maker.Input) { in.Tables[1], in.Tables[2] = in.Tables[2], in.Tables[1] },
			"not the plan's table pairs/sex"},
		"short column": {statistic(func(s *synth.Statistic) { s.Published = integers([]int64{1}) }),
			"do not all have 6 cells"},
		"no column":      {statistic(func(s *synth.Statistic) { s.Unbiased = nil }), "do not all have 6 cells"},
		"no flags":       {statistic(func(s *synth.Statistic) { s.Flags = nil }), "do not all have 6 cells"},
		"other figure":   {statistic(func(s *synth.Statistic) { s.Name = "units" }), "does not measure"},
		"infinite error": {statistic(func(s *synth.Statistic) { s.StandardError = math.Inf(1) }), "finite"},
		"error is NaN":   {statistic(func(s *synth.Statistic) { s.Attained = math.NaN() }), "finite"},
		"margin below 0": {statistic(func(s *synth.Statistic) { s.Margin = -1 }), "not negative"},
		"infinite count": {statistic(func(s *synth.Statistic) { s.Unbiased = floats(1, 2, 3, 4, 5, math.Inf(-1)) }),
			"finite"},
		"no interval":   {statistic(func(s *synth.Statistic) { s.Low = nil }), "do not all have 6 cells"},
		"drawn at once": {statistic(func(s *synth.Statistic) { s.Whole = true }), "does not measure"},
		"not as drawn": {func(in *maker.Input) {
			*in = noisyInput([]int64{1, 2, 3, 4, 5, 6})
			in.Tables[0].Statistics[0].Whole = false
		}, "does not measure"},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(report.Official, nil)
			c.change(&in)
			if _, err := maker.New(in); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got error %v, want one that says %q", err, c.says)
			}
		})
	}
}

// rewrite changes the text of the receipt.
func rewrite(from, to string) func(*maker.Input) {
	return func(in *maker.Input) {
		in.Receipt = json.RawMessage(strings.Replace(string(in.Receipt), from, to, 1))
	}
}

// statistic changes the first table's statistic.
func statistic(change func(*synth.Statistic)) func(*maker.Input) {
	return func(in *maker.Input) { change(&in.Tables[0].Statistics[0]) }
}

func TestNewRefusesPlansItCannotExplain(t *testing.T) {
	for name, change := range map[string]func(*plan.Plan){
		"unknown definition":    func(p *plan.Plan) { p.Guarantee.Definition = "local" },
		"epsilon is no number":  func(p *plan.Plan) { p.Guarantee.Epsilon = "two" },
		"rho without epsilon":   func(p *plan.Plan) { p.Guarantee.Definition = "zcdp" },
		"share is no number":    func(p *plan.Plan) { p.Leaves[0].Share = "most" },
		"measurement missing":   func(p *plan.Plan) { p.Tables[0].Statistics[0].Measurement = "other" },
		"too many measurements": func(p *plan.Plan) { p.Strategies[0].Measurements = 3 },
		"Gaussian in pure plan": func(p *plan.Plan) { p.Measurements[0].Mechanism.Kind = budget.DiscreteGaussian },
	} {
		if _, err := maker.New(input(report.Official, change)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestInputIsNotChanged(t *testing.T) {
	in := input(report.Official, nil)
	before := in.Plan.Plan().Hash()
	r := reportOf(t, in)
	r.Plan.Warnings[0], r.Tables[0].By[0] = "changed", "changed"
	if in.Plan.Plan().Hash() != before {
		t.Error("the plan changed with its report")
	}
}

func TestHeadline(t *testing.T) {
	for _, c := range []struct {
		in   maker.Input
		want string
	}{
		{input(report.Official, nil),
			"Each of the 17 published numbers is within 4 of the exact count with a chance of at least 95%, before " +
				"sampling and response error; many are closer: see “Tables and their errors”."},
		{noisyInput([]int64{1, 2, 3, 4, 5, 6}),
			"Each of the 6 published numbers is within 11 of the exact count with a chance of at least 95%, before " +
				"sampling and response error."},
		{specInput(report.Official, oneTable("{epsilon: 20}")),
			"Each of the 6 published numbers equals the exact count with a chance of at least 95%, before sampling " +
				"and response error."},
	} {
		if got := reportOf(t, c.in).Accuracy.Sentence; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestWeakPromisesAreCalledWeak(t *testing.T) {
	for epsilon, weak := range map[string]bool{"2": false, "10": false, "10.01": true, "50": true, "1000": true,
		"1e300": true} {
		r := reportOf(t, input(report.Official, func(p *plan.Plan) { p.Guarantee.Epsilon = epsilon }))
		said := strings.Contains(strings.Join(r.Guarantee.Sentences, " "), "This promise is weak.")
		if r.Guarantee.Meaning.Weak != weak || said != weak {
			t.Errorf("ε = %s: weak is %v and said %v, want %v", epsilon, r.Guarantee.Meaning.Weak, said, weak)
		}
	}
}

func TestBannerIsOnEveryPageOfWhatIsNoRelease(t *testing.T) {
	for status, banner := range map[report.Status]string{report.Official: "",
		report.Practice:  "PRACTICE, NOT A RELEASE",
		report.Rehearsal: "REHEARSAL, MADE-UP DATA"} {
		r := reportOf(t, input(status, nil))
		if r.Banner != banner {
			t.Errorf("%s: banner %q", status, r.Banner)
		}
		page, readme := pageOf(t, r), string(page.Readme(r))
		if banner == "" {
			if strings.Contains(page, `class="banner"`) || strings.Contains(readme, "***") {
				t.Errorf("%s has a banner", status)
			}
			continue
		}
		if !strings.Contains(page, `<span>`+banner+`</span>`) || !strings.Contains(page, "<title>"+banner) ||
			!strings.HasPrefix(readme, "*** "+banner+" ***") {
			t.Errorf("%s does not say %s", status, banner)
		}
	}
}

func TestReadmeLinesFitATerminal(t *testing.T) {
	for name, r := range reports() {
		for _, line := range strings.Split(string(page.Readme(r)), "\n") {
			code := strings.Contains(line, "tables/"+r.Tables[0].Path) // code cannot be broken into lines
			if len([]rune(line)) > 78 && !code || strings.TrimRight(line, " ") != line {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

// If rows without an id are left out, the report says so with the guarantee, with the subject of the figures and with
// the assumptions; otherwise it does not mention them.
func TestReportOfRowsWithoutAnID(t *testing.T) {
	texts := []string{"Rows without an id were left out.",
		"Rows without an id were left out. The margin does not cover",
		"Rows without an id were left out of every count."}
	for _, drops := range []bool{true, false} {
		text := specText
		if drops {
			text = strings.Replace(text, "{id: person_id,", "{id: person_id, null: drop,", 1)
		}
		r := reportOf(t, specInput(report.Official, text))
		for name, page := range map[string]string{"html": pageOf(t, r), "markdown": string(page.Markdown(r)),
			"json": string(r.JSON())} {
			for _, says := range texts {
				if strings.Contains(page, says) != drops {
					t.Errorf("%s, left out %v: %q", name, drops, says)
				}
			}
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.JSON()))
		if err == nil {
			err = compiledSchema(t).Validate(instance)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
