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

// This file holds the reading of a public table from a file that is not plain text.

// Unpack reads a public table at a path; the file must be the admitted one. It returns the rows of a Parquet or Arrow
// file, as the canonical texts by which keys are compared, or the text of a compressed CSV file. Such files are read
// with the same care, and in the same types, as confidential ones. Because the content is public, an error may say
// where a file is broken. Unpack refuses more than `most` bytes of text, and more rows and fields than a public table
// may have.
func Unpack(ctx context.Context, path string, admitted os.FileInfo, format files.Format, most int64) (*files.Unpacked,
	error) {
	if format == files.CSV {
		text, err := readText(ctx, path, admitted, most)
		return &files.Unpacked{Text: text}, publicError(err)
	}
	r, fields, err := openFile(ctx, path, admitted, format)
	if err != nil {
		return nil, publicError(err)
	}
	defer r.Close()
	u := &unpacking{ctx: ctx, most: most, result: &files.Unpacked{}}
	for _, f := range fields {
		u.result.Fields = append(u.result.Fields, files.Field{Name: f.Name,
			Unread: f.Type == "" || f.Type == domain.Timestamp})
		if f.Type != "" {
			u.fieldIndexes = append(u.fieldIndexes, len(u.result.Fields)-1)
		}
	}
	if !slices.ContainsFunc(u.result.Fields, func(f files.Field) bool { return !f.Unread }) {
		return nil, errNoColumn
	}
	for {
		piece, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return u.result, nil
		}
		if err == nil {
			err = piece.Raw(ctx, u.addRecord)
		}
		if err != nil {
			return nil, publicError(err)
		}
	}
}

// unpacking gathers the rows of a public table.
type unpacking struct {
	ctx          context.Context
	most         int64
	result       *files.Unpacked
	fieldIndexes []int // by column that is read, its index in result.Fields
	text         []byte
}

// addRecord appends the rows of a record. A row takes memory whatever it holds, and a file of few bytes may claim any
// number of rows without values, so the rows are counted before memory is allocated for them.
func (u *unpacking) addRecord(record arrow.Record) error {
	n, width := int(record.NumRows()), len(u.result.Fields)
	first := len(u.result.Rows)
	if first+n > files.MaxRows || (first+n)*width > files.MaxFields {
		return errTooLarge
	}
	cells := make([]string, n*width)
	for row := range n {
		u.result.Rows = append(u.result.Rows, cells[row*width:(row+1)*width:(row+1)*width])
	}
	for i, place := range u.fieldIndexes {
		field := &u.result.Fields[place]
		if field.Unread {
			continue
		}
		if err := u.addColumn(field, record.Column(i), u.result.Rows[first:], first, place); err != nil {
			return err
		}
	}
	return nil
}

var (
	errTooLarge = errors.New("holds more than can be read of a public table")
	errNoColumn = errors.New("has no column of a type that is read")
)

// addColumn writes the texts of a column into the cells of rows, whose first is row `first` of the file.
func (u *unpacking) addColumn(field *files.Field, values arrow.Array, rows [][]string, first, place int) error {
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
		if int64(len(u.text)) > u.most { // one value for many rows takes almost no room in a file
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

// publicError returns the error of a public file without its path, and with the place where the file is broken.
func publicError(err error) error {
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
