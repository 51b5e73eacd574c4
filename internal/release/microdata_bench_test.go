package release

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/internal/testkit"
)

// chainedTable returns a CSV file of rows with columns c0, c1 … of these numbers of categories, made from a seed: in
// two of three rows a column is determined by the one before it, and otherwise it is random.
func chainedTable(sizes []int, rows int, seed uint64) []byte {
	var out bytes.Buffer
	for i := range sizes {
		fmt.Fprintf(&out, "%sc%d", strings.Repeat(",", min(i, 1)), i)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range rows {
		before := 0
		for i, n := range sizes {
			code := random.IntN(n)
			if i > 0 && random.IntN(3) > 0 {
				code = before % n
			}
			fmt.Fprintf(&out, "%c%d", "\n,"[min(i, 1)], code)
			before = code
		}
	}
	return append(out.Bytes(), '\n')
}

// BenchmarkMicrodata makes whole releases of microdata at ε = 1, from files to files, by the method that the planner
// chooses: of adult15, of 35 columns of 2 to 12 categories and of 100 of two. The last two have 200 000 rows, and the
// bars are 1 GB of memory for the first and 2 GB for the others. For peak-MB see [BenchmarkAdultWays].
func BenchmarkMicrodata(b *testing.B) {
	many, binary := make([]int, 35), make([]int, 100)
	for i := range many {
		many[i] = 2 + i*7%11
	}
	for i := range binary {
		binary[i] = 2
	}
	for _, c := range []struct {
		name  string
		sizes []int
		rows  int // 0: those of a file
		most  float64
	}{
		{"adult15", []int{32, 9, 32, 16, 16, 7, 15, 6, 5, 2, 32, 32, 32, 42, 2}, 0, 1e9 / 1024 / 1024},
		{"many", many, 200_000, 2e9 / 1024 / 1024},
		{"binary", binary, 200_000, 2e9 / 1024 / 1024},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			text, names := chainedTable(c.sizes, c.rows, 1), make([]string, len(c.sizes))
			for i := range names {
				names[i] = fmt.Sprintf("c%d", i)
			}
			if c.rows == 0 {
				var err error
				if text, err = os.ReadFile(testkit.Data(b, c.name+".csv")); err != nil {
					b.Fatal(err)
				}
				head, _, _ := bytes.Cut(text, []byte("\n"))
				names = strings.Split(strings.TrimSpace(string(head)), ",")
			}
			columns := make([]string, len(c.sizes))
			for i, n := range c.sizes {
				columns[i] = fmt.Sprintf("c%d: {from: %q, type: integer, range: [0, %d]}", i, "`"+names[i]+"`", n-1)
			}
			spec := fmt.Sprintf("version: 1\nrelease: made\nprivacy: {protects: person, neighbours: add-remove}\n"+
				"budget: {epsilon: 1, delta: 1e-9, split: {tables: 1/20, rows: 19/20}}\n"+
				"tables: {t: {source: {csv: t.csv}, unit: row, columns: {%s}}}\n"+
				"marginals: {first: {by: [c0], budget: tables}}\nsynthetic: {t: {budget: rows}}\n",
				strings.Join(columns, ", "))
			for name, text := range map[string][]byte{"t.csv": text, "release.yaml": []byte(spec)} {
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			p, err := planfile.Load(context.Background(), planfile.Spec{Path: filepath.Join(dir, "release.yaml")})
			if err != nil {
				b.Fatal(err)
			}
			b.Logf("%s, sets of %d: %s", p.Synthetic[0].Method, p.Synthetic[0].Ways, p.Synthetic[0].Why)
			text = nil
			defer debug.SetGCPercent(debug.SetGCPercent(Garbage)) // as the command does
			debug.FreeOSMemory()
			// elsewhere than on Linux there is no peak to set back
			_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
			for n := 0; b.Loop(); n++ {
				if _, err := Run(b.Context(), p,
					Options{Data: dir, Out: filepath.Join(dir, fmt.Sprint("out", n))}); err != nil {
					b.Fatal(err)
				}
			}
			if peak, ok := peakMemory(); ok {
				b.ReportMetric(peak, "peak-MB")
				if peak > c.most {
					b.Errorf("%.0f MB of memory, more than %.0f", peak, c.most)
				}
			}
		})
	}
}
