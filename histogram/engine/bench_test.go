package engine_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/plan"
	"github.com/jackc/pgx/v5"
)

// This file measures tables of databases: all pairs of twelve columns, two rows a unit of five at most, so that most
// rows are of units beyond the bound. DPRELEASE_ENGINE_ROWS is how many rows there are. By hand is SQL that is written
// for this table alone: its values are its codes already, no contract is checked, and the rows of large units are
// chosen by SHA-256 as we choose them.

// sizes are how many categories the columns have.
var sizes = []int{2, 2, 3, 5, 7, 9, 15, 16, 42, 51, 85, 100}

// benchRows returns how many rows the table has.
func benchRows() int64 {
	if n, err := strconv.ParseInt(os.Getenv("DPRELEASE_ENGINE_ROWS"), 10, 64); err == nil {
		return n
	}
	return 1_000_000
}

// benchColumns returns the columns of the table in SQL, from a row's number i: hash gives a whole number for one, so
// that it is as good as drawn.
func benchColumns(hash string) string {
	from := func(number string, size int64) string {
		return fmt.Sprintf("("+hash+" & 2147483647) %% %d", number, size)
	}
	columns := from("i", max(benchRows()/5, 1)) + " AS id"
	for i, size := range sizes {
		columns += fmt.Sprintf(", %s AS x%d", from(fmt.Sprintf("i * 12 + %d", i), int64(size)), i)
	}
	return columns
}

// benchPlan returns the plan of all pairs of the columns of a source.
func benchPlan(b *testing.B, from string) *plan.Plan {
	text := "version: 1\nrelease: pairs\nprivacy: {protects: person, neighbours: add-remove, account: a}\n" +
		"budget: {rho: 1}\n" +
		"tables:\n  t:\n    source: " + from + "\n    unit: {id: id, max_rows: 2}\n    columns:\n"
	for i, size := range sizes {
		text += fmt.Sprintf("      x%d: {type: integer, range: [0, %d]}\n", i, size-1)
	}
	return histogramtest.PlanOf(b, text+
		"marginals:\n  pairs: {every: [2], by: [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11]}\n")
}

// eachPair calls a function with the columns of each pair.
func eachPair(visit func(x, y string)) {
	for i := range sizes {
		for j := range i {
			visit(fmt.Sprint("x", j), fmt.Sprint("x", i))
		}
	}
}

// boundedByHand returns the query for the rows that stay. hash gives the SHA-256 of a text in hexadecimal, bytes names
// the order of texts by their bytes, and order is what equal rows are numbered by, where they need an order.
func boundedByHand(hash, bytes, order string) string {
	digits := func(text string) string {
		return "substr(" + fmt.Sprintf(hash, "concat(repeat('k', 64), "+text+")") + ", 1, 32)"
	}
	content, names := "", "x0"
	for i := range sizes {
		content = fmt.Sprintf("%sx%d, ',', ", content, i)
		if i > 0 {
			names = fmt.Sprintf("%s, x%d", names, i)
		}
	}
	return `WITH sized AS (SELECT *, count(*) OVER (PARTITION BY id) AS size FROM t),
hashed AS (SELECT *, CASE WHEN size > 2 THEN ` + digits(content+"'I', id") + ` END AS content FROM sized),
numbered AS (SELECT *, row_number() OVER (PARTITION BY id, content` + order + `) AS number FROM hashed),
ranked AS (SELECT *, row_number() OVER (PARTITION BY id ORDER BY
	(CASE WHEN size <= 2 OR number = 1 THEN content ELSE ` + digits("'t', number, content") + " END)" + bytes + `) AS place FROM numbered)
SELECT ` + names + ` FROM ranked WHERE place <= 2`
}

// BenchmarkPostgres prints the rows a second of reading and of counting, and how long counting in the database takes
// beside the best SQL with the same bounding that we could write for this table by hand.
func BenchmarkPostgres(b *testing.B) {
	rows := benchRows()
	address := testkit.Postgres(b)
	c, err := pgx.Connect(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	for _, s := range []string{
		fmt.Sprintf("CREATE TABLE t AS SELECT %s FROM generate_series(1::bigint, %d) AS i",
			benchColumns("hashint8(%s)"), rows),
		"VACUUM ANALYZE t"} {
		if _, err := c.Exec(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	b.Setenv("BENCH_URL", address)
	read, stay := benchPlan(b, "{postgres: {url: 'env:BENCH_URL', table: t}}"),
		benchPlan(b, "{postgres: {url: 'env:BENCH_URL', table: t, stay: true}}")
	for b.Loop() {
		began := time.Now()
		if _, err := c.PgConn().CopyTo(b.Context(), io.Discard,
			"COPY (SELECT * FROM t) TO STDOUT (FORMAT binary)"); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(rows)/time.Since(began).Seconds()/1e6, "sent-Mrows/s")
		opening, counting := timed(b, read, ".")
		b.ReportMetric(float64(rows)/opening/1e6, "read-Mrows/s")
		b.ReportMetric(counting, "count-s")
		made, counted := timed(b, stay, ".")
		hand := byHand(b, c)
		b.ReportMetric(made+counted, "stay-s")
		b.ReportMetric(hand, "hand-s")
		b.ReportMetric((made+counted)/hand, "stay/hand")
	}
}

// BenchmarkDuckDB prints the rows a second of reading, how long counting takes, and how long SQL by hand takes in the
// program duckdb.
func BenchmarkDuckDB(b *testing.B) {
	if _, err := exec.LookPath("duckdb"); err != nil {
		b.Skip("needs the program duckdb on the PATH (PyPI: duckdb-cli)")
	}
	rows, dir := benchRows(), b.TempDir()
	run := func(sql string) float64 {
		b.Helper()
		began := time.Now()
		c := exec.Command("duckdb", "-bail", "-batch", "-init", os.DevNull, filepath.Join(dir, "t.duckdb"))
		c.Stdin = strings.NewReader(sql)
		if said, err := c.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, said)
		}
		return time.Since(began).Seconds()
	}
	run(fmt.Sprintf("CREATE TABLE t AS SELECT %s FROM range(1, %d) AS r(i);",
		benchColumns("CAST(hash(%s) & 2147483647 AS BIGINT)"), rows+1))
	p := benchPlan(b, "{duckdb: {file: t.duckdb, table: t}}")
	hand := "CREATE TEMPORARY TABLE bounded AS " + boundedByHand("sha256(%s)", "", "") + ";\n"
	eachPair(func(x, y string) {
		hand += fmt.Sprintf("CREATE TEMPORARY TABLE %[1]s_%[2]s AS SELECT %[1]s, %[2]s, count(*) FROM bounded GROUP BY ALL;\n", x, y)
	})
	for b.Loop() {
		opening, counting := timed(b, p, dir)
		b.ReportMetric(float64(rows)/opening/1e6, "read-Mrows/s")
		b.ReportMetric(counting, "count-s")
		took := run(hand)
		b.ReportMetric(took, "hand-s")
		b.ReportMetric((opening+counting)/took, "ours/hand")
	}
}

// BenchmarkSpark prints how long the two rounds of a job take in Spark on this machine, and how long SQL by hand takes
// in the same session.
func BenchmarkSpark(b *testing.B) {
	spark, rows := newSpark(b, "spark.driver.memory=3g"), benchRows()
	// The table is as good as drawn: xxhash64 of the row's number.
	spark.do(b, map[string]any{"sql": fmt.Sprintf("CREATE TABLE t USING parquet AS SELECT %s FROM (SELECT id AS i "+
		"FROM range(%d))",
		benchColumns("xxhash64(%s)"), rows)})
	p, dir := benchPlan(b, "{spark: {table: t}}"), b.TempDir()
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := os.RemoveAll(filepath.Join(dir, "job")); err != nil {
			b.Fatal(err)
		}
		total := 0.0
		for _, name := range []string{"values-s", "counts-s"} {
			if _, err := engine.EmitSpark(b.Context(), q, streamsOf(3), filepath.Join(dir, "job")); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			spark.do(b, map[string]any{"run": filepath.Join(dir, "job")})
			took := time.Since(began).Seconds()
			b.ReportMetric(took, name)
			total += took
		}
		began := time.Now()
		if _, err := (engine.Tables{Dir: dir, FromSpark: filepath.Join(dir, "job")}).Count(b.Context(), q,
			streamsOf(3)); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "here-s")
		began = time.Now()
		spark.do(b, map[string]any{"sql": "INSERT OVERWRITE DIRECTORY '" + filepath.Join(dir, "bounded") +
			"' USING parquet " +
			boundedByHand("sha2(%s, 256)", "", " ORDER BY x0")})
		eachPair(func(x, y string) {
			spark.do(b, map[string]any{"sql": fmt.Sprintf("INSERT OVERWRITE DIRECTORY '%[3]s' USING parquet SELECT "+
				"%[1]s, %[2]s, count(*) AS n FROM parquet.`%[4]s` GROUP BY %[1]s, %[2]s",
				x, y, filepath.Join(dir, "pair"), filepath.Join(dir, "bounded"))})
		})
		hand := time.Since(began).Seconds()
		b.ReportMetric(hand, "hand-s")
		b.ReportMetric(total/hand, "job/hand")
	}
}

// timed returns how many seconds it takes to open a plan's tables, and to count them.
func timed(b *testing.B, p *plan.Plan, dir string) (opening, counting float64) {
	b.Helper()
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	opened, err := engine.Open(b.Context(), p, dir)
	if err != nil {
		b.Fatal(err)
	}
	defer opened.Close()
	opening = time.Since(began).Seconds()
	began = time.Now()
	if _, err := opened.Files(dir, scan.Options{}).Count(b.Context(), q,
		noise.NewStreams(noise.Key{1}, "t").Rows()); err != nil {
		b.Fatal(err)
	}
	return opening, time.Since(began).Seconds()
}

// byHand returns how many seconds SQL by hand takes in PostgreSQL.
func byHand(b *testing.B, c *pgx.Conn) float64 {
	b.Helper()
	statements := []string{"BEGIN", "CREATE TEMPORARY TABLE bounded ON COMMIT DROP AS " +
		boundedByHand("encode(sha256(convert_to(%s, 'UTF8')), 'hex')", ` COLLATE "C"`, ""), "ANALYZE bounded"}
	eachPair(func(x, y string) {
		statements = append(statements, fmt.Sprintf("SELECT %[1]s, %[2]s, count(*) FROM bounded GROUP BY %[1]s, %[2]s",
			x, y))
	})
	began := time.Now()
	for _, s := range append(statements, "COMMIT") {
		if _, err := c.Exec(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began).Seconds()
}
