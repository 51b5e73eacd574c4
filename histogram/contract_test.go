package histogram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/spec"
)

// shown is everything that a program might print of a value.
func shown(v any) []string {
	var all []string
	for _, verb := range []string{"v", "+v", "#v", "s", "d", "x", "X", "q", "g", "t", "b", "c", "o", "U", "e", "E", "f",
		"F", "G"} {
		all = append(all, fmt.Sprintf("%"+verb, v))
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Error("x", "v", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Error("x", "v", v)
	text, _ := json.Marshal(v)
	return append(all, b.String(), string(text))
}

func TestBreachesNameNoValue(t *testing.T) {
	const canary = "Zanzibar"
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}")
	for name, c := range map[string]struct{ rows, column, kind string }{
		"outside":  {"1," + canary + ",3\n", "kind", spec.OutOfDomain.String()},
		"null":     {"1,,3\n", "kind", "null"},
		"number":   {"1,a," + canary + "\n", "age", spec.NotANumber.String()},
		"range":    {"1,a,731988\n", "age", spec.OutOfDomain.String()},
		"null id":  {",a,3\n", "id", "null id"},
		"first":    {"1,a,3\n2," + canary + ",4\n,a,731988\n", "kind", spec.OutOfDomain.String()},
		"same row": {"1,a,731988\n1," + canary + ",1\n", "age", spec.OutOfDomain.String()},
	} {
		_, err := Count(context.Background(), compiled.Of(p), Files{Dir: folder(t, "a.csv", "id,kind,age\n"+c.rows)},
			streams(p, 1))
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
	_, err := Count(context.Background(), compiled.Of(p), Files{Dir: dir}, streams(p, 1))
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

// encoderOf is the encoder of a column of the survey.
func encoderOf(t *testing.T, column string, replacements ...string) *encoder {
	t.Helper()
	e, err := newEncoder(&spec.Table{Name: "persons"}, planOf(t, replacements...).Release().Tables[0].Column(column))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func fromJSON(t *testing.T, of arrow.DataType, text string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, of, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFloatsThatAreNoNumbers(t *testing.T) {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	inf := 1e308
	inf *= 10
	b.AppendValues([]float64{3, inf - inf, inf, -inf, 4.5}, nil)
	raw := b.NewArray()
	codes, found := encoderOf(t, "age").encode(nil, breachLimit, raw)
	want := []misfit{{1, spec.NaN.String()}, {2, spec.Infinite.String()}, {3, spec.Infinite.String()},
		{4, spec.OutOfDomain.String()}}
	if codes[0] != 3 || fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("got %v, %v; want %v", codes, found, want)
	}
	codes, found = encoderOf(t, "age", "UNKNOWN", "drop").encode(nil, breachLimit, raw)
	if len(found) != 0 || codes[1] != dropped || codes[2] != dropped {
		t.Errorf("dropping: got %v, %v", codes, found)
	}
}

// Only entries of a dictionary that a row uses count.
func TestUnusedDictionaryEntries(t *testing.T) {
	values := fromJSON(t, arrow.BinaryTypes.String, `["x", "c", "y", "a"]`)
	index := fromJSON(t, arrow.PrimitiveTypes.Int32, `[3, 1, 1, 3]`)
	of := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	codes, found := encoderOf(t, "kind").encode(nil, breachLimit, array.NewDictionaryArray(of, index, values))
	if len(found) != 0 || fmt.Sprint(codes) != "[0 2 2 0]" {
		t.Errorf("got %v, %v", codes, found)
	}
	index = fromJSON(t, arrow.PrimitiveTypes.Int32, `[3, 2, null, 2]`)
	codes, found = encoderOf(t, "kind", "UNKNOWN", "{as: b}", "NULL", "drop").encode(nil, breachLimit,
		array.NewDictionaryArray(of, index, values))
	if len(found) != 0 || fmt.Sprint(codes) != fmt.Sprint([]uint32{0, 1, dropped, 1}) {
		t.Errorf("got %v, %v", codes, found)
	}
}

// A column of a type its domain cannot read is refused even where unknown
// values are dropped.
func TestWrongTypeIsNeverDropped(t *testing.T) {
	raw := fromJSON(t, arrow.FixedWidthTypes.Boolean, `[true]`)
	_, found := encoderOf(t, "age", "UNKNOWN", "drop", "NULL", "drop").encode(nil, breachLimit, raw)
	if len(found) != 1 || found[0].kind != spec.WrongType.String() {
		t.Errorf("got %v", found)
	}
}

func TestCodesHaveTheLeastWidth(t *testing.T) {
	for size, want := range map[int]int{1: 1, 254: 1, 255: 2, 65534: 2, 65535: 4, 1 << 31: 4} {
		if got := widthOf(size); got != want {
			t.Errorf("%d cells: got %d bytes", size, got)
		}
	}
	e := encoderOf(t, "kind", "UNKNOWN", "drop")
	codes := make([]uint32, 4)
	e.Codes(fromJSON(t, arrow.BinaryTypes.String, `["c", "x", null, "a"]`), codes)
	if want := []uint32{2, 255, 254, 0}; !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v", codes, want)
	}
}

// Ids must be of one exact type in all files.
func TestIDTypes(t *testing.T) {
	ints := fromJSON(t, arrow.PrimitiveTypes.Int64, `[7, 8]`)
	texts := fromJSON(t, arrow.BinaryTypes.String, `["7", "8"]`)
	floats := fromJSON(t, arrow.PrimitiveTypes.Float64, `[7, 8]`)
	for name, ids := range map[string][]arrow.Array{"float": {floats}, "mixed": {ints, texts},
		"mixed back": {texts, ints}} {
		p := planOf(t)
		b, err := bounding.New(bounding.OfRows(1), streams(p, 1).Bounding("x"), bounding.Options{Memory: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		read, w := &pass{tally: &tally{table: &spec.Table{Unit: spec.Unit{ID: "id"}}}}, b.Worker()
		for piece, a := range ids {
			read.read = append(read.read, reading{file: "f"})
			if err == nil {
				err = w.Add(piece, 0, a, nil, nil)
			}
		}
		if err == nil {
			_, err = b.Finish(t.Context())
		}
		err = read.named(err)
		var e *source.Error
		if !errors.As(err, &e) || e.Kind != source.WrongType || e.Column != "id" || e.File != "f" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
