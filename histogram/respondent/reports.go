package respondent

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// This file holds the form of reports in Parquet files, which is the same however they come in.

// row is a report in a file. Token is null once the reports were shuffled.
type row struct {
	Collector string `parquet:"collector,dict"`
	Token     []byte `parquet:"token,optional"`
	Question  string `parquet:"question,dict"`
	Report    []byte `parquet:"report"`
}

// Writer writes a file of reports.
type Writer struct {
	w     *parquet.GenericWriter[row]
	batch []row
}

// rowsOfBatch is how many reports are passed to the Parquet writer at a time, and rowsOfGroup how many a row group has.
const (
	rowsOfBatch = 1 << 12
	rowsOfGroup = 1 << 20
)

// NewWriter returns a writer of reports to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: parquet.NewGenericWriter[row](w, parquet.CreatedBy("dprelease", "", ""),
		parquet.Compression(&zstd.Codec{}), parquet.MaxRowsPerRowGroup(rowsOfGroup),
		parquet.KeyValueMetadata("dprelease.schema", "dprelease.reports/1"))}
}

// Write adds a report. With mixed, its token is left out.
func (w *Writer) Write(r client.Report, mixed bool) error {
	one := row{Collector: r.Collector, Question: r.Question, Report: r.Bytes}
	if !mixed {
		one.Token = r.Token[:]
	}
	if w.batch = append(w.batch, one); len(w.batch) < rowsOfBatch {
		return nil
	}
	return w.flush()
}

func (w *Writer) flush() error {
	_, err := w.w.Write(w.batch)
	w.batch = w.batch[:0]
	return err
}

// Close writes what is left, and the end of the file. It does not close what the file is written to.
func (w *Writer) Close() error { return errors.Join(w.flush(), w.w.Close()) }

// The columns of a file of reports, in this order in a batch.
const (
	columnCollector = iota
	columnToken
	columnQuestion
	columnReport
)

// columns returns the columns to read. Those with few different values are read as codes.
func columns(q *questions) []source.Column {
	return []source.Column{columnCollector: {Name: "collector", Coder: q.collectors()},
		columnToken: {Name: "token"}, columnQuestion: {Name: "question", Coder: q.names()},
		columnReport: {Name: "report"}}
}

// questions are the questions of a collector, by their names.
type questions struct {
	*client.Collector
	index map[string]uint32
}

func newQuestions(c *client.Collector) *questions {
	q := &questions{c, map[string]uint32{}}
	for i := range c.Questions {
		q.index[c.Questions[i].Name] = uint32(i)
	}
	return q
}

// The codes of what is none of the texts expected.
const (
	unknown = 1<<16 - 1 // another text, or a null
	noText  = 1<<16 - 2 // a value of a column that has no texts
)

// textCoder gives codes to texts.
type textCoder map[string]uint32

func (textCoder) Width() int { return 2 }

// Codes gives [unknown] to a null and to a text without a code, and [noText] to all values of other types.
func (t textCoder) Codes(values arrow.Array, codes []uint32) {
	texts, ok := values.(*array.String)
	for i := range codes {
		codes[i] = unknown
		if !ok {
			codes[i] = noText
		} else if texts.IsValid(i) {
			if code, known := t[texts.Value(i)]; known {
				codes[i] = code
			}
		}
	}
}

func (q *questions) collectors() source.Coder { return textCoder{q.ID(): 0} }

func (q *questions) names() source.Coder { return textCoder(q.index) }

// batch is a batch of reports, as they were read.
type batch struct {
	rows      int
	first     uint64 // place of the first one among all: the piece's number, and the row within it
	collector []uint16
	question  []uint16
	token     *array.String
	report    *array.String
}

// rowBits is how many bits of a place are the row within its piece.
const rowBits = 40

// read visits the batches of a piece.
func (q *questions) read(ctx context.Context, p *source.Piece, b *source.Buffers, visit func(batch) error) error {
	return p.Read(ctx, b, source.MaxRows, func(of *source.Batch) error {
		token, isToken := of.Columns[columnToken].(*array.String)
		report, isReport := of.Columns[columnReport].(*array.String)
		collector, isCollector := of.Columns[columnCollector].(*array.Uint16)
		question, isQuestion := of.Columns[columnQuestion].(*array.Uint16)
		if !isToken || !isReport || !isCollector || !isQuestion || of.Rows > 0 &&
			(collector.Value(0) == noText || question.Value(0) == noText) {
			return &source.Error{Kind: source.WrongType, File: p.File(),
				Message: "is no file of reports: expected the columns collector, token, question and report, as " +
					"devices and `dprelease local` write them"}
		}
		return visit(batch{of.Rows, uint64(p.Number())<<rowBits | uint64(of.First), collector.Uint16Values(),
			question.Uint16Values(), token, report})
	})
}
