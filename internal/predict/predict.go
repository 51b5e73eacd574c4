// Package predict applies a published model to the rows of a file.
//
// It owns the reading of such rows and of their values, and the CSV that predictions are written to. It needs no
// release and no spec: the file of the model has everything. It guesses nothing: at a value that is in no category of
// the model it stops, with an error that says where the value is and which categories the model has, but never the
// value itself.
//
//	m, err := predict.ReadModel("risk.json")
//	...
//	rows, err := predict.Write(ctx, m, "stays.csv", os.Stdout)
package predict

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/regular"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/synth/model"
)

// Column is the name of the column of predictions.
const Column = "prediction"

// mostModel is the largest size, in bytes, of the file of a model.
const mostModel = 64 << 20

// ReadModel reads the file of a published model. It returns *[verdict.Unusable] if the file is not a model, and any
// error of the file system.
func ReadModel(path string) (*model.Predictor, error) {
	text, err := regular.Read(path, mostModel)
	if err != nil {
		return nil, &verdict.Unusable{File: path, Err: err}
	}
	m, err := model.Read(text)
	if err != nil {
		return nil, &verdict.Unusable{File: path, Err: err}
	}
	return m, nil
}

// Unfit reports rows that a model cannot predict.
type Unfit struct {
	File   string
	Row    int64  // from 1, without the header; 0 if the error is about no row
	Line   int64  // of a CSV file, on which the row begins; 0 of other files
	Column string // of the file, or of the model if the file lacks it
	Wrong  string // what is wrong, without the value, and what to do
}

// Error names the file, the line or the row, and the column.
func (e *Unfit) Error() string {
	file, column := screen.Visible(e.File, ""), screen.Visible(e.Column, "")
	switch {
	case e.Row == 0:
		return fmt.Sprintf("%s: column %s: %s", file, column, e.Wrong)
	case e.Line > 0:
		return fmt.Sprintf("%s: line %d, column %s: %s", file, e.Line, column, e.Wrong)
	}
	return fmt.Sprintf("%s: row %d, column %s: %s", file, e.Row, column, e.Wrong)
}

// Verdict returns the verdict that the rows must be corrected.
func (*Unfit) Verdict() verdict.Verdict {
	return verdict.Verdict{Exit: verdict.ExitData, Reason: verdict.InputContract, Retry: verdict.Never}
}

// Write writes the rows of a file as CSV, with the model's prediction in an additional last column, and returns the
// number of rows written. It returns an error if the file lacks a column of the model or has a column named [Column],
// and at the first value that is in no category of the model. The error is an *[Unfit], a *[source.Error], an error of
// to, or the error of the context.
func Write(ctx context.Context, m *model.Predictor, path string, to io.Writer) (rows int64, err error) {
	p := &predictor{model: m, path: path, to: csv.NewWriter(to)}
	reader, err := p.open(ctx)
	if err != nil {
		return 0, err
	}
	defer reader.Close()
	if err := p.to.Write(append(slices.Clone(p.names), Column)); err != nil {
		return 0, err
	}
	for {
		piece, err := reader.Next(ctx)
		if err == io.EOF {
			break
		}
		before := p.rows
		if err == nil {
			err = piece.Raw(ctx, p.write)
		}
		if unfit, ok := errors.AsType[*Unfit](err); ok && unfit.Row > 0 {
			unfit.Line = piece.Line(unfit.Row - before - 1)
		}
		if err != nil {
			return p.rows, err
		}
	}
	p.to.Flush()
	return p.rows, p.to.Error()
}

// predictor predicts the rows of one file.
type predictor struct {
	model *model.Predictor
	path  string
	names []string // of the file's columns
	by    []input  // of the model's columns
	to    *csv.Writer
	rows  int64 // written so far
}

// input is how a column of the model is read.
type input struct {
	model.Input
	at    int // column of the file
	codes *model.Codes
}

// open opens the file and finds the columns of the model in it.
func (p *predictor) open(ctx context.Context) (*source.Reader, error) {
	file, err := source.Describe(ctx, p.path)
	if err != nil {
		return nil, err
	}
	var columns []source.Column
	for _, f := range file.Fields {
		if file.Format != files.CSV && f.Type == "" {
			return nil, p.unfit(f.Name, "a type that is not read; leave the column out of the file")
		}
		p.names, columns = append(p.names, f.Name), append(columns, source.Column{Name: f.Name})
	}
	if slices.Contains(p.names, Column) {
		return nil, p.unfit(Column, "this is the name of the column that is added; give it another name")
	}
	for _, c := range p.model.Inputs {
		one, err := p.find(c)
		if err != nil {
			return nil, err
		}
		p.by = append(p.by, one)
	}
	dir, name := filepath.Split(p.path)
	if dir == "" {
		dir = "."
	}
	return source.Open(ctx, source.Data{Dir: dir}, &spec.Table{Name: name, Source: spec.TableSource{Format: file.Format,
		Paths: []string{files.Literal(name)}, Delimiter: file.Delimiter, Nulls: []string{""}}}, columns)
}

// find finds what a column of the model is read from: the column of its name, or the one whose values its categories
// are made of.
func (p *predictor) find(c model.Input) (input, error) {
	at, values := slices.Index(p.names, c.Name), -1
	if c.Values != nil && c.Values.Column != c.Name {
		values = slices.Index(p.names, c.Values.Column)
	}
	switch {
	case at >= 0 && values >= 0:
		return input{}, p.unfit(c.Name, fmt.Sprintf("the file also has %s, which says the same; leave one of them out",
			c.Values.Column))
	case at >= 0:
		codes, err := c.Codes()
		return input{c, at, codes}, err
	case values >= 0:
		codes, err := c.ValueCodes()
		return input{c, values, codes}, err
	case c.Values != nil && c.Values.Column != c.Name:
		return input{}, p.unfit(c.Name, fmt.Sprintf("the file does not have it, nor %s, and the model predicts by it",
			c.Values.Column))
	}
	return input{}, p.unfit(c.Name, "the file does not have it, and the model predicts by it")
}

func (p *predictor) unfit(column, wrong string) error {
	return &Unfit{File: p.path, Column: column, Wrong: wrong}
}

// write predicts and writes the rows of a record.
func (p *predictor) write(record arrow.Record) error {
	texts := make([]func([]byte, int) ([]byte, bool), len(p.names))
	for i := range texts {
		if texts[i] = textsOf(record.Column(i)); texts[i] == nil {
			return p.unfit(p.names[i], "a type that is not read; leave the column out of the file")
		}
	}
	values, line, text := make([]model.Value, len(p.by)), make([]string, len(texts)+1), []byte(nil)
	for row := range int(record.NumRows()) {
		p.rows++
		for i, in := range p.by {
			code, wrong := in.codeOf(record.Column(in.at), row)
			if wrong != "" {
				return &Unfit{File: p.path, Row: p.rows, Column: p.names[in.at],
					Wrong: fmt.Sprintf("%s; expected %s: correct it, or leave the row out", wrong, in.allowed())}
			}
			if !in.IsNumber() {
				values[i].Category = code
				continue
			}
			text, _ = texts[in.at](text[:0], row)
			var err error
			if values[i].Number, err = strconv.ParseFloat(string(text), 64); err != nil {
				return &Unfit{File: p.path, Row: p.rows, Column: p.names[in.at], Wrong: "the value is no number"}
			}
		}
		mean := p.model.Mean(values)
		for i := range texts {
			if line[i] = ""; !record.Column(i).IsNull(row) {
				text, _ = texts[i](text[:0], row) // NaN and infinities are left empty
				line[i] = string(text)
			}
		}
		line[len(texts)] = strconv.FormatFloat(mean, 'g', -1, 64)
		if err := p.to.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// codeOf returns the index of the category of a row's value, or what is wrong with the value.
func (in input) codeOf(values arrow.Array, row int) (code int, wrong string) {
	if values.IsNull(row) {
		if in.codes.Missing < 0 {
			return 0, "the value is missing, and the model has no category for that"
		}
		return in.codes.Missing, ""
	}
	code, fit := in.codes.Code(func(d *domain.Domain) (int, domain.Fit) { return lookUp(d, values, row) })
	switch {
	case fit == domain.Fits:
		return code, ""
	case in.IsNumber() && fit == domain.OutOfDomain:
		return 0, "the value is no whole number in the range of the model"
	case in.IsNumber():
		return 0, "the value is " + fit.String() + ", and no whole number in the range of the model"
	case fit == domain.OutOfDomain:
		return 0, "the value is in no category of the model"
	}
	return 0, "the value is " + fit.String() + ", and in no category of the model"
}

// allowed says which values the model has categories for: the first of them if they are many.
func (in input) allowed() string {
	names, ranged := in.Categories, ""
	switch v := in.Values; {
	case in.codes.Domain == nil:
	case v.Of != nil:
		names = slices.Concat(v.Of...)
	default:
		ranged, names = fmt.Sprintf("a value from %s to %s", v.Least[0], v.Most), nil
		if in.codes.Categories != nil {
			names = in.Categories[len(v.Least):]
		}
	}
	if len(names) == 0 {
		return screen.Visible(ranged, "")
	}
	categories := make([]domain.Category, len(names))
	for i, name := range names {
		categories[i].Code = name
	}
	if ranged != "" {
		ranged += ", or "
	}
	return screen.Visible(ranged+domain.FirstFewOf(categories), "")
}

// lookUp returns the code of a row's value in a domain, by the rules by which the rows of a release are counted.
func lookUp(d *domain.Domain, values arrow.Array, row int) (int, domain.Fit) {
	switch a := values.(type) {
	case *array.String:
		return d.CodeOfText(a.Value(row))
	case *array.LargeString:
		return d.CodeOfText(a.Value(row))
	case *array.Int64:
		return d.CodeOfInt(a.Value(row))
	case *array.Float64:
		return d.CodeOfFloat(a.Value(row))
	case *array.Decimal128:
		return d.CodeOfDecimal(a.Value(row).BigInt(), a.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Boolean:
		return d.CodeOfBool(a.Value(row))
	case *array.Date32:
		return d.CodeOfDate(int32(a.Value(row)))
	case *array.Timestamp:
		return d.CodeOfTimestamp(int64(a.Value(row)))
	}
	return 0, domain.WrongType
}

// textsOf returns a function that appends the text of a row's value; nil for an array of a type without texts.
func textsOf(values arrow.Array) func(text []byte, row int) ([]byte, bool) {
	if a, ok := values.(*array.Timestamp); ok {
		return func(text []byte, row int) ([]byte, bool) {
			return a.Value(row).ToTime(arrow.Microsecond).AppendFormat(text, "2006-01-02T15:04:05.999999"), true
		}
	}
	return source.CanonicalTexts(values)
}
