package measured

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const adaptiveText = `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {rho: 1, split: {tables: 1/2, rows: 1/2}}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride, fly]}, hour: {type: integer, range: [0, 3]}, day: {values: [mo, tu]}, way: {values: [to, fro]}}}}
marginals: {m: {by: [mode], budget: tables}}
synthetic: {t: {budget: rows, method: mst}}
`

// planWithMethod returns the plan of the spec adaptive with this method.
func planWithMethod(t *testing.T, method string) *plan.Plan {
	t.Helper()
	text := strings.Replace(adaptiveText, "method: mst", method, 1)
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return p.Plan()
}

// answerTo returns an answer to a measurement, with arbitrary integers.
func answerTo(m plan.Measurement, from int64) Measured {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range m.Cells {
		b.Append(from - 3*i)
	}
	return Measured{Measurement: m, Values: b.NewInt64Array()}
}

// sealedWith returns a sealed folder's content with these rounds, in memory.
func sealedWith(p *plan.Plan, r Rounds) *Sealed {
	s := &Sealed{Plan: compiled.Of(p), Receipt: []byte("{}"), Status: "RELEASE", Rounds: []Rounds{r}}
	for i, m := range p.Measurements {
		s.Measured = append(s.Measured, answerTo(m, int64(i)))
	}
	return s
}

// withRounds returns a sealed folder's content with these choices of MST.
func withRounds(t *testing.T, choices ...int) *Sealed {
	t.Helper()
	p, r := planWithMethod(t, "method: mst"), Rounds{}
	method := p.Synthetic[0]
	for i, c := range choices {
		m, err := adaptive.Answer(p, method, min(i, method.Rounds-1), c, nil, method.Noise)
		if err != nil {
			t.Fatal(err)
		}
		r.All = append(r.All, Round{Choice: c, Mechanisms: adaptive.RoundMechanisms{Select: method.Select,
			Noise: method.Noise},
			Measured: answerTo(m, int64(100*i))})
	}
	return sealedWith(p, r)
}

// sealedFolder seals into a folder. edit may change a file before its digest is taken.
func sealedFolder(t *testing.T, s *Sealed, edit func(name string, b []byte) []byte) string {
	t.Helper()
	dir, hashes := t.TempDir(), map[string]string{}
	write := func(name string, b []byte) error {
		if edit != nil {
			b = edit(name, b)
		}
		if hashes[name] = hashOf(b); name == SealFile {
			delete(hashes, name)
			var err error
			if b, err = json.Marshal(hashes); err != nil {
				return err
			}
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o600)
	}
	if err := Seal(write, s); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Four columns have the pairs 01 02 03 12 13 23.
func TestSealedRoundsReadBack(t *testing.T) {
	for _, choices := range [][]int{{4, 0, 5}, {0, 1, 2}} {
		s := withRounds(t, choices...)
		back, err := Open(sealedFolder(t, s, nil), compiled.Read)
		if err != nil {
			t.Fatal(err)
		}
		if len(back.Rounds) != 1 || len(back.Rounds[0].All) != len(choices) {
			t.Fatalf("%d rounds, sealed %d", len(back.Rounds[0].All), len(choices))
		}
		for i, r := range back.Rounds[0].All {
			want := s.Rounds[0].All[i]
			if !r.Mechanisms.Equal(want.Mechanisms) || r.Choice != want.Choice ||
				r.Measured.Measurement.ID != want.Measured.Measurement.ID ||
				!slices.Equal(r.Measured.Values.Int64Values(),
					want.Measured.Values.Int64Values()) {
				t.Errorf("round %d: %v, sealed %v", i+1, r, want)
			}
		}
	}
	s := withRounds(t, 4, 0, 5)
	choose, noise := jsonOf(t, s.Rounds[0].All[0].Mechanisms.Select), jsonOf(t, s.Rounds[0].All[0].Mechanisms.Noise)
	want := fmt.Sprintf(`{"rounds":[{"choice":4,"select":%[1]s,"noise":%[2]s},{"choice":0,"select":%[1]s,"noise":%[2]s},{"choice":5,"select":%[1]s,"noise":%[2]s}]}`+"\n", choose, noise)
	dir := sealedFolder(t, s, nil)
	if b, err := os.ReadFile(filepath.Join(dir, "rounds", "t.json")); err != nil || string(b) != want {
		t.Errorf("rounds are written as %s, %v", b, err)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// withChoices replaces the choices in a file of rounds; further rounds are like the last one.
func withChoices(t *testing.T, choices ...int) func(string, []byte) []byte {
	turn := withRounds(t, 0).Rounds[0].All[0].Mechanisms
	file := roundsFile{}
	for _, c := range choices {
		file.Rounds = append(file.Rounds, roundLine{c, turn})
	}
	b, err := file.encode()
	if err != nil {
		t.Fatal(err)
	}
	return inPlaceOf("rounds/t.json", string(b))
}

// withText replaces the first occurrence of a text in a file of rounds.
func withText(old, with string) func(string, []byte) []byte {
	return func(name string, b []byte) []byte {
		if name != "rounds/t.json" {
			return b
		}
		return []byte(strings.Replace(string(b), old, with, 1))
	}
}

func TestOpenRefusesRoundsThatDoNotBelong(t *testing.T) {
	pair := Path("microdata/t/mode_x_hour") // 01
	for says, edit := range map[string]func(name string, b []byte) []byte{
		"had joined":                   withChoices(t, 0, 0, 1),
		"no round 2 with a choice 6":   withChoices(t, 0, 6, 1),
		"no round 4 with a choice 3":   withChoices(t, 0, 1, 2, 3),
		"in which rounds":              withText("}]}", "}] }"),
		"in which rounds are":          withText(`{"rounds"`, `{"classes":[],"rounds"`),
		"in which rounds are w":        withText(`"parameter":"`, `"parameter":"0`),
		"in which rounds are writ":     withText(`"choice":0`, `"choice":0,"choice":0`),
		"have no classes of 4 columns": withText(`{"rounds"`, `{"classes":[null,null,null,null],"rounds"`),
		"not made by the mechanisms":   withText(`gaussian","parameter":"`, `gaussian","parameter":"9`),
		"microdata/t/mode_x_way":       withChoices(t, 0, 5, 2),
		"holds 2 rounds, where the":    withChoices(t, 0, 5),
		"magic":                        inPlaceOf(pair, "PAR2"),
		"answers another question":     fromAnother(t, pair, Path("microdata/t/day_x_way")),
	} {
		if _, err := Open(sealedFolder(t, withRounds(t, 0, 5, 1), edit), compiled.Read); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	dir := sealedFolder(t, withRounds(t, 0, 5, 1), nil)
	if err := os.Remove(filepath.Join(dir, "rounds", "t.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, compiled.Read); err == nil {
		t.Error("without choices: opened")
	}
}

func inPlaceOf(file, text string) func(string, []byte) []byte {
	return func(name string, b []byte) []byte {
		if name == file {
			return []byte(text)
		}
		return b
	}
}

// fromAnother replaces one file's content by another's.
func fromAnother(t *testing.T, file, other string) func(string, []byte) []byte {
	b, err := os.ReadFile(filepath.Join(sealedFolder(t, withRounds(t, 0, 5, 1), nil), filepath.FromSlash(other)))
	if err != nil {
		t.Fatal(err)
	}
	return inPlaceOf(file, string(b))
}

// What cannot be opened cannot be sealed either.
func TestSealRefusesRoundsThatThePlanDoesNotAllow(t *testing.T) {
	nowhere := func(string, []byte) error { return nil }
	for name, s := range map[string]*Sealed{
		"a pair twice": withRounds(t, 0, 0, 1), "too few": withRounds(t, 0, 5), "a cycle": withRounds(t, 0, 1, 3),
		"too many": withRounds(t, 0, 1, 2, 3),
	} {
		if err := Seal(nowhere, s); err == nil {
			t.Errorf("%s: sealed", name)
		}
	}
	none := withRounds(t, 0, 5, 1)
	none.Rounds = nil
	if err := Seal(nowhere, none); err == nil {
		t.Error("no rounds at all: sealed")
	}
	twice := withRounds(t, 0, 5, 1)
	twice.Measured = append(twice.Measured, twice.Measured[0])
	if err := Seal(nowhere, twice); err == nil || !strings.Contains(err.Error(), "two files") {
		t.Errorf("two measurements of one name: %v", err)
	}
}

// Three choices among four columns are allowed if and only if they form a spanning tree: a walk along them reaches
// every column.
func TestAllowedAreForests(t *testing.T) {
	p := planWithMethod(t, "method: mst")
	s := p.Synthetic[0]
	pairs := adaptive.Candidates(s)
	allowed := 0
	for a := range pairs {
		for b := range pairs {
			for c := range pairs {
				made := []int{a, b, c}
				r := Rounds{}
				for i, choice := range made {
					m, err := adaptive.Answer(p, s, i, choice, nil, s.Noise)
					if err != nil {
						t.Fatal(err)
					}
					r.All = append(r.All, Round{Choice: choice, Mechanisms: adaptive.RoundMechanisms{Select: s.Select,
						Noise: s.Noise},
						Measured: Measured{Measurement: m}})
				}
				if got, want := Allowed(p, s, r) == nil, len(reachedColumns(pairs, made)) == len(s.By); got != want {
					t.Errorf("%v: allowed is %v", made, got)
				} else if got {
					allowed++
				}
			}
		}
	}
	// Cayley: four vertices have 4² spanning trees, each in 3! orders.
	if allowed != 16*6 {
		t.Errorf("%d orders of spanning trees, expected 96", allowed)
	}
}

// reachedColumns returns the columns that a walk along pairs reaches from the first: three pairs reach all four only if
// they make no cycle.
func reachedColumns(pairs [][]int, made []int) map[int]bool {
	seen := map[int]bool{0: true}
	for range made {
		for _, c := range made {
			if seen[pairs[c][0]] || seen[pairs[c][1]] {
				seen[pairs[c][0]], seen[pairs[c][1]] = true, true
			}
		}
	}
	return seen
}
