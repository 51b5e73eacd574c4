package report

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/synth"
)

// addUp heads the note on counts that add up.
const addUp = "Counts that add up"

// Fitted is how far the published counts of a table are from the unbiased estimates, which stand beside them. Gaps are
// published − unbiased in standard errors, over the cells that have one; distances are in counts, without their sign, over the
// possible cells.
type Fitted struct {
	Way     string  `json:"way"`         // fitted: to the estimates; microdata: counted from these
	Moved   int64   `json:"moved"`       // cells whose count is not the estimate, rounded, and 0 where that is negative
	Mean    float64 `json:"mean_gap"`    // with its sign
	Spread  float64 `json:"rms_gap"`     // root mean square
	Largest float64 `json:"largest_gap"` // without its sign
	// Off and MostOff are the mean and the largest distance; absent in reports that older versions made.
	Off     float64 `json:"mean_distance,omitempty"`
	MostOff float64 `json:"largest_distance,omitempty"`
}

// fittedOf measures how far the counts of a table were moved; nil where they are its estimates, rounded.
func fittedOf(way string, s synth.Statistic) *Fitted {
	if !s.Fitted {
		return nil
	}
	f := &Fitted{Way: way}
	cells, sum, squares := 0.0, 0.0, 0.0
	possible, off := 0.0, 0.0
	published, unbiased := s.Published.Int64Values(), s.Unbiased.Float64Values()
	for i, n := range published {
		if n != int64(math.Floor(max(unbiased[i], 0)+0.5)) {
			f.Moved++
		}
		if s.Flags[i] != synth.Impossible {
			distance := math.Abs(float64(n) - unbiased[i])
			possible, off, f.MostOff = possible+1, off+distance, max(f.MostOff, distance)
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
	if possible > 0 {
		f.Off = off / possible
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

// moved is how far the counts of some tables that were made to add up lie from the unbiased ones, in counts.
type moved struct {
	name       string // of the counts
	cells      int64
	mean, most float64
}

// movedIn sums up how far the counts of tables were moved.
func movedIn(tables []Table) moved {
	var m moved
	off := 0.0
	for _, t := range tables {
		for _, s := range t.Statistics {
			if s.Fitted == nil || t.Aside {
				continue
			}
			cells := t.Cells - t.Impossible
			m.name, m.cells, m.most = s.Name, m.cells+cells, max(m.most, s.Fitted.MostOff)
			off += float64(s.Fitted.Off * float64(cells))
		}
	}
	if m.cells > 0 {
		m.mean = off / float64(m.cells)
	}
	return m
}

// before says of so many numbers which of them an accuracy is not of as they were published; "" where there are none.
func (m moved) before(of int64) string {
	if m.cells == 0 {
		return ""
	}
	which, were := "", "they were"
	if m.cells < of {
		which = budget.Group(m.cells) + " of them "
	}
	if m.cells == 1 {
		were = "it was"
	}
	return fmt.Sprintf(" %sas %s before %[2]s made to add up (%[3]s_unbiased),", which, were, m.name)
}

// after says how far the published ones lie from those.
func (m moved) after() string {
	switch {
	case m.cells == 0:
		return ""
	case m.most == 0:
		return " Making them add up moved none."
	}
	return fmt.Sprintf(" To add up, the published %s was moved from there, by %s on the mean and by %s at most, and can be so much further off the exact figure. The report’s note “%s” tells it table by table.",
		m.name, budget.DecimalNearest(m.mean, 2), margin(m.most), addUp)
}

// OfUnbiased says of which counts errors and verdicts are, where some were made to add up; "" elsewhere.
func (r *Report) OfUnbiased() string {
	m := movedIn(r.Tables)
	if m.cells == 0 {
		return ""
	}
	return fmt.Sprintf("Where counts were made to add up, margins, chances, intervals and verdicts are of %[1]s_unbiased, what they were before. The published %[1]s was moved from there, and can lie outside of its interval: the note “%[2]s” says how far it was moved, table by table.", m.name, addUp)
}

// fittedBias is what making counts add up does to them: the published figures tell exactly how far these counts were moved.
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
			b.Size = fmt.Sprintf("how far they were moved is known exactly, table by table and cell by cell, from the figures as published and unbiased: on the mean over a table's cells at most %+.2f standard errors (%s), in one cell at most %.1f (%s); the mean of that over the noise is the bias", mean, meanAt, largest, largestAt)
			all = append(all, b)
		}
	}
	return all
}

// fittedNotes say which counts add up, and table by table what that took.
func (r *Report) fittedNotes(p *plan.Plan) []Note {
	var notes []Note
	for _, c := range p.Consistent {
		text := describe.Consistency(c)
		for _, line := range describe.LeftText(c) {
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

// fittedAll tells that all counts were made to add up.
func (r *Report) fittedAll() bool {
	return r.fittedSome() && movedIn(r.Tables).cells == r.Accuracy.Numbers
}

// raisedText says what becomes of numbers below zero where counts are made to add up.
func (r *Report) raisedText(s string) string {
	if !r.fittedSome() {
		return ""
	}
	return fmt.Sprintf(" Where counts are made to add up (see “%[1]s”) %[2]s is moved further, and can lie outside of its interval, which is that of %[2]s_unbiased. There %[2]s_flag says fitted where %[2]s is another number than the estimate, rounded, unless the interval reaches zero: then it says noise_dominates.", addUp, s)
}

// separateText says that published counts add up although each table was measured separately.
func (r *Report) separateText(s string) string {
	if !r.fittedSome() {
		return ""
	}
	return fmt.Sprintf(" That is so of %s_unbiased; the published %s was made to add up, as “%s” says.", s, s, addUp)
}
