package progress

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
)

// A step is reported when it begins, when it is renamed, and when its share has grown, in the words of the place that
// it belongs to; and never again once another has begun.
func TestSteps(t *testing.T) {
	var seen []Progress
	watched := Watch(t.Context(), func(p Progress) { seen = append(seen, p) })
	planning := Begin(watched, 0, "planning %s", "a")
	Add(planning, 1) // its parts are not known
	SetParts(planning, 2)
	Add(planning, 1)
	Rename(planning, "planning again")
	folder := Within(watched, "folder %d of 2", 1)
	counting := BeginConfidential(folder, 3000, "counting")
	Add(planning, 1)
	Add(counting, 1)
	Add(counting, -1)
	Add(counting, 2)
	Rename(counting, "counting on")
	Add(counting, math.MaxInt64)
	Add(counting, 1)
	Add(watched, 1) // belongs to no step
	SetParts(counting, 1)
	want := []Progress{
		{Number: 1, Step: "planning a"},
		{Number: 1, Step: "planning a", Known: true},
		{Number: 1, Step: "planning a", Known: true, Share: 500},
		{Number: 1, Step: "planning again", Known: true, Share: 500},
		{Number: 2, Step: "folder 1 of 2: counting", Known: true, Confidential: true},
		{Number: 2, Step: "folder 1 of 2: counting", Known: true, Confidential: true, Share: 1},
		{Number: 2, Step: "folder 1 of 2: counting on", Known: true, Confidential: true, Share: 1},
		{Number: 2, Step: "folder 1 of 2: counting on", Known: true, Confidential: true, Share: Whole},
	}
	if !slices.Equal(seen, want) {
		t.Errorf("got\n%+v, want\n%+v", seen, want)
	}
}

// The share never falls, whoever adds to it, and there are few reports of many parts.
func TestShareOfManyParts(t *testing.T) {
	const parts, workers = 1 << 16, 4
	last, reports := -1, 0
	ctx := Begin(Watch(t.Context(), func(p Progress) {
		if p.Share <= last {
			t.Errorf("%d after %d", p.Share, last)
		}
		last, reports = p.Share, reports+1
	}), parts*workers, "counting")
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range parts {
				Add(ctx, 1)
			}
		})
	}
	all.Wait()
	if last != Whole || reports != Whole+1 {
		t.Errorf("%d ‰ after %d reports", last, reports)
	}
}

// Nothing is reported of what nobody watches, and of what counts as a part.
func TestSilence(t *testing.T) {
	seen := 0
	step := Begin(Watch(t.Context(), func(Progress) { seen++ }), 10, "rounds")
	for _, ctx := range []context.Context{t.Context(), Silent(step)} {
		ctx = Begin(Within(ctx, "a place"), 10, "fitting")
		SetParts(ctx, 10)
		Add(ctx, 10)
		Rename(ctx, "fitting on")
	}
	if seen != 1 {
		t.Errorf("%d reports", seen)
	}
}

func BenchmarkAdd(b *testing.B) {
	for name, ctx := range map[string]context.Context{
		"unwatched": b.Context(),
		"watched":   Begin(Watch(b.Context(), func(Progress) {}), 1<<40, "counting"),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Add(ctx, 1)
			}
		})
	}
}

func ExampleWatch() {
	ctx := Watch(context.Background(), func(p Progress) { fmt.Println(p.Step, p.Share) })
	ctx = Begin(ctx, 2, "writing the tables")
	for range 2 {
		Add(ctx, 1)
	}
	// Output:
	// writing the tables 0
	// writing the tables 500
	// writing the tables 1000
}
