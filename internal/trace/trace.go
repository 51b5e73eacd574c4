// Package trace follows one published number back to the noisy integers from which it is computed. It reads only a
// published folder, and writes nothing.
package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/measured"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/verdict"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/compiled"
	"github.com/dprelease/dprelease/plan/statistic"
	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/synth"
	"github.com/parquet-go/parquet-go"
)

// Trace says where a published figure comes from.
type Trace struct {
	Folder    string  `json:"folder"`
	Release   string  `json:"release"`
	Status    string  `json:"status"` // RELEASE, or what is printed on everything instead
	Table     string  `json:"table"`
	Cell      []KeyOf `json:"cell"`
	Statistic string  `json:"statistic"`
	Counts    string  `json:"counts,omitempty"`   // what is counted instead of rows
	Weighted  bool    `json:"weighted,omitempty"` // the count adds up weights
	Published int64   `json:"published"`
	// whose public figure, or sum of public figures, it is; then it depends on no measurement
	Invariant string `json:"invariant,omitempty"`
	// how the published count was made to add up with other tables; "" if it is the rounded estimate
	Fitted        string         `json:"fitted,omitempty"`
	Unbiased      float64        `json:"unbiased"`
	StandardError float64        `json:"noise_se"`
	Low           float64        `json:"low"`
	High          float64        `json:"high"`
	Confidence    float64        `json:"confidence"`
	Law           interval.Law   `json:"law"`
	Attained      float64        `json:"attained"`
	Covers        string         `json:"interval_covers"`
	Contributions []Contribution `json:"measurements"` // in descending order of their share of the variance
	// Sum is Σ weight × noisy integer over all measurements; Difference is Unbiased minus Sum, which is rounding.
	Sum        float64 `json:"sum"`
	Difference float64 `json:"difference"`
	// Figures are the figures of the cell other than its count.
	Figures []TracedFigure `json:"figures,omitempty"`
	// NotAbove is what is known of a cell that a sparse table does not list; nil for other cells. The only figures of
	// such a cell are the ends of the interval.
	NotAbove *interval.NotAbove `json:"not_above,omitempty"`
	// Choice is how the cell came into a table with selected cells; Missing is why it did not, and then there are no
	// figures.
	Choice  *Choice  `json:"choice,omitempty"`
	Missing *Missing `json:"missing,omitempty"`
	// the share of the units that was drawn in secret, an exact fraction; "" for all
	Sample string `json:"sample,omitempty"`
}

// KeyOf is the category of a key.
type KeyOf struct {
	Attribute string `json:"attribute"`
	Title     string `json:"title,omitempty"` // what people call the attribute, if that is not its name
	Code      string `json:"code"`
	Label     string `json:"label,omitempty"`
}

// Contribution is a measurement that contributes to a figure.
type Contribution struct {
	Measurement string            `json:"measurement"`
	File        string            `json:"file"`
	Mechanism   budget.Mechanism  `json:"mechanism"`
	Variance    float64           `json:"variance"` // of the noise on one integer
	Integers    int64             `json:"integers"` // number of integers
	Weights     []compiled.Weight `json:"weights"`  // largest first, without zeros
	Sum         float64           `json:"sum"`      // Σ weight × noisy integer
	Share       float64           `json:"share_of_variance"`
}

// errCollected is the error for a figure that is estimated from reports.
var errCollected = errors.New(
	"its answers were randomised on the respondents' devices: a number is N (S/n − q)/(p − q) for S of n reports " +
		"that hold its category and N respondents; measurements/ has S, and the report p and q")

// Cell traces one figure of a published folder, which must agree with its manifest. The cell is named by attribute=code
// for each key of the table, one by one or several with commas.
//
// Errors: *[verdict.Unusable] for what is not a published folder, and for a table or cell that is not there;
// *[published.Altered] for a folder that was changed, or whose figure does not follow from its measurements.
func Cell(ctx context.Context, place, table string, cell []string) (*Trace, error) {
	e, err := published.Open(place)
	if err != nil {
		return nil, err
	}
	if e.Plan.Release().Collection != nil {
		return nil, &verdict.Unusable{File: place, Err: errCollected}
	}
	at, err := e.TableAt(table)
	if err != nil {
		return nil, &verdict.Unusable{File: place, Err: err}
	}
	codes, err := codesOf(e.Plan.Tables[at], cell)
	if err != nil {
		return nil, &verdict.Unusable{File: place, Err: err}
	}
	reader, err := synth.NewReader(e.Plan)
	if err != nil {
		return nil, &verdict.Unusable{File: place, Err: err}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers, err := e.Answers(reader.Needed(at))
	if err != nil {
		return nil, err
	}
	t := &Trace{
		Folder: place, Release: e.Plan.Name, Status: e.Manifest.Status, Table: e.Plan.Tables[at].Path, Cell: []KeyOf{},
		Statistic: e.Plan.Tables[at].Statistics[0].Name, Confidence: e.Plan.Tables[at].Statistics[0].Confidence,
		Covers: published.IntervalCoverage(e.Plan.Plan()),
		Counts: e.Plan.Tables[at].Counts.String(), Weighted: e.Plan.Tables[at].Weighted,
	}
	t.Invariant, t.Sample = e.Plan.Tables[at].Invariant, e.Plan.Sample.Share
	t.Fitted = t.fittedIn(e.Plan)
	if err := cellTraces[e.Plan.Tables[at].Selects()](t, e, reader, at, codes, answers); err != nil {
		return nil, err
	}
	return t, nil
}

// declaredCell traces a cell of a table that has all cells.
func (t *Trace) declaredCell(e *published.Release, reader *synth.Reader, table int, codes []string,
	answers []measured.Measured) error {
	planned := e.Plan.Tables[table]
	row, selected, err := t.cellOf(e, table, codes)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	if err := t.readFigures(e, planned, row); err != nil {
		return err
	}
	for i, up := range published.CountsUp(e.Plan.Plan(), planned) {
		if up {
			selected[i] = upTo(selected[i][0])
		}
	}
	made, err := reader.Trace(table, selected, answers)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	figures, err := reader.Statistic(table, answers)
	if err != nil {
		return &verdict.Unusable{File: t.Folder, Err: err}
	}
	unit := planned.Statistics[0].UnitValue()
	t.setOrigins(made, unit)
	t.Difference = t.differenceIn(figures, row)
	t.setIntervalLaw(e.Plan.Sample, interval.New(made.Contributions, t.Confidence, figures, row, unit))
	if math.Abs(t.Difference) > 1e-6*(1+math.Abs(t.Unbiased)) {
		return &published.Altered{Folder: t.Folder, File: planned.File()}
	}
	return nil
}

// upTo returns a category and all before it.
func upTo(category int) []int {
	out := make([]int, category+1)
	for i := range out {
		out[i] = i
	}
	return out
}

// setOrigins lists the measurements in descending order of their share of the variance. unit is what one noisy integer
// stands for.
func (t *Trace) setOrigins(made *synth.Trace, unit float64) {
	var variance float64
	for _, b := range made.Contributions {
		variance += b.Variance
	}
	for i, b := range made.Contributions {
		weights := slices.Clone(b.Weights)
		for j := range weights {
			weights[j].Value *= unit
		}
		t.Contributions = append(t.Contributions, Contribution{
			Measurement: b.Measurement.ID, File: measured.Path(b.Measurement.ID), Mechanism: b.Measurement.Mechanism,
			Variance: b.Measurement.Mechanism.Variance(), Integers: b.Measurement.Cells, Weights: weights,
			Sum: unit * made.Sums[i], Share: b.Variance / variance,
		})
		t.Sum += unit * made.Sums[i]
	}
	t.Difference = t.Unbiased - t.Sum
	slices.SortStableFunc(t.Contributions, func(a, b Contribution) int { return cmp.Compare(b.Share, a.Share) })
}

// codesOf returns the codes that name a cell of a table, in the order of its keys.
func codesOf(t plan.Table, cell []string) ([]string, error) {
	by, codes := t.By, map[string]string{}
	for _, part := range pairsOf(by, cell) {
		if part == "" && len(by) == 0 { // the only cell
			continue
		}
		name, code, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("cell %q: expected attribute=code for each of %s", part, strings.Join(by, ", "))
		}
		if !slices.Contains(by, name) {
			return nil, published.NoSuch("key of table "+t.Path, name, by)
		}
		if _, twice := codes[name]; twice {
			return nil, fmt.Errorf("cell: %s is given twice", name)
		}
		codes[name] = code
	}
	out := make([]string, len(by))
	for i, name := range by {
		code, ok := codes[name]
		if !ok {
			return nil, fmt.Errorf("cell: %s is missing: table %s has a number for each of %s", name, t.Path,
				strings.Join(by, " × "))
		}
		out[i] = code
	}
	return out, nil
}

// cellOf returns the row of a cell in a table that has all cells, and records the category of each key.
func (t *Trace) cellOf(e *published.Release, table int, codes []string) (row int, selected [][]int, err error) {
	planned := e.Plan.Tables[table]
	levels, err := e.Plan.Query(planned).Levels(e.Plan.Release())
	if err != nil {
		return 0, nil, err
	}
	for i, code := range codes {
		category, err := t.addKey(e, planned, i, levels[i], code)
		if err != nil {
			return 0, nil, err
		}
		row = row*levels[i].Size() + category
		selected = append(selected, []int{category})
	}
	return row, selected, nil
}

// addKey finds the category of a table's key by its code, and records it.
func (t *Trace) addKey(e *published.Release, planned plan.Table, key int, level *domain.Level, code string) (int,
	error) {
	attribute := planned.By[key]
	level = e.Plan.Release().Words.Labelled(planned.From, attribute, level)
	category := slices.IndexFunc(level.Categories, func(c domain.Category) bool { return c.Code == code })
	if category < 0 {
		return 0, published.NoSuch("category of "+attribute, code, published.CategoryCodes(level))
	}
	of := KeyOf{Attribute: attribute, Code: code, Label: level.Categories[category].Label}
	if title := e.Plan.Release().Words.OfTable(planned.From).Title(attribute); title != attribute {
		of.Title = title
	}
	t.Cell = append(t.Cell, of)
	return category, nil
}

// pairsOf splits the name of a cell at the commas that are followed by a key: codes may contain commas too.
func pairsOf(by, cell []string) []string {
	var out []string
	for _, text := range cell {
		out = append(out, published.SplitPairs(text,
			func(name string) bool { return slices.Contains(by, name) || document.Nearest(name, by) != "" })...)
	}
	return out
}

// readFigures reads the figures of the cell from the published file, and checks that the row has the keys of the cell.
func (t *Trace) readFigures(e *published.Release, table plan.Table, at int) error {
	f, err := e.Parquet(table.File())
	if err != nil {
		return err
	}
	row, columns, err := published.ReadRow(f, int64(at))
	if err != nil {
		return e.Altered(published.Faultf(table.File(), "%v", err))
	}
	for _, k := range t.Cell {
		if row[columns[k.Attribute]].String() != k.Code {
			return &verdict.Unusable{File: filepath.Join(t.Folder, table.File()),
				Err: fmt.Errorf("row %d does not belong in its place in the domain", at+1)}
		}
	}
	figure := func(suffix string) float64 { return published.Number(row[columns[t.Statistic+suffix]]) }
	for _, f := range table.Figures {
		t.Figures = append(t.Figures,
			tracedFigure(e.Plan.Release().Words, f, table,
				func(suffix string) parquet.Value { return row[columns[f.Name+suffix]] }))
	}
	t.Published = row[columns[t.Statistic+statistic.Published]].Int64()
	t.Unbiased, t.StandardError = figure(statistic.Unbiased), figure(statistic.StandardError)
	t.Low, t.High = figure(statistic.Low), figure(statistic.High)
	return nil
}
