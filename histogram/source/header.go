package source

// This file holds the search for the wanted columns: in a file's header, and
// among the folders it lies in.

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

// located is where a file has each wanted column.
type located struct {
	places    []int         // in the header, −1 where it is a folder's name that gives it
	constants []arrow.Array // of one entry, in that case
}

// locate returns where a file with a header of these names has the wanted columns.
// A column that is missing or stands there twice is an error.
func locate(h *handle, header []string, wanted []Column) (located, error) {
	l := located{make([]int, len(wanted)), make([]arrow.Array, len(wanted))}
	for i, c := range wanted {
		l.places[i] = slices.Index(header, c.Name)
		folders, err := h.partition(c.Name)
		switch {
		case err != nil:
			return l, err
		case l.places[i] >= 0 && slices.Contains(header[l.places[i]+1:], c.Name):
			return l, &Error{Kind: Duplicate, File: h.path, Column: c.Name,
				Message: "the file has two columns of this name; rename one"}
		case l.places[i] >= 0 && folders != nil:
			return l, &Error{Kind: Duplicate, File: h.path, Column: c.Name,
				Message: "the file has this column and so has the name of its folder; rename one"}
		case l.places[i] < 0 && folders == nil:
			return l, &Error{Kind: Missing, File: h.path, Column: c.Name, Message: "the file has no such column" +
				suggest(c.Name, header)}
		}
		l.constants[i] = folders
	}
	return l, nil
}

// suggest names the column that was probably meant, if one is near.
func suggest(wanted string, names []string) string {
	if len(names) == 0 {
		return "; it has no columns"
	}
	if near := document.Nearest(wanted, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// noPartition is how Hive, Spark and others name the folder of rows without a value.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// partition returns the value that a folder column=value beneath the data folder
// gives the rows of a file, as an array of one text or null; nil where there is no
// such folder. Both sides may be percent-encoded, as those who write such folders do.
func (h *handle) partition(column string) (arrow.Array, error) {
	var found arrow.Array
	for _, folder := range strings.Split(filepath.ToSlash(filepath.Dir(h.within)), "/") {
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
