package main

// This file runs a peer: a library that python3 can import, called by a script that is
// part of this command.

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

//go:embed peers/*.py
var scripts embed.FS

// peer is another library that counts, in several forms of which the best is compared.
type peer struct {
	name           string
	forms, bounded []string // bounded: for cases that leave out rows of a person
	words          map[string]string
}

var peers = []peer{
	{name: "duckdb", forms: []string{"encoded", "direct"}, bounded: []string{"ordered", "drawn"},
		words: map[string]string{
			"encoded": "codes in memory, then queries", "direct": "queries on the file",
			"ordered": "row_number() over persons, then queries", "drawn": "min_by(…, random(), 2), then queries"}},
	{name: "polars", forms: []string{"encoded", "grouped", "lazy"}, bounded: []string{"encoded"},
		words: map[string]string{
			"encoded": "codes in memory, then cells", "grouped": "codes in memory, then group_by",
			"lazy": "lazy scans of the file"}},
}

// peersOf parses the names of peers, separated by commas; an empty list is allowed.
func peersOf(names string) ([]peer, error) {
	var some []peer
	if names == "" {
		return nil, nil
	}
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(peers, func(p peer) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no peer %q: choose of duckdb,polars", name)
		}
		some = append(some, peers[i])
	}
	return some, nil
}

// formsOf returns the forms of a peer in a case.
func (p peer) formsOf(c benchCase) []string {
	if c.maxRows > 0 {
		return p.bounded
	}
	return p.forms
}

// isInstalled reports whether python3 can import the peer.
func (p peer) isInstalled(ctx context.Context) bool {
	return exec.CommandContext(ctx, "python3", "-c", "import "+p.name).Run() == nil
}

// request is the input of a peer's script.
type request struct {
	File    string          `json:"file"`
	Format  string          `json:"format"`
	Form    string          `json:"form"`
	Threads int             `json:"threads"`
	Limit   float64         `json:"limit"`
	MaxRows int             `json:"max_rows"`
	Columns []requestColumn `json:"columns"`
	Tables  [][]string      `json:"tables"`
	Weight  [3]int64        `json:"weight"` // a, b and p
}

// requestColumn is a column with the texts of its codes.
type requestColumn struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// requestFor returns the request of a case to a peer.
func (c benchCase) requestFor(file, form string, threads int, limit time.Duration) request {
	q := request{
		File: file, Format: c.format, Form: form, Threads: threads, Limit: limit.Seconds(), MaxRows: c.maxRows,
		Weight: [3]int64{weightA, weightB, weightP},
	}
	for _, column := range columns {
		q.Columns = append(q.Columns, requestColumn{Name: column.Name, Values: column.texts()})
	}
	for _, places := range c.tables {
		q.Tables = append(q.Tables, strings.Split(nameOf(places), ","))
	}
	return q
}

// countIn runs a peer in a process of its own.
func (p peer) countIn(ctx context.Context, q request) (*outcome, error) {
	script, err := scripts.ReadFile("peers/" + p.name + ".py")
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, "python3", "-c", string(script), string(text))
	c.Env = append(os.Environ(), fmt.Sprintf("POLARS_MAX_THREADS=%d", q.Threads))
	return outputOf[outcome](c, p.name)
}

// outputOf runs a command of a contender that prints JSON.
func outputOf[T any](c *exec.Cmd, name string) (*T, error) {
	text, err := c.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, exit.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("%s: what it printed is not as expected: %w", name, err)
	}
	return &out, nil
}
