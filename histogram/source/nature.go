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

// This file holds the nature of a file: what its first bytes say it is, where the spec
// or the end of its name takes it for something else.

// natureBytes are the first bytes that are looked at.
const natureBytes = 512

// arrowMagic opens and closes a file of Arrow's file format.
const arrowMagic = "ARROW1"

// magics are the first bytes of formats that are met in the place of others.
var magics = []struct {
	bytes  string
	is     string
	format files.Format // "" where it is none that a source names
	ending string       // of the names of such files, where CSV is read through it
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

// mistaken is an error where a held file is plainly of another format than the one that
// it is to be read as: it says which, and what to write. Of others it says nothing.
func (h *handle) mistaken(as files.Format) error {
	head := make([]byte, natureBytes)
	n, err := h.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return unreadable(h.path, err)
	}
	if head = head[:n]; looksLikeText(head) {
		return h.mistakenText(as)
	}
	for _, m := range magics {
		switch {
		case !strings.HasPrefix(string(head), m.bytes):
			continue
		case m.format == as, as == files.CSV && m.ending != "" && h.endsIn(m.ending):
			return nil
		case m.format != "":
			return h.isNot(m.is, as, m.format)
		case as == files.CSV && m.ending != "":
			return malformed(h.path, "", fmt.Sprintf("is %s, which its name does not say; rename it so that it ends in %s", m.is,
				m.ending), "")
		}
		return malformed(h.path, "", fmt.Sprintf("is %s; %s", m.is, m.remedy), "")
	}
	return nil
}

// mistakenText is mistaken for a file of text.
func (h *handle) mistakenText(as files.Format) error {
	if as != files.CSV {
		return h.isNot("text", as, files.CSV)
	}
	for _, ending := range []string{".gz", ".zst"} {
		if h.endsIn(ending) {
			return malformed(h.path, "", fmt.Sprintf("is text that is not compressed, although its name ends in %s; rename it",
				ending), "")
		}
	}
	return nil
}

// isNot says what a file is, and which source it belongs to.
func (h *handle) isNot(is string, as, format files.Format) error {
	return malformed(h.path, "",
		fmt.Sprintf("is %s, and is to be read as %s; write %s: in the spec, with files of that format alone", is, as, format),
		"")
}

// endsIn tells how the name of the file ends, in letters of any size.
func (h *handle) endsIn(ending string) bool {
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
