package source

// This file holds the search for the wanted columns, in the header of a file and in the names of its folders.

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/spec/document"
)

// columnLocations is where a file has each wanted column.
type columnLocations struct {
	indexes   []int         // in the header, −1 where the name of a folder gives the value
	constants []arrow.Array // the value that a folder gives, an array of one entry
}

// locateColumns returns where a file with these column names has the wanted columns. It returns an error if a column
// is missing or occurs twice.
func locateColumns(h *handle, header []string, wanted []Column) (columnLocations, error) {
	l := columnLocations{make([]int, len(wanted)), make([]arrow.Array, len(wanted))}
	for i, c := range wanted {
		l.indexes[i] = slices.Index(header, c.Name)
		folders, err := h.partitionValue(c.Name)
		switch {
		case err != nil:
			return l, err
		case l.indexes[i] >= 0 && slices.Contains(header[l.indexes[i]+1:], c.Name):
			return l, &Error{Kind: Duplicate, File: h.path, Column: c.Name,
				Message: "the file has two columns of this name; rename one"}
		case l.indexes[i] >= 0 && folders != nil:
			return l, &Error{Kind: Duplicate, File: h.path, Column: c.Name,
				Message: "the file has this column and so has the name of its folder; rename one"}
		case l.indexes[i] < 0 && folders == nil:
			return l, &Error{Kind: Missing, File: h.path, Column: c.Name, Message: "the file has no such column" +
				columnHint(c.Name, header)}
		}
		l.constants[i] = folders
	}
	return l, nil
}

// columnHint names the column that was probably meant, if one is near.
func columnHint(wanted string, names []string) string {
	if len(names) == 0 {
		return "; it has no columns"
	}
	if near := document.Nearest(wanted, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// noPartition is the name that Hive, Spark and others give to the folder of rows without a value.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// partitionValue returns the value that a folder column=value below the data folder gives to the rows of a file, as
// an array of one text or null. It returns nil if there is no such folder. Both sides may be percent-encoded, as the
// programs that write such folders do.
func (h *handle) partitionValue(column string) (arrow.Array, error) {
	var found arrow.Array
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(h.relative)), "/") {
		name, value, ok := strings.Cut(folder, "=")
		if !ok {
			continue
		}
		name, err := url.PathUnescape(name)
		if err != nil || name != column {
			continue
		}
		text, err := url.PathUnescape(value)
		if err != nil || !utf8.ValidString(text) {
			return nil, &Error{Kind: Malformed, File: h.path, Column: column,
				Message: "the name of its folder is not percent-encoded UTF-8; rename it to column=value"}
		}
		if found != nil {
			return nil, &Error{Kind: Duplicate, File: h.path, Column: column,
				Message: "two of its folders give this column; rename one"}
		}
		b := array.NewStringBuilder(memory.DefaultAllocator)
		if value == noPartition {
			b.AppendNull()
		} else {
			b.Append(text)
		}
		found = b.NewArray()
	}
	return found, nil
}
