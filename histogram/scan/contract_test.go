package scan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

func TestBreachesNameNoValue(t *testing.T) {
	const canary = "Zanzibar"
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	for name, c := range map[string]struct{ rows, column, kind string }{
		"outside":  {"1," + canary + ",3\n", "kind", domain.OutOfDomain.String()},
		"null":     {"1,,3\n", "kind", "null"},
		"number":   {"1,a," + canary + "\n", "age", domain.NotANumber.String()},
		"range":    {"1,a,731988\n", "age", domain.OutOfDomain.String()},
		"null id":  {",a,3\n", "id", "null id"},
		"first":    {"1,a,3\n2," + canary + ",4\n,a,731988\n", "kind", domain.OutOfDomain.String()},
		"same row": {"1,a,731988\n1," + canary + ",1\n", "age", domain.OutOfDomain.String()},
	} {
		err := errorOf(t, p, Files{Dir: folder(t, "a.csv", "id,kind,age\n"+c.rows)})
		var e *ContractError
		if !errors.As(err, &e) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if e.Table != "persons" || e.Column != c.column || e.Kind != c.kind {
			t.Errorf("%s: got %s, %s, %s", name, e.Table, e.Column, e.Kind)
		}
		for _, v := range []any{e, *e, errors.Join(err), fmt.Errorf("wrapped: %w", err), struct{ e error }{err},
			e.breaches()[0], e.breaches()} {
			for _, s := range shown(v) {
				if strings.Contains(s, canary) || strings.Contains(s, "731988") || strings.Contains(s, "a.csv") {
					t.Errorf("%s: %T shows %s", name, v, s)
				}
			}
		}
		var b strings.Builder
		if err := e.WriteDiagnostics(&b); err != nil {
			t.Error(err)
		}
		if strings.Contains(c.rows, canary) && !strings.Contains(b.String(), canary) ||
			!strings.Contains(b.String(), "a.csv") {
			t.Errorf("%s: the diagnostics are %s", name, b.String())
		}
	}
}

// One bad column does not hide another, however far down that one begins.
func TestEveryBadColumnIsNamed(t *testing.T) {
	p := planOf(t)
	dir := folder(t, "a.csv", "kind,age\n"+strings.Repeat("x,1\n", 200000)+strings.Repeat("a,10\n", 5))
	err := errorOf(t, p, Files{Dir: dir})
	var e *ContractError
	if !errors.As(err, &e) || len(e.breaches()) != columnLimit+5 {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"persons.kind: a value is outside", "persons.age: a value is outside"} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("%q names not once %q", err, want)
		}
	}
}

// Ids must be of one exact type in all files.
func TestIDTypes(t *testing.T) {
	ints := histogramtest.FromJSON(t, arrow.PrimitiveTypes.Int64, `[7, 8]`)
	texts := histogramtest.FromJSON(t, arrow.BinaryTypes.String, `["7", "8"]`)
	floats := histogramtest.FromJSON(t, arrow.PrimitiveTypes.Float64, `[7, 8]`)
	for name, ids := range map[string][]arrow.Array{"float": {floats}, "mixed": {ints, texts},
		"mixed back": {texts, ints}} {
		p := planOf(t)
		b := bounding.Screen(1, streams(p, 1).Rows().Bounding("x"), bounding.Options{Memory: 1 << 20})
		var err error
		read, w := &pass{tally: &tally{task: task{table: &spec.Table{Unit: spec.Unit{ID: "id"}}}}}, b.Worker()
		for piece, a := range ids {
			read.read = append(read.read, reading{file: "f"})
			if err == nil {
				err = w.Add(piece, 0, a, bounding.Rows{}, nil)
			}
		}
		if err == nil {
			_, err = b.Finish(t.Context())
		}
		err = read.nameFile(err)
		var e *source.Error
		if !errors.As(err, &e) || e.Kind != source.WrongType || e.Column != "id" || e.File != "f" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
