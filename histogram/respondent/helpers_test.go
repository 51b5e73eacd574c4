package respondent

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
)

// specOf is a spec with a question for each number of categories, named q and the number.
func specOf(collect string, sizes ...int) string {
	var columns, marginals strings.Builder
	for _, k := range sizes {
		fmt.Fprintf(&columns, "      c%d: {type: integer, range: [1, %d]}\n", k, k)
		fmt.Fprintf(&marginals, "  q%d: {by: [c%d]}\n", k, k)
	}
	return "version: 1\nrelease: survey\nabout: {title: A survey}\n" +
		"privacy: {protects: respondent, neighbours: replace}\ncollect: {answers: {protocol: local, " + collect +
		"}}\n" +
		"tables:\n  answers:\n    source: {parquet: \"*.parquet\"}\n    collected: answers\n    columns:\n" +
		columns.String() + "marginals:\n" + marginals.String()
}

// compiledOf plans a spec.
func compiledOf(t testing.TB, text string) *compiled.Compiled {
	t.Helper()
	r, err := spec.Parse(spec.Source{Name: "release.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	c, err := planner.New(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func planOf(t testing.TB, text string) *plan.Plan {
	t.Helper()
	return compiledOf(t, text).Plan()
}

// collectorOf returns the collector's file of a plan, as devices read it.
func collectorOf(t testing.TB, p *plan.Plan) *client.Collector {
	t.Helper()
	text, err := Collector(p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Columns of files of reports whose columns may all be null, and whose texts need not be UTF-8.
type anyRow struct {
	Collector *string `parquet:"collector,optional,dict"`
	Token     *[]byte `parquet:"token,optional"`
	Question  *string `parquet:"question,optional,dict"`
	Report    *[]byte `parquet:"report,optional"`
}

// text and octets return a column's value.
func text(s string) *string   { return &s }
func octets(b []byte) *[]byte { return &b }

// of returns a row with a report to the question, and with a token unless it is nil.
func of(c *client.Collector, question int, token, report []byte) anyRow {
	r := anyRow{Collector: text(c.ID()), Question: text(c.Questions[question].Name), Report: octets(report)}
	if token != nil {
		r.Token = octets(token)
	}
	return r
}

// write writes rows to a Parquet file with so many in a row group.
func write[T any](t testing.TB, path string, perGroup int64, rows ...T) {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, parquet.MaxRowsPerRowGroup(perGroup))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeInFiles writes rows to so many files, in this order.
func writeInFiles(t testing.TB, dir string, files int, perGroup int64, rows []anyRow) {
	t.Helper()
	for i := range files {
		part := rows[len(rows)*i/files : len(rows)*(i+1)/files]
		write(t, filepath.Join(dir, fmt.Sprintf("%02d.parquet", i)), perGroup, part...)
	}
}

// outcome is what [Count] counted, by question.
type outcome struct {
	supports [][]int64
	reports  []measured.Reports
}

func countOf(t testing.TB, p *plan.Plan, dir string) (outcome, error) {
	t.Helper()
	all, err := Count(context.Background(), p, dir, 0)
	var c outcome
	for i, m := range all {
		if m.Measurement.ID != p.Measurements[i].ID {
			t.Errorf("measurement %d is %s", i, m.Measurement.ID)
		}
		c.supports = append(c.supports, slices.Clone(m.Values.Int64Values()))
		c.reports = append(c.reports, *m.Reports)
	}
	return c, err
}

// naive counts rows one by one, by what the comment of [Count] says.
func naive(c *client.Collector, p *plan.Plan, rows []anyRow) (all outcome) {
	for i := range c.Questions {
		all.supports = append(all.supports, make([]int64, p.Measurements[i].Cells))
	}
	all.reports = make([]measured.Reports, len(c.Questions))
	seen := map[string]bool{}
	for _, r := range rows {
		at := -1
		if r.Collector != nil && *r.Collector == c.ID() && r.Question != nil {
			at = slices.IndexFunc(c.Questions, func(q client.Question) bool { return q.Name == *r.Question })
		}
		if at < 0 {
			all.reports[0].Foreign++
			continue
		}
		into := &all.reports[at]
		q := &c.Questions[at]
		if r.Report == nil || !q.Valid(*r.Report) || r.Token != nil && len(*r.Token) != 16 {
			into.Impossible++
			continue
		}
		if r.Token != nil {
			by := fmt.Sprintf("%x", *r.Token)
			if c.Asks == client.All {
				by += fmt.Sprint(" ", at)
			}
			if seen[by] {
				into.Repeated++
				continue
			}
			seen[by] = true
		}
		into.Kept++
		for v := range all.supports[at] {
			if histogramtest.Holds(q, *r.Report, int64(v)) {
				all.supports[at][v]++
			}
		}
	}
	return all
}

// drawer draws reports and tokens, the same in each run.
type drawer struct {
	*rand.Rand
	bytes *client.Bytes
}

func newDrawer(seed byte) drawer {
	source := rand.NewChaCha8([32]byte{seed})
	return drawer{rand.New(source), client.NewBytes(rand.NewChaCha8([32]byte{seed, 1}))}
}

func (d drawer) report(q *client.Question, v int64) []byte {
	b, err := q.Randomise(nil, v, d.bytes)
	if err != nil {
		panic(err)
	}
	return b
}

func (d drawer) token() []byte {
	b := make([]byte, 16)
	for i := range b {
		b[i] = byte(d.Uint32())
	}
	return b
}

// sameRat reports whether a text is this fraction.
func sameRat(text string, r *big.Rat) bool {
	x, ok := new(big.Rat).SetString(text)
	return ok && x.Cmp(r) == 0
}
