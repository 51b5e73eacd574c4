package maker

// This file computes how far the counts of published tables were moved to add up, which the published figures determine
// exactly.

import (
	"math"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/synth"
)

// fittedOf measures how far the counts of a table were moved. It returns nil if they are its rounded estimates.
func fittedOf(way string, s synth.Statistic) *report.Fitted {
	if !s.Fitted {
		return nil
	}
	f := &report.Fitted{Way: way}
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

// addFitted adds to every table how its counts were adjusted to add up.
func addFitted(p *plan.Plan, of []report.Table, tables []synth.Table) {
	ways := map[string]string{}
	for _, c := range p.Consistent {
		for _, path := range c.Tables {
			ways[path] = c.Way
		}
	}
	for i, t := range tables {
		for k, s := range t.Statistics {
			if of[i].Statistics[k].Fitted = fittedOf(ways[t.Path], s); s.Fitted {
				of[i].Statistics[k].ShownAsZero = 0 // a 0 is the nearest valid count
			}
		}
	}
}
