package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// This file checks what the program prints about some releases: testdata/outputs.txt has the SHA-256 of what each
// command writes to standard output and standard error, as text and as JSON, with its exit code. (The results of an
// evaluation are among the files of releases.)

// describedReleases are the releases about which the program is asked, in pairs that are compared. Those after the
// first pair wait for the long run.
var describedReleases = []uint64{441, 480, 90, 178, 366, 497}

// program is the program, built from this source, and the folder in which it runs.
type program struct{ file, place string }

func buildProgram(t *testing.T, place string) program {
	p := program{filepath.Join(t.TempDir(), "dprelease"), place}
	if runtime.GOOS == "windows" {
		p.file += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", p.file, "../../cmd/dprelease").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return p
}

var seconds = regexp.MustCompile(`"seconds": [0-9.e-]+`)

// run runs the program in the folder of a release and returns what it prints, without times, days and folders of this
// run.
func (p program) run(number uint64, args ...string) (stdout, all string, err error) {
	c := exec.Command(p.file, args...)
	c.Dir = filepath.Join(p.place, fmt.Sprint(number))
	c.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "DPRELEASE_") }),
		"COLUMNS=120")
	var out, failed bytes.Buffer
	c.Stdout, c.Stderr = &out, &failed
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		return "", "", err
	}
	text := fmt.Sprintf("exit %d\n%s\n%s", c.ProcessState.ExitCode(), out.String(), failed.String())
	text = strings.ReplaceAll(text, p.place, "PLACE")
	text = strings.ReplaceAll(text, time.Now().UTC().Format(time.DateOnly), "TODAY")
	return out.String(), seconds.ReplaceAllString(text, `"seconds": 0`), nil
}

// commandsFor returns the commands that are run for a release.
func commandsFor(t *testing.T, p program, m made) (all [][]string) {
	add := func(args ...string) {
		all = append(all, args, append(slices.Clone(args), "--json"))
	}
	place, planned := "out/"+m.plan.Name, "out/"+m.plan.Name+".plan.json"
	add("check", "release.yaml")
	add("plan", "release.yaml", "-o", "planned")
	all = append(all, []string{"plan", "release.yaml", "--trace"})
	add("loss", planned)
	add("show", place)
	for _, as := range []string{"md", "json", "registry", "text"} {
		all = append(all, []string{"show", place, "--as", as})
	}
	add("verify", place)
	if m.plan.Guarantee.Account != "" {
		add("ledger", "show", "--ledger", "ledger.db")
		add("ledger", "history", m.plan.Guarantee.Account, "--ledger", "ledger.db")
		add("ledger", "export", "--ledger", "ledger.db")
	}
	var shown struct {
		Tables []struct {
			Path string   `json:"path"`
			By   []string `json:"by"`
		} `json:"tables"`
	}
	if err := json.Unmarshal(m.plan.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	for _, table := range shown.Tables {
		add("show", place, table.Path)
		all = append(all, []string{"show", place, table.Path, "--as", "csv"},
			[]string{"show", place, table.Path, "--as", "json"})
		if len(table.By) > 0 {
			add("query", place, "--by", table.By[0])
			add("query", place, "--by", strings.Join(table.By, ","))
		}
		text, _, err := p.run(m.number, "show", place, table.Path, "--as", "csv")
		if err != nil {
			t.Fatal(err)
		}
		if cell := firstCell(t, text, table.By); cell != "" {
			add("show", place, table.Path, "--cell", cell)
		}
	}
	return all
}

// firstCell returns the first cell of a table in the syntax of the command line, "" if there is none.
func firstCell(t *testing.T, text string, by []string) string {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < 2 || len(by) == 0 {
		return ""
	}
	var keys []string
	for _, attribute := range by {
		at := slices.Index(rows[0], attribute)
		if at < 0 {
			return ""
		}
		keys = append(keys, attribute+"="+rows[1][at])
	}
	return strings.Join(keys, ",")
}

// outputsAreTheSame compares what the program prints of releases below a place with the list: of those that are spoken
// of, in the long run all.
func outputsAreTheSame(t *testing.T, place string, releases []made) {
	numbers := describedReleases
	if !*update && os.Getenv("DPRELEASE_LONG") == "" {
		numbers = describedReleases[:2]
	}
	var all []made
	for _, n := range numbers {
		i := slices.IndexFunc(releases, func(m made) bool { return m.number == n })
		all = append(all, releases[i])
	}
	p := buildProgram(t, place)
	lines := make([][]string, len(all))
	var workers sync.WaitGroup
	for i, m := range all {
		if m.err != nil {
			t.Fatalf("drawn %d: %v", m.number, m.err)
		}
		commands := commandsFor(t, p, m)
		if i%2 == 1 {
			commands = append(commands, comparisonCommands(all[i-1], m)...)
		}
		workers.Go(func() { lines[i] = outputLines(t, p, m.number, commands) })
	}
	workers.Wait()
	is := slices.Concat(lines...)
	file := filepath.Join("testdata", "outputs.txt")
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(is, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	was := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("not as it was: %s", line)
		}
	}
	was = slices.DeleteFunc(was, func(line string) bool { // those of releases that are not asked now
		return !slices.ContainsFunc(numbers, func(n uint64) bool { return strings.Contains(line, fmt.Sprintf(" %d ", n)) })
	})
	if len(is) != len(was) {
		t.Errorf("%d commands print, and %d are listed", len(is), len(was))
	}
	t.Logf("what %d commands print is as it was", len(is))
}

// comparisonCommands returns the commands that compare two releases, their plans and their answers together.
func comparisonCommands(before, after made) (all [][]string) {
	other := fmt.Sprintf("../%d/out/%s", before.number, before.plan.Name)
	this := "out/" + after.plan.Name
	for _, args := range [][]string{{"diff", other + ".plan.json", this + ".plan.json"}, {"diff", other, this},
		{"verify", other, this}} {
		all = append(all, args, append(slices.Clone(args), "--json"))
	}
	return append(all, []string{"diff", other, this, "--as", "csv"})
}

// outputLines returns a line for each command, with the first half of the SHA-256 of what it prints.
func outputLines(t *testing.T, p program, number uint64, commands [][]string) (lines []string) {
	for _, args := range commands {
		_, text, err := p.run(number, args...)
		if err != nil {
			t.Error(err)
			continue
		}
		sum := sha256.Sum256([]byte(text))
		lines = append(lines, fmt.Sprintf("%s %d %s", hex.EncodeToString(sum[:16]), number, strings.Join(args, " ")))
	}
	return lines
}
