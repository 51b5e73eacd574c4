package engine_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/engine"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/source"
)

// This file tests what goes wrong with a folder that goes to Spark and comes back: every fault is found before anything
// is counted, and no message holds a value.

// refused checks that an error is of a source, says what it should, and holds no value.
func refused(t *testing.T, err error, says string) {
	t.Helper()
	var fault *source.Error
	if !errors.As(err, &fault) {
		t.Fatalf("%T: %v", err, err)
	}
	if !strings.Contains(fault.Error(), says) {
		t.Errorf("it says %q, without %q", fault, says)
	}
	for _, text := range append(histogramtest.PrintedForms(err), err.Error(), fault.Diagnostics()) {
		if strings.Contains(text, canary) {
			t.Errorf("a message holds a value: %s", text)
		}
	}
}

// copyFolder copies a folder of a job.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	err := os.CopyFS(to, os.DirFS(from))
	if err == nil {
		err = os.Chmod(to, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// remove removes files of a folder, which must be there.
func remove(t *testing.T, folder string, globs ...string) {
	t.Helper()
	for _, glob := range globs {
		found, err := filepath.Glob(filepath.Join(folder, glob))
		if err != nil || found == nil {
			t.Fatalf("nothing matches %s (%v)", glob, err)
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// move puts a part of one folder in place of that of another.
func move(t *testing.T, from, to, part string) {
	t.Helper()
	remove(t, to, part)
	if err := os.Rename(filepath.Join(from, part), filepath.Join(to, part)); err != nil {
		t.Fatal(err)
	}
}

// sparkPeople is the source of people.
const sparkPeople = "{spark: {table: people}}"

// makePeople makes the table of people, with one row more if one is given: its id, kind and pay. A unit has up to two
// rows.
func (s *sparkSession) makePeople(t *testing.T, more ...string) {
	t.Helper()
	var rows []map[string]string
	for i := range 1000 {
		rows = append(rows, map[string]string{"id": strconv.Itoa(i / 2), "kind": []string{"a", "b", canary}[i%3],
			"pay": strconv.Itoa(i % 10)})
	}
	if more != nil {
		rows = append(rows, map[string]string{"id": more[0], "kind": more[1], "pay": more[2]})
	}
	s.makeTable(t, "people", "id string, kind string, pay string", rows, "CAST(id AS BIGINT) AS id", "kind",
		"CAST(pay AS INT) AS pay")
}

// A folder that is not as the job of this very plan, key and table leaves it is refused, in words of its own.
func TestFaultsOfSpark(t *testing.T) {
	spark := newSparkForAll(t, "spark.sql.adaptive.enabled=false")
	spark.makePeople(t)
	p := planOf(t, sparkPeople)
	count := func(folder string) error {
		_, err := countedBy(t, p, 3, folder, ".")
		return err
	}
	if _, err := engine.Open(t.Context(), p, "."); err == nil || !strings.Contains(err.Error(), "--emit DIR") {
		t.Error(err)
	}
	refused(t, engine.Check(p.Release(), ".", ""), "--emit DIR")
	refused(t, count(t.TempDir()), "first round")

	first := filepath.Join(t.TempDir(), "first")
	emit(t, p, 3, first, 1)
	emit(t, p, 3, first, 1)
	refused(t, count(first), "first round")
	spark.do(t, map[string]any{"run": first})
	refused(t, count(first), "second round")
	whole := copyFolder(t, first)
	emit(t, p, 3, whole, 2)
	spark.do(t, map[string]any{"run": whole})
	emit(t, p, 3, whole, 0)
	want, err := countedBy(t, p, 3, whole, ".")
	if err != nil {
		t.Fatal(err)
	}
	again := copyFolder(t, whole)
	spark.do(t, map[string]any{"run": again})
	if got, err := countedBy(t, p, 3, again, "."); err != nil || !slices.Equal(got, want) {
		t.Errorf("a second run gives other answers (%v)", err)
	}
	for _, copied := range []string{"rows", "coded", "bounded"} { // of each run its own, so that none reads another's
		before, err := filepath.Glob(filepath.Join(whole, "table0", copied+"-*"))
		if err != nil {
			t.Fatal(err)
		}
		if after, err := filepath.Glob(filepath.Join(again, "table0", copied+"-*")); err != nil ||
			len(after) != len(before)+1 {
			t.Errorf("%d copies %s after %d, %v", len(after), copied, len(before), err)
		}
	}

	t.Run("files", func(t *testing.T) {
		for _, folder := range []string{first, filepath.Join(first, "table0")} {
			if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("others may enter %s (%v)", folder, err)
			}
		}
		emitted := copyFolder(t, first)
		emit(t, p, 3, emitted, 2)
		for _, pattern := range []string{"job.json", "dprelease_spark.py", "table0/key-*.parquet",
			"table0/codes/0-*.parquet",
			"table0/codes"} {
			found, err := filepath.Glob(filepath.Join(emitted, pattern))
			if err != nil || len(found) != 1 {
				t.Fatalf("%s: %d files, %v", pattern, len(found), err)
			}
			if info, err := os.Stat(found[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s may be read by others (%v)", found[0], err)
			}
		}
		other := t.TempDir()
		if err := os.Chmod(other, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(other, "notes"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		q, err := histogram.QuestionsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = engine.EmitSpark(t.Context(), q, streamsOf(3), other)
		refused(t, err, "empty or a new folder")
	})
	t.Run("what is missing", func(t *testing.T) {
		for _, part := range []string{"values_done", "counts_done", "table0/known", "table0/values/0",
			"table0/numbers", "table0/bound",
			"table0/groups/0", "table0/groups/0/part-00000*", "table0/numbers/part-00000*"} {
			folder := copyFolder(t, whole)
			remove(t, folder, part)
			if err := count(folder); err == nil {
				t.Errorf("it is counted without %s", part)
			} else {
				refused(t, err, "")
			}
		}
	})
	t.Run("two runs", func(t *testing.T) {
		for _, part := range []string{"table0/numbers", "table0/bound", "table0/groups/0", "counts_done"} {
			folder, other := copyFolder(t, whole), copyFolder(t, again)
			move(t, other, folder, part)
			refused(t, count(folder), "mixes files of two runs")
		}
	})
	t.Run("another key", func(t *testing.T) {
		_, err := countedBy(t, p, 4, whole, ".")
		refused(t, err, "counts of another job")
	})
	t.Run("another plan", func(t *testing.T) {
		other := histogramtest.PlanOf(t, strings.NewReplacer("SOURCE", sparkPeople, "UNKNOWN", "drop", "[a, b]",
			"[a, b, c]").Replace(people))
		_, err := countedBy(t, other, 3, whole, ".")
		refused(t, err, "values of another plan")
	})
	t.Run("files of another job", func(t *testing.T) {
		for _, pattern := range []string{"codes/0-*.parquet", "key-*.parquet"} {
			folder := copyFolder(t, first)
			emit(t, p, 3, folder, 2)
			found, err := filepath.Glob(filepath.Join(folder, "table0", pattern))
			if err != nil || len(found) != 1 {
				t.Fatalf("%d files, %v", len(found), err)
			}
			name, _, _ := strings.Cut(filepath.Base(found[0]), "-")
			if err := os.Rename(found[0], filepath.Join(filepath.Dir(found[0]),
				name+"-0123456789abcdef.parquet")); err != nil {
				t.Fatal(err)
			}
			if spark.ask(t, map[string]any{"run": folder}) == "" {
				t.Errorf("the job runs with another file than %s", pattern)
			}
			refused(t, count(folder), "second round")
		}
	})
	t.Run("a limit on groups", func(t *testing.T) {
		folder := copyFolder(t, whole)
		for _, of := range []string{"groups/0"} {
			limited := filepath.Join(t.TempDir(), "limited")
			spark.do(t, map[string]any{"sql": "INSERT OVERWRITE DIRECTORY '" + limited +
				"' USING parquet SELECT * FROM parquet.`" +
				filepath.Join(folder, "table0", of) + "` LIMIT 1"})
			remove(t, folder, "table0/"+of)
			if err := os.Rename(limited, filepath.Join(folder, "table0", of)); err != nil {
				t.Fatal(err)
			}
		}
		refused(t, count(folder), "limit on groups")
	})
	t.Run("nothing in logs, and no copy of rows left", func(t *testing.T) {
		rows := streamsOf(3)
		secrets := []string{canary, string(bounding.DrawKey(rows.Contents("people"))[:]),
			string(bounding.KeyOfTable(rows.Bounding("people"))[:])}
		reads := false // the key, as the log says
		for _, glob := range []string{"*", "*/*"} {
			logs, err := filepath.Glob(filepath.Join(spark.log, glob))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range logs {
				text, err := os.ReadFile(path)
				if err != nil {
					continue // a folder
				}
				reads = reads || strings.Contains(string(text), "key-")
				for _, secret := range secrets {
					if strings.Contains(string(text), secret) {
						t.Errorf("%s holds %s", path, secret)
					}
				}
			}
		}
		if !reads {
			t.Error("the log does not say what was read")
		}
		for _, copied := range []string{"rows", "coded", "bounded"} {
			parts, err := filepath.Glob(filepath.Join(whole, "table0", copied+"-*", "part-*"))
			if err != nil || len(parts) == 0 {
				t.Fatalf("%s was not emptied (%v)", copied, err)
			}
			for _, part := range parts {
				if text, err := os.ReadFile(part); err != nil || strings.Contains(string(text), canary) ||
					len(text) > 2000 {
					t.Errorf("%s still has rows (%v)", part, err)
				}
			}
		}
	})
	t.Run("a table that has changed", func(t *testing.T) {
		folder := copyFolder(t, first)
		emit(t, p, 3, folder, 2)
		spark.makePeople(t, "5000", canary+"2", "3")
		spark.do(t, map[string]any{"run": folder})
		refused(t, count(folder), "other values than in the first round")
		// With the values that were there it is another state, which is counted.
		spark.makePeople(t, "5000", "a", "3")
		emit(t, p, 3, folder, 0)
		spark.do(t, map[string]any{"run": folder})
		if got, err := countedBy(t, p, 3, folder, "."); err != nil || slices.Equal(got, want) {
			t.Errorf("the same answers, or %v", err)
		}
	})
	t.Run("sources", func(t *testing.T) {
		for from, says := range map[string]string{
			"{spark: {query: \"SELECT id, kind, pay, id AS pay FROM people\"}}":                "two columns of this name",
			"{spark: {query: \"SELECT id, kind FROM people\"}}":                                "there is no such column",
			"{spark: {query: \"SELECT id, kind, array(pay) AS pay FROM people\"}}":             "which is not read",
			"{spark: {query: \"SELECT id = 3 AS id, kind, pay FROM people\"}}":                 "units are not told apart",
			"{spark: {query: \"DROP TABLE people\"}}":                                          "PARSE_SYNTAX_ERROR",
			"{spark: {query: \"SELECT 1) AS a; DROP TABLE people; SELECT * FROM (SELECT 1\"}}": "PARSE_SYNTAX_ERROR",
		} {
			folder := filepath.Join(t.TempDir(), "folder")
			emit(t, planOf(t, from), 3, folder, 1)
			if said := spark.ask(t, map[string]any{"run": folder}); !strings.Contains(said, says) ||
				strings.Contains(said, canary) {
				t.Errorf("%s: %s", from, said)
			}
		}
		folder := filepath.Join(t.TempDir(), "folder")
		texts := planOf(t, "{spark: {query: \"SELECT id, kind, CAST(pay AS STRING) AS pay FROM people\"}}")
		emit(t, texts, 3, folder, 1)
		spark.do(t, map[string]any{"run": folder})
		q, err := histogram.QuestionsOf(texts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = engine.EmitSpark(t.Context(), q, streamsOf(3), folder)
		refused(t, err, `column "pay": holds texts`)
		rows := strings.NewReplacer("SOURCE", sparkPeople, "max_rows: 1}", "max_rows: 3}", "UNKNOWN", "drop",
			"kinds: {by: [kind]}", "kinds: {by: [kind], per_unit: {total: 1}}").Replace(people)
		if q, err = histogram.QuestionsOf(histogramtest.PlanOf(t, rows)); err != nil {
			t.Fatal(err)
		}
		_, err = engine.EmitSpark(t.Context(), q, streamsOf(3), t.TempDir())
		refused(t, err, "cannot be counted in Spark, as a marginal counts fewer rows")
	})
}

// A contract that is broken is found by Spark as in files, and named by the same words; one that is met gives the same
// answers.
func TestContractsInSparkAreThoseOfFiles(t *testing.T) {
	spark := newSparkForAll(t, "spark.sql.ansi.enabled=false", "spark.sql.session.timeZone=Asia/Tokyo")
	r := rand.New(rand.NewPCG(7, 8))
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	met, broken := 0, 0
	for n := range 8 {
		kinds, ages, works := []string{"a", "b", "c"}, []string{"0", "3", "5", "7", "8", "9"}, []string{"n", "y"}
		if n%2 == 0 {
			kinds, ages, works = append(kinds, pick("", "d")), append(ages, pick("", "12")),
				append(works, pick("", "z"))
		}
		csv := "id,kind,age,work\n"
		var rows []map[string]string
		for i := range 40 {
			row := []string{strconv.Itoa(i / 3), pick(kinds...), pick(ages...), pick(works...)}
			csv += strings.Join(row, ",") + "\n"
			texts := map[string]string{}
			for j, name := range []string{"id", "kind", "age", "work"} {
				if row[j] != "" {
					texts[name] = row[j]
				}
			}
			rows = append(rows, texts)
		}
		spark.makeTable(t, "people"+strconv.Itoa(n), "id string, kind string, age string, work string", rows, "id",
			"kind", "CAST(age AS SMALLINT) AS age", "work")
		dir := histogramtest.Folder(t, "people.csv", csv)
		text := strings.NewReplacer("UNIT", pick("{id: id, max_rows: 2}", "{id: id, max_rows: 1, null: drop}", "row"),
			"WHERE", "drop", "UNKNOWN", pick("error", "drop", "{as: a}"), "NULL", pick("error", "drop"),
			"RULED", pick("drop", "drop", "error"), "EXPECT", pick("{rows: [0, 9]}", "{rows: [3, 50], every: [work]}",
				"{every: [kind]}")).
			Replace(rules)
		want, wanted := countedBy(t, histogramtest.PlanOf(t, strings.Replace(text, "SOURCE", "{csv: people.csv}", 1)),
			3, "", dir)
		p := histogramtest.PlanOf(t, strings.Replace(text, "SOURCE", "{spark: {table: people"+strconv.Itoa(n)+"}}", 1))
		folder := filepath.Join(dir, "exchange")
		spark.runBoth(t, p, 3, folder)
		got, err := countedBy(t, p, 3, folder, dir)
		switch {
		case wanted == nil && err == nil && slices.Equal(got, want):
			met++
		case wanted != nil && err != nil && sentences(wanted) == sentences(err):
			broken++
		default:
			t.Errorf("files: %v %v\nSpark: %v %v\n%s\n%s", want, wanted, got, err, text, csv)
		}
	}
	if met < 2 || broken < 2 {
		t.Errorf("%d tables met their contract, and %d broke it", met, broken)
	}
}

// Two tables of one plan are counted by one job, and a third is a file.
func TestSparkNextToFiles(t *testing.T) {
	spark := newSpark(t)
	dir := histogramtest.Folder(t, "a.csv", "id,kind\n1,x\n1,x\n2,y\n3,\n", "b.csv",
		"id,at\n1970-01-01,2024-02-29T23:59:59\n1969-12-30,2024-02-29T00:00:00\n1970-01-01,2024-03-01T00:00:00\n",
		"c.csv", "id,kind\n1,x\n")
	spark.do(t, map[string]any{"sql": "CREATE TEMPORARY VIEW `a a` AS SELECT * FROM VALUES (1Y, 'x'), (1Y, 'x'), " +
		"(2Y, 'y'), (3Y, NULL) AS t(id, kind)"})
	stored := filepath.Join(dir, "b")
	spark.do(t, map[string]any{"sql": "INSERT OVERWRITE DIRECTORY '" + stored + "' USING parquet SELECT * FROM " +
		"VALUES (DATE'1970-01-01', TIMESTAMP_NTZ'2024-02-29 23:59:59'), (DATE'1969-12-30', TIMESTAMP_NTZ'2024-02-29 " +
		"00:00:00'), (DATE'1970-01-01', TIMESTAMP_NTZ'2024-03-01 00:00:00') AS t(id, at)"})
	plan := func(a, b string) string {
		return strings.NewReplacer("A_SOURCE", a, "B_SOURCE", b).Replace(`version: 1
release: three
privacy: {protects: person, neighbours: add-remove, account: three}
budget: {rho: 1}
tables:
  a: {source: A_SOURCE, unit: {id: id, max_rows: 1}, columns: {kind: {values: [x, y], null: drop}}}
  b: {source: B_SOURCE, unit: {id: id, max_rows: 1}, columns: {at: {type: timestamp, range: [2024-02-28T00:00:00, 2024-03-02T23:59:59], levels: {hour: {width: hour}}}}}
  c: {source: {csv: c.csv}, unit: {id: id, max_rows: 1}, columns: {kind: {values: [x, y]}}}
marginals:
  as: {table: a, by: [kind]}
  bs: {table: b, by: [at.hour]}
  cs: {table: c, by: [kind]}
`)
	}
	want, err := countedBy(t, histogramtest.PlanOf(t, plan("{csv: a.csv}", "{csv: b.csv}")), 3, "", dir)
	if err != nil {
		t.Fatal(err)
	}
	p := histogramtest.PlanOf(t, plan("{spark: {table: '\"a a\"'}}", "{spark: {parquet: '"+stored+"'}}"))
	folder := filepath.Join(dir, "exchange")
	spark.runBoth(t, p, 3, folder)
	got, err := countedBy(t, p, 3, folder, dir)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v and %v (%v)", got, want, err)
	}
}

// An executor that is lost makes its steps run again: the answers are the same, or the job fails and can be run again.
func TestSparkLosesExecutors(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc, to find the processes of executors")
	}
	spark := newSparkForAll(t, "spark.master=local-cluster[2,1,700]", "spark.executor.memory=700m")
	spark.do(t, map[string]any{"sql": `CREATE TABLE people USING parquet AS SELECT id % 20000 AS id, CASE WHEN id % 3 = 0 THEN 'a' ELSE 'b' END AS kind,
		CAST((id DIV 7) % 10 AS INT) AS pay FROM range(100000)`})
	p := planOf(t, sparkPeople)
	folder := filepath.Join(t.TempDir(), "folder")
	spark.runBoth(t, p, 3, folder)
	want, err := countedBy(t, p, 3, folder, ".")
	if err != nil {
		t.Fatal(err)
	}
	failed, lost := 0, 0
	for _, after := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
		done := make(chan int)
		go func() {
			killed := 0
			defer func() { done <- killed }()
			for range 2 {
				time.Sleep(after)
				if pids := spark.executors(t); len(pids) > 0 {
					if executor, err := os.FindProcess(pids[0]); err == nil && executor.Kill() == nil {
						killed++
					}
				}
			}
		}()
		says := spark.ask(t, map[string]any{"run": folder})
		lost += <-done
		if says != "" {
			failed++
			spark.do(t, map[string]any{"run": folder})
		}
		if got, err := countedBy(t, p, 3, folder, "."); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: other answers than before (%v)", after, err)
		}
	}
	t.Logf("%d executors were lost, and %d of 3 jobs failed and were run again", lost, failed)
	if lost < 4 {
		t.Errorf("only %d executors were lost", lost)
	}
}

// executors returns the processes of the session's executors.
func (s *sparkSession) executors(t *testing.T) (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Error(err)
	}
	parents := map[int]int{}
	var found []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
		if command, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline")); strings.Contains(string(command),
			"CoarseGrainedExecutorBackend") {
			found = append(found, pid)
		}
	}
	for _, pid := range found {
		for at := pid; at > 1; at = parents[at] {
			if at == s.process {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// Texts are compared by their bytes: whatever a collation says, and with bytes that are not UTF-8.
func TestSparkComparesBytes(t *testing.T) {
	spark := newSparkForAll(t)
	dir := histogramtest.Folder(t, "people.csv", "id,kind,pay\nx,a,1\nX,A,2\n\"x \",\"a \",3\né,b,1\ne\u0301,b,2\n"+
		"y,zz,4\nx,b,5\n")
	p := planOf(t, "{csv: people.csv}")
	want, err := countedBy(t, p, 3, "", dir)
	if err != nil {
		t.Fatal(err)
	}
	rows := "FROM VALUES ('x', 'a', 1), ('X', 'A', 2), ('x ', 'a ', 3), ('é', 'b', 1), ('e\u0301', 'b', 2), ('y', " +
		"NULL, 4), ('x', 'b', 5) AS t(id, kind, pay)"
	for name, columns := range map[string]string{
		"plain":    "id, coalesce(kind, CAST(X'FF61' AS STRING)) AS kind, pay",
		"collated": "id COLLATE UTF8_LCASE AS id, coalesce(kind, 'zz') COLLATE UTF8_LCASE_RTRIM AS kind, pay",
	} {
		t.Run(name, func(t *testing.T) {
			if says := spark.ask(t, map[string]any{"sql": "SELECT " + columns + " " + rows}); strings.Contains(says,
				"PARSE_SYNTAX_ERROR") {
				t.Skip("needs Spark 4, which has collations")
			}
			p := planOf(t, "{spark: {query: \"SELECT "+columns+" "+rows+"\"}}")
			folder := filepath.Join(dir, name)
			spark.runBoth(t, p, 3, folder)
			if got, err := countedBy(t, p, 3, folder, dir); err != nil || !slices.Equal(got, want) {
				t.Errorf("its answers are not those of files (%v)", err)
			}
		})
	}
}
