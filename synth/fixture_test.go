package synth

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// setting is microdata of one table with columns of given sizes, planned by hand.
type setting struct {
	plan      *plan.Plan
	synthetic plan.Synthetic
	sizes     []int
	column    []plan.Measurement
}

// plannedSetting returns a setting in which single columns have noise of variance parameter columnNoise, pairs of
// pairNoise, and choices are made with selectEpsilon.
func plannedSetting(t testing.TB, sizes []int, rows int64, columnNoise, pairNoise, selectEpsilon *big.Rat) setting {
	t.Helper()
	p := planOf(t, sizes, "{rho: 1}", "marginals: {m: {by: [c0]}}\n")
	s := setting{plan: p, sizes: sizes}
	gaussian := func(parameter *big.Rat) budget.Mechanism {
		return budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: parameter, L1: big.NewInt(1),
			L2Squared: big.NewInt(1)}
	}
	s.synthetic = plan.Synthetic{
		Table: "t", Method: plan.MST, Ways: 2, Rows: rows, Rounds: len(sizes) - 1, Noise: gaussian(pairNoise),
		Select: budget.Mechanism{Kind: budget.ExponentialMechanism, Parameter: selectEpsilon},
		Block:  budget.Mechanism{Kind: budget.AdaptiveBlock, Parameter: big.NewRat(1, 1)},
	}
	for i := range sizes {
		s.synthetic.By = append(s.synthetic.By, plan.Factor{Attribute: fmt.Sprintf("c%d", i), Basis: plan.Identity})
	}
	for i, n := range sizes {
		s.column = append(s.column, plan.Measurement{
			ID: s.synthetic.Column(i), Query: plan.Query{Table: "t", Factors: s.synthetic.By[i : i+1],
				Counted: counted.Rows{}},
			Selection: selection.All{}, Cells: int64(n), Mechanism: gaussian(columnNoise),
		})
	}
	p.Measurements = append(p.Measurements, s.column...)
	p.Synthetic = []plan.Synthetic{s.synthetic}
	return s
}

// planOf returns the plan of a table with columns c0, c1 … of given sizes.
func planOf(t testing.TB, sizes []int, budget, asked string) *plan.Plan {
	t.Helper()
	var columns []string
	for i, n := range sizes {
		columns = append(columns, fmt.Sprintf("c%d: {type: integer, range: [0, %d]}", i, n-1))
	}
	text := `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: ` + budget + `
tables: {t: {source: {csv: t.csv}, unit: row, columns: {` + strings.Join(columns, ", ") + `}}}
` + asked
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// withAnswers returns a measurement with its answers.
func withAnswers(m plan.Measurement, answers []int64) measured.Measured {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(answers, nil)
	return measured.Measured{Measurement: m, Values: b.NewInt64Array()}
}

// sealedAnswers seals noisy columns and pairs of a setting.
func (s setting) sealedAnswers(t testing.TB, columns [][]int64, pairs map[[2]int][]int64,
	order ...[2]int) *measured.Sealed {
	t.Helper()
	out := &measured.Sealed{Plan: compiled.Of(s.plan), Rounds: []measured.Rounds{{}}}
	for i, answers := range columns {
		out.Measured = append(out.Measured, withAnswers(s.column[i], answers))
	}
	for round, pair := range order {
		for choice, candidate := range adaptive.Candidates(s.synthetic) {
			if candidate[0] == pair[0] && candidate[1] == pair[1] {
				m, err := adaptive.Answer(s.plan, s.synthetic, min(round, s.synthetic.Rounds-1), choice, nil,
					s.synthetic.Noise)
				if err != nil {
					t.Fatal(err)
				}
				out.Rounds[0].All = append(out.Rounds[0].All, measured.Round{
					Choice: choice, Mechanisms: adaptive.RoundMechanisms{Select: s.synthetic.Select,
						Noise: s.synthetic.Noise},
					Measured: withAnswers(m, pairs[pair]),
				})
			}
		}
	}
	return out
}

// exact is an oracle on rows whose codes it knows, with noise and choices as in a release. It counts all candidates in
// advance.
type exact struct {
	setting
	streams    *noise.Streams
	codes      [][]uint32 // by column
	columns    [][]int64
	candidates [][]int
	counts     [][]int64 // by index of the candidate
	classes    [][]int
}

// newExact counts rows, given by column.
func newExact(s setting, codes [][]uint32, key noise.Key) *exact {
	o := &exact{setting: s, streams: noise.NewStreams(key, s.plan.Hash()), codes: codes,
		candidates: adaptive.Candidates(s.synthetic)}
	for i := range s.sizes {
		o.columns = append(o.columns, countCodes(s.sizes, codes, []int{i}))
	}
	for _, c := range o.candidates {
		o.counts = append(o.counts, countCodes(s.sizes, codes, c))
	}
	return o
}

// countCodes counts the rows of each cell of some columns.
func countCodes(sizes []int, codes [][]uint32, columns []int) []int64 {
	cells := 1
	place := make([]int32, len(codes[0]))
	for _, a := range columns {
		for row, code := range codes[a] {
			place[row] = place[row]*int32(sizes[a]) + int32(code)
		}
		cells *= sizes[a]
	}
	out := make([]int64, cells)
	for _, p := range place {
		out[p]++
	}
	return out
}

func (o *exact) Merge(classes [][]int) error {
	sizes, err := adaptive.Classes(o.plan, o.synthetic, classes)
	if err != nil {
		return err
	}
	o.classes = classes
	codes := make([][]uint32, len(o.codes))
	for i := range codes {
		for _, code := range o.codes[i] {
			codes[i] = append(codes[i], uint32(classes[i][code]))
		}
	}
	for i, c := range o.candidates {
		o.counts[i] = countCodes(sizes, codes, c)
	}
	return nil
}

func hashCounts(counts []int64) []byte {
	h := sha256.New()
	for _, c := range counts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(c)))
	}
	return h.Sum(nil)
}

// noisyAnswer answers a measurement with noise.
func (o *exact) noisyAnswer(m plan.Measurement, counts []int64) (measured.Measured, error) {
	answers := append([]int64(nil), counts...)
	err := noise.AddDiscreteGaussian(o.streams.Noise(m.Canonical(), hashCounts(counts), 0), m.Mechanism.Parameter,
		answers)
	return withAnswers(m, answers), err
}

// measureColumns answers all measurements of single columns.
func (o *exact) measureColumns(t testing.TB) []measured.Measured {
	t.Helper()
	var all []measured.Measured
	for i, counts := range o.columns {
		m, err := o.noisyAnswer(o.column[i], counts)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func (o *exact) Select(_ context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64,
	penalties []int64) (int, error) {
	scores := make([]int64, len(candidates))
	for i, c := range candidates {
		for cell, count := range o.counts[c] {
			d := count*adaptive.ModelScale - models[i][cell]
			scores[i] += max(d, -d)
		}
		if penalties != nil {
			scores[i] -= penalties[i]
		}
		scores[i] *= adaptive.Weight(o.synthetic, o.candidates[c])
	}
	most := int64(1)
	if o.synthetic.Method == plan.AIM {
		most = int64(o.synthetic.Ways)
	}
	bits := o.streams.Selection([]byte("t"), hashCounts(scores), round)
	i, err := noise.ExponentialMechanism(bits, scores, how.Parameter, most*adaptive.ModelScale, false)
	if err != nil {
		return 0, err
	}
	return candidates[i], nil
}

func (o *exact) Measure(_ context.Context, round, choice int, how budget.Mechanism) (measured.Measured, error) {
	m, err := adaptive.Answer(o.plan, o.synthetic, round, choice, o.classes, how)
	if err != nil {
		return measured.Measured{}, err
	}
	return o.noisyAnswer(m, o.counts[choice])
}
