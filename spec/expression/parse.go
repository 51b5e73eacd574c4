package expression

// This file holds the parser: from a text to a tree.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/dprelease/dprelease/spec/calendar"
)

// Error is what is wrong with an expression, from byte At to byte End of its text. Fix, where it is not "", is what to
// put there.
type Error struct {
	At, End           int
	Message, Expected string
	Fix               string
	// Unknown is the name that is not known, Among those that are; "" and nil for other errors.
	Unknown string
	Among   []string
}

// Error is the message and what was expected.
func (e *Error) Error() string {
	if e.Expected == "" {
		return e.Message
	}
	return e.Message + "; expected " + e.Expected
}

// The most that an expression may be.
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
	if p.tokens, err = tokens(text); err != nil {
		return nil, err
	}
	if root, err = p.either(); err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		expected := "and, or, a comparison, or the end"
		if root.op == column && t.kind == nameToken {
			expected += "; a name with blanks or signs stands in backticks"
		}
		return nil, p.unexpected(t, expected)
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

// is takes the next token where it is that sign or word.
func (p *parser) is(texts ...string) (token, bool) {
	t := p.peek()
	if (t.kind == signToken || t.kind == wordToken) && slices.Contains(texts, t.text) {
		return p.take(), true
	}
	return t, false
}

func (p *parser) unexpected(t token, expected string) *Error {
	e := &Error{At: t.at, End: t.end, Message: "found " + show(p.text[t.at:t.end]), Expected: expected}
	if t.kind == endToken {
		e.Message = "the expression ends too soon"
	}
	if lower := strings.ToLower(t.text); t.kind == nameToken && !t.quoted && t.text != lower &&
		slices.Contains(words, lower) {
		e.Expected, e.Fix = lower+", in small letters", lower
	}
	return e
}

// expect takes a sign.
func (p *parser) expect(sign, expected string) (token, *Error) {
	t, ok := p.is(sign)
	if ok {
		return t, nil
	}
	if t.kind == endToken {
		expected += "; within {…} of YAML a comma or bracket ends the text: there the expression stands in quotes, as \"clamp(x, 0, 100)\""
	}
	return t, p.unexpected(t, expected)
}

// made counts a node.
func (p *parser) made(n *node) (*node, *Error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, &Error{At: n.at, End: n.end, Message: fmt.Sprintf("an expression of more than %d parts", maxNodes),
			Expected: "a code book, or several columns"}
	}
	return n, nil
}

func (p *parser) binary(sign string, a, b *node) (*node, *Error) {
	return p.made(&node{op: call, name: sign, at: a.at, end: b.end, args: []*node{a, b}})
}

// chain reads operands that signs of one rank join, from the left.
func (p *parser) chain(operand func() (*node, *Error), signs ...string) (*node, *Error) {
	a, err := operand()
	for err == nil {
		t, ok := p.is(signs...)
		if !ok {
			break
		}
		var b *node
		if b, err = operand(); err == nil {
			a, err = p.binary(t.text, a, b)
		}
	}
	return a, err
}

func (p *parser) either() (*node, *Error) { return p.chain(p.both, "or") }
func (p *parser) both() (*node, *Error)   { return p.chain(p.negated, "and") }

// deeper is one level down.
func (p *parser) deeper(read func() (*node, *Error)) (*node, *Error) {
	if p.depth++; p.depth > maxDepth {
		t := p.peek()
		return nil, &Error{At: t.at, End: t.end, Message: fmt.Sprintf("an expression of more than %d levels", maxDepth),
			Expected: "several columns"}
	}
	defer func() { p.depth-- }()
	return read()
}

func (p *parser) negated() (*node, *Error) {
	t, ok := p.is("not")
	if !ok {
		return p.comparison()
	}
	a, err := p.deeper(p.negated)
	if err != nil {
		return nil, err
	}
	return p.made(&node{op: call, name: "not", at: t.at, end: a.end, args: []*node{a}})
}

var comparisons = []string{"==", "!=", "<", "<=", ">", ">="}

func (p *parser) comparison() (*node, *Error) {
	a, err := p.sum()
	if err != nil {
		return nil, err
	}
	if t, ok := p.is(comparisons...); ok {
		b, err := p.sum()
		if err != nil {
			return nil, err
		}
		if again, ok := p.is(comparisons...); ok {
			return nil, &Error{At: again.at, End: again.end, Message: "comparisons in a row",
				Expected: fmt.Sprintf("two of them, as %s and %s %s …", p.text[a.at:b.end], p.text[b.at:b.end], again.text)}
		}
		return p.binary(t.text, a, b)
	}
	not, negated := p.is("not")
	if _, ok := p.is("in"); !ok {
		if negated {
			return nil, p.unexpected(p.peek(), "in, as x not in [1, 2]")
		}
		return a, nil
	}
	items, err := p.list()
	if err != nil {
		return nil, err
	}
	in, err := p.binary("in", a, items)
	if err != nil || !negated {
		return in, err
	}
	return p.made(&node{op: call, name: "not", at: not.at, end: in.end, args: []*node{in}})
}

// list reads [a, b] of literals.
func (p *parser) list() (*node, *Error) {
	return p.literals("[", "]", "a list of literals, as [1, 2] or ['a', 'b']", func(items *node) *Error {
		item, err := p.constant()
		items.args = append(items.args, item)
		return err
	})
}

// literals reads what stands between two signs, parted by commas; add reads one entry.
func (p *parser) literals(open, closing, expected string, add func(all *node) *Error) (*node, *Error) {
	begin, err := p.expect(open, expected)
	if err != nil {
		return nil, err
	}
	all := &node{op: list, at: begin.at}
	if all.end, err = p.series(closing, func() *Error { return add(all) }); err != nil {
		return nil, err
	}
	return p.made(all)
}

// series reads entries that are parted by commas up to the closing sign, and returns the end of that.
func (p *parser) series(closing string, read func() *Error) (end int, err *Error) {
	for {
		if err := read(); err != nil {
			return 0, err
		}
		if _, more := p.is(","); !more {
			t, err := p.expect(closing, "a comma or "+closing)
			return t.end, err
		}
	}
}

// constant reads a literal, which may have a minus before it.
func (p *parser) constant() (*node, *Error) {
	n, err := p.unary()
	if err == nil && (!n.literal() || n.op == null) {
		return nil, &Error{At: n.at, End: n.end, Message: "found " + show(p.text[n.at:n.end]),
			Expected: "a number, a text in quotes, a date, true or false: here nothing else may stand"}
	}
	return n, err
}

func (p *parser) sum() (*node, *Error)     { return p.chain(p.product, "+", "-") }
func (p *parser) product() (*node, *Error) { return p.chain(p.unary, "*", "//", "%") }

func (p *parser) unary() (*node, *Error) {
	t, ok := p.is("-")
	if !ok {
		return p.deeper(p.primary)
	}
	a, err := p.deeper(p.unary)
	if err != nil {
		return nil, err
	}
	if a.op == number {
		a.number.Neg(a.number)
		a.at = t.at
		return a, nil
	}
	return p.made(&node{op: call, name: "negative", at: t.at, end: a.end, args: []*node{a}})
}

// moments are how dates and timestamps are read.
var moments = map[tokenKind]struct {
	op               op
	parse            func(string) (int64, bool)
	called, expected string
}{
	dateToken:      {date, calendar.ParseDate, "date", "a day of the calendar, as 2024-01-31"},
	timestampToken: {timestamp, calendar.ParseTimestamp, "timestamp", "a day and a time, as 2024-01-31T12:30"},
}

func (p *parser) primary() (*node, *Error) {
	t := p.take()
	n := &node{at: t.at, end: t.end, text: t.text}
	switch t.kind {
	case numberToken:
		x, ok := numberOf(t.text)
		if !ok {
			return nil, &Error{At: t.at, End: t.end, Message: show(t.text) + " is too long",
				Expected: "a number within ±2^61 of at most 18 places"}
		}
		n.op, n.number = number, x
	case textToken:
		n.op = text
	case dateToken, timestampToken:
		m := moments[t.kind]
		value, ok := m.parse(t.text)
		if !ok {
			return nil, &Error{At: t.at, End: t.end, Message: show(t.text) + " is no " + m.called, Expected: m.expected}
		}
		n.op, n.value = m.op, value
	case nameToken:
		return p.named(t)
	default:
		return p.other(t, n)
	}
	return p.made(n)
}

// other reads what begins with a word or a sign.
func (p *parser) other(t token, n *node) (*node, *Error) {
	switch {
	case t.kind == wordToken && t.text == "null":
		n.op = null
		return p.made(n)
	case t.kind == wordToken && (t.text == "true" || t.text == "false"):
		n.op = boolean
		if t.text == "true" {
			n.value = 1
		}
		return p.made(n)
	case t.kind == signToken && t.text == "(":
		inner, err := p.either()
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
	return nil, p.unexpected(t, "a column, a number, a text in quotes, a date or a function")
}

// named reads a column, a column of a public table, or a function.
func (p *parser) named(t token) (*node, *Error) {
	if _, dot := p.is("."); dot {
		c := p.take()
		if c.kind != nameToken {
			return nil, p.unexpected(c, "a column of the public table "+t.text)
		}
		return p.made(&node{op: column, table: t.text, name: c.text, at: t.at, end: c.end})
	}
	if _, open := p.is("("); open && !t.quoted {
		return p.function(t)
	}
	return p.made(&node{op: column, name: t.text, at: t.at, end: t.end})
}

func (p *parser) function(t token) (*node, *Error) {
	f, known := functions[t.text]
	if !known {
		expected := "one of " + strings.Join(functionNames, ", ")
		if p.tokens[p.next-1].at > t.end {
			expected += "; a column with this name stands in backticks"
		}
		return nil, &Error{At: t.at, End: t.end, Message: "there is no function " + show(t.text), Expected: expected,
			Unknown: t.text, Among: functionNames}
	}
	n := &node{op: call, name: t.text, at: t.at}
	if end, done := p.is(")"); done {
		n.end = end.end
	} else if err := p.arguments(n, f.maps); err != nil {
		return nil, err
	}
	if len(n.args) < f.least || f.most > 0 && len(n.args) > f.most || f.odd && len(n.args)%2 == 0 {
		return nil, &Error{At: n.at, End: n.end, Message: fmt.Sprintf("%s of %d arguments", t.text, len(n.args)),
			Expected: f.usage}
	}
	return p.made(n)
}

// arguments reads those of a function, of which the second may be a map.
func (p *parser) arguments(n *node, maps bool) (err *Error) {
	n.end, err = p.series(")", func() *Error {
		read := p.either
		if maps && len(n.args) == 1 {
			read = p.entries
		}
		a, err := p.deeper(read)
		n.args = append(n.args, a)
		return err
	})
	return err
}

// entries reads {a: b, c: d} of literals.
func (p *parser) entries() (*node, *Error) {
	return p.literals("{", "}", functions["recode"].usage, func(entries *node) *Error {
		key, err := p.constant()
		if err != nil {
			return err
		}
		if _, err := p.expect(":", "a colon and what it becomes, as 'm': 'male'"); err != nil {
			return err
		}
		value, err := p.constant()
		entries.args = append(entries.args, key, value)
		return err
	})
}

// equalLiterals tells that two literals of one kind are the same value.
func equalLiterals(a, b *node) bool {
	if a.op != b.op {
		return false
	}
	if a.op == number {
		return a.number.Cmp(b.number) == 0
	}
	return a.text == b.text && a.op == text || a.op != text && a.value == b.value
}

// ten is 10 to a power.
func ten(power int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(power)), nil) }
