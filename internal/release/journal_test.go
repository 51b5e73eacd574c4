package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/ending"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/internal/verify"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// walkPlan is the plan of such a release by MST.
func walkPlan(t *testing.T) *compiled.Compiled { return planOfWalk(t, releasetest.WalkSpec) }

// planOfWalk is the plan of a release of walks.
func planOfWalk(t *testing.T, spec string) *compiled.Compiled {
	t.Helper()
	path := filepath.Join(t.TempDir(), "release.yaml")
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := planfile.Load(context.Background(), planfile.Spec{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// oracle is another software's: it answers at random, and otherwise each time. It
// notes what it was asked, and fails at the step in which it is to be cut off.
type oracle struct {
	plan   *compiled.Compiled
	random *rand.Rand
	cut    int // the step that fails; -1: none
	step   int
	asked  []string
	told   []string // of earlier runs

	classes [][]int
	answer  func(cell int) int64 // nil: answers are random
}

func newOracle(p *compiled.Compiled, seed uint64, cut int) *oracle {
	return &oracle{plan: p, random: rand.New(rand.NewPCG(seed, 0)), cut: cut}
}

var errCut = errors.New("cut off")

func (o *oracle) note(what string, round int) error {
	defer func() { o.step++ }()
	if o.step == o.cut {
		return errCut
	}
	o.asked = append(o.asked, fmt.Sprint(what, round))
	return nil
}

func (o *oracle) Merge(classes [][]int) error {
	o.classes = classes
	return nil
}

func (o *oracle) Select(_ context.Context, round int, _ budget.Mechanism, candidates []int, _ [][]int64,
	_ []int64) (int, error) {
	return candidates[o.random.IntN(len(candidates))], o.note("choice", round)
}

func (o *oracle) Measure(_ context.Context, round, choice int, how budget.Mechanism) (measured.Measured, error) {
	m, err := adaptive.Answer(o.plan.Plan(), o.plan.Synthetic[0], round, choice, o.classes, how)
	if err != nil {
		return measured.Measured{}, err
	}
	values := make([]int64, m.Cells)
	for i := range values {
		if values[i] = o.random.Int64N(1<<40) - 1<<39; o.answer != nil {
			values[i] = o.answer(i)
		}
	}
	return measured.Measured{Measurement: m, Values: releasetest.Integers(values)}, o.note("answer", round)
}

func (o *oracle) ReplayChoice(round int, how budget.Mechanism, choice int) error {
	o.told = append(o.told, fmt.Sprint("choice", round, choice, how.Parameter))
	return nil
}

func (o *oracle) ReplayAnswer(round, choice int, how budget.Mechanism) error {
	o.told = append(o.told, fmt.Sprint("answer", round, choice, how.Parameter))
	return nil
}

// stepsOf returns a line for each choice and answer that an adaptive method received.
func stepsOf(rounds measured.Rounds) []string {
	var all []string
	for _, r := range rounds.All {
		all = append(all, fmt.Sprint(r.Choice), fmt.Sprint(r.Measured.Values))
	}
	return all
}

// adaptInMemory runs the method through a journal.
func adaptInMemory(t *testing.T, p *compiled.Compiled, j *journal, o replayable) (rounds measured.Rounds, err error) {
	t.Helper()
	if p.Synthetic[0].Method == plan.AIM {
		rounds, err = askedInRounds(t.Context(), p, j.oracle(p, 0, o))
	} else {
		var columns []measured.Measured
		for c := range p.Synthetic[0].By {
			m, _ := p.Measurement(p.Synthetic[0].Column(c))
			columns = append(columns, measured.Measured{Measurement: m,
				Values: releasetest.Integers(make([]int64, m.Cells))})
		}
		rounds, err = synth.Adapt(t.Context(), p.Plan(), p.Synthetic[0], columns, j.oracle(p, 0, o))
	}
	if err == nil {
		err = j.checkDone()
	}
	return rounds, err
}

// askedInRounds asks as AIM does, without a model: rounds follow the schedule, get quieter where an answer is even, and
// ask of one candidate more than once.
func askedInRounds(ctx context.Context, p *compiled.Compiled, o synth.Oracle) (measured.Rounds, error) {
	s := p.Synthetic[0]
	out := measured.Rounds{Classes: make([][]int, len(s.By))}
	out.Classes[1] = []int{0, 1, 1, 0} // of four hours
	if err := o.Merge(out.Classes); err != nil {
		return out, err
	}
	sizes, err := adaptive.Classes(p.Plan(), s, out.Classes)
	if err != nil {
		return out, err
	}
	schedule := adaptive.NewSchedule(s)
	for round := 0; ; round++ {
		turn, last := schedule.Next()
		var candidates []int
		var models [][]int64
		var penalties []int64
		for i, columns := range adaptive.Candidates(s) {
			cells := 1
			for _, c := range columns {
				cells *= sizes[c]
			}
			if i%2 == round/2%2 { // two rounds have the same candidates
				candidates, models, penalties = append(candidates, i), append(models, make([]int64, cells)),
					append(penalties, int64(100*round))
			}
		}
		choice, err := o.Select(ctx, round, turn.Select, candidates, models, penalties)
		if err != nil {
			return out, err
		}
		answer, err := o.Measure(ctx, round, choice, turn.Noise)
		if err != nil {
			return out, err
		}
		out.All = append(out.All, measured.Round{Choice: choice, Mechanisms: turn, Measured: answer})
		if last {
			return out, nil
		}
		if answer.Values.Value(0)%2 == 0 {
			schedule.Quieter()
		}
	}
}

// adaptResuming opens a journal as a new run does, and continues from it.
func adaptResuming(t *testing.T, p *compiled.Compiled, path string, o replayable) (measured.Rounds, error) {
	t.Helper()
	j, err := openJournal(path, p.Hash(), "commitment")
	if err != nil {
		return measured.Rounds{}, err
	}
	defer j.close()
	return adaptInMemory(t, p, j, o)
}

// journalOf is a finished journal: its bytes, and what was told.
func journalOf(t *testing.T, p *compiled.Compiled, seed uint64) (text []byte, told []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), state.JournalFile)
	rounds, err := adaptResuming(t, p, path, newOracle(p, seed, -1))
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text, stepsOf(rounds)
}

// writeJournal writes a journal file with these bytes and returns its path.
func writeJournal(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), state.JournalFile)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A run that is cut off in any step is resumed by other software, which would answer
// otherwise: it is asked for what nobody was told, once, and for nothing else, and is told
// what earlier runs were, which it charges.
func TestJournalTellsAgainWhatWasTold(t *testing.T) {
	for _, spec := range []string{releasetest.WalkSpec, releasetest.AIMSpec} {
		p := planOfWalk(t, spec)
		_, told := journalOf(t, p, 1)
		for cut := range len(told) + 1 {
			path := filepath.Join(t.TempDir(), state.JournalFile)
			first, second, third := newOracle(p, 1, cut), newOracle(p, 2, -1), newOracle(p, 3, 0)
			_, err := adaptResuming(t, p, path, first)
			if cut < len(told) && !errors.Is(err, errCut) || cut == len(told) && err != nil {
				t.Fatal(err)
			}
			rounds, err := adaptResuming(t, p, path, second)
			if err != nil {
				t.Fatal(err)
			}
			// Rounds may be more or fewer where the second answers otherwise.
			var all []string
			for round := range rounds.All {
				all = append(all, fmt.Sprint("choice", round), fmt.Sprint("answer", round))
			}
			if !slices.Equal(first.asked, all[:cut]) || !slices.Equal(second.asked, all[cut:]) {
				t.Errorf("cut off in step %d: asked %v, then %v", cut, first.asked, second.asked)
			}
			if !slices.Equal(stepsOf(rounds)[:cut], told[:cut]) {
				t.Errorf("cut off in step %d: told %v, then %v", cut, told[:cut], stepsOf(rounds)[:cut])
			}
			again, err := adaptResuming(t, p, path, third)
			if err != nil || len(third.asked) > 0 || !slices.Equal(stepsOf(again), stepsOf(rounds)) {
				t.Errorf("cut off in step %d: a finished journal tells %v, not %v (%v, asked %v)", cut, again, rounds,
					err,
					third.asked)
			}
			if charged := chargedFor(rounds); !slices.Equal(second.told, charged[:cut]) ||
				!slices.Equal(third.told, charged) {
				t.Errorf("cut off in step %d: charged for %v, then for %v", cut, second.told, third.told)
			}
		}
	}
}

// chargedFor are the steps that rounds are charged for.
func chargedFor(r measured.Rounds) (all []string) {
	for i, one := range r.All {
		all = append(all, fmt.Sprint("choice", i, one.Choice, one.Mechanisms.Select.Parameter),
			fmt.Sprint("answer", i, one.Choice, one.Mechanisms.Noise.Parameter))
	}
	return all
}

// A run killed while it writes leaves the journal cut off anywhere: what is whole is told
// again, the rest is asked for, and the journal is whole afterwards.
func TestJournalCutOffAnywhere(t *testing.T) {
	t.Run("mst", func(t *testing.T) { journalCutOffAnywhere(t, walkPlan(t), 1, 29) })
	t.Run("aim", func(t *testing.T) { journalCutOffAnywhere(t, planOfWalk(t, releasetest.AIMSpec), 2, 499) })
}

// journalCutOffAnywhere cuts off the journal of a plan at every end of a line, and every so many bytes between. So many
// of its lines come before the first choice.
func journalCutOffAnywhere(t *testing.T, p *compiled.Compiled, before, every int) {
	text, told := journalOf(t, p, 1)
	for n := range len(text) + 1 {
		boundary := n == 0 || n == len(text) || text[n-1] == '\n' || text[n] == '\n' || text[max(n-2, 0)] == '\n'
		if !boundary && n%every != 0 {
			continue
		}
		// some file systems leave zeros in the place of what was not written
		for _, tail := range []string{"", "\x00", "\x00\x00\x00\x00"} {
			path := writeJournal(t, append(slices.Clone(text[:n]), tail...))
			whole := max(bytes.Count(text[:n], []byte("\n"))-before, 0)
			o := newOracle(p, 2, -1)
			rounds, err := adaptResuming(t, p, path, o)
			if err != nil {
				t.Fatalf("cut off after %d bytes: %v", n, err)
			}
			if !slices.Equal(stepsOf(rounds)[:whole], told[:whole]) || len(o.asked) != len(stepsOf(rounds))-whole {
				t.Errorf("cut off after %d bytes: %d steps are whole, %v were asked", n, whole, o.asked)
			}
			none := newOracle(p, 3, 0)
			if again, err := adaptResuming(t, p, path, none); err != nil ||
				!slices.Equal(stepsOf(again), stepsOf(rounds)) {
				t.Errorf("cut off after %d bytes, then whole: %v, %v", n, again, err)
			}
		}
	}
}

// journalRefused asserts that a journal is refused in words that hold no value, and that
// nothing was asked.
func journalRefused(t *testing.T, p *compiled.Compiled, text []byte, says string) {
	t.Helper()
	path, o := writeJournal(t, text), newOracle(p, 2, -1)
	_, err := adaptResuming(t, p, path, o)
	var refused *JournalRefused
	if !errors.As(err, &refused) || !strings.Contains(refused.Why, says) || len(o.asked) > 0 {
		t.Fatalf("%v, want a refusal that says %q; asked %v", err, says, o.asked)
	}
	var entry journalEntry
	for _, line := range bytes.Split(text, []byte("\n")) {
		_, body, _ := bytes.Cut(line, []byte(" "))
		if json.Unmarshal(body, &entry) != nil {
			continue
		}
		for _, value := range entry.Answer {
			// others are too short to be told from a number of a line
			if max(value, -value) > 1e6 && strings.Contains(err.Error(), fmt.Sprint(value)) {
				t.Errorf("%v tells the answer %d", err, value)
			}
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, text) {
		t.Errorf("a journal that is refused was changed (%v)", err)
	}
}

func TestJournalWithAFlippedByteIsRefused(t *testing.T) {
	p := walkPlan(t)
	text, _ := journalOf(t, p, 1)
	for i := range text {
		bad := slices.Clone(text)
		bad[i] ^= 1 << (i % 8)
		journalRefused(t, p, bad, "is damaged: line "+fmt.Sprint(1+bytes.Count(text[:i], []byte("\n"))))
	}
}

// rechain changes lines of a journal and returns the lines with the hashes that they then need.
func rechain(text []byte, change func(n int, body string) string) []byte {
	j, out := &journal{}, []byte{}
	for n, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		_, body, _ := strings.Cut(line, " ")
		if body = change(n, body); body == "" {
			continue
		}
		j.last = sha256.Sum256(slices.Concat(j.last[:], []byte(body)))
		out = append(out, hex.EncodeToString(j.last[:])+" "+body+"\n"...)
	}
	return out
}

func TestJournalOfSomethingElseIsRefused(t *testing.T) {
	p := walkPlan(t)
	text, _ := journalOf(t, p, 1)
	header := func(old, with string) func(int, string) string {
		return func(n int, body string) string {
			if n == 0 {
				return strings.Replace(body, old, with, 1)
			}
			return body
		}
	}
	line := func(at int, with string) func(int, string) string {
		return func(n int, body string) string {
			if n == at {
				return with
			}
			return body
		}
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for name, c := range map[string]struct {
		text []byte
		says string
	}{
		"another plan": {rechain(text, header(p.Hash(), strings.Repeat("5a", 32))), "is of another plan"},
		"other data": {rechain(text, header(`"commitment":"commitment"`, `"commitment":"another"`)),
			"is of other data, or of another key"},
		"another form":    {rechain(text, header("dprelease.journal/2", "dprelease.journal/1")), "in another form"},
		"no header":       {rechain(text, line(0, "")), "in another form"},
		"lines exchanged": {slices.Concat(lines[0], lines[3], lines[2], lines[1]), "line 2"},
		"a line left out": {slices.Concat(lines[0], lines[1], lines[3]), "line 3"},
		"a line twice":    {slices.Concat(lines[0], lines[1], lines[1]), "line 3"},
		"text behind":     {append(slices.Clone(text), "x\n"...), "line 8"},
		"no entry":        {rechain(text, line(1, "[]")), "resume with the version that began it"},
		"no such pair":    {rechain(text, line(1, choiceOf(t, p, 0, 6))), "resume with the version that began it"},
		"a choice by another": {rechain(text, line(1, `{"method":0,"round":0,"choice":1}`)),
			"does not hold what is asked now"},
		"merged categories": {rechain(text, line(1, `{"method":0,"classes":[[0,0],null,null,null],"round":0}`)),
			"does not hold what is asked now"},
		"an answer first": {rechain(text, line(1, "")), "does not hold what is asked now"},
		"of another method": {rechain(text,
			line(1, strings.Replace(choiceOf(t, p, 0, 1), `"method":0`, `"method":1`, 1))),
			"does not hold what is asked now"},
		"an answer of 1 value": {rechain(text, line(2, answerOf(t, p, 0, 8888888))), "another question"},
		"no answer":            {rechain(text, line(2, answerOf(t, p, 0))), "another question"},
		"less noise": {rechain(text,
			line(2, strings.Replace(answerOf(t, p, 0), `"parameter":"`, `"parameter":"9`, 1))),
			"does not hold what is asked now"},
		"another round": {append(slices.Clone(text), tailOf(text, choiceOf(t, p, 3, 1))...),
			"more rounds than are asked now"},
	} {
		t.Run(name, func(t *testing.T) { journalRefused(t, p, c.text, c.says) })
	}
	t.Run("begun by another version", func(t *testing.T) {
		older := rechain(text, func(n int, body string) string {
			if n == 0 {
				return strings.Replace(body, published.Software, "dprelease 0.0.9", 1)
			}
			return body
		})
		if _, err := adaptResuming(t, p, writeJournal(t, older), newOracle(p, 2, 0)); err != nil {
			t.Errorf("what it was told fits, and: %v", err)
		}
		journalRefused(t, p, rechain(older, line(1, "")), "(dprelease 0.0.9; this is "+published.Software+")")
	})
}

// choiceOf and answerOf are the text of entries by the mechanisms of a plan.
func choiceOf(t *testing.T, p *compiled.Compiled, round, choice int) string {
	return entryText(t, journalEntry{Round: round, Choice: &choice, How: &p.Synthetic[0].Select})
}

func answerOf(t *testing.T, p *compiled.Compiled, round int, values ...int64) string {
	return entryText(t, journalEntry{Round: round, Answer: values, How: &p.Synthetic[0].Noise})
}

func entryText(t *testing.T, e journalEntry) string {
	t.Helper()
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// tailOf is one more line of a journal.
func tailOf(text []byte, body string) []byte {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	last, _, _ := bytes.Cut(lines[len(lines)-1], []byte(" "))
	before, _ := hex.DecodeString(string(last))
	hash := sha256.Sum256(slices.Concat(before, []byte(body)))
	return []byte(hex.EncodeToString(hash[:]) + " " + body + "\n")
}

// What cannot be written, or not made durable, is told to nobody, and nothing is
// written behind it.
func TestJournalThatCannotBeWritten(t *testing.T) {
	p := walkPlan(t)
	text, _ := journalOf(t, p, 1)
	reader, unsynced, err := os.Pipe() // can be written, and not synced
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer unsynced.Close()
	readOnly, err := os.Open(writeJournal(t, text))
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	for name, f := range map[string]*os.File{"write": readOnly, "sync": unsynced} {
		j, o := &journal{file: f}, newOracle(p, 2, -1)
		rounds, err := adaptInMemory(t, p, j, o)
		if err == nil || !strings.Contains(err.Error(), "journal of the rounds") || len(rounds.All) > 0 {
			t.Errorf("%s: told %v, %v", name, rounds, err)
		}
		if len(o.asked) != 1 {
			t.Errorf("%s: went on to ask %v", name, o.asked)
		}
		choice := 0
		if err := j.record(journalEntry{Choice: &choice}); err == nil ||
			!strings.Contains(err.Error(), "before this one") {
			t.Errorf("%s: an entry was written behind: %v", name, err)
		}
	}
	last, err := os.Stat(readOnly.Name())
	if err != nil || last.Size() != int64(len(text)) {
		t.Error("the journal was written to")
	}
}

// crashAfterRounds does what a run does up to sealing, then leaves everything as a crash
// would.
func crashAfterRounds(t *testing.T, o releasetest.Office, opt Options) {
	t.Helper()
	l, charge, err := opt.openLedger(t.Context(), o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	key := plantedKey(t, o, opt)
	streams := noise.NewStreams(key, o.Plan.Hash())
	exact, err := histogram.Count(t.Context(), o.Plan, scan.Files{Dir: opt.Data}, streams)
	if err != nil {
		t.Fatal(err)
	}
	charge.Commitment = exact.Commitment(streams)
	receipt, err := l.Debit(t.Context(), charge)
	if err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(statePathOf(t, o, opt, state.JournalFile), o.Plan.Hash(), charge.Commitment)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	if _, err := drawAll(t.Context(), o.Plan, exact, receipt, streams, nil, j); err != nil {
		t.Fatal(err)
	}
}

// finishedAlike measures a release to its end, or runs it where it is to be published as
// well, and compares the folders.
func finishedAlike(t *testing.T, o releasetest.Office, sealed, published map[string]string) {
	t.Helper()
	opt := optionsOf(o, "out")
	wanted := map[string]map[string]string{MeasuredFolder(opt.Out, "trips"): sealed}
	_, err := Measure(t.Context(), o.Plan, opt)
	if published != nil && err == nil {
		wanted[filepath.Join(opt.Out, "trips")] = published
		_, err = Run(t.Context(), o.Plan, opt)
	}
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range wanted {
		have := releasetest.Contents(t, dir)
		for name, text := range want {
			if have[name] != text {
				t.Errorf("%s of %s differs", name, filepath.Base(dir))
			}
		}
		if len(have) != len(want) {
			t.Errorf("%d files in %s, expected %d", len(have), filepath.Base(dir), len(want))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(opt.StateDir(), "*", "*")); len(left) > 0 {
		t.Errorf("left in the state: %v", left)
	}
	if n := o.Debits(t); n != 1 {
		t.Errorf("%d debits, expected 1", n)
	}
}

// A run that is killed at any point of its rounds resumes to the same bytes.
func TestRoundsResumeToTheSameRelease(t *testing.T) {
	t.Run("mst", func(t *testing.T) { roundsResume(t, releasetest.Walks(t), 1) })
	t.Run("aim", func(t *testing.T) {
		roundsResume(t, releasetest.WalksByAIM(t),
			6)
	}) // has many more rounds: one line in six
}

// roundsResume cuts off the journal of a release at every so manieth line.
func roundsResume(t *testing.T, o releasetest.Office, every int) {
	opt := optionsOf(o, "out")
	crashAfterRounds(t, o, opt)
	text, err := os.ReadFile(statePathOf(t, o, opt, state.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(statePathOf(t, o, opt, state.JournalFile)); err != nil || runtime.GOOS != "windows" &&
		info.Mode().Perm() != 0o600 {
		t.Errorf("the journal has mode %v, %v", info.Mode(), err)
	}
	crashed := o.Copied(t)
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Fatal(err)
	}
	sealed, published := releasetest.Contents(t, MeasuredFolder(opt.Out, "trips")),
		releasetest.Contents(t, filepath.Join(opt.Out, "trips"))
	for _, name := range []string{"rounds/t.json", "measurements/microdata/t/mode.parquet"} {
		if sealed[name] == "" || sealed[name] != published[name] {
			t.Errorf("%s is not sealed, or not published", name)
		}
	}
	cuts, lines := []int{-1, 0, 1}, 0 // -1: the journal was not there yet
	for i, c := range text {
		if c != '\n' {
			continue
		}
		if lines < 3 || lines%every == 0 || i == len(text)-1 {
			cuts = append(cuts, i+1, min(i+30, len(text)))
		}
		lines++
	}
	for i, cut := range cuts {
		again := crashed.Copied(t)
		path := statePathOf(t, again, optionsOf(again, "out"), state.JournalFile)
		if cut < 0 {
			err = os.Remove(path)
		} else {
			err = os.Truncate(path, int64(cut))
		}
		if err != nil {
			t.Fatal(err)
		}
		if i%8 == 0 { // what is published follows from what is sealed
			finishedAlike(t, again, sealed, published)
		} else {
			finishedAlike(t, again, sealed, nil)
		}
	}
}

// What the journal holds is released, also where this software would have chosen and
// answered otherwise.
func TestJournalledRoundsAreReleased(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	crashAfterRounds(t, o, opt)
	path := statePathOf(t, o, opt, state.JournalFile)
	own, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var header journalHeader
	_, body, _ := bytes.Cut(bytes.SplitN(own, []byte("\n"), 2)[0], []byte(" "))
	if err := errors.Join(json.Unmarshal(body, &header), os.Remove(path)); err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(path, o.Plan.Hash(), header.Commitment)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.record(journalEntry{Drawn: restedOn(t, own)}); err != nil {
		t.Fatal(err)
	}
	other := newOracle(o.Plan, 7, 5) // told all but the last answer
	if _, err := adaptInMemory(t, o.Plan, j, other); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	j.close()
	told, _ := os.ReadFile(path)
	if bytes.HasPrefix(own, told) {
		t.Fatal("the other software has told the same")
	}
	result, err := Run(t.Context(), o.Plan, opt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := measured.Open(MeasuredFolder(opt.Out, "trips"), compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	_, want := journalOf(t, o.Plan, 7)
	if have := stepsOf(s.Rounds[0]); !slices.Equal(have[:5], want[:5]) {
		t.Errorf("released %v, told %v", have, want[:5])
	}
	assertVerifies(t, result.Folder, verify.Options{})
}

// restedOn is what the rounds of a journal rest on.
func restedOn(t *testing.T, journal []byte) string {
	t.Helper()
	var e journalEntry
	_, body, _ := bytes.Cut(bytes.Split(journal, []byte("\n"))[1], []byte(" "))
	if err := json.Unmarshal(body, &e); err != nil || len(e.Drawn) != 64 {
		t.Fatalf("the first entry is %s: %v", body, err)
	}
	return e.Drawn
}

// Rounds that rest on other answers to the columns, as another version may have drawn
// them, are not gone on with: those answers and the ones drawn now would be two for one.
func TestRoundsRestOnOneDraw(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	crashAfterRounds(t, o, opt)
	path := statePathOf(t, o, opt, state.JournalFile)
	own, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	drawn := restedOn(t, own)
	other := rechain(own, func(_ int, body string) string {
		return strings.Replace(body, drawn, strings.Repeat("5a", 32), 1)
	})
	without := rechain(own, func(n int, body string) string {
		if n == 1 {
			return ""
		}
		return body
	})
	for _, text := range [][]byte{other, without} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), o.Plan, opt)
		var refused *JournalRefused
		if !errors.As(err, &refused) || !strings.Contains(refused.Why, "rests on other answers than are drawn now") {
			t.Fatalf("%v", err)
		}
		if there, _ := durable.Exists(MeasuredFolder(opt.Out, "trips")); there {
			t.Fatal("measurements were written")
		}
	}
	if err := os.WriteFile(path, own, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Errorf("with its own journal: %v", err)
	}
}

// A journal that does not belong to the release stops it, keeps the key, and costs
// nothing once the right one is back.
func TestForeignJournalsStopARun(t *testing.T) {
	o, elsewhere := releasetest.Walks(t), releasetest.Walks(t)
	opt := optionsOf(o, "out")
	crashAfterRounds(t, o, opt)
	crashAfterRounds(t, elsewhere, optionsOf(elsewhere, "out"))
	path := statePathOf(t, o, opt, state.JournalFile)
	own, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(statePathOf(t, elsewhere, optionsOf(elsewhere, "out"), state.JournalFile))
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(own)
	damaged[len(damaged)/2] ^= 1
	for says, text := range map[string][]byte{"is of other data, or of another key": foreign, "is damaged": damaged} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), o.Plan, opt)
		var spent *Spent
		if !errors.As(err, &spent) || ending.Of(err).Exit != verdict.ExitEnvironment ||
			!strings.Contains(err.Error(), says) {
			t.Fatalf("%v, exit %d, want %q", err, ending.Of(err).Exit, says)
		}
		if !spent.Stuck() || !strings.Contains(err.Error(), "once that is put right, run again") {
			t.Errorf("%v: says that running again is enough", err)
		}
		if there, _ := durable.Exists(MeasuredFolder(opt.Out, "trips")); there {
			t.Fatal("measurements were written")
		}
		if there, _ := durable.Exists(statePathOf(t, o, opt, state.KeyFile)); !there {
			t.Fatal("the key is gone")
		}
	}
	if err := os.WriteFile(path, own, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Error(err)
	}
}

// Other data than were debited are refused before the journal is looked at.
func TestRoundsOfOtherDataAreRefused(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	crashAfterRounds(t, o, opt)
	if err := os.WriteFile(filepath.Join(o.Dir, "t.csv"), []byte(releasetest.WalkRows()+"walk,0,mo,to\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), o.Plan, opt)
	var changed *InputChanged
	if !errors.As(err, &changed) || ending.Of(err).Exit != verdict.ExitEnvironment {
		t.Errorf("%v, exit %d", err, ending.Of(err).Exit)
	}
	if there, _ := durable.Exists(statePathOf(t, o, opt, state.JournalFile)); !there {
		t.Error("the journal is gone")
	}
}

// A journal goes with its key and stays without it: a key that was moved away, and is put
// back, finds its rounds. One that is found before a debit is not of this draw.
func TestJournalGoesWithItsKey(t *testing.T) {
	o := releasetest.Walks(t)
	opt := optionsOf(o, "out")
	crashAfterRounds(t, o, opt)
	key, journal, aside := statePathOf(t, o, opt, state.KeyFile), statePathOf(t, o, opt, state.JournalFile),
		filepath.Join(o.Dir, "aside")
	before, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(key, aside); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), o.Plan, opt)
	var closed *ledger.Closed
	if !errors.As(err, &closed) {
		t.Fatalf("without its key: %v", err)
	}
	if after, err := os.ReadFile(journal); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the journal of a key that may come back was touched: %v", err)
	}
	if err := os.Rename(aside, key); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), o.Plan, opt); err != nil {
		t.Error(err)
	}

	for _, keyed := range []bool{false, true} {
		fresh := releasetest.Walks(t)
		opt := optionsOf(fresh, "out")
		plantedKey(t, fresh, opt)
		err := os.WriteFile(statePathOf(t, fresh, opt, state.JournalFile), before, 0o600)
		if !keyed {
			err = errors.Join(err, os.Remove(statePathOf(t, fresh, opt, state.KeyFile)))
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Measure(t.Context(), fresh.Plan, opt); err != nil {
			t.Errorf("with the journal of another draw before the debit, and a key: %v, %v", keyed, err)
		}
	}
}

// With `resume: never` the journal is nowhere but in memory.
func TestNoJournalWhereNothingResumes(t *testing.T) {
	o := releasetest.With(t, strings.Replace(releasetest.WalkSpec, "account: trips}", "account: trips, resume: never}",
		1), releasetest.WalkPolicy,
		releasetest.WalkRows())
	st, err := state.Open(t.Context(), filepath.Join(o.Dir, "state"), "x-state")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	j, err := (&attempt{plan: o.Plan}).runJournal(st)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := adaptInMemory(t, o.Plan, j, newOracle(o.Plan, 1, -1)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(st.Dir); err != nil || len(left) > 0 {
		t.Errorf("written: %v, %v", left, err)
	}
	if _, err := Run(t.Context(), o.Plan, optionsOf(o, "out")); err != nil {
		t.Error(err)
	}
}
