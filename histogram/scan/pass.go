package scan

// This file holds the pass: one reading of all files of a table, piece by piece and
// several pieces at once.

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
	"github.com/dprelease/dprelease/internal/tabulate"
	"github.com/dprelease/dprelease/spec"
)

// pass reads the files of a table. Each worker takes the next piece in reading order,
// judges its rows batch by batch, and hands them to take. A piece with a row that breaks
// the contract is read again as values, to say what breaks it.
type pass struct {
	tally   *tally
	readers []int // of the tally's, whose columns are read
	ids     bool  // and the ids of units
	whole   bool  // all that the contract says is judged; else breaches are noticed alone
	decides bool  // whether each row counts is known in it: what is expected of them is noted
	until   int   // pieces to read, 0: all
	before  *pass // that read the same files

	// before a row is read; rows: −1 where not known
	begin func(rows int64) error
	take  func(worker, piece int, first int64, c *chunk, out []uint64) error // rows of a batch, and which are left out
	// a breach was met: nothing is counted any more
	bad atomic.Bool

	intake *intake

	mu      sync.Mutex
	rows    *source.Reader
	ended   bool // no piece is taken any more
	read    []reading
	settled int // pieces whose reading is known, and that of all before them

	breaches []breach // of settled pieces
	err      error    // of the first piece that has one
	inFile   int64    // rows of the last settled file
	complete bool     // all pieces were read
}

// Reading is what came of one piece.
type reading struct {
	file     string
	info     os.FileInfo // of the file that the piece was read from
	rows     int64
	done     bool
	breaches []breach // whose rows are counted from the piece's first
	err      error
}

// errBreached says that a row breaks the contract, where nothing is said of it.
var errBreached = errors.New("a row breaks the contract of its table")

// run reads the files.
//
// Errors, of the first piece in reading order that has one: *[source.Error],
// *[ContractError], that of take; or the context's.
func (p *pass) run(ctx context.Context, dir string) (err error) {
	p.intake = p.tally.intake(p.readers, p.ids)
	if p.decides {
		p.tally.expect.begin()
	}
	if p.rows, err = source.Open(ctx, dir, p.tally.table.Source, p.intake.columns); err != nil {
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
	reading, readings := 1, int(p.tally.passes())
	if p.whole && p.ids { // which is to examine what is wrong, once
		readings = 1
	}
	for before := p.before; before != nil; before = before.before {
		reading++
	}
	p.tally.progress.Reading(p.tally.table.Name, reading, readings, p.rows.Rows())
	err = parallel.Do(ctx, p.tally.workers, p.tally.workers, func(i int) error { return p.work(ctx, i) })
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return p.outcome()
}

// outcome is what all pieces come to.
func (p *pass) outcome() error {
	if p.complete && p.before != nil && len(p.read) < len(p.before.read) {
		p.err, p.complete = changed(p.before.read[len(p.read)].file), false
	}
	breaches := p.breaches[:min(len(p.breaches), breachLimit)]
	if p.complete && p.whole && p.err == nil {
		breaches = append(breaches, p.tally.expect.breaches(p.tally.readers, p.tally.where)...)
	}
	if len(breaches) > 0 {
		return newContractError(breaches)
	}
	return p.err
}

// work reads pieces until there are no more.
func (p *pass) work(ctx context.Context, worker int) error {
	readers := len(p.tally.readers)
	c := &chunk{codes: make([]tabulate.Codes, readers), largest: make([]uint32, readers), wide: make([][]uint32, readers)}
	buffers := &source.Buffers{}
	for {
		piece := p.next(ctx)
		if piece == nil {
			return nil
		}
		r := reading{}
		r.err = parallel.Guarded(func(int) error { return p.piece(ctx, worker, piece, buffers, c, &r) }, 0)
		p.settle(piece.Number(), r)
	}
}

// next takes the next piece, nil where none is to be read.
func (p *pass) next(ctx context.Context) *source.Piece {
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
			p.advance()
		}
		return nil
	}
	p.read = append(p.read, reading{file: piece.File(), info: piece.Info()})
	return piece
}

// piece reads one piece.
func (p *pass) piece(ctx context.Context, worker int, piece *source.Piece, buffers *source.Buffers, c *chunk,
	r *reading) error {
	bad := false
	err := piece.Read(ctx, buffers, source.MaxRows, func(b *source.Batch) error {
		c.load(b, p.tally.readers, p.intake)
		p.tally.relate(c, p.readers)
		r.rows += int64(b.Rows)
		out, wrong := p.tally.judge(c, p.whole)
		if p.decides {
			p.tally.expect.note(c, p.tally.encoders, p.tally.where, out)
		}
		p.tally.progress.Add(b.Rows)
		if bad = bad || wrong; bad || p.take == nil || p.bad.Load() {
			return nil
		}
		return p.take(worker, piece.Number(), b.First, c, out)
	})
	if err != nil || !bad {
		return err
	}
	p.bad.Store(true)
	if !p.whole {
		return errBreached
	}
	rows := int64(0)
	err = piece.Raw(ctx, func(raw arrow.Record) error {
		r.breaches = collect(r.breaches, p.examine(raw, piece.File(), rows))
		rows += raw.NumRows()
		return nil
	})
	if err == nil && len(r.breaches) == 0 {
		err = parallel.ErrBug
	}
	return err
}

// settle notes what came of a piece.
func (p *pass) settle(piece int, r reading) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to := &p.read[piece]
	to.done, to.rows, to.breaches, to.err = true, r.rows, r.breaches, r.err
	if to.err == nil && p.before != nil && (piece >= len(p.before.read) || !p.before.read[piece].like(*to)) {
		to.err = changed(to.file)
	}
	if to.err != nil {
		p.ended = true
	}
	p.advance()
}

// like tells that a piece is what it was when the files were read before, as far as
// the system says.
func (r reading) like(is reading) bool {
	return r.file == is.file && r.rows == is.rows && source.Unchanged(r.info, is.info)
}

func changed(file string) error {
	return &source.Error{Kind: source.Unreadable, File: file,
		Message: "was changed while it was being read; begin again once it is written"}
}

// advance takes up the pieces that are settled in reading order, up to the first
// error or until enough breaches are collected. Pieces are taken in that order, so what is
// taken up does not depend on which worker is faster.
func (p *pass) advance() {
	for p.settled < len(p.read) && p.read[p.settled].done && p.err == nil && len(p.breaches) < breachLimit {
		r := &p.read[p.settled]
		if p.settled == 0 || p.read[p.settled-1].file != r.file {
			p.inFile = 0
		}
		for i := range r.breaches {
			r.breaches[i].Row += p.inFile
		}
		p.breaches = collect(p.breaches, r.breaches)
		r.breaches = nil
		p.inFile += r.rows
		p.err = r.err
		p.settled++
	}
	if p.err != nil || len(p.breaches) >= breachLimit {
		p.ended, p.complete = true, false
	}
}

// examine says what breaks the contract in a raw record that begins at row first of
// its piece.
func (p *pass) examine(raw arrow.Record, file string, first int64) []breach {
	t := p.tally
	var found []breach
	codes := make([][]uint32, len(t.readers))
	var outside []bool
	if t.where >= 0 {
		codes[t.where], _ = t.readers[t.where].Encode(nil, 0, p.intake.of(t.where, raw.Columns())...)
		outside = outsideOf(codes[t.where])
	}
	for i, e := range t.readers {
		inputs := p.intake.of(i, raw.Columns())
		if e.Column.Link != nil { // of other rows of the unit, where it was judged
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
		found = append(found, t.nullIDs(raw.Column(p.intake.ids), outside, file, first)...)
	}
	found = append(found, t.impossible(codes[:len(t.encoders)], int(raw.NumRows()), file, first)...)
	slices.SortStableFunc(found, func(a, b breach) int { return cmp.Compare(a.Row, b.Row) })
	return found
}

// nullIDs are the breaches of rows without a unit, where these are not left out, but for those that are outside. A row
// that a column drops needs a unit as well: the contract does not depend on other columns.
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

// toExamine is how many pieces a whole pass must read to find what came first in
// reading order, where this one failed: 0 for all. It is false where the failure is of
// no piece.
func (p *pass) toExamine(err error) (pieces int, ok bool) {
	var id *bounding.IDError
	switch {
	case errors.Is(err, errBreached):
		return 0, true
	case errors.As(err, &id):
		return id.Piece + 1, true
	case p.err != nil:
		return p.settled, true
	}
	return 0, false
}

// named is an error of ids as one of the file that holds them.
func (p *pass) named(err error) error {
	var id *bounding.IDError
	if !errors.As(err, &id) {
		return err
	}
	return &source.Error{Kind: source.WrongType, File: p.read[id.Piece].file, Column: p.tally.table.Unit.ID,
		Message: id.Error()}
}

// intake is what a pass reads for some of the tally's readers and, where ids says so, of units: also where some
// reader's values are in other rows of the unit.
func (t *tally) intake(readers []int, ids bool) *intake {
	x := &intake{readers: readers, ids: -1}
	for _, r := range readers {
		e := t.readers[r]
		names := e.Column.Inputs()
		if len(names) == 1 {
			x.places = append(x.places, []int{len(x.columns)})
			x.columns = append(x.columns, source.Column{Name: names[0], Coder: e, Type: declaredType(e.Column)})
			continue
		}
		places := make([]int, len(names))
		for i, name := range names {
			places[i] = x.values(name)
		}
		x.places = append(x.places, places)
	}
	if ids || slices.ContainsFunc(readers, func(r int) bool { return t.readers[r].Column.Link != nil }) {
		x.ids = x.values(t.table.Unit.ID)
		x.columns[x.ids].Most = source.MostID
	}
	return x
}
