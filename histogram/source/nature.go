package source

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dprelease/dprelease/spec/files"
)

// This file holds the check of a file's first bytes against the format that the spec or the ending of its name gives.

// natureBytes is how many first bytes of a file are examined.
const natureBytes = 512

// arrowMagic opens and closes a file of Arrow's file format.
const arrowMagic = "ARROW1"

// magics are the first bytes of formats that are met in place of other formats.
var magics = []struct {
	bytes  string
	is     string
	format files.Format // "" if a source cannot name it
	ending string       // ending of the names of such files, if CSV is read through this compression
	remedy string
}{
	{bytes: "PAR1", is: "a Parquet file", format: files.Parquet},
	{bytes: arrowMagic + "\x00\x00", is: "an Arrow file", format: files.Arrow},
	{bytes: "\xFF\xFF\xFF\xFF", is: "an Arrow stream", format: files.Arrow},
	{bytes: "FEA1", is: "a Feather file of version 1", remedy: "write it again as Feather 2 or Parquet"},
	{bytes: "\x1F\x8B", is: "compressed with gzip", ending: ".gz", remedy: "decompress it"},
	{bytes: "\x28\xB5\x2F\xFD", is: "compressed with Zstandard", ending: ".zst", remedy: "decompress it"},
	{bytes: "PK\x03\x04", is: "a zip archive, as spreadsheets are too", remedy: "unpack it, or save the sheet as CSV"},
}

// checkFormat returns an error if an open file is plainly of another format than the one that it is to be read as.
// The error names the format and says what to write. checkFormat accepts a file whose format it does not recognize.
func (h *handle) checkFormat(as files.Format) error {
	head := make([]byte, natureBytes)
	n, err := h.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return unreadableFile(h.path, err)
	}
	if head = head[:n]; looksLikeText(head) {
		return h.checkTextFormat(as)
	}
	for _, m := range magics {
		switch {
		case !strings.HasPrefix(string(head), m.bytes):
			continue
		case m.format == as, as == files.CSV && m.ending != "" && h.hasEnding(m.ending):
			return nil
		case m.format != "":
			return h.wrongFormat(m.is, as, m.format)
		case as == files.CSV && m.ending != "":
			return malformedFile(h.path, "",
				fmt.Sprintf("is %s, which its name does not say; rename it so that it ends in %s", m.is, m.ending), "")
		}
		return malformedFile(h.path, "", fmt.Sprintf("is %s; %s", m.is, m.remedy), "")
	}
	return nil
}

// checkTextFormat is checkFormat for a file of text.
func (h *handle) checkTextFormat(as files.Format) error {
	if as != files.CSV {
		return h.wrongFormat("text", as, files.CSV)
	}
	for _, ending := range []string{".gz", ".zst"} {
		if h.hasEnding(ending) {
			return malformedFile(h.path, "",
				fmt.Sprintf("is text that is not compressed, although its name ends in %s; rename it", ending), "")
		}
	}
	return nil
}

// wrongFormat returns an error that names what a file is and the source that it belongs to.
func (h *handle) wrongFormat(is string, as, format files.Format) error {
	return malformedFile(h.path, "",
		fmt.Sprintf("is %s, and is to be read as %s; write %s: in the spec, with files of that format alone", is, as,
			format),
		"")
}

// hasEnding reports whether the file name has an ending, ignoring case.
func (h *handle) hasEnding(ending string) bool {
	return strings.HasSuffix(strings.ToLower(h.path), ending)
}

// looksLikeText reports whether the beginning of a file is UTF-8 text. The last character may be cut off.
func looksLikeText(head []byte) bool {
	if len(head) == 0 {
		return false
	}
	for len(head) > 0 {
		r, size := utf8.DecodeRune(head)
		if r == utf8.RuneError && size == 1 {
			return !utf8.FullRune(head)
		}
		if unicode.IsControl(r) && r != '\t' && r != '\r' && r != '\n' {
			return false
		}
		head = head[size:]
	}
	return true
}
