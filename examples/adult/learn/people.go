package main

// This file holds the people: rows of the truth or of microdata, as what a regression reads.

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// attribute is a column as the spec has it: a number of so many steps, or so many categories.
type attribute struct {
	name   string
	size   int
	number bool
}

// income is the column that is learned; its category 1 is above 50 000 dollars.
const income = "income"

// attributes are the columns that it is learned from.
var attributes = []attribute{
	{"age", 85, true}, {"workclass", 9, false}, {"fnlwgt", 100, true}, {"education_num", 16, true},
	{"marital_status", 7, false},
	{"occupation", 15, false}, {"relationship", 6, false}, {"race", 5, false}, {"sex", 2, false},
	{"capital_gain", 100, true},
	{"capital_loss", 100, true}, {"hours_per_week", 99, true}, {"native_country", 42, false},
}

// people are rows: the features of each that are not 0, and whether its income is above.
type people struct {
	features [][]feature
	incomes  []bool
}

// feature is a place among the coefficients of a regression, and the value there.
type feature struct {
	place int
	value float64
}

// coefficients is how many there are: the intercept, one for each number and one for each category.
func coefficients() int {
	n := 1
	for _, a := range attributes {
		n += a.places()
	}
	return n
}

func (a attribute) places() int {
	if a.number {
		return 1
	}
	return a.size
}

// rich is how many incomes are above.
func (p people) rich() (n int) {
	for _, above := range p.incomes {
		if above {
			n++
		}
	}
	return n
}

// add takes a row, as the codes of its columns by name.
func (p *people) add(code func(name string) string) error {
	row := []feature{{0, 1}}
	from := 1
	for _, a := range attributes {
		c, err := strconv.Atoi(code(a.name))
		if err != nil || c < 0 || c >= a.size {
			return fmt.Errorf("row %d: %s is no code from 0 to %d", len(p.incomes)+1, a.name, a.size-1)
		}
		if a.number {
			row = append(row, feature{from, float64(c) / float64(a.size-1)})
		} else {
			row = append(row, feature{from + c, 1})
		}
		from += a.places()
	}
	above := code(income)
	if above != "0" && above != "1" {
		return fmt.Errorf("row %d: %s is not 0 or 1", len(p.incomes)+1, income)
	}
	p.features, p.incomes = append(p.features, row), append(p.incomes, above == "1")
	return nil
}

// places finds the columns of a file.
func places(names []string) (map[string]int, error) {
	at := map[string]int{}
	for i, name := range names {
		at[strings.ReplaceAll(strings.TrimSuffix(name, ">50K"), "-", "_")] = i
	}
	for _, a := range append([]attribute{{name: income}}, attributes...) {
		if _, found := at[a.name]; !found {
			return nil, fmt.Errorf("there is no column %s: make the file as README.md says", a.name)
		}
	}
	return at, nil
}

// readCSV reads rows as prepare writes them.
func readCSV(path string) (p people, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	at, err := places(header)
	for err == nil {
		var row []string
		if row, err = in.Read(); err == nil {
			err = p.add(func(name string) string { return row[at[name]] })
		}
	}
	if !errors.Is(err, io.EOF) {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

// readParquet reads the rows of published microdata.
func readParquet(path string) (p people, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer f.Close()
	r := parquet.NewReader(f)
	defer r.Close()
	var names []string
	for _, column := range r.Schema().Columns() {
		names = append(names, column[0])
	}
	at, err := places(names)
	if err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	rows := make([]parquet.Row, 1000)
	for {
		n, err := r.ReadRows(rows)
		for _, row := range rows[:n] {
			if err := p.add(func(name string) string { return row[at[name]].String() }); err != nil {
				return p, fmt.Errorf("%s: %w", path, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return p, fmt.Errorf("%s: %w", path, err)
		}
	}
}
