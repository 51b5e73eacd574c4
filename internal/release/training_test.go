package release

// This file tests that the rounds of a model are answered once, through every cut and change of the journal.

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/releasetest"
	"github.com/dprelease/dprelease/internal/testkit"
)

const trainingSpec = `version: 1
release: trips
privacy: {protects: person, neighbours: add-remove, account: trips}
budget: {rho: 1, split: {tables: 1/4, model: 3/4}}
tables: {stays: {source: {csv: t.csv}, unit: row, expect: {rows: [1, 400]}, columns: {sex: {values: [f, m]}, age: {type: integer, range: [0, 19]}, back: {values: [no, yes]}}}}
marginals: {m: {by: [sex], budget: tables}}
models: {risk: {predict: {back: "yes"}, by: [sex, age], method: METHOD, test: 20%, budget: model}}
`

// trainingOffice is an office that fits a model to 200 rows by a method.
func trainingOffice(t *testing.T, method string) releasetest.Office {
	t.Helper()
	rows := &strings.Builder{}
	rows.WriteString("sex,age,back\n")
	for i := range 200 {
		fmt.Fprintf(rows, "%c,%d,%s\n", "fm"[i%2], i%20, []string{"no", "yes"}[min(i%3, 1)])
	}
	return releasetest.With(t, strings.ReplaceAll(trainingSpec, "METHOD", method),
		"account: trips\nprotects: person\nneighbours: add-remove\ncap: {rho: 3}\n", rows.String())
}

// drawTraining counts, debits and draws with one key, as a run and every run that resumes does, and returns the answers
// of the model with what is in the journal at the end.
func drawTraining(t *testing.T, o releasetest.Office, text []byte) (measured.Training, []byte, error) {
	t.Helper()
	l, charge, err := optionsOf(o, "out").openLedger(t.Context(), o.Plan)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	streams := noise.NewStreams(noise.Key{7}, o.Plan.Hash())
	exact, err := histogram.Count(t.Context(), o.Plan, scan.Files{Dir: o.Dir}, streams)
	if err != nil {
		t.Fatal(err)
	}
	charge.Commitment = exact.Commitment(streams)
	receipt, err := l.Debit(t.Context(), charge)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := openJournal(path, o.Plan.Hash(), charge.Commitment)
	if err != nil {
		return measured.Training{}, nil, err
	}
	defer j.close()
	s, err := drawAll(t.Context(), o.Plan, exact, receipt, streams, nil, j)
	if err != nil {
		return measured.Training{}, nil, err
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return s.Training[0], after, nil
}

// chained returns the texts of a journal's lines as a journal: as whoever can write in the state can forge it.
func chained(bodies [][]byte) (text []byte) {
	j := &journal{}
	for _, body := range bodies {
		j.last = j.lineHash(body)
		text = append(text, hex.EncodeToString(j.last[:])+" "+string(body)+"\n"...)
	}
	return text
}

// TestTrainingIsCutOffAnywhere resumes from every beginning of a journal, whole lines and parts of one: all answers are
// those of the run that was not cut off, and the journal ends as that run's.
func TestTrainingIsCutOffAnywhere(t *testing.T) {
	for _, method := range []string{"additive", "gradient"} {
		t.Run(method, func(t *testing.T) {
			if method == "gradient" {
				testkit.SkipPassed(t)
			}
			o := trainingOffice(t, method)
			want, whole, err := drawTraining(t, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(whole, []byte("\n"))
			lines = lines[:len(lines)-1]
			// the header, what was drawn before, and the rounds with the count of held-out rows
			if rounds := o.Plan.Models[0].RoundCount(); len(lines) != 2+rounds+1 || len(want.Rounds) != rounds ||
				len(want.HeldOut) == 0 {
				t.Fatalf("%d lines for %d rounds", len(lines), rounds)
			}
			at := 0
			for _, line := range lines {
				for _, n := range []int{at, at + len(line)/2} {
					got, after, err := drawTraining(t, o, whole[:n])
					if err != nil || !reflect.DeepEqual(got, want) || !bytes.Equal(after, whole) {
						t.Fatalf("cut off after %d bytes: %v, other answers %v", n, err, !reflect.DeepEqual(got, want))
					}
				}
				at += len(line)
			}
			if n := o.Debits(t); n != 1 {
				t.Errorf("%d debits, expected 1", n)
			}
		})
	}
}

// TestForgedTrainingIsRefused: a journal whose rounds were not asked as they are now gives no answer, even if its
// hashes fit.
func TestForgedTrainingIsRefused(t *testing.T) {
	for _, method := range []string{"additive", "gradient"} {
		t.Run(method, func(t *testing.T) {
			o := trainingOffice(t, method)
			_, whole, err := drawTraining(t, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			var bodies [][]byte
			for line := range bytes.Lines(whole) {
				_, body, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
				bodies = append(bodies, body)
			}
			last := len(bodies) - 1
			changed := func(i int, change func(e *journalEntry)) [][]byte {
				var e journalEntry
				if err := json.Unmarshal(bodies[i], &e); err != nil {
					t.Fatal(err)
				}
				change(&e)
				all := slices.Clone(bodies)
				if all[i], err = json.Marshal(e); err != nil {
					t.Fatal(err)
				}
				return all
			}
			for name, forged := range map[string][][]byte{
				"a round left out":        slices.Delete(slices.Clone(bodies), 5, 6),
				"a round twice":           slices.Insert(slices.Clone(bodies), 5, bodies[5]),
				"rounds exchanged":        slices.Concat(bodies[:6], [][]byte{bodies[7], bodies[6]}, bodies[8:]),
				"held-out rows too early": slices.Concat(bodies[:last-1], bodies[last:]),
				"held-out rows twice":     append(slices.Clone(bodies), bodies[last]),
				"another question":        changed(7, func(e *journalEntry) { e.Asked = strings.Repeat("0", 64) }),
				"another model":           changed(7, func(e *journalEntry) { e.Model = "other" }),
				"another answer":          changed(7, func(e *journalEntry) { e.Answer[0] += 1 << 20 }), // other questions follow
				"an answer too short":     changed(last-1, func(e *journalEntry) { e.Answer = e.Answer[1:] }),
				"no answer":               changed(last, func(e *journalEntry) { e.Answer = nil }),
				"counts too short":        changed(last, func(e *journalEntry) { e.Answer = e.Answer[1:] }),
			} {
				_, _, err := drawTraining(t, o, chained(forged))
				var refused *JournalRefused
				if !errors.As(err, &refused) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if _, _, err := drawTraining(t, o, chained(bodies)); err != nil {
				t.Errorf("the journal itself: %v", err)
			}
		})
	}
}
