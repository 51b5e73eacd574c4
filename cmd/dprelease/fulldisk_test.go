package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/internal/testkit"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/jackc/pgx/v5"
)

// This file fills disks: that of a release, that of temporary files, and that of the server that has the data. A run
// ends with exit code 1 and a sentence; nothing is spent, nothing is left, and with room the same run succeeds.

// smallVolume makes a volume of a size, such as 256k, in a new folder, which lasts as long as the test.
func smallVolume(t *testing.T, size string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "small") // below which a server's own user may go, unlike below t.TempDir
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("needs the right to mount a small volume: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return dir
}

// enlarge gives a small volume room.
func enlarge(t *testing.T, volume string) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "remount,size=64m", volume).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// assertEmpty asserts that nothing is left in a folder.
func assertEmpty(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestFullDisk releases onto a volume with too little space: exit 1, nothing
// spent, nothing left; with space, the same command succeeds.
func TestFullDisk(t *testing.T) {
	dir := newOffice(t, fileLedger, 1)
	small := smallVolume(t, "256k")
	args := []string{"run", "release.yaml", "--ledger", fileLedger, "--state", "state", "--out", small}
	out, err := programCommand(t, dir, args...).CombinedOutput()
	if code := codeOf(err); code != verdict.ExitEnvironment || !strings.Contains(string(out), "space") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if s := debitState(t, dir, fileLedger); s != "nothing" && s != ledger.Cancelled {
		t.Errorf("account: %s", s)
	}
	assertEmpty(t, small)
	enlarge(t, small)
	if out, err := programCommand(t, dir, args...).CombinedOutput(); err != nil {
		t.Errorf("with space: %v\n%s", err, out)
	}
}

// Rows for full disks: units with five rows each, of which two count. All rows of a unit have the same x, so that the
// counts are the same whichever stay. The ids are canaries.
const (
	fullUnits = 10_000
	fullRows  = `SELECT 'unit7731-' || CAST(i // 5 AS TEXT) AS who, i // 5 * 7919 % 100000 AS x FROM `
	fullCap   = "cap: {epsilon: 1000}"
)

// fullCounts are the counts of the rows by thousands of x.
func fullCounts() (counts [100]int) {
	for unit := range fullUnits {
		counts[unit*7919%100_000/1000] += 2
	}
	return counts
}

// fullOffice is an office whose release has the rows for full disks, from a source, with next to no noise: it counts
// right.
func fullOffice(t *testing.T, source string) string {
	t.Helper()
	dir := officeWith(t, fileLedger, fullCap, `budget: {epsilon: 1000}
tables: {t: {source: `+source+`, unit: {id: who, max_rows: 2}, columns: {x: {type: integer, range: [0, 99999], levels: {k: {width: 1000}}}}}}
marginals: {coarse: {by: [x.k]}}
`)
	if err := os.Remove(filepath.Join(dir, "t.csv")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ended is what a run says of its end.
type ended struct {
	Exit    int
	Reason  verdict.Reason
	Retry   verdict.Retry
	Message string
}

// runFull runs the release of an office, with room for temporary files in a folder. Nothing that the run says holds an
// id.
func runFull(t *testing.T, dir, temporary string, more ...string) (said ended) {
	t.Helper()
	run := programCommand(t, dir, append([]string{"run", "release.yaml", "--ledger", fileLedger, "--json", "--verbose"},
		more...)...)
	run.Env = append(os.Environ(), "TMPDIR="+temporary)
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, err := run.Output()
	if all := string(out) + stderr.String(); strings.Contains(all, "7731") {
		t.Errorf("it says an id: %s", all)
	}
	if wrong := json.Unmarshal(out, &said); wrong != nil || said.Exit != codeOf(err) {
		t.Fatalf("%v, exit %d: %s%s", wrong, codeOf(err), out, stderr.String())
	}
	return said
}

// assertFull asserts that a run of an office ended for want of room: it says so, nothing is spent, and no file that it
// left holds an id but the diagnostics, which are meant to.
func assertFull(t *testing.T, dir string, got ended, reason verdict.Reason, says string) {
	t.Helper()
	if got.Exit != verdict.ExitEnvironment || got.Reason != reason || got.Retry != verdict.Later ||
		!strings.Contains(got.Message, says) {
		t.Errorf("exit %d, %s, %s: %s", got.Exit, got.Reason, got.Retry, got.Message)
	}
	if s := debitState(t, dir, fileLedger); s != "nothing" && s != ledger.Cancelled {
		t.Errorf("account: %s", s)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if meant := map[string]bool{"diagnostics.txt": true, "t.csv": true, "t.duckdb": true}; err != nil ||
			d.IsDir() ||
			meant[d.Name()] {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("7731")) {
			t.Errorf("%s holds an id", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// assertCounts asserts that a run of an office ended well, and that its release counts what the rows are.
func assertCounts(t *testing.T, dir string, got ended) {
	t.Helper()
	if got.Exit != verdict.ExitDone {
		t.Fatalf("exit %d: %s", got.Exit, got.Message)
	}
	shown, err := programCommand(t, dir, "show", "r", "coarse", "--as", "csv").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(shown)).ReadAll()
	if err != nil || len(lines) != 101 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for i, want := range fullCounts() {
		if lines[i+1][1] != strconv.Itoa(want) {
			t.Errorf("%s: %s, want %d", lines[i+1][0], lines[i+1][1], want)
		}
	}
}

// postgresRows makes the rows for full disks in a database, which a clerk may read, and returns its owner's connection
// and the clerk's address.
func postgresRows(t *testing.T) (owner *pgx.Conn, address string) {
	t.Helper()
	address = testkit.Postgres(t)
	owner, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { owner.Close(context.Background()) })
	clerk := "clerk_of_" + owner.Config().Database
	execute(t, owner, fmt.Sprintf("CREATE TABLE t AS %s generate_series(0, %d) AS i",
		strings.ReplaceAll(fullRows, "//", "/"), 5*fullUnits-1),
		"CREATE ROLE "+clerk+" LOGIN", "GRANT SELECT ON t TO "+clerk)
	t.Cleanup(func() { execute(t, owner, "DROP OWNED BY "+clerk, "DROP ROLE "+clerk) })
	return owner, strings.Replace(address, "keeper@", clerk+"@", 1)
}

// execute runs statements, CLERK in which is the reader of [postgresRows].
func execute(t *testing.T, owner *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		s = strings.ReplaceAll(s, "CLERK", "clerk_of_"+owner.Config().Database)
		if _, err := owner.Exec(context.Background(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestFullTemporaryDisk runs releases while the folder for temporary files has too little room: for the rows that come
// from a database, and for units that do not fit into memory.
func TestFullTemporaryDisk(t *testing.T) {
	const (
		fetching = "its rows are put on disk, encrypted, while they are counted, and that failed"
		bounding = "units that do not fit into memory are put aside on disk for a while"
	)
	postgres := func(t *testing.T) string {
		_, address := postgresRows(t)
		t.Setenv("OFFICE_DATA", address)
		return fullOffice(t, "{postgres: {url: 'env:OFFICE_DATA', table: public.t}}")
	}
	duckdb := func(t *testing.T) string {
		if _, err := exec.LookPath("duckdb"); err != nil {
			t.Skip("needs the program duckdb on the PATH (PyPI: duckdb-cli)")
		}
		dir := fullOffice(t, "{duckdb: {file: t.duckdb, table: t}}")
		c := exec.Command("duckdb", "-init", os.DevNull, filepath.Join(dir, "t.duckdb"), "-c",
			"CREATE TABLE t AS "+fullRows+fmt.Sprintf("range(%d) AS r(i)", 5*fullUnits))
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return dir
	}
	file := func(t *testing.T) string {
		dir := fullOffice(t, "{csv: t.csv}")
		var rows strings.Builder
		rows.WriteString("who,x\n")
		for i := range 5 * fullUnits {
			fmt.Fprintf(&rows, "unit7731-%d,%d\n", i/5, i/5*7919%100_000)
		}
		if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(rows.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, c := range []struct {
		name, size, says string
		office           func(t *testing.T) string
		short            bool // of memory
	}{
		{"rows from PostgreSQL", "256k", fetching, postgres, false},
		{"rows from DuckDB", "64k", fetching, duckdb, false},
		{"no room at all", "4k", fetching, postgres, false},
		{"units from PostgreSQL", "1500k", bounding, postgres, true},
		{"units from a file", "64k", bounding, file, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, small := c.office(t), smallVolume(t, c.size)
			var more []string
			if c.short {
				more = []string{"--memory", strconv.FormatInt(planNeeds(t, dir)+100_000, 10)}
			}
			assertFull(t, dir, runFull(t, dir, small, more...), verdict.DiskFull, c.says)
			assertEmpty(t, small)
			enlarge(t, small)
			assertCounts(t, dir, runFull(t, dir, small, more...))
			assertEmpty(t, small)
		})
	}
}

// planNeeds returns how much memory the plan of an office needs, as its refusal says.
func planNeeds(t *testing.T, dir string) int64 {
	t.Helper()
	said := runFull(t, dir, dir, "--memory", "1B").Message
	number := regexp.MustCompile(`the plan needs ([0-9]+) bytes`).FindStringSubmatch(said)
	n, err := strconv.ParseInt(cmp.Or(append(number, "", "")[1], "none"), 10, 64)
	if err != nil {
		t.Fatalf("%q: %v", said, err)
	}
	return n
}

// TestFullDiskOfTheServer runs a release that PostgreSQL counts where it is, while the server has too little room: by a
// limit on its temporary files, which it writes to sort and to join, and on the disk of its temporary tables.
func TestFullDiskOfTheServer(t *testing.T) {
	const stay = "{postgres: {url: 'env:OFFICE_DATA', table: public.t, stay: true}}"
	t.Run("temporary files", func(t *testing.T) {
		owner, address := postgresRows(t)
		t.Setenv("OFFICE_DATA", address)
		dir := fullOffice(t, stay)
		execute(t, owner, "ALTER ROLE CLERK SET work_mem = '64kB'", "ALTER ROLE CLERK SET temp_file_limit = '64kB'")
		assertFull(t, dir, runFull(t, dir, os.TempDir()), verdict.InputUnreadable, "temp_file_limit")
		execute(t, owner, "ALTER ROLE CLERK RESET temp_file_limit")
		assertCounts(t, dir, runFull(t, dir, os.TempDir()))
	})
	t.Run("temporary tables", func(t *testing.T) {
		owner, address := postgresRows(t)
		t.Setenv("OFFICE_DATA", address)
		dir, small := fullOffice(t, stay), smallVolume(t, "1m")
		place := filepath.Join(small, "tables")
		if err := os.Mkdir(place, 0o700); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 { // for whom PostgreSQL does not run
			const nobody = 65534
			if err := os.Chown(place, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		execute(t, owner, "CREATE TABLESPACE small LOCATION '"+place+"'", "GRANT CREATE ON TABLESPACE small TO CLERK",
			"ALTER ROLE CLERK SET temp_tablespaces = small")
		defer execute(t, owner, "REVOKE CREATE ON TABLESPACE small FROM CLERK", "DROP TABLESPACE small")
		assertFull(t, dir, runFull(t, dir, os.TempDir()), verdict.InputUnreadable, "the server's disk is full")
		enlarge(t, small)
		assertCounts(t, dir, runFull(t, dir, os.TempDir()))
	})
}
