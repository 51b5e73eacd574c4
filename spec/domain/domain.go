package domain

// This file holds the domain of a column: its ordered base cells and their coarsenings.

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"

	"github.com/dprelease/dprelease/spec/calendar"
	"github.com/dprelease/dprelease/spec/document"
)

// MaxCells bounds the base cells of a domain.
const MaxCells = 1 << 24

// Domain is the public, ordered set of base cells 0..Size()-1 of a column. It is immutable
// and safe for concurrent use.
type Domain struct {
	of       Type
	size     int
	finest   *Level
	levels   []*Level
	texts    map[string]int // the codes of a domain of texts, nil for a range
	bins     *bins          // the cells of a range, nil for texts
	cells    int            // of a grid, 0 for others
	discover *Discover      // where no category is listed
	added    string         // the category added to a range or grid for unknown values, "" for none
}

// Size is the number of base cells.
func (d *Domain) Size() int { return d.size }

// Ranged reports whether the codes follow from a range, a list of integers or a grid. Codes that a spec or a code book
// lists are names, whatever they look like.
func (d *Domain) Ranged() bool { return d.texts == nil }

// Declared is the number of base cells that the spec declares: all of them but the categories
// behind those of a range or grid that unknown or null adds.
func (d *Domain) Declared() int {
	switch {
	case d.bins != nil:
		return d.bins.size()
	case d.cells > 0:
		return d.cells
	}
	return d.size
}

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

// Categories are those of the finest level, nil where there is none.
func (d *Domain) Categories() []Category {
	if d.finest == nil {
		return nil
	}
	return d.finest.Categories
}

// all are the levels, the finest first where there is one.
func (d *Domain) all() []*Level {
	if d.finest == nil {
		return d.levels
	}
	return append([]*Level{d.finest}, d.levels...)
}

// Add adds a category behind those of a range or grid, to the finest and to every level, and returns its base code. The
// first that was added can be added again, and is the same. It is false for a code that another category has. It is for
// the reading of a domain only.
func (d *Domain) Add(code string) (base int, ok bool) {
	if d.added == code && code != "" {
		return d.Declared(), true
	}
	if d.has(code) {
		return 0, false
	}
	for _, l := range d.all() {
		if l.Of != nil {
			l.Of = append(l.Of, uint32(len(l.Categories)))
		}
		l.Categories = append(l.Categories, Category{Code: code})
	}
	if d.added == "" {
		d.added = code
	}
	d.size++
	return d.size - 1, true
}

// has is true where the finest or any other level has a category of that code.
func (d *Domain) has(code string) bool {
	for _, l := range d.all() {
		if slices.ContainsFunc(l.Categories, func(c Category) bool { return c.Code == code }) {
			return true
		}
	}
	return false
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

// Nearest is the code that a name may mean, "" for none.
func Nearest(s *document.Suggestions, name string, categories []Category) string {
	return s.NearestOf(name, len(categories), func(i int) string { return categories[i].Code })
}

// NoCategory is the problem of a name at a node that is none of the categories of a column.
func NoCategory(f *document.Findings, n document.Node, column string, categories []Category) document.Problem {
	p := document.Problem{Message: fmt.Sprintf("%q is no category of %s", document.Clip(n.Text()), column),
		Expected: SomeOf(categories)}
	return f.WithNearest(n, p, Nearest(&f.Suggestions, n.Text(), categories))
}

// Category is one value of a level. Label is "" where the spec has none.
type Category struct{ Code, Label string }

// CodeOfText is the base code of a text: in a domain of texts the category written so, in a
// range the cell of the number, date or timestamp it reads as. A grid's cells are no texts.
func (d *Domain) CodeOfText(s string) (code int, fit Fit) {
	switch {
	case d.texts != nil:
		return d.lookup(d.texts[s])
	case d.cells > 0:
		return 0, WrongType
	}
	if d.of == Date || d.of == Timestamp {
		at, ok := parseMoment(d.of, s)
		if !ok {
			return 0, NotANumber
		}
		return d.bins.bin(at, true)
	}
	q, ok := parseQuantity(s)
	if !ok {
		return 0, NotANumber
	}
	return d.bins.ofQuantity(q)
}

// lookup turns an entry of texts, which holds codes plus one, into a code.
func (d *Domain) lookup(entry int) (int, Fit) {
	if entry == 0 {
		return 0, OutOfDomain
	}
	return entry - 1, Fits
}

// ofNumbers is true for ranges of integers and decimals.
func (d *Domain) ofNumbers() bool { return d.of == Integer || d.of == Decimal }

// CodeOfInt is the base code of an integer; a domain of texts looks up its digits, and in a grid it is
// the number of a cell.
func (d *Domain) CodeOfInt(v int64) (int, Fit) {
	switch {
	case d.cells > 0 && uint64(v) >= uint64(d.cells):
		return 0, OutOfDomain
	case d.cells > 0:
		return int(v), Fits
	case d.texts != nil:
		var buffer [20]byte
		return d.lookup(d.texts[string(strconv.AppendInt(buffer[:0], v, 10))])
	case d.ofNumbers():
		return d.bins.ofInt(v)
	}
	return 0, WrongType
}

// CodeOfFloat is the base code of a float64, read as its shortest decimal that reads back the
// same; a domain of texts looks up that decimal.
func (d *Domain) CodeOfFloat(v float64) (int, Fit) {
	switch {
	case math.IsNaN(v):
		return 0, NaN
	case math.IsInf(v, 0):
		return 0, Infinite
	case d.texts != nil && v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return d.CodeOfInt(int64(v)) // of the same digits; zero has no minus sign
	case d.texts != nil:
		var buffer [400]byte
		text, _ := AppendFloat(buffer[:0], v)
		return d.lookup(d.texts[string(text)])
	case d.ofNumbers():
		return d.bins.ofFloat(v)
	}
	return 0, WrongType
}

// CodeOfDecimal is the base code of unscaled·10^-scale; a domain of texts looks it up without
// trailing zeros.
func (d *Domain) CodeOfDecimal(unscaled *big.Int, scale int32) (int, Fit) {
	switch {
	case d.texts != nil:
		text, ok := AppendDecimal(nil, unscaled, scale)
		if !ok {
			return 0, OutOfDomain
		}
		return d.lookup(d.texts[string(text)])
	case d.ofNumbers():
		return d.bins.ofQuantity(quantityOfDecimal(unscaled, scale))
	}
	return 0, WrongType
}

// CodeOfBool is the base code of a boolean: a domain of texts looks up true or false.
func (d *Domain) CodeOfBool(v bool) (int, Fit) {
	if d.texts == nil {
		return 0, WrongType
	}
	return d.lookup(d.texts[strconv.FormatBool(v)])
}

// CodeOfDate is the base code of a date in days since 1970-01-01; a domain of texts looks it
// up as 2024-01-31.
func (d *Domain) CodeOfDate(days int32) (int, Fit) {
	switch {
	case d.texts != nil:
		var buffer [16]byte
		return d.lookup(d.texts[string(AppendDate(buffer[:0], int64(days)))])
	case d.of == Date:
		return d.bins.bin(int64(days), true)
	}
	return 0, WrongType
}

// CodeOfTimestamp is the base code of a timestamp in microseconds since
// 1970-01-01T00:00:00, without zone. A range of dates takes timestamps at midnight.
func (d *Domain) CodeOfTimestamp(micros int64) (int, Fit) {
	switch {
	case d.texts != nil:
		return 0, WrongType
	case d.of == Timestamp:
		return d.bins.bin(micros, true)
	case d.of == Date && micros%calendar.MicrosPerDay == 0:
		return d.bins.bin(micros/calendar.MicrosPerDay, true)
	case d.of == Date:
		return 0, OutOfDomain
	}
	return 0, WrongType
}

// NewTexts makes a domain of texts. Codes are distinct.
func NewTexts(of Type, categories []Category) *Domain {
	d := &Domain{of: of, size: len(categories), finest: &Level{Categories: categories}}
	d.texts = make(map[string]int, len(categories))
	for i, c := range categories {
		d.texts[c.Code] = i + 1
	}
	return d
}

var canonicalInteger = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// IsInteger reports whether a text is an integer as integers are written: digits without leading zeros.
func IsInteger(text string) bool { return canonicalInteger.MatchString(text) }

// SomeOf lists the first of a column's categories.
func SomeOf(categories []Category) string {
	const shown = 8
	var names []string
	for _, c := range categories[:min(len(categories), shown)] {
		names = append(names, document.Clip(c.Code))
	}
	list := document.OneOf(names)
	if more := len(categories) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// Discover says that the categories of a column are not listed: they are the values that its rows have.
type Discover struct {
	// MaxLength is how many characters a value has at most that can be a category.
	MaxLength int64
	// AtLeast is how many units a group has at least that may appear, 0 for no such rule.
	AtLeast int64
}

// Merged puts the categories of two levels of a domain into the smallest groups of which each is a union of categories
// of both, in the order of their first base cells.
func Merged(base int, first, second *Level) (ofFirst, ofSecond []int, groups int) {
	parent := make([]int, first.Size()+second.Size())
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for b := range base {
		x, y := find(first.Category(b)), find(first.Size()+second.Category(b))
		parent[max(x, y)] = min(x, y)
	}
	number := make([]int, len(parent))
	for i := range parent { // a root comes before the others of its group
		if find(i) == i {
			number[i], groups = groups, groups+1
		} else {
			number[i] = number[find(i)]
		}
	}
	return number[:first.Size()], number[first.Size():], groups
}

// Category is the category of a base cell.
func (l *Level) Category(base int) int {
	if l.Of == nil {
		return base
	}
	return int(l.Of[base])
}
