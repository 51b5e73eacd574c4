package compiled

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds the estimates: how the tables are put together from what is measured, and how good that makes them.

// Estimate is how tables of one confidential table are put together from its measurements by generalised least squares.
type Estimate struct {
	*residual.Workload // its marginals are the tables
	*residual.Combination
	Tables  []int              // places in Plan.Tables, in the order of the workload's marginals
	Axes    []residual.Set     // of each table, in its own order of attributes
	Sources []plan.Measurement // in the order of the combination's sources
	Places  []residual.Source
	Asked   []residual.Set // of each table, as what is asked for goes along them
	Own     []int          // of each table, the source that measures it by itself; −1 for none

	rows map[residual.Axis][]row // those that were worked out
}

// Estimates are how the plan's tables are put together. A table that is not in any is alone: it is the one measurement
// that its statistic names.
func (w *Workload) Estimates(p *plan.Plan) ([]Estimate, error) {
	var all []Estimate
	for _, confidential := range p.Release().Tables {
		e, err := w.estimate(p, confidential.Name)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", confidential.Name, err)
		}
		if e != nil {
			all = append(all, *e)
		}
	}
	return all, nil
}

// estimate puts the tables of one confidential table together: all but those that are measured by themselves and have a
// column of several levels, as noise on such counts has another shape than that of their residuals, or impossible
// cells.
func (w *Workload) estimate(p *plan.Plan, confidential string) (*Estimate, error) {
	c, measured := w.Chains[confidential], p.Measured()
	e := &Estimate{}
	var marginals []residual.Marginal
	place := map[string]int{} // of the direct measurement among the marginals; −1 where it is not among them
	for _, t := range workload.TablesOf(w.Tables, confidential) {
		if _, direct := measured[t.Path]; t.Apart() || direct && !c.Flat(t) {
			place[t.Path] = -1
			continue
		}
		place[t.Path] = len(marginals)
		marginals = append(marginals, residual.Marginal{Axes: workload.SetOf(c.Shown(t)), Importance: 1})
		e.Tables, e.Axes, e.Own = append(e.Tables, t.Place), append(e.Axes, c.Shown(t)), append(e.Own, -1)
		e.Asked = append(e.Asked, c.Axes(t))
	}
	if marginals == nil {
		return nil, nil
	}
	for _, part := range w.Parts { // what figures rest on beside a count bears on no count
		place[part.Path] = -1
	}
	var err error
	if e.Workload, err = residual.NewWorkload(c.Columns, marginals); err != nil {
		return nil, err
	}
	for _, m := range p.TableMeasurements() {
		if m.Query.Table != confidential {
			continue
		}
		own, direct := place[m.ID]
		if direct && own < 0 {
			continue
		}
		s := c.SourceOf(m)
		if !e.Bears(s) {
			continue
		}
		if direct {
			e.Own[own] = len(e.Sources)
		}
		e.Sources, e.Places = append(e.Sources, m), append(e.Places, s)
	}
	e.Combination, err = e.Combine(e.Places)
	return e, err
}

// Alone is the source that a table is by itself, −1 where others bear on it or it shows sums of what was measured.
func (e *Estimate) Alone(marginal int) int {
	if slices.ContainsFunc(e.Axes[marginal], func(a residual.Axis) bool { return a.Sums == residual.Prefixes }) {
		return -1
	}
	alone := e.Own[marginal]
	for _, r := range e.Of(marginal) {
		if parts := e.Parts[r]; len(parts) != 1 || parts[0].Source != alone {
			return -1
		}
	}
	return alone
}

// Behind returns the measurements that bear on each table, in the plan's order, and behind them those of its figures.
func (c *Compiled) Behind() ([][]plan.Measurement, error) {
	estimates, err := c.Estimates()
	if err != nil {
		return nil, err
	}
	all := make([][]plan.Measurement, len(c.Tables))
	measured := c.Measured()
	for i, t := range c.Tables {
		if m, ok := measured[t.Statistics[0].Measurement]; ok {
			all[i] = []plan.Measurement{m}
		}
	}
	for _, e := range estimates {
		for marginal, at := range e.Tables {
			if all[at] != nil {
				continue
			}
			bears := make([]bool, len(e.Sources))
			for _, r := range e.Of(marginal) {
				for _, part := range e.Parts[r] {
					bears[part.Source] = true
				}
			}
			for i, m := range e.Sources {
				if bears[i] {
					all[at] = append(all[at], m)
				}
			}
		}
	}
	for i, t := range c.Tables {
		seen := map[string]bool{}
		for _, f := range t.Figures {
			for _, id := range f.Parts() {
				if !seen[id] {
					seen[id] = true
					all[i] = append(all[i], measured[id])
				}
			}
		}
	}
	return all, nil
}
