package release

// This file holds the journal: what the adaptive methods of a release have chosen and been answered so far, so that a
// run that was cut off goes on from there.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/internal/durable"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// resumable is an oracle that can be told what earlier runs of the release were told by it.
type resumable interface {
	synth.Oracle
	Chose(round int, how budget.Mechanism, choice int) error
	Gave(round, choice int, how budget.Mechanism) error
}

// An adaptive method asks the exact counts by way of the journal.
var _ resumable = (*histogram.Oracle)(nil)

// journal keeps every choice and every noisy answer of a release's adaptive methods, with
// what each was made by and the classes that categories were merged into before, in
// the order in which they were made. Its file is a line for its header and one for each
// entry: the SHA-256, in hexadecimal, of the line before's and the text, a space, the
// text as JSON. It is used by one goroutine.
//
// Guarantee: what a method is told is durable in the journal before, and is told again
// by it whenever the same release resumes, by whatever version: nothing is chosen or
// answered twice, so the rounds of all runs together are those of one. Neighbours:
// those of the release. Theorem: the loss of a method's rounds is that of its block
// (docs/proofs/adaptive.md). Argument: docs/proofs/order.md.
type journal struct {
	file   *os.File          // nil: kept in memory only
	header journalHeader     // of whoever began it
	last   [sha256.Size]byte // of the last line
	left   []journalEntry    // of earlier runs, not yet told again
	broken bool              // a line could not be written, or not wholly
}

// journalHeader binds a journal to the draw that it is of.
type journalHeader struct {
	Format     string `json:"format"`
	Plan       string `json:"plan"`
	Commitment string `json:"commitment"` // of the exact integers, under the key
	Software   string `json:"software"`   // that began it
}

const journalFormat = "dprelease.journal/2"

// journalEntry is the choice of a round or, where there is none, its answer, and how either
// was made; or, before the first round, the classes of a method's columns. The first
// entry is none of these: it says what was drawn before the rounds, on which they rest.
type journalEntry struct {
	Drawn   string            `json:"drawn,omitempty"` // SHA-256 of the measurements
	Method  int               `json:"method"`
	Classes [][]int           `json:"classes,omitempty"`
	Round   int               `json:"round"`
	Choice  *int              `json:"choice,omitempty"`
	How     *budget.Mechanism `json:"how,omitempty"`
	Answer  []int64           `json:"answer,omitempty"`
}

// step is an entry without what was told: the question that it is of.
func (e journalEntry) step() string {
	told := 0
	if e.Choice != nil {
		e.Choice = &told
	}
	e.Answer = nil
	b, err := json.Marshal(e)
	if err != nil {
		return "" // with a mechanism that is none, which no entry that was read has
	}
	return string(b)
}

// JournalRefused is a journal of adaptive rounds that a resumed run cannot go on from.
type JournalRefused struct{ File, Why string }

func (e *JournalRefused) Error() string {
	return fmt.Sprintf("the journal of the rounds, %s, %s", e.File, e.Why)
}

// openJournal opens the journal at a path, for this plan and this commitment, or begins
// one. A last line whose end is not there was never used: it is dropped. Errors:
// *[JournalRefused] for a journal that is damaged or of another draw.
func openJournal(path, planHash, commitment string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal of the rounds: %w", err)
	}
	j := &journal{file: f, header: journalHeader{journalFormat, planHash, commitment, published.Software}}
	if err := j.resume(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return j, nil
}

// close ends the use of the journal.
func (j *journal) close() {
	if j.file != nil {
		j.file.Close()
	}
}

// resume reads what earlier runs have written, cuts off a line that is not whole, and
// makes durable what is then there: a run that was killed may have left it unsynced.
func (j *journal) resume(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("journal of the rounds: %w", err)
	}
	whole, err := j.read(text)
	if err != nil {
		return &JournalRefused{File: path, Why: err.Error()}
	}
	err = j.file.Truncate(int64(whole))
	if err == nil {
		_, err = j.file.Seek(0, io.SeekEnd)
	}
	if err == nil && whole == 0 {
		err = j.write(j.header)
	} else if err == nil {
		err = j.file.Sync()
	}
	if err == nil {
		err = durable.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("journal of the rounds: %w", err)
	}
	return nil
}

// read takes the lines of a journal, and returns the length of those that are whole.
func (j *journal) read(text []byte) (whole int, err error) {
	for n := 0; whole < len(text); n++ {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			if _, err := j.open(text[whole : len(text)-1]); err == nil && text[len(text)-1] != 0 {
				return 0, damaged(n) // all of a line, and something else in the place of its end than a byte that was never written
			}
			return whole, nil // not told to anybody, as its end is not there
		}
		body, err := j.open(text[whole : whole+end])
		if err != nil {
			return 0, damaged(n)
		}
		if n == 0 {
			err = j.begunAs(body)
		} else {
			err = j.take(body)
		}
		if err != nil {
			return 0, err
		}
		j.last = j.chain(body)
		whole += end + 1
	}
	return whole, nil
}

// damaged says where a journal is damaged.
func damaged(line int) error {
	return fmt.Errorf("is damaged: line %d is not as it was written. What was drawn is known from it alone: put it back as it was", line+1)
}

// open is the text of a line that follows the last one.
func (j *journal) open(line []byte) ([]byte, error) {
	sum, body, found := bytes.Cut(line, []byte(" "))
	want := j.chain(body)
	if !found || string(sum) != hex.EncodeToString(want[:]) {
		return nil, errors.New("the hash differs")
	}
	return body, nil
}

// chain is the hash of a line with this text after the last one.
func (j *journal) chain(body []byte) [sha256.Size]byte {
	return sha256.Sum256(slices.Concat(j.last[:], body))
}

// begunAs holds the header of a journal against this draw's.
func (j *journal) begunAs(body []byte) error {
	var h journalHeader
	if err := json.Unmarshal(body, &h); err != nil || h.Format != journalFormat {
		return fmt.Errorf("is in another form than %s, the one that %s reads: resume with the version that began it",
			journalFormat, published.Software)
	}
	switch {
	case h.Plan != j.header.Plan:
		return errors.New("is of another plan than the one that is measured: put back the one of this release")
	case h.Commitment != j.header.Commitment:
		return errors.New("is of other data, or of another key, than this release was debited for: put back the one of this release")
	}
	j.header = h
	return nil
}

// take reads an entry of an earlier run.
func (j *journal) take(body []byte) error {
	var e journalEntry
	if err := json.Unmarshal(body, &e); err != nil {
		return j.otherVersion("has an entry that is none")
	}
	j.left = append(j.left, e)
	return nil
}

// otherVersion is the refusal of what another version was told.
func (j *journal) otherVersion(what string) error {
	return fmt.Errorf("%s: resume with the version that began it (%s; this is %s)", what, j.header.Software,
		published.Software)
}

// write adds a line and makes it durable.
func (j *journal) write(v any) error {
	body, err := json.Marshal(v)
	if err != nil || j.file == nil {
		return err
	}
	if j.broken {
		return errors.New("an entry before this one could not be written")
	}
	j.broken = true
	hash := j.chain(body)
	line := slices.Concat([]byte(hex.EncodeToString(hash[:])), []byte(" "), body)
	// a line that ends is whole, whatever a loss of power leaves of a write
	for _, part := range [][]byte{line, []byte("\n")} {
		if _, err := j.file.Write(part); err != nil {
			return err
		}
		if err := j.file.Sync(); err != nil {
			return err
		}
	}
	j.broken, j.last = false, hash
	return nil
}

// add keeps what was just chosen or answered: only then may it be used.
func (j *journal) add(e journalEntry) error {
	if err := j.write(e); err != nil {
		return fmt.Errorf("journal of the rounds: %w", err)
	}
	return nil
}

// rest notes what the rounds rest on: the measurements that were drawn before them. They
// must be those of the earlier runs: other ones, as another version might draw them,
// would be a second answer beside the one that led to the choices.
func (j *journal) rest(drawn []measured.Measured) error {
	h := sha256.New()
	for _, m := range drawn {
		definition := sha256.Sum256(m.Measurement.Canonical())
		h.Write(definition[:])
		for _, v := range m.Values.Int64Values() {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
		}
	}
	e := journalEntry{Drawn: hex.EncodeToString(h.Sum(nil))}
	if len(j.left) == 0 {
		return j.add(e)
	}
	if j.left[0].Drawn != e.Drawn {
		return j.unfit("rests on other answers than are drawn now")
	}
	j.left = j.left[1:]
	return nil
}

// next is the entry of an earlier run that comes next, which must be of this very step, but
// for what was told; nil where there is none.
func (j *journal) next(asked journalEntry) (*journalEntry, error) {
	if len(j.left) == 0 {
		return nil, nil
	}
	e := j.left[0]
	if e.step() != asked.step() {
		return nil, j.unfit("does not hold what is asked now")
	}
	j.left = j.left[1:]
	return &e, nil
}

// finished returns an error where earlier runs have gone further than all the rounds.
func (j *journal) finished() error {
	if len(j.left) > 0 {
		return j.unfit("holds more rounds than are asked now")
	}
	return nil
}

// unfit is the refusal of a journal whose entries are not those of what is asked.
func (j *journal) unfit(what string) error {
	return &JournalRefused{File: j.file.Name(), Why: j.otherVersion(what).Error()}
}

// oracle answers a method of the plan: as the journal does as long as it can, then by
// asking, once each.
func (j *journal) oracle(p *compiled.Compiled, method int, asked resumable) synth.Oracle {
	return &journalled{journal: j, plan: p, method: method, asked: asked}
}

// journalled is an oracle whose answers are in the journal before anybody has them.
type journalled struct {
	journal *journal
	plan    *compiled.Compiled
	method  int
	asked   resumable
	classes [][]int // by which categories were merged
	choice  int     // of the round
}

// Merge has categories counted by class. A run that resumes merges those of the earlier
// ones, or is refused: their answers are of these classes.
func (o *journalled) Merge(classes [][]int) error {
	e := journalEntry{Method: o.method, Classes: classes}
	old, err := o.journal.next(e)
	if err == nil {
		err = o.asked.Merge(classes)
	}
	if err == nil && old == nil {
		err = o.journal.add(e)
	}
	o.classes = classes
	return err
}

// Select is the choice of the round, as the journal holds it or as it is made now.
func (o *journalled) Select(ctx context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64,
	penalties []int64) (int, error) {
	e := journalEntry{Method: o.method, Round: round, Choice: new(int), How: &how}
	old, err := o.journal.next(e)
	if err != nil {
		return 0, err
	}
	if old != nil {
		if !slices.Contains(candidates, *old.Choice) {
			return 0, o.journal.unfit("holds a choice that is none of those there are now")
		}
		o.choice = *old.Choice
		return o.choice, o.asked.Chose(round, how, o.choice)
	}
	choice, err := o.asked.Select(ctx, round, how, candidates, models, penalties)
	if err != nil {
		return 0, err
	}
	e.Choice = &choice
	if err := o.journal.add(e); err != nil {
		return 0, err
	}
	o.choice = choice
	return choice, nil
}

// Measure is the answer to the choice of the round, as the journal holds it or as it is
// drawn now.
func (o *journalled) Measure(ctx context.Context, round, choice int, how budget.Mechanism) (measured.Measured, error) {
	if choice != o.choice {
		return measured.Measured{}, errors.New("the round asks for another candidate than it has chosen")
	}
	e := journalEntry{Method: o.method, Round: round, How: &how}
	old, err := o.journal.next(e)
	if err != nil {
		return measured.Measured{}, err
	}
	if old != nil {
		answer, err := o.again(round, how, old.Answer)
		if err == nil {
			err = o.asked.Gave(round, choice, how)
		}
		return answer, err
	}
	answer, err := o.asked.Measure(ctx, round, choice, how)
	if err != nil {
		return answer, err
	}
	e.Answer = answer.Values.Int64Values()
	if err := o.journal.add(e); err != nil {
		return measured.Measured{}, err
	}
	return answer, nil
}

// again is an answer of an earlier run.
func (o *journalled) again(round int, how budget.Mechanism, values []int64) (measured.Measured, error) {
	m, err := adaptive.Answer(o.plan.Plan(), o.plan.Synthetic[o.method], round, o.choice, o.classes, how)
	if err != nil {
		return measured.Measured{}, err
	}
	if int64(len(values)) != m.Cells {
		return measured.Measured{}, o.journal.unfit("holds an answer to another question than is asked now")
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return measured.Measured{Measurement: m, Values: b.NewInt64Array()}, nil
}
