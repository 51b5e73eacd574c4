package spec

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/google/go-cmp/cmp"
)

// packed is joined with its register in Parquet and its areas compressed.
var packed = strings.NewReplacer("csv: register.csv", "parquet: register.parquet", "csv: areas.csv",
	"csv: areas.csv.gz").Replace(joined)

// unpacked is the register as read from a file with typed columns, with a column that is not read.
func unpacked() *files.Unpacked {
	return &files.Unpacked{
		Fields: []files.Field{{Name: "ent_id"}, {Name: "name"}, {Name: "size"}, {Name: "parts", Unread: true},
			{Name: "rate", Float: true, NoNumber: 2}},
		Rows: [][]string{{"1", "One", "micro", "", "0.5"}, {"07", "Seven, Sons", "small", "", ""},
			{"x", "X\r", "micro", "", "1"}},
	}
}

// parsePacked reads packed with its register modified by change.
func parsePacked(text string, change func(u *files.Unpacked)) (*Release, error) {
	u := unpacked()
	change(u)
	return readSource(Source{Name: "release.yaml", Text: text}, packedFiles{files.InMemory(nil, nil), u})
}

// packedFiles are the public tables of packed.
type packedFiles struct {
	files.Opener
	register *files.Unpacked
}

func (f packedFiles) Table(name string, format files.Format) (*files.Unpacked, error) {
	switch {
	case name == "register.parquet" && format == files.Parquet:
		return f.register, nil
	case name == "areas.csv.gz" && format == files.CSV:
		return &files.Unpacked{Text: areas}, nil
	}
	return nil, fs.ErrNotExist
}

func same(*files.Unpacked) {}

func TestPlansHoldTheSameOfPublicTablesInAnyFormat(t *testing.T) {
	plain, err := Parse(registered("", register).source(t))
	if err != nil {
		t.Fatal(err)
	}
	r, err := parsePacked(packed, same)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"register.parquet": plain.Source.Files["register.csv"],
		"areas.csv.gz": plain.Source.Files["areas.csv"]}
	if diff := cmp.Diff(want, r.Source.Files); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	again, err := Parse(r.Source)
	if err != nil {
		t.Fatalf("what a plan holds is refused: %v", err)
	}
	for _, one := range []*Release{r, again} {
		for _, j := range one.Tables[0].Joins {
			want := plain.Tables[0].Join(j.Name)
			if diff := cmp.Diff(want.columns, j.columns); diff != "" || j.Rows != want.Rows ||
				!maps.Equal(want.rowOfKey, j.rowOfKey) {
				t.Errorf("%s (-want +got):\n%s", j.Name, diff)
			}
		}
	}
	if diff := cmp.Diff(r.Source, again.Source); diff != "" {
		t.Errorf("the source of what is read back (-want +got):\n%s", diff)
	}
}

func TestProblemsOfUnpackedTablesAreRendered(t *testing.T) {
	cell := func(row, column int, text string) func(u *files.Unpacked) {
		return func(u *files.Unpacked) { u.Rows[row][column] = text }
	}
	from := func(old, new string) string { return strings.Replace(packed, old, new, 1) }
	var b strings.Builder
	for _, c := range []struct {
		name, text string
		change     func(u *files.Unpacked)
	}{
		{"repeated key", packed, cell(2, 0, "1")},
		{"key that is null", packed, cell(1, 0, "")},
		{"key that is a fraction", packed, func(u *files.Unpacked) { u.Fields[0].Float, u.Rows[2][0] = true, "0.1" }},
		{"key of a type that is not read", packed, func(u *files.Unpacked) { u.Fields[0].Unread = true }},
		{"key that is no number", packed, func(u *files.Unpacked) { u.Fields[0].NoNumber = 3 }},
		{"key that is not there", packed, func(u *files.Unpacked) { u.Fields[0].Name = "firm_id" }},
		{"looked up of a type that is not read", from("register.size", "register.parts"), same},
		{"looked up that is no number", from("register.size", "register.rate"), same},
		{"looked up with a carriage return", from("register.size", "register.name"), same},
		{"looked up that is not UTF-8", packed, cell(1, 2, "caf\xe9")},
		{"looked up in an expression", from("from: register.size", `from: "=recode(register.rate, {0.5: 'micro'})"`),
			same},
		{"no such column", from("register.size", "register.siez"), same},
		{"no rows", packed, func(u *files.Unpacked) { u.Rows = nil }},
		{"column twice", packed, func(u *files.Unpacked) { u.Fields[2].Name = "name" }},
		{"column without a name", packed, func(u *files.Unpacked) { u.Fields[3].Name = "" }},
		{"name that is not UTF-8", packed, func(u *files.Unpacked) { u.Fields[3].Name = "\xe9" }},
		{"no columns", packed, func(u *files.Unpacked) { u.Fields, u.Rows = nil, nil }},
		{"another file", from("register.parquet", "regsiter.parquet"), same},
		{"a delimiter of what has none",
			from("parquet: register.parquet,", `parquet: register.parquet, delimiter: ";",`),
			same},
		{"two formats", from("parquet: register.parquet,", "parquet: register.parquet, csv: register.csv,"), same},
	} {
		_, err := parsePacked(c.text, c.change)
		var problems *document.Errors
		if !errors.As(err, &problems) {
			t.Errorf("%s: no problem found", c.name)
			continue
		}
		b.WriteString("# " + c.name + "\n" + err.Error() + "\n\n")
	}
	compareGolden(t, filepath.Join("testdata", "packed.txt"), b.String())
}

// Columns that are not used may contain anything.
func TestColumnsThatAreNotUsedAreNotChecked(t *testing.T) {
	if _, err := parsePacked(packed, func(u *files.Unpacked) {
		u.Rows[0][1], u.Rows[1][4] = "\xff\r",
			"\r"
	}); err != nil {
		t.Error(err)
	}
}

// The extract of a table may begin with the magic bytes of other formats.
func TestColumnsMayBeCalledAsFormats(t *testing.T) {
	for _, name := range []string{"PAR1", "PAR1\x15", "ARROW1", "ARROW1\x00"} {
		text := strings.Replace(packed, "on: ent_id", "on: "+strconv.Quote(name), 1)
		r, err := parsePacked(text, func(u *files.Unpacked) { u.Fields[0].Name = name })
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		assertReadAgain(t, r)
	}
}

// FuzzUnpackedTable reads arbitrary rows, which are separated in a text. The extract in a plan reads back as the same
// table, and no key has two rows.
func FuzzUnpackedTable(f *testing.F) {
	f.Add("ent_id|size\n1|micro\n07|small\nx|micro", uint8(0))
	f.Add("size|ent_id\n|1\nmicro|\r", uint8(1))
	f.Add("ent_id|size\n0.5|\"mi\"\"cro\\.\n1|,", uint8(2))
	f.Add("ent_id|size|size\n1|\xff|", uint8(4))
	f.Fuzz(func(t *testing.T, text string, kinds uint8) {
		lines := strings.Split(text, "\n")
		u := &files.Unpacked{}
		for i, name := range strings.Split(lines[0], "|") {
			bit := kinds >> (i % 4 * 2)
			u.Fields = append(u.Fields, files.Field{Name: name, Float: bit&1 > 0, Unread: bit&3 == 3})
		}
		for _, line := range lines[1:] {
			fields := append(strings.Split(line, "|"), make([]string, len(u.Fields))...)
			u.Rows = append(u.Rows, slices.Clone(fields[:len(u.Fields)]))
		}
		r, err := parsePacked(packed, func(own *files.Unpacked) { *own = *u })
		if err != nil {
			return
		}
		assertReadAgain(t, r)
		if j := r.Tables[0].Join("register"); len(j.rowOfKey) != j.Rows || j.Rows != len(u.Rows) {
			t.Fatalf("%d keys of %d rows, which were %d", len(j.rowOfKey), j.Rows, len(u.Rows))
		}
	})
}
