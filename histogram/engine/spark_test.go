package engine_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
)

// This file has Spark run the jobs that are written for it, in a session that stays open (testdata/session.py).

// sparkSession is a process of Python with a Spark session.
type sparkSession struct {
	in      io.Writer
	out     *bufio.Reader
	dir     string // for tables
	log     string // folder of Spark's log of events
	process int
}

// newSparkForAll is newSpark for the tests that take minutes, which .ci/engines runs.
func newSparkForAll(t *testing.T, settings ...string) *sparkSession {
	t.Helper()
	if os.Getenv("DPRELEASE_SPARK") == "" {
		t.Skip("takes minutes: .ci/engines runs it (DPRELEASE_SPARK=1)")
	}
	return newSpark(t, settings...)
}

// newSpark starts a session, with settings such as spark.sql.ansi.enabled=false.
func newSpark(t testing.TB, settings ...string) *sparkSession {
	t.Helper()
	if _, err := exec.LookPath("java"); err != nil {
		t.Skip("needs Java 17 for Spark (java on the PATH)")
	}
	if err := exec.Command("python3", "-c", "import pyspark").Run(); err != nil {
		t.Skip("needs Spark for Python (PyPI: pyspark)")
	}
	dir := t.TempDir()
	program, err := os.ReadFile("dprelease_spark.py")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "dprelease_spark.py"), program, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(dir, "events")
	if err := os.Mkdir(events, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("python3", append([]string{"testdata/session.py", dir, filepath.Join(dir, "warehouse"),
		"spark.eventLog.enabled=true", "spark.eventLog.dir=" + events, "spark.eventLog.compress=false"},
		settings...)...)
	c.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1", "SPARK_LOCAL_DIRS="+dir, "PYTHONDONTWRITEBYTECODE=1")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("%s", text[max(0, len(text)-4000):])
		}
	})
	return &sparkSession{in: in, out: bufio.NewReader(out), dir: dir, log: events, process: c.Process.Pid}
}

// ask has the session do something, and returns what it says of an error.
func (s *sparkSession) ask(t testing.TB, what map[string]any) string {
	t.Helper()
	line, err := json.Marshal(what)
	if err == nil {
		_, err = fmt.Fprintf(s.in, "%s\n", line)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the session has ended: %v", err)
	}
	var says string
	if err := json.Unmarshal(text, &says); err != nil {
		t.Fatal(err)
	}
	return says
}

// do has the session do something, which must not fail.
func (s *sparkSession) do(t testing.TB, what map[string]any) {
	t.Helper()
	if says := s.ask(t, what); says != "" {
		t.Fatal(says)
	}
}

// makeTable makes a table of rows of texts: its columns are made of them by expressions.
func (s *sparkSession) makeTable(t *testing.T, table, schema string, rows []map[string]string, columns ...string) {
	t.Helper()
	path := filepath.Join(s.dir, table+".json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := json.NewEncoder(f).Encode(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.do(t, map[string]any{"rows": path, "schema": schema, "select": columns, "table": table})
}

// streamsOf returns the streams of a key.
func streamsOf(key byte) *noise.RowStreams { return noise.NewStreams(noise.Key{key}, "spots").Rows() }

// emit writes the next round of a plan's job.
func emit(t testing.TB, p *plan.Plan, key byte, folder string, want int) {
	t.Helper()
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	round, err := engine.EmitSpark(t.Context(), q, streamsOf(key), folder)
	if err != nil || round != want {
		t.Fatalf("round %d in place of %d: %v", round, want, err)
	}
}

// runBoth runs both rounds of a plan's job in a folder.
func (s *sparkSession) runBoth(t testing.TB, p *plan.Plan, key byte, folder string) {
	t.Helper()
	for round := range 2 {
		emit(t, p, key, folder, round+1)
		s.do(t, map[string]any{"run": folder})
	}
	emit(t, p, key, folder, 0)
}

// countedBy returns the hashes of the answers to a plan of which a folder has the counts.
func countedBy(t *testing.T, p *plan.Plan, key byte, folder, dir string) (hashes []string, err error) {
	t.Helper()
	q, err := histogram.QuestionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	counted, err := engine.Tables{Dir: dir, FromSpark: folder,
		Options: scan.Options{MemoryLimit: 1 << 30}}.Count(t.Context(), q, streamsOf(key))
	for _, a := range answer.All(counted) {
		hashes = append(hashes, hex.EncodeToString(a.Hash()))
	}
	return hashes, err
}

// sparkTexts returns rows as texts, from which columns are made by [sparkColumns].
func sparkTexts(rows []spot) (texts []map[string]string) {
	for _, r := range rows {
		row := map[string]string{}
		for name, v := range map[string]any{"id": r.id, "s": r.s, "n": r.n, "x": r.x, "w": r.w, "d": r.d, "u": r.u,
			"flag": r.flag,
			"at":   r.at, "word": r.word} {
			switch v := v.(type) {
			case nil:
			case int64:
				row[name] = strconv.FormatInt(v, 10)
				switch name {
				case "d":
					row[name] = decimal128.FromI64(v).ToString(2)
				case "u":
					row[name] = decimal128.FromI64(v).ToString(6)
				}
			case string:
				row[name] = v
			case bool:
				row[name] = strconv.FormatBool(v)
			case float64:
				row[name] = strconv.FormatFloat(v, 'g', -1, 64)
				if math.IsInf(v, 0) {
					row[name] = map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0]
				}
			case [16]byte:
				h := hex.EncodeToString(v[:])
				row[name] = fmt.Sprintf("%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
			}
		}
		texts = append(texts, row)
	}
	return texts
}

const sparkTextSchema = "id string, s string, n string, x string, w string, d string, u string, flag string, at " +
	"string, word string"

// sparkColumns are the columns of the table with the rows, by expressions from their texts.
func sparkColumns(kind string) []string {
	id := map[string]string{"integers": "CAST(id AS BIGINT) AS id", "texts": "id", "uuids": "id"}[kind]
	return []string{id, "s", "CAST(n AS INT) AS n", "CAST(x AS DOUBLE) AS x", "CAST(w AS FLOAT) AS w",
		"CAST(d AS DECIMAL(12,2)) AS d",
		"CAST(u AS DECIMAL(20,6)) AS u", "CAST(flag AS BOOLEAN) AS flag",
		"timestamp_micros(CAST(at AS BIGINT)) AS moment",
		"CAST(timestamp_micros(CAST(at AS BIGINT)) AS DATE) AS day", "word"}
}
