package engine_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/jackc/pgx/v5"
)

// This file tests that a table gives the same exact answers, bit for bit, whether it is in a file, in PostgreSQL or in
// DuckDB. The rows have what engines treat differently: capital letters, spaces at the end, composed and decomposed
// letters, empty texts, nulls, NaN, −0, infinities, decimals, days at the ends of time, equal rows, and times near
// midnight in another time zone.

// spots is a release of one table in whose place a test puts its source.
const spots = `version: 1
release: spots
privacy: {protects: person, neighbours: add-remove, account: spots}
budget: {epsilon: 4, delta: 1e-6}
diagnostics: {share: 5%}
tables:
  spots:
    source: SOURCE
    unit: {id: id, max_rows: BOUND, null: drop}
    weight: {from: w, range: [0, 4], step: 0.5, kind: design, null: drop}
    where: {is: "n > -4 or flag", unknown: drop}
    columns:
      s: {values: [a, A, "a ", " a", "é", "e\u0301", "ß", ss, "", "null"], unknown: drop, null: drop}
      n: {type: integer, range: [-5, 5], unknown: drop, null: drop}
      x: {type: decimal, range: [-1, 3], step: 0.25, null: drop}
      d: {type: decimal, range: [0, 10], step: 0.05, null: drop}
      u: {type: decimal, range: [0, 2], step: 0.001, unknown: drop, null: drop}
      flag: {type: boolean, values: ["true", "false"], null: drop}
      day: {type: date, range: [2024-02-20, 2024-03-10], unknown: drop, null: drop}
      word: {values: {discover: {max_length: 8}}, unknown: drop, null: drop}
      minute: {from: minute(moment), type: integer, range: [0, 59], levels: {quarter: {width: 15}}, null: drop}
marginals:
  pairs: {every: [1, 2], by: [s, flag, day]}
  sums: {by: [s], stats: [count, {sum: x}, {mean: d}]}
  units: {by: [flag], stats: [count, units]}
  fine: {by: [u], stats: [count]}
  words: {by: [word], stats: [units], per_unit: {groups: 1}}
  minutes: {by: [minute.quarter, n]}
  middle: {by: [flag], stats: [{median: d}]}
  all: {by: []}
  large: {by: [s, flag], cells: {above: 3}}
  best: {by: [s, day], top: 3}
  spread: {by: [flag], stats: [{variance: x}]}
  kinds: {by: [flag], stats: [{distinct: n, per_unit: 2}]}
`

// withoutLists takes out of the release what a database does not count.
var withoutLists = strings.NewReplacer(
	"      word: {values: {discover: {max_length: 8}}, unknown: drop, null: drop}\n", "",
	"  words: {by: [word], stats: [units], per_unit: {groups: 1}}\n", "",
	"diagnostics: {share: 5%}\n", "", "  kinds: {by: [flag], stats: [{distinct: n, per_unit: 2}]}\n", "",
	"units: {by: [flag], stats: [count, units]}",
	"units: {by: [flag]}")

// spot is a row.
type spot struct {
	id   any // int64, string, [16]byte or nil
	s    any // string or nil
	n    any // int64 or nil
	x    any // float64 or nil
	w    any // float64 or nil
	d    any // int64, in hundredths, or nil
	u    any // int64, in millionths, or nil
	flag any // bool or nil
	at   any // microseconds or nil
	word any // string or nil
}

// drawSpots returns rows with ids of a kind.
func drawSpots(r *rand.Rand, kind string, rows int) []spot {
	or := func(null int, v any) any {
		if r.IntN(null) == 0 {
			return nil
		}
		return v
	}
	texts := []string{"a", "A", "a ", " a", "é", "e\u0301", "ß", "ss", "", "null", "b", "a\u00a0", "NULL"}
	doubles := []float64{math.NaN(), math.Copysign(0, -1), 0, math.Inf(1), math.Inf(-1), 0.125, 0.375, -0.625, 2.9999,
		3,
		5e-324, 1e300, 0.1, 0.3}
	start := int64(1_708_387_200_000_000) // 2024-02-20
	all := make([]spot, rows)
	for i := range all {
		unit := r.IntN(rows/3 + 1)
		var id any
		switch kind {
		case "integers":
			id = int64(unit)*1_000_003 - 7
		case "texts":
			id = []string{"x", "X", "x ", "ü", ""}[unit%5] + strconv.Itoa(unit/5)
		default:
			id = [16]byte{byte(unit), 1, 2, 15: byte(unit >> 8)}
		}
		all[i] = spot{id: or(20, id), s: or(9, texts[r.IntN(len(texts))]), n: or(9, int64(r.IntN(13)-6)),
			x: or(9, doubles[r.IntN(len(doubles))]), w: or(30, []float64{0, 0.5, 1, 1.25, 3.75, 9}[r.IntN(6)]),
			d: or(9, int64(r.IntN(1100)-50)), u: or(9, int64(r.IntN(2_200_000))), flag: or(9, r.IntN(2) == 0),
			at:   or(9, start+int64(r.IntN(20*86_400))*1_000_000+[]int64{0, 1, 999_999}[r.IntN(3)]),
			word: or(9, "w"+strconv.Itoa(r.IntN(6)))}
		if i > 0 && r.IntN(4) == 0 {
			all[i] = all[r.IntN(i)] // an equal row
		}
	}
	return all
}

// writeArrow writes the rows as an Arrow file.
func writeArrow(t testing.TB, path, kind string, rows []spot) {
	t.Helper()
	types := map[string]arrow.DataType{"integers": arrow.PrimitiveTypes.Int64, "texts": arrow.BinaryTypes.String,
		"uuids": &arrow.FixedSizeBinaryType{ByteWidth: 16}}
	id := arrow.Field{Name: "id", Type: types[kind], Nullable: true}
	if kind == "uuids" {
		id.Metadata = source.UUIDMetadata
	}
	field := func(name string, of arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: of, Nullable: true}
	}
	schema := arrow.NewSchema([]arrow.Field{id, field("s", arrow.BinaryTypes.String),
		field("n", arrow.PrimitiveTypes.Int64),
		field("x", arrow.PrimitiveTypes.Float64), field("w", arrow.PrimitiveTypes.Float64),
		field("d", &arrow.Decimal128Type{Precision: 12, Scale: 2}),
		field("u", &arrow.Decimal128Type{Precision: 20, Scale: 6}),
		field("flag", arrow.FixedWidthTypes.Boolean), field("moment", &arrow.TimestampType{Unit: arrow.Microsecond}),
		field("day", arrow.FixedWidthTypes.Date32), field("word", arrow.BinaryTypes.String)}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, row := range rows {
		var day any
		if row.at != nil {
			day = arrow.Date32(row.at.(int64) / 86_400_000_000)
		}
		for i, v := range []any{row.id, row.s, row.n, row.x, row.w, row.d, row.u, row.flag, row.at, day, row.word} {
			switch to := b.Field(i).(type) {
			case *array.Int64Builder:
				appendTo(to, v, to.Append)
			case *array.StringBuilder:
				appendTo(to, v, to.Append)
			case *array.Float64Builder:
				appendTo(to, v, to.Append)
			case *array.BooleanBuilder:
				appendTo(to, v, to.Append)
			case *array.Date32Builder:
				appendTo(to, v, to.Append)
			case *array.FixedSizeBinaryBuilder:
				appendTo(to, v, func(v [16]byte) { to.Append(v[:]) })
			case *array.Decimal128Builder:
				appendTo(to, v, func(v int64) { to.Append(decimal128.FromI64(v)) })
			case *array.TimestampBuilder:
				appendTo(to, v, func(v int64) { to.Append(arrow.Timestamp(v)) })
			}
		}
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b.NewRecord()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func appendTo[T any](b array.Builder, v any, add func(T)) {
	if v == nil {
		b.AppendNull()
		return
	}
	add(v.(T))
}

// statements returns what makes the table of the rows in an engine.
func statements(kind, types string, rows []spot) []string {
	ids := map[string]string{"integers": "bigint", "texts": "text", "uuids": "uuid"}
	all := []string{fmt.Sprintf(
		`CREATE TABLE "Spots" (id %s, s text, n integer, x double precision, w real, d numeric(12,2), u %s, flag boolean, moment timestamp, word text)`,
		ids[kind], types)}
	var values []string
	for _, r := range rows {
		fields := make([]string, 0, 10)
		for i, v := range []any{r.id, r.s, r.n, r.x, r.w, r.d, r.u, r.flag, r.at, r.word} {
			text := "NULL"
			switch v := v.(type) {
			case int64:
				switch i {
				case 5:
					text = decimal128.FromI64(v).ToString(2)
				case 6:
					text = decimal128.FromI64(v).ToString(6)
				case 8:
					text = fmt.Sprintf("TIMESTAMP '1970-01-01' + INTERVAL '%d microseconds'", v)
				default:
					text = strconv.FormatInt(v, 10)
				}
			case string:
				text = "'" + strings.ReplaceAll(v, "'", "''") + "'"
			case float64:
				text = "'" + strconv.FormatFloat(v, 'g', -1, 64) + "'::double precision"
				if math.IsInf(v, 0) {
					text = "'" + map[bool]string{true: "", false: "-"}[v > 0] + "Infinity'::double precision"
				}
			case bool:
				text = strconv.FormatBool(v)
			case [16]byte:
				h := hex.EncodeToString(v[:])
				text = fmt.Sprintf("'%s-%s-%s-%s-%s'::uuid", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
			}
			fields = append(fields, text)
		}
		values = append(values, "("+strings.Join(fields, ", ")+")")
	}
	for some := range slices.Chunk(values, 500) {
		all = append(all, `INSERT INTO "Spots" VALUES `+strings.Join(some, ",\n"))
	}
	return all
}

// answersOf returns the hashes of the exact answers to a plan under a key, and how many rows they have together.
func answersOf(t testing.TB, p *plan.Plan, dir string, key byte) (hashes []string, total int64) {
	t.Helper()
	fetched, err := engine.Open(t.Context(), p, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fetched.Close()
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	files := fetched.Files(dir, scan.Options{MemoryLimit: 1 << 30})
	// The key is the same for all engines, although their plans have other hashes.
	counted, err := files.Count(context.Background(), q, noise.NewStreams(noise.Key{key}, "spots").Rows())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answer.All(counted) {
		hashes = append(hashes, hex.EncodeToString(a.Hash()))
		for _, n := range a.Expanded().Counts {
			total += n
		}
	}
	return hashes, total
}

// places returns by engine the source of the table with the rows.
func places(t *testing.T, dir, kind string, rows []spot) map[string]string {
	t.Helper()
	writeArrow(t, filepath.Join(dir, "spots.arrow"), kind, rows)
	all := map[string]string{"files": "{arrow: spots.arrow}"}
	outer := t
	t.Run("postgres", func(t *testing.T) {
		address := testkit.Postgres(t)
		c, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.Background())
		for _, s := range append(statements(kind, "numeric", rows),
			`CREATE TYPE words AS ENUM ('w0', 'w1', 'w2', 'w3', 'w4', 'w5')`,
			`ALTER TABLE "Spots" ALTER word TYPE words USING word::words`,
			`ALTER TABLE "Spots" ALTER moment TYPE timestamptz USING moment AT TIME ZONE 'UTC'`,
			`ALTER DATABASE `+strings.TrimPrefix(c.Config().Database, "/")+` SET TimeZone = 'Asia/Tokyo'`) {
			if _, err := c.Exec(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		variable := "SPOTS_" + strings.ToUpper(kind)
		outer.Setenv(variable, address)
		all["postgres"] = `{postgres: {url: "env:` + variable +
			`", query: 'SELECT *, moment::date AS day FROM "Spots" -- all'}}`
		all["postgres that counts"] = strings.Replace(all["postgres"], "{url", "{stay: true, url", 1)
	})
	t.Run("duckdb", func(t *testing.T) {
		if _, err := exec.LookPath("duckdb"); err != nil {
			t.Skip("needs the program duckdb on the PATH (PyPI: duckdb-cli)")
		}
		sql := append(statements(kind, "decimal(20,6)", rows),
			`CREATE VIEW "my view" AS SELECT *, moment::date AS day FROM "Spots"`)
		c := exec.Command("duckdb", "-bail", "-init", os.DevNull, filepath.Join(dir, "spots.duckdb"))
		c.Stdin = strings.NewReader(strings.Join(sql, ";\n") + ";\n")
		if said, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		all["duckdb"] = `{duckdb: {file: spots.duckdb, table: '"my view"'}}`
	})
	return all
}

// Every engine gives the answers that files give, under the same key.
func TestEnginesAgreeWithFiles(t *testing.T) {
	for i, kind := range []string{"integers", "texts", "uuids"} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			rows := drawSpots(rand.New(rand.NewPCG(1, uint64(i))), kind, 3000)
			sources := places(t, dir, kind, rows)
			for _, bound := range []string{"1", "2", "5"}[i:] {
				lists := true // of categories that are discovered, for which rows must be read
				ask := func(from string) ([]string, int64) {
					text := strings.NewReplacer("SOURCE", from, "BOUND", bound).Replace(spots)
					if !lists {
						text = withoutLists.Replace(text)
					}
					return answersOf(t, histogramtest.PlanOf(t, text), dir, 3)
				}
				want, total := ask(sources["files"])
				if total < 1000 {
					t.Fatalf("the rows of files count %d in all answers", total)
				}
				for _, name := range []string{"postgres", "duckdb"} {
					if sources[name] == "" {
						continue
					}
					if got, _ := ask(sources[name]); !slices.Equal(got, want) {
						t.Errorf("%s, %s rows a unit: its answers are not those of files", name, bound)
					}
				}
				lists = false
				if name := "postgres that counts"; sources[name] != "" {
					want, _ := ask(sources["files"])
					if got, _ := ask(sources[name]); !slices.Equal(got, want) {
						t.Errorf("%s, %s rows a unit: its answers are not those of files", name, bound)
					}
				}
			}
		})
	}
}

// Spark gives the answers that files give, under the same key. Its session has the settings that could matter most.
func TestSparkAgreesWithFiles(t *testing.T) {
	spark := newSparkForAll(t)
	for i, kind := range []string{"integers", "texts"} {
		dir := t.TempDir()
		rows := drawSpots(rand.New(rand.NewPCG(1, uint64(i))), kind, 3000)
		writeArrow(t, filepath.Join(dir, "spots.arrow"), kind, rows)
		spark.makeTable(t, "spots_"+kind, sparkTextSchema, sparkTexts(rows), sparkColumns(kind)...)
		for _, bound := range []string{"1", "2", "5"}[i:] {
			t.Run(kind+" "+bound, func(t *testing.T) {
				text := withoutLists.Replace(strings.Replace(spots, "BOUND", bound, 1))
				want, total := answersOf(t, histogramtest.PlanOf(t,
					strings.Replace(text, "SOURCE", "{arrow: spots.arrow}", 1)), dir, 3)
				if total < 1000 {
					t.Fatalf("the rows of files count %d in all answers", total)
				}
				folder := filepath.Join(dir, "exchange"+bound)
				p := histogramtest.PlanOf(t, strings.Replace(text, "SOURCE", "{spark: {table: spots_"+kind+"}}", 1))
				spark.runBoth(t, p, 3, folder)
				got, err := countedBy(t, p, 3, folder, dir)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("its answers are not those of files (%v)", err)
				}
			})
		}
	}
}

// integers is a release of integers of three sizes: ranges, categories with gaps, and numbers that are rounded.
const integers = `version: 1
release: integers
privacy: {protects: person, neighbours: add-remove, account: integers}
budget: {epsilon: 4, delta: 1e-6}
tables:
  numbers:
    source: SOURCE
    unit: {id: id, max_rows: 2}
    columns:
      small: {type: integer, range: [-3, 4], unknown: {as: other}, null: drop}
      coded: {from: middle, values: ["-7", "3", "40", "041", none], unknown: {as: none}, null: {as: none}}
      middle: {type: integer, range: [-32, 31], levels: {eights: {width: 8}}, unknown: {as: other}, null: drop}
      large: {type: decimal, range: [-10, 25], step: 2.5, null: drop}
      near: {from: large, type: integer, range: [-10, 25], levels: {half: {edges: [-10, 1, 25]}}, unknown: drop,
             null: drop}
marginals:
  pairs: {every: [1, 2], by: [small, coded, middle.eights, near.half]}
  sums: {by: [small], stats: [count, {sum: large}]}
`

// integerRows returns a query for rows with all integers near the ends of ranges and of types, and null.
func integerRows(rows, small, middle, large string) string {
	return fmt.Sprintf("SELECT CAST(i / 3 AS bigint) AS id, %s AS small, %s AS middle, %s AS large FROM %s",
		small, middle, large, rows)
}

// Integers are encoded by their range, whatever they are: as those of files are.
func TestIntegersAreThoseOfFiles(t *testing.T) {
	at := func(of string, values ...string) string {
		return fmt.Sprintf("(CAST(ARRAY[%s] AS %s[]))[1 + i %% %d]", strings.Join(values, ", "), of, len(values))
	}
	database(t, "CREATE TABLE numbers AS "+integerRows("generate_series(0, 2000) AS i",
		at("smallint", "-32768", "-4", "-3", "0", "4", "5", "32767", "NULL", "1"),
		at("integer", "-2147483648", "-33", "-32", "-7", "3", "31", "32", "40", "41", "2147483647", "NULL"),
		at("bigint", "-9223372036854775808", "-9223372036854775807", "-11", "-10", "-9", "0", "1", "24", "25", "26",
			"9223372036854775806", "9223372036854775807", "NULL")))
	var all [][]string
	for _, from := range []string{"{postgres: {url: 'env:PEOPLE_URL', table: numbers}}",
		"{postgres: {url: 'env:PEOPLE_URL', table: numbers, stay: true}}"} {
		hashes, total := answersOf(t, histogramtest.PlanOf(t, strings.Replace(integers, "SOURCE", from, 1)), ".", 3)
		if total < 1000 {
			t.Fatalf("the rows count %d in all answers", total)
		}
		all = append(all, hashes)
	}
	if !slices.Equal(all[0], all[1]) {
		t.Error("the answers of the database are not those of rows that are read")
	}
}

// The same in Spark.
func TestIntegersInSparkAreThoseOfFiles(t *testing.T) {
	spark, dir := newSparkForAll(t), t.TempDir()
	at := func(of string, values ...string) string {
		all := "CAST('" + strings.Join(values, "' AS "+of+"), CAST('") + "' AS " + of + ")"
		return fmt.Sprintf("array(%s)[CAST(i %% %d AS int)]", all, len(values))
	}
	numbers := filepath.Join(dir, "numbers")
	spark.do(t, map[string]any{"sql": "INSERT OVERWRITE DIRECTORY '" + numbers + "' USING parquet " +
		strings.ReplaceAll(integerRows("(SELECT id AS i FROM range(0, 2001))",
			at("smallint", "-32768", "-4", "-3", "0", "4", "5", "32767", "NULL", "1"),
			at("int", "-2147483648", "-33", "-32", "-7", "3", "31", "32", "40", "41", "2147483647", "NULL"),
			at("bigint", "-9223372036854775808", "-9223372036854775807", "-11", "-10", "-9", "0", "1", "24", "25", "26",
				"9223372036854775806", "9223372036854775807", "NULL")), "'NULL'", "NULL")})
	declared, _, _ := strings.Cut(integers, "marginals:")
	for name, text := range map[string]string{"integers": integers, "no column": declared +
		"marginals:\n  all: {by: []}\n"} {
		planOf := func(from string) *plan.Plan {
			return histogramtest.PlanOf(t,
				strings.Replace(text, "SOURCE", from, 1))
		}
		want, total := answersOf(t, planOf("{parquet: numbers/part-*.parquet}"), dir, 3)
		if total < 1000 {
			t.Fatalf("%s: the rows of files count %d in all answers", name, total)
		}
		p, folder := planOf("{spark: {parquet: '"+numbers+"'}}"), filepath.Join(dir, "exchange of "+name)
		spark.runBoth(t, p, 3, folder)
		if got, err := countedBy(t, p, 3, folder, dir); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: its answers are not those of files (%v)", name, err)
		}
	}
}

// rules is a release of one table with a contract: policies, impossible rows, expectations.
const rules = `version: 1
release: rules
privacy: {protects: person, neighbours: add-remove, account: rules}
budget: {rho: 1}
tables:
  people:
    source: SOURCE
    unit: UNIT
    where: {is: "age < 8", unknown: WHERE}
    expect: EXPECT
    columns:
      kind: {values: [a, b, c], unknown: UNKNOWN, null: NULL}
      age: {type: integer, range: [0, 9], levels: {band: {width: 5}}, unknown: drop, null: drop}
      work: {values: [y, n], unknown: {as: n}, null: drop}
impossible:
  - {where: {kind: c, age.band: 0–4}, rows: drop}
  - {where: {work: y, kind: [b, c]}, rows: RULED}
marginals:
  kinds: {by: [kind]}
  both: {by: [kind, age.band]}
`

// sentences returns the sentences of an error in alphabetical order: in files they come as the rows do.
func sentences(err error) string {
	lines := strings.Split(err.Error(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A contract that is broken is found in the database as in files, and named by the same words; one that is met gives
// the same answers.
func TestContractsAreThoseOfFiles(t *testing.T) {
	c, _ := database(t, `CREATE TABLE people (id text, kind text, age integer, work text)`)
	r := rand.New(rand.NewPCG(7, 7))
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	met, broken := 0, map[string]int{}
	for range 60 {
		kinds, ages, works := []string{"a", "b", "c"}, []string{"0", "3", "5", "7", "8", "9"}, []string{"n"}
		for _, more := range []struct {
			to   *[]string
			text string
		}{{&kinds, ""}, {&kinds, "d"}, {&ages, ""}, {&ages, "12"}, {&works, ""}, {&works, "z"}, {&works, "y"}} {
			if r.IntN(3) == 0 {
				*more.to = append(*more.to, more.text)
			}
		}
		csv := "id,kind,age,work\n"
		execute(t, c, "TRUNCATE people")
		for i := range r.IntN(40) {
			id := strconv.Itoa(i / 3)
			if r.IntN(40) == 0 {
				id = ""
			}
			row := []string{id, pick(kinds...), pick(ages...), pick(works...)}
			csv += strings.Join(row, ",") + "\n"
			for j, text := range row {
				row[j] = "NULL"
				if text != "" {
					row[j] = "'" + text + "'"
				}
			}
			execute(t, c, "INSERT INTO people VALUES ("+strings.Join(row, ", ")+")")
		}
		dir := histogramtest.Folder(t, "people.csv", csv)
		text := strings.NewReplacer("UNIT", pick("{id: id, max_rows: 2}", "{id: id, max_rows: 1, null: drop}", "row"),
			"WHERE", pick("drop", "error"), "UNKNOWN", pick("error", "drop", "{as: a}"), "NULL", pick("error", "drop"),
			"RULED", pick("drop", "error"), "EXPECT", pick("{rows: [0, 9]}", "{rows: [3, 50], every: [work]}",
				"{every: [kind]}")).
			Replace(rules)
		of := func(from string) (hashes []string, err error) {
			return countOf(t, histogramtest.PlanOf(t, strings.Replace(text, "SOURCE", from, 1)), dir)
		}
		want, wanted := of("{csv: people.csv}")
		got, err := of(`{postgres: {url: "env:PEOPLE_URL", table: people, stay: true}}`)
		switch {
		case wanted == nil && err == nil && slices.Equal(got, want):
			met++
		case wanted != nil && err != nil && sentences(wanted) == sentences(err):
			broken[sentences(wanted)]++
		default:
			t.Errorf("files: %v %v\nits database: %v %v\n%s\n%s", want, wanted, got, err, text, csv)
		}
	}
	// Which way a contract is broken is decided by rows that `where` lets count, and all ways are named.
	for csv, ways := range map[string]int{"id,kind,age,work\n1,,2,n\n2,d,9,n\n": 1,
		"id,kind,age,work\n1,,2,n\n2,d,3,n\n": 2} {
		execute(t, c, "TRUNCATE people")
		for line := range strings.SplitSeq(strings.TrimSpace(csv[len("id,kind,age,work\n"):]), "\n") {
			f := strings.Split(line, ",")
			execute(t, c, fmt.Sprintf("INSERT INTO people VALUES ('%s', NULLIF('%s', ''), %s, '%s')", f[0], f[1], f[2],
				f[3]))
		}
		text := strings.NewReplacer("UNIT", "row", "WHERE", "drop", "UNKNOWN", "error", "NULL", "error", "RULED",
			"drop", "EXPECT",
			"{rows: [0, 9]}").Replace(rules)
		dir := histogramtest.Folder(t, "people.csv", csv)
		_, wanted := countOf(t, histogramtest.PlanOf(t, strings.Replace(text, "SOURCE", "{csv: people.csv}", 1)), dir)
		_, err := countOf(t, histogramtest.PlanOf(t, strings.Replace(text, "SOURCE",
			`{postgres: {url: "env:PEOPLE_URL", table: people, stay: true}}`, 1)), dir)
		if wanted == nil || err == nil || sentences(wanted) != sentences(err) ||
			len(strings.Split(err.Error(), "\n")) != ways {
			t.Errorf("files: %v\nits database: %v", wanted, err)
		}
	}
	if met < 5 || len(broken) < 8 {
		t.Errorf("%d tables met their contract, and others broke it in %d ways: %v", met, len(broken), broken)
	}
}

// Dates as ids, infinite ones too, and a release that reads no column of its table.
func TestUnitsByDate(t *testing.T) {
	database(t, `CREATE TABLE people AS SELECT DATE '1969-12-30' + i / 3 AS id, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS kind, i AS pay FROM generate_series(1, 9) AS i`,
		`INSERT INTO people VALUES ('infinity', 'a', 1), ('infinity', 'b', 2), ('-infinity', 'a', 3), ('-infinity', 'a', 4)`)
	none := strings.NewReplacer("{id: id, max_rows: 1}", "row", "  kinds: {by: [kind]}\n  pays: {by: [pay]}",
		"  all: {by: []}").Replace(people)
	for name, text := range map[string]string{"dates": people, "no column": none} {
		var all [][]string
		for _, from := range []string{"{postgres: {url: 'env:PEOPLE_URL', table: people}}",
			"{postgres: {url: 'env:PEOPLE_URL', table: people, stay: true}}"} {
			hashes, err := countOf(t, histogramtest.PlanOf(t,
				strings.NewReplacer("SOURCE", from, "UNKNOWN", "drop").Replace(text)), ".")
			if err != nil {
				t.Errorf("%s, %s: %v", name, from, err)
			}
			all = append(all, hashes)
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("%s: other answers in the database", name)
		}
	}
}
