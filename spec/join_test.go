package spec

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// joined is a release of a table that is joined to public tables by one column and by two.
const joined = `version: 1
release: firms
privacy: {protects: enterprise, neighbours: replace}
budget: {epsilon: 4}
tables:
  firms:
    source: {csv: firms.csv}
    unit: {id: ent_id, max_rows: 1}
    join:
      register: {csv: register.csv, on: ent_id, public: true}
      areas: {csv: areas.csv, on: [country, zip], public: true, delimiter: ";", nulls: ["", NA]}
    columns:
      size:   {from: register.size, values: [micro, small], unknown: drop, null: drop}
      staff:  {type: integer, range: {by: size, micro: [0, 9], small: [10, 49]}}
      area:   {from: areas.area, values: [north, south], null: drop}
      income: {from: areas.income, type: integer, range: [0, 100], step: 10, null: {as: 0}}
marginals:
  m: {by: [size, area], stats: [count, {sum: staff}, {mean: income}]}
`

const (
	register = "ent_id,name,size\n1,One,micro\n07,\"Seven, Sons\",small\nx,X,micro\n"
	areas    = "country;zip;area;income;note\nA;1;north;10;n\nA;11;south;NA;\nA1;1;north;30;\"a;b\"\n"
)

// against is a case of joined with one change to it.
func against(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.params, c.files = joined, map[string]string{},
		map[string]string{"register.csv": register, "areas.csv": areas}
	return c
}

// registered is a case of joined with another register.
func registered(name, text string) errorCase {
	c := against(name, "", "")
	c.edits, c.files = nil, map[string]string{"register.csv": text, "areas.csv": areas}
	return c
}

var joinCases = []errorCase{
	against("not public", "on: ent_id, public: true", "on: ent_id, public: false"),
	against("public is not said", "on: ent_id, public: true", "on: ent_id"),
	against("no key", "register.csv, on: ent_id", "register.csv"),
	against("a key of nothing", "on: ent_id, p", "on: [], p"),
	against("a key with a column twice", "[country, zip]", "[country, country]"),
	against("a key that is not there", "on: ent_id, p", "on: firm_id, p"),
	against("no file", "register.csv", "regsiter.csv"),
	against("parquet", "{csv: register.csv", "{parquet: register.parquet"),
	against("arrow", "{csv: register.csv", "{arrow: [a.arrow, b.arrow]"),
	against("several files", "csv: register.csv", "csv: [register.csv, more.csv]"),
	against("another delimiter", `delimiter: ";", `, ""),
	against("no such table", "from: register.size", "from: regsiter.size"),
	against("no such column", "from: register.size", "from: register.siez"),
	against("no such table where something is wrong with it", "register.csv, on: ent_id", "nowhere.csv, on: ent_id"),
	against("a category that is none", "[micro, small], unknown: drop", "[micro, small], unknown: {as: mirco}"),
	registered("repeated key", "ent_id,size\n1,micro\n2,small\n1,micro\n"),
	registered("key that is null", "ent_id,size\n1,micro\n,small\n"),
	registered("ragged row", "ent_id,size\n1,micro\n2\n"),
	registered("empty", ""),
	registered("only a header", "ent_id,size\n"),
	registered("column twice", "ent_id,size,size\n1,a,b\n"),
	registered("not UTF-8", "ent_id,size\n1,caf\xe9\n"),
	registered("gzip", "\x1f\x8b\x08\x00"),
	registered("zstandard", "\x28\xb5\x2f\xfd\x00"),
	registered("a Parquet file", "PAR1\x15\x00"),
	registered("an Arrow file", "ARROW1\x00\x00"),
	registered("carriage return before the end of a line", "ent_id,size\n1,micro\n2,\"sm\nall\r\r\nsize\"\n"),
	registered("carriage return in the key", "ent_id,size\n\"1\r2\",micro\n"),
	registered("carriage return in the header", "ent_id,size,\"no\r\r\nte\"\n1,micro,\n"),
	registered("byte order mark twice", "\ufeff\ufeffsize,ent_id\nmicro,1\n"),
	registered("quote in the middle", "ent_id,size\n1,mi\"cro\n"),
	{name: "joined to none",
		text: strings.Replace(strings.NewReplacer("from: areas.area", "from: area", "from: areas.income",
			"from: income").
			Replace(joined),
			"    join:\n      register: {csv: register.csv, on: ent_id, public: true}\n"+
				"      areas: {csv: areas.csv, on: [country, zip], public: true, delimiter: \";\", nulls: [\"\", NA]}\n", "", 1),
		params: map[string]string{}},
}

func TestJoinsFindRowsByTheirKeys(t *testing.T) {
	r, err := Parse(registered("", register).source(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message, "has a row for each enterprise") {
		t.Errorf("warnings %v", r.Warnings)
	}
	firms := r.Tables[0]
	for _, c := range []struct {
		join, column string
		key          []string
		want         string
	}{
		{"register", "size", []string{"1"}, "micro"}, {"register", "size", []string{"07"}, "small"},
		{"register", "size", []string{"7"}, "no row"},
		{"areas", "area", []string{"A", "1"}, "north"}, {"areas", "area", []string{"A", "11"}, "south"},
		{"areas", "area", []string{"A1", "1"}, "north"},
		{"areas", "income", []string{"A", "11"}, "null"}, {"areas", "income", []string{"A1", "1"}, "30"},
		{"areas", "area", []string{"A11", ""}, "no row"}, {"areas", "area", []string{"", "A1"}, "no row"},
	} {
		j := firms.Join(c.join)
		var key []byte
		for _, part := range c.key {
			key = j.AppendPart(key, []byte(part))
		}
		got, column := "no row", j.Column(c.column)
		if row := j.Find(key); row >= 0 {
			if got = "null"; column.Codes[row] >= 0 {
				got = column.Texts[column.Codes[row]]
			}
		}
		if got != c.want {
			t.Errorf("%s.%s at %q is %s, want %s", c.join, c.column, c.key, got, c.want)
		}
	}
	if diff := cmp.Diff([]string{"country", "zip"}, firms.Column("area").Inputs()); diff != "" {
		t.Errorf("what is read for area (-want +got):\n%s", diff)
	}
}

func TestPlansHoldOfPublicTablesWhatIsUsed(t *testing.T) {
	r, err := Parse(registered("", register).source(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"register.csv": "ent_id,size\n1,micro\n07,small\nx,micro\n",
		"areas.csv":    "country;zip;area;income\nA;1;north;10\nA;11;south;NA\nA1;1;north;30\n",
	}
	if diff := cmp.Diff(want, r.Source.Files); diff != "" {
		t.Fatalf("files (-want +got):\n%s", diff)
	}
	again, err := Parse(r.Source)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Source, again.Source); diff != "" {
		t.Errorf("the source of what is read back (-want +got):\n%s", diff)
	}
	for _, name := range []string{"size", "area", "income"} {
		was, is := r.Tables[0].Column(name), again.Tables[0].Column(name)
		j := was.Lookup
		if diff := cmp.Diff(r.Tables[0].Join(j.Join).Column(j.Column),
			again.Tables[0].Join(j.Join).Column(j.Column)); diff != "" || is == nil {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCodeBooksThatAreJoinedAreKeptWhole(t *testing.T) {
	src := against("", "values: [north, south]", "codebook: register.csv").source(t)
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Source.Files["register.csv"]; got != register {
		t.Errorf("got %q", got)
	}
}

func TestValuesOfPublicTablesThatNoCategoryHasAreWarnedOf(t *testing.T) {
	for policy, want := range map[string]string{
		", unknown: drop":          `register.size has "huge", "large", "small", …, which size does not have: rows with such a key are left out`,
		"":                         `register.size has "huge", "large", "small", …, which size does not have: a row with such a key stops the run`,
		", unknown: {as: unknown}": `register.size has "huge", "large", "small", …, which size does not have: rows with such a key count as its ` + "`unknown`" + ` says`,
	} {
		c := against("", "values: [micro, small], unknown: drop", "values: [micro, unknown]"+policy)
		c.edits = append(c.edits, edit{"{type: integer, range: {by: size, micro: [0, 9], small: [10, 49]}}",
			"{type: integer, range: [0, 9]}"})
		c.files["register.csv"] = "ent_id,size\n1,huge\n2,micro\n3,large\n4,huge\n5,small\n6,odd\n7,\n"
		r, err := Parse(c.source(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) != 2 || r.Warnings[1].Message != want || r.Warnings[1].Line != 13 {
			t.Errorf("%q: warnings %+v", policy, r.Warnings)
		}
	}
}

// FuzzPublicTable reads arbitrary public tables. The extract in a plan reads back as the same table, and no key has two
// rows.
func FuzzPublicTable(f *testing.F) {
	for _, c := range joinCases {
		f.Add(c.files["register.csv"], areas)
	}
	f.Add("ent_id,size\n\"a\r\r\nb\",\"x\r\ny\"\n", areas)
	f.Add("ent_id,size\n\"a\nb\",\"x\r\ny\"\n\\.,\n", "country;zip;area;income\n a;1;;\n")
	f.Fuzz(func(t *testing.T, first, second string) {
		src := Source{Text: joined, Files: map[string]string{"register.csv": first, "areas.csv": second}}
		checkFiles(t, src)
		r, err := Parse(src)
		if err != nil {
			return
		}
		assertReadAgain(t, r)
		for _, j := range r.Tables[0].Joins {
			rows := map[int32]bool{}
			for _, row := range j.rowOfKey {
				rows[row] = true
			}
			if len(rows) != j.Rows || len(j.rowOfKey) != j.Rows {
				t.Fatalf("%d keys of %d of %d rows", len(j.rowOfKey), len(rows), j.Rows)
			}
		}
	})
}
