package page

// This file draws the charts of series. A chart of categories, or of two attributes, is a table that is read and heard
// as it is seen: a strip beside each figure, or a shade behind it. Many numbers or days are a line with its band, and
// have a list of the figures behind it.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
	"github.com/dprelease/dprelease/spec/language"
	"github.com/dprelease/dprelease/synth"
)

// leastAlong is the least number of numbers or days for a line; fewer are drawn as a strip.
const leastAlong = 25

// seriesChart is a chart of a series: exactly one of Strip, Line and Grid is set.
type seriesChart struct {
	ID       string
	Table    string
	Marginal string
	Count    bool // it is of the count of its table, which may be there only for other figures
	Title    string
	Caption  string
	Strip    *stripChart
	Line     *lineChart
	Grid     *gridChart
	*report.Series
}

// tick is a round number on an axis.
type tick struct{ Text, At, Anchor string }

// stripChart has a row for each cell: its figure, and a dot with the interval around it.
type stripChart struct {
	Rows  []stripRow
	Ticks []tick
}

// stripRow is a cell. Its positions are shares of the width of the strip.
type stripRow struct {
	Label           string
	Point           report.Point
	At, From, Width string
	Interval        bool
}

// lineChart is a line with a band. Paths are in thousandths of the plot's sides.
type lineChart struct {
	Text       string // describes the line for readers who cannot see it
	Line, Band string
	Across     []tick      // along the foot
	Unsure     []linePoint // points that could be zero
	Up         []tick
	Plot, Foot int // height of the plot, and baseline of the ticks' text, in pixels
	Height     int
	// From and Width are the position of the plot, next to the numbers of Up on a narrow page.
	From, Width string
}

// linePoint is the position of a point of a line.
type linePoint struct {
	At string
	Y  int
}

// linePlot is the height of a line's plot, in pixels.
const linePlot = 170

// chartsOf returns the charts of all series, in the order of the tables.
func chartsOf(r *report.Report) []seriesChart {
	var all []seriesChart
	for i := range r.Tables {
		t := &r.Tables[i]
		for k := range t.Series {
			all = append(all, chartOf(r.In(), t, k, fmt.Sprintf("chart-%d", len(all)+1)))
		}
	}
	return all
}

// chartOf draws a series of a table. The first is that of its count, whose scale begins at zero.
func chartOf(l *language.Language, t *report.Table, k int, id string) seriesChart {
	s := &t.Series[k]
	count := t.Statistics[0]
	title := words.Either(k == 0 && count.Of != "", l.Text("Count of %s", count.Of), words.Capital(s.What))
	if len(s.Of) > 0 {
		title = l.Text("%s by %s", title, l.List(s.Of))
	}
	if k == 0 && t.Title != "" {
		title = t.Title
	}
	if t.Cumulative != nil {
		title = l.Text("%s, added up along %s", title, l.List(t.TitlesOf(t.Cumulative)))
	}
	c := seriesChart{ID: id, Table: t.Path, Marginal: t.Marginal, Count: k == 0, Series: s, Title: title}
	c.Caption = l.Text("%s intervals", l.Number(words.Level(count.Confidence)))
	if k == 0 {
		c.Caption += ", " + marginText(l, count)
	} else if f := t.Figures[k-1]; f.HalfWidth != nil {
		c.Caption += ", " + l.Text("typically %s", f.HalfText(l))
	}
	switch {
	case s.Columns != nil:
		c.drawGrid(l)
	case s.Ordered >= leastAlong:
		c.drawLine(l, k == 0)
		c.Caption += ", " + l.Text("each for its own point")
		for i := s.Ordered; i < len(s.Points); i++ {
			c.Caption += "; " + l.Text("%s, not on the line: %s", s.Labels[i], s.Points[i].Text(l, s.Form()))
		}
	default:
		c.drawStrip(l, k == 0)
	}
	c.Caption += words.When(k == 0 && count.CellsDifferFrom != 0,
		"; "+l.Text("smallest real difference %s", distanceText(count))) + "."
	return c
}

// marginText says how wide the intervals of a count are.
func marginText(l *language.Language, s report.Statistic) string {
	text := "±" + words.Margin(s.Margin)
	if s.Largest > 0 {
		text = l.Text("%s at most", text)
	}
	if s.Fitted != nil {
		text = l.Text("%s around the unbiased count", text)
	}
	return text
}

// summaryText says in a sentence what a line shows.
func (s seriesChart) summaryText(l *language.Language) string {
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
	text := l.Plural(int64(len(s.Points)), "cell")
	if low >= 0 {
		text = l.Text("%s: from %s (%s) to %s (%s)", text, s.Points[low].Text(l, s.Form()),
			s.Labels[low], s.Points[high].Text(l, s.Form()), s.Labels[high])
	}
	if n := hidden[synth.Withheld]; n > 0 {
		text += "; " + l.Text("%s withheld", budget.Group(n))
	}
	if n := hidden[synth.Unbounded]; n > 0 {
		text += "; " + l.Text("%s unbounded", budget.Group(n))
	}
	return text + ". " + l.Text("The list below has every figure.")
}

// intervalText returns the interval of a point in the form of its series, "" for none.
func intervalText(l *language.Language, p report.Point, of screen.Form) string {
	switch {
	case p.Low == nil && p.High == nil:
		return ""
	case p.Low != nil && p.High != nil && *p.Low == *p.High:
		return l.Text("exact")
	case p.Low != nil && p.High != nil && *p.Low >= 0:
		return p.LowText(l, of) + "–" + p.HighText(l, of)
	}
	return l.Text("%s to %s", p.LowText(l, of), p.HighText(l, of))
}

func (c *seriesChart) drawStrip(l *language.Language, zero bool) {
	sc, ticks := ticksWithin(axisOf(c.Points, zero), axisRunes)
	strip := &stripChart{Ticks: ticksOf(l, sc, ticks)}
	for i, p := range c.Points {
		row := stripRow{Label: c.Labels[i], Point: p}
		if p.Value != nil {
			row.At = percent(sc.position(*p.Value))
		}
		if p.Value != nil && p.Low != nil && p.High != nil {
			from, to := sc.position(*p.Low), sc.position(*p.High)
			row.Interval, row.From, row.Width = true, percent(from), percent(to-from)
		}
		strip.Rows = append(strip.Rows, row)
	}
	c.Strip = strip
}

// ticksOf positions round numbers, the first and the last within the ends of the axis.
func ticksOf(l *language.Language, s scale, numbers []float64) []tick {
	all := make([]tick, len(numbers))
	for i, v := range numbers {
		all[i] = tick{Text: l.Number(words.Figure(v)), At: percent(s.position(v)), Anchor: anchorOf(i, len(numbers))}
	}
	return all
}

// anchorOf returns where the text of a tick lies beside its place.
func anchorOf(i, of int) string {
	switch i {
	case 0:
		return "start"
	case of - 1:
		return "end"
	}
	return "middle"
}

func (c *seriesChart) drawLine(l *language.Language, zero bool) {
	points := c.Points[:c.Ordered]
	sc, ticks := axisOf(points, zero).roundTicks(5)
	line := &lineChart{Text: c.summaryText(l), Plot: linePlot, Foot: linePlot + 34, Height: linePlot + 40}
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
				line.Unsure = append(line.Unsure, linePoint{At: percent(float64(x(i)) / 1000),
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
		line.Up = append(line.Up, tick{Text: l.Number(words.Figure(v)),
			At: strconv.Itoa(int(math.Round((1-sc.position(v))*linePlot)) + 16)})
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
		line.Across = append(line.Across, tick{Text: axisLabel(c.Labels[i]), At: percent(float64(x(i)) / 1000),
			Anchor: anchorOf(k, most)})
	}
	c.Line = line
}

// lineRunes is the number of characters that fit side by side under a line on a narrow page.
const lineRunes = 44

// axisLabel returns a label as it is written under a line: the lower end of a range.
func axisLabel(label string) string {
	from, _, _ := strings.Cut(label, "–")
	return clip(from, lineRunes/3-2)
}

// The numbers of columns and of rows up to which two charts have room side by side.
const (
	besideColumns = 4
	besideRows    = 16
)

// Wide reports whether a chart takes the width of the page.
func (s seriesChart) Wide() bool {
	if s.Grid != nil {
		return len(s.Grid.Columns) > besideColumns || len(s.Grid.Rows) > besideRows
	}
	return s.Line == nil && len(s.Labels) > besideRows
}
