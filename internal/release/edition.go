package release

import (
	"bytes"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
)

// This file holds the edition: a published release that is read back, with its tables' estimates.

// edition is a published release that is being read.
type edition struct {
	*publishedFolder
	plan  *plan.Plan
	proof []byte
}

// openEdition opens a published folder as [openPublished] does, and reads its plan.
func openEdition(place string) (*edition, error) {
	d, err := openPublished(place)
	if err != nil {
		return nil, err
	}
	e := &edition{publishedFolder: d}
	b, err := d.read(measured.PlanFile)
	if err != nil {
		return nil, err
	}
	if e.plan, err = plan.Read(b); err != nil {
		return nil, &verdict.Unusable{File: filepath.Join(place, measured.PlanFile), Err: err}
	}
	if e.plan.Hash() != e.manifest.PlanHash {
		return nil, d.altered(wrongf(measured.PlanFile, "is not the plan that %s names", manifestFile))
	}
	if err := d.lists(e.plan); err != nil {
		return nil, err
	}
	if e.proof, err = d.read(proofFile); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *edition) describe() Edition {
	m := e.manifest
	return Edition{Folder: e.place, Release: m.Release, Status: m.Status, Revision: m.Revision, Software: m.Software}
}

// sameDraw tells that two releases publish the same measurements: those of one
// debit, which pays for one draw, and the same numbers.
func (e *edition) sameDraw(other *edition) bool {
	return bytes.Equal(e.proof, other.proof) && slices.Equal(e.manifest.measurements(), other.manifest.measurements())
}

// editionTable is a table within a release.
type editionTable struct {
	*edition
	table  plan.Table
	query  plan.Query
	levels []*spec.Level
}

// tableOf finds a table and the levels of its keys.
func (e *edition) tableOf(path string) (t editionTable, found bool, err error) {
	i := slices.IndexFunc(e.plan.Tables, func(t plan.Table) bool { return t.Path == path })
	if i < 0 {
		return t, false, nil
	}
	t = editionTable{edition: e, table: e.plan.Tables[i]}
	t.query = e.plan.Query(t.table)
	if t.levels, err = t.query.Levels(e.plan.Release()); err != nil {
		return t, false, &verdict.Unusable{File: e.place, Err: err}
	}
	return t, true, nil
}

// unitOf is what one noisy integer of a table's count stands for: of weights their step, else 1.
func unitOf(t plan.Table) float64 {
	unit, ok := new(big.Rat).SetString(t.Statistics[0].Unit)
	if !ok { // "" for 1: the plan was read, and others are fractions
		return 1
	}
	f, _ := unit.Float64()
	return f
}

// noise is that of a statistic: none of public figures, the law of the one measurement that it is, or what is known of all its cells.
func (t editionTable) noise(statistic string) (tableNoise, error) {
	if t.table.Invariant != "" {
		return tableNoise{alone: true}, nil
	}
	for _, s := range t.table.Statistics {
		if s.Name != statistic {
			continue
		}
		if m, found := t.plan.Measurement(s.Measurement); found {
			law, err := symmetricLawOf(m.Mechanism)
			return tableNoise{alone: true, law: law}, err
		}
		var asked []budget.Mechanism
		for _, m := range t.plan.Measurements {
			if m.Query.Table == t.table.From {
				asked = append(asked, m.Mechanism)
			}
		}
		return noiseTogether(asked)
	}
	return tableNoise{}, &verdict.Unusable{File: t.place, Err: fmt.Errorf("the plan has no %s of table %s", statistic, t.table.Path)}
}

// codes are the codes of a cell's keys.
func (t editionTable) codes(key []int) []string {
	codes := make([]string, len(key))
	for k, category := range key {
		codes[k] = t.levels[k].Categories[category].Code
	}
	return codes
}

// estimates are those of a statistic, one per cell in domain order, with their
// standard errors.
type estimates struct{ unbiased, errors []float64 }

// estimates reads the estimates of statistics from the published file, and holds
// the file's keys against the domains.
func (t editionTable) estimates(statistics []string) ([]estimates, error) {
	name := t.table.File()
	f, err := t.parquet(name)
	if err != nil {
		return nil, err
	}
	var columns []int
	for _, column := range append(slices.Clone(t.table.By), estimated(statistics)...) {
		leaf, found := f.Schema().Lookup(column)
		if !found {
			return nil, &verdict.Unusable{File: filepath.Join(t.place, name), Err: fmt.Errorf("there is no column %q", column)}
		}
		columns = append(columns, leaf.ColumnIndex)
	}
	if t.placed() && f.NumRows() != t.table.Cells {
		return nil, &verdict.Unusable{File: filepath.Join(t.place, name), Err: fmt.Errorf("%d rows, where the plan has %d cells", f.NumRows(), t.table.Cells)}
	}
	keys, figures := columns[:len(t.table.By)], columns[len(t.table.By):]
	out := make([]estimates, len(statistics))
	row := 0
	err = eachRow(f, func(r parquet.Row) error {
		if t.placed() && !t.hasKeys(r, keys, row) {
			return &verdict.Unusable{File: filepath.Join(t.place, name), Err: fmt.Errorf("row %d is not that of its place in the domain", row+1)}
		}
		for i := range out {
			out[i].unbiased = append(out[i].unbiased, number(r[figures[2*i]]))
			out[i].errors = append(out[i].errors, number(r[figures[2*i+1]]))
		}
		row++
		return nil
	})
	return out, err
}

// placed tells that a table has all its cells, each in its place.
func (t editionTable) placed() bool {
	return t.table.Sparse == nil && t.table.Top == nil && t.table.Discovered == nil
}

// rows are the codes of a table's rows, as its file has them.
func (t editionTable) rows() ([][]string, error) {
	var out [][]string
	err := t.eachNamed(t.table.File(), t.table.By, func(r parquet.Row) error {
		codes := make([]string, len(r))
		for i, v := range r {
			codes[i] = v.String()
		}
		out = append(out, codes)
		return nil
	})
	return out, err
}

// number is a figure of a published file, whole or not.
func number(v parquet.Value) float64 {
	if v.Kind() == parquet.Int64 {
		return float64(v.Int64())
	}
	return v.Double()
}

// estimated are the columns of statistics' estimates, each with that of its error.
func estimated(statistics []string) []string {
	var names []string
	for _, s := range statistics {
		names = append(names, s+plan.Unbiased, s+plan.StandardError)
	}
	return names
}

// hasKeys tells that the keys of a row are those of its place in domain order.
func (t editionTable) hasKeys(r parquet.Row, columns []int, row int) bool {
	for k := len(columns) - 1; k >= 0; k-- {
		size := t.levels[k].Size()
		if r[columns[k]].String() != t.levels[k].Categories[row%size].Code {
			return false
		}
		row /= size
	}
	return true
}
