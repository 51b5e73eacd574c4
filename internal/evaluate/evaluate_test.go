package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/account"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/publishedtest"
	"github.com/dprelease/dprelease/internal/release"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/parquet-go/parquet-go"
)

// evaluateTo evaluates a release with the options of a step.
func evaluateTo(ctx context.Context, p *compiled.Compiled, place string, opt release.Options) error {
	_, err := Evaluate(ctx, p, place, optionsFrom(opt))
	return err
}

// optionsFrom are the options of an evaluation that works where a step does.
func optionsFrom(opt release.Options) Options {
	return Options{Out: opt.Out, Data: opt.Data, State: opt.State, Account: opt.Account(), Log: opt.Log}
}

// readEvaluation reads evaluate.json.
func readEvaluation(t *testing.T, dir string) Evaluation {
	t.Helper()
	return releasetest.ReadJSON[Evaluation](t, filepath.Join(dir, EvaluationJSON))
}

// wantsCode asserts that an error leads to an exit code and says something.
func wantsCode(t *testing.T, what string, err error, code int, words string) {
	t.Helper()
	if ending.Of(err).Exit != code || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: exit %d, want %d with %q: %v", what, ending.Of(err).Exit, code, words, err)
	}
}

// The figures of an evaluation are those worked out here from the published files
// and the rows of t.csv, which are known: walk at 7 and 23, ride twice at 8.
func TestEvaluateSaysHowFarTheTablesLie(t *testing.T) {
	o := releasetest.Trips(t)
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	var heard []string
	opt.Log = releasetest.LogThat(func(message string) { heard = append(heard, message) })
	if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
		t.Fatal(err)
	}
	v := readEvaluation(t, opt.Out)
	truths := map[string]map[string]int64{
		"modes": {"walk": 2, "ride": 2},
		"hours": {"7 walk": 1, "8 ride": 2, "23 walk": 1},
	}
	for i, keys := range [][]string{{"mode"}, {"hour", "mode"}} {
		got := v.Tables[i]
		rows := releasetest.ReadTable(t, filepath.Join(place, "tables", got.Path+".parquet"), keys)
		var l1, squares, covered float64
		for _, r := range rows {
			truth := truths[got.Path][strings.Join(r.Keys, " ")]
			l1 += math.Abs(float64(r.Count - truth))
			squares += math.Pow(r.Unbiased-float64(truth), 2)
			if r.Low <= float64(truth) && float64(truth) <= r.High {
				covered++
			}
		}
		n := float64(len(rows))
		for what, pair := range map[string][2]float64{
			"N": {float64(got.Rows), 4}, "cells": {float64(got.Cells), n}, "L1/N": {*got.L1OverN, l1 / 4},
			"TVD":  {*got.TVD, l1 / 8},
			"RMSE": {got.RMSE, math.Sqrt(squares / n)}, "predicted": {got.Predicted, rows[0].StandardError},
			"coverage": {got.Coverage, covered / n},
		} {
			tolerance := 1e-12 // a few roundings of numbers near 1
			if what == "predicted" {
				tolerance = 1e-6 * pair[1] // plans keep seven digits
			}
			if math.Abs(pair[0]-pair[1]) > tolerance {
				t.Errorf("%s of %s: %v, want %v", what, got.Path, pair[0], pair[1])
			}
		}
		if got.Attained != o.Plan.Tables[i].Statistics[0].Attained || got.Attained < 0.95 {
			t.Errorf("%s: attained %v", got.Path, got.Attained)
		}
	}
	page, err := os.ReadFile(filepath.Join(opt.Out, EvaluationPage))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(page), "CONFIDENTIAL: compared with the truth; not part of any release"); n != 2 ||
		v.Marking != evaluationMark {
		t.Errorf("the page is marked %d times, the file %q", n, v.Marking)
	}
	if want := []string{"comparison noted in the ledger"}; !slices.Equal(heard, want) ||
		o.Account(t, "trips").Comparisons != 1 ||
		v.Comparison != 1 {
		t.Errorf("logged %q, and noted %d", heard, o.Account(t, "trips").Comparisons)
	}
	if state, err := filepath.Glob(filepath.Join(o.Dir, "out", ".dprelease", "*")); err != nil || len(state) != 1 ||
		filepath.Base(state[0]) != files.StateSources {
		t.Errorf("the state holds %q (%v)", state, err)
	}
}

// The note stays where a run is cut off behind it, and no figure does; the next
// evaluation is another comparison.
func TestEvaluateNotesFirst(t *testing.T) {
	o := releasetest.Trips(t)
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	ctx, cancel := context.WithCancel(t.Context())
	opt.Log = releasetest.LogThat(func(string) {
		if o.Account(t, "trips").Comparisons != 1 {
			t.Error("it is not noted when the comparison begins")
		}
		cancel()
	})
	if err := evaluateTo(ctx, o.Plan, place, opt); ending.Of(err).Exit != verdict.ExitInterrupted {
		t.Errorf("cut off: %v", err)
	}
	if left, err := os.ReadDir(opt.Out); err != nil || len(left) > 0 || o.Account(t, "trips").Comparisons != 1 {
		t.Errorf("left %v (%v), and noted %d", left, err, o.Account(t, "trips").Comparisons)
	}
	opt.Log = nil
	if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil || readEvaluation(t, opt.Out).Comparison != 2 {
		t.Errorf("again: %v", err)
	}
}

// A release of several data sets is compared with the truth of all of them.
func TestEvaluateNotesOnEveryAccount(t *testing.T) {
	o := releasetest.Trips(t)
	o.Plan = replan(t, o, "account: trips", "account: [trips, roads]")
	policy := filepath.Join(o.Dir, "roads.yaml")
	if err := os.WriteFile(policy,
		[]byte(strings.Replace(releasetest.TripPolicy, "account: trips", "account: roads", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (account.Ledger{Path: o.Ledger}).Init(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
		t.Fatal(err)
	}
	if a, b := o.Account(t, "trips").Comparisons, o.Account(t, "roads").Comparisons; a != 1 || b != 1 {
		t.Errorf("noted %d and %d times", a, b)
	}
}

// replan plans the office's spec with changes, given as old, new, old, new …
func replan(t *testing.T, o releasetest.Office, edits ...string) *compiled.Compiled {
	t.Helper()
	path := filepath.Join(o.Dir, "release.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(edits...).Replace(releasetest.TripSpec)),
		0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What an evaluation refuses it refuses before it notes, or writes, anything.
func TestEvaluateRefuses(t *testing.T) {
	o := releasetest.Trips(t)
	opt, place := publishedtest.Run(t, o)
	link := filepath.Join(o.Dir, "link")
	if err := os.Symlink(place, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, place, out string
		change           func(*release.Options)
		code             int
		words            string
	}{
		{"the release itself", place, place, nil, verdict.ExitSpec, "manifest.json is in"},
		{"below it", place, filepath.Join(place, "x", "y"), nil, verdict.ExitSpec, "manifest.json is in"},
		{"below a link to it", place, filepath.Join(link, "x"), nil, verdict.ExitSpec, "manifest.json is in"},
		{"below a sealed folder", place, filepath.Join(place+".measured", "x"), nil, verdict.ExitSpec,
			"seal.json is in"},
		{"a link", link, link, nil, verdict.ExitSpec, "manifest.json is in"},
		{"a file", place, filepath.Join(o.Dir, "t.csv"), nil, verdict.ExitSpec, "is not a folder"},
		{"a folder that is open to others", place, filepath.Join(o.Dir, "out"), nil, verdict.ExitSpec,
			"can be entered by others"},
		{"a sealed folder", place + ".measured", filepath.Join(o.Dir, "private"), nil, verdict.ExitSpec,
			"not the folder of a published release"},
		{"no data", place, filepath.Join(o.Dir, "private"),
			func(opt *release.Options) { opt.Data = filepath.Join(o.Dir, "nowhere") },
			verdict.ExitSpec, "--data"},
		{"other data", place, filepath.Join(o.Dir, "private"),
			func(opt *release.Options) { opt.Data = filepath.Join(o.Dir, "out") },
			verdict.ExitData, "no such file"},
		{"no ledger", place, filepath.Join(o.Dir, "private"), func(opt *release.Options) { opt.Ledger = "" },
			verdict.ExitSpec,
			"--ledger FILE"},
		{"another ledger", place, filepath.Join(o.Dir, "private"),
			func(opt *release.Options) { opt.Ledger = o.WithAnotherLedger(t).Ledger }, verdict.ExitSpec,
			"is not in the ledger"},
	} {
		opt := opt
		opt.Out = c.out
		if c.change != nil {
			c.change(&opt)
		}
		wantsCode(t, c.name, evaluateTo(t.Context(), o.Plan, c.place, opt), c.code, c.words)
	}
	opt.Out = filepath.Join(o.Dir, "private")
	wantsCode(t, "another plan", evaluateTo(t.Context(), replan(t, o, "epsilon: 1", "epsilon: 2"), place, opt),
		verdict.ExitSpec, "of another plan")
	table := filepath.Join(place, "tables", "modes.parquet")
	if err := os.WriteFile(table, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantsCode(t, "an altered table", evaluateTo(t.Context(), o.Plan, place, opt), verdict.ExitVerify,
		"tables/modes.parquet")
	if found, err := durable.Exists(opt.Out); err != nil || found || o.Account(t, "trips").Comparisons != 0 {
		t.Errorf("the folder is there: %v (%v), and noted %d times", found, err, o.Account(t, "trips").Comparisons)
	}
}

// A note that cannot be made leaves nothing: here the ledger is signed, and the key is
// not given.
func TestEvaluateWithoutTheOfficesKey(t *testing.T) {
	o := releasetest.Trips(t)
	key := releasetest.NewKey(t, filepath.Join(o.Dir, "office.key"))
	o.Ledger = filepath.Join(o.Dir, "signed.db")
	keeper := account.Ledger{Path: o.Ledger, Office: &key}
	if _, err := keeper.Init(t.Context(), filepath.Join(o.Dir, "policy.yaml")); err != nil {
		t.Fatal(err)
	}
	opt := publishedtest.Options(o, "out")
	opt.Office = &key
	r, err := release.Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.Out, opt.Office = filepath.Join(o.Dir, "private"), nil
	wantsCode(t, "without the key", evaluateTo(t.Context(), o.Plan, r.Folder, opt), verdict.ExitSpec, "key")
	if found, err := durable.Exists(opt.Out); err != nil || found || o.Account(t, "trips").Comparisons != 0 {
		t.Errorf("the folder is there: %v (%v), and noted %d times", found, err, o.Account(t, "trips").Comparisons)
	}
	opt.Office = &key
	if err := evaluateTo(t.Context(), o.Plan, r.Folder, opt); err != nil || o.Account(t, "trips").Comparisons != 1 {
		t.Errorf("with the key: %v, and noted %d times", err, o.Account(t, "trips").Comparisons)
	}
}

// microdataRow is a row of the microdata that the test below makes.
type microdataRow struct {
	Mode      string `parquet:"mode"`
	ModeLabel string `parquet:"mode_label"`
	Hour      int64  `parquet:"hour"`
}

// Microdata are read back by the codes of their columns, and the figures of their
// marginals are those worked out by hand.
func TestEvaluateMicrodata(t *testing.T) {
	o := releasetest.Trips(t)
	_, place := publishedtest.Run(t, o)
	var e *published.Release
	if err := os.Mkdir(filepath.Join(place, "microdata"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(place, "microdata", "t.parquet")
	write := func(rows ...microdataRow) {
		t.Helper()
		if err := parquet.WriteFile(file, rows); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		releasetest.Relist(t, place, "microdata/t.parquet", b)
		if e, err = published.Open(place); err != nil {
			t.Fatal(err)
		}
	}
	write(microdataRow{"ride", "", 8}, microdataRow{"ride", "", 7}, microdataRow{"walk", "", 7},
		microdataRow{"walk", "", 7}, microdataRow{"walk", "", 0})
	s := plan.Synthetic{Table: "t", By: []plan.Factor{{Attribute: "hour", Basis: plan.Identity},
		{Attribute: "mode", Basis: plan.Identity}}}
	rows, p, err := readMicrodata(e, s)
	if err != nil {
		t.Fatal(err)
	}
	if want := "[[8 7 7 7 0] [1 1 0 0 0]] [[0] [1] [0 1]]"; fmt.Sprint(rows.Codes, rows.Marginals) != want {
		t.Fatalf("read %v %v, want %s", rows.Codes, rows.Marginals, want)
	}
	l, err := account.Ledger{Path: o.Ledger}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	note, err := noteComparison(t.Context(), l, e.Record)
	if err != nil {
		t.Fatal(err)
	}
	found, err := evaluate.Compare(t.Context(), note, o.Plan, scan.Files{Dir: o.Dir},
		noise.NewStreams(noise.Key{1}, o.Plan.Hash()).Rows(), evaluate.PublishedResults{Rows: []evaluate.Rows{rows}})
	if err != nil {
		t.Fatal(err)
	}
	v := p.compareMicrodata(found.Marginals[0], found.Joints[0])
	// True shares: hours 7: 1/4, 8: 2/4, 23: 1/4; walk and ride 2/4. Drawn: 0: 1/5, 7: 3/5, 8: 1/5; walk 3/5.
	hours, modes := 0.2+0.35+0.3+0.25, 0.1+0.1
	// Together, 7 walk 2/5 and 1/4, 7 ride 1/5 and 0, 8 ride 1/5 and 1/2, 0 walk 1/5 and 0, 23 walk 0 and 1/4.
	both := 0.15 + 0.2 + 0.3 + 0.2 + 0.25
	for k, want := range []float64{(hours + modes) / 2, both} {
		got := v.Sizes[k]
		// a few roundings
		if math.Abs(got.L1-want) > 1e-12 || math.Abs(got.TVD-want/2) > 1e-12 ||
			math.Abs(got.Score-500*(2-want)) > 1e-9 {
			t.Errorf("%d columns: L1 %v, TVD %v, score %v; want L1 %v", k+1, got.L1, got.TVD, got.Score, want)
		}
	}
	if v.Rows != 5 || v.TrueRows != 4 || len(v.Sizes) != 2 ||
		fmt.Sprint(v.Sizes[0].Farthest) != fmt.Sprint([]marginalTruth{{[]string{"hour"}, v.Sizes[0].Farthest[0].L1},
			{[]string{"mode"}, v.Sizes[0].Farthest[1].L1}}) {
		t.Errorf("%+v", v)
	}

	// Columns stand by how far they lie, the farthest first.
	// a few roundings
	if len(v.Columns) != 2 || v.Columns[0].Column != "hour" || math.Abs(v.Columns[0].TVD-hours/2) > 1e-12 ||
		v.Columns[1].Column != "mode" || math.Abs(v.Columns[1].L1-modes) > 1e-12 {
		t.Errorf("columns %+v, want hour %v, mode %v", v.Columns, hours, modes)
	}
	// In the truth an hour has one mode, so that V is 1; of the microdata it is √(1/3 + 4/9 + 1/6 + 1/2 − 1) = 2/3.
	if len(v.Pairs) != 1 || v.Pairs[0].Measure != "cramers_v" || math.Abs(*v.Pairs[0].Truth-1) > 1e-12 ||
		math.Abs(*v.Pairs[0].Drawn-2.0/3) > 1e-12 || math.Abs(*v.Pairs[0].Gap-1.0/3) > 1e-12 ||
		len(v.MeanGaps) != 1 || v.MeanGaps[0].Pairs != 1 || math.Abs(v.MeanGaps[0].Mean-1.0/3) > 1e-12 { // a few roundings
		t.Errorf("pairs %+v, means %+v", v.Pairs, v.MeanGaps)
	}
	// Unique are walk at 7, which is met, and walk at 23; a row of independent columns is walk at 7 with 3/5 · 3/5.
	// a few roundings
	if u := v.Unique; u.Unique != 2 || u.Matched != 1 || math.Abs(u.Independent-(1-math.Pow(0.64, 5))) > 1e-12 {
		t.Errorf("unique matches %+v", *u)
	}
	if s := v.Propensity; s.TrueRows != 4 || s.DrawnRows != 5 || s.Leaves != 1 || math.Abs(s.Most-20.0/81) > 1e-12 ||
		s.Ratio != nil || s.Standardised != nil {
		t.Errorf("propensity %+v", *s)
	}
	for i, part := range v.Sizes[0].Parts {
		if part.Part != evaluate.SubsampleShares[i] || math.Abs(part.Score-500*(2-part.L1)) > 1e-9 || i > 0 &&
			part.L1 > v.Sizes[0].Parts[i-1].L1 {
			t.Errorf("part %+v", part)
		}
	}
	if len(v.Sizes[0].Parts) != 12 || fmt.Sprint(v.Whole, v.LeftOut, v.Rules, v.TooLarge) != "[hour mode] [] [] false" {
		t.Errorf("%d parts; whole rows by %v without %v, too large %v; rules %v", len(v.Sizes[0].Parts), v.Whole,
			v.LeftOut,
			v.TooLarge, v.Rules)
	}

	// Where no row is true, or none drawn, there are no shares, and nothing lies anywhere.
	for name, empty := range map[string]microdataTruth{
		"no true row": p.compareMicrodata([]evaluate.Distance{{L1: 1, Subsample: make([]float64, 12)}, {L1: 1},
			{L1: 1}},
			nil),
		"none drawn": microdataClaim{table: "t", by: p.by,
			sizes: p.sizes}.compareMicrodata([]evaluate.Distance{{Rows: 4, L1: 1},
			{Rows: 4, L1: 1}, {Rows: 4, L1: 1}}, nil),
	} {
		b, err := json.Marshal(empty)
		if err != nil || strings.Contains(string(b), `"l1"`) || strings.Contains(string(b), "score") ||
			strings.Contains(string(b), "random_part") || !strings.Contains(string(b), `"compared":2`) {
			t.Errorf("%s: %s (%v)", name, b, err)
		}
		page := &strings.Builder{}
		if err := pageTemplate.ExecuteTemplate(page, "microdata", empty); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), "| 1 | 2 | 2 | 0 | – | – | – | – |") ||
			strings.Contains(page.String(), "Farthest") {
			t.Errorf("%s: the page says %s", name, page)
		}
	}

	write(microdataRow{"fly", "", 8})
	if _, _, err := readMicrodata(e, s); err == nil || !strings.Contains(err.Error(), "row 1 has a mode") ||
		strings.Contains(err.Error(), "fly") {
		t.Errorf("a code that the plan does not have: %v", err)
	}
}

// The microdata of a release are compared as they were published: the distance of
// one column is that worked out here from the file and the rows of t.csv.
func TestEvaluateReadsPublishedMicrodata(t *testing.T) {
	o := releasetest.Trips(t)
	o.Plan = replan(t, o, "{epsilon: 1, split: {few: 1/2, many: 1/2}}", "{rho: 1/2, split: {tables: 1/2, rows: 1/2}}",
		"modes: {by: [mode], budget: few}, hours: {by: [hour, mode], budget: many}}",
		"modes: {by: [mode], budget: tables}}\nsynthetic: {t: {budget: rows}}",
		"unit: row", "unit: row, where: hour != 5")
	var data strings.Builder
	data.WriteString("mode,hour\n")
	for i := range 300 {
		fmt.Fprintf(&data, "%s,%d\n", []string{"walk", "ride", "ride"}[i%3], i%24)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "t.csv"), []byte(data.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := release.Options{Out: filepath.Join(o.Dir, "out"), Data: o.Dir}
	r, err := release.Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.Out = filepath.Join(o.Dir, "private")
	if err := evaluateTo(t.Context(), o.Plan, r.Folder, opt); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadFile[struct {
		Mode string `parquet:"mode"`
		Hour int64  `parquet:"hour"`
	}](filepath.Join(r.Folder, "microdata", "t.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	walks, fives := 0.0, int64(0)
	for _, row := range rows {
		if row.Hour == 5 {
			fives++
		}
		if row.Mode == "walk" {
			walks++
		}
	}
	// Of the 300 rows 13 are at 5, all of them rides.
	want := 2 * math.Abs(walks/float64(len(rows))-100.0/287) // walk and ride are off by as much
	v := readEvaluation(t, opt.Out).Microdata[0]
	i := slices.IndexFunc(v.Sizes[0].Farthest,
		func(m marginalTruth) bool { return slices.Equal(m.Columns, []string{"mode"}) })
	// a few roundings
	if i < 0 || math.Abs(v.Sizes[0].Farthest[i].L1-want) > 1e-12 || v.Rows != int64(len(rows)) || v.TrueRows != 287 ||
		v.Sizes[1].Compared != 1 {
		t.Errorf("%+v; want L1 %v of mode", v, want)
	}
	whole := readEvaluation(t, opt.Out).Microdata[0]
	// No row of the truth is unique: an hour has one mode, in 12 rows or more.
	if u := whole.Unique; u.Unique != 0 || u.Matched != 0 || u.Independent != 0 || whole.Propensity.TrueRows != 287 ||
		whole.Propensity.DrawnRows != int64(len(rows)) || whole.Propensity.NullTrees != 10 {
		t.Errorf("unique matches %+v, propensity %+v", *u, *whole.Propensity)
	}
	if rules := []ruleTruth{{Rule: "every row has hour != 5", Rows: fives}}; !slices.Equal(whole.Rules, rules) {
		t.Errorf("rules %+v, want %+v", whole.Rules, rules)
	}
	page, err := os.ReadFile(filepath.Join(opt.Out, EvaluationPage))
	for _, says := range []string{"## Microdata of t\n", "k-marginal score", "### Columns of t\n",
		"### Pairs of columns of t\n", "Cramér's V", "### Whole rows of t\n", "Propensity score: ", "Unique matches: ",
		"evidence of privacy", "### Rules for rows of t\n", "| every row has hour != 5 |"} {
		if !strings.Contains(string(page), says) {
			t.Errorf("the page does not say %q (%v): %s", says, err, page)
		}
	}
}

// A mean distance lies between the parts of the truth whose samples lie farther and
// nearer.
func TestRandomParts(t *testing.T) {
	parts := make([]float64, len(evaluate.SubsampleShares)) // 1.2, 1.1, … 0.1
	for i := range parts {
		parts[i] = float64(12-i) / 10
	}
	for _, c := range []struct {
		l1       float64
		from, to float64
		like     string
	}{
		{1.5, 0, 0.01, "less than 1%"},
		{1.15, 0.01, 0.02, "1% to 2%"},
		{0.65, 0.3, 0.4, "30% to 40%"},
		{0.05, 0.9, 1, "more than 90%"},
	} {
		m := marginalsTruth{distances: []evaluate.Distance{{L1: c.l1 + 0.01, Subsample: parts},
			{L1: c.l1 - 0.01, Subsample: parts}}}
		m.averageDistances()
		if m.PartFrom != c.from || m.PartTo != c.to || m.Like() != c.like {
			t.Errorf("L1 %v is like %v to %v (%s), want %s", c.l1, m.PartFrom, m.PartTo, m.Like(), c.like)
		}
	}
}

func TestChooseMarginals(t *testing.T) {
	names := func(n int) (by []string, cells []int64) {
		for i := range n {
			by, cells = append(by, fmt.Sprint("c", i)), append(cells, 10)
		}
		return by, cells
	}
	by, cells := names(4)
	if m := chooseMarginals(by, cells, 2); m.total != 6 || m.skipped != 0 ||
		fmt.Sprint(m.chosen) != "[[0 1] [0 2] [0 3] [1 2] [1 3] [2 3]]" {
		t.Errorf("pairs of four: %+v", m)
	}
	cells[1] = 1_000_000
	if m := chooseMarginals(by, cells, 2); m.skipped != 3 || fmt.Sprint(m.chosen) != "[[0 2] [0 3] [2 3]]" {
		t.Errorf("pairs of four, one of them large: %+v", m)
	}
	if m := chooseMarginals(by, cells, 1); m.skipped != 0 || len(m.chosen) != 4 {
		t.Errorf("a marginal of exactly as many cells as are compared: %+v", m)
	}

	by, cells = names(40)
	cells[0] = 2_000_000
	m := chooseMarginals(by, cells, 3)
	seen := map[string]bool{}
	for _, places := range m.chosen {
		if !(0 < places[0] && places[0] < places[1] && places[1] < places[2] && places[2] < 40) ||
			seen[fmt.Sprint(places)] {
			t.Errorf("chose %v", places)
		}
		seen[fmt.Sprint(places)] = true
	}
	if m.total != 9880 || len(m.chosen) != marginalsCompared || m.skipped == 0 {
		t.Errorf("%d of %v, %d too large", len(m.chosen), m.total, m.skipped)
	}
	if again := chooseMarginals(by, cells, 3); fmt.Sprint(again) != fmt.Sprint(m) {
		t.Error("another choice the next time")
	}
	by[39] = "other"
	if other := chooseMarginals(by, cells, 3); fmt.Sprint(other) == fmt.Sprint(m) {
		t.Error("the choice does not depend on the names")
	}
	cells = slices.Repeat([]int64{2_000_000}, 40)
	if none := chooseMarginals(by, cells, 3); len(none.chosen) != 0 {
		t.Errorf("chose %v", none.chosen)
	}
}

// Whole rows are compared by as many columns, in order, as have places in 63 bits together.
func TestWholeColumns(t *testing.T) {
	for want, cells := range map[string][]int64{
		"[0 1 2]": {85, 9, 100},
		"[0 2]":   {1 << 40, 1 << 30, 2},
		"[0]":     {1 << 62, 2},
		"[0 1]":   {1<<31 - 1, 1 << 32, 1 << 10},
		"[]":      {},
	} {
		if got := fmt.Sprint(wholeColumns(cells)); got != want {
			t.Errorf("columns of %v: %s, want %s", cells, got, want)
		}
	}
	if got := wholeColumns(slices.Repeat([]int64{2}, 100)); len(got) != 62 {
		t.Errorf("of 100 columns of two categories %d", len(got))
	}
}

// Where units have ids, the page says that other rows of theirs may be counted.
func TestEvaluateSaysThatBoundingIsDrawnAnew(t *testing.T) {
	o := releasetest.Trips(t)
	o.Plan = replan(t, o, "unit: row", "unit: {id: who, max_rows: 2}")
	if err := os.WriteFile(filepath.Join(o.Dir, "t.csv"), []byte("mode,hour,who\nwalk,7,a\nride,8,a\nride,9,a\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	opt, place := publishedtest.Run(t, o)
	opt.Out = filepath.Join(o.Dir, "private")
	if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
		t.Fatal(err)
	}
	v := readEvaluation(t, opt.Out)
	if v.Tables[0].Rows != 2 || !strings.Contains(strings.Join(v.Notes, "\n"),
		"Of a trip with more than 2 rows in table t, other rows may be counted here") {
		t.Errorf("%d rows; %q", v.Tables[0].Rows, v.Notes)
	}
	var spent *release.Spent
	if err := evaluateTo(t.Context(), o.Plan, place, opt); ending.Of(err).Exit != verdict.ExitName ||
		errors.As(err, &spent) ||
		!strings.HasSuffix(err.Error(), "choose another -o folder") || strings.Contains(err.Error(), "release:") {
		t.Errorf("into the same folder: %v", err)
	}
}
