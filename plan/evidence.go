package plan

import (
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/spec"
)

// This file holds what the tables of a release tell of its microdata.

// Evidence is a published table whose counts tell of the columns of microdata: for each of its attributes the column that
// decides it.
type Evidence struct {
	Table int // its place in the plan
	By    []TabulatedBy
}

// Evidence is that of the tables of a release for microdata, in their order: of all that count rows, show all cells of which there
// are not too many, and have no attribute that the columns do not decide.
func (p *Plan) Evidence(s Synthetic) []Evidence {
	var all []Evidence
	for i, t := range p.Tables {
		if t.From != s.Table || t.Cells > MostFitted || t.WhyLeft(p.cumulates(t)) != "" {
			continue
		}
		if by, err := p.decidedBy(s, t); err == nil && !hasColumnTwice(by) {
			all = append(all, Evidence{i, by})
		}
	}
	return all
}

// decidedBy finds for each attribute of a table the column of microdata that decides it. It fails where none does.
func (p *Plan) decidedBy(s Synthetic, planned Table) ([]TabulatedBy, error) {
	t := p.Release().Table(s.Table)
	all := []TabulatedBy{}
	for _, a := range CountedBy(t, planned.Attributes()) {
		level, _ := t.Column(a.Column).Domain.Level(a.Level)
		found := false
		for i, f := range s.By {
			if of, ok := Decides(t, spec.Attribute{Column: f.Attribute, Level: f.Level}, a); ok {
				all, found = append(all, TabulatedBy{a.Level, i, of, level.Size()}), true
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("the microdata of %s have no column that decides %s", s.Table, a)
		}
	}
	return all, nil
}

// hasColumnTwice tells that two attributes are decided by one column.
func hasColumnTwice(by []TabulatedBy) bool {
	for i, a := range by {
		if slices.ContainsFunc(by[:i], func(b TabulatedBy) bool { return a.Column == b.Column }) {
			return true
		}
	}
	return false
}

// cumulates tells that a table counts up along one of its attributes.
func (p *Plan) cumulates(t Table) bool {
	return slices.ContainsFunc(p.Release().Marginals, func(m spec.Marginal) bool {
		return m.Name == t.Marginal && slices.ContainsFunc(m.Cumulative, func(a spec.Attribute) bool { return slices.Contains(t.By, a.String()) })
	})
}

// Unmeasured are the columns of microdata that no table of the release tells of.
func (p *Plan) Unmeasured(s Synthetic) []Factor {
	told := make([]bool, len(s.By))
	for _, e := range p.Evidence(s) {
		for _, b := range e.By {
			told[b.Column] = true
		}
	}
	var left []Factor
	for i, f := range s.By {
		if !told[i] {
			left = append(left, f)
		}
	}
	return left
}

// Pairwise tells that each two columns of microdata are together in a table that tells of them, category by category where the
// numbers of these are given.
func (p *Plan) Pairwise(s Synthetic, columns []int64) bool {
	together := map[[2]int]bool{}
	for _, e := range p.Evidence(s) {
		for _, a := range e.By {
			for _, b := range e.By {
				if a.Column < b.Column && (columns == nil || int64(a.Categories) == columns[a.Column] && int64(b.Categories) == columns[b.Column]) {
					together[[2]int{a.Column, b.Column}] = true
				}
			}
		}
	}
	n := len(s.By)
	return len(together) == n*(n-1)/2
}
