package page

// This file draws the scores of a model: one small chart for each column.

import (
	"fmt"
	"math"
	"strings"

	"github.com/dprelease/dprelease/report"
)

// scoreChart is the chart of a column's scores, with the band of their noise. All columns of a model have one scale.
type scoreChart struct {
	report.ModelColumn
	Band, Line  string // paths in a square of 1000, a step for each category
	Zero        string // height of the score 0
	First, Last string // categories
	Text        string
}

// bandErrors is how many standard errors the band reaches to either side.
const bandErrors = 1.96

// ScoreCharts returns the charts of a model's columns.
func (p page) ScoreCharts(m report.Model) []scoreChart {
	low, high := 0.0, 0.0
	for _, c := range m.Columns {
		for i, s := range c.Scores {
			low, high = min(low, s-float64(bandErrors*c.Errors[i])), max(high, s+float64(bandErrors*c.Errors[i]))
		}
	}
	y := func(score float64) string {
		if high <= low {
			return "500"
		}
		return fmt.Sprintf("%.0f", math.Round(1000*(high-score)/(high-low)))
	}
	var all []scoreChart
	for _, c := range m.Columns {
		n := len(c.Scores)
		one := scoreChart{ModelColumn: c, Zero: y(0), First: c.Categories[0], Last: c.Categories[n-1]}
		var line, upper, lower []string
		for i, s := range c.Scores {
			from, to := 1000*i/n, 1000*(i+1)/n
			step := func(score float64) string { return fmt.Sprintf("%d %s L%d %s", from, y(score), to, y(score)) }
			line, upper = append(line, step(s)), append(upper, step(s+float64(bandErrors*c.Errors[i])))
			lower = append([]string{fmt.Sprintf("%d %s L%d %s", to, y(s-float64(bandErrors*c.Errors[i])), from,
				y(s-float64(bandErrors*c.Errors[i])))}, lower...)
		}
		one.Line = "M" + strings.Join(line, " L")
		one.Band = "M" + strings.Join(upper, " L") + " L" + strings.Join(lower, " L") + "Z"
		l := p.In()
		lowest, highest := c.Lowest(), c.Highest()
		one.Text = l.Text("Scores of %s: lowest %s (%s), highest %s (%s)", c.Name, c.Categories[lowest],
			l.Number(fmt.Sprintf("%.2f", c.Scores[lowest])), c.Categories[highest],
			l.Number(fmt.Sprintf("%.2f", c.Scores[highest])))
		all = append(all, one)
	}
	return all
}
