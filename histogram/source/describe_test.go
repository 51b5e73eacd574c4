package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/files"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	type row struct {
		Name   string
		Age    int32   `parquet:",optional"`
		Income float64 `parquet:"income"`
		Born   int32   `parquet:"born,date"`
		Tags   []string
	}
	if err := parquet.WriteFile(filepath.Join(dir, "a.parquet"), []row{{Name: "KANARIE"}}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"comma.csv":  "id,na me\n1,KANARIE\n",
		"semi.csv":   "id;a,b;c\n1;KANARIE;3\n",
		"quoted.csv": "\"id\";\"na;me\"\n1;KANARIE\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]Description{
		"a.parquet": {Format: files.Parquet, Fields: []Field{{"Name", domain.Text}, {"Age", domain.Integer},
			{"income", domain.Decimal}, {"born", domain.Date}, {"Tags", ""}}},
		"comma.csv":  {Format: files.CSV, Delimiter: ',', Fields: []Field{{"id", ""}, {"na me", ""}}},
		"semi.csv":   {Format: files.CSV, Delimiter: ';', Fields: []Field{{"id", ""}, {"a,b", ""}, {"c", ""}}},
		"quoted.csv": {Format: files.CSV, Delimiter: ';', Fields: []Field{{"id", ""}, {"na;me", ""}}},
	} {
		got, err := Describe(t.Context(), filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := Describe(t.Context(), filepath.Join(dir, "absent.csv")); err == nil {
		t.Error("an absent file is described")
	}
}
