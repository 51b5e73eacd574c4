package releasetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/plan/compiled"
)

// CountsUpSpec has tables that count up: alone, with a second column, on a coarser level, along two keys, and beside
// ranges of another.
const CountsUpSpec = `version: 1
release: NAME
privacy: {protects: trip, neighbours: add-remove}
budget: BUDGET
tables:
  t: {source: {csv: t.csv}, unit: row, columns: {
    mode: {values: [walk, ride, "by car, or van"]},
    age: {type: integer, range: [0, 59], levels: {ten: {width: 10}, twenty: {width: 20}, edges: {edges: [0, 10, 40]}}},
    side: {values: [n, s]}, day: {values: [mon, tue]}}}
marginals:
  ages: {by: [age.ten], cumulative: [age.ten]}
  modes: {by: [mode, age.ten], cumulative: [age.ten]}
  coarse: {by: [age.twenty, side], cumulative: [age.twenty]}
  both: {by: [mode, age.edges, side], cumulative: [mode, age.edges]}
  ranges: {by: [age.ten, side], ranges: [age.ten]}
  plain: {by: [side]}
`

// Ages plans a spec, such as [CountsUpSpec], with a budget to fill in, in a folder of its own with 600 rows.
func Ages(t *testing.T, spec, budget string) (dir string, p *compiled.Compiled) {
	t.Helper()
	dir = t.TempDir()
	rows := "mode,age,side,day\n"
	for i := range 600 {
		rows += fmt.Sprintf("%s,%d,%s,mon\n", []string{"walk", "ride", `"by car, or van"`}[i%3], i%60,
			[]string{"n", "s"}[i%2])
	}
	text := strings.NewReplacer("NAME", "r", "BUDGET", budget).Replace(spec)
	path := filepath.Join(dir, "r.yaml")
	for name, content := range map[string]string{filepath.Join(dir, "t.csv"): rows, path: text} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, Plan(t, path, nil)
}

// LastAge returns the highest age of a band; the last band of the edges is open.
func LastAge(code string) int {
	var from, to int
	if n, _ := fmt.Sscanf(code, "%d–%d", &from, &to); n == 2 {
		return to
	}
	return 59
}
