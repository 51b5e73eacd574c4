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
	"github.com/dprelease/dprelease/spec"
)

// setting is microdata of one table with columns of given sizes, planned by hand.
type setting struct {
	plan   *plan.Plan
	asked  plan.Synthetic
	sizes  []int
	column []plan.Measurement
}

// planned is a setting in which single columns have noise of variance parameter columnNoise, pairs of pairNoise, and
// choices are made with selectEpsilon.
func planned(t testing.TB, sizes []int, rows int64, columnNoise, pairNoise, selectEpsilon *big.Rat) setting {
	t.Helper()
	p := planOf(t, sizes, "{rho: 1}", "marginals: {m: {by: [c0]}}\n")
	s := setting{plan: p, sizes: sizes}
	gaussian := func(parameter *big.Rat) budget.Mechanism {
		return budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: parameter, L1: big.NewInt(1), L2Squared: big.NewInt(1)}
	}
	s.asked = plan.Synthetic{
		Table: "t", Method: plan.MST, Rows: rows, Rounds: len(sizes) - 1, Noise: gaussian(pairNoise),
		Select: budget.Mechanism{Kind: budget.ExponentialMechanism, Parameter: selectEpsilon},
		Block:  budget.Mechanism{Kind: budget.AdaptiveBlock, Parameter: big.NewRat(1, 1)},
	}
	for i := range sizes {
		s.asked.By = append(s.asked.By, plan.Factor{Attribute: fmt.Sprintf("c%d", i), Basis: plan.Identity})
	}
	for i, n := range sizes {
		s.column = append(s.column, plan.Measurement{
			ID: s.asked.Column(i), Query: plan.Query{Table: "t", Factors: s.asked.By[i : i+1]}, Cells: int64(n), Mechanism: gaussian(columnNoise),
		})
	}
	p.Measurements = append(p.Measurements, s.column...)
	p.Synthetic = []plan.Synthetic{s.asked}
	return s
}

// planOf is the plan of a table with columns c0, c1 … of given sizes.
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
	p, err := plan.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// answered is a measurement with its answers.
func answered(m plan.Measurement, answers []int64) measured.Measured {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(answers, nil)
	return measured.Measured{Measurement: m, Values: b.NewInt64Array()}
}

// sealed is what a setting is published from: noisy columns and pairs.
func (s setting) sealed(t testing.TB, columns [][]int64, pairs map[[2]int][]int64, order ...[2]int) *measured.Sealed {
	t.Helper()
	out := &measured.Sealed{Plan: s.plan, Rounds: [][]measured.Round{nil}}
	for i, answers := range columns {
		out.Measured = append(out.Measured, answered(s.column[i], answers))
	}
	for _, pair := range order {
		for choice, candidate := range s.asked.Pairs() {
			if candidate == pair {
				m, err := s.plan.Pair(s.asked, pair)
				if err != nil {
					t.Fatal(err)
				}
				out.Rounds[0] = append(out.Rounds[0], measured.Round{Choice: choice, Measured: answered(m, pairs[pair])})
			}
		}
	}
	return out
}

// exact is an oracle on rows whose codes it knows, with noise and choices as they are in a release. It counts what it
// may be asked beforehand.
type exact struct {
	setting
	streams *noise.Streams
	columns [][]int64
	pairs   [][]int64 // by place among the pairs
}

// newExact counts rows, given by column.
func newExact(s setting, codes [][]uint32, key noise.Key) *exact {
	o := &exact{setting: s, streams: noise.NewStreams(key, s.plan.Hash())}
	for i, n := range s.sizes {
		counts := make([]int64, n)
		for _, c := range codes[i] {
			counts[c]++
		}
		o.columns = append(o.columns, counts)
	}
	for _, pair := range s.asked.Pairs() {
		counts := make([]int64, s.sizes[pair[0]]*s.sizes[pair[1]])
		for row, c := range codes[pair[0]] {
			counts[int(c)*s.sizes[pair[1]]+int(codes[pair[1]][row])]++
		}
		o.pairs = append(o.pairs, counts)
	}
	return o
}

func hashed(counts []int64) []byte {
	h := sha256.New()
	for _, c := range counts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(c)))
	}
	return h.Sum(nil)
}

// noisy answers a measurement.
func (o *exact) noisy(m plan.Measurement, counts []int64) (measured.Measured, error) {
	answers := append([]int64(nil), counts...)
	err := noise.AddDiscreteGaussian(o.streams.Noise(m.Canonical(), hashed(counts), 0), m.Mechanism.Parameter, answers)
	return answered(m, answers), err
}

// single answers all measurements of single columns.
func (o *exact) single(t testing.TB) []measured.Measured {
	t.Helper()
	var all []measured.Measured
	for i, counts := range o.columns {
		m, err := o.noisy(o.column[i], counts)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func (o *exact) Select(_ context.Context, round int, candidates []int, models [][]int64) (int, error) {
	scores := make([]int64, len(candidates))
	for i, c := range candidates {
		for cell, count := range o.pairs[c] {
			d := count*plan.ModelScale - models[i][cell]
			scores[i] += max(d, -d)
		}
	}
	bits := o.streams.Selection([]byte("t"), hashed(scores), round)
	i, err := noise.ExponentialMechanism(bits, scores, o.asked.Select.Parameter, plan.ModelScale, false)
	if err != nil {
		return 0, err
	}
	return candidates[i], nil
}

func (o *exact) Measure(_ context.Context, _, choice int) (measured.Measured, error) {
	m, err := o.plan.Pair(o.asked, o.asked.Pairs()[choice])
	if err != nil {
		return measured.Measured{}, err
	}
	return o.noisy(m, o.pairs[choice])
}
