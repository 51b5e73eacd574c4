package main

// This file holds the data sets whose rows models are fitted to, in the form that all methods get.

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// modelSet is a data set: what is predicted, and from which columns.
type modelSet struct {
	name, title string
	columns     []modelColumn // the predicted one last
	positive    string        // the category that is predicted
}

// modelColumn is a column: a number with its public range, or a category. Its values come from a column of the file, as
// they are or by a public rule.
type modelColumn struct {
	Name   string   `json:"name"`
	Low    int      `json:"low"`
	High   int      `json:"high"`
	Values []string `json:"values,omitempty"` // of a category
	Linear bool     `json:"linear,omitempty"` // only linear methods get it
	from   string
	rule   func(string) (string, error)
}

// isNumber reports whether the column is a number.
func (c modelColumn) isNumber() bool { return c.High > c.Low }

// modelSets are the data sets that models are compared on.
var modelSets = []modelSet{
	{name: "adult", title: "UCI Adult, income above 50 000", positive: ">50K", columns: []modelColumn{
		number("age", 17, 90),
		{Name: "age_squared", Low: 3, High: 81, Linear: true, from: "age",
			rule: rounded(func(x float64) float64 { return x * x / 100 })},
		number("education_num", 1, 16), number("hours_per_week", 1, 99),
		{Name: "gain", High: 115, from: "capital_gain", rule: rounded(tenLogs)},
		{Name: "loss", High: 84, from: "capital_loss", rule: rounded(tenLogs)},
		category("workclass"), category("marital_status"), category("occupation"), category("relationship"),
		category("race"), category("sex"), isOne("native", "native_country", "United-States"), category("income")}},
	{name: "taxi", title: "taxi trips in Chicago, paid by card", positive: "yes", columns: []modelColumn{
		number("shift", 0, 20), category("company_id"), category("pickup_community_area"),
		category("dropoff_community_area"), number("fare", 0, 10), number("trip_seconds", 0, 10),
		number("trip_miles", 0, 10), isOne("card", "payment_type", "1")}},
}

// number returns a column of whole numbers in a public range.
func number(name string, low, high int) modelColumn {
	return modelColumn{Name: name, Low: low, High: high, from: name}
}

// category returns a column of categories.
func category(name string) modelColumn { return modelColumn{Name: name, from: name} }

// isOne returns the column that says whether another has a value.
func isOne(name, from, value string) modelColumn {
	return modelColumn{Name: name, from: from, rule: func(s string) (string, error) {
		if s == value {
			return "yes", nil
		}
		return "no", nil
	}}
}

// rounded returns the rule that takes a number to a function of it, rounded.
func rounded(f func(float64) float64) func(string) (string, error) {
	return func(s string) (string, error) {
		x, err := strconv.ParseFloat(s, 64)
		return strconv.Itoa(int(math.Round(f(x)))), err
	}
}

// tenLogs takes an amount of money, which is often 0, to a scale whose steps are of 10 %.
func tenLogs(x float64) float64 { return 10 * math.Log1p(x) }

// read returns the rows of a file, and the set with the categories that they have, which are taken as public.
func (s modelSet) read(path string) (modelSet, [][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return s, nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return s, nil, err
	}
	rows := make([][]string, len(lines)-1)
	s.columns = slices.Clone(s.columns)
	for k, c := range s.columns {
		at := slices.Index(lines[0], c.from)
		if at < 0 {
			return s, nil, fmt.Errorf("%s has no column %s", path, c.from)
		}
		seen := map[string]bool{}
		for i, line := range lines[1:] {
			value := line[at]
			if c.rule != nil {
				if value, err = c.rule(value); err != nil {
					return s, nil, fmt.Errorf("%s: row %d, column %s: %w", path, i+1, c.from, err)
				}
			}
			rows[i], seen[value] = append(rows[i], value), true
		}
		if !c.isNumber() {
			s.columns[k].Values = slices.Sorted(maps.Keys(seen))
		}
	}
	return s, rows, nil
}

// target returns the predicted column.
func (s modelSet) target() modelColumn { return s.columns[len(s.columns)-1] }

// by returns the columns that a method gets to predict from.
func (s modelSet) by(linear bool) []modelColumn {
	return slices.DeleteFunc(slices.Clone(s.columns[:len(s.columns)-1]), func(c modelColumn) bool {
		return c.Linear && !linear
	})
}

// writeRows writes rows as CSV.
func (s modelSet) writeRows(path string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var names []string
	for _, c := range s.columns {
		names = append(names, c.Name)
	}
	return errors.Join(csv.NewWriter(f).WriteAll(slices.Concat([][]string{names}, rows)), f.Close())
}

// writeSpec writes the release of a model of the rows of a file. As for the peers, about how many rows there are is
// public.
func (s modelSet) writeSpec(to io.Writer, file, method string, epsilon float64, rows int) error {
	var columns, by []string
	for _, c := range slices.Concat(s.by(method != "additive"), []modelColumn{s.target()}) {
		domain := fmt.Sprintf("{type: integer, range: [%d, %d]}", c.Low, c.High)
		if !c.isNumber() {
			domain = fmt.Sprintf("{values: [%s]}", quoted(c.Values))
		}
		columns, by = append(columns, fmt.Sprintf("      %s: %s\n", c.Name, domain)), append(by, c.Name)
	}
	_, err := fmt.Fprintf(to, `version: 1
release: bench
privacy: {protects: row, neighbours: add-remove}
budget: {epsilon: %v, delta: %v}
tables:
  rows:
    source: {csv: %q}
    unit: row
    expect: {rows: [%d, %d]}
    columns:
%smodels:
  model: {predict: {%s: %q}, by: [%s], method: %s}
`, epsilon, modelDelta, file, rows*9/10, rows*11/10, strings.Join(columns, ""), s.target().Name, s.positive,
		strings.Join(by[:len(by)-1], ", "), method)
	return err
}

// quoted returns texts in quotes, separated by commas.
func quoted(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strconv.Quote(text)
	}
	return strings.Join(all, ", ")
}
