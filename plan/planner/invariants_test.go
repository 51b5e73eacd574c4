package planner_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/internal/plantest"
	"github.com/dprelease/dprelease/plan/template"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/language"
)

// What invariants decide comes first, and the rest keeps to it: at levels that a table does not show, along levels that
// do not lie within each other, and before tables with impossible cells.
func TestFittingOrderWithInvariants(t *testing.T) {
	const masked = "impossible: [{where: {b: x, c: p}}]\n"
	for name, c := range map[string]struct {
		rest string
		by   []string
		want []string
	}{
		"the total": {"{i: {by: [], values: 9}}", []string{"b, c"},
			[]string{" on ", "b on ", "c on ", "b×c on b, c"}},
		"a column": {"{i: {by: [b], values: {x: 1, y: 2, z: 3}}}", []string{"b, c"},
			[]string{" on ", "b on ", "c on ", "b×c on b, c"}},
		"a coarser level": {"{i: {by: [a.half], values: {0–5: 1, 6–11: 2}}}", []string{"a.sixth, b"},
			[]string{" on ", "a.half on ", "a.sixth on a.half", "b on ", "a.sixth×b on a.sixth, b"}},
		"a finer level": {"{i: {by: [a.sixth], values: {0–1: 1, 2–3: 2, 4–5: 0, 6–7: 0, 8–9: 0, 10–11: 7}}}",
			[]string{"a.half, b", "a.third, c"}, []string{" on ", "a.sixth on ", "a.third on ", "b on ", "c on ",
				"a.half×b on a.half, b", "a.third×c on a.third, c"}},
		"with what cannot be": {masked + "invariants: {i: {by: [b], values: {x: 1, y: 2, z: 3}}}",
			[]string{"b, c", "c, d"}, []string{" on ", "b on ", "b×c on b", "d on ", "c×d on c, d"}},
		"two, put together": {masked +
			"invariants: {i: {by: [b], values: {x: 1, y: 2, z: 3}}, j: {by: [d], values: {k: 5, l: 1}}}",
			[]string{"b, c, d"},
			[]string{" on ", "b on ", "d on ", "b×d on b, d", "b×c×d on b×d"}},
		"what cannot be, of no rows": {
			"impossible: [{where: {b: x, d: k}}]\ninvariants: {i: {by: [b], values: {x: 0, y: 2, z: 4}}, j: {by: " +
				"[d], values: {k: 5, l: 1}}}", []string{"b, c, d"}, []string{" on ", "b on ", "d on ", "b×d on b, d",
				"b×c×d on b×d"}},
	} {
		t.Run(name, func(t *testing.T) {
			rest := c.rest + "\n"
			if strings.HasPrefix(rest, "{") {
				rest = "invariants: " + rest
			}
			_, steps, err := plantest.Fitted(t, rest, c.by...)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(steps, c.want) {
				t.Errorf("%q, expected %q", steps, c.want)
			}
		})
	}
}

// Figures that cannot be, together with what the spec says cannot be or with microdata, are refused where they stand.
func TestInvariantRefusals(t *testing.T) {
	const impossible = "impossible: [{where: {b: x, c: p}}, {where: {b: x, c: q, d: k}}]\n"
	plain := func(rest, marginals string) string {
		return strings.Replace(plantest.FittedText("{rho: 1, split: {m: 1/2, t: 1/2}}", rest+marginals),
			", weight: {from: w, range: [0, 9], step: 1}", "", 1)
	}
	for name, c := range map[string]struct {
		rest, marginals string
		want            []string
	}{
		"an impossible cell": {impossible + "invariants: {i: {by: [b, c, d], from: i.csv}}\n",
			"marginals: {x: {by: [b], budget: m}, y: {by: [c], budget: t}}\n",
			[]string{"invariants.i",
				"invariant i has 7 rows where `impossible` says that no row can be: b = x with c = p with d = k"}},
		"no cell in any table": {
			"impossible: [{where: {b: x, c: p}}, {where: {b: x, c: q}}]\n" +
				"invariants: {i: {by: [b], values: {x: 1, y: 2, z: 3}}}\n", "marginals: {x: {by: [b, c], budget: m}, " +
				"y: {by: [c], budget: t}}\n",
			[]string{"invariants.i", "invariant i has 1 row for which `impossible` leaves no cell in table x"}},
		"no cell in two tables": {
			"impossible: [{where: {b: x, c: p}}, {where: {c: q, d: [k, l]}}]\n" +
				"invariants: {i: {by: [b], values: {x: 1, y: 2, z: 3}}}\n", "marginals: {x: {by: [b, c], budget: m}, " +
				"y: {by: [c, d], budget: t}}\n",
			[]string{"invariants.i", "invariant i has 1 row for which `impossible` leaves no cell in table x"}},
		"zeros where they cross": {
			"impossible: [{where: {b: x, d: k}}]\ninvariants: {i: {by: [b], values: {x: 1, y: 2, z: 3}}, j: {by: " +
				"[d], values: {k: 5, l: 1}}}\n",
			"marginals: {x: {by: [b, c, d], budget: m}, y: {by: [c], budget: t}}\n",
			[]string{"marginals.x", "has impossible cells where what invariants and others say of it crosses"}},
		"shares of public figures": {"invariants: {i: {by: [b, c], from: bc.csv}}\n",
			"marginals: {x: {by: [b], stats: [count, share], budget: m}, y: {by: [c], budget: t}}\n",
			[]string{"marginals.x.stats", "the counts of table x are public figures, of invariant i, and so is share"}},
		"a circle": {"invariants: {i: {by: [b, c], from: bc.csv}, j: {by: [c, d], from: cd.csv}, k: {by: [d, b], " +
			"from: db.csv}}\n", "marginals: {x: {by: [b, c, d], budget: m}, y: {by: [c], budget: t}}\n",
			[]string{"marginals.x", "overlaps others, or invariants, in a cycle"}},
		"microdata": {"invariants: {i: {by: [b], values: {x: 1, y: 2, z: 3}}}\n",
			"synthetic: {t: {by: [b, c, d, e]}}\nmarginals: {w: {by: [b, c, d], budget: m}, x: {by: [c, d, e], " +
				"budget: m}, y: {by: [b, c, e], budget: m}, z: {by: [b, d, e], budget: m}}\n",
			[]string{"invariants.i", "which keep to no public figure but their number of rows"}},
		"microdata of a chosen number of rows": {"",
			"synthetic: {t: {by: [b, c, d, e], rows: 1000}}\n" +
				"marginals: {w: {by: [b, c, d], budget: m}, x: {by: [c, d, e], budget: m}, y: {by: [b, c, e], " +
				"budget: m}, z: {by: [b, d, e], budget: m}}\n",
			[]string{"synthetic.t.rows", "would all add up to the 1000 rows that `rows` asks for", "rows: noisy"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{
				"i.csv": "b,c,d,count\nx,p,k,7\nx,p,l,0\nx,q,k,0\nx,q,l,0\ny,p,k,0\ny,p,l,0\ny,q,k,0\ny,q,l,0\n" +
					"z,p,k,0\nz,p,l,0\nz,q,k,0\nz,q,l,0\n",
				"bc.csv": "b,c,count\nx,p,1\nx,q,0\ny,p,0\ny,q,1\nz,p,0\nz,q,0\n",
				"cd.csv": "c,d,count\np,k,1\np,l,0\nq,k,0\nq,l,1\n",
				"db.csv": "d,b,count\nk,x,0\nl,x,1\nk,y,1\nl,y,0\nk,z,0\nl,z,0\n",
			}
			_, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: plain(c.rest, c.marginals),
				Files: files})
			if err == nil {
				t.Fatal("it has a plan")
			}
			for _, says := range c.want {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
		})
	}
}

// Levels that cross are in several chains, and a table is in one: where it would not keep to figures along another one,
// these are refused, however the two levels come to be there, and kept where neither the table nor the figures tell of
// each other.
func TestInvariantsAcrossChains(t *testing.T) {
	const urban, kind = "u: {by: [d.urban], values: {u: 20, r: 0}}", "k: {by: [d.kind], values: {k: 0, l: 20}}"
	for name, c := range map[string]struct {
		invariants, marginals string
		want                  []string // nil where there is a plan
	}{
		"another table's level": {urban, "y: {by: [d, sex]}, z: {by: [d.kind]}",
			[]string{"invariants.u", "invariant u has figures by d.urban that counts of table y by d add up to",
				"along d.kind with d, which d.urban crosses: it would not keep",
				"no table or other invariant by levels of d that cross d.urban"}},
		"another invariant's level": {urban + ", " + kind, "y: {by: [d, sex]}",
			[]string{"invariants.k", "invariant k has figures by d.kind that counts of table y by d add up to",
				"along d.urban with d"}},
		"beside another column": {"u: {by: [d.urban, sex], from: us.csv}", "y: {by: [d]}, z: {by: [d.kind]}",
			[]string{"invariants.u", "table y by d"}},
		// a and {b, c, e} are unions of groups of both
		"what two that cross both tell": {"w: {by: [d.west], values: {a: 3, be: 10, c: 7}}", "y: {by: [d.east, sex]}",
			[]string{"invariants.w", "figures by d.west that counts of table y by d.east add up to", "along d.east,"}},
		"one level":         {urban, "y: {by: [d, sex]}, z: {by: [d.urban]}", nil},
		"nothing in common": {urban, "y: {by: [d.kind, sex]}, z: {by: [d.kind]}", nil},
		"decided by the figures": {"b: {by: [d], values: {a: 0, b: 20, c: 0, e: 0}}",
			"y: {by: [d.urban, sex]}, z: {by: [d.kind, sex]}", nil},
		"figures themselves": {"b: {by: [d], values: {a: 0, b: 20, c: 0, e: 0}}, " + urban,
			"y: {by: [d.kind]}, z: {by: [d]}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			text := "version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: add-remove}\nbudget: {rho: 1}\n" +
				"tables: {t: {source: {csv: t.csv}, unit: row, columns: {d: {values: [a, b, c, e], levels: {urban: " +
				"{u: [a, b], r: [c, e]}, kind: {k: [a], l: [b, c, e]}, east: {a: [a], bc: [b, c], e: [e]}, west: {a: " +
				"[a], be: [b, e], c: [c]}}}, sex: {values: [f, m]}}}}\n" +
				"marginals: {" + c.marginals + "}\ninvariants: {" + c.invariants +
				"}\npublish: {integers: consistent}\n"
			_, err := plantest.PlanOfSource(spec.Source{Name: "release.yaml", Text: text,
				Files: map[string]string{"us.csv": "d.urban,sex,count\nu,f,10\nu,m,10\nr,f,0\nr,m,0\n"}})
			if (err == nil) != (c.want == nil) {
				t.Fatal(err)
			}
			for _, says := range c.want {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
		})
	}
}

// publicText is a release with an invariant in a file, which decides two of its tables, and microdata.
const publicText = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove}
budget: {rho: 1, split: {m: 1/2, rows: 1/2}}
tables: {t: {source: {csv: t.csv}, unit: {id: who, max_rows: 1}, columns: {a: {type: integer, range: [0, 3], levels: {half: {width: 2}}}, b: {values: [x, y]}, c: {derived_from: a.half}}}}
invariants: {totals: {by: [b, a], from: totals.csv}, more: {by: [], values: 30}}
marginals: {one: {by: [c, b], budget: m}, two: {by: [], budget: m}, three: {by: [a, b], budget: m, stats: [units]}, four: {by: [a], cumulative: [a], budget: m}}
synthetic: {t: {budget: rows}}
`

func publicSource() spec.Source {
	return spec.Source{Name: "release.yaml", Text: publicText,
		Files: map[string]string{"totals.csv": "a,b,count\n0,x,1\n1,x,2\n2,x,3\n3,x,4\n0,y,5\n1,y,6\n2,y,9\n3,y,0\n"}}
}

// A plan says of each table whether its cells are public figures and which, how many rows of microdata there are by
// them, and what the promise is not about. One that says otherwise is none.
func TestPlansSayWhatIsPublic(t *testing.T) {
	p, err := plantest.PlanOfSource(publicSource())
	if err != nil {
		t.Fatal(err)
	}
	// by c and b
	for path, want := range map[string][]int64{"one": {3, 11, 7, 9}, "two": {30}, "three": nil, "four": nil} {
		table, _ := p.TableOf(path)
		if got := p.PublicFigures(table); !slices.Equal(got, want) {
			t.Errorf("%s: %v, expected %v", path, got, want)
		}
		if held := want != nil; (table.Statistics[0].Margin == 0) != held || (table.Invariant == "totals") != held {
			t.Errorf("%s: %+v", path, table)
		}
	}
	if s := p.Synthetic[0]; s.Rows != 30 || s.RowsOf != "totals" {
		t.Errorf("%d rows of microdata, of %q", s.Rows, s.RowsOf)
	}
	if got := describe.Guarantee(language.English, p); !strings.HasSuffix(got, " Also given away, as public figures "+
		"for which no data were read: totals (the rows of t by b × a, 8 figures, from totals.csv); more (the number "+
		"of rows of t, from the spec).") {
		t.Error(got)
	}
	if again, err := compiled.Read(p.Bytes()); err != nil || !bytes.Equal(again.Bytes(), p.Bytes()) ||
		plantest.Verify(again.Plan()) != nil {
		t.Errorf("read back: %v", err)
	}
	for name, change := range map[string]func(*plan.Plan){
		"no invariants":   func(p *plan.Plan) { p.Invariants = nil },
		"another total":   func(p *plan.Plan) { p.Invariants[0].Total = 31 },
		"a table of none": func(p *plan.Plan) { p.Tables[0].Invariant = "" },
		"another table":   func(p *plan.Plan) { p.Tables[2].Invariant = "totals" },
		"another one":     func(p *plan.Plan) { p.Tables[1].Invariant = "more" },
	} {
		other, err := compiled.Read(p.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		change(other.Plan())
		if _, err := compiled.Read(other.Plan().Bytes()); err == nil ||
			!strings.Contains(err.Error(), "public figures are not those of the spec") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Other figures are another plan, another template, and a difference that is told.
	src := publicSource()
	src.Files["totals.csv"] = strings.Replace(src.Files["totals.csv"], "2,y,9\n3,y,0", "2,y,8\n3,y,1", 1)
	changed, err := plantest.PlanOfSource(src)
	if err != nil {
		t.Fatal(err)
	}
	if changed.Hash() == p.Hash() || template.Hash(changed) == template.Hash(p) {
		t.Error("other figures have the plan or the template of these")
	}
	var told []string
	for _, c := range describe.Diff(compiled.Of(p), compiled.Of(changed)).Changes {
		told = append(told, c.What)
	}
	if !slices.Contains(told, "public figures totals") {
		t.Errorf("told of other figures: %q", told)
	}
}
