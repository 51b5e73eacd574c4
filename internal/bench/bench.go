package main

// This file runs the cases: all contenders in turn, and the medians of what they used.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// bench is one run of the command.
type bench struct {
	options
	progress io.Writer
}

// contender counts a case in one form, in a process of its own.
type contender struct {
	who, form, words string
	count            func(context.Context) (*outcome, error)
}

// ownName is the name of this program among the contenders.
const ownName = "dprelease"

// run runs cases and returns the document of all.
func (b *bench) run(ctx context.Context, cases []benchCase) (*document, error) {
	asked, err := peersOf(b.peers)
	if err != nil {
		return nil, err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return nil, err
	}
	doc := &document{Machine: thisMachine(), Rows: b.rows, Runs: b.runs, Threads: b.threads, Agree: true}
	there := map[string]bool{}
	for _, p := range asked {
		there[p.name] = p.isInstalled(ctx)
	}
	for _, c := range cases {
		r, err := b.runCase(ctx, c, asked, there)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		doc.Cases = append(doc.Cases, *r)
		for _, e := range r.Entries {
			doc.Agree = doc.Agree && len(e.Differ) == 0
		}
	}
	return doc, nil
}

// runCase runs one case. In each round every contender counts once, so that other work of the machine affects all of
// them.
func (b *bench) runCase(ctx context.Context, c benchCase, asked []peer, there map[string]bool) (*result, error) {
	t := c.tableOf(b.rows)
	b.logf("%s: table of %d rows", c.name, t.rows)
	file, err := t.pathOf(b.dir, c.format)
	if err != nil {
		return nil, err
	}
	want, command := &reference{rows: int64(t.rows)}, ""
	if c.model {
		command, err = buildCommand(ctx, b.dir)
	} else {
		want, err = c.countReference(t)
	}
	if err != nil {
		return nil, err
	}
	r := &result{Case: c.name, Title: c.title, Rows: t.rows, Tables: len(c.tables), Cells: c.totalCells()}
	if r.FileBytes, err = readOnce(file); err != nil {
		return nil, err
	}
	contenders := []contender{b.ownContender(c, file, command, want)}
	if c.withoutPeers {
		asked = nil
	}
	for _, p := range asked {
		for _, form := range p.formsOf(c) {
			contenders = append(contenders, b.peerContender(p, c, file, form, want))
		}
	}
	outcomes := make([][]*outcome, len(contenders))
	for round := range b.runs {
		for i, o := range contenders {
			slow := round > 0 && len(outcomes[i]) > 0 && outcomes[i][0].Wall > b.limit.Seconds()
			if o.who != ownName && (!there[o.who] || slow) {
				continue
			}
			b.logf("%s: run %d, %s %s", c.name, round+1, o.who, o.form)
			out, err := o.count(ctx)
			if err != nil {
				return nil, err
			}
			outcomes[i] = append(outcomes[i], out)
		}
	}
	for i, o := range contenders {
		r.Entries = append(r.Entries, entryOf(o, outcomes[i], len(c.tables)))
	}
	r.setRatios()
	r.judgeBars(c.bars)
	return r, nil
}

// logf prints what is being done.
func (b *bench) logf(format string, args ...any) { fmt.Fprintf(b.progress, format+"\n", args...) }

// ownContender returns the contender that counts with this program, or runs the command on a model.
func (b *bench) ownContender(c benchCase, file, command string, want *reference) contender {
	words := "planned before, then counted"
	if c.model {
		words = "planned, fitted and published"
	}
	return contender{who: ownName, words: words,
		count: func(ctx context.Context) (*outcome, error) {
			program, err := os.Executable()
			if err != nil {
				return nil, err
			}
			memory := b.memory
			if c.memory > 0 {
				memory = c.memory
			}
			text, err := json.Marshal(job{Case: c.name, File: file, Program: command, Memory: memory, Rows: want.rows,
				Hashes: want.hashes})
			if err != nil {
				return nil, err
			}
			command := exec.CommandContext(ctx, program, "-child", string(text))
			command.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", b.threads))
			return outputOf[outcome](command, ownName)
		}}
}

// peerContender returns the contender that counts with a peer in one of its forms.
func (b *bench) peerContender(p peer, c benchCase, file, form string, want *reference) contender {
	return contender{who: p.name, form: form, words: p.words[form], count: func(ctx context.Context) (*outcome, error) {
		out, err := p.countIn(ctx, c.requestFor(file, form, b.threads, b.limit))
		if err == nil {
			out.Differ = out.Tallies.differing(want.tallies, c.maxRows > 0)
		}
		return out, err
	}}
}

// entryOf summarizes the outcomes of a contender. Without any outcome it was not measured.
func entryOf(o contender, outcomes []*outcome, tables int) entry {
	e := entry{Who: o.who, Form: o.form, Words: o.words, Runs: len(outcomes)}
	if len(outcomes) == 0 {
		return e
	}
	of := func(value func(*outcome) float64) float64 {
		var values []float64
		for _, out := range outcomes {
			values = append(values, value(out))
		}
		return median(values)
	}
	e.Version = outcomes[0].Version
	e.Wall = of(func(out *outcome) float64 { return out.Wall })
	e.CPU = of(func(out *outcome) float64 { return out.CPU })
	e.Peak = int64(of(func(out *outcome) float64 { return float64(out.Peak) }))
	e.Steps = map[string]float64{}
	for step := range outcomes[0].Steps {
		e.Steps[step] = of(func(out *outcome) float64 { return out.Steps[step] })
	}
	e.Counted = tables
	for _, out := range outcomes {
		e.Counted = min(e.Counted, out.Done)
		for _, name := range out.Differ {
			if !slices.Contains(e.Differ, name) {
				e.Differ = append(e.Differ, name)
			}
		}
	}
	sort.Strings(e.Differ)
	return e
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// totalCells returns how many cells the tables of a case declare.
func (c benchCase) totalCells() int64 {
	var all int64
	for _, places := range c.tables {
		all += cellsOf(places)
	}
	return all
}

// firstLine returns the first line that a command prints, "" if it fails.
func firstLine(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}
