package releasetest

import (
	"os"
	"testing"

	"github.com/dprelease/dprelease/internal/published"
	"github.com/parquet-go/parquet-go"
)

// Cell is one row of a published table.
type Cell struct {
	Keys                []string
	Count               int64
	Unbiased, Low, High float64
	StandardError       float64
	Flag                string
}

// ReadTable reads a published table by the names of its columns.
func ReadTable(t *testing.T, path string, keys []string) []Cell {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := parquet.NewReader(f)
	defer r.Close()
	at := map[string]int{}
	for i, c := range r.Schema().Columns() {
		at[c[0]] = i
	}
	for _, name := range append([]string{"count", "count_unbiased", "count_low", "count_high", "count_noise_se",
		"count_flag"}, keys...) {
		if _, ok := at[name]; !ok {
			t.Fatalf("%s has no column %s", path, name)
		}
	}
	rows := make([]parquet.Row, r.NumRows())
	for n := 0; n < len(rows); {
		k, err := r.ReadRows(rows[n:])
		n += k
		if err != nil && n < len(rows) {
			t.Fatal(err)
		}
	}
	out := make([]Cell, len(rows))
	for i, row := range rows {
		p := Cell{
			Count: row[at["count"]].Int64(), Unbiased: published.Number(row[at["count_unbiased"]]),
			Low: published.Number(row[at["count_low"]]), High: published.Number(row[at["count_high"]]),
			StandardError: row[at["count_noise_se"]].Double(), Flag: row[at["count_flag"]].String(),
		}
		for _, k := range keys {
			p.Keys = append(p.Keys, row[at[k]].String())
		}
		out[i] = p
	}
	return out
}
