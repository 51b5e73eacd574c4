package main

// This file compares how well our models and those of peers predict: fitted to the same rows, at the same ε and δ, and
// judged by the same other rows.

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dprelease/dprelease"
	"github.com/dprelease/dprelease/internal/predict"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/synth/model"
)

// modelEpsilons are the budgets at which models are compared, with modelDelta.
var modelEpsilons = []float64{.1, .5, 1, 2, 4, 8}

const modelDelta = 1e-5

// modelPeers are the libraries that fit models, each with what it fits.
var modelPeers = []struct{ name, words string }{
	{"interpret", "DP-EBM"}, {"diffprivlib", "logistic, δ = 0"}, {"opacus", "logistic by DP-SGD"}}

// modelJob says which models to fit, and which rows to score. It is also the input of the script that runs a peer.
type modelJob struct {
	Peer     string        `json:"peer"`
	Train    string        `json:"train"`
	Rows     int           `json:"rows"` // to fit to
	Test     string        `json:"test"`
	Columns  []modelColumn `json:"columns"`
	Target   string        `json:"target"`
	Positive string        `json:"positive"`
	Epsilons []float64     `json:"epsilons"`
	Delta    float64       `json:"delta"`
}

// fits are the models of one method, fitted to the same rows, one for each ε.
type fits struct {
	Version string `json:"version"` // of a peer
	Fits    []fit  `json:"fits"`
}

// fit is one model: how long it took to fit, and the scores that it gives to the test rows.
type fit struct {
	Seconds float64   `json:"seconds"`
	Scores  []float64 `json:"scores"`
}

// method is a way to fit models.
type method struct {
	who, words, version string
	fit                 func(context.Context, modelSet, modelJob) (*fits, error) // nil: not installed
	areas, seconds      [][]float64                                              // by ε and split
}

// runModels compares models on data sets, on as many splits of the rows as there are runs.
func (b *bench) runModels(ctx context.Context, to io.Writer) error {
	m := thisMachine()
	fmt.Fprintf(to, "%s, %d processors, %s, %s, commit %s, load before %s\n", m.Processor, m.CPUs, m.Go, m.Python,
		m.Commit, m.Load)
	for _, name := range strings.Split(b.models, ",") {
		i := slices.IndexFunc(modelSets, func(s modelSet) bool { return s.name == name })
		if i < 0 {
			return fmt.Errorf("there is no data set %q: choose of adult,taxi", name)
		}
		path, ok := testkit.Find(name + ".csv")
		if !ok {
			fmt.Fprintf(to, "\n%s: skipped, since %s is not there (set %s to its folder)\n", name, path,
				testkit.Variable)
			continue
		}
		s, rows, err := modelSets[i].read(path)
		if err != nil {
			return err
		}
		methods, err := b.fitSplits(ctx, s, rows, modelEpsilons)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(to, "\n%s: %d rows, %d random splits into two thirds to fit to and one third to predict, δ = %v\n",
			s.title, len(rows), b.runs, modelDelta)
		if err := writeMethods(to, methods, modelEpsilons); err != nil {
			return err
		}
	}
	return nil
}

// fitSplits fits all methods to random splits of the rows, at each ε, in turn, so that other work of the machine
// affects all of them.
func (b *bench) fitSplits(ctx context.Context, s modelSet, rows [][]string, epsilons []float64) ([]*method,
	error) {
	methods := []*method{{who: ownName, words: "additive", fit: ownModels("additive", additiveScores)},
		{who: ownName, words: "logistic", fit: ownModels("logistic", regressionScores)},
		{who: ownName, words: "gradient", fit: ownModels("gradient", regressionScores)}}
	for _, p := range modelPeers {
		one := &method{who: p.name, words: p.words}
		if (peer{name: p.name}).isInstalled(ctx) {
			one.fit = fitPeer
		}
		methods = append(methods, one)
	}
	for split := range b.runs {
		random := rand.New(rand.NewPCG(uint64(split), 1))
		shuffled := slices.Clone(rows)
		random.Shuffle(len(rows), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		cut := len(rows) * 2 / 3
		for _, m := range methods {
			if m.fit == nil {
				continue
			}
			if err := m.fitSplit(ctx, s, shuffled[:cut], shuffled[cut:], epsilons); err != nil {
				return nil, fmt.Errorf("%s: %w", m.who, err)
			}
			b.logf("%s: split %d, %s: AUC %s", s.name, split+1, m.name(), m.lastAreas())
		}
	}
	return methods, nil
}

// fitSplit fits a method to rows at every ε, and notes how well it predicts others.
func (m *method) fitSplit(ctx context.Context, s modelSet, train, test [][]string, epsilons []float64) error {
	dir, err := os.MkdirTemp("", "dprelease-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	job := modelJob{Peer: m.who, Train: filepath.Join(dir, "train.csv"), Rows: len(train),
		Test: filepath.Join(dir, "test.csv"), Columns: s.by(true), Target: s.target().Name, Positive: s.positive,
		Epsilons: epsilons, Delta: modelDelta}
	if err := errors.Join(s.writeRows(job.Train, train), s.writeRows(job.Test, test)); err != nil {
		return err
	}
	got, err := m.fit(ctx, s, job)
	if err != nil {
		return err
	}
	positive := make([]bool, len(test))
	for i, row := range test {
		positive[i] = row[len(row)-1] == s.positive
	}
	return m.note(got, positive, len(epsilons))
}

// note adds the models of a split, of which there must be n, to those of other splits. positive reports for each test
// row whether it is of the predicted class.
func (m *method) note(got *fits, positive []bool, n int) error {
	if m.areas == nil {
		m.areas, m.seconds = make([][]float64, n), make([][]float64, n)
	}
	if m.version = got.Version; len(got.Fits) != n {
		return fmt.Errorf("%d models, not %d", len(got.Fits), n)
	}
	for e, f := range got.Fits {
		if len(f.Scores) != len(positive) {
			return fmt.Errorf("%d scores of %d rows", len(f.Scores), len(positive))
		}
		m.areas[e] = append(m.areas[e], areaUnderCurve(f.Scores, positive))
		m.seconds[e] = append(m.seconds[e], f.Seconds)
	}
	return nil
}

// fitPeer fits the models of a peer in a process of its own.
func fitPeer(ctx context.Context, _ modelSet, job modelJob) (*fits, error) {
	script, err := scripts.ReadFile("peers/models.py")
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	return outputOf[fits](exec.CommandContext(ctx, "python3", "-c", string(script), string(text)), job.Peer)
}

// scorer returns the scores that the published model in a file gives to rows in a file.
type scorer func(ctx context.Context, model, rows string) ([]float64, error)

// ownModels returns a function that fits models by a method of ours, each in a whole release. Its time is from the spec
// to the published folder.
func ownModels(how string, score scorer) func(context.Context, modelSet, modelJob) (*fits, error) {
	return func(ctx context.Context, s modelSet, job modelJob) (*fits, error) {
		all := &fits{}
		for i, epsilon := range job.Epsilons {
			dir := filepath.Join(filepath.Dir(job.Train), strconv.Itoa(i))
			var text bytes.Buffer
			err := errors.Join(s.writeSpec(&text, filepath.Base(job.Train), how, epsilon, job.Rows),
				os.WriteFile(dir+".yaml", text.Bytes(), 0o600))
			if err != nil {
				return nil, err
			}
			began := time.Now()
			published, err := releaseOf(ctx, dir+".yaml", dir)
			if err != nil {
				return nil, err
			}
			one := fit{Seconds: time.Since(began).Seconds()}
			if one.Scores, err = score(ctx, filepath.Join(published, "models", "model.json"), job.Test); err != nil {
				return nil, err
			}
			all.Fits = append(all.Fits, one)
		}
		return all, nil
	}
}

// releaseOf makes the release of a spec on a practice account, and returns where it is published.
func releaseOf(ctx context.Context, file, out string) (string, error) {
	p, err := dprelease.Plan(ctx, file, dprelease.Spec{})
	if err != nil {
		return "", err
	}
	o := dprelease.Options{Out: out, Data: filepath.Dir(file)}
	measured, err := dprelease.Measure(ctx, p, o)
	if err != nil {
		return "", err
	}
	published, err := dprelease.Publish(ctx, measured.Folder, o)
	return published.Folder, err
}

// additiveScores is the [scorer] of additive models.
func additiveScores(ctx context.Context, path, rows string) ([]float64, error) {
	m, err := predict.ReadModel(path)
	if err != nil {
		return nil, err
	}
	var predicted bytes.Buffer
	if _, err := predict.Write(ctx, m, rows, &predicted); err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(&predicted).ReadAll()
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(lines)-1)
	for i, line := range lines[1:] {
		if scores[i], err = strconv.ParseFloat(line[len(line)-1], 64); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// regressionScores is the [scorer] of regressions.
func regressionScores(_ context.Context, path, rows string) ([]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var g model.Regression
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, err
	}
	f, err := os.Open(rows)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(lines)-1)
	for _, t := range g.Terms {
		at := slices.Index(lines[0], t.Column)
		for i, line := range lines[1:] {
			switch {
			case at < 0 || t.Category == line[at]: // the intercept, or the row's category
				scores[i] += t.Weight
			case t.Category == "":
				x, err := strconv.ParseFloat(line[at], 64)
				if err != nil {
					return nil, err
				}
				scores[i] += t.Weight * x
			}
		}
	}
	return scores, nil
}
