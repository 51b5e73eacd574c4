package expression

// This file holds kinds, and how those of columns are found by their use.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is what the values of an expression are.
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

// String is the kind in words.
func (k Kind) String() string { return kindNames[k] }

// variable is what is known of the kind of one part, and of all that must be of the same.
type variable struct {
	same *variable // nil: itself
	kind Kind
	by   *node // which says so
}

func (v *variable) root() *variable {
	for v.same != nil {
		v = v.same
	}
	return v
}

// finder finds the kinds of all parts.
type finder struct {
	text    string
	columns map[[2]string]*variable
}

func (f *finder) source(n *node) string { return show(f.text[n.at:n.end]) }

// need says that a part is of a kind, by another part.
func (f *finder) need(n *node, kind Kind, by *node) *Error {
	v := n.kind.root()
	met, ok := meet(v.kind, kind)
	if !ok {
		return f.contradiction(n, v, kind)
	}
	if met != v.kind {
		v.kind, v.by = met, by
	}
	return nil
}

// meet is the kind of what is both; it is false where nothing is.
func meet(a, b Kind) (Kind, bool) {
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

func (f *finder) contradiction(n *node, v *variable, kind Kind) *Error {
	e := &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s is %s, and %s is needed here", f.source(n), v.kind, kind),
		Expected: kind.String()}
	if v.by != nil && v.by != n {
		e.Message = fmt.Sprintf("%s is %s here, and %s by %s", f.source(n), kind, v.kind, f.source(v.by))
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

// alike says that two parts are of one kind.
func (f *finder) alike(a, b, by *node) *Error {
	va, vb := a.kind.root(), b.kind.root()
	if va == vb {
		return nil
	}
	met, ok := meet(va.kind, vb.kind)
	if !ok {
		if va.by == nil || va.by == a {
			return f.contradiction(b, vb, va.kind)
		}
		return f.contradiction(a, va, vb.kind)
	}
	if met != va.kind {
		va.kind, va.by = met, vb.by
	}
	vb.same = va
	return nil
}

// find gives every part its variable, from the leaves up.
func (f *finder) find(n *node) *Error {
	args := n.args
	if _, ok := spans[n.name]; ok && n.op == call && args[0].op == call && args[0].name == "-" {
		args[0].kind = &variable{}
		args = args[0].args
	}
	for _, a := range args {
		if err := f.find(a); err != nil {
			return err
		}
	}
	n.kind = &variable{kind: literalKinds[n.op]}
	switch n.op {
	case column:
		name := [2]string{n.table, n.name}
		if f.columns[name] == nil {
			f.columns[name] = n.kind
		}
		n.kind = f.columns[name]
	case call:
		return f.call(n)
	}
	if n.literal() {
		n.kind.by = n
	}
	return nil
}

// literalKinds are the kinds of literals, Unknown of null and of what is no literal.
var literalKinds = [...]Kind{number: Number, text: Text, date: Date, timestamp: Timestamp, boolean: Boolean,
	list: Unknown}

// call finds the kinds of what a function or an operator takes and gives.
func (f *finder) call(n *node) *Error {
	gives := func(kind Kind) { n.kind.kind, n.kind.by = kind, n }
	switch n.name {
	case "==", "!=", "<", "<=", ">", ">=":
		gives(Boolean)
		for _, a := range n.args {
			if a.op == null {
				return &Error{At: n.at, End: n.end, Message: "nothing equals null, nor is it less or more", Expected: "is_null(x)"}
			}
		}
		return f.alike(n.args[0], n.args[1], n)
	case "in":
		gives(Boolean)
		return f.allAlike(n, append([]*node{n.args[0]}, n.args[1].args...)...)
	case "and", "or", "not":
		gives(Boolean)
		return f.needAll(n, Boolean, n.args...)
	case "if", "case":
		if err := f.needAll(n, Boolean, n.conditions()...); err != nil {
			return err
		}
		return f.oneOf(n, n.choices())
	case "coalesce":
		return f.oneOf(n, n.choices())
	case "is_null":
		gives(Boolean)
		return nil
	case "recode":
		return f.recode(n)
	case "prefix", "slice":
		gives(Text)
		return f.need(n.args[0], Text, n)
	}
	if _, ok := spans[n.name]; ok {
		gives(Number)
		return f.span(n)
	}
	if kind, ok := casts[n.name]; ok {
		gives(kind)
		return f.cast(n, kind)
	}
	of := functions[n.name]
	gives(cmp.Or(of.gives, Number)) // + - * // % negative, abs, min, max, clamp, floor, round
	return f.needAll(n, cmp.Or(of.takes, Number), n.args...)
}

// oneOf finds the kind of what is one of several parts.
func (f *finder) oneOf(n *node, values []*node) *Error {
	err := f.allAlike(n, values...)
	n.kind = values[0].kind
	return err
}

// casts are the functions that say what a column is.
var casts = map[string]Kind{"integer": Number, "decimal": Number, "text": Text, "boolean": Boolean, "date": Date,
	"timestamp": Timestamp}

func (f *finder) cast(n *node, kind Kind) *Error {
	a := n.args[0]
	switch {
	case n.name == "date":
		return f.need(a, Moment, n)
	case a.op != column && n.name == "integer" && a.kind.root().kind == Boolean:
		return nil
	case a.op != column && kind != Number:
		return &Error{At: n.at, End: n.end, Message: n.name + "(…) says what a column is", Expected: n.name +
			"(x) of a column x"}
	}
	return f.need(a, kind, n)
}

func (f *finder) needAll(by *node, kind Kind, all ...*node) *Error {
	for _, a := range all {
		if err := f.need(a, kind, by); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) allAlike(by *node, all ...*node) *Error {
	for _, a := range all[1:] {
		if err := f.alike(all[0], a, by); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) recode(n *node) *Error {
	keys := n.keys()
	for i, key := range keys {
		if slices.ContainsFunc(keys[:i], func(before *node) bool { return equalLiterals(key, before) }) {
			return &Error{At: key.at, End: key.end, Message: f.source(key) + " is there twice",
				Expected: "each value once"}
		}
	}
	if err := f.allAlike(n, append([]*node{n.args[0]}, keys...)...); err != nil {
		return err
	}
	return f.oneOf(n, n.recoded())
}

// span is a function of a difference of two days or moments. The difference is no value of its own.
func (f *finder) span(n *node) *Error {
	a := n.args[0]
	if a.op != call || a.name != "-" {
		return &Error{At: a.at, End: a.end, Message: f.source(a) + " is no difference",
			Expected: strings.TrimSpace(functions[n.name].usage) + ": the later of two columns first"}
	}
	kind := Moment
	if spans[n.name].micros > 0 {
		kind = Timestamp
	}
	return f.needAll(n, kind, a.args...)
}
