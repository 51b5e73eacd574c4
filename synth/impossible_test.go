package synth

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
)

// This program never makes a measurement with a value other than 0 in an impossible cell.
func TestMeasurementOfWhatCannotBe(t *testing.T) {
	r, err := spec.Parse(spec.Source{Name: "r.yaml", Text: `version: 1
release: r
privacy: {protects: trip, neighbours: add-remove, account: a}
budget: {rho: 1}
tables: {t: {source: {csv: t.csv}, unit: row, columns: {mode: {values: [walk, ride]}, hour: {values: [day, night]}}}}
impossible: [{where: {mode: walk, hour: night}, rows: drop}]
marginals: {m: {by: [mode, hour]}}
`})
	if err != nil {
		t.Fatal(err)
	}
	p, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	estimate := func(values ...int64) ([]Table, error) {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(values, nil)
		return Estimate(&measured.Sealed{Plan: compiled.Of(p.Plan()),
			Measured: []measured.Measured{{Measurement: p.Measurements[0], Values: b.NewInt64Array()}}})
	}
	tables, err := estimate(4, 0, -7, 9)
	if err != nil {
		t.Fatal(err)
	}
	s := tables[0].Statistics[0]
	for cell, want := range []Flag{Plain, Impossible, NoiseDominates, Plain} {
		exact := s.Error.Value(cell) == 0 && s.Low.Value(cell) == 0 && s.High.Value(cell) == 0
		if s.Flags[cell] != want || exact != (want == Impossible) {
			t.Errorf("cell %d: flag %q, from %v to %v", cell, s.Flags[cell], s.Low.Value(cell), s.High.Value(cell))
		}
	}
	if _, err := estimate(4, 1, -7, 9); err == nil ||
		!strings.Contains(err.Error(), "measurement m has a row where the spec says that none can be") {
		t.Errorf("error %v", err)
	}
	if _, err := estimate(4, 0, -7); err == nil || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("error %v", err)
	}
}
