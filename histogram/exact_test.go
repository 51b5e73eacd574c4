package histogram

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan/compiled"
)

const canaries = "kind,age\n" + "a,1\na,1\na,1\n"

// canary finds the count of canaryTable as a number by itself: times and addresses have its digits among others.
var canary = regexp.MustCompile(`(?i)(^|[^0-9a-f])(7319|1c97)([^0-9a-f]|$)`)

// canaryTable has a cell that holds 7319 rows.
func canaryTable() string { return "kind,age\n" + strings.Repeat("b,4\n", 7319) }

func TestExactSaysNothing(t *testing.T) {
	p := planOf(t)
	e := exactOf(t, p, folder(t, "a.csv", canaryTable()), 1)
	if countsOf(t, e, "all")[14] != 7319 {
		t.Fatal("the canary is not there")
	}
	o, err := e.Open(receiptOf(t, e, 1, false), streams(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	type holder struct {
		e *Exact
		o *Opened
		E Exact
		O Opened
	}
	for _, v := range []any{e, *e, o, *o} {
		for i, s := range shown(v) {
			if !strings.Contains(s, "confidential") || canary.MatchString(s) {
				t.Errorf("%T, printing %d: %s", v, i, s)
			}
		}
	}
	for _, v := range []any{holder{e, o, *e, *o}, []*Exact{e}, map[string]any{"x": *e}} {
		for i, s := range shown(v) {
			if canary.MatchString(s) {
				t.Errorf("%T, printing %d: %s", v, i, s)
			}
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	p := planOf(t)
	dir := folder(t, "a.csv", canaries)
	real := exactOf(t, p, dir, 1)
	madeUp, err := Count(context.Background(), compiled.Of(p), MadeUpRows(10), streams(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	paid, rehearsed := receiptOf(t, real, 1, false), receiptOf(t, madeUp, 1, true)
	charge := ledger.Charge{PlanHash: p.Hash(), Cost: p.Cost, Commitment: real.Commitment(streams(p, 1))}
	cheap, unbound, otherPlan := charge, charge, charge
	cheap.Cost = budget.Cost{Rho: big.NewRat(1, 1000)}
	unbound.Commitment = ""
	otherPlan.PlanHash = strings.Repeat("0", 64)
	otherRows := exactOf(t, p, folder(t, "a.csv", canaries+"c,9\n"), 1)
	for name, c := range map[string]struct {
		e    *Exact
		r    ledger.Receipt
		s    *noise.Streams
		want error
	}{
		"no receipt":           {real, ledger.Receipt{}, streams(p, 1), errNoReceipt},
		"no receipt, made up":  {madeUp, ledger.Receipt{}, streams(p, 1), errNoReceipt},
		"another plan":         {real, receiptFor(t, otherPlan, false), streams(p, 1), errOtherPlan},
		"other rows":           {otherRows, paid, streams(p, 1), errOtherDraw},
		"a second key":         {real, receiptOf(t, real, 2, false), streams(p, 1), errOtherDraw},
		"bound to nothing":     {real, receiptFor(t, unbound, false), streams(p, 1), errOtherDraw},
		"another cost":         {real, receiptFor(t, cheap, false), streams(p, 1), errOtherCost},
		"rehearsal":            {real, rehearsed, streams(p, 1), errRehearsal},
		"made-up rows":         {madeUp, paid, streams(p, 1), errMadeUp},
		"another key":          {real, paid, streams(p, 2), errOtherKey},
		"another key, made up": {madeUp, rehearsed, streams(p, 2), errOtherKey},
	} {
		if o, err := c.e.Open(c.r, c.s); !errors.Is(err, c.want) || o != nil {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, c := range []struct {
		e *Exact
		r ledger.Receipt
	}{{real, paid}, {madeUp, rehearsed}} {
		if _, err := c.e.Open(c.r, streams(p, 1)); err != nil {
			t.Error(err)
		}
		if _, err := c.e.Open(c.r, streams(p, 1)); !errors.Is(err, errOpenedOnce) {
			t.Errorf("a second opening: %v", err)
		}
	}
}

// noiseOf measures everything and returns the noise of one measurement.
func noiseOf(t *testing.T, table string, key byte, id string) []int64 {
	t.Helper()
	p := planOf(t)
	e := exactOf(t, p, folder(t, "a.csv", table), key)
	o, err := e.Open(receiptOf(t, e, key, false), streams(p, key))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Measurements {
		if m.ID != id {
			continue
		}
		got, err := o.Measure(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		noisy := slices.Clone(got.Values.Int64Values())
		for i, c := range answerOf(e, id) {
			noisy[i] -= c
		}
		return noisy
	}
	t.Fatal("no measurement", id)
	return nil
}

// The same key, plan and rows give the same noise; another key, another
// measurement or other rows give other noise.
func TestNoiseBelongsToKeyQuestionAndInput(t *testing.T) {
	const most = "residuals/persons/kind_x_age" // of 30 integers
	base := noiseOf(t, canaries, 1, most)
	if !slices.Equal(base, noiseOf(t, canaries, 1, most)) {
		t.Error("a second run draws other noise")
	}
	if slices.Equal(base, make([]int64, 30)) {
		t.Error("there is no noise")
	}
	for name, other := range map[string][]int64{
		"key":         noiseOf(t, canaries, 2, most),
		"input":       noiseOf(t, canaries+"c,9\n", 1, most),
		"measurement": noiseOf(t, canaries, 1, "residuals/persons/kind_x_age.band"),
	} {
		// Under independent noise with σ > 1 six cells in a row agree by chance, once
		// the keys are fixed, never or always: the test has no false alarm.
		if slices.Equal(base[:6], other[:6]) {
			t.Errorf("another %s meets the same noise", name)
		}
	}
}

func TestMeasureOnce(t *testing.T) {
	p := planOf(t)
	e := exactOf(t, p, folder(t, "a.csv", canaries), 1)
	o, err := e.Open(receiptOf(t, e, 1, false), streams(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := p.Measurements[0]
	if _, err := o.Measure(ctx, m); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := o.Measure(context.Background(), m); err != nil {
		t.Errorf("after a cancelled call: %v", err)
	}
	if _, err := o.Measure(context.Background(), m); !errors.Is(err, errGiven) {
		t.Errorf("a second time: %v", err)
	}
	weaker := p.Measurements[len(p.Measurements)-1] // of several factors
	weaker.Query.Factors = slices.Clone(weaker.Query.Factors[:1])
	if _, err := o.Measure(context.Background(), weaker); !errors.Is(err, errNotPlanned) {
		t.Errorf("a measurement that is not in the plan: %v", err)
	}
}

func TestCommitmentBindsKeyAndCounts(t *testing.T) {
	p := planOf(t)
	base := exactOf(t, p, folder(t, "a.csv", canaries), 1)
	same := exactOf(t, p, folder(t, "other.csv", canaries), 1)
	more := exactOf(t, p, folder(t, "a.csv", canaries+"a,1\n"), 1)
	if base.Commitment(streams(p, 1)) != same.Commitment(streams(p, 1)) {
		t.Error("equal counts have two commitments")
	}
	if base.Commitment(streams(p, 1)) == more.Commitment(streams(p, 1)) ||
		base.Commitment(streams(p, 1)) == base.Commitment(streams(p, 2)) {
		t.Error("other counts or another key have one commitment")
	}
}

// Whether counts are narrow is seen neither in their hash, and so in what a release is debited for, nor in the noise
// that is added to them.
func TestNarrowCountsAreTheSameCounts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	p := tripsPlan(t)
	for _, cells := range []int{0, 1, 7, 8, 9, 4095, 4096, 4104, 4111, 1<<18 - 1, 1 << 18, 1<<18 + 1, 1<<19 + 4099} {
		n := &tabulate.CompactCounts{Low: make([]uint8, cells)}
		counts := make([]int64, cells)
		for i := range counts {
			switch random.IntN(50) {
			case 0:
				counts[i] = random.Int64N(5000)
			case 1, 2:
				counts[i] = 60 + random.Int64N(8) // 64 is the first of two bytes
			default:
				counts[i] = random.Int64N(3)
			}
			n.Low[i] = uint8(counts[i])
			for range counts[i] / 256 {
				n.Over = append(n.Over, i)
			}
		}
		narrow, wide := answer.Answer{Compact: n}, answer.Answer{Counts: counts}
		if !bytes.Equal(narrow.Hash(), wide.Hash()) {
			t.Errorf("%d counts have two hashes", cells)
		}
		if narrow.Len() != cells || !slices.Equal(narrow.Expanded().Counts, counts) {
			t.Errorf("%d counts are others when they are wide", cells)
		}
		var noisy [2][]int64
		for i, these := range []answer.Answer{narrow, wide} {
			m := p.Measurements[0]
			a := exactAnswer{measurement: m, definition: m.Canonical(), Answer: these, hash: these.Hash()}
			var err error
			if noisy[i], err = (&opened{streams: streams(p, 1)}).addNoise(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(noisy[0], noisy[1]) {
			t.Errorf("%d counts have other noise where they are narrow", cells)
		}
	}
}

// What is counted and measured is a checked copy of the plan: one that was
// changed is refused, and a change after counting reaches nothing.
func TestPlansAreCopiedAndChecked(t *testing.T) {
	dir := folder(t, "a.csv", canaryTable())
	weak := planOf(t)
	weak.Measurements[0].Mechanism.Parameter = big.NewRat(1, 1000)
	if _, err := Count(t.Context(), compiled.Of(weak), FilesIn(dir, 0, 0), streams(weak, 1)); err == nil {
		t.Error("a plan with a tenth of the noise is counted")
	}
	p := planOf(t)
	e := exactOf(t, p, dir, 1)
	o, err := e.Open(receiptOf(t, e, 1, false), streams(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	asked := planOf(t).Measurements[0]
	p.Measurements[0].Mechanism.Parameter.SetFrac64(1, 1000)
	m, err := o.Measure(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if m.Measurement.Mechanism.Parameter.Cmp(asked.Mechanism.Parameter) != 0 {
		t.Error("a change of the plan after counting changes the noise")
	}
}

// What is measured of an impossible cell is 0, whatever was counted there; the noise of the others is that of their
// streams all the same.
func TestImpossibleCellsAreNotMeasured(t *testing.T) {
	p := ruledPlan(t)
	e := exactOf(t, p, folder(t, "t.csv", "kind,age,work\na,7,n\n"), 1)
	opened, err := e.Open(receiptOf(t, e, 1, false), streams(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.Measurements {
		noisy, err := opened.Measure(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		zeros := 0
		for cell, v := range noisy.Values.Int64Values() {
			if m.ID == "both" && cell/10 == 2 && cell%10 < 5 && v != 0 {
				t.Errorf("impossible cell %d is %d", cell, v)
			}
			if v == 0 {
				zeros++
			}
		}
		if m.ID == "both" && (m.Impossible != 5 || zeros > 25) {
			t.Errorf("%d impossible cells, %d of 30 integers are 0", m.Impossible, zeros)
		}
	}
}
