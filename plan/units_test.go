package plan

import (
	"strings"
	"testing"
)

// An integer of a statistic's measurement stands for the fraction that the plan says, or for 1; a plan that says
// anything else was edited, and is not read.
func TestUnitsAreFractions(t *testing.T) {
	for _, c := range []struct {
		unit  string
		value float64
	}{{"", 1}, {"10", 10}, {"1/2", .5}, {"0.05", .05}, {"0", 0}, {"-1", 0}, {"one", 0}, {"1/0", 0}} {
		s := Statistic{Unit: c.unit}
		p := &Plan{Tables: []Table{{Path: "jobs", Statistics: []Statistic{s}}}}
		if err := p.checkComplete(); (err == nil) != (c.value > 0) || err != nil &&
			!strings.Contains(err.Error(), "table jobs: its unit") {
			t.Errorf("%q: %v", c.unit, err)
		} else if err == nil && s.UnitValue() != c.value {
			t.Errorf("%q stands for %v, want %v", c.unit, s.UnitValue(), c.value)
		}
	}
}
