package release

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/evaluate"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/query"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/show"
	"github.com/dprelease/dprelease/internal/trace"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// This file holds releases of every statistic, from a spec to what verifies.

// upper is the suffix of the name of the largest value that is a quantile too: if exactly the given share of rows lies
// below, every value up to the next row's is a quantile.
const upper = " up to"

// payTruth works out the figures of some rows from their definitions.
func payTruth(rows []releasetest.PayRow) map[string]float64 {
	truth := map[string]float64{}
	persons, codes := map[int]bool{}, map[int]bool{}
	var rest []releasetest.PayRow
	var squares, codeSum float64
	of := map[string][2]float64{} // sum and count by sex
	for _, r := range rows {
		persons[r.Person], codes[r.Code] = true, true
		truth["count"] += r.Weight
		truth["pay_sum"] += r.Weight * r.Clamped()
		codeSum += r.Weight * float64(r.Code)
		of[r.Sex] = [2]float64{of[r.Sex][0] + r.Weight*r.Clamped(), of[r.Sex][1] + r.Weight}
		rest = append(rest, r)
	}
	truth["units"], truth["code_distinct"] = float64(len(persons)), float64(len(codes))
	truth["pay_mean"] = truth["pay_sum"] / truth["count"]
	for _, r := range rows {
		squares += r.Weight * math.Pow(r.Clamped()-truth["pay_mean"], 2)
	}
	truth["pay_variance"] = squares / truth["count"]
	truth["pay_deviation"] = math.Sqrt(truth["pay_variance"])
	truth["rate"] = truth["pay_sum"] / codeSum
	truth["women"] = of["f"][1] / truth["count"]
	truth["gap"] = of["f"][0] / of["f"][1] / (of["m"][0] / of["m"][1])
	slices.SortFunc(rest, func(a, b releasetest.PayRow) int { return int(math.Copysign(1, a.Clamped()-b.Clamped())) })
	for name, share := range map[string]float64{"pay_median": 0.5, "share_q10": 0.1, "share_q90": 0.9} {
		below := 0.0
		for _, r := range rest {
			below += r.Weight
			if _, there := truth[name]; !there && below >= share*truth["count"] {
				truth[name] = r.Clamped()
			}
			if below > share*truth["count"] {
				truth[name+upper] = r.Clamped()
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
	row, columns, err := releasetest.Row(path, at)
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

// TestNumbersAreThoseOfTheRows publishes every statistic with little noise, with and without weights, and wants the
// figures of the rows, worked out from their definitions: within a twentieth, and within 3.5 times the reach of their
// intervals. That is 6.8 standard errors, beyond which the noise of a hundred figures lies with a chance of 1e-9.
func TestNumbersAreThoseOfTheRows(t *testing.T) {
	for _, weighted := range []bool{false, true} {
		t.Run(fmt.Sprintf("weighted %v", weighted), func(t *testing.T) {
			rows := releasetest.PayRows()
			o := releasetest.With(t, releasetest.PayText(releasetest.PayBudget, weighted, ""), releasetest.PayPolicy,
				releasetest.PayData(rows))
			_, place := runRelease(t, o)
			if !weighted {
				for i := range rows {
					rows[i].Weight = 1
				}
			}
			path := filepath.Join(place, "tables", "all.parquet")
			for at, region := range []string{"n", "s"} {
				var own []releasetest.PayRow
				for _, r := range rows {
					if r.Region == region {
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
					if strings.HasPrefix(name, "share") || name == "pay_median" {
						slack = 1 + truth[name+upper] - want // values a few ranks away are as far apart
						most = slack
					}
					if got.value == nil || math.Abs(*got.value-want) > most {
						t.Errorf("%s of %s: %v, want %v", name, region, valueOf(got.value), want)
						continue
					}
					if got.low == nil {
						t.Errorf("%s of %s has no interval", name, region)
						continue
					}
					value := *got.value
					if name == "count" {
						value = (*got.low + *got.high) / 2 // the published one is whole
					}
					if want < value-3.5*(value-*got.low)-slack || want > value+3.5*(*got.high-value)+slack {
						t.Errorf("%s of %s: interval %v … %v about %v is far from %v", name, region, valueOf(got.low),
							valueOf(got.high),
							*got.value, want)
					}
				}
			}
			for at, sex := range []string{"f", "m"} {
				persons := map[int]bool{}
				for _, r := range rows {
					if r.Sex == sex {
						persons[r.Person] = true
					}
				}
				got := readFigure(t, filepath.Join(place, "tables", "persons.parquet"), int64(at), "units")
				if *got.value != float64(len(persons)) {
					t.Errorf("units of %s: %v, want %d", sex, *got.value, len(persons))
				}
			}
		})
	}
}

// valueOf is a number, or null.
func valueOf(v *float64) any {
	if v == nil {
		return "null"
	}
	return *v
}

// TestNoiseIsNotPublishedAsAFigure publishes sums and medians of 50 codes, 13 of which no row has. What is published of
// a cell follows from its own interval: nothing where that is the whole range, and a sum of wages, which are not
// negative, is flagged where its interval reaches zero and is never below zero. Of 13 empty cells at least one is of
// each kind but with a chance of 1e-16.
func TestNoiseIsNotPublishedAsAFigure(t *testing.T) {
	text := strings.NewReplacer("[count, {mean: wage}]", "[count, {sum: wage}, {median: wage}]").
		Replace(releasetest.PayText("{rho: 1}", false, ""))
	o := releasetest.With(t, text, releasetest.PayPolicy, releasetest.PayData(releasetest.PayRows()))
	_, place := runRelease(t, o)
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
	if _, err := verify.Folder(t.Context(), place, verify.Options{}); err != nil {
		t.Error(err)
	}
}

// TestNumbersAreWithheldBelowTheShownCount publishes figures of cells above a count alone.
func TestNumbersAreWithheldBelowTheShownCount(t *testing.T) {
	rows := releasetest.PayRows()
	rows = slices.DeleteFunc(rows, func(r releasetest.PayRow) bool { return r.Region == "s" && r.Person > 20 })
	o := releasetest.With(t, releasetest.PayText(releasetest.PayBudget, false, "show: {when_count_at_least: 100}"),
		releasetest.PayPolicy, releasetest.PayData(rows))
	_, place := runRelease(t, o)
	path := filepath.Join(place, "tables", "all.parquet")
	for _, name := range []string{"units", "pay_sum", "pay_mean", "pay_median", "women"} {
		if got := readFigure(t, path, 0, name); got.value == nil || got.flag != "" {
			t.Errorf("%s of n: %v, flag %q", name, valueOf(got.value), got.flag)
		}
		if got := readFigure(t, path, 1, name); got.value != nil || got.low != nil ||
			got.flag != string(synth.Withheld) {
			t.Errorf("%s of s: %v, flag %q", name, valueOf(got.value), got.flag)
		}
	}
}

// TestNumbersRefuseBadData wants data that break their contract refused before anything is spent, and no value of them
// told.
func TestNumbersRefuseBadData(t *testing.T) {
	good := releasetest.PayData(releasetest.PayRows())
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
			o := releasetest.With(t, releasetest.PayText("{rho: 1}", true, ""), releasetest.PayPolicy, data)
			_, err := Run(t.Context(), o.Plan, optionsOf(o, "out"))
			if ending.Of(err).Exit != verdict.ExitData || strings.Contains(err.Error(), "secret") {
				t.Errorf("exit %d: %v", ending.Of(err).Exit, err)
			}
			if n := o.Debits(t); n != 0 {
				t.Errorf("%d debits", n)
			}
		})
	}
}

// TestNumbersAnswerQuestions asks a release with weights for sums of cells, with next to no noise, and for what it
// cannot tell.
func TestNumbersAnswerQuestions(t *testing.T) {
	rows := releasetest.PayRows()
	o := releasetest.With(t, releasetest.PayText(releasetest.PayBudget, true, ""), releasetest.PayPolicy,
		releasetest.PayData(rows))
	opt, place := runRelease(t, o)
	a, err := query.Query(t.Context(), place, query.Question{})
	if err != nil {
		t.Fatal(err)
	}
	want := payTruth(rows)["count"]
	got := a.Rows[0]
	if !a.Weighted || a.Step != "1/2" || math.Abs(got.Unbiased-want) > 6*got.StandardError || got.StandardError > 1 ||
		got.High-got.Low > 4*got.StandardError+1 {
		t.Errorf("%+v: want %v, weighted", a, want)
	}
	var page strings.Builder
	if err := a.Write(&page); err != nil || !strings.Contains(page.String(), "count of weighted rows of jobs") {
		t.Errorf("%v: %s", err, &page)
	}
	few, err := query.Query(t.Context(), place, query.Question{By: []string{"code"}, Where: []string{"code=1..10"}})
	if err != nil || few.Bounded != "of one person at most 1 row in all" || few.Table != "few" || len(few.Rows) != 10 {
		t.Errorf("%+v, %v", few, err)
	}
	for _, c := range []struct {
		q    query.Question
		says string
	}{
		{query.Question{By: []string{"sex"}}, "counts each person once"},
		{query.Question{By: []string{"pay_mean"}}, "pay_mean is a figure of table all"},
		{query.Question{By: []string{"wage"}}, "column wage has no categories"},
		{query.Question{By: []string{"wgae"}}, "there is no column"},
		{query.Question{Where: []string{"women=1"}}, "women is a figure of table all"},
	} {
		if _, err := query.Query(t.Context(), place, c.q); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.q, err, c.says)
		}
	}
	traced, err := trace.Cell(t.Context(), place, "all", []string{"region=n"})
	if err != nil {
		t.Fatal(err)
	}
	if len(traced.Figures) != 12 || math.Abs(traced.Difference) > 1e-9 ||
		*traced.Figures[0].Published != payTruth(slices.DeleteFunc(releasetest.PayRows(),
			func(r releasetest.PayRow) bool { return r.Region != "n" }))["units"] {
		t.Errorf("%+v", traced)
	}
	if one, err := trace.Cell(t.Context(), place, "all_jobs", []string{""}); err != nil || len(one.Figures) != 1 ||
		!one.Weighted {
		t.Errorf("%+v, %v", one, err)
	}
	evaluatesPay(t, o, opt, place)
}

// evaluatesPay compares a release of next to no noise with the truth.
func evaluatesPay(t *testing.T, o releasetest.Office, opt Options, place string) {
	t.Helper()
	opt.Out = filepath.Join(o.Dir, "private")
	if err := evaluateTo(t.Context(), o.Plan, place, opt); err != nil {
		t.Fatal(err)
	}
	v := readEvaluation(t, opt.Out)
	if !slices.ContainsFunc(v.Notes, func(note string) bool {
		return strings.Contains(note, "Table few counts of one person at most 1 row in all")
	}) {
		t.Errorf("the notes are %q", v.Notes)
	}
	if got, want := v.Tables[0].Rows, payTruth(releasetest.PayRows())["count"]; float64(got) != want {
		t.Errorf("the truth counts %d, want %v", got, want)
	}
	if len(v.Tables[0].Figures) != len(o.Plan.Tables[0].Figures) || len(v.Tables) != 4 ||
		len(v.Tables[1].Figures) != 0 {
		t.Fatalf("%+v", v.Tables)
	}
	truths := map[string]map[string]float64{}
	for _, region := range []string{"n", "s"} {
		truths[region] = payTruth(slices.DeleteFunc(releasetest.PayRows(),
			func(r releasetest.PayRow) bool { return r.Region != region }))
	}
	for _, f := range v.Tables[0].Figures {
		var squares, covered float64
		for at, region := range []string{"n", "s"} {
			got, want := readFigure(t, filepath.Join(place, "tables", "all.parquet"), int64(at), f.Name),
				truths[region][f.Name]
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
		// every value between two is one, which may be nearer
		if f.Name == "pay_median" || strings.HasPrefix(f.Name, "share") {
			if f.RMSE > math.Sqrt(squares) || *f.Coverage != covered {
				t.Errorf("%s: RMSE %v and coverage %v, want %v and %v at worst", f.Name, f.RMSE, *f.Coverage,
					math.Sqrt(squares),
					covered)
			}
			continue
		}
		if math.Abs(f.RMSE-math.Sqrt(squares)) > 1e-6*(1+math.Sqrt(squares)) || *f.Coverage != covered {
			t.Errorf("%s: RMSE %v and coverage %v, want %v and %v", f.Name, f.RMSE, *f.Coverage, math.Sqrt(squares),
				covered)
		}
	}
	page, err := os.ReadFile(filepath.Join(opt.Out, evaluate.EvaluationPage))
	if err != nil || !strings.Contains(string(page), "| all | pay_mean |") {
		t.Errorf("%v: %s", err, page)
	}
}

// TestNumbersSurviveACrash leaves a run as a kill behind its debit does, and wants the next to finish it without
// another.
func TestNumbersSurviveACrash(t *testing.T) {
	o := releasetest.With(t, releasetest.PayText("{rho: 1}", true, ""), releasetest.PayPolicy,
		releasetest.PayData(releasetest.PayRows()))
	opt := optionsOf(o, "out")
	answers := crashAfterDebit(t, o, opt)
	result, err := Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits", n)
	}
	e, err := published.Open(result.Folder)
	if err != nil {
		t.Fatal(err)
	}
	published, err := e.Answers(o.Plan.Measurements)
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
	o := releasetest.With(t, releasetest.PayText("{rho: 1}", true, ""), releasetest.PayPolicy,
		releasetest.PayData(releasetest.PayRows()))
	place, err := Rehearse(t.Context(), o.Plan, 500, Options{Out: filepath.Join(o.Dir, "rehearsals")})
	if err != nil {
		t.Fatal(err)
	}
	if got := readFigure(t, filepath.Join(place, "tables", "all.parquet"), 0, "pay_mean"); got.value == nil {
		t.Error("no mean")
	}
}

// TestNumbersSayWhatTheyAre reads the labels of figures from a published file.
func TestNumbersSayWhatTheyAre(t *testing.T) {
	o := releasetest.With(t, releasetest.PayText("{rho: 1}", true, ""), releasetest.PayPolicy,
		releasetest.PayData(releasetest.PayRows()))
	_, place := runRelease(t, o)
	b, err := os.Open(filepath.Join(place, "tables", "all.parquet"))
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
	var columns []show.Column
	if err := json.Unmarshal([]byte(text), &columns); err != nil {
		t.Fatal(err)
	}
	labels := map[string]show.Column{}
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
	for _, f := range o.Plan.Tables[0].Figures {
		for _, suffix := range []string{statistic.Published, statistic.StandardError, statistic.Low, statistic.High,
			statistic.Flag} {
			if labels[f.Name+suffix].Label == "" {
				t.Errorf("column %s%s has no label", f.Name, suffix)
			}
		}
	}
}
