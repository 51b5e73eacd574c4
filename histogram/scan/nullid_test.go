package scan

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/parquet-go/parquet-go"
)

// visit is a row of a file whose id may be missing.
type visit struct {
	ID   *int64 `parquet:"id,optional"`
	Kind string `parquet:"kind"`
	Age  int64  `parquet:"age"`
}

// visits are rows of units of one to eight rows, a third of them without an id, in any order.
func visits(random *rand.Rand) []visit {
	var all []visit
	for id := range int64(300) {
		for range 1 + random.IntN(8) {
			v := visit{ID: &id, Kind: string("abc"[random.IntN(3)]), Age: random.Int64N(10)}
			if random.IntN(3) == 0 {
				v.ID = nil
			}
			all = append(all, v)
		}
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// visitsAs writes rows as a file of a format and returns its folder and the source that names it.
func visitsAs(t *testing.T, format string, rows []visit) (dir, source string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "t."+format)
	var err error
	switch format {
	case "csv":
		var b strings.Builder
		b.WriteString("id,kind,age\n")
		for _, v := range rows {
			id := ""
			if v.ID != nil {
				id = strconv.FormatInt(*v.ID, 10)
			}
			fmt.Fprintf(&b, "%s,%s,%d\n", id, v.Kind, v.Age)
		}
		err = os.WriteFile(path, []byte(b.String()), 0o600)
	case "parquet":
		err = parquet.WriteFile(path, rows)
	case "arrow":
		err = arrowFile(path, rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, fmt.Sprintf("%s: \"*.%[1]s\"", format)
}

// arrowFile writes rows with ids as a dictionary of texts.
func arrowFile(path string, rows []visit) error {
	text := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	ids := array.NewDictionaryBuilder(memory.DefaultAllocator, text).(*array.BinaryDictionaryBuilder)
	kinds, ages := array.NewStringBuilder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
	for _, v := range rows {
		if v.ID == nil {
			ids.AppendNull()
		} else if err := ids.AppendString(strconv.FormatInt(*v.ID, 10)); err != nil {
			return err
		}
		kinds.Append(v.Kind)
		ages.Append(v.Age)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: text, Nullable: true},
		{Name: "kind", Type: arrow.BinaryTypes.String}, {Name: "age", Type: arrow.PrimitiveTypes.Int64}}, nil)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		return err
	}
	record := array.NewRecord(schema, []arrow.Array{ids.NewArray(), kinds.NewArray(), ages.NewArray()},
		int64(len(rows)))
	return errors.Join(w.Write(record), w.Close())
}

// Where the unit says so, a table with rows without an id has for every key the counts of the table without these rows:
// they are left out before rows are bounded, and are in no table. Where it does not, they stop the run.
func TestRowsWithoutAnIDAreLeftOutBeforeBounding(t *testing.T) {
	for _, format := range []string{"csv", "parquet", "arrow"} {
		random := rand.New(rand.NewPCG(11, 1))
		all := visits(random)
		having := slices.DeleteFunc(slices.Clone(all), func(v visit) bool { return v.ID == nil })
		dir, from := visitsAs(t, format, all)
		without, _ := visitsAs(t, format, having)

		p := planOf(t, `csv: "*.csv"`, from, "UNIT", "{id: id, null: drop, max_rows: 2}")
		for key := range byte(3) {
			got, want := countsOf(t, exactOf(t, p, dir, key), "all"), countsOf(t, exactOf(t, p, without, key), "all")
			if !slices.Equal(got, want) || total(got) == 0 {
				t.Errorf("%s, key %d: %v, without those rows %v", format, key, got, want)
			}
		}

		p = planOf(t, `csv: "*.csv"`, from, "UNIT", "{id: id, max_rows: 2}")
		err := errorOf(t, p, Files{Dir: dir})
		var contract *ContractError
		if !errors.As(err, &contract) || contract.Kind != kindNullID || contract.Column != "id" ||
			!strings.HasSuffix(err.Error(), "in the spec by unit: {id: id, null: drop, …}") {
			t.Errorf("%s: %v", format, err)
		}
		exactOf(t, p, without, 1)
	}
}

// A table may have no rows; rows all of which are without an id are another matter.
func TestATableOfNoUnits(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, null: drop, max_rows: 2}")
	if got := total(countsOf(t, exactOf(t, p, folder(t, "t.csv", "id,kind,age\n"), 1), "all")); got != 0 {
		t.Errorf("%d rows of no unit are counted", got)
	}
	var contract *ContractError
	err := errorOf(t, p, Files{Dir: folder(t, "t.csv", "id,kind,age\n,a,1\n,b,2\n")})
	if !errors.As(err, &contract) || contract.Kind != kindNone {
		t.Errorf("rows of no unit: %v", err)
	}
}

// An empty text is an id where it is not a text that means null: all such rows are of one unit.
func TestAnEmptyTextMayBeAnID(t *testing.T) {
	p := planOf(t, `csv: "*.csv"`, `csv: "*.csv", nulls: [NA]`, "UNIT", "{id: id, null: drop, max_rows: 2}")
	if got := total(countsOf(t, exactOf(t, p, folder(t, "t.csv", "id,kind,age\n,a,1\n,b,2\n,c,3\nNA,a,1\nx,b,2\n"), 1),
		"all")); got != 3 {
		t.Errorf("%d rows of a unit with an empty id, of at most 2, and of another with one", got)
	}
}

// A row without an id keeps the rest of its table's contract, as other rows that are left out do.
func TestRowsWithoutAnIDKeepTheContract(t *testing.T) {
	p := ruledPlan(t, "UNIT", "{id: id, null: drop, max_rows: 2}", "ROWS", "error")
	for row, kind := range map[string]string{
		",a,1,n":  "",
		",a,1,":   "", // left out twice
		",a,1,y":  "", // three times
		",a,10,n": "outside its domain",
		",a,,n":   encoding.KindNull,
		",c,3,n":  kindImpossible,
	} {
		err := errorOf(t, p, Files{Dir: folder(t, "t.csv", "id,kind,age,work\n1,a,1,n\n"+row+"\n")})
		var contract *ContractError
		if errors.As(err, &contract); kind == "" && err != nil || kind != "" &&
			(contract == nil || contract.Kind != kind) {
			t.Errorf("%s: %v, expected %q", row, err, kind)
		}
	}
}

// Rows without an id are no more among those that are expected than others that are left out.
func TestRowsWithoutAnIDAreNotExpected(t *testing.T) {
	for expect, met := range map[string]bool{"{rows: [3, 3]}": false, "{rows: [2, 2]}": true,
		"{every: [kind]}": false} {
		p := planOf(t, "UNIT", "{id: id, null: drop, max_rows: 2}\n    expect: "+expect)
		err := errorOf(t, p, Files{Dir: folder(t, "t.csv", "id,kind,age\n1,a,1\n,b,2\n2,c,3\n")})
		if (err == nil) != met {
			t.Errorf("%s: %v", expect, err)
		}
	}
}

// Rows that a column drops are no rows of their unit.
func TestDroppedRowsAreNotBounded(t *testing.T) {
	p := planOf(t, "UNIT", "{id: id, max_rows: 1}", "UNKNOWN", "drop")
	var b strings.Builder
	b.WriteString("id,kind,age\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%d,x,1\n%d,a,2\n%d,b,10\n", i, i, i)
	}
	e := exactOf(t, p, folder(t, "a.csv", b.String()), 1)
	if got := countsOf(t, e, "all")[2]; got != 500 {
		t.Errorf("%d of 500 units keep their only row", got)
	}
}
