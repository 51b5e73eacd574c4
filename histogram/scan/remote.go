package scan

// This file holds Remote, a table whose rows stay in the program that has them, and the counting of such a table.
// Codes, contracts, bounds and what each question counts are decided here; the other program joins rows with codes,
// chooses the rows of each unit by the hashes that are used everywhere (docs/proofs/bounding.md), and groups.

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/spec"
)

// Remote is a table whose rows are bounded and grouped by the program that has them. All its answers are about the
// same rows. Its errors are *[source.Error] or the context's.
type Remote interface {
	// Encode gives every row a code in a column with the next number; with number 0 everything begins anew. What the
	// code is follows from the row's values in the columns of the source of which it is made: codesOf returns it for
	// each of the distinct combinations of values, in batches.
	Encode(ctx context.Context, number int, made Made, codesOf func(values []arrow.Array) []uint32) error
	// Judge counts the rows that a judgement leaves out. It is called once, when all columns have codes.
	Judge(ctx context.Context, j Judgement) (Judged, error)
	// Occurring returns the distinct codes of a column in the rows that count.
	Occurring(ctx context.Context, column int) ([]uint32, error)
	// Bound chooses the rows that stay, and returns how many there are.
	Bound(ctx context.Context, b Bound) (rows int64, err error)
	// Groups visits the distinct combinations of codes in some columns of the rows that stay, with how many rows have
	// each.
	Groups(ctx context.Context, columns []int, visit func(codes []uint32, rows int64) error) error
}

// Made says what a column with codes is made of.
type Made struct {
	Columns []source.Column // of the source
	// Integers, if it is not nil, holds for a single column of the source that has integers. It does not depend on
	// data.
	Integers *Integers
}

// Integers is a range of integers that are encoded one by one. All integers below Low have the code of Low−1, and all
// above High that of High+1.
type Integers struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// mostIntegers is the most integers that a range has.
const mostIntegers = 1 << 12

// Values returns what has to be encoded so that the codes of all integers are known: null, and then the integers from
// Low−1 to High+1, ascending.
func (r Integers) Values() arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendNull()
	for v := r.Low - 1; v <= r.High+1; v++ {
		b.Append(v)
	}
	return b.NewInt64Array()
}

// Judgement says which rows do not count. A column of n categories or values has the codes 0 … n−1; the code n leaves
// the row out, and the codes after it break the contract, each in another way.
type Judgement struct {
	Sizes       []uint32 // by column
	Kinds       []int    // by column, in how many ways values break the contract
	Where       int      // the column that leaves rows out before anything else is asked of them, −1 for none
	Columns     int      // how many columns, from the first, can leave a row out
	Rules       []Ruled  // what is left out of the rows that no column leaves out
	DropsIDless bool     // rows without an id are left out
}

// Ruled is an entry of `impossible`: rows that have one of the codes in each of the columns.
type Ruled struct {
	Columns []int
	Codes   [][]uint32 // by column
	Drop    bool       // such a row is left out; otherwise it breaks the contract
}

// Judged are numbers of rows. Those of columns, rules and ids do not include rows that are left out by Where.
type Judged struct {
	Rows, Inside, Counted int64
	LeftOut               []int64   // by column
	Breaches              [][]int64 // by column, and by the way in which its contract is broken
	Ruled                 []int64   // by rule, of the rows that no column leaves out
	WithoutID             int64
}

// Bound says which of the rows that count stay: of each unit the rows with the least priorities.
type Bound struct {
	MaxRows  int64         // of a unit; 0 if each row is a unit, and all rows stay
	Contents []int         // columns whose codes are hashed, in order
	Content  *bounding.Key // of contents
	Row      *bounding.Key // of priorities
}

// whyNotRemote returns what the questions ask that a [Remote] cannot answer, "" if there is nothing.
func (t *tally) whyNotRemote() string {
	switch {
	case t.link != nil:
		return "microdata link its rows to another table"
	case t.drawsUnits():
		return "a sample of its units is drawn"
	case len(t.diagnoses) > 0: // which have allowances, too
		return "diagnostics count what is left out"
	case len(t.allowances) > 1:
		return "a marginal counts fewer rows of a unit than max_rows (per_unit, or distinct values)"
	}
	for _, e := range t.readers {
		switch {
		case discovers(e):
			return "nobody lists the categories of " + e.Column.Name
		case e.Size > math.MaxUint32-64: // codes for the ways in which its contract is broken come after its own
			return e.Column.Name + " has too many categories"
		case len(e.Column.Inputs()) == 0:
			return e.Column.Name + " is made of no column"
		}
	}
	return ""
}

// notRemote returns the error of a table that cannot be counted by a [Remote].
func notRemote(t *spec.Table, why string) error {
	where, advice := "its database", "take out stay: true, so that its rows are read, or take out what needs them"
	if d := t.Source.Database; d != nil && d.Engine == spec.Spark {
		where, advice = "Spark", "take out what needs its rows here, or export the table to files and name these"
	}
	return &source.Error{Kind: source.Malformed, File: "table " + t.Name,
		Message: "cannot be counted in " + where + ", as " + why + "; " + advice}
}

// CheckRemotes returns an error if questions ask of a table that stays where it is what a [Remote] cannot answer.
// Errors are *[source.Error].
func CheckRemotes(q histogram.Questions, stays func(*spec.Table) bool) error {
	found := func(table *spec.Table) (*spec.Table, error) { return discoverMadeUp(table, q.Measurements), nil }
	return eachTally(q, 1, found, func(t *tally, _ bool) error {
		if why := t.whyNotRemote(); why != "" && stays(t.table) {
			return notRemote(t.table, why)
		}
		return nil
	})
}

// countRemote counts a table that a program holds, or returns an error if it cannot answer what is asked.
func (t *tally) countRemote(ctx context.Context, r Remote, s *noise.RowStreams, limit int64) error {
	if why := t.whyNotRemote(); why != "" {
		return notRemote(t.table, why)
	}
	steps := int64(len(t.readers) + 2 + len(t.tabulated))
	ctx = progress.BeginConfidential(ctx, steps, "counting %s in its database", t.table.Name)
	kinds, err := t.encodeRemote(ctx, r.Encode)
	if err != nil {
		return remoteError(ctx, err)
	}
	if err := t.judgeRemote(ctx, r, kinds); err != nil {
		return remoteError(ctx, err)
	}
	rows, err := r.Bound(ctx, t.remoteBound(s))
	if err != nil {
		return remoteError(ctx, err)
	}
	progress.Add(ctx, 2)
	return remoteError(ctx, t.countGroups(ctx, r, rows, limit))
}

// encodeRemote gives codes to all columns. kinds are the kinds of values that break the contract, by reader.
func (t *tally) encodeRemote(ctx context.Context, encode Encode) (kinds [][]string, err error) {
	kinds = make([][]string, len(t.readers))
	for i, e := range t.readers {
		err := encode(ctx, i, inputsOf(e), func(values []arrow.Array) []uint32 {
			return remoteCodes(e, values, &kinds[i])
		})
		if err != nil {
			return nil, err
		}
		progress.Add(ctx, 1)
	}
	return kinds, nil
}

// remoteBound returns which rows stay.
func (t *tally) remoteBound(s *noise.RowStreams) Bound {
	b := Bound{Contents: t.contents, Content: bounding.DrawKey(s.Contents(t.table.Name)),
		Row: bounding.KeyOfTable(s.Bounding(t.table.Name))}
	if !t.table.Unit.Row {
		b.MaxRows = t.table.Unit.MaxRows
	}
	return b
}

// remoteError returns the context's error in place of one that its end has caused.
func remoteError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// remoteCodes returns the codes of values as a [Judgement] has them, and adds to the kinds of breaches.
func remoteCodes(e *encoding.Encoder, values []arrow.Array, kinds *[]string) []uint32 {
	codes := make([]uint32, values[0].Len())
	e.CodesOf(values, codes)
	broken := slices.Contains(codes, e.Marks)
	for i, code := range codes {
		if code > e.Marks {
			codes[i] = uint32(e.Size)
		}
	}
	if broken {
		_, misfits := e.Encode(nil, len(codes), values...)
		for _, m := range misfits {
			codes[m.Row] = uint32(e.Size + 1 + indexOrAppend(kinds, m.Kind))
		}
	}
	return codes
}

// inputsOf returns what a column is read or computed from.
func inputsOf(e *encoding.Encoder) (m Made) {
	for _, name := range e.Column.Inputs() {
		m.Columns = append(m.Columns, source.Column{Name: name})
	}
	if len(m.Columns) != 1 {
		return m
	}
	m.Columns[0].Type = declaredType(e.Column)
	if low, high, ok := e.Integers(); ok && low > math.MinInt64 && high < math.MaxInt64-1 && low <= high &&
		uint64(high)-uint64(low) < mostIntegers {
		m.Integers = &Integers{low, high}
	}
	return m
}

// judgement returns what the table asks of its rows.
func (t *tally) judgement(kinds [][]string) Judgement {
	j := Judgement{Where: t.where, Columns: len(t.encoders),
		DropsIDless: !t.table.Unit.Row && t.table.Unit.Null == spec.Drop}
	for i, e := range t.readers {
		j.Sizes, j.Kinds = append(j.Sizes, uint32(e.Size)), append(j.Kinds, len(kinds[i]))
	}
	for _, rule := range t.rules {
		ruled := Ruled{Columns: rule.columns, Drop: rule.drop}
		for _, meets := range rule.meets {
			var codes []uint32
			for code, is := range meets {
				if is {
					codes = append(codes, uint32(code))
				}
			}
			ruled.Codes = append(ruled.Codes, codes)
		}
		j.Rules = append(j.Rules, ruled)
	}
	return j
}

// judgeRemote checks the table's contract.
func (t *tally) judgeRemote(ctx context.Context, r Remote, kinds [][]string) error {
	j := t.judgement(kinds)
	found, err := r.Judge(ctx, j)
	if err != nil {
		return err
	}
	if !slices.IsSorted([]int64{0, found.Counted, found.Inside, found.Rows}) {
		return lostGroups(t.table.Name)
	}
	var breaches []breach
	add := func(column, kind string, rows int64, ofWhere bool) {
		if rows > 0 {
			breaches = append(breaches, breach{Table: t.table.Name, Column: column, Kind: kind, ofWhere: ofWhere,
				Value: fmt.Sprintf("%d rows", rows)})
		}
	}
	for i, e := range t.readers {
		for k, kind := range kinds[i] {
			add(e.Column.Name, kind, found.Breaches[i][k], i == t.where)
		}
	}
	for i, rule := range t.rules {
		if !rule.drop {
			add(rule.names, kindImpossible, found.Ruled[i], false)
		}
	}
	if !t.table.Unit.Row && !j.DropsIDless {
		add(t.table.Unit.ID, kindNullID, found.WithoutID, false)
	}
	t.expect.reset()
	t.expect.inside.Store(found.Inside)
	t.expect.counted.Store(found.Counted)
	for i := range t.encoders {
		if i != t.where {
			t.expect.leftBy[i].Store(found.LeftOut[i])
		}
	}
	for _, w := range t.expect.watches {
		codes, err := r.Occurring(ctx, w.reader)
		if err != nil {
			return err
		}
		noteBaseCodes(w, codes, nil)
	}
	if breaches = append(breaches, t.expect.breaches(t.readers, t.where)...); len(breaches) > 0 {
		return newContractError(breaches)
	}
	return nil
}

// countGroups counts the rows that stay, from their groups by the columns of each question. Every set of groups must
// have all of the rows: a program that leaves groups out without an error is found here.
func (t *tally) countGroups(ctx context.Context, r Remote, rows, limit int64) error {
	sets, bySet := t.columnSets()
	for i, columns := range sets {
		queries := bySet[i]
		part := t.task
		part.tabulated = queries
		part.clamps = slices.DeleteFunc(slices.Clone(t.clamps),
			func(c clamp) bool { return !slices.Contains(columns, c.column) })
		counted, err := part.newTableCounter(rows, limit, 1)
		if err != nil {
			return err
		}
		f := groupFeeder{ctx: ctx, most: rows, worker: counted.newWorker(), columns: columns,
			codes: make([]tabulate.Codes, len(t.encoders)), table: t.table.Name}
		if err := r.Groups(ctx, columns, f.add); err != nil {
			return err
		}
		if err := f.flush(); err != nil {
			return err
		}
		if f.total != rows {
			return lostGroups(t.table.Name)
		}
		if err := parallel.Guarded(func(int) error { return counted.finishQueries(ctx) }, 0); err != nil {
			return err
		}
		progress.Add(ctx, int64(len(queries)))
	}
	return nil
}

// mostShared is the most combinations of codes of a set of columns in which the sets of several queries are united.
// With more a program takes longer for one such set than for several small ones.
const mostShared = 1 << 15

// columnSets returns sets of columns, each ascending, such that the columns of every query are in one of them, and the
// queries of each. Small sets are united, as a program takes about as long to group rows by six columns as by two.
func (t *tally) columnSets() (sets [][]int, queries [][]*query) {
	for _, q := range t.tabulated {
		columns := t.columnsOf(q)
		at := slices.IndexFunc(sets, func(set []int) bool { return len(union(set, columns)) == len(set) })
		if at < 0 {
			at = slices.IndexFunc(sets, func(set []int) bool {
				return t.combinations(union(set,
					columns)) <= mostShared
			})
		}
		if at < 0 {
			at, sets, queries = len(sets), append(sets, []int{}), append(queries, nil)
		}
		sets[at], queries[at] = union(sets[at], columns), append(queries[at], q)
	}
	return sets, queries
}

// union returns the numbers that are in one of two ascending sets, ascending. It is not null, as it is written down.
func union(a, b []int) []int {
	all := append(append([]int{}, a...), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// combinations returns how many combinations of codes some columns have, or mostShared + 1 if there are more.
func (t *tally) combinations(columns []int) int {
	n := 1
	for _, c := range columns {
		if n *= min(t.readers[c].Size, mostShared+1); n > mostShared {
			return mostShared + 1
		}
	}
	return n
}

// lostGroups returns the error of groups that do not have the rows that they should have.
func lostGroups(table string) error {
	return &source.Error{Kind: source.Unreadable, File: "table " + table,
		Message: "its database gave groups that do not have all rows that stay; look for a limit on groups, and run again"}
}

// columnsOf returns the columns that a query reads, ascending.
func (t *task) columnsOf(q *query) []int {
	columns := []int{} // which is not null where it is written down
	add := func(column int) {
		if column >= 0 {
			indexOrAppend(&columns, column)
		}
	}
	for _, a := range q.attributes {
		add(t.attributes[a].column)
	}
	if v := t.values[q.value]; v != nil {
		add(v.column)
		add(v.weight)
		add(v.strata)
	}
	for _, c := range t.clamps {
		if slices.Contains(columns, c.column) {
			add(c.by)
		}
	}
	slices.Sort(columns)
	return columns
}

// groupFeeder hands groups to a counter as the rows that they have.
type groupFeeder struct {
	ctx     context.Context // of the counting
	table   string
	most    int64 // rows that there are
	worker  *tableWorker
	columns []int
	codes   []tabulate.Codes // by column of the tally
	rows    int              // gathered
	total   int64
}

// add adds a group.
func (f *groupFeeder) add(codes []uint32, rows int64) error {
	if rows < 0 || rows > f.most-f.total {
		return lostGroups(f.table)
	}
	for f.total += rows; rows > 0; {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		n := int(min(rows, int64(source.MaxRows-f.rows)))
		for i, column := range f.columns {
			to := slices.Grow(f.codes[column].U32, n)
			for range n {
				to = append(to, codes[i])
			}
			f.codes[column].U32 = to
		}
		f.rows += n
		if rows -= int64(n); f.rows == source.MaxRows {
			if err := f.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush counts what is gathered.
func (f *groupFeeder) flush() error {
	if f.rows == 0 {
		return nil
	}
	err := f.worker.addRows(f.codes, f.rows, func(int) []uint64 { return nil })
	for _, column := range f.columns {
		f.codes[column].U32 = f.codes[column].U32[:0]
	}
	f.rows = 0
	return err
}
