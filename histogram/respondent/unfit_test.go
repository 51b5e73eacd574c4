package respondent

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/plan"
)

// canary is in answers and reports, and never in a message.
const canary = "canary-5f1e"

// checkSilent fails if a message has a canary.
func checkSilent(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil && strings.Contains(err.Error(), canary) {
		t.Errorf("%s: the message has what was read: %v", what, err)
	}
}

// TestReportsTheSpecRefuses counts reports that are not what the spec says of them. Each error is an [Unfit] with its
// sentence.
func TestReportsTheSpecRefuses(t *testing.T) {
	const expect, shuffled = "epsilon: 1, expect: 100000", "epsilon: 1, expect: 100000, shuffled: true, honest: 10"
	reports := func(drawn drawer, tokens bool, counts ...int) func(*client.Collector) []anyRow {
		return func(c *client.Collector) (rows []anyRow) {
			for i, n := range counts {
				for range n {
					var token []byte
					if tokens {
						token = drawn.token()
					}
					rows = append(rows, of(c, i, token, drawn.report(&c.Questions[i], 1)))
				}
			}
			return rows
		}
	}
	and := func(rows func(*client.Collector) []anyRow, change func(*anyRow)) func(*client.Collector) []anyRow {
		return func(c *client.Collector) []anyRow {
			all := rows(c)
			last := all[len(all)-1]
			last.Token = octets([]byte("0123456789abcdef"))
			change(&last)
			return append(all, last)
		}
	}
	d := newDrawer(5)
	good := reports(d, true, 3, 3)
	for _, c := range []struct {
		what, collect string
		rows          func(*client.Collector) []anyRow
		says          string // "" if they pass
	}{
		{"as they should be", expect, good, ""},
		{"no report to a question", expect, reports(d, true, 3, 0), "no report to question q100, and so nothing"},
		{"no report at all", expect, reports(d, true, 0, 0), "no report to question q2,"},
		{"impossible, dropped", expect, and(good, func(r *anyRow) { r.Report = octets([]byte(canary)) }), ""},
		{"impossible", expect + ", faulty: error", and(good, func(r *anyRow) { r.Report = octets([]byte(canary)) }),
			"there are faulty reports, and the spec says `faulty: error`: 1 that no device makes"},
		{"foreign", expect + ", faulty: error", and(good, func(r *anyRow) { r.Collector = text(canary) }),
			"`faulty: error`: 1 of another"},
		{"another question", expect + ", faulty: error", and(good, func(r *anyRow) { r.Question = text(canary) }),
			"`faulty: error`: 1 of another"},
		{"twice", expect + ", faulty: error", func(c *client.Collector) []anyRow {
			all := good(c)
			return append(all, all[0])
		},
			"`faulty: error`: 1 sent again"},
		{"none faulty", expect + ", faulty: error", good, ""},
		{"without tokens", expect, reports(d, false, 3, 3), "some reports have no token"},
		{"one without a token", expect, and(good, func(r *anyRow) { r.Token = nil }), "some reports have no token"},
		{"too few", shuffled, reports(d, false, 4, 5), "there are 9 reports, fewer than the honest minimum of 10"},
		{"just enough", shuffled, reports(d, false, 4, 6), ""},
		{"with tokens", shuffled, reports(d, true, 10, 10), "the reports have tokens"},
		{"one with a token", shuffled, and(reports(d, false, 10, 10), func(*anyRow) {}), "the reports have tokens"},
		{"faulty ones do not count", shuffled,
			and(reports(d, false, 4, 5), func(r *anyRow) { r.Token, r.Report = nil, nil }),
			"there are 9 reports"},
		{"all questions, too few in one", "epsilon: 10, expect: 100000, shuffled: true, honest: 10",
			reports(d, false, 200, 9), "there are 9 reports"},
		{"all questions, just enough", "epsilon: 10, expect: 100000, shuffled: true, honest: 10",
			reports(d, false, 10, 10), ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			sizes := []int{2, 100}
			if strings.Contains(c.collect, "10,") {
				sizes = []int{2, 3}
			}
			p := planOf(t, specOf(c.collect, sizes...))
			checkUnfit(t, p, c.rows(collectorOf(t, p)), c.says)
		})
	}
}

// checkUnfit counts rows, and compares the sentence of the error.
func checkUnfit(t *testing.T, p *plan.Plan, rows []anyRow, says string) {
	t.Helper()
	dir := t.TempDir()
	writeInFiles(t, dir, 1, 2, rows)
	got, err := countOf(t, p, dir)
	checkSilent(t, says, err)
	var unfit *Unfit
	if says == "" {
		if err != nil || len(got.reports) != len(p.Measurements) {
			t.Errorf("%v, %v", got, err)
		}
	} else if !errors.As(err, &unfit) || !strings.Contains(err.Error(), says) || got.supports != nil {
		t.Errorf("%v, %v, want: %s", got, err, says)
	}
}

// Files whose columns are missing or of another type.
type (
	noToken struct {
		Collector string `parquet:"collector"`
		Question  string `parquet:"question"`
		Report    []byte `parquet:"report"`
	}
	numberedReport struct {
		Collector string `parquet:"collector"`
		Token     []byte `parquet:"token,optional"`
		Question  string `parquet:"question"`
		Report    int64  `parquet:"report"`
	}
	numberedToken struct {
		Collector string `parquet:"collector"`
		Token     int64  `parquet:"token"`
		Question  string `parquet:"question"`
		Report    []byte `parquet:"report"`
	}
	numberedCollector struct {
		Collector int64  `parquet:"collector"`
		Token     []byte `parquet:"token,optional"`
		Question  string `parquet:"question"`
		Report    []byte `parquet:"report"`
	}
	numberedQuestion struct {
		Collector string  `parquet:"collector"`
		Token     []byte  `parquet:"token,optional"`
		Question  float64 `parquet:"question"`
		Report    []byte  `parquet:"report"`
	}
)

// TestFilesThatHoldNoReports reads files that are damaged, are no Parquet files, or have other columns, to count them
// and to gather them. Each error is a *source.Error, or an [Unfit] of what was gathered.
func TestFilesThatHoldNoReports(t *testing.T) {
	p := planOf(t, specOf("epsilon: 1, expect: 100000", 2))
	c, d := collectorOf(t, p), newDrawer(6)
	path := filepath.Join(t.TempDir(), "good.parquet")
	write(t, path, 100, of(c, 0, d.token(), []byte{1}), of(c, 0, d.token(), []byte{2}))
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	own, question := c.ID(), "q2"
	bytesOf := func(b []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) { writeBytes(t, path, b) }
	}
	for what, make := range map[string]func(t *testing.T, path string){
		"no file":            func(*testing.T, string) {},
		"empty":              bytesOf(nil),
		"text":               bytesOf([]byte(strings.Repeat(canary+"\n", 100))),
		"cut":                bytesOf(good[:len(good)-20]),
		"its end alone":      bytesOf(good[len(good)/2:]),
		"bytes changed":      bytesOf(garbled(good)),
		"no token":           rowOf(noToken{own, question, []byte{1}}),
		"numbered report":    rowOf(numberedReport{own, nil, question, 1}),
		"numbered token":     rowOf(numberedToken{own, 7, question, []byte{1}}),
		"numbered collector": rowOf(numberedCollector{1, nil, question, []byte{1}}),
		"numbered question":  rowOf(numberedQuestion{own, nil, 1.5, []byte{1}}),
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "reports.parquet")
			make(t, path)
			_, err := countOf(t, p, dir)
			_, _, gathered := Gather(context.Background(), c, []string{path}, false, 0)
			var of *source.Error
			var unfit *Unfit
			if !errors.As(err, &of) {
				t.Errorf("to count: %T: %v", err, err)
			}
			if !errors.As(gathered, &of) && !errors.As(gathered, &unfit) {
				t.Errorf("to gather: %T: %v", gathered, gathered)
			}
			checkSilent(t, what, err)
			checkSilent(t, what, gathered)
		})
	}
	_, _, err = Gather(context.Background(), c, []string{filepath.Join(t.TempDir(), "reports.jsonl")}, false, 0)
	if missing := (*source.Error)(nil); !errors.As(err, &missing) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file of lines: %v", err)
	}
}

// rowOf writes a file of one row.
func rowOf[T any](row T) func(*testing.T, string) {
	return func(t *testing.T, path string) { write(t, path, 9, row) }
}

func writeBytes(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// garbled returns a Parquet file whose pages are damaged, with a good beginning and end.
func garbled(good []byte) []byte {
	b := bytes.Clone(good)
	for i := 4; i < len(b)/3; i++ {
		b[i] ^= 0xff
	}
	return b
}

// TestEndedContextsStopTheCount ends the context before reports are counted.
func TestEndedContextsStopTheCount(t *testing.T) {
	p := planOf(t, specOf("epsilon: 1, expect: 100000", 2))
	c, d, dir := collectorOf(t, p), newDrawer(7), t.TempDir()
	writeInFiles(t, dir, 1, 10, []anyRow{of(c, 0, d.token(), []byte{1})})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Count(ctx, p, dir, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("count: %v", err)
	}
	if _, err := MadeUp(ctx, p, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("made up: %v", err)
	}
}
