package domain

// This file holds edges: the texts that describe the categories of a range to others, and the domain that follows
// from such texts.

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/dprelease/dprelease/spec/document"
)

// Edges returns the least value of each category of a level, in order, and the largest value of the range, as a spec
// writes them. Categories that were added for unknown or null values have none. ok is false unless the domain is a
// range of numbers, dates or timestamps.
func (d *Domain) Edges(l *Level) (least []string, most string, ok bool) {
	if d.bins == nil {
		return nil, "", false
	}
	s := span{typ: d.typ, den: d.bins.den}
	for base := range d.bins.size() {
		if l.Category(base) == len(least) {
			least = append(least, s.formatPoint(d.bins.cuts[base]))
		}
	}
	last := d.bins.cuts[d.bins.size()]
	if d.bins.whole {
		last--
	}
	return least, s.formatPoint(last), true
}

// NewRange returns the domain of a range whose cells are given by the texts of [Domain.Edges]. It returns an error for
// texts that are no values of the type or do not ascend, and for too many cells.
func NewRange(of Type, least []string, most string) (*Domain, error) {
	if len(least) == 0 || len(least) > MaxCells {
		return nil, fmt.Errorf("a range has 1 to %d cells", MaxCells)
	}
	numbers := make([]*big.Rat, 0, len(least)+1)
	for _, text := range append(least[:len(least):len(least)], most) {
		x, err := readEdge(of, text)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, x)
	}
	s := span{typ: of, den: 1}
	if of == Decimal {
		var err error
		if s.den, err = commonDenominator(numbers); err != nil {
			return nil, err
		}
	}
	s.low, s.high = latticePoint(numbers[0], s.den), latticePoint(numbers[len(least)], s.den)
	cuts := make([]int64, 0, len(least)+1)
	for _, x := range numbers[:len(least)] {
		cuts = append(cuts, latticePoint(x, s.den))
	}
	cuts = append(cuts, s.endCut())
	for k, cut := range cuts[1:] {
		if cuts[k] >= cut {
			return nil, errors.New("the edges of a range ascend")
		}
	}
	return &Domain{typ: of, size: len(least), bins: newBins(cuts, s.den, of != Decimal),
		finest: &Level{Categories: s.binCategories(cutting{cuts: cuts})}}, nil
}

// readEdge reads a value of a type.
func readEdge(of Type, text string) (*big.Rat, error) {
	switch of {
	case Date, Timestamp:
		at, ok := parseMoment(of, text)
		if !ok {
			return nil, fmt.Errorf("an edge of a range is no %s", of)
		}
		return new(big.Rat).SetInt64(at), nil
	case Integer, Decimal:
		x, err := document.ParseNumber(text)
		if err != nil || of == Integer && !x.IsInt() || new(big.Rat).Abs(x).Cmp(big.NewRat(document.MaxWhole, 1)) > 0 {
			return nil, fmt.Errorf("an edge of a range is no %s within ±2^61", of)
		}
		return x, nil
	}
	return nil, errors.New("a range is of integers, decimals, dates or timestamps")
}
