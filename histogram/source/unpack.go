package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the reading of a public table from a file that is no plain text.

// Unpack reads a public table at a path, where the file must be the one that was admitted: the rows of a Parquet or
// Arrow file, as the canonical texts by which keys are compared, or the text of a CSV file that is compressed. Its
// files are read with the care, and in the types, of confidential ones. What it reads is public, and an error may say
// where a file is broken. More than `most` bytes of text are refused, and more rows and fields than a public table may
// have.
func Unpack(ctx context.Context, path string, admitted os.FileInfo, format files.Format, most int64) (*files.Unpacked,
	error) {
	if format == files.CSV {
		text, err := readText(ctx, path, admitted, most)
		return &files.Unpacked{Text: text}, publicly(err)
	}
	r, fields, err := openFile(ctx, path, admitted, format)
	if err != nil {
		return nil, publicly(err)
	}
	defer r.Close()
	u := &unpacking{ctx: ctx, most: most, of: &files.Unpacked{}}
	for _, f := range fields {
		u.of.Fields = append(u.of.Fields, files.Field{Name: f.Name, Unread: f.Type == "" || f.Type == domain.Timestamp})
		if f.Type != "" {
			u.fields = append(u.fields, len(u.of.Fields)-1)
		}
	}
	if !slices.ContainsFunc(u.of.Fields, func(f files.Field) bool { return !f.Unread }) {
		return nil, errNoColumn
	}
	for {
		piece, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return u.of, nil
		}
		if err == nil {
			err = piece.Raw(ctx, u.take)
		}
		if err != nil {
			return nil, publicly(err)
		}
	}
}

// unpacking gathers the rows of a public table.
type unpacking struct {
	ctx    context.Context
	most   int64
	of     *files.Unpacked
	fields []int // of each column that is read, its place in of.Fields
	text   []byte
}

// take appends the rows of a record. A row takes memory whatever is in it, and a file of few bytes may claim any number
// of rows without values: they are counted before memory is set aside for them.
func (u *unpacking) take(record arrow.Record) error {
	n, width := int(record.NumRows()), len(u.of.Fields)
	first := len(u.of.Rows)
	if first+n > files.MaxRows || (first+n)*width > files.MaxFields {
		return errTooLarge
	}
	cells := make([]string, n*width)
	for row := range n {
		u.of.Rows = append(u.of.Rows, cells[row*width:(row+1)*width:(row+1)*width])
	}
	for i, place := range u.fields {
		field := &u.of.Fields[place]
		if field.Unread {
			continue
		}
		if err := u.takeColumn(field, record.Column(i), u.of.Rows[first:], first, place); err != nil {
			return err
		}
	}
	return nil
}

var (
	errTooLarge = errors.New("holds more than can be read of a public table")
	errNoColumn = errors.New("has no column of a type that is read")
)

// takeColumn writes the texts of a column to its place in rows, the first of which is a row of the file.
func (u *unpacking) takeColumn(field *files.Field, values arrow.Array, rows [][]string, first, place int) error {
	text := CanonicalTexts(values)
	if text == nil {
		field.Unread = true
		return nil
	}
	field.Float = arrow.IsFloating(values.DataType().ID())
	ends := make([]int, len(rows))
	u.text = u.text[:0]
	for row := range rows {
		if !values.IsNull(row) {
			var ok bool
			if u.text, ok = text(u.text, row); !ok && field.NoNumber == 0 {
				field.NoNumber = first + row + 1
			}
		}
		if int64(len(u.text)) > u.most { // a value that stands for many rows takes next to nothing in a file
			return errTooLarge
		}
		if row%4096 == 0 && u.ctx.Err() != nil {
			return u.ctx.Err()
		}
		ends[row] = len(u.text)
	}
	u.most -= int64(len(u.text))
	all, from := string(u.text), 0
	for row, end := range ends {
		rows[row][place], from = all[from:end], end
	}
	return nil
}

// publicly is an error of a public file without the path of this machine, with the place where the file is broken.
func publicly(err error) error {
	var fault *Error
	if !errors.As(err, &fault) || fault.Err != nil {
		return err
	}
	text := fault.Message
	if fault.Column != "" {
		text = fmt.Sprintf("column %q: %s", fault.Column, text)
	}
	if fault.Detail != "" {
		text += " (" + fault.Detail + ")"
	}
	return errors.New(text)
}
