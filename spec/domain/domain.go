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

// MaxCells bounds the number of base cells of a domain.
const MaxCells = 1 << 24

// Domain is the public, ordered set of base cells 0..Size()-1 of a column. It is immutable and safe for concurrent use.
type Domain struct {
	typ        Type
	size       int
	finest     *Level
	levels     []*Level
	codeOfText map[string]int // codes plus one, by text, of a domain of texts; nil for a range
	bins       *bins          // the cells of a range, nil for texts
	gridCells  int            // the number of cells of a grid, 0 for others
	discover   *Discover      // set where no category is listed
	added      string         // the first category added to a range or grid for unknown values, "" for none
}

// Size returns the number of base cells.
func (d *Domain) Size() int { return d.size }

// Ranged reports whether the codes are computed from a range, a list of integers or a grid. Codes that a spec or a code
// book lists are names, even if they look like numbers.
func (d *Domain) Ranged() bool { return d.codeOfText == nil }

// Declared returns the number of base cells that the spec declares: all of them except the categories that unknown or
// null adds after the cells of a range or grid.
func (d *Domain) Declared() int {
	switch {
	case d.bins != nil:
		return d.bins.size()
	case d.gridCells > 0:
		return d.gridCells
	}
	return d.size
}

// Level returns the level of that name; "" names the finest. ok is false if there is no such level, or no finest one (a
// decimal or timestamp range without a step).
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

// LevelNames returns the names of the declared levels in spec order, without "".
func (d *Domain) LevelNames() []string {
	names := make([]string, len(d.levels))
	for i, l := range d.levels {
		names[i] = l.Name
	}
	return names
}

// Categories returns the categories of the finest level, nil if there is none.
func (d *Domain) Categories() []Category {
	if d.finest == nil {
		return nil
	}
	return d.finest.Categories
}

// allLevels returns all levels, the finest first where there is one.
func (d *Domain) allLevels() []*Level {
	if d.finest == nil {
		return d.levels
	}
	return append([]*Level{d.finest}, d.levels...)
}

// Add appends a category to the cells of a range or grid, at every level, and returns its base code. Adding the first
// added category again returns the same code. ok is false if another category has the code. Only the reader of a domain
// may call it.
func (d *Domain) Add(code string) (base int, ok bool) {
	if d.added == code && code != "" {
		return d.Declared(), true
	}
	if d.hasCode(code) {
		return 0, false
	}
	for _, l := range d.allLevels() {
		if l.CategoryOf != nil {
			l.CategoryOf = append(l.CategoryOf, uint32(len(l.Categories)))
		}
		l.Categories = append(l.Categories, Category{Code: code})
	}
	if d.added == "" {
		d.added = code
	}
	d.size++
	return d.size - 1, true
}

// hasCode reports whether a category of any level has that code.
func (d *Domain) hasCode(code string) bool {
	for _, l := range d.allLevels() {
		if slices.ContainsFunc(l.Categories, func(c Category) bool { return c.Code == code }) {
			return true
		}
	}
	return false
}

// Level is a coarsening of a domain. Of maps a base code to a code of this level; nil is the identity.
type Level struct {
	Name       string
	Categories []Category
	CategoryOf []uint32
}

// Size returns the number of categories of the level.
func (l *Level) Size() int { return len(l.Categories) }

// Nearest returns the code that a misspelt name may mean, "" for none.
func Nearest(s *document.Suggestions, name string, categories []Category) string {
	return s.NearestOf(name, len(categories), func(i int) string { return categories[i].Code })
}

// NoCategory returns the problem for a node whose text is not a category of the column.
func NoCategory(f *document.Findings, n document.Node, column string, categories []Category) document.Problem {
	p := document.Problem{Message: fmt.Sprintf("%q is no category of %s", document.Clip(n.Text()), column),
		Expected: FirstFewOf(categories)}
	return f.WithNearest(n, p, Nearest(&f.Suggestions, n.Text(), categories))
}

// Category is one value of a level. Label is "" if the spec gives none.
type Category struct{ Code, Label string }

// CodeOfText returns the base code of a text: in a domain of texts the category with this code, in a range the cell of
// the number, date or timestamp that the text denotes. A grid has no codes for texts.
func (d *Domain) CodeOfText(s string) (code int, fit Fit) {
	switch {
	case d.codeOfText != nil:
		return d.lookup(d.codeOfText[s])
	case d.gridCells > 0:
		return 0, WrongType
	}
	if d.typ == Date || d.typ == Timestamp {
		at, ok := parseMoment(d.typ, s)
		if !ok {
			return 0, NotANumber
		}
		return d.bins.binOfPoint(at, true)
	}
	q, ok := parseQuantity(s)
	if !ok {
		return 0, NotANumber
	}
	return d.bins.binOfQuantity(q)
}

// lookup converts an entry of codeOfText, which is a code plus one, to the code.
func (d *Domain) lookup(entry int) (int, Fit) {
	if entry == 0 {
		return 0, OutOfDomain
	}
	return entry - 1, Fits
}

// isNumeric reports whether the domain is a range of integers or decimals.
func (d *Domain) isNumeric() bool { return d.typ == Integer || d.typ == Decimal }

// CodeOfInt returns the base code of an integer. A domain of texts looks up its digits; in a grid the integer is the
// number of a cell.
func (d *Domain) CodeOfInt(v int64) (int, Fit) {
	switch {
	case d.gridCells > 0 && uint64(v) >= uint64(d.gridCells):
		return 0, OutOfDomain
	case d.gridCells > 0:
		return int(v), Fits
	case d.codeOfText != nil:
		var buffer [20]byte
		return d.lookup(d.codeOfText[string(strconv.AppendInt(buffer[:0], v, 10))])
	case d.isNumeric():
		return d.bins.binOfInt(v)
	}
	return 0, WrongType
}

// CodeOfFloat returns the base code of a float64, taken as the shortest decimal that reads back as the same float64. A
// domain of texts looks up that decimal.
func (d *Domain) CodeOfFloat(v float64) (int, Fit) {
	switch {
	case math.IsNaN(v):
		return 0, NaN
	case math.IsInf(v, 0):
		return 0, Infinite
	case d.codeOfText != nil && v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return d.CodeOfInt(int64(v)) // the digits are the same, and zero has no minus sign
	case d.codeOfText != nil:
		var buffer [400]byte
		text, _ := AppendFloat(buffer[:0], v)
		return d.lookup(d.codeOfText[string(text)])
	case d.isNumeric():
		return d.bins.binOfFloat(v)
	}
	return 0, WrongType
}

// CodeOfDecimal returns the base code of unscaled·10^-scale. A domain of texts looks it up without trailing zeros.
func (d *Domain) CodeOfDecimal(unscaled *big.Int, scale int32) (int, Fit) {
	switch {
	case d.codeOfText != nil:
		text, ok := AppendDecimal(nil, unscaled, scale)
		if !ok {
			return 0, OutOfDomain
		}
		return d.lookup(d.codeOfText[string(text)])
	case d.isNumeric():
		return d.bins.binOfQuantity(quantityOfDecimal(unscaled, scale))
	}
	return 0, WrongType
}

// CodeOfBool returns the base code of a boolean. A domain of texts looks up true or false.
func (d *Domain) CodeOfBool(v bool) (int, Fit) {
	if d.codeOfText == nil {
		return 0, WrongType
	}
	return d.lookup(d.codeOfText[strconv.FormatBool(v)])
}

// CodeOfDate returns the base code of a date in days since 1970-01-01. A domain of texts looks it up in the form
// 2024-01-31.
func (d *Domain) CodeOfDate(days int32) (int, Fit) {
	switch {
	case d.codeOfText != nil:
		var buffer [16]byte
		return d.lookup(d.codeOfText[string(AppendDate(buffer[:0], int64(days)))])
	case d.typ == Date:
		return d.bins.binOfPoint(int64(days), true)
	}
	return 0, WrongType
}

// CodeOfTimestamp returns the base code of a timestamp in microseconds since 1970-01-01T00:00:00, without a time zone.
// A range of dates accepts timestamps at midnight.
func (d *Domain) CodeOfTimestamp(micros int64) (int, Fit) {
	switch {
	case d.codeOfText != nil:
		return 0, WrongType
	case d.typ == Timestamp:
		return d.bins.binOfPoint(micros, true)
	case d.typ == Date && micros%calendar.MicrosPerDay == 0:
		return d.bins.binOfPoint(micros/calendar.MicrosPerDay, true)
	case d.typ == Date:
		return 0, OutOfDomain
	}
	return 0, WrongType
}

// NewTexts returns a domain of texts. The codes must be distinct.
func NewTexts(of Type, categories []Category) *Domain {
	d := &Domain{typ: of, size: len(categories), finest: &Level{Categories: categories}}
	d.codeOfText = make(map[string]int, len(categories))
	for i, c := range categories {
		d.codeOfText[c.Code] = i + 1
	}
	return d
}

var canonicalInteger = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// IsInteger reports whether a text is an integer in canonical form: digits without leading zeros.
func IsInteger(text string) bool { return canonicalInteger.MatchString(text) }

// FirstFewOf lists the first few of a column's categories.
func FirstFewOf(categories []Category) string {
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

// Discover describes a column whose categories are not listed: they are the values that occur in its rows.
type Discover struct {
	// MaxLength is the largest number of characters of a value that can be a category.
	MaxLength int64
	// AtLeast is the least number of units in a group that may appear; 0 sets no minimum.
	AtLeast int64
	// Alphabet are the characters that texts are continued by, where reports of randomised answers are searched; "" for
	// rows.
	Alphabet string
}

// Merged unites the categories of two levels of a domain into the smallest groups that are unions of categories of
// both, ordered by their first base cells. It returns the group of each category of either level, and the number of
// groups.
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
	for i := range parent { // a root comes before the other members of its group
		if find(i) == i {
			number[i], groups = groups, groups+1
		} else {
			number[i] = number[find(i)]
		}
	}
	return number[:first.Size()], number[first.Size():], groups
}

// Category returns the category of a base cell.
func (l *Level) Category(base int) int {
	if l.CategoryOf == nil {
		return base
	}
	return int(l.CategoryOf[base])
}
