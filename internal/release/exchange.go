package release

// This file holds exchange: the folder in which holders give each other their answers to the rounds of models.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dprelease/dprelease/histogram/holder"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan/compiled"
)

const (
	// roundFormat is the format of a file with a holder's answer to a round.
	roundFormat = "dprelease.round/1"
	// roundBytes bounds what is read of such a file: a column of 4096 categories takes 100 KB.
	roundBytes = 1 << 20
	// The first and the longest pause before a holder looks again for the answer of another one.
	firstPause, longestPause = 5 * time.Millisecond, time.Second
	// patience is how long a holder waits before it says so, and before a file that cannot be read is refused.
	patience = 10 * time.Second
)

// exchange gives the answers of one holder to the others, and adds theirs. Each holder writes in a folder of its own,
// DIR/NAME.ROLL.HOLDER. The answers are masked and signed, so the folders need no protection from readers.
type exchange struct {
	dir     string
	release string
	key     holder.Key
	name    string
	roll    holder.Roll // with nonces
	hash    string      // of the roll
	log     *slog.Logger
}

// checkRounds returns an error unless files can be written in the folder that all holders share.
func checkRounds(p *compiled.Compiled, model, dir string) error {
	if dir == "" {
		return refuseHolder(
			p,
			fmt.Sprintf("has the model %s, each round of which needs the answers of all holders: name the folder "+
				"that they share with --rounds DIR, and measure at the same time",
				model),
		)
	}
	f, err := os.CreateTemp(dir, "."+p.Name+"-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return &verdict.Unusable{
			File: dir,
			Err: fmt.Errorf(
				"--rounds %s is no folder that this holder can write in: make it first, where all holders can: %w", dir,
				err),
		}
	}
	return nil
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
	return filepath.Join(x.dir, fmt.Sprintf("%s.%.8s.%s", x.release, x.hash, holder),
		fmt.Sprintf("%s.%05d.json", a.Model, a.Round))
}

// sum gives the holder's answer to the others, waits for theirs, and returns the sum of all, in which the masks cancel.
// It returns an error if another holder was asked something else, and if the context ends.
func (x *exchange) sum(ctx context.Context, step string, own roundAnswer) ([]int64, error) {
	if err := x.writeOwnAnswer(own); err != nil {
		return nil, err
	}
	total := slices.Clone(own.Masked)
	for _, name := range x.roll.Holders {
		if name == x.name {
			continue
		}
		answer, err := x.wait(ctx, step, own, name)
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

// writeOwnAnswer writes the holder's own answer.
func (x *exchange) writeOwnAnswer(a roundAnswer) error {
	a.Format, a.Roll, a.Holder = roundFormat, x.hash, x.name
	var err error
	if a.Signature, err = x.roll.SignAnswer(x.key, x.name, a.question(), a.Masked); err != nil {
		return err
	}
	text, err := canonical.Indented(a)
	if err != nil {
		return err
	}
	path := x.path(a, x.name)
	err = durable.MakeFolder(filepath.Dir(path), 0o755)
	if err == nil {
		var found fs.FileInfo
		if found, err = os.Lstat(filepath.Dir(path)); err == nil && !found.IsDir() {
			err = fmt.Errorf("%s is a link: nothing is written through it", filepath.Dir(path))
		}
	}
	if err != nil {
		return fmt.Errorf("the folder of the rounds: %w", err)
	}
	return durable.ReplaceFile(filepath.Dir(path), filepath.Base(path), text)
}

// wait returns the answer of another holder to the same question, once it is there.
func (x *exchange) wait(ctx context.Context, step string, own roundAnswer, name string) ([]int64, error) {
	path, waited := x.path(own, name), time.Duration(0)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		a, err := x.read(path)
		if errors.Is(err, errNotWhole) && waited < patience {
			err = nil // it is being copied
		}
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
		if waited >= patience && waited-pause < patience {
			x.log.Warn("waiting for the answer of another holder", "holder", name, "round", own.Round+1, "file", path,
				"other signatures", x.staleFolders())
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("while waiting for the answer of %s to round %d: %w", name, own.Round+1, ctx.Err())
		case <-time.After(pause):
			waited += pause
		}
	}
}

// staleFolders returns the folders of this release for other signatures, which a holder with older signatures would
// use.
func (x *exchange) staleFolders() (names []string) {
	all, err := filepath.Glob(filepath.Join(x.dir, x.release+".*"))
	for _, path := range all {
		if name := filepath.Base(path); err == nil &&
			!strings.HasPrefix(name, fmt.Sprintf("%s.%.8s.", x.release, x.hash)) {
			names = append(names, name)
		}
	}
	return names
}

// errNotWhole is the error for a file that cannot be read, or not yet.
var errNotWhole = errors.New("it is not the file of an answer: have it copied again")

// read reads an answer; nil if it is not there.
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
		return nil, &verdict.Unusable{File: path, Err: fmt.Errorf("%s: %w", path, errNotWhole)}
	}
	return &a, nil
}

// check returns an error unless an answer is a holder's to the same question.
func (x *exchange) check(path string, own roundAnswer, name string, a *roundAnswer) error {
	err := x.roll.VerifyAnswer(name, own.question(), a.Masked, a.Signature)
	switch {
	case a.Format != roundFormat || a.Roll != x.hash:
		err = errors.New("it is no answer for this roll")
	case err == nil && len(a.Masked) != len(own.Masked):
		err = fmt.Errorf("it has %d numbers, and %d were asked for", len(a.Masked), len(own.Masked))
	}
	if err != nil {
		return refuseSignature(
			path,
			fmt.Sprintf("%v: all holders measure the same plan, with the same signatures and one version of dprelease",
				err),
		)
	}
	return nil
}
