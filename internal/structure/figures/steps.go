package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// step is a command of the program, run on a copy of the folder of the quickstart.
type step struct{ name, args string }

var steps = []step{
	{"check", "check release.yaml"},
	{"plan", "plan release.yaml -o out"},
	{"measure", "measure out/labour-2026q1.plan.json --data . -o out"},
	{"publish", "publish out/labour-2026q1.measured -o out"},
	{"show", "show out/labour-2026q1"},
	{"query", "query out/labour-2026q1 --by region"},
	{"verify", "verify out/labour-2026q1"},
	{"run, all in one", "run release.yaml -o again"},
}

// stepCounts is how often each step did each task: stepCounts[step][task].
type stepCounts map[string]map[string]int

// countSteps runs the steps and counts how often each does each task. It counts with the counters of test coverage,
// which the compiler adds to a program that is built for it, so the program itself needs no code for it.
func (t *tree) countSteps(dir string) (stepCounts, error) {
	scratch, err := os.MkdirTemp("", "figures-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	program, example := filepath.Join(scratch, "program"), filepath.Join(scratch, "example")
	if err := os.CopyFS(example, os.DirFS(filepath.Join(dir, "examples", "quickstart"))); err != nil {
		return nil, err
	}
	// The program writes its counters only where its own package has some.
	counted := []string{"./cmd/dprelease"}
	entries := map[string]bodyRange{}
	for _, w := range tasks {
		for _, name := range w.functions {
			e, ok := t.findEntry(name)
			if !ok {
				return nil, fmt.Errorf("there is no function %s any more: say in calls.go by which %s", name, w.name)
			}
			entries[name] = e
			counted = append(counted, "./"+path.Dir(e.file))
		}
	}
	covered := "-coverpkg=" + strings.Join(counted, ",")
	err = goCommand(dir, "build", "-cover", "-covermode=atomic", covered, "-o", program, "./cmd/dprelease")
	if err != nil {
		return nil, err
	}
	all := stepCounts{}
	for i, s := range steps {
		counters := filepath.Join(scratch, fmt.Sprint(i))
		if err := os.Mkdir(counters, 0o700); err != nil {
			return nil, err
		}
		cmd := exec.Command(program, strings.Fields(s.args)...)
		cmd.Dir, cmd.Env = example, append(os.Environ(), "GOCOVERDIR="+counters, "DPRELEASE_LEDGER=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", s.args, err, out)
		}
		profile := counters + ".txt"
		if err := goCommand(dir, "tool", "covdata", "textfmt", "-i="+counters, "-o="+profile); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(profile)
		if err != nil {
			return nil, err
		}
		all[s.name] = map[string]int{}
		for _, w := range tasks {
			for _, name := range w.functions {
				all[s.name][w.name] += entries[name].timesEntered(t.module, string(text))
			}
		}
	}
	return all, nil
}

func goCommand(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %s", args[0], err, out)
	}
	return nil
}

// bodyRange is the position of the body of a function: counters of a profile name lines and columns.
type bodyRange struct {
	file     string // below the module's root
	from, to token.Position
}

// findEntry finds a function by its name in a [task].
func (t *tree) findEntry(name string) (bodyRange, bool) {
	for _, s := range t.sources {
		for _, file := range s.files {
			for _, d := range file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if ok && f.Body != nil && s.nameOf(f) == name {
					from := t.fset.Position(f.Body.Lbrace)
					return bodyRange{from.Filename, from, t.fset.Position(f.Body.Rbrace)}, true
				}
			}
		}
	}
	return bodyRange{}, false
}

// nameOf returns the name of a function in the form of a [task].
func (s *source) nameOf(f *ast.FuncDecl) string {
	if s.info.Defs[f.Name] == nil {
		return ""
	}
	return s.pkg.Name() + "." + qualifiedName(s.info.Defs[f.Name], nil)
}

// timesEntered returns how often a function was entered according to a profile: the counter of the first block of its
// body.
func (e bodyRange) timesEntered(module, profile string) int {
	type block struct{ line, column, count int }
	var blocks []block
	for line := range strings.Lines(profile) {
		rest, ok := strings.CutPrefix(line, module+"/"+e.file+":")
		if !ok {
			continue
		}
		var b block
		var skip int // the block's end, and how many statements it has
		_, err := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.line, &b.column, &skip, &skip, &skip, &b.count)
		if err != nil {
			continue
		}
		before := b.line < e.from.Line || b.line == e.from.Line && b.column < e.from.Column
		if !before && b.line <= e.to.Line {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return 0
	}
	return slices.MinFunc(blocks, func(a, b block) int { return (a.line-b.line)*1000 + a.column - b.column }).count
}

// write writes how often each step did each task.
func (r stepCounts) write(w io.Writer) error {
	fmt.Fprint(w, "\nHow often a step of the quickstart does what it should do once, as it runs\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, work := range tasks {
		fmt.Fprintf(table, "%s\t", work.name)
	}
	fmt.Fprintln(table, "  step")
	for _, s := range steps {
		for _, work := range tasks {
			fmt.Fprintf(table, "%d\t", r[s.name][work.name])
		}
		fmt.Fprintf(table, "  %s\n", s.name)
	}
	return table.Flush()
}
