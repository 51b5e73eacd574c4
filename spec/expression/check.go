package expression

// This file holds the type checker: it finds the types and ranges of all parts.

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/dprelease/dprelease/spec/calendar"
)

// typeChecker decides how columns are read, and finds the type of every part.
type typeChecker struct {
	*kindFinder
	declared   func(table, name string) Column
	inputs     []Input
	inputIndex map[[2]string]int // the index of a column among the inputs
}

// columnUse describes how an expression uses the numbers of a column.
type columnUse struct {
	first   *node
	exact   *node // a use as a number with a known count of places
	places  int   // the most places of the constants that it is compared with
	rounded bool
	cast    *node // the function that states its count of places
	castTo  Column
	hasCast bool // some function states its kind
}

// decideReadings decides how each column is read.
func (c *typeChecker) decideReadings(root *node) *Error {
	uses, order, err := c.collectUses(root)
	if err != nil {
		return err
	}
	for _, name := range order {
		u := uses[name]
		in, err := c.decideReading(name, u)
		if err != nil {
			return err
		}
		c.inputIndex[name] = len(c.inputs)
		c.inputs = append(c.inputs, in)
	}
	return nil
}

// collectUses returns the uses of all columns, and the columns in the order of the text.
func (c *typeChecker) collectUses(root *node) (map[[2]string]*columnUse, [][2]string, *Error) {
	uses, order := map[[2]string]*columnUse{}, [][2]string(nil)
	useOf := func(n *node) *columnUse {
		name := [2]string{n.table, n.name}
		if uses[name] == nil {
			uses[name] = &columnUse{first: n}
			order = append(order, name)
		}
		return uses[name]
	}
	var failure *Error
	root.walk(func(n *node) {
		if n.op == column {
			useOf(n)
		}
		open := n.op == call && (n.name == "in" || n.name == "is_null" || n.name == "floor" || n.name == "round" ||
			slices.Contains(comparisons, n.name))
		for i, a := range n.args {
			if a.op != column {
				continue
			}
			u := useOf(a)
			u.hasCast = u.hasCast || n.op == call && casts[n.name] != Unknown
			if n.op == call && casts[n.name] == Number {
				if failure == nil {
					failure = c.noteCast(u, n)
				}
				continue
			}
			open, constants := open, n.args
			switch {
			case n.op == call && n.name == "in":
				constants = n.args[1].args
			case n.op == call && n.name == "recode" && i == 0:
				open, constants = true, n.recodeKeys()
			}
			if !open || slices.Contains(comparisons, n.name) && n.args[1-i].op != number {
				u.exact = a
			}
			for _, k := range constants {
				if k.op == number && open {
					u.places = max(u.places, decimalPlaces(k.number))
				}
			}
			if open && (n.name == "floor" || n.name == "round") {
				u.rounded, u.places = true, max(u.places, 1)
			}
		}
	})
	if root.op == column {
		useOf(root).exact = root
	}
	return uses, order, failure
}

// noteCast records the count of places that integer(x) or decimal(x, 2) states for a column.
func (c *typeChecker) noteCast(u *columnUse, n *node) *Error {
	castTo := Column{Kind: Number}
	if n.name == "decimal" {
		places, err := c.literalCount(n.args[1], 18)
		if err != nil {
			return err
		}
		castTo.DecimalPlaces = int(places)
	}
	if u.cast != nil && u.castTo != castTo {
		return &Error{At: n.at, End: n.end,
			Message:  fmt.Sprintf("%s here, and %s elsewhere", c.quoteSource(n), c.quoteSource(u.cast)),
			Expected: "one of the two throughout"}
	}
	u.cast, u.castTo = n, castTo
	return nil
}

// decimalPlaces returns the number of decimal places of x: 99 if it has no finite decimal expansion.
func decimalPlaces(x *big.Rat) int {
	places, exact := x.FloatPrec()
	if !exact {
		return 99
	}
	return places
}

// literalCount returns the value of a literal whole number from 0 to most.
func (c *typeChecker) literalCount(n *node, most int64) (int64, *Error) {
	if n.op != number || !n.number.IsInt() || n.number.Sign() < 0 || n.number.Cmp(big.NewRat(most, 1)) > 0 {
		return 0, &Error{At: n.at, End: n.end, Message: "found " + c.quoteSource(n),
			Expected: fmt.Sprintf("a whole number from 0 to %d, written as digits", most)}
	}
	return n.number.Num().Int64(), nil
}

// decideReading decides how a column is read: by its uses or, where these leave it open, by its declaration.
func (c *typeChecker) decideReading(name [2]string, u *columnUse) (Input, *Error) {
	in := Input{Table: name[0], Name: name[1]}
	v := c.columns[name].representative()
	declared := c.declared(name[0], name[1])
	if v.kind == Unknown && u.exact != nil {
		v.kind = declared.Kind
	}
	if _, ok := meetKinds(v.kind, declared.Kind); !ok && !u.hasCast {
		text := c.text[u.first.at:u.first.end]
		e := &Error{At: u.first.at, End: u.first.end, Message: fmt.Sprintf("%s is declared as %s, and is %s here",
			c.quoteSource(u.first), declared.Kind, v.kind),
			Expected: declared.Kind.String() +
				fmt.Sprintf(", or what it is to be read as: integer(%[1]s), text(%[1]s), date(%[1]s), timestamp(%[1]s)", text)}
		if declared.Kind == Timestamp && v.kind == Date {
			e.Fix = "date(" + text + ")"
		}
		return in, e
	}
	switch {
	case v.kind == Number:
		return c.decideNumberReading(in, u, declared)
	case v.kind == Unknown && u.exact != nil:
		return in, &Error{At: u.first.at, End: u.first.end, Message: c.quoteSource(u.first) + " may be anything",
			Expected: fmt.Sprintf("what it is: integer(%[1]s), decimal(%[1]s, 2), text(%[1]s), date(%[1]s), "+
				"timestamp(%[1]s) or boolean(%[1]s); a text stands in quotes",
				c.text[u.first.at:u.first.end])}
	}
	in.Reading = readingByKind[v.kind]
	return in, nil
}

// readingByKind says how columns of a kind other than Number are read.
var readingByKind = map[Kind]Reading{Unknown: AsAnything, Boolean: AsBoolean, Text: AsText, Date: AsDate, Moment: AsDay,
	Timestamp: AsTimestamp}

// decideNumberReading decides how a column of numbers is read.
func (c *typeChecker) decideNumberReading(in Input, u *columnUse, declared Column) (Input, *Error) {
	in.Reading, in.DecimalPlaces = FixedNumber, u.castTo.DecimalPlaces
	switch {
	case u.cast != nil:
	case u.exact == nil:
		in.Reading, in.DecimalPlaces, in.Bounded = AnyNumber, u.places, u.rounded
	case declared.Kind == Number && declared.DecimalPlaces >= 0:
		in.DecimalPlaces = declared.DecimalPlaces
	default:
		return in, c.ambiguousPlaces(u.exact)
	}
	if in.DecimalPlaces > 18 {
		return in, &Error{At: u.first.at, End: u.first.end, Message: c.quoteSource(u.first) +
			" is compared with a number of more than 18 places", Expected: "fewer places"}
	}
	return in, nil
}

// ambiguousPlaces is the error for a number whose count of decimal places is not known.
func (c *typeChecker) ambiguousPlaces(n *node) *Error {
	text := c.text[n.at:n.end]
	return &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s may be any number", c.quoteSource(n)),
		Expected: fmt.Sprintf("integer(%[1]s), or decimal(%[1]s, 2) for 2 places, unless it is only compared with constants",
			text), Fix: "integer(" + text + ")"}
}

// checkNode finds the type of a part, from the leaves up.
func (c *typeChecker) checkNode(n *node) *Error {
	args := n.args
	if _, ok := spans[n.name]; ok && n.op == call {
		args = args[0].args
	}
	for _, a := range args {
		if err := c.checkNode(a); err != nil {
			return err
		}
	}
	n.typ = Type{Kind: n.inferred.representative().kind}
	switch n.op {
	case number:
		return c.checkLiteral(n)
	case date, timestamp:
		n.typ.Low, n.typ.High = n.value, n.value
	case boolean:
		n.typ.Low, n.typ.High = 0, 1
	case column:
		c.setColumnType(n)
	case call:
		return c.checkCall(n)
	}
	return nil
}

func (c *typeChecker) checkLiteral(n *node) *Error {
	places := decimalPlaces(n.number)
	if places <= 18 {
		units := new(big.Int).Div(bigPowerOfTen(places), n.number.Denom())
		units.Mul(units, n.number.Num())
		if isWithinRange(units.Lsh(units, 1)) {
			n.typ.DecimalPlaces, n.typ.Low = places, units.Rsh(units, 1).Int64()
			n.typ.High = n.typ.Low
			return nil
		}
	}
	return &Error{At: n.at, End: n.end, Message: c.quoteSource(n) + " is too long",
		Expected: "a number within ±2^61, counted in its places, of which there are at most 18"}
}

func (c *typeChecker) setColumnType(n *node) {
	switch in := c.inputs[c.inputIndex[[2]string{n.table, n.name}]]; in.Reading {
	case AnyNumber:
		n.typ.DecimalPlaces, n.typ.areRanks, n.typ.Low, n.typ.High = in.DecimalPlaces, true, -MaxUnits, MaxUnits
	case FixedNumber:
		n.typ.DecimalPlaces, n.typ.Low, n.typ.High = in.DecimalPlaces, -MaxUnits, MaxUnits
	case AsBoolean:
		n.typ.High = 1
	case AsDate, AsDay:
		n.typ.Kind, n.typ.Low, n.typ.High = Date, calendar.FirstDay, calendar.LastDay
	case AsTimestamp:
		n.typ.Low, n.typ.High = calendar.FirstDay*calendar.MicrosPerDay, (calendar.LastDay+1)*calendar.MicrosPerDay-1
	}
}

// checkCall finds the type of a function's or an operator's value.
func (c *typeChecker) checkCall(n *node) *Error {
	bounded := func(low, high int64) *Error {
		n.typ.DecimalPlaces, n.typ.Low, n.typ.High = 0, low, high
		return nil
	}
	if n.typ.Kind == Boolean {
		n.typ.High = 1
	}
	switch n.name {
	case "==", "!=", "<", "<=", ">", ">=":
		return c.checkComparison(n)
	case "in":
		return c.checkAligned(n, append([]*node{n.args[0]}, n.args[1].args...)...)
	case "and", "or", "not", "is_null", "starts_with":
		return nil
	case "if", "case", "coalesce":
		return c.checkChoice(n, n.choiceNodes()...)
	case "recode":
		return c.checkRecode(n)
	case "length":
		return bounded(0, 1<<31)
	case "prefix":
		_, err := c.literalCount(n.args[1], 1_000_000)
		return err
	case "slice":
		return c.checkSlice(n)
	case "integer", "decimal":
		return c.checkCast(n)
	case "floor", "round":
		return c.checkRounding(n)
	}
	if s, ok := spans[n.name]; ok {
		return bounded(-s.maxMagnitude, s.maxMagnitude)
	}
	if p, ok := dateParts[n.name]; ok {
		return bounded(p.least, p.most)
	}
	if p, ok := timeParts[n.name]; ok {
		return bounded(0, p.most)
	}
	switch n.typ.Kind {
	case Number:
		return c.checkArithmetic(n)
	case Date:
		return bounded(calendar.FirstDay, calendar.LastDay)
	}
	n.typ.Low, n.typ.High = n.args[0].typ.Low, n.args[0].typ.High
	return nil
}

func (c *typeChecker) checkSlice(n *node) *Error {
	from, err := c.literalCount(n.args[1], 1_000_000)
	if err == nil && from == 0 {
		return &Error{At: n.args[1].at, End: n.args[1].end, Message: "characters are counted from 1",
			Expected: functions["slice"].usage}
	}
	if err == nil {
		_, err = c.literalCount(n.args[2], 1_000_000)
	}
	return err
}

// isOrdered reports whether values of kind k can be compared with <.
func isOrdered(k Kind) bool { return k == Number || k == Date || k == Timestamp || k == Moment }

func (c *typeChecker) checkComparison(n *node) *Error {
	a, b := n.args[0], n.args[1]
	if n.name != "==" && n.name != "!=" && !isOrdered(a.typ.Kind) {
		return &Error{At: n.at, End: n.end,
			Message:  fmt.Sprintf("%s: of %s nothing is more or less", c.quoteSource(n), a.typ.Kind),
			Expected: "== or !="}
	}
	return c.checkAligned(n, a, b)
}

// checkAligned reports an error if the numbers cannot be counted in the same places.
func (c *typeChecker) checkAligned(n *node, all ...*node) *Error {
	places := 0
	hasRanks := slices.ContainsFunc(all, func(o *node) bool { return o.typ.areRanks })
	for _, a := range all {
		places = max(places, a.typ.DecimalPlaces)
	}
	for _, a := range all {
		if a.typ.Kind != Number || a.op == null {
			continue
		}
		if a.typ.areRanks && a.typ.DecimalPlaces < places {
			return &Error{At: a.at, End: a.end, Message: c.quoteSource(a) + " is compared with a number of more places",
				Expected: "constants alone"}
		}
		low, high := scaledBounds(a.typ, places)
		if !isWithinRange(low) || !isWithinRange(high) {
			return c.tooLarge(n, a)
		}
		if a.isLiteral() && hasRanks && !isWithinRange(low.Lsh(low, 1)) {
			return c.tooLarge(n, a)
		}
	}
	return nil
}

// scaledBounds returns the bounds of t, counted in the given places.
func scaledBounds(t Type, places int) (low, high *big.Int) {
	by := bigPowerOfTen(places - t.DecimalPlaces)
	return new(big.Int).Mul(big.NewInt(t.Low), by), new(big.Int).Mul(big.NewInt(t.High), by)
}

// tooLarge is the error for a number that could need more than 62 bits.
func (c *typeChecker) tooLarge(n, a *node) *Error {
	e := &Error{At: n.at, End: n.end, Message: c.quoteSource(n) + " could be beyond ±2^62",
		Expected: "numbers of known bounds, as clamp(x, 0, 100)"}
	if !a.isLiteral() {
		e.At, e.End, e.Fix = a.at, a.end, "clamp("+c.text[a.at:a.end]+", 0, 100)"
	}
	return e
}

// checkChoice finds the type of a node whose value is one of several parts.
func (c *typeChecker) checkChoice(n *node, values ...*node) *Error {
	if err := c.checkAligned(n, values...); err != nil {
		return err
	}
	first := true
	for _, v := range values {
		if v.typ.areRanks {
			return c.ambiguousPlaces(v)
		}
		n.typ.DecimalPlaces = max(n.typ.DecimalPlaces, v.typ.DecimalPlaces)
	}
	for _, v := range values {
		if v.op == null {
			continue
		}
		if v.typ.Kind != Unknown {
			n.typ.Kind = v.typ.Kind
		}
		low, high := v.typ.Low, v.typ.High
		if v.typ.Kind == Number {
			l, h := scaledBounds(v.typ, n.typ.DecimalPlaces)
			low, high = l.Int64(), h.Int64()
		}
		if first {
			n.typ.Low, n.typ.High, first = low, high, false
		}
		n.typ.Low, n.typ.High = min(n.typ.Low, low), max(n.typ.High, high)
	}
	return nil
}

func (c *typeChecker) checkRecode(n *node) *Error {
	if err := c.checkAligned(n, append(n.recodeKeys(), n.args[0])...); err != nil {
		return err
	}
	return c.checkChoice(n, n.recodedValues()...)
}

// checkCast checks integer(x) or decimal(x, 2). On a column it states the places of the column; on another part it
// asserts that the part has no more places.
func (c *typeChecker) checkCast(n *node) *Error {
	a, places := n.args[0], 0
	if n.name == "decimal" {
		count, err := c.literalCount(n.args[1], 18)
		if err != nil {
			return err
		}
		places = int(count)
	}
	n.typ.DecimalPlaces, n.typ.Low, n.typ.High = places, a.typ.Low, a.typ.High
	if a.typ.Kind == Boolean {
		return nil
	}
	if a.typ.DecimalPlaces > places {
		return &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s has %d places", c.quoteSource(a),
			a.typ.DecimalPlaces),
			Expected: "floor(…) or round(…), which make an integer of it"}
	}
	low, high := scaledBounds(a.typ, places)
	if !isWithinRange(low) || !isWithinRange(high) {
		return c.tooLarge(n, a)
	}
	n.typ.Low, n.typ.High = low.Int64(), high.Int64()
	return nil
}
