package release

// This file holds the journal: the choices and noisy answers of a release's adaptive methods so far, from which a run
// that was cut off continues.

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

// replayable is an oracle that can be informed of the choices and answers that it gave in earlier runs of the release.
type replayable interface {
	synth.Oracle
	ReplayChoice(round int, how budget.Mechanism, choice int) error
	ReplayAnswer(round, choice int, how budget.Mechanism) error
}

// An adaptive method queries the exact counts through the journal.
var _ replayable = (*histogram.Oracle)(nil)

// journal records every choice and every noisy answer of a release's adaptive methods in the order in which they were
// made, each with its mechanism, and first the classes that categories were merged into. Its file has a header line
// and one line for each entry: the SHA-256, in hexadecimal, of the hash of the previous line followed by the entry's
// text; a space; and the text as JSON. A journal is used by one goroutine.
//
// Guarantee: what a method is told is durable in the journal before the method sees it, and is repeated from the
// journal whenever the same release resumes, under whatever version. Nothing is chosen or answered twice, so all runs
// together make the rounds of a single run. Neighbours: those of the release. Theorem: the loss of a method's rounds
// is that of its block (docs/proofs/adaptive.md). Argument: docs/proofs/order.md.
type journal struct {
	file    *os.File          // nil: kept in memory only
	header  journalHeader     // as the run that began the journal wrote it
	last    [sha256.Size]byte // hash of the last line
	pending []journalEntry    // of earlier runs, not yet replayed
	broken  bool              // a line could not be written completely
}

// journalHeader binds a journal to the draw that it belongs to.
type journalHeader struct {
	Format     string `json:"format"`
	Plan       string `json:"plan"`
	Commitment string `json:"commitment"` // to the exact integers, under the noise key
	Software   string `json:"software"`   // that began the journal
}

const journalFormat = "dprelease.journal/2"

// journalEntry is the choice of a round or, if Choice is nil, the answer of a round, with its mechanism; or, before
// the first round, the merged classes of a method's columns. The first entry is none of these: it records what was
// drawn before the rounds, on which they depend.
type journalEntry struct {
	Drawn   string            `json:"drawn,omitempty"` // SHA-256 of the measurements
	Method  int               `json:"method"`
	Classes [][]int           `json:"classes,omitempty"`
	Round   int               `json:"round"`
	Choice  *int              `json:"choice,omitempty"`
	How     *budget.Mechanism `json:"how,omitempty"`
	Answer  []int64           `json:"answer,omitempty"`
	// Model is the name of the model whose round this is, "" for a method of microdata, and Asked the SHA-256 of what
	// the round asked.
	Model string `json:"model,omitempty"`
	Asked string `json:"asked,omitempty"`
	// Roll is the hash of the roll that the answer of one of several holders was masked for; "" in one place.
	Roll string `json:"roll,omitempty"`
}

// question returns the entry without its outcome, as JSON: what was asked, to be compared with what is asked now.
func (e journalEntry) question() string {
	unknown := 0
	if e.Choice != nil {
		e.Choice = &unknown
	}
	e.Answer, e.Roll = nil, ""
	b, err := json.Marshal(e)
	if err != nil {
		return "" // an invalid mechanism, which no entry that was read has
	}
	return string(b)
}

// JournalRefused reports a journal of adaptive rounds from which a resumed run cannot continue.
type JournalRefused struct{ File, Why string }

func (e *JournalRefused) Error() string {
	return fmt.Sprintf("the journal of the rounds, %s, %s", e.File, e.Why)
}

// openJournal opens the journal at a path, for this plan and this commitment, or begins one. A last line without its
// end was never used and is dropped. Errors: *[JournalRefused] for a journal that is damaged or belongs to another
// draw.
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

func (j *journal) close() {
	if j.file != nil {
		j.file.Close()
	}
}

// resume reads the entries of earlier runs, cuts off an incomplete last line, and makes the rest durable: a run that
// was killed may have left it unsynced.
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
		err = j.appendLine(j.header)
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

// read queues the entries of a journal's text and returns the length of its complete lines.
func (j *journal) read(text []byte) (whole int, err error) {
	for n := 0; whole < len(text); n++ {
		end := bytes.IndexByte(text[whole:], '\n')
		if end < 0 {
			if _, err := j.checkLine(text[whole : len(text)-1]); err == nil && text[len(text)-1] != 0 {
				// a complete text, followed by something else than a line end or an unwritten zero byte
				return 0, damagedLine(n)
			}
			return whole, nil // never used, as the line has no end
		}
		body, err := j.checkLine(text[whole : whole+end])
		if err != nil {
			return 0, damagedLine(n)
		}
		if n == 0 {
			err = j.checkHeader(body)
		} else {
			err = j.queueEntry(body)
		}
		if err != nil {
			return 0, err
		}
		j.last = j.lineHash(body)
		whole += end + 1
	}
	return whole, nil
}

// damagedLine returns the error for a damaged line of a journal.
func damagedLine(line int) error {
	return fmt.Errorf(
		"is damaged: line %d is not as it was written. What was drawn is known from it alone: put it back as it was",
		line+1)
}

// checkLine returns the text of a line after checking its hash, as the successor of the last line.
func (j *journal) checkLine(line []byte) ([]byte, error) {
	sum, body, found := bytes.Cut(line, []byte(" "))
	want := j.lineHash(body)
	if !found || string(sum) != hex.EncodeToString(want[:]) {
		return nil, errors.New("the hash differs")
	}
	return body, nil
}

// lineHash returns the hash of a line with this text after the last one.
func (j *journal) lineHash(body []byte) [sha256.Size]byte {
	return sha256.Sum256(slices.Concat(j.last[:], body))
}

// checkHeader compares the header of a journal with that of this draw.
func (j *journal) checkHeader(body []byte) error {
	var h journalHeader
	if err := json.Unmarshal(body, &h); err != nil || h.Format != journalFormat {
		return fmt.Errorf("is in another form than %s, the one that %s reads: resume with the version that began it",
			journalFormat, published.Software)
	}
	switch {
	case h.Plan != j.header.Plan:
		return errors.New("is of another plan than the one that is measured: put back the one of this release")
	case h.Commitment != j.header.Commitment:
		return errors.New(
			"is of other data, or of another key, than this release was debited for: put back the one of this release")
	}
	j.header = h
	return nil
}

// queueEntry parses an entry of an earlier run and appends it to the pending ones.
func (j *journal) queueEntry(body []byte) error {
	var e journalEntry
	if err := json.Unmarshal(body, &e); err != nil {
		return j.otherVersion("has an entry that is none")
	}
	j.pending = append(j.pending, e)
	return nil
}

// otherVersion returns the error for entries that another version must have written.
func (j *journal) otherVersion(what string) error {
	return fmt.Errorf("%s: resume with the version that began it (%s; this is %s)", what, j.header.Software,
		published.Software)
}

// appendLine writes a line and makes it durable.
func (j *journal) appendLine(v any) error {
	body, err := json.Marshal(v)
	if err != nil || j.file == nil {
		return err
	}
	if j.broken {
		return errors.New("an entry before this one could not be written")
	}
	j.broken = true
	hash := j.lineHash(body)
	line := slices.Concat([]byte(hex.EncodeToString(hash[:])), []byte(" "), body)
	// The line end is written last, so that a line that has one is complete even after a loss of power.
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

// record makes a choice or an answer durable. Only then may it be used.
func (j *journal) record(e journalEntry) error {
	if err := j.appendLine(e); err != nil {
		return fmt.Errorf("journal of the rounds: %w", err)
	}
	return nil
}

// recordDrawn records the measurements that were drawn before the rounds, on which the rounds depend. They must equal
// those of the earlier runs: different ones, as another version might draw, would be a second answer in addition to
// the one that led to the recorded choices.
func (j *journal) recordDrawn(drawn []measured.Measured) error {
	h := sha256.New()
	for _, m := range drawn {
		definition := sha256.Sum256(m.Measurement.Canonical())
		h.Write(definition[:])
		for _, v := range m.Values.Int64Values() {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
		}
	}
	e := journalEntry{Drawn: hex.EncodeToString(h.Sum(nil))}
	if len(j.pending) == 0 {
		return j.record(e)
	}
	if j.pending[0].Drawn != e.Drawn {
		return j.doesNotFit("rests on other answers than are drawn now")
	}
	j.pending = j.pending[1:]
	return nil
}

// replay returns the next entry of an earlier run, nil if there is none. The entry must equal the wanted one except
// for its outcome.
func (j *journal) replay(wanted journalEntry) (*journalEntry, error) {
	if len(j.pending) == 0 {
		return nil, nil
	}
	e := j.pending[0]
	if e.question() != wanted.question() {
		return nil, j.doesNotFit("does not hold what is asked now")
	}
	j.pending = j.pending[1:]
	return &e, nil
}

// checkDone returns an error if earlier runs recorded more entries than all the rounds need.
func (j *journal) checkDone() error {
	if len(j.pending) > 0 {
		return j.doesNotFit("holds more rounds than are asked now")
	}
	return nil
}

// checkLeft returns an error if answers to rounds have left a holder and the journal has none: others would decide anew
// what is asked. Nor may another version draw answers again, which could be other ones.
func (j *journal) checkLeft(left bool) error {
	switch {
	case left && len(j.pending) == 0:
		return &JournalRefused{File: j.file.Name(), Why: "has no entry, and answers to rounds of a model have left: " +
			"put it back as it was, or give up the release (dprelease ledger abandon)"}
	case j.header.Software != published.Software:
		return j.doesNotFit("is of a holder")
	}
	return nil
}

// doesNotFit returns the error for a journal whose entries do not match what is asked now.
func (j *journal) doesNotFit(what string) error {
	return &JournalRefused{File: j.file.Name(), Why: j.otherVersion(what).Error()}
}

// oracle returns an oracle for a method of the plan: it replays the journal as long as that has entries, and then asks
// exact, once for each question.
func (j *journal) oracle(p *compiled.Compiled, method int, exact replayable) synth.Oracle {
	return &journalled{journal: j, plan: p, method: method, exact: exact}
}

// journalled is an oracle whose answers are in the journal before anybody sees them.
type journalled struct {
	journal *journal
	plan    *compiled.Compiled
	method  int
	exact   replayable
	classes [][]int // that categories were merged into
	choice  int     // of the current round
}

// Merge merges categories into classes that are counted together. A resumed run must merge the same ones, as its
// recorded answers are for these classes.
func (o *journalled) Merge(classes [][]int) error {
	e := journalEntry{Method: o.method, Classes: classes}
	old, err := o.journal.replay(e)
	if err == nil {
		err = o.exact.Merge(classes)
	}
	if err == nil && old == nil {
		err = o.journal.record(e)
	}
	o.classes = classes
	return err
}

// Select returns the choice of the round, from the journal or made now.
func (o *journalled) Select(ctx context.Context, round int, how budget.Mechanism, candidates []int, models [][]int64,
	penalties []int64) (int, error) {
	e := journalEntry{Method: o.method, Round: round, Choice: new(int), How: &how}
	old, err := o.journal.replay(e)
	if err != nil {
		return 0, err
	}
	if old != nil {
		if !slices.Contains(candidates, *old.Choice) {
			return 0, o.journal.doesNotFit("holds a choice that is none of those there are now")
		}
		o.choice = *old.Choice
		return o.choice, o.exact.ReplayChoice(round, how, o.choice)
	}
	choice, err := o.exact.Select(ctx, round, how, candidates, models, penalties)
	if err != nil {
		return 0, err
	}
	e.Choice = &choice
	if err := o.journal.record(e); err != nil {
		return 0, err
	}
	o.choice = choice
	return choice, nil
}

// Measure returns the answer to the choice of the round, from the journal or drawn now.
func (o *journalled) Measure(ctx context.Context, round, choice int, how budget.Mechanism) (measured.Measured, error) {
	if choice != o.choice {
		return measured.Measured{}, errors.New("the round asks for another candidate than it has chosen")
	}
	e := journalEntry{Method: o.method, Round: round, How: &how}
	old, err := o.journal.replay(e)
	if err != nil {
		return measured.Measured{}, err
	}
	if old != nil {
		answer, err := o.replayedAnswer(round, how, old.Answer)
		if err == nil {
			err = o.exact.ReplayAnswer(round, choice, how)
		}
		return answer, err
	}
	answer, err := o.exact.Measure(ctx, round, choice, how)
	if err != nil {
		return answer, err
	}
	e.Answer = answer.Values.Int64Values()
	if err := o.journal.record(e); err != nil {
		return measured.Measured{}, err
	}
	return answer, nil
}

// replayedAnswer returns the recorded values of an earlier run as the measurement of the round.
func (o *journalled) replayedAnswer(round int, how budget.Mechanism, values []int64) (measured.Measured, error) {
	m, err := adaptive.Answer(o.plan.Plan(), o.plan.Synthetic[o.method], round, o.choice, o.classes, how)
	if err != nil {
		return measured.Measured{}, err
	}
	if int64(len(values)) != m.Cells {
		return measured.Measured{}, o.journal.doesNotFit("holds an answer to another question than is asked now")
	}
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return measured.Measured{Measurement: m, Values: b.NewInt64Array()}, nil
}
