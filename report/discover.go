package report

import (
	"fmt"

	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
)

// Discovered says of a table that it has a row for each group that a selection has let through, and for no other.
type Discovered struct {
	Columns []string `json:"columns"` // whose values nobody lists
	Groups  int64    `json:"groups"`  // in so many a unit counts at most
	AtLeast int64    `json:"at_least,omitempty"`
	Delta   string   `json:"delta"` // reserved for the selection, of that of the release
	// Selection is what it costs beside that, of each group or of all.
	Selection Mechanism `json:"selection"`
	Times     int64     `json:"times"` // how often it is charged
	Chances   []Chance  `json:"chances"`
}

// Chance is with what chance a group of so many units appears.
type Chance struct {
	Units  int64   `json:"units"`
	Chance float64 `json:"chance"`
}

// discoveredOf tells of a table of groups that are not listed, nil of another.
func discoveredOf(p *plan.Plan, t plan.Table) *Discovered {
	m, ok := p.Measurement(t.Path)
	if t.Discovered == nil || !ok || m.Discovery == nil {
		return nil
	}
	d := &Discovered{Columns: t.Discovered.Columns, Groups: t.Discovered.Groups, AtLeast: t.Discovered.AtLeast, Delta: t.Discovered.Delta,
		Selection: mechanismOf(m.Discovery.Select), Times: int64(len(m.Discovery.Steps()))}
	for _, c := range t.Discovered.Chances {
		d.Chances = append(d.Chances, Chance(c))
	}
	return d
}

// nobodyListed heads the notes on groups that nobody listed.
const nobodyListed = "Groups that nobody listed"

// discoveredNotes say which groups appear in a table, and what it means that one does not.
func (r *Report) discoveredNotes(p *plan.Plan) []Note {
	var notes []Note
	for i, t := range r.Tables {
		if t.Discovered == nil {
			continue
		}
		notes = append(notes, Note{nobodyListed, fmt.Sprintf("Table %s: %s That a group appears tells little of its size, and its figure is drawn apart from that: it is right on the mean, and its interval holds for each group that appears. Do not add the rows up to a total: what has not appeared is missing.",
			t.Path, describe.Discovered(p.Tables[i].Discovered))})
	}
	return notes
}
