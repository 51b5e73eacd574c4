package synth

import (
	"errors"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/domain"
)

// This file holds tables with discovered groups: their keys are those that a selection let through.

var errNoGroups = errors.New("its measurement holds groups that it cannot have")

// Groups returns the keys of a table with discovered groups, whose categories are those that occur in the answer to its
// measurement, ascending; and the indexes of its groups among all combinations of these categories, ascending. It
// returns an error if no selection gives such an answer: if keys are invalid, out of order or repeated.
func Groups(r *spec.Release, t plan.Table, m measured.Measured) (keys []Key, places []uint64, err error) {
	table := r.Table(t.From)
	if table == nil || m.Keys == nil || len(m.Keys) != m.Values.Len() {
		return nil, nil, errNoGroups
	}
	if keys, err = keysOf(r, m.Measurement.Query); err != nil {
		return nil, nil, err
	}
	codes := make([]map[string]uint64, len(keys))
	for i, k := range keys {
		if of := table.Column(k.Attribute.Column).Domain; of.Discover() != nil {
			var texts []string
			for _, group := range m.Keys {
				if !of.CanBeKey(group[i]) {
					return nil, nil, errNoGroups
				}
				texts = append(texts, group[i])
			}
			slices.SortFunc(texts, of.CompareKeys)
			keys[i].Level = &domain.Level{}
			for _, text := range slices.Compact(texts) {
				keys[i].Level.Categories = append(keys[i].Level.Categories, domain.Category{Code: text})
			}
		}
		codes[i] = make(map[string]uint64, keys[i].Level.Size())
		for code, c := range keys[i].Level.Categories {
			codes[i][c.Code] = uint64(code)
		}
	}
	places = []uint64{}
	for _, group := range m.Keys {
		place := uint64(0)
		for i, text := range group {
			code, known := codes[i][text]
			if !known {
				return nil, nil, errNoGroups
			}
			place = place*uint64(keys[i].Level.Size()) + code
		}
		if last := len(places) - 1; last >= 0 && places[last] >= place {
			return nil, nil, errNoGroups
		}
		places = append(places, place)
	}
	return keys, places, nil
}

// setGroups gives a table the keys that were selected.
func setGroups(r *spec.Release, planned plan.Table, t *Table, m measured.Measured) error {
	keys, places, err := Groups(r, planned, m)
	if err != nil {
		return err
	}
	for i := range keys { // as published
		keys[i].Attribute, keys[i].Type = t.Keys[i].Attribute, t.Keys[i].Type
		if planned := t.Keys[i].Level; planned.Size() > 0 {
			keys[i].Level = planned
		}
	}
	t.Keys, t.Cells, t.CellIndices = keys, len(places), places
	return nil
}
