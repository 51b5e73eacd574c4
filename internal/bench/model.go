package main

// This file runs a whole release of a model by the command itself, from the text of its spec to the published folder.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// buildCommand builds the command in a folder, and returns its path.
func buildCommand(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "dprelease")
	said, err := exec.CommandContext(ctx, "go", "build", "-o", path, "github.com/dprelease/dprelease/cmd/dprelease").
		CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the command: %w\n%s", err, said)
	}
	return path, nil
}

// modelText returns a release of a model that predicts the first column from all others and the age, of rows in a
// file.
func modelText(file string, rows int64) string {
	var s strings.Builder
	fmt.Fprintf(&s, `version: 1
release: bench
privacy: {protects: row, neighbours: add-remove}
budget: {epsilon: 1, delta: 1e-9}
tables:
  rows:
    source: {parquet: %q}
    unit: row
    expect: {rows: [%d, %d]}
    columns:
      age: {type: integer, range: [0, 110]}
`, file, rows, rows)
	by := []string{"age"}
	for _, c := range columns {
		fmt.Fprintf(&s, "      %s: {values: [%s]}\n", c.Name, strings.Join(c.texts(), ", "))
		by = append(by, c.Name)
	}
	by = append(by[:1], by[2:]...) // without what is predicted
	fmt.Fprintf(&s, "models: {m: {predict: {%s: %s}, by: [%s], test: 10%%}}\n", columns[0].Name, columns[0].textOf(1),
		strings.Join(by, ", "))
	return s.String()
}

// runModel runs the release of a model. This process uses little memory, so the peak is what the command uses.
func runModel(ctx context.Context, j job) (*outcome, error) {
	dir, err := os.MkdirTemp(filepath.Dir(j.Program), "model-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	text := modelText(filepath.Base(j.File), j.Rows)
	if err := os.WriteFile(filepath.Join(dir, "bench.yaml"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, j.Program, "run", "bench.yaml", "--data", filepath.Dir(j.File))
	c.Dir = dir
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	began := time.Now()
	if err := c.Run(); err != nil {
		return nil, errors.Join(err, errors.New(said.String()))
	}
	wall := time.Since(began).Seconds()
	used := c.ProcessState
	return &outcome{Wall: wall, CPU: (used.UserTime() + used.SystemTime()).Seconds(), Peak: peakOf(used)}, nil
}
