package engine_test

import (
	"fmt"
	"io"
	"os"
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
// rows are of units beyond the bound. DPRELEASE_ENGINE_ROWS is how many rows there are.

// sizes are how many categories the columns have.
var sizes = []int{2, 2, 3, 5, 7, 9, 15, 16, 42, 51, 85, 100}

// BenchmarkPostgres prints the rows a second of reading and of counting, and how long counting in the database takes
// beside the best SQL with the same bounding that we could write for this table by hand.
func BenchmarkPostgres(b *testing.B) {
	rows := int64(1_000_000)
	if n, err := strconv.ParseInt(os.Getenv("DPRELEASE_ENGINE_ROWS"), 10, 64); err == nil {
		rows = n
	}
	address := testkit.Postgres(b)
	c, err := pgx.Connect(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	columns, spec := "", ""
	for i, size := range sizes {
		columns += fmt.Sprintf(", (hashint8(i * 12 + %d) & 2147483647) %% %d AS x%d", i, size, i)
		spec += fmt.Sprintf("      x%d: {type: integer, range: [0, %d]}\n", i, size-1)
	}
	for _, s := range []string{
		fmt.Sprintf("CREATE TABLE t AS SELECT (hashint8(i) & 2147483647) %% %d AS id%s FROM generate_series(1::bigint, %d) AS i",
			max(rows/5, 1), columns, rows), "VACUUM ANALYZE t"} {
		if _, err := c.Exec(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	b.Setenv("BENCH_URL", address)
	text := "version: 1\nrelease: pairs\nprivacy: {protects: person, neighbours: add-remove, account: a}\nbudget: {rho: 1}\n" +
		"tables:\n  t:\n    source: {postgres: {url: 'env:BENCH_URL', table: t, stay: STAY}}\n    unit: {id: id, max_rows: 2}\n    columns:\n" +
		spec + "marginals:\n  pairs: {every: [2], by: [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11]}\n"
	read, stay := histogramtest.PlanOf(b, strings.Replace(text, "STAY", "false", 1)),
		histogramtest.PlanOf(b, strings.Replace(text, "STAY", "true", 1))
	for b.Loop() {
		began := time.Now()
		if _, err := c.PgConn().CopyTo(b.Context(), io.Discard, "COPY (SELECT * FROM t) TO STDOUT (FORMAT binary)"); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(rows)/time.Since(began).Seconds()/1e6, "sent-Mrows/s")
		opening, counting := timed(b, read)
		b.ReportMetric(float64(rows)/opening/1e6, "read-Mrows/s")
		b.ReportMetric(counting, "count-s")
		made, counted := timed(b, stay)
		hand := byHand(b, c)
		b.ReportMetric(made+counted, "stay-s")
		b.ReportMetric(hand, "hand-s")
		b.ReportMetric((made+counted)/hand, "stay/hand")
	}
}

// timed returns how many seconds it takes to open a plan's tables, and to count them.
func timed(b *testing.B, p *plan.Plan) (opening, counting float64) {
	b.Helper()
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	opened, err := engine.Open(b.Context(), p, ".")
	if err != nil {
		b.Fatal(err)
	}
	defer opened.Close()
	opening = time.Since(began).Seconds()
	began = time.Now()
	if _, err := opened.Files(".", scan.Options{}).Count(b.Context(), q, noise.NewStreams(noise.Key{1}, "t").Rows()); err != nil {
		b.Fatal(err)
	}
	return opening, time.Since(began).Seconds()
}

// byHand returns how many seconds SQL takes that is written for this table alone: its values are its codes already, no
// contract is checked, and the rows of large units are chosen by SHA-256 as we choose them.
func byHand(b *testing.B, c *pgx.Conn) float64 {
	b.Helper()
	content, pairs := "", []string{}
	for i := range sizes {
		content += fmt.Sprintf("x%d || ',' || ", i)
		for j := range i {
			pairs = append(pairs, fmt.Sprintf("SELECT x%d, x%d, count(*) FROM bounded GROUP BY x%d, x%d", j, i, j, i))
		}
	}
	content = "substr(encode(sha256(convert_to(repeat('k', 64) || " + content + "'I' || id, 'UTF8')), 'hex'), 1, 32)"
	began := time.Now()
	statements := append([]string{"BEGIN", `CREATE TEMPORARY TABLE bounded ON COMMIT DROP AS WITH
		large AS (SELECT id AS of FROM t GROUP BY id HAVING count(*) > 2),
		hashed AS (SELECT t.*, ` + content + ` AS content FROM t JOIN large ON id = of),
		numbered AS (SELECT *, row_number() OVER (PARTITION BY id, content) AS number FROM hashed),
		ranked AS (SELECT *, row_number() OVER (PARTITION BY id ORDER BY (CASE WHEN number = 1 THEN content ELSE
			substr(encode(sha256(convert_to(repeat('k', 64) || 't' || number || content, 'UTF8')), 'hex'), 1, 32) END) COLLATE "C") AS rank FROM numbered)
		SELECT t.* FROM t LEFT JOIN large ON id = of WHERE of IS NULL
		UNION ALL SELECT id, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 FROM ranked WHERE rank <= 2`, "ANALYZE bounded"},
		append(pairs, "COMMIT")...)
	for _, s := range statements {
		if _, err := c.Exec(b.Context(), s); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(began).Seconds()
}
