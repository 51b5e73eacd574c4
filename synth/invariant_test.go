package synth

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"pgregory.net/rapid"
)

// keeping is a design with invariants, whose figures come from other rows than are measured: as many, or far fewer.
type keeping struct {
	design
	by    [][]string // of each invariant
	truth int        // number of rows that the figures count
}

// drawKeeping draws a design with invariants of up to two attributes.
func drawKeeping(r *rapid.T) keeping {
	k := keeping{design: drawDesign(r), truth: rapid.SampledFrom([]int{0, 5, 300}).Draw(r, "truth")}
	for range rapid.IntRange(1, 2).Draw(r, "invariants") {
		var by []string
		columns := map[string]bool{}
		for _, a := range rapid.Permutation([]string{"a", "a.third", "a.sixth", "b", "c", "d"}).Draw(r,
			"of")[:rapid.IntRange(0, 2).Draw(r, "of many")] {
			if !columns[a[:1]] {
				by, columns[a[:1]] = append(by, a), true
			}
		}
		k.by = append(k.by, by)
	}
	return k
}

// someRows returns possible rows of the table of [designedSpec].
func someRows(rows int, seed byte) map[string][]uint32 {
	codes := map[string][]uint32{"a": {}, "b": {}, "c": {}, "d": {}}
	random := seededStream([32]byte{seed})
	for range rows {
		first, last := uint32(random.below(3)), uint32(random.below(2))
		if first == 0 {
			last += 2
		}
		for column, code := range map[string]uint32{"a": uint32(random.below(12)), "b": first, "c": 0, "d": last} {
			codes[column] = append(codes[column], code)
		}
	}
	return codes
}

// sourceWithFigures returns the spec with the figures counted row by row, each invariant in a file.
func (k keeping) sourceWithFigures(t testing.TB) (spec.Source, []map[string]int64) {
	t.Helper()
	plain, err := spec.Parse(spec.Source{Name: "release.yaml", Text: k.spec})
	if err != nil {
		t.Fatalf("%v\n%s", err, k.spec)
	}
	rows := someRows(k.truth, k.seed+1)
	src := spec.Source{Name: "release.yaml", Text: k.spec + "invariants:\n", Files: map[string]string{}}
	var figures []map[string]int64
	for i, by := range k.by {
		name := fmt.Sprintf("i%d", i)
		src.Text += fmt.Sprintf("  %s: {by: [%s], from: %s.csv}\n", name, strings.Join(by, ", "), name)
		counts := map[string]int64{}
		all := []string{""}
		for _, a := range by {
			column, name, _ := strings.Cut(a, ".")
			level, _ := plain.Tables[0].Column(column).Domain.Level(name)
			var next []string
			for _, before := range all {
				for _, c := range level.Categories {
					next = append(next, before+c.Code+",")
				}
			}
			all = next
		}
		for _, key := range all {
			counts[key] = 0
		}
		for row := range k.truth {
			key := ""
			for _, a := range by {
				column, name, _ := strings.Cut(a, ".")
				level, _ := plain.Tables[0].Column(column).Domain.Level(name)
				key += level.Categories[level.Category(int(rows[column][row]))].Code + ","
			}
			counts[key]++
		}
		text := strings.Join(append(slices.Clone(by), "count"), ",") + "\n"
		slices.Reverse(all) // a file may be in any order
		for _, key := range all {
			text += fmt.Sprintf("%s%d\n", key, counts[key])
		}
		src.Files[name+".csv"] = text
		figures = append(figures, counts)
	}
	return src, figures
}

// brokenInvariant describes where a table does not agree with an invariant: its sums over a common margin, by the
// coarser of two levels, are not those of the figures; "" if all agree. Figures are keyed by codes.
func (k keeping) brokenInvariant(t testing.TB, p *plan.Plan, counts map[int][]int64,
	figures []map[string]int64) string {
	t.Helper()
	table := p.Release().Tables[0]
	level := func(column, name string) *domain.Level { l, _ := table.Column(column).Domain.Level(name); return l }
	for i, by := range k.by {
		for at, own := range counts {
			q := p.Query(p.Tables[at])
			var shared [][3]string // column, level of the table, common level
			for _, a := range by {
				column, name, _ := strings.Cut(a, ".")
				for _, f := range q.Factors {
					if f.Attribute != column {
						continue
					}
					common := name
					if level(column, f.Level).Size() < level(column, name).Size() {
						common = f.Level
					}
					shared = append(shared, [3]string{column, f.Level, common})
				}
			}
			want := map[string]int64{}
			for key, n := range figures[i] {
				codes, sum := strings.Split(key, ","), ""
				for _, s := range shared {
					for place, a := range by {
						if column, name, _ := strings.Cut(a, "."); column == s[0] {
							code := slices.IndexFunc(level(column, name).Categories,
								func(c domain.Category) bool { return c.Code == codes[place] })
							sum += fmt.Sprint(liesIn(table, column, level(column, name), s[2], code)) + "|"
						}
					}
				}
				want[sum] += n
			}
			got := map[string]int64{}
			for cell, n := range own {
				rest, sum := cell, ""
				codes := map[string]int{}
				for j := len(q.Factors) - 1; j >= 0; j-- {
					size := level(q.Factors[j].Attribute, q.Factors[j].Level).Size()
					codes[q.Factors[j].Attribute], rest = rest%size, rest/size
				}
				for _, s := range shared {
					sum += fmt.Sprint(liesIn(table, s[0], level(s[0], s[1]), s[2], codes[s[0]])) + "|"
				}
				got[sum] += n
			}
			if !reflect.DeepEqual(got, want) {
				return fmt.Sprintf("%s and the invariant by %v: %v, not %v", p.Tables[at].Path, by, got, want)
			}
		}
	}
	return ""
}

// checkKeeping computes counts that agree with invariants. Tables that an invariant decides are flagged, and have no
// error.
func checkKeeping(t testing.TB, k keeping) (refused bool) {
	src, figures := k.sourceWithFigures(t)
	r, err := spec.Parse(src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src.Text)
	}
	p, err := planner.New(r)
	if err != nil {
		if !strings.Contains(err.Error(), "in a cycle") && !strings.Contains(err.Error(), "impossible cells") {
			t.Fatalf("%v\n%s", err, src.Text)
		}
		return true
	}
	s := sealedFrom(t, p.Plan(), someRows(k.rows, k.seed), noise.Key{7}, true)
	counts, f, tables := consistentCounts(t, s)
	if says := disagreement(t, p.Plan(), counts); says != "" {
		t.Fatalf("%s\n%s", says, src.Text)
	}
	if says := k.brokenInvariant(t, p.Plan(), counts, figures); says != "" {
		t.Fatalf("%s\n%s", says, src.Text)
	}
	for at, own := range counts {
		st := tables[at].Statistics[0]
		for cell, n := range own {
			public := st.Flags[cell] == Public || st.Flags[cell] == Impossible
			decided := p.Tables[at].Invariant != ""
			x := float64(n)
			if decided && (!public || st.Published.Value(cell) != n || st.Unbiased.Value(cell) != x ||
				st.Low.Value(cell) != x ||
				st.High.Value(cell) != x || st.Error.Value(cell) != 0) {
				t.Fatalf("%s: cell %d of %d is published as %d in %v … %v, %q\n%s", p.Tables[at].Path, cell, n,
					st.Published.Value(cell), st.Low.Value(cell), st.High.Value(cell), st.Flags[cell], src.Text)
			}
			if !decided && st.Flags[cell] == Public {
				t.Fatalf("%s: no invariant decides it\n%s", p.Tables[at].Path, src.Text)
			}
		}
		// Exchanging two counts of a table is detected if they are in two sums of an invariant.
		if k.isPlantedMissed(t, p.Plan(), counts, figures, at) {
			t.Fatalf("%s: counts that changed places are not found\n%s", p.Tables[at].Path, src.Text)
		}
	}
	for i, step := range f.Steps {
		if step.Given != nil && !slices.Equal(f.rounded[i], step.Given) {
			t.Fatalf("step %d: %v for %v\n%s", i, f.rounded[i], step.Given, src.Text)
		}
	}
	return false
}

// isPlantedMissed moves a row to another cell of a table that an invariant decides, and reports whether no check found
// it.
func (k keeping) isPlantedMissed(t testing.TB, p *plan.Plan, counts map[int][]int64,
	figures []map[string]int64, at int) bool {
	own := slices.Clone(counts[at])
	from := slices.IndexFunc(own, func(n int64) bool { return n > 0 })
	if p.Tables[at].Invariant == "" || from < 0 || len(own) < 2 {
		return false
	}
	own[from]--
	own[(from+1)%len(own)]++
	return k.brokenInvariant(t, p, map[int][]int64{at: own}, figures) == ""
}

// TestCountsKeepToInvariants draws releases with invariants, from other rows than are measured: neither noise nor other
// figures make a table disagree with them. Since real rows have the figures, the planner finds them possible.
func TestCountsKeepToInvariants(t *testing.T) {
	designs, done, refused := rapid.Custom(drawKeeping), 0, 0
	tell := func(r bool) {
		if done++; r {
			refused++
		}
	}
	if os.Getenv("DPRELEASE_LONG") == "" {
		for seed := range 3 { // a few fixed ones
			tell(checkKeeping(t, designs.Example(seed)))
		}
	} else {
		rapid.Check(t, func(r *rapid.T) { tell(checkKeeping(t, designs.Draw(r, "design"))) })
	}
	if 2*refused > done {
		t.Errorf("%d of %d are refused", refused, done)
	}
	t.Logf("%d of %d are refused", refused, done)
}

// Tables that an invariant decides have no noise for a reader either, also with a secret sample, and need no
// measurement; tables that it does not decide stay as measured.
func TestReadersTakePublicFigures(t *testing.T) {
	for name, sample := range map[string]string{"all units": "", "a sample": "sample: {poisson: 50%}, "} {
		t.Run(name, func(t *testing.T) {
			p := plannedOf(t, "version: 1\nrelease: r\nprivacy: {protects: trip, neighbours: add-remove}\n"+
				"budget: {epsilon: 1, delta: 1e-9}\n"+
				"tables: {t: {source: {csv: t.csv}, unit: row, "+sample+
				"columns: {a: {values: [x, y, z]}, b: {values: [x, y]}}}}\n"+
				"invariants: {i: {by: [a], values: {x: 7, y: 0, z: 1000001}}}\n"+
				"marginals: {one: {by: [a]}, none: {by: []}, two: {by: [b, a]}}\n")
			s := sealedFrom(t, p, map[string][]uint32{"a": {0, 1, 1, 2}, "b": {0, 0, 1, 1}}, noise.Key{3}, true)
			tables, err := Estimate(s)
			if err != nil {
				t.Fatal(err)
			}
			r, err := NewReader(compiled.Of(p))
			if err != nil {
				t.Fatal(err)
			}
			for at, want := range [][]float64{{7, 0, 1000001}, {1000008}, nil} {
				read, err := r.Statistic(at, s.Measured)
				if err != nil {
					t.Fatal(err)
				}
				own := tables[at].Statistics[0]
				if want == nil {
					if slices.Contains(own.Flags, Public) || r.IsInvariant(at) || len(r.Needed(at)) == 0 ||
						own.StandardError == 0 {
						t.Errorf("two: %+v", own)
					}
					continue
				}
				for _, st := range []Statistic{own, read} {
					for i, x := range want {
						if st.Unbiased.Value(i) != x || st.Error.Value(i) != 0 || st.Low.Value(i) != x ||
							st.High.Value(i) != x ||
							st.Published.Value(i) != int64(x) || st.Flags[i] != Public {
							t.Errorf("cell %d of %d: %v, %v … %v, %q", i, at, st.Unbiased.Value(i), st.Low.Value(i),
								st.High.Value(i),
								st.Flags[i])
						}
					}
				}
				groupings := []Grouping{{RowOf: []int{0, -1, 0}, Rows: 1}}[:len(tables[at].Keys)]
				cells, err := r.Cells(at, nil)
				if err != nil || Sums(cells, groupings)[0] != 1000008 || r.Variances(at, groupings)[0] != 0 ||
					r.FirstWithSameNoise(at, groupings)[0] != 0 || r.Needed(at) != nil ||
					r.Contributions(at, nil) != nil {
					t.Errorf("table %d: %v, %v", at, err, Sums(cells, groupings))
				}
			}
		})
	}
}
