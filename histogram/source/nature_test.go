package source

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// The error of a file in another format than the spec or the file name says names that format and says what to write.
// It shows none of the file's text.
func TestMistakenFormats(t *testing.T) {
	const text = "x,y\nKäthe7319,1\n"
	archive := append([]byte("PK\x03\x04"), make([]byte, 40)...)
	for _, c := range []struct {
		format files.Format
		file   string
		bytes  []byte
		says   string
	}{
		{files.CSV, "a.csv", wideBytes(t, 60),
			"is a Parquet file, and is to be read as csv; write parquet: in the spec"},
		{files.CSV, "a.csv.gz", wideBytes(t, 60), "is a Parquet file, and is to be read as csv"},
		{files.CSV, "a.csv", arrowBytes(t, true, 60),
			"is an Arrow file, and is to be read as csv; write arrow: in the spec"},
		{files.CSV, "a.csv", arrowBytes(t, false, 60),
			"is an Arrow stream, and is to be read as csv; write arrow: in the spec"},
		{files.CSV, "a.csv", gzipped(text),
			"is compressed with gzip, which its name does not say; rename it so that it ends in .gz"},
		{files.CSV, "a.csv", zstandard(t, text),
			"is compressed with Zstandard, which its name does not say; rename it so that it ends in .zst"},
		{files.CSV, "a.csv.gz", zstandard(t, text), "is compressed with Zstandard, which its name does not say"},
		{files.CSV, "a.csv.GZ", []byte(text),
			"is text that is not compressed, although its name ends in .gz; rename it"},
		{files.CSV, "a.csv.zst", []byte(text),
			"is text that is not compressed, although its name ends in .zst; rename it"},
		{files.CSV, "a.csv", archive, "is a zip archive, as spreadsheets are too; unpack it, or save the sheet as CSV"},
		{files.Parquet, "a.parquet", []byte(text), "is text, and is to be read as parquet; write csv: in the spec"},
		{files.Parquet, "a.parquet", []byte("x\n1\n"), "is text, and is to be read as parquet"},
		{files.Parquet, "a.parquet", []byte("x\n" + strings.Repeat("Käthe", 200)),
			"is text, and is to be read as parquet"},
		{files.Parquet, "a.parquet", arrowBytes(t, true, 60),
			"is an Arrow file, and is to be read as parquet; write arrow: in the spec"},
		{files.Parquet, "a.parquet", gzipped(string(wideBytes(t, 60))), "is compressed with gzip; decompress it"},
		{files.Arrow, "a.arrow", wideBytes(t, 60),
			"is a Parquet file, and is to be read as arrow; write parquet: in the spec"},
		{files.Arrow, "a.arrow", []byte(text), "is text, and is to be read as arrow; write csv: in the spec"},
		{files.Arrow, "a.arrow", append([]byte("FEA1"), make([]byte, 40)...),
			"is a Feather file of version 1; write it again as Feather 2 or Parquet"},
		{files.Arrow, "a.arrow", archive, "is a zip archive"},
	} {
		dir := t.TempDir()
		writeFile(t, dir, c.file, c.bytes)
		_, _, err := readContent(t, dir, spec.TableSource{Format: c.format, Paths: []string{"*"}, Delimiter: ',',
			Nulls: []string{""}}, "x")
		e := mustFail(t, err, Malformed)
		if s := e.Diagnostics(); !strings.Contains(s, c.file+": "+c.says) || strings.Contains(s, "7319") {
			t.Errorf("%s, %s: %q, expected %q", c.format, c.file, s, c.says)
		}
	}
}

// Text that begins like another format is still text.
func TestTextThatBeginsAsAnotherFormat(t *testing.T) {
	for _, name := range []string{"PAR1", "FEA1", "ARROW1", "PK"} {
		dir := t.TempDir()
		writeFile(t, dir, "a.csv", []byte(name+",x\n1,a\n"))
		if rows, _, err := readContent(t, dir, csvSource, name, "x"); err != nil || len(rows) != 1 {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
	for cut := range 4 { // within a character of four bytes
		head := []byte(strings.Repeat("a", natureBytes-cut) + "🙂")[:natureBytes]
		if !looksLikeText(head) || looksLikeText(bytes.Repeat([]byte{0xFF}, 10)) {
			t.Errorf("cut after %d bytes", cut)
		}
	}
}

// A header that is one field with another delimiter in it gives an error that names that delimiter.
func TestOtherDelimiter(t *testing.T) {
	for _, c := range []struct {
		delimiter   rune
		text, wrong string
	}{
		{',', "id;region;x\n1;7319;3\n", `";"`},
		{',', "id\tregion\tx\n1\t7319\t3\n", `"\t"`},
		{',', "id|region|x;y\n1|7319|3\n", `"|"`},
		{';', "id,region,x\n1,7319,3\n", `","`},
		{',', "\"id\";\"region\";\"x\"\r\n1;7319;3\r\n", `";"`},
		{',', "region\n7319\n", ""},
		{',', "id;region,y\n7319,3\n", ""},
	} {
		dir := t.TempDir()
		writeFile(t, dir, "a.csv", []byte(c.text))
		s := csvSource
		s.Delimiter = c.delimiter
		_, _, err := readContent(t, dir, s, "x")
		if err == nil {
			t.Errorf("%q is read", c.text)
			continue
		}
		said := err.Error()
		if says := fmt.Sprintf("it is one field with %s in it: if that parts the columns, write delimiter: %[1]s "+
			"next to csv",
			c.wrong); strings.Contains(said, says) != (c.wrong != "") ||
			strings.Contains(said, "write delimiter") != (c.wrong != "") || strings.Contains(said, "region") ||
			strings.Contains(said, "7319") {
			t.Errorf("%q: %s", c.text, said)
		}
	}
	dir := t.TempDir() // a column may have such a name
	writeFile(t, dir, "a.csv", []byte("x;y\n1\n"))
	if rows, _, err := readContent(t, dir, csvSource, "x;y"); err != nil || len(rows) != 1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
