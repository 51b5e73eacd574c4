package page

// This file draws the scores of a model: a card for each column. Few categories are a table with a strip beside each
// score. Many are a line of steps with its band, and a list of the scores behind it.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/internal/screen"
	"github.com/dprelease/dprelease/report"
	"github.com/dprelease/dprelease/report/internal/words"
)

// scoreCard is the chart of a column's scores, and the list of them. All columns of a model have one scale.
type scoreCard struct {
	report.ModelColumn
	ID      string
	Unit    string // what scores are, with the word score
	Caption string
	Line    *scoreLine // nil for few categories
	Ticks   []tick     // above strips
	Zero    string     // position of the score 0 on a strip
	Rows    []scoreRow
	More    int    // categories that are not listed
	File    string // of the model, which has them
}

// scoreRow is the score of a category. Its positions are shares of the width of a strip.
type scoreRow struct {
	Category, Score, Margin, Count string
	At, From, Width                string
	Few                            bool // hardly any rows
}

// scoreLine is a line of steps with the band of its noise. Paths are in thousandths of the plot's sides.
type scoreLine struct {
	lineChart
	Few []fewRows // where there are hardly any rows
	Top int       // height of the plot's upper edge
}

// fewRows are neighbouring categories with hardly any rows: their position along the foot.
type fewRows struct{ From, Width string }

const (
	// bandErrors is how many standard errors the band reaches to either side.
	bandErrors = 1.96
	// mostScores bounds the scores of a column that a page lists.
	mostScores = 500
	// scoreTop is the height above a plot, which has the name of its scale.
	scoreTop = 26
)

// ScoreCards returns the cards of a model's columns.
func (p page) ScoreCards(m report.Model) (all []scoreCard) {
	var sc scale
	for _, c := range m.Columns {
		for i, s := range c.Scores {
			margin := float64(bandErrors * c.Errors[i])
			sc = scale{min(sc.low, s-margin), max(sc.high, s+margin)}
		}
	}
	sc, numbers := sc.roundTicks(6)
	l, ticks := p.In(), p.scoreTicks(sc, numbers)
	for k, c := range m.Columns {
		card := scoreCard{ModelColumn: c, ID: fmt.Sprintf("scores-%s-%d", m.Name, k+1),
			Unit:    l.Text("score (%s)", m.Unit),
			Caption: l.Text("Score of each category (%s)", m.Unit),
			Ticks:   ticks, Zero: percent(sc.position(0)), More: max(len(c.Scores)-mostScores, 0), File: m.File}
		form := formOfScores(c)
		for i := range c.Scores[:min(len(c.Scores), mostScores)] {
			card.Rows = append(card.Rows, p.scoreRow(c, i, sc, form))
		}
		if len(c.Scores) >= leastAlong {
			card.Line = p.scoreLine(c, sc, numbers)
		}
		all = append(all, card)
	}
	return all
}

// scoreTicks returns as many of the numbers of a scale as have room above a strip: the first, and every second, third
// and so on after it.
func (p page) scoreTicks(sc scale, numbers []float64) (all []tick) {
	texts, longest := make([]string, len(numbers)), 0
	for i, v := range numbers {
		texts[i] = p.In().Number(words.Figure(v))
		longest = max(longest, len([]rune(texts[i])))
	}
	every := 1
	for (longest+2)*((len(numbers)-1)/every) > axisRunes {
		every++
	}
	for i := 0; i < len(numbers); i += every {
		all = append(all, tick{Text: texts[i], At: percent(sc.position(numbers[i])), Anchor: anchorOf(i, len(numbers))})
	}
	return all
}

// formOfScores returns the form in which the scores of a column are written, with their margins.
func formOfScores(c report.ModelColumn) screen.Form {
	forms := make([]screen.Form, len(c.Scores))
	for i, score := range c.Scores {
		margin := float64(bandErrors * c.Errors[i])
		low, high := score-margin, score+margin
		forms[i] = screen.FormOf(score, &low, &high)
	}
	return screen.FormOfFigures(forms)
}

// scoreRow returns the score of a category in a form, with its position on a scale.
func (p page) scoreRow(c report.ModelColumn, i int, sc scale, form screen.Form) scoreRow {
	l, score, margin := p.In(), c.Scores[i], float64(bandErrors*c.Errors[i])
	low, high := score-margin, score+margin
	row := scoreRow{Category: c.Categories[i], Score: l.Number(form.Nearest(score)), Margin: l.Number(form.Up(margin)),
		Count: "–", Few: c.HasHardlyRows(i), At: percent(sc.position(score)), From: percent(sc.position(low)),
		Width: percent(max(sc.position(high)-sc.position(low), 0.005))}
	if len(c.Rows) > 0 {
		row.Count = words.Figure(float64(c.Rows[i]))
	}
	return row
}

// scoreLine draws the scores of many categories on a scale with ticks.
func (p page) scoreLine(c report.ModelColumn, sc scale, numbers []float64) *scoreLine {
	l, n := p.In(), len(c.Scores)
	line := &scoreLine{Top: scoreTop, lineChart: lineChart{Plot: linePlot, Foot: linePlot + scoreTop + 16,
		Height: linePlot + scoreTop + 36}}
	x := func(i int) int { return 1000 * i / n }
	y := func(score float64) int { return int(math.Round(float64(1000 * (1 - sc.position(score))))) }
	var steps, upper, lower []string
	for i, s := range c.Scores {
		margin := float64(bandErrors * c.Errors[i])
		steps = append(steps, fmt.Sprintf("%d %d L%d %d", x(i), y(s), x(i+1), y(s)))
		upper = append(upper, fmt.Sprintf("%d %d L%d %d", x(i), y(s+margin), x(i+1), y(s+margin)))
		lower = append(lower, fmt.Sprintf("%d %d L%d %d", x(i+1), y(s-margin), x(i), y(s-margin)))
	}
	slices.Reverse(lower)
	line.Line = "M" + strings.Join(steps, " L")
	line.Band = "M" + strings.Join(slices.Concat(upper, lower), " L") + "Z"
	for i := 0; i < n; i++ {
		from := i
		for i < n && c.HasHardlyRows(i) {
			i++
		}
		if i > from {
			line.Few = append(line.Few,
				fewRows{percent(float64(from) / float64(n)), percent(float64(i-from) / float64(n))})
		}
	}
	longest := 0
	for _, v := range numbers {
		text := l.Number(words.Figure(v))
		longest = max(longest, len([]rune(text)))
		line.Up = append(line.Up, tick{Text: text,
			At: strconv.Itoa(int(math.Round(float64((1-sc.position(v))*linePlot))) + scoreTop)})
	}
	from := 0.03 + float64(float64(longest)*0.02)
	line.From, line.Width = percent(from), percent(1-from)
	line.Across = labelsAlong(c.Categories)
	lowest, highest := c.Lowest(), c.Highest()
	line.Text = l.Text("Scores of %s: lowest %s (%s), highest %s (%s)", c.Name, c.Categories[lowest],
		l.Number(fmt.Sprintf("%.2f", c.Scores[lowest])), c.Categories[highest],
		l.Number(fmt.Sprintf("%.2f", c.Scores[highest])))
	return line
}

// labelsAlong returns the names of a few of many categories, as many as have room under a line of steps.
func labelsAlong(categories []string) (all []tick) {
	most := 4
	for _, category := range categories {
		if len([]rune(axisLabel(category))) > lineRunes/most-2 {
			most = 3
		}
	}
	for k := range most {
		i := k * (len(categories) - 1) / (most - 1)
		all = append(all, tick{Text: axisLabel(categories[i]),
			At: percent((float64(i) + 0.5) / float64(len(categories))), Anchor: anchorOf(k, most)})
	}
	return all
}
