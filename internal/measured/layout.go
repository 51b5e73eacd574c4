package measured

import (
	"errors"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/dprelease/dprelease/plan/selection"
)

// layout is how the answers of a measurement are stored in its file. decode is given an answer that has its
// measurement, and adds the values one by one.
type layout struct {
	encode func(m Measured, planHash, status string) ([]byte, error)
	decode func(f *parquet.File, into *Measured, add func(int64)) error
}

// layouts lists the layouts by how answers are selected.
var layouts = [selection.Kinds]layout{
	selection.KindAll:    {encodeAll, decodeAll},
	selection.KindAbove:  {encodeCells, decodeAbove},
	selection.KindTop:    {encodeCells, decodeTop},
	selection.KindGroups: {encodeGroups, decodeGroups},
	selection.KindTexts:  {encodeGroups, decodeTexts},
}

func encodeAll(m Measured, planHash, status string) ([]byte, error) {
	return encodeRows(m, planHash, status, func(i int) row { return row{m.Values.Value(i)} })
}

func decodeAll(f *parquet.File, into *Measured, add func(int64)) error {
	return decodeRows(f, into.Measurement.Cells, func(r row) error {
		add(r.Value)
		return nil
	})
}

func encodeCells(m Measured, planHash, status string) ([]byte, error) {
	return encodeRows(m, planHash, status, func(i int) sparseRow {
		return sparseRow{int64(m.Cells[i]), m.Values.Value(i)}
	})
}

// decodeAbove reads cells in ascending order, whose values must be above the threshold.
func decodeAbove(f *parquet.File, into *Measured, add func(int64)) error {
	m := into.Measurement
	above := m.Selection.(selection.Above).Threshold
	into.Cells = []uint64{}
	return decodeRows(f, f.NumRows(), func(r sparseRow) error {
		last := len(into.Cells) - 1
		if r.Cell < 0 || r.Cell >= m.Cells || last >= 0 && into.Cells[last] >= uint64(r.Cell) || r.Value <= above {
			return errors.New("holds an answer that its measurement does not have")
		}
		into.Cells = append(into.Cells, uint64(r.Cell))
		add(r.Value)
		return nil
	})
}

// decodeTop reads as many cells as the measurement chooses, each once.
func decodeTop(f *parquet.File, into *Measured, add func(int64)) error {
	m, seen := into.Measurement, map[int64]bool{}
	return decodeRows(f, m.Selection.(selection.Top).Of, func(r sparseRow) error {
		if r.Cell < 0 || r.Cell >= m.Cells || seen[r.Cell] {
			return errors.New("holds a cell that its measurement does not have, or one twice")
		}
		seen[r.Cell] = true
		into.Cells = append(into.Cells, uint64(r.Cell))
		add(r.Value)
		return nil
	})
}

func encodeGroups(m Measured, planHash, status string) ([]byte, error) {
	return encodeRows(m, planHash, status, func(i int) groupRow { return groupRow{m.Keys[i], m.Values.Value(i)} })
}

// decodeGroups reads groups by their keys, one for each factor.
func decodeGroups(f *parquet.File, into *Measured, add func(int64)) error {
	into.Keys = [][]string{}
	return decodeRows(f, f.NumRows(), func(r groupRow) error {
		if len(r.Keys) != len(into.Measurement.Query.Factors) {
			return errors.New("holds an answer that its measurement does not have")
		}
		keys := make([]string, len(r.Keys))
		for i, key := range r.Keys {
			keys[i] = strings.Clone(key)
		}
		if last := len(into.Keys) - 1; last >= 0 && slices.Equal(into.Keys[last], keys) {
			return errors.New("holds a group twice")
		}
		into.Keys = append(into.Keys, keys)
		add(r.Value)
		return nil
	})
}

// decodeTexts reads no more texts than can be found, before it reads any.
func decodeTexts(f *parquet.File, into *Measured, add func(int64)) error {
	if search, _ := into.Measurement.Texts(); f.NumRows() > search.Followed {
		return errors.New("holds more texts than can be found")
	}
	return decodeGroups(f, into, add)
}
