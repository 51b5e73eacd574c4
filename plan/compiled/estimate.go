package compiled

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/residual"
	"github.com/dprelease/dprelease/plan/workload"
)

// This file holds the estimates: how the tables are computed from the measurements, and how accurate that makes them.

// Estimate is how tables of one confidential table are computed from its measurements by generalised least squares.
type Estimate struct {
	*residual.Workload // its marginals are the tables
	*residual.Combination
	Tables          []int              // indices in Plan.Tables, in the order of the workload's marginals
	Axes            []residual.Set     // of each table, in its own order of attributes
	Sources         []plan.Measurement // in the order of the combination's sources
	ResidualSources []residual.Source
	RequestedAxes   []residual.Set // of each table, its axes as the spec asks for them
	DirectSource    []int          // of each table, the source that measures it directly; −1 for none

	rows map[residual.Axis][]row // cache of rowsOf
}

// Estimates returns how the plan's tables are estimated. A table without an estimate is the one measurement that its
// statistic names.
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

// estimate returns the estimate of the tables of one confidential table. It leaves out tables that are measured by
// themselves and have a column of several levels, as noise on such counts has another shape than noise on their
// residuals, or impossible cells.
func (w *Workload) estimate(p *plan.Plan, confidential string) (*Estimate, error) {
	c, measured := w.Chains[confidential], p.Measured()
	e := &Estimate{}
	var marginals []residual.Marginal
	index := map[string]int{} // of the direct measurement among the marginals; −1 where it is not among them
	for _, t := range workload.TablesOf(w.Tables, confidential) {
		if _, direct := measured[t.Path]; t.IsStandalone() || direct && !c.IsFlat(t) {
			index[t.Path] = -1
			continue
		}
		index[t.Path] = len(marginals)
		marginals = append(marginals, residual.Marginal{Axes: workload.SetOf(c.ShownAxes(t)), Importance: 1})
		e.Tables, e.Axes, e.DirectSource = append(e.Tables, t.Index), append(e.Axes, c.ShownAxes(t)),
			append(e.DirectSource, -1)
		e.RequestedAxes = append(e.RequestedAxes, c.Axes(t))
	}
	if marginals == nil {
		return nil, nil
	}
	for _, part := range w.Parts { // parts of figures contribute to no count
		index[part.Path] = -1
	}
	var err error
	if e.Workload, err = residual.NewWorkload(c.Columns, marginals); err != nil {
		return nil, err
	}
	for _, m := range p.TableMeasurements() {
		if m.Query.Table != confidential {
			continue
		}
		own, direct := index[m.ID]
		if direct && own < 0 {
			continue
		}
		s := c.SourceOf(m)
		if !e.HasResidualOf(s) {
			continue
		}
		if direct {
			e.DirectSource[own] = len(e.Sources)
		}
		e.Sources, e.ResidualSources = append(e.Sources, m), append(e.ResidualSources, s)
	}
	e.Combination, err = e.Combine(e.ResidualSources)
	return e, err
}

// SoleSource returns the one source that a table consists of. It returns −1 if others contribute to the table, or if
// the table shows sums of what was measured.
func (e *Estimate) SoleSource(marginal int) int {
	if slices.ContainsFunc(e.Axes[marginal], func(a residual.Axis) bool { return a.Sums == residual.Prefixes }) {
		return -1
	}
	alone := e.DirectSource[marginal]
	for _, r := range e.ResidualsOf(marginal) {
		if parts := e.Parts[r]; len(parts) != 1 || parts[0].Source != alone {
			return -1
		}
	}
	return alone
}

// MeasurementsByTable returns the measurements that contribute to each table, in the plan's order, followed by those of
// its figures.
func (c *Compiled) MeasurementsByTable() ([][]plan.Measurement, error) {
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
			for _, r := range e.ResidualsOf(marginal) {
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
