package release

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/state"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// This file holds releases of microdata by AIM: their rounds forged, asked for more than was paid, and what of the
// confidential table is in what they publish.

// Rounds that are rewritten, files and all, so that they spend more: whoever makes the microdata of them again is told.
func TestRoundsBeyondTheBlockMakeNoMicrodata(t *testing.T) {
	o := releasetest.With(t, releasetest.AIMSpec, releasetest.WalkPolicy, releasetest.WalkRows())
	_, place := runRelease(t, o)
	v, _ := sealedOf(t, place)
	rounds := v.Rounds[0].All
	for i := range rounds {
		turn := rounds[i].Mechanisms
		turn.Noise.Parameter = new(big.Rat).Quo(turn.Noise.Parameter, big.NewRat(2, 1))
		m, err := adaptive.Answer(o.Plan.Plan(), o.Plan.Synthetic[0], i, rounds[i].Choice, v.Rounds[0].Classes,
			turn.Noise)
		if err != nil {
			t.Fatal(err)
		}
		rounds[i].Mechanisms, rounds[i].Measured.Measurement = turn, m
	}
	if _, err := drawMicrodata(t.Context(), v, 0); err == nil {
		t.Error("microdata are drawn of rounds that have spent twice the block")
	}
	if err := v.Drawn(func(string, []byte) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "more than the block") {
		t.Errorf("rounds that have spent twice the block are sealed: %v", err)
	}
}

// What earlier runs were told is charged to the oracle of the run that resumes: one that was told of seven eighths of
// the block is not given an eighth and two choices more.
func TestJournalledOracleKeepsToItsBlock(t *testing.T) {
	o := releasetest.WalksByAIM(t)
	opt := optionsOf(o, "out")
	l, charge, err := opt.openLedger(t.Context(), o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	streams := noise.NewStreams(plantedKey(t, o, opt), o.Plan.Hash())
	exact, err := histogram.Count(t.Context(), o.Plan, scan.Files{Dir: opt.Data}, streams)
	if err != nil {
		t.Fatal(err)
	}
	charge.Commitment = exact.Commitment(streams)
	receipt, err := l.Debit(t.Context(), charge)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := exact.Open(receipt, streams)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := opened.Oracle(0)
	if err != nil {
		t.Fatal(err)
	}
	// An earlier run was told of a round that took seven eighths of the block.
	s := o.Plan.Synthetic[0]
	most := func(part *big.Rat) budget.Mechanism { // noise with this part of the block's ρ
		how := s.Noise
		how.Parameter = new(big.Rat).Quo(new(big.Rat).Mul(how.Parameter, how.Rho()),
			new(big.Rat).Mul(part, s.Block.Rho()))
		return how
	}
	path := statePathOf(t, o, opt, state.JournalFile)
	begun, err := openJournal(path, o.Plan.Hash(), charge.Commitment)
	if err != nil {
		t.Fatal(err)
	}
	earlier := begun.oracle(o.Plan, 0, newOracle(o.Plan, 1, -1))
	large := most(big.NewRat(7, 8))
	if _, err := earlier.Select(t.Context(), 0, s.Select, []int{0}, [][]int64{{0, 0}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := earlier.Measure(t.Context(), 0, 0, large); err != nil {
		t.Fatal(err)
	}
	begun.close()
	j, err := openJournal(path, o.Plan.Hash(), charge.Commitment)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	now := j.oracle(o.Plan, 0, asked)
	if _, err := now.Select(t.Context(), 0, s.Select, []int{0}, [][]int64{{0, 0}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := now.Measure(t.Context(), 0, 0, large); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	if _, err := now.Select(t.Context(), 1, s.Select, []int{0}, [][]int64{{0, 0}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := now.Measure(t.Context(), 1, 0, most(big.NewRat(1, 8))); err == nil ||
		!strings.Contains(err.Error(), "more than the block") {
		t.Errorf("what earlier runs were told is not charged to this one: %v", err)
	}
	after, _ := os.ReadFile(path)
	if bytes.Count(after, []byte("\n")) != bytes.Count(before, []byte("\n"))+1 {
		t.Error("what was refused is in the journal")
	}
}

// The number of rows is that of the answers of the columns, the mean of their totals by inverse variance: it goes with
// them, whatever the confidential table holds. A number that came from elsewhere would not.
func TestRowsAreThoseOfTheAnswers(t *testing.T) {
	for _, spec := range []string{releasetest.WalkSpec, releasetest.AIMSpec} {
		_, place := runRelease(t, releasetest.With(t, spec, releasetest.WalkPolicy, releasetest.WalkRows()))
		s, _ := sealedOf(t, place)
		weights, mean := 0.0, 0.0
		add := func(m measured.Measured) {
			total := int64(0)
			for _, x := range m.Values.Int64Values() {
				total += x
			}
			weight := 1 / (m.Measurement.Mechanism.Variance() * float64(m.Values.Len()))
			weights += weight
			mean += weight * float64(total)
		}
		for _, m := range s.Measured[1:] { // but for the table
			add(m)
		}
		rows, err := drawMicrodata(t.Context(), s, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := mean / weights; rows.Rows != int(math.Floor(want+0.5)) || math.Abs(rows.Total-want) > 1e-6 {
			t.Errorf("%s: %d rows of a total of %g, which the answers say is %g", s.Plan.Synthetic[0].Method, rows.Rows,
				rows.Total, want)
		}
		if s.Plan.Synthetic[0].Method == plan.AIM {
			continue // other answers would have been followed by other rounds
		}
		for i, m := range s.Measured[1:] {
			values := slices.Clone(m.Values.Int64Values())
			values[0] += 1000
			s.Measured[1+i].Values = releasetest.Integers(values)
		}
		if more, err := drawMicrodata(t.Context(), s, 0); err != nil || more.Rows != rows.Rows+1000 {
			t.Errorf("%d rows, of answers that say 1000 more than with %d: %v", more.Rows, rows.Rows, err)
		}
	}
}

// The questions and the result of AIM depend on its answers only: with equal answers it asks the same and ends the
// same.
func TestAnswersAreAllThatRoundsSee(t *testing.T) {
	p := planOfWalk(t, releasetest.AIMSpec)
	told, rounds := map[string]bool{}, 0
	for range 2 {
		o := newOracle(p, 5, -1)
		made, err := adaptedByModel(t, p, &journal{}, o)
		if err != nil {
			t.Fatal(err)
		}
		told[strings.Join(append(stepsOf(made), o.asked...), "\n")], rounds = true, len(made.All)
	}
	if len(told) != 1 || rounds < 3 {
		t.Errorf("%d sequences of %d rounds of the same answers", len(told), rounds)
	}
}

// adaptedByModel runs AIM itself by way of a journal.
func adaptedByModel(t *testing.T, p *compiled.Compiled, j *journal, o replayable) (measured.Rounds, error) {
	t.Helper()
	var columns []measured.Measured
	for c := range p.Synthetic[0].By {
		m, _ := p.Measurement(p.Synthetic[0].Column(c))
		values := make([]int64, m.Cells)
		for i := range values {
			values[i] = 300 / m.Cells
		}
		columns = append(columns, measured.Measured{Measurement: m, Values: releasetest.Integers(values)})
	}
	return synth.Adapt(t.Context(), p.Plan(), p.Synthetic[0], columns, j.oracle(p, 0, o))
}

// AIM is told again what it was told, as it asks by its model, wherever its run was cut off.
func TestRoundsOfAModelResume(t *testing.T) {
	p := planOfWalk(t, releasetest.AIMSpec)
	path := filepath.Join(t.TempDir(), state.JournalFile)
	run := func(path string, o replayable) (measured.Rounds, error) {
		j, err := openJournal(path, p.Hash(), "commitment")
		if err != nil {
			return measured.Rounds{}, err
		}
		defer j.close()
		return adaptedByModel(t, p, j, o)
	}
	whole, err := run(path, newOracle(p, 1, -1))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for n := 1; n < len(lines); n += 5 {
		o := newOracle(p, 2, -1)
		again, err := run(writeJournal(t, bytes.Join(lines[:n], nil)), o)
		if err != nil {
			t.Fatalf("with %d lines: %v", n, err)
		}
		kept := max(n-2, 0) // but for the header and the classes
		if !slices.Equal(stepsOf(again)[:kept], stepsOf(whole)[:kept]) || len(o.told) != kept {
			t.Errorf("with %d lines: told otherwise, or %d steps charged", n, len(o.told))
		}
	}
	var classes string
	for _, line := range lines {
		if i := bytes.Index(line, []byte(`"classes"`)); i >= 0 {
			classes = string(line)
		}
	}
	if classes == "" || !bytes.Contains(text, []byte(fmt.Sprintf(`"round":%d`, len(whole.All)-1))) {
		t.Error("the journal does not hold the classes, or the last round")
	}
}

// Whatever AIM is answered, its rounds come to an end, and there are rows of them.
func TestExtremeAnswersOfAIM(t *testing.T) {
	o := releasetest.With(t, strings.Replace(releasetest.AIMSpec, "ways: 3", "ways: 3, rows: 50", 1),
		releasetest.WalkPolicy,
		releasetest.WalkRows())
	_, place := runRelease(t, o)
	for name, value := range extremes {
		v, record := sealedOf(t, place)
		asked := newOracle(o.Plan, 1, -1)
		asked.answer = value
		columns := v.Measured[1:] // but for the table
		for i := range columns {
			values := make([]int64, columns[i].Values.Len())
			for cell := range values {
				values[cell] = value(cell)
			}
			columns[i].Values = releasetest.Integers(values)
		}
		var err error
		if v.Rounds[0], err = synth.Adapt(t.Context(), o.Plan.Plan(), o.Plan.Synthetic[0], columns,
			(&journal{}).oracle(o.Plan, 0, asked)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fiftyRows(t, v, record, name)
	}
}
