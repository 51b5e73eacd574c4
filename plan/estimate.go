package plan

import (
	"fmt"
	"math"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/plan/residual"
)

// This file holds the estimates: how the tables are put together from what is measured, and how good that makes them.

// Estimate is how tables of one confidential table are put together from its measurements by generalised least squares.
type Estimate struct {
	*residual.Workload // its marginals are the tables
	*residual.Combination
	Tables  []int          // places in Plan.Tables, in the order of the workload's marginals
	Axes    []residual.Set // of each table, in its own order of attributes
	Sources []Measurement  // in the order of the combination's sources
	Places  []residual.Source
	Own     []int // of each table, the source that measures it by itself; −1 for none
}

// Estimates are how the plan's tables are put together. A table that is not in any is alone: it is the one measurement
// that its statistic names.
func (p *Plan) Estimates() ([]Estimate, error) {
	tables, err := expand(p.release)
	if err != nil {
		return nil, err
	}
	var all []Estimate
	for _, confidential := range p.release.Tables {
		var own []table
		var at []int
		for i, t := range tables {
			if t.marginal.Table == confidential.Name {
				own, at = append(own, t), append(at, i)
			}
		}
		if own == nil {
			continue
		}
		c, err := newChains(p.release, own)
		if err != nil {
			return nil, err
		}
		if p.Cost.Epsilon != nil {
			sums, err := p.sums(c, own, at)
			if err != nil {
				return nil, err
			}
			all = append(all, sums...)
			continue
		}
		e, err := p.estimate(c, own, at)
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
// column of several levels, as noise on such counts has another shape than that of their residuals, or impossible cells.
func (p *Plan) estimate(c chains, tables []table, at []int) (*Estimate, error) {
	measured := p.measured()
	e := &Estimate{}
	var marginals []residual.Marginal
	place := map[string]int{} // of the direct measurement among the marginals; −1 where it is not among them
	for i, t := range tables {
		if _, direct := measured[t.path]; t.masked() || direct && !c.flat(t) {
			place[t.path] = -1
			continue
		}
		place[t.path] = len(marginals)
		marginals = append(marginals, residual.Marginal{Axes: set(c.axes(t)), Weight: 1})
		e.Tables, e.Axes, e.Own = append(e.Tables, at[i]), append(e.Axes, c.axes(t)), append(e.Own, -1)
	}
	if marginals == nil {
		return nil, nil
	}
	var err error
	if e.Workload, err = residual.NewWorkload(c.columns, marginals); err != nil {
		return nil, err
	}
	for _, m := range p.tableMeasurements() {
		if m.Query.Table != tables[0].marginal.Table {
			continue
		}
		own, direct := place[m.ID]
		if direct && own < 0 {
			continue
		}
		s := c.sourceOf(m)
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

// tableMeasurements are the measurements for tables: all but those of microdata.
func (p *Plan) tableMeasurements() []Measurement {
	n := len(p.Measurements)
	for _, s := range p.Synthetic {
		n -= len(s.By)
	}
	return p.Measurements[:n]
}

// measured are the plan's measurements by their IDs.
func (p *Plan) measured() map[string]Measurement {
	all := make(map[string]Measurement, len(p.Measurements))
	for _, m := range p.Measurements {
		all[m.ID] = m
	}
	return all
}

// Alone is the source that a table is by itself, −1 where others bear on it.
func (e *Estimate) Alone(marginal int) int {
	alone := e.Own[marginal]
	for _, r := range e.Of(marginal) {
		if parts := e.Parts[r]; len(parts) != 1 || parts[0].Source != alone {
			return -1
		}
	}
	return alone
}

// normalMultiple is how many standard errors a normal law leaves 2.5 % beyond, on either side.
const normalMultiple = 1.959963984540054

// normalMedian is how many standard errors half of a normal law lies within.
const normalMedian = 0.6744897501960817

// predict says how good every table will be.
func (p *Plan) predict() error {
	estimates, err := p.Estimates()
	if err != nil {
		return err
	}
	measured := p.measured()
	for i := range p.Tables {
		if m, ok := measured[p.Tables[i].Path]; ok {
			p.Tables[i].alone(m)
		}
	}
	sums := map[string]sumOf{}
	for _, e := range estimates {
		for marginal, at := range e.Tables {
			if alone := e.Alone(marginal); alone >= 0 {
				continue
			}
			mean, _ := e.Variance(marginal, e.Variances)
			most := e.Largest(marginal, e.Variances)
			p.Tables[at].together(math.Sqrt(mean), math.Sqrt(most))
			if p.Cost.Epsilon != nil {
				p.Tables[at].sum(e.Sources[0], sums)
			}
		}
	}
	for i, t := range p.Tables {
		p.Tables[i].Expectation = expectation(t.Statistics[0].Margin)
	}
	return nil
}

// alone says how good a table is that is one measurement.
func (t *Table) alone(m Measurement) {
	s := &t.Statistics[0]
	margin, attained := m.Mechanism.Margin(confidence)
	s.Measurement, s.StandardError, s.Uneven = m.ID, math.Sqrt(m.Mechanism.Variance()), 0
	s.Margin, s.Attained = float64(margin), attained
	half, _ := m.Mechanism.Margin(0.5)
	s.Median = float64(half)
}

// together says how good a table is that is put together from several.
func (t *Table) together(mean, most float64) {
	s := &t.Statistics[0]
	s.Measurement, s.StandardError = "", budget.RoundUp(mean, significant)
	if most > mean*(1+1e-9) {
		s.Uneven = budget.RoundUp(most, significant)
	}
	s.Margin, s.Attained = budget.RoundUp(float64(normalMultiple*most), significant), confidence
	s.Median = budget.RoundUp(float64(normalMedian*mean), significant)
}

// sumOf is what the law of a sum of noise gives.
type sumOf struct {
	margin   int64
	attained float64
	half     int64 // the margin of one half
}

// sum says how good a table is whose cells are sums of cells of a pure measurement. It keeps what it found, by noise and
// number of cells, as tables share few.
func (t *Table) sum(m Measurement, known map[string]sumOf) {
	s, cells := &t.Statistics[0], m.Cells/t.Cells
	key := fmt.Sprint(m.Mechanism.Parameter, cells)
	one, ok := known[key]
	if !ok {
		one.margin, one.attained = sumMargin(m.Mechanism, cells, confidence)
		one.half, _ = sumMargin(m.Mechanism, cells, 0.5)
		known[key] = one
	}
	// The law is integrated to 1e-12; the digits that are kept are the same on every machine.
	s.Margin, s.Attained, s.Median = float64(one.margin), math.Floor(one.attained*1e9)/1e9, float64(one.half)
}

// behind are the measurements that bear on each table, in the plan's order.
func (p *Plan) behind() ([][]Measurement, error) {
	estimates, err := p.Estimates()
	if err != nil {
		return nil, err
	}
	all := make([][]Measurement, len(p.Tables))
	measured := p.measured()
	for i, t := range p.Tables {
		if m, ok := measured[t.Statistics[0].Measurement]; ok {
			all[i] = []Measurement{m}
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
	return all, nil
}
