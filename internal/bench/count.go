package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dprelease/dprelease/budget/ledger"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/scan"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
)

// job is what a child process of this command does.
type job struct {
	Case    string            `json:"case"`
	File    string            `json:"file"`
	Program string            `json:"program,omitempty"` // the command that fits a model
	Memory  int64             `json:"memory"`
	Rows    int64             `json:"rows"`   // expected number of counted rows
	Hashes  map[string]string `json:"hashes"` // of the counts of each table
	shardJob
}

// outcome is what a child process, of this program or of a peer, prints.
type outcome struct {
	Version string             `json:"version,omitempty"` // of a peer
	Wall    float64            `json:"wall_seconds"`
	CPU     float64            `json:"cpu_seconds"`
	Peak    int64              `json:"peak_bytes"` // peak resident memory of the process after counting
	Steps   map[string]float64 `json:"steps,omitempty"`
	Done    int                `json:"tables_counted"` // if they are not all, wall and CPU are extrapolated
	Tallies tallies            `json:"tallies,omitempty"`
	Differ  []string           `json:"differ,omitempty"` // tables whose counts differ from the reference
}

// runChild does a job given as JSON and writes its outcome.
func runChild(ctx context.Context, text string, to io.Writer) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return fmt.Errorf("the job of a child process: %w", err)
	}
	c, err := caseOf(j.Case)
	if err != nil {
		return err
	}
	count := c.countExact
	switch {
	case c.model:
		count = runModel
	case j.Of > 0:
		count = c.countShard
	}
	out, err := count(ctx, j)
	if err != nil {
		return err
	}
	return json.NewEncoder(to).Encode(out)
}

// countExact counts the tables of a case in a file, under a new key. Counting is timed, and planning, which does not
// depend on data, separately. The rest only checks the counts.
func (c benchCase) countExact(ctx context.Context, j job) (*outcome, error) {
	began := time.Now()
	p, err := c.planOf(j.File)
	if err != nil {
		return nil, err
	}
	planned := time.Since(began)
	key, err := noise.NewKey()
	if err != nil {
		return nil, err
	}
	streams := noise.NewStreams(key, p.Hash())

	before := usageNow()
	exact, err := histogram.Count(ctx, p,
		scan.Files{Dir: filepath.Dir(j.File), Options: scan.Options{MemoryLimit: j.Memory}}, streams)
	if err != nil {
		return nil, err
	}
	after := usageNow()

	out := &outcome{
		Wall: after.wall.Sub(before.wall).Seconds(), CPU: after.cpu - before.cpu, Peak: after.peak,
		Steps: map[string]float64{"plan": planned.Seconds()}, Done: len(p.Measurements),
	}
	if c.maxRows > 0 {
		out.Differ, err = strayTotals(ctx, p.Plan(), exact, streams, j.Rows)
	} else if exact.Commitment(streams) != commitment(p.Plan(), streams, j.Hashes) {
		out.Differ = []string{"at least one of all tables"}
	}
	return out, err
}

// commitment returns the commitment under a key to exact counts with given hashes: a keyed hash of all of them, each
// after the hash of its measurement's definition.
func commitment(p *plan.Plan, streams *noise.Streams, hashes map[string]string) string {
	all := sha256.New()
	for _, m := range p.Measurements {
		definition := sha256.Sum256(m.Canonical())
		all.Write(definition[:])
		counts, _ := hex.DecodeString(hashes[tableOf(m)]) // empty, which is no hash, for a missing table
		all.Write(counts)
	}
	committed := streams.Commitment(all.Sum(nil))
	return hex.EncodeToString(committed[:])
}

// tableOf returns the name of the table of a measurement.
func tableOf(m plan.Measurement) string {
	var names []string
	for _, f := range m.Query.Factors {
		names = append(names, f.Attribute)
	}
	return strings.Join(names, ",")
}

// strayTotals debits the exact counts, measures them, and returns the tables whose noisy total differs from the
// expected number of rows by ten standard deviations of its noise or more. A sound table is returned with a
// probability below one in a million (a sum of Laplace noise is beyond ten standard deviations with a probability
// below e^-14).
func strayTotals(ctx context.Context, p *plan.Plan, exact *histogram.Exact, streams *noise.Streams,
	rows int64) ([]string, error) {
	receipt, err := debitPractice(ctx, p, exact.Commitment(streams))
	if err != nil {
		return nil, err
	}
	opened, err := exact.Open(receipt, streams)
	if err != nil {
		return nil, err
	}
	var stray []string
	for _, m := range p.Measurements {
		noisy, err := opened.Measure(ctx, m)
		if err != nil {
			return nil, err
		}
		off := -rows
		for _, n := range noisy.Values.Int64Values() {
			off += n
		}
		if math.Abs(float64(off)) >= 10*math.Sqrt(float64(m.Cells)*m.Mechanism.Variance()) {
			stray = append(stray, tableOf(m))
		}
	}
	return stray, nil
}

// debitPractice debits a practice account of a temporary ledger.
func debitPractice(ctx context.Context, p *plan.Plan, commitment string) (ledger.Receipt, error) {
	var none ledger.Receipt
	dir, err := os.MkdirTemp("", "dprelease-bench-")
	if err != nil {
		return none, err
	}
	defer os.RemoveAll(dir)
	l, err := ledger.Open(ctx, filepath.Join(dir, "ledger.sqlite"), ledger.OpenOptions{})
	if err != nil {
		return none, err
	}
	defer l.Close()
	terms := ledger.Terms{Protects: "person", Neighbours: "add-remove", Definition: ledger.Epsilon}
	if err := l.InitPractice(ctx, ledger.Policy{Account: "bench", Terms: terms, Cap: p.Cost}); err != nil {
		return none, err
	}
	return l.Debit(ctx, ledger.Charge{
		Account: "bench", Release: p.Name, PlanHash: p.Hash(), Terms: terms, Cost: p.Cost, Commitment: commitment,
	})
}
