// Package measured reads and writes the sealed folder: the noisy integers of a
// release, the plan they answer and the receipt of their debit. It is all that
// publishing may read.
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
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// Measured is a measurement with its noisy answers, in the order that
// [plan.Query] documents.
type Measured struct {
	Measurement plan.Measurement
	Values      *array.Int64
}

// Round is one round of an adaptive method: the pair that it chose, a place among
// [plan.Synthetic.Pairs], and the noisy answer.
type Round struct {
	Choice   int
	Measured Measured
}

// Sealed is the content of a sealed folder.
type Sealed struct {
	Plan     *plan.Plan
	Receipt  json.RawMessage // of the debit, as the ledger records it
	Status   string          // of the release, in words, as every measurement carries it
	Measured []Measured      // in the plan's order
	Rounds   [][]Round       // of each adaptive method, in the plan's order
}

// Names of what a sealed folder holds.
const (
	PlanFile    = "plan.json"
	ReceiptFile = "receipt.json"
	sealFile    = "seal.json" // SHA-256 of every other file
)

// Path is where a measurement's answers are kept within a release or a sealed
// folder, slash-separated: one INT64 column "value", a row per answer.
func Path(id string) string { return "measurements/" + id + ".parquet" }

// row is the layout of a measurement file.
type row struct {
	Value int64 `parquet:"value,delta"`
}

// Seal writes a sealed folder's content, file by file under slash-separated
// names; write makes each durable. status is the release's status in words.
func Seal(write func(name string, b []byte) error, p *plan.Plan, receipt []byte, status string, all []Measured) error {
	hashes := map[string]string{}
	add := func(name string, b []byte) error {
		hashes[name] = hashOf(b)
		return write(name, b)
	}
	if err := add(PlanFile, p.Bytes()); err != nil {
		return err
	}
	if err := add(ReceiptFile, receipt); err != nil {
		return err
	}
	hash := p.Hash()
	for _, m := range all {
		b, err := Encode(m, hash, status)
		if err != nil {
			return fmt.Errorf("measurement %s: %w", m.Measurement.ID, err)
		}
		if err := add(Path(m.Measurement.ID), b); err != nil {
			return err
		}
	}
	b, err := json.MarshalIndent(hashes, "", "  ")
	if err != nil {
		return err
	}
	return write(sealFile, append(b, '\n'))
}

// HashOf is the [SealHash] of the folder that [Seal] would write.
func HashOf(p *plan.Plan, receipt []byte, status string, all []Measured) (string, error) {
	var last string
	err := Seal(func(_ string, b []byte) error { last = hashOf(b); return nil }, p, receipt, status, all)
	return last, err
}

// SealHash is the SHA-256, in hexadecimal, of a sealed folder's list of its files: it
// stands for all that the folder holds.
func SealHash(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, sealFile))
	if err != nil {
		return "", fmt.Errorf("%s is not a folder of measurements: %w", dir, err)
	}
	return hashOf(b), nil
}

func hashOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// seal reads the files of a sealed folder, each only as it was written.
type seal struct {
	dir    string
	hashes map[string]string
}

func openSeal(dir string) (seal, error) {
	b, err := os.ReadFile(filepath.Join(dir, sealFile))
	if err != nil {
		return seal{}, fmt.Errorf("%s is not a folder of measurements: %w", dir, err)
	}
	s := seal{dir: dir}
	if err := json.Unmarshal(b, &s.hashes); err != nil {
		return seal{}, fmt.Errorf("%s is damaged: %w", filepath.Join(dir, sealFile), err)
	}
	return s, nil
}

func (s seal) read(name string) ([]byte, error) {
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if s.hashes[name] != hashOf(b) {
		return nil, fmt.Errorf("%s is damaged: it is not as it was sealed", path)
	}
	return b, nil
}

// Encode is a measurement's file: Parquet with its canonical definition, the
// plan hash and the release's status in words as metadata. Equal input gives
// equal bytes.
func Encode(m Measured, planHash, status string) ([]byte, error) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b,
		parquet.Compression(&zstd.Codec{}),
		parquet.CreatedBy("dprelease", "", ""),
		parquet.KeyValueMetadata("dprelease.schema", "dprelease.measurement/1"),
		parquet.KeyValueMetadata("dprelease.status", status),
		parquet.KeyValueMetadata("dprelease.plan", planHash),
		parquet.KeyValueMetadata("dprelease.measurement", string(m.Measurement.Canonical())),
	)
	rows := make([]row, m.Values.Len())
	for i, v := range m.Values.Int64Values() {
		rows[i].Value = v
	}
	if _, err := w.Write(rows); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Open reads a sealed folder and checks that every file is as it was sealed and
// that there is an answer of the right length to every measurement of the plan.
func Open(dir string) (*Sealed, error) {
	files, err := openSeal(dir)
	if err != nil {
		return nil, err
	}
	text, err := files.read(PlanFile)
	if err != nil {
		return nil, err
	}
	p, err := plan.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, PlanFile), err)
	}
	s := &Sealed{Plan: p}
	if s.Receipt, err = files.read(ReceiptFile); err != nil {
		return nil, err
	}
	hash := p.Hash()
	for _, m := range p.Measurements {
		b, err := files.read(Path(m.ID))
		if err != nil {
			return nil, err
		}
		values, status, err := Decode(b, m, hash)
		if err == nil && s.Measured != nil && status != s.Status {
			err = errors.New("has another status than the measurements before it")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, Path(m.ID)), err)
		}
		s.Status = status
		s.Measured = append(s.Measured, Measured{Measurement: m, Values: values})
	}
	return s, nil
}

// Decode reads a measurement's file and checks that it answers this measurement of
// this plan, whole. status is what its metadata carry.
func Decode(b []byte, m plan.Measurement, planHash string) (values *array.Int64, status string, err error) {
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, "", err
	}
	if h, _ := f.Lookup("dprelease.plan"); h != planHash {
		return nil, "", errors.New("belongs to another plan")
	}
	if d, _ := f.Lookup("dprelease.measurement"); d != string(m.Canonical()) {
		return nil, "", errors.New("answers another question")
	}
	r := parquet.NewGenericReader[row](f)
	defer r.Close()
	if r.NumRows() != m.Cells {
		return nil, "", fmt.Errorf("holds %d answers, expected %d", r.NumRows(), m.Cells)
	}
	rows := make([]row, m.Cells)
	for n := 0; n < len(rows); {
		k, err := r.Read(rows[n:])
		n += k
		if n < len(rows) && err != nil {
			return nil, "", err
		}
	}
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	defer builder.Release()
	builder.Reserve(len(rows))
	for _, r := range rows {
		builder.UnsafeAppend(r.Value)
	}
	status, _ = f.Lookup("dprelease.status")
	return builder.NewInt64Array(), status, nil
}
