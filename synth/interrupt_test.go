package synth

import (
	"context"
	"errors"
	"math/big"
	"reflect"
	"testing"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// This file holds tests of interruptions: fitting and drawing end with the context.

// checkEnds runs work to its end, in which it must check its context often, and then again with contexts that end on
// the way: at the first checks, at the last and at some between. Whichever check finds that the context has ended, the
// work fails with that error; and no part of it begins thereafter, as each part checks first.
func checkEnds(t *testing.T, often, late int64, work func(ctx context.Context) error) {
	t.Helper()
	whole := testkit.NeverEnding(t.Context())
	if err := work(whole); err != nil {
		t.Fatal(err)
	}
	asks := whole.Asked()
	if asks < often {
		t.Errorf("the context is asked %d times, and not %d", asks, often)
	}
	const tries = 5
	for i := range int64(tries) {
		for _, n := range []int64{i, asks * i / tries, asks - 1 - i} {
			if n < 0 || n >= asks {
				continue
			}
			ctx := testkit.EndingAfter(t.Context(), n)
			if err := work(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("a context that ends after %d of %d asks: %v", n, asks, err)
			}
			if ctx.Late() > late {
				t.Fatalf("a context that ends after %d of %d asks is asked %d times more", n, asks, ctx.Late())
			}
		}
	}
}

// Microdata of tables end with the context at any point: while columns and targets are projected, a tree is fitted, or
// rows are drawn.
func TestMicrodataOfTablesEndWithTheContext(t *testing.T) {
	sizes := []int{4, 3, 5, 2, 3}
	const rows, pairs = 300, 10
	s := sealedFrom(t, planOfTables(t, sizes, "{rho: 1/50}", "m: {by: ["+columnNames(5)+"], every: [2]}", ""),
		codesByName(followingRows(sizes, rows)), noise.Key{7}, true)
	draw := func(ctx context.Context, most plan.ModelSize) (err error) {
		d, err := NewDrawing(ctx, s, 0, Request{})
		if err != nil {
			return err
		}
		f, err := newFixed(ctx, s, s.Plan.Synthetic[0], nil, measured.Rounds{})
		if err != nil {
			return err
		}
		d.law, _ = f.newLaw(ctx, most)
		m, err := d.Draw(ctx, 1)
		if err != nil && m.Codes != nil {
			t.Error("rows and an error")
		}
		return err
	}
	t.Run(Tree, func(t *testing.T) {
		checkEnds(t, 100, 2*pairs, func(ctx context.Context) error { return draw(ctx, adaptive.MaxModelSize()) })
	})
	t.Run(Gradual, func(t *testing.T) {
		checkEnds(t, updateSweeps*pairs, 2*pairs,
			func(ctx context.Context) error { return draw(ctx, plan.ModelSize{}) })
	})
	t.Run("model", func(t *testing.T) {
		checkEnds(t, 100, pairs, func(ctx context.Context) error {
			_, err := NewDrawing(ctx, s, 0, Request{})
			return err
		})
	})
	t.Run("sweeps", func(t *testing.T) {
		f, err := newFixed(t.Context(), s, s.Plan.Synthetic[0], nil, measured.Rounds{})
		if err != nil {
			t.Fatal(err)
		}
		law, _ := f.newLaw(t.Context(), plan.ModelSize{})
		checkEnds(t, updateSweeps*pairs, 4, func(ctx context.Context) error {
			if law.drawRows(ctx, rows, newStream(s, "rows")) == nil {
				return ctx.Err()
			}
			return nil
		})
	})
	t.Run("targets", func(t *testing.T) {
		f, err := newFixed(t.Context(), s, s.Plan.Synthetic[0], nil, measured.Rounds{})
		if err != nil {
			t.Fatal(err)
		}
		checkEnds(t, 20*pairs, pairs+2, func(ctx context.Context) error {
			f.projectTargets(ctx)
			return ctx.Err()
		})
	})
}

// The projection of a column with levels, and the tables of pairs by method mst, end with the context.
func TestProjectionsEndWithTheContext(t *testing.T) {
	c := &column{classes: equalParts([]int{0, 1, 2, 3}, 4),
		partitions: [][]int{{0, 1, 2, 3}, {0, 0, 1, 1}, {0, 1, 1, 0}},
		sizes:      []int{4, 2, 2}}
	c.sums = []columnSums{{split: 0, counts: []float64{3, -9, 30, 40}, variance: 1},
		{split: 1, counts: []float64{10, 50}, variance: 2}, {split: 2, counts: []float64{70, 9}, variance: 3}}
	f := &fixedEstimates{columns: []column{*c}}
	f.total.add(60, 1)
	checkEnds(t, 10, 2, func(ctx context.Context) error {
		f.fitColumn(ctx, 0)
		return ctx.Err()
	})
	pair := coupling{noisy: []float64{50, -7, 3, 20, 5, -40}, rowSize: []float64{1, 1}, colSize: []float64{1, 1, 1},
		rowTotal: []float64{30, 20}, colTotal: []float64{10, 25, 15}}
	checkEnds(t, 2, 2, func(ctx context.Context) error {
		pair.fit(ctx)
		return ctx.Err()
	})
}

// With the other methods too, also for rows drawn given those of a parent, the fit and the rows end with the context.
func TestMicrodataOfRoundsEndWithTheContext(t *testing.T) {
	_, out, _ := aimRelease(t, 3)
	for name, c := range map[string]struct {
		sealed *measured.Sealed
		method int
		often  int64
	}{
		"aim":      {out, 0, firstSteps},
		"mst":      {sealedHomes(t, livedIn(), livedInRounds), 0, 10},
		"children": {sealedHomes(t, livedIn(), livedInRounds), 1, 20},
	} {
		t.Run(name, func(t *testing.T) {
			checkEnds(t, c.often, 40, func(ctx context.Context) error {
				_, err := Draw(ctx, c.sealed, c.method)
				return err
			})
		})
	}
}

// A method that is interrupted while it fits its model asks nothing that it would not have asked: no question follows
// from a model that was not fitted to its end.
func TestAdaptAsksNothingOfAModelThatWasNotFitted(t *testing.T) {
	sizes, codes := correlatedRows()
	s := aimSetting(t, sizes, big.NewRat(2, 1))
	o := newExact(s, codes, noise.Key{3})
	columns := o.measureColumns(t)
	whole := &recorder{Oracle: o}
	rounds := 0
	checkEnds(t, firstSteps/2, 3*int64(len(o.candidates)), func(ctx context.Context) error {
		r := &recorder{Oracle: newExact(s, codes, noise.Key{3})}
		made, err := Adapt(ctx, s.plan, s.synthetic, columns, r)
		if err == nil {
			whole, rounds = r, len(made.All)
			return nil
		}
		if len(r.asked) >= len(whole.asked) || len(r.asked) > 0 &&
			!reflect.DeepEqual(r.asked, whole.asked[:len(r.asked)]) ||
			made.All != nil {
			t.Error("a run that was cut off asks something else")
		}
		return err
	})
	if rounds < 2 {
		t.Errorf("there are %d rounds", rounds)
	}
}
