package domain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/files"
	"github.com/dprelease/dprelease/spec/language"
)

// This file reads a column's domain from lists of categories and code books.

// Read reads what a column declares: its type, its domain and its lattice. The domain is nil if the column has a
// problem, or if it has too many cells and only a lattice.
func (r *Reader) Read(n document.Node) Declaration {
	c := Declaration{Type: Type(n.Get("type").TextOr(string(Text)))}
	if levels := n.Get("levels"); levels.Is(quadtree) && !n.Get("grid").Present() {
		r.AddProblem(levels, document.Problem{Message: "quadtree levels belong to a grid",
			Expected: "levels of this kind of domain"})
		return c
	}
	before := r.Count()
	var d *Domain
	switch {
	case n.Get("range").Present():
		d = r.readRange(&c, n)
	case n.Get("grid").Present():
		d = r.readGrid(&c, n)
	case n.Get("codebook").Present():
		d = r.readCodebook(&c, n)
	case n.Get("values").Get("discover").Present():
		d = r.readDiscover(&c, n)
	case n.Get("values").Get("integers").Present():
		d = r.readIntegers(&c, n)
	default:
		d = r.readValues(&c, n)
	}
	switch {
	case r.Count() > before:
		c.Lattice = nil
	case d == nil || d.bins != nil || r.Spend(n, d.size, d.size*len(d.levels)):
		c.Domain = d
	}
	return c
}

func (r *Reader) readValues(c *Declaration, n document.Node) *Domain {
	items := n.Get("values").Items()
	if len(items) > MaxCells {
		r.AddProblem(n.Get("values"), document.Problem{Message: ErrTooFine.Error(), Expected: "fewer categories"})
		return nil
	}
	categories, seen := make([]Category, len(items)), map[string]int{}
	for i, item := range items {
		if first := seen[item.Text()]; first > 0 {
			r.AddProblem(item, document.Problem{
				Message:  fmt.Sprintf("duplicate category %q", document.Clip(item.Text())),
				Expected: fmt.Sprintf("each category once; it is number %d already", first),
			})
			continue
		}
		seen[item.Text()] = i + 1
		categories[i].Code = item.Text()
		r.checkReading(c, item)
	}
	d := NewTexts(c.Type, categories)
	levels := n.Get("levels")
	if levels.Present() && levels.Items() != nil {
		r.AddProblem(levels, document.Problem{Message: "a list of levels belongs to a code book",
			Expected: "groups, such as {half: {first: [a, b], second: [c]}}"})
		return d
	}
	for _, pair := range levels.Pairs() {
		d.levels = append(d.levels, r.readGroups(d, pair))
	}
	return d
}

// listableTypes are the types other than text whose values can be listed, and how these are written.
var listableTypes = map[Type]struct {
	matches       func(text string) bool
	expected, fix string
}{
	Integer: {IsInteger, "digits without leading zeros, or type: text", ""},
	Boolean: {func(text string) bool { return text == "true" || text == "false" }, "true and false",
		`values: ["false", "true"]`},
	Date: {IsDate, "dates as 2024-01-31", ""},
}

// checkReading reports a category that no value of the column's type can match.
func (r *Reader) checkReading(c *Declaration, item document.Node) {
	rule, isListed := listableTypes[c.Type]
	switch {
	case c.Type == Text:
	case !isListed:
		r.AddProblem(item, document.Problem{Message: fmt.Sprintf("values of type %s cannot be listed", c.Type),
			Expected: "a range, or type: text"})
	case !rule.matches(item.Text()):
		r.AddProblem(item, document.Problem{Message: fmt.Sprintf("%q is never the text of a value of type %s",
			document.Clip(item.Text()), c.Type), Expected: rule.expected, Fix: rule.fix})
	}
}

// joinFirst joins the first few of some names.
func joinFirst(names []string) string {
	if len(names) > 5 {
		names = append(names[:5], "…")
	}
	return strings.Join(names, ", ")
}

// readGroups reads a level of groups, which partition the categories.
func (r *Reader) readGroups(d *Domain, n document.Node) *Level {
	l := &Level{Name: n.Key.Value, CategoryOf: make([]uint32, d.size)}
	if n.Get("width").Present() || n.Get("edges").Present() {
		r.AddProblem(n, document.Problem{Message: "width and edges belong to a range",
			Expected: "groups, each with the list of its categories"})
		return l
	}
	group := make([]string, d.size)
	placed := make([]bool, d.size)
	for i, g := range n.Pairs() {
		l.Categories = append(l.Categories, Category{Code: g.Key.Value})
		for _, item := range g.Items() {
			code, fit := d.CodeOfText(item.Text())
			switch {
			case fit != Fits:
				r.AddProblem(item, NoCategory(r.Findings, item, "this column", d.Categories()))
			case placed[code]:
				r.AddProblem(item, document.Problem{
					Message: fmt.Sprintf("category %q is in two groups", document.Clip(item.Text())),
					Expected: fmt.Sprintf("each category in one group; it is in %q already",
						document.Clip(group[code])),
				})
			default:
				placed[code], group[code], l.CategoryOf[code] = true, g.Key.Value, uint32(i)
			}
		}
	}
	var missing []string
	for code, ok := range placed {
		if !ok {
			missing = append(missing, strconv.Quote(document.Clip(d.Categories()[code].Code)))
		}
	}
	if len(missing) > 0 {
		r.WrongKey(n, document.Problem{Message: "no group holds " + joinFirst(missing),
			Expected: "each category in one group"})
	}
	return l
}

func (r *Reader) readCodebook(c *Declaration, n document.Node) *Domain {
	at := n.Get("codebook")
	if c.Type != Text && c.Type != Integer {
		r.AddProblem(n.Get("type"), document.Problem{Message: "a code book of type " + string(c.Type),
			Expected: "text or integer"})
		return nil
	}
	b := r.openCodebook(at)
	if b == nil {
		return nil
	}
	c.Codebook = b.File
	d := NewTexts(c.Type, b.codeCategories())
	if outlines := n.Get("map"); outlines.Present() {
		if c.Map = r.readBoundaries(d, outlines); c.Map == nil {
			return nil
		}
	}
	if c.Type == Integer {
		for i, category := range d.Categories() {
			if !IsInteger(category.Code) {
				r.ReportIn(at.Value, at.Path,
					*b.Problem(b.RowLines[i], 1, fmt.Sprintf("%q is no integer as integers are written",
						document.Clip(category.Code)),
						"digits without leading zeros, or type: text"))
				return nil
			}
		}
	}
	levels := n.Get("levels")
	switch {
	case !levels.Present():
	case levels.Items() == nil:
		r.AddProblem(levels, document.Problem{
			Message: "the levels of a code book are its columns", Expected: "a list of columns, coarse to fine",
			Fix: "levels: [" + strings.Join(b.levelColumns(), ", ") + "]",
		})
	default:
		d.levels = r.readBookLevels(b, d, levels.Items(), at)
	}
	return d
}

// openCodebook reads a code book, once for each path.
func (r *Reader) openCodebook(n document.Node) *codebook {
	path, ok := r.params.Fill(n)
	if !ok {
		return nil
	}
	if b, done := r.books[path]; done && b != nil {
		return b
	}
	text, ok := r.files.ReadText(n, files.CodeBook, path)
	if !ok {
		return nil
	}
	b, problem := parseCodebook(path, text)
	if problem != nil {
		r.ReportIn(n.Value, n.Path, *problem)
		return nil
	}
	r.files.KeepColumns(path, text, &b.Table, b.codeColumns())
	r.books[path] = b
	return b
}

// readBookLevels reads the levels of a code book, coarse to fine. The last may be the codes themselves.
func (r *Reader) readBookLevels(b *codebook, d *Domain, items []document.Node, at document.Node) []*Level {
	var levels []*Level
	for i, item := range items {
		name := item.Text()
		if slices.ContainsFunc(levels, func(l *Level) bool { return l.Name == name }) {
			r.AddProblem(item, document.Problem{Message: fmt.Sprintf("level %q appears twice", name),
				Expected: "each level once"})
			return nil
		}
		l := r.readBookLevel(b, d, items, i, at)
		if l == nil {
			return nil
		}
		if i > 0 && l.CategoryOf != nil {
			if p := b.checkNesting(levels[i-1], l); p != nil {
				r.ReportIn(at.Value, at.Path, *p)
				return nil
			}
		}
		levels = append(levels, l)
	}
	return levels
}

func (r *Reader) readBookLevel(b *codebook, d *Domain, items []document.Node, i int, at document.Node) *Level {
	item, last := items[i], i == len(items)-1
	name := item.Text()
	column := slices.Index(b.Header, name)
	if column > 0 && !b.codeColumns()[name] {
		r.AddProblem(item, document.Problem{Message: fmt.Sprintf("%s is a column of labels", document.Clip(name)),
			Expected: "a column of codes; labels name categories, and can change without another plan"})
		return nil
	}
	if column > 0 {
		l, p := b.columnLevel(column)
		if p != nil {
			r.ReportIn(at.Value, at.Path, *p)
			return nil
		}
		return l
	}
	isCode := column == 0 || name == "code"
	near := r.Nearest(name, unusedNames(b.levelColumns(), items))
	switch {
	case last && (isCode || near == ""):
		if i == 0 && !isCode && len(b.levelColumns()) > 0 {
			r.Warn(item.Position(), item.Path, document.Problem{
				Expected: document.OneOf(b.levelColumns()) + ", if the level is to be coarser than the codes",
			}, language.Key("%s has no column %q: the level is another name for the codes themselves"), b.File,
				document.Clip(name))
		}
		return &Level{Name: name, Categories: d.Categories()}
	case isCode:
		r.AddProblem(item, document.Problem{Message: fmt.Sprintf("level %q is the codes themselves, the finest", name),
			Expected: "it as the last level"})
	default:
		p := document.Problem{
			Message: fmt.Sprintf("%s has no column %q", b.File, document.Clip(name)),
			Expected: document.OneOf(b.Header) +
				"; only the last level may have a name of its own, for the codes themselves",
		}
		r.AddProblem(item, r.WithNearest(item, p, near))
	}
	return nil
}

// unusedNames returns the names that no item has.
func unusedNames(names []string, items []document.Node) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(items, func(item document.Node) bool { return item.Text() == name })
	})
}
