package release

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/internal/planfile"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

const shopsText = `version: 1
release: shops
privacy: {protects: shop, neighbours: add-remove}
budget: {rho: 1}
tables:
  shops:
    source: {csv: shops.csv}
    unit: row
    join: {areas: {FORMAT: FILE, on: zip, public: true}}
    columns:
      area: {from: areas.area, values: [north, south]}
marginals: {m: {by: [area]}}
`

// area is a row of a public table of which one column is not used.
type area struct {
	Zip  int32   `parquet:"zip"`
	Area string  `parquet:"area"`
	Rate float64 `parquet:"rate"`
}

// areaFiles are one public table in the formats there are, by their names.
func areaFiles(t *testing.T) map[string][]byte {
	t.Helper()
	const text = "zip,area,rate\n1,north,0.5\n-2,south,1\n"
	var zipped, squeezed, parqueted, arrowed bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(text))
	s, squeezing := zstd.NewWriter(&squeezed)
	err = errors.Join(err, z.Close(), squeezing)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Write([]byte(text))
	err = errors.Join(err, s.Close(), parquet.Write(&parqueted, []area{{1, "north", 0.5}, {-2, "south", 1}}))

	mem := memory.DefaultAllocator
	zips, areas := array.NewInt32Builder(mem), array.NewStringBuilder(mem)
	zips.AppendValues([]int32{1, -2}, nil)
	areas.AppendValues([]string{"north", "south"}, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "zip", Type: arrow.PrimitiveTypes.Int32},
		{Name: "area", Type: arrow.BinaryTypes.String}}, nil)
	w := ipc.NewWriter(&arrowed, ipc.WithSchema(schema))
	err = errors.Join(err, w.Write(array.NewRecord(schema, []arrow.Array{zips.NewArray(), areas.NewArray()}, 2)),
		w.Close())
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"csv areas.csv": []byte(text), "csv areas.csv.gz": zipped.Bytes(),
		"csv areas.csv.zst":     squeezed.Bytes(),
		"parquet areas.parquet": parqueted.Bytes(), "arrow areas.arrows": arrowed.Bytes()}
}

// TestPublicTablesInAnyFormatGiveOnePlan holds that plans have one extract of a public table, whatever its file is, and
// need no file to be read back.
func TestPublicTablesInAnyFormatGiveOnePlan(t *testing.T) {
	for name, content := range areaFiles(t) {
		format, file, _ := strings.Cut(name, " ")
		dir := t.TempDir()
		path := filepath.Join(dir, "release.yaml")
		for at, content := range map[string][]byte{file: content,
			"release.yaml": []byte(strings.NewReplacer("FORMAT", format, "FILE", file).Replace(shopsText))} {
			if err := os.WriteFile(filepath.Join(dir, at), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := planfile.Load(context.Background(), planfile.Spec{Path: path})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := map[string]string{file: "zip,area\n1,north\n-2,south\n"}; !maps.Equal(p.Source.Files, want) {
			t.Errorf("%s: the plan holds %q", name, p.Source.Files)
		}
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		again, err := planner.Read(p.Bytes())
		if err != nil || !slices.Equal(again.Bytes(), p.Bytes()) {
			t.Errorf("%s: the plan is not read back: %v", name, err)
		}
	}
}

// A public table that cannot be read is told by its line in the spec, without a path of this machine.
func TestPublicTablesThatCannotBeReadAreToldByLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "release.yaml")
	for name, content := range map[string]string{"release.yaml": strings.NewReplacer("FORMAT", "parquet", "FILE",
		"areas.parquet").Replace(shopsText), "areas.parquet": "PAR1\x15\x00 and no more"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := planfile.Load(context.Background(), planfile.Spec{Path: path})
	var problems *document.Errors
	if !errors.As(err, &problems) || len(problems.Problems) != 1 || strings.Contains(err.Error(), dir) ||
		!strings.HasPrefix(err.Error(),
			`release.yaml:9:29: tables.shops.join.areas.parquet: public table "areas.parquet" cannot be read: is not a Parquet file, is encrypted, or is cut short`) {
		t.Errorf("got %v", err)
	}
}
