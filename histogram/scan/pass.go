package scan

// This file holds the pass: one reading of all files of a table, piece by piece and several pieces at once.

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/dprelease/dprelease/histogram/internal/bounding"
	"github.com/dprelease/dprelease/histogram/internal/encoding"
	"github.com/dprelease/dprelease/histogram/source"
	"github.com/dprelease/dprelease/internal/parallel"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/spec"
)

// pass reads the files of a table. Each worker takes the next piece in reading order, judges its rows batch by batch,
// and passes them to handle. A piece with a row that breaks the contract is read again as values, to say what breaks
// it.
type pass struct {
	tally   *tally
	readers []int // indexes of the tally's readers whose columns are read
	ids     bool  // the ids of units are read
	full    bool  // the whole contract is judged and breaches are reported; else breaches are only detected
	decides bool  // this pass determines whether each row counts, and records it for the expectation
	until   int   // pieces to read, 0: all
	before  *pass // the previous pass over the same files
	// unannounced is set if whether there is this pass depends on the data: no step is named for it, and it looks for
	// no breaches, which the passes before and after it find
	unannounced bool

	// begin is called before a row is read; rows is −1 if the number of rows is not known
	begin func(rows int64) error
	// handle gets the rows of a batch; out marks the rows that are left out
	handle func(worker, piece int, first int64, c *chunk, out []uint64) error
	// bad is set by the first breach: nothing is counted from then on
	bad atomic.Bool

	columns *passColumns

	mu       sync.Mutex
	rows     *source.Reader
	ended    bool // no more pieces are taken
	read     []reading
	advanced int // number of pieces, from the first, that are taken up in order

	breaches []breach // breaches of the pieces taken up
	err      error    // error of the first piece that has one
	inFile   int64    // rows taken up of the current file
	complete bool     // all pieces were read
}

// reading is the result of reading one piece.
type reading struct {
	file     string
	info     os.FileInfo // the file that the piece was read from
	rows     int64
	done     bool
	breaches []breach // with row numbers relative to the piece
	err      error
}

// errBreached reports that a row breaks the contract, in a pass that does not say how.
var errBreached = errors.New("a row breaks the contract of its table")

// run reads the files.
//
// Errors, of the first piece in reading order that has one: *[source.Error], *[ContractError], those of handle; or
// the context's.
func (p *pass) run(ctx context.Context, from source.Data) (err error) {
	p.columns = p.tally.columnsOfPass(p.readers, p.ids)
	if p.decides {
		p.tally.expect.reset()
	}
	if p.rows, err = source.Open(ctx, from, p.tally.table, p.columns.columns); err != nil {
		return err
	}
	defer func() {
		if closing := p.rows.Close(); err == nil {
			err = closing
		}
	}()
	if p.begin != nil {
		if err := p.begin(p.rows.Rows()); err != nil {
			return err
		}
	}
	reading, readings := 1, int(p.tally.passCount())
	if p.full && p.ids { // a pass that only looks for what is wrong
		readings = 1
	}
	for before := p.before; before != nil; before = before.before {
		if !before.unannounced {
			reading++
		}
	}
	if p.unannounced {
		ctx = progress.Silent(ctx)
	} else {
		ctx = beginReading(ctx, p.tally.table.Name, reading, readings, p.rows.Bytes())
	}
	err = parallel.Do(ctx, p.tally.workers, p.tally.workers, func(i int) error { return p.workPieces(ctx, i) })
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return p.outcome()
}

// beginReading reports that a table's files begin to be read, which have so many bytes.
func beginReading(ctx context.Context, table string, reading, readings int, bytes int64) context.Context {
	if readings == 1 {
		return progress.BeginConfidential(ctx, bytes, "counting %s", table)
	}
	return progress.BeginConfidential(ctx, bytes, "counting %s, reading %d of %d", table, reading, readings)
}

// outcome returns the error of the whole pass, once its pieces are read.
func (p *pass) outcome() error {
	if p.complete && p.before != nil && len(p.read) < len(p.before.read) {
		p.err, p.complete = changedFile(p.before.read[len(p.read)].file), false
	}
	breaches := p.breaches[:min(len(p.breaches), breachLimit)]
	if p.complete && p.full && p.err == nil {
		breaches = append(breaches, p.tally.expect.breaches(p.tally.readers, p.tally.where)...)
	}
	if len(breaches) > 0 {
		return newContractError(breaches)
	}
	return p.err
}

// workPieces reads pieces until there are no more.
func (p *pass) workPieces(ctx context.Context, worker int) error {
	readers := len(p.tally.readers)
	c := &chunk{codes: make([]tabulate.Codes, readers), largest: make([]uint32, readers),
		wide: make([][]uint32, readers)}
	buffers := &source.Buffers{}
	for {
		piece := p.nextPiece(ctx)
		if piece == nil {
			return nil
		}
		r := reading{}
		r.err = parallel.Guarded(func(int) error { return p.readPiece(ctx, worker, piece, buffers, c, &r) }, 0)
		p.recordReading(piece.Number(), r)
	}
}

// nextPiece takes the next piece, nil if no more are to be read.
func (p *pass) nextPiece(ctx context.Context) *source.Piece {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || p.until > 0 && len(p.read) >= p.until {
		return nil
	}
	piece, err := p.rows.Next(ctx)
	if err != nil {
		p.ended = true
		if p.complete = errors.Is(err, io.EOF); !p.complete {
			p.read = append(p.read, reading{done: true, err: err})
			p.advanceReadings()
		}
		return nil
	}
	p.read = append(p.read, reading{file: piece.File(), info: piece.Info()})
	return piece
}

// readPiece reads one piece.
func (p *pass) readPiece(ctx context.Context, worker int, piece *source.Piece, buffers *source.Buffers, c *chunk,
	r *reading) error {
	bad, reported := false, int64(0)
	err := piece.Read(ctx, buffers, source.MaxRows, func(b *source.Batch) error {
		c.loadBatch(b, p.tally.readers, p.columns)
		p.tally.loadLinked(c, p.readers)
		r.rows += int64(b.Rows)
		out, wrong := p.tally.judgeRows(c, p.full)
		wrong = wrong && !p.unannounced
		out = p.tally.division.withoutOthers(worker, c, piece.Number(), b.First, out)
		if p.decides {
			p.tally.expect.noteChunk(c, p.tally.encoders, p.tally.where, out)
			if err := p.tally.division.listUnits(worker, c); err != nil {
				return err
			}
		}
		if rows := piece.Rows(); rows > 0 {
			share := piece.Bytes() / rows * int64(b.Rows)
			progress.Add(ctx, share)
			reported += share
		}
		if bad = bad || wrong; bad || p.handle == nil || p.bad.Load() {
			return nil
		}
		return p.handle(worker, piece.Number(), b.First, c, out)
	})
	progress.Add(ctx, piece.Bytes()-reported)
	if err != nil || !bad {
		return err
	}
	p.bad.Store(true)
	if !p.full {
		return errBreached
	}
	rows := int64(0)
	err = piece.Raw(ctx, func(raw arrow.Record) error {
		r.breaches = appendBreaches(r.breaches, p.findBreaches(raw, piece.File(), rows))
		rows += raw.NumRows()
		return nil
	})
	if err == nil && len(r.breaches) == 0 {
		err = parallel.ErrBug
	}
	return err
}

// recordReading records the result of a piece.
func (p *pass) recordReading(piece int, r reading) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to := &p.read[piece]
	to.done, to.rows, to.breaches, to.err = true, r.rows, r.breaches, r.err
	if to.err == nil && p.before != nil && (piece >= len(p.before.read) || !p.before.read[piece].isUnchanged(*to)) {
		to.err = changedFile(to.file)
	}
	if to.err != nil {
		p.ended = true
	}
	p.advanceReadings()
}

// isUnchanged reports whether a piece is what it was in the previous reading, as far as the system tells.
func (r reading) isUnchanged(is reading) bool {
	return r.file == is.file && r.rows == is.rows && source.Unchanged(r.info, is.info)
}

func changedFile(file string) error {
	return &source.Error{Kind: source.Unreadable, File: file,
		Message: "was changed while it was being read; begin again once it is written"}
}

// advanceReadings takes up finished pieces in reading order, up to the first error or until enough breaches are
// collected. Because pieces are taken up in that order, the result does not depend on which worker is faster.
func (p *pass) advanceReadings() {
	for p.advanced < len(p.read) && p.read[p.advanced].done && p.err == nil && len(p.breaches) < breachLimit {
		r := &p.read[p.advanced]
		if p.advanced == 0 || p.read[p.advanced-1].file != r.file {
			p.inFile = 0
		}
		for i := range r.breaches {
			r.breaches[i].Row += p.inFile
		}
		p.breaches = appendBreaches(p.breaches, r.breaches)
		r.breaches = nil
		p.inFile += r.rows
		p.err = r.err
		p.advanced++
	}
	if p.err != nil || len(p.breaches) >= breachLimit {
		p.ended, p.complete = true, false
	}
}

// findBreaches returns what breaks the contract in a raw record that begins at row first of its piece.
func (p *pass) findBreaches(raw arrow.Record, file string, first int64) []breach {
	t := p.tally
	var found []breach
	codes := make([][]uint32, len(t.readers))
	var outside []bool
	if t.where >= 0 {
		codes[t.where], _ = t.readers[t.where].Encode(nil, 0, p.columns.inputsOf(t.where, raw.Columns())...)
		outside = outsideOf(codes[t.where])
	}
	for i, e := range t.readers {
		inputs := p.columns.inputsOf(i, raw.Columns())
		if e.Column.Link != nil { // from other rows of the unit, whose own table judges it
			codes[i] = make([]uint32, raw.NumRows())
			continue
		}
		var misfits []encoding.Misfit
		codes[i], misfits = e.Encode(outside, breachLimit, inputs...)
		for _, m := range misfits {
			found = append(found, breach{Table: t.table.Name, Column: e.Column.Name, Kind: m.Kind,
				File: file, Row: first + int64(m.Row) + 1, Value: e.Diagnosis(inputs, m.Row), ofWhere: i == t.where})
		}
	}
	if p.ids {
		found = append(found, t.nullIDs(raw.Column(p.columns.ids), outside, file, first)...)
	}
	found = append(found, t.impossibleBreaches(codes[:len(t.encoders)], int(raw.NumRows()), file, first)...)
	slices.SortStableFunc(found, func(a, b breach) int { return cmp.Compare(a.Row, b.Row) })
	return found
}

// nullIDs returns the breaches of rows without an id, unless the table leaves such rows out. Rows that are outside
// are exempt. A row that a column drops needs an id as well: the contract does not depend on other columns.
func (t *tally) nullIDs(ids arrow.Array, outside []bool, file string, first int64) []breach {
	var found []breach
	if ids.NullN() == 0 || t.table.Unit.Null == spec.Drop {
		return nil
	}
	for i := range ids.Len() {
		if ids.IsNull(i) && (outside == nil || !outside[i]) && len(found) < breachLimit {
			found = append(found, breach{Table: t.table.Name, Column: t.table.Unit.ID, Kind: kindNullID,
				File: file, Row: first + int64(i) + 1})
		}
	}
	return found
}

// toExamine returns how many pieces a full pass must read to find the first breach in reading order after this pass
// failed with err; 0 stands for all. It reports false if the failure belongs to no piece.
func (p *pass) toExamine(err error) (pieces int, ok bool) {
	var id *bounding.IDError
	switch {
	case errors.Is(err, errBreached):
		return 0, true
	case errors.As(err, &id):
		return id.Piece + 1, true
	case p.err != nil:
		return p.advanced, true
	}
	return 0, false
}

// nameFile turns an error about ids into an error of the file that holds them.
func (p *pass) nameFile(err error) error {
	var id *bounding.IDError
	if !errors.As(err, &id) {
		return err
	}
	return &source.Error{Kind: source.WrongType, File: p.read[id.Piece].file, Column: p.tally.table.Unit.ID,
		Message: id.Error()}
}

// columnsOfPass returns what a pass reads for some of the tally's readers, with the ids of units if ids is set or if
// a reader takes its values from other rows of the unit.
func (t *tally) columnsOfPass(readers []int, ids bool) *passColumns {
	x := &passColumns{readers: readers, ids: -1}
	for _, r := range readers {
		e := t.readers[r]
		names := e.Column.Inputs()
		if len(names) == 1 {
			x.sourceIndexes = append(x.sourceIndexes, []int{len(x.columns)})
			x.columns = append(x.columns, source.Column{Name: names[0], Coder: e, Type: declaredType(e.Column)})
			continue
		}
		places := make([]int, len(names))
		for i, name := range names {
			places[i] = x.valueColumn(name)
		}
		x.sourceIndexes = append(x.sourceIndexes, places)
	}
	if ids || slices.ContainsFunc(readers, func(r int) bool { return t.readers[r].Column.Link != nil }) {
		x.ids = x.valueColumn(t.table.Unit.ID)
		x.columns[x.ids].MaxLength = source.MostID
	}
	return x
}
