package spec

// This file reads weights: how many units of the population each row of a table stands for.

import (
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/dprelease/dprelease/spec/language"
)

// Weight is how many units of the population a row stands for: a column of the source, clamped to a range and rounded
// to multiples of a step as values are, and never below 0.
type Weight struct {
	From    string
	Lattice domain.Lattice
	// Calibrated reports that weights were adjusted to totals, or raked. They depend on other rows, so the guarantee
	// treats the weights as given, and does not cover what they reveal about other rows. Other weights are attributes
	// of the unit.
	Calibrated bool
	// Null is what happens to a row whose weight is null, NaN or a text that is not a number: Refuse or Drop.
	Null Action
}

// isWeighted reports whether rows count by weights.
func (t *Table) isWeighted() bool { return t.Weight != nil }

// maxWeight returns the largest weight of a row in steps, 1 if rows have no weights.
func (t *Table) maxWeight() int64 {
	if t.Weight == nil {
		return 1
	}
	return t.Weight.Lattice.Last
}

// WeightStep returns the unit of the integers by which rows are counted: the step of the weights, or 1 if rows have
// none.
func (t *Table) WeightStep() *big.Rat {
	if t.Weight == nil {
		return big.NewRat(1, 1)
	}
	return t.Weight.Lattice.Step
}

// stopsWithoutWeight reports whether a row without a weight stops the run.
func (t *Table) stopsWithoutWeight() bool { return t.Weight != nil && t.Weight.Null != Drop }

// readTableWeight reads the weight of a table's rows.
func (r *reader) readTableWeight(t *Table, n document.Node) {
	if !r.IsSound(n) {
		return
	}
	w := &Weight{From: n.Get("from").Text(), Calibrated: n.Get("kind").Is(calibratedWeight)}
	if n.Get("null").Is(rowsDrop) {
		w.Null = Drop
	}
	bounds := n.Get("range")
	low, okLow := r.Number(bounds.Items()[0])
	high, okHigh := r.Number(bounds.Items()[1])
	step, okStep := r.Number(n.Get("step"))
	if !okLow || !okHigh || !okStep {
		return
	}
	texts := bounds.Texts()
	switch {
	case low.Sign() < 0:
		r.AddProblem(bounds, document.Problem{Message: "weights below 0: the range starts at " + texts[0],
			Expected: "a range from 0 or above: a row stands for so many, never for fewer than none",
			Fix: "[0, " + texts[1] +
				"]"})
	case low.Cmp(high) > 0 || high.Sign() == 0:
		r.AddProblem(bounds, document.Problem{Message: fmt.Sprintf("the range [%s, %s] holds no weight", texts[0],
			texts[1]),
			Expected: "the smaller bound first, the larger above 0"})
	case step.Sign() <= 0:
		r.AddProblem(n.Get("step"), document.Problem{Message: "step is " + n.Get("step").Text(),
			Expected: "more than zero"})
	default:
		if l := r.domains.Lattice(bounds, step, low, high); l != nil {
			w.Lattice = *l
			r.fitWeight(t, w, n)
		}
	}
}

// fitWeight sets the weight of a table if the sum of all possible weights fits 62 bits.
func (r *reader) fitWeight(t *Table, w *Weight, n document.Node) {
	if w.Lattice.Last-w.Lattice.First >= maxLatticePoints {
		r.AddProblem(n.Get("range"), document.Problem{
			Message:  fmt.Sprintf("a range of weights of %d steps", w.Lattice.Last-w.Lattice.First),
			Expected: fmt.Sprintf("at most %d steps, as with a larger step", maxLatticePoints-1),
		})
		return
	}
	if rows := maxRows(t); !fitsIn62Bits(big.NewInt(w.Lattice.Last), rows) {
		r.AddProblem(n.Get("step"), document.Problem{
			Message: fmt.Sprintf("weights go up to %s steps, of which %s add up to more than 62 bits hold",
				document.FormatNumber(new(big.Rat).SetInt64(w.Lattice.Last)), rowsText(t)),
			Expected: "a larger step, or a smaller largest weight",
		})
		return
	}
	t.Weight = w
	if !n.Get("kind").Present() {
		r.Warn(n.Key, n.Path, document.Problem{
			Expected: "kind: calibrated where they were adjusted to totals, or raked, so that each depends on " +
				"others; else kind: design",
			Fix: "kind: design",
		}, language.Key("nothing says what the weights are: they are taken for attributes of the %s that do not "+
			"depend on who else is in the table"),
			r.release.Privacy.Protects)
	}
}

// DropsUnweighted reports whether rows without a weight are left out.
func (t *Table) DropsUnweighted() bool { return t.Weight != nil && t.Weight.Null == Drop }
