package histogram

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan/compiled"
)

// made is a counter whose answers are made by hand.
type made struct {
	answer func(cells int64) answer.Answer
}

func (c made) Count(_ context.Context, q Questions, s *noise.RowStreams) (answer.Answers, error) {
	var all []answer.Answer
	for _, m := range q.Measurements {
		all = append(all, c.answer(m.Cells))
	}
	stamp, err := q.Stamp(s)
	return answer.New(all, false, stamp), err
}

// meddler is a counter that writes to the questions that it is asked.
type meddler struct{ made }

func (c meddler) Count(ctx context.Context, q Questions, s *noise.RowStreams) (answer.Answers, error) {
	for i := range q.Measurements {
		q.Measurements[i].Mechanism.Parameter = big.NewRat(1, 1000)
	}
	return c.made.Count(ctx, q, s)
}

// TestTheNoiseIsThePlans has a counter write less noise into the questions that it is asked: what is drawn stays the
// plan's.
func TestTheNoiseIsThePlans(t *testing.T) {
	p := planOf(t)
	zeros := made{func(cells int64) answer.Answer { return answer.Answer{Counts: make([]int64, cells)} }}
	e, err := Count(context.Background(), compiled.Of(p), meddler{zeros}, streams(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range e.inner.answers {
		if a.measurement.Mechanism.Parameter.Cmp(p.Measurements[i].Mechanism.Parameter) != 0 {
			t.Errorf("%s would be drawn with another mechanism than the plan's", a.measurement.ID)
		}
	}
}

// TestAnswersOfAnotherFormAreRefused has a counter give answers to measurements of all cells in other forms: how many
// figures leave would say something of the rows, or the noise could not be added after the debit.
func TestAnswersOfAnotherFormAreRefused(t *testing.T) {
	p := planOf(t)
	with := func(count int64) func(int64) answer.Answer {
		return func(cells int64) answer.Answer {
			counts := make([]int64, cells)
			counts[0] = count
			return answer.Answer{Counts: counts}
		}
	}
	for name, c := range map[string]struct {
		answer func(cells int64) answer.Answer
		good   bool
	}{
		"as asked":     {with(answer.MaxMagnitude), true},
		"too large":    {with(answer.MaxMagnitude + 1), false},
		"too small":    {with(-answer.MaxMagnitude - 1), false},
		"the largest":  {with(math.MaxInt64), false},
		"the smallest": {with(math.MinInt64), false},
		"cells with rows": {func(int64) answer.Answer { return answer.Answer{Cells: []uint64{0}, Counts: []int64{5}} },
			false},
		"a cell less": {func(cells int64) answer.Answer { return answer.Answer{Counts: make([]int64, cells-1)} },
			false},
		"groups": {func(cells int64) answer.Answer {
			return answer.Answer{Counts: make([]int64, cells), Groups: &answer.Groups{}}
		}, false},
	} {
		if _, err := Count(context.Background(), compiled.Of(p), made{c.answer},
			streams(p, 1)); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
