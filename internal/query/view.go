package query

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/interval"
	"github.com/dprelease/dprelease/internal/published"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/plan/statistic"
)

// This file prints an answer for people.

// Write prints the answer as text.
func (a *Answer) Write(w io.Writer) error {
	head := append(slices.Clone(a.By), a.Statistic, "standard error", fmt.Sprintf("%g%% interval", 100*a.Confidence))
	rows := [][]string{head}
	for _, r := range a.Rows {
		if n := r.NotAbove; n != nil {
			rows = append(rows, append(slices.Clone(r.Keys), "not above "+budget.Group(n.Threshold), "",
				"0 … "+budget.Group(n.Bound)))
			continue
		}
		form := screen.FormOf(r.Unbiased, &r.Low, &r.High)
		rows = append(rows, append(slices.Clone(r.Keys), form.Nearest(r.Unbiased),
			screen.Figure(r.StandardError, screen.Decimals(r.StandardError, false)),
			form.Down(r.Low)+" … "+form.Up(r.High)))
	}
	_, err := fmt.Fprintf(w, "%s%s\n\n%s%s", a.title(), published.StatusLine(a.Status), screen.Aligned(rows, len(a.By)),
		a.notes())
	return err
}

// title returns the question.
func (a *Answer) title() string {
	of := rowsText(a.Weighted, a.From, a.By, a.Where)
	if len(a.Rows) > 0 && a.Rows[0].Law == interval.Reports {
		of = strings.Replace(of, "rows of "+a.From, "respondents", 1)
	}
	return a.Release + ": " + a.Statistic + " of " + of
}

// rowsText says which rows a question is about.
func rowsText(weighted bool, from string, by []string, where []Condition) string {
	text := "rows of " + from
	if weighted {
		text = "weighted " + text
	}
	if len(by) > 0 {
		text += " by " + strings.Join(by, ", ")
	}
	for i, c := range where {
		text += []string{", where ", " and "}[min(i, 1)] + c.String()
	}
	return text
}

// attainedConfidence holds, by law, the least probability with which an interval covers its figure.
type attainedConfidence map[interval.Law]float64

// add records what an interval attains.
func (a attainedConfidence) add(law interval.Law, probability float64) {
	if before, ok := a[law]; !ok || probability < before {
		a[law] = probability
	}
}

// lawText is a sentence about the intervals by a law.
type lawText struct {
	of   interval.Law
	says string
}

// intervalSentences returns the sentences about the laws that occur, with the confidence that their intervals attain.
func (a attainedConfidence) intervalSentences(laws ...lawText) string {
	text := ""
	for _, law := range laws {
		if v, ok := a[law.of]; ok {
			text += fmt.Sprintf(law.says, screen.PercentDown(v))
		}
	}
	return text
}

// notes returns where the answer comes from and what its intervals are.
func (a *Answer) notes() string {
	least, most := a.Rows[0].Cells, a.Rows[0].Cells
	levels := attainedConfidence{}
	for _, r := range a.Rows {
		least, most = min(least, r.Cells), max(most, r.Cells)
		levels.add(r.Law, r.Attained)
	}
	cells := budget.Plural(int64(most), "cell")
	if least < most {
		cells = fmt.Sprintf("%d to %s", least, cells)
	}
	return cmp.Or(a.publicNotes(cells), a.noiseNotes(cells, levels))
}

// noiseNotes returns the notes of an answer with noise: from how many cells, and with which confidence their intervals
// hold.
func (a *Answer) noiseNotes(cells string, levels attainedConfidence) string {
	text := fmt.Sprintf("\nFrom table %s, %s a figure; noise of %s.\n", a.Table, cells,
		listMeasurements(a.Measurements))
	if a.Bounded != "" {
		text += fmt.Sprintf("The table counts %s; no other table holds these counts.\n", a.Bounded)
	}
	text += levels.intervalSentences(
		lawText{interval.Exact, "Intervals by the exact law of the noise: each covers the exact count with a " +
			"probability of %s or more.\n"},
		lawText{interval.Threshold, "A cell that is “not above” the threshold is not published, and need not be " +
			"empty. If a cell had more rows than the upper end of its interval, its noisy count would be above the " +
			"threshold, and so published, with a probability of %s or more.\n"},
		lawText{interval.Bounded, "Intervals by the law of the weighted noise: each covers the exact count with a " +
			"probability of %s or more.\n"},
	)
	same, more := 0, 0
	for _, o := range a.Others {
		switch {
		case o.Same:
			same++
		case more == 5:
		default:
			more++
			text += fmt.Sprintf("Table %s holds these counts too; its own answer would have a standard error of %s.\n",
				o.Table,
				screen.Figure(o.StandardError, screen.Decimals(o.StandardError, false)))
		}
	}
	if same > 0 {
		text += fmt.Sprintf("%s estimated from the same measurements would give the same answer.\n",
			budget.Plural(int64(same), "other table"))
	}
	return text + a.coversText()
}

// listMeasurements names measurements.
func listMeasurements(ids []string) string {
	const most = 4
	names := strings.Join(ids, ", ")
	if len(ids) > most {
		names = strings.Join(ids[:2], ", ") + " …"
	}
	if len(ids) > 1 {
		return fmt.Sprintf("%d measurements, combined by least squares (%s)", len(ids), names)
	}
	return "measurement " + names
}

// CSV prints the answer as a table whose columns are named as in published tables.
func (a *Answer) CSV(w io.Writer) error {
	lines := [][]string{csvHead(a.By, a.Statistic, statistic.Unbiased)}
	for _, r := range a.Rows {
		figures := []*float64{&r.Unbiased, &r.StandardError, &r.Low, &r.High}
		if r.NotAbove != nil { // there is no estimate
			figures[0], figures[1] = nil, nil
		}
		lines = append(lines, csvLine(r.Keys, figures, r.Law, r.Attained))
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// csvHead returns the header of an answer: the keys, the figure, whose own column has this suffix, and its interval.
func csvHead(keys []string, name, suffix string) []string {
	return append(screen.NoFormulas(keys), name+suffix, name+statistic.StandardError, name+statistic.Low,
		name+statistic.High, name+"_law", name+"_attained")
}

// csvLine returns a line under csvHead. A figure that is nil leaves its column empty.
func csvLine(keys []string, figures []*float64, law interval.Law, attained float64) []string {
	line := screen.NoFormulas(keys)
	for _, v := range figures {
		text := ""
		if v != nil {
			text = strconv.FormatFloat(*v, 'f', -1, 64)
		}
		line = append(line, text)
	}
	return append(line, string(law), strconv.FormatFloat(attained, 'f', 6, 64))
}
