package source

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/parquet-go/parquet-go"
)

// This file holds Description: the columns that the header of a file names. Making it reads no value.

// Description is the format of a file and the columns its header names.
type Description struct {
	Format    files.Format
	Delimiter rune // csv: the delimiter that splits the header into the most columns
	Fields    []Field
}

// Field is a column of a file. Type is empty if the header has no types, as in every CSV file, and for a type that is
// not read.
type Field struct {
	Name string
	Type domain.Type
}

// Describe reads the header of a file. The format follows from the file name: .parquet and .pq are Parquet, .arrow,
// .arrows, .feather and .ipc are Arrow, and any other name is CSV. Errors are *[Error] or the context's.
func Describe(ctx context.Context, path string) (Description, error) {
	if err := ctx.Err(); err != nil {
		return Description{}, err
	}
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Description{}, &Error{Kind: Missing, File: path,
			Message: "no such file; name a CSV, Parquet or Arrow file",
			Err:     err}
	} else if err == nil && info.IsDir() {
		return Description{}, &Error{Kind: Malformed, File: path,
			Message: "is a folder; name one of the data files in it"}
	}
	switch format := formatOf(path); format {
	case files.CSV:
		return describeCSV(path)
	default:
		return describeTyped(path, format)
	}
}

// describeTyped reads the header of a file in a format that has types.
func describeTyped(path string, format files.Format) (Description, error) {
	open := opener(openArrow)
	if format == files.Parquet {
		open = openParquet
	}
	opened, err := open(&handle{path: path}, nil)
	if err != nil {
		return Description{}, err
	}
	defer opened.close()
	return Description{Format: format, Fields: opened.fields()}, nil
}

// formatOf returns the format that the ending of a file name stands for.
func formatOf(path string) files.Format {
	name := strings.ToLower(path)
	for _, end := range []string{".arrow", ".arrows", ".feather", ".ipc"} {
		if strings.HasSuffix(name, end) {
			return files.Arrow
		}
	}
	if strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".pq") {
		return files.Parquet
	}
	return files.CSV
}

// parquetType returns the spec's type of a Parquet column, or "" if the column is not read.
func parquetType(c *parquet.Column) domain.Type {
	if !c.Leaf() || c.Repeated() {
		return ""
	}
	if physical := physicalTypeOf(c.Type()); physical != nil {
		return arrowType(physical.dataType)
	}
	return ""
}

func describeCSV(path string) (Description, error) {
	best := Description{Format: files.CSV}
	var first error
	for _, delimiter := range delimiters {
		opened, err := csvDialect{delimiter: delimiter}.open(&handle{path: path}, nil)
		if err != nil { // another delimiter may make the position of a quote valid
			first = cmp.Or(first, err)
			continue
		}
		fields := opened.fields()
		opened.close()
		if len(fields) > len(best.Fields) {
			best.Delimiter, best.Fields = delimiter, fields
		}
	}
	if best.Fields == nil {
		return Description{}, first
	}
	return best, nil
}

// arrowType returns the spec's type of an Arrow type, or "" if it has none.
func arrowType(t arrow.DataType) domain.Type {
	switch t := t.(type) {
	case *arrow.StringType, *arrow.LargeStringType:
		return domain.Text
	case *arrow.DictionaryType:
		return arrowType(t.ValueType)
	case *arrow.Decimal128Type:
		if t.Scale == 0 {
			return domain.Integer
		}
		return domain.Decimal
	case *arrow.BooleanType:
		return domain.Boolean
	case *arrow.Date32Type, *arrow.Date64Type:
		return domain.Date
	case *arrow.TimestampType:
		return domain.Timestamp
	}
	switch {
	case arrow.IsInteger(t.ID()):
		return domain.Integer
	case arrow.IsFloating(t.ID()):
		return domain.Decimal
	}
	return ""
}
