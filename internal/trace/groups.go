package trace

import (
	"errors"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/describe"
	"github.com/dprelease/dprelease/plan/selection"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// This file holds the trace of a discovered group.

// NotSelected is why a group that no selection let through has no figure.
const NotSelected = "not selected"

// groupCell traces a discovered group.
func (t *Trace) groupCell(e *published.Release, reader *synth.Reader, table int, codes []string,
	answers []measured.Measured) error {
	at, err := t.selectedAt(e, e.Plan.Tables[table], answers[0], codes)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	return t.someCell(e, reader, table, at, answers)
}

// selectedAt returns the row of a group in a table of discovered groups, −1 if the group was not selected.
func (t *Trace) selectedAt(e *published.Release, planned plan.Table, answer measured.Measured, codes []string) (int,
	error) {
	keys, _, err := synth.Groups(e.Plan.Release(), planned, answer)
	if err != nil {
		return 0, err
	}
	declared := e.Plan.Release().Table(planned.From)
	for i, k := range keys {
		if _, err := t.addKey(e, planned, i, k.Level, codes[i]); err == nil {
			continue
		} else if declared.Column(k.Attribute.Column).Domain.Discover() == nil {
			return 0, err
		}
		t.Cell = append(t.Cell, KeyOf{Attribute: planned.By[i], Code: codes[i]}) // the group itself was discovered
	}
	says := describe.Discovered(language.English, planned.Discovered)
	at := slices.IndexFunc(answer.Keys, func(group []string) bool { return slices.Equal(group, codes) })
	if at < 0 {
		t.Missing = &Missing{NotSelected, says}
		return at, nil
	}
	t.Choice = &Choice{Of: int64(len(answer.Keys)), Says: says}
	if d, ok := answer.Measurement.Selection.(selection.Groups); ok {
		t.Choice.Select, t.Choice.Times = &d.Select, int64(len(d.Steps()))
	}
	return at, nil
}

// foundCell refuses a text that was found: a collection is not traced.
func (t *Trace) foundCell(*published.Release, *synth.Reader, int, []string, []measured.Measured) error {
	return &verdict.Unusable{File: t.Folder, Err: errors.New("texts that were found from reports are not traced")}
}
