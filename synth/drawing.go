package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/tabulation"
)

// This file holds the drawing of microdata: the model that is made of what was measured, and the rows drawn from it.

// Asked is what a publication asks for beside the plan: all of it is public, and nothing of it costs anything, as what
// was measured stays the same.
type Asked struct {
	Rows   int64  // how many rows; 0: as plan and noisy total say
	Method string // by which the model is made of what was measured; "": that of the plan
	// Before are the microdata of the methods before, as they were drawn, of which that of a parent is looked at: how many
	// rows its children have it says, and nobody else.
	Before []Microdata
}

// Drawing is a model that was fitted, from which rows can be drawn.
type Drawing struct {
	sealed *measured.Sealed
	asked  plan.Synthetic
	law    rowLaw
	known  []known
	out    Microdata // without rows
	before []Microdata
	spread []scatter // of the files that were drawn
}

// NewDrawing fits a model to the measurements of a method of the plan, s.Plan.Synthetic[method]. Its files have as many
// rows as are asked for, or the plan says or, where neither does, as the noisy total does: none if that is below ½, and
// 2^31−1 at most.
//
// The same sealed measurements give the same rows on every machine. It fails where there is no such method, a
// measurement of it is missing or not whole, or its rounds are not such as the method makes. It ends with the context.
//
// Rows that have a parent are drawn given the rows of that, which are drawn first, and there are as many as these say.
func NewDrawing(ctx context.Context, s *measured.Sealed, method int, how Asked) (*Drawing, error) {
	if method < 0 || method >= len(s.Plan.Synthetic) || method >= len(s.Rounds) {
		return nil, fmt.Errorf("there are no microdata number %d", method+1)
	}
	asked, rounds := s.Plan.Synthetic[method], s.Rounds[method]
	keys, err := keysOf(s.Plan.Release(), plan.Query{Table: asked.Table, Factors: asked.Columns()})
	if err != nil {
		return nil, err
	}
	d := &Drawing{sealed: s, asked: asked, before: how.Before, out: Microdata{Table: asked.Table, Own: len(asked.Own()),
		Given: asked.Given, Method: cmp.Or(how.Method, asked.Method), Keys: keys, Asked: how.Rows, Files: asked.Drawn(),
		Rounds: len(rounds.Each)}}
	var columns []measured.Measured
	if asked.Adaptive() {
		if columns, err = columnsOf(s, asked); err != nil {
			return nil, err
		}
	}
	if err := asked.Refits(d.out.Method); err != nil {
		return nil, fmt.Errorf("the microdata of %s: %w", asked.Table, err)
	}
	var variance float64
	if d.out.Method == plan.Tables {
		err = d.fix(ctx, columns, rounds)
	} else {
		d.out.Total, variance = totalOf(columns)
		d.out.TotalError = math.Sqrt(variance)
		if d.law, err = rowLawOf(ctx, s.Plan.Plan(), asked, columns, rounds); err == nil {
			d.known = knownOf(asked, columns, rounds)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	d.out.Rows = int(rowsOf(asked, how.Rows, d.out.Total))
	return d, nil
}

// fix makes the model of fixed measurements.
func (d *Drawing) fix(ctx context.Context, columns []measured.Measured, rounds measured.Rounds) error {
	if columns != nil { // rounds that the method does not make are refused whatever is made of them
		if _, err := rowLawOf(ctx, d.sealed.Plan.Plan(), d.asked, columns, rounds); err != nil {
			return err
		}
	}
	f, err := newFixed(ctx, d.sealed, d.asked, columns, rounds)
	if err != nil {
		return err
	}
	d.out.Total, d.out.TotalError = f.total.mean, math.Sqrt(1/f.total.precision)
	for _, s := range f.sets {
		d.known = append(d.known, s.known)
	}
	d.law, d.out.Shape = f.law(ctx, adaptive.MostOfModel())
	return nil
}

// Draw draws the rows of a file, from 1 on: each one others. It ends with the context.
func (d *Drawing) Draw(ctx context.Context, file int) (Microdata, error) {
	out, purpose := d.out, "rows of "+d.asked.Table
	if file > 1 {
		purpose += fmt.Sprintf(", file %d", file)
	}
	if d.out.Method != d.asked.Method {
		purpose += ", method " + d.out.Method
	}
	random := newStream(d.sealed, purpose)
	if d.asked.Parent == "" {
		out.Codes = d.law.draw(ctx, out.Rows, random)
	} else if err := out.drawChildren(ctx, d.sealed.Plan.Plan(), d.asked, d.law, d.before, random); err != nil {
		return Microdata{}, fmt.Errorf("the microdata of %s: %w", d.asked.Table, err)
	}
	out.compare(ctx, d.law, d.known)
	d.tally(ctx, out)
	if err := ctx.Err(); err != nil {
		return Microdata{}, err
	}
	for i := range d.asked.Derived {
		from, of, err := d.sealed.Plan.Origin(d.asked, i)
		if err != nil {
			return Microdata{}, err
		}
		derived := make([]uint32, out.Rows)
		for row, code := range out.Codes[from] {
			derived[row] = uint32(of[code])
		}
		out.Codes = append(out.Codes, derived)
	}
	return out, nil
}

// rowLawOf is the model of a method's measurements. It fails on rounds that the method does not make.
func rowLawOf(ctx context.Context, p *plan.Plan, asked plan.Synthetic, columns []measured.Measured,
	rounds measured.Rounds) (rowLaw, error) {
	if asked.Method == plan.AIM {
		a, err := newAIM(ctx, asked, columns)
		if err != nil {
			return nil, fmt.Errorf("the microdata of %s: %w", asked.Table, err)
		}
		return a, a.replay(ctx, p, asked, rounds)
	}
	if err := checkRounds(p, asked, rounds); err != nil {
		return nil, err
	}
	total, _ := totalOf(columns)
	return fit(ctx, max(total, 1), columns, adaptive.Candidates(asked), rounds.Each), nil
}

// rowsOf is how many rows microdata have, given those that a publication asks for, 0 for none, and the noisy total.
func rowsOf(asked plan.Synthetic, rows int64, total float64) float64 {
	switch {
	case rows > 0:
		return float64(rows)
	case asked.Rows > 0:
		return float64(asked.Rows)
	}
	return min(max(math.Floor(total+0.5), 0), mostRows)
}

// Bytes is about the memory that [NewDrawing] and one file take, and writing that: 16 bytes for every value, and what
// the model takes. It fails as NewDrawing does on measurements of columns, and ends with the context.
func Bytes(ctx context.Context, s *measured.Sealed, method int, how Asked) (int64, error) {
	asked := s.Plan.Synthetic[method]
	if asked.Parent != "" {
		parent, size, err := parentOf(s.Plan.Plan(), asked, how.Before)
		if err != nil {
			return 0, fmt.Errorf("the microdata of %s: %w", asked.Table, err)
		}
		children, err := parent.children(size)
		return children*(16*int64(len(asked.Columns()))+4) + modelBytes(asked, s.Rounds[method]), err
	}
	total, model := 0.0, modelBytes(asked, s.Rounds[method])
	if asked.Adaptive() {
		columns, err := columnsOf(s, asked)
		if err != nil {
			return 0, err
		}
		total, _ = totalOf(columns)
	}
	if cmp.Or(how.Method, asked.Method) == plan.Tables {
		cells := int64(0)
		for _, e := range tabulation.Of(s.Plan.Plan(), asked) {
			cells += s.Plan.Tables[e.Table].Cells
		}
		model += cells*bytesOfFixed + 32*adaptive.MostOfModel().Cells
		if !asked.Adaptive() && how.Rows == 0 && asked.Rows == 0 {
			f, err := newFixed(ctx, s, asked, nil, measured.Rounds{})
			if err != nil {
				return 0, err
			}
			total = f.total.mean
		}
	}
	return int64(rowsOf(asked, how.Rows, total))*16*int64(len(asked.Columns())) + model, nil
}

// bytesOfFixed is what a cell of a table takes, by method tables: its counts and those it is fitted to, where it lies
// in smaller tables, and the rows of it.
const bytesOfFixed = 128

// modelBytes is about the memory of the model of rounds. Where cliques hang together, its tables are there twice, a
// third time as logarithms and in parts on the way to rows; and of each set of columns that was measured there are
// eight tables.
func modelBytes(asked plan.Synthetic, rounds measured.Rounds) int64 {
	cells := int64(0)
	if asked.Most != nil {
		cells = 4 * asked.Most.Cells
	}
	for _, r := range rounds.Each {
		cells += 8 * int64(r.Measured.Values.Len())
	}
	return 8 * cells
}

// columnsOf finds the measurements of the single columns, in order.
func columnsOf(s *measured.Sealed, asked plan.Synthetic) ([]measured.Measured, error) {
	byID := measured.ByID(s.Measured)
	columns := make([]measured.Measured, len(asked.By))
	for i := range asked.By {
		columns[i] = byID[asked.Column(i)]
	}
	return columns, checkColumns(s.Plan.Plan(), asked, columns)
}
