package spec

import (
	"errors"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/google/go-cmp/cmp"
)

// kept is the base with invariants of every kind.
var kept = strings.Replace(base, "marginals:", `invariants:
  all:     {table: persons, by: [], values: 60}
  sexes:   {by: [sex], values: {female: 35, male: 25}}
  regions: {by: [region.state, sex], from: "${quarter}-totals.csv"}
  areas:   {by: [region], from: districts.csv}
marginals:`, 1)

const (
	stateTotals = "sex,note,region.state,count\nfemale,a,s1,20\nmale,,s1,10\nmale,\"b, c\",s2,15\nfemale,,s2,15\n"
	areaTotals  = "count,region\n7,01\n23,02\n30,1\n"
)

// figuresOf is a case of kept with one change in the file of its figures by region and sex.
func figuresOf(name, old, new string) errorCase {
	c := inKept(name, "marginals:", "marginals:")
	c.files["2026q1-totals.csv"] = strings.Replace(stateTotals, old, new, 1)
	return c
}

// inKept is a case of kept with one change.
func inKept(name, old, new string) errorCase {
	c := one(name, old, new)
	c.text, c.files = kept, map[string]string{"2026q1-totals.csv": stateTotals, "districts.csv": areaTotals,
		"regions.csv": regions}
	return c
}

var invariantCases = []errorCase{
	one("none", "marginals:", "invariants: {}\nmarginals:"),
	one("a list", "marginals:", "invariants: [{by: []}]\nmarginals:"),
	inKept("name with a blank", "  all:     {", "  all rows:     {"),
	inKept("key mistyped", "values: 60", "value: 60"),
	inKept("table mistyped", "{table: persons, by: []", "{table: person, by: []"),
	inKept("no attributes", "table: persons, by: [], values", "table: persons, values"),
	inKept("column mistyped", "{by: [sex], values", "{by: [sxe], values"),
	inKept("no finest level", "{by: [sex], values", "{by: [fare], values"),
	inKept("level mistyped", "by: [region.state, sex]", "by: [region.stat, sex]"),
	inKept("column twice", "by: [region.state, sex]", "by: [region.state, region]"),
	inKept("too many cells", "by: [region.state, sex]", "by: [region, sex, age, hour, day, at.bit]"),
	inKept("no figures", ", values: 60", ""),
	inKept("figures twice", ", values: 60", ", values: 60, from: districts.csv"),
	inKept("one figure of several", "values: {female: 35, male: 25}", "values: 60"),
	inKept("figures of nothing", "values: 60", "values: {female: 35, male: 25}"),
	inKept("figures of two attributes", "from: \"${quarter}-totals.csv\"", "values: {s1: 1, s2: 2}"),
	inKept("a list of figures", "values: {female: 35, male: 25}", "values: [35, 25]"),
	inKept("category mistyped", "female: 35", "femal: 35"),
	inKept("category without a figure", "female: 35, ", ""),
	inKept("category twice", "female: 35", "male: 35"),
	inKept("a negative figure", "values: 60", "values: -60"),
	inKept("a figure that is not whole", "values: 60", "values: 60.5"),
	inKept("a figure in quotes", "values: 60", "values: \"60\""),
	inKept("too large a figure", "values: 60", "values: 1099511627777"),
	inKept("too large together", "values: {female: 35, male: 25}", "values: {female: 1099511627776, male: 25}"),
	inKept("a parameter that is not declared", "${quarter}-totals", "${quatrer}-totals"),
	inKept("no such file", "from: districts.csv", "from: distrcits.csv"),
	inKept("more rows than count", "    unit: {id", "    expect: {rows: [10, 59]}\n    unit: {id"),
	{name: "fewer rows than count", text: drawn, params: map[string]string{},
		edits: []edit{{"    sample: {poisson: 10%}\n", "    expect: {rows: [100, 200]}\n"},
			{"marginals:", "invariants: {modes: {by: [mode], values: {walk: 30, ride: 60}}}\nmarginals:"}}},
	inKept("contradiction in all", "values: 60", "values: 61"),
	inKept("contradiction of categories", "female: 35, male: 25", "female: 34, male: 26"),
	figuresOf("contradiction of a level", "female,a,s1,20\nmale,,s1,10\nmale,\"b, c\",s2,15\nfemale,,s2,15",
		"female,a,s1,21\nmale,,s1,10\nmale,\"b, c\",s2,15\nfemale,,s2,14"),
	one("a part of more rows than the whole", "marginals:",
		"invariants: {halves: {by: [size.half], values: {a: 5, b: 5}}, others: {by: [size.other], values: {c: 4, d: 6}}}\n"+
			"marginals:").with("half: {a: [\"01\"], b: [\"1\", NO]}",
		"half: {a: [\"01\"], b: [\"1\", NO]}, other: {c: [\"01\", \"1\"], d: [NO]}"),
	figuresOf("empty file", stateTotals, ""),
	figuresOf("header alone", stateTotals, "sex,region.state,count\n"),
	figuresOf("no column of an attribute", "region.state", "region"),
	figuresOf("no column of figures", "count", "counts"),
	figuresOf("too many fields", "female,a,s1,20", "female,a,s1,20,1"),
	figuresOf("quotes that do not end", "\"b, c\"", "\"b, c"),
	figuresOf("cell missing", "female,,s2,15\n", ""),
	figuresOf("cells missing", "female,a,s1,20\nmale,,s1,10\n", ""),
	figuresOf("cell twice", "female,,s2,15\n", "female,,s2,15\nmale,,s1,10\n"),
	figuresOf("no category", "\"b, c\",s2", "\"b, c\",s3"),
	figuresOf("no category of the first", "male,\"b, c\"", "Male,\"b, c\""),
	figuresOf("category of nothing", "female,,s2", ",,s2"),
	figuresOf("negative", "s2,15", "s2,-15"),
	figuresOf("not whole", "s2,15", "s2,15.0"),
	figuresOf("with a sign", "s2,15", "s2,+15"),
	figuresOf("no figure", "s2,15", "s2,"),
	figuresOf("too large", "s2,15", "s2,1099511627777"),
	figuresOf("larger than any integer", "s2,15", "s2,99999999999999999999"),
	{name: "of weighted rows", text: numbers, params: map[string]string{},
		edits: []edit{{"marginals:\n  pay",
			"invariants: {jobs: {by: [sex], values: {female: 1, male: 2}}}\nmarginals:\n  pay"}}},
	inKept("of categories that nobody listed", "sex:    {values: [female, male], unknown: drop}",
		"sex:    {values: {discover: {max_length: 40}}}"),
}

// Rows beyond the bound on their unit need not be counted in the figures.
func TestFiguresMayBeOfFewerRowsThanCount(t *testing.T) {
	text := strings.NewReplacer("    sample: {poisson: 10%}\n", "    expect: {rows: [100, 200]}\n", "unit: row",
		"unit: {id: who, max_rows: 2}", "marginals:",
		"invariants: {modes: {by: [mode], values: {walk: 30, ride: 60}}}\nmarginals:").Replace(drawn)
	if _, err := Parse(Source{Text: text}); err != nil {
		t.Error(err)
	}
}

func keptSource(t *testing.T) Source {
	return inKept("", "marginals:", "marginals:").source(t)
}

// Figures are read in the order of the domains, whatever the order of the file.
func TestInvariantsAreRead(t *testing.T) {
	r, err := Parse(keptSource(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []Invariant{
		{Name: "all", Table: "persons", By: []Attribute{}, Counts: []int64{60}},
		{Name: "sexes", Table: "persons", By: []Attribute{{Column: "sex"}}, Counts: []int64{35, 25}},
		{Name: "regions", Table: "persons", By: []Attribute{{"region", "state"}, {Column: "sex"}},
			File:   "2026q1-totals.csv",
			Counts: []int64{20, 10, 15, 15}},
		{Name: "areas", Table: "persons", By: []Attribute{{Column: "region"}}, File: "districts.csv",
			Counts: []int64{7, 23, 30}},
	}
	if diff := cmp.Diff(want, r.Invariants); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings: %v", r.Warnings)
	}
	// The plan contains the columns of the figures, and reads the same figures from them.
	if got, want := r.Source.Files["2026q1-totals.csv"],
		"sex,region.state,count\nfemale,s1,20\nmale,s1,10\nmale,s2,15\nfemale,s2,15\n"; got != want {
		t.Errorf("the plan holds %q, want %q", got, want)
	}
	assertReadAgain(t, r)
}

// A header may name a level without its column.
func TestFiguresOfALevelMayBeHeadedByItsName(t *testing.T) {
	src := keptSource(t)
	src.Files["2026q1-totals.csv"] = strings.Replace(stateTotals, "region.state", "state", 1)
	r, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{20, 10, 15, 15}, r.Invariants[2].Counts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Two levels that do not nest agree only on the groups of categories that are unions of categories of both: only these
// can contradict each other.
func TestCommonMarginOfLevelsThatCross(t *testing.T) {
	text := `version: 1
release: x
privacy: {protects: trip, neighbours: replace}
budget: {rho: 1}
tables:
  trips:
    source: {csv: t.csv}
    unit: row
    columns: {place: {values: [a, b, c, d, e], levels: {left: {ab: [a, b], c: [c], de: [d, e]}, right: {a: [a], bc: [b, c], d: [d], e: [e]}}}}
invariants:
  left:  {by: [place.left], values: {ab: 5, c: 7, de: 9}}
  right: {by: [place.right], values: {a: A, bc: B, d: 4, e: 5}}
marginals: {m: {by: [place]}}
`
	for _, c := range []struct {
		a, b string
		want string
	}{
		{"3", "9", ""}, // a to c are 12 in both, whatever b is
		{"5", "7", ""},
		{"3", "8", "invariants left and right contradict each other: of place.left = ab the one has 12 rows, the other 11"},
	} {
		_, err := Parse(Source{Text: strings.NewReplacer("A", c.a, "B", c.b).Replace(text)})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("a: %s, bc: %s: got %v, want %q", c.a, c.b, err, c.want)
		}
	}
}

// A group that is contained in another has no more rows than that one, also if their levels cross, within each cell of
// the other common columns, and in either order of the invariants.
func TestGroupsWithinOthersHaveNoMoreRows(t *testing.T) {
	const text = `version: 1
release: x
privacy: {protects: trip, neighbours: replace}
budget: {rho: 1}
tables:
  trips:
    source: {csv: t.csv}
    unit: row
    columns: {d: {values: [a, b, c, e], levels: {urban: {u: [a, b], r: [c, e]}, kind: {k: [a], l: [b, c, e]}, other: {a: [a], bc: [b, c], e: [e]}}}, sex: {values: [f, m]}, z: {values: [p, q]}}
invariants:
`
	const urban, sexes, kinds = "  u: {by: [d.urban], values: {u: 20, r: 1}}\n",
		"  s: {by: [d.urban, sex], from: us.csv}\n", "  k: {by: [sex, d.kind, z], from: sk.csv}\n"
	for name, c := range map[string]struct{ invariants, want string }{
		"as many": {urban + "  k: {by: [d.kind], values: {k: 20, l: 1}}\n", ""},
		"more": {urban + "  k: {by: [d.kind], values: {k: 21, l: 0}}\n",
			"invariants u and k contradict each other: u has 20 rows of d.urban = u, and k has 21 of d.kind = k, " +
				"which lies within that"},
		"the first": {"  k: {by: [d.kind], values: {k: 3, l: 2}}\n  u: {by: [d.urban], values: {u: 1, r: 4}}\n",
			"invariants k and u contradict each other: k has 2 rows of d.kind = l, and u has 4 of d.urban = r, which " +
				"lies within that"},
		"the other": {"  o: {by: [d.other], values: {a: 3, bc: 1, e: 0}}\n  u: {by: [d.urban], values: {u: 2, r: 2}}\n",
			"invariants o and u contradict each other: u has 2 rows of d.urban = u, and o has 3 of d.other = a, " +
				"which lies within that"},
		// k has 4 rows and u 5, but of women k has 3 and u 2
		"beside another column": {sexes + kinds,
			"s has 2 rows of sex = f, d.urban = u, and k has 3 of sex = f, d.kind = k, which lies within that"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(Source{Name: "release.yaml", Text: text + c.invariants + "marginals: {m: {by: [d]}}\n",
				Files: map[string]string{
					"us.csv": "d.urban,sex,count\nu,f,2\nu,m,3\nr,f,1\nr,m,0\n",
					"sk.csv": "sex,d.kind,z,count\nf,k,p,2\nf,k,q,1\nf,l,p,0\nf,l,q,0\nm,k,p,0\nm,k,q,1\nm,l,p,1\nm,l,q,1\n",
				}})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// FuzzFigures reads an arbitrary file of figures: it is refused at a position in it, or every cell has one figure and
// the extract in a plan reads back as the same figures.
func FuzzFigures(f *testing.F) {
	f.Add(stateTotals)
	for _, c := range invariantCases {
		f.Add(c.files["2026q1-totals.csv"])
	}
	f.Add("region.state,sex,count\r\ns1,male,1\r\ns1,female,2\r\n\r\ns2,male,3\r\ns2,female,\"4\"")
	f.Fuzz(func(t *testing.T, text string) {
		src := Source{Name: "release.yaml", Text: strings.Replace(kept, "  areas:   {by: [region], from: "+
			"districts.csv}\n",
			"", 1), Params: map[string]string{"quarter": "2026q1"}, Files: map[string]string{"regions.csv": regions,
			"2026q1-totals.csv": text}}
		r, err := Parse(src)
		var problems *document.Errors
		if errors.As(err, &problems) {
			for _, p := range problems.Problems {
				if p.Line < 1 || p.Column < 1 || p.Message == "" || p.File == "2026q1-totals.csv" &&
					p.Line > strings.Count(text, "\n")+1 {
					t.Fatalf("a problem without place or words: %+v", p)
				}
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if i := r.Invariants[2]; len(i.Counts) != 4 || i.Total() != 60 {
			t.Fatalf("figures %v", i.Counts)
		}
		assertReadAgain(t, r)
	})
}
