package report

// This file holds counts that were made to add up: how far they were moved for it, which is a bias that the published figures
// tell exactly.

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/synth"
)

// addUp heads the note on counts that add up.
const addUp = "Counts that add up"

// Fitted is how far the published counts of a table are from the unbiased estimates, which stand beside them. Gaps are
// published − unbiased in standard errors, over the cells that have one.
type Fitted struct {
	Way     string  `json:"way"`         // fitted: to the estimates; microdata: counted from these
	Moved   int64   `json:"moved"`       // cells whose count is not the estimate, rounded, and 0 where that is negative
	Mean    float64 `json:"mean_gap"`    // with its sign: what non-negativity and agreement bring on the mean
	Spread  float64 `json:"rms_gap"`     // root mean square
	Largest float64 `json:"largest_gap"` // without its sign
}

// fittedOf measures how far the counts of a table were moved; nil where they are its estimates, rounded.
func fittedOf(way string, s synth.Statistic) *Fitted {
	if !s.Fitted {
		return nil
	}
	f := &Fitted{Way: way}
	cells, sum, squares := 0.0, 0.0, 0.0
	published, unbiased := s.Published.Int64Values(), s.Unbiased.Float64Values()
	for i, n := range published {
		if n != int64(math.Floor(max(unbiased[i], 0)+0.5)) {
			f.Moved++
		}
		deviation := s.Error.Value(i)
		if !(deviation > 0) {
			continue
		}
		gap := (float64(n) - unbiased[i]) / deviation
		cells++
		sum += gap
		squares += float64(gap * gap)
		f.Largest = max(f.Largest, math.Abs(gap))
	}
	if cells > 0 {
		f.Mean, f.Spread = sum/cells, math.Sqrt(squares/cells)
	}
	return f
}

// addFitted says of every table how its counts were made to add up.
func addFitted(p *plan.Plan, of []Table, tables []synth.Table) {
	ways := map[string]string{}
	for _, c := range p.Consistent {
		for _, path := range c.Tables {
			ways[path] = c.Way
		}
	}
	for i, t := range tables {
		for k, s := range t.Statistics {
			if of[i].Statistics[k].Fitted = fittedOf(ways[t.Path], s); s.Fitted {
				of[i].Statistics[k].ShownAsZero = 0 // what is 0 is so as the nearest that can be
			}
		}
	}
}

// text says how far the counts of a table were moved.
func (f *Fitted) text(cells int64) string {
	return fmt.Sprintf("%s of %s moved, on the mean by %+.2f standard errors, at most by %.1f", budget.Group(f.Moved), budget.Plural(cells, "cell"), f.Mean, f.Largest)
}

// fittedBias is what making counts add up does to them: the published figures tell it exactly.
func (r *Report) fittedBias() []Bias {
	says := map[string]string{
		plan.Fitted:    "Counts are rounded and fitted to add up: none is below zero, so that cells near zero are raised and large ones lowered for it, in the published column alone; the unbiased one is as it was",
		plan.Tabulated: "Counts are those of the microdata, so that they add up: model only, in the published column alone; the unbiased one is as it was",
	}
	var all []Bias
	for _, way := range []string{plan.Fitted, plan.Tabulated} {
		b := Bias{Cause: says[way], Direction: eitherWay}
		var mean, largest float64
		meanAt, largestAt := "", ""
		for _, t := range r.Tables {
			for _, s := range t.Statistics {
				if s.Fitted == nil || s.Fitted.Way != way {
					continue
				}
				b.Tables = append(b.Tables, t.Path)
				if m := s.Fitted.Mean; meanAt == "" || math.Abs(m) > math.Abs(mean) {
					mean, meanAt = m, t.Path
				}
				if l := s.Fitted.Largest; largestAt == "" || l > largest {
					largest, largestAt = l, t.Path
				}
			}
		}
		if b.Tables != nil {
			b.Size = fmt.Sprintf("known exactly, table by table and cell by cell, from the figures as published and unbiased: on the mean over a table's cells at most %+.2f standard errors (%s), in one cell at most %.1f (%s)", mean, meanAt, largest, largestAt)
			all = append(all, b)
		}
	}
	return all
}

// fittedNotes say which counts add up, and table by table what that took.
func (r *Report) fittedNotes(p *plan.Plan) []Note {
	var notes []Note
	for _, c := range p.Consistent {
		text := c.Sentence()
		for _, line := range c.LeftText() {
			text += " " + line
		}
		of := map[string]bool{}
		for _, path := range c.Tables {
			of[path] = true
		}
		told := 0
		for _, t := range r.Tables {
			if s := t.Statistics[0]; of[t.Path] && s.Fitted != nil {
				if told++; told <= mostTold {
					text += fmt.Sprintf(" %s: %s.", t.Path, s.Fitted.text(t.Cells-t.Impossible))
				}
			}
		}
		if told > mostTold {
			text += fmt.Sprintf(" Of %s more, report.json says it.", budget.Plural(int64(told-mostTold), "table"))
		}
		notes = append(notes, Note{addUp, text})
	}
	return notes
}

// mostTold is for how many tables a page says how far their counts were moved.
const mostTold = 12

// fittedSome tells that counts of some table were made to add up.
func (r *Report) fittedSome() bool {
	for _, t := range r.Tables {
		for _, s := range t.Statistics {
			if s.Fitted != nil {
				return true
			}
		}
	}
	return false
}

// raisedText says what becomes of numbers below zero where counts are made to add up.
func (r *Report) raisedText(s string) string {
	if !r.fittedSome() {
		return ""
	}
	return fmt.Sprintf(" Where counts are made to add up (see “%s”) %s is moved further, and %s_flag says fitted where it is another number than the estimate, rounded.", addUp, s, s)
}

// separateText says that published counts add up although each table was measured separately.
func (r *Report) separateText(s string) string {
	if !r.fittedSome() {
		return ""
	}
	return fmt.Sprintf(" That is so of %s_unbiased; the published %s was made to add up, as “%s” says.", s, s, addUp)
}
