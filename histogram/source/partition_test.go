package source

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/files"
)

// The names of folders give the values of a column that the files lack.
func TestPartitions(t *testing.T) {
	for _, s := range []spec.TableSource{
		{Format: files.Parquet, Paths: []string{"*/*/x"}},
		{Format: files.Arrow, Paths: []string{"*/*/x"}},
		{Format: files.CSV, Paths: []string{"*/*/x"}, Nulls: []string{""}},
	} {
		dir := mkdir(t, t.TempDir(), "year=1900") // above the data folder, and so without meaning
		for _, folder := range []string{"year=2024/r%C3%A9gion=%C3%8Ele%2F1", "year=2024/région=", "year=2025/région=" +
			noPartition} {
			if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(folder)), 0o700); err != nil {
				t.Fatal(err)
			}
			content := []byte("a,b\nv0,1\nv1,2\n")
			switch s.Format {
			case files.Parquet:
				content = wideBytes(t, 2)
			case files.Arrow:
				content = arrowBytes(t, true, 2)
			}
			writeFile(t, dir, filepath.FromSlash(folder+"/x"), content)
		}
		rows, _, err := readContent(t, dir, s, "région", "a", "year")
		if err != nil {
			t.Errorf("%s: %v", s.Format, err)
			continue
		}
		want := [][]string{
			{"Île/1", "v0", "2024"}, {"Île/1", "v1", "2024"},
			{"", "v0", "2024"}, {"", "v1", "2024"},
			{null, "v0", "2025"}, {null, "v1", "2025"},
		}
		if !slices.EqualFunc(rows, want, slices.Equal[[]string]) {
			t.Errorf("%s: got %q", s.Format, rows)
		}
	}
}

func TestPartitionRefusals(t *testing.T) {
	for folder, kind := range map[string]ErrorKind{
		"y=1":         Missing,
		"x":           Missing,
		"x=1/x=1":     Duplicate,
		"a=1/x=2":     Duplicate,
		"x=%zz":       Malformed,
		"x=%FF":       Malformed,
		"x=1/y=2/%78": "",
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(folder)), 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.FromSlash(folder + "/f.csv")
		writeFile(t, dir, path, []byte("a,b\n1,2\n"))
		_, _, err := readContent(t, dir, globs(path), "a", "x")
		if kind == "" {
			if err != nil {
				t.Errorf("%s: %v", folder, err)
			}
			continue
		}
		mustFail(t, err, kind)
	}
}
