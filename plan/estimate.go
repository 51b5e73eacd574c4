package plan

import (
	"fmt"
	"math"
	"math/big"
	"slices"

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
	Asked   []residual.Set // of each table, as what is asked for goes along them
	Own     []int          // of each table, the source that measures it by itself; −1 for none

	rows map[residual.Axis][]row // those that were worked out
}

// Estimates are how the plan's tables are put together. A table that is not in any is alone: it is the one measurement
// that its statistic names.
func (p *Plan) Estimates() ([]Estimate, error) {
	tables, err := expand(p.Release())
	if err != nil {
		return nil, err
	}
	var all []Estimate
	for _, confidential := range p.Release().Tables {
		var own []*table
		var at []int
		for i, t := range tables {
			if t.marginal.Table == confidential.Name {
				own, at = append(own, t), append(at, i)
			}
		}
		if own == nil {
			continue
		}
		c, err := newChains(p.Release(), own, p.Sums)
		if err != nil {
			return nil, err
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
func (p *Plan) estimate(c chains, tables []*table, at []int) (*Estimate, error) {
	measured := p.measured()
	e := &Estimate{}
	var marginals []residual.Marginal
	place := map[string]int{} // of the direct measurement among the marginals; −1 where it is not among them
	for i, t := range tables {
		if _, direct := measured[t.path]; t.apart() || direct && !c.flat(t) {
			place[t.path] = -1
			continue
		}
		place[t.path] = len(marginals)
		marginals = append(marginals, residual.Marginal{Axes: set(c.shown(t)), Weight: 1})
		e.Tables, e.Axes, e.Own = append(e.Tables, at[i]), append(e.Axes, c.shown(t)), append(e.Own, -1)
		e.Asked = append(e.Asked, c.axes(t))
	}
	if marginals == nil {
		return nil, nil
	}
	parts, err := partsOf(p.Release(), tables)
	if err != nil {
		return nil, err
	}
	for _, part := range parts { // what figures rest on beside a count bears on no count
		place[part.path] = -1
	}
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
		n -= s.measured()
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

// predict says how good every table will be: its standard errors, intervals and figures.
func (p *Plan) predict() error {
	known := laws{}
	err := p.predictErrors(func(e *Estimate, marginal int, mean, most float64, s *Statistic) {
		of := e.intervals(marginal, mean, most, confidence, known)
		s.Margin, s.Attained, s.Median = of.margin, of.attained, of.half
	})
	if err != nil {
		return err
	}
	measured := p.measured()
	for i, t := range p.Tables {
		p.Tables[i].Expectation = expectation(t.Statistics[0].Margin)
		if p.Sample != nil {
			p.Tables[i].Expectation += p.Sample.sentence(p.RowsOfUnit(t, false))
		}
		p.assessFigures(&p.Tables[i], measured)
	}
	return nil
}

// predictErrors says which standard errors every table will have. Each table that is put together from several measurements
// it passes to interval, with the mean and the largest standard error of its cells, before any scale.
func (p *Plan) predictErrors(interval func(e *Estimate, marginal int, mean, most float64, s *Statistic)) error {
	estimates, err := p.Estimates()
	if err != nil {
		return err
	}
	measured := p.measured()
	for i := range p.Tables {
		if m, ok := measured[p.Tables[i].Path]; ok {
			p.Tables[i].alone(m, p.eachOf(p.Tables[i]))
		}
	}
	for _, e := range estimates {
		for marginal, at := range e.Tables {
			s, each := &p.Tables[at].Statistics[0], p.Sample.Each()
			if s.OfRanges, err = e.ofRanges(marginal, each); err != nil {
				return err
			}
			if alone := e.Alone(marginal); alone >= 0 {
				continue
			}
			mean, most := math.Sqrt(e.shown(marginal)), math.Sqrt(e.Largest(marginal, e.Variances))
			s.together(mean, most)
			interval(&e, marginal, mean, most, s)
			s.scale(each)
		}
	}
	return nil
}

// eachOf is what one of the integers of a table's count stands for: 1, the step of the weights or, of a sample, the inverse
// of its share.
func (p *Plan) eachOf(t Table) *big.Rat {
	if !t.Weighted {
		return p.Sample.Each()
	}
	return p.Release().Table(t.From).Weight.Lattice.Step
}

// scale says how good a count is that was put together from integers each of which stands for so much.
func (s *Statistic) scale(each *big.Rat) {
	if each.Cmp(big.NewRat(1, 1)) == 0 {
		return
	}
	s.Unit = each.RatString()
	factor, _ := each.Float64()
	for _, of := range []*float64{&s.StandardError, &s.Uneven, &s.Median, &s.Margin} {
		*of *= factor
	}
}

// alone says how good a table is that is one measurement, whose integers stand for so much each.
func (t *Table) alone(m Measurement, unit *big.Rat) {
	s := &t.Statistics[0]
	each, _ := unit.Float64()
	margin, attained := m.Mechanism.Margin(confidence)
	s.Measurement, s.StandardError, s.Uneven = m.ID, float64(each*math.Sqrt(m.Mechanism.Variance())), 0
	s.Margin, s.Attained = float64(each*float64(margin)), attained
	half, _ := m.Mechanism.Margin(0.5)
	s.Median = float64(each * float64(half))
	if unit.Cmp(big.NewRat(1, 1)) != 0 {
		s.Unit = unit.RatString()
	}
}

// together says what error a table has that is put together from several.
func (s *Statistic) together(mean, most float64) {
	s.Measurement, s.StandardError, s.Uneven = "", budget.RoundUp(mean, significant), 0
	if most > mean*(1+1e-9) {
		s.Uneven = budget.RoundUp(most, significant)
	}
}

// ofRanges is the root mean square standard error of all sums of neighbours that are asked of a table whose integers stand for
// so much each, 0 for none.
func (e *Estimate) ofRanges(marginal int, each *big.Rat) (float64, error) {
	asked := e.Asked[marginal]
	if !slices.ContainsFunc(asked, func(a residual.Axis) bool { return a.Sums == residual.Ranges }) {
		return 0, nil
	}
	w, err := residual.NewWorkload(e.Columns, []residual.Marginal{{Axes: set(asked), Weight: 1}})
	if err != nil {
		return 0, err
	}
	variances := make([]float64, len(w.Residuals))
	for i, r := range w.Residuals {
		variances[i] = e.Variances[e.Find(r.Axes)]
	}
	mean, _ := w.Variance(0, variances)
	factor, _ := each.Float64()
	return budget.RoundUp(float64(factor*math.Sqrt(mean)), significant), nil
}

// behind are the measurements that bear on each table, in the plan's order, and behind them those of its figures.
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
	for i, t := range p.Tables {
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
