package expression

// This file holds the checker: types and ranges of all parts.

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/calendar"
)

// checker finds how columns are read, and the type of every part.
type checker struct {
	*finder
	declared func(table, name string) Column
	inputs   []Input
	at       map[[2]string]int // columns among the inputs
}

// use is how the numbers of a column are used.
type use struct {
	first   *node
	exact   *node // where it is used as a number of known places
	places  int   // of the constants that it is compared with
	rounded bool
	cast    *node // where it is said how many places it has
	as      Column
	said    bool // a function says what it is
}

// readings decides how each column is read.
func (c *checker) readings(root *node) *Error {
	uses, order, err := c.uses(root)
	if err != nil {
		return err
	}
	for _, name := range order {
		u := uses[name]
		in, err := c.reading(name, u)
		if err != nil {
			return err
		}
		c.at[name] = len(c.inputs)
		c.inputs = append(c.inputs, in)
	}
	return nil
}

// uses are the uses of all columns, and these in the order of the text.
func (c *checker) uses(root *node) (map[[2]string]*use, [][2]string, *Error) {
	uses, order := map[[2]string]*use{}, [][2]string(nil)
	of := func(n *node) *use {
		name := [2]string{n.table, n.name}
		if uses[name] == nil {
			uses[name] = &use{first: n}
			order = append(order, name)
		}
		return uses[name]
	}
	var failure *Error
	root.each(func(n *node) {
		if n.op == column {
			of(n)
		}
		open := n.op == call && (n.name == "in" || n.name == "is_null" || n.name == "floor" || n.name == "round" ||
			slices.Contains(comparisons, n.name))
		for i, a := range n.args {
			if a.op != column {
				continue
			}
			u := of(a)
			u.said = u.said || n.op == call && casts[n.name] != Unknown
			if n.op == call && casts[n.name] == Number {
				if failure == nil {
					failure = c.says(u, n)
				}
				continue
			}
			open, constants := open, n.args
			switch {
			case n.op == call && n.name == "in":
				constants = n.args[1].args
			case n.op == call && n.name == "recode" && i == 0:
				open, constants = true, n.keys()
			}
			if !open || slices.Contains(comparisons, n.name) && n.args[1-i].op != number {
				u.exact = a
			}
			for _, k := range constants {
				if k.op == number && open {
					u.places = max(u.places, placesOf(k.number))
				}
			}
			if open && (n.name == "floor" || n.name == "round") {
				u.rounded, u.places = true, max(u.places, 1)
			}
		}
	})
	if root.op == column {
		of(root).exact = root
	}
	return uses, order, failure
}

// says notes what integer(x) or decimal(x, 2) says of a column.
func (c *checker) says(u *use, n *node) *Error {
	as := Column{Kind: Number}
	if n.name == "decimal" {
		places, err := c.count(n.args[1], 18)
		if err != nil {
			return err
		}
		as.Places = int(places)
	}
	if u.cast != nil && u.as != as {
		return &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s here, and %s elsewhere", c.source(n), c.source(u.cast)),
			Expected: "one of the two throughout"}
	}
	u.cast, u.as = n, as
	return nil
}

// placesOf is how many places a number has, 99 for more than any may have.
func placesOf(x *big.Rat) int {
	places, exact := x.FloatPrec()
	if !exact {
		return 99
	}
	return places
}

// count is a literal whole number from 0 to most.
func (c *checker) count(n *node, most int64) (int64, *Error) {
	if n.op != number || !n.number.IsInt() || n.number.Sign() < 0 || n.number.Cmp(big.NewRat(most, 1)) > 0 {
		return 0, &Error{At: n.at, End: n.end, Message: "found " + c.source(n),
			Expected: fmt.Sprintf("a whole number from 0 to %d, written as digits", most)}
	}
	return n.number.Num().Int64(), nil
}

// reading decides how a column is read: by its uses or, where they do not say, by what is declared.
func (c *checker) reading(name [2]string, u *use) (Input, *Error) {
	in := Input{Table: name[0], Name: name[1]}
	v := c.columns[name].root()
	declared := c.declared(name[0], name[1])
	if v.kind == Unknown && u.exact != nil {
		v.kind = declared.Kind
	}
	if _, ok := meet(v.kind, declared.Kind); !ok && !u.said {
		text := c.text[u.first.at:u.first.end]
		e := &Error{At: u.first.at, End: u.first.end, Message: fmt.Sprintf("%s is declared as %s, and is %s here",
			c.source(u.first), declared.Kind, v.kind),
			Expected: declared.Kind.String() +
				fmt.Sprintf(", or what it is to be read as: integer(%[1]s), text(%[1]s), date(%[1]s), timestamp(%[1]s)", text)}
		if declared.Kind == Timestamp && v.kind == Date {
			e.Fix = "date(" + text + ")"
		}
		return in, e
	}
	switch {
	case v.kind == Number:
		return c.numbers(in, u, declared)
	case v.kind == Unknown && u.exact != nil:
		return in, &Error{At: u.first.at, End: u.first.end, Message: c.source(u.first) + " may be anything",
			Expected: fmt.Sprintf("what it is: integer(%[1]s), decimal(%[1]s, 2), text(%[1]s), date(%[1]s), timestamp(%[1]s) or boolean(%[1]s); a text stands in quotes", c.text[u.first.at:u.first.end])}
	}
	in.Reading = readings[v.kind]
	return in, nil
}

// readings are how columns of a kind are read, but for numbers.
var readings = map[Kind]Reading{Unknown: AsAnything, Boolean: AsBoolean, Text: AsText, Date: AsDate, Moment: AsDay,
	Timestamp: AsTimestamp}

// numbers decides how a column of numbers is read.
func (c *checker) numbers(in Input, u *use, declared Column) (Input, *Error) {
	in.Reading, in.Places = FixedNumber, u.as.Places
	switch {
	case u.cast != nil:
	case u.exact == nil:
		in.Reading, in.Places, in.Bounded = AnyNumber, u.places, u.rounded
	case declared.Kind == Number && declared.Places >= 0:
		in.Places = declared.Places
	default:
		return in, c.ambiguous(u.exact)
	}
	if in.Places > 18 {
		return in, &Error{At: u.first.at, End: u.first.end, Message: c.source(u.first) +
			" is compared with a number of more than 18 places", Expected: "fewer places"}
	}
	return in, nil
}

// ambiguous is a number of which it is not known how many places it has.
func (c *checker) ambiguous(n *node) *Error {
	text := c.text[n.at:n.end]
	return &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s may be any number", c.source(n)),
		Expected: fmt.Sprintf("integer(%[1]s), or decimal(%[1]s, 2) for 2 places, unless it is only compared with constants",
			text), Fix: "integer(" + text + ")"}
}

// check finds the type of a part, from the leaves up.
func (c *checker) check(n *node) *Error {
	args := n.args
	if _, ok := spans[n.name]; ok && n.op == call {
		args = args[0].args
	}
	for _, a := range args {
		if err := c.check(a); err != nil {
			return err
		}
	}
	n.of = Type{Kind: n.kind.root().kind}
	switch n.op {
	case number:
		return c.literal(n)
	case date, timestamp:
		n.of.Low, n.of.High = n.value, n.value
	case boolean:
		n.of.Low, n.of.High = 0, 1
	case column:
		c.column(n)
	case call:
		return c.call(n)
	}
	return nil
}

func (c *checker) literal(n *node) *Error {
	places := placesOf(n.number)
	if places <= 18 {
		if units := new(big.Int).Mul(n.number.Num(), new(big.Int).Div(ten(places), n.number.Denom())); within(units.Lsh(units, 1)) {
			n.of.Places, n.of.Low = places, units.Rsh(units, 1).Int64()
			n.of.High = n.of.Low
			return nil
		}
	}
	return &Error{At: n.at, End: n.end, Message: c.source(n) + " is too long",
		Expected: "a number within ±2^61, counted in its places, of which there are at most 18"}
}

func (c *checker) column(n *node) {
	switch in := c.inputs[c.at[[2]string{n.table, n.name}]]; in.Reading {
	case AnyNumber:
		n.of.Places, n.of.ranks, n.of.Low, n.of.High = in.Places, true, -MaxUnits, MaxUnits
	case FixedNumber:
		n.of.Places, n.of.Low, n.of.High = in.Places, -MaxUnits, MaxUnits
	case AsBoolean:
		n.of.High = 1
	case AsDate, AsDay:
		n.of.Kind, n.of.Low, n.of.High = Date, calendar.FirstDay, calendar.LastDay
	case AsTimestamp:
		n.of.Low, n.of.High = calendar.FirstDay*calendar.MicrosPerDay, (calendar.LastDay+1)*calendar.MicrosPerDay-1
	}
}

// call finds the type of what a function or an operator gives.
func (c *checker) call(n *node) *Error {
	bounded := func(low, high int64) *Error {
		n.of.Places, n.of.Low, n.of.High = 0, low, high
		return nil
	}
	if n.of.Kind == Boolean {
		n.of.High = 1
	}
	switch n.name {
	case "==", "!=", "<", "<=", ">", ">=":
		return c.comparison(n)
	case "in":
		return c.aligned(n, append([]*node{n.args[0]}, n.args[1].args...)...)
	case "and", "or", "not", "is_null", "starts_with":
		return nil
	case "if", "case", "coalesce":
		return c.either(n, n.choices()...)
	case "recode":
		return c.recode(n)
	case "length":
		return bounded(0, 1<<31)
	case "prefix":
		_, err := c.count(n.args[1], 1_000_000)
		return err
	case "slice":
		return c.slice(n)
	case "integer", "decimal":
		return c.cast(n)
	case "floor", "round":
		return c.rounded(n)
	}
	if s, ok := spans[n.name]; ok {
		return bounded(-s.most, s.most)
	}
	if p, ok := dateParts[n.name]; ok {
		return bounded(p.least, p.most)
	}
	if p, ok := timeParts[n.name]; ok {
		return bounded(0, p.most)
	}
	switch n.of.Kind {
	case Number:
		return c.arithmetic(n)
	case Date:
		return bounded(calendar.FirstDay, calendar.LastDay)
	}
	n.of.Low, n.of.High = n.args[0].of.Low, n.args[0].of.High
	return nil
}

func (c *checker) slice(n *node) *Error {
	from, err := c.count(n.args[1], 1_000_000)
	if err == nil && from == 0 {
		return &Error{At: n.args[1].at, End: n.args[1].end, Message: "characters are counted from 1",
			Expected: functions["slice"].usage}
	}
	if err == nil {
		_, err = c.count(n.args[2], 1_000_000)
	}
	return err
}

// ordered are the kinds whose values are more or less than each other.
func ordered(k Kind) bool { return k == Number || k == Date || k == Timestamp || k == Moment }

func (c *checker) comparison(n *node) *Error {
	a, b := n.args[0], n.args[1]
	if n.name != "==" && n.name != "!=" && !ordered(a.of.Kind) {
		return &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s: of %s nothing is more or less", c.source(n), a.of.Kind),
			Expected: "== or !="}
	}
	return c.aligned(n, a, b)
}

// aligned makes sure that numbers can be brought to the same places.
func (c *checker) aligned(n *node, all ...*node) *Error {
	places := 0
	for _, a := range all {
		places = max(places, a.of.Places)
	}
	for _, a := range all {
		if a.of.Kind != Number || a.op == null {
			continue
		}
		if a.of.ranks && a.of.Places < places {
			return &Error{At: a.at, End: a.end, Message: c.source(a) + " is compared with a number of more places",
				Expected: "constants alone"}
		}
		low, high := scaled(a.of, places)
		if !within(low) || !within(high) {
			return c.tooLarge(n, a)
		}
		if a.literal() && slices.ContainsFunc(all, func(o *node) bool { return o.of.ranks }) && !within(low.Lsh(low, 1)) {
			return c.tooLarge(n, a)
		}
	}
	return nil
}

// scaled are the bounds of numbers counted in more places.
func scaled(t Type, places int) (low, high *big.Int) {
	by := ten(places - t.Places)
	return new(big.Int).Mul(big.NewInt(t.Low), by), new(big.Int).Mul(big.NewInt(t.High), by)
}

// tooLarge is a number that could need more than 62 bits.
func (c *checker) tooLarge(n, a *node) *Error {
	e := &Error{At: n.at, End: n.end, Message: c.source(n) + " could be beyond ±2^62",
		Expected: "numbers of known bounds, as clamp(x, 0, 100)"}
	if !a.literal() {
		e.At, e.End, e.Fix = a.at, a.end, "clamp("+c.text[a.at:a.end]+", 0, 100)"
	}
	return e
}

// either is the type of what is one of several.
func (c *checker) either(n *node, values ...*node) *Error {
	if err := c.aligned(n, values...); err != nil {
		return err
	}
	first := true
	for _, v := range values {
		if v.of.ranks {
			return c.ambiguous(v)
		}
		n.of.Places = max(n.of.Places, v.of.Places)
	}
	for _, v := range values {
		if v.op == null {
			continue
		}
		if v.of.Kind != Unknown {
			n.of.Kind = v.of.Kind
		}
		low, high := v.of.Low, v.of.High
		if v.of.Kind == Number {
			l, h := scaled(v.of, n.of.Places)
			low, high = l.Int64(), h.Int64()
		}
		if first {
			n.of.Low, n.of.High, first = low, high, false
		}
		n.of.Low, n.of.High = min(n.of.Low, low), max(n.of.High, high)
	}
	return nil
}

func (c *checker) recode(n *node) *Error {
	if err := c.aligned(n, append(n.keys(), n.args[0])...); err != nil {
		return err
	}
	return c.either(n, n.recoded()...)
}

// cast is integer(x) or decimal(x, 2): of a column what it is, of another part that it has no more places.
func (c *checker) cast(n *node) *Error {
	a, places := n.args[0], 0
	if n.name == "decimal" {
		count, err := c.count(n.args[1], 18)
		if err != nil {
			return err
		}
		places = int(count)
	}
	n.of.Places, n.of.Low, n.of.High = places, a.of.Low, a.of.High
	if a.of.Kind == Boolean {
		return nil
	}
	if a.of.Places > places {
		return &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s has %d places", c.source(a), a.of.Places),
			Expected: "floor(…) or round(…), which make an integer of it"}
	}
	low, high := scaled(a.of, places)
	if !within(low) || !within(high) {
		return c.tooLarge(n, a)
	}
	n.of.Low, n.of.High = low.Int64(), high.Int64()
	return nil
}
