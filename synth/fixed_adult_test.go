package synth

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/noise"
)

// codesByName returns codes by the column names of [planOf].
func codesByName(codes [][]uint32) map[string][]uint32 {
	out := map[string][]uint32{}
	for i, c := range codes {
		out[fmt.Sprintf("c%d", i)] = c
	}
	return out
}

// columnNames returns the names of n columns of [planOf].
func columnNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return strings.Join(names, ", ")
}

// twoWay returns the mean over all pairs of columns of Σ|share of a cell in a − share in b|.
func twoWay(sizes []int, a, b [][]uint32) float64 {
	total, pairs := 0.0, 0
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			cells := make([]float64, sizes[i]*sizes[j])
			for row := range a[i] {
				cells[int(a[i][row])*sizes[j]+int(a[j][row])] += 1 / float64(len(a[0]))
			}
			for row := range b[i] {
				cells[int(b[i][row])*sizes[j]+int(b[j][row])] -= 1 / float64(len(b[0]))
			}
			for _, c := range cells {
				total += math.Abs(c)
			}
			pairs++
		}
	}
	return total / float64(pairs)
}

// TestTablesOfAdult compares rows made from all pairs of columns of adult15 at ε = 1 and δ = 10⁻⁹ with the truth: the
// means of five releases were 0.0675 for all pairs and 0.1568 for all triples. No tree holds 105 pairs of 15 columns.
// Releases stay the same unless something changes that they depend on.
func TestTablesOfAdult(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("set DPRELEASE_LONG to run it")
	}
	codes := adultCodes(t)
	p := planOfTables(t, adultSizes, "{rho: 0.0149731}", "m: {by: ["+columnNames(15)+"], every: [2]}", "")
	const runs = 5
	var two, three float64
	for run := range runs {
		s := sealedFrom(t, p, codesByName(codes), noise.Key{byte(run + 1)}, true)
		start := time.Now()
		d, err := NewDrawing(t.Context(), s, 0, Request{})
		if err != nil {
			t.Fatal(err)
		}
		fitted := time.Since(start)
		start = time.Now()
		rows := d.law.drawRows(t.Context(), d.out.Rows, newStream(s, "rows of t"))
		drawn := time.Since(start)
		a, b := twoWay(adultSizes, codes, rows), threeWay(adultSizes, codes, rows)
		t.Logf("%s: projection %v, rows %v; L1/N of all 2-ways %.4f, of all 3-ways %.4f", d.out.Shape, fitted, drawn,
			a, b)
		two, three = two+a/runs, three+b/runs
	}
	t.Logf("means %.4f and %.4f", two, three)
	if two > 0.070 || three > 0.163 {
		t.Errorf("the mean L1/N is %.4f of all 2-ways, to be 0.070 at most, and %.4f of all 3-ways, to be 0.163", two,
			three)
	}
}

// TestTablesOfManyColumns makes rows from all pairs of 35 columns with 222 thousand cells, of which one has 181
// categories, and from all pairs of 100 columns with two: no tree holds either. The first take 200 MB.
func TestTablesOfManyColumns(t *testing.T) {
	if os.Getenv("DPRELEASE_LONG") == "" {
		t.Skip("set DPRELEASE_LONG to run it")
	}
	wide, binary := make([]int, 35), make([]int, 100)
	for i := range wide {
		wide[i] = 3 + i%20
	}
	wide[7] = 181
	for i := range binary {
		binary[i] = 2
	}
	for name, c := range map[string]struct {
		sizes []int
		rows  int
	}{"35 columns": {wide, 200_000}, "100 columns": {binary, 50_000}} {
		t.Run(name, func(t *testing.T) {
			codes := followingRows(c.sizes, c.rows)
			s := sealedFrom(t, planOfTables(t, c.sizes, "{rho: 0.0149731}", "m: {by: ["+columnNames(len(c.sizes))+
				"], every: [2]}", ""), codesByName(codes), noise.Key{1}, true)
			need, err := Bytes(t.Context(), s, 0, Request{})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			d, err := NewDrawing(t.Context(), s, 0, Request{})
			if err != nil {
				t.Fatal(err)
			}
			fitted := time.Since(start)
			start = time.Now()
			m, err := d.Draw(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			t.Logf("%s: %d tables; projection %v, rows and their comparison %v; L1/N of all 2-ways %.4f; %d MB are "+
				"planned for, %d MB were taken of the system in all",
				m.Shape, len(m.Fits), fitted, time.Since(start), twoWay(c.sizes, codes, m.Codes), need>>20,
				memory.Sys>>20)
			if m.Shape != Gradual || memory.Sys > 2<<30 {
				t.Errorf("a %s that takes %d MB", m.Shape, memory.Sys>>20)
			}
		})
	}
}
