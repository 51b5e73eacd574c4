package spec

// This file reads expressions: the values of a column, and the rows of a table that count.

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/dprelease/dprelease/spec/domain"

	"github.com/dprelease/dprelease/spec/document"
	"github.com/dprelease/dprelease/spec/expression"
)

// equalsMark matches the equals sign with which an expression may begin.
var equalsMark = regexp.MustCompile(`^\s*=`)

// sourceColumn returns the column of the source that a text names, plainly or in backticks. Any other text is a column
// of a public table or an expression. YAML's quotes around a text make no difference.
func sourceColumn(from document.Node) (name string, ok bool) {
	if plainName.MatchString(from.Text()) {
		return from.Text(), true
	}
	return expression.Name(from.Text())
}

var plainName = regexp.MustCompile(`^` + plainSyntax + `$`)

// readExpression reads an expression over a table. It returns nil if a problem was reported. columns is the node of the
// table's columns, which declare the types of source columns.
func (r *reader) readExpression(t *Table, n, columns document.Node) *Expression {
	text := n.Text()
	mark := len(equalsMark.FindString(text))
	read, err := expression.Parse(text[mark:], declaredColumns(columns))
	if err != nil {
		var wrong *expression.Error
		errors.As(err, &wrong) // Parse returns no other type
		r.reportExpression(n, mark, wrong)
		return nil
	}
	e := &Expression{Expression: read}
	for _, in := range read.Inputs() {
		names := []string{in.Name}
		if in.Table != "" {
			j, ok := r.lookUp(t, n, in.Table, in.Name)
			if !ok {
				return nil
			}
			names = j.On
		}
		for _, name := range names {
			if !slices.Contains(e.sources, name) {
				e.sources = append(e.sources, name)
			}
		}
	}
	return e
}

// reportExpression reports a problem of an expression at its position within the line.
func (r *reader) reportExpression(n document.Node, mark int, wrong *expression.Error) {
	text := n.Text()
	at, end := min(mark+wrong.At, len(text)), min(mark+wrong.End, len(text))
	p := document.Problem{Message: wrong.Message, Expected: wrong.Expected}
	if wrong.Fix != "" {
		p.Fix = r.RepairedLine(n.Value, text[:at]+wrong.Fix+text[end:])
	}
	if p.Nearest = r.Nearest(wrong.Unknown, wrong.Among); p.Nearest != "" {
		p.Fix = r.RepairedLine(n.Value, text[:at]+p.Nearest+text[end:])
	}
	r.MarkUnsound(n)
	column := n.Value.Column
	if n.IsQuoted() {
		column++
	}
	line, before := []rune(r.Line(n.Value.Line)), len([]rune(text[:at]))
	if whole := []rune(text); column >= 1 && column-1+len(whole) <= len(line) &&
		string(line[column-1:column-1+len(whole)]) == text {
		r.ReportAt(n.Value.Line, column+before, n.Path, p)
		return
	}
	p.Message = fmt.Sprintf("character %d: %s", before+1, p.Message)
	r.AddProblem(n, p)
}

// declaredColumns returns the kinds that the columns of a table declare for the source columns they read, and the
// decimal places of numbers. Type text declares nothing, because it is the default.
func declaredColumns(columns document.Node) func(table, name string) expression.Column {
	declaredAs := map[string]expression.Column{}
	for _, c := range columns.Pairs() {
		name := c.Key.Value
		if from := c.Get("from"); from.Present() {
			var ok bool
			if name, ok = sourceColumn(from); !ok {
				continue
			}
		}
		declared := expression.Column{}
		switch of := c.Get("type"); {
		case c.Get("derived_from").Present() || c.Get("grid").Present():
			continue
		case c.Get("values").Get("integers").Present():
			declared.Kind = expression.Number
		case of.Present():
			declared.Kind = kindByType[domain.Type(of.Text())]
			if domain.Type(of.Text()) == domain.Decimal {
				declared.DecimalPlaces = stepPlaces(c.Get("step"))
			}
		}
		if before, twice := declaredAs[name]; twice && before != declared {
			declared = expression.Column{}
		}
		declaredAs[name] = declared
	}
	return func(table, name string) expression.Column {
		if table != "" {
			return expression.Column{}
		}
		return declaredAs[name]
	}
}

var kindByType = map[domain.Type]expression.Kind{
	domain.Integer: expression.Number, domain.Decimal: expression.Number, domain.Date: expression.Date,
	domain.Timestamp: expression.Timestamp, domain.Boolean: expression.Boolean}

// stepPlaces returns the number of decimal places of a step's multiples, −1 if it is not known.
func stepPlaces(step document.Node) int {
	x, err := document.ParseNumber(step.Text())
	if err != nil {
		return -1
	}
	if places, exact := x.FloatPrec(); exact && places <= 18 {
		return places
	}
	return -1
}

// readPredicate reads which rows of a table count. It returns nil if the spec gives no condition or a problem was
// reported.
func (r *reader) readPredicate(t *Table, n, columns document.Node) *Predicate {
	if !r.IsSound(n) {
		return nil
	}
	w, at := &Predicate{}, n.Get("is").Or(n)
	if n.Get("unknown").Is(rowsDrop) {
		w.Unknown = Drop
	}
	if w.Expression = r.readExpression(t, at, columns); w.Expression == nil {
		return nil
	}
	if kind := w.Expression.Type().Kind; kind != expression.Boolean {
		r.AddProblem(at, document.Problem{Message: fmt.Sprintf("the expression is %s", kind),
			Expected: "a condition: rows for which it is true are counted", Fix: "where: age >= 18"})
		return nil
	}
	return w
}

// checkExpression reports a column whose domain does not match the type of its expression, and finds the categories of
// false and true.
func (r *reader) checkExpression(c *Column, n document.Node) {
	gives := c.Expression.Type()
	p := document.Problem{Message: fmt.Sprintf("the expression is %s, and the column is of type %s", gives.Kind,
		c.Type)}
	at := n.Get("from")
	isList := c.Domain != nil && !c.Domain.Ranged()
	switch gives.Kind {
	case expression.Boolean:
		r.readTruth(c, n)
		return
	case expression.Text:
		if c.Type == domain.Text {
			r.checkConstants(c, at)
			return
		}
		p.Expected = "type: text, with values or a code book"
	case expression.Number:
		switch {
		case c.Type == domain.Decimal || gives.DecimalPlaces == 0 && c.Type == domain.Integer:
			r.checkConstants(c, at)
			return
		case gives.DecimalPlaces == 0 && isList && c.Type == domain.Text:
			r.checkTexts(c, n, "a number", domain.IsInteger)
			return
		case gives.DecimalPlaces > 0:
			p.Message = fmt.Sprintf("the expression is a number of %d places, and the column is of type %s",
				gives.DecimalPlaces,
				c.Type)
			p.Expected = "type: decimal with a range, or floor(…) or round(…)"
		default:
			p.Expected = "type: integer with a range, or values: {integers: [a, b]}"
		}
	case expression.Date:
		switch {
		case c.Type == domain.Date:
			return
		case isList && c.Type == domain.Text:
			r.checkTexts(c, n, "a date", domain.IsDate)
			return
		}
		p.Expected = "type: date, with a range"
	default:
		if c.Type == domain.Timestamp {
			return
		}
		p.Expected = "type: timestamp with a range, or date(…) of it"
	}
	r.AddProblem(at, p)
}

// checkConstants reports a constant of an expression that is not a category of its column and that no policy covers. A
// column without a list of categories accepts any constant.
func (r *reader) checkConstants(c *Column, from document.Node) {
	if c.Domain == nil || c.Domain.Ranged() || c.isDiscovered() || c.Unknown.Action != Refuse {
		return
	}
	for _, constant := range c.Expression.Constants() {
		text := constant.Text
		if constant.Number != nil {
			places, _ := constant.Number.FloatPrec()
			text = constant.Number.FloatString(places)
		}
		if _, fit := c.Domain.CodeOfText(text); fit == domain.Fits {
			continue
		}
		r.reportExpression(from, len(equalsMark.FindString(from.Text())), &expression.Error{
			At: constant.At, End: constant.End,
			Message: fmt.Sprintf("the expression can give %q, which is no category of %s: a row for which it does "+
				"stops the run",
				document.Clip(text), c.Name),
			Expected: "a category of the column, or unknown: drop or {as: CATEGORY}",
		})
		return
	}
}

// checkTexts reports a category whose text no value of the expression can have.
func (r *reader) checkTexts(c *Column, n document.Node, gives string, is func(code string) bool) {
	for _, category := range c.Domain.Categories() {
		if !is(category.Code) {
			r.AddProblem(n.Get("values").Or(n.Get("codebook")),
				document.Problem{Message: fmt.Sprintf("the expression is %s, which is never written %q", gives,
					document.Clip(category.Code)),
					Expected: "categories that are written so, or an expression that gives texts, as recode(x, {1: 'one'})"})
			return
		}
	}
}

// readTruth finds the categories of false and true: the categories with these names or, for two others, the first and
// the second.
func (r *reader) readTruth(c *Column, n document.Node) {
	p := document.Problem{Message: "the expression is true or false, and the column is neither",
		Expected: "two categories, the one for false first and the one for true second", Fix: "values: [no, yes]"}
	values := n.Get("values")
	at := values.Or(n.Get("from"))
	if !values.Present() || c.Domain == nil || c.Domain.Ranged() || c.Type != domain.Text && c.Type != domain.Boolean {
		r.AddProblem(at, p)
		return
	}
	codes := c.Domain.Categories()
	isTruth := func(c domain.Category) bool { return c.Code == "true" || c.Code == "false" }
	isOther := func(c domain.Category) bool { return !isTruth(c) }
	switch named := slices.ContainsFunc(codes, isTruth); {
	case named && slices.ContainsFunc(codes, isOther):
		p.Message = "of the categories of a condition some are true or false, and some are not"
	case named:
		return
	case len(codes) != 2:
		p.Message = fmt.Sprintf("a condition with %d categories", len(codes))
	default:
		c.Expression.Categories = []string{codes[0].Code, codes[1].Code}
		return
	}
	r.AddProblem(at, p)
}
