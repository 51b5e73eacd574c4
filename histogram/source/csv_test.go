package source

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/klauspost/compress/zstd"
)

var csvSource = spec.TableSource{Format: files.CSV, Paths: []string{"*.csv*"}, Delimiter: ',', Nulls: []string{""}}

func gzipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.Bytes()
}

func zstandard(t testing.TB, s string) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll([]byte(s), nil)
}

func TestCSV(t *testing.T) {
	nulls := csvSource
	nulls.Nulls = []string{"NA", "-"}
	semicolon := csvSource
	semicolon.Delimiter = ';'
	for name, c := range map[string]struct {
		source spec.TableSource
		file   string
		bytes  []byte
		want   []string // of column x
	}{
		"plain": {csvSource, "a.csv", []byte("y,x\n1,a\n2,\n3,\"b\nc\"\n4,\"\"\"\"\n"),
			[]string{"a", null, "b\nc", `"`}},
		"no last end": {csvSource, "a.csv", []byte("x,y\na,1\nb,2"), []string{"a", "b"}},
		"crlf":        {csvSource, "a.csv", []byte("x,y\r\na,1\r\nb,2\r\n"), []string{"a", "b"}},
		"mark":        {csvSource, "a.csv", []byte("\xEF\xBB\xBFx,y\na,1\n"), []string{"a"}},
		"mark quoted": {csvSource, "a.csv", []byte("\xEF\xBB\xBF\"x\",y\na,1\n"), []string{"a"}},
		"quoted null": {csvSource, "a.csv", []byte("x,y\n\"\",1\n,2\n"), []string{null, null}},
		"nulls":       {nulls, "a.csv", []byte("x,y\nNA,1\n,2\n-,3\n"), []string{null, "", null}},
		"semicolon":   {semicolon, "a.csv", []byte("x;y\na,b;2\n"), []string{"a,b"}},
		"gzip":        {csvSource, "a.csv.gz", gzipped("x,y\na,1\n"), []string{"a"}},
		"two gzips":   {csvSource, "a.csv.GZ", append(gzipped("x,y\na,1\n"), gzipped("b,2\n")...), []string{"a", "b"}},
		"zstd":        {csvSource, "a.csv.zst", zstandard(t, "x,y\na,1\n"), []string{"a"}},
		"single":      {csvSource, "a.csv", []byte("x\na\n\"\"\n\"b\n\"\nc"), []string{"a", null, "b\n", "c"}},
		"header only": {csvSource, "a.csv", []byte("x,y\n"), []string{}},
		"short":       {csvSource, "a.csv", []byte("x\n"), []string{}},
	} {
		dir := t.TempDir()
		writeFile(t, dir, c.file, c.bytes)
		rows, _, err := readContent(t, dir, c.source, "x")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := columnOf(rows, 0); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestCSVRefusals(t *testing.T) {
	const canary = "Käthe7319"
	for name, c := range map[string]struct {
		file   string
		bytes  []byte
		kind   ErrorKind
		detail string
	}{
		"empty":         {"a.csv", nil, Malformed, ""},
		"ragged":        {"a.csv", []byte("x,y\na,1\n" + canary + "\n"), Malformed, "line 3"},
		"long":          {"a.csv", []byte("x,y\na,1\n1,2," + canary + "\n"), Malformed, "line 3"},
		"bare quote":    {"a.csv", []byte("x,y\na," + canary + "\"b\n"), Malformed, "line 2"},
		"open quote":    {"a.csv", []byte("x,y\na,\"" + canary), Malformed, "line"},
		"not utf-8":     {"a.csv", []byte("x,y\na,1\n" + canary + "\xFF,2\n"), Malformed, "line 3"},
		"header utf-8":  {"a.csv", []byte("x,\xFF" + canary + "\na,1\n"), Malformed, "line 1"},
		"utf-16":        {"a.csv", []byte("\xFF\xFEx\x00"), Malformed, ""},
		"old mac":       {"a.csv", []byte("x,y\ra,1\r" + canary + ",2"), Malformed, ""},
		"missing":       {"a.csv", []byte("xs,yyyy\n"), Missing, ""},
		"twice":         {"a.csv", []byte("x,x\n"), Duplicate, ""},
		"blank":         {"a.csv", []byte("x\na\n\nb\n"), Malformed, "line 3"},
		"blank at end":  {"a.csv", []byte("x\na\n\n"), Malformed, "line 3"},
		"blank only":    {"a.csv", []byte("x\n\n"), Malformed, "line 2"},
		"cut gzip":      {"a.csv.gz", gzipped("x,y\n" + strings.Repeat(canary+",1\n", 9))[:40], Malformed, ""},
		"no gzip":       {"a.csv.gz", []byte("x,y\n" + canary + ",1\n"), Malformed, ""},
		"cut zstd":      {"a.csv.zst", zstandard(t, "x,y\n"+strings.Repeat(canary+",1\n", 9))[:30], Malformed, ""},
		"flipped gzip":  {"a.csv.gz", flipLast(gzipped("x,y\n" + canary + ",1\n")), Malformed, ""},
		"folder":        {"a.csv/b", nil, Missing, ""},
		"no such files": {"other", nil, Missing, ""},
	} {
		dir := t.TempDir()
		if folder, inner, ok := strings.Cut(c.file, "/"); ok {
			mkdir(t, dir, folder)
			writeFile(t, dir, folder+"/"+inner, nil)
		} else {
			writeFile(t, dir, c.file, c.bytes)
		}
		_, _, err := readContent(t, dir, csvSource, "x")
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		e := mustFail(t, err, c.kind)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			if s := fmt.Sprintf(verb, e); strings.Contains(s, "7319") || strings.Contains(s, "line 3") {
				t.Errorf("%s: %s prints %s", name, verb, s)
			}
		}
		if !strings.Contains(e.Diagnostics(), c.detail) {
			t.Errorf("%s: the diagnostics %q lack %q", name, e.Diagnostics(), c.detail)
		}
	}
}

func flipLast(b []byte) []byte {
	b[len(b)-6] ^= 1
	return b
}

// The nearest name would help, but if a header was left out that name is somebody's value.
func TestMissingColumnShowsNoneOfTheFirstLine(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.csv", []byte("person,regoin,age\n"))
	_, _, err := readContent(t, dir, csvSource, "region")
	e := mustFail(t, err, Missing)
	if strings.Contains(e.Error(), "regoin") || !strings.Contains(e.Error(), "a.csv") {
		t.Error(e)
	}
	if !strings.Contains(e.Error(), "one is spelled nearly so") {
		t.Error(e)
	}
	if !strings.Contains(e.Diagnostics(), `its first line has "person", "regoin", "age"`) {
		t.Error(e.Diagnostics())
	}
}

// A file may have more rows than a record.
func TestCSVManyRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("x\n")
	for i := range 2*MaxRows + 1 {
		fmt.Fprintln(&b, i)
	}
	dir := t.TempDir()
	writeFile(t, dir, "a.csv", []byte(b.String()))
	rows, _, err := readContent(t, dir, csvSource, "x")
	if err != nil || len(rows) != 2*MaxRows+1 || rows[2*MaxRows][0] != fmt.Sprint(2*MaxRows) {
		t.Error(len(rows), err)
	}
}
