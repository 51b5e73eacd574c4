package respondent

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dprelease/dprelease/budget"
	"github.com/dprelease/dprelease/histogram/respondent/client"
	"github.com/dprelease/dprelease/internal/canonical"
	"github.com/dprelease/dprelease/plan"
	"github.com/dprelease/dprelease/plan/counted"
	"github.com/dprelease/dprelease/spec"
	"github.com/dprelease/dprelease/spec/document"
)

// This file holds the collector's public file, which follows from the plan.

// collectorFormat is the format that package client reads.
const collectorFormat = "dprelease.collector/1"

// Collector returns the collector's public file for a plan, which devices need and nothing else: the questions, and how
// answers to them are randomised. It returns an error for a plan that collects nothing.
func Collector(p *plan.Plan) ([]byte, error) {
	r := p.Release()
	if r.Collection == nil {
		return nil, errors.New("the plan collects no randomised answers: its spec has no `collect`")
	}
	c := client.Collector{Format: collectorFormat, Release: r.Name, Collection: r.Collection.Name, Title: r.About.Title,
		Epsilon: budget.FormatRat(r.Collection.Epsilon), Asks: client.All}
	for _, m := range p.Measurements {
		questions, err := questionsOf(p, m)
		if err != nil {
			return nil, err
		}
		if m.IsDrawn() {
			c.Asks = client.One
		}
		c.Questions = append(c.Questions, questions...)
	}
	text := encodeCollector(c)
	_, err := client.Read(text)
	return text, err
}

// questionsOf returns the forms in which a device is asked a question: its categories and, where these are summed up,
// its bands of neighbouring ones, which are named by their width.
func questionsOf(p *plan.Plan, m plan.Measurement) ([]client.Question, error) {
	reports, _ := m.Reports()
	q := client.Question{Name: m.ID, Chance: reports.Chance, Epsilon: budget.FormatRat(m.Mechanism.Parameter),
		Form: string(reports.Form), Categories: reports.Categories, Support: reports.Support, Keep: reports.Keep}
	if err := addColumns(p, m, &q); err != nil {
		return nil, err
	}
	if reports.Length > 0 {
		return textQuestions(q, reports), nil
	}
	all := []client.Question{q}
	for _, b := range reports.Bands {
		coarser := q
		coarser.Name, coarser.Chance = fmt.Sprintf("%s/%d", m.ID, b.Width), b.Chance
		coarser.Categories, coarser.Support, coarser.Keep = b.Categories, b.Support, b.Keep
		coarser.Columns = slices.Clone(q.Columns)
		at := slices.IndexFunc(q.Columns, func(c client.Column) bool { return c.Name == reports.Along })
		coarser.Columns[at].Width = b.Width
		all = append(all, coarser)
	}
	return all, nil
}

// textQuestions returns the questions for texts that nobody lists: for whole texts, and for their first characters,
// which are named by how many these are.
func textQuestions(q client.Question, reports counted.Reports) (all []client.Question) {
	of := func(name string, chance, length int64) {
		one := q
		one.Name, one.Chance, one.Columns = name, chance, slices.Clone(q.Columns)
		one.Columns[0].Length, one.Columns[0].Categories = length, nil
		all = append(all, one)
	}
	of(q.Name, reports.Chance, reports.Length)
	for _, prefix := range reports.Prefixes {
		of(fmt.Sprintf("%s/%d", q.Name, prefix.Length), prefix.Chance, prefix.Length)
	}
	return all
}

// encodeCollector returns the text of a collector's file.
func encodeCollector(c client.Collector) []byte { return canonical.Must(canonical.Indented(c)) }

// addColumns adds to a question the columns that it is about, with their categories and the words for them.
func addColumns(p *plan.Plan, m plan.Measurement, q *client.Question) error {
	r := p.Release()
	levels, err := m.Query.Levels(r)
	if err != nil {
		return err
	}
	for i, f := range m.Query.Factors {
		column := client.Column{Name: f.String()}
		labelled := false
		for _, c := range r.Words.Labelled(m.Query.Table, column.Name, levels[i]).Categories {
			column.Categories = append(column.Categories, c.Code)
			label := c.Label
			if label == "" {
				label = c.Code
			}
			labelled = labelled || label != c.Code
			column.Labels = append(column.Labels, label)
		}
		if !labelled {
			column.Labels = nil
		}
		column.Title = titleOf(r, m.Query.Table, column.Name)
		q.Columns = append(q.Columns, column)
	}
	if reports, _ := m.Reports(); reports.Of != "" {
		q.Columns = append(q.Columns, numbersOf(r, m.Query.Table, reports.Of, reports.Points))
	}
	return nil
}

// titleOf returns the title of a column, "" if it has none.
func titleOf(r *spec.Release, table, column string) string {
	if titles := r.Words.OfTable(table).TitlesOf([]string{column}); titles[0] != column {
		return titles[0]
	}
	return ""
}

// numbersOf returns the column whose numbers a question asks for: all values of its range.
func numbersOf(r *spec.Release, table, name string, points int64) client.Column {
	column := client.Column{Name: name, Title: titleOf(r, table, name), Points: points}
	l := r.Table(table).Column(name).Lattice
	for i := l.First; i <= l.Last; i++ {
		column.Categories = append(column.Categories, document.FormatNumber(l.Value(i)))
	}
	return column
}
