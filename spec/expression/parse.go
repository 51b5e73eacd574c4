package expression

// This file holds the parser, which turns a text into a tree.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/calendar"
)

// Error describes what is wrong with an expression, from byte At to byte End of its text. Fix, where it is not "", is
// the replacement for these bytes.
type Error struct {
	At, End           int
	Message, Expected string
	Fix               string
	// Unknown is a name that is not known, Among the names that are. Both are empty for other errors.
	Unknown string
	Among   []string
}

// Error returns the message and what was expected.
func (e *Error) Error() string {
	if e.Expected == "" {
		return e.Message
	}
	return e.Message + "; expected " + e.Expected
}

// Limits on the size of an expression.
const (
	maxText  = 20_000
	maxNodes = 5_000
	maxDepth = 100
)

type parser struct {
	text   string
	tokens []token
	next   int
	nodes  int
	depth  int
}

// parse reads a text as a tree.
func parse(text string) (root *node, err *Error) {
	if len(text) > maxText {
		return nil, &Error{Message: fmt.Sprintf("an expression of more than %d bytes", maxText),
			Expected: "a code book, or several columns"}
	}
	p := &parser{text: text}
	if p.tokens, err = tokenize(text); err != nil {
		return nil, err
	}
	if root, err = p.parseOr(); err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		expected := "and, or, a comparison, or the end"
		if root.op == column && t.kind == nameToken {
			expected += "; a name with blanks or signs stands in backticks"
		}
		return nil, p.unexpectedToken(t, expected)
	}
	return root, nil
}

func (p *parser) peek() token { return p.tokens[p.next] }

func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != endToken {
		p.next++
	}
	return t
}

// takeIf takes the next token if it is one of these signs or words.
func (p *parser) takeIf(texts ...string) (token, bool) {
	t := p.peek()
	if (t.kind == signToken || t.kind == wordToken) && slices.Contains(texts, t.text) {
		return p.take(), true
	}
	return t, false
}

func (p *parser) unexpectedToken(t token, expected string) *Error {
	e := &Error{At: t.at, End: t.end, Message: "found " + quoteExcerpt(p.text[t.at:t.end]), Expected: expected}
	if t.kind == endToken {
		e.Message = "the expression ends too soon"
	}
	if lower := strings.ToLower(t.text); t.kind == nameToken && !t.quoted && t.text != lower &&
		slices.Contains(reservedWords, lower) {
		e.Expected, e.Fix = lower+", in small letters", lower
	}
	return e
}

// expect takes a sign, or returns an error if another token follows.
func (p *parser) expect(sign, expected string) (token, *Error) {
	t, ok := p.takeIf(sign)
	if ok {
		return t, nil
	}
	if t.kind == endToken {
		expected += "; within {…} of YAML a comma or bracket ends the text: there the expression stands in quotes, " +
			"such as \"clamp(x, 0, 100)\""
	}
	return t, p.unexpectedToken(t, expected)
}

// countNode returns the node, or an error if the expression has too many nodes.
func (p *parser) countNode(n *node) (*node, *Error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, &Error{At: n.at, End: n.end, Message: fmt.Sprintf("an expression of more than %d parts", maxNodes),
			Expected: "a code book, or several columns"}
	}
	return n, nil
}

func (p *parser) newBinary(sign string, a, b *node) (*node, *Error) {
	return p.countNode(&node{op: call, name: sign, at: a.at, end: b.end, args: []*node{a, b}})
}

// parseChain reads operands joined by operators of one precedence, from the left.
func (p *parser) parseChain(operand func() (*node, *Error), signs ...string) (*node, *Error) {
	a, err := operand()
	for err == nil {
		t, ok := p.takeIf(signs...)
		if !ok {
			break
		}
		var b *node
		if b, err = operand(); err == nil {
			a, err = p.newBinary(t.text, a, b)
		}
	}
	return a, err
}

func (p *parser) parseOr() (*node, *Error)  { return p.parseChain(p.parseAnd, "or") }
func (p *parser) parseAnd() (*node, *Error) { return p.parseChain(p.parseNot, "and") }

// parseNested calls read one level deeper, or returns an error if the expression is nested too deeply.
func (p *parser) parseNested(read func() (*node, *Error)) (*node, *Error) {
	if p.depth++; p.depth > maxDepth {
		t := p.peek()
		return nil, &Error{At: t.at, End: t.end, Message: fmt.Sprintf("an expression of more than %d levels", maxDepth),
			Expected: "several columns"}
	}
	defer func() { p.depth-- }()
	return read()
}

func (p *parser) parseNot() (*node, *Error) {
	t, ok := p.takeIf("not")
	if !ok {
		return p.parseComparison()
	}
	a, err := p.parseNested(p.parseNot)
	if err != nil {
		return nil, err
	}
	return p.countNode(&node{op: call, name: "not", at: t.at, end: a.end, args: []*node{a}})
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (p *parser) parseComparison() (*node, *Error) {
	a, err := p.parseSum()
	if err != nil {
		return nil, err
	}
	if t, ok := p.takeIf(comparisons...); ok {
		b, err := p.parseSum()
		if err != nil {
			return nil, err
		}
		if again, ok := p.takeIf(comparisons...); ok {
			return nil, &Error{At: again.at, End: again.end, Message: "comparisons in a row",
				Expected: fmt.Sprintf("two of them, as %s and %s %s …", p.text[a.at:b.end], p.text[b.at:b.end],
					again.text)}
		}
		return p.newBinary(t.text, a, b)
	}
	not, negated := p.takeIf("not")
	if _, ok := p.takeIf("in"); !ok {
		if negated {
			return nil, p.unexpectedToken(p.peek(), "in, as x not in [1, 2]")
		}
		return a, nil
	}
	items, err := p.parseLiteralList()
	if err != nil {
		return nil, err
	}
	in, err := p.newBinary("in", a, items)
	if err != nil || !negated {
		return in, err
	}
	return p.countNode(&node{op: call, name: "not", at: not.at, end: in.end, args: []*node{in}})
}

// parseLiteralList reads a list of literals, as [a, b].
func (p *parser) parseLiteralList() (*node, *Error) {
	return p.parseLiterals("[", "]", "a list of literals, such as [1, 2] or ['a', 'b']", func(items *node) *Error {
		item, err := p.parseConstant()
		items.args = append(items.args, item)
		return err
	})
}

// parseLiterals reads entries between two brackets, separated by commas; add reads one entry.
func (p *parser) parseLiterals(open, closing, expected string, add func(all *node) *Error) (*node, *Error) {
	begin, err := p.expect(open, expected)
	if err != nil {
		return nil, err
	}
	all := &node{op: list, at: begin.at}
	if all.end, err = p.parseSeries(closing, func() *Error { return add(all) }); err != nil {
		return nil, err
	}
	return p.countNode(all)
}

// parseSeries reads entries separated by commas up to the closing sign, and returns where that sign ends.
func (p *parser) parseSeries(closing string, read func() *Error) (end int, err *Error) {
	for {
		if err := read(); err != nil {
			return 0, err
		}
		if _, more := p.takeIf(","); !more {
			t, err := p.expect(closing, "a comma or "+closing)
			return t.end, err
		}
	}
}

// parseConstant reads a literal, which may follow a minus.
func (p *parser) parseConstant() (*node, *Error) {
	n, err := p.parseUnary()
	if err == nil && (!n.isLiteral() || n.op == null) {
		return nil, &Error{At: n.at, End: n.end, Message: "found " + quoteExcerpt(p.text[n.at:n.end]),
			Expected: "a number, a text in quotes, a date, true or false: here nothing else may stand"}
	}
	return n, err
}

func (p *parser) parseSum() (*node, *Error)     { return p.parseChain(p.parseProduct, "+", "-") }
func (p *parser) parseProduct() (*node, *Error) { return p.parseChain(p.parseUnary, "*", "//", "%") }

func (p *parser) parseUnary() (*node, *Error) {
	t, ok := p.takeIf("-")
	if !ok {
		return p.parseNested(p.parsePrimary)
	}
	a, err := p.parseNested(p.parseUnary)
	if err != nil {
		return nil, err
	}
	if a.op == number {
		a.number.Neg(a.number)
		a.at = t.at
		return a, nil
	}
	return p.countNode(&node{op: call, name: "negative", at: t.at, end: a.end, args: []*node{a}})
}

// momentLiterals says how the tokens of dates and timestamps are read.
var momentLiterals = map[tokenKind]struct {
	op               op
	parse            func(string) (int64, bool)
	called, expected string
}{
	dateToken:      {date, calendar.ParseDate, "date", "a day of the calendar, such as 2024-01-31"},
	timestampToken: {timestamp, calendar.ParseTimestamp, "timestamp", "a day and a time, such as 2024-01-31T12:30"},
}

func (p *parser) parsePrimary() (*node, *Error) {
	t := p.take()
	n := &node{at: t.at, end: t.end, text: t.text}
	switch t.kind {
	case numberToken:
		x, ok := parseNumber(t.text)
		if !ok {
			return nil, &Error{At: t.at, End: t.end, Message: quoteExcerpt(t.text) + " is too long",
				Expected: "a number within ±2^61 of at most 18 places"}
		}
		n.op, n.number = number, x
	case textToken:
		n.op = text
	case dateToken, timestampToken:
		m := momentLiterals[t.kind]
		value, ok := m.parse(t.text)
		if !ok {
			return nil, &Error{At: t.at, End: t.end, Message: quoteExcerpt(t.text) + " is no " + m.called,
				Expected: m.expected}
		}
		n.op, n.value = m.op, value
	case nameToken:
		return p.parseName(t)
	default:
		return p.parseWordOrSign(t, n)
	}
	return p.countNode(n)
}

// parseWordOrSign reads what begins with a reserved word or a sign.
func (p *parser) parseWordOrSign(t token, n *node) (*node, *Error) {
	switch {
	case t.kind == wordToken && t.text == "null":
		n.op = null
		return p.countNode(n)
	case t.kind == wordToken && (t.text == "true" || t.text == "false"):
		n.op = boolean
		if t.text == "true" {
			n.value = 1
		}
		return p.countNode(n)
	case t.kind == signToken && t.text == "(":
		inner, err := p.parseOr()
		if err != nil {
			return nil, err
		}
		end, err := p.expect(")", "a closing )")
		if err != nil {
			return nil, err
		}
		inner.at, inner.end = t.at, end.end
		return inner, nil
	}
	return nil, p.unexpectedToken(t, "a column, a number, a text in quotes, a date or a function")
}

// parseName reads a column, a column of a public table, or a function.
func (p *parser) parseName(t token) (*node, *Error) {
	if _, dot := p.takeIf("."); dot {
		c := p.take()
		if c.kind != nameToken {
			return nil, p.unexpectedToken(c, "a column of the public table "+t.text)
		}
		return p.countNode(&node{op: column, table: t.text, name: c.text, at: t.at, end: c.end})
	}
	if _, open := p.takeIf("("); open && !t.quoted {
		return p.parseFunction(t)
	}
	return p.countNode(&node{op: column, name: t.text, at: t.at, end: t.end})
}

func (p *parser) parseFunction(t token) (*node, *Error) {
	f, known := functions[t.text]
	if !known {
		expected := "one of " + strings.Join(functionNames, ", ")
		if p.tokens[p.next-1].at > t.end {
			expected += "; a column with this name stands in backticks"
		}
		return nil, &Error{At: t.at, End: t.end, Message: "there is no function " + quoteExcerpt(t.text),
			Expected: expected,
			Unknown:  t.text, Among: functionNames}
	}
	n := &node{op: call, name: t.text, at: t.at}
	if end, done := p.takeIf(")"); done {
		n.end = end.end
	} else if err := p.parseArguments(n, f.takesMap); err != nil {
		return nil, err
	}
	if len(n.args) < f.least || f.most > 0 && len(n.args) > f.most || f.odd && len(n.args)%2 == 0 {
		return nil, &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s of %d arguments", t.text, len(n.args)),
			Expected: f.usage}
	}
	return p.countNode(n)
}

// parseArguments reads the arguments of a function. The second may be a map.
func (p *parser) parseArguments(n *node, maps bool) (err *Error) {
	n.end, err = p.parseSeries(")", func() *Error {
		read := p.parseOr
		if maps && len(n.args) == 1 {
			read = p.parseEntries
		}
		a, err := p.parseNested(read)
		n.args = append(n.args, a)
		return err
	})
	return err
}

// parseEntries reads a map of literals, as {a: b, c: d}.
func (p *parser) parseEntries() (*node, *Error) {
	return p.parseLiterals("{", "}", functions["recode"].usage, func(entries *node) *Error {
		key, err := p.parseConstant()
		if err != nil {
			return err
		}
		if _, err := p.expect(":", "a colon and what it becomes, as 'm': 'male'"); err != nil {
			return err
		}
		value, err := p.parseConstant()
		entries.args = append(entries.args, key, value)
		return err
	})
}

// equalLiterals reports whether two literals of the same kind are the same value.
func equalLiterals(a, b *node) bool {
	if a.op != b.op {
		return false
	}
	if a.op == number {
		return a.number.Cmp(b.number) == 0
	}
	return a.text == b.text && a.op == text || a.op != text && a.value == b.value
}

// bigPowerOfTen returns 10 to a power.
func bigPowerOfTen(power int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(power)), nil)
}
