package scan

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
)

// partsOf counts a shard in each folder, or all shards in the only one, and has each part written and read.
func partsOf(t testing.TB, q histogram.Questions, s *noise.RowStreams, of int, ownFiles bool,
	dirs ...string) (parts []Part) {
	t.Helper()
	for i := range of {
		f := Files{Dir: dirs[i%len(dirs)], Shard: Shard{Number: i + 1, Of: of, OwnFiles: ownFiles},
			Options: Options{Workers: 1 + i%2}}
		p, err := f.CountPart(t.Context(), q, s)
		if err != nil {
			t.Fatal(err)
		}
		var stored bytes.Buffer
		if err := errors.Join(WritePart(&stored, p), p.Close()); err != nil {
			t.Fatal(err)
		}
		if p, err = ReadPart(&stored); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return parts
}

// merged puts parts together.
func merged(t testing.TB, q histogram.Questions, s *noise.RowStreams, parts []Part) (answer.Answers, error) {
	t.Helper()
	return Parts{All: parts}.Count(t.Context(), q, s)
}

// sameAnswers fails unless answers are equal.
func sameAnswers(t testing.TB, asked []plan.Measurement, got, want answer.Answers) {
	t.Helper()
	for i, m := range asked {
		a, b := answer.All(got)[i], answer.All(want)[i]
		a, b = answer.Answer{Cells: a.Cells, Counts: a.Expanded().Counts, Groups: a.Groups},
			answer.Answer{Cells: b.Cells, Counts: b.Expanded().Counts, Groups: b.Groups}
		if len(a.Cells) == 0 && len(b.Cells) == 0 { // an empty list may be nil
			a.Cells, b.Cells = nil, nil
		}
		if len(a.Counts) == 0 && len(b.Counts) == 0 {
			a.Counts, b.Counts = nil, nil
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: shards have %d counts and one machine %d, not the same", m.ID, len(a.Counts), len(b.Counts))
		}
	}
}

// shardFiles writes the tables of units, of which each has some rows, to a folder.
func (p pairsTable) shardFiles(t testing.TB, units []int) string {
	t.Helper()
	jobs, homes := "id,place,size,pay,age,w,word\n", "id,tenure,built\n"
	for _, u := range units {
		r := rand.New(rand.NewPCG(uint64(u), 7))
		id := fmt.Sprint("unit ", u)
		for range r.IntN(6) {
			kind := r.IntN(p.kinds())
			jobs += p.row(id, kind)
		}
		if r.IntN(5) > 0 {
			homes += id + "," + []string{"o", "r", "none"}[r.IntN(3)] + "," + []string{"old", "new"}[r.IntN(2)] + "\n"
		}
	}
	return folder(t, "jobs.csv", jobs, "homes.csv", homes)
}

// Whatever is counted, the parts of all shards are together what one machine counts: by the same files or by files of
// their own.
func TestShardsGiveTheAnswersOfOneMachine(t *testing.T) {
	for _, p := range pairsTables(false) {
		t.Run(p.name, func(t *testing.T) {
			a := p.auditOf(t)
			q := histogram.Questions{Plan: a.plan, Measurements: a.asked}
			s := streams(a.plan, 5).Rows()
			var all []int
			for u := range 300 {
				all = append(all, u)
			}
			dir := p.shardFiles(t, all)
			want, err := Files{Dir: dir}.Count(t.Context(), q, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []int{1, 2, 3, 7} {
				got, err := merged(t, q, s, partsOf(t, q, s, of, false, dir))
				if err != nil {
					t.Fatal(err)
				}
				sameAnswers(t, a.asked, got, want)
			}
			if p.linked {
				if CheckShards(q, true) == nil {
					t.Error("linked tables are counted from files of a machine's own")
				}
				return
			}
			own := make([][]int, 3) // the last machine has no rows
			for _, u := range all {
				own[u%2] = append(own[u%2], u)
			}
			var dirs []string
			for _, units := range own {
				dirs = append(dirs, p.shardFiles(t, units))
			}
			parts := partsOf(t, q, s, 3, true, dirs...)
			got, err := merged(t, q, s, parts)
			if err != nil {
				t.Fatal(err)
			}
			sameAnswers(t, a.asked, got, want)
			if p.maxRows == 0 {
				return
			}
			dirs[2] = p.shardFiles(t, []int{4})
			if _, err := merged(t, q, s, partsOf(t, q, s, 3, true, dirs...)); err == nil ||
				!strings.Contains(err.Error(), "rows of the same unit") {
				t.Errorf("a unit that two machines have: %v", err)
			}
		})
	}
}

// A sample of the units is the same in shards.
func TestShardsOfSamples(t *testing.T) {
	for _, unit := range []string{"row", "{id: id, max_rows: 2}", "{id: name, null: drop, max_rows: 1}"} {
		p := planOfText(t, "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\n"+
			"budget: {epsilon: 1}\n"+
			"tables: {t: {source: {csv: '*.csv'}, unit: "+unit+
			", sample: {poisson: 30%}, columns: {k: {values: {integers: [0, 49]}, unknown: drop}}}}\n"+
			"marginals: {m: {by: [k]}}\n")
		b := &strings.Builder{}
		b.WriteString("id,name,k\n")
		for i := range 20_000 {
			name := fmt.Sprintf("person %d", i%7_000)
			if i%17 == 0 {
				name = ""
			}
			fmt.Fprintf(b, "%d,%s,%d\n", i%7_000, name, i%51)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		q, err := histogram.QuestionsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		s := streams(p, 2).Rows()
		want, err := Files{Dir: dir}.Count(t.Context(), q, s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := merged(t, q, s, partsOf(t, q, s, 4, false, dir))
		if err != nil {
			t.Fatal(err)
		}
		sameAnswers(t, q.Measurements, got, want)
		if CheckShards(q, true) == nil {
			t.Error("a sample is drawn from files of a machine's own")
		}
	}
}

// What tables expect is asked of all parts together: rows, categories, and columns that can be read.
func TestExpectationsOfShards(t *testing.T) {
	for name, c := range map[string]struct {
		expect string
		files  []string
		want   string
	}{
		"met": {"{rows: [4, 4], every: [kind]}",
			[]string{"id,kind,age\n1,a,1\n2,b,2\n", "id,kind,age\n3,c,9\n4,a,1\n"}, ""},
		"too few": {"{rows: [5, 9]}", []string{"id,kind,age\n1,a,1\n2,b,2\n", "id,kind,age\n3,c,9\n4,a,1\n"},
			"rows"},
		"a category": {"{every: [kind]}",
			[]string{"id,kind,age\n1,a,1\n2,b,2\n", "id,kind,age\n3,b,9\n4,a,1\n"}, "every"},
		"none on a machine": {"{rows: [2, 2]}", []string{"id,kind,age\n1,a,1\n2,b,2\n", "id,kind,age\n"}, ""},
	} {
		for _, own := range []bool{false, true} {
			for _, unit := range []string{"row", "{id: id, max_rows: 1}"} {
				p := expecting(t, c.expect, unit)
				q, err := histogram.QuestionsOf(p)
				if err != nil {
					t.Fatal(err)
				}
				s := streams(p, 1).Rows()
				var dirs []string
				if own {
					for _, text := range c.files {
						dirs = append(dirs, folder(t, "a.csv", text))
					}
				} else {
					dirs = []string{folder(t, "a.csv", c.files[0], "b.csv", c.files[1])}
				}
				_, err = merged(t, q, s, partsOf(t, q, s, 2, own, dirs...))
				var contract *ContractError
				if (c.want != "") != errors.As(err, &contract) || c.want == "" && err != nil ||
					c.want != "" && !strings.Contains(contract.Kind, c.want) {
					t.Errorf("%s, unit %s, own files %t: %v", name, unit, own, err)
				}
			}
		}
	}
}

// Parts that are not one of each shard, or were counted for something else, are refused.
func TestOtherPartsAreRefused(t *testing.T) {
	p := expecting(t, "{rows: [0, 9]}", "{id: id, max_rows: 1}")
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	s, other := streams(p, 1).Rows(), streams(p, 2).Rows()
	dir := folder(t, "a.csv", "id,kind,age\n1,a,1\n2,b,2\n3,c,3\n")
	three := func(s *noise.RowStreams) []Part { return partsOf(t, q, s, 3, false, dir) }
	for name, c := range map[string]struct {
		parts []Part
		want  error
	}{
		"none":              {nil, ErrShards},
		"one missing":       {three(s)[:2], ErrShards},
		"one twice":         {append(three(s)[:2], three(s)[0]), ErrShards},
		"another division":  {append(three(s)[:2], partsOf(t, q, s, 2, false, dir)[1]), ErrShards},
		"own files":         {append(three(s)[:2], partsOf(t, q, s, 3, true, dir, dir, dir)[2]), ErrShards},
		"under another key": {append(three(s)[:2], three(other)[2]), ErrPart},
		"all":               {three(s), nil},
	} {
		if _, err := merged(t, q, s, c.parts); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if shown := fmt.Sprintf("%v %+v %#v", three(s), three(s)[0], three(s)[0]); strings.Contains(shown, "Counted") ||
		!strings.Contains(shown, "confidential") {
		t.Errorf("parts show %s", shown)
	}
}

// A unit that has rows on two machines is found although none of its rows counts: diagnostics count what is left out.
func TestUnitsThatAreLeftOutAreListed(t *testing.T) {
	p := planOfText(t, "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\n"+
		"budget: {epsilon: 1}\n"+
		"diagnostics: {share: 5%}\ntables: {t: {source: {csv: a.csv}, unit: {id: id, max_rows: 1}, "+
		"columns: {k: {values: [x, y], unknown: drop}}}}\nmarginals: {m: {by: [k]}}\n")
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	s := streams(p, 2).Rows()
	first, second := folder(t, "a.csv", "id,k\nu,none\nv,x\n"), folder(t, "a.csv", "id,k\nu,none\nw,y\n")
	if _, err := merged(t, q, s, partsOf(t, q, s, 2, true, first, second)); err == nil ||
		!strings.Contains(err.Error(), "rows of the same unit") {
		t.Errorf("a unit whose rows are left out on two machines: %v", err)
	}
	alone := folder(t, "a.csv", "id,k\nw,y\nz,none\n")
	if _, err := merged(t, q, s, partsOf(t, q, s, 2, true, first, alone)); err != nil {
		t.Errorf("units of one machine each: %v", err)
	}
}

// Sums that are too large are refused, whatever is added to them.
func TestSumsOfPartsAreBounded(t *testing.T) {
	most := int64(answer.MaxMagnitude)
	for name, c := range map[string]struct {
		parts []answer.Answer
		ok    bool
	}{
		"dense":            {[]answer.Answer{{Counts: []int64{most}}, {Counts: []int64{0}}}, true},
		"dense, too large": {[]answer.Answer{{Counts: []int64{most}}, {Counts: []int64{1}}}, false},
		"dense, beyond bits": {[]answer.Answer{{Counts: []int64{math.MaxInt64}}, {Counts: []int64{math.MaxInt64}}},
			false},
		"sparse": {[]answer.Answer{{Cells: []uint64{1}, Counts: []int64{-most}},
			{Cells: []uint64{2}, Counts: []int64{most}}}, true},
		"sparse, too large": {[]answer.Answer{{Cells: []uint64{1}, Counts: []int64{-most}},
			{Cells: []uint64{1}, Counts: []int64{-1}}}, false},
		"sparse, then less": {[]answer.Answer{{Cells: []uint64{1}, Counts: []int64{most}},
			{Cells: []uint64{1}, Counts: []int64{most}}, {Cells: []uint64{1}, Counts: []int64{-100}}}, false},
		"lists of other length": {[]answer.Answer{{Counts: []int64{1}}, {Counts: []int64{1, 2}}}, false},
		"dense and sparse": {[]answer.Answer{{Counts: []int64{1}}, {Cells: []uint64{0}, Counts: []int64{1}}},
			false},
	} {
		var s partSum
		var err error
		for _, one := range c.parts {
			err = errors.Join(err, s.add(one))
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
