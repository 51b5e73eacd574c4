package scan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/internal/noise"
)

// TestSamplesAreTheSameOnEveryMachine wants a sample to depend on the files and the key alone: a run that resumes finds
// the exact integers that it was debited for, whatever it runs on, and another key draws others.
func TestSamplesAreTheSameOnEveryMachine(t *testing.T) {
	for name, unit := range map[string]string{"rows": "row", "numbers": "{id: id, max_rows: 2}",
		"texts": "{id: name, null: drop, max_rows: 1}"} {
		t.Run(name, func(t *testing.T) {
			p := planOfText(t, "version: 1\nrelease: r\nprivacy: {protects: person, neighbours: add-remove}\n"+
				"budget: {epsilon: 1}\n"+
				"tables: {t: {source: {csv: [a.csv, b.csv]}, unit: "+unit+
				", sample: {poisson: 30%}, columns: {k: {values: {integers: [0, 499]}, unknown: drop}}}}\n"+
				"marginals: {m: {by: [k]}}\n")
			dir := t.TempDir()
			for file, from := range map[string]int{"a.csv": 0, "b.csv": 40_000} {
				b := &strings.Builder{}
				b.WriteString("id,name,k\n")
				for i := from; i < from+40_000; i++ {
					name := fmt.Sprintf("person number %d", i%30_000)
					if i%17 == 0 {
						name = ""
					}
					fmt.Fprintf(b, "%d,%s,%d\n", i%30_000, name, i%510)
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			seen, drawn := map[string]bool{}, map[string]bool{}
			for key, opts := range [][]Options{{{Workers: 1}, {Workers: 2}, {Workers: 2, MemoryLimit: 48 << 20}},
				{{Workers: 2}}} {
				for _, opt := range opts {
					e := countBy(t, p, Files{Dir: dir, Options: opt},
						noise.NewStreams(noise.Key{7: byte(key), 31: 1}, p.Hash()))
					seen[fmt.Sprintf("key %d: %x", key, e.answers[0].Hash())] = true
					drawn[string(e.answers[0].Hash())] = true
				}
			}
			if len(seen) != 2 || len(drawn) != 2 {
				t.Errorf("two keys drew %d samples: %v", len(drawn), seen)
			}
		})
	}
}
