package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file holds releases of every statistic, from a spec to what verifies.

// payBudget leaves little noise: of counts a tenth of a row, of sums a few steps.
const payBudget = "{rho: 1000, minimise: sum}"

const paySpec = `version: 1
release: pays
privacy: {protects: person, neighbours: add-remove, account: trips}
budget: BUDGET
tables:
  jobs:
    source: {csv: t.csv}
    unit: {id: person, max_rows: 2}
    expect: {rows: [0, 10000]}
    WEIGHT
    columns:
      region: {values: [n, s]}
      sex: {values: [f, m]}
      pay: {type: decimal, step: 0.5, range: [0, 100]}
      code: {type: integer, range: [1, 50]}
      wage: {type: decimal, step: 0.01, range: [0, 9999999]}
marginals:
  all:
    by: [region]
    SHOW
    stats:
      - count
      - units
      - {sum: pay}
      - {mean: pay}
      - {variance: pay}
      - {deviation: pay}
      - {median: pay}
      - {quantiles: pay, at: [10%, 90%], as: share}
      - {distinct: code, per_unit: 2}
      - {ratio: {of: {sum: pay}, over: {sum: code}}, as: rate}
      - {ratio: {of: {sex: f}, over: {sex: [f, m]}}, as: women}
      - {ratio: {of: {mean: pay, where: {sex: f}}, over: {mean: pay, where: {sex: m}}}, as: gap}
  persons: {by: [sex], stats: [units], per_unit: {groups: 2}}
  all_jobs: {by: [], stats: [count, {mean: pay}]}
  few: {by: [code], stats: [count, {mean: wage}], per_unit: {total: 1}}
`

const payPolicy = "account: trips\nprotects: person\nneighbours: add-remove\ncap: {rho: 1000000000}\n"

// payRow is a row of the jobs.
type payRow struct {
	person      int
	region, sex string
	pay         float64 // as it is written; some lie beyond the range, or between its steps
	code        int
	weight      float64
}

// clamped is the pay as it is counted.
func (r payRow) clamped() float64 { return math.Min(100, math.Max(0, math.Floor(2*r.pay+0.5)/2)) }

// payRows are 600 jobs of 400 persons: every second has two.
func payRows() []payRow {
	var rows []payRow
	for i := range 600 {
		rows = append(rows, payRow{
			person: i % 400, region: []string{"n", "s"}[i%400/2%2], sex: []string{"f", "m"}[i%400/4%2],
			pay: float64(i*i%997)/8 - 3, code: 1 + i*7%37, weight: 1 + float64(i%5)/2,
		})
	}
	return rows
}

// payData writes them.
func payData(rows []payRow) string {
	var b strings.Builder
	b.WriteString("wage,person,region,sex,pay,code,weight\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%d,%d,%s,%s,%g,%d,%g\n", 1000*r.code, r.person, r.region, r.sex, r.pay, r.code, r.weight)
	}
	return b.String()
}

// payText is the spec with or without weights.
func payText(budget string, weighted bool, show string) string {
	weight := ""
	if weighted {
		weight = "weight: {from: weight, range: [0, 4], step: 0.5, kind: design}"
	}
	return strings.NewReplacer("BUDGET", budget, "WEIGHT", weight, "SHOW", show).Replace(paySpec)
}

// upper follows the name of a quantile in that of the largest value that is one too: where so many rows lie below exactly, every
// value up to the next row's is.
const upper = " up to"

// payTruth works out the figures of some rows from their definitions.
func payTruth(rows []payRow) map[string]float64 {
	truth := map[string]float64{}
	persons, codes := map[int]bool{}, map[int]bool{}
	var rest []payRow
	var squares, codeSum float64
	of := map[string][2]float64{} // sum and count by sex
	for _, r := range rows {
		persons[r.person], codes[r.code] = true, true
		truth["count"] += r.weight
		truth["pay_sum"] += r.weight * r.clamped()
		codeSum += r.weight * float64(r.code)
		of[r.sex] = [2]float64{of[r.sex][0] + r.weight*r.clamped(), of[r.sex][1] + r.weight}
		rest = append(rest, r)
	}
	truth["units"], truth["code_distinct"] = float64(len(persons)), float64(len(codes))
	truth["pay_mean"] = truth["pay_sum"] / truth["count"]
	for _, r := range rows {
		squares += r.weight * math.Pow(r.clamped()-truth["pay_mean"], 2)
	}
	truth["pay_variance"] = squares / truth["count"]
	truth["pay_deviation"] = math.Sqrt(truth["pay_variance"])
	truth["rate"] = truth["pay_sum"] / codeSum
	truth["women"] = of["f"][1] / truth["count"]
	truth["gap"] = of["f"][0] / of["f"][1] / (of["m"][0] / of["m"][1])
	slices.SortFunc(rest, func(a, b payRow) int { return int(math.Copysign(1, a.clamped()-b.clamped())) })
	for name, share := range map[string]float64{"pay_median": 0.5, "share_q10": 0.1, "share_q90": 0.9} {
		below := 0.0
		for _, r := range rest {
			below += r.weight
			if _, there := truth[name]; !there && below >= share*truth["count"] {
				truth[name] = r.clamped()
			}
			if below > share*truth["count"] {
				truth[name+upper] = r.clamped()
				break
			}
		}
	}
	return truth
}

// figureOf are the columns of a figure in one row.
type figureOf struct {
	value, low, high *float64
	flag             string
}

func readFigure(t *testing.T, path string, at int64, name string) figureOf {
	t.Helper()
	row, columns, err := publishedRowIn(path, at)
	if err != nil {
		t.Fatal(err)
	}
	of := func(suffix string) *float64 {
		column, there := columns[name+suffix]
		if !there {
			t.Fatalf("%s has no column %s", path, name+suffix)
		}
		if row[column].IsNull() {
			return nil
		}
		v := published.Number(row[column])
		return &v
	}
	out := figureOf{value: of(""), low: of("_low"), high: of("_high")}
	of("_noise_se")
	if flag := row[columns[name+"_flag"]]; !flag.IsNull() {
		out.flag = flag.String()
	}
	return out
}

// TestNumbersAreThoseOfTheRows publishes every statistic with little noise, with and without weights, and wants the figures of
// the rows, worked out from their definitions: within a twentieth, and within three times the reach of their intervals. That
// is six standard errors, beyond which the noise of fifty figures lies with a chance of less than 1e-6.
func TestNumbersAreThoseOfTheRows(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		t.Run(fmt.Sprintf("weighted %v", weighted), func(t *testing.T) {
			rows := payRows()
			o := officeWith(t, payText(payBudget, weighted, ""), payPolicy, payData(rows))
			_, place := o.run(t)
			if !weighted {
				for i := range rows {
					rows[i].weight = 1
				}
			}
			path := filepath.Join(place, "tables", "all.parquet")
			for at, region := range []string{"n", "s"} {
				var own []payRow
				for _, r := range rows {
					if r.region == region {
						own = append(own, r)
					}
				}
				truth := payTruth(own)
				for name, want := range truth {
					if strings.HasSuffix(name, upper) {
						continue
					}
					got := readFigure(t, path, int64(at), name)
					slack, most := 1e-9*(1+math.Abs(want)), 5e-2*math.Abs(want) // roundings of the interval's ends
					switch {
					case name == "count" && weighted:
						slack = 0.5 // the published one is whole
					case strings.HasPrefix(name, "share") || name == "pay_median":
						slack = 1 + truth[name+upper] - want // values a few ranks away are as far apart
						most = slack
					}
					if got.value == nil || math.Abs(*got.value-want) > most {
						t.Errorf("%s of %s: %v, want %v", name, region, shown(got.value), want)
						continue
					}
					if got.low == nil || want < *got.value-3*(*got.value-*got.low)-slack || want > *got.value+3*(*got.high-*got.value)+slack {
						t.Errorf("%s of %s: interval %v … %v about %v is far from %v", name, region, shown(got.low), shown(got.high), *got.value, want)
					}
				}
			}
			for at, sex := range []string{"f", "m"} {
				persons := map[int]bool{}
				for _, r := range rows {
					if r.sex == sex {
						persons[r.person] = true
					}
				}
				if got := readFigure(t, filepath.Join(place, "tables", "persons.parquet"), int64(at), "units"); *got.value != float64(len(persons)) {
					t.Errorf("units of %s: %v, want %d", sex, *got.value, len(persons))
				}
			}
		})
	}
}

// shown is a number, or null.
func shown(v *float64) any {
	if v == nil {
		return "null"
	}
	return *v
}

// publishPay makes a signed and approved release of every statistic, with noise to speak of.
func publishPay(t *testing.T) auditable {
	t.Helper()
	return publishWith(t, payText("{rho: 1}", true, "show: {when_count_at_least: 500}"), payPolicy, payData(payRows()))
}

// TestNumbersVerifyAndAreFoundAltered alters columns of figures one by one, behind a manifest that lists what is there
// then, and wants the table named. Publishing again gives the same bytes.
func TestNumbersVerifyAndAreFoundAltered(t *testing.T) {
	o := publishPay(t)
	verifies(t, o.place, VerifyOptions{Trust: o.public})
	again, err := Publish(t.Context(), o.place+".measured", o.options)
	if err != nil || !again.Already {
		t.Fatalf("published again: %+v, %v", again, err)
	}
	v := o.read(t)
	tables, err := synth.Estimate(v.sealed)
	if err != nil {
		t.Fatal(err)
	}
	planned := v.sealed.Plan.Tables[0]
	name := planned.File()
	columns := columnsOf(tables[0], planned, "person")
	metadata, err := tableMetadata(tables[0], planned, columns)
	if err != nil {
		t.Fatal(err)
	}
	metadata = append(metadata, releaseMetadata(v.sealed.Plan, v.record.Status)...)
	first := len(columnsOf(synth.Table{Keys: tables[0].Keys, Statistics: tables[0].Statistics}, planned, "person"))
	if want := first + 3*6 + 9*5; len(columns) != want { // units, distinct and the sum have an unbiased column too
		t.Fatalf("%d columns, want %d", len(columns), want)
	}
	for i := first; i < len(columns); i += 7 { // of other figures another of their columns each
		if columns[i].kind == optionalText {
			continue
		}
		altered := slices.Clone(columns)
		altered[i].values = func(row int, into []parquet.Value) {
			columns[i].values(row, into)
			switch {
			case into[0].IsNull() && columns[i].kind == optionalInteger:
				into[0] = parquet.Int64Value(7).Level(0, 1, 0)
			case into[0].IsNull():
				into[0] = parquet.DoubleValue(7).Level(0, 1, 0)
			default:
				into[0] = parquet.NullValue()
			}
		}
		b, err := encodeRows(t.Context(), altered, tables[0].Cells, metadata, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		dir := o.copied(t)
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), b, 0o644); err != nil {
			t.Fatal(err)
		}
		relist(t, dir, name, b)
		refused(t, dir, VerifyOptions{}, name, "")
	}
	t.Run("flipped", func(t *testing.T) { flippedBytesAreFound(t, o, flips(t)/20) })
}

// relist lists a file in a manifest, which nobody has signed then, as it is now.
func relist(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	m, err := published.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	line := published.Line{Path: name, Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	if i := slices.IndexFunc(m.Files, func(l published.Line) bool { return l.Path == name }); i >= 0 {
		m.Files[i] = line
	} else {
		m.Files = append(m.Files, line)
	}
	inOrder := func(path string) string { return strings.ReplaceAll(path, "/", "\x00") }
	slices.SortFunc(m.Files, func(a, b published.Line) int { return strings.Compare(inOrder(a.Path), inOrder(b.Path)) })
	text, err := published.Indented(m)
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, published.ManifestFile), text, 0o644), os.RemoveAll(filepath.Join(dir, published.SignatureFile)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoiseIsNotPublishedAsAFigure publishes sums and medians of 50 codes, 13 of which no row has. What is published of a cell follows
// from its own interval: nothing where that is the whole range, and a sum of wages, which are not negative, is flagged where its
// interval reaches zero and is never below zero. Of 13 empty cells at least one is of each kind but with a chance of 1e-16.
func TestNoiseIsNotPublishedAsAFigure(t *testing.T) {
	text := strings.NewReplacer("[count, {mean: wage}]", "[count, {sum: wage}, {median: wage}]").Replace(payText("{rho: 1}", false, ""))
	o := officeWith(t, text, payPolicy, payData(payRows()))
	_, place := o.run(t)
	path := filepath.Join(place, "tables", "few.parquet")
	flagged, open := 0, 0
	for at := range int64(50) {
		sum := readFigure(t, path, at, "wage_sum")
		reaches := *sum.low <= 0
		if reaches {
			flagged++
		}
		if *sum.value < 0 || reaches != (sum.flag == "noise_dominates") || !reaches && sum.flag != "" {
			t.Errorf("the sum of code %d is %v in %v … %v, flagged %q", at+1, *sum.value, *sum.low, *sum.high, sum.flag)
		}
		median := readFigure(t, path, at, "wage_median")
		switch {
		case median.flag == "unbounded":
			if open++; median.value != nil || median.low != nil {
				t.Errorf("the median of code %d may be anything, and is published as %v", at+1, *median.value)
			}
		case median.value == nil || median.low == nil || *median.low <= 0 && *median.high >= 9999999:
			t.Errorf("the median of code %d: %+v", at+1, median)
		}
	}
	if flagged == 0 || open == 0 {
		t.Errorf("%d sums are flagged and %d medians open", flagged, open)
	}
	if _, err := Verify(t.Context(), place, VerifyOptions{}); err != nil {
		t.Error(err)
	}
}

// TestNumbersAreWithheldBelowTheShownCount publishes figures of cells above a count alone.
func TestNumbersAreWithheldBelowTheShownCount(t *testing.T) {
	rows := payRows()
	rows = slices.DeleteFunc(rows, func(r payRow) bool { return r.region == "s" && r.person > 20 })
	o := officeWith(t, payText(payBudget, false, "show: {when_count_at_least: 100}"), payPolicy, payData(rows))
	_, place := o.run(t)
	path := filepath.Join(place, "tables", "all.parquet")
	for _, name := range []string{"units", "pay_sum", "pay_mean", "pay_median", "women"} {
		if got := readFigure(t, path, 0, name); got.value == nil || got.flag != "" {
			t.Errorf("%s of n: %v, flag %q", name, shown(got.value), got.flag)
		}
		if got := readFigure(t, path, 1, name); got.value != nil || got.low != nil || got.flag != string(synth.Withheld) {
			t.Errorf("%s of s: %v, flag %q", name, shown(got.value), got.flag)
		}
	}
}

// TestNumbersRefuseBadData wants data that break their contract refused before anything is spent, and no value of them told.
func TestNumbersRefuseBadData(t *testing.T) {
	good := payData(payRows())
	for name, data := range map[string]string{
		"no number":        strings.Replace(good, "0,n,f,-3,1,1\n", "0,n,f,secret,1,1\n", 1),
		"not a number":     strings.Replace(good, "0,n,f,-3,1,1\n", "0,n,f,NaN,1,1\n", 1),
		"nothing":          strings.Replace(good, "0,n,f,-3,1,1\n", "0,n,f,,1,1\n", 1),
		"no weight":        strings.Replace(good, "0,n,f,-3,1,1\n", "0,n,f,-3,1,\n", 1),
		"a weight of text": strings.Replace(good, "0,n,f,-3,1,1\n", "0,n,f,-3,1,secret\n", 1),
		"no weights":       strings.Replace(good, "code,weight", "code,mass", 1),
		"no pay":           strings.Replace(good, "pay,", "salary,", 1),
	} {
		t.Run(name, func(t *testing.T) {
			if data == good {
				t.Fatal("the data are not altered")
			}
			o := officeWith(t, payText("{rho: 1}", true, ""), payPolicy, data)
			_, err := Run(t.Context(), o.plan, o.options("out"))
			if Classify(err).Exit != verdict.ExitData || strings.Contains(err.Error(), "secret") {
				t.Errorf("exit %d: %v", Classify(err).Exit, err)
			}
			if n := o.debits(t); n != 0 {
				t.Errorf("%d debits", n)
			}
		})
	}
}

// TestNumbersAnswerQuestions asks a release with weights for sums of cells, with next to no noise, and for what it cannot
// tell.
func TestNumbersAnswerQuestions(t *testing.T) {
	rows := payRows()
	o := officeWith(t, payText(payBudget, true, ""), payPolicy, payData(rows))
	opt, place := o.run(t)
	a, err := Query(t.Context(), place, Question{})
	if err != nil {
		t.Fatal(err)
	}
	want := payTruth(rows)["count"]
	got := a.Rows[0]
	if !a.Weighted || a.Step != "1/2" || math.Abs(got.Unbiased-want) > 6*got.StandardError || got.StandardError > 1 || got.High-got.Low > 4*got.StandardError+1 {
		t.Errorf("%+v: want %v, weighted", a, want)
	}
	var page strings.Builder
	if err := a.Write(&page); err != nil || !strings.Contains(page.String(), "count of weighted rows of jobs") {
		t.Errorf("%v: %s", err, &page)
	}
	few, err := Query(t.Context(), place, Question{By: []string{"code"}, Where: []string{"code=1..10"}})
	if err != nil || few.Bounded != "of one person at most 1 row in all" || few.Table != "few" || len(few.Rows) != 10 {
		t.Errorf("%+v, %v", few, err)
	}
	for _, c := range []struct {
		q    Question
		says string
	}{
		{Question{By: []string{"sex"}}, "counts each person once"},
		{Question{By: []string{"pay_mean"}}, "pay_mean is a figure of table all"},
		{Question{By: []string{"wage"}}, "column wage has no categories"},
		{Question{By: []string{"wgae"}}, "there is no column"},
		{Question{Where: []string{"women=1"}}, "women is a figure of table all"},
	} {
		if _, err := Query(t.Context(), place, c.q); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.q, err, c.says)
		}
	}
	trace, err := TraceCell(t.Context(), place, "all", []string{"region=n"})
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Figures) != 12 || math.Abs(trace.Difference) > 1e-9 || *trace.Figures[0].Published != payTruth(slices.DeleteFunc(payRows(), func(r payRow) bool { return r.region != "n" }))["units"] {
		t.Errorf("%+v", trace)
	}
	if one, err := TraceCell(t.Context(), place, "all_jobs", []string{""}); err != nil || len(one.Figures) != 1 || !one.Weighted {
		t.Errorf("%+v, %v", one, err)
	}
	evaluatesPay(t, o, opt, place)
}

// evaluatesPay compares a release of next to no noise with the truth.
func evaluatesPay(t *testing.T, o office, opt Options, place string) {
	t.Helper()
	opt.Out = filepath.Join(o.dir, "private")
	if err := evaluateTo(t.Context(), o.plan, place, opt); err != nil {
		t.Fatal(err)
	}
	v := readEvaluation(t, opt.Out)
	if !slices.ContainsFunc(v.Notes, func(note string) bool {
		return strings.Contains(note, "Table few counts of one person at most 1 row in all")
	}) {
		t.Errorf("the notes are %q", v.Notes)
	}
	if got, want := v.Tables[0].Rows, payTruth(payRows())["count"]; float64(got) != want {
		t.Errorf("the truth counts %d, want %v", got, want)
	}
	if len(v.Tables[0].Figures) != len(o.plan.Tables[0].Figures) || len(v.Tables) != 4 || len(v.Tables[1].Figures) != 0 {
		t.Fatalf("%+v", v.Tables)
	}
	truths := map[string]map[string]float64{}
	for _, region := range []string{"n", "s"} {
		truths[region] = payTruth(slices.DeleteFunc(payRows(), func(r payRow) bool { return r.region != region }))
	}
	for _, f := range v.Tables[0].Figures {
		var squares, covered float64
		for at, region := range []string{"n", "s"} {
			got, want := readFigure(t, filepath.Join(place, "tables", "all.parquet"), int64(at), f.Name), truths[region][f.Name]
			squares += math.Pow(*got.value-want, 2) / 2
			most := want
			if above, ok := truths[region][f.Name+upper]; ok {
				most = above // of all that are one
			}
			if *got.low <= want && most <= *got.high {
				covered += 0.5
			}
		}
		if f.Cells != 2 || f.Intervals != 2 || f.Coverage == nil || f.Withheld+f.Undefined != 0 {
			t.Errorf("%+v", f)
			continue
		}
		if f.Name == "pay_median" || strings.HasPrefix(f.Name, "share") { // every value between two is one, which may be nearer
			if f.RMSE > math.Sqrt(squares) || *f.Coverage != covered {
				t.Errorf("%s: RMSE %v and coverage %v, want %v and %v at worst", f.Name, f.RMSE, *f.Coverage, math.Sqrt(squares), covered)
			}
			continue
		}
		if math.Abs(f.RMSE-math.Sqrt(squares)) > 1e-6*(1+math.Sqrt(squares)) || *f.Coverage != covered {
			t.Errorf("%s: RMSE %v and coverage %v, want %v and %v", f.Name, f.RMSE, *f.Coverage, math.Sqrt(squares), covered)
		}
	}
	page, err := os.ReadFile(filepath.Join(opt.Out, EvaluationPage))
	if err != nil || !strings.Contains(string(page), "| all | pay_mean |") {
		t.Errorf("%v: %s", err, page)
	}
}

// TestNumbersOfTwoReleasesAreTold compares two draws, and one draw with a revision of it.
func TestNumbersOfTwoReleasesAreTold(t *testing.T) {
	o := officeWith(t, payText("{rho: 1}", true, ""), payPolicy, payData(payRows()))
	opt, place := o.run(t)
	opt.Revision = Revision{Number: 2, Reason: "clearer labels"}
	revised, err := Publish(t.Context(), place+".measured", opt)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Diff(t.Context(), place, revised.Place)
	if err != nil {
		t.Fatal(err)
	}
	all := d.Releases.Tables[0]
	if !d.Releases.SameDraw || len(all.Figures) != len(o.plan.Tables[0].Figures) || all.changed() != 0 || all.Figures[0].Compared == 0 {
		t.Errorf("a revision: %+v", all)
	}
	other := officeWith(t, payText("{rho: 1}", true, ""), payPolicy, payData(payRows()))
	_, second := other.run(t)
	d, err = Diff(t.Context(), place, second)
	if err != nil {
		t.Fatal(err)
	}
	all = d.Releases.Tables[0]
	if d.Releases.SameDraw || len(all.Figures) != len(o.plan.Tables[0].Figures) || all.Statistics[0].Margin < 1 {
		t.Errorf("another draw: %+v", all)
	}
	compared := int64(0)
	for _, table := range d.Releases.Tables {
		for _, f := range table.Figures {
			compared += f.Compared
			if math.Abs(f.Expected-0.1*float64(f.Compared)) > 1e-9*f.Expected || f.Changed > f.Compared { // each of two intervals misses 1 in 20
				t.Errorf("intervals of two draws: %+v", f)
			}
		}
	}
	if compared == 0 {
		t.Error("no intervals were compared")
	}
	var page strings.Builder
	if err := d.Write(&page, screen.Look{Columns: 10_000}); err != nil || !strings.Contains(page.String(), fmt.Sprintf("Of %s whose error has no law", budget.Plural(compared, "figure"))) {
		t.Errorf("%v: %s", err, &page)
	}
}

// TestNumbersSurviveACrash leaves a run as a kill behind its debit does, and wants the next to finish it without another.
func TestNumbersSurviveACrash(t *testing.T) {
	o := officeWith(t, payText("{rho: 1}", true, ""), payPolicy, payData(payRows()))
	opt := o.options("out")
	answers := crashAfterDebit(t, o, opt)
	result, err := Run(t.Context(), o.plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	if n := o.debits(t); n != 1 {
		t.Errorf("%d debits", n)
	}
	e, err := published.Open(result.Place)
	if err != nil {
		t.Fatal(err)
	}
	published, err := e.Answers(o.plan.Measurements)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range published {
		if drawn, ok := answers[m.Measurement.ID]; !ok || !slices.Equal(drawn, m.Values.Int64Values()) {
			t.Errorf("measurement %s was drawn again", m.Measurement.ID)
		}
	}
}

// TestNumbersAreRehearsed goes the whole way on made-up rows.
func TestNumbersAreRehearsed(t *testing.T) {
	o := officeWith(t, payText("{rho: 1}", true, ""), payPolicy, payData(payRows()))
	place, err := Rehearse(t.Context(), o.plan, 500, Options{Out: filepath.Join(o.dir, "rehearsals")})
	if err != nil {
		t.Fatal(err)
	}
	if got := readFigure(t, filepath.Join(place, "tables", "all.parquet"), 0, "pay_mean"); got.value == nil {
		t.Error("no mean")
	}
}

// TestNumbersSayWhatTheyAre reads the labels of figures from a published file.
func TestNumbersSayWhatTheyAre(t *testing.T) {
	o := publishPay(t)
	b, err := os.Open(filepath.Join(o.place, "tables", "all.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	info, err := b.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(b, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	text, _ := f.Lookup("dprelease.columns")
	var columns []column
	if err := json.Unmarshal([]byte(text), &columns); err != nil {
		t.Fatal(err)
	}
	labels := map[string]column{}
	for _, c := range columns {
		labels[c.Name] = c
	}
	for name, want := range map[string][2]string{
		"count":     {"count of weighted rows", "weighted rows"},
		"pay_mean":  {"mean of pay", "pay, by weight"},
		"units":     {"units that have a row", "units, each person once in a cell"},
		"share_q10": {"10% quantile of pay", "pay, by weight"},
		"women":     {"sex f over", "a number without a unit, by weight"},
	} {
		if c := labels[name]; !strings.Contains(c.Label, want[0]) || c.Unit != want[1] {
			t.Errorf("%s: %+v, want %q", name, c, want)
		}
	}
	for _, f := range o.plan.Tables[0].Figures {
		for _, suffix := range []string{plan.Published, plan.StandardError, plan.Low, plan.High, plan.Flag} {
			if labels[f.Name+suffix].Label == "" {
				t.Errorf("column %s%s has no label", f.Name, suffix)
			}
		}
	}
}
