package synth

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/impossible"
)

// This file holds tables that an invariant decides: their cells are public figures, whatever was measured.

// Public marks a cell whose count is a public figure, or a sum of such figures: it has no noise, and no data were read
// for it.
const Public Flag = "invariant"

// publicStatistic returns the statistic of a table that an invariant decides, and false for any other table. Impossible
// cells keep that flag: their figure is 0.
func publicStatistic(p *plan.Plan, t plan.Table) (Statistic, bool, error) {
	if t.Invariant == "" {
		return Statistic{}, false, nil
	}
	counts := p.PublicFigures(t)
	mask, err := impossible.Of(p.Query(t), p.Release())
	if err != nil || int64(len(counts)) != t.Cells {
		return Statistic{}, false, fmt.Errorf("table %s: invariant %s does not decide it", t.Path, t.Invariant)
	}
	st := t.Statistics[0]
	out := newStatistic(st.Name, toFloats(counts), make([]float64, len(counts)), func(int) float64 { return 0 })
	impossible := mask.Cells()
	for i := range out.Flags {
		if out.Flags[i] = Public; impossible != nil && impossible[i] {
			out.Flags[i] = Impossible
		}
	}
	out.Whole, out.Confidence, out.Attained = st.Measurement != "" && measuresAll(p), st.Confidence, st.Attained
	return out, true, nil
}

// applyInvariants replaces the estimates of tables that an invariant decides by public figures.
func applyInvariants(p *plan.Plan, tables []Table) error {
	for i, t := range p.Tables {
		st, is, err := publicStatistic(p, t)
		if err != nil {
			return err
		}
		if is {
			tables[i].Statistics = []Statistic{st}
		}
	}
	return nil
}

// IsInvariant reports whether an invariant decides a table, so that its cells do not depend on any measurement.
func (r *Reader) IsInvariant(table int) bool { return isInvariant(r.plan.Tables[table]) }

// isInvariant reports whether an invariant decides a table.
func isInvariant(t plan.Table) bool { return t.Invariant != "" }
