package synth

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/progress"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/adaptive"
	"github.com/dprelease/dprelease/plan/tabulation"
)

// This file holds the drawing of microdata: the model of the measurements, and the rows drawn from it.

// Request is what a publication asks for in addition to the plan. All of it is public and costs no budget, as the
// measurements stay the same.
type Request struct {
	Rows   int64  // number of rows; 0: as the plan or the noisy total says
	Method string // by which the model is made from the measurements; "": the method of the plan
	// EarlierMicrodata holds the microdata of the earlier methods, as they were drawn. A parent among them determines
	// the number of rows of its children.
	EarlierMicrodata []Microdata
}

// Drawing is a fitted model from which rows can be drawn.
type Drawing struct {
	sealed    *measured.Sealed
	synthetic plan.Synthetic
	law       rowLaw
	estimates []setEstimate
	out       Microdata // what every file has, without rows
	before    []Microdata
	spread    []scatter // between the files drawn so far
}

// NewDrawing fits a model to the measurements of a method of the plan, s.Plan.Synthetic[method]. Its files have as many
// rows as how asks for or, failing that, as the plan says or, failing that, as the noisy total says: none if that is
// below ½, and at most 2^31−1.
//
// The same sealed measurements give the same rows on every machine. It returns an error if there is no such method, if
// a measurement of it is missing or incomplete, or if the method does not make its rounds. It ends with the context.
//
// Rows with a parent are drawn given the rows of the parent, which are drawn first and determine their number.
func NewDrawing(ctx context.Context, s *measured.Sealed, method int, how Request) (*Drawing, error) {
	if method < 0 || method >= len(s.Plan.Synthetic) || method >= len(s.Rounds) {
		return nil, fmt.Errorf("there are no microdata number %d", method+1)
	}
	synthetic, rounds := s.Plan.Synthetic[method], s.Rounds[method]
	keys, err := keysOf(s.Plan.Release(), plan.Query{Table: synthetic.Table, Factors: synthetic.Columns()})
	if err != nil {
		return nil, err
	}
	ctx = progress.Begin(ctx, 0, "fitting a model of the microdata of %s", synthetic.Table)
	d := &Drawing{sealed: s, synthetic: synthetic, before: how.EarlierMicrodata, out: Microdata{Table: synthetic.Table,
		OwnColumns: len(synthetic.OwnColumns()), GivenColumns: synthetic.Given, Method: cmp.Or(how.Method,
			synthetic.Method), Keys: keys,
		RowsRequested: how.Rows, Files: synthetic.Drawn(),
		Rounds: len(rounds.All)}}
	var columns []measured.Measured
	if synthetic.Adaptive() {
		if columns, err = columnsOf(s, synthetic); err != nil {
			return nil, err
		}
	}
	if err := synthetic.Refits(d.out.Method); err != nil {
		return nil, fmt.Errorf("the microdata of %s: %w", synthetic.Table, err)
	}
	var variance float64
	if d.out.Method == plan.Tables {
		err = d.fitFixed(ctx, columns, rounds)
	} else {
		d.out.Total, variance = totalOf(columns)
		d.out.TotalError = math.Sqrt(variance)
		if d.law, err = rowLawOf(ctx, s.Plan.Plan(), synthetic, columns, rounds); err == nil {
			d.estimates = estimatesOf(synthetic, columns, rounds)
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	d.out.Rows = int(rowsOf(synthetic, how.Rows, d.out.Total))
	return d, nil
}

// fitFixed fits the model of fixed measurements.
func (d *Drawing) fitFixed(ctx context.Context, columns []measured.Measured, rounds measured.Rounds) error {
	if columns != nil { // rounds that the method cannot make are refused in any case
		if _, err := rowLawOf(progress.Silent(ctx), d.sealed.Plan.Plan(), d.synthetic, columns, rounds); err != nil {
			return err
		}
	}
	f, err := newFixed(ctx, d.sealed, d.synthetic, columns, rounds)
	if err != nil {
		return err
	}
	d.out.Total, d.out.TotalError = f.total.mean, math.Sqrt(1/f.total.precision)
	for _, s := range f.sets {
		d.estimates = append(d.estimates, s.setEstimate)
	}
	d.law, d.out.Shape = f.newLaw(ctx, adaptive.MaxModelSize())
	return nil
}

// Draw draws the rows of a file; files are numbered from 1 and have different rows. It ends with the context.
func (d *Drawing) Draw(ctx context.Context, file int) (Microdata, error) {
	out, purpose := d.out, "rows of "+d.synthetic.Table
	if file > 1 {
		purpose += fmt.Sprintf(", file %d", file)
	}
	if d.out.Method != d.synthetic.Method {
		purpose += ", method " + d.out.Method
	}
	random := newStream(d.sealed, purpose)
	if d.synthetic.Parent == "" {
		out.Codes = d.law.drawRows(ctx, out.Rows, random)
	} else if err := out.drawChildren(ctx, d.sealed.Plan.Plan(), d.synthetic, d.law, d.before, random); err != nil {
		return Microdata{}, fmt.Errorf("the microdata of %s: %w", d.synthetic.Table, err)
	}
	out.compareFits(ctx, d.law, d.estimates)
	d.tallyFile(ctx, out)
	if err := ctx.Err(); err != nil {
		return Microdata{}, err
	}
	for i := range d.synthetic.Derived {
		from, of, err := d.sealed.Plan.DerivedColumn(d.synthetic, i)
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

// rowLawOf fits the model of a method's measurements. It returns an error if the method does not make these rounds.
func rowLawOf(ctx context.Context, p *plan.Plan, synthetic plan.Synthetic, columns []measured.Measured,
	rounds measured.Rounds) (rowLaw, error) {
	if synthetic.Method == plan.AIM {
		progress.SetParts(ctx, int64(firstSteps+(len(rounds.All)-1)*roundSteps+lastSteps))
		a, err := newAIM(ctx, synthetic, columns)
		if err != nil {
			return nil, fmt.Errorf("the microdata of %s: %w", synthetic.Table, err)
		}
		return a, a.replay(ctx, p, synthetic, rounds)
	}
	if err := checkRounds(p, synthetic, rounds); err != nil {
		return nil, err
	}
	total, _ := totalOf(columns)
	progress.SetParts(ctx, int64(len(rounds.All)))
	return fitTree(ctx, max(total, 1), columns, adaptive.Candidates(synthetic), rounds.All), nil
}

// rowsOf returns the number of rows of microdata, given the number that a publication asks for, 0 for none, and the
// noisy total.
func rowsOf(synthetic plan.Synthetic, rows int64, total float64) float64 {
	switch {
	case rows > 0:
		return float64(rows)
	case synthetic.Rows > 0:
		return float64(synthetic.Rows)
	}
	return min(max(math.Floor(total+0.5), 0), mostRows)
}

// Bytes returns about the memory that [NewDrawing], one file and writing it take: 16 bytes for every value, and the
// model. It returns the errors of NewDrawing about measurements of columns, and ends with the context.
func Bytes(ctx context.Context, s *measured.Sealed, method int, how Request) (int64, error) {
	synthetic := s.Plan.Synthetic[method]
	if synthetic.Parent != "" {
		parent, size, err := parentOf(s.Plan.Plan(), synthetic, how.EarlierMicrodata)
		if err != nil {
			return 0, fmt.Errorf("the microdata of %s: %w", synthetic.Table, err)
		}
		children, err := parent.countChildren(size)
		return children*(16*int64(len(synthetic.Columns()))+4) + modelBytes(synthetic, s.Rounds[method]), err
	}
	total, model := 0.0, modelBytes(synthetic, s.Rounds[method])
	if synthetic.Adaptive() {
		columns, err := columnsOf(s, synthetic)
		if err != nil {
			return 0, err
		}
		total, _ = totalOf(columns)
	}
	if cmp.Or(how.Method, synthetic.Method) == plan.Tables {
		cells := int64(0)
		for _, e := range tabulation.Tables(s.Plan.Plan(), synthetic) {
			cells += s.Plan.Tables[e.Table].Cells
		}
		model += cells*bytesOfFixed + 32*adaptive.MaxModelSize().Cells
		if !synthetic.Adaptive() && how.Rows == 0 && synthetic.Rows == 0 {
			f, err := newFixed(ctx, s, synthetic, nil, measured.Rounds{})
			if err != nil {
				return 0, err
			}
			total = f.total.mean
		}
	}
	return int64(rowsOf(synthetic, how.Rows, total))*16*int64(len(synthetic.Columns())) + model, nil
}

// bytesOfFixed is the memory for a cell of a table by method tables: its counts, the counts it is fitted to, its
// indexes into smaller tables, and its rows.
const bytesOfFixed = 128

// modelBytes returns about the memory of the model of rounds. The tables of a junction tree exist twice, a third time
// as logarithms, and partly while rows are drawn; each measured set of columns has eight tables.
func modelBytes(synthetic plan.Synthetic, rounds measured.Rounds) int64 {
	cells := int64(0)
	if synthetic.LargestModel != nil {
		cells = 4 * synthetic.LargestModel.Cells
	}
	for _, r := range rounds.All {
		cells += 8 * int64(r.Measured.Values.Len())
	}
	return 8 * cells
}

// columnsOf returns the measurements of the single columns, in order.
func columnsOf(s *measured.Sealed, synthetic plan.Synthetic) ([]measured.Measured, error) {
	byID := measured.ByID(s.Measured)
	columns := make([]measured.Measured, len(synthetic.By))
	for i := range synthetic.By {
		columns[i] = byID[synthetic.Column(i)]
	}
	return columns, checkColumns(s.Plan.Plan(), synthetic, columns)
}
