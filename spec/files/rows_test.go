package files

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Lines and rows without content are counted before memory is allocated for them: a small compressed file can contain
// any number.
func TestTextsOfNothingAreRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"lines", strings.Repeat("\n", MaxRows+2), "16777218 lines"},
		{"a header of delimiters", strings.Repeat("\"\n\",", maxDelimiters+5000),
			"a row with more than 1048576 delimiters"},
		{"a row of delimiters", "ent_id,size\n" + strings.Repeat("\"\n\",", maxDelimiters+5000),
			"a row with more than 1048576 delimiters"},
		{"a long line", "ent_id,size\n1," + strings.Repeat("x", mostLine), "a line of more than 1 MiB"},
	} {
		p := &Table{Description: "public table", RowNoun: "rows", Comma: ','}
		problem := p.Read(&Unpacked{Text: c.text})
		if problem == nil || problem.Message != c.want || len(problem.Snippet) > 100 {
			t.Errorf("%s: %v, want %s", c.name, problem, c.want)
		}
	}
	wide := "size,ent_id\n" + strings.Repeat("\""+strings.Repeat(",", maxDelimiters/3)+"\",1\n", 4)
	for most, want := range map[int]bool{9: false, 10: true} {
		b := &Table{Description: "public table", RowNoun: "rows", Comma: ','}
		if problem := b.readRows(wide, most); (problem == nil) != want || want && len(b.Rows) != 4 {
			t.Errorf("5 rows of 2 fields, of at most %d: %v", most, problem)
		}
	}
}

// FuzzExtract reads arbitrary texts. An extract of a text reads as the extracted columns, and is its own extract.
func FuzzExtract(f *testing.F) {
	f.Add("ent_id,size\n1,micro\n07,small\n", "country;zip;area;income\nDE;01;a;7\n")
	f.Add("ent_id,size\n\"a\r\r\nb\",\"x\r\ny\"\n", "country;zip;area\n a;1;\n")
	f.Add("ent_id,size\n\"a\nb\",\"x\r\ny\"\n\\.,\n", "country;zip;area;income\n a;1;;\n")
	f.Add("ent_id\n\"\"\n", "\ufeffcountry;zip\n\";\";\"\"\"\"\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		checkExtract(t, first, []string{"ent_id"}, ',')
		checkExtract(t, second, []string{"country", "zip"}, ';')
	})
}

// checkExtract fails unless the extracts of a text that reads as a public table, of some of its columns and of all,
// have the same rows and are their own extracts.
func checkExtract(t *testing.T, text string, some []string, comma rune) {
	t.Helper()
	table := func() *Table {
		return &Table{File: "public.csv", Description: "public table", RowNoun: "rows", Comma: comma}
	}
	p := table()
	if p.Read(&Unpacked{Text: text}) != nil {
		return
	}
	for _, name := range some { // as for keys
		at := slices.Index(p.Header, name)
		if at < 0 || slices.ContainsFunc(p.Rows, func(fields []string) bool { return fields[at] == "" }) {
			return
		}
	}
	for _, names := range [][]string{some, p.Header} {
		used := map[string]bool{}
		for _, name := range names {
			used[name] = true
		}
		extract, again := p.extractColumns(used), table()
		if problem := again.Read(&Unpacked{Text: extract}); problem != nil {
			t.Fatalf("the extract %q is refused: %+v", extract, problem)
		}
		for i, fields := range p.Rows {
			var kept []string
			for at, name := range p.Header {
				if used[name] {
					kept = append(kept, fields[at])
				}
			}
			if diff := cmp.Diff(kept, again.Rows[i]); diff != "" {
				t.Fatalf("row %d of the extract (-want +got):\n%s", i, diff)
			}
		}
		if diff := cmp.Diff(extract, again.extractColumns(used)); diff != "" || len(again.Rows) != len(p.Rows) {
			t.Fatalf("the extract of the extract (-want +got):\n%s", diff)
		}
	}
}

func TestKeysInCellsAreRefused(t *testing.T) {
	const key = "-----BEGIN PRIVATE KEY-----"
	for _, u := range []*Unpacked{
		{Text: key},
		{Fields: []Field{{Name: key}}, Rows: [][]string{{"1"}}},
		{Fields: []Field{{Name: "k"}}, Rows: [][]string{{"1"}, {key}}},
	} {
		if err := u.checkKeys(); err == nil {
			t.Errorf("a key is passed over in %+v", u)
		}
	}
	if err := (&Unpacked{Fields: []Field{{Name: "k"}}, Rows: [][]string{{"PRIVATE KEY"}}}).checkKeys(); err != nil {
		t.Errorf("words about keys: %v", err)
	}
}
