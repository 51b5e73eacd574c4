package synth

import (
	"fmt"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
)

// This file holds the estimate: every table of a plan from its sealed measurements.

// Estimate derives every table of the plan from the sealed measurements. A table that is one measurement consists of
// its noisy counts, with an interval that inverts the law of the noise; other tables are reconstructed by generalised
// least squares; a table that an invariant decides has its public figures. It returns an error if a measurement is
// missing.
func Estimate(s *measured.Sealed) ([]Table, error) {
	byID := measured.ByID(s.Measured)
	tables := make([]Table, len(s.Plan.Tables))
	for i, t := range s.Plan.Tables {
		keys, err := keysOf(s.Plan.Release(), s.Plan.PublishedQuery(t))
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Path, err)
		}
		tables[i] = Table{Path: t.Path, Marginal: t.Marginal, Keys: keys, Cells: int(t.Cells)}
		st := t.Statistics[0]
		if st.Measurement == "" {
			continue
		}
		m, ok := byID[st.Measurement]
		if !ok {
			return nil, fmt.Errorf("table %s: measurement %s is missing", t.Path, st.Measurement)
		}
		impossible, err := impossibleOf(s.Plan.Release(), m)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Path, err)
		}
		if err := setIndexes[t.Selects()](s.Plan.Release(), t, &tables[i], m); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Path, err)
		}
		if m.Reports != nil {
			all, up := RespondentsOf(s.Measured, m), countsUp(s.Plan.Plan(), t, keys)
			tables[i].Reports, tables[i].Respondents, tables[i].Forms = m.Reports, all, reportsPerForm(m)
			sums := cellSums(s.Plan.Plan(), m, all, keys, up, st.Confidence)
			tables[i].Statistics = []Statistic{reportStatistic(st, sums, all)}
		} else {
			tables[i].Statistics = []Statistic{standaloneStatistic(st, m, impossible)}
		}
		NewSampling(s.Plan.Plan(), t, false).widenStatistic(&tables[i].Statistics[0])
		if m.Reports != nil {
			tables[i].Numbers = reportNumbers(s.Plan.Plan(), t, m, tables[i].Respondents,
				tables[i].Statistics[0].Unbiased)
			continue
		}
		if err := addNumbers(&tables[i], s.Plan.Plan(), i, byID, nil, 0); err != nil {
			return nil, err
		}
	}
	estimates, err := s.Plan.Estimates()
	if err != nil {
		return nil, err
	}
	for _, e := range estimates {
		r, err := newReconstruction(e, byID)
		if err != nil {
			return nil, err
		}
		for marginal, at := range e.Tables {
			if tables[at].Statistics == nil {
				tables[at].Statistics = []Statistic{r.statisticOf(marginal, s.Plan.Tables[at].Statistics[0])}
				NewSampling(s.Plan.Plan(), s.Plan.Tables[at], false).widenStatistic(&tables[at].Statistics[0])
				if err := addNumbers(&tables[at], s.Plan.Plan(), at, byID, &e, marginal); err != nil {
					return nil, err
				}
			}
		}
	}
	return tables, applyInvariants(s.Plan.Plan(), tables)
}

// addNumbers adds to a table the figures other than its count.
func addNumbers(t *Table, p *plan.Plan, at int, byID map[string]measured.Measured, e *compiled.Estimate,
	marginal int) error {
	planned := p.Tables[at]
	if len(planned.Figures) == 0 {
		return nil
	}
	var err error
	if t.Numbers, err = newNumbers(p.Release(), planned, *t, byID, e, marginal).allNumbers(); err != nil {
		return fmt.Errorf("table %s: %w", t.Path, err)
	}
	return nil
}
