package expression

// This file holds the constants that an expression may give.

import "math/big"

// Constant is a value that an expression has in some rows because it is written so, from byte At to byte End of its
// text: a text, or a number where Number is not nil.
type Constant struct {
	Text    string
	Number  *big.Rat
	At, End int
}

// Constants are those that the choices of an expression may end in, in the order of its text. What functions make of
// constants is not among them.
func (e *Expression) Constants() []Constant { return constants(nil, e.root) }

func constants(all []Constant, n *node) []Constant {
	switch {
	case n.op == text:
		return append(all, Constant{Text: n.text, At: n.at, End: n.end})
	case n.op == number:
		return append(all, Constant{Number: n.number, At: n.at, End: n.end})
	case n.op != call:
		return all
	}
	for _, a := range n.choices() {
		all = constants(all, a)
	}
	return all
}
