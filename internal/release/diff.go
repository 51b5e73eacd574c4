package release

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/spec"
	"github.com/parquet-go/parquet-go"
)

// This file holds the difference between two plans, or between two published releases, cell by cell.

// Difference is what differs between two plans or two published releases.
type Difference struct {
	Plans    plan.Difference `json:"plans"`
	Releases *Comparison     `json:"releases,omitempty"` // nil where plan files were compared
}

// Comparison is what two published releases say of the tables that both have.
type Comparison struct {
	Before Edition `json:"before"`
	After  Edition `json:"after"`
	// SameDraw is true where both publish the same measurements: then no
	// difference is noise.
	SameDraw bool `json:"same_draw"`
	// Cells is how many figures were compared. If nothing but the noise had
	// changed, any of them at all would count as changed with a chance of at most
	// Chance.
	Cells  int64             `json:"cells"`
	Chance float64           `json:"chance"`
	Rule   string            `json:"rule"` // the same in words
	Tables []TableDifference `json:"tables"`
}

// Edition is one of two published releases.
type Edition struct {
	Folder   string `json:"folder"`
	Release  string `json:"release"`
	Status   string `json:"status"`
	Revision int    `json:"revision,omitempty"`
	Software string `json:"software"`
}

// TableDifference is what two releases say of one table. Its figures are those of
// cells with the same keys.
type TableDifference struct {
	Path       string                `json:"path"`
	By         []string              `json:"by"`
	Refused    string                `json:"not_compared,omitempty"` // why
	Compared   int64                 `json:"cells_compared"`
	OnlyBefore int64                 `json:"cells_only_before"`
	OnlyAfter  int64                 `json:"cells_only_after"`
	Statistics []StatisticDifference `json:"statistics,omitempty"`
}

// StatisticDifference is what became of one statistic. Margin is the largest
// difference of unbiased estimates that the noise explains, Changed how many
// cells differ by more, and Largest those of them that differ most.
type StatisticDifference struct {
	Name    string           `json:"name"`
	Margin  int64            `json:"margin"`
	Changed int64            `json:"changed"`
	Largest []CellDifference `json:"largest,omitempty"`
}

// CellDifference is a cell that changed by more than the noise explains. Before
// and After are unbiased estimates, Keys its codes in the order of By.
type CellDifference struct {
	Keys       []string `json:"keys"`
	Before     int64    `json:"before"`
	After      int64    `json:"after"`
	Difference int64    `json:"difference"`
	Margin     int64    `json:"margin"`
}

const (
	// differenceChance is the chance, over all cells together, that noise alone
	// makes any count as changed.
	differenceChance = 0.05
	// largestShown bounds the changed cells of a statistic that are listed.
	largestShown = 20
)

// Diff compares two plan files, or the folders of two published releases, of
// which each must be as its manifest says.
//
// Errors: *[SpecError] where they are not two of a kind or cannot be read;
// *[Altered] for a published folder that was changed.
func Diff(ctx context.Context, before, after string) (*Difference, error) {
	var folders [2]bool
	for i, path := range []string{before, after} {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &SpecError{File: path, Err: err}
		}
		folders[i] = info.IsDir()
	}
	switch {
	case folders[0] != folders[1]:
		return nil, &SpecError{File: after, Err: errors.New("a plan file and a folder cannot be compared: give two plan files, or the folders of two published releases")}
	case folders[0]:
		return diffReleases(ctx, before, after)
	}
	a, err := ReadPlan(before)
	if err != nil {
		return nil, err
	}
	b, err := ReadPlan(after)
	if err != nil {
		return nil, err
	}
	return &Difference{Plans: plan.Diff(a, b)}, nil
}

// edition is a published release that is being read.
type edition struct {
	place    string
	plan     *plan.Plan
	manifest manifest
	proof    []byte
}

// openEdition reads what a published folder is, and checks every file of it
// against its manifest.
func openEdition(place string) (*edition, error) {
	e := &edition{place: place}
	var err error
	if e.manifest, err = readManifest(place); err != nil {
		return nil, &SpecError{File: place, Err: fmt.Errorf("this is not the folder of a published release: %w", err)}
	}
	b, err := os.ReadFile(filepath.Join(place, measured.PlanFile))
	if err != nil {
		return nil, &Altered{Place: place, File: measured.PlanFile}
	}
	if e.plan, err = plan.Read(b); err != nil {
		return nil, &SpecError{File: filepath.Join(place, measured.PlanFile), Err: err}
	}
	if e.plan.Hash() != e.manifest.PlanHash {
		return nil, &Altered{Place: place, File: measured.PlanFile}
	}
	if err := intact(place, e.plan); err != nil {
		return nil, err
	}
	if e.proof, err = os.ReadFile(filepath.Join(place, proofFile)); err != nil {
		return nil, &Altered{Place: place, File: proofFile}
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

func diffReleases(ctx context.Context, before, after string) (*Difference, error) {
	a, err := openEdition(before)
	if err != nil {
		return nil, err
	}
	b, err := openEdition(after)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Before: a.describe(), After: b.describe(), SameDraw: a.sameDraw(b), Chance: differenceChance, Tables: []TableDifference{}}
	c.Rule = c.rule()
	var pairs []tablePair
	for i := range a.plan.Tables {
		pair, found, err := pairOf(a, b, i)
		if err != nil {
			return nil, err
		}
		if found {
			pairs = append(pairs, pair)
			c.Cells += pair.compared() * int64(len(pair.statistics))
		}
	}
	for _, pair := range pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := pair.compare(c.SameDraw, c.Chance/float64(max(c.Cells, 1)))
		if err != nil {
			return nil, err
		}
		c.Tables = append(c.Tables, t)
	}
	return &Difference{Plans: plan.Diff(a.plan, b.plan), Releases: c}, nil
}

// tablePair is a table that two releases both have.
type tablePair struct {
	before, after editionTable
	statistics    []string  // that both have
	match         [][]int64 // per key, the place in after of each category in before; -1 where there is none
	refused       string
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
	m, found := e.plan.Measurement(t.table.Statistics[0].Measurement)
	if !found {
		return t, false, &SpecError{File: e.place, Err: fmt.Errorf("the plan has no measurement for table %s", path)}
	}
	t.query = m.Query
	if t.levels, err = m.Query.Levels(e.plan.Release()); err != nil {
		return t, false, &SpecError{File: e.place, Err: err}
	}
	return t, true, nil
}

// pairOf pairs the i-th table of a release with that of the other which has its
// path.
func pairOf(a, b *edition, i int) (p tablePair, found bool, err error) {
	if p.before, found, err = a.tableOf(a.plan.Tables[i].Path); err != nil || !found {
		return p, false, err
	}
	if p.after, found, err = b.tableOf(p.before.table.Path); err != nil || !found {
		return p, false, err
	}
	switch {
	case p.before.query.Table != p.after.query.Table:
		p.refused = fmt.Sprintf("it counts rows of %s before and of %s after", p.before.query.Table, p.after.query.Table)
		return p, true, nil
	case !slices.Equal(p.before.table.By, p.after.table.By):
		p.refused = "it has other keys"
		return p, true, nil
	}
	for _, s := range p.before.table.Statistics {
		if slices.ContainsFunc(p.after.table.Statistics, func(t plan.Statistic) bool { return t.Name == s.Name }) {
			p.statistics = append(p.statistics, s.Name)
		}
	}
	for k, l := range p.before.levels {
		places := make(map[string]int64, p.after.levels[k].Size())
		for i, c := range p.after.levels[k].Categories {
			places[c.Code] = int64(i)
		}
		match := make([]int64, l.Size())
		for i, c := range l.Categories {
			place, there := places[c.Code]
			if !there {
				place = -1
			}
			match[i] = place
		}
		p.match = append(p.match, match)
	}
	return p, true, nil
}

// compared is how many cells both tables have: those of which every key has its
// category in both.
func (p tablePair) compared() int64 {
	if p.refused != "" {
		return 0
	}
	n := int64(1)
	for _, match := range p.match {
		both := int64(0)
		for _, place := range match {
			if place >= 0 {
				both++
			}
		}
		n *= both
	}
	return n
}

// compare reads both tables and compares every statistic, cell by cell; chance is
// that of one cell.
func (p tablePair) compare(sameDraw bool, chance float64) (TableDifference, error) {
	out := TableDifference{Path: p.before.table.Path, By: p.before.table.By, Refused: p.refused}
	if p.refused != "" {
		return out, nil
	}
	out.Compared = p.compared()
	out.OnlyBefore, out.OnlyAfter = p.before.table.Cells-out.Compared, p.after.table.Cells-out.Compared
	before, err := p.before.estimates(p.statistics)
	if err != nil {
		return out, err
	}
	after, err := p.after.estimates(p.statistics)
	if err != nil {
		return out, err
	}
	for i, name := range p.statistics {
		s := StatisticDifference{Name: name}
		if !sameDraw {
			if s.Margin, err = p.margin(name, chance); err != nil {
				return out, err
			}
		}
		p.collect(&s, before[i], after[i])
		out.Statistics = append(out.Statistics, s)
	}
	return out, nil
}

// margin is the largest difference that the noise of a statistic explains.
func (p tablePair) margin(statistic string, chance float64) (int64, error) {
	before, err := p.before.measurement(statistic)
	if err != nil {
		return 0, err
	}
	after, err := p.after.measurement(statistic)
	if err != nil {
		return 0, err
	}
	margin, err := differenceMargin(before.Mechanism, after.Mechanism, chance)
	if err != nil {
		return 0, fmt.Errorf("table %s: %w", p.before.table.Path, err)
	}
	return margin, nil
}

// measurement is what a statistic is made from.
func (t editionTable) measurement(statistic string) (plan.Measurement, error) {
	for _, s := range t.table.Statistics {
		if m, found := t.plan.Measurement(s.Measurement); found && s.Name == statistic {
			return m, nil
		}
	}
	return plan.Measurement{}, &SpecError{File: t.place, Err: fmt.Errorf("the plan has no measurement for %s of table %s", statistic, t.table.Path)}
}

// collect walks the cells that both tables have, in the order of before.
func (p tablePair) collect(s *StatisticDifference, before, after []int64) {
	key := make([]int, len(p.match))
	for cell := range before {
		if other := p.cellAfter(key); other >= 0 {
			if d := after[other] - before[cell]; max(d, -d) > s.Margin {
				s.Changed++
				s.keep(CellDifference{Before: before[cell], After: after[other], Difference: d, Margin: s.Margin}, p.before.codes(key))
			}
		}
		for k := len(key) - 1; k >= 0; k-- {
			if key[k]++; key[k] < len(p.match[k]) {
				break
			}
			key[k] = 0
		}
	}
}

// cellAfter is the place in after of a cell of before, -1 where there is none.
func (p tablePair) cellAfter(key []int) int64 {
	cell := int64(0)
	for k, category := range key {
		place := p.match[k][category]
		if place < 0 {
			return -1
		}
		cell = cell*int64(p.after.levels[k].Size()) + place
	}
	return cell
}

// codes are the codes of a cell's keys.
func (t editionTable) codes(key []int) []string {
	codes := make([]string, len(key))
	for k, category := range key {
		codes[k] = t.levels[k].Categories[category].Code
	}
	return codes
}

// keep lists a changed cell if it is among the largest; of equals, the earlier.
func (s *StatisticDifference) keep(c CellDifference, keys []string) {
	size := func(c CellDifference) int64 { return max(c.Difference, -c.Difference) }
	at := len(s.Largest)
	for at > 0 && size(s.Largest[at-1]) < size(c) {
		at--
	}
	if at == largestShown {
		return
	}
	c.Keys = keys
	s.Largest = slices.Insert(s.Largest, at, c)
	s.Largest = s.Largest[:min(len(s.Largest), largestShown)]
}

// estimates reads the unbiased estimates of statistics from the published file,
// in domain order, and holds the file's keys against the domains.
func (t editionTable) estimates(statistics []string) ([][]int64, error) {
	name := t.table.File()
	b, err := os.ReadFile(filepath.Join(t.place, filepath.FromSlash(name)))
	if err != nil {
		return nil, &Altered{Place: t.place, File: name}
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(t.place, name), err)
	}
	var columns []int
	for _, column := range append(slices.Clone(t.table.By), unbiased(statistics)...) {
		leaf, found := f.Schema().Lookup(column)
		if !found {
			return nil, &SpecError{File: filepath.Join(t.place, name), Err: fmt.Errorf("there is no column %q", column)}
		}
		columns = append(columns, leaf.ColumnIndex)
	}
	if f.NumRows() != t.table.Cells {
		return nil, &SpecError{File: filepath.Join(t.place, name), Err: fmt.Errorf("%d rows, where the plan has %d cells", f.NumRows(), t.table.Cells)}
	}
	keys, figures := columns[:len(t.table.By)], columns[len(t.table.By):]
	out := make([][]int64, len(statistics))
	row := 0
	err = eachRow(f, func(r parquet.Row) error {
		if !t.hasKeys(r, keys, row) {
			return &SpecError{File: filepath.Join(t.place, name), Err: fmt.Errorf("row %d is not that of its place in the domain", row+1)}
		}
		for i, c := range figures {
			out[i] = append(out[i], r[c].Int64())
		}
		row++
		return nil
	})
	return out, err
}

// unbiased are the columns of statistics' unbiased estimates.
func unbiased(statistics []string) []string {
	names := make([]string, len(statistics))
	for i, s := range statistics {
		names[i] = s + plan.Unbiased
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

// eachRow calls do for every row of a file.
func eachRow(f *parquet.File, do func(parquet.Row) error) (err error) {
	buffer := make([]parquet.Row, 1024)
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		for n := 0; err == nil; {
			n, err = rows.ReadRows(buffer)
			for _, r := range buffer[:n] {
				if failed := do(r); failed != nil {
					return errors.Join(failed, rows.Close())
				}
			}
		}
		if closing := rows.Close(); errors.Is(err, io.EOF) {
			err = closing
		}
		if err != nil {
			return err
		}
	}
	return nil
}
