package histogram

// This file holds Opened: exact answers that were paid for, given out with noise.

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

// Opened gives each answer of a paid plan once, with its noise. It shows
// "confidential" however it is printed.
type Opened struct {
	answer.Redacted
	inner *opened
}

// opened is what Opened hides.
type opened struct {
	exact   *exact
	streams *noise.Streams

	mu      sync.Mutex
	given   []bool // by place in the plan
	oracles []int  // the methods whose oracle was given
}

// Measure returns the noisy answer to a measurement of the plan: the exact
// integers plus the noise that the plan sets, which depends on the key, the
// measurement's canonical definition and the exact integers. It is an error to
// ask what the plan does not hold or to ask twice; a candidate that an adaptive method
// may choose is the business of its [Oracle]. The result does not depend on the
// number of processors.
func (o *Opened) Measure(ctx context.Context, m plan.Measurement) (measured.Measured, error) {
	x := o.inner
	definition := m.Canonical()
	for i := range x.exact.answers { // by place: another's counts may be let go of meanwhile
		if bytes.Equal(x.exact.answers[i].definition, definition) {
			return x.give(ctx, i)
		}
	}
	return measured.Measured{}, errNotPlanned
}

// give is Measure for a place in the plan. Its exact counts are let go of once they are given, so that a plan's exact
// and noisy ones are not all held at once.
func (x *opened) give(ctx context.Context, i int) (measured.Measured, error) {
	if !x.claim(i) {
		return measured.Measured{}, errGiven
	}
	a := &x.exact.answers[i]
	noisy, err := giftOf(a.measurement).give(x, ctx, *a)
	if err != nil {
		x.disclaim(i) // nothing was given; a second try draws the same noise
		return measured.Measured{}, err
	}
	a.Answer = answer.Answer{}
	return noisy, nil
}

// Reasons for which Measure refuses.
var (
	errNotPlanned = errors.New("it is not in the plan that was paid for")
	errGiven      = errors.New("it was given before; each answer is given once")
)

// claim marks an answer as given; false if it was.
func (x *opened) claim(i int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.given[i] {
		return false
	}
	x.given[i] = true
	return true
}

func (x *opened) disclaim(i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.given[i] = false
}

// noisy is an answer with its noise. Impossible cells are not
// measured: what was drawn for them is thrown away, and they are 0 whatever the counts
// (docs/proofs/impossible.md).
func (x *opened) noisy(ctx context.Context, a asked) (measured.Measured, error) {
	counts, err := x.add(ctx, a)
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
	return measured.Measured{Measurement: a.measurement, Values: integers(counts)}, nil
}

// integers are these very ones as a column, not a copy.
func integers(of []int64) *array.Int64 {
	values := memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(of))
	data := array.NewData(arrow.PrimitiveTypes.Int64, len(of), []*memory.Buffer{nil, values}, nil, 0, 0)
	defer data.Release()
	return array.NewInt64Data(data)
}

// Add is an answer's counts with the noise of its measurement: drawn exactly and
// in blocks of [noise.BlockCells], each from a stream of its own that depends on
// the key, the canonical definition and the exact integers.
func (x *opened) add(ctx context.Context, a asked) ([]int64, error) {
	sampler, err := samplerOf(a.measurement.Mechanism)
	if err != nil {
		return nil, err
	}
	counts := make([]int64, a.Len())
	blocks := (len(counts) + noise.BlockCells - 1) / noise.BlockCells
	return counts, parallel.Do(ctx, runtime.GOMAXPROCS(0), blocks, func(i int) error {
		first := i * noise.BlockCells
		cells := counts[first:min(first+noise.BlockCells, len(counts))]
		a.Read(cells, first)
		return sampler.add(x.streams.Noise(a.definition, a.hash, i), a.measurement.Mechanism.Parameter, cells)
	})
}
