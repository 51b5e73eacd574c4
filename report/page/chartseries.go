package page

// This file draws the charts of series: a strip of intervals for categories, a line with its band for numbers and days,
// and a heat map for two attributes.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/shading"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/synth"
)

// leastAlong is the least number of numbers or days for a line; fewer are drawn as a strip.
const leastAlong = 25

// seriesChart is a chart of a series: exactly one of Strip, Line and Heat is set.
type seriesChart struct {
	ID      string
	Table   string
	Title   string
	Text    string // describes the chart for readers who cannot see it
	Caption string
	Height  int
	Strip   *stripChart
	Line    *lineChart
	Heat    *heatChart
	// OffPaper reports that its list of figures is shown only on a screen.
	OffPaper bool
	*report.Series
}

// tick is a round number on an axis.
type tick struct{ Text, At, Anchor string }

// stripChart has a row for each cell: a dot, and the interval around it.
type stripChart struct {
	Rows        []stripRow
	Ticks       []tick
	From, Width string // position of the plot
	Foot        int    // baseline of the ticks' text, in pixels
}

// stripRow is a cell. Its positions are shares of the plot's width.
type stripRow struct {
	Label, More     string // two lines, if it does not fit one
	Value, Full     string
	Y, Middle       int // baseline of its text, and middle of its bar
	At, From, To    string
	Shown, Interval bool
	Told            bool // it could not be zero
}

// lineChart is a line with a band. Paths are in thousandths of the plot's sides.
type lineChart struct {
	Line, Band string
	Across     []tick      // along the foot
	Unsure     []heatLabel // points that could be zero
	Up         []tick
	Plot, Foot int // height of the plot, and baseline of the ticks' text, in pixels
	// From and Width are the position of the plot, next to the numbers of Up on a narrow page.
	From, Width string
}

// heatChart shades the cells of two attributes.
type heatChart struct {
	Columns []heatLabel
	Rows    []heatLabel
	Cells   []heatCell
	Classes []report.MapClass // without a path
	Hatched bool
	Head    int // height of the labels above, in pixels
	Tilted  bool
	Width   string // of a cell
}

// heatLabel is the label of a row or a column, or of a point of a line.
type heatLabel struct {
	Text string
	At   string
	Y    int
}

// heatCell is a cell: hatched if it has no figure or could be zero.
type heatCell struct {
	X, Middle string
	Y         int
	Shade     int // 0 if hatched
	Value     string
	Full      string
}

const (
	stripPitch = 22
	labelPitch = 14 // between the lines of a label
	linePlot   = 170
	heatPitch  = 24
)

// mostOnPaper is the number of figures that the lists behind charts contain on paper, in total: each takes some two
// kilobytes of a PDF.
const mostOnPaper = 1000

// chartsOf returns the charts of all series, in the order of the tables.
func chartsOf(r *report.Report) []seriesChart {
	var all []seriesChart
	listed := 0
	for i := range r.Tables {
		t := &r.Tables[i]
		for k := range t.Series {
			c := chartOf(t, k, fmt.Sprintf("chart-%d", len(all)+1))
			if c.OffPaper = listed+len(c.Points) > mostOnPaper; !c.OffPaper {
				listed += len(c.Points)
			}
			all = append(all, c)
		}
	}
	return all
}

// chartOf draws a series of a table. The first is that of its count, whose scale begins at zero.
func chartOf(t *report.Table, k int, id string) seriesChart {
	s := &t.Series[k]
	count := t.Statistics[0]
	title := words.Either(k == 0 && count.Of != "", "Count of "+count.Of, words.Capital(s.What)) +
		words.When(len(s.Of) > 0, " by "+words.List(s.Of)) +
		words.When(t.Cumulative != nil, ", added up along "+words.List(t.Cumulative))
	c := seriesChart{ID: id, Table: t.Path, Series: s, Title: title}
	intervals := words.Level(count.Confidence) + " intervals"
	if k == 0 {
		intervals += ", ±" + words.Margin(count.Margin) + words.When(count.Largest > 0, " at most") +
			words.When(count.Fitted != nil, " around the unbiased count")
	} else if f := t.Figures[k-1]; f.HalfWidth != nil {
		intervals += ", typically " + f.HalfText()
	}
	switch {
	case s.Columns != nil:
		c.drawHeat()
		c.Caption = words.Capital(intervals) + "."
	case s.Ordered >= leastAlong:
		c.drawLine(k == 0)
		c.Caption = "Band: " + intervals + ", at each place by itself."
		for i := s.Ordered; i < len(s.Points); i++ {
			c.Caption += fmt.Sprintf(" Beside it, %s: %s.", s.Labels[i], s.Points[i].Text())
		}
	default:
		c.drawStrip(k == 0)
		c.Caption = "Bars around the dots, hidden where they are narrower: " + intervals + "."
	}
	c.Caption += words.When(s.Columns == nil && c.UnsureText() != "", " Hollow: "+c.UnsureText()+".") +
		words.When(k == 0 && count.CellsDifferFrom != 0, " "+differenceText(count))
	c.Text = c.summaryText()
	return c
}

// summaryText says in a sentence what a chart shows.
func (s seriesChart) summaryText() string {
	low, high := -1, -1
	hidden := map[synth.Flag]int64{}
	for i, p := range s.Points {
		switch {
		case p.Value == nil:
			hidden[p.Flag]++
		case low < 0:
			low, high = i, i
		case *p.Value < *s.Points[low].Value:
			low = i
		case *p.Value > *s.Points[high].Value:
			high = i
		}
	}
	text := budget.Plural(int64(len(s.Points)), "cell")
	if low >= 0 {
		text += fmt.Sprintf(": from %s (%s) to %s (%s)", s.Points[low].Text(), s.pointName(low), s.Points[high].Text(),
			s.pointName(high))
	}
	for _, flag := range []synth.Flag{synth.Withheld, synth.Unbounded} {
		if n := hidden[flag]; n > 0 {
			text += fmt.Sprintf("; %s %s", budget.Group(n), flag)
		}
	}
	return text + ". The table behind the chart has every figure."
}

// pointName returns the label of a point: its row and its column if it has both.
func (s seriesChart) pointName(i int) string {
	if n := len(s.Columns); n > 0 {
		return s.Labels[i/n] + ", " + s.Columns[i%n]
	}
	return s.Labels[i]
}

// pointText names a point with its figure and its interval.
func (s seriesChart) pointText(i int) string {
	p := s.Points[i]
	text := s.pointName(i) + ": " + p.Text()
	if p.Value == nil {
		return text
	}
	return text + fmt.Sprintf(" (%s to %s)", p.LowText(), p.HighText()) + words.When(p.Unsure() != "", ", "+p.Unsure())
}

func (c *seriesChart) drawStrip(zero bool) {
	sc, ticks := ticksWithin(axisOf(c.Points, zero), axisRunes)
	strip := &stripChart{Ticks: ticksOf(sc, ticks), From: "37%", Width: "41%"}
	y := 15
	for i, p := range c.Points {
		row := stripRow{Full: c.pointText(i), Value: p.Text(), Y: y, Middle: y - 4}
		if row.Label, row.More = twoLines(c.Labels[i], labelRunes); row.More != "" {
			row.Middle += labelPitch / 2
			y += labelPitch
		}
		y += stripPitch
		if p.Value != nil {
			row.Shown, row.Told, row.At = true, p.IsSure(), percent(sc.position(*p.Value))
			if p.Low != nil && p.High != nil {
				row.Interval, row.From, row.To = true, percent(sc.position(*p.Low)), percent(sc.position(*p.High))
			}
		}
		strip.Rows = append(strip.Rows, row)
	}
	strip.Foot = y + 3
	c.Strip, c.Height = strip, strip.Foot+6
}

// ticksOf positions round numbers.
func ticksOf(s scale, numbers []float64) []tick {
	all := make([]tick, len(numbers))
	for i, v := range numbers {
		all[i] = tick{Text: words.Figure(v), At: percent(s.position(v)), Anchor: "middle"}
	}
	return all
}

func (c *seriesChart) drawLine(zero bool) {
	points := c.Points[:c.Ordered]
	sc, ticks := axisOf(points, zero).roundTicks(5)
	line := &lineChart{Plot: linePlot, Foot: linePlot + 34}
	x := func(i int) int { return int(math.Round(float64(i) / float64(len(points)-1) * 1000)) }
	y := func(v float64) int { return int(math.Round((1 - sc.position(v)) * 1000)) }
	var path, band strings.Builder
	var back []string
	turn := func() { // closes the band along its lower side
		for _, point := range slices.Backward(back) {
			band.WriteString(point)
		}
		band.WriteString(words.When(back != nil, "z"))
		back = nil
	}
	begun := false
	for i, p := range points {
		if p.Value == nil {
			begun = false
		} else {
			fmt.Fprintf(&path, "%s%d %d", words.Either(begun, "L", "M"), x(i), y(*p.Value))
			begun = true
			if !p.IsSure() {
				line.Unsure = append(line.Unsure, heatLabel{Text: c.pointText(i), At: percent(float64(x(i)) / 1000),
					Y: 16 + int(math.Round((1-sc.position(*p.Value))*linePlot))})
			}
		}
		if p.Low == nil || p.High == nil {
			turn()
			continue
		}
		fmt.Fprintf(&band, "%s%d %d", words.Either(back == nil, "M", "L"), x(i), y(*p.High))
		back = append(back, fmt.Sprintf("L%d %d", x(i), y(*p.Low)))
	}
	turn()
	line.Line, line.Band = path.String(), band.String()
	for _, v := range ticks {
		line.Up = append(line.Up,
			tick{Text: words.Figure(v), At: strconv.Itoa(int(math.Round((1-sc.position(v))*linePlot)) + 16)})
	}
	longest := 0
	for _, t := range line.Up {
		longest = max(longest, len([]rune(t.Text)))
	}
	from := 0.03 + float64(float64(longest)*0.02)
	line.From, line.Width = percent(from), percent(1-from)
	most := 4
	for _, label := range c.Labels[:c.Ordered] {
		if len([]rune(axisLabel(label))) > lineRunes/most-2 {
			most = 3
		}
	}
	for k := range most {
		i := k * (len(points) - 1) / (most - 1)
		anchor := "middle"
		switch k {
		case 0:
			anchor = "start"
		case most - 1:
			anchor = "end"
		}
		line.Across = append(line.Across, tick{Text: axisLabel(c.Labels[i]), At: percent(float64(x(i)) / 1000),
			Anchor: anchor})
	}
	c.Line, c.Height = line, line.Foot+6
}

// lineRunes is the number of characters that fit side by side under a line on a narrow page.
const lineRunes = 44

// axisLabel returns a label as it is written under a line: the lower end of a range.
func axisLabel(label string) string {
	from, _, _ := strings.Cut(label, "–")
	return clip(from, lineRunes/3-2)
}

// wideRunes is the number of characters that fit side by side above the cells of a heat map on a narrow page.
const wideRunes = 34

func (c *seriesChart) drawHeat() {
	n := len(c.Columns)
	heat := &heatChart{Width: percent(1 / float64(n)), Head: 22}
	longest, widest := 0, 0
	for _, label := range c.Columns {
		longest = max(longest, len([]rune(label)))
	}
	if heat.Tilted = (longest+1)*n > wideRunes; heat.Tilted {
		heat.Head = 18 + 5*min(longest, labelRunes)
	}
	for i, label := range c.Columns {
		heat.Columns = append(heat.Columns,
			heatLabel{Text: clip(label, labelRunes), At: percent((float64(i) + 0.5) / float64(n))})
	}
	for i, label := range c.Labels {
		heat.Rows = append(heat.Rows, heatLabel{Text: clip(label, labelRunes), Y: heat.Head + i*heatPitch + 16})
	}
	s := shading.New(c.descendingFigures(), shading.Most)
	for i, shade := range s.All {
		heat.Classes = append(heat.Classes, report.MapClass{Range: s.Text(i), Shade: shade})
	}
	for i, p := range c.Points {
		cell := heatCell{X: percent(float64(i%n) / float64(n)), Middle: percent((float64(i%n) + 0.5) / float64(n)),
			Y: heat.Head + i/n*heatPitch, Full: c.pointText(i)}
		if p.IsSure() {
			cell.Shade = s.All[s.Class(*p.Value)]
		} else {
			heat.Hatched = true
		}
		if p.Value != nil {
			cell.Value = p.Text()
		}
		widest = max(widest, len([]rune(cell.Value)))
		heat.Cells = append(heat.Cells, cell)
	}
	if (widest+2)*n > wideRunes {
		for i := range heat.Cells {
			heat.Cells[i].Value = ""
		}
	}
	c.Heat, c.Height = heat, heat.Head+len(c.Labels)*heatPitch+2
}

// UnsureText says that some figures could be zero, "" if none could.
func (s seriesChart) UnsureText() string {
	unsure := slices.ContainsFunc(s.Points, func(p report.Point) bool { return p.Unsure() != "" })
	return words.When(unsure, report.CouldBeZero)
}

// HatchedText says what hatched cells of a heat map mean.
func (s seriesChart) HatchedText() string {
	hidden := slices.ContainsFunc(s.Points, func(p report.Point) bool { return p.Value == nil })
	return strings.Join(words.NonEmpty(words.When(hidden, "no figure"), s.UnsureText()), ", or ")
}

// descendingFigures returns the figures that are shaded.
func (s seriesChart) descendingFigures() []float64 {
	var values []float64
	for _, p := range s.Points {
		if p.IsSure() {
			values = append(values, *p.Value)
		}
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	return values
}

// matrixRow is a row of the table behind a heat map.
type matrixRow struct {
	Label  string
	Points []report.Point
}

// longRows is the number of rows above which the list behind a heat map is long.
const longRows = 16

// Long reports whether the list of its points is long enough to continue in a second column on paper.
func (s seriesChart) Long() bool {
	return s.Ordered >= leastAlong || s.Columns != nil && len(s.Points) > longRows
}

// Matrix returns the rows of a series of two attributes.
func (s seriesChart) Matrix() []matrixRow {
	n := len(s.Columns)
	rows := make([]matrixRow, len(s.Labels))
	for i, label := range s.Labels {
		rows[i] = matrixRow{label, s.Points[i*n : (i+1)*n]}
	}
	return rows
}
