package release

// This file holds exchange: the folder in which holders give each other their answers to the rounds of models.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/plan/compiled"
)

const (
	// roundFormat is the format of a file with a holder's answer to a round.
	roundFormat = "dprelease.round/1"
	// roundBytes bounds what is read of such a file: a column of 4096 categories takes 100 KB.
	roundBytes = 1 << 20
	// The first and the longest pause before a holder looks again for the answer of another one.
	firstPause, longestPause = 5 * time.Millisecond, time.Second
)

// exchange gives the answers of one holder to the others, and adds theirs, in the folder DIR/NAME.ROLL. The answers are
// masked and signed, so the folder needs no protection from readers.
type exchange struct {
	dir  string
	key  holder.Key
	name string
	roll holder.Roll // with nonces
}

// exchange returns the exchange with the others on the roll.
func (m *masking) exchange() *exchange {
	return &exchange{dir: m.rounds, key: m.key, name: m.masks.Holder(), roll: m.nonced}
}

// leaving records in the book of the key that answers leave, before the first of them does.
func (m *masking) leaving(ctx context.Context, p *compiled.Compiled) error {
	return m.book.leaving(ctx, p, m.masks.Holder(), m.nonced.Nonces)
}

// roundAnswer is the file of a holder's answer to a round.
type roundAnswer struct {
	Format    string  `json:"format"`
	Roll      string  `json:"roll"` // its hash
	Holder    string  `json:"holder"`
	Model     string  `json:"model"`
	Round     int     `json:"round"`
	Asked     string  `json:"asked"` // SHA-256 of the question
	Masked    []int64 `json:"masked"`
	Signature []byte  `json:"signature"`
}

// question returns what a signature says was asked.
func (a roundAnswer) question() string {
	return fmt.Sprintf("%s round %d: %s", a.Model, a.Round, a.Asked)
}

// path returns the path of a holder's answer to a round.
func (x *exchange) path(a roundAnswer, holder string) string {
	return filepath.Join(x.dir, holder, fmt.Sprintf("%s.%05d.json", a.Model, a.Round))
}

// sum gives the holder's answer to the others, waits for theirs, and returns the sum of all, in which the masks cancel.
// It returns an error if another holder was asked something else, and if the context ends.
func (x *exchange) sum(ctx context.Context, r *journalledRounds, own roundAnswer) ([]int64, error) {
	if err := x.give(own); err != nil {
		return nil, err
	}
	total := slices.Clone(own.Masked)
	for _, name := range x.roll.Holders {
		if name == x.name {
			continue
		}
		answer, err := x.wait(ctx, r.step, own, name)
		if err != nil {
			return nil, err
		}
		holder.Add(total, answer)
	}
	if err := holder.Check(total); err != nil {
		return nil, fmt.Errorf("round %d: %w: every holder checks its key and its plan", own.Round+1, err)
	}
	return total, nil
}

// give writes the holder's own answer.
func (x *exchange) give(a roundAnswer) error {
	a.Format, a.Roll, a.Holder = roundFormat, x.roll.Hash(), x.name
	var err error
	if a.Signature, err = x.roll.SignAnswer(x.key, x.name, a.question(), a.Masked); err != nil {
		return err
	}
	text, err := canonical.Indented(a)
	if err != nil {
		return err
	}
	path := x.path(a, x.name)
	if err := durable.MakeFolder(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("the folder of the rounds: %w", err)
	}
	return durable.ReplaceFile(filepath.Dir(path), filepath.Base(path), text)
}

// wait returns the answer of another holder to the same question, once it is there.
func (x *exchange) wait(ctx context.Context, step string, own roundAnswer, name string) ([]int64, error) {
	path, waited := x.path(own, name), time.Duration(0)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		a, err := x.read(path)
		if err != nil {
			return nil, err
		}
		if a != nil {
			if waited > longestPause {
				progress.Rename(ctx, "%s", step)
			}
			return a.Masked, x.check(path, own, name, a)
		}
		if waited > longestPause {
			progress.Rename(ctx, "%s: waiting for %s in round %d", step, name, own.Round+1)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("while waiting for the answer of %s to round %d: %w", name, own.Round+1, ctx.Err())
		case <-time.After(pause):
			waited += pause
		}
	}
}

// read reads an answer; nil if it is not there, or not all of it yet.
func (x *exchange) read(path string) (*roundAnswer, error) {
	there, err := durable.Exists(path)
	if err != nil || !there {
		return nil, err
	}
	text, err := regular.Read(path, roundBytes)
	if err != nil {
		return nil, err
	}
	var a roundAnswer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, nil // it is being copied
	}
	return &a, nil
}

// check returns an error unless an answer is a holder's to the same question.
func (x *exchange) check(path string, own roundAnswer, name string, a *roundAnswer) error {
	err := x.roll.VerifyAnswer(name, own.question(), a.Masked, a.Signature)
	switch {
	case a.Format != roundFormat || a.Roll != x.roll.Hash():
		err = errors.New("it is no answer for this roll")
	case err == nil && len(a.Masked) != len(own.Masked):
		err = fmt.Errorf("it has %d numbers, and %d were asked for", len(a.Masked), len(own.Masked))
	}
	if err != nil {
		return refuseSignature(path, fmt.Sprintf("%v: all holders measure the same plan, with the same signatures and one version of dprelease", err))
	}
	return nil
}
