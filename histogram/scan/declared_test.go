package scan

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
)

// written is a row whose values are all texts.
type written struct {
	Age  string `parquet:"age"`
	Born string `parquet:"born"`
	Pay  string `parquet:"pay"`
	Sex  string `parquet:"sex"`
}

// A Parquet column of texts that the spec declares as numbers or dates is refused, with the expression that would read
// it; that expression reads it, and so do CSV and the names of folders, which have texts alone.
func TestTextsInColumnsOfAnotherType(t *testing.T) {
	rows := []written{{"34", "2001-02-03", "12.50", "f"}, {"7", "1999-12-31", "8", "m"}}
	for column, c := range map[string]struct{ declared, computed string }{
		"age": {"{type: integer, range: [0, 110]}", "{from: \"= integer(age)\", type: integer, range: [0, 110]}"},
		"born": {"{type: date, range: [1990-01-01, 2010-12-31]}",
			"{from: \"= date(born)\", type: date, range: [1990-01-01, 2010-12-31]}"},
		"pay": {"{type: decimal, range: [0, 100], step: 0.01}",
			"{from: \"= decimal(pay, 2)\", type: decimal, range: [0, 100], step: 0.01}"},
		"sex": {"{values: [f, m]}", ""},
	} {
		dir := t.TempDir()
		if err := parquet.WriteFile(filepath.Join(dir, "t.parquet"), rows); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, column+"=34") // of a partition, whose name is a text
		csv := "age,born,pay,sex\n34,2001-02-03,12.50,f\n7,1999-12-31,8,m\n"
		if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(dir, "t.csv"), []byte(csv), 0o600),
			parquet.WriteFile(filepath.Join(folder, "part.parquet"), []struct{ X string }{{"x"}})); err != nil {
			t.Fatal(err)
		}
		count := func(from, column, says string) error {
			text := "version: 1\nrelease: r\nprivacy: {protects: row, neighbours: add-remove}\nbudget: {rho: 1/2}\n" +
				"tables: {t: {source: {" + from + "}, unit: row, columns: {" + column + ": " + says +
				"}}}\nmarginals: {m: {by: [" +
				column + "]}}\n"
			if err := os.WriteFile(filepath.Join(dir, "r.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := spec.Load(t.Context(), filepath.Join(dir, "r.yaml"), spec.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := planner.New(r)
			if err != nil {
				t.Fatal(err)
			}
			_, err = histogram.Count(t.Context(), p, Files{Dir: dir}, streams(p.Plan(), 1))
			return err
		}
		err := count("parquet: t.parquet", column, c.declared)
		if column == "sex" {
			if err != nil {
				t.Errorf("sex: %v", err)
			}
			continue
		}
		var refused *source.Error
		if !errors.As(err, &refused) || refused.Kind != source.WrongType || refused.Column != column {
			t.Errorf("%s: %v, expected a column of the wrong type", column, err)
			continue
		}
		if fix := strings.TrimSuffix(strings.TrimPrefix(c.computed, "{from: "),
			c.computed[strings.Index(c.computed, ", type"):]); !strings.Contains(err.Error(), "from: "+fix) {
			t.Errorf("%v, expected from: %s", err, fix)
		}
		if err := count("parquet: t.parquet", column, c.computed); err != nil {
			t.Errorf("%s, computed: %v", column, err)
		}
		if err := count("csv: t.csv", column, c.declared); err != nil {
			t.Errorf("%s, csv: %v", column, err)
		}
		if column == "age" {
			if err := count("parquet: \"*/part.parquet\"", column, c.declared); err != nil {
				t.Errorf("%s, of a folder: %v", column, err)
			}
		}
	}
}
