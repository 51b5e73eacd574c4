package scan

// This file holds Part, what one machine has counted of its shard, and Parts, which puts them together.

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/dprelease/dprelease/histogram"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/units"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/noise"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// Part is what one machine has counted of its shard: exact counts, what was found of what tables expect, and the list
// of its units if the machines have files of their own. It shows "confidential" however it is printed, and must be
// closed.
type Part struct {
	answer.Redacted
	shard Shard
	// of a part that is written: as rows were counted, before they become the answers of measurements
	counts answer.Answers
	tables []foundTable
	lists  func(w io.Writer) error // writes the lists of units
	stored *bufio.Reader           // of a part that is read: its counts, and then the lists of units
	close  func() error
}

// foundTable is what was found of a table in addition to its counts. It is confidential.
type foundTable struct {
	Table           string
	Inside, Counted int64
	LeftBy          []int64
	Seen            [][]uint32 // by watch, a bit per category
	Unread, Read    []bool     // by reader
	Ids             string     // their type, "" if there were none
}

// Shard returns which shard was counted.
func (p Part) Shard() Shard { return p.shard }

// Close removes what the part holds on disk.
func (p Part) Close() error {
	if p.close == nil {
		return nil
	}
	return p.close()
}

// Errors of [Parts].
var (
	// ErrShards reports that the parts are not one of each shard.
	ErrShards = errors.New("these are not all shards, each once, of one division")
	// ErrPart reports a part that was counted for other questions or under another key.
	ErrPart = errors.New("a part was counted for another plan or under another key")
)

// commonUnits returns the error of two machines with files of their own that have rows of the same unit.
func commonUnits(table string) error {
	return &source.Error{Kind: source.Malformed, File: "table " + table,
		Message: "two machines have rows of the same unit; " +
			"put all rows of a unit on one machine, or prepare without --own-files and give all machines the same files"}
}

// CheckShards returns an error if questions ask of a table what cannot be put together from shards. Errors are
// *[source.Error].
func CheckShards(q histogram.Questions, ownFiles bool) error {
	found := func(table *spec.Table) (*spec.Table, error) { return discoverMadeUp(table, q.Measurements), nil }
	return eachTally(q, 1, found, func(t *tally, _ bool) error {
		why := ""
		switch {
		case t.table.Source.Database != nil:
			why = "it is in a database; count it on one machine, or export it to files"
		case ownFiles && t.link != nil:
			why = "microdata link its rows to another table; give all machines the same files, without --own-files"
		case ownFiles && t.drawsUnits():
			why = "a sample of its units is drawn; give all machines the same files, without --own-files"
		}
		if why == "" {
			return nil
		}
		return &source.Error{Kind: source.Malformed, File: "table " + t.table.Name,
			Message: "cannot be counted in shards: " + why}
	})
}

// closeUnits removes what the list of a tally's units holds on disk.
func closeUnits(t *tally) error {
	if t.division.units == nil {
		return nil
	}
	return t.division.units.Close()
}

// sameShards returns an error unless there is one part for each shard, all of the same division.
func sameShards(parts []Part) error {
	var numbers []int
	for _, p := range parts {
		if p.shard.Of != len(parts) || p.shard.OwnFiles != parts[0].shard.OwnFiles {
			return ErrShards
		}
		numbers = append(numbers, p.shard.Number)
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i+1 {
			return ErrShards
		}
	}
	return nil
}

// CountPart counts one shard of the tables. What tables expect of all their rows is found out by [Parts]; contracts are
// checked for all rows that are read. Errors are those of [Files.Count], and those of the disk.
func (f Files) CountPart(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (Part, error) {
	stamp, err := q.Stamp(s)
	if err != nil {
		return Part{}, err
	}
	p := Part{shard: f.Shard}
	var tallies []*tally
	counts, err := f.countRaw(ctx, q, s, func(t *tally) error {
		for _, one := range t.linkedTallies() {
			indexOrAppend(&tallies, one)
		}
		return nil
	})
	p.close = func() error {
		var err error
		for _, t := range tallies {
			err = errors.Join(err, closeUnits(t))
		}
		return err
	}
	if err != nil {
		return Part{}, errors.Join(err, p.close())
	}
	p.counts = answer.New(counts, false, stamp)
	for _, t := range tallies {
		p.tables = append(p.tables, t.expect.found(t))
	}
	p.lists = func(w io.Writer) error {
		for _, t := range tallies {
			if t.division.units == nil {
				continue
			}
			if err := t.division.units.Write(w); err != nil {
				return err
			}
		}
		return nil
	}
	return p, nil
}

// partHead is what stands before the counts of a stored part.
type partHead struct {
	Shard  Shard
	Tables []foundTable
}

// WritePart writes a part, in the form that [ReadPart] reads: what is written is as confidential as the data. Errors
// are those of w, and of the disk.
func WritePart(w io.Writer, p Part) error {
	out := bufio.NewWriter(w)
	if err := gob.NewEncoder(out).Encode(partHead{p.shard, p.tables}); err != nil {
		return err
	}
	if err := answer.Write(out, p.counts); err != nil {
		return err
	}
	if err := p.lists(out); err != nil {
		return err
	}
	return out.Flush()
}

// ReadPart reads what stands before the counts of a part. The rest is read from r by [Parts], once. Errors are those of
// r and of encoding/gob.
func ReadPart(r io.Reader) (Part, error) {
	in := bufio.NewReader(r) // of which a decoder reads no byte more than is its own
	var head partHead
	err := gob.NewDecoder(in).Decode(&head)
	return Part{shard: head.Shard, tables: head.Tables, stored: in}, err
}

// Parts are the parts of all shards: together they have the answers that one machine with all rows would give.
type Parts struct {
	All     []Part
	Options Options
}

// Count answers questions by the parts.
//
// Errors: ErrShards; ErrPart; *[source.Error] if two machines have a unit in common; *[ContractError] if the tables are
// not what they are expected to be; and those of the readers of the parts. None holds a value, a code or a number of
// rows.
func (a Parts) Count(ctx context.Context, q histogram.Questions, s *noise.RowStreams) (answer.Answers, error) {
	parts, o := a.All, a.Options
	if len(parts) == 0 {
		return answer.Answers{}, ErrShards
	}
	if err := sameShards(parts); err != nil {
		return answer.Answers{}, err
	}
	stamp, err := q.Stamp(s)
	if err != nil {
		return answer.Answers{}, err
	}
	if err := memory.Check(memory.Bytes(q.Plan), memory.Available(o.MemoryLimit)); err != nil {
		return answer.Answers{}, err
	}
	sums := make([]partSum, len(q.Measurements))
	for _, p := range parts { // one after the other, so that the counts of one are in memory
		if len(p.tables) != len(parts[0].tables) {
			return answer.Answers{}, ErrPart
		}
		if err := p.addTo(sums, stamp); err != nil {
			return answer.Answers{}, err
		}
		if err := ctx.Err(); err != nil {
			return answer.Answers{}, err
		}
	}
	next := 0 // the table whose findings come next
	union := discoveredUnion(q, sums)
	counts, err := countFound(q, o.workerCount(), union.table, func(t *tally) error {
		for _, one := range t.linkedTallies() {
			if one.merged {
				continue
			}
			one.merged = true
			if err := one.mergeFound(parts, next); err != nil {
				return err
			}
			next++
		}
		if err := t.takeSums(q, sums, union); err != nil {
			return err
		}
		if found := t.expect.breaches(t.readers, t.where); len(found) > 0 {
			return newContractError(found)
		}
		return t.expect.checkNotEmpty(t.readers)
	})
	for _, p := range parts { // a part that was cut short has no end
		if _, end := io.Copy(io.Discard, p.stored); err == nil {
			err = end
		}
	}
	return answer.New(counts, false, stamp), err
}

// partSum is the sum of the counts of parts for a question.
type partSum struct {
	answer.Answer
	known  bool            // there was a part
	groups []answer.Answer // of groups whose categories are discovered, which may differ: one by one
}

// addTo reads the counts of a part and adds them to sums.
func (p Part) addTo(sums []partSum, stamp answer.Stamp) error {
	counts, err := answer.Read(p.stored)
	if err != nil {
		return err
	}
	if !answer.Has(counts, stamp) || len(answer.All(counts)) != len(sums) {
		return ErrPart
	}
	for i, one := range answer.All(counts) {
		if one.Groups != nil {
			sums[i].groups = append(sums[i].groups, one)
			continue
		}
		if err := sums[i].add(one.Expanded()); err != nil {
			return err
		}
	}
	return nil
}

// add adds counts.
func (s *partSum) add(one answer.Answer) error {
	if slices.ContainsFunc(one.Counts, exceedsBits) {
		return errLargeSum
	}
	switch {
	case !s.known:
		s.known, s.Answer = true, answer.Answer{Cells: one.Cells, Counts: one.Counts}
		return nil
	case (one.Cells == nil) != (s.Cells == nil), one.Cells == nil && len(one.Counts) != len(s.Counts),
		one.Cells != nil && len(one.Cells) != len(one.Counts):
		return ErrPart
	case one.Cells != nil:
		s.Cells, s.Counts = addSparse(s.Answer, one)
	default:
		for cell, n := range one.Counts { // both have 61 bits
			s.Counts[cell] += n
		}
	}
	if slices.ContainsFunc(s.Counts, exceedsBits) {
		return errLargeSum
	}
	return nil
}

// mergeFound adds up what the parts have found of a table, whose findings have a number, and compares their units.
func (t *tally) mergeFound(parts []Part, number int) error {
	var lists []io.Reader
	ids := ""
	for _, p := range parts {
		if number >= len(p.tables) || p.tables[number].Table != t.table.Name {
			return ErrPart
		}
		found := p.tables[number]
		if !t.expect.addFound(t, found) {
			return ErrPart
		}
		if found.Ids != "" && ids != "" && found.Ids != ids {
			return &source.Error{Kind: source.WrongType, File: "table " + t.table.Name, Column: t.table.Unit.ID,
				Message: "has another type on one machine than on another; write the ids the same way"}
		}
		ids = max(ids, found.Ids)
		lists = append(lists, p.stored)
	}
	if !parts[0].shard.OwnFiles || t.table.Unit.Row {
		return nil
	}
	err := units.Compare(lists)
	if errors.Is(err, units.ErrCommon) {
		return commonUnits(t.table.Name)
	}
	return err
}

// takeSums gives each query of the tally the sum of the counts of the parts.
func (t *tally) takeSums(q histogram.Questions, sums []partSum, union *unionOfCategories) error {
	next := 0
	for i, m := range q.Measurements {
		if m.Query.Table != t.table.Name {
			continue
		}
		query := t.queries[next]
		next++
		for _, one := range sums[i].groups {
			recoded, ok := union.recode(m, one)
			if !ok {
				return ErrPart
			}
			if err := sums[i].add(recoded); err != nil {
				return err
			}
		}
		query.Answer = sums[i].Answer
		if err := query.finish(&t.task); err != nil {
			return err
		}
	}
	return nil
}

// addSparse returns the sums of two lists of ascending cells with their counts, each of 61 bits.
func addSparse(a, b answer.Answer) (cells []uint64, counts []int64) {
	cells, counts = make([]uint64, 0, len(a.Cells)+len(b.Cells)), make([]int64, 0, len(a.Cells)+len(b.Cells))
	i, j := 0, 0
	for i < len(a.Cells) || j < len(b.Cells) {
		switch {
		case j == len(b.Cells) || i < len(a.Cells) && a.Cells[i] < b.Cells[j]:
			cells, counts = append(cells, a.Cells[i]), append(counts, a.Counts[i])
			i++
		case i == len(a.Cells) || b.Cells[j] < a.Cells[i]:
			cells, counts = append(cells, b.Cells[j]), append(counts, b.Counts[j])
			j++
		default:
			cells, counts = append(cells, a.Cells[i]), append(counts, a.Counts[i]+b.Counts[j])
			i++
			j++
		}
	}
	return cells, counts
}

// found returns what the expectation has found of a tally's rows.
func (x *expectation) found(t *tally) foundTable {
	f := foundTable{Table: x.table.Name, Inside: x.inside.Load(), Counted: x.counted.Load()}
	for i := range x.leftBy {
		f.LeftBy = append(f.LeftBy, x.leftBy[i].Load())
	}
	for _, w := range x.watches {
		seen := make([]uint32, len(w.seen))
		for i := range seen {
			seen[i] = w.seen[i].Load()
		}
		f.Seen = append(f.Seen, seen)
	}
	for _, e := range t.readers {
		unread, read := e.Fits()
		f.Unread, f.Read = append(f.Unread, unread), append(f.Read, read)
	}
	if t.division.units != nil {
		f.Ids = t.division.units.IDs()
	}
	return f
}

// addFound adds what a part has found. It returns false if that is not of the same table.
func (x *expectation) addFound(t *tally, f foundTable) bool {
	if len(f.LeftBy) != len(x.leftBy) || len(f.Seen) != len(x.watches) || len(f.Unread) != len(t.readers) ||
		len(f.Read) != len(t.readers) {
		return false
	}
	x.inside.Add(f.Inside)
	x.counted.Add(f.Counted)
	for i, n := range f.LeftBy {
		x.leftBy[i].Add(n)
	}
	for i, w := range x.watches {
		if len(f.Seen[i]) != len(w.seen) {
			return false
		}
		for j, word := range f.Seen[i] {
			w.seen[j].Or(word)
		}
	}
	for i, e := range t.readers {
		e.AddFits(f.Unread[i], f.Read[i])
	}
	return true
}

// unionOfCategories holds the categories that any of the parts has discovered.
type unionOfCategories struct {
	q      histogram.Questions
	values map[string]map[string][]string // by table and column
	tables map[string]*spec.Table         // with these categories
}

// discoveredUnion returns, column by column, the categories that any of the parts has discovered.
func discoveredUnion(q histogram.Questions, sums []partSum) *unionOfCategories {
	u := &unionOfCategories{q: q, values: map[string]map[string][]string{}, tables: map[string]*spec.Table{}}
	for i, m := range q.Measurements {
		for _, one := range sums[i].groups {
			if len(one.Groups.Categories) != len(m.Query.Factors) {
				continue
			}
			columns := u.values[m.Query.Table]
			if columns == nil {
				columns = map[string][]string{}
				u.values[m.Query.Table] = columns
			}
			for k, f := range m.Query.Factors {
				columns[f.Attribute] = append(columns[f.Attribute], one.Groups.Categories[k]...)
			}
		}
	}
	return u
}

// table returns a table with the categories that were discovered in any part, in the order that [discover] gives them.
func (u *unionOfCategories) table(table *spec.Table) (*spec.Table, error) {
	columns := discoveredColumns(table, u.q.Plan.Measurements)
	if len(columns) == 0 {
		return table, nil
	}
	if u.tables[table.Name] == nil {
		u.tables[table.Name] = withKeys(table, columns, func(i int) []string {
			of := columns[i].Domain
			// a part without rows has a text in their place
			texts := slices.DeleteFunc(u.values[table.Name][columns[i].Name],
				func(text string) bool { return !of.CanBeKey(text) })
			slices.SortFunc(texts, of.CompareKeys)
			return slices.Compact(texts)
		})
	}
	return u.tables[table.Name], nil
}

// recode returns a part's counts of groups, renumbered by the categories of all parts. It returns false if a category
// of the part is not among them.
func (u *unionOfCategories) recode(m plan.Measurement, one answer.Answer) (answer.Answer, bool) {
	if len(one.Groups.Categories) != len(m.Query.Factors) {
		return one, false
	}
	table, err := u.table(u.q.Plan.Release().Table(m.Query.Table))
	if err != nil {
		return one, false
	}
	sizes, codes := make([]uint64, len(m.Query.Factors)), make([][]uint64, len(m.Query.Factors))
	for k, f := range m.Query.Factors {
		level, ok := table.Column(f.Attribute).Domain.Level(f.Level)
		if !ok {
			return one, false
		}
		sizes[k] = uint64(level.Size())
		place := make(map[string]uint64, level.Size())
		for code, c := range level.Categories {
			place[c.Code] = uint64(code)
		}
		for _, text := range one.Groups.Categories[k] {
			code, known := place[text]
			if !known {
				code = math.MaxUint64
			}
			codes[k] = append(codes[k], code)
		}
	}
	cells := make([]uint64, len(one.Cells))
	for i, cell := range one.Cells {
		stride := uint64(1)
		for k := len(sizes) - 1; k >= 0; k-- {
			of := uint64(len(codes[k]))
			if of == 0 || codes[k][cell%of] == math.MaxUint64 {
				return one, false
			}
			cells[i] += stride * codes[k][cell%of]
			cell /= of
			stride *= sizes[k]
		}
	}
	return answer.Answer{Cells: cells, Counts: one.Counts}, true
}
