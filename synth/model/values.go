package model

// This file holds Values: how a value of a row falls into a category of a model's column.

import (
	"errors"
	"fmt"

	"github.com/dprelease/dprelease/spec/domain"
)

// Values says in which category of a model's column each value of a column of rows is: by ranges, by lists of values,
// or, without either, because the categories are the values.
type Values struct {
	Column string `json:"column"` // of the rows, such as age for the categories of age.band
	// Type is the type of a range: integer, decimal, date or timestamp. Least has the least value of each of its
	// categories, in order, and Most the largest value of the last. Categories after these stand for values beyond the
	// range, and for missing ones.
	Type  domain.Type `json:"type,omitempty"`
	Least []string    `json:"least,omitempty"`
	Most  string      `json:"most,omitempty"`
	// Of has the values of each category.
	Of [][]string `json:"of,omitempty"`
	// Missing is the category of a missing value; "" if rows cannot lack one.
	Missing string `json:"missing,omitempty"`
}

// Codes gives values the index of their category. Code is the index of a category by name, and Of that of a cell of
// Domain; Domain is nil if the values are the categories, and Categories if values are numbers. Missing is −1 if rows
// cannot lack a value.
type Codes struct {
	Domain     *domain.Domain
	Of         []int
	Categories *domain.Domain
	Missing    int
}

// IsNumber reports whether a column is a number, whose value predicts and not a category of it.
func (c Labels) IsNumber() bool { return c.Categories == nil }

// check returns an error unless values can be read.
func (c Labels) check() error {
	if _, err := c.Codes(); err != nil || c.Values == nil {
		return err
	}
	_, err := c.ValueCodes()
	return err
}

// Codes returns how values of a column's own name are read: as categories and, if the column of rows has the same name,
// as values. The result for values of another column, Values.Column, is that of [Labels.ValueCodes].
func (c Labels) Codes() (*Codes, error) {
	if c.Values != nil && c.Values.Column == c.Name {
		return c.ValueCodes()
	}
	if c.IsNumber() {
		return nil, errNoRange
	}
	named, err := textsOf(c.Categories)
	return &Codes{Categories: named, Missing: -1}, err
}

var errNoRange = errors.New("a number has a range of integers")

// numberCodes returns how a number is read: one that fits is in the only cell.
func (c Labels) numberCodes() (*Codes, error) {
	v := c.Values
	if v.Column != c.Name || v.Type != domain.Integer || len(v.Least) != 1 || v.Of != nil || v.Missing != "" {
		return nil, errNoRange
	}
	d, err := domain.NewRange(v.Type, v.Least, v.Most)
	return &Codes{Domain: d, Of: []int{0}, Missing: -1}, err
}

// ValueCodes returns how values of the column of rows are read that the categories are made of. It returns an error for
// a column without one, and for ranges and lists that make no categories.
func (c Labels) ValueCodes() (*Codes, error) {
	v := c.Values
	switch {
	case v == nil || v.Column == "":
		return nil, errors.New("its categories are made of no column")
	case c.IsNumber():
		return c.numberCodes()
	}
	codes := &Codes{Missing: -1}
	named, err := textsOf(c.Categories)
	if err != nil {
		return nil, err
	}
	switch {
	case v.Of != nil && (v.Type != "" || v.Least != nil || v.Most != ""):
		return nil, errors.New("it has both a range and lists of values")
	case v.Of != nil:
		err = codes.readLists(v.Of, len(c.Categories))
	case v.Type != "" || v.Least != nil || v.Most != "":
		if len(v.Least) > len(c.Categories) {
			return nil, errors.New("its range has more parts than it has categories")
		}
		if codes.Domain, err = domain.NewRange(v.Type, v.Least, v.Most); err == nil {
			for k := range v.Least {
				codes.Of = append(codes.Of, k)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if v.Column == c.Name || codes.Domain == nil {
		codes.Categories = named
	}
	if v.Missing != "" {
		at, fit := named.CodeOfText(v.Missing)
		if fit != domain.Fits {
			return nil, errors.New("missing values have no category of it")
		}
		codes.Missing = at
	}
	return codes, nil
}

// readLists reads the values of each category.
func (c *Codes) readLists(of [][]string, categories int) (err error) {
	if len(of) != categories {
		return fmt.Errorf("it has lists of values for %d of %d categories", len(of), categories)
	}
	var all []string
	for k, values := range of {
		all = append(all, values...)
		for range values {
			c.Of = append(c.Of, k)
		}
	}
	c.Domain, err = textsOf(all)
	return err
}

// textsOf returns the domain of distinct texts.
func textsOf(texts []string) (*domain.Domain, error) {
	seen := make(map[string]bool, len(texts))
	categories := make([]domain.Category, len(texts))
	for i, text := range texts {
		if seen[text] {
			return nil, fmt.Errorf("it has %q twice", text)
		}
		seen[text], categories[i].Code = true, text
	}
	return domain.NewTexts(domain.Text, categories), nil
}

// Code returns the index of the category of a value, which read looks up in a domain. A value that is a category by
// name needs no range; any other must be in the range or the lists.
func (c *Codes) Code(read func(*domain.Domain) (int, domain.Fit)) (int, domain.Fit) {
	fit := domain.OutOfDomain
	if c.Domain != nil {
		base, found := read(c.Domain)
		if found == domain.Fits {
			return c.Of[base], found
		}
		fit = found
	}
	if c.Categories != nil {
		if at, found := read(c.Categories); found == domain.Fits {
			return at, found
		}
	}
	return 0, fit
}
