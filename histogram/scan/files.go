package scan

// This file holds Files and MadeUp, the counters of rows in files and of made-up rows.

import (
	"context"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// Files counts the tables of a release in files below a folder. Each table is read once or, if its units have ids,
// more often: first the ids, to bound how many rows of each unit are counted. Columns are read as codes, and package
// tabulate counts all questions to a table at once. The counts do not depend on the options.
type Files struct {
	Dir     string                   // folder from which relative paths of sources start
	Fetched map[string]*source.Spool // rows that were fetched from databases, by table
	Remotes map[string]Remote        // tables that are counted where they are, by table
	Shard   Shard                    // which units [Files.CountPart] counts
	Options Options
}

// data is where the rows are.
func (f Files) data() source.Data { return source.Data{Dir: f.Dir, Fetched: f.Fetched} }

// Count answers questions.
//
// Errors: *[memory.Error] before any file is opened if the counts do not fit, and after files are read if what must
// be held of the rows does not; *[source.Error] for a file that cannot be read; *[ContractError] for values that
// break their column's contract and for files that are not what their table expects. None of them holds a value, a
// code or a number of rows.
func (f Files) Count(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (answer.Answers, error) {
	stamp, err := q.Stamp(s)
	if err != nil {
		return answer.Answers{}, err
	}
	counts, err := f.countRaw(ctx, q, s, func(t *tally) error { return t.expect.checkNotEmpty(t.readers) })
	if err == nil {
		err = answerAll(q, counts)
	}
	return answer.New(counts, false, stamp), err
}

// countRaw counts the rows of questions, of which [answerAll] makes answers. It hands each tally of a table to done
// when the table is counted.
func (f Files) countRaw(ctx context.Context, q histogram.Questions, s *noise.RowStreams,
	done func(*tally) error) ([]answer.Answer, error) {
	have, takes := memory.Available(f.Options.MemoryLimit), memory.Bytes(q.Plan)
	if err := memory.Check(takes, have); err != nil {
		return nil, err
	}
	left := have - takes
	held := map[string]int64{} // by table
	found := func(table *spec.Table) (out *spec.Table, err error) {
		if f.Remotes[table.Name] != nil {
			return table, nil
		}
		out, held[table.Name], err = discover(ctx, table, q.Plan.Measurements, f.data(), f.Options.workerCount(), left)
		return out, err
	}
	return countTables(q, f.Options.workerCount(), found, func(t *tally) error {
		limit := left
		for _, one := range t.linkedTallies() {
			limit -= held[one.table.Name]
			if f.Shard.Of == 0 || one.part {
				continue
			}
			one.part, one.expect.ofPart = true, true
			var err error
			if one.division, err = newDivision(f.Shard, one.table, one.workers, s); err != nil {
				return err
			}
		}
		count := t.countFiles
		if r := f.Remotes[t.table.Name]; r != nil {
			count = func(ctx context.Context, _ source.Data, s *noise.RowStreams, limit int64) error {
				return t.countRemote(ctx, r, s, limit)
			}
		}
		if err := hideShortage(count(ctx, f.data(), s, limit), left); err != nil {
			return err
		}
		return done(t)
	})
}

// MadeUp counts rows drawn uniformly from the declared domains, each a unit of its own. It is for a rehearsal, reads
// no file and checks no expectation.
type MadeUp struct {
	Rows       int64 // of each table; the rows of a parent table determine how many a child table has
	AsExpected bool  // but a table with a range of expected rows has the middle of it, or a million if that is less
	Options    Options
}

// mostExpected bounds the made-up rows that a table has because they are expected: more teach nothing, and take long.
const mostExpected = 1_000_000

// RowsOf returns how many rows of a table are made up, unless it is a child table.
func (f MadeUp) RowsOf(t *spec.Table) int64 {
	if !f.AsExpected || t.Expect == nil || t.Expect.Rows == nil {
		return f.Rows
	}
	within := *t.Expect.Rows
	return min(within.Least+(within.Most-within.Least)/2, mostExpected)
}

// Count answers questions about made-up rows. Its errors are *[memory.Error] and those of ctx.
func (f MadeUp) Count(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (answer.Answers, error) {
	if f.Rows < 0 {
		return answer.Answers{}, fmt.Errorf("a rehearsal has 0 rows or more, not %d", f.Rows)
	}
	stamp, err := q.Stamp(s)
	if err != nil {
		return answer.Answers{}, err
	}
	have, takes := memory.Available(f.Options.MemoryLimit), memory.Bytes(q.Plan)
	if err := memory.Check(takes, have); err != nil {
		return answer.Answers{}, err
	}
	left := have - takes
	found := func(table *spec.Table) (*spec.Table, error) { return discoverMadeUp(table, q.Plan.Measurements), nil }
	counts, err := countFound(q, f.Options.workerCount(), found, func(t *tally) error {
		if t.link != nil {
			if err := t.link.makeUp(f.RowsOf(t.link.parent.table), s.MadeUp(t.link.parent.table.Name+".linked"),
				left); err != nil {
				return err
			}
		}
		return t.makeUp(ctx, f.RowsOf(t.table), s.MadeUp(t.table.Name), left)
	})
	return answer.New(counts, true, stamp), err
}

// finder returns a table with the categories that were not listed.
type finder func(table *spec.Table) (*spec.Table, error)

// countFound answers questions, all questions to a table at once.
func countFound(q histogram.Questions, workers int, found finder, fill func(*tally) error) ([]answer.Answer, error) {
	counts, err := countTables(q, workers, found, fill)
	if err == nil {
		err = answerAll(q, counts)
	}
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// countTables counts what questions ask for, all questions to a table at once.
func countTables(q histogram.Questions, workers int, found finder, fill func(*tally) error) ([]answer.Answer, error) {
	counts := make([]answer.Answer, len(q.Measurements))
	return counts, eachTally(q, workers, found, func(t *tally, asked bool) error {
		if !asked {
			return nil
		}
		if err := fill(t); err != nil {
			return err
		}
		t.writeAnswers(q.Measurements, counts)
		return nil
	})
}

// answerAll turns the counts of questions into their answers.
func answerAll(q histogram.Questions, counts []answer.Answer) (err error) {
	for i, m := range q.Measurements {
		if counts[i], err = counters[m.Query.Counted.Kind()].answer(q.Plan.Release(), m, counts[i]); err != nil {
			return fmt.Errorf("measurement %s: %w", m.ID, err)
		}
	}
	return nil
}

// eachTally visits the tallies that questions need: those of tables that are asked about, and those of the tables to
// which their rows are linked.
func eachTally(q histogram.Questions, workers int, found finder, visit func(t *tally, asked bool) error) error {
	r, all := q.Plan.Release(), q.Measurements
	var read []plan.Query
	for _, t := range q.Plan.Tables {
		read = append(read, q.Plan.Query(t))
	}
	for _, m := range q.Plan.Measurements {
		read = append(read, m.Query)
	}
	asked := map[string]bool{}
	for _, m := range all {
		asked[m.Query.Table] = true
	}
	for _, table := range r.Tables {
		if !asked[table.Name] {
			continue
		}
		tallies, err := newLinkedTallies(r, linkedTables(r, table), func(table *spec.Table) (*tally, error) {
			table, err := found(table)
			if err != nil {
				return nil, err
			}
			return newTally(r, table, all, read, workers)
		})
		if err != nil {
			return err
		}
		for _, t := range tallies {
			if err := visit(t, asked[t.table.Name]); err != nil {
				return err
			}
			delete(asked, t.table.Name)
		}
	}
	for name := range asked {
		return fmt.Errorf("the plan measures a table %q that its release does not have", name)
	}
	return nil
}

// Columns returns the columns of their sources that must be read to answer questions, by table, in alphabetical order.
func Columns(q histogram.Questions) (map[string][]string, error) {
	columns := map[string][]string{}
	// Which categories a column has does not change what is read.
	found := func(table *spec.Table) (*spec.Table, error) { return discoverMadeUp(table, q.Measurements), nil }
	return columns, eachTally(q, 1, found, func(t *tally, _ bool) error {
		names := columns[t.table.Name]
		for _, c := range t.columnsOfPass(t.wholePass(true).readers, !t.table.Unit.Row).columns {
			indexOrAppend(&names, c.Name)
		}
		slices.Sort(names)
		columns[t.table.Name] = names
		return nil
	})
}

// writeAnswers writes the answers of the measurements of the tally's table to their indexes in counts.
func (t *tally) writeAnswers(all []plan.Measurement, counts []answer.Answer) {
	next := 0
	for i, m := range all {
		if m.Query.Table == t.table.Name {
			counts[i] = t.queries[next].Answer
			counts[i].Groups = t.groupsOf(m, t.queries[next])
			next++
		}
	}
}

// makeUp counts rows drawn uniformly, column by column within a chunk, without the rows that are impossible.
func (t *tally) makeUp(ctx context.Context, rows int64, stream *noise.Bits, limit int64) error {
	next := func() uint32 { return 0 } // returns the parent row of the next row
	if t.link != nil {
		rows, next = t.drawnRows(rows)
	}
	counted, err := t.newTableCounter(rows, limit, t.workers)
	if err != nil {
		return err
	}
	ctx = progress.Begin(ctx, rows, "counting made-up rows of %s", t.table.Name)
	worker := counted.newWorker()
	var of []uint32
	measured := t.madeUpSample(stream)
	codes, columns := make([][]uint32, len(t.encoders)), make([]tabulate.Codes, len(t.encoders))
	for rows > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		drawn := int(min(rows, source.MaxRows))
		rows -= int64(drawn)
		of = slices.Grow(of[:0], drawn)[:drawn]
		for i := range of {
			of[i] = next()
		}
		for column, e := range t.encoders {
			codes[column] = slices.Grow(codes[column][:0], drawn)[:drawn]
			known := t.drawnColumn(column)
			for i := range drawn {
				if known != nil {
					codes[column][i] = known[of[i]]
				} else {
					codes[column][i] = uint32(stream.Below(uint64(e.Size)))
				}
			}
			columns[column].U32 = codes[column]
		}
		keep := make([]uint64, (drawn+63)/64)
		for i := range drawn {
			if measured() && !slices.ContainsFunc(t.rules, func(r rule) bool { return r.isMetBy(codes, i) }) {
				keep[i/64] |= 1 << (i % 64)
			}
		}
		// Each row is a unit of its own, and within every bound.
		if err := worker.addRows(columns, drawn, func(int) []uint64 { return keep }); err != nil {
			return err
		}
		progress.Add(ctx, int64(drawn))
	}
	t.answerRowDiagnostics(0)
	return counted.finishQueries(ctx)
}
