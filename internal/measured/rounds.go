package measured

// This file holds the rounds of an adaptive method as they are sealed and published: which pairs were chosen, in order.
// What was answered lies beside them, as measurements.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// Round is one round of an adaptive method: the pair that it chose, a place among
// [plan.Synthetic.Pairs], and the noisy answer.
type Round struct {
	Choice   int
	Measured Measured
}

// ChoicesPath is where the choices for a table's microdata are kept within a release or
// a sealed folder, slash-separated.
func ChoicesPath(table string) string { return "rounds/" + table + ".json" }

// choices is the layout of a file of choices.
type choices struct {
	Choices []int `json:"choices"`
}

// EncodeChoices is the file of what rounds have chosen, in their order: canonical JSON.
func EncodeChoices(rounds []Round) []byte {
	var c choices
	for _, r := range rounds {
		c.Choices = append(c.Choices, r.Choice)
	}
	return c.bytes()
}

func (c choices) bytes() []byte {
	if c.Choices == nil {
		c.Choices = []int{}
	}
	b, err := json.Marshal(c)
	if err != nil {
		panic("measured: choices always encode: " + err.Error())
	}
	return append(b, '\n')
}

// DecodeChoices reads a file of choices, in no other form than that of [EncodeChoices],
// and checks that the method of s may have made them.
func DecodeChoices(b []byte, s plan.Synthetic) ([]int, error) {
	var c choices
	if err := json.Unmarshal(b, &c); err != nil || !bytes.Equal(c.bytes(), b) {
		return nil, errors.New("is not in the form in which choices are written")
	}
	return c.Choices, Allowed(s, c.Choices)
}

// Allowed returns an error unless the method of s may have made these choices, in this
// order: one a round, each a place among its pairs, and each pair joining two trees of
// the forest that the pairs before it are.
func Allowed(s plan.Synthetic, made []int) error {
	if len(made) != s.Rounds {
		return fmt.Errorf("holds %d choices, where the plan has %d rounds", len(made), s.Rounds)
	}
	pairs, joined := s.Pairs(), s.Forest()
	for round, choice := range made {
		if choice < 0 || choice >= len(pairs) {
			return fmt.Errorf("round %d has chosen pair %d, where there are %d", round+1, choice, len(pairs))
		}
		if !joined.Apart(pairs[choice]) {
			return fmt.Errorf("round %d has chosen pair %d, whose columns the rounds before it had joined", round+1, choice)
		}
		joined.Join(pairs[choice])
	}
	return nil
}

// readRounds reads the rounds of one adaptive method from a sealed folder.
func (s *Sealed) readRounds(files seal, method plan.Synthetic) ([]Round, error) {
	name := ChoicesPath(method.Table)
	b, err := files.read(name)
	if err != nil {
		return nil, err
	}
	made, err := DecodeChoices(b, method)
	if err != nil {
		return nil, fmt.Errorf("%s %w", files.path(name), err)
	}
	rounds, pairs := []Round{}, method.Pairs()
	for _, choice := range made {
		m, err := s.Plan.Pair(method, pairs[choice])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files.path(name), err)
		}
		answer, err := s.readMeasured(files, m)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, Round{Choice: choice, Measured: answer})
	}
	return rounds, nil
}
