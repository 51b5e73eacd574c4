package release

import (
	"bytes"
	"errors"
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
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// This file holds releases of microdata by AIM: their rounds forged, asked for more than was paid, and what of the
// confidential table is in what they publish.

// A release of AIM is forged in every way that leaves each of its files in its form: verify names what does not fit.
func TestTamperRoundsOfAIM(t *testing.T) {
	o := publishWith(t, aimSpec, walkPolicy, walkRows())
	verifies(t, o.place, VerifyOptions{Trust: o.public, Export: o.export})
	const name = "rounds/t.json"
	v := o.read(t)
	genuine := v.sealed.Rounds[0]
	last := len(genuine.Each) - 1
	if last < 3 || len(genuine.Classes) != 4 {
		t.Fatalf("%d rounds by classes %v", last+1, genuine.Classes)
	}
	other := func(r measured.Rounds, i, choice int) string { // what a forged round asks for
		m, err := o.plan.Answer(o.plan.Synthetic[0], i, choice, r.Classes, r.Each[i].Turn.Noise)
		if err != nil {
			t.Fatal(err)
		}
		return measured.Path(m.ID)
	}
	coarser := slices.Clone(genuine.Classes)
	coarser[1] = make([]int, len(coarser[1]))
	first := genuine.Each[0].Choice
	for what, c := range map[string]struct {
		forge      func(r *measured.Rounds)
		file, says string
	}{
		"more spent": {func(r *measured.Rounds) {
			r.Each[last].Turn.Select.Parameter = new(big.Rat).Add(r.Each[last].Turn.Select.Parameter, big.NewRat(1, 64))
		}, name, "more than the block"},
		"a choice sharper": {func(r *measured.Rounds) {
			r.Each[0].Turn.Select.Parameter = new(big.Rat).Sub(r.Each[0].Turn.Select.Parameter, big.NewRat(1, 1<<24))
		}, name, "do not follow"},
		"more noise": {func(r *measured.Rounds) {
			r.Each[0].Turn.Noise.Parameter = new(big.Rat).Add(r.Each[0].Turn.Noise.Parameter, big.NewRat(1, 1<<20))
		}, name, "do not follow"},
		"no candidate":     {func(r *measured.Rounds) { r.Each[1].Choice = 99 }, name, "no round 2 with a choice 99"},
		"another choice":   {func(r *measured.Rounds) { r.Each[0].Choice = (first + 1) % 14 }, other(genuine, 0, (first+1)%14), "missing"},
		"a round less":     {func(r *measured.Rounds) { r.Each = r.Each[:last] }, name, "rounds are missing"},
		"a round more":     {func(r *measured.Rounds) { r.Each = append(r.Each, r.Each[last]) }, name, ""},
		"no rounds":        {func(r *measured.Rounds) { r.Each = nil }, name, "rounds are missing"},
		"no classes":       {func(r *measured.Rounds) { r.Classes = nil }, "", ""},
		"coarser classes":  {func(r *measured.Rounds) { r.Classes = coarser }, "", ""},
		"half the classes": {func(r *measured.Rounds) { r.Classes = r.Classes[:2] }, name, "no classes of 2 columns"},
	} {
		forged := measured.Rounds{Classes: genuine.Classes, Each: slices.Clone(genuine.Each)}
		c.forge(&forged)
		b, err := measured.EncodeRounds(forged)
		if err != nil {
			t.Fatal(err)
		}
		dir := o.relisted(t, name, b)
		_, err = Verify(t.Context(), dir, VerifyOptions{})
		var u *Unverified
		if !errors.As(err, &u) || c.file != "" && u.File != c.file || !strings.Contains(u.Says, c.says) {
			t.Errorf("%s: %v, want %s named, and %q", what, err, c.file, c.says)
		}
	}
	// Two rounds exchange places: the answer to each is under the name of its round.
	for i := range last {
		a, b := genuine.Each[i], genuine.Each[i+1]
		if a.Choice == b.Choice || !a.Turn.Equal(b.Turn) {
			continue
		}
		swapped := measured.Rounds{Classes: genuine.Classes, Each: slices.Clone(genuine.Each)}
		swapped.Each[i], swapped.Each[i+1] = b, a
		text, err := measured.EncodeRounds(swapped)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, o.relisted(t, name, text), VerifyOptions{}, other(genuine, i, b.Choice), "missing")
		if err := v.sealed.Drawn(func(string, []byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
		v.sealed.Rounds[0] = swapped
		if err := v.sealed.Drawn(func(string, []byte) error { return nil }); err == nil || !strings.Contains(err.Error(), "asks for") {
			t.Errorf("rounds that exchange places are sealed: %v", err)
		}
		break
	}
}

// Rounds that are rewritten, files and all, so that they spend more: whoever makes the microdata of them again is told.
func TestRoundsBeyondTheBlockMakeNoMicrodata(t *testing.T) {
	o := publishWith(t, aimSpec, walkPolicy, walkRows())
	v := o.read(t)
	rounds := v.sealed.Rounds[0].Each
	for i := range rounds {
		turn := rounds[i].Turn
		turn.Noise.Parameter = new(big.Rat).Quo(turn.Noise.Parameter, big.NewRat(2, 1))
		m, err := o.plan.Answer(o.plan.Synthetic[0], i, rounds[i].Choice, v.sealed.Rounds[0].Classes, turn.Noise)
		if err != nil {
			t.Fatal(err)
		}
		rounds[i].Turn, rounds[i].Measured.Measurement = turn, m
	}
	if _, err := synth.Draw(t.Context(), v.sealed, 0); err == nil {
		t.Error("microdata are drawn of rounds that have spent twice the block")
	}
	if err := v.sealed.Drawn(func(string, []byte) error { return nil }); err == nil || !strings.Contains(err.Error(), "more than the block") {
		t.Errorf("rounds that have spent twice the block are sealed: %v", err)
	}
}

// What earlier runs were told is charged to the oracle of the run that resumes: one that was told of seven eighths of the block
// is not given an eighth and two choices more.
func TestJournalledOracleKeepsToItsBlock(t *testing.T) {
	o := aimOffice(t)
	opt := o.options("out")
	l, charge, err := opt.openLedger(t.Context(), o.plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	streams := noise.NewStreams(plantedKey(t, o, opt), o.plan.Hash())
	exact, err := histogram.Count(t.Context(), o.plan.Plan, histogram.Files{Dir: opt.Data}, streams)
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
	s := o.plan.Synthetic[0]
	most := func(part *big.Rat) budget.Mechanism { // noise with this part of the block's ρ
		how := s.Noise
		how.Parameter = new(big.Rat).Quo(new(big.Rat).Mul(how.Parameter, how.Rho()), new(big.Rat).Mul(part, s.Block.Rho()))
		return how
	}
	path := o.statePath(t, opt, journalFile)
	begun, err := openJournal(path, o.plan.Hash(), charge.Commitment)
	if err != nil {
		t.Fatal(err)
	}
	earlier := begun.oracle(o.plan, 0, newOracle(o.plan, 1, -1))
	large := most(big.NewRat(7, 8))
	if _, err := earlier.Select(t.Context(), 0, s.Select, []int{0}, [][]int64{{0, 0}}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := earlier.Measure(t.Context(), 0, 0, large); err != nil {
		t.Fatal(err)
	}
	begun.close()
	j, err := openJournal(path, o.plan.Hash(), charge.Commitment)
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	now := j.oracle(o.plan, 0, asked)
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
	if _, err := now.Measure(t.Context(), 1, 0, most(big.NewRat(1, 8))); err == nil || !strings.Contains(err.Error(), "more than the block") {
		t.Errorf("what earlier runs were told is not charged to this one: %v", err)
	}
	after, _ := os.ReadFile(path)
	if bytes.Count(after, []byte("\n")) != bytes.Count(before, []byte("\n"))+1 {
		t.Error("what was refused is in the journal")
	}
}

// The number of rows is that of the answers of the columns, the mean of their totals by inverse variance: it goes with them,
// whatever the confidential table holds. A number that came from elsewhere would not.
func TestRowsAreThoseOfTheAnswers(t *testing.T) {
	for _, spec := range []string{walkSpec, aimSpec} {
		o := publishWith(t, spec, walkPolicy, walkRows())
		s := o.read(t).sealed
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
		drawn, err := synth.Draw(t.Context(), s, 0)
		if err != nil {
			t.Fatal(err)
		}
		if want := mean / weights; drawn.Rows != int(math.Floor(want+0.5)) || math.Abs(drawn.Total-want) > 1e-6 {
			t.Errorf("%s: %d rows of a total of %g, which the answers say is %g", s.Plan.Synthetic[0].Method, drawn.Rows, drawn.Total, want)
		}
		if s.Plan.Synthetic[0].Method == plan.AIM {
			continue // other answers would have been followed by other rounds
		}
		for i, m := range s.Measured[1:] {
			values := slices.Clone(m.Values.Int64Values())
			values[0] += 1000
			s.Measured[1+i].Values = integers(values)
		}
		if more, err := synth.Draw(t.Context(), s, 0); err != nil || more.Rows != drawn.Rows+1000 {
			t.Errorf("%d rows, of answers that say 1000 more than with %d: %v", more.Rows, drawn.Rows, err)
		}
	}
}

// What AIM asks and makes of it follows from its answers alone: told the same, it asks the same, and ends alike.
func TestAnswersAreAllThatRoundsSee(t *testing.T) {
	p := planOfWalk(t, aimSpec)
	told, rounds := map[string]bool{}, 0
	for range 2 {
		o := newOracle(p, 5, -1)
		made, err := adaptedByModel(t, p, &journal{}, o)
		if err != nil {
			t.Fatal(err)
		}
		told[strings.Join(append(steps(made), o.asked...), "\n")], rounds = true, len(made.Each)
	}
	if len(told) != 1 || rounds < 3 {
		t.Errorf("%d sequences of %d rounds of the same answers", len(told), rounds)
	}
}

// adaptedByModel runs AIM itself by way of a journal.
func adaptedByModel(t *testing.T, p *compiled.Compiled, j *journal, o resumable) (measured.Rounds, error) {
	t.Helper()
	var columns []measured.Measured
	for c := range p.Synthetic[0].By {
		m, _ := p.Measurement(p.Synthetic[0].Column(c))
		values := make([]int64, m.Cells)
		for i := range values {
			values[i] = 300 / m.Cells
		}
		columns = append(columns, measured.Measured{Measurement: m, Values: integers(values)})
	}
	return synth.Adapt(t.Context(), p.Plan, p.Synthetic[0], columns, j.oracle(p, 0, o))
}

// AIM is told again what it was told, as it asks by its model, wherever its run was cut off.
func TestRoundsOfAModelResume(t *testing.T) {
	p := planOfWalk(t, aimSpec)
	path := filepath.Join(t.TempDir(), journalFile)
	run := func(path string, o resumable) (measured.Rounds, error) {
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
		again, err := run(written(t, bytes.Join(lines[:n], nil)), o)
		if err != nil {
			t.Fatalf("with %d lines: %v", n, err)
		}
		kept := max(n-2, 0) // but for the header and the classes
		if !slices.Equal(steps(again)[:kept], steps(whole)[:kept]) || len(o.told) != kept {
			t.Errorf("with %d lines: told otherwise, or %d steps charged", n, len(o.told))
		}
	}
	var classes string
	for _, line := range lines {
		if i := bytes.Index(line, []byte(`"classes"`)); i >= 0 {
			classes = string(line)
		}
	}
	if classes == "" || !bytes.Contains(text, []byte(fmt.Sprintf(`"round":%d`, len(whole.Each)-1))) {
		t.Error("the journal does not hold the classes, or the last round")
	}
}

// Whatever AIM is answered, its rounds come to an end, and there are rows of them.
func TestExtremeAnswersOfAIM(t *testing.T) {
	o := publishWith(t, strings.Replace(aimSpec, "ways: 3", "ways: 3, rows: 50", 1), walkPolicy, walkRows())
	for name, value := range extremes {
		v, asked := o.read(t), newOracle(o.plan, 1, -1)
		asked.answer = value
		columns := v.sealed.Measured[1:] // but for the table
		for i := range columns {
			values := make([]int64, columns[i].Values.Len())
			for cell := range values {
				values[cell] = value(cell)
			}
			columns[i].Values = integers(values)
		}
		var err error
		if v.sealed.Rounds[0], err = synth.Adapt(t.Context(), o.plan.Plan, o.plan.Synthetic[0], columns, (&journal{}).oracle(o.plan, 0, asked)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fiftyRows(t, o, v, name)
	}
}

// A folder that was changed, whose manifest asks for more rows than a machine can draw so that nothing can be compared,
// is not verified.
func TestTamperByMoreRowsThanFit(t *testing.T) {
	o := publishWith(t, aimSpec, walkPolicy, walkRows())
	dir := o.copied(t)
	record := publishedRecord(t, dir)
	remanifest(t, dir, o.plan, record, published.Manifest{Rows: published.RowsAsked{"t": published.MostRows}}, paper{"tables/modes.parquet", []byte("anything")})
	v, err := Verify(t.Context(), dir, VerifyOptions{Export: o.export})
	var unverified *Unverified
	if !errors.As(err, &unverified) || unverified.Check != "republished" {
		t.Fatalf("%v\n%+v", err, v.Checks)
	}
}
