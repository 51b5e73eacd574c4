package page

// This file draws the scores of pairs of columns of a model: one heat map for each.

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dprelease/dprelease/report"
)

//go:embed modelpair.html.tmpl
var pairsText string

//go:embed modelpair.css
var pairStyleText string

// pairChart is the heat map of a pair: the categories of the first column from top to bottom, those of the second from
// left to right. All pairs of a model have one scale.
type pairChart struct {
	report.ModelPair
	ID                  string // of the drawing
	Lowest, Highest     report.PairCell
	Width, Height, Left int         // of the drawing, and of the cells in it
	Shades              []pairShade // that the chart has
	Unsure              string      // path of the cells whose score could be 0, by the noise alone
	Down, Across        []pairTick
	Middle, Foot        int // of the labels of columns
	Text                string
}

// pairShade is the cells whose scores are in a class.
type pairShade struct {
	Class string // of CSS
	Range string // in words
	Path  string
}

// pairTick is the label of a row or column of cells, at the middle of it.
type pairTick struct {
	At   int
	Text string
}

// Sizes of a heat map, in units of its drawing.
const (
	pairLeft    = 150 // of the cells
	pairTop     = 24  // likewise
	pairAcross  = 520 // all cells
	pairDown    = 340 // all cells, at most
	mostPairRow = 26  // height of a cell
	pairLetter  = 8   // width of a letter
	pairLine    = 16  // height of a line of text
	mostLabel   = 18  // letters
	pairSteps   = 3   // classes on each side of 0
)

// HasPairs reports whether a model has scores of pairs.
func (p page) HasPairs() bool {
	return slices.ContainsFunc(p.Models, func(m report.Model) bool { return len(m.Pairs) > 0 })
}

// PairCharts returns the heat maps of a model's pairs.
func (p page) PairCharts(m report.Model) []pairChart {
	most := 0.0
	for _, pair := range m.Pairs {
		for i, row := range pair.Scores {
			for k, s := range row {
				if isSure(s, pair.Errors[i][k]) {
					most = max(most, math.Abs(s))
				}
			}
		}
	}
	var all []pairChart
	for i, pair := range m.Pairs {
		one := p.pairChart(m, pair, most)
		one.ID = fmt.Sprintf("pair-%s-%d", m.Name, i)
		all = append(all, one)
	}
	return all
}

// isSure reports whether the band of a score is on one side of 0.
func isSure(score, deviation float64) bool { return math.Abs(score) > float64(bandErrors*deviation) }

// pairChart draws a pair, on a scale up to a largest score.
func (p page) pairChart(m report.Model, pair report.ModelPair, most float64) pairChart {
	down, across := m.CategoriesOf(pair.Columns[0]), m.CategoriesOf(pair.Columns[1])
	height := min(mostPairRow*len(down), pairDown)
	foot := pairTop + height + pairLine
	c := pairChart{ModelPair: pair, Lowest: m.LowestOf(pair), Highest: m.HighestOf(pair), Left: pairLeft - pairLetter,
		Middle: pairLeft + pairAcross/2, Width: pairLeft + pairAcross + pairLine, Foot: foot, Height: foot + 2*pairLine,
		Shades: p.pairShades(most)}
	y := func(i int) int { return pairTop + height*i/len(down) }
	x := func(k int) int { return pairLeft + pairAcross*k/len(across) }
	paths := map[int]*strings.Builder{}
	for i, row := range pair.Scores {
		for k := 0; k < len(row); {
			class, from := pairClass(row[k], pair.Errors[i][k], most), k
			for k < len(row) && pairClass(row[k], pair.Errors[i][k], most) == class {
				k++
			}
			if paths[class] == nil {
				paths[class] = &strings.Builder{}
			}
			fmt.Fprintf(paths[class], "M%d %dH%dV%dH%dZ", x(from), y(i), x(k), y(i+1), x(from))
		}
	}
	for i := range c.Shades {
		if b := paths[i+1]; b != nil {
			c.Shades[i].Path = b.String()
		}
	}
	if b := paths[0]; b != nil {
		c.Unsure = b.String()
	}
	c.Down = ticks(down, func(i int) int { return (y(i) + y(i+1)) / 2 }, func(string) int { return pairLine })
	c.Across = ticks(across, func(k int) int { return (x(k) + x(k+1)) / 2 },
		func(text string) int { return pairLetter * (utf8.RuneCountInString(text) + 1) })
	l := p.In()
	c.Text = l.Text("Scores of %s: lowest %s (%s), highest %s (%s)", pair.Name(), c.Lowest.Name(),
		l.Number(fmt.Sprintf("%.2f", c.Lowest.Score)), c.Highest.Name(), l.Number(fmt.Sprintf("%.2f", c.Highest.Score)))
	return c
}

// pairClass returns the class of a score: 0 if it could be 0, 1 to pairSteps for those below 0, the lowest first, and
// so on up to 2·pairSteps for the highest.
func pairClass(score, deviation, most float64) int {
	if !isSure(score, deviation) {
		return 0
	}
	step := min(int(pairSteps*math.Abs(score)/most), pairSteps-1)
	if score < 0 {
		return pairSteps - step
	}
	return pairSteps + 1 + step
}

// pairShades returns the classes of scores up to a largest one, without paths; none if no score is sure.
func (p page) pairShades(most float64) (all []pairShade) {
	if most == 0 {
		return nil
	}
	l := p.In()
	number := func(sign string, step int) string {
		if step == 0 {
			return "0"
		}
		return l.Number(sign + fmt.Sprintf("%.2f", float64(step)*most/pairSteps))
	}
	for step := range pairSteps {
		all = append(all, pairShade{Class: fmt.Sprintf("above%d", step+1),
			Range: l.Text("%s to %s", number("", step), number("", step+1))})
	}
	below := make([]pairShade, pairSteps)
	for step := range pairSteps {
		below[pairSteps-1-step] = pairShade{Class: fmt.Sprintf("below%d", step+1),
			Range: l.Text("%s to %s", number("−", step+1), number("−", step))}
	}
	return slices.Concat(below, all)
}

// ticks returns the labels of as many categories as there is room for, evenly spaced from the first. room is the room
// that a label takes.
func ticks(categories []string, at func(int) int, room func(string) int) (all []pairTick) {
	most := 0
	texts := make([]string, len(categories))
	for i, text := range categories {
		if letters := []rune(text); len(letters) > mostLabel {
			text = string(letters[:mostLabel-1]) + "…"
		}
		texts[i] = text
		most = max(most, room(text))
	}
	step := 1
	for step < len(texts) && at(step)-at(0) < most {
		step++
	}
	for i := 0; i < len(texts); i += step {
		all = append(all, pairTick{at(i), texts[i]})
	}
	return all
}
