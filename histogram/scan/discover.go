package scan

// This file holds the discovery of categories that are not listed: the values that a table has in a column, and the
// groups of them that a selection may release.

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/domain"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dprelease/dprelease/histogram/internal/answer"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/memory"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
)

// keyBytes is the memory for a value in addition to its text: in the set of values, in the domain that is made of
// them, and in the table of their codes.
const keyBytes = 160

// keySet is the set of values of a column that occur and can be categories, compared exactly. As a [source.Coder] it
// collects the values of its column; every code is 0. Goroutines may use it concurrently.
type keySet struct {
	column  *spec.Column
	compute encoding.Compute // computes the values from other columns, nil for a column that is read as it is
	seed    maphash.Seed
	shards  [64]struct {
		mu    sync.Mutex
		texts map[string]struct{}
	}
	bytes     *atomic.Int64 // memory for the values of all columns
	wrongType atomic.Bool   // the values are of a type without texts
}

func newKeys(table *spec.Table, c *spec.Column, bytes *atomic.Int64) (*keySet, error) {
	k := &keySet{column: c, seed: maphash.MakeSeed(), bytes: bytes}
	var err error
	if k.compute, err = encoding.Computing(table, c); err != nil {
		return nil, err
	}
	for i := range k.shards {
		k.shards[i].texts = map[string]struct{}{}
	}
	return k, nil
}

// Width returns the number of bytes of a code.
func (k *keySet) Width() int { return 1 }

// Codes collects the values of the single column from which the key set's own column is read or computed.
func (k *keySet) Codes(values arrow.Array, codes []uint32) {
	clear(codes)
	k.addAll([]arrow.Array{values})
}

// addAll collects the values that are read or computed from inputs.
func (k *keySet) addAll(inputs []arrow.Array) {
	values, misfits := inputs[0], []domain.Fit(nil)
	if k.compute != nil {
		values, misfits = k.compute(inputs)
	}
	var text func(i int) string
	switch a := values.(type) {
	case *array.String:
		text = a.Value
	case *array.LargeString:
		text = a.Value
	case *array.Dictionary:
		entries, ok := a.Dictionary().(*array.String)
		if !ok {
			k.wrongType.Store(true)
			return
		}
		text = func(i int) string { return entries.Value(a.GetValueIndex(i)) }
	case *array.Int64:
		text = func(i int) string { return strconv.FormatInt(a.Value(i), 10) }
	case *array.Decimal128: // also the type in which unsigned 64-bit integers are read
		if a.DataType().(*arrow.Decimal128Type).Scale != 0 {
			k.wrongType.Store(true)
			return
		}
		text = func(i int) string { return a.Value(i).BigInt().String() }
	default:
		if values.NullN() < values.Len() {
			k.wrongType.Store(true)
		}
		return
	}
	for i := range values.Len() {
		if !values.IsNull(i) && (misfits == nil || misfits[i] == domain.Fits) {
			k.addText(text(i))
		}
	}
}

func (k *keySet) addText(text string) {
	if !k.column.Domain.CanBeKey(text) {
		return
	}
	shard := &k.shards[maphash.String(k.seed, text)%uint64(len(k.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if _, met := shard.texts[text]; !met {
		shard.texts[strings.Clone(text)] = struct{}{}
		k.bytes.Add(int64(len(text)) + keyBytes)
	}
}

// takeSortedTexts empties the set, and returns the values that it held in ascending order.
func (k *keySet) takeSortedTexts() []string {
	var all []string
	for i := range k.shards {
		for text := range k.shards[i].texts {
			all = append(all, text)
		}
		k.shards[i].texts = nil
	}
	slices.SortFunc(all, k.column.Domain.CompareKeys)
	return all
}

// discoveredColumns returns the columns of a table whose categories are not listed and by which measurements group.
func discoveredColumns(table *spec.Table, all []plan.Measurement) (columns []*spec.Column) {
	for _, m := range all {
		groups, ok := m.Selection.(selection.Groups)
		if m.Query.Table != table.Name || !ok {
			continue
		}
		for _, name := range groups.Columns {
			if c := table.Column(name); c != nil && c.Domain != nil && c.Domain.Discover() != nil &&
				!slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// withKeys returns a copy of the table in which the columns have these values as categories.
func withKeys(table *spec.Table, columns []*spec.Column, found func(i int) []string) *spec.Table {
	own := *table
	own.Columns = slices.Clone(table.Columns)
	for i, c := range own.Columns {
		if at := slices.Index(columns, c); at >= 0 {
			column := *c
			column.Domain = c.Domain.Discovered(found(at))
			own.Columns[i] = &column
		}
	}
	return &own
}

// discover reads the columns of a table whose categories are not listed, once, and returns the table with the values
// found as categories, in ascending order. It returns the table itself if no measurement groups by such a column.
// held is the memory that the values take; they may take half of limit.
//
// Counts by these categories are the same as if the categories had been listed: a category without rows, such as an
// unused entry of a dictionary, has no group. The order of two categories does not depend on which other values there
// are.
//
// Errors: *[source.Error]; *[memory.Error]; those of the context.
func discover(ctx context.Context, table *spec.Table, all []plan.Measurement, from source.Data, workers int,
	limit int64) (found *spec.Table, held int64, err error) {
	columns := discoveredColumns(table, all)
	if len(columns) == 0 {
		return table, 0, nil
	}
	var bytes atomic.Int64
	sets := make([]*keySet, len(columns))
	var wanted []source.Column
	inputs := make([][]int, len(columns)) // indexes in wanted, for columns computed from several others
	for i, c := range columns {
		if sets[i], err = newKeys(table, c, &bytes); err != nil {
			return nil, 0, err
		}
		names := c.Inputs()
		if len(names) == 1 {
			wanted = append(wanted, source.Column{Name: names[0], Coder: sets[i], Type: declaredType(c)})
			continue
		}
		for _, name := range names {
			inputs[i] = append(inputs[i], len(wanted))
			wanted = append(wanted, source.Column{Name: name})
		}
	}
	rows, err := source.Open(ctx, from, table, wanted)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if closing := rows.Close(); err == nil {
			err = closing
		}
	}()
	ctx = progress.BeginConfidential(ctx, rows.Bytes(), "reading the categories of %s", table.Name)
	var mu sync.Mutex
	err = parallel.Do(ctx, workers, workers, func(int) error {
		buffers := &source.Buffers{}
		for {
			mu.Lock()
			piece, err := rows.Next(ctx)
			mu.Unlock()
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			err = piece.Read(ctx, buffers, source.MaxRows, func(b *source.Batch) error {
				for i, places := range inputs {
					if places == nil {
						continue
					}
					arrays := make([]arrow.Array, len(places))
					for j, at := range places {
						arrays[j] = b.Columns[at]
					}
					sets[i].addAll(arrays)
				}
				if bytes.Load() > limit/2 {
					return &memory.Error{Have: limit}
				}
				return nil
			})
			if err != nil {
				return err
			}
			progress.Add(ctx, piece.Bytes())
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, 0, err
	}
	for i, set := range sets {
		if set.wrongType.Load() {
			return nil, 0, &source.Error{Kind: source.WrongType, Column: columns[i].Name,
				Message: "has values that are neither texts nor integers, and of such none is discovered: list them, " +
					"or write them as one of the two"}
		}
	}
	if bytes.Load() > limit/2 {
		return nil, 0, &memory.Error{Have: limit}
	}
	return withKeys(table, columns, func(i int) []string { return sets[i].takeSortedTexts() }), bytes.Load(), nil
}

// madeUpWords is how many categories an unlisted column has in a rehearsal.
const madeUpWords = 100

// discoverMadeUp is discover for made-up rows.
func discoverMadeUp(table *spec.Table, all []plan.Measurement) *spec.Table {
	columns := discoveredColumns(table, all)
	if len(columns) == 0 {
		return table
	}
	return withKeys(table, columns, func(i int) []string {
		var words []string
		for n := range madeUpWords {
			word := strconv.Itoa(1000 + n)
			if columns[i].Type != domain.Integer {
				word = "word-" + word
			}
			if columns[i].Domain.CanBeKey(word) {
				words = append(words, word)
			}
		}
		return words
	})
}

// groupsOf returns the groups of a query, nil if its cells are listed.
func (t *tally) groupsOf(m plan.Measurement, q *query) *answer.Groups {
	if m.Selection.Kind() != selection.KindGroups {
		return nil
	}
	g := &answer.Groups{}
	for _, a := range q.attributes {
		level := t.attributes[a].level
		texts := make([]string, level.Size())
		for i, c := range level.Categories {
			texts[i] = c.Code
		}
		g.Categories = append(g.Categories, texts)
	}
	return g
}

// discovers reports whether the codes of an encoder are of categories that are discovered.
func discovers(e *encoding.Encoder) bool {
	return !e.Numbers && e.Column.Domain != nil && e.Column.Domain.Discover() != nil
}

// appendDiscovered appends the text by which a discovered category is hashed. Which number it has depends on the other
// units, so the text is its length and itself, between a quotation mark and a comma. Of the mark of a row that is left
// out, the text is the number.
func appendDiscovered(to []byte, e *encoding.Encoder, code uint32) []byte {
	if code >= e.Marks {
		return appendNumber(to, code-e.Marks)
	}
	label := e.Label(code)
	to = append(strconv.AppendInt(append(to, '"'), int64(len(label)), 10), ':')
	return append(append(to, label...), ',')
}
