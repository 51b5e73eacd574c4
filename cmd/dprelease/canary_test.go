package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/parquet-go/parquet-go"
)

// canaries are values that occur in the confidential file and nowhere else.
type canaries struct{ ids, notes, incomes, cities []string }

// writeCanaries writes a confidential file in which every row holds four canaries: an id, a note in a column that no
// table uses, a number that is counted in bins, and a category that is not declared, which the spec drops.
func writeCanaries(t *testing.T, path string, rows int, damage func(row int, fields []string) []string) canaries {
	t.Helper()
	var c canaries
	var text strings.Builder
	// and a row that counts
	text.WriteString("who,note,income,city,region\nsomebody,nothing,100000000000000,here,north\n")
	for i := range rows {
		fields := []string{
			fmt.Sprintf("id%014x", rand.Uint64N(1<<56)), fmt.Sprintf("note%014x", rand.Uint64N(1<<56)),
			fmt.Sprint(100_000_000_000_000 + rand.Uint64N(900_000_000_000_000)),
			fmt.Sprintf("city%014x", rand.Uint64N(1<<56)),
			[]string{"north", "south"}[i%2],
		}
		c.ids, c.notes = append(c.ids, fields[0]), append(c.notes, fields[1])
		c.incomes, c.cities = append(c.incomes, fields[2]), append(c.cities, fields[3])
		if damage != nil {
			fields = damage(i, fields)
		}
		text.WriteString(strings.Join(fields, ",") + "\n")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c canaries) all() []string { return slices.Concat(c.ids, c.notes, c.incomes, c.cities) }

// findIn returns a canary that a text holds, or "".
func (c canaries) findIn(text []byte) string {
	for _, value := range c.all() {
		if bytes.Contains(text, []byte(value)) {
			return value
		}
	}
	return ""
}

// search reports an error if a text holds a canary.
func (c canaries) search(t *testing.T, where string, text []byte) {
	t.Helper()
	if value := c.findIn(text); value != "" {
		t.Errorf("%s holds the confidential value %s", where, value)
	}
}

// searchFolder looks into every file below a folder, and at its name: Parquet files
// as rows, the rest as bytes. The details of refused data are meant to hold values;
// nobody else may read them.
func (c canaries) searchFolder(t *testing.T, dir, confidential string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == confidential {
			return err
		}
		c.search(t, "a file name", []byte(path))
		if d.IsDir() {
			return nil
		}
		if d.Name() == "diagnostics.txt" {
			info, err := d.Info()
			if err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		c.search(t, path, b)
		if strings.HasSuffix(path, ".parquet") && !strings.Contains(path, ".tmp-") { // those may be half written
			rows, err := parquet.Read[any](bytes.NewReader(b), int64(len(b)))
			if err != nil || len(rows) == 0 {
				return fmt.Errorf("%s: %d rows, %w", path, len(rows), err)
			}
			c.search(t, path, fmt.Append(nil, rows))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

const canarySpec = `version: 1
release: r
privacy: {protects: person, neighbours: add-remove, account: people}
budget: {rho: 1, split: {tables: 1/2, rows: 1/2}}
tables:
  t:
    source: {csv: t.csv}
    unit: {id: who, max_rows: 1}
    columns:
      region: {values: [north, south]}
      city: {values: [here, there], unknown: UNKNOWN}
      income: {type: decimal, range: [0, 999999999999999], levels: {band: {width: 100000000000000}}}
marginals: {a: {by: [region, city], budget: tables}, b: {by: [income.band], budget: tables}}
synthetic: {t: {by: [region, city, income.band], rows: 500, budget: rows}}
`

// TestNoConfidentialValueLeaves plants 1 000 values of each kind and looks for them
// in everything that a run writes or says: when it goes well, when it fails in each
// of its steps, and when it is killed at random moments.
func TestNoConfidentialValueLeaves(t *testing.T) {
	const rows = 1000
	last := func(change func(fields []string) []string) func(int, []string) []string {
		return func(row int, fields []string) []string {
			if row == rows-1 {
				return change(fields)
			}
			return fields
		}
	}
	for _, c := range []struct {
		name    string
		damage  func(int, []string) []string
		unknown string // what the spec does with an undeclared city
		expect  string // of the table
		cap     string
		roles   string // whose approval the account asks for
		prepare func(t *testing.T, dir string)
		kill    bool
		exit    int
	}{
		{name: "a release", exit: verdict.ExitDone},
		{name: "undeclared categories", unknown: "error", exit: verdict.ExitData},
		{name: "a number out of range", exit: verdict.ExitData,
			damage: last(func(f []string) []string { f[2] += "77"; return f })},
		{name: "a number that is none", exit: verdict.ExitData,
			damage: last(func(f []string) []string { f[2] = f[3]; return f })},
		{name: "a row that is too long", exit: verdict.ExitData,
			damage: last(func(f []string) []string { return append(f, f[0]) })},
		{name: "a row that is too short", exit: verdict.ExitData,
			damage: last(func(f []string) []string { return f[:2] })},
		{name: "a quote that does not end", exit: verdict.ExitData,
			damage: last(func(f []string) []string { f[1] = `"` + f[1]; return f })},
		{name: "no id", exit: verdict.ExitData, damage: last(func(f []string) []string { f[0] = ""; return f })},
		{name: "too few rows", expect: "{rows: [2, 999]}", exit: verdict.ExitData},
		{name: "a code that does not occur", expect: "{every: [city]}", exit: verdict.ExitData},
		{name: "no approval", roles: "{officer: ['ed25519:Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE']}",
			exit: verdict.ExitApproval},
		{name: "no budget", cap: "1/2", exit: verdict.ExitBudget},
		{name: "a place that is taken", exit: verdict.ExitName, prepare: func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, "r.measured"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "a place that is taken at the end", exit: verdict.ExitName, prepare: func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, "r", "x"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "killed", kill: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempts := 1
			if c.kill {
				attempts = 6
			}
			for range attempts {
				dir := t.TempDir()
				data := filepath.Join(dir, "t.csv")
				planted := writeCanaries(t, data, rows, c.damage)
				if b, err := os.ReadFile(data); err != nil || planted.findIn(b) == "" {
					t.Fatalf("the search does not find what is there: %v", err)
				}
				budgetCap, unknown := "2", "drop"
				if c.cap != "" {
					budgetCap = c.cap
				}
				if c.unknown != "" {
					unknown = c.unknown
				}
				policy := "account: people\nprotects: person\nneighbours: add-remove\ncap: {rho: " + budgetCap + "}\n"
				if c.roles != "" {
					policy += "approvals: " + c.roles + "\n"
				}
				spec := strings.Replace(canarySpec, "UNKNOWN", unknown, 1)
				if c.expect != "" {
					spec = strings.Replace(spec, "    columns:\n", "    expect: "+c.expect+"\n    columns:\n", 1)
				}
				for name, text := range map[string]string{"policy.yaml": policy, "release.yaml": spec} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				for _, name := range []string{"tmp", "out"} {
					if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
						t.Fatal(err)
					}
				}
				if out, err := programCommand(t, dir, "ledger", "init", "policy.yaml", "--ledger",
					"ledger.db").CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if c.prepare != nil {
					c.prepare(t, filepath.Join(dir, "out"))
				}
				run := programCommand(t, dir, "run", "release.yaml", "--ledger", "ledger.db", "--out", "out",
					"--state", "state",
					"--verbose", "--json")
				run.Env = append(os.Environ(), "TMPDIR="+filepath.Join(dir, "tmp"))
				var said bytes.Buffer
				run.Stdout, run.Stderr = &said, &said
				if err := run.Start(); err != nil {
					t.Fatal(err)
				}
				if c.kill {
					time.Sleep(rand.N(200 * time.Millisecond))
					_ = run.Process.Kill() // it may be done by now
				}
				code := codeOf(run.Wait())
				if !c.kill && code != c.exit {
					t.Errorf("exit %d, want %d: %s", code, c.exit, said.String())
				}
				planted.search(t, "what the program says", said.Bytes())
				planted.searchFolder(t, dir, data)
				shown, _ := programCommand(t, dir, "ledger", "show", "--ledger", "ledger.db", "--json").CombinedOutput()
				planted.search(t, "ledger show", shown)
			}
		})
	}
}
