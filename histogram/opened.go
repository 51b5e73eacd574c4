package histogram

// This file holds Opened: exact answers that were paid for, published with noise.

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
)

// Opened gives each answer of a paid plan once, with its noise. It shows "confidential" however it is printed.
type Opened struct {
	answer.Redacted
	inner *opened
}

// opened is what Opened hides.
type opened struct {
	exact   *exact
	streams *noise.Streams

	mu      sync.Mutex
	given   []bool // by index in the plan
	oracles []int  // indexes of the methods whose oracle was given
	// trainers are the indexes of the models whose trainer was given.
	trainers []int
}

// Measure returns the noisy answer to a measurement of the plan: the exact integers plus the noise that the plan
// sets, which depends on the key, the measurement's canonical definition and the exact integers. It returns an error
// if the measurement is not in the plan or was given before; a candidate that an adaptive method may choose is
// measured by its [Oracle]. The result does not depend on the number of processors.
func (o *Opened) Measure(ctx context.Context, m plan.Measurement) (measured.Measured, error) {
	x := o.inner
	if x.exact.plan.Release().Holders != nil && !x.exact.madeUp {
		return measured.Measured{}, errHeld
	}
	i, err := x.indexOf(m)
	if err != nil {
		return measured.Measured{}, err
	}
	return x.giveAnswer(ctx, i)
}

// indexOf returns the index of a measurement in the plan.
func (x *opened) indexOf(m plan.Measurement) (int, error) {
	definition := m.Canonical()
	for i := range x.exact.answers { // by index: a concurrent call may release the counts of another answer
		if bytes.Equal(x.exact.answers[i].definition, definition) {
			return i, nil
		}
	}
	return 0, errNotPlanned
}

// giveAnswer is Measure for an index in the plan.
func (x *opened) giveAnswer(ctx context.Context, i int) (measured.Measured, error) {
	return x.giveOnce(i, func(a exactAnswer) (measured.Measured, error) {
		return publicationOf(a.measurement).answer(x, ctx, a)
	})
}

// giveOnce gives what is made of an answer, once. It releases the exact counts once they are given, so that a plan's
// exact and noisy counts are not all in memory at once.
func (x *opened) giveOnce(i int, made func(a exactAnswer) (measured.Measured, error)) (measured.Measured, error) {
	if !x.claimAnswer(i) {
		return measured.Measured{}, errGiven
	}
	noisy, err := made(x.exact.answers[i])
	if err != nil {
		x.releaseClaim(i) // nothing was given, and a second try draws the same noise
		return measured.Measured{}, err
	}
	x.exact.answers[i].Answer = answer.Answer{}
	return noisy, nil
}

// Reasons for which Measure refuses.
var (
	errNotPlanned = errors.New("it is not in the plan that was paid for")
	errGiven      = errors.New("it was given before; each answer is given once")
	errHeld       = errors.New("the noise of one holder does not protect its answer: only a share of it, masked, is given")
)

// claimAnswer marks an answer as given, and reports false if it already was.
func (x *opened) claimAnswer(i int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.given[i] {
		return false
	}
	x.given[i] = true
	return true
}

func (x *opened) releaseClaim(i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.given[i] = false
}

// noisyAnswer returns an answer with its noise. Impossible cells are not measured: what was drawn for them is
// discarded, and they are 0 whatever the counts (docs/proofs/impossible.md).
func (x *opened) noisyAnswer(ctx context.Context, a exactAnswer) (measured.Measured, error) {
	counts, err := x.addNoise(ctx, a)
	if err != nil {
		return measured.Measured{}, err
	}
	impossible, err := impossibleCells(a.measurement, x.exact.plan.Release())
	if err != nil {
		return measured.Measured{}, err
	}
	for i, is := range impossible {
		if is {
			counts[i] = 0
		}
	}
	return measured.Measured{Measurement: a.measurement, Values: int64Array(counts)}, nil
}

// int64Array returns integers as a column, without copying them.
func int64Array(of []int64) *array.Int64 {
	values := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(of))
	data := array.NewData(arrow.PrimitiveTypes.Int64, len(of), []*memory.Buffer{nil, values}, nil, 0, 0)
	defer data.Release()
	return array.NewInt64Data(data)
}

// addNoise returns an answer's counts with the noise of its measurement: drawn exactly and in blocks of
// [noise.BlockCells], each from a stream of its own that depends on the key, the canonical definition and the exact
// integers.
func (x *opened) addNoise(ctx context.Context, a exactAnswer) ([]int64, error) {
	mechanism := a.measurement.Mechanism
	addTo, err := x.drawing(mechanism)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, a.Len())
	blocks := (len(counts) + noise.BlockCells - 1) / noise.BlockCells
	return counts, parallel.Do(ctx, runtime.GOMAXPROCS(0), blocks, func(i int) error {
		first := i * noise.BlockCells
		cells := counts[first:min(first+noise.BlockCells, len(counts))]
		a.Read(cells, first)
		return addTo(x.streams.Noise(a.definition, a.hash, i), mechanism.Parameter, cells)
	})
}
