package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// expecting plans the survey with rules of completeness.
func expecting(t testing.TB, expect, unit string, replacements ...string) *plan.Plan {
	t.Helper()
	return planOf(t, append([]string{"    unit: UNIT\n", "    unit: " + unit + "\n    expect: " + expect + "\n"},
		replacements...)...)
}

// failing are the rules that a folder does not meet, as ContractError tells them.
func failing(t testing.TB, p *plan.Plan, dir string) (*ContractError, []string) {
	t.Helper()
	err := errorOf(t, p, Files{Dir: dir})
	if err == nil {
		return nil, nil
	}
	var e *ContractError
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	var rules []string
	for _, b := range e.breaches() {
		if rule := strings.TrimSpace(b.Kind + " " + b.Column); !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return e, rules
}

// Every rule is checked, on the rows that count, and all that fail are named
// together, without a number, a code, a value or a file.
func TestExpectedRowsAndCodes(t *testing.T) {
	const header = "id,kind,age\n"
	byID, row := "{id: id, max_rows: 1}", "row"
	for name, c := range map[string]struct {
		expect, unit, rows string
		replacements       []string
		want               []string
	}{
		"met":              {"{rows: [3, 3], every: [kind, age.band]}", row, "1,a,1\n2,b,2\n3,c,9\n", nil, nil},
		"one row too few":  {"{rows: [3, 5]}", row, "1,a,1\n2,b,2\n", nil, []string{"expect rows"}},
		"the fewest":       {"{rows: [2, 5]}", row, "1,a,1\n2,b,2\n", nil, nil},
		"the most":         {"{rows: [0, 2]}", row, "1,a,1\n2,b,2\n", nil, nil},
		"one row too many": {"{rows: [0, 1]}", row, "1,a,1\n2,b,2\n", nil, []string{"expect rows"}},
		"no rows": {"{rows: [1, 2], every: [kind]}", row, "", nil,
			[]string{"expect rows", "expect every kind"}},
		"no rows, as expected": {"{rows: [0, 0]}", row, "", nil, nil},
		"a code is missing":    {"{every: [kind]}", row, "1,a,1\n2,b,2\n", nil, []string{"expect every kind"}},
		"a code of a level":    {"{every: [age.band]}", row, "1,a,1\n2,b,4\n", nil, []string{"expect every age.band"}},
		"all of a level":       {"{every: [age.band]}", row, "1,a,4\n2,b,5\n", nil, nil},
		"all rules": {"{rows: [9, 9], every: [age, kind, age.band]}", row, "1,a,1\n", nil,
			[]string{"expect rows", "expect every age", "expect every kind", "expect every age.band"}},
		"bounded rows count":   {"{rows: [3, 3], every: [kind]}", byID, "1,a,1\n1,b,2\n1,c,3\n", nil, nil},
		"dropped rows do not":  {"{rows: [2, 2]}", row, "1,a,99\n1,b,2\n1,c,3\n", []string{"UNKNOWN", "drop"}, nil},
		"nor do they of units": {"{rows: [2, 2]}", byID, "1,a,99\n1,b,2\n1,c,3\n", []string{"UNKNOWN", "drop"}, nil},
		"nor do their codes occur": {"{rows: [2, 2], every: [kind]}", row, "1,a,99\n1,b,2\n1,c,3\n",
			[]string{"UNKNOWN", "drop"}, []string{"expect every kind"}},
		"nor do those of units": {"{rows: [2, 2], every: [kind]}", byID, "1,a,99\n1,b,2\n1,c,3\n",
			[]string{"UNKNOWN", "drop"}, []string{"expect every kind"}},
		"nor rows outside where": {"{rows: [1, 1], every: [kind, age.band]}", "row\n    where: kind == 'a'",
			"1,a,1\n2,b,2\n3,c,9\n", nil, []string{"expect every kind", "expect every age.band"}},
		"no row stays": {"{rows: [0, 5]}", row, "1,a,99\n1,z,2\n", []string{"UNKNOWN", "drop"},
			[]string{"no row counts"}},
		"no unit stays": {"{rows: [0, 5]}", byID, "1,a,99\n1,z,2\n", []string{"UNKNOWN", "drop"},
			[]string{"no row counts"}},
		"no id": {"{rows: [0, 5]}", "{id: id, null: drop, max_rows: 1}", ",a,9\n,b,2\n", nil,
			[]string{"no row counts"}},
		"no number": {"{rows: [0, 5]}", row, "1,a,nine\n1,b,two\n", []string{"UNKNOWN", "drop"},
			[]string{"not a number age"}},
		"no number of units": {"{rows: [0, 5]}", byID, "1,a,nine\n1,b,two\n", []string{"UNKNOWN", "drop"},
			[]string{"not a number age"}},
		"no number, as a category": {"{rows: [0, 5]}", row, "1,a,nine\n1,b,two\n",
			[]string{"width: 5}}, unknown: UNKNOWN", "width: 5}}, unknown: {as: other}"}, []string{"not a number age"}},
		"one number":        {"{rows: [1, 1]}", row, "1,a,nine\n1,b,2\n", []string{"UNKNOWN", "drop"}, nil},
		"none inside where": {"{rows: [0, 0]}", "row\n    where: kind == 'z'", "1,a,1\n2,b,2\n", nil, nil},
		"a dropped value is no code": {"{every: [kind]}", row, "1,a,1\n1,b,2\n1,z,3\n", []string{"UNKNOWN", "drop"},
			[]string{"expect every kind"}},
		"a value counted as a code": {"{every: [kind]}", row, "1,a,1\n1,b,2\n1,z,3\n",
			[]string{"kind: {values: [a, b, c], unknown: UNKNOWN", "kind: {values: [a, b, c], unknown: {as: c}"}, nil},
		"an added category": {"{every: [age.band]}", row, "1,a,1\n1,b,7\n",
			[]string{"width: 5}}, unknown: UNKNOWN", "width: 5}}, unknown: {as: other}"}, nil},
		"not instead of another": {"{every: [age.band]}", row, "1,a,1\n1,b,99\n",
			[]string{"width: 5}}, unknown: UNKNOWN", "width: 5}}, unknown: {as: other}"},
			[]string{"expect every age.band"}},
		"values are named too": {"{rows: [9, 9], every: [age.band]}", row, "1,z,1\n", nil,
			[]string{"outside its domain kind", "expect rows", "expect every age.band"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := expecting(t, c.expect, c.unit, c.replacements...)
			e, rules := failing(t, p, folder(t, "Zanzibar.csv", header+c.rows))
			if !slices.Equal(rules, c.want) {
				t.Fatalf("rules %q, want %q", rules, c.want)
			}
			if e == nil {
				return
			}
			for _, rule := range c.want {
				if place := strings.Fields(rule)[len(strings.Fields(rule))-1]; place != "rows" && place != "counts" &&
					!strings.Contains(e.Error(), "persons."+place+":") {
					t.Errorf("%q is not named in %q", place, e.Error())
				}
			}
			for _, v := range []any{e, *e, fmt.Errorf("wrapped: %w", e), e.breaches(), e.breaches()[0]} {
				for _, s := range shown(v) {
					if strings.Contains(s, "Zanzibar") || strings.Contains(s, "5–9") || strings.Contains(s, " rows;") {
						t.Errorf("%T shows %s", v, s)
					}
				}
			}
		})
	}
}

// What is missing is for the operator's own file.
func TestMissingCodesAreDiagnosed(t *testing.T) {
	p := expecting(t, "{rows: [7, 9], every: [kind, age.band]}", "row")
	e, _ := failing(t, p, folder(t, "a.csv", "kind,age\na,1\nb,2\n"))
	if e == nil || e.Table != "persons" || e.Column != "" || e.Kind != kindRows {
		t.Fatalf("got %+v", e)
	}
	var b strings.Builder
	if err := e.WriteDiagnostics(&b); err != nil {
		t.Fatal(err)
	}
	out := planOf(t, "UNKNOWN", "drop", "UNIT", "row\n    expect: {rows: [7, 9]}")
	if e, _ := failing(t, out, folder(t, "a.csv", "kind,age\na,1\nz,2\nb,twelve\nb,99\n")); e == nil ||
		e.breaches()[0].Value != "1 rows of 4, 1 left out by kind, 2 left out by age; expected 7 to 9" {
		t.Errorf("got %+v", e.breaches())
	}
	for _, line := range []string{"persons\t\texpect rows\t\"\"\t0\t\"2 rows; expected 7 to 9\"\n",
		"persons\tkind\texpect every\t\"\"\t0\t\"c\"\n", "persons\tage.band\texpect every\t\"\"\t0\t\"5–9\"\n"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
}

// The message says that rows were left out only if the spec has a rule that can leave rows out.
func TestRowsAreLeftOutOnlyByARule(t *testing.T) {
	const after = "after rows were left out"
	dir := folder(t, "a.csv", "id,kind,age\n1,a,1\n")
	for _, c := range []struct {
		unit         string
		replacements []string
		leaves       bool
	}{{"row", nil, false}, {"{id: id, max_rows: 1}", nil, false}, {"{id: id, null: drop, max_rows: 1}", nil, true},
		{"row", []string{"UNKNOWN", "drop"}, true}} {
		e, _ := failing(t, expecting(t, "{rows: [2, 3]}", c.unit, c.replacements...), dir)
		if e == nil || strings.Contains(e.Error(), after) != c.leaves ||
			!strings.Contains(e.Error(), "the number of rows is outside `expect: {rows: …}`; complete the files") {
			t.Errorf("%s %v: %v", c.unit, c.replacements, e)
		}
	}
}

// A column that is only expected to be complete is read, and keeps its contract,
// but leaves no row out: what is counted is what it would be without the rules.
func TestExpectingChangesNoCount(t *testing.T) {
	home := func(unknown string) string {
		return "      home: {values: [x, y], unknown: " + unknown + ", null: drop}\nmarginals:"
	}
	dir := folder(t, "a.csv", "id,kind,age,home\n1,a,1,x\n2,b,2,zz\n3,c,3,y\n3,c,4,\n")
	for _, unit := range []string{"row", "{id: id, max_rows: 1}"} {
		plain := planOf(t, "UNIT", unit, "marginals:", home("drop"))
		p := expecting(t, "{rows: [4, 4], every: [home, kind]}", unit, "marginals:", home("drop"))
		var got, want []int64
		for of, into := range map[*plan.Plan]*[]int64{plain: &want, p: &got} {
			e := countBy(t, of, Files{Dir: dir}, streams(plain, 1))
			*into = countsOf(t, e, "all")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v; without rules %v", unit, got, want)
		}
	}
	p := expecting(t, "{every: [home]}", "row", "marginals:", home("error"))
	if _, rules := failing(t, p, dir); !slices.Equal(rules, []string{"outside its domain home"}) {
		t.Errorf("rules %q", rules)
	}
}

// Whatever the rows, files and workers, the rules that fail are those that a
// count of the rows by hand finds.
func TestExpectationsAgainstCounting(t *testing.T) {
	kinds, bands := []string{"a", "b", "c"}, []string{"0–4", "5–9"}
	rapid.Check(t, func(r *rapid.T) {
		dir, seen, rows := []string{}, map[string]bool{}, 0
		for i := range rapid.IntRange(1, 3).Draw(r, "files") {
			var b strings.Builder
			b.WriteString("kind,age\n")
			for range rapid.IntRange(0, 5).Draw(r, "rows") {
				kind, age := rapid.SampledFrom(kinds).Draw(r, "kind"), rapid.IntRange(0, 9).Draw(r, "age")
				fmt.Fprintf(&b, "%s,%d\n", kind, age)
				seen[kind], seen[bands[age/5]] = true, true
				rows++
			}
			dir = append(dir, fmt.Sprintf("%d.csv", i), b.String())
		}
		least := rapid.IntRange(0, 9).Draw(r, "least")
		most := rapid.IntRange(least, 12).Draw(r, "most")
		var want []string
		if rows < least || rows > most {
			want = append(want, "expect rows")
		}
		if !seen["a"] || !seen["b"] || !seen["c"] {
			want = append(want, "expect every kind")
		}
		if !seen[bands[0]] || !seen[bands[1]] {
			want = append(want, "expect every age.band")
		}
		p := expecting(t, fmt.Sprintf("{rows: [%d, %d], every: [kind, age.band]}", least, most), "row", "rho: 1/2",
			"epsilon: 1")
		if _, rules := failing(t, p, folder(t, dir...)); !slices.Equal(rules, want) {
			r.Fatalf("rules %q, want %q", rules, want)
		}
	})
}

// Goroutines that note codes at once lose none.
func TestWatchesAreShared(t *testing.T) {
	p := planOf(t)
	d := p.Release().Tables[0].Column("age").Domain
	level, _ := d.Level("")
	w := newWatch(spec.Attribute{Column: "age"}, 0, d, level)
	err := parallel.Do(context.Background(), 8, 1000, func(i int) error {
		w.noteCodes(tabulate.Codes{U32: []uint32{uint32(i % 9), encoding.Dropped, encoding.Breached, 9}}, 4,
			[]uint64{8})
		return nil
	})
	if err != nil || w.left.Load() != 1 {
		t.Errorf("%d codes are left, %v", w.left.Load(), err)
	}
	w.noteCodes(tabulate.Codes{U8: []uint8{255, 9}}, 2, nil)
	if w.left.Load() != 0 {
		t.Errorf("%d codes are left", w.left.Load())
	}
}

// Noting codes takes a few nanoseconds a row where one never occurs, so that
// every row is looked at, and nothing once all have: reading a row takes a
// hundred or more.
func BenchmarkWatch(b *testing.B) {
	d := planOf(b).Release().Tables[0].Column("age").Domain
	codes := make([]uint8, 1<<16)
	for name, kinds := range map[string]int{"met": 10, "missing": 9} {
		for i := range codes {
			codes[i] = uint8(i % kinds)
		}
		b.Run(name, func(b *testing.B) {
			level, _ := d.Level("")
			w := newWatch(spec.Attribute{Column: "age"}, 0, d, level)
			for b.Loop() {
				w.noteCodes(tabulate.Codes{U8: codes}, len(codes), nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(codes)), "ns/row")
		})
	}
}
