package measured

// This file holds the answers to the rounds of a model as they are sealed and published.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/plan"
)

// Training is the noisy answers to the rounds of a model, in their order. They decide the model.
type Training struct {
	Status string    `json:"status"` // of the release, in words
	Rounds [][]int64 `json:"rounds"`
	// HeldOut is the sum of the noisy counts of held-out rows by bin of their score and category of the target; nil for
	// a model without a test.
	HeldOut []int64 `json:"held_out,omitempty"`
}

// TrainingPath returns the slash-separated path of the answers for a model within a release or a sealed folder.
func TrainingPath(m plan.Model) string { return "rounds/" + m.Path() + ".json" }

// encode returns the file of the answers, as canonical JSON. It returns an error for another number of rounds than the
// plan has.
func (t Training) encode(m plan.Model) ([]byte, error) {
	if len(t.Rounds) != m.Sealed() || (t.HeldOut != nil) != (m.Test != "") {
		return nil, fmt.Errorf("model %s has answers to other rounds than the plan has", m.Name)
	}
	b, err := json.Marshal(t)
	return append(b, '\n'), err
}

// DecodeTraining reads answers, only in the form in which they are written.
func DecodeTraining(b []byte, m plan.Model) (Training, error) {
	var t Training
	err := json.Unmarshal(b, &t)
	var again []byte
	if err == nil {
		again, err = t.encode(m)
	}
	if err == nil && !bytes.Equal(again, b) {
		err = errors.New("is not in the form in which the answers for a model are written")
	}
	return t, err
}

// readTraining reads the answers for a model from a sealed folder.
func (s *Sealed) readTraining(files seal, m plan.Model) (Training, error) {
	name := TrainingPath(m)
	b, err := files.readFile(name)
	if err != nil {
		return Training{}, err
	}
	t, err := DecodeTraining(b, m)
	if err != nil {
		return Training{}, fmt.Errorf("%s: %w", files.pathOf(name), err)
	}
	if s.Status == "" {
		s.Status = t.Status
	}
	if t.Status != s.Status {
		return Training{}, fmt.Errorf("%s has another status than the rest", files.pathOf(name))
	}
	return t, nil
}
