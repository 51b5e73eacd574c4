package expression

// This file holds kinds, and infers the kinds of columns from their use.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of an expression's values.
type Kind int

// The kinds. A Moment is a date or a timestamp of which only the day matters.
const (
	Unknown Kind = iota
	Boolean
	Number
	Text
	Moment
	Date
	Timestamp
)

var kindNames = [...]string{"of no kind", "true or false", "a number", "a text", "a date or timestamp", "a date",
	"a timestamp"}

// String describes the kind in words.
func (k Kind) String() string { return kindNames[k] }

// kindVariable is the kind of one part, as far as it is known, shared by all parts that must have the same kind (a
// union-find set).
type kindVariable struct {
	parent    *kindVariable // the parent in the union-find set; nil at its root
	kind      Kind
	decidedBy *node // the part that decided the kind
}

func (v *kindVariable) representative() *kindVariable {
	for v.parent != nil {
		v = v.parent
	}
	return v
}

// kindFinder infers the kinds of all parts.
type kindFinder struct {
	text    string
	columns map[[2]string]*kindVariable
}

func (f *kindFinder) quoteSource(n *node) string { return quoteExcerpt(f.text[n.at:n.end]) }

// requireKind records that part n must be of a kind, because of part by.
func (f *kindFinder) requireKind(n *node, kind Kind, by *node) *Error {
	v := n.inferred.representative()
	met, ok := meetKinds(v.kind, kind)
	if !ok {
		return f.kindConflict(n, v, kind)
	}
	if met != v.kind {
		v.kind, v.decidedBy = met, by
	}
	return nil
}

// meetKinds returns the kind of values that are of both kinds; ok is false if there are none.
func meetKinds(a, b Kind) (Kind, bool) {
	switch {
	case a == b || b == Unknown:
		return a, true
	case a == Unknown:
		return b, true
	case a == Moment && (b == Date || b == Timestamp):
		return b, true
	case b == Moment && (a == Date || a == Timestamp):
		return a, true
	}
	return Unknown, false
}

func (f *kindFinder) kindConflict(n *node, v *kindVariable, kind Kind) *Error {
	e := &Error{At: n.at, End: n.end,
		Message:  fmt.Sprintf("%s is %s, and %s is needed here", f.quoteSource(n), v.kind, kind),
		Expected: kind.String()}
	if v.decidedBy != nil && v.decidedBy != n {
		e.Message = fmt.Sprintf("%s is %s here, and %s by %s", f.quoteSource(n), kind, v.kind,
			f.quoteSource(v.decidedBy))
	}
	switch {
	case v.kind == Timestamp && kind == Date:
		e.Expected, e.Fix = "its date", "date("+f.text[n.at:n.end]+")"
	case kind == Number && (v.kind == Moment || v.kind == Date || v.kind == Timestamp):
		e.Expected = "days(a - b), months(a - b) or years(a - b) of two dates, or a part of one, as year(a)"
	case kind == Number && v.kind == Boolean:
		e.Expected, e.Fix = "integer(…), which is 1 where it is true", "integer("+f.text[n.at:n.end]+")"
	case kind == Text && n.op == number:
		e.Expected, e.Fix = "a text in quotes", "'"+n.text+"'"
	case v.kind == Text && n.op == text:
		e.Expected = kind.String() + ", without quotes"
	}
	return e
}

// unifyKinds records that two parts must be of the same kind.
func (f *kindFinder) unifyKinds(a, b, by *node) *Error {
	va, vb := a.inferred.representative(), b.inferred.representative()
	if va == vb {
		return nil
	}
	met, ok := meetKinds(va.kind, vb.kind)
	if !ok {
		if va.decidedBy == nil || va.decidedBy == a {
			return f.kindConflict(b, vb, va.kind)
		}
		return f.kindConflict(a, va, vb.kind)
	}
	if met != va.kind {
		va.kind, va.decidedBy = met, vb.decidedBy
	}
	vb.parent = va
	return nil
}

// inferKinds gives every part its kind variable, from the leaves up.
func (f *kindFinder) inferKinds(n *node) *Error {
	args := n.args
	if _, ok := spans[n.name]; ok && n.op == call && args[0].op == call && args[0].name == "-" {
		args[0].inferred = &kindVariable{}
		args = args[0].args
	}
	for _, a := range args {
		if err := f.inferKinds(a); err != nil {
			return err
		}
	}
	n.inferred = &kindVariable{kind: literalKinds[n.op]}
	switch n.op {
	case column:
		name := [2]string{n.table, n.name}
		if f.columns[name] == nil {
			f.columns[name] = n.inferred
		}
		n.inferred = f.columns[name]
	case call:
		return f.inferCall(n)
	}
	if n.isLiteral() {
		n.inferred.decidedBy = n
	}
	return nil
}

// literalKinds are the kinds of literals: Unknown for null and for nodes that are no literal.
var literalKinds = [...]Kind{number: Number, text: Text, date: Date, timestamp: Timestamp, boolean: Boolean,
	list: Unknown}

// inferCall infers the kinds of a function's or an operator's arguments and value.
func (f *kindFinder) inferCall(n *node) *Error {
	gives := func(kind Kind) { n.inferred.kind, n.inferred.decidedBy = kind, n }
	switch n.name {
	case "==", "!=", "<", "<=", ">", ">=":
		gives(Boolean)
		for _, a := range n.args {
			if a.op == null {
				return &Error{At: n.at, End: n.end, Message: "nothing equals null, nor is it less or more",
					Expected: "is_null(x)"}
			}
		}
		return f.unifyKinds(n.args[0], n.args[1], n)
	case "in":
		gives(Boolean)
		return f.unifyAll(n, append([]*node{n.args[0]}, n.args[1].args...)...)
	case "and", "or", "not":
		gives(Boolean)
		return f.requireAll(n, Boolean, n.args...)
	case "if", "case":
		if err := f.requireAll(n, Boolean, n.branchConditions()...); err != nil {
			return err
		}
		return f.inferChoice(n, n.choiceNodes())
	case "coalesce":
		return f.inferChoice(n, n.choiceNodes())
	case "is_null":
		gives(Boolean)
		return nil
	case "recode":
		return f.inferRecode(n)
	case "prefix", "slice":
		gives(Text)
		return f.requireKind(n.args[0], Text, n)
	}
	if _, ok := spans[n.name]; ok {
		gives(Number)
		return f.inferSpan(n)
	}
	if kind, ok := casts[n.name]; ok {
		gives(kind)
		return f.inferCast(n, kind)
	}
	of := functions[n.name]
	gives(cmp.Or(of.gives, Number)) // + - * // % negative, abs, min, max, clamp, floor, round
	return f.requireAll(n, cmp.Or(of.takes, Number), n.args...)
}

// inferChoice infers the kind of a node whose value is one of several parts.
func (f *kindFinder) inferChoice(n *node, values []*node) *Error {
	err := f.unifyAll(n, values...)
	n.inferred = values[0].inferred
	return err
}

// casts are the functions that state the kind of a column.
var casts = map[string]Kind{"integer": Number, "decimal": Number, "text": Text, "boolean": Boolean, "date": Date,
	"timestamp": Timestamp}

func (f *kindFinder) inferCast(n *node, kind Kind) *Error {
	a := n.args[0]
	switch {
	case n.name == "date":
		return f.requireKind(a, Moment, n)
	case a.op != column && n.name == "integer" && a.inferred.representative().kind == Boolean:
		return nil
	case a.op != column && kind != Number:
		return &Error{At: n.at, End: n.end, Message: n.name + "(…) says what a column is", Expected: n.name +
			"(x) of a column x"}
	}
	return f.requireKind(a, kind, n)
}

func (f *kindFinder) requireAll(by *node, kind Kind, all ...*node) *Error {
	for _, a := range all {
		if err := f.requireKind(a, kind, by); err != nil {
			return err
		}
	}
	return nil
}

func (f *kindFinder) unifyAll(by *node, all ...*node) *Error {
	for _, a := range all[1:] {
		if err := f.unifyKinds(all[0], a, by); err != nil {
			return err
		}
	}
	return nil
}

func (f *kindFinder) inferRecode(n *node) *Error {
	keys := n.recodeKeys()
	for i, key := range keys {
		if slices.ContainsFunc(keys[:i], func(before *node) bool { return equalLiterals(key, before) }) {
			return &Error{At: key.at, End: key.end, Message: f.quoteSource(key) + " appears twice",
				Expected: "each value once"}
		}
	}
	if err := f.unifyAll(n, append([]*node{n.args[0]}, keys...)...); err != nil {
		return err
	}
	return f.inferChoice(n, n.recodedValues())
}

// inferSpan infers the kinds of a function of the difference of two days or timestamps. The difference is no value in
// itself.
func (f *kindFinder) inferSpan(n *node) *Error {
	a := n.args[0]
	if a.op != call || a.name != "-" {
		return &Error{At: a.at, End: a.end, Message: f.quoteSource(a) + " is no difference",
			Expected: strings.TrimSpace(functions[n.name].usage) + ": the later of two columns first"}
	}
	kind := Moment
	if spans[n.name].micros > 0 {
		kind = Timestamp
	}
	return f.requireAll(n, kind, a.args...)
}
