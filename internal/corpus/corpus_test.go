// Package corpus checks that plans and releases keep their bytes while the code that makes them is restructured.
// testdata/plans.txt has a SHA-256 for every spec, of its plan or of the message that refuses it;
// testdata/releases.txt has one for every file of the releases made from generated specs. The specs come from the
// examples, from the scripts of the command line, and from a generator that covers the whole language. Where bytes are
// meant to change, write the lists again with -update and say why in the change.
package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the lists in testdata again, where bytes were meant to change")

const (
	// drawn is how many specs are drawn.
	drawn = 520
	// fewestPlans is how many of all specs can be planned, at least.
	fewestPlans = 300
)

// entry is a spec of the corpus.
type entry struct {
	name string
	plan func() (*compiled.Compiled, error)
}

// line returns the line of a spec in the list, about its plan's bytes or its refusal, and whether it can be planned.
func (e entry) line(t *testing.T) (text string, planned bool) {
	p, err := e.plan()
	if err == nil {
		hasItsEstimates(t, e.name, p)
		return fmt.Sprintf("%s plan %s", e.name, p.Hash()), true
	}
	sum := sha256.Sum256([]byte(err.Error()))
	return fmt.Sprintf("%s refused %s", e.name, hex.EncodeToString(sum[:])), false
}

// entries returns all specs of the corpus, those of examples and scripts first.
func entries(t *testing.T) []entry {
	var all []entry
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "\nmarginals:") {
			continue // the policy of an account
		}
		all = append(all, entryOfFile("examples/"+filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), file))
	}
	all = append(all, entriesOfScripts(t)...)
	for number := range uint64(drawn) {
		all = append(all, entry{fmt.Sprintf("drawn/%d", number), func() (*compiled.Compiled, error) {
			r, err := spec.Parse(drawSpec(number))
			if err != nil {
				return nil, err
			}
			return planner.New(r)
		}})
	}
	return all
}

// hasItsEstimates checks that a plan has the estimates that follow from it: the planner computes them before the plan
// is complete.
func hasItsEstimates(t *testing.T, name string, p *compiled.Compiled) {
	handed, err := p.Estimates()
	own, failed := compiled.Of(p.Plan()).Estimates()
	same := func(a, b compiled.Estimate) bool {
		return reflect.DeepEqual(a.Marginals, b.Marginals) && reflect.DeepEqual(a.Residuals, b.Residuals) &&
			reflect.DeepEqual(a.Combination, b.Combination) && reflect.DeepEqual(a.Tables, b.Tables) &&
			reflect.DeepEqual(a.Axes, b.Axes) && reflect.DeepEqual(a.Sources, b.Sources) &&
			reflect.DeepEqual(a.ResidualSources, b.ResidualSources) &&
			reflect.DeepEqual(a.RequestedAxes, b.RequestedAxes) && reflect.DeepEqual(a.DirectSource, b.DirectSource)
	}
	if err != nil || failed != nil || !slices.EqualFunc(handed, own, same) {
		t.Errorf("%s: the estimates that come with the plan are not its own (%v, %v)", name, err, failed)
	}
}

// values are the values of parameters in the corpus.
var values = map[string]string{"quarter": "2026q1", "month": "2026-01", "year": "2026", "n": "a"}

var parameter = regexp.MustCompile(`\$\{(\w+)\}`)

// paramsOf returns the values of the parameters that a spec has.
func paramsOf(text string) map[string]string {
	given := map[string]string{}
	for _, p := range parameter.FindAllStringSubmatch(text, -1) {
		given[p[1]] = values[p[1]]
	}
	return given
}

// entryOfFile returns the entry of a spec in a file.
func entryOfFile(name, file string) entry {
	return entry{name, func() (*compiled.Compiled, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		r, err := spec.Load(context.Background(), file,
			spec.Options{Params: paramsOf(string(text)), Unpack: source.Unpack})
		if err != nil {
			return nil, err
		}
		return planner.New(r)
	}}
}

// entriesOfScripts returns the specs in the scripts of the command line, unpacked together with their other files.
func entriesOfScripts(t *testing.T) []entry {
	scripts, err := filepath.Glob(filepath.Join("..", "..", "cmd", "dprelease", "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		for _, f := range archive.Files {
			path := filepath.Join(dir, filepath.FromSlash(f.Name))
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, f.Data, 0o644)); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(f.Name, ".yaml") && strings.Contains(string(f.Data), "privacy:") {
				all = append(all, entryOfFile("script/"+strings.TrimSuffix(filepath.Base(script), ".txtar")+"/"+f.Name, path))
			}
		}
	}
	return all
}

// slow is the planning time from which a spec is left to the long run; that is decided when the list is written.
const slow = 400 * time.Millisecond

// waits ends the line of a spec that is left to the long run.
const waits = " long"

// TestPlansAreTheSame fails if the plan of a spec, or the text of its refusal, has changed by a byte.
func TestPlansAreTheSame(t *testing.T) {
	file := filepath.Join("testdata", "plans.txt")
	b, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	listed := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	all := entries(t)
	if !*update && os.Getenv("DPRELEASE_LONG") == "" {
		all = slices.DeleteFunc(all, func(e entry) bool {
			return slices.ContainsFunc(listed, func(line string) bool {
				return strings.HasPrefix(line, e.name+" ") &&
					strings.HasSuffix(line, waits)
			})
		})
	}
	lines, plans := linesOf(t, all)
	if plans < fewestPlans {
		t.Errorf("%d of %d specs can be planned, and %d is the fewest", plans, len(all), fewestPlans)
	}
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"),
			0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	held := map[string]bool{}
	for _, line := range listed {
		held[strings.TrimSuffix(line, waits)] = true
	}
	expected := len(listed)
	if os.Getenv("DPRELEASE_LONG") == "" {
		for _, line := range listed {
			if strings.HasSuffix(line, waits) {
				expected--
			}
		}
	}
	if len(lines) != expected {
		t.Errorf("%d specs are there, and %d are listed", len(lines), expected)
	}
	for _, line := range lines {
		if !held[strings.TrimSuffix(line, waits)] {
			t.Errorf("not as it was: %s", line)
		}
	}
	t.Logf("%d plans and %d refusals are as they were, of %d specs that are listed", plans, len(all)-plans, len(listed))
}

// linesOf returns the lines of specs, and how many of these can be planned.
func linesOf(t *testing.T, all []entry) (lines []string, plans int) {
	lines, planned := make([]string, len(all)), make([]bool, len(all))
	next := make(chan int)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for i := range next {
				start := time.Now()
				if lines[i], planned[i] = all[i].line(t); time.Since(start) > slow {
					lines[i] += waits
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, ok := range planned {
		if ok {
			plans++
		}
	}
	return lines, plans
}
