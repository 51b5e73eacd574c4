// Package measured reads and writes the sealed folder: the noisy integers of a release, the plan they answer and the
// receipt of their debit. Publishing may read nothing else.
//
// The package never sees an exact count: it is handed noisy integers only.
package measured

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// Measured is a measurement with its noisy answers, in the order that [plan.Query] documents. A sparse measurement has
// only the answers above its threshold; Cells are their indexes in that order, ascending. A measurement that chooses
// cells has only the answers of chosen cells; Cells are their indexes, in the order of the choice. For other
// measurements, which have all answers, Cells is nil.
type Measured struct {
	Measurement plan.Measurement
	Values      *array.Int64
	Cells       []uint64
	// Keys are, for a measurement of discovered groups, the keys of each answer by the attributes of its query, in the
	// order of their bytes; nil for other measurements.
	Keys [][]string
	// Reports are, for a question that was put to respondents, the reports that came in; nil for other measurements.
	Reports *Reports
}

// Reports are how many reports came in to a question of a collection.
type Reports struct {
	Kept       int64 `json:"counted"`
	Impossible int64 `json:"impossible"` // that no device makes
	Repeated   int64 `json:"repeated"`   // that were sent before
	// Foreign counts the reports of another collector or question. A collection with several questions has them in the
	// counts of its first question.
	Foreign int64 `json:"foreign"`
	// Forms are, of a question for texts that nobody lists, how many were counted of whole texts, and of each question
	// for first characters; nil for other questions.
	Forms []int64 `json:"forms,omitempty"`
}

// Plus returns the sum of two, without their forms.
func (r Reports) Plus(o Reports) Reports {
	return Reports{Kept: r.Kept + o.Kept, Impossible: r.Impossible + o.Impossible, Repeated: r.Repeated + o.Repeated,
		Foreign: r.Foreign + o.Foreign}
}

// Faults says which reports are faulty, in words, "" if none is.
func (r Reports) Faults() string {
	var parts []string
	for _, one := range []struct {
		n    int64
		says string
	}{{r.Impossible, "that no device makes"}, {r.Foreign, "of another collector or question"},
		{r.Repeated, "sent again"}} {
		if one.n > 0 {
			parts = append(parts, budget.Group(one.n)+" "+one.says)
		}
	}
	return strings.Join(parts, ", ")
}

// Column returns the array of these values, without a copy.
func Column(values []int64) *array.Int64 {
	data := array.NewData(arrow.PrimitiveTypes.Int64, len(values),
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(values))}, nil, 0, 0)
	defer data.Release()
	return array.NewInt64Data(data)
}

// ByID returns measurements by their IDs.
func ByID(all []Measured) map[string]Measured {
	byID := make(map[string]Measured, len(all))
	for _, m := range all {
		byID[m.Measurement.ID] = m
	}
	return byID
}

// Sealed is the content of a sealed folder.
type Sealed struct {
	Plan     *compiled.Compiled
	Receipt  json.RawMessage // of the debit, as in the ledger
	Status   string          // of the release, in words, as in every measurement
	Measured []Measured      // in the plan's order
	Rounds   []Rounds        // of each adaptive method, in the plan's order
	Training []Training      // of each model, in the plan's order
	// Share is set in the folder of one of several holders, whose answers are masked, and Holders in the folder of
	// their sum; Receipt is then the first holder's.
	Share   *Share
	Holders []Held
}

// Names of the files in a sealed folder.
const (
	PlanFile    = "plan.json"
	WordsFile   = "words.json"
	ReceiptFile = "receipt.json"
	SealFile    = "seal.json" // SHA-256 of every other file
)

// Path returns the slash-separated path of a measurement's answers within a release or a sealed folder. The file has
// one INT64 column "value", with a row per answer; for a sparse measurement an INT64 column "cell" before it; for
// discovered groups a column "keys", a list with one text for each attribute.
func Path(id string) string { return "measurements/" + id + ".parquet" }

// row is the layout of a measurement file.
type row struct {
	Value int64 `parquet:"value,delta"`
}

// sparseRow is a row in the file of a sparse measurement. The file has the name of the type, as those of other rows have.
type sparseRow struct {
	Cell  int64 `parquet:"cell,delta"`
	Value int64 `parquet:"value,delta"`
}

// groupRow is the layout of the file of a measurement of discovered groups.
type groupRow struct {
	Keys  []string `parquet:"keys,list"`
	Value int64    `parquet:"value,delta"`
}

// Seal writes a sealed folder's content, file by file under slash-separated names. The caller must make it durable
// before it announces the folder.
func Seal(write func(name string, b []byte) error, s *Sealed) error {
	hashes := map[string]string{}
	add := func(name string, b []byte) error {
		if _, twice := hashes[name]; twice {
			return fmt.Errorf("there are two files %s", name)
		}
		hashes[name] = hashOf(b)
		return write(name, b)
	}
	if err := add(PlanFile, s.Plan.Bytes()); err != nil {
		return err
	}
	words := s.Plan.Release().Words
	if words == nil {
		return errors.New("the plan has no words to seal")
	}
	if err := add(WordsFile, words.Bytes()); err != nil {
		return err
	}
	if err := add(ReceiptFile, s.Receipt); err != nil {
		return err
	}
	if err := s.addHolders(add); err != nil {
		return err
	}
	if err := s.Drawn(add); err != nil {
		return err
	}
	b, err := canonical.Indented(hashes)
	if err != nil {
		return err
	}
	return write(SealFile, b)
}

// WithWords returns a plan with the words of a words.json.
func WithWords(p *compiled.Compiled, text []byte) (*compiled.Compiled, error) {
	words, err := spec.ReadWords(text)
	if err != nil {
		return nil, err
	}
	return p.WithWords(words)
}

// Drawn writes the files of all draws, which are the same in a sealed folder and in a release: a file for each
// measurement, for every adaptive method its choices and their answers, and for every model the answers of its rounds.
// It returns an error for rounds that the plan does not allow.
func (s *Sealed) Drawn(write func(name string, b []byte) error) error {
	if len(s.Rounds) != len(s.Plan.Synthetic) {
		return fmt.Errorf("there are rounds of %d adaptive methods, and the plan has %d", len(s.Rounds),
			len(s.Plan.Synthetic))
	}
	hash := s.Plan.Hash()
	one := func(m Measured) error {
		b, err := Encode(m, hash, s.Status)
		if err != nil {
			return fmt.Errorf("measurement %s: %w", m.Measurement.ID, err)
		}
		return write(Path(m.Measurement.ID), b)
	}
	for _, m := range s.Measured {
		if err := one(m); err != nil {
			return err
		}
	}
	for i, method := range s.Plan.Synthetic {
		if !method.Adaptive() {
			if s.Rounds[i].All != nil || s.Rounds[i].Classes != nil {
				return fmt.Errorf("there are rounds for the microdata of %s, which measure nothing", method.Table)
			}
			continue
		}
		name := RoundsPath(method.Table)
		if err := Allowed(s.Plan.Plan(), method, s.Rounds[i]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		b, err := EncodeRounds(s.Rounds[i])
		if err == nil {
			err = write(name, b)
		}
		if err != nil {
			return err
		}
		for _, r := range s.Rounds[i].All {
			if err := one(r.Measured); err != nil {
				return err
			}
		}
	}
	if len(s.Training) != len(s.Plan.Models) {
		return fmt.Errorf("there are answers for %d models, and the plan has %d", len(s.Training), len(s.Plan.Models))
	}
	for i, m := range s.Plan.Models {
		b, err := s.Training[i].encode(m)
		if err == nil {
			err = write(TrainingPath(m), b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// HashOf returns the [SealHash] of the folder that [Seal] would write.
func HashOf(s *Sealed) (string, error) {
	hashes := map[string]string{PlanFile: hashOf(s.Plan.Bytes()), ReceiptFile: hashOf(s.Receipt)}
	add := func(name string, b []byte) error { hashes[name] = hashOf(b); return nil }
	if err := errors.Join(s.addHolders(add), s.Drawn(add)); err != nil {
		return "", err
	}
	b, err := canonical.Indented(hashes)
	return hashOf(b), err
}

// Limits of the size of a seal, and of a file that it lists.
const (
	mostSeal   = 64 << 20
	mostSealed = 1 << 36
)

// SealHash returns the SHA-256, in hexadecimal, of a sealed folder's list of its files, without that of its words. It
// identifies everything that was planned, paid and drawn; words may change afterwards.
func SealHash(dir string) (string, error) {
	b, err := regular.Read(filepath.Join(dir, SealFile), mostSeal)
	if err != nil {
		return "", fmt.Errorf("%s is not a folder of measurements: %w", dir, err)
	}
	hashes := map[string]string{}
	if err := json.Unmarshal(b, &hashes); err != nil {
		return "", fmt.Errorf("%s is damaged: %w", filepath.Join(dir, SealFile), err)
	}
	delete(hashes, WordsFile)
	b, err = canonical.Indented(hashes)
	return hashOf(b), err
}

func hashOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// seal reads the files of a sealed folder, and refuses those that have changed.
type seal struct {
	dir    string
	hashes map[string]string
	plan   string // hash of the plan, once the plan is read
}

func openSeal(dir string) (seal, error) {
	b, err := regular.Read(filepath.Join(dir, SealFile), mostSeal)
	if err != nil {
		return seal{}, fmt.Errorf("%s is not a folder of measurements: %w", dir, err)
	}
	s := seal{dir: dir}
	if err := json.Unmarshal(b, &s.hashes); err != nil {
		return seal{}, fmt.Errorf("%s is damaged: %w", filepath.Join(dir, SealFile), err)
	}
	return s, nil
}

func (s seal) pathOf(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s seal) readFile(name string) ([]byte, error) {
	path := s.pathOf(name)
	b, err := regular.Read(path, mostSealed)
	if err != nil {
		return nil, err
	}
	if s.hashes[name] != hashOf(b) {
		return nil, fmt.Errorf("%s is damaged: it is not as it was sealed", path)
	}
	return b, nil
}

// Encode returns a measurement's file: Parquet with its canonical definition, the plan hash and the release's status in
// words as metadata. Equal input gives equal bytes.
func Encode(m Measured, planHash, status string) ([]byte, error) {
	return layouts[m.Measurement.Selection.Kind()].encode(m, planHash, status)
}

// compression is shared by all files, so that an encoder's megabytes of memory serve the next file.
var compression zstd.Codec

// encodeRows is Encode for one layout.
func encodeRows[T any](m Measured, planHash, status string, at func(i int) T) ([]byte, error) {
	options := []parquet.WriterOption{parquet.Compression(&compression),
		parquet.CreatedBy("dprelease", "", ""),
		parquet.KeyValueMetadata("dprelease.schema", "dprelease.measurement/1"),
		parquet.KeyValueMetadata("dprelease.status", status),
		parquet.KeyValueMetadata("dprelease.plan", planHash),
		parquet.KeyValueMetadata("dprelease.measurement", string(m.Measurement.Canonical())),
	}
	if m.Reports != nil {
		line, err := canonical.Line(m.Reports)
		if err != nil {
			return nil, err
		}
		options = append(options, parquet.KeyValueMetadata("dprelease.reports", line))
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	rows := make([]T, m.Values.Len())
	for i := range rows {
		rows[i] = at(i)
	}
	if _, err := w.Write(rows); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Open reads a sealed folder and checks that every file is as it was sealed, that every measurement of the plan has an
// answer of the right length, and that each choice of its adaptive methods is allowed and has an answer. It calls
// compile once, to read the plan: [compiled.Read], or a stricter function.
func Open(dir string, compile func(text []byte) (*compiled.Compiled, error)) (*Sealed, error) {
	files, err := openSeal(dir)
	if err != nil {
		return nil, err
	}
	text, err := files.readFile(PlanFile)
	if err != nil {
		return nil, err
	}
	p, err := compile(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files.pathOf(PlanFile), err)
	}
	if text, err = files.readFile(WordsFile); err != nil {
		return nil, err
	}
	if p, err = WithWords(p, text); err != nil {
		return nil, fmt.Errorf("%s: %w", files.pathOf(WordsFile), err)
	}
	s := &Sealed{Plan: p}
	if s.Receipt, err = files.readFile(ReceiptFile); err != nil {
		return nil, err
	}
	if err := s.readHolders(files); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	files.plan = p.Hash()
	for _, m := range p.Measurements {
		answer, err := s.readMeasured(files, m)
		if err != nil {
			return nil, err
		}
		s.Measured = append(s.Measured, answer)
	}
	for _, method := range p.Synthetic {
		var rounds Rounds // none for a method that measures nothing
		if method.Adaptive() {
			if rounds, err = s.readRounds(files, method); err != nil {
				return nil, err
			}
		}
		s.Rounds = append(s.Rounds, rounds)
	}
	for _, m := range p.Models {
		training, err := s.readTraining(files, m)
		if err != nil {
			return nil, err
		}
		s.Training = append(s.Training, training)
	}
	if s.Holders != nil {
		s.SetHolders(s.Holders)
	}
	return s, nil
}

// readMeasured reads the answer to a measurement; the first one sets the status.
func (s *Sealed) readMeasured(files seal, m plan.Measurement) (Measured, error) {
	b, err := files.readFile(Path(m.ID))
	if err != nil {
		return Measured{}, err
	}
	answer, status, err := Decode(b, m, files.plan)
	if err == nil && s.Measured != nil && status != s.Status {
		err = errors.New("has another status than the measurements before it")
	}
	if err != nil {
		return Measured{}, fmt.Errorf("%s: %w", files.pathOf(Path(m.ID)), err)
	}
	s.Status = status
	return answer, nil
}

// Decode reads a measurement's file and checks that it is a complete answer to this measurement of this plan; for a
// sparse one, that the values are above its threshold and the cells distinct; for one that chooses cells, that it has
// as many cells as are chosen, each once. status is the status in its metadata.
func Decode(b []byte, m plan.Measurement, planHash string) (answer Measured, status string, err error) {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return Measured{}, "", err
	}
	if h, _ := f.Lookup("dprelease.plan"); h != planHash {
		return Measured{}, "", errors.New("belongs to another plan")
	}
	if d, _ := f.Lookup("dprelease.measurement"); d != string(m.Canonical()) {
		return Measured{}, "", errors.New("answers another question")
	}
	answer.Measurement = m
	if answer.Reports, err = reportsIn(f, m); err != nil {
		return Measured{}, "", err
	}
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	defer builder.Release()
	err = layouts[m.Selection.Kind()].decode(f, &answer, builder.Append)
	if err != nil {
		return Measured{}, "", err
	}
	status, _ = f.Lookup("dprelease.status")
	answer.Values = builder.NewInt64Array()
	if question, ok := m.Reports(); ok {
		if err := question.CheckCounts(answer.Values.Int64Values(), answer.Reports.Kept); err != nil {
			return Measured{}, "", err
		}
	}
	if err := answer.checkTexts(); err != nil {
		return Measured{}, "", err
	}
	return answer, status, nil
}

// reportsIn reads how many reports came in, of a question that was put to respondents.
func reportsIn(f *parquet.File, m plan.Measurement) (*Reports, error) {
	text, there := f.Lookup("dprelease.reports")
	question, asked := m.Reports()
	if there != asked {
		return nil, errors.New("says of reports what no answer to its question does")
	}
	if !there {
		return nil, nil
	}
	r := &Reports{}
	if err := json.Unmarshal([]byte(text), r); err != nil {
		return nil, errors.New("does not say how many reports came in")
	}
	line, err := canonical.Line(r)
	if err != nil || line != text || r.Kept < 1 || !r.hasForms(question) ||
		min(r.Impossible, r.Repeated, r.Foreign) < 0 ||
		max(r.Kept, r.Impossible, r.Repeated, r.Foreign) > mostRespondents {
		return nil, errors.New("does not say how many reports came in")
	}
	return r, nil
}

// mostRespondents bounds the reports whose law is known ([local.Count]).
const mostRespondents = 1_000_000_000_000

// checkTexts returns an error if an answer has texts that no search finds: with other characters, without a report to
// each question, or in more reports than there are.
func (m Measured) checkTexts() error {
	search, ok := m.Measurement.Texts()
	if !ok {
		return nil
	}
	if len(m.Keys) > 0 && slices.Contains(m.Reports.Forms, 0) {
		return errors.New("holds texts that cannot be found, as no report to one of the questions came")
	}
	isOther := func(r rune) bool { return !strings.ContainsRune(search.Alphabet, r) }
	for i, key := range m.Keys {
		if n := m.Values.Value(i); n < 0 || n > m.Reports.Forms[0] || key[0] == "" ||
			strings.ContainsFunc(key[0], isOther) {
			return errors.New("holds a text that cannot be found, or in more reports than there are")
		}
	}
	return nil
}

// hasForms reports whether the counts by form fit the question. One for texts that nobody lists has a count of whole
// texts, above 0, and a count for each prefix, and they add up to all reports; others have none.
func (r *Reports) hasForms(question counted.Reports) bool {
	if question.Length == 0 {
		return r.Forms == nil
	}
	sum := int64(0)
	for _, n := range r.Forms {
		if n < 0 || n > r.Kept {
			return false
		}
		sum += n
	}
	return len(r.Forms) == 1+len(question.Prefixes) && sum == r.Kept && r.Forms[0] > 0
}

// decodeRows reads the rows of a file, of which there must be want.
func decodeRows[T any](f *parquet.File, want int64, add func(T) error) error {
	r := parquet.NewGenericReader[T](f)
	defer r.Close()
	if r.NumRows() != want {
		return fmt.Errorf("holds %d answers, expected %d", r.NumRows(), want)
	}
	rows := make([]T, min(want, 1<<16))
	for n := int64(0); n < want; {
		k, err := r.Read(rows[:min(want-n, int64(len(rows)))])
		for _, one := range rows[:k] {
			if err := add(one); err != nil {
				return err
			}
		}
		n += int64(k)
		if n < want && (err != nil || k == 0) {
			return errors.Join(errors.New("ends too early"), err)
		}
	}
	return nil
}
