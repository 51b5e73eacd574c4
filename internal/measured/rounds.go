package measured

// This file holds the rounds of an adaptive method as they are sealed and published: what was chosen, in order, and by
// which mechanisms. The answers are separate files, like other measurements.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
)

// Rounds are the questions of an adaptive method, with their answers.
type Rounds struct {
	// Classes[i] is the class of each category of the i-th column, if categories were merged before the first round;
	// nil if no column's were.
	Classes [][]int
	All     []Round
}

// Round is one round of an adaptive method: its choice, an index into [adaptive.Candidates], the budget of the choice
// and of the answer, and the noisy answer.
type Round struct {
	Choice     int
	Mechanisms adaptive.RoundMechanisms
	Measured   Measured
}

// RoundsPath returns the slash-separated path of the choices for a table's microdata within a release or a sealed
// folder.
func RoundsPath(table string) string { return "rounds/" + table + ".json" }

// roundsFile is the layout of a file of rounds.
type roundsFile struct {
	Classes [][]int     `json:"classes,omitempty"`
	Rounds  []roundLine `json:"rounds"`
}

// roundLine is a round in a file of rounds.
type roundLine struct {
	Choice int `json:"choice"`
	adaptive.RoundMechanisms
}

// EncodeRounds returns the file of the choices of rounds, in order, as canonical JSON. It returns an error for an
// invalid mechanism.
func EncodeRounds(r Rounds) ([]byte, error) {
	file := roundsFile{Classes: r.Classes}
	for _, one := range r.All {
		file.Rounds = append(file.Rounds, roundLine{one.Choice, one.Mechanisms})
	}
	return file.encode()
}

func (f roundsFile) encode() ([]byte, error) {
	if f.Rounds == nil {
		f.Rounds = []roundLine{} // an empty list is written as [], never as null
	}
	b, err := json.Marshal(f)
	return append(b, '\n'), err
}

// DecodeRounds reads a file of rounds, only in the form of [EncodeRounds], and checks that the method of s may have
// made them. The answers are not read: each round has only its measurement.
func DecodeRounds(b []byte, p *plan.Plan, s plan.Synthetic) (Rounds, error) {
	var file roundsFile
	err := json.Unmarshal(b, &file)
	var again []byte
	if err == nil {
		again, err = file.encode()
	}
	if err != nil || !bytes.Equal(again, b) {
		return Rounds{}, errors.New("is not in the form in which rounds are written")
	}
	out := Rounds{Classes: file.Classes}
	for i, line := range file.Rounds {
		m, err := adaptive.Answer(p, s, i, line.Choice, file.Classes, line.RoundMechanisms.Noise)
		if err != nil {
			return Rounds{}, fmt.Errorf("round %d: %w", i+1, err)
		}
		out.All = append(out.All, Round{Choice: line.Choice, Mechanisms: line.RoundMechanisms,
			Measured: Measured{Measurement: m}})
	}
	return out, Allowed(p, s, out)
}

// Allowed returns an error unless the method of s may have made these rounds, in this order: each has chosen one of its
// candidates, by mechanisms of its schedule, and has measured what its turn and its choice require; with MST, each pair
// joins two trees of the forest of the pairs before it; and the block of the plan covers the budget of all rounds. It
// does not check that a choice was open to the method, nor that the classes follow from the answers of the columns:
// package synth does.
//
// Guarantee: the ρ of all choices and answers together, exactly added up, is within the
// block that the plan's loss counts. Theorem: Bun & Steinke 2016, lemma 2.3, and as a
// filter Feldman & Zrnic 2021, theorem 4.5. Argument: docs/proofs/adaptive.md.
func Allowed(p *plan.Plan, s plan.Synthetic, made Rounds) error {
	if _, err := adaptive.Classes(p, s, made.Classes); err != nil {
		return err
	}
	candidates, joined := adaptive.Candidates(s), adaptive.ForestOf(s)
	spent, turns := new(big.Rat), []adaptive.RoundMechanisms{}
	for i, r := range made.All {
		if r.Choice < 0 || r.Choice >= len(candidates) {
			return fmt.Errorf("round %d has chosen candidate %d, where there are %d", i+1, r.Choice, len(candidates))
		}
		if s.Method == plan.MST {
			if !joined.WouldJoin(candidates[r.Choice]) {
				return fmt.Errorf("round %d has chosen candidate %d, whose columns the rounds before it had joined",
					i+1, r.Choice)
			}
			joined.Join(candidates[r.Choice])
		}
		wanted, err := adaptive.Answer(p, s, i, r.Choice, made.Classes, r.Mechanisms.Noise)
		if err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		if m := r.Measured.Measurement; m.Cells != wanted.Cells || !bytes.Equal(m.Canonical(), wanted.Canonical()) {
			return fmt.Errorf("round %d is answered by measurement %s, and asks for %s", i+1, m.ID, wanted.ID)
		}
		for _, rho := range []*big.Rat{r.Mechanisms.Select.Rho(), r.Mechanisms.Noise.Rho()} {
			if rho == nil {
				return fmt.Errorf("round %d has a mechanism that is none", i+1)
			}
			spent.Add(spent, rho)
		}
		turns = append(turns, r.Mechanisms)
	}
	if block := s.Block.Rho(); block == nil || spent.Cmp(block) > 0 {
		return errors.New("the rounds have spent more than the block of the plan")
	}
	if s.Method == plan.AIM {
		return adaptive.CheckRounds(s, turns)
	}
	if len(turns) != s.Rounds {
		return fmt.Errorf("holds %d rounds, where the plan has %d", len(turns), s.Rounds)
	}
	for i, turn := range turns {
		if !turn.Equal(adaptive.RoundMechanisms{Select: s.Select, Noise: s.Noise}) {
			return fmt.Errorf("round %d is not made by the mechanisms of the plan", i+1)
		}
	}
	return nil
}

// readRounds reads the rounds of one adaptive method from a sealed folder.
func (s *Sealed) readRounds(files seal, method plan.Synthetic) (Rounds, error) {
	name := RoundsPath(method.Table)
	b, err := files.readFile(name)
	if err != nil {
		return Rounds{}, err
	}
	rounds, err := DecodeRounds(b, s.Plan.Plan(), method)
	if err != nil {
		return Rounds{}, fmt.Errorf("%s: %w", files.pathOf(name), err)
	}
	for i, r := range rounds.All {
		if rounds.All[i].Measured, err = s.readMeasured(files, r.Measured.Measurement); err != nil {
			return Rounds{}, err
		}
	}
	return rounds, nil
}
