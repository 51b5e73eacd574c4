package histogramtest

// This file holds helpers of tests for plans and counts.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/synth"
)

// Folder writes files given as name, content, name, content … and returns their folder.
func Folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Streams returns the streams of a release of a plan, by a key that begins with a byte.
func Streams(p *plan.Plan, key byte) *noise.Streams {
	return noise.NewStreams(noise.Key{key}, HashOf(p))
}

// planHashes caches the hashes of plans. Tests that draw thousands of times need the hash each time, and computing it
// takes as long as many draws.
var planHashes sync.Map

// HashOf returns the hash of a plan.
func HashOf(p *plan.Plan) string {
	if known, ok := planHashes.Load(p); ok {
		return known.(string)
	}
	hash := p.Hash()
	planHashes.Store(p, hash)
	return hash
}

// Total adds up counts.
func Total(counts []int64) (sum int64) {
	for _, c := range counts {
		sum += c
	}
	return sum
}

// withoutTime leaves the time out of a log: its digits could be taken for a count.
var withoutTime = &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}}

// PrintedForms returns everything that a program might print of a value.
func PrintedForms(v any) []string {
	var all []string
	for _, verb := range []string{"v", "+v", "#v", "s", "d", "x", "X", "q", "g", "t", "b", "c", "o", "U", "e", "E", "f",
		"F", "G"} {
		all = append(all, fmt.Sprintf("%"+verb, v))
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, withoutTime)).Error("x", "v", v)
	slog.New(slog.NewJSONHandler(&b, withoutTime)).Error("x", "v", v)
	text, _ := json.Marshal(v)
	return append(all, b.String(), string(text))
}

// Counts returns a table of a plan as it would be published without noise, from the exact answers to measurements.
// What is put together from these is whole up to the rounding of a few operations.
func Counts(t testing.TB, p *plan.Plan, answerTo func(id string) []int64, path string) []int64 {
	t.Helper()
	s := &measured.Sealed{Plan: compiled.Of(p)}
	for _, m := range p.Measurements {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(answerTo(m.ID), nil)
		s.Measured = append(s.Measured, measured.Measured{Measurement: m, Values: b.NewInt64Array()})
	}
	tables, err := synth.Estimate(s)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tables, func(table synth.Table) bool { return table.Path == path })
	if i < 0 {
		t.Fatal("no table", path)
	}
	var counts []int64
	for _, v := range tables[i].Statistics[0].Unbiased.Float64Values() {
		if math.Abs(v-math.Round(v)) > 1e-6 {
			t.Fatalf("%s: exact answers lead to %v", path, v)
		}
		counts = append(counts, int64(math.Round(v)))
	}
	return counts
}
