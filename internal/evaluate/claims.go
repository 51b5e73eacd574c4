package evaluate

// This file selects what of a release is compared with the truth: its tables, and
// marginals of its microdata.

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/histogram/evaluate"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec/domain"
	"github.com/parquet-go/parquet-go"
)

const (
	// marginalsCompared is the greatest number of marginals of one size that are compared.
	marginalsCompared = 200
	// marginalCells is the greatest number of cells of a marginal that is compared.
	marginalCells = 1_000_000
	// marginalColumns is the greatest number of columns of a marginal that is compared.
	marginalColumns = 3
)

// microdataClaim is the microdata of one table with the marginals that are compared.
type microdataClaim struct {
	table     string
	by        []string
	rows      int
	sizes     []marginalSet // of one column, of two, of three
	wholeRows []int         // indices of the columns by which whole rows are compared
	rules     []ruleTruth
}

// marginalSet is the compared marginals of one size.
type marginalSet struct {
	chosen  [][]int // indices of their columns, in order
	total   float64 // how many marginals of this size there are
	skipped int     // tried, but with too many cells
}

// comparableTables returns the tables that are compared. It leaves out tables of what bounds and policies exclude,
// which recounting the truth does not reproduce, and tables of unlisted groups, for which the truth would be a list of
// all groups.
func comparableTables(e *published.Release) []plan.Table {
	return slices.DeleteFunc(slices.Clone(e.Plan.Tables), func(t plan.Table) bool {
		return countsExcluded(t) || !comparisons[t.Selects()].compared
	})
}

// publishedResults returns what a release publishes that can be compared with the truth.
func publishedResults(e *published.Release) (evaluate.PublishedResults, []microdataClaim, error) {
	var c evaluate.PublishedResults
	var products []microdataClaim
	for _, t := range comparableTables(e) {
		table, found, err := e.Table(t.Path)
		if err != nil || !found {
			return c, nil, err
		}
		c.Tables = append(c.Tables, evaluate.PublishedStatistic{Path: t.Path,
			CountsUp: published.CountsUp(e.Plan.Plan(), t),
			Read:     func() (evaluate.Figures, error) { return countsOf(table) }})
		for _, f := range t.Figures {
			c.Tables = append(c.Tables, evaluate.PublishedStatistic{Path: t.Path, Figure: f.Name,
				Read: func() (evaluate.Figures, error) { return figureAt(table, f) }})
		}
	}
	for _, s := range e.Plan.Synthetic {
		rows, one, err := readMicrodata(e, s)
		if err != nil {
			return c, nil, err
		}
		c.Rows, products = append(c.Rows, rows), append(products, one)
	}
	return c, products, nil
}

// countsOf reads the counts of a table with their intervals, in domain order.
func countsOf(t published.Table) (evaluate.Figures, error) {
	name := t.Planned.Statistics[0].Name
	columns := append(slices.Clone(t.Planned.By), name+statistic.Published, name+statistic.Unbiased, name+statistic.Low,
		name+statistic.High)
	return comparisons[t.Planned.Selects()].counts(t, columns)
}

// allCounts reads the counts of a table that has all its cells. The columns are those of its keys, then of its
// figures.
func allCounts(t published.Table, columns []string) (evaluate.Figures, error) {
	var f evaluate.Figures
	places := make([]int, len(t.Planned.By))
	for i := range places {
		places[i] = i
	}
	row := 0
	err := t.EachRow(t.Planned.File(), columns, func(r parquet.Row) error {
		if !t.HasKeys(r, places, row) {
			return &verdict.Unusable{File: filepath.Join(t.NamedPath, t.Planned.File()),
				Err: fmt.Errorf("row %d does not belong in its place in the domain", row+1)}
		}
		addFigures(&f, r[len(places):])
		row++
		return nil
	})
	return f, err
}

// addFigures appends the count of a row, its estimate and its interval.
func addFigures(f *evaluate.Figures, r parquet.Row) {
	f.Published = append(f.Published, r[0].Int64())
	for i, column := range []*[]float64{&f.Unbiased, &f.Low, &f.High} {
		*column = append(*column, published.Number(r[1+i]))
	}
}

// figureAt reads a figure other than the count with its intervals, in domain order: NaN if nothing is published.
func figureAt(t published.Table, f plan.Figure) (evaluate.Figures, error) {
	var out evaluate.Figures
	cells, err := t.FigureCells(f.Name)
	for _, c := range cells {
		out.Unbiased, out.Low, out.High = append(out.Unbiased, c.Value()), append(out.Low, c.Low()),
			append(out.High, c.High())
	}
	return out, err
}

// readMicrodata reads the rows of microdata as codes, checks them against the rules of the spec, and chooses what is
// compared: marginals, and the columns of whole rows.
func readMicrodata(e *published.Release, s plan.Synthetic) (evaluate.Rows, microdataClaim, error) {
	name := published.MicrodataFile(s)
	p := microdataClaim{table: s.Table, rules: []ruleTruth{}}
	out := evaluate.Rows{Table: s.Table, By: s.Columns()}
	out.Codes = make([][]uint32, len(out.By))
	levels, err := plan.Query{Table: s.Table, Factors: out.By}.Levels(e.Plan.Release())
	if err != nil {
		return out, p, &verdict.Unusable{File: e.NamedPath, Err: err}
	}
	codes, cells := placesOfCodes(levels), make([]int64, len(levels))
	for i, l := range levels {
		p.by, cells[i] = append(p.by, out.By[i].String()), int64(l.Size())
	}
	columns, places := writtenColumns(e, s)
	var parents []int64 // number of each row's parent row, if the table has a parent
	err = e.EachRow(name, columns, func(r parquet.Row) error {
		if s.Parent != "" {
			number, err := linkNumber(e, name, r[0], p.rows)
			if err != nil {
				return err
			}
			parents, r = append(parents, number), r[1:]
		}
		for i, v := range r {
			code, known := codes[places[i]][v.String()]
			if !known {
				return &verdict.Unusable{File: filepath.Join(e.NamedPath, name),
					Err: fmt.Errorf("row %d has a %s that the plan does not have", p.rows+1, p.by[places[i]])}
			}
			out.Codes[places[i]] = append(out.Codes[places[i]], code)
		}
		p.rows++
		return nil
	})
	if err == nil && s.Parent != "" {
		err = readGivenCodes(e, s, parents, out, codes)
	}
	if err != nil {
		return out, p, err
	}
	broken, err := evaluate.Violations(e.Plan.Plan(), s, out)
	if err != nil {
		return out, p, err
	}
	for _, v := range broken {
		p.rules = append(p.rules, ruleTruth(v))
	}
	// Columns that others determine are not counted in the truth: they add nothing to those.
	out.By, out.Codes, p.by, cells = out.By[:len(s.By)], out.Codes[:len(s.By)], p.by[:len(s.By)], cells[:len(s.By)]
	for k := 1; k <= min(marginalColumns, len(p.by)); k++ {
		m := chooseMarginals(p.by, cells, k)
		p.sizes = append(p.sizes, m)
		out.Marginals = append(out.Marginals, m.chosen...)
	}
	p.wholeRows = wholeColumns(cells)
	out.Whole = p.wholeRows
	return out, p, nil
}

// writtenColumns returns the columns of the file of microdata, with the number of the parent row first if there is
// one, and the indices of the other columns in the model.
func writtenColumns(e *published.Release, s plan.Synthetic) (columns []string, places []int) {
	if s.Parent != "" {
		columns = append(columns, e.Plan.Release().LinkedBy(s.Table))
	}
	own := len(s.OwnColumns())
	for i, f := range s.Columns() {
		if i < own || i >= own+s.Given {
			columns, places = append(columns, f.String()), append(places, i)
		}
	}
	return columns, places
}

// linkNumber reads the number of a parent row, in a row after so many others.
func linkNumber(e *published.Release, name string, v parquet.Value, before int) (int64, error) {
	if v.Kind() != parquet.Int64 {
		return 0, &verdict.Unusable{File: filepath.Join(e.NamedPath, name),
			Err: fmt.Errorf("row %d has no number in its first column", before+1)}
	}
	return v.Int64(), nil
}

// readGivenCodes appends to the codes of rows the columns of their parent rows, which it finds by their numbers.
func readGivenCodes(e *published.Release, s plan.Synthetic, parents []int64, out evaluate.Rows,
	codes []map[string]uint32) error {
	at, _ := e.Plan.Parent(s)
	parent := e.Plan.Synthetic[at]
	name, columns := published.MicrodataFile(parent), []string{e.Plan.Release().LinkedBy(parent.Table)}
	for _, f := range s.GivenColumns() {
		link := e.Plan.Release().Table(s.Table).Column(f.Attribute).Link
		columns = append(columns, plan.Factor{Attribute: link.Column, Level: f.Level}.String())
	}
	rows := map[int64][]uint32{}
	err := e.EachRow(name, columns, func(r parquet.Row) error {
		own := make([]uint32, s.Given)
		for i, v := range r[1:] {
			code, known := codes[len(s.OwnColumns())+i][v.String()]
			if !known {
				return &verdict.Unusable{File: filepath.Join(e.NamedPath, name),
					Err: fmt.Errorf("row %d has a %s that the plan does not have", len(rows)+1, columns[i+1])}
			}
			own[i] = code
		}
		number, err := linkNumber(e, name, r[0], len(rows))
		if _, twice := rows[number]; err == nil && twice {
			err = &verdict.Unusable{File: filepath.Join(e.NamedPath, name),
				Err: fmt.Errorf("row %d has the number of a row before",
					len(rows)+1)}
		}
		rows[number] = own
		return err
	})
	if err != nil {
		return err
	}
	for row, number := range parents {
		own, there := rows[number]
		if !there {
			return &verdict.Unusable{File: filepath.Join(e.NamedPath, published.MicrodataFile(s)),
				Err: fmt.Errorf("row %d belongs to row %d of %s, which is not there", row+1, number, parent.Table)}
		}
		for i, code := range own {
			to := len(s.OwnColumns()) + i
			out.Codes[to] = append(out.Codes[to], code)
		}
	}
	return nil
}

// placesOfCodes returns for each level the indices of its categories by their codes.
func placesOfCodes(levels []*domain.Level) []map[string]uint32 {
	codes := make([]map[string]uint32, len(levels))
	for i, l := range levels {
		codes[i] = make(map[string]uint32, l.Size())
		for at, c := range l.Categories {
			codes[i][c.Code] = uint32(at)
		}
	}
	return codes
}

// chooseMarginals chooses marginals of k columns: all of them or, if there are more than [marginalsCompared], that
// many, drawn from the names of the columns alone, so that releases with the same columns are compared by the same
// marginals.
func chooseMarginals(by []string, cells []int64, k int) marginalSet {
	m := marginalSet{total: 1}
	for i := range k {
		m.total = m.total * float64(len(by)-i) / float64(i+1)
	}
	seen := map[string]bool{}
	add := func(places []int) {
		key := fmt.Sprint(places)
		if seen[key] {
			return
		}
		seen[key] = true
		size := int64(1)
		for _, place := range places {
			if size *= cells[place]; size > marginalCells { // neither factor is above 2^32
				m.skipped++
				return
			}
		}
		m.chosen = append(m.chosen, places)
	}
	if m.total <= marginalsCompared {
		eachSubset(len(by), k, add)
		return m
	}
	seed := sha256.Sum256([]byte("dprelease evaluate\x00" + strings.Join(by, "\x00")))
	for try := uint64(0); len(m.chosen) < marginalsCompared && try < 100*marginalsCompared; try++ {
		h := sha256.Sum256(binary.BigEndian.AppendUint64(append(seed[:], byte(k)), try))
		var places []int
		for i := range k {
			places = append(places, int(binary.BigEndian.Uint64(h[8*i:])%uint64(len(by))))
		}
		slices.Sort(places)
		if len(slices.Compact(slices.Clone(places))) == k {
			add(places)
		}
	}
	slices.SortFunc(m.chosen, slices.Compare[[]int])
	return m
}

// eachSubset calls do with every k of n indices, in lexicographic order.
func eachSubset(n, k int, do func([]int)) {
	places := make([]int, k)
	for i := range places {
		places[i] = i
	}
	for {
		do(slices.Clone(places))
		i := k - 1
		for i >= 0 && places[i] == n-k+i {
			i--
		}
		if i < 0 {
			return
		}
		places[i]++
		for j := i + 1; j < k; j++ {
			places[j] = places[j-1] + 1
		}
	}
}
