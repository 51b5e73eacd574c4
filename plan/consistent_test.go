package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec"
)

// fittedText is a spec of a table with columns of several levels, whose counts add up.
func fittedText(budget, rest string) string {
	return "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\nbudget: " + budget + "\n" +
		"tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 2}, weight: {from: w, range: [0, 9], step: 1}, columns: {" +
		"a: {type: integer, range: [0, 11], levels: {half: {width: 6}, third: {width: 4}, sixth: {width: 2}}}, " +
		"b: {values: [x, y, z]}, c: {values: [p, q]}, d: {values: [k, l]}, e: {values: [k, l, m]}, f: {values: [u, v]}}}}\n" + rest + "publish: {integers: consistent}\n"
}

// fitted plans tables by these attributes, and is in which order they are fitted: each with what stands before it.
func fitted(t *testing.T, rest string, by ...string) (*Plan, []string, error) {
	t.Helper()
	marginals := "marginals:\n"
	for i, m := range by {
		marginals += fmt.Sprintf("  m%d: {by: [%s], weight: 1}\n", i, m)
	}
	text := strings.Replace(fittedText("{rho: 1}", rest+marginals), ", weight: {from: w, range: [0, 9], step: 1}", "", 1)
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	tables, err := expand(r)
	if err != nil {
		return nil, nil, err
	}
	p := For(r) // without noise, which no order depends on
	for _, t := range tables {
		p.Tables = append(p.Tables, newTable(r, t))
	}
	if p.Consistent, err = p.consistencies(tables); err != nil {
		return nil, nil, err
	}
	f, err := p.Fitting(p.Consistent[0])
	if err != nil {
		return p, nil, err
	}
	name := func(m Margin) string {
		var names []string
		for i, level := range m {
			if level > 0 {
				names = append(names, strings.TrimSuffix(f.Chains[i].Column+"."+f.Chains[i].names[level-1], "."))
			}
		}
		return strings.Join(names, "×")
	}
	var steps []string
	for _, s := range f.Steps {
		var fixed []string
		for _, m := range s.Fixed {
			fixed = append(fixed, name(m.Margin))
		}
		steps = append(steps, name(s.Margin)+" on "+strings.Join(fixed, ", "))
	}
	return p, steps, nil
}

// TestFittingOrder: single columns first, level by level, tables with impossible cells before them; then tables of more
// attributes, on all that they share with those before. What lies within a table is none of its own.
func TestFittingOrder(t *testing.T) {
	for name, c := range map[string]struct {
		rest string
		by   []string
		want []string
	}{
		"pairs":                                  {"", []string{"b, c", "c, d", "d, b"}, []string{" on ", "b on ", "c on ", "d on ", "b×c on b, c", "c×d on c, d", "b×d on b, d"}},
		"levels":                                 {"", []string{"a.third, b", "a, b", "a.sixth"}, []string{" on ", "a.third on ", "a.sixth on a.third", "a on a.sixth", "b on ", "a.third×b on a.third, b", "a×b on a, a.third×b"}},
		"levels apart":                           {"", []string{"a.half, b", "a.third, b"}, []string{" on ", "a.half on ", "a.third on ", "b on ", "a.half×b on a.half, b", "a.third×b on a.third, b"}},
		"a tree":                                 {"", []string{"b, c", "b, c, d", "d, e, f", "e, a"}, []string{" on ", "b on ", "c on ", "d on ", "e on ", "f on ", "a on ", "b×c×d on b, c, d", "d×e×f on d, e, f", "e×a on e, a"}},
		"three of which two at a time share two": {"", []string{"b, c, d", "c, d, e", "b, c, e"}, []string{" on ", "b on ", "c on ", "d on ", "e on ", "b×c×d on b, c, d", "c×d×e on c×d, e", "b×c×e on b×c, c×e"}},
		"a circle of single columns":             {"", []string{"b, c, d", "d, e, f", "f, a, b"}, []string{" on ", "b on ", "c on ", "d on ", "e on ", "f on ", "a on ", "b×c×d on b, c, d", "d×e×f on d, e, f", "b×f×a on b, f, a"}},
		"a pair between":                         {"", []string{"b, c, d", "c, d, e"}, []string{" on ", "b on ", "c on ", "d on ", "e on ", "b×c×d on b, c, d", "c×d×e on c×d, e"}},
		"impossible":                             {"impossible: [{where: {b: x, c: p}}]\n", []string{"b, c", "c, d", "a, b, c"}, []string{" on ", "b×c×a on ", "d on ", "c×d on c, d"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, steps, err := fitted(t, c.rest, c.by...)
			if err != nil {
				t.Fatal(err)
			}
			if name == "levels apart" != (p.Consistent[0].Apart != nil) || name == "levels apart" && p.Consistent[0].Apart[0] != "a.half, apart from a.third" {
				t.Errorf("levels apart: %q", p.Consistent[0].Apart)
			}
			if !slices.Equal(steps, c.want) {
				t.Errorf("%q, expected %q", steps, c.want)
			}
		})
	}
}

// TestFittingRefusals: what no order keeps, and what nothing can be, is refused where it stands.
func TestFittingRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		rest string
		by   []string
		want []string
	}{
		"a circle": {"", []string{"b, c, d", "c, d, e", "b, c, e", "b, d, e"}, []string{"release.yaml", "m", "crosses others in a circle", "synthetic"}},
		"a circle with impossible cells": {"impossible: [{where: {b: x, c: p}}, {where: {c: p, d: k}}, {where: {d: k, b: x}}]\n", []string{"b, c", "c, d", "d, b"},
			[]string{"has impossible cells, and so have others with which it hangs together in a circle"}},
		"nothing is left": {"impossible: [{where: {b: [x, y], c: p}}, {where: {b: z, c: q}}, {where: {c: q, d: k}}, {where: {c: q, d: l}}, {where: {b: z, e: [k, l, m]}}]\n", []string{"b, c", "c, d", "b, e"},
			[]string{"leaves no cell of table"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, steps, err := fitted(t, c.rest, c.by...)
			if err == nil {
				t.Fatalf("%q of %d tables", steps, len(p.Tables))
			}
			for _, says := range c.want {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
		})
	}
}

// TestConsistencySaysWhatIsLeft: each kind of table whose counts stay as they are has its reason in plan, page and facts, and a
// plan that says otherwise is none.
func TestConsistencySaysWhatIsLeft(t *testing.T) {
	text := strings.Replace(fittedText("{rho: 1}", "marginals: {m: {by: [b, c]}, n: {by: [b], per_unit: {groups: 1}}, above: {by: [b, d], cells: {above: 9}}, most: {by: [e, b], top: 2}, up: {by: [a.third], cumulative: [a.third]}, units: {by: [b], stats: [units]}}\n"), ", weight: {from: w, range: [0, 9], step: 1}", "", 1)
	p, err := planOfText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Consistent; len(c) != 1 || c[0].Way != Fitted || !slices.Equal(c[0].Tables, []string{"m"}) || len(c[0].Left) != 5 {
		t.Fatalf("%+v", c)
	}
	var page strings.Builder
	if err := p.Explain(&page); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"Counts that add up", "Of t 1 table: counts are whole", "n, as it counts other rows", "above, most, as it does not show all cells", "up, as it counts up", "units, as it counts each unit once"} {
		if !strings.Contains(page.String(), says) {
			t.Errorf("the page does not say %q:\n%s", says, page.String())
		}
	}
	said := map[string]string{}
	for _, f := range p.facts() {
		if f.what == "published counts" {
			said[f.subject] = f.value
		}
	}
	if len(said) != 6 || !strings.Contains(said["m"], "add up") || !strings.Contains(said["n"], "other rows") {
		t.Errorf("facts %v", said)
	}
	for name, change := range map[string]func(*Plan){
		"none":          func(p *Plan) { p.Consistent = nil },
		"another way":   func(p *Plan) { p.Consistent[0].Way = Tabulated },
		"another table": func(p *Plan) { p.Consistent[0].Tables = append(p.Consistent[0].Tables, "n") },
	} {
		other, err := Read(p.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		change(other)
		if _, err := Read(other.Bytes()); err == nil || !strings.Contains(err.Error(), "add up") {
			t.Errorf("%s: %v", name, err)
		}
	}
	weighted := fittedText("{rho: 1}", "marginals: {m: {by: [b, c]}}\n")
	if _, err := planOfText(t, weighted); err == nil || !strings.Contains(err.Error(), "no table of this release has counts that could be made to add up") || !strings.Contains(err.Error(), "publish") {
		t.Errorf("weights alone: %v", err)
	}
}
