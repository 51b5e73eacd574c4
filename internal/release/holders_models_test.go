package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth/model"
	"gonum.org/v1/gonum/stat/distuv"
)

// This file holds models of several holders: additive ones, whose rounds the holders answer together, and regressions.

// modelsSpec is a release of models, without a budget.
const modelsSpec = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove, account: persons}
budget: {epsilon: %s, delta: 1e-9, split: {risk: 1/3, effects: 1/3, tables: 1/3}}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 1}
    columns:
      x: {type: integer, range: [0, %d], levels: {band: {edges: [%s]}}}
      c: {values: [%s]}
      back: {values: ["no", "yes"]}
marginals: {backs: {by: [back], budget: tables}}
models:
  risk: {predict: {back: "yes"}, by: [x, c], test: 20%%}
  effects: {predict: {back: "yes"}, by: [%s], method: linear}
`

// modelsOf returns holders who have signed a release of models: x is below a number, and c has so many categories.
func modelsOf(t *testing.T, trust trustText, epsilon string, x, c int, regressors string) federation {
	t.Helper()
	f := newFederation(t, trust, modelsText(modelsSpec, epsilon, x, c, regressors))
	f.sign(t)
	return f
}

// modelsText returns a spec like modelsSpec with these numbers. The level of x has 40 bands.
func modelsText(spec, epsilon string, x, c int, regressors string) string {
	var edges, categories []string
	for i := range 40 {
		edges = append(edges, fmt.Sprint(i*x/40))
	}
	for i := range c {
		categories = append(categories, fmt.Sprint("c", i))
	}
	return fmt.Sprintf(spec, epsilon, x-1, strings.Join(edges, ", "), strings.Join(categories, ", "), regressors)
}

// withRows returns three holders, of whom two are trusted, with 600 rows each: a large x makes `back` likely. The
// additive model has a pair.
func withRows(t *testing.T) federation {
	t.Helper()
	f := newFederation(t, trustText{3, 2, "disjoint"}, strings.Replace(modelsText(modelsSpec, "9", 40, 3, "x, c"),
		"by: [x, c], test", "by: [x, c], pairs: [[c, x]], test", 1))
	f.sign(t)
	for i := range f.holders {
		rows := &strings.Builder{}
		rows.WriteString("who,x,c,back\n")
		for n := range 600 {
			x, c, back := rowOf(i, n)
			fmt.Fprintf(rows, "%d-%d,%d,c%d,%s\n", i, n, x, c, map[bool]string{true: "yes", false: "no"}[back])
		}
		f.give(t, i, rows.String())
	}
	return f
}

// measureTogether has all holders measure at the same time, as the rounds of a model need it, each in its context, and
// returns their errors.
func (f federation) measureTogether(all ...context.Context) []error {
	errs := make([]error, len(all))
	err := parallel.Do(context.Background(), len(all), len(all), func(i int) error {
		_, errs[i] = Measure(all[i], f.plan, f.options(i))
		return nil
	})
	return append(errs, err)
}

// measureModels is measureTogether without an error.
func (f federation) measureModels(t *testing.T) {
	t.Helper()
	if err := errors.Join(f.measureTogether(slices.Repeat([]context.Context{t.Context()},
		len(f.holders))...)...); err != nil {
		t.Fatal(err)
	}
}

// sum adds up the shares of all holders.
func (f federation) sum(t *testing.T) *measured.Sealed {
	t.Helper()
	r, err := Combine(t.Context(), f.shares(), f.office())
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := openSealed(r.Folder, false)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestErrorsOfModelsOfHoldersHaveTheirLaw adds up the answers of holders without rows, which are noise alone: of three
// holders of whom two are trusted, discrete Gaussian noise of 3/2 of the plan's σ².
//
// Failures by chance: χ² over the answers of one kind is rejected beyond 6.7 standard deviations of a normal law, which
// happens with probability 2.1e-11. There are 10 such checks.
//
// Power: of a holder without noise, and of shares of which all three are needed, χ² has two thirds of its mean. Over
// 2100 answers or more these are 10.8 standard deviations, of which its own are two thirds, so that each is missed with
// probability below 1e-9. Squares are too few to show them.
func TestErrorsOfModelsOfHoldersHaveTheirLaw(t *testing.T) {
	const shares, needed = 3, 2
	for _, units := range []string{"disjoint", "{overlap: 2}"} {
		f := modelsOf(t, trustText{shares, needed, units}, "20", 2100, 80, "c, x.band")
		for i := range f.holders {
			f.give(t, i, "who,x,c,back\n")
		}
		f.measureModels(t)
		s := f.sum(t)
		for i, m := range f.plan.Models {
			answers := s.Training[i].Rounds
			for _, r := range m.Rounds {
				errs := slices.Concat(answers[:r.Times]...)
				answers = answers[r.Times:]
				parameter, _ := r.Noise.Parameter.Float64()
				if off := chiSquare(errs, parameter*shares/needed); math.Abs(off) > 6.7 {
					t.Errorf("units %s, %s: χ² over %d %s is off by %.1f deviations", units, m.Name, len(errs), r.Asks,
						off)
				}
				if r.Asks == plan.SquareSums {
					continue
				}
				if len(errs) < 2100 {
					t.Errorf("%d %s are too few", len(errs), r.Asks)
				}
				for _, mistake := range []lawMistake{{"one holder without noise", shares - 1, needed},
					{"shares of which all are needed", shares, shares}} {
					drawn := drawGaussian(t, r.Noise.Parameter, mistake.shares, mistake.needed, len(errs))
					if off := chiSquare(drawn, parameter*shares/needed); math.Abs(off) <= 6.7 {
						t.Errorf("%s: not noticed in %s", mistake.what, r.Asks)
					}
				}
			}
			last := m.Rounds[len(m.Rounds)-1]
			if m.Test != "" {
				parameter, _ := last.Noise.Parameter.Float64()
				off := chiSquare(s.Training[i].HeldOut, parameter*float64(last.Times)*shares/needed)
				if math.Abs(off) > 6.7 {
					t.Errorf("units %s: χ² over held-out rows is off by %.1f deviations", units, off)
				}
			}
		}
	}
}

// chiSquare returns how far χ² of errors of a variance is from what it should be, as a quantile of the normal law.
func chiSquare(errs []int64, variance float64) float64 {
	sum := 0.0
	for _, e := range errs {
		sum += float64(e) * float64(e) / variance
	}
	law := distuv.ChiSquared{K: float64(len(errs))}
	if below := law.CDF(sum); below < .5 {
		return distuv.UnitNormal.Quantile(max(below, 1e-300))
	}
	return -distuv.UnitNormal.Quantile(max(law.Survival(sum), 1e-300))
}

// drawGaussian draws so many sums of shares of discrete Gaussian noise.
func drawGaussian(t *testing.T, parameter *big.Rat, shares, needed, cells int) []int64 {
	t.Helper()
	key, err := noise.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	streams, sums := noise.NewStreams(key, "mistakes"), make([]int64, cells)
	for i := range shares {
		share := new(big.Rat).Quo(parameter, big.NewRat(int64(needed), 1))
		if err := noise.AddDiscreteGaussian(streams.Noise([]byte("m"), nil, i), share, sums); err != nil {
			t.Fatal(err)
		}
	}
	return sums
}

// TestModelsOfHoldersAreOfAllRows publishes and verifies a release of three holders, and compares the slope of the
// regression with that of all rows: it is within 7 standard errors of noise, but for a chance below 1e-11.
func TestModelsOfHoldersAreOfAllRows(t *testing.T) {
	f := withRows(t)
	f.measureModels(t)
	out := f.publish(t)
	var effects model.Regression
	readModel(t, out, "effects", &effects)
	slope := effects.Terms[slices.IndexFunc(effects.Terms,
		func(one model.RegressionTerm) bool { return one.Column == "x" })]
	if off := (*slope.Coefficient - f.slope()) / slope.NoiseError; math.Abs(off) > 7 {
		t.Errorf("the slope is %g, and %g of all rows: %.1f noise errors", *slope.Coefficient, f.slope(), off)
	}
	var risk model.Published
	readModel(t, out, "risk", &risk)
	if len(risk.Pairs) != 1 {
		t.Errorf("it has %d pairs", len(risk.Pairs))
	}
	if scores := risk.Columns[0].Scores; !(scores[37]-scores[2] > 2) {
		t.Errorf("scores rise from %g to %g: the model has not learned", scores[2], scores[37])
	}
	if risk.Performance == nil || risk.Performance.AUC == nil || !(risk.Performance.AUC.Estimate > .7) {
		t.Errorf("the held-out rows show %+v", risk.Performance)
	}
}

// readModel reads a published model.
func readModel(t *testing.T, release, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(release, "models", name+".json"))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// row returns a row of [withRows]: x, c, and whether it is back.
func rowOf(holder, n int) (x, c int, back bool) {
	x = (7*n + holder) % 40
	return x, n % 3, n%41 < x
}

// slope returns the least-squares slope of `back` on x, given c, over all rows: by Frisch, Waugh and Lovell that of the
// deviations from the means of each c.
func (f federation) slope() float64 {
	var n, sumX, sumY, sumXX, sumXY [3]float64
	for i := range f.holders {
		for k := range 600 {
			x, c, back := rowOf(i, k)
			n[c]++
			sumX[c] += float64(x)
			sumXX[c] += float64(x * x)
			if back {
				sumY[c]++
				sumXY[c] += float64(x)
			}
		}
	}
	xx, xy := 0.0, 0.0
	for c := range n {
		xx += sumXX[c] - sumX[c]*sumX[c]/n[c]
		xy += sumXY[c] - sumX[c]*sumY[c]/n[c]
	}
	return xy / xx
}

// waitFor waits until a file is there.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 2000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s does not come", path)
}

// answer returns the path of a holder's answer to a round of a model.
func (f federation) answer(t *testing.T, i int, model string, round int) string {
	t.Helper()
	m, err := f.options(i).maskingFor(f.plan)
	if err != nil {
		t.Fatal(err)
	}
	return m.exchange(f.plan).path(roundAnswer{Model: model, Round: round}, f.holders[i].Name)
}

// isCutOff stops the second holder once its answer to a round is at a path. It must resume with the same answer and pay
// once, and the others must have waited.
func (f federation) isCutOff(t *testing.T, path string) {
	t.Helper()
	cut, stop := context.WithCancel(t.Context())
	done := make(chan []error)
	go func() { done <- f.measureTogether(t.Context(), cut, t.Context()) }()
	waitFor(t, path)
	stop()
	for range 400 { // until the process would be gone
		time.Sleep(5 * time.Millisecond)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), f.plan, f.options(1)); err != nil {
		t.Fatal(err)
	}
	if errs := <-done; errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Fatal(errs)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the answer to a round is another one after resuming: %v", err)
	}
	for i := range f.holders {
		if cost := f.spent(t, i); !cost.Equal(f.plan.Cost) {
			t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
		}
	}
}

// TestAHolderIsCutOffInTheRounds stops a holder in the middle of the rounds. It resumes with the same answers, and pays
// once; the others have waited.
func TestAHolderIsCutOffInTheRounds(t *testing.T) {
	f := withRows(t)
	f.isCutOff(t, f.answer(t, 1, "risk", 9))
	f.publish(t)
}

// TestAHolderWithdrawsBeforeTheRounds has the last holder withdraw while the others wait for its first answer. They
// sign again, and fit the model without it, with the noise of those who are left.
func TestAHolderWithdrawsBeforeTheRounds(t *testing.T) {
	f := withRows(t)
	cut, stop := context.WithCancel(t.Context())
	done := make(chan []error)
	go func() { done <- f.measureTogether(cut, cut) }()
	waitFor(t, f.answer(t, 0, "risk", 0))
	waitFor(t, f.answer(t, 1, "risk", 0))
	stop()
	if errs := <-done; errs[0] == nil || errs[1] == nil {
		t.Fatal(errs)
	}
	left := f.withdraw(t, 1)
	left.measureModels(t)
	s := left.sum(t)
	for _, r := range s.Plan.Models[0].Rounds {
		if r.Noise.Shares.Added != 2 {
			t.Errorf("the noise of %s is taken for that of %d holders", r.Asks, r.Noise.Shares.Added)
		}
	}
	left.publish(t)
	for i := range left.holders {
		if cost := f.spent(t, i); !cost.Equal(f.plan.Cost) {
			t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
		}
	}
}

// TestRegressionsAreMaskedAnew has a holder withdraw from regressions after the others have measured: their shares are
// masked anew, without another debit, and sum up to moments with the noise of those who are left.
func TestRegressionsAreMaskedAnew(t *testing.T) {
	spec := modelsText(
		strings.ReplaceAll(modelsSpec, "  risk: {predict: {back: \"yes\"}, by: [x, c], test: 20%%}\n", ""), "30", 40, 3,
		"x, c")
	spec = strings.Replace(spec, "split: {risk: 1/3, effects: 1/3, tables: 1/3}", "split: {effects: 1/2, tables: 1/2}",
		1)
	f := newFederation(t, trustText{3, 2, "disjoint"}, spec)
	f.sign(t)
	for i := range f.holders {
		f.give(t, i, "who,x,c,back\n1,3,c0,yes\n")
	}
	f.except(1).measure(t)
	left := f.withdraw(t, 1).measureAgain(t)
	left.publish(t)
	rounds := left.sum(t).Training[0].Rounds
	rows, deviation := float64(rounds[0][0])/(1<<20), math.Sqrt(f.plan.Models[0].Rounds[0].Noise.Variance()*2/3)/(1<<20)
	if math.Abs(rows-2) > 7*deviation {
		t.Errorf("%g rows of two holders with one each, and the noise has a deviation of %g", rows, deviation)
	}
	if cost := f.spent(t, 0); !cost.Equal(f.plan.Cost) {
		t.Errorf("%s is spent, and the plan costs %s", cost, f.plan.Cost)
	}
}

// TestAnswersOfOthersAreChecked changes what a holder finds of another one: each change is refused, and the holder can
// go on once the answer is as it was.
func TestAnswersOfOthersAreChecked(t *testing.T) {
	f := withRows(t)
	cut, stop := context.WithCancel(t.Context())
	done := make(chan []error)
	go func() { done <- f.measureTogether(cut, t.Context(), t.Context()) }()
	waitFor(t, f.answer(t, 0, "risk", 3))
	stop()
	path := f.answer(t, 1, "risk", 2)
	sound, err := regular.Read(path, roundBytes)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // until the process would be gone
	for name, change := range map[string]func(a *roundAnswer){
		"another number":   func(a *roundAnswer) { a.Masked[0]++ },
		"a number less":    func(a *roundAnswer) { a.Masked = a.Masked[1:] },
		"another holder's": func(a *roundAnswer) { a.Signature[3] ^= 1 },
		"another roll":     func(a *roundAnswer) { a.Roll = strings.Repeat("0", 64) },
	} {
		var a roundAnswer
		if err := json.Unmarshal(sound, &a); err != nil {
			t.Fatal(err)
		}
		change(&a)
		if err := os.WriteFile(path, canonical.Must(canonical.Indented(a)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Measure(t.Context(), f.plan, f.options(0)); err == nil || !strings.Contains(err.Error(),
			"all holders measure the same plan") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(path, sound, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(t.Context(), f.plan, f.options(0)); err != nil {
		t.Fatal(err)
	}
	<-done
	f.publish(t)
}

// TestRoundsNeedAFolder: without a folder that all share nothing is reserved or spent.
func TestRoundsNeedAFolder(t *testing.T) {
	f := withRows(t)
	o := f.options(0)
	alone := *o.Holder
	alone.Rounds = ""
	o.Holder = &alone
	f.refusesToMeasure(t, f.plan, o, 0, "--rounds DIR")
	alone.Rounds = filepath.Join(f.dir, "missing")
	f.refusesToMeasure(t, f.plan, o, 0, "make it first")
	alone.Rounds = filepath.Join(f.shared(), "release.yaml")
	f.refusesToMeasure(t, f.plan, o, 0, "make it first")
}

// TestNoAnswerIsWrittenThroughALink: whoever can write in the shared folder cannot have a holder write elsewhere.
func TestNoAnswerIsWrittenThroughALink(t *testing.T) {
	f := withRows(t)
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Dir(f.answer(t, 0, "risk", 0))); err != nil {
		t.Skip("needs symbolic links")
	}
	if _, err := Measure(t.Context(), f.plan, f.options(0)); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("through a link: %v", err)
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
}

// TestHoldersHaveModelsAlone: a release of models alone can be planned under ε and δ, whatever noise its tables would
// have.
func TestHoldersHaveModelsAlone(t *testing.T) {
	spec := strings.Replace(modelsText(modelsSpec, "3", 40, 3, "x, c"),
		"marginals: {backs: {by: [back], budget: tables}}\n", "", 1)
	newFederation(t, trustText{3, 2, "disjoint"}, strings.Replace(spec,
		"split: {risk: 1/3, effects: 1/3, tables: 1/3}", "split: {risk: 1/2, effects: 1/2}", 1))
}

// TestNoRoundIsAnsweredTwice has a holder change its answer to a round while another one is cut off: it would then be
// asked something else in the next round. With its journal it refuses to answer that, and without its journal to go on.
func TestNoRoundIsAnsweredTwice(t *testing.T) {
	const target, next = 2, 3 // the round that counts the target, and the first round of residuals
	for _, lost := range []bool{false, true} {
		t.Run(map[bool]string{false: "with its journal", true: "without its journal"}[lost], func(t *testing.T) {
			f := withRows(t)
			cut, stop := context.WithCancel(t.Context())
			done := make(chan []error)
			go func() { done <- f.measureTogether(cut, cut, cut) }()
			waitFor(t, f.answer(t, 0, "risk", next+2))
			stop()
			<-done
			asked := func() string {
				var a roundAnswer
				text, err := regular.Read(f.answer(t, 0, "risk", next), roundBytes)
				if err == nil {
					err = json.Unmarshal(text, &a)
				}
				if err != nil {
					t.Fatal(err)
				}
				return a.Asked
			}
			before := asked()
			m, err := f.options(1).maskingFor(f.plan)
			if err != nil {
				t.Fatal(err)
			}
			x := m.exchange(f.plan)
			var a roundAnswer
			text, err := os.ReadFile(f.answer(t, 1, "risk", target))
			if err == nil {
				err = json.Unmarshal(text, &a)
			}
			if err != nil {
				t.Fatal(err)
			}
			a.Masked[0] += 3000
			if a.Signature, err = x.roll.SignAnswer(x.key, x.name, a.question(), a.Masked); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(f.answer(t, 1, "risk", target), canonical.Must(canonical.Indented(a)),
				0o644); err != nil {
				t.Fatal(err)
			}
			if lost {
				removed := 0
				err := filepath.WalkDir(
					filepath.Join(f.dir, f.holders[0].Name),
					func(path string, _ os.DirEntry, err error) error {
						if err == nil && strings.HasSuffix(path, state.JournalFile) {
							removed++
							return os.Remove(path)
						}
						return err
					},
				)
				if err != nil || removed != 1 {
					t.Fatalf("%d journals: %v", removed, err)
				}
			}
			if _, err = Measure(t.Context(), f.plan, f.options(0)); !errors.As(err, new(*JournalRefused)) {
				t.Errorf("it resumes: %v", err)
			}
			if after := asked(); after != before {
				t.Errorf("round %d was answered to the question %.8s, and then to %.8s", next, before, after)
			}
		})
	}
}

// TestAHolderAnswersARoundWithOneVector: for one roll an answer is repeated from the journal, whatever would be drawn
// now; for another roll it is drawn again, and by the same version only.
func TestAHolderAnswersARoundWithOneVector(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	give := func(roll string, vector []int64) []int64 {
		t.Helper()
		j, err := openJournal(path, "plan", "commitment")
		if err != nil {
			t.Fatal(err)
		}
		defer j.close()
		r := &journalledRounds{journal: j, model: plan.Model{Name: "risk"}, others: &exchange{hash: roll}}
		got, err := r.answer(journalEntry{Asked: "asked", Roll: roll}, len(vector),
			func() ([]int64, error) { return vector, nil }, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct {
		roll       string
		drawn, got []int64
	}{{"all", []int64{1, 2}, []int64{1, 2}}, {"all", []int64{5, 9}, []int64{1, 2}},
		{"left", []int64{5, 9}, []int64{5, 9}}} {
		if got := give(c.roll, c.drawn); !slices.Equal(got, c.got) {
			t.Errorf("for the roll %s: %d, expected %d", c.roll, got, c.got)
		}
	}
	j, err := openJournal(path, "plan", "commitment")
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if err := j.checkLeft(true); err != nil {
		t.Error(err)
	}
	j.header.Software = "another version"
	if err := j.checkLeft(true); !errors.As(err, new(*JournalRefused)) {
		t.Errorf("another version goes on: %v", err)
	}
}
