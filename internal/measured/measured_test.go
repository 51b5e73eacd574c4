package measured

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

const text = `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove}
budget: {epsilon: 1, split: {ones: 1/2, both: 1/2}}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride, fly]}, hour: {type: integer, range: [0, 23]}}}}
marginals: {m: {every: [1], by: [mode, hour], budget: ones}, both: {by: [mode, hour]}}
`

func sealedSample(t *testing.T) (dir string, p *plan.Plan, answers map[string][]int64) {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	c, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	p = c.Plan()
	dir, answers = t.TempDir(), map[string][]int64{}
	var all []Measured
	for n, m := range p.Measurements {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		for i := range m.Cells {
			b.Append((i - 5) * int64(n+1) << (3 * i % 40))
		}
		values := b.NewInt64Array()
		answers[m.ID] = values.Int64Values()
		all = append(all, Measured{Measurement: m, Values: values})
	}
	write := func(name string, b []byte) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return os.WriteFile(path, b, 0o600)
	}
	if err := Seal(write, &Sealed{Plan: compiled.Of(p), Receipt: []byte(`{"plan_hash": "x"}`), Status: "RELEASE",
		Measured: all}); err != nil {
		t.Fatal(err)
	}
	return dir, p, answers
}

func TestSealedFolderReadsBack(t *testing.T) {
	dir, p, answers := sealedSample(t)
	s, err := Open(dir, compiled.Read)
	if err != nil {
		t.Fatal(err)
	}
	if s.Plan.Hash() != p.Hash() || len(s.Measured) != 3 {
		t.Fatalf("%d measurements of plan %s", len(s.Measured), s.Plan.Hash())
	}
	for _, m := range s.Measured {
		if !slices.Equal(m.Values.Int64Values(), answers[m.Measurement.ID]) {
			t.Errorf("%s: %v, expected %v", m.Measurement.ID, m.Values, answers[m.Measurement.ID])
		}
	}
	one, err := Encode(s.Measured[0], p.Hash(), "RELEASE")
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(filepath.Join(dir, Path(s.Measured[0].Measurement.ID)))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, two) {
		t.Error("the same measurement encodes to other bytes")
	}
}

// A flipped bit in any file is an error, never a panic, never other numbers.
func TestDamagedMeasurements(t *testing.T) {
	dir, _, _ := sealedSample(t)
	for _, name := range []string{Path("both"), PlanFile, ReceiptFile} {
		path := filepath.Join(dir, name)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range good {
			bad := slices.Clone(good)
			bad[i] ^= 1 << (i % 8)
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir, compiled.Read); err == nil {
				t.Fatalf("%s, byte %d flipped: opened", name, i)
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir, compiled.Read); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesWhatDoesNotBelong(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"no plan":                  func(dir string) error { return os.Remove(filepath.Join(dir, PlanFile)) },
		"no receipt":               func(dir string) error { return os.Remove(filepath.Join(dir, ReceiptFile)) },
		"no seal":                  func(dir string) error { return os.Remove(filepath.Join(dir, SealFile)) },
		"a measurement is missing": func(dir string) error { return os.Remove(filepath.Join(dir, Path("m/mode"))) },
		"measurements exchanged": func(dir string) error {
			return os.Rename(filepath.Join(dir, Path("m/hour")), filepath.Join(dir, Path("m/mode")))
		},
		"another plan": func(dir string) error {
			path := filepath.Join(dir, PlanFile)
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, []byte(strings.Replace(string(b), `"release": "r"`, `"release": "s"`, 1)), 0o600)
		},
	} {
		dir, _, _ := sealedSample(t)
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, compiled.Read); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}
