package histogram

import (
	"context"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/planner"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/spec"
)

// Count reads the tables of a plan from the folder dataDir, each once or, where its units
// have ids, twice: first the ids, to bound how many rows of each are counted. It counts the
// answers to all measurements, and with them every candidate that an adaptive method of the
// plan may choose. Columns are read as codes, and all tables are counted at once by
// package tabulate.
//
// Errors: *[MemoryError] before any file is opened where the counts do not fit, and once
// files are read where what must be held of the rows does not; *[source.Error] for a file that cannot be read; *[ContractError] for values
// that break their column's contract and for files that are not what their table
// expects. None of them holds a value, a code or a number of rows. The counts do
// not depend on the options.
func Count(ctx context.Context, p *plan.Plan, dataDir string, s *noise.Streams, opt Options) (*Exact, error) {
	have := opt.memory()
	if err := checkMemory(p, have); err != nil {
		return nil, err
	}
	progress := newProgress(opt.Progress)
	held := map[string]int64{} // by table
	found := func(table *spec.Table, all []plan.Measurement) (out *spec.Table, err error) {
		out, held[table.Name], err = discover(ctx, table, all, dataDir, opt.workers(), have-Bytes(p))
		return out, err
	}
	return count(p, s, opt.workers(), false, found, func(t *tally) error {
		left := have - Bytes(p)
		for _, one := range t.family() {
			one.progress = progress
			left -= held[one.table.Name]
		}
		if err := besides(t.scan(ctx, dataDir, s, left), have-Bytes(p)); err != nil {
			return err
		}
		return t.expect.empty(t.readers)
	})
}

// CountMadeUp counts rows drawn uniformly from the declared domains, each a unit
// of its own: a rehearsal reads no file, and expects nothing. rows is per table; of a table
// whose rows belong to those of another there are as many as these say.
func CountMadeUp(ctx context.Context, p *plan.Plan, rows int64, s *noise.Streams, opt Options) (*Exact, error) {
	if rows < 0 {
		return nil, fmt.Errorf("a rehearsal has 0 rows or more, not %d", rows)
	}
	have := opt.memory()
	if err := checkMemory(p, have); err != nil {
		return nil, err
	}
	progress := newProgress(opt.Progress)
	found := func(table *spec.Table, all []plan.Measurement) (*spec.Table, error) {
		return discoverMadeUp(table, all), nil
	}
	return count(p, s, opt.workers(), true, found, func(t *tally) error {
		t.progress = progress
		if t.link != nil {
			if err := t.link.makeUp(rows, s.MadeUp(t.link.parent.table.Name+".linked"), have-Bytes(p)); err != nil {
				return err
			}
		}
		return t.makeUp(ctx, rows, s.MadeUp(t.table.Name), have-Bytes(p))
	})
}

// count fills the tally of each table that the plan asks of. It works on a copy of
// the plan that nobody else holds, checked to be what its spec leads to: what is
// measured later is what was checked here.
func count(p *plan.Plan, s *noise.Streams, workers int, madeUp bool, found finding, fill func(*tally) error) (*Exact, error) {
	p, err := planner.Verified(p)
	if err != nil {
		return nil, err
	}
	all, err := questions(p)
	if err != nil {
		return nil, err
	}
	counts, err := countFound(p, all, workers, found, fill)
	if err != nil {
		return nil, err
	}
	return newExact(p, all, counts, s, madeUp), nil
}

// finding is how the categories that nobody listed come into a table, for measurements that ask for them.
type finding func(table *spec.Table, all []plan.Measurement) (*spec.Table, error)

// countAll answers questions to the tables of a plan's release, all of a table's at once, of columns that are listed.
func countAll(p *plan.Plan, all []plan.Measurement, workers int, fill func(*tally) error) ([]tallied, error) {
	return countFound(p, all, workers, func(table *spec.Table, _ []plan.Measurement) (*spec.Table, error) { return table, nil }, fill)
}

// countFound answers questions to the tables of a plan's release, all of a table's at once.
func countFound(p *plan.Plan, all []plan.Measurement, workers int, found finding, fill func(*tally) error) ([]tallied, error) {
	r := p.Release()
	var shown []plan.Query
	for _, t := range p.Tables {
		shown = append(shown, p.Query(t))
	}
	counts := make([]tallied, len(all))
	asked := map[string]bool{}
	for _, m := range all {
		asked[m.Query.Table] = true
	}
	for _, table := range r.Tables {
		if !asked[table.Name] {
			continue
		}
		tallies, err := linkedTallies(r, family(r, table), func(table *spec.Table) (*tally, error) {
			table, err := found(table, all)
			if err != nil {
				return nil, err
			}
			return newTally(r, table, all, shown, workers)
		})
		if err != nil {
			return nil, err
		}
		for _, t := range tallies {
			if !asked[t.table.Name] {
				continue
			}
			delete(asked, t.table.Name)
			if err := fill(t); err != nil {
				return nil, err
			}
			t.answer(all, counts)
		}
	}
	for i, m := range all {
		var err error
		if m.Query.Distribution != nil {
			counts[i], err = distributed(r, m, counts[i])
		} else {
			counts[i], err = project(r, m, counts[i])
		}
		if err != nil {
			return nil, fmt.Errorf("measurement %s: %w", m.ID, err)
		}
	}
	for name := range asked {
		return nil, fmt.Errorf("the plan measures a table %q that its release does not have", name)
	}
	return counts, nil
}

// answer writes what was counted for the measurements of the tally's table to their places.
func (t *tally) answer(all []plan.Measurement, counts []tallied) {
	next := 0
	for i, m := range all {
		if m.Query.Table == t.table.Name {
			counts[i] = t.queries[next].tallied
			counts[i].groups = t.grouped(m, t.queries[next])
			next++
		}
	}
}

// project turns the counts of a query's marginal into its answers: the exact integers
// of the residual along each axis whose factor is one, in the memory of the counts.
func project(r *spec.Release, m plan.Measurement, t tallied) (tallied, error) {
	columns, axes, plain, err := m.Query.Residual(r)
	if err != nil || !slices.Contains(plain, false) || t.len() == 0 {
		return t, err
	}
	t = t.wide()
	t.counts, err = residual.Exact(columns, axes, plain, t.counts)
	if err == nil && slices.ContainsFunc(t.counts, large) {
		err = errLargeSum
	}
	return t, err
}

// questions are all that a plan may ask of its tables: its measurements in order
// and, behind them, the candidates of every adaptive method. What a method will choose
// is not known before noise is drawn, and tables are read once.
func questions(p *plan.Plan) ([]plan.Measurement, error) {
	all := slices.Clone(p.Measurements)
	for _, s := range p.Synthetic {
		candidates, err := candidatesOf(p, s)
		if err != nil {
			return nil, fmt.Errorf("microdata of %s: %w", s.Table, err)
		}
		all = append(all, candidates...)
	}
	return all, nil
}

// makeUp counts rows drawn uniformly, column by column within a chunk, but for those that are impossible.
func (t *tally) makeUp(ctx context.Context, rows int64, stream *noise.Bits, limit int64) error {
	next := func() uint32 { return 0 } // the parent row of the next row
	if t.link != nil {
		rows, next = t.madeUpRows(rows)
	}
	counted, err := t.counting(rows, limit)
	if err != nil {
		return err
	}
	t.progress.reading(t.table.Name, 1, 1, rows)
	worker := counted.worker()
	var of []uint32
	codes, columns := make([][]uint32, len(t.encoders)), make([]tabulate.Codes, len(t.encoders))
	for rows > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		drawn := int(min(rows, source.MaxRows))
		rows -= int64(drawn)
		of = fit(of, drawn)
		for i := range of {
			of[i] = next()
		}
		for column, e := range t.encoders {
			codes[column] = fit(codes[column], drawn)
			known := t.madeUp(column)
			for i := range drawn {
				if known != nil {
					codes[column][i] = known[of[i]]
				} else {
					codes[column][i] = uint32(stream.Below(uint64(e.size)))
				}
			}
			columns[column].Wide = codes[column]
		}
		keep := make([]uint64, (drawn+63)/64)
		for i := range drawn {
			is := t.table.Sample == nil || stream.Uint64() < below(t.table.Sample)
			if is && !slices.ContainsFunc(t.rules, func(r rule) bool { return r.meets(codes, i) }) {
				keep[i/64] |= 1 << (i % 64)
			}
		}
		// Each is a unit of its own, and within every bound.
		if err := worker.add(columns, drawn, func(int) []uint64 { return keep }); err != nil {
			return err
		}
		t.progress.add(drawn)
	}
	t.diagnoseRows(0)
	return counted.finish(ctx)
}
