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

// This file holds Description: what a file's header says of its columns, without
// a look at any value.

// Description is the format of a file and the columns its header names.
type Description struct {
	Format    files.Format
	Delimiter rune // csv: the one that parts the header into most columns
	Fields    []Field
}

// Field is a column of a file. Type is empty where the header does not tell, as
// in every CSV file, and for types that are not read.
type Field struct {
	Name string
	Type domain.Type
}

// Describe reads the header of a file whose name ends in .parquet, .pq,
// .arrow, .arrows, .feather or .ipc; any other is taken for CSV. Errors are
// *[Error] or the context's.
func Describe(ctx context.Context, path string) (Description, error) {
	if err := ctx.Err(); err != nil {
		return Description{}, err
	}
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Description{}, &Error{Kind: Missing, File: path, Message: "no such file; name a CSV, Parquet or Arrow file",
			Err: err}
	} else if err == nil && info.IsDir() {
		return Description{}, &Error{Kind: Malformed, File: path, Message: "is a folder; name one of the data files in it"}
	}
	switch format := formatOf(path); format {
	case files.CSV:
		return describeCSV(path)
	default:
		return describeTyped(path, format)
	}
}

// describeTyped reads the header of a file of a format that has types.
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

// formatOf tells a format by the end of a file's name.
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

// parquetType is the type of the Arrow arrays that a column is read into.
func parquetType(c *parquet.Column) domain.Type {
	if !c.Leaf() || c.Repeated() {
		return ""
	}
	if physical := physicalOf(c.Type()); physical != nil {
		return arrowType(physical.of)
	}
	return ""
}

func describeCSV(path string) (Description, error) {
	best := Description{Format: files.CSV}
	var first error
	for _, delimiter := range delimiters {
		opened, err := csvDialect{delimiter: delimiter}.open(&handle{path: path}, nil)
		if err != nil { // with another delimiter a quote may stand where it should
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

// arrowType is the spec's type of an Arrow type.
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
