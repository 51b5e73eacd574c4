package report

// This file checks what the pages assume of every report.

import (
	"errors"
	"fmt"
)

// checkForm returns an error that names the first list of a report that is too short to be valid. A report that was
// read may come from anyone, and pages cannot be made without the content of these lists.
func (r *Report) checkForm() error {
	if len(r.Tables) == 0 && len(r.Microdata) == 0 && len(r.Models) == 0 {
		return errors.New("it is of no table, no microdata and no model")
	}
	for _, t := range r.Tables {
		if len(t.Statistics) == 0 {
			return fmt.Errorf("table %q has no statistic", t.Path)
		}
	}
	for _, m := range r.Maps {
		for _, p := range append(m.OffMap[:len(m.OffMap):len(m.OffMap)], m.Largest...) {
			if len(p.Labels) > 0 && len(p.Labels) < len(p.Codes) {
				return fmt.Errorf("a place on the map %q has fewer labels than codes", m.Title)
			}
		}
	}
	for _, s := range r.Strategies {
		if len(s.Tables) == 0 {
			return fmt.Errorf("a strategy of leaf %q is of no table", s.Leaf)
		}
	}
	for _, n := range r.Certificate.Mechanisms {
		if len(n.Measurements) == 0 {
			return errors.New("the certificate has a mechanism of no measurement")
		}
	}
	if r.Bounds != nil {
		for _, c := range r.Bounds.Columns {
			if len(c.Ranges) == 0 {
				return fmt.Errorf("column %q has bounds and no range", c.Column)
			}
		}
	}
	for _, m := range r.Models {
		for _, c := range m.Columns {
			n := len(c.Categories)
			if n == 0 || len(c.Scores) != n || len(c.Errors) != n || len(c.Rows) > 0 && len(c.Rows) != n {
				return fmt.Errorf("the model %q has a column %q without a score, an error and a count for each category", m.Name,
					c.Name)
			}
		}
	}
	for _, m := range r.Microdata {
		if err := m.checkForm(); err != nil {
			return fmt.Errorf("the microdata of %q %w", m.Table, err)
		}
	}
	return nil
}

// checkForm checks the microdata of a table in the same way.
func (m Microdata) checkForm() error {
	for _, c := range m.FarCells {
		if len(c.Categories) != len(c.Columns) {
			return fmt.Errorf("have a cell of %d columns with %d categories", len(c.Columns), len(c.Categories))
		}
	}
	if m.Block == nil {
		return nil
	}
	if m.Choice == nil || m.Noise == nil {
		return errors.New("have rounds without a mechanism")
	}
	for _, c := range m.Columns {
		if c.Mechanism == nil {
			return fmt.Errorf("have column %q without its mechanism", c.Name)
		}
	}
	return nil
}
