package spec

// This file holds the domain of a column: its ordered base cells and their coarsenings.

import "math/big"

// Domain is the public, ordered set of base cells 0..Size()-1 of a column. It is immutable
// and safe for concurrent use.
type Domain struct {
	size   int
	finest *Level
	levels []*Level
}

// Size is the number of base cells.
func (d *Domain) Size() int { return d.size }

// Level returns the level of that name; "" is the finest. It is false where there is no
// such level, or no finest one (a decimal or timestamp range without step).
func (d *Domain) Level(name string) (*Level, bool) {
	if name == "" {
		return d.finest, d.finest != nil
	}
	for _, l := range d.levels {
		if l.Name == name {
			return l, true
		}
	}
	return nil, false
}

// LevelNames are the declared levels in spec order, without "".
func (d *Domain) LevelNames() []string {
	names := make([]string, len(d.levels))
	for i, l := range d.levels {
		names[i] = l.Name
	}
	return names
}

// Level is a coarsening of a domain. Of[base code] is the code at this level; nil is the
// identity.
type Level struct {
	Name       string
	Categories []Category
	Of         []uint32
}

// Size is the number of categories of the level.
func (l *Level) Size() int { return len(l.Categories) }

// Category is one value of a level. Label is "" where the spec has none.
type Category struct{ Code, Label string }

// CodeOfText is the base code of a text.
func (d *Domain) CodeOfText(s string) (code int, fit Fit) { return 0, WrongType }

// CodeOfInt is the base code of an integer.
func (d *Domain) CodeOfInt(v int64) (int, Fit) { return 0, WrongType }

// CodeOfFloat is the base code of a float64, read as its shortest decimal.
func (d *Domain) CodeOfFloat(v float64) (int, Fit) { return 0, WrongType }

// CodeOfDecimal is the base code of unscaled·10^-scale.
func (d *Domain) CodeOfDecimal(unscaled *big.Int, scale int32) (int, Fit) { return 0, WrongType }

// CodeOfBool is the base code of a boolean.
func (d *Domain) CodeOfBool(v bool) (int, Fit) { return 0, WrongType }

// CodeOfDate is the base code of a date in days since 1970-01-01.
func (d *Domain) CodeOfDate(days int32) (int, Fit) { return 0, WrongType }

// CodeOfTimestamp is the base code of a timestamp in microseconds since
// 1970-01-01T00:00:00, without zone.
func (d *Domain) CodeOfTimestamp(micros int64) (int, Fit) { return 0, WrongType }
