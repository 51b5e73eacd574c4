package respondent

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/dprelease/dprelease/histogram/internal/histogramtest"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
)

// sizesCounted are around the borders of bytes, words and forms.
var sizesCounted = []int{2, 3, 7, 8, 9, 63, 64, 65, 100, 255, 256, 257, 511, 512, 513, 600}

// inWorkers runs a test with so many workers.
func inWorkers(t *testing.T, workers int) {
	before := runtime.GOMAXPROCS(workers)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

// TestCountIsThatOfHolds counts reports to questions of 2 to 600 categories, more of them than a counter of a byte
// holds, in one file and in several, with one and several row groups and workers, and compares each category with
// [histogramtest.Holds].
func TestCountIsThatOfHolds(t *testing.T) {
	for _, epsilon := range []string{"1/2", "2", "10"} {
		p := planOf(t, specOf("epsilon: "+epsilon+", expect: 100000", sizesCounted...))
		c, d := collectorOf(t, p), newDrawer(1)
		var rows []anyRow
		for range 600 {
			for i := range c.Questions {
				v := d.Int64N(p.Measurements[i].Cells)
				rows = append(rows, of(c, i, d.token(), d.report(&c.Questions[i], v)))
			}
		}
		want := naive(c, p, rows)
		for _, way := range []struct{ files, perGroup, workers int }{{1, len(rows), 1}, {1, 700, 4}, {5, 300, 3},
			{5, 5000, 8}} {
			t.Run(fmt.Sprint(epsilon, way), func(t *testing.T) {
				inWorkers(t, way.workers)
				dir := t.TempDir()
				writeInFiles(t, dir, way.files, int64(way.perGroup), rows)
				if got, err := countOf(t, p, dir); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%v, %v\nwant %v", got, err, want)
				}
			})
		}
	}
}

// TestCountsOfFewCategories counts all reports that there are to small questions, each often enough to fill counters.
func TestCountsOfFewCategories(t *testing.T) {
	p := planOf(t, specOf("epsilon: 1, expect: 100000", 2, 7, 9))
	c := collectorOf(t, p)
	for i := range c.Questions {
		q := &c.Questions[i]
		var rows []anyRow
		for set := range 1 << q.Categories {
			report := []byte{byte(set), byte(set >> 8)}[:(q.Categories+7)/8]
			for range 257 {
				rows = append(rows, of(c, i, nil, report))
			}
		}
		got := countRows(t, p, c, rows)
		want := naive(c, p, rows)
		if !reflect.DeepEqual(got.supports[i], want.supports[i]) ||
			!reflect.DeepEqual(got.reports[i], want.reports[i]) {
			t.Errorf("%s: %v %v, want %v %v", q.Name, got.supports[i], got.reports[i], want.supports[i],
				want.reports[i])
		}
	}
}

// countRows counts rows without what the spec says of them.
func countRows(t *testing.T, p *plan.Plan, c *client.Collector, rows []anyRow) outcome {
	t.Helper()
	dir := t.TempDir()
	writeInFiles(t, dir, 2, 100, rows)
	all, err := countAll(context.Background(), source.Data{Dir: dir}, p.Release().Tables[0], newQuestions(c), false, 0)
	if err != nil {
		t.Fatal(err)
	}
	return outcome{all.supports, all.reports}
}

// spoilt returns ways in which a report is none that a device makes, by what is wrong.
func spoilt(q *client.Question, good []byte) map[string]*[]byte {
	with := func(change func(b []byte)) *[]byte {
		b := bytes.Clone(good)
		change(b)
		return &b
	}
	all := map[string]*[]byte{
		"null": nil, "empty": octets([]byte{}), "too short": octets(good[:len(good)-1]),
		"too long": octets(append(bytes.Clone(good), 0)), "much too long": octets(bytes.Repeat(good, 100)),
		"text": octets([]byte(canary)), "ones": octets(bytes.Repeat([]byte{0xff}, len(good))),
		"zeros": octets(make([]byte, len(good))),
	}
	if q.Form == client.Permuted {
		all["a = 0"] = with(func(b []byte) { copy(b[:4], "\x00\x00\x00\x00") })
		all["a = P"] = with(func(b []byte) { b[0], b[1], b[2], b[3] = 0, 0, byte(q.Categories>>8), byte(q.Categories) })
		all["b = P"] = with(func(b []byte) { b[4], b[5], b[6], b[7] = 0, 0, byte(q.Categories>>8), byte(q.Categories) })
		return all
	}
	held, free := 0, 0
	for histogramtest.Holds(q, good, int64(held)) != true {
		held++
	}
	for histogramtest.Holds(q, good, int64(free)) {
		free++
	}
	all["one less"] = with(func(b []byte) { b[held/8] &^= 1 << (held % 8) })
	all["one more"] = with(func(b []byte) { b[free/8] |= 1 << (free % 8) })
	if q.Categories%8 > 0 {
		all["one beyond"] = with(func(b []byte) {
			b[held/8] &^= 1 << (held % 8)
			b[q.Categories/8] |= 1 << (q.Categories % 8)
		})
	}
	return all
}

// TestReportsThatAreLeftOut counts one report of each kind that is left out, and looks for it in its tally: those that
// no device makes, those of another collector or question, and those that were sent twice.
func TestReportsThatAreLeftOut(t *testing.T) {
	p := planOf(t, specOf("epsilon: 1, expect: 100000", 2, 12, 64, 100, 600))
	c, d := collectorOf(t, p), newDrawer(2)
	for i := range c.Questions {
		q := &c.Questions[i]
		good := d.report(q, 1)
		check := func(what string, row anyRow, in int, want measured.Reports) {
			t.Helper()
			rows := []anyRow{row}
			for other := range c.Questions { // each question needs a report
				rows = append(rows, of(c, other, d.token(), d.report(&c.Questions[other], 0)))
			}
			dir := t.TempDir()
			writeInFiles(t, dir, 2, 2, rows)
			got, err := countOf(t, p, dir)
			if want.Kept++; err != nil || !reflect.DeepEqual(got.reports[in], want) ||
				!reflect.DeepEqual(got, naive(c, p, rows)) {
				t.Errorf("%s, %s: %v, %v, want %v", q.Name, what, got.reports, err, want)
			}
		}
		for what, report := range spoilt(q, good) {
			row := of(c, i, d.token(), nil)
			row.Report = report
			check(what, row, i, measured.Reports{Impossible: 1})
		}
		foreign := measured.Reports{Foreign: 1}
		row := of(c, i, d.token(), good)
		row.Collector = text("0123456789abcdef")
		check("of another collector", row, 0, foreign)
		row.Collector = nil
		check("of no collector", row, 0, foreign)
		row = of(c, i, d.token(), good)
		row.Question = text("q" + canary)
		check("to another question", row, 0, foreign)
		row.Question = nil
		check("to no question", row, 0, foreign)
		check("that is right", of(c, i, d.token(), good), i, measured.Reports{Kept: 1})
	}
}

// TestTheFirstOfRepeatedReportsCounts sends reports with the token of one before, with the same and with other content,
// to the same question and to another: devices draw the question that they answer, so the first in the order of the
// files counts, wherever the others are.
func TestTheFirstOfRepeatedReportsCounts(t *testing.T) {
	p := planOf(t, specOf("epsilon: 1, expect: 100000", 2, 12))
	c, d := collectorOf(t, p), newDrawer(3)
	token := d.token()
	first, second := []byte{0x07, 0}, []byte{0xe0, 0}
	c12 := &c.Questions[1]
	if !c12.Valid(first) || !c12.Valid(second) {
		t.Fatalf("reports hold %d categories", c12.Support)
	}
	for _, content := range [][]byte{first, second} {
		for _, files := range []int{1, 2, 7} {
			for _, perGroup := range []int64{1, 3, 100} {
				rows := []anyRow{of(c, 1, token, first), of(c, 0, token, []byte{1}), of(c, 0, d.token(), []byte{1})}
				for range 5 {
					rows = append(rows, of(c, 1, d.token(), d.report(c12, 3)))
				}
				rows = append(rows, of(c, 1, token, content), of(c, 1, token, content), of(c, 0, token, []byte{2}))
				dir := t.TempDir()
				writeInFiles(t, dir, files, perGroup, rows)
				got, err := countOf(t, p, dir)
				if err != nil || !reflect.DeepEqual(got, naive(c, p, rows)) || got.reports[0].Repeated != 2 ||
					got.reports[1].Repeated != 2 || got.supports[0][0] != 1 {
					t.Errorf("in %d files, groups of %d: %v, %v", files, perGroup, got, err)
				}
			}
		}
	}
}

// TestCountOfAnyReports compares random mixtures of all kinds with the naive count.
func TestCountOfAnyReports(t *testing.T) {
	p := planOf(t, specOf("epsilon: 1, expect: 100000", 2, 12, 64, 600))
	c, d := collectorOf(t, p), newDrawer(4)
	for round := range 30 {
		inWorkers(t, 1+round%4)
		var rows []anyRow
		for i := range c.Questions {
			rows = append(rows, of(c, i, []byte(fmt.Sprintf("token %010d", i)), d.report(&c.Questions[i], 0)))
		}
		for i := range c.Questions {
			rows = append(rows, of(c, i, d.token(), d.report(&c.Questions[i], 0)))
		}
		for range 500 {
			i := d.IntN(len(c.Questions))
			q := &c.Questions[i]
			row := of(c, i, []byte(fmt.Sprintf("token %010d", d.IntN(200))), d.report(q, 1))
			switch d.IntN(6) {
			case 0:
				for _, report := range spoilt(q, *row.Report) { // whichever comes first
					row.Report = report
					break
				}
			case 1:
				row.Collector = text(canary)
			case 2:
				row.Question = nil
			}
			rows = append(rows, row)
		}
		dir := t.TempDir()
		writeInFiles(t, dir, 1+round%5, int64(50+100*(round%3)), rows)
		if got, err := countOf(t, p, dir); err != nil || !reflect.DeepEqual(got, naive(c, p, rows)) {
			t.Fatalf("round %d: %v, %v\nwant %v", round, got, err, naive(c, p, rows))
		}
	}
}
