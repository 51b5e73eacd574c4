package respondent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec"
)

// This file counts reports.

// Unfit is the error for reports that the spec does not let pass: faulty ones, where it says `faulty: error`, too few,
// or reports that were shuffled or were not, against what it says; and for answers that cannot be randomised. Reports
// are no confidential data, and so it has numbers of them.
type Unfit struct{ Why string }

func (e *Unfit) Error() string { return e.Why }

// Count counts for each question of a plan, in the plan's order, how many reports hold each category. Reports that no
// device makes, those of another collector or question, and those that were sent twice (with the token and the question
// of one before it in the order of the files) are left out, and counted for the report of the release.
//
// What comes out is no more confidential than the reports: nothing is debited for it and nothing has noise added
// (post-processing; Dwork and Roth 2014, proposition 2.1).
//
// Errors: *[Unfit], *[source.Error], those of the context.
func Count(ctx context.Context, p *plan.Plan, dir string, limit int64) ([]measured.Measured, error) {
	text, err := Collector(p)
	if err != nil {
		return nil, err
	}
	c, err := client.Read(text)
	if err != nil {
		return nil, err
	}
	collection := p.Release().Collection
	t := *p.Release().Table(p.Measurements[0].Query.Table)
	t.Source.Total = true // a text that is too long is no report, and does not stop the run
	all, err := countAll(ctx, source.Data{Dir: dir}, &t, newQuestions(c), !collection.Shuffled(), limit)
	if err != nil {
		return nil, err
	}
	if err := all.check(p, c); err != nil {
		return nil, err
	}
	return all.answers(ctx, p, c)
}

// tally is what was counted of some reports: for each question how many hold each category, and how many there are.
type tally struct {
	supports [][]int64
	texts    [][]uint64 // of questions for texts that nobody lists: the reports themselves
	reports  []measured.Reports
	tokens   bool // some have one
	mixed    bool // some have none
}

func newTally(q *questions) *tally {
	t := &tally{supports: make([][]int64, len(q.Questions)), texts: make([][]uint64, len(q.Questions)),
		reports: make([]measured.Reports, len(q.Questions))}
	for i := range q.Questions {
		if !isForText(q.Questions[i]) {
			t.supports[i] = make([]int64, q.Questions[i].Categories)
		}
	}
	return t
}

// add adds another tally.
func (t *tally) add(other *tally) {
	for i, supports := range other.supports {
		for v, n := range supports {
			t.supports[i][v] += n
		}
		t.texts[i] = append(t.texts[i], other.texts[i]...)
		t.reports[i] = t.reports[i].Plus(other.reports[i])
	}
	t.tokens, t.mixed = t.tokens || other.tokens, t.mixed || other.mixed
}

// check returns an *[Unfit] unless the reports are what the spec says of them.
func (t *tally) check(p *plan.Plan, of *client.Collector) error {
	var sum measured.Reports
	c, least := p.Release().Collection, int64(-1)
	for i, r := range t.reports {
		sum = sum.Plus(r)
		if !isCounted(p, of.Questions[i]) {
			continue // nothing is missing without it
		}
		if r.Kept == 0 && t.reports[0].Foreign > 0 {
			return &Unfit{fmt.Sprintf("there is no report to question %s of this collector, whose file has the id "+
				"%s; %s are of another one, or to other questions",
				of.Questions[i].Name, of.ID(), budget.Group(t.reports[0].Foreign))}
		}
		if r.Kept == 0 {
			return &Unfit{fmt.Sprintf("there is no report to question %s, and so nothing to estimate",
				of.Questions[i].Name)}
		}
		if least < 0 || r.Kept < least {
			least = r.Kept
		}
	}
	if of.Asks == client.One {
		least = sum.Kept
	}
	faulty := sum.Impossible + sum.Foreign + sum.Repeated
	switch {
	case c.RefusesFaulty && faulty > 0:
		return &Unfit{"there are faulty reports, and the spec says `faulty: error`: " + sum.Faults()}
	case c.Shuffled() && t.tokens:
		return &Unfit{"the reports have tokens, by which they can be traced to their senders, and the spec says that " +
			"they are shuffled: let the shuffler run `dprelease local shuffle` first"}
	case !c.Shuffled() && t.mixed:
		return &Unfit{"some reports have no token, so that reports that were sent twice cannot be found, and the " +
			"spec does not say `shuffled: true`"}
	case c.Shuffled() && least < c.Honest:
		return &Unfit{fmt.Sprintf("there are %d reports, fewer than the honest minimum of %d", least, c.Honest)}
	}
	return nil
}

// isCounted reports whether a question has the name of a measurement: it is not one of the coarser forms that a device
// may draw in its place, by bands or for how a text begins.
func isCounted(p *plan.Plan, q client.Question) bool {
	return slices.ContainsFunc(p.Measurements, func(m plan.Measurement) bool { return m.ID == q.Name })
}

// isForText reports whether a question is for a text that nobody lists.
func isForText(q client.Question) bool { return q.Columns[0].Length > 0 }

// answers returns what was counted as the answers to the measurements of a plan: those of a question's forms one after
// another; of one for texts, those that were found.
func (t *tally) answers(ctx context.Context, p *plan.Plan, c *client.Collector) ([]measured.Measured, error) {
	out, at := make([]measured.Measured, len(p.Measurements)), 0
	for i, m := range p.Measurements {
		question, _ := m.Reports()
		if search, ok := m.Texts(); ok {
			var err error
			after := at + 1 + len(question.Prefixes)
			if out[i], err = t.textsOf(ctx, m, search, c, at, after); err != nil {
				return nil, err
			}
			at = after
			continue
		}
		supports, came := t.supports[at], t.reports[at]
		if at++; question.Form == counted.Permuted {
			supports = supports[:m.Cells] // without those that make up a prime
		}
		for range question.Bands {
			supports, came = append(supports, t.supports[at]...), came.Plus(t.reports[at])
			at++
		}
		out[i] = measured.Measured{Measurement: m, Values: measured.Column(supports), Reports: &came}
	}
	return out, nil
}

// textsOf returns the texts that are found from the reports to some questions of a collector, of which the first is for
// whole texts, with how many reports to that one hold each.
func (t *tally) textsOf(ctx context.Context, m plan.Measurement, search selection.Texts, c *client.Collector, from,
	to int) (
	measured.Measured, error) {
	out := measured.Measured{Measurement: m, Keys: [][]string{}, Reports: &measured.Reports{}}
	var questions []textReports
	var forms []int64
	for i := from; i < to; i++ {
		questions = append(questions, textReports{&c.Questions[i], t.texts[i]})
		*out.Reports = out.Reports.Plus(t.reports[i])
		forms = append(forms, t.reports[i].Kept)
	}
	found, err := findTexts(ctx, search, questions[0], questions[1:])
	supports := make([]int64, len(found))
	for i, text := range found {
		out.Keys, supports[i] = append(out.Keys, []string{text.text}), text.support
	}
	out.Values, out.Reports.Forms = measured.Column(supports), forms
	return out, err
}

// countAll counts the reports of a table. Where they have tokens, it first finds those that were sent twice.
func countAll(ctx context.Context, from source.Data, t *spec.Table, q *questions, tokens bool, limit int64) (*tally,
	error) {
	var twice []uint64
	if tokens {
		var err error
		if twice, err = repeatedReports(ctx, from, t, q, limit); err != nil {
			return nil, err
		}
	}
	workers := runtime.GOMAXPROCS(0)
	each := make([]*tally, workers)
	counters := make([][]counter, workers)
	for w := range each {
		each[w] = newTally(q)
		counters[w] = newCounters(q, each[w])
	}
	r, err := source.Open(ctx, from, t, columns(q))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if slices.ContainsFunc(q.Questions, isForText) {
		if err := memory.Check(r.Rows()*plan.BytesPerText, memory.Available(limit)); err != nil {
			return nil, fmt.Errorf("keeping the reports of texts: %w", err)
		}
	}
	err = inParallel(ctx, r, workers, func(w int, p *source.Piece, b *source.Buffers) error {
		return q.read(ctx, p, b, func(of batch) error {
			countBatch(q, of, twice, each[w], counters[w])
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	for w := range each {
		for _, c := range counters[w] {
			c.flush()
		}
		if w > 0 {
			each[0].add(each[w])
		}
	}
	return each[0], nil
}

// countBatch counts a batch of reports, without those at the places that are listed.
func countBatch(q *questions, of batch, twice []uint64, into *tally, counters []counter) {
	at, _ := slices.BinarySearch(twice, of.first)
	for i := range of.rows {
		if of.token.IsNull(i) {
			into.mixed = true
		} else {
			into.tokens = true
		}
		question := int(of.question[i])
		switch {
		case of.collector[i] != 0 || question == unknown:
			into.reports[0].Foreign++
		case at < len(twice) && twice[at] == of.first+uint64(i):
			into.reports[question].Repeated++
			at++
			continue
		case of.report.IsNull(i) || !hasToken(of, i) || !counters[question].count(of.report.Value(i)):
			into.reports[question].Impossible++
		default:
			into.reports[question].Kept++
		}
		if at < len(twice) && twice[at] == of.first+uint64(i) {
			at++
		}
	}
}

// tokenBytes is the length of a token.
const tokenBytes = 16

// hasToken reports whether a report's token is one, or is missing.
func hasToken(of batch, i int) bool {
	return of.token.IsNull(i) || len(of.token.Value(i)) == tokenBytes
}

// sentReport is a report, identified by the token of its device, with its question and its place.
type sentReport struct {
	token    [tokenBytes]byte
	question uint32
	at       uint64
}

// bytesOfSent is the memory that finding repeated reports takes for each: an entry, and room to sort and grow.
const bytesOfSent = 96

// isReport reports whether a device could have sent a report to this collector.
func (q *questions) isReport(of batch, i int) bool {
	return of.collector[i] == 0 && of.question[i] != unknown && of.report.IsValid(i) && hasToken(of, i) &&
		q.Questions[of.question[i]].Valid([]byte(of.report.Value(i)))
}

// repeatedWithin returns a number for the questions of which a device sends one report: all of them have the same if a
// device draws the question that it answers.
func (q *questions) repeatedWithin(question int) uint32 {
	if q.Asks == client.One {
		return 0
	}
	return uint32(question)
}

// repeatedReports returns the places, in ascending order, of the reports from a device that has already sent one: to
// the same question or, if each device answers only one question, to any.
func repeatedReports(ctx context.Context, from source.Data, t *spec.Table, q *questions, limit int64) ([]uint64,
	error) {
	r, err := source.Open(ctx, from, t, columns(q))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := memory.Check(r.Rows()*bytesOfSent, memory.Available(limit)); err != nil {
		return nil, fmt.Errorf("finding reports that were sent twice: %w", err)
	}
	workers := runtime.GOMAXPROCS(0)
	each := make([][]sentReport, workers)
	err = inParallel(ctx, r, workers, func(w int, p *source.Piece, b *source.Buffers) error {
		return q.read(ctx, p, b, func(of batch) error {
			for i := range of.rows {
				if q.isReport(of, i) && of.token.IsValid(i) {
					one := sentReport{question: q.repeatedWithin(int(of.question[i])), at: of.first + uint64(i)}
					copy(one.token[:], of.token.Value(i))
					each[w] = append(each[w], one)
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(each...)
	slices.SortFunc(all, func(a, b sentReport) int {
		return cmp.Or(bytes.Compare(a.token[:], b.token[:]), cmp.Compare(a.question, b.question),
			cmp.Compare(a.at, b.at))
	})
	var twice []uint64
	for i := 1; i < len(all); i++ {
		if all[i].token == all[i-1].token && all[i].question == all[i-1].question {
			twice = append(twice, all[i].at)
		}
	}
	slices.Sort(twice)
	return twice, nil
}

// inParallel visits all pieces of a reader, by several workers at a time, each with its number and buffers of its own.
func inParallel(ctx context.Context, r *source.Reader, workers int,
	visit func(worker int, p *source.Piece, b *source.Buffers) error) error {
	var reading sync.Mutex
	return parallel.Do(ctx, workers, workers, func(w int) error {
		buffers := &source.Buffers{}
		for {
			reading.Lock()
			p, err := r.Next(ctx)
			reading.Unlock()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = visit(w, p, buffers)
			}
			if err != nil {
				return err
			}
		}
	})
}

// counter counts the reports to one question.
type counter interface {
	// count counts a report, and reports whether it is one that a device makes.
	count(report string) bool
	// flush adds what is counted to the tally.
	flush()
}

func newCounters(q *questions, into *tally) []counter {
	all := make([]counter, len(q.Questions))
	for i := range q.Questions {
		switch one := &q.Questions[i]; {
		case one.Form == client.Set:
			all[i] = newSetCounter(one, into.supports[i])
		case isForText(*one):
			all[i] = &textCounter{one, &into.texts[i]}
		default:
			all[i] = &permutedCounter{one, into.supports[i]}
		}
	}
	return all
}

// permutedCounter counts permuted reports: it goes through all categories of each.
type permutedCounter struct {
	question *client.Question
	into     []int64
}

func (c *permutedCounter) count(report string) bool {
	if len(report) != 8 || !c.question.Valid([]byte(report)) {
		return false
	}
	a := int64(binary.BigEndian.Uint32([]byte(report[:4])))
	at := int64(binary.BigEndian.Uint32([]byte(report[4:])))
	prime, support := c.question.Categories, c.question.Support
	for v := range c.into { // at is (a·v + b) mod prime
		if at < support {
			c.into[v]++
		}
		if at += a; at >= prime {
			at -= prime
		}
	}
	return true
}

func (c *permutedCounter) flush() {}

// textCounter keeps reports of texts that nobody lists, as it is not known yet which categories are looked at.
type textCounter struct {
	question *client.Question
	into     *[]uint64
}

func (c *textCounter) count(report string) bool {
	if !c.question.Valid([]byte(report)) {
		return false
	}
	*c.into = append(*c.into, binary.BigEndian.Uint64([]byte(report)))
	return true
}

func (c *textCounter) flush() {}
