package histogram

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// persons is a release of microdata of three columns, with tables of one column
// each.
const persons = `version: 1
release: survey
privacy: {protects: person, neighbours: add-remove, account: survey}
budget: {rho: RHO, split: {tables: 1/2, microdata: 1/2}}
tables:
  persons:
    source: {csv: "*.csv"}
    unit: UNIT
    columns:
      a: {values: [x, y]}
      b: {values: [x, y]}
      c: {values: [x, y, z]}
marginals:
  each: {by: [a, b, c], every: [1], budget: tables}
synthetic:
  persons: {budget: microdata, METHOD}
`

// The pairs of persons, as places in plan.Synthetic.Candidates of MST.
const (
	ab, ac, bc = 0, 1, 2
	rounds     = 2
)

// personsOf plans persons with replacements of its capitals.
func personsOf(t testing.TB, replacements ...string) *plan.Plan {
	t.Helper()
	text := strings.NewReplacer(append(replacements, "UNIT", "row", "RHO", "4", "METHOD", "method: mst")...).
		Replace(persons)
	r, err := spec.Parse(spec.Source{Name: "persons.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Synthetic[0]
	if s.Method == plan.MST && (s.Rounds != rounds || len(adaptive.Candidates(s)) != 3) || s.Method == plan.AIM &&
		len(adaptive.Candidates(s)) != 7 {
		t.Fatalf("the microdata are planned as %v", s)
	}
	return p.Plan()
}

// aim plans persons for rounds of AIM over sets of up to three columns.
const aim = "method: aim, ways: 3"

// The candidates of AIM, as places in plan.Synthetic.Candidates.
const (
	onlyA, onlyB, onlyC = 0, 1, 2
	setAB, setAC, setBC = 3, 4, 5
	setABC              = 6
)

// chosen is Select with the mechanism of the plan and no penalties.
func chosen(o *Oracle, round int, candidates []int, models [][]int64) (int, error) {
	return o.Select(context.Background(), round, o.inner.method.Select, candidates, models, nil)
}

// answerTo is Measure with the noise of the plan.
func answerTo(o *Oracle, round, choice int) (measured.Measured, error) {
	return o.Measure(context.Background(), round, choice, o.inner.method.Noise)
}

// passed tells an oracle that earlier runs have made a round.
func passed(t testing.TB, o *Oracle, round, choice int) {
	t.Helper()
	err := errors.Join(o.ReplayChoice(round, o.inner.method.Select, choice),
		o.ReplayAnswer(round, choice, o.inner.method.Noise))
	if err != nil {
		t.Fatal(err)
	}
}

// keyOf is the n-th of many keys.
func keyOf(n int) (k noise.Key) {
	binary.LittleEndian.PutUint64(k[:], uint64(n))
	return k
}

// oracles makes oracles over the same exact counts, each with a key of its own.
func oracles(t testing.TB, e *Exact) func(n int) *Oracle {
	t.Helper()
	hash := e.inner.plan.Hash()
	return func(n int) *Oracle {
		o, err := newOracle(&opened{exact: e.inner, streams: noise.NewStreams(keyOf(n), hash)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return &Oracle{inner: o}
	}
}

// zeros are the models of candidates that expect no rows.
func zeros(e *Exact, candidates ...int) [][]int64 {
	models := make([][]int64, len(candidates))
	for i, c := range candidates {
		models[i] = make([]int64, len(e.inner.candidates[0][c]))
	}
	return models
}

func TestPairsEqualNaiveCounts(t *testing.T) {
	p := personsOf(t)
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) [3]int {
			return [3]int{rapid.IntRange(0, 1).Draw(rt, "a"), rapid.IntRange(0, 1).Draw(rt, "b"),
				rapid.IntRange(0, 2).Draw(rt, "c")}
		}), 0, 40).Draw(rt, "rows")
		text, sizes := "a,b,c\n", [3]int{2, 2, 3}
		want := [][]int64{make([]int64, 4), make([]int64, 6), make([]int64, 6)}
		for _, r := range rows {
			text += fmt.Sprintf("%c,%c,%c\n", "xyz"[r[0]], "xyz"[r[1]], "xyz"[r[2]])
			for i, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
				want[i][r[pair[0]]*sizes[pair[1]]+r[pair[1]]]++
			}
		}
		e := exactOf(t, p, folder(t, "a.csv", text), 1)
		for i, counts := range e.inner.candidates[0] {
			if !slices.Equal(counts, want[i]) {
				rt.Errorf("pair %d: %v, want %v", i, counts, want[i])
			}
		}
	})
}

// Pairs are of the rows that bounding keeps, and made-up rows have pairs as well.
func TestPairsAreBoundedAndMadeUp(t *testing.T) {
	p := personsOf(t, "UNIT", "{id: id, max_rows: 3}")
	e := exactOf(t, p, folder(t, "a.csv", "id,a,b,c\n"+strings.Repeat("1,x,y,z\n", 9)+"2,x,x,x\n"), 1)
	for i, want := range [][]int64{{1, 3, 0, 0}, {1, 0, 3, 0, 0, 0}, {1, 0, 0, 0, 0, 3}} {
		if got := e.inner.candidates[0][i]; !slices.Equal(got, want) {
			t.Errorf("pair %d: %v, want %v", i, got, want)
		}
	}
	const rows = 6000
	made, err := Count(context.Background(), compiled.Of(p), MadeUpRows(rows), streams(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i, counts := range made.inner.candidates[0] {
		total := int64(0)
		for _, c := range counts {
			// Binomial(6000, 1/4 or 1/6): beyond 12 standard deviations, below 1e-30 a cell.
			if mean := int64(rows / len(counts)); c < mean-410 || c > mean+410 {
				t.Errorf("pair %d: a cell of made-up rows holds %d, expected about %d", i, c, mean)
			}
			total += c
		}
		if total != rows {
			t.Errorf("pair %d: %d rows, want %d", i, total, rows)
		}
	}
}

// The memory of a plan covers its pairs: exact, noisy and expected counts.
func TestMemoryCoversPairs(t *testing.T) {
	p := personsOf(t)
	without := *p
	without.Synthetic = nil
	if got := memory.Bytes(p) - memory.Bytes(&without); got != 24*(4+6+6)+3*1024 {
		t.Errorf("the pairs take %d bytes, want 24 for each of 16 cells and 1024 for each pair", got)
	}
	_, err := Count(context.Background(), compiled.Of(p),
		FilesIn("no such folder", 0, memory.Bytes(p)-1),
		streams(p, 1))
	var m *memory.Error
	if !errors.As(err, &m) || m.Need != memory.Bytes(p) {
		t.Errorf("got %v", err)
	}
}

// exactHash is the hash of questions with their counts, written anew: SHA-256 of
// the SHA-256 of each question and of its counts.
func exactHash(questions []plan.Measurement, counts [][]int64) []byte {
	all := []byte{}
	for i, m := range questions {
		definition := sha256.Sum256(m.Canonical())
		var words []byte
		for _, c := range counts[i] {
			words = binary.AppendVarint(words, c)
		}
		block := sha256.Sum256(words)
		answer := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, uint64(len(counts[i]))), block[:]...))
		all = append(append(all, definition[:]...), answer[:]...)
	}
	sum := sha256.Sum256(all)
	return sum[:]
}

// What a release is debited for covers the pairs, and is as ever where there are
// none.
func TestCommitmentCoversPairs(t *testing.T) {
	p := personsOf(t)
	// Both have each value of a and of b twice, and one of each pair with c is 1.
	one := exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,x,x\nx,x,x\ny,y,x\ny,y,x\n"), 1)
	two := exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,x,x\nx,y,x\ny,x,x\ny,y,x\n"), 1)
	for _, m := range p.Measurements {
		if !slices.Equal(answerOf(one, m.ID), answerOf(two, m.ID)) {
			t.Fatalf("the counts of %s differ", m.ID)
		}
	}
	for i, differ := range []bool{ab: true, ac: false, bc: false} {
		if slices.Equal(one.inner.candidates[0][i], two.inner.candidates[0][i]) == differ {
			t.Fatalf("pair %d is not as this test wants it", i)
		}
	}
	if one.Commitment(streams(p, 1)) == two.Commitment(streams(p, 1)) {
		t.Error("counts that differ in one pair have one commitment")
	}
	if _, err := two.Open(receiptOf(t, one, 1, false), streams(p, 1)); !errors.Is(err, errOtherDraw) {
		t.Errorf("the receipt of the one opens the other: %v", err)
	}
	all, counts := slices.Clone(p.Measurements), [][]int64{}
	for _, m := range p.Measurements {
		counts = append(counts, answerOf(one, m.ID))
	}
	pairs, err := candidatesOf(p, p.Synthetic[0])
	if err != nil {
		t.Fatal(err)
	}
	all, counts = append(all, pairs...), append(counts, one.inner.candidates[0]...)
	if !slices.Equal(one.inner.hash, exactHash(all, counts)) {
		t.Error("the hash is not that of all questions with their counts")
	}
	plain := planOf(t)
	e := exactOf(t, plain, folder(t, "a.csv", canaries), 1)
	var answers [][]int64
	for _, m := range plain.Measurements {
		answers = append(answers, answerOf(e, m.ID))
	}
	if !slices.Equal(e.inner.hash, exactHash(plain.Measurements, answers)) {
		t.Error("the hash of a plan without microdata is not that of its measurements")
	}
}

func TestOracleSaysNothing(t *testing.T) {
	p := personsOf(t)
	e := exactOf(t, p, folder(t, "a.csv", "a,b,c\n"+strings.Repeat("x,y,z\n", 7319)), 1)
	o := paidOracle(t, e)
	type holder struct {
		o *Oracle
		O Oracle
	}
	for _, v := range []any{o, *o, holder{o, *o}, []*Oracle{o}, map[string]any{"x": *o}} {
		for i, s := range shown(v) {
			if strings.Contains(s, "7319") || strings.Contains(s, "1c97") || strings.Contains(s, "1C97") {
				t.Errorf("%T, printing %d: %s", v, i, s)
			}
		}
	}
	for _, v := range []any{o, *o} {
		for i, s := range shown(v) {
			if !strings.Contains(s, "confidential") {
				t.Errorf("%T, printing %d: %s", v, i, s)
			}
		}
	}
}

// paidOracle opens exact counts by the receipt of a debit.
func paidOracle(t testing.TB, e *Exact) *Oracle {
	t.Helper()
	opened, err := e.Open(receiptOf(t, e, 1, false), streams(e.inner.plan.Plan(), 1))
	if err != nil {
		t.Fatal(err)
	}
	o, err := opened.Oracle(0)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOraclesAreGivenOnce(t *testing.T) {
	p := personsOf(t)
	e := exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,y,z\n"), 1)
	opened, err := e.Open(receiptOf(t, e, 1, false), streams(p, 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method int
		want   error
	}{{-1, errNoMethod}, {1, errNoMethod}, {0, nil}, {0, errOracleGiven}} {
		if o, err := opened.Oracle(c.method); !errors.Is(err, c.want) || (o == nil) != (err != nil) {
			t.Errorf("method %d: %v, %v", c.method, o, err)
		}
	}
	pair, err := adaptive.Answer(p, p.Synthetic[0], 0, ab, nil, p.Synthetic[0].Noise)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Measure(context.Background(), pair); !errors.Is(err, errNotPlanned) {
		t.Errorf("a pair without its round: %v", err)
	}
}

// A method whose rounds lose more than the block that was paid for has no oracle.
func TestRoundsAreWithinTheirBlock(t *testing.T) {
	for name, change := range map[string]func(s *plan.Synthetic){
		"a round more": func(s *plan.Synthetic) { s.Rounds++ },
		"a larger ε": func(s *plan.Synthetic) {
			s.Select.Parameter.Add(s.Select.Parameter,
				big.NewRat(1, 1<<40))
		},
		"less noise":        func(s *plan.Synthetic) { s.Noise.Parameter.Sub(s.Noise.Parameter, big.NewRat(1, 1<<40)) },
		"another selection": func(s *plan.Synthetic) { s.Select.Kind = budget.PermuteAndFlip },
		"noise for a choice": func(s *plan.Synthetic) {
			s.Select = budget.Mechanism{Kind: budget.DiscreteGaussian, Parameter: big.NewRat(1000, 1),
				L1:        big.NewInt(1),
				L2Squared: big.NewInt(1)}
		},
		"no ε":     func(s *plan.Synthetic) { s.Select.Parameter = nil },
		"no noise": func(s *plan.Synthetic) { s.Noise.Parameter = new(big.Rat) },
		"no block": func(s *plan.Synthetic) { s.Block.Parameter = new(big.Rat) },
		"a choice for a block": func(s *plan.Synthetic) {
			s.Block = budget.Mechanism{Kind: budget.ExponentialMechanism, Parameter: big.NewRat(1000, 1)}
		},
	} {
		p := personsOf(t)
		e := exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,y,z\n"), 1)
		x := &opened{exact: e.inner, streams: streams(p, 1)}
		if _, err := newOracle(x, 0); err != nil {
			t.Fatal(err)
		}
		change(&e.inner.plan.Synthetic[0])
		if _, err := newOracle(x, 0); !errors.Is(err, errBeyondBlock) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// ask is one thing asked of an oracle, and why it is refused (nil: it is not).
type ask struct {
	what       string // "choose", "measure", or what earlier runs did: "chose", "gave"
	round      int
	candidates []int // of a choice; of the rest, the candidate
	want       error
}

func TestLimitsOfRounds(t *testing.T) {
	p := personsOf(t)
	e := exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,y,z\n"), 1)
	make, all := oracles(t, e), []int{ab, ac, bc}
	for name, asks := range map[string][]ask{
		"all rounds": {{"choose", 0, []int{ab}, nil}, {"measure", 0, []int{ab}, nil}, {"choose", 1, []int{bc}, nil},
			{"measure", 1, []int{bc}, nil},
			{"choose", 0, all, errOtherStep}, {"choose", 1, all, errOtherStep}, {"measure", 0, []int{ac}, errOtherStep},
			{"measure", 1, []int{bc}, errOtherStep},
			{"choose", 2, all, errNoRound}, {"measure", 2, []int{ac}, errNoRound}, {"chose", 2, []int{ac}, errNoRound},
			{"gave", 2, []int{ac}, errNoRound}},
		"no such rounds": {{"choose", -1, all, errNoRound}, {"choose", rounds, all, errNoRound},
			{"measure", -1, []int{ab}, errNoRound}, {"measure", rounds, []int{ab}, errNoRound}},
		"rounds of which half is": {{"choose", 1<<62 + 1, all, errNoRound}, {"measure", 1 << 62, []int{ab}, errNoRound},
			{"choose", -1 << 63, all, errNoRound}},
		"chosen twice": {{"choose", 0, all, nil}, {"choose", 0, all, errOtherStep},
			{"chose", 0, []int{ab}, errOtherStep}},
		"measured first": {{"measure", 0, []int{ab}, errOtherStep}, {"gave", 0, []int{ab}, errOtherStep}},
		"measured twice": {{"choose", 0, []int{ab}, nil}, {"measure", 0, []int{ab}, nil},
			{"measure", 0, []int{ab}, errOtherStep}, {"measure", 1, []int{ab}, errOtherStep}},
		"a round left out": {{"choose", 1, all, errOtherStep}, {"choose", 0, []int{ab}, nil},
			{"choose", 1, all, errOtherStep}, {"measure", 1, []int{ab}, errOtherStep}},
		"resumed before a pair": {{"chose", 0, []int{bc}, nil}, {"measure", 0, []int{bc}, nil},
			{"choose", 1, []int{ab}, nil}, {"measure", 1, []int{ab}, nil}},
		"resumed before a choice": {{"chose", 0, []int{bc}, nil}, {"gave", 0, []int{bc}, nil},
			{"choose", 0, all, errOtherStep}, {"measure", 0, []int{bc}, errOtherStep}, {"choose", 1, []int{ab}, nil}},
		"another pair than chosen": {{"choose", 0, []int{ab}, nil}, {"measure", 0, []int{ac}, errOtherChoice},
			{"gave", 0, []int{ac}, errOtherChoice}, {"measure", 0, []int{ab}, nil}},
		"one pair in two rounds": {{"choose", 0, []int{ab}, nil}, {"measure", 0, []int{ab}, nil},
			{"choose", 1, []int{ab}, nil}, {"measure", 1, []int{ab}, errGiven}},
		"one pair in two runs": {{"chose", 0, []int{ab}, nil}, {"gave", 0, []int{ab}, nil},
			{"choose", 1, []int{ab}, nil},
			{"measure", 1, []int{ab}, errGiven}, {"gave", 1, []int{ab}, errGiven}},
		"no such pairs": {{"chose", 0, []int{-1}, errCandidates}, {"chose", 0, []int{3}, errCandidates},
			{"chose", 0, []int{1 << 62}, errCandidates}, {"chose", 0, []int{ab}, nil}},
	} {
		o := make(1)
		for i, a := range asks {
			var err error
			switch a.what {
			case "choose":
				var c int
				if c, err = chosen(o, a.round, a.candidates,
					zeros(e, a.candidates...)); (err == nil) != slices.Contains(a.candidates, c) {
					t.Errorf("%s, %d: the choice %d of %v, %v", name, i, c, a.candidates, err)
				}
			case "measure":
				_, err = answerTo(o, a.round, a.candidates[0])
			case "chose":
				err = o.ReplayChoice(a.round, o.inner.method.Select, a.candidates[0])
			case "gave":
				err = o.ReplayAnswer(a.round, a.candidates[0], o.inner.method.Noise)
			}
			if !errors.Is(err, a.want) || (err == nil) != (a.want == nil) {
				t.Errorf("%s, %d: got %v, want %v", name, i, err, a.want)
			}
		}
	}
}

// However many ask at once, there are as many choices and answers as rounds, at the
// most.
func TestLimitsHoldForAllWhoAsk(t *testing.T) {
	p := personsOf(t)
	e := exactOf(t, p, folder(t, "a.csv", "a,b,c\nx,y,z\n"), 1)
	o := oracles(t, e)(1)
	var choices, answers atomic.Int64
	err := parallel.Do(context.Background(), 8, 400, func(i int) error {
		round, pair := i%4-1, i/4%3
		if _, err := chosen(o, round, []int{pair}, zeros(e, pair)); err == nil {
			choices.Add(1)
		}
		if _, err := answerTo(o, round, pair); err == nil {
			answers.Add(1)
		}
		return nil
	})
	if err != nil || choices.Load() > rounds || answers.Load() > rounds || answers.Load() == 0 {
		t.Errorf("%d choices and %d answers, %v", choices.Load(), answers.Load(), err)
	}
}

func TestQuestionsOfAChoice(t *testing.T) {
	p := personsOf(t)
	e := exactOf(t, p, folder(t, "a.csv", "a,b,c\n"+strings.Repeat("x,y,z\n", 7319)), 1)
	o := oracles(t, e)(1)
	with := func(cell int64) [][]int64 {
		models := zeros(e, ab, bc)
		models[1][5] = cell
		return models
	}
	for name, c := range map[string]struct {
		candidates []int
		models     [][]int64
		want       error
	}{
		"no candidates":       {nil, nil, errCandidates},
		"a candidate twice":   {[]int{ab, ab}, zeros(e, ab, ab), errCandidates},
		"more than there are": {[]int{ab, ac, bc, ab}, zeros(e, ab, ac, bc, ab), errCandidates},
		"below the pairs":     {[]int{-1, ab}, zeros(e, ab, ab), errCandidates},
		"above the pairs":     {[]int{ab, 3}, zeros(e, ab, ab), errCandidates},
		"no models":           {[]int{ab, bc}, nil, errModels},
		"a model too few":     {[]int{ab, bc}, zeros(e, ab), errModels},
		"a model too many":    {[]int{ab, bc}, zeros(e, ab, bc, ac), errModels},
		"a cell too few":      {[]int{ab, bc}, zeros(e, ab, ab), errModels},
		"a cell too many":     {[]int{ab, bc}, zeros(e, bc, bc), errModels},
		"below 0":             {[]int{ab, bc}, with(-1), errModels},
		"far below 0":         {[]int{ab, bc}, with(-1 << 63), errModels},
		"above 2^50":          {[]int{ab, bc}, with(1<<50 + 1), errModels},
		"far above":           {[]int{ab, bc}, with(1<<63 - 1), errModels},
	} {
		choice, err := chosen(o, 0, c.candidates, c.models)
		if !errors.Is(err, c.want) || choice != -1 {
			t.Errorf("%s: %d, %v", name, choice, err)
		}
		for _, s := range shown(err) {
			if strings.Contains(s, "7319") {
				t.Errorf("%s: the error shows a count: %s", name, s)
			}
		}
	}
	how := o.inner.method.Select
	for _, penalties := range [][]int64{{}, {0}, {0, 0, 0}, {0, -1}, {1<<60 + 1, 0}, {-1 << 63, 0}} {
		if _, err := o.Select(context.Background(), 0, how, []int{ab, bc}, with(0), penalties); !errors.Is(err,
			errModels) {
			t.Errorf("penalties of %v: %v", penalties, err)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := o.Select(cancelled, 0, how, []int{ab, bc}, with(0), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, edge := range []int64{0, 1 << 50} { // what was refused took no round
		if _, err := chosen(oracles(t, e)(1), 0, []int{ab, bc}, with(edge)); err != nil {
			t.Error(err)
		}
	}
	if _, err := o.Select(context.Background(), 0, how, []int{bc, ab}, zeros(e, bc, ab),
		[]int64{0, 1 << 60}); err != nil {
		t.Error(err)
	}
}

// A pair's answer is its counts with the plan's noise: that of key, question and
// counts, whatever the round, and drawn again after a failure.
func TestPairsAreMeasuredAsTheRest(t *testing.T) {
	p := personsOf(t)
	e := exactOf(t, p, folder(t, "a.csv", "a,b,c\n"+strings.Repeat("x,y,z\n", 7319)), 1)
	o := paidOracle(t, exactOf(t, p, folder(t, "a.csv", "a,b,c\n"+strings.Repeat("x,y,z\n", 7319)), 1))
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := o.ReplayChoice(0, o.inner.method.Select, ac); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Measure(cancelled, 0, ac, o.inner.method.Noise); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	first, err := answerTo(o, 0, ac)
	if err != nil {
		t.Fatal(err)
	}
	want, err := adaptive.Answer(p, p.Synthetic[0], 0, ac, nil, p.Synthetic[0].Noise)
	if err != nil {
		t.Fatal(err)
	}
	if got := first.Measurement; string(got.Canonical()) != string(want.Canonical()) || got.Leaf != want.Leaf ||
		got.Cells != want.Cells {
		t.Errorf("the answer is to %v, want %v", got, want)
	}
	noiseIn := func(values []int64) []int64 {
		noise := slices.Clone(values)
		for i, c := range []int64{0, 0, 7319, 0, 0, 0} {
			noise[i] -= c
		}
		return noise
	}
	drawn := noiseIn(first.Values.Int64Values())
	sigma := p.Synthetic[0].Noise.Variance()
	for _, x := range drawn {
		if float64(x)*float64(x) > 144*sigma { // 12 standard deviations: below 1e-30
			t.Errorf("noise of %d, for a variance of %g", x, sigma)
		}
	}
	if slices.Equal(drawn, make([]int64, 6)) {
		t.Error("there is no noise")
	}
	// The keys are fixed, so these hold or fail for good.
	measure := func(e *Exact, key noise.Key, round int) []int64 {
		x, err := newOracle(&opened{exact: e.inner, streams: noise.NewStreams(key, p.Hash())}, 0)
		if err != nil {
			t.Fatal(err)
		}
		o := &Oracle{inner: x}
		for before := range round {
			passed(t, o, before, bc)
		}
		if err := o.ReplayChoice(round, x.method.Select, ac); err != nil {
			t.Fatal(err)
		}
		m, err := answerTo(o, round, ac)
		if err != nil {
			t.Fatal(err)
		}
		return noiseIn(m.Values.Int64Values())
	}
	if got := measure(e, noise.Key{1}, 1); !slices.Equal(got, drawn) {
		t.Error("another round of MST, which asks no pair twice, draws other noise")
	}
	if got := measure(e, noise.Key{2}, 0); slices.Equal(got, drawn) {
		t.Error("another key meets the same noise")
	}
	more := exactOf(t, p, folder(t, "a.csv", "a,b,c\n"+strings.Repeat("x,y,z\n", 7318)+"y,y,z\n"), 1)
	got := measure(more, noise.Key{1}, 0)
	if got[2]++; slices.Equal(got, drawn) || slices.Equal(append(slices.Clone(got[:5]), got[5]-1), drawn) {
		t.Error("other counts meet the same noise")
	}
}
