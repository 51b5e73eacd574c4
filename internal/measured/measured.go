// Package measured reads and writes the sealed folder: the noisy integers of a
// release, the plan they answer and the receipt of their debit. It is all that
// publishing may read.
//
// The package never sees an exact count: it is handed noisy integers only.
package measured

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Sealed is the content of a sealed folder.
type Sealed struct {
	Plan     *plan.Plan
	Receipt  json.RawMessage // of the debit, as the ledger records it
	Measured []Measured      // in the plan's order
}

// Names of what a sealed folder holds.
const (
	PlanFile    = "plan.json"
	ReceiptFile = "receipt.json"
	Folder      = "measurements"
)

// Path is where a measurement's answers are kept within a release or a sealed
// folder: measurements/ID.parquet, one INT64 column "value", a row per answer.
func Path(id string) string { return filepath.Join(Folder, filepath.FromSlash(id)+".parquet") }

// row is the layout of a measurement file.
type row struct {
	Value int64 `parquet:"value,delta"`
}

// Seal writes a sealed folder's content into dir, an existing staging folder,
// and syncs every file. The caller syncs and renames the folder.
func Seal(dir string, p *plan.Plan, receipt []byte, status string, all []Measured) error {
	if err := writeFile(filepath.Join(dir, PlanFile), p.Bytes()); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, ReceiptFile), receipt); err != nil {
		return err
	}
	for _, m := range all {
		b, err := Encode(m, p.Hash(), status)
		if err != nil {
			return fmt.Errorf("measurement %s: %w", m.Measurement.ID, err)
		}
		if err := writeFile(filepath.Join(dir, Path(m.Measurement.ID)), b); err != nil {
			return err
		}
	}
	return nil
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

// Open reads a sealed folder and checks that it holds an answer of the right
// length to every measurement of its plan.
func Open(dir string) (*Sealed, error) {
	text, err := os.ReadFile(filepath.Join(dir, PlanFile))
	if err != nil {
		return nil, fmt.Errorf("%s is not a folder of measurements: %w", dir, err)
	}
	p, err := plan.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, PlanFile), err)
	}
	receipt, err := os.ReadFile(filepath.Join(dir, ReceiptFile))
	if err != nil {
		return nil, fmt.Errorf("%s is not a folder of measurements: %w", dir, err)
	}
	if !json.Valid(receipt) {
		return nil, fmt.Errorf("%s is not JSON", filepath.Join(dir, ReceiptFile))
	}
	s := &Sealed{Plan: p, Receipt: receipt}
	hash := p.Hash()
	for _, m := range p.Measurements {
		values, err := readValues(filepath.Join(dir, Path(m.ID)), m, hash)
		if err != nil {
			return nil, fmt.Errorf("measurement %s: %w", m.ID, err)
		}
		s.Measured = append(s.Measured, Measured{Measurement: m, Values: values})
	}
	return s, nil
}

// readValues reads a measurement's file and checks that it answers this
// measurement of this plan.
func readValues(path string, m plan.Measurement, planHash string) (values *array.Int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s is damaged: %v", path, r)
		}
	}()
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if h, _ := f.Lookup("dprelease.plan"); h != planHash {
		return nil, fmt.Errorf("%s belongs to another plan", path)
	}
	if d, _ := f.Lookup("dprelease.measurement"); d != string(m.Canonical()) {
		return nil, fmt.Errorf("%s answers another question", path)
	}
	r := parquet.NewGenericReader[row](f)
	defer r.Close()
	if r.NumRows() != m.Cells {
		return nil, fmt.Errorf("%s holds %d answers, expected %d", path, r.NumRows(), m.Cells)
	}
	rows := make([]row, m.Cells)
	for n := 0; n < len(rows); {
		k, err := r.Read(rows[n:])
		n += k
		if n < len(rows) && err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, fmt.Errorf("%s is damaged: %w", path, err)
		}
	}
	builder := array.NewInt64Builder(memory.DefaultAllocator)
	defer builder.Release()
	builder.Reserve(len(rows))
	for _, r := range rows {
		builder.UnsafeAppend(r.Value)
	}
	return builder.NewInt64Array(), nil
}

// writeFile writes and syncs a file, making its folder.
func writeFile(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
